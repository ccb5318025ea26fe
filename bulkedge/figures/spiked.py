"""Paper F's figures with the exact curves in them, the error of its approximations, and what skipping training costs.

F.alignment and F.generalisation hold the published values (read off the paper's pictures), the simulated ones with
error bars, and the exact curve or floor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bulkedge.figures import Picture
from bulkedge.plotting import PALETTE, new_figure
from bulkedge.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEED = 2026
DIMENSIONS = (50, 100, 200, 400, 800, 1600, 3200)
SAMPLES = (50, 100, 200, 400, 800, 1600, 3200)

# Read off paper F's Figure 1a: squared overlaps by exponent of B = 5 d^exponent (None: k0, at d = 50 only).
PUBLISHED_OVERLAPS: dict[float | None, tuple[float, ...]] = {
    0.9: (0.197, 0.247, 0.235, 0.173, 0.205, 0.190, 0.183),
    0.7: (0.147, 0.175, 0.140, 0.069, 0.077, 0.051, 0.038),
    0.5: (0.089, 0.079, 0.046, 0.012, 0.013, 0.005, 0.003),
    0.3: (0.053, 0.029, 0.014, 0.004, 0.003, 0.001, 0.000),
}
# Figure 1b: test errors by kernel, and of the published network (Adam, one epoch).
PUBLISHED_ERRORS = {
    "k0": (33.5, 31.0, 29.0, 24.3, 20.5, 17.9, 16.5),
    "k1(0.3)": (17.8, 15.3, 13.8, 12.3, 10.7, 9.4, 8.8),
    "k1(0.5)": (12.2, 10.9, 10.2, 9.6, 8.8, 8.5, 8.3),
    "k1(0.7)": (10.0, 9.7, 9.2, 8.5, 8.7, 8.5, 8.2),
    "k1(0.9)": (9.8, 9.4, 8.9, 8.7, 8.7, 8.4, 8.2),
    "Adam": (33.9, 31.1, 30.3, 25.8, 21.3, 14.8, 11.9),
}

Rows = list[tuple[str, ...]]


def _estimate(values: list[float]) -> tuple[float, float]:
    array = np.array(values)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def _mean_rows(rows: Rows, curve: str, label: str, x: list[int], points: list[tuple[float, float]]) -> None:
    rows += [(curve, label, str(at), repr(value), repr(error)) for at, (value, error) in zip(x, points, strict=True)]


def alignment(
    dimensions: tuple[int, ...] = DIMENSIONS, trials: tuple[int, ...] = (20, 20, 12, 8, 5, 3, 2), ratio: float = 2.0
) -> tuple[Figure, Table]:
    """Squared overlap of the top eigenvector of the kernel matrix with Y2, n = ratio d samples (G8)."""
    from numerics.spiked_kernel import alignment_trial
    from numerics.spiked_spectrum import sector

    figure, axes = new_figure(6.4, 4.0)
    rows: Rows = []
    exponents: tuple[float | None, ...] = (0.9, 0.7, 0.5, 0.3, None)
    for index, exponent in enumerate(exponents):
        colour = PALETTE[index]
        name = "k0" if exponent is None else f"B = 5 d^{exponent:g}"
        if exponent is not None:
            exact = [float(sector(d, 1.2, 5 * d**exponent, tolerance=1e-8).vectors[1, 0] ** 2) for d in dimensions]
            axes.plot(dimensions, exact, color=colour, label=f"{name}: exact")
            rows += [("exact", name, str(d), repr(v), "0") for d, v in zip(dimensions, exact, strict=True)]
            published = [p for d, p in zip(DIMENSIONS, PUBLISHED_OVERLAPS[exponent], strict=True) if d in dimensions]
            axes.plot(dimensions, published, "x", color=colour)
            rows += [("published", name, str(d), repr(v), "") for d, v in zip(dimensions, published, strict=True)]
        points = []
        for d, count in zip(dimensions, trials, strict=True):
            generator = np.random.default_rng([SEED, d, index])
            points.append(_estimate([alignment_trial(generator, d, exponent, ratio)["overlap2"] for _ in range(count)]))
        means, errors = zip(*points, strict=True)
        label = "k0: simulated" if exponent is None else None
        axes.errorbar(dimensions, means, errors, fmt="o", color=colour, markersize=3, capsize=2, label=label)
        _mean_rows(rows, "simulated", name, list(dimensions), points)
    axes.plot([], [], "x", color="0.4", label="published (read off)")
    axes.plot([], [], "o", color="0.4", markersize=3, label=f"simulated, n = {ratio:g} d")
    axes.set_xscale("log")
    axes.set_xlabel("dimension d")
    axes.set_ylabel("squared overlap with Y2")
    axes.legend(fontsize=7)
    return figure, Table(("curve", "kernel", "d", "value", "standard error"), tuple(rows))


def generalisation(
    samples: tuple[int, ...] = SAMPLES,
    trials: tuple[int, ...] = (10, 10, 8, 6, 4, 2, 2),
    dimension: int = 300,
    steps: tuple[float, ...] = (1.0, 10.0),
) -> tuple[Figure, Table]:
    """Test errors of kernel ridge and of the one-step network on the target of Figure 1b, with the floor (G8)."""
    from numerics.generalisation import trial
    from theory.floor_relu import figure_floor
    from theory.symbols import d

    figure, axes = new_figure(6.4, 4.0)
    rows: Rows = []
    found: dict[str, list[tuple[float, float]]] = {}
    for n, count in zip(samples, trials, strict=True):
        generator = np.random.default_rng([SEED, n])
        results = [trial(generator, n, dimension, steps=steps) for _ in range(count)]
        for name in results[0]:
            found.setdefault(name, []).append(_estimate([r[name] for r in results]))
    for name, points in found.items():
        means, errors = zip(*points, strict=True)
        index = list(found).index(name)
        style: dict[str, Any] = {"color": PALETTE[index % len(PALETTE)], "marker": "o", "markersize": 3, "capsize": 2}
        axes.errorbar(samples, means, errors, label=name, linestyle="-" if name.startswith("k") else ":", **style)
        _mean_rows(rows, "simulated", name, list(samples), points)
        if name in PUBLISHED_ERRORS:
            published = [p for n, p in zip(SAMPLES, PUBLISHED_ERRORS[name], strict=True) if n in samples]
            axes.plot(samples, published, "x", color=style["color"])
            rows += [("published", name, str(n), repr(v), "") for n, v in zip(samples, published, strict=True)]
    axes.plot([], [], "x", color="0.4", label="published (read off)")
    floor = float(figure_floor().subs(d, dimension).evalf(15))
    axes.axhline(floor, color="k", linewidth=1, linestyle="--", label=f"floor {floor:.4g} of bias-free ReLU kernels")
    rows += [("floor", "relu kernels", str(n), repr(floor), "0") for n in samples]
    axes.set_xscale("log")
    axes.set_xlabel("samples")
    axes.set_ylabel("test error")
    axes.legend(fontsize=6.5, ncols=2)
    return figure, Table(("curve", "model", "samples", "value", "standard error"), tuple(rows))


def approximation(
    dimensions: tuple[int, ...] = (50, 200, 1000, 10_000), ratios: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
) -> tuple[Figure, Table]:
    """Relative error of lambda~, of the next orders and of the overlap from tau, against the exact spectrum (G7)."""
    from numerics.spiked_spectrum import sector
    from theory import spiked_expansion as expansion
    from theory.symbols import A, B, d

    figure, both = new_figure(6.8, 3.2, ncols=2)
    rows: Rows = []
    for index, dimension in enumerate(dimensions):
        errors: dict[str, list[float]] = {"printed": [], "third order": [], "tau": []}
        # lambda_0 of the sector without a spike: SymPy would write out the Gamma functions of d = 10^4.
        zero, two = (float(v) for v in sector(dimension, 1.0, 0.0, tolerance=1e-8).eigenvalues[:2])
        for ratio in ratios:
            part = sector(dimension, 1.0, ratio * dimension, tolerance=1e-9)
            exact = float(part.eigenvalues[0])
            at = {A: 1, B: ratio * dimension, d: dimension}
            printed = zero + ratio / (2 * np.pi)
            series = float(expansion.limit_top(3).subs({A: 1, expansion.b: ratio}))
            third = series + (zero - 1 / (2 * np.pi)) * (1 + ratio)
            front = float(sp_float(expansion.paper_tau_front().subs(at)))
            tau = front / (printed - two)
            overlap = tau / np.sqrt(1 + tau**2)
            for name, value, truth in (
                ("printed", printed, exact),
                ("third order", third, exact),
                ("tau", overlap, float(part.vectors[1, 0])),
            ):
                relative = abs(value / truth - 1)
                errors[name].append(relative)
                rows.append((name, str(dimension), repr(ratio), repr(float(value)), repr(truth), repr(float(relative))))
        for name, style in (("printed", "-"), ("third order", "--")):
            both[0].plot(ratios, errors[name], style, color=PALETTE[index], label=f"d = {dimension}, {name}")
        both[1].plot(ratios, errors["tau"], color=PALETTE[index], label=f"d = {dimension}")
    for axes, title in zip(both, ("largest eigenvalue", "overlap with Y2 from tau"), strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("B/(A d)")
        axes.set_ylabel("relative error")
        axes.set_title(title, fontsize=9)
        axes.legend(fontsize=6)
    return figure, Table(("approximation", "d", "B/(Ad)", "value", "exact", "relative error"), tuple(rows))


def sp_float(expression: Any) -> float:
    """A SymPy number as a float."""
    return float(expression.evalf(15))


def skipping(
    size: int = 150, trials: int = 12, steps: tuple[float, ...] = (0.3, 1.0, 3.0, 6.0)
) -> tuple[Figure, Table]:
    """Ridge risks of untrained, trained, averaged and conditional features over step sizes eta = e d (G9)."""
    from numerics.covariance import Step
    from numerics.skipping import risks

    figure, axes = new_figure()
    rows: Rows = []
    names = ("untrained", "trained", "conditional", "averaged")
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for e in steps:
        generator = np.random.default_rng([SEED, round(100 * e)])
        step = Step("relu", "tanh(2*z)", 2.0, 2.0, e, 1.0, 0.1)
        results = [risks(generator, size, step) for _ in range(trials)]
        for name in names:
            points[name].append(_estimate([r[name] for r in results]))
    for name, colour in zip(names, PALETTE, strict=False):
        means, errors = zip(*points[name], strict=True)
        axes.errorbar(steps, means, errors, color=colour, marker="o", markersize=3, capsize=2, label=name)
        rows += [(name, repr(e), repr(m), repr(s)) for e, m, s in zip(steps, means, errors, strict=True)]
    axes.set_xscale("log")
    axes.set_xlabel("eta/d")
    axes.set_ylabel("test error")
    axes.legend()
    return figure, Table(("features", "eta/d", "test error", "standard error"), tuple(rows))


FIGURES = (
    Picture(
        "F.alignment",
        "Alignment of the spiked kernel's top eigenvector (paper F, Figure 1a)",
        "A = 1.2, B = 5 d^e, ReLU, x ~ N(0, I_d); n = 2 d samples (the paper does not say), 20 draws at d = 50 to 2 at "
        f"d = 3200, seed {SEED}; bars: one standard error. The paper's values are squared overlaps.",
        alignment,
    ),
    Picture(
        "F.generalisation",
        "Kernel ridge with spiked kernels, and the one-step network (paper F, Figure 1b)",
        "d = 300, target 2t^2 + 3t + 4 sin 2t, 600 test points, ridge by five-fold cross-validation on 10^-3..10^3, "
        f"A = 1.2, B = 5 d^e; 400 ReLU neurons: one step at eta = e sqrt(m) and ridge, or (with biases) one epoch "
        f"of Adam (the paper does not state its other settings); 10 to 2 draws, seed {SEED}.",
        generalisation,
    ),
    Picture(
        "F.approximation",
        "Paper F's approximations against the exact spectrum",
        "A = 1, ReLU. Good for B/d well below A: at B/d = A the printed eigenvalue is off by a tenth or more.",
        approximation,
    ),
    Picture(
        "F.skipping",
        "Features drawn instead of trained",
        "d = 150, n = 2d samples of the step, m = 2d ReLU neurons, link tanh(2z), noise .1, eta = e d, 4d fresh "
        f"samples for the ridge fit, 12 draws, seed {SEED}. Features drawn given the batch do as well as trained ones; "
        "those of the batch-averaged Gamma know w* itself and do better than any training on this batch.",
        skipping,
    ),
)
