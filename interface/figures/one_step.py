"""O.spectrum: the singular values of W_1 with the law of the bulk and the predicted outlier over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.number import short
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE, WIDTH, BATCH, SEED = 600, 2, 4, 2026
STEPS = (1, 6)  # below and above the threshold
ACTIVATION, LINK, NOISE = "relu", "tanh(2*z)", "1/4"


def _spectrum() -> tuple[Figure, Table]:
    """One network, a small and a larger step: histogram, law, predicted outlier; the same draw in both panels."""
    from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
    from bulkedge.numerics.spectra.spike import rectangular
    from bulkedge.numerics.steps.gradient import spike_strength
    from bulkedge.numerics.steps.network import train
    from bulkedge.results.plotting import new_figure, to_the_edges
    from bulkedge.results.spectra import draw_spectrum
    from bulkedge.theory.steps.setting import Limit

    fields = {"width": WIDTH, "batch": BATCH, "activation": ACTIVATION, "links": LINK, "noise": NOISE}
    law, model = MarchenkoPastur(WIDTH).singular_values(), rectangular(WIDTH)
    figure, both = new_figure(6.4, 3.2, ncols=2, sharey=True, sharex=True)
    rows: list[tuple[str, ...]] = []
    for axes, step in zip(both, STEPS, strict=True):
        limit = Limit(**fields, steps=(step,))  # type: ignore[arg-type]  # read as a user would type them
        theta = spike_strength(limit)
        values = np.linalg.svd(train(limit.at(SIZE), np.random.default_rng(SEED)).W, compute_uv=False)
        outliers = [float(model.outlier(theta))] if model.above(theta) else []
        draw_spectrum(axes, values, law, outliers)
        axes.set_title(
            rf"$\eta$ = {step}, $\theta$ = {short(theta, 3)}, threshold {short(model.threshold, 3)}", fontsize=9
        )
        axes.set_xlabel("singular value of $W_1$")
        axes.legend(loc="upper center", fontsize=7.5)
        grid = to_the_edges(*law.edges)
        rows += [(str(step), "simulated", repr(float(s)), "", "") for s in values]
        rows += [
            (str(step), "law", repr(float(x)), "", repr(float(y))) for x, y in zip(grid, law.pdf(grid), strict=True)
        ]
        rows += [(str(step), "predicted outlier", repr(s), repr(float(model.sd(theta, SIZE))), "") for s in outliers]
    both[1].set_ylabel("")
    return figure, Table(("step", "curve", "singular value", "standard deviation", "density"), tuple(rows))


FIGURES = (
    Picture(
        "O.spectrum",
        "The spectrum of the weights after one gradient step",
        f"Histogram: one simulated network. d = {SIZE}, N = {WIDTH * SIZE}, n = {BATCH * SIZE}, {ACTIVATION}, link "
        f"{LINK}, noise {NOISE}, Gaussian readout, square loss, paper O's step eta, seed {SEED}. The outlier leaves "
        "the bulk when theta = eta |mu1| |u| exceeds (N/d)^(1/4).",
        _spectrum,
    ),
)
