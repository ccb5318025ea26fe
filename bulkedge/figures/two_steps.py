"""T.phases and T.spectrum: the number of outliers over the plane of exponents, and the spectrum of W2."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.plotting import PALETTE, new_figure
from bulkedge.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRID = 100  # points per half, at exact fractions
SHOWN = 8  # from here on the counts share a colour


def _phases() -> tuple[Figure, Table]:
    """Lambda on a grid of exact exponents, and the lines on which it jumps."""
    from matplotlib.colors import BoundaryNorm

    from theory import symbols as s
    from theory.phases import boundary_lines, phase

    points = [Fraction(i, 2 * GRID) for i in range(GRID)]
    counts = np.array([[phase(x, y, None).Lambda for x in points] for y in points])
    figure, axes = new_figure(5.2, 4.0)
    levels = np.arange(SHOWN + 2) - 0.5
    shade = axes.pcolormesh(
        [float(x) for x in points],
        [float(y) for y in points],
        np.minimum(counts, SHOWN),
        cmap="viridis",
        norm=BoundaryNorm(levels, 256),
        shading="nearest",
        rasterized=True,
    )
    bar = figure.colorbar(shade, ax=axes, ticks=range(SHOWN + 1), label="new outliers Lambda")
    bar.ax.set_yticklabels([*map(str, range(SHOWN)), f">= {SHOWN}"])
    for k, line in enumerate(boundary_lines(SHOWN), start=1):
        ends = [float(line.rhs.subs(s.alpha1, x)) for x in (0, 0.5)]
        axes.plot([0, 0.5], ends, color="white", linewidth=1.6 if k == 1 else 0.6)
    axes.text(0.13, 0.31, "alpha1 + alpha2 = 1/2", color="white", rotation=-40, fontsize=7)
    axes.grid(visible=False)
    axes.set_xlim(0, 0.5)
    axes.set_ylim(0, 0.5)
    axes.set_xlabel("alpha1 (first step N^alpha1)")
    axes.set_ylabel("alpha2 (second step N^alpha2)")
    rows = tuple(
        (str(x), str(y), str(int(counts[j, i])), str(int(counts[j, i]) + 1))
        for j, y in enumerate(points)
        for i, x in enumerate(points)
    )
    return figure, Table(("alpha1", "alpha2", "Lambda", "total"), rows)


SIZE, RATIO = 800, 4
CONSTANTS = (3.0, 6.0)
EXPONENTS = (0.35, 0.25)


def _spectrum() -> tuple[Figure, Table]:
    """The singular values of W2 with the quarter-circle law and T4's outliers over them."""
    from numerics.marchenko_pastur import MarchenkoPastur
    from numerics.spike_matrix import predicted_outliers
    from numerics.two_steps import WEAK, Experiment

    experiment = Experiment(WEAK, float(RATIO), CONSTANTS, EXPONENTS)
    W = experiment.train(experiment.start(np.random.default_rng(2026), SIZE))
    values = np.linalg.svd(W, compute_uv=False)
    matrix = experiment.matrix(SIZE, 2)
    expected = predicted_outliers(matrix, 1.0)
    law = MarchenkoPastur(1.0)
    grid = np.linspace(0, 2, 201)[1:-1]
    density = 2 * grid * law.pdf(grid**2)  # singular values: the square has the Marchenko-Pastur law
    figure, axes = new_figure()
    heights, edges = np.histogram(values, bins=np.linspace(0, 4, 81))
    shown = heights / (SIZE * np.diff(edges))
    axes.stairs(shown, edges, fill=True, alpha=0.35, color=PALETTE[0], label="singular values of W2")
    axes.plot(grid, density, color=PALETTE[1], label="law of W0")
    position, value = expected.positions[1], values[1]
    axes.plot([value], [0.02], "v", color=PALETTE[0], label=f"second outlier, found at {value:.2f}")
    axes.axvline(position, color=PALETTE[2], linestyle="--", linewidth=1, label=f"predicted at {position:.2f}")
    axes.plot([], [], " ", label=f"first outlier at {values[0]:.1f}, predicted {expected.positions[0]:.1f}")
    axes.set_xlim(0, 4)
    axes.set_xlabel("singular value")
    axes.set_ylabel("density")
    axes.legend(fontsize=7)
    rows = [("histogram", repr(float(x)), repr(float(y))) for x, y in zip(edges, shown, strict=False)]
    rows += [("law", repr(float(x)), repr(float(y))) for x, y in zip(grid, density, strict=True)]
    rows += [("predicted outlier", repr(float(x)), "") for x in expected.positions]
    rows += [("found", repr(float(x)), "") for x in values[:2]]
    return figure, Table(("curve", "singular value", "density"), tuple(rows))


FIGURES = (
    Picture(
        "T.phases",
        "New outliers after two gradient steps",
        "Exact counts Lambda = floor(alpha2/(1/2 - alpha1)) without the cap L - 1; white: the lines "
        "alpha2 = k(1/2 - alpha1). Below the first line two steps do what one does; towards alpha1 = 1/2 they pile up.",
        _phases,
    ),
    Picture(
        "T.spectrum",
        "Spectrum after two gradient steps",
        f"One network, d = N = {SIZE}, n = {RATIO * SIZE}, reused batch, correlation loss, sigma = z + .075 (z^2 - 1), "
        "link sin(1.2z) + .8 cos(1.5z) centred, noise .1, uniform readout, "
        f"eta1 = {CONSTANTS[0]:g} N^{EXPONENTS[0]}, eta2 = {CONSTANTS[1]:g} N^{EXPONENTS[1]}, seed 2026.",
        _spectrum,
    ),
)
