"""The ridge risk after one gradient step of size eta = Theta(1), in closed form (O3).

The features sigma(W1^T x) behave as mu0 + mu1 W1^T x + mu2 z (Gaussian equivalence) with W1 = W0 + e u a^T,
e = eta mu1. Write x = mu2^2 + kappa for the regularised population ridge, and

    g = (x/N) tr (mu1^2 W0^T W0 + x)^-1,     t = (x/d) tr (mu1^2 W0 W0^T + x)^-1 = psi2 g + 1 - psi2.

Woodbury with the rank-two update of W1 W1^T then leaves rational functions of g alone, because
mu1^2 g t = x (1 - g). Everything below is stated in g, kappa and the parameters.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import PROPORTIONAL, Statement
from bulkedge.theory.numbers.symbols import eta, g_res, kappa, lam, mu1, mu1_star, mu2, mu2_star, psi1, psi2, s_eps
from bulkedge.theory.steps.gradient import direction_norm2

_x = mu2**2 + kappa


def resolvent_equation() -> sp.Eq:
    """The quadratic of g: psi2 mu1^2 g^2 + (x + mu1^2 (1 - psi2)) g - x = 0 (Marchenko-Pastur, ratio N/d).

    Source: O3; mathematics' m(zz) is g/zz, zz = x/mu1^2. In this form mu1 = 0 and x = 0 are no special cases.
    """
    return sp.Eq(psi2 * mu1**2 * g_res**2 + (_x + mu1**2 * (1 - psi2)) * g_res - _x, 0)


def resolvent() -> sp.Expr:
    """The root of `resolvent_equation` in [0, 1] (mu1 != 0)."""
    b = _x + mu1**2 * (1 - psi2)
    return (sp.sqrt(b**2 + 4 * psi2 * mu1**2 * _x) - b) / (2 * psi2 * mu1**2)


def resolvent_derivative() -> sp.Expr:
    """dg/dkappa = (1 - g)/(2 psi2 mu1^2 g + x + mu1^2 (1 - psi2)), from the quadratic."""
    return (1 - g_res) / (2 * psi2 * mu1**2 * g_res + _x + mu1**2 * (1 - psi2))


def enhancement() -> sp.Expr:
    """E = e^2 (1 - g)/(1 + e^2 |u|^2 (1 - g)), e = eta mu1: what the step adds along u; 0 at eta = 0."""
    y = eta**2 * mu1**2 * (1 - g_res)
    return y / (1 + direction_norm2() * y)


def unexplained() -> sp.Expr:
    """x beta^T (mu1^2 W1 W1^T + x)^-1 beta = t (1 - mu1*^2 E): the share of the link's linear part that is missed."""
    t = psi2 * g_res + 1 - psi2
    return t * (1 - mu1_star**2 * enhancement())


def effective_ridge_equation() -> sp.Eq:
    """1 - lam/kappa = (psi2/psi1) (1 - kappa g/x): the effective ridge kappa of n samples."""
    return sp.Eq(1 - lam / kappa, degrees_of_freedom())


def degrees_of_freedom() -> sp.Expr:
    """df1/n = (psi2/psi1) (1 - kappa g/x)."""
    return psi2 / psi1 * (1 - kappa * g_res / _x)


def derivative(expr: sp.Expr) -> sp.Expr:
    """d/dkappa of an expression in kappa and g(kappa), in closed form."""
    return sp.diff(expr, kappa) + sp.diff(expr, g_res) * resolvent_derivative()


def risk_statement() -> sp.Eq:
    """O3: the test risk R of `risk_in_parts`."""
    return sp.Eq(sp.Symbol("R_test"), risk_in_parts())


def risk_in_parts() -> sp.Expr:
    """(mu2*^2 + s_eps^2 + mu1*^2 (A - kappa A'))/(lam/kappa - kappa D') - s_eps^2: the test risk, noise excluded.

    A(kappa) = `unexplained`, D(kappa) = `degrees_of_freedom`, g a function of kappa. The numerator's last term is the
    missed linear part; the denominator is 1 - df2/n, both of its terms non-negative.
    """
    A, D = (sp.Function(name)(kappa) for name in ("A", "D"))
    top = mu2_star**2 + s_eps**2 + mu1_star**2 * (A - kappa * A.diff(kappa))
    return top / (lam / kappa - kappa * D.diff(kappa)) - s_eps**2


def test_risk() -> sp.Expr:
    """The test risk, noise excluded, as an expression in kappa, g and the parameters: `risk_in_parts` spelt out.

    Valid for: proportional limit, eta = Theta(1), sigma odd (proved), mu0* = 0. With mu0 != 0 the mean of the link is
    fitted and the formula holds for any mu0* (|u|^2 keeps E y^2); with sigma odd it adds to mu2*^2.
    Convention: ridge (1/n)|y - Phi th|^2 + (lam/N)|th|^2, Phi = sigma(X W1)/sqrt N; fresh samples.
    Source: O3; O, Theorems 3 and 5 (its formula C.28 re-derived).
    """
    A, D = (sp.Function(name)(kappa) for name in ("A", "D"))
    parts = {
        A: unexplained(),
        A.diff(kappa): derivative(unexplained()),
        D.diff(kappa): derivative(degrees_of_freedom()),
    }
    return risk_in_parts().xreplace(parts)


def train_risk() -> sp.Expr:
    """The training error, noise included: (lam/kappa)^2 times the test risk with the noise included."""
    return (lam / kappa) ** 2 * (test_risk() + s_eps**2)


def linear_floor() -> sp.Expr:
    """mu2*^2: the risk of the best linear model, which no step of size Theta(1) passes. Source: O, Fact 4."""
    return mu2_star**2


def peak_coefficient() -> sp.Expr:
    """lim sqrt(lam) (test + s_eps^2) as lam -> 0 at N = n: the height of the double-descent peak (mu2 > 0).

    With h = g(0)/mu2^2: kappa ~ sqrt(lam/h), 1 - df2/n ~ 2 sqrt(lam h), A - kappa A' -> A(0).
    """
    at_zero = {kappa: 0}
    top = (mu2_star**2 + s_eps**2 + mu1_star**2 * unexplained()).subs(at_zero)
    return top / (2 * sp.sqrt(g_res / mu2**2))


def kernel_effective_ridge_equation() -> sp.Eq:
    """The limit N/d -> oo with lam = delta psi2 and kappa = psi2 tau (here lam and kappa stand for delta and tau)."""
    return sp.Eq(1 - lam / kappa, (mu2**2 / kappa + mu1**2 / (mu1**2 + kappa)) / psi1)


def kernel_test_risk() -> sp.Expr:
    """The limit N/d -> oo of the test risk, noise excluded: the step has no effect there.

    Convention: lam and kappa stand for lam/psi2 and kappa/psi2, held fixed.
    """
    bias = mu1_star**2 * kappa**2 / (mu1**2 + kappa) ** 2
    factor = 1 - mu1**4 / ((mu1**2 + kappa) ** 2 * psi1)
    return (mu2_star**2 + s_eps**2 + bias) / factor - s_eps**2


STATEMENTS = (
    Statement(
        id="O3",
        title="Ridge risk after one step of size `Theta`(1)",
        formula=risk_statement,
        assumptions=(
            PROPORTIONAL,
            "`A = t` (1 - `mu1*^2` E), `D` = `df1/n`; `kappa` solves 1 - `lam/kappa = D` (theory.risk.ridge)",
            "activation odd with bounded derivatives, centred link: proved; else conjectured and simulated",
            "link with a mean: features with a mean fit it; an odd activation leaves `mu0*^2`; else see L1",
        ),
        sources=("O, Theorems 3 and 5 (formula C.28 re-derived)",),
        figure="O.risk",
    ),
)
