"""O.transition: where a spike leaves the bulk, over the strength and the ratio, and what is then seen of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.plotting import line, new_figure
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATIOS = (0.25, 1.0, 4.0)


def transition(points: int = 121) -> tuple[Figure, Table]:
    """Left: the threshold psi^(1/4) with the overlap of the left vector; right: outlier against strength."""
    from bulkedge.numerics.spectra.spike import rectangular

    figure, (left, right) = new_figure(8.4, 3.4, ncols=2)
    psi, theta = np.geomspace(0.1, 10, points), np.linspace(0, 4, points)
    overlap = np.array([rectangular(float(ratio)).overlap("d", np.maximum(theta, 1e-9)) for ratio in psi]).T
    shade = left.pcolormesh(psi, theta, overlap, cmap="viridis", vmin=0, vmax=1, shading="nearest", rasterized=True)
    threshold = np.array([rectangular(float(ratio)).threshold for ratio in psi])
    left.plot(psi, threshold, color="white", linewidth=1.6)
    left.annotate(r"$\theta = \psi^{1/4}$", (0.55, 1.0), color="white", fontsize=9)
    left.grid(visible=False)
    left.set_xscale("log")
    left.set_xlabel(r"ratio $\psi = N/d$")
    left.set_ylabel(r"strength $\theta$")
    figure.colorbar(shade, ax=left, label=r"$\langle u, \hat u\rangle^2$ in dimension $d$")
    rows = [("threshold", repr(float(x)), repr(float(y))) for x, y in zip(psi, threshold, strict=True)]
    strengths = np.linspace(0.01, 4, 4 * points)
    for index, ratio in enumerate(RATIOS):
        model = rectangular(ratio)
        seen = model.outlier(strengths)
        right.plot(strengths, seen, **line(index), label=rf"$\psi$ = {ratio:g}")
        right.plot([model.threshold], [model.edges[1]], "o", color=line(index)["color"], markersize=4)
        rows += [
            (f"outlier at {ratio:g}", repr(float(x)), repr(float(y))) for x, y in zip(strengths, seen, strict=True)
        ]
    right.plot([], [], "o", color="0.4", markersize=4, label="threshold")
    right.set_xlabel(r"strength $\theta$")
    right.set_ylabel("largest singular value")
    right.legend(fontsize=7.5)
    return figure, Table(("curve", "x", "y"), tuple(rows))


FIGURES = (
    Picture(
        "O.transition",
        "The transition of Baik, Ben Arous and Peche for the weights after one step",
        "Exact, nothing is simulated: W0 + theta u v^T, W0 d x N with entries of variance 1/d, psi = N/d. Left: "
        "squared overlap of the left vector, zero below the white line. Right: the largest singular value; dots: the "
        "thresholds.",
        transition,
    ),
)
