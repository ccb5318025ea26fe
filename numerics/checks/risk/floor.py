"""Ledger of O4: the criterion by other integrals, and a large step that beats the floor."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
from scipy.special import erf

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.risk.conditional_limit import one_step_risk
from bulkedge.numerics.risk.floor import floor
from bulkedge.numerics.risk.pair import pair
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.risk.simulated_risk import risk_trial
from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.risk.floor import erf_criterion, slope

SOURCE = "paper O, Theorem 7 and Corollary 8; O4"


@functools.cache
def _tanh() -> tuple[float, float]:
    found = floor(np.tanh, np.tanh)
    return found.tau, found.kappa


def _tau_on_grid(nodes: int, smoothed: bool = True) -> float:
    """tau at kappa* by a product Gauss-Hermite rule in (z1, z2); `smoothed` False leaves the average over z2 out."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    kappa = _tanh()[1]
    S = np.tanh(kappa * x[:, None] + x) @ w if smoothed else np.tanh(kappa * x)
    return float(w @ (np.tanh(x) - S) ** 2)


def _product_rule() -> Enclosure:
    fine, coarse = _tau_on_grid(120), _tau_on_grid(96)
    return Enclosure(Fraction(fine), Fraction(abs(fine - coarse) + 1e-12), "tested")


def _erf_exact() -> Enclosure:
    value = float(erf_criterion().subs(slope, 1.3).evalf(20))
    return Enclosure(Fraction(value), Fraction(1e-15), "exact")


def _erf_numeric(kappa: float = 1.3) -> float:
    from bulkedge.numerics.risk.floor import criterion

    return float(criterion(erf, erf)(np.array([kappa]))[0])


SIZE = 100


@stream("O4.beats")
def _beating_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """erf on erf, n = 12 d, N = 2 d, after a step eta = 2.5 sqrt N on a batch of 12 d."""
    step = str(Fraction(2.5 * math.sqrt(2 * size)).limit_denominator(10**6))
    return risk_trial(
        rng, size, activation="erf", link="erf", samples="12", width="2", ridge="1/100", step=step, batch="12",
        noise="0", test=3000,
    )  # fmt: skip


def _beating() -> float:
    e = nonlinearity("erf")
    return one_step_risk(pair(e, e), RidgeProblem(12.0, 2.0, 0.01, 2.5 * math.sqrt(2 * SIZE)), 2 * SIZE).test


CHECKS = (
    Check(
        id="O4.erf",
        claim="`tau(kappa)` of erf on erf by quadrature is the arcsine formula",
        source=SOURCE,
        predict=_erf_numeric,
        measure=SecondRoute(_erf_exact),
        resolution=1e-9,
        control=Control("`kappa = sqrt 3`, the minimiser", functools.partial(_erf_numeric, math.sqrt(3))),
    ),
    Check(
        id="O4.tanh",
        claim="`tau*` of tanh on tanh by a product rule",
        source=SOURCE,
        predict=lambda: _tanh()[0],
        measure=SecondRoute(_product_rule),
        resolution=1e-9,
        control=Control("no average over `z2`", functools.partial(_tau_on_grid, 120, False)),
    ),
    Check(
        id="O4.beats",
        claim="erf on erf: one step `eta = 2.5 sqrt N` takes the risk below the floor of kernels",
        source=SOURCE + "; L1 for the value",
        predict=_beating,
        measure=Ladder(_beating_trial, "test", (40, SIZE), 1.0, 12, (50, SIZE), 40),
        resolution=0.012,
        control=Control("the floor `mu2*^2`", lambda: constants(nonlinearity("erf")).mu2 ** 2),
    ),
)
