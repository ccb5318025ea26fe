"""One rule for many Hermite moments: against one integral each, exact moments, Stein's identity; limits."""

from __future__ import annotations

import math

import pytest
import sympy as sp
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.gaussian import gauss_legendre
from bulkedge.theory.gaussian.gaussian import _rest_integral, enclose, parts
from bulkedge.theory.gaussian.hermite import coefficient, coefficients, information_exponent, normalisation
from bulkedge.theory.numbers import ball

TOLERANCE = -60.0


def by_table(f: Nonlinearity, degree: int, tolerance: float = TOLERANCE) -> list:
    split = parts(f)
    assert split.rest is not None
    return gauss_legendre.moments(split.rest.pieces, split.parity, degree, tolerance)


@pytest.mark.parametrize(
    "text",
    [
        "tanh(z)",
        "mish",
        "log_cosh",
        "tanh(3*z - 1)",
        "tanh(z)*relu(z - 1/3)",
        "exp(z/3)*tanh(z)",
        "exp(z**2/12)*sigmoid(z)",
        "sqrt(1 + z**2)",
        "Piecewise((silu(z), z < 1), (sigmoid(z), z < 3), (mish(z), True))",
        "Piecewise((tanh(z), z < -12), (sigmoid(z), True))",
    ],
)
def test_against_an_integral_for_each_degree(text: str) -> None:
    f = nonlinearity(text)
    split = parts(f)
    assert split.rest is not None
    table = by_table(f, 24)
    with ball.precision(gauss_legendre.working_bits(24, TOLERANCE)):
        for k in (0, 1, 7, 24):
            single = _rest_integral(split.rest, split.parity, k, TOLERANCE + math.lgamma(k + 1) / 2)
            if split.parity and (split.parity == 1) == (k % 2 == 1):
                assert table[k] == 0
                continue
            assert table[k].overlaps(single)
            assert table[k].rad() <= arb(TOLERANCE).exp() * arb(k + 1).gamma().sqrt() * 2


def test_the_error_is_a_bound_where_the_moments_are_known() -> None:
    """Functions with closed moments, sent through the rule: nothing it says may exclude the truth."""
    for text in ("exp(z/2)", "relu(z - 1/3)", "cos(3*z)", "gaussian", "He(9, z)", "Phi(2*z)"):
        f = nonlinearity(text)
        for tolerance in (-8.0, -30.0, -90.0):
            table = gauss_legendre.moments(f.pieces, 0, 40, tolerance)
            with ball.precision(400):
                for k, value in enumerate(table):
                    exact = coefficient(f, k, "moment", 40).enclosure
                    assert value.contains(ball.rational(exact.value)) or abs(value - ball.rational(exact.value)) <= (
                        value.rad() + ball.rational(exact.error)
                    )


@settings(max_examples=6, deadline=None)
@given(st.fractions(-2, 2, max_denominator=9), st.fractions("1/5", 4, max_denominator=9), st.integers(0, 30))
def test_stein(shift, slope, k) -> None:
    """E[f He_{k+1}] = E[f' He_k]."""
    z = sp.Symbol("z", real=True)
    u = sp.Rational(slope) * z + sp.Rational(shift)
    f, derivative = nonlinearity(sp.tanh(u)), nonlinearity(sp.Rational(slope) * (1 - sp.tanh(u) ** 2))
    left = gauss_legendre.moments(f.pieces, 0, k + 1, TOLERANCE)[k + 1]
    right = gauss_legendre.moments(derivative.pieces, 0, k, TOLERANCE)[k]
    with ball.precision(gauss_legendre.working_bits(k, TOLERANCE)):
        assert (left - right).contains(0)


@settings(max_examples=10, deadline=None)
@given(st.fractions(-3, 3, max_denominator=9), st.fractions("1/9", 5, max_denominator=9))
def test_the_panels_hold_an_elementary_integral(start, length) -> None:
    """The integral of 1/(1 + x^2) e^x e^-x: arctan's difference, within the error's shares; the nodes lie inside."""
    z = sp.Symbol("z", real=True)
    f = ball.build(sp.exp(z) / (1 + z**2), z, {})
    with ball.precision(200):
        lower, upper = ball.rational(start), ball.rational(start + length)
        made = list(gauss_legendre.panels(f, lower, upper, lambda x, y: (-x).upper(), TOLERANCE))
        points = [(x, v) for panel in made for x, v in gauss_legendre.nodes(panel, 200)]
        assert all(lower < x < upper for x, _ in points)
        total = sum((v * (-x).exp() for x, v in points), arb(0))
        assert abs(total - (upper.atan() - lower.atan())) <= arb(TOLERANCE).exp()


def test_what_it_does_not_resolve_is_said() -> None:
    steep, root = nonlinearity("exp(6*z**2/25)*sigmoid(z)"), nonlinearity("tanh(sqrt(Abs(z)))")
    for f in (steep, root):
        with pytest.raises(gauss_legendre.UnresolvedError):
            gauss_legendre.moments(f.pieces, 0, 8, TOLERANCE)
        assert enclose(f, 12, 5 if f is steep else 6).reaches(12)  # by the other route


def test_a_thousand_coefficients_are_no_thousand_integrals(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    integrate = ball.integrate
    monkeypatch.setattr(ball, "integrate", lambda *args, **kwargs: calls.append(1) or integrate(*args, **kwargs))
    found = coefficients(nonlinearity("tanh"), 120)
    assert len(calls) <= 5
    assert all(c.enclosure.reaches(15) or c.exact == 0 for c in found)
    # |c_k| ~ k^(-1/4) exp(-(pi/2) sqrt k): the poles at +-i pi/2
    ratio = math.log(abs(float(found[119].enclosure)) / abs(float(found[59].enclosure)))
    assert ratio == pytest.approx(-math.pi / 2 * (math.sqrt(119) - math.sqrt(59)) - math.log(119 / 59) / 4, rel=0.01)


def test_many_digits() -> None:
    found = coefficients(nonlinearity("tanh"), 9, digits=300)
    low = coefficients(nonlinearity("tanh"), 9, digits=15)
    for a, b in zip(found, low, strict=True):
        assert abs(a.enclosure.value - b.enclosure.value) <= b.enclosure.error + a.enclosure.error
    assert all(c.enclosure.reaches(300) or c.exact == 0 for c in found)


def test_a_polynomial_of_degree_one_thousand() -> None:
    """In integers: one coefficient, all others exact zeros, and the exponent is found however high it is."""
    f = nonlinearity("He(1000, z)")
    found = coefficients(f, 1000, "probabilist")
    assert [c.k for c in found if c.exact != 0] == [1000]
    assert found[1000].exact == 1
    assert information_exponent(f) == 1000
    assert information_exponent(nonlinearity("He(70, z) + He(300, z)")) == 70


def test_roots_of_factorials_are_sympys() -> None:
    for k in (*range(30), 100, 257):
        assert sp.srepr(normalisation("orthonormal", sp.Integer(k))) == sp.srepr(sp.factorial(k) ** sp.Rational(-1, 2))
