"""Ledger of C1: the corrected equations against the large-N limit of L1 and against trained networks."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from bulkedge.numerics.risk.conditional_limit import one_step_risk
from bulkedge.numerics.risk.pair import pair
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.risk.simulated_risk import risk_trial
from bulkedge.numerics.risk.spiked_random_features import spiked_features_risk
from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.enclosure import Enclosure

# A batch of 4 d: the rest of the step, which the equations take isotropic, is then small.
SAMPLES, BATCH, _PENALTY, STEP, NOISE = 1.5, 4.0, 0.1, 1.2, 0.2
PAIR = pair(nonlinearity("tanh"), nonlinearity("tanh"))
_NARROW, WIDE = 0.5, 2.0


def _predicted(width: float, recorded: bool) -> float:
    return spiked_features_risk(PAIR, SAMPLES, BATCH, width, _PENALTY, STEP, noise=NOISE, recorded=recorded).test


def _conditional(width: float) -> Enclosure:
    """L1's equations with one value of a_j, extrapolated in 1/N; the last change is the error."""
    options: dict[str, Any] = {"readout": "constant", "weights": "sphere", "count": 64, "isotropic": True}
    ridge = _PENALTY * width / SAMPLES  # paper O's
    risks = []
    for N in (2000, 4000, 8000):
        problem = RidgeProblem(SAMPLES, width, ridge, STEP * math.sqrt(N), alpha=BATCH, noise=NOISE)
        risks.append(one_step_risk(PAIR, problem, N, **options).test)
    first, last = 2 * risks[1] - risks[0], 2 * risks[2] - risks[1]
    return Enclosure(Fraction(last - NOISE**2), Fraction(abs(last - first) + 1e-7), "tested")


@stream("C1.trained")
def _trained_trial(rng: object, size: int) -> dict[str, float]:
    """A network of N = 2 d trained by one maximal step, eta = STEP sqrt(N)."""
    step = str(Fraction(STEP * math.sqrt(2 * size)).limit_denominator(10**6))
    return risk_trial(
        rng,  # type: ignore[arg-type]
        size,
        activation="tanh",
        link="tanh",
        samples="3/2",
        width="2",
        ridge=str(Fraction(2, 15)),  # PENALTY * p/n
        step=step,
        batch="4",
        noise="1/5",
        readout="constant",
        weights="sphere",
    )


def _second_route(id: str, width: float) -> Check:
    return Check(
        id=id,
        claim=f"the corrected equations at `p/d = {width:g}` are those of conditional Gaussian equivalence",
        source="P5, fixed-point equations; C1",
        predict=functools.partial(_predicted, width, False),
        measure=SecondRoute(functools.partial(_conditional, width)),
        resolution=1e-5,
        control=Control("the recorded form, without `1/beta`", functools.partial(_predicted, width, True)),
    )


CHECKS = (
    _second_route("C1.narrow", _NARROW),
    _second_route("C1.wide", WIDE),
    Check(
        id="C1.trained",
        claim="test risk of networks trained by one maximal step, `p/d = 2`, constant readout",
        source="P5; C1",
        predict=functools.partial(_predicted, WIDE, False),
        measure=Ladder(_trained_trial, "test", (28, 90), 1.0, 64, (60, 120, 240), 80),
        resolution=0.0155,
        control=Control("the recorded form, without `1/beta`", functools.partial(_predicted, WIDE, True)),
    ),
)
