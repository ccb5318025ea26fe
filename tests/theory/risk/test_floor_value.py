"""theory/risk/floor_value.py: the criterion in balls against closed forms."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.symbols import z
from bulkedge.theory.risk import floor as theory
from bulkedge.theory.risk.floor_value import polynomial, value


@pytest.mark.parametrize("kappa", ["-3", "0", "17/10", "40"])
def test_of_erf_is_the_arcsine_formula(kappa: str) -> None:
    f, k = nonlinearity("erf"), sp.Rational(kappa)
    found = value(f, f, k, 20)
    exact = sp.Rational(str(theory.erf_criterion().subs(theory.slope, k).evalf(40)))
    assert abs(found.value - Fraction(int(exact.p), int(exact.q))) <= found.error + Fraction(1, 10**38)
    assert found.error < Fraction(1, 10**17)


def test_coefficients_of_polynomials() -> None:
    a, b = z + (z**2 - 1) / 2 + z**3 / 5, z**3 / 3 - z / 2 + 1
    found = polynomial(nonlinearity(a), nonlinearity(b))
    exact = sp.Poly(theory.polynomial_criterion(a, b, z), theory.slope).all_coeffs()[::-1]
    assert len(found) == len(exact)
    for x, y in zip(found, exact, strict=True):
        assert abs(x.value - Fraction(int(y.p), int(y.q))) <= x.error
    # and with the criterion itself, for a link that is no polynomial
    f, g = nonlinearity(a), nonlinearity("tanh(z - 1)")
    k = Fraction(-7, 10)
    total = sum(float(c) * float(k) ** j for j, c in enumerate(polynomial(f, g)))
    assert total == pytest.approx(float(value(f, g, sp.Rational(k), 15)), rel=1e-13)
