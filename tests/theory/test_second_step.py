"""T2, T6: the spikes' functions against a literal Taylor expansion."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from theory import symbols as s
from theory.alignment import product
from theory.errors import InputError
from theory.second_step import (
    Jump,
    Label,
    PolynomialActivation,
    as_expression,
    folded_mean,
    kinked_further,
    kinked_square,
    residual,
    spike_function,
)

t = sp.Symbol("t")
c1, c2, c3, c4 = sp.symbols("c1:5", real=True)
He = [sp.Integer(1), s.z, s.z**2 - 1, s.z**3 - 3 * s.z, s.z**4 - 6 * s.z**2 + 3]
SYMBOLIC = c1 * He[1] + c2 * He[2] + c3 * He[3]
NUMBERS = He[1] - He[2] / 3 + He[3] / 5 + He[4] / 11


def gaussian(expression: sp.Expr, variable: sp.Symbol, variance: sp.Expr = sp.S.One) -> sp.Expr:
    poly = sp.Poly(sp.expand(expression), variable)
    moments = {n: sp.factorial2(n - 1) * variance ** sp.Rational(n, 2) for (n,), _ in poly.terms() if n % 2 == 0}
    return sp.Add(*(c * moments[n] for (n,), c in poly.terms() if n % 2 == 0))


def literal(sigma: sp.Expr, orders: int, batch: str) -> list[sp.Expr]:
    """y E sigma'(G + t P), written out as a polynomial in t: no Taylor formula and no moments are used."""
    first = sp.diff(sigma, s.z)
    mean = gaussian(first, s.z)
    v = s.m2 * (gaussian(first**2, s.z) - mean**2) / s.alpha
    e = s.mu0_star * gaussian(sp.diff(first, s.z), s.z)
    own = s.y / s.alpha * first.subs(s.z, s.G) if batch == "reused" else 0
    P = mean * s.q + e * s.G + own + s.xi
    moved = sp.expand(first.subs(s.z, s.G + t * P))
    averaged = gaussian(gaussian(moved, s.xi, v), s.G)
    return [sp.expand(s.y * sp.expand(averaged).coeff(t, k)) for k in range(orders)]


@pytest.mark.parametrize("batch", ["reused", "fresh"])
@pytest.mark.parametrize(("sigma", "orders"), [(SYMBOLIC, 3), (NUMBERS, 4)])
def test_full_is_the_literal_expansion(sigma: sp.Expr, orders: int, batch: str) -> None:
    moments = PolynomialActivation(sigma)
    for k, expected in enumerate(literal(sigma, orders, batch)):
        found = as_expression(spike_function(k, batch, "full", moments, Label.symbolic()))
        assert sp.expand(found - expected) == 0


def test_rank_one_differs_exactly_by_the_neglected_terms() -> None:
    moments, label = PolynomialActivation(SYMBOLIC), Label.symbolic()
    full = as_expression(spike_function(1, "reused", "full", moments, label))
    rank_one = as_expression(spike_function(1, "reused", "rank_one", moments, label))
    # Own term: E[sigma' sigma''] instead of mu1 E sigma''; and the mean of the link.
    gap = s.y**2 / s.alpha * 12 * c2 * c3 + s.y * s.mu0_star * 2 * c2 * 6 * c3
    assert sp.expand(full - rank_one - gap) == 0
    # A linear sigma' with a centred link: nothing is neglected at k = 1.
    quadratic = PolynomialActivation(c1 * He[1] + c2 * He[2])
    assert (
        sp.expand(
            as_expression(spike_function(1, "reused", "full", quadratic, label))
            - as_expression(spike_function(1, "reused", "rank_one", quadratic, label))
        )
        == 0
    )


def test_spike_zero_is_the_gradient() -> None:
    for reading in ("full", "rank_one"):
        found = as_expression(spike_function(0, "reused", reading, PolynomialActivation(SYMBOLIC), Label.symbolic()))
        assert sp.expand(found - c1 * s.y) == 0


def test_orders_above_the_degree_vanish() -> None:
    poly = spike_function(3, "reused", "full", PolynomialActivation(SYMBOLIC), Label.symbolic())
    assert sp.expand(as_expression(poly)) == 0


def test_squared_loss_residual() -> None:
    found = as_expression(residual("reused", PolynomialActivation(SYMBOLIC), Label.symbolic()))
    own = c1**2 + 4 * c2**2 + 18 * c3**2  # E sigma'^2 of the Hermite sum: sum k^2 (k-1)! c_k^2
    f = s.eta1 / sp.sqrt(s.N) * (c1**2 * s.q + s.mu0_star * 4 * c2**2 + s.y / s.alpha * own)
    assert sp.expand(found - (s.y - f)) == 0
    fresh = as_expression(residual("fresh", PolynomialActivation(SYMBOLIC), Label.symbolic()))
    assert sp.expand(fresh - found - s.eta1 / sp.sqrt(s.N) * s.y / s.alpha * own) == 0
    assert product({(1, 0): 2}, {(0, 1): 3, (1, 0): 5}) == {(1, 1): 6, (2, 0): 10}


def test_folded_mean_by_quadrature() -> None:
    for m, v in ((0.7, 0.3), (-1.2, 2.0), (0.0, 1.5)):
        direct = mpmath.quad(lambda x, m=m, v=v: abs(m + x) * mpmath.npdf(x, 0, mpmath.sqrt(v)), [-15, -m, 15])
        stated = folded_mean(sp.Rational(str(m))).subs(s.v, sp.Rational(str(v)))
        assert abs(float(stated) - float(direct)) < 1e-9


def one_sided(sign: int, jump: Jump, mu1: float, y: float, q: float, v: float, alpha: float, small: float) -> float:
    """E sigma'(G + t P) for a pure step at `jump.at`, P with the one-sided own term, t = sign small, by quadrature."""

    def beyond(G: float, own: float) -> float:
        # P(G + t (mu1 q + own y/alpha + xi) > b) over xi.
        shift = (float(jump.at) - G) / (sign * small) - mu1 * q - own * y / alpha
        tail = mpmath.ncdf(-shift / mpmath.sqrt(v))
        return float(tail if sign > 0 else 1 - tail)

    def integrand(G: float) -> mpmath.mpf:
        own = float(jump.left if jump.at > G else jump.right)
        value = float(jump.left) + float(jump.height) * beyond(G, own)
        return value * mpmath.npdf(G)

    b = float(jump.at)
    breaks = [-9, b - 0.5, *(b + small * x for x in (-40, -10, -3, 0, 3, 10, 40)), b + 0.5, 9]
    return float(mpmath.quad(integrand, sorted(breaks)))


@pytest.mark.parametrize("jump", [Jump(0, 0, 1), Jump(sp.Rational(1, 2), sp.Rational(-1, 3), sp.Rational(4, 5))])
def test_a_jump_gives_both_directions(jump: Jump) -> None:
    """T6 by brute force: the terms of order t and |t| of E sigma'(G + t P)."""
    y, q, v, alpha, small = 0.8, 0.6, 0.5, 1.5, 2e-4
    mu1 = float(jump.left + jump.height * (1 - sp.erf(jump.at / sp.sqrt(2))) / 2)
    zero = mu1
    plus = (one_sided(1, jump, mu1, y, q, v, alpha, small) - zero) / small
    minus = (one_sided(-1, jump, mu1, y, q, v, alpha, small) - zero) / small
    values = {s.y: y, s.q: q, s.v: v, s.alpha: alpha}
    square = kinked_square((jump,), (0, 0, 0), mu1, 0).subs(values) / y
    further = kinked_further((jump,), mu1, 0).subs(values) / y
    # Finite t costs a relative error of order t.
    assert (plus - minus) / 2 == pytest.approx(float(square), abs=2e-3)
    assert (plus + minus) / 2 == pytest.approx(float(further), abs=2e-3)


def test_no_further_direction_for_the_absolute_value() -> None:
    assert sp.simplify(kinked_further((Jump(0, -1, 1),), 0, 0)) == 0
    assert sp.simplify(kinked_square((Jump(0, -1, 1),), (0, 0, 0), 0, 0)) == 0
    assert sp.simplify(kinked_further((Jump(0, 0, 1),), sp.Rational(1, 2), 0)) != 0


def test_bad_input() -> None:
    moments, label = PolynomialActivation(SYMBOLIC), Label.symbolic()
    for k, batch, reading in (
        (1, "both", "full"),
        (1, "fresh", "partial"),
        (-1, "fresh", "full"),
        (99, "fresh", "full"),
    ):
        with pytest.raises(InputError):
            spike_function(k, batch, reading, moments, label)
    assert label.rational(Fraction(2, 3)) == sp.Rational(2, 3)
