"""Paper F's figures with the exact curves in them, the error of its approximations, and what skipping training costs.

F.alignment and F.generalisation hold the published values (read off the paper's pictures), the simulated ones with
error bars, and the exact curve or floor.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.number import short
from bulkedge.results.plotting import line, new_figure, points
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.numerics.kernels.spiked_spectrum import Sector

SEED = 2026
_DIMENSIONS = (50, 100, 200, 400, 800, 1600, 3200)
SAMPLES = (50, 100, 200, 400, 800, 1600, 3200)

# Read off paper F's Figure 1a: squared overlaps by exponent of B = 5 d^exponent (None: k0, at d = 50 only).
_PUBLISHED_OVERLAPS: dict[float | None, tuple[float, ...]] = {
    0.9: (0.197, 0.247, 0.235, 0.173, 0.205, 0.190, 0.183),
    0.7: (0.147, 0.175, 0.140, 0.069, 0.077, 0.051, 0.038),
    0.5: (0.089, 0.079, 0.046, 0.012, 0.013, 0.005, 0.003),
    0.3: (0.053, 0.029, 0.014, 0.004, 0.003, 0.001, 0.000),
}
# Figure 1b: test errors by kernel, and of the published network (Adam, one epoch).
_PUBLISHED_ERRORS = {
    "k0": (33.5, 31.0, 29.0, 24.3, 20.5, 17.9, 16.5),
    "k1(0.3)": (17.8, 15.3, 13.8, 12.3, 10.7, 9.4, 8.8),
    "k1(0.5)": (12.2, 10.9, 10.2, 9.6, 8.8, 8.5, 8.3),
    "k1(0.7)": (10.0, 9.7, 9.2, 8.5, 8.7, 8.5, 8.2),
    "k1(0.9)": (9.8, 9.4, 8.9, 8.7, 8.7, 8.4, 8.2),
    "Adam": (33.9, 31.1, 30.3, 25.8, 21.3, 14.8, 11.9),
}

OPEN = {"linestyle": "none", "fillstyle": "none"}
Rows = list[tuple[str, ...]]


def _estimate(values: list[float]) -> tuple[float, float]:
    array = np.array(values)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def _mean_rows(rows: Rows, curve: str, label: str, x: list[int], points: list[tuple[float, float]]) -> None:
    rows += [(curve, label, str(at), repr(value), repr(error)) for at, (value, error) in zip(x, points, strict=True)]


def alignment(
    dimensions: tuple[int, ...] = _DIMENSIONS, trials: tuple[int, ...] = (20, 20, 12, 8, 5, 3, 2), ratio: float = 2.0
) -> tuple[Figure, Table]:
    """Squared overlap of the top eigenvector of the kernel matrix with Y2, n = ratio d samples (G8)."""
    from bulkedge.numerics.kernels.spiked_kernel import alignment_trial
    from bulkedge.numerics.kernels.spiked_spectrum import sector
    from bulkedge.numerics.trials.estimate import Estimate
    from bulkedge.numerics.trials.runner import Request, current_runner

    figure, axes = new_figure(6.4, 4.0)
    rows: Rows = []
    exponents: tuple[float | None, ...] = (0.9, 0.7, 0.5, 0.3, None)
    runner = current_runner(SEED)
    drawn = {e: functools.partial(alignment_trial, exponent=e, ratio=ratio) for e in exponents}
    # All through one pool: the largest first.
    runner.gather(Request(f, (d,), count) for f in drawn.values() for d, count in zip(dimensions, trials, strict=True))
    for index, exponent in enumerate(exponents):
        name = "k0" if exponent is None else f"B = 5 d^{exponent:g}"
        if exponent is not None:
            found = [_squared_overlap(sector(d, 1.2, 5 * d**exponent, tolerance=1e-8)) for d in dimensions]
            axes.plot(dimensions, [value for value, _ in found], **line(index), label=f"{name}: exact")
            _mean_rows(rows, "exact", name, list(dimensions), found)
            published = [p for d, p in zip(_DIMENSIONS, _PUBLISHED_OVERLAPS[exponent], strict=True) if d in dimensions]
            axes.plot(dimensions, published, **OPEN | points(index))
            rows += [("published", name, str(d), repr(v), "") for d, v in zip(dimensions, published, strict=True)]
        simulated = []
        for d, count in zip(dimensions, trials, strict=True):
            results = runner.run(drawn[exponent], (d,), count)[d]
            mean = Estimate.from_samples([r["overlap2"] for r in results])
            simulated.append((mean.value, mean.stderr))
        means, errors = zip(*simulated, strict=True)
        label = "k0: simulated" if exponent is None else None
        axes.errorbar(dimensions, means, errors, capsize=2, label=label, linestyle="none", **points(index))
        _mean_rows(rows, "simulated", name, list(dimensions), simulated)
    axes.plot([], [], "o", color="0.4", markersize=4, label=f"filled: simulated, n = {ratio:g} d")
    axes.plot([], [], **OPEN | {"marker": "o", "color": "0.4", "markersize": 4}, label="open: published (read off)")
    axes.set_xscale("log")
    axes.set_xlabel("dimension $d$")
    axes.set_ylabel("squared overlap with $Y_2$")
    axes.set_ylim(top=0.35)  # room for the legend
    axes.legend(fontsize=7.5, ncols=2, loc="upper right")
    return figure, Table(("curve", "kernel", "d", "value", "standard error"), tuple(rows))


def generalisation(
    samples: tuple[int, ...] = SAMPLES,
    trials: tuple[int, ...] = (10, 10, 8, 6, 4, 2, 2),
    dimension: int = 300,
    steps: tuple[float, ...] = (10.0,),
    exponents: tuple[float, ...] = (0.3, 0.9),
) -> tuple[Figure, Table]:
    """Test errors of kernel ridge on the target of Figure 1b: predicted (G10) and simulated; the floor (G8)."""
    from bulkedge.numerics.risk.generalisation import A, trial
    from bulkedge.theory.numbers.symbols import d
    from bulkedge.theory.risk.floor_relu import figure_floor

    figure, axes = new_figure(6.4, 4.0)
    rows: Rows = []
    found: dict[str, list[tuple[float, float]]] = {}
    for n, count in zip(samples, trials, strict=True):
        generator = np.random.default_rng([SEED, n])
        results = [trial(generator, n, dimension, exponents, steps) for _ in range(count)]
        for name in results[0]:
            found.setdefault(name, []).append(_estimate([r[name] for r in results]))
    spikes = {"k0": (1.0, 0.0)} | {f"k1({e:g})": (A, 5 * dimension**e) for e in exponents}
    for index, (name, simulated) in enumerate(found.items()):
        means, errors = zip(*simulated, strict=True)
        axes.errorbar(samples, means, errors, label=name, capsize=2, linestyle="none", **points(index))
        _mean_rows(rows, "simulated", name, list(samples), simulated)
        if name in spikes:
            predicted = [_best_risk(n, dimension, *spikes[name]) for n in samples]
            axes.plot(samples, [value for value, _ in predicted], **line(index))
            _mean_rows(rows, "predicted", name, list(samples), predicted)
        if name in _PUBLISHED_ERRORS:
            published = [p for n, p in zip(SAMPLES, _PUBLISHED_ERRORS[name], strict=True) if n in samples]
            axes.plot(samples, published, **OPEN | points(index))
            rows += [("published", name, str(n), repr(v), "") for n, v in zip(samples, published, strict=True)]
    axes.plot([], [], **OPEN | {"marker": "o", "color": "0.4", "markersize": 4}, label="open: published (read off)")
    floor = float(figure_floor().subs(d, dimension).evalf(15))
    axes.axhline(floor, color="0.4", linewidth=0.8, label=f"floor {short(floor)} of bias-free ReLU kernels")
    rows += [("floor", "relu kernels", str(n), repr(floor), "0") for n in samples]
    axes.set_xscale("log")
    axes.set_xlabel("samples")
    axes.set_ylabel("test error")
    axes.set_ylim(top=44)  # room for the legend
    axes.legend(fontsize=7.5, ncols=2)
    return figure, Table(("curve", "model", "samples", "value", "standard error"), tuple(rows))


def _best_risk(n: int, dimension: int, A: float, B: float) -> tuple[float, float]:
    """G10's risk with its first finite-size term, at the best ridge of the grid; and that term, as the error."""
    from bulkedge.numerics.kernels.learning_curve import finite_size, learning_curve, relu_spectrum
    from bulkedge.numerics.risk.generalisation import RIDGES
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    link = nonlinearity("2*z**2 + 3*z + 4*sin(2*z)")
    spectrum = relu_spectrum(dimension, A, B, link)
    # The term changes slowly with the ridge: the best is found without it.
    limit, best = min((learning_curve(spectrum, n, ridge).risk, ridge) for ridge in RIDGES)
    term = finite_size(dimension, A, B, link, n, best)
    return limit + term, abs(term)


def width(
    dimension: int = 100, trials: int = 40, widths: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0)
) -> tuple[Figure, Table]:
    """The risk of a network after one step against its width, B held: predicted, simulated, and that of k1 (G10)."""
    from dataclasses import replace

    from bulkedge.numerics.kernels.learning_curve import learning_curve, network_risk, one_step_spectrum, relu_spectrum
    from bulkedge.numerics.steps.covariance import Step, predicted

    figure, axes = new_figure()
    rows: Rows = []
    ratios, ridge = np.geomspace(0.4, 10, 25).tolist(), 0.1

    def step(ratio: float) -> Step:
        return Step("relu", "tanh(2*z)", alpha=1.0, beta=ratio, eta0=2.5 * ratio, zeta=0.75, noise=0.1)

    # A and B do not depend on the width where eta grows with it, but for a neuron's own share of order 1/m.
    A, B = predicted(replace(step(1.0), beta=1e6, eta0=2.5e6), dimension)
    averaged = relu_spectrum(dimension, 1 + A, B, step(1.0).functions()[1])
    network = one_step_spectrum(step(1.0), dimension)
    for index, (name, spectrum) in enumerate((("network after one step", network), ("features of k1", averaged))):
        curve = [learning_curve(spectrum, dimension, ridge, 0.1, ratio * dimension).risk for ratio in ratios]
        level = learning_curve(spectrum, dimension, ridge, 0.1).risk
        axes.plot(ratios, curve, **line(index), label=name)
        axes.axhline(level, color="0.4", linewidth=0.8)
        rows += [("predicted", name, repr(r), repr(v), "") for r, v in zip(ratios, curve, strict=True)]
        rows.append(("m -> infinity", name, "", repr(level), ""))
    for ratio in widths:
        generator = np.random.default_rng([SEED, round(100 * ratio)])
        risks = [network_risk(generator, dimension, step(ratio), 1.0, ridge)["risk"] for _ in range(trials)]
        mean, error = _estimate(risks)
        axes.errorbar([ratio], [mean], [2 * error], capsize=2, **points(0))
        rows.append(("simulated", "network after one step", repr(ratio), repr(mean), repr(error)))
    axes.set_xscale("log")
    axes.set_xticks(widths, [f"{w:g}" for w in widths])
    axes.minorticks_off()
    axes.set_xlabel("m/d")
    axes.set_ylabel("test error")
    axes.legend()
    return figure, Table(("curve", "features", "m/d", "test error", "standard error"), tuple(rows))


def approximation(
    dimensions: tuple[int, ...] = (50, 200, 1000, 10_000), ratios: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
) -> tuple[Figure, Table]:
    """Relative error of lambda~, of the next orders and of the overlap from tau, against the exact spectrum (G7)."""
    from bulkedge.numerics.kernels.spiked_spectrum import sector
    from bulkedge.theory.kernels import spiked_expansion as expansion
    from bulkedge.theory.numbers.symbols import A, B, d

    figure, both = new_figure(6.8, 3.2, ncols=2)
    rows: Rows = []
    for index, dimension in enumerate(dimensions):
        errors: dict[str, list[float]] = {"printed": [], "third order": [], "tau": []}
        # lambda_0 of the sector without a spike: SymPy would write out the Gamma functions of d = 10^4.
        zero, two = (float(v) for v in sector(dimension, 1.0, 0.0, tolerance=1e-8).eigenvalues[:2])
        for ratio in ratios:
            part = sector(dimension, 1.0, ratio * dimension, tolerance=1e-9)
            exact, error = float(part.eigenvalues[0]), float(part.errors[0])
            true_overlap, overlap_error = float(part.vectors[1, 0]), _vector_error(part)
            at = {A: 1, B: ratio * dimension, d: dimension}
            printed = zero + ratio / (2 * np.pi)
            series = float(expansion.limit_top(3).subs({A: 1, expansion.b: ratio}))
            third = series + (zero - 1 / (2 * np.pi)) * (1 + ratio)
            front = float(_sp_float(expansion.paper_tau_front().subs(at)))
            tau = front / (printed - two)
            overlap = tau / np.sqrt(1 + tau**2)
            for name, value, truth, known in (
                ("printed", printed, exact, error),
                ("third order", third, exact, error),
                ("tau", overlap, true_overlap, overlap_error),
            ):
                relative = float(abs(value / truth - 1))
                errors[name].append(relative)
                numbers = (ratio, float(value), truth, known, relative)
                rows.append((name, str(dimension), *map(repr, numbers)))
        for axes, name, marker in ((both[0], "printed", "o"), (both[0], "third order", "v"), (both[1], "tau", "o")):
            axes.plot(ratios, errors[name], marker=marker, markersize=4, **line(index))
        both[1].plot([], [], **line(index), label=f"d = {dimension}")
    for marker, name in (("o", "as printed"), ("v", "to third order")):
        both[0].plot([], [], marker, color="0.4", markersize=4, label=name)
    for axes, title in zip(both, ("largest eigenvalue", r"overlap with $Y_2$ from $\tau$"), strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("$B/(A d)$")
        axes.set_ylabel("relative error")
        axes.set_title(title, fontsize=9)
        axes.legend(fontsize=7.5)
    columns = ("approximation", "d", "B/(Ad)", "value", "exact", "error of exact", "relative error")
    return figure, Table(columns, tuple(rows))


def _vector_error(part: Sector) -> float:
    """A bound of the error of the top eigenvector's entries: twice the eigenvalue's over the gap."""
    return float(2 * part.errors[0] / (part.eigenvalues[0] - part.eigenvalues[1]))


def _squared_overlap(part: Sector) -> tuple[float, float]:
    """The squared overlap of the top eigenfunction with Y2, and a bound of its error."""
    overlap = float(part.vectors[1, 0])
    return overlap**2, 2 * abs(overlap) * _vector_error(part)


def _sp_float(expression: Any) -> float:
    """A SymPy number as a float."""
    return float(expression.evalf(15))


def rates(
    dimensions: tuple[int, ...] = (25, 50, 100, 200), trials: int = 24, zetas: tuple[float, ...] = (0.5, 0.75, 1.0)
) -> tuple[Figure, Table]:
    """A - 1 and B against d at eta = 20 d^zeta: G1's values, simulated steps, and the exponents (G1)."""
    from bulkedge.numerics.steps.covariance import Step, predicted, trial

    figure, both = new_figure(8.4, 3.4, ncols=2)
    rows: Rows = []
    for index, zeta in enumerate(zetas):
        step = Step(eta0=20.0, zeta=zeta)
        found = []
        for d in dimensions:
            generator = np.random.default_rng([SEED, d, index])
            found.append([trial(generator, d, step) for _ in range(trials)])
        for axes, name, which, exponent in (
            (both[0], "A - 1", "bulk", 2 * zeta - 2),
            (both[1], "B", "spike", 2 * zeta - 1),
        ):
            exact = [predicted(step, d)[name == "B"] for d in dimensions]
            axes.loglog(dimensions, exact, **line(index), label=rf"$\zeta$ = {zeta:g}: slope {exponent:g}")
            points_ = [_estimate([r[which] for r in results]) for results in found]
            means, errors = zip(*points_, strict=True)
            axes.errorbar(dimensions, means, [2 * e for e in errors], linestyle="none", **points(index))
            rows += [
                ("predicted", name, f"{zeta:g}", str(d), repr(v), "") for d, v in zip(dimensions, exact, strict=True)
            ]
            rows += [
                ("simulated", name, f"{zeta:g}", str(d), repr(m), repr(e))
                for d, (m, e) in zip(dimensions, points_, strict=True)
            ]
    for axes, name in zip(both, ("A - 1", "B"), strict=True):
        axes.set_xlabel("dimension d")
        axes.set_ylabel(name)
        axes.legend(fontsize=7.5)
    return figure, Table(("kind", "quantity", "zeta", "d", "value", "standard error"), tuple(rows))


def skipping(
    size: int = 150, trials: int = 12, steps: tuple[float, ...] = (0.3, 1.0, 3.0, 6.0)
) -> tuple[Figure, Table]:
    """Ridge risks of untrained, trained, averaged and conditional features over step sizes eta = e d (G9)."""
    from bulkedge.numerics.risk.skipping import risks
    from bulkedge.numerics.steps.covariance import Step
    from bulkedge.numerics.trials.estimate import Estimate
    from bulkedge.numerics.trials.runner import Request, current_runner

    figure, axes = new_figure()
    rows: Rows = []
    names = ("untrained", "trained", "conditional", "averaged")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    runner = current_runner(SEED)
    drawn = [functools.partial(risks, step=Step("relu", "tanh(2*z)", 2.0, 2.0, e, 1.0, 0.1)) for e in steps]
    runner.gather(Request(trial, (size,), trials) for trial in drawn)
    for trial in drawn:
        results = runner.run(trial, (size,), trials)[size]
        for name in names:
            mean = Estimate.from_samples([r[name] for r in results])
            found[name].append((mean.value, mean.stderr))
    for index, name in enumerate(names):
        means, errors = zip(*found[name], strict=True)
        axes.errorbar(steps, means, errors, capsize=2, label=name, **line(index) | points(index))
        rows += [(name, repr(e), repr(m), repr(s)) for e, m, s in zip(steps, means, errors, strict=True)]
    axes.set_xscale("log")
    axes.set_xticks(steps, [f"{e:g}" for e in steps])
    axes.minorticks_off()
    axes.set_xlabel(r"$\eta/d$")
    axes.set_ylabel("test error")
    axes.legend()
    return figure, Table(("features", "eta/d", "test error", "standard error"), tuple(rows))


FIGURES = (
    Picture(
        "F.alignment",
        "Alignment of the spiked kernel's top eigenvector (paper F, Figure 1a)",
        "Lines: exact. A = 1.2, B = 5 d^e, ReLU, x ~ N(0, I_d); n = 2 d samples (the paper does not say), 20 draws "
        f"at d = 50 to 2 at d = 3200, seed {SEED}; bars: one standard error. The paper's values are squared overlaps.",
        alignment,
        functools.partial(alignment, _DIMENSIONS[:4], (8, 8, 6, 4)),
    ),
    Picture(
        "F.generalisation",
        "Kernel ridge with spiked kernels, and networks (paper F, Figure 1b)",
        "Lines: predicted (G10, with its first finite-size term, at the best ridge). Points: simulated, one standard "
        "error. d = 300, target 2t^2 + 3t + 4 sin 2t, 600 test points, ridge by five-fold cross-validation on "
        "10^-3..10^3, A = 1.2, B = 5 d^e; 400 ReLU neurons: one step at eta = e sqrt(m) and ridge, or (with biases) "
        f"one epoch of Adam (the paper does not state its other settings); 10 to 2 draws, seed {SEED}.",
        generalisation,
        functools.partial(generalisation, SAMPLES[:4], (3, 3, 2, 2), 150),
    ),
    Picture(
        "F.width",
        "One step at growing width, and the averaged kernel",
        "Lines: predicted (G10 with G2); points: simulated, two standard errors; grey: m -> infinity. d = n = n1 = "
        "100, ReLU, link tanh(2z), noise .1, ridge .1, eta = 2.5 d^.75 m/d, which holds B; 40 networks a point, "
        f"seed {SEED}.",
        width,
        functools.partial(width, 50, 12),
    ),
    Picture(
        "F.approximation",
        "Paper F's approximations against the exact spectrum",
        "Nothing is simulated: each formula against the exact spectrum. A = 1, ReLU. Good for B/d well below A: at "
        "B/d = A the printed eigenvalue is off by a tenth or more.",
        approximation,
    ),
    Picture(
        "F.rates",
        "How the spike and the bulk of the weights scale with the dimension",
        "Lines: G1, reading full; points: simulated, two standard errors, 24 draws. ReLU, link tanh, alpha = 2, "
        f"beta = 1, eta = 20 d^zeta in paper F's units, seed {SEED}.",
        rates,
        functools.partial(rates, (25, 50, 100), 8),
    ),
    Picture(
        "F.skipping",
        "Features drawn instead of trained",
        "Points: simulated, one standard error. d = 150, n = 2d samples of the step, m = 2d ReLU neurons, link "
        f"tanh(2z), noise .1, eta = e d, 4d fresh samples for the ridge fit, 12 draws, seed {SEED}. Features drawn "
        "given the batch do as well as trained ones; those of the batch-averaged Gamma know w* itself and do better "
        "than any training on this batch.",
        skipping,
        functools.partial(skipping, 80, 6),
    ),
)
