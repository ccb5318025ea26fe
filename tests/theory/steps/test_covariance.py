"""G1-G3, the symbols: the terms collected by hand, exact moments, parities, scaling, refusals."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import alpha, beta, d, eta, zeta
from bulkedge.theory.steps import covariance as c

SIZES = {alpha: sp.Integer(2), beta: sp.Rational(3, 2), d: sp.Integer(60), eta: sp.Integer(20)}


def test_pair_terms_are_the_printed_ones() -> None:
    spike, bulk = c.pair_terms()
    assert sp.expand(spike - c.printed_pair_terms()) == 0
    assert bulk == c.link[0] ** 2 * c.act[2] ** 2
    assert sp.expand(c.statement().rhs - c.full().B) == 0


def test_length_expansion_is_the_heat_equation() -> None:
    """E sigma^(k)(r z) for sigma = z^6 and z^5, at r^2 = 1 + epsilon, to second order."""
    for power in (5, 6):
        f = nonlinearity(f"z**{power}")
        values = {c.act[k]: sp.factorial(power) / sp.factorial(power - k) * _gauss(power - k) for k in range(6)}
        assert all(float(c._enclose(f, 20, k)) == pytest.approx(float(values[c.act[k]])) for k in range(6))
        for k in range(3):
            rest = power - k
            exact = sp.factorial(power) / sp.factorial(rest) * _gauss(rest) * (1 + c.excess) ** sp.Rational(rest, 2)
            series = sp.series(exact, c.excess, 0, 3).removeO()
            ours = c.length_expansion(k).subs(values)
            order = sp.expand(series - ours)
            assert all(order.coeff(c.excess, i) == 0 for i in range(min(3, (7 - k) // 2)))


def _gauss(power: int) -> sp.Integer:
    return sp.factorial2(power - 1) if power % 2 == 0 else sp.Integer(0)


def test_leading_order_relations_between_the_readings() -> None:
    printed, rank_one, full = c.readings()
    swap = {c.act[1]: c.link[1]}
    assert sp.expand((rank_one.A - printed.A).subs(swap)) == 0
    assert sp.expand((rank_one.B - printed.B).subs(swap)) == 0
    leading = sp.limit(
        sp.expand((full.B / rank_one.B).subs({eta: 1, alpha: 2, beta: 1, c.link[1]: 1, c.act[1]: 2})), d, sp.oo
    )
    assert leading == 1


def test_values_for_relu_and_tanh() -> None:
    moments = c.moments(nonlinearity("relu"), nonlinearity("tanh"), sp.Rational(1, 2))
    assert float(moments[c.label2]) == pytest.approx(0.3942944903978412 + 0.25, rel=1e-14)
    assert float(moments[c.own]) == pytest.approx(0.5)
    full = c.evaluate(c.full().B, moments, SIZES)
    substituted = {symbol: sp.Float(float(value), 20) for symbol, value in moments.items()}
    assert float(full) == pytest.approx(float(c.full().B.subs(SIZES).subs(substituted)), rel=1e-13)
    assert 0 < float(full.error) < 1e-18


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.integers(-5, 5).filter(bool))
def test_sign_of_the_step_and_scale_of_the_link(scale: int, sign: int) -> None:
    """B is even in eta and homogeneous in the link; A - 1 changes its own-share term with the sign of eta."""
    at = {**SIZES, eta: sp.Integer(sign)}
    back = {**SIZES, eta: -sp.Integer(sign)}
    assert sp.expand(c.full().B.subs(at) - c.full().B.subs(back)) == 0
    grown = {c.link[k]: scale * c.link[k] for k in range(4)} | {c.bend: scale**2 * c.bend}
    assert sp.expand(c.full().B.subs(at).subs(grown, simultaneous=True) - scale**2 * c.full().B.subs(at)) == 0


def test_conditional_limits() -> None:
    moments = c.moments(nonlinearity("relu"), nonlinearity("tanh"), sp.Integer(0))
    top, bottom = sp.fraction(sp.together(c.conditional_cosine()))
    cosine = c.ratio(c.evaluate(top, moments, SIZES), c.evaluate(bottom, moments, SIZES))
    assert float(cosine) == pytest.approx(0.650464513971516, rel=1e-12)
    # Bulk and spike of the batch average: the strength's trace goes to w* and to the isotropic part.
    mean = sp.simplify(c.conditional_strength() / d + c.conditional_bulk() - c.full().A)
    assert mean.has(c.own)
    assert c.conditional_statement().lhs.name == "Gamma_u"
    assert float(c.ratio(c.Enclosure(c.Fraction(0), c.Fraction(0)), moments[c.label2])) == 0


def test_kurtosis() -> None:
    s = sp.Symbol("s", positive=True)
    assert c.kurtosis(s) == 3
    assert c.kurtosis_statement().rhs.subs(sp.Symbol("s", positive=True), 2) == sp.Rational(19, 9)
    assert sp.limit(c.kurtosis(s, "rademacher"), s, sp.oo) == 1
    with pytest.raises(InputError, match="readout"):
        c.kurtosis(s, "cauchy")


def test_scaling_and_refusals() -> None:
    assert c.scaling("spike").subs(zeta, sp.Rational(1, 2)) == 0
    assert c.scaling("bulk") == c.scaling("relative")
    with pytest.raises(InputError, match="quantity"):
        c.scaling("tail")
    with pytest.raises(InputError, match="jump"):
        c.moments(nonlinearity("sign"), nonlinearity("tanh"), sp.Integer(0))
