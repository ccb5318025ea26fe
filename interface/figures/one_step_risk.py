"""O.risk, O.large and M.spikes: the risk against the step size, and the spikes of the feature matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.plotting import line, new_figure, points
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIM = 128  # of the simulated networks (paper O: 512, 50 runs)
RUNS = 8
Rows = list[tuple[str, ...]]

# Paper O, Figure 3 (a) and (b): activation, link (centred), fixed ratio, the other ratio of the curves, ridge, noise.
CENTRED_SOFTPLUS = "softplus - 0.8060591833474"
CENTRED_RELU = "relu - 1/sqrt(2*pi)"


def _curve(axes: Any, rows: Rows, index: int, label: str, **setting: Any) -> None:
    """The closed form over a curve of steps, and simulated networks with two standard errors."""
    from bulkedge.commands.risk.risk import risk
    from bulkedge.numerics.risk.simulated_risk import simulated_risk
    from bulkedge.numerics.trials.runner import current_runner

    result = risk(**setting, step="0:8:81")
    steps, tests = [p.step for p in result.curve], [p.test for p in result.curve]
    axes.plot(steps, tests, **line(index), label=label)
    rows += [(label, "predicted", repr(p.step), repr(p.test), repr(p.test_error)) for p in result.curve]
    texts = {name: str(value) for name, value in setting.items()}
    runner = current_runner(2026)
    simulated = []
    for step in ("0", "2", "4", "6", "8"):
        found = simulated_risk(runner, DIM, RUNS, **{"batch": texts["samples"], **texts}, step=step)["test"]
        simulated.append((float(step), found.value, found.stderr))
        rows.append((label, "simulated", step, repr(found.value), repr(found.stderr)))
    x, y, error = (list(column) for column in zip(*simulated, strict=True))
    axes.errorbar(x, y, yerr=[2 * s for s in error], linestyle="none", **points(index))


def _risk() -> tuple[Figure, Table]:
    """Test risk against eta: tanh on softplus over n/d, tanh on ReLU over N/d (paper O, Figure 3 a, b)."""
    figure, (left, right) = new_figure(8.4, 3.4, ncols=2)
    rows: Rows = []
    for index, samples in enumerate(("2", "4", "8")):
        _curve(
            left,
            rows,
            index,
            f"n/d = {samples}",
            activation="tanh",
            link=CENTRED_SOFTPLUS,
            samples=samples,
            width="2",
            ridge="1e-4",
            noise="1/4",
        )
    for index, width in enumerate(("1/2", "2", "8")):
        _curve(
            right,
            rows,
            index,
            f"N/d = {width}",
            activation="tanh",
            link=CENTRED_RELU,
            samples="5",
            width=width,
            ridge="1e-2",
            noise="1/10",
        )
    from bulkedge.numerics.functions.functions import constants
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    for axes, link, title in ((left, CENTRED_SOFTPLUS, "softplus, N/d = 2"), (right, CENTRED_RELU, "ReLU, n/d = 5")):
        c = constants(nonlinearity(link))
        level = c.mu2**2
        axes.axhline(level, color="0.4", linewidth=0.8, label="linear floor")
        rows.append((title, "linear floor", "", repr(level), repr(2 * c.mu2 * c.error)))
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(r"step size $\eta$")
        axes.set_ylabel("test risk (noise excluded)")
    left.set_yscale("log")
    left.set_ylim(top=6)  # room for the legend above the curves
    left.legend(fontsize=7.5, ncols=2, loc="upper right")
    right.legend(fontsize=7.5)
    return figure, Table(("curve", "kind", "step", "risk", "standard error"), tuple(rows))


WIDTH = 2000
SIMULATED_WIDTH = 400


def _large() -> tuple[Figure, Table]:
    """Test risk against n/d at eta = N^a, erf on erf and tanh on tanh (paper O, Figure 3 c)."""
    from bulkedge.numerics.functions.functions import constants
    from bulkedge.numerics.risk.conditional_limit import one_step_risk
    from bulkedge.numerics.risk.pair import pair
    from bulkedge.numerics.risk.simulated_risk import simulated_risk
    from bulkedge.numerics.trials.runner import current_runner
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    figure, panels = new_figure(8.4, 3.4, ncols=2)
    rows: Rows = []
    ratios = np.geomspace(0.5, 40, 25)
    for axes, name in zip(panels, ("erf", "tanh"), strict=True):
        f = nonlinearity(name)
        functions = pair(f, f)
        for index, exponent in enumerate((0.0, 0.25, 0.5)):
            risks = [
                one_step_risk(functions, psi1, 2.0, 1e-3, 2 * WIDTH**exponent, WIDTH, noise=0.1).test - 0.01
                for psi1 in ratios
            ]
            label = f"eta = 2 N^{exponent:g}" if exponent else "eta = 2"
            axes.loglog(ratios, risks, **line(index), label=label)
            rows += [
                (f"{name}, {label}", "predicted", repr(float(x)), repr(y), repr(1e-9 * (y + 0.01)))  # as `risk` says
                for x, y in zip(ratios, risks, strict=True)
            ]
            if exponent == 0.5:
                small = 2 * SIMULATED_WIDTH**exponent
                for samples in ("2", "6", "12"):
                    found = simulated_risk(
                        current_runner(2026), SIMULATED_WIDTH // 2, 4, activation=name, link=name, samples=samples,
                        width="2", ridge="1/1000", step=str(round(small)), batch=samples, noise="1/10",
                    )["test"]  # fmt: skip
                    axes.errorbar([float(samples)], [found.value], yerr=[2 * found.stderr], **points(index))
                    rows.append((f"{name}, {label}", "simulated", samples, repr(found.value), repr(found.stderr)))
        c = constants(f)
        axes.axhline(c.mu2**2, color="0.4", linewidth=0.8, label="floor of kernels")
        rows.append((name, "floor of kernels", "", repr(c.mu2**2), repr(2 * c.mu2 * c.error)))
        axes.set_title(f"{name} on {name}", fontsize=9)
        axes.set_xlabel("n/d")
        axes.set_ylabel("test risk (noise excluded)")
        axes.legend(fontsize=7.5)
    return figure, Table(("curve", "kind", "n/d", "risk", "standard error"), tuple(rows))


SIZE = 800
EXPONENTS = (0.05, 0.15, 0.25, 0.3, 0.35, 0.4, 0.45)


def _spikes() -> tuple[Figure, Table]:
    """Singular values of F over sqrt n against the exponent, and overlaps of the left vectors with p_1, p_2, p_3."""
    from fractions import Fraction

    from bulkedge.numerics.functions.functions import constants, vectorised
    from bulkedge.numerics.steps.network import draw_readout, draw_weights, gradient_step
    from bulkedge.theory.functions.nonlinearity import nonlinearity
    from bulkedge.theory.steps.spiked_features import number_of_spikes

    f, g = nonlinearity("softplus - 0.8060591833474"), nonlinearity("tanh(z) + He(2, z)/4")
    sigma, dsigma, link = vectorised(f), vectorised(f.derivative()), vectorised(g)
    c = constants(f)
    assert c.derivative_second is not None
    rng = np.random.default_rng(2026)
    d = N = n = SIZE
    W, a = draw_weights("sphere", d, N, rng), draw_readout("gaussian", N, rng)
    beta = rng.standard_normal(d)
    beta /= np.linalg.norm(beta)
    X = rng.standard_normal((n, d))
    y = link(X @ beta) + 0.1 * rng.standard_normal(n)
    u = X.T @ y / n
    Z = rng.standard_normal((n, d))
    t = Z @ u
    v = (constants(g).second_moment + 0.01) * (c.derivative_second - c.mu1**2)
    # E_xi (mu1 t + xi)^k, orthonormalised in order: the predicted left singular space.
    columns = np.stack([c.mu1 * t, (c.mu1 * t) ** 2 + v, (c.mu1 * t) ** 3 + 3 * v * c.mu1 * t], axis=1)
    basis = np.linalg.qr(columns)[0]
    figure, (left, right) = new_figure(8.4, 3.4, ncols=2)
    rows: Rows = []
    values, overlaps = [], []
    for exponent in EXPONENTS:
        W1 = gradient_step(W, a, [(X, y)], sigma, dsigma, 2 * n**exponent)
        F = sigma(Z @ W1)
        vectors, s, _ = np.linalg.svd(F, full_matrices=False)
        values.append(s[:6] / math.sqrt(n))
        # The share of p_k in the span of the leading three left vectors.
        overlaps.append(np.sum((vectors[:, :3].T @ basis) ** 2, axis=0))
        for quantity, found in (("singular value, simulated", values[-1]), ("share, simulated", overlaps[-1])):
            rows += [(quantity, f"{exponent:g}", str(i + 1), repr(float(x))) for i, x in enumerate(found)]
    names = ("1st", "2nd", "3rd", "4th to 6th", None, None)
    for i, name in enumerate(names):
        left.semilogy(EXPONENTS, [x[i] for x in values], **line(min(i, 3)) | points(min(i, 3)), label=name)
    for i in range(3):
        right.plot(EXPONENTS, [x[i] for x in overlaps], **line(i) | points(i), label=f"p_{i + 1}")
    left.set_yticks([1.5, 2, 3, 5, 10], ["1.5", "2", "3", "5", "10"])
    left.minorticks_off()
    for axes in (left, right):
        axes.legend(fontsize=7.5)
        for order in (1, 2, 3):
            axes.axvline(order / (2 * order + 2), color="0.6", linewidth=0.7, linestyle="--")
        axes.set_xlabel("exponent a of eta = 2 n^a")
    odd = tuple(range(3, 50, 2))  # softplus is z/2 plus an even function
    counted = [len(number_of_spikes(Fraction(str(x)), vanishing=odd).present) for x in EXPONENTS]
    rows += [("predicted number", f"{x:g}", "", str(count)) for x, count in zip(EXPONENTS, counted, strict=True)]
    left.set_ylabel("singular values of F / sqrt(n)")
    right.set_ylabel("share in the leading three left vectors")
    return figure, Table(("quantity", "exponent", "index", "value"), tuple(rows))


FIGURES = (
    Picture(
        "O.risk",
        "Ridge risk after one step of size Theta(1)",
        "Lines: predicted; points: simulated. tanh network. Left: centred softplus link, N/d = 2, ridge 1e-4, noise "
        f"1/4. Right: centred ReLU link, n/d = 5, ridge 1e-2, noise 1/10 (paper O, Figure 3 a, b). Points: {RUNS} "
        f"networks at d = {DIM}, two standard errors, seed 2026; batch of the step as large as the training sample.",
        _risk,
    ),
    Picture(
        "O.large",
        "A large step beats the floor of kernels",
        f"Lines: predicted, step eta = 2 N^a at N = {WIDTH} (closed fixed point), N/d = 2, ridge 1e-3, noise 1/10, "
        "batch as large as the training sample (paper O, Figure 3 c). Points: 4 simulated networks at N = "
        f"{SIMULATED_WIDTH}, eta = 2 sqrt(N), two standard errors, seed 2026.",
        _large,
    ),
    Picture(
        "M.spikes",
        "Spikes of the feature matrix",
        f"Points: simulated. Centred softplus network, link tanh(z) + He_2(z)/4, noise 1/10, d = N = n = {SIZE}, "
        "unit-norm rows, one network, seed 2026. p_k: the left directions of the reading full, orthonormalised; "
        "c_3(softplus) = 0 removes the third. Dashed: exponents l/(2 l + 2).",
        _spikes,
    ),
)
