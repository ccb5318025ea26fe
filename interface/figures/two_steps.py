"""T.phases and T.spectrum: the number of outliers over the plane of exponents, and the spectrum of W2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.number import short
from bulkedge.results.plotting import PALETTE, new_figure, to_the_edges
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _phases() -> tuple[Figure, Table]:
    """Lambda on a grid of exact exponents, and the lines on which it jumps."""
    from bulkedge.results.phases import draw_phases

    figure, axes = new_figure(5.2, 4.0)
    points, counts = draw_phases(axes)
    rows = tuple(
        (str(x), str(y), str(int(counts[j, i])), str(int(counts[j, i]) + 1))
        for j, y in enumerate(points)
        for i, x in enumerate(points)
    )
    return figure, Table(("alpha1", "alpha2", "Lambda", "total"), rows)


SIZE = 1200


def _spectrum() -> tuple[Figure, Table]:
    """The singular values of W2 with the law of the bulk and T4's three outliers over them (Lambda = 2)."""
    from bulkedge.numerics.checks.steps.spike_matrix import THREE
    from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
    from bulkedge.numerics.steps.spike_matrix import predicted_outliers

    W = THREE.train(THREE.start(np.random.default_rng(2026), SIZE))
    values = np.linalg.svd(W, compute_uv=False)
    predicted = sorted(predicted_outliers(THREE.matrix(SIZE, 3), 1.0).positions, reverse=True)
    law = MarchenkoPastur(1.0).singular_values()
    grid = to_the_edges(*law.edges)
    density = law.pdf(grid)
    figure, both = new_figure(6.4, 3.4, ncols=2, sharey=True, width_ratios=(4, 1))
    heights, edges = np.histogram(values, bins=np.arange(0, 14.01, 0.1))
    shown = heights / (SIZE * np.diff(edges))
    for axes in both:
        axes.stairs(shown, edges, fill=True, alpha=0.35, color=PALETTE[0], label="singular values of $W_2$")
        axes.plot(grid, density, color=PALETTE[1], label="law of $W_0$")
        for index, position in enumerate(predicted):
            label = None if index else "predicted outliers"
            axes.axvline(position, color=PALETTE[2], linestyle="--", linewidth=1.2, label=label)
        axes.plot(values[:3], [0.015] * 3, "v", color=PALETTE[0], markersize=5, label="the outliers of $W_2$")
        axes.set_xlabel("singular value" if axes is both[0] else "")
    for axes, position, value in zip((both[0], both[0], both[1]), predicted[::-1], values[2::-1], strict=True):
        text = f"predicted {short(position)}\nfound {short(value)}"
        axes.annotate(text, (max(value, position), 0.12), (5, 0), textcoords="offset points", fontsize=7.5)
    both[0].set_xlim(0, 14)
    middle = (values[0] + predicted[0]) / 2
    both[1].set_xlim(middle - 3, middle + 14)
    both[0].set_ylabel("density")
    both[0].legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.61, 1.02))
    rows = [("simulated", repr(float(x)), repr(float(y))) for x, y in zip(edges, shown, strict=False)]
    rows += [("law", repr(float(x)), repr(float(y))) for x, y in zip(grid, density, strict=True)]
    rows += [("predicted outlier", repr(float(x)), "") for x in predicted]
    rows += [("simulated outlier", repr(float(x)), "") for x in values[:3]]
    return figure, Table(("curve", "singular value", "density"), tuple(rows))


FIGURES = (
    Picture(
        "T.phases",
        "New outliers after two gradient steps",
        "Exact, nothing is simulated: counts Lambda = floor(alpha2/(1/2 - alpha1)) without the cap L - 1; white: the "
        "lines alpha2 = k(1/2 - alpha1). Below the first line two steps do what one does; towards alpha1 = 1/2 they "
        "pile up.",
        _phases,
    ),
    Picture(
        "T.spectrum",
        "Spectrum after two gradient steps",
        f"Histogram: one simulated network. d = N = {SIZE}, n = 4 N, reused batch, correlation loss, sigma = z + "
        ".06 He_2(z) + .01 He_3(z), link sin(1.2z) + .8 cos(1.5z) centred, noise .1, uniform readout, "
        "eta1 = 7 N^.4, eta2 = 8 N^.25: Lambda = 2, so three outliers; seed 2026. At this N what the steps add to the "
        "rows still widens the bulk beyond the law of W0.",
        _spectrum,
    ),
)
