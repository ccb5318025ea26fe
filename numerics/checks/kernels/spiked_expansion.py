"""G7 checked: the orders after the paper's, and the second eigenvalue, against the exact spectrum."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import sympy as sp

from bulkedge.numerics.checks.kernels.spiked_spectrum import at_spike
from bulkedge.numerics.trials.check import Check, Control, SecondRoute
from bulkedge.theory.kernels import spiked_expansion
from bulkedge.theory.kernels.spiked_expansion import b
from bulkedge.theory.kernels.spiked_spectrum import unspiked
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import A, B, d


def _second_coefficient() -> Enclosure:
    """(lambda_max - lambda_0 (A + B/d))/(B/d)^2 at d = 10^4 from B/d = 1/200 and 1/100, extrapolated to B/d = 0."""
    dimension = 10_000
    lam0 = float(sp.N(unspiked(0).subs(d, dimension), 20))
    at = [(float(at_spike(dimension, x * dimension).eigenvalues[0]) - lam0 * (1 + x)) / x**2 for x in (0.005, 0.01)]
    limit = 2 * at[0] - at[1]
    # What the extrapolation leaves, 11 (B/d)^2/(16 pi), twice over, and the 1/d of the coefficient itself.
    return Enclosure(Fraction(limit), Fraction(2 * 11 * 0.01**2 / (16 * math.pi) + 2 / dimension), "extrapolated")


def second_ratio() -> Enclosure:
    """The second eigenvalue over b^2/(2 pi A) at d = 10^6, b = 1/100.

    The error is the prediction's: the next order of the series, and (A+B)^2/B^2 - 1 = 2e-4 of finite d.
    """
    part = at_spike(1_000_000, 10_000.0)
    value = float(part.eigenvalues[1]) / (0.01**2 / (2 * math.pi))
    left_out = abs(_second_ratio(3) - _second_ratio(2))
    return Enclosure(Fraction(value), Fraction(2 * left_out + 3e-4), "exact spectrum")


def _second_ratio(order: int) -> float:
    x = sp.Rational(1, 100)
    value = spiked_expansion.limit_second(order) / (b**2 / (2 * sp.pi * A))
    return float(value.subs({A: 1, b: x}).evalf(15))


def _paper_second() -> float:
    """A lambda_2, the second eigenvalue without a spike, in the same units."""
    return float(at_spike(1_000_000, 0.0).eigenvalues[1]) / (0.01**2 / (2 * math.pi))


def _mixing(x: float, dimension: int) -> float:
    """tau of the exact spectrum at A = 1, B/d = x."""
    vectors = at_spike(dimension, x * dimension).vectors
    return float(vectors[1, 0] / vectors[0, 0])


def _mixing_slope() -> Enclosure:
    """tau d/B at d = 10 from B/d = 1/200, 1/100 and 1/50, extrapolated to B = 0 by a parabola."""
    one, two, four = (_mixing(x, 10) / x for x in (0.005, 0.01, 0.02))
    line, parabola = 2 * one - two, (8 * one - 6 * two + four) / 3
    return Enclosure(Fraction(parabola), Fraction(abs(parabola - line) + 1e-9), "extrapolated")


def _mixing_curvature() -> Enclosure:
    """(tau/closed form - 1)/(B/d)^2 at d = 10^4 from B/d = 1/200 and 1/100, extrapolated."""
    dimension = 10_000
    at = [
        (_mixing(x, dimension) / float(_closed(dimension, sp.Rational(str(x)) * dimension)) - 1) / x**2
        for x in (0.005, 0.01)
    ]
    limit = 2 * at[0] - at[1]
    # What the line leaves, and at finite d a term of the first order in B with a factor 1/d, over x = .005.
    return Enclosure(Fraction(limit), Fraction(abs(at[1] - at[0]) + 4 / (0.005 * dimension)), "extrapolated")


def _closed(dimension: int, spike: sp.Expr) -> sp.Expr:
    return sp.N(spiked_expansion.mixing().subs({A: 1, B: spike, d: dimension}), 20)


def _slope(expression: sp.Expr) -> float:
    """The coefficient of B/d at A = 1, d = 10, B -> 0."""
    return float(sp.N(10 * sp.diff(expression, B).subs(B, 0).subs({A: 1, d: 10}), 15))


def _limit_curvature() -> float:
    """The order by which tau exceeds its closed form, from the two series of the limit."""
    closed = sp.limit(spiked_expansion.mixing().subs(B, b * d).subs(A, 1), d, sp.oo)
    ratio = sp.series(spiked_expansion.limit_mixing(3).subs(A, 1) / closed, b, 0, 3).removeO()
    return float(ratio.coeff(b, 2))


CHECKS = (
    Check(
        "G7.mixing",
        "the mixing `tau` of degrees 0 and 2 at small `B` is that of the closed form, `d = 10`",
        "G7; paper F, Theorem 5.4",
        lambda: _slope(spiked_expansion.mixing()),
        SecondRoute(_mixing_slope),
        0.01,
        Control("the printed `tau`, right as `d ->` infinity", lambda: _slope(spiked_expansion.paper_tau())),
    ),
    Check(
        "G7.mixing.third",
        "`tau` as `d ->` infinity exceeds its closed form by the factor 1 + (`B`/(Ad))`^2`",
        "G7",
        _limit_curvature,
        SecondRoute(_mixing_curvature),
        0.25,
        Control("nothing beyond the closed form", lambda: 0.0),
    ),
    Check(
        "G7.second_order",
        "`lambda_max` goes on after A `lambda_0 + B/(2 pi d)` with `(B/d)^2`/(`4 pi A`)",
        "G7; paper F, Theorem 5.4",
        lambda: 1 / (4 * math.pi),
        SecondRoute(_second_coefficient),
        0.01,
        Control("nothing, as printed", lambda: 0.0),
    ),
    Check(
        "G7.second_root",
        "the second eigenvalue is `lambda_2 ((A+B)^2/A)`(1 - `7 B`/(Ad) + ...), of order `(B/d)^2`",
        "G7; paper F, Appendix",
        functools.partial(_second_ratio, 2),
        SecondRoute(second_ratio),
        0.05,
        Control("the appendix's A `lambda_2`", _paper_second),
    ),
    Check(
        "G7.seven",
        "its first correction is `-7 B`/(Ad)",
        "G7",
        functools.partial(_second_ratio, 2),
        SecondRoute(second_ratio),
        0.03,
        Control("left out", lambda: 1.0),
    ),
)
