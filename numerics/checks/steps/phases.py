"""Ledger of T1 and T5: the number of outliers of W2, the growth of its spikes, one step against two below the line."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp

from bulkedge.numerics.steps.alignment import float_moments
from bulkedge.numerics.steps.second_step import regress, second_weights
from bulkedge.numerics.steps.two_steps import (
    SLIGHT,
    STRONG,
    WEAK,
    Cubic,
    bounded_link,
    bulk_edge,
    draw_start,
    relu_slope,
)
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo, Rate
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.phases import learned_length2, one_step_cosine2, phase

SOURCE = "paper T, number of outliers; T1"


_EQUAL = (1.0, 1.0)
# Different, so that neither step can stand for the other; the cosine of a reused batch sees no step at all.
UNEQUAL = (0.5, 1.0)


@dataclass(frozen=True)
class Relu:
    """ReLU, of which the count needs the derivative only."""

    slope = staticmethod(relu_slope)


@dataclass(frozen=True)
class Case:
    """A point of the plane: activation, its degree (None: no cap), steps c_i N^alpha_i, n/d, law of the readout."""

    sigma: Cubic | Relu
    degree: int | None
    alphas: tuple[Fraction, Fraction]
    constants: tuple[float, float]
    ratio: float
    readout: str = "gaussian"


CASES = {
    "two": Case(WEAK, 2, (Fraction("0.35"), Fraction("0.25")), (3.0, 6.0), 4.0),
    "below": Case(WEAK, 2, (Fraction("0.2"), Fraction("0.2")), (2.0, 4.0), 4.0),
    "relu": Case(Relu(), None, (Fraction("0.35"), Fraction("0.2")), (2.0, 4.0), 2.0),
    "three": Case(SLIGHT, 3, (Fraction("0.4"), Fraction("0.25")), (7.0, 8.0), 4.0, "uniform"),
}


@stream("T1.count.below")
def _outlier_count(rng: np.random.Generator, size: int, case: str) -> dict[str, float]:
    """Singular values of W2 beyond 1.1 times the bulk's measured edge, d = N = size, reused batch, bounded link."""
    here = CASES[case]
    start = draw_start(rng, size, size, int(here.ratio * size), bounded_link, 0.3, readout=here.readout)
    eta1, eta2 = (c * size ** float(alpha) for c, alpha in zip(here.constants, here.alphas, strict=True))
    second_weights(start.W, start.a, start.batches, here.sigma.slope, (eta1, eta2))
    values = np.linalg.svd(start.W, compute_uv=False)
    return {"count": float(np.sum(values > 1.1 * bulk_edge(start.W, start.a)))}


@stream("T1.exponent.1")
def strengths(rng: np.random.Generator, size: int) -> dict[str, float]:
    """eta2 eta1^k |a^(k+1)| |b_k| with eta1 = 6, eta2 = N^(1/5), d = size, N = n = 2 d."""
    start = draw_start(rng, size, 2 * size, 2 * size, bounded_link, 0.3)
    eta1, eta2 = 6.0, (2 * size) ** 0.2
    found = regress(second_weights(start.W, start.a, start.batches, STRONG.slope, (eta1, 0.0)), start.a, eta1, 3)
    lengths = {k: float(np.linalg.norm(start.a ** (k + 1))) * np.sqrt(max(found.gram(k, k), 1e-12)) for k in (1, 2)}
    return {f"strength{k}": eta2 * eta1**k * length for k, length in lengths.items()}


@stream("T5.fresh")
def _two_small_steps(rng: np.random.Generator, size: int, batch: str, steps: tuple[float, float]) -> dict[str, float]:
    """The direction learned by two steps of order one, n = d = size, N = 2 d: squared cosine with beta, and length.

    The direction is (W2 - W0) a, which the readout picks out of all rows. Its length is that over |a|^2.
    """
    start = draw_start(rng, size, 2 * size, size, bounded_link, 0.3, batch)
    before = start.W @ start.a
    second_weights(start.W, start.a, start.batches, WEAK.slope, steps)
    learned = start.W @ start.a - before
    length2 = float(learned @ learned)
    return {
        "cosine2": float(start.beta @ learned) ** 2 / length2,
        "length": float(np.sqrt(length2)) / float(start.a @ start.a),
    }


def total(case: str) -> float:
    """1 + Lambda of a case."""
    here = CASES[case]
    return float(phase(*here.alphas, here.degree).total)


def exponent(k: int) -> float:
    """The exponent of spike k in `strengths`."""
    return float(phase(Fraction(0), Fraction(1, 5), None).exponent(k))


def _values(steps: tuple[float, float]) -> dict[sp.Symbol, float]:
    """The bounded link at n = d, with WEAK's mu1 = 1."""
    moment = float_moments(bounded_link)
    m2 = moment(0, 2) + 0.09
    return dict(zip((s.mu1, s.mu1_star, s.m2, s.alpha, s.eta1, s.eta2), (1, moment(1, 1), m2, 1, *steps), strict=True))


def cosine2(batch: str) -> float:
    """T5's squared cosine for two equal steps at n = d."""
    return float(sp.N(one_step_cosine2(batch).subs(_values(_EQUAL))))


def length(batch: str, steps: tuple[float, float]) -> float:
    """T5's length of the learned direction at n = d."""
    return float(sp.sqrt(sp.N(learned_length2(batch).subs(_values(steps)))))


def _count(id: str, case: str, claim: str, mistake: str, wrong: float) -> Check:
    return Check(
        id=id,
        claim=claim,
        source=SOURCE,
        predict=functools.partial(total, case),
        measure=MonteCarlo(functools.partial(_outlier_count, case=case), "count", size=400, trials=3, full_trials=12),
        resolution=0.5,
        control=Control(mistake, lambda: wrong),
    )


def _exponent(id: str, k: int) -> Check:
    return Check(
        id=id,
        claim=f"the strength of spike {k} grows as `N^(alpha2 - {k}(1/2 - alpha1))`",
        source=SOURCE,
        predict=functools.partial(exponent, k),
        measure=Rate(strengths, f"strength{k}", (40, 80, 160), 100, (100, 200, 400), 200),
        resolution=0.24,
        control=Control("`k` shifted by one", functools.partial(exponent, k + 1)),
    )


def _one_step(id: str, batch: str, other: str) -> Check:
    return Check(
        id=id,
        claim=f"below the line the angle with `beta` after two equal steps on a {batch} batch",
        source="T1, T5",
        predict=functools.partial(cosine2, batch),
        measure=Ladder(
            functools.partial(_two_small_steps, batch=batch, steps=_EQUAL),
            "cosine2",
            (75, 150, 300),
            1.0,
            20,
            (150, 300, 600),
            60,
        ),
        resolution=0.07,
        control=Control(f"the {other} batch's cosine", functools.partial(cosine2, other)),
    )


def _length(id: str, batch: str, claim: str, mistake: str, wrong: tuple[float, float], resolution: float) -> Check:
    return Check(
        id=id,
        claim=claim,
        source="T1, T5",
        predict=functools.partial(length, batch, UNEQUAL),
        measure=Ladder(
            functools.partial(_two_small_steps, batch=batch, steps=UNEQUAL),
            "length",
            (75, 150, 300),
            1.0,
            30,
            (150, 300, 600),
            80,
        ),
        resolution=resolution,
        control=Control(mistake, functools.partial(length, batch, wrong)),
    )


CHECKS: tuple[Check, ...] = (
    _count("T1.count.two", "two", "degree 2 at (.35, .25): two outliers", "`Lambda` counted for the total", 1.0),
    _count(
        "T1.count.relu",
        "relu",
        ("ReLU at (.35, .2), `Lambda = 1`: two outliers"),
        ("`Lambda` counted for the total"),
        1.0,
    ),
    _count(
        "T1.count.three",
        "three",
        "degree 3 at (.4, .25), `Lambda = 2`: three outliers",
        "no third coefficient: `Lambda = 1`",
        2.0,
    ),
    _count("T1.count.below", "below", "degree 2 at (.2, .2), below the line: one outlier", "the cap `L` alone", 2.0),
    _exponent("T1.exponent.1", 1),
    _exponent("T1.exponent.2", 2),
    _one_step("T5.reused", "reused", "fresh"),
    _one_step("T5.fresh", "fresh", "reused"),
    _length(
        "T5.length.reused",
        "reused",
        "below the line two steps on one batch act as one step of size `eta1 + eta2`: the length of (`W2 - W0`) a",
        "`eta1` alone",
        (UNEQUAL[0], 0.0),
        0.17,
    ),
    _length(
        "T5.length.fresh",
        "fresh",
        "below the line two fresh steps: the length of (`W2 - W0`) a, the noise of the two added in squares",
        "one step of size `eta1 + eta2`",
        (sum(UNEQUAL), 0.0),
        0.13,
    ),
)
