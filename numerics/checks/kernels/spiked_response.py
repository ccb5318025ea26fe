"""Ledger of G12: the distance of S from its two parts, over a ladder of dimensions."""

from __future__ import annotations

import math

import numpy as np

from bulkedge.numerics.kernels.spiked_response import squared_gap
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.kernels.spiked_response import response_statement


@stream("G12.gap")
def trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """d E (S - S_1* - S_2*)^2 on 4000 pairs at d = size."""
    return {"gap": squared_gap(rng, size, 4000)}


def _limit() -> float:
    return float(response_statement().rhs)


def _halved() -> float:
    """(pi - theta)/(2 pi), the angle's factor in k0, in the place of S's (pi - theta)/pi."""
    return 1 / (4 * math.pi**2)


CHECKS = (
    Check(
        "G12.gap",
        "`d ||T_S - T_1* - T_2*||^2` (Hilbert-Schmidt) `-> 1/pi^2` along `d`",
        "G12; paper F, Lemma 5.2",
        _limit,
        Ladder(trial, "gap", (20, 60, 400), 1.0, 80, (50, 200, 1600), 400),
        0.035,
        Control("the angle's factor of `k0` in `S`", _halved),
    ),
)
