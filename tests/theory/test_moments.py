"""Moments of links and activations: exact against enclosed, kinks, and what may be infinite."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

from theory import symbols as s
from theory.errors import InputError
from theory.moments import MissingFormError, Moments, hermite_weights, power
from theory.nonlinearity import nonlinearity
from theory.second_step import PolynomialActivation


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
