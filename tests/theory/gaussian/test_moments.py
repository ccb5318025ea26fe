"""Moments of links and activations: exact against enclosed, kinks, and what may be infinite."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.moments import MissingFormError, Moments, hermite_weights, power, product_parity
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.second_step import PolynomialActivation


@pytest.mark.parametrize("a", range(7))
def test_powers_in_hermite_polynomials(a: int) -> None:
    total = sum(weight * sp.hermite_prob(k, s.z) for k, weight in hermite_weights(a))
    assert sp.expand(total - s.z**a) == 0


@pytest.mark.parametrize(("name", "a", "b"), [("erf", 3, 1), ("relu", 2, 3), ("sin(z)", 1, 3), ("z + z**2/3", 2, 4)])
def test_exact_lies_in_the_enclosure(name: str, a: int, b: int) -> None:
    exact = Moments().link(nonlinearity(name))(a, b)
    enclosed = Moments(30).link(nonlinearity(name))(a, b)
    assert abs(sp.Rational(enclosed.value.numerator, enclosed.value.denominator) - exact).evalf(40) <= 1e-28
    assert enclosed.error < 1e-28


def test_enclosed_against_mpmath() -> None:
    found = Moments(25).link(nonlinearity("tanh"))(2, 4)
    with mpmath.workdps(30):
        direct = mpmath.quad(lambda x: x**2 * mpmath.tanh(x) ** 4 * mpmath.npdf(x), [-12, -4, 0, 4, 12])
    assert abs(float(found) - float(direct)) < 1e-15
    with pytest.raises(MissingFormError):
        Moments().link(nonlinearity("tanh"))(2, 4)


def test_odd_moments_vanish_exactly() -> None:
    assert Moments(20).link(nonlinearity("tanh"))(2, 3).exact
    assert Moments(20).link(nonlinearity("tanh"))(2, 3).value == 0


@pytest.mark.parametrize("c", [0, 1, 2])
def test_polynomial_activations_by_the_other_route(c: int) -> None:
    expression = s.z + s.z**2 / 3 - s.z**4 / 10
    found, direct = Moments().activation(nonlinearity(expression)), PolynomialActivation(expression)
    for k in (1, 2, 3):
        for b in (0, 1, 2):
            assert sp.expand(found(k, b, c) - direct(k, b, c)) == 0


# Functions of every parity at 0; other parameters leave neither f nor its derivatives with one.
SHAPES = (
    "tanh(z - {})",
    "exp(z*{}/2)",
    "sin(z + {})",
    "erf(z) + {}*z**2",
    "gelu - {}*z**3/4",
    "z**2*exp(-z**2) + {}*z",
)
ORDERS = st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3))


def quadrature(expression: sp.Expr, k: int, b: int, c: int) -> tuple[float, float]:
    """E[f^(k) z^b f'^c] and the mean of its absolute value by the trapezoid rule, with no use of parity."""
    x = np.linspace(-16, 16, 12001)
    first, last = (sp.lambdify(s.z, sp.diff(expression, s.z, i), ["scipy", "numpy"]) for i in (1, k))
    value = last(x) * x**b * first(x) ** c * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    return float(np.sum(value)), float(np.sum(np.abs(value)))


@given(st.sampled_from(SHAPES), st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(4, 5)]), st.integers(1, 2))
@settings(max_examples=8, deadline=None)
def test_random_moments_of_an_activation_are_those_of_quadrature(shape: str, x: Fraction, c: int) -> None:
    """The law that finds a moment lost by parity: all orders k and powers of z, functions with and without one."""
    sigma = nonlinearity(shape.format(f"({x})"))
    moment = Moments(16).activation(sigma)
    for k, b in itertools.product((1, 2, 3), (0, 1, 2)):
        direct, size = quadrature(sigma.expr, k, b, c)
        assert abs(float(moment(k, b, c)) - direct) <= 1e-11 * (1 + size), (k, b)


@given(st.lists(st.fractions(-1, 1, max_denominator=6), min_size=4, max_size=4), ORDERS)
@settings(max_examples=30, deadline=None)
def test_random_moments_of_a_polynomial_activation_are_exact(c: list[object], orders: object) -> None:
    expression = sp.Add(*(sp.Rational(str(x)) * s.z**i for i, x in enumerate(c, 1)))
    found, direct = Moments().activation(nonlinearity(expression)), PolynomialActivation(expression)
    assert sp.expand(found(*orders) - direct(*orders)) == 0  # type: ignore[misc]


def test_published_moments_without_parity() -> None:
    """E[sigma^(3) z sigma']: 1 for z + He_2/2 + He_3/6, -.1405 for mish (independent quadrature)."""
    assert Moments().activation(nonlinearity("z + He(2,z)/2 + He(3,z)/6"))(3, 1, 1) == 1
    assert abs(float(Moments(20).activation(nonlinearity("mish"))(3, 1, 1)) + 0.1405) < 5e-5


@given(st.sampled_from([-1, 1, 0]), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_parity_of_products(parity: int, factors: list[tuple[int, int]]) -> None:
    """Known only where every factor's is (one to the power 0 does not count); else that of the product itself."""
    found = product_parity(parity, *factors)
    if parity == 0:
        assert found == (0 if any(b for _, b in factors) else 1)
        return
    f = s.z**5 if parity == -1 else s.z**4
    product = sp.Mul(*(sp.diff(f, s.z, k) ** b for k, b in factors))
    assert sp.expand(product - found * product.subs(s.z, -s.z)) == 0


def test_kinks() -> None:
    relu = Moments().activation(nonlinearity("relu"))
    assert relu(2, 0, 0) == 1 / sp.sqrt(2 * sp.pi)
    # (sigma'^2/2)' = delta/2 for ReLU: the meaning that T6 gives to the left vector a^2.
    assert sp.simplify(relu(2, 0, 1) - 1 / sp.sqrt(8 * sp.pi)) == 0
    assert relu(3, 0, 1) == 0
    # One order on: phi(0) ((D'/2) 2 s - J s') on either side, s = 1/2, 1, s' = 0, 2/3, J = 1/2, D' = 2/3: 1/3 on both.
    curved = Moments().activation(nonlinearity("z/2 + Max(z, 0)/2 + Max(z, 0)**2/3"))
    assert sp.simplify(curved(3, 0, 1) - 1 / (3 * sp.sqrt(2 * sp.pi))) == 0
    with pytest.raises(InputError):
        Moments().activation(nonlinearity("sign"))
    # ELU has a continuous slope: the delta of its third derivative meets sigma'(0) = 1.
    elu = Moments(25).activation(nonlinearity("elu"))
    with mpmath.workdps(30):
        smooth = mpmath.quad(lambda x: mpmath.exp(2 * x) * mpmath.npdf(x), [-30, -5, 0])
        expected = smooth - mpmath.npdf(0)
    assert abs(float(elu(3, 0, 1)) - float(expected)) < 1e-14


def test_infinite_moments_are_refused() -> None:
    assert power(nonlinearity("exp(z**2/9)"), 4)
    with pytest.raises(InputError):
        power(nonlinearity("exp(z**2/9)"), 5)
