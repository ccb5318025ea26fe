"""Ledger of T1 and T5: the number of outliers of W2, the growth of its spikes, one step against two below the line."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from numerics.alignment import float_moments
from numerics.check import Check, Control, Ladder, MonteCarlo, Rate
from numerics.checks.second_step import bounded_link, dsigma, relu_slope
from numerics.network import (
    Teacher,
    draw_batch,
    draw_directions,
    draw_readout,
    draw_weights,
    mean_gradient,
    step_in_place,
)
from numerics.second_step import regress, second_weights
from theory import symbols as s
from theory.phases import one_step_cosine2, phase

Floats = NDArray[np.float64]

SOURCE = "paper T, number of outliers; mathematics T1"


def weak_slope(z: Floats) -> Floats:
    """The derivative of z + .075 (z^2 - 1): degree 2."""
    return 1 + 0.15 * z


SLOPES: dict[str, Callable[[Floats], Floats]] = {"quadratic": weak_slope, "relu": relu_slope}
# activation -> (degree or None, alpha1, alpha2, constants of the steps, n/d)
CASES: dict[str, tuple[str, int | None, str, str, tuple[float, float], float]] = {
    "two": ("quadratic", 2, "0.35", "0.25", (3.0, 6.0), 4.0),
    "below": ("quadratic", 2, "0.2", "0.2", (2.0, 4.0), 4.0),
    "relu": ("relu", None, "0.35", "0.2", (2.0, 4.0), 2.0),
}


def outlier_count(rng: np.random.Generator, size: int, case: str) -> dict[str, float]:
    """Singular values of W2 beyond 1.1 times the bulk's edge, d = N = size, reused batch, bounded link.

    The edge is measured too: the top singular value of W2 with the span of a, a^2, a^3, a|a| projected out, which
    keeps the inflation of the rows by the second step.
    """
    slope, _, alpha1, alpha2, constants, ratio = CASES[case]
    teacher = Teacher(draw_directions(size, 1, rng), (bounded_link,), 0.3)
    W, a = draw_weights("gaussian", size, size, rng), draw_readout("gaussian", size, rng)
    batch = draw_batch(teacher, int(ratio * size), rng)
    steps = (constants[0] * size ** float(alpha1), constants[1] * size ** float(alpha2))
    second_weights(W, a, (batch, batch), SLOPES[slope], steps)
    span = np.linalg.qr(np.stack([a, a**2, a**3, a * np.abs(a)], axis=1))[0]
    edge = np.linalg.norm(W - (W @ span) @ span.T, 2)
    values = np.linalg.svd(W, compute_uv=False)
    return {"count": float(np.sum(values > 1.1 * edge))}


def strengths(rng: np.random.Generator, size: int) -> dict[str, float]:
    """eta2 eta1^k |a^(k+1)| |b_k| with eta1 = 6, eta2 = N^(1/5), d = size, N = n = 2 d."""
    teacher = Teacher(draw_directions(size, 1, rng), (bounded_link,), 0.3)
    width = 2 * size
    W, a = draw_weights("gaussian", size, width, rng), draw_readout("uniform", width, rng)
    batch = draw_batch(teacher, 2 * size, rng)
    eta1, eta2 = 6.0, width**0.2
    found = regress(second_weights(W, a, (batch, batch), dsigma, (eta1, 0.0)), a, eta1, 3)
    return {
        f"strength{k}": eta2 * eta1**k * float(np.linalg.norm(a ** (k + 1))) * np.sqrt(max(found.gram(k, k), 1e-12))
        for k in (1, 2)
    }


def two_small_steps(rng: np.random.Generator, size: int, batch: str) -> dict[str, float]:
    """Squared cosine with beta of the direction learned by two equal steps of order one, n = d = size, N = 2 d.

    The direction is (W2 - W0) a, which the readout picks out of all rows.
    """
    teacher = Teacher(draw_directions(size, 1, rng), (bounded_link,), 0.3)
    W, a = draw_weights("gaussian", size, 2 * size, rng), draw_readout("uniform", 2 * size, rng)
    first = draw_batch(teacher, size, rng)
    second = first if batch == "reused" else draw_batch(teacher, size, rng)
    before = W @ a
    step_in_place(W, a, mean_gradient(W, first, weak_slope), 1.0)
    step_in_place(W, a, mean_gradient(W, second, weak_slope), 1.0)
    learned = W @ a - before
    return {"cosine2": float(teacher.directions[:, 0] @ learned) ** 2 / float(learned @ learned)}


def total(case: str) -> float:
    """1 + Lambda of a case."""
    _, degree, alpha1, alpha2, _, _ = CASES[case]
    return float(phase(Fraction(alpha1), Fraction(alpha2), degree).total)


def exponent(k: int) -> float:
    """The exponent of spike k in `strengths`."""
    return float(phase(Fraction(0), Fraction(1, 5), None).exponent(k))


def cosine2(batch: str) -> float:
    """T5's squared cosine for two equal steps at n = d."""
    moment = float_moments(bounded_link)
    values = {s.mu1_star: moment(1, 1), s.m2: moment(0, 2) + 0.09, s.alpha: 1.0, s.eta1: 1, s.eta2: 1}
    return float(sp.N(one_step_cosine2(batch).subs(values)))


def _count(case: str, claim: str, mistake: str, wrong: float) -> Check:
    return Check(
        id=f"T1.count.{case}",
        claim=claim,
        source=SOURCE,
        predict=functools.partial(total, case),
        measure=MonteCarlo(functools.partial(outlier_count, case=case), "count", size=400, trials=3, full_trials=12),
        resolution=0.5,
        control=Control(mistake, lambda: wrong),
    )


def _exponent(k: int) -> Check:
    return Check(
        id=f"T1.exponent.{k}",
        claim=f"the strength of spike {k} grows as N^(alpha2 - {k}(1/2 - alpha1))",
        source=SOURCE,
        predict=functools.partial(exponent, k),
        measure=Rate(strengths, f"strength{k}", (40, 80, 160), 100, (100, 200, 400), 200),
        resolution=0.24,
        control=Control("k shifted by one", functools.partial(exponent, k + 1)),
    )


def _one_step(batch: str, other: str) -> Check:
    return Check(
        id=f"T5.{batch}",
        claim=f"below the line two steps act as one step of size eta1 + eta2 ({batch} batch)",
        source="mathematics T1, T5",
        predict=functools.partial(cosine2, batch),
        measure=Ladder(
            functools.partial(two_small_steps, batch=batch), "cosine2", (75, 150, 300), 1.0, 20, (150, 300, 600), 60
        ),
        resolution=0.07,
        control=Control(f"the {other} batch's cosine", functools.partial(cosine2, other)),
    )


CHECKS: tuple[Check, ...] = (
    _count("two", "degree 2 at (.35, .25): two outliers", "Lambda counted for the total", 1.0),
    _count("relu", "ReLU at (.35, .2), Lambda = 1: two outliers", "Lambda counted for the total", 1.0),
    _count("below", "degree 2 at (.2, .2), below the line: one outlier", "the cap L alone", 2.0),
    _exponent(1),
    _exponent(2),
    _one_step("reused", "fresh"),
    _one_step("fresh", "reused"),
)
