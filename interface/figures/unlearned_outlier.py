"""O.exponent: an outlier with and without learning, for links of information exponent 1 and 3."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.plotting import line, new_figure, points
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEED, TRIALS = 2026, 100
_LEARNED, _UNLEARNED = "tanh(2*z)", "7/4*(z**3 - 12*z/5)*exp(-z**2/8)"
FIELDS: dict[str, Any] = {"width": 1, "batch": 3, "activation": "relu", "noise": "1/5"}
SIZES, STEPS = (20, 40, 80, 160), (1, 2, 3, 4, 5)
AT = 200  # the dimension of the right panel


def _exponent(sizes: tuple[int, ...] = SIZES, trials: int = TRIALS, at: int = AT) -> tuple[Figure, Table]:
    """Left: squared overlap of the outlier's vector with beta over d. Right: its position over eta, exponent 3."""
    from bulkedge.numerics.spectra.spike import rectangular
    from bulkedge.numerics.steps.gradient import alignment, spike_strength
    from bulkedge.numerics.steps.network import train
    from bulkedge.numerics.steps.unlearned_outlier import unlearned_outlier
    from bulkedge.theory.steps.setting import Limit

    figure, (left, right) = new_figure(8.4, 3.4, ncols=2)
    rows: list[tuple[str, ...]] = []
    model = rectangular(1.0)

    def simulated(limit: Limit, d: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        rng, found = np.random.default_rng([SEED, d]), []
        for _ in range(count):
            trained = train(limit.at(d), rng)
            values, vectors = np.linalg.eigh(trained.W @ trained.W.T)
            found.append((np.sqrt(values[-1]), (vectors[:, -1] @ trained.teacher.directions[:, 0]) ** 2))
        table = np.array(found)
        return table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(count)

    for index, (link, label) in enumerate(((_LEARNED, "exponent 1"), (_UNLEARNED, "exponent 3"))):
        limit = Limit(**FIELDS | {"links": link, "steps": (5,)})
        if link == _LEARNED:
            overlap = float(model.overlap("d", spike_strength(limit))) * alignment(limit)
            predicted = [overlap for _ in sizes]
        else:
            predicted = [unlearned_outlier(limit).scaled_overlap / d for d in sizes]
        left.loglog(sizes, predicted, **line(index), label=label)
        for d, value in zip(sizes, predicted, strict=True):
            mean, error = simulated(limit, d, trials)
            left.errorbar([d], [mean[1]], yerr=[2 * error[1]], **points(index))
            rows += [
                (label, "overlap2, predicted", str(d), repr(value), ""),
                (label, "overlap2, simulated", str(d), repr(float(mean[1])), repr(float(error[1]))),
            ]
    etas = np.linspace(0.1, 6, 60)
    # Linear in eta: theta/eta of one step serves for all.
    slope = spike_strength(Limit(**FIELDS | {"links": _UNLEARNED, "steps": (1,)}))
    outliers = [float(model.outlier(slope * e)) for e in etas]
    right.plot(etas, outliers, **line(1), label=f"exponent 3, d = {at}")
    rows += [("exponent 3", "s_1, predicted", repr(float(e)), repr(s), "") for e, s in zip(etas, outliers, strict=True)]
    for step in STEPS:
        mean, error = simulated(Limit(**FIELDS | {"links": _UNLEARNED, "steps": (step,)}), at, 8)
        right.errorbar([step], [mean[0]], yerr=[2 * error[0]], **points(1))
        rows.append(("exponent 3", "s_1, simulated", str(step), repr(float(mean[0])), repr(float(error[0]))))
    left.set_xlabel("d")
    left.set_xticks(sizes, [str(d) for d in sizes])
    left.minorticks_off()
    left.set_ylabel("squared overlap with the target")
    right.set_xlabel(r"step size $\eta$")
    right.set_ylabel("largest singular value")
    for axes in (left, right):
        axes.legend(fontsize=7.5)
    return figure, Table(("link", "quantity", "x", "value", "standard error"), tuple(rows))


FIGURES = (
    Picture(
        "O.exponent",
        "An outlier with learning and without",
        f"Lines: predicted (O2, O6); points: simulated, two standard errors, {TRIALS} networks a point left, 8 right. "
        f"ReLU, d = N, n1 = 3 d, noise 1/5, seed {SEED}; links tanh(2z) and "
        "7/4 (z^3 - 12 z/5) exp(-z^2/8); left eta = 5.",
        _exponent,
        functools.partial(_exponent, SIZES[:2], 20, 60),
    ),
)
