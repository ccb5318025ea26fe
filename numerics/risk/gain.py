"""The gain of one step over random features (O5), vectorised and without a cancellation: tiny gains keep their digits.

The formulas are those of theory/risk/gain.py; a test ties each to its symbols.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.risk.ridge import Constants, effective_ridge, resolvent_parts
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.gradient import direction_energy

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gain:
    """R_0 - R_eta, its limit of a large step, and R_eta less the risk of the best linear model; all >= 0."""

    gain: Array
    largest: Array
    excess: Array


def gain(constants: Constants, problem: RidgeProblem) -> Gain:
    """The gain of one step of size eta = Theta(1) at the same samples and ridge, for arrays of anything.

    Formula: theory.risk.gain.gain_in_parts, largest_gain and excess_in_parts.
    Valid for: as numerics.risk.ridge.ridge_risk, with finite ratios, a finite step, a ridge above 0 and a centred
    link (or one whose mean is fitted: the gain is the same).
    Shapes/units: as there.
    Accuracy: sums and quotients of non-negative terms: a few units in the 15th digit, however small the gain.
    Errors: InputError for a ridge of 0 or a ratio or step that is not finite and usable.
    Source: O5.
    """
    c = constants
    named = problem.named()
    values = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in named.values()))
    for name, value in zip(named, values, strict=True):
        low = 0 if name in ("step", "noise") else np.nextafter(0, 1)
        if not (np.all(np.isfinite(value)) and np.all(value >= low)):
            raise InputError(name, "is not usable here", "give a finite number" + (" above 0" if low else " >= 0"))
    p1, p2, lm, et, al, nz = values
    mu1sq, mu2sq, linear, rest = (np.asarray(v, dtype=float) ** 2 for v in (c.mu1, c.mu2, c.mu1_star, c.mu2_star))
    kappa, _ = effective_ridge(p1, p2, lm, c.mu1, c.mu2)
    # 1 - g and kappa g' come as sums of positive terms; formed here they would cancel at a large ridge.
    g, t, one_minus_g, kappa_dg = resolvent_parts(kappa, p2, c.mu1, c.mu2)
    x = mu2sq + kappa
    own = mu2sq / x + kappa_dg / g
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(one_minus_g > 0, kappa_dg / one_minus_g, kappa / x)  # no linear part: g = 1
    factor = lm / kappa + p2 / p1 * (kappa / x) * (g * mu2sq / x + kappa_dg)
    # df2 as a sum of squares (O5): the difference df1 - kappa df1' would lose what is small.
    spread = (kappa / x) ** 2 * p2 * (g * one_minus_g) ** 2 / (t + p2 * g * one_minus_g)
    used = p2 / p1 * (((mu2sq + kappa * one_minus_g) / x) ** 2 + spread)
    # The step enters through y alone, so that step 0 is y = 0 and an infinite one a limit in it.
    y = et**2 * mu1sq * one_minus_g
    label2 = np.asarray(c.mu0_star, dtype=float) ** 2 + linear + rest + nz**2
    norm2 = direction_energy(np.asarray(c.mu1_star, dtype=float), label2, al)
    reach, fluctuation = 1 + norm2 * y, label2 / al * y
    found = linear**2 * t * y * (own * reach + turn * (1 + reach)) / (reach**2 * factor)
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.where(linear * mu1sq > 0, linear**2 * t * (own + turn) / (norm2 * factor), 0.0)
    missed = t * (own * (1 + fluctuation) * reach + turn * (1 + 2 * fluctuation + norm2 * y * fluctuation)) / reach**2
    irreducible = rest + nz**2 + (0.0 if c.fits_mean else np.asarray(c.mu0_star, dtype=float) ** 2)
    return Gain(found, largest, (irreducible * used + linear * missed) / factor)
