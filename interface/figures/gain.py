"""O.gain: what one step gains over random features, against the step and against the width."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.plotting import line, new_figure, points
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIM, RUNS, SEED = 64, 60, 2026
SETTING = {"activation": "tanh", "link": "tanh(2*z)", "samples": "2", "ridge": "1/10", "noise": "1/5"}
BATCHES = ("1/2", "2", "8")
STEPS = ("1", "3", "6")
WIDTHS = ("1/4", "1", "4", "8")


def _step_gain(size: int = DIM, runs: int = RUNS) -> tuple[Figure, Table]:
    """Left: the gain against eta for three batches, with the limits of a large step. Right: against N/d."""
    from fractions import Fraction

    from bulkedge.numerics.risk.gain import gain
    from bulkedge.numerics.risk.pair import ridge_constants
    from bulkedge.numerics.risk.ridge_problem import RidgeProblem
    from bulkedge.numerics.risk.simulated_risk import risk_trial
    from bulkedge.numerics.trials.estimate import Estimate
    from bulkedge.numerics.trials.runner import current_runner
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    c = ridge_constants(nonlinearity(SETTING["activation"]), nonlinearity(SETTING["link"]))[0]
    fixed = {name: float(Fraction(SETTING[old])) for name, old in (("psi1", "samples"), ("lam", "ridge"))}
    noise = float(Fraction(SETTING["noise"]))
    runner = current_runner(SEED)

    def simulated(**values: str) -> Estimate:
        trial = functools.partial(risk_trial, **SETTING, **values, test=2000)  # type: ignore[arg-type]  # all are text
        return Estimate.from_samples([r["gain"] for r in runner.run(trial, (size,), runs)[size]])

    figure, (left, right) = new_figure(8.4, 3.4, ncols=2)
    rows: list[tuple[str, ...]] = []
    etas = np.linspace(0, 8, 81)
    for index, batch in enumerate(BATCHES):
        alpha, label = float(Fraction(batch)), f"$n_1/d$ = {batch}"
        found = gain(c, RidgeProblem(**fixed, psi2=1.5, eta=etas, alpha=alpha, noise=noise))
        left.plot(etas, found.gain, **line(index), label=label)
        left.plot([7.2, 8], [float(found.largest[0])] * 2, color="0.4", linewidth=0.8)
        rows += [
            (label, "predicted", repr(float(e)), repr(float(v)), "") for e, v in zip(etas, found.gain, strict=True)
        ]
        rows.append((label, "limit of a large step", "", repr(float(found.largest[0])), ""))
        for step in STEPS:
            value = simulated(width="3/2", step=step, batch=batch)
            left.errorbar([float(step)], [value.value], yerr=[2 * value.stderr], **points(index))
            rows.append((label, "simulated", step, repr(value.value), repr(value.stderr)))
    widths = np.geomspace(0.2, 200, 61)
    found = gain(c, RidgeProblem(**fixed, psi2=widths, eta=3.0, alpha=2.0, noise=noise))
    right.loglog(widths, found.gain, **line(0), label="predicted")
    right.loglog(widths[30:], found.gain[-1] * widths[-1] / widths[30:], color="0.4", linewidth=0.8, label="slope -1")
    rows += [
        ("eta = 3", "predicted", repr(float(w)), repr(float(v)), "") for w, v in zip(widths, found.gain, strict=True)
    ]
    for width in WIDTHS:
        value = simulated(width=width, step="3", batch="2")
        right.errorbar([float(Fraction(width))], [value.value], yerr=[2 * value.stderr], **points(0))
        rows.append(("eta = 3", "simulated", width, repr(value.value), repr(value.stderr)))
    left.axhline(0, color="0.4", linewidth=0.8)
    left.set_xlabel(r"step size $\eta$")
    left.set_ylabel("gain over random features")
    right.set_xlabel("$N/d$")
    for axes in (left, right):
        axes.legend(fontsize=7.5)
    return figure, Table(("curve", "kind", "x", "gain", "standard error"), tuple(rows))


FIGURES = (
    Picture(
        "O.gain",
        "What one step of size Theta(1) gains over random features",
        "Lines: predicted; points: simulated, two standard errors. tanh network, link tanh(2z), n/d = 2, ridge 1/10, "
        "noise 1/5; left N/d = 3/2 (short grey lines: the limit of a large step), right eta = 3, n1/d = 2. "
        f"{RUNS} networks at d = {DIM}, seed {SEED}. At eta = 6 (sqrt N = 10) a network learns more than the linear "
        "part, which the limit of fixed eta does not know.",
        _step_gain,
        functools.partial(_step_gain, 32, 10),
    ),
)
