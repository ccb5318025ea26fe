"""Checks of G9: features drawn instead of trained."""

from __future__ import annotations

import functools

import numpy as np

from bulkedge.numerics.risk.skipping import risks
from bulkedge.numerics.steps.covariance import Step
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo

STEP = Step("relu", "tanh(2*z)", 2.0, 2.0, 3.0, 1.0, 0.1)


def _averaged() -> float:
    """The risk of batch-averaged features over that of trained ones, from draws of its own."""
    generator = np.random.default_rng(9)
    return float(np.mean([risks(generator, 100, STEP)["averaged_ratio"] for _ in range(3)]))


CHECKS = (
    Check(
        "G9.conditional",
        "`eta = 3 d`: features drawn given the batch have the ridge risk of trained ones",
        "G9",
        lambda: 1.0,
        # The drawn features share the batch's direction and the energy of the rest; what differs is of order 1/d.
        MonteCarlo(functools.partial(risks, step=STEP), "conditional_ratio", 100, 28, 100, lambda d: 5 / d),
        0.17,
        Control("features drawn from the batch-averaged `Gamma`, whose spike is `w*` itself", _averaged),
    ),
)
