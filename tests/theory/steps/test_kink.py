"""T6: what crosses a kink, by brute force at every order, against deltas, and where it vanishes."""

from __future__ import annotations

from math import factorial

import mpmath
import pytest
import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.gaussian.moments import Moments
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.kink import (
    Kink,
    crossing_moment,
    folded_mean,
    further,
    further_vanishes,
    kinks,
    signed_mean,
    square,
)


def step(at: object, left: object, right: object) -> Kink:
    return Kink(*map(sp.sympify, (at,)), (sp.sympify(left),), (sp.sympify(right),))


def test_folded_mean_by_quadrature() -> None:
    for m, v in ((0.7, 0.3), (-1.2, 2.0), (0.0, 1.5)):
        direct = mpmath.quad(lambda x, m=m, v=v: abs(m + x) * mpmath.npdf(x, 0, mpmath.sqrt(v)), [-15, -m, 15])
        stated = folded_mean(sp.Rational(str(m))).subs(s.v, sp.Rational(str(v)))
        assert abs(float(stated) - float(direct)) < 1e-9


def one_sided(sign: int, jump: Kink, mu1: float, y: float, q: float, v: float, alpha: float, small: float) -> float:
    """E sigma'(G + t P) for a pure step at `jump.at`, P with the one-sided own term, t = sign small, by quadrature."""

    def beyond(G: float, own: float) -> float:
        # P(G + t (mu1 q + own y/alpha + xi) > b) over xi.
        shift = (float(jump.at) - G) / (sign * small) - mu1 * q - own * y / alpha
        tail = mpmath.ncdf(-shift / mpmath.sqrt(v))
        return float(tail if sign > 0 else 1 - tail)

    def integrand(G: float) -> mpmath.mpf:
        own = float(jump.left[0] if jump.at > G else jump.right[0])
        value = float(jump.left[0]) + float(jump.height) * beyond(G, own)
        return value * mpmath.npdf(G)

    b = float(jump.at)
    breaks = [-9, b - 0.5, *(b + small * x for x in (-40, -10, -3, 0, 3, 10, 40)), b + 0.5, 9]
    return float(mpmath.quad(integrand, sorted(breaks)))


@pytest.mark.parametrize("jump", [step(0, 0, 1), step(sp.Rational(1, 2), sp.Rational(-1, 3), sp.Rational(4, 5))])
def test_a_jump_gives_both_directions(jump: Kink) -> None:
    """T6 by brute force: the terms of order t and |t| of E sigma'(G + t P)."""
    y, q, v, alpha, small = 0.8, 0.6, 0.5, 1.5, 2e-4
    mu1 = float(jump.left[0] + jump.height * (1 - sp.erf(jump.at / sp.sqrt(2))) / 2)
    zero = mu1
    plus = (one_sided(1, jump, mu1, y, q, v, alpha, small) - zero) / small
    minus = (one_sided(-1, jump, mu1, y, q, v, alpha, small) - zero) / small
    values = {s.y: y, s.q: q, s.v: v, s.alpha: alpha}
    found = square((jump,), (0, 0, 0), mu1, 0).subs(values) / y
    beside = further((jump,), 1, mu1, 0).subs(values) / y
    # Finite t costs a relative error of order t.
    assert (plus - minus) / 2 == pytest.approx(float(found), abs=2e-3)
    assert (plus + minus) / 2 == pytest.approx(float(beside), abs=2e-3)


def mp(x: object) -> mpmath.mpf:
    return mpmath.mpf(sp.Rational(x).p) / sp.Rational(x).q


def crossed(kink: Kink, t: mpmath.mpf, A: sp.Rational, e: sp.Rational, own: sp.Rational) -> mpmath.mpf:
    """E sigma'(G + t P), P = A + e G + own sigma'(G), polynomial sides, by quadrature split where G + t P = b."""
    at = mp(kink.at)
    sides = [[mp(c) / factorial(i) for i, c in enumerate(side)] for _, side in kink.sides]

    def value(side: list[mpmath.mpf], x: mpmath.mpf) -> mpmath.mpf:
        return sum((c * (x - at) ** i for i, c in enumerate(side)), mpmath.mpf(0))

    def moved(side: list[mpmath.mpf], G: mpmath.mpf) -> mpmath.mpf:
        return G + t * (mp(A) + mp(e) * G + mp(own) * value(side, G))

    def integral(side: list[mpmath.mpf], lower: mpmath.mpf, upper: mpmath.mpf) -> mpmath.mpf:
        root = mpmath.findroot(lambda G: moved(side, G) - at, at)

        def integrand(G: mpmath.mpf) -> mpmath.mpf:
            x = moved(side, G)
            return mpmath.npdf(G) * value(sides[0] if x < at else sides[1], x)

        inner = [x for x in (root, at - 4, at - 2, at + 2, at + 4) if lower < x < upper]
        return mpmath.quad(integrand, sorted([lower, *inner, upper]))

    return integral(sides[0], mpmath.mpf(-14), at) + integral(sides[1], at, mpmath.mpf(14))


CURVED = Kink(sp.Rational(1, 2), (sp.Rational(-1, 3), sp.Rational(1, 5), sp.Rational(1, 2)), (sp.Rational(4, 5), -1))
CORNER = Kink(sp.Rational(-1, 4), (sp.Rational(1, 2), sp.Rational(3, 5)), (sp.Rational(1, 2), sp.Rational(-2, 5)))


def activation(kink: Kink) -> Nonlinearity:
    """The piecewise polynomial with this kink."""
    left, right = (
        sum(c * (s.z - kink.at) ** (i + 1) / sp.factorial(i + 1) for i, c in enumerate(side)) for _, side in kink.sides
    )
    return nonlinearity(sp.Piecewise((left, s.z < kink.at), (right, True)))


@pytest.mark.parametrize("kink", [CURVED, CORNER], ids=["jump", "corner"])
def test_every_order_by_brute_force(kink: Kink) -> None:
    """The Taylor coefficients of E sigma'(G + t P) on either side of t = 0, for a fixed A, up to t^3."""
    A, e, own = sp.Rational(3, 10), sp.Rational(1, 4), sp.Rational(7, 10)
    sigma = activation(kink)
    moments, found, orders = Moments(None).activation(sigma), kinks(sigma, 3), 6
    with mpmath.workdps(25):
        zero, series = crossed(kink, mpmath.mpf(0), A, e, own), {}
        for sign in (1, -1):
            points = [sign * mpmath.mpf(i) / 200 for i in range(1, orders + 1)]
            values = mpmath.matrix([crossed(kink, t, A, e, own) - zero for t in points])
            powers = mpmath.matrix([[t ** (j + 1) for j in range(orders)] for t in points])
            series[sign] = mpmath.lu_solve(powers, values)
    for k in (1, 2, 3):
        both = sum(
            sp.binomial(k, b) * sp.binomial(k - b, c) * A ** (k - b - c) * e**b * own**c * moments(k + 1, b, c)
            for b in range(k + 1)
            for c in range(k - b + 1)
        ) / sp.factorial(k)
        # Without the mean over xi: v to zero.
        at = {s.q: A, s.v: sp.Rational(1, 10**40), s.alpha: 1, s.y: own}
        beside = further(found, k, sp.Integer(1), e).subs(at).evalf(20) / own
        plus, minus = series[1][k - 1], series[-1][k - 1]
        # The series is cut after six terms at t <= .03.
        assert float((plus + minus) / 2) == pytest.approx(float(both), rel=2e-5, abs=1e-7)
        assert float((plus - minus) / 2) == pytest.approx(float(beside), rel=2e-5, abs=1e-7)


@pytest.mark.parametrize("spec", ["relu", "hardtanh", "elu", "Max(z-1/2,0)**2+Max(z,0)"])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_without_the_own_term_the_deltas_are_paired(spec: str, k: int) -> None:
    sigma, x = nonlinearity(spec), sp.Symbol("x", real=True)
    for b in range(min(k, 3) + 1):
        paired = sum(
            d.weight * (-1) ** d.order * sp.diff(x**b * normal_density(x), x, d.order).subs(x, d.at)
            for d in sigma.derivative(k + 1).deltas
        )
        assert sp.simplify(paired - sum(crossing_moment(kink, k, b, 0) for kink in kinks(sigma, k))) == 0


def test_where_the_further_direction_vanishes() -> None:
    def orders(spec: str) -> list[int]:
        return [k for k in (1, 2, 3) if not further_vanishes(kinks(nonlinearity(spec), k), k)]

    assert orders("relu") == [1, 3]  # C_2 = -e p only
    assert orders("hardtanh") == [1]  # phi'' vanishes at +-1
    assert orders("elu") == [3]  # sigma'' jumps, sigma' does not
    assert orders("Max(z-1/2,0)") == [1, 2, 3]
    assert orders("tanh") == []
    assert sp.simplify(further((step(0, -1, 1),), 1, 0, 0)) == 0


def test_signed_means_by_quadrature() -> None:
    for n in range(4):
        direct = mpmath.quad(
            lambda x, n=n: mpmath.sign(x - 0.4) * (x - 0.4) ** n * mpmath.npdf(x, 0, mpmath.sqrt(0.6)), [-9, 0.4, 9]
        )
        stated = signed_mean(n, sp.Rational(-2, 5)).subs(s.v, sp.Rational(3, 5))
        assert float(stated) == pytest.approx(float(direct), rel=1e-9)


def test_kinks_without_finite_sides_and_jumps_are_refused() -> None:
    assert kinks(nonlinearity("tanh"), 4) == ()
    for spec in ("sign(z)", "Heaviside(z)"):
        with pytest.raises(InputError):
            kinks(nonlinearity(spec), 1)
    with pytest.raises(InputError, match="one-sided"):
        kinks(nonlinearity("Max(z, 0)**(5/2)"), 3)
