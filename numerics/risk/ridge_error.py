"""An error bound for the ridge risk: what the errors of the constants and rounding do to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.risk.ridge import Constants, RidgeRisk, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem

Array = NDArray[np.float64]

_RELATIVE = 2.0**-50  # relative uncertainty of a parameter read as a double, twice over
_BUMP = 2.0**-26  # for the sensitivity: large against rounding, small against the curvature


FIELDS = ("test", "train", "bias", "variance", "kappa")


def ridge_risk_with_error(
    constants: Constants, problem: RidgeProblem, activation_error: float, link_error: float
) -> tuple[RidgeRisk, dict[str, Array]]:
    """The risk at all steps (an array; all else in the problem numbers), and a bound of the error of each of FIELDS.

    Accuracy: each parameter's sensitivity (a difference over a relative change of 2^-26) times its error, summed, plus
    64 roundings of the value: first order, and pessimistic near the interpolation peak.
    """
    problem = replace(problem, alpha=problem.batch)
    value = ridge_risk(constants, problem)
    scale = value.test + float(np.asarray(problem.noise)) ** 2
    sizes = {"test": scale, "train": value.train, "bias": scale, "variance": scale, "kappa": value.kappa}
    errors = {name: 64 * 2.0**-52 * size for name, size in sizes.items()}
    parameters = {name: float(np.asarray(getattr(problem, name))) for name in ("psi1", "psi2", "lam", "alpha", "noise")}
    uncertain = [(name, x, _RELATIVE * abs(x)) for name, x in parameters.items()]
    for name in ("mu1", "mu2", "mu0_star", "mu1_star", "mu2_star"):
        x = float(getattr(constants, name))
        uncertain.append((name, x, link_error if name.endswith("star") else activation_error))
    for name, x, error in uncertain:
        if error == 0 or x == 0:
            continue
        change: dict[str, Any] = {name: x * (1 + _BUMP)}
        if name in parameters:
            moved = ridge_risk(constants, replace(problem, **change))
        else:
            moved = ridge_risk(replace(constants, **change), problem)
        for field in FIELDS:
            slope = np.abs(getattr(moved, field) - getattr(value, field)) / (_BUMP * abs(x))
            errors[field] = errors[field] + slope * error
    # The training error goes as (lam/kappa)^2: what the parameters do to kappa and to the rest may cancel in the
    # differences above, the rounding of kappa does not.
    relative = np.divide(errors["kappa"], value.kappa, out=np.zeros_like(value.kappa), where=value.kappa > 0)
    errors["train"] = errors["train"] + 2 * relative * value.train
    return value, errors
