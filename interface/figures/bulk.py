"""R.law: the Marchenko-Pastur law over sampled spectra, on both sides of ratio one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.plotting import PALETTE, line, new_figure, to_the_edges
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATIOS = (0.25, 0.7, 2.5)
SIZE = 800


def _law() -> tuple[Figure, Table]:
    """Histograms of sample covariance spectra with the density over them; zero eigenvalues are the atom's."""
    from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur

    figure, axes = new_figure()
    rows: list[tuple[str, ...]] = []
    for index, ratio in enumerate(RATIOS):
        generator = np.random.default_rng([2026, index])
        p = round(ratio * SIZE)
        data = generator.standard_normal((SIZE, p))
        values = np.linalg.eigvalsh(data.T @ data / SIZE) if p <= SIZE else np.linalg.eigvalsh(data @ data.T / SIZE)
        law = MarchenkoPastur(ratio)
        lower, upper = law.edges
        grid = to_the_edges(lower, upper)
        density = law.pdf(grid)
        heights, edges = np.histogram(values, bins=40, range=(lower, upper))
        shown = heights / (p * np.diff(edges))
        axes.stairs(shown, edges, fill=True, alpha=0.3, color=PALETTE[index])
        axes.plot(grid, density, **line(index), label=f"$p/n$ = {ratio:g}")
        rows += [
            (f"{ratio:g}", "simulated", repr(float(x)), repr(float(y))) for x, y in zip(edges, shown, strict=False)
        ]
        rows += [(f"{ratio:g}", "law", repr(float(x)), repr(float(y))) for x, y in zip(grid, density, strict=True)]
    axes.set_xlabel(r"eigenvalue $\lambda$")
    axes.set_ylabel("density")
    axes.set_xlim(left=0)
    axes.legend()
    return figure, Table(("ratio", "curve", "eigenvalue", "density"), tuple(rows))


FIGURES = (
    Picture(
        "R.law",
        "The Marchenko-Pastur law and sampled spectra",
        f"Lines: the law. Histograms: one simulated Gaussian matrix per ratio, n = {SIZE}, scale 1, seed 2026; for "
        "p/n > 1 the atom at zero is left out.",
        _law,
    ),
)
