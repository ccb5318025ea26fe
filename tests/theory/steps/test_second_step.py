"""T2, T6: the spikes' functions against a literal Taylor expansion."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.alignment import product
from bulkedge.theory.steps.second_step import Label, PolynomialActivation, as_expression, residual, spike_function

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
