"""Ledger of T6 beyond the first order: what crosses a kink, from integrals over G on both sides of t = 0.

E sigma'(G + t P(G)), P = A + e G + kappa sigma'(G), kappa = y/alpha, is integrated piece by piece, split where G + t P
meets the kink; its Taylor coefficients for t > 0 and for t < 0 are fitted. No series of Lagrange's enters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp

from bulkedge.numerics.steps.alignment import direct_limits, float_moments, further_direction, gauss_grid
from bulkedge.numerics.steps.network import Teacher, draw_batch, draw_directions
from bulkedge.numerics.steps.second_step import fit, split_gradient
from bulkedge.numerics.steps.two_steps import (
    Floats,
    draw_start,
    he3_link,
    relu_slope,
    without_own,
)
from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.moments import Moments
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.steps.kink import Kink, further

# sigma' = -1/3 + (z - 1/2)/5 below 1/2 and 4/5 - (z - 1/2) above.
_KINK = Kink(sp.Rational(1, 2), (sp.Rational(-1, 3), sp.Rational(1, 5)), (sp.Rational(4, 5), sp.Integer(-1)))
A, E, OWN = sp.Rational(3, 10), sp.Rational(1, 4), sp.Rational(7, 10)
REACH = 9.0


def _moved_mean(t: float) -> float:
    """E sigma'(G + t P), by Gauss-Legendre between the kink and the points that move onto it."""
    at, a, e, own = (float(x) for x in (_KINK.at, A, E, OWN))
    sides = [tuple(map(float, side)) for _, side in _KINK.sides]

    def slope(x: Floats) -> Floats:
        (l, l1), (r, r1) = sides
        return np.where(x < at, l + l1 * (x - at), r + r1 * (x - at))

    total = 0.0
    for (value, rise), lower, upper in zip(sides, (-REACH, at), (at, REACH), strict=True):
        root = (at - t * (a + own * (value - rise * at))) / (1 + t * (e + own * rise))
        G, w = gauss_grid(60, (at, root), REACH)
        here = (lower < G) & (upper > G)
        G, w = G[here], w[here]
        total += float(np.sum(w * slope(G + t * (a + e * G + own * (value + rise * (G - at))))))
    return total


@functools.cache
def coefficients(sign: int, terms: int) -> Floats:
    """The Taylor coefficients of `moved_mean` in t on one side of 0, t = .01, .02, ...; fitted with so many terms."""
    t = sign * 0.01 * np.arange(1, terms + 1)
    rise = np.array([_moved_mean(x) for x in t]) - _moved_mean(0.0)
    return np.linalg.solve(t[:, None] ** np.arange(1, terms + 1), rise)


def measured(k: int, part: int) -> Enclosure:
    """The coefficient of t^k (part 1) or of |t| t^(k-1) (part -1); its error is the change from 6 to 7 terms."""
    value, other = (float(coefficients(1, n)[k - 1] + part * coefficients(-1, n)[k - 1]) / 2 for n in (7, 6))
    return Enclosure(Fraction(value), Fraction(abs(value - other)), "ball")


def both(k: int, own: sp.Expr = OWN) -> float:
    """E[sigma^(k+1)(G) P^k]/k! with T6's moments."""
    left, right = (value * (s.z - _KINK.at) + rise * (s.z - _KINK.at) ** 2 / 2 for _, (value, rise) in _KINK.sides)
    moment = Moments(None).activation(nonlinearity(sp.Piecewise((left, s.z < _KINK.at), (right, True))))
    return float(
        sum(
            sp.binomial(k, b) * sp.binomial(k - b, c) * A ** (k - b - c) * E**b * own**c * moment(k + 1, b, c)
            for b in range(k + 1)
            for c in range(k - b + 1)
        )
        / sp.factorial(k)
    )


def beside(k: int) -> float:
    """The coefficient of the left vector a^k|a| without the mean over xi."""
    at = {s.q: A, s.v: sp.Rational(1, 10**40), s.alpha: 1, s.y: OWN}
    return float(further((_KINK,), k, sp.Integer(1), E).subs(at).evalf(20) / OWN)


def _check(id: str, k: int, part: int, resolution: float) -> Check:
    square = part == 1
    vector = f"a^{k + 1}" if square else f"a^{k}|a|"
    return Check(
        id=id,
        claim=f"what a kink adds to the left vector `{vector}`: the series of one side",
        source="T6, to every order",
        predict=functools.partial(both, k) if square else functools.partial(beside, k),
        measure=SecondRoute(functools.partial(measured, k, part)),
        resolution=resolution,
        control=Control("no own term", functools.partial(both, k, sp.S.Zero))
        if square
        else Control("no further direction", lambda: 0.0),
    )


def _relu_further(alpha: float) -> tuple[Callable[[Floats, Floats], Floats], Callable[[Floats, Floats], Floats]]:
    """T6's F of a|a| for ReLU and the odd link: mu1 = 1/2, Var sigma' = 1/4, no mean."""
    v = float_moments(he3_link, nodes=400)(0, 2) / 4 / alpha
    return further_direction((Kink(0, (0,), (1,)),), 0.5, 0.0, v, alpha)


@stream("T6.relu.direction")
def _kinked_gradient(rng: np.random.Generator, size: int) -> dict[str, float]:
    """ReLU, odd link of information exponent 3, n = d = size, N = 4 d, reused: the coefficient of |t| against T6.

    Even part of the gradient in t = eta1 a_j; without a mean of y the order t^2 vanishes (T6), so |t| and |t|^3 are
    fitted. t shrinks with the size, and with it what the orders left out add.
    """
    start = draw_start(rng, size, 4 * size, size, he3_link, 0.0)
    eta1 = 0.3 * np.sqrt(100 / size) * np.sqrt(4 * size)
    even, _ = split_gradient(start.W, start.a, start.batches, relu_slope, eta1)
    t = np.abs(eta1 * start.a)
    found = fit(even, np.stack([t, t**3], axis=1))
    X, y, q = without_own(start.batches)
    F, _ = _relu_further(1.0)
    expected = X.T @ F(y, q) / size
    return {"ratio": found.signal(expected, 0) / float(expected @ expected)}


@stream("T6.relu.signal")
def _kinked_reach(rng: np.random.Generator, size: int) -> dict[str, float]:
    """beta.b of the further direction b = (1/n) X^T F from data alone, n = d = size: what a|a| sees of the target."""
    teacher = Teacher(draw_directions(size, 1, rng), (he3_link,), 0.0)
    batch = draw_batch(teacher, size, rng)
    X, y, q = without_own((batch, batch))
    F, _ = _relu_further(1.0)
    return {"signal": float(teacher.directions[:, 0] @ X.T @ F(y, q)) / size}


CHECKS: tuple[Check, ...] = (
    Check(
        id="T6.relu.direction",
        claim="ReLU, reused: the further left vector `a|a|` carries `(1/n) X^T` F with T6's F",
        source="T6",
        predict=lambda: 1.0,
        measure=Ladder(
            _kinked_gradient,
            "ratio",
            sizes=(60, 120, 240),
            rate=0.5,
            trials=18,
            full_sizes=(120, 240, 480),
            full_trials=40,
        ),
        resolution=0.25,
        control=Control("no further direction", lambda: 0.0),
    ),
    Check(
        id="T6.relu.signal",
        claim="ReLU, reused: `a|a|` reaches an odd link of information exponent 3 at `Lambda = 1`",
        source="T6",
        predict=lambda: direct_limits(*_relu_further(1.0), he3_link, 1.0, 0.0, "reused", (0.0,)).signal,
        measure=Ladder(
            _kinked_reach,
            "signal",
            sizes=(100, 200, 400),
            rate=1.0,
            trials=100,
            full_sizes=(200, 400, 800),
            full_trials=400,
        ),
        resolution=0.037,
        control=Control("even in `z`: nothing is reached", lambda: 0.0),
    ),
    _check("T6.order2.power", 2, 1, 1e-5),
    _check("T6.order2.further", 2, -1, 1e-5),
    _check("T6.order3.power", 3, 1, 1e-5),
    _check("T6.order3.further", 3, -1, 1e-5),
)
