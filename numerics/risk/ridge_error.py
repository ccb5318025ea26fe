"""An error bound for the ridge risk: what the errors of the constants and rounding do to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.risk.ridge import Constants, RidgeRisk, ridge_risk

Array = NDArray[np.float64]

_RELATIVE = 2.0**-50  # relative uncertainty of a parameter read as a double, twice over
_BUMP = 2.0**-26  # for the sensitivity: large against rounding, small against the curvature


FIELDS = ("test", "train", "bias", "variance", "kappa")


def ridge_risk_with_error(
    constants: Constants,
    psi1: float,
    psi2: float,
    lam: float,
    steps: Sequence[float],
    alpha: float,
    noise: float,
    activation_error: float,
    link_error: float,
) -> tuple[RidgeRisk, dict[str, Array]]:
    """The risk at all steps, and a bound of the error of each of FIELDS.

    Accuracy: each parameter's sensitivity (a difference over a relative change of 2^-26) times its error, summed, plus
    64 roundings of the value: first order, and pessimistic near the interpolation peak.
    """
    eta = np.array(steps)
    value = ridge_risk(constants, psi1, psi2, lam, eta, alpha, noise)
    scale = value.test + noise**2
    sizes = {"test": scale, "train": value.train, "bias": scale, "variance": scale, "kappa": value.kappa}
    errors = {name: 64 * 2.0**-52 * size for name, size in sizes.items()}
    parameters: dict[str, Any] = {"psi1": psi1, "psi2": psi2, "lam": lam, "alpha": alpha, "noise": noise}
    uncertain = [(name, x, _RELATIVE * abs(x)) for name, x in parameters.items()]
    for name in ("mu1", "mu2", "mu0_star", "mu1_star", "mu2_star"):
        x = float(getattr(constants, name))
        uncertain.append((name, x, link_error if name.endswith("star") else activation_error))
    for name, x, error in uncertain:
        if error == 0 or x == 0:
            continue
        change: dict[str, Any] = {name: x * (1 + _BUMP)}
        if name in parameters:
            moved = ridge_risk(constants, eta=eta, **{**parameters, **change})
        else:
            moved = ridge_risk(replace(constants, **change), eta=eta, **parameters)
        for field in FIELDS:
            slope = np.abs(getattr(moved, field) - getattr(value, field)) / (_BUMP * abs(x))
            errors[field] = errors[field] + slope * error
    return value, errors
