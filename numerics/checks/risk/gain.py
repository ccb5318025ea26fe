"""Ledger of O5: what one step gains over random features, and that it stays above the best linear model."""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np

from bulkedge.numerics.checks.risk.ridge import Case
from bulkedge.numerics.risk.gain import Gain, gain
from bulkedge.numerics.risk.ridge import Constants
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.trials.check import Check, Control, Ladder

SOURCE = "paper O, Theorem 5 and Fact 4; O5"

# Information exponent 3: E z g = 0 exactly, so the step's direction holds nothing of the target's.
_BLIND_LINK = "sin(2*z) - 2*exp(-2)*z"
_NOTHING = Case("tanh", _BLIND_LINK, "2", "3/2", "1/10", "4", "1/2", "1/5")
WIDE = Case("tanh", "tanh", "1", "6", "4/5", "4", "1", "1/5")
FLOOR = Case("tanh", "tanh(2*z)", "4", "2", "1/20", "3", "4", "0")


def _found(case: Case, *, constants: Constants | None = None, **other: float) -> Gain:
    """O5 at a case, or with a mistake."""
    names = {"samples": "psi1", "width": "psi2", "ridge": "lam", "step": "eta", "batch": "alpha", "noise": "noise"}
    values = {new: float(Fraction(getattr(case, old))) for old, new in names.items()}
    return gain(constants or case.constants(), RidgeProblem(**{**values, **other}))


def _gain(case: Case) -> float:
    return float(_found(case).gain)


def _narrow() -> float:
    """The gain at N/d = 1, the same ridge per width."""
    return float(_found(WIDE, psi2=1.0, lam=0.8 / 6).gain)


def _any_direction() -> float:
    """The gain if whatever the outlier points at counted as the target's linear part."""
    c = _NOTHING.constants()
    return float(_found(_NOTHING, constants=replace(c, mu1_star=c.mu2_star, mu2_star=0.0)).gain)


def _risk() -> float:
    return float(FLOOR.constants().linear_floor() + _found(FLOOR).excess)


def _reached() -> float:
    return float(np.asarray(FLOOR.constants().linear_floor()))


CHECKS = (
    Check(
        "O5.nothing",
        "no gain from a link of exponent 3, with `theta` far above the threshold: an outlier, and nothing learned",
        SOURCE,
        functools.partial(_gain, _NOTHING),
        Ladder(_NOTHING.trial(), "gain", (30, 90), 1.0, 60, (100, 200, 400), 60),
        0.016,
        Control("the outlier's direction counted as the target's", _any_direction),
    ),
    Check(
        "O5.wide",
        "gain of one step at `N/d = 6`: it fades as `d/N`",
        SOURCE,
        functools.partial(_gain, WIDE),
        Ladder(WIDE.trial(), "gain", (20, 50), 1.0, 80, (100, 200), 60),
        0.02,
        Control("the gain at `N/d = 1` and the same ridge per width", _narrow),
    ),
    Check(
        "O5.floor",
        "risk after one step at `n/d = 4`, no noise: above the best linear model's",
        SOURCE,
        _risk,
        Ladder(FLOOR.trial(), "test", (30, 80), 0.75, 60, (100, 200, 400), 60),
        0.03,
        Control("the best linear model's risk `mu2*^2`, as if it were reached", _reached),
    ),
)
