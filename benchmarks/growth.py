"""Growth: how the time of every heavy path grows with its size, fitted over about a decade, beside what it should be.

Processor time, not wall time, so that other programs on the machine do not bend the ladder. Python's caches are emptied
where a path has any; what FLINT keeps is warm at every size. A path that grows faster than its algorithm should by more
than MARGIN misses. One that grows more slowly by more than MARGIN is called flat, not missed: what does not depend on
the size (calls, set-up, a BLAS that is slow on small matrices) still counts there, and the exponent is no evidence yet.
"""

from __future__ import annotations

import functools
import gc
import math
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.benchmark import Benchmark
from benchmarks.hermite import forget
from bulkedge.numerics.equivalents.equivalent import values as equivalent_values
from bulkedge.numerics.equivalents.equivalent_simulation import simulated
from bulkedge.numerics.kernels.batch_average import distance
from bulkedge.numerics.kernels.kernel_matrix import kernel_matrix
from bulkedge.numerics.kernels.spiked_kernel import leading_eigenpair, spiked_kernel_matrix
from bulkedge.numerics.kernels.spiked_spectrum import sector
from bulkedge.numerics.kernels.truncated_spectrum import truncated_sector
from bulkedge.numerics.risk.conditional import conditional_model, conditional_risk
from bulkedge.numerics.risk.conditional_limit import one_step_risk, pair_from_functions
from bulkedge.numerics.risk.ridge import Constants, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.risk.simulated_risk import risk_trial
from bulkedge.numerics.risk.skipping import risks
from bulkedge.numerics.risk.spiked_random_features import spiked_features_risk
from bulkedge.numerics.spectra import tracy_widom
from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw
from bulkedge.numerics.steps.covariance import Step
from bulkedge.numerics.steps.network import (
    Teacher,
    draw_batch,
    draw_directions,
    draw_readout,
    draw_weights,
    mean_gradient,
)
from bulkedge.numerics.steps.network import ridge_readout as solve_ridge
from bulkedge.numerics.steps.second_step import regress, second_weights
from bulkedge.numerics.trials.runner import Runner
from bulkedge.numerics.trials.store import Store
from bulkedge.numerics.weights.weights import analyse
from bulkedge.theory.equivalents.equivalent import declare, read
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian import hermite
from bulkedge.theory.kernels.sphere import eigenvalues

LAYOUT = "{:<46} {:<26} {:>9} {:>9} {:>9} {:>7} {:>9}  {}"
# What caches and the ramp of BLAS may add to an exponent over one decade of small sizes.
MARGIN = 0.5
Work = Callable[[], object]


def exponent(sizes: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """The least-squares slope of log time against log size, and its standard error.

    Errors: ValueError for fewer than three sizes, equal sizes, or numbers that are not positive.
    """
    if len(sizes) != len(times) or len(sizes) < 3 or min(*sizes, *times) <= 0 or min(sizes) == max(sizes):
        raise ValueError("an exponent needs at least three positive sizes, not all equal, and as many positive times")
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(times, dtype=float))
    x, y = x - x.mean(), y - y.mean()
    spread = float(x @ x)
    slope = float(x @ y) / spread
    residual = y - slope * x
    return slope, math.sqrt(float(residual @ residual) / (len(x) - 2) / spread)


@dataclass(frozen=True)
class Growth:
    """Times over a ladder of sizes, and the exponent that the algorithm should show: larger ones by MARGIN miss it."""

    HEADER: ClassVar[str] = LAYOUT.format("path", "size", "seconds", "to", "exponent", "+-", "expected", "")
    what: str
    size: str
    sizes: tuple[int, ...]
    times: tuple[float, ...]
    expected: float
    note: str = ""

    @property
    def fitted(self) -> tuple[float, float]:
        """The exponent and its standard error."""
        return exponent(self.sizes, self.times)

    @property
    def met(self) -> bool:
        """Whether the time grows no faster than expected."""
        return self.fitted[0] <= self.expected + MARGIN

    @property
    def flat(self) -> bool:
        """Whether it grows so slowly that the ladder is still below the sizes that the exponent is about."""
        return self.fitted[0] < self.expected - MARGIN

    @property
    def line(self) -> str:
        """The ladder's ends, the fit and the verdict."""
        slope, error = self.fitted
        verdict = f"{'flat' if self.flat else 'met' if self.met else 'MISSED'} {self.note}".strip()
        ends = (f"{self.times[0]:.3g}", f"{self.times[-1]:.3g}", f"{slope:.2f}", f"{error:.2f}")
        span = f"{self.size} = {self.sizes[0]} .. {self.sizes[-1]}"
        return LAYOUT.format(self.what, span, *ends, f"{self.expected:g}", verdict)


def processor_seconds(work: Work, before: Work | None = None, runs: int = 2) -> float:
    """The best processor time of `runs` runs after one untimed, whatever the size.

    The same number at every size: a first run pays for what FLINT keeps (nodes of quadrature) and for fresh memory, and
    a ladder whose long end were run once would be cold there and warm at its short end.
    """
    best = float("inf")
    for index in range(runs + 1):
        if before is not None:
            before()
        if index == 0:
            work()
            gc.collect()
            continue
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return max(best, 1e-9)  # a clock that has not ticked


def ladder(low: int, high: int, steps: int = 5) -> tuple[int, ...]:
    """`steps` sizes from low to high in equal ratios."""
    return tuple(round(x) for x in np.geomspace(low, high, steps))


@dataclass(frozen=True)
class Path:
    """A heavy path: `prepare(size)` makes the inputs and returns the work that is timed."""

    what: str
    size: str
    sizes: tuple[int, ...]
    expected: float
    prepare: Callable[[int], Work]
    before: Work | None = None
    note: str = ""

    def measure(self) -> Iterable[Growth]:
        """One line."""
        times = tuple(processor_seconds(self.prepare(size), self.before) for size in self.sizes)
        return (Growth(self.what, self.size, self.sizes, times, self.expected, self.note),)


def _rows(n: int, d: int = 100) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal((n, d))


def _kernel(n: int, function: str) -> Work:
    return functools.partial(kernel_matrix, _rows(n), nonlinearity=function, weight_variance=0.01)


def _equivalent(points: int) -> Work:
    model = declare("X: n x d, 1/n", size="n=2,d=1", positive="lam")
    theory = read("tr(inv(X.T*X + lam))", model)
    return functools.partial(equivalent_values, theory, {}, {"lam": np.linspace(0.1, 2, points)})


def _expression(d: int) -> Work:
    model = declare(["X: n x d, 1", "e: n x 1, 1"], size="n=2,d=1")
    theory = read("let b = inv(X.T*X/n + 1)*X.T*e/n; b.T*b", model)
    return lambda: simulated(theory, {}, d, 2, 0)


def _sector(d: int) -> Work:
    return functools.partial(sector, d, 1.0, 2.0)


def _sphere(degree: int) -> Work:
    return functools.partial(eigenvalues, nonlinearity("relu"), 100, degree)


def _curve(points: int, by: str) -> Work:
    constants, psi = Constants(0.6, 0.2, 0.0, 0.7, 0.3), np.linspace(0.2, 5, points)
    if by == "step":
        return functools.partial(ridge_risk, constants, RidgeProblem(1.5, 2.0, 1e-4, psi, noise=0.1))
    return functools.partial(ridge_risk, constants, RidgeProblem(psi, 2.0, 1e-4, 1.0, noise=0.1))


def _given_weights(N: int) -> Work:
    rng = np.random.default_rng(0)
    u = rng.normal(size=N) / math.sqrt(N)
    W = rng.normal(size=(N, N)) / math.sqrt(N) + 1.5 * np.outer(u, rng.normal(size=N))
    model = conditional_model(W, u[:, None], u, np.tanh, np.tanh, noise=0.2)
    return lambda: conditional_risk(model, 3 * N // 2, 0.1)


def _step(N: int) -> Work:
    rng = np.random.default_rng(0)
    teacher = Teacher(draw_directions(N, 1, rng), (np.tanh,), 0.1)
    W = draw_weights("gaussian", N, N, rng)
    batch = draw_batch(teacher, 2 * N, rng)
    return lambda: mean_gradient(W, batch, lambda z: 1 + 0.15 * z)


def _readout(N: int) -> Work:
    rng = np.random.default_rng(0)
    Phi, y = rng.standard_normal((2 * N, N)), rng.standard_normal(2 * N)
    return lambda: solve_ridge(Phi, y, 0.1)


def _triples(N: int) -> Work:
    # Spikes well apart: the number of products with the matrix does not depend on the size.
    rng = np.random.default_rng(0)
    W = rng.standard_normal((N, N)) / math.sqrt(N)
    for strength in (6.0, 9.0, 14.0):
        W += strength * np.outer(rng.standard_normal(N), rng.standard_normal(N)) / N
    return lambda: leading_triples(W, 3)


def _law(points: int, method: str) -> Work:
    law = MarchenkoPastur(0.5, 1.3)
    x = np.linspace(*law.edges, points)
    if method == "rvs":
        return lambda: law.rvs(points, random_state=np.random.default_rng(0))
    return functools.partial(getattr(law, method), x)


def _general(points: int) -> Work:
    law = GeneralLaw(DiscretePopulation.of(np.array([1.0, 3.0, 10.0]), np.array([0.3, 0.3, 0.4])), 0.1)
    return functools.partial(law.pdf, np.linspace(law.edges[0][0], law.edges[-1][1], points))


def _exact(K: int) -> Work:
    return lambda: hermite.coefficients(nonlinearity("relu"), K)


def _enclosure(digits: int) -> Work:
    return lambda: hermite.coefficient(nonlinearity("tanh"), 5, digits=digits)


def _weights(N: int) -> Work:
    rng = np.random.default_rng(0)
    W = rng.standard_normal((N, N)) / math.sqrt(N) + 3 * np.outer(rng.standard_normal(N), rng.standard_normal(N)) / N
    return lambda: analyse(W, rng=np.random.default_rng(0), draws=19)


def _tracy_widom(points: int) -> Work:
    s = np.linspace(-5, 3, points)
    return lambda: tracy_widom.cdf(s)


def _forget_tracy_widom() -> None:
    tracy_widom._log_at.cache_clear()


PAIR = pair_from_functions(np.tanh, lambda z: 1 / np.cosh(z) ** 2, np.tanh)


def _large_width(N: int) -> Work:
    return lambda: one_step_risk(PAIR, RidgeProblem(1.5, 1.0, 0.1, 2 * math.sqrt(N), noise=0.2), N)


def _spiked_features(points: int) -> Work:
    samples = np.linspace(0.5, 4, points).tolist()
    return lambda: [spiked_features_risk(PAIR, n, 2.0, 1.5, 0.1, 1.0, noise=0.1) for n in samples]


def _two_steps(N: int) -> Work:
    rng = np.random.default_rng(0)
    teacher = Teacher(draw_directions(N, 1, rng), (np.tanh,), 0.1)
    W, a = draw_weights("gaussian", N, N, rng), draw_readout("uniform", N, rng)
    batch = draw_batch(teacher, 2 * N, rng)

    def work() -> object:
        gradient = second_weights(W.copy(), a, (batch, batch), lambda z: 1 + 0.15 * z, (1.0, 1.0))
        return regress(gradient, a, 1.0, 2)

    return work


def _network(d: int) -> Work:
    ratios = {"samples": "2", "width": "1", "batch": "2", "ridge": "1/10", "step": "1"}
    return lambda: risk_trial(np.random.default_rng(0), d, activation="tanh", link="tanh", test=d, **ratios)


def _skipping(d: int) -> Work:
    return lambda: risks(np.random.default_rng(0), d, Step(), 2.0)


def _spiked_matrix(n: int) -> Work:
    X, spike = _rows(n), np.eye(100)[0]
    return lambda: leading_eigenpair(spiked_kernel_matrix(X, None, spike, 1.0, 5.0))


def _truncated(d: int) -> Work:
    return lambda: truncated_sector(d, 1.0, 2.0, nonlinearity("tanh"))


def _batch_average(d: int) -> Work:
    return lambda: distance(Step(), d)


def _draw(rng: np.random.Generator, size: int) -> dict[str, float]:
    return {"mean": float(rng.standard_normal(size).mean())}


def _trials(count: int) -> Work:
    def work() -> None:
        with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/store") as store:
            Runner(store=store).run(_draw, (10,), count)

    return work


PATHS = {
    "kernel": Path(
        "kernel matrix of ReLU, d = 100", "n", ladder(500, 5000), 2, functools.partial(_kernel, function="relu")
    ),
    "series": Path(
        "kernel matrix of tanh, d = 100", "n", ladder(400, 4000), 2, functools.partial(_kernel, function="tanh")
    ),
    "equivalent": Path("an equivalent, points of its regularisation", "points", ladder(20, 200), 1, _equivalent),
    "expression": Path("one draw of a ridge regression as typed, n = 2 d", "d", ladder(100, 1000), 3, _expression),
    "sector": Path("exact spectrum of a spiked kernel, a sector", "d", ladder(100, 1000), 0, _sector),
    "sphere": Path("enclosed eigenvalues on the sphere", "degree", ladder(100, 1000), 1, _sphere, forget),
    "curve": Path("O3, step sizes", "points", ladder(3 * 10**5, 3 * 10**6), 1, functools.partial(_curve, by="step")),
    "ratios": Path("O3, sample ratios", "points", ladder(10**4, 10**5), 1, functools.partial(_curve, by="ratio")),
    "given_weights": Path("L1, given weights, d = N", "N", ladder(100, 1000), 3, _given_weights),
    "step": Path("one gradient step, d = N, n = 2 N", "N", ladder(150, 1500), 3, _step),
    "readout": Path("ridge readout, n = 2 N", "N", ladder(150, 1500), 3, _readout),
    "triples": Path("three leading triples, d = N", "N", ladder(300, 3000), 2, _triples),
    "cdf": Path("Marchenko-Pastur cdf", "points", ladder(10**5, 10**6), 1, functools.partial(_law, method="cdf")),
    "draws": Path(
        "Marchenko-Pastur draws", "points", ladder(3 * 10**4, 3 * 10**5), 1, functools.partial(_law, method="rvs")
    ),
    "general": Path("density of a general population", "points", ladder(3000, 30000), 1, _general),
    "exact": Path("exact ReLU coefficients, all to K", "K", ladder(100, 1000), 2, _exact, forget),
    "enclosure": Path("enclosed tanh coefficient", "digits", ladder(60, 600), 3, _enclosure, forget),
    "weights": Path("weights report, 19 simulated matrices, d = N", "N", ladder(300, 3000), 3, _weights),
    "tracy_widom": Path("Tracy-Widom cdf", "points", ladder(50, 500), 1, _tracy_widom, _forget_tracy_widom),
    "large_width": Path("large-N risk after a step eta = 2 sqrt N", "N", ladder(10**3, 10**4), 0, _large_width),
    "spiked_features": Path("C1, sample ratios", "points", ladder(5, 50), 1, _spiked_features),
    "two_steps": Path("two gradient steps and their regression, d = N", "N", ladder(150, 1500), 3, _two_steps),
    "network": Path("one network trained, fitted and tested", "d", ladder(120, 1200), 3, _network),
    "skipping": Path("G9, four sets of features", "d", ladder(60, 600), 3, _skipping),
    "spiked_matrix": Path("spiked kernel matrix and its top vector", "n", ladder(400, 4000), 2, _spiked_matrix),
    "truncated": Path("truncated spectrum of tanh, a sector", "d", ladder(100, 1000), 0, _truncated),
    "batch_average": Path("distance of the batch-averaged kernel", "d", ladder(100, 1000), 0, _batch_average),
    "trials": Path("finished trials in a store", "trials", ladder(200, 2000), 1, _trials),
}
# The modules of numerics/ in which nothing grows: no path leads there, for the reason given.
LIGHT = {
    "adam": "one reference network of fixed size",
    "array_file": "reads a file once",
    "checkpoint_file": "reads a tensor of a file once",
    "csv_matrix": "reads a file once",
    "tensor": "one tensor as it is stored",
    "weight_files": "reads a file once",
    "batched": "the points, few, that the program of the path `equivalent` leaves undecided",
    "feature_spikes": "one spectrum and a few scalar equations, for a picture",
    "further_edges": "one spectrum more than the report of weights above",
    "null_edge": "a line through ten values",
    "separable": "a search in one scalar over sums of the levels",
    "screenot": "one search over sums of the singular values",
    "shrinkage": "two by two blocks",
    "spectral_measures": "sums over the singular values; the tail's test is of fixed size",
    "subspaces": "one decomposition more than the report of weights above",
    "alignment": "quadrature on a fixed grid",
    "batch_spectrum": "ten points of a scalar equation",
    "check": "arithmetic on the trials' results",
    "cluster": "connects once",
    "estimate": "a mean and its error",
    "floor": "a search on a fixed grid; its evaluations are capped",
    "gain": "a few operations beyond the curve above",
    "generalisation": "the same kernels and solves as the paths above, at one size",
    "gradient": "evaluates closed forms",
    "kernel_table": "kernels without a closed form: panels of quadrature, capped, then the series' work an entry",
    "spiked_remainder": "a few matrices of fixed size",
    "spiked_response": "one pass over its samples",
    "upper_bound": "one quadrature",
    "learning_curve": "a root in one scalar over the spectra above",
    "leading": "a few sectors of the spectra above",
    "mei_montanari": "one number",
    "pair": "constants of two functions",
    "plane": "a few hundred nodes a value, in panels that are capped",
    "program": "prints text",
    "ridge_error": "a few evaluations of the curve above",
    "rounding": "the operations of a closed form once more",
    "sphere": "a recurrence, timed beside mpmath in kernel.py",
    "spike": "evaluates closed forms",
    "spike_transition": "one table, solved once",
    "spike_matrix": "matrices of a few spikes",
    "spiked_features": "evaluates closed forms",
    "trained_risk": "the model of given weights above",
    "unlearned_outlier": "evaluates closed forms",
    "two_steps": "the networks on which statements are tried",
}

BENCHMARKS = tuple(Benchmark(f"growth.{name}", path.measure) for name, path in PATHS.items())
