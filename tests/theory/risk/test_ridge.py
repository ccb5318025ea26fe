"""theory/risk/ridge.py: the resolvent, the closed-form derivatives, the limits."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.numbers.symbols import eta, g_res, kappa, lam, mu1, mu1_star, mu2, mu2_star, psi1, psi2, s_eps
from bulkedge.theory.risk import ridge
from bulkedge.theory.steps.gradient import direction_norm2


def _is_zero(expr: sp.Expr) -> bool:
    """Whether an expression vanishes, by exact simplification."""
    return sp.simplify(sp.together(expr)) == 0


def test_resolvent_solves_its_equation() -> None:
    equation = ridge.resolvent_equation()
    assert _is_zero(sp.expand((equation.lhs - equation.rhs).subs(g_res, ridge.resolvent())))


def test_derivative_is_that_of_the_closed_form() -> None:
    g = ridge.resolvent()
    assert _is_zero(sp.diff(g, kappa) - ridge.resolvent_derivative().subs(g_res, g))


def test_identity_behind_the_woodbury_step() -> None:
    """mu1^2 g t = x (1 - g): the product of the two resolvent traces needs no further unknown."""
    x = mu2**2 + kappa
    t = psi2 * g_res + 1 - psi2
    difference = mu1**2 * g_res * t - x * (1 - g_res)
    assert _is_zero(difference - (ridge.resolvent_equation().lhs - ridge.resolvent_equation().rhs))


@pytest.mark.parametrize("ratio", [sp.Rational(1, 3), sp.Rational(5, 2)])
def test_resolvent_counts_the_missing_directions(ratio: sp.Rational) -> None:
    """At x -> 0 g is the fraction of features without a direction, max(0, 1 - 1/psi2)."""
    g = ridge.resolvent().subs({psi2: ratio, mu1: sp.Rational(2, 3), mu2: 0})
    assert sp.limit(g, kappa, 0, "+") == max(0, 1 - 1 / ratio)


def test_no_step_is_no_enhancement_and_a_large_one_has_a_limit() -> None:
    assert ridge.enhancement().subs(eta, 0) == 0
    assert _is_zero(sp.limit(ridge.enhancement().subs(g_res, sp.Rational(1, 3)), eta, sp.oo) - 1 / direction_norm2())


def test_derivative_of_the_enhancement_vanishes_without_step() -> None:
    assert _is_zero(ridge.derivative(ridge.enhancement()).subs(eta, 0))


def test_linear_activation_without_a_step_is_ridge_regression() -> None:
    """mu1 = 1, mu2 = 0, N/d -> infinity: the textbook ridge risk of isotropic data."""
    values = {mu1: 1, mu2: 0, mu1_star: 1, mu2_star: 0, s_eps: sp.Rational(1, 2), psi1: 2}
    tau = sp.Rational(3, 7)
    delta = sp.solve(ridge.kernel_effective_ridge_equation().subs({**values, kappa: tau}), lam)[0]
    # Stieltjes transform of the sample covariance (ratio d/n = 1/2) at -delta: 1/m = delta + 1/(1 + m/2)... with
    # bias = delta^2 d/ddelta(-m)..., via v = 1/tau the companion transform: R = (tau^2/(1+tau)^2 + s^2)/(1 - df2/n).
    m = 1 / (1 + tau)  # (1/d) tr (S + delta)^-1 = m tau/delta
    stieltjes = m * tau / delta
    c = sp.Rational(1, 2)
    assert sp.simplify(c * delta * stieltjes**2 + (1 - c + delta) * stieltjes - 1) == 0
    risk = ridge.kernel_test_risk().subs({**values, kappa: tau})
    # Bias delta^2 m_2 and variance s^2 c (m_1 - delta m_2), m_2 = -dm/ddelta by implicit differentiation.
    m2 = (c * stieltjes**2 + stieltjes) / (2 * c * delta * stieltjes + 1 - c + delta)
    assert sp.simplify(risk - (delta**2 * m2 + sp.Rational(1, 4) * c * (stieltjes - delta * m2))) == 0
