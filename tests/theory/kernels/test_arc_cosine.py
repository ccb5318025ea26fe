"""Arc-cosine kernels: recurrence against Cho and Saul's definition, against the general engine, series and ends."""

import pytest
import sympy as sp

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.arc_cosine import (
    angular,
    angular_by_derivatives,
    arc_cosine,
    arc_cosine_of_covariances,
    square_coefficient,
    square_coefficient_asymptotics,
)
from bulkedge.theory.kernels.kernel import coefficient, dual, dual_of_correlation
from bulkedge.theory.numbers.symbols import k, q11, q12, q22, rho, z

RELU_POWERS = ["step", "relu", "relu(z)**2", "relu(z)**3", "relu(z)**4"]


@pytest.mark.parametrize("p", range(5))
def test_recurrence_is_the_derivative_definition(p):
    assert sp.simplify(angular(p) - angular_by_derivatives(p)) == 0


@pytest.mark.parametrize("p", range(5))
def test_general_engine_gives_the_same_kernel(p):
    f = nonlinearity(RELU_POWERS[p])
    for r in (sp.Rational(1, 3), sp.Rational(-9, 10)):
        gap = (dual_of_correlation(f) - arc_cosine(p)).subs(rho, r)
        assert abs(gap.evalf(40, maxn=400)) < sp.Float("1e-35")
    at = {q11: sp.Rational(7, 10), q12: sp.Rational(-2, 5), q22: sp.Rational(19, 10)}
    assert abs((dual(f) - arc_cosine_of_covariances(p)).subs(at).evalf(40, maxn=400)) < sp.Float("1e-35")


@pytest.mark.parametrize("p", range(4))
def test_series_coefficients_exactly(p):
    # The closed form is a claim about z_+^p: its Taylor coefficients are the squared Hermite coefficients.
    series = sp.series(arc_cosine(p), rho, 0, 15).removeO()
    general = coefficient(nonlinearity(RELU_POWERS[p]))
    for degree in range(15):
        claimed = square_coefficient(p).subs(k, degree)
        assert sp.simplify(series.coeff(rho, degree) - claimed) == 0
        assert sp.simplify(general.subs(k, degree) - claimed) == 0


def test_order_one_to_degree_forty():
    series = sp.series(arc_cosine(1), rho, 0, 41).removeO()
    for degree in range(41):
        assert sp.simplify(series.coeff(rho, degree) - square_coefficient(1).subs(k, degree)) == 0


def test_published_expansion():
    expected = 1 / (2 * sp.pi) + rho / 4 + rho**2 / (4 * sp.pi) + rho**4 / (48 * sp.pi) + rho**6 / (160 * sp.pi)
    assert sp.expand(sp.series(arc_cosine(1), rho, 0, 8).removeO() - expected) == 0


@pytest.mark.parametrize("p", range(4))
def test_ends(p):
    second_moment = sp.factorial2(2 * p - 1) / 2
    assert sp.simplify(arc_cosine(p).subs(rho, 1) - second_moment) == 0
    assert sp.simplify(arc_cosine(p).subs(rho, -1)) == 0


@pytest.mark.parametrize("p", range(4))
def test_asymptotics(p):
    degree = 2000 + (p + 1) % 2
    ratio = (square_coefficient(p) / square_coefficient_asymptotics(p)).subs(k, degree).evalf()
    # The next term is O(1/k) with a coefficient that grows like p^2.
    assert abs(ratio - 1) < (p + 2) ** 2 / degree
    assert abs((square_coefficient(p) / square_coefficient_asymptotics(p + 1)).subs(k, degree).evalf() - 1) > 10


def test_symbol():
    assert arc_cosine(1).free_symbols == {rho}
    assert not arc_cosine(1).has(z)
