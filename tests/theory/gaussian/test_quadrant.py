"""Moments over a quadrant or a half plane: against the general recursion, Cho and Saul's kernels, and quadrature."""

import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian import quadrant
from bulkedge.theory.gaussian.terms import Term, _dual
from bulkedge.theory.kernels.arc_cosine import arc_cosine
from bulkedge.theory.kernels.kernel import dual, dual_of_correlation
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.symbols import q11, q12, q22, rho

AT = {q11: sp.Rational(7, 5), q12: sp.Rational(-3, 10), q22: sp.Rational(1, 2)}


@pytest.mark.parametrize(("i", "j"), [(0, 0), (1, 0), (3, 3), (2, 3), (5, 2), (0, 4)])
@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_the_general_recursion(i, j, first, second):
    terms = [Term(sp.Integer(1), n, slope=sp.Integer(cut)) for n, cut in ((i, first), (j, second))]
    expected = _dual(*terms).subs(AT)
    found = quadrant.in_covariances(i, j, bool(first), bool(second)).subs(AT)
    assert abs(sp.N(found - expected, 30)) < 1e-25


@pytest.mark.parametrize("p", [8, 17])
def test_high_orders_are_cho_and_sauls(p):
    closed = dual_of_correlation(nonlinearity(f"z**{p}*Heaviside(z)"))
    for r in (sp.Rational(1, 3), sp.Rational(-4, 5)):
        assert sp.N(closed.subs(rho, r), 30) == pytest.approx(sp.N(arc_cosine(p).subs(rho, r), 30), rel=1e-25)


def test_degree_forty_against_quadrature():
    """E[(u)_+^40 (v)_+^40] = J_40/(2 pi), J_n = n! int_0^(pi - theta) (cos theta + cos phi)^n d phi."""
    with mpmath.workdps(30):
        theta = mpmath.acos(mpmath.mpf(1) / 3)
        integral = mpmath.quad(
            lambda x: (mpmath.cos(theta) + mpmath.cos(x)) ** 40, mpmath.linspace(0, mpmath.pi - theta, 6)
        )
        expected = mpmath.factorial(40) * integral / (2 * mpmath.pi)
    found = value(nonlinearity("z**40*Heaviside(z)"), sp.Integer(1), sp.Rational(1, 3), sp.Integer(1))
    assert float(found) == pytest.approx(float(expected), rel=1e-14)


def test_the_kernel_of_a_hermite_polynomial_is_a_power():
    f = nonlinearity("He(40, z)")
    assert dual_of_correlation(f) == sp.factorial(40) * rho**40
    # He_40(s z) = sum_j s^(40-2j) (s^2-1)^j 40!/(j! (40-2j)! 2^j) He_(40-2j)(z)
    variances = sp.Integer(2), sp.Integer(3)
    expected = sum(
        sp.factorial(40) ** 2
        / (sp.factorial(j) ** 2 * sp.factorial(40 - 2 * j) * 4**j)
        * (variances[0] - 1) ** j
        * (variances[1] - 1) ** j
        for j in range(21)
    )
    assert dual(f).subs({q11: variances[0], q12: 1, q22: variances[1]}) == expected


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.booleans(), st.booleans(), st.fractions(-1, 1, max_denominator=9))
def test_price_of_moments(i, j, first, second, at):
    """d/dq12 E[u^i v^j] = i j E[u^(i-1) v^(j-1)], cut or not (i, j >= 1 leave no jump), and the symmetry of the two."""
    slope = sp.diff(quadrant.in_covariances(i, j, first, second), q12)
    expected = i * j * quadrant.in_covariances(i - 1, j - 1, first, second)
    point = {q11: 2, q22: sp.Rational(1, 3), q12: sp.Rational(at.numerator, at.denominator) / 2}
    assert abs(sp.N((slope - expected).subs(point), 30)) < 1e-20 * (1 + abs(sp.N(expected.subs(point), 30)))
    one, two = quadrant.moment(i, j, first, second), quadrant.moment(j, i, second, first)
    assert one == two
