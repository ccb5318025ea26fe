"""Ridge risk under a covariance Sigma: linear and kernel regression (E12), random features (E13).

Whatever the features, ridge regression on n samples sees a population ridge kappa, lam = kappa (1 - D), D = df1/n, and
its risk (noise included) follows from R(kappa), the label's energy that the population ridge leaves unexplained:

    risk = (R - kappa R')/(1 - D - kappa D'),   the denominator 1 - df2/n.

A spectrum is given by levels s of Sigma, their weights, and the target's energy on each, sum of energies b = |beta|^2.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import alpha, kappa, lam, mu1, mu1_star, mu2, psi1, psi2, s_eps

unexplained = sp.Function("R")(kappa)
degrees = sp.Function("D")(kappa)
missed, second_degrees = sp.symbols("B_2 D_2", nonnegative=True)
explained = sp.Function("Q")(kappa)
label_energy = sp.Symbol("E_y2", positive=True)
trace = sp.Symbol("m", positive=True)  # (1/N) tr (W^T Sigma W + x)^-1
level = sp.Symbol("s", positive=True)
_x = (mu2**2 + kappa) / mu1**2

Spectrum = Sequence[tuple[sp.Expr, sp.Expr, sp.Expr]]  # (level, weight, energy)


def risk() -> sp.Expr:
    """(R - kappa R')/(1 - D - kappa D'), noise included."""
    return (unexplained - kappa * unexplained.diff(kappa)) / (1 - degrees - kappa * degrees.diff(kappa))


def linear_statement() -> sp.Eq:
    """E12: (s_eps^2 + kappa^2 B_2)/(1 - D_2)."""
    return sp.Eq(sp.Symbol("R_test"), (s_eps**2 + kappa**2 * missed) / (1 - second_degrees))


def effective_ridge_equation() -> sp.Eq:
    """lam = kappa (1 - D)."""
    return sp.Eq(lam, kappa * (1 - degrees))


def linear_parts(spectrum: Spectrum) -> tuple[sp.Expr, sp.Expr]:
    """R and D of linear regression: s_eps^2 + kappa sum b s/(s + kappa), (1/alpha) sum w s/(s + kappa)."""
    missing = sp.Add(*(b * s / (s + kappa) for s, _, b in spectrum))
    return s_eps**2 + kappa * missing, sp.Add(*(w * s / (s + kappa) for s, w, _ in spectrum)) / alpha


def kernel_ridge(slope: sp.Expr, rest: sp.Expr, penalty: sp.Expr) -> sp.Expr:
    """The linear ridge of a kernel f(x.x'/d): (rest + penalty)/(alpha slope), K + penalty inverted.

    slope = f'(0), rest = f(tau) - f(0) - tau f'(0), tau the normalised trace of Sigma: off the diagonal K is
    slope x.x'/d and a constant, which centred labels do not see; on it there is `rest` besides.
    """
    return (rest + penalty) / (alpha * slope)


def features_statement() -> sp.Eq:
    """E13: (E y^2 - Q + kappa Q')/(1 - D - kappa D'), noise included."""
    top = label_energy - explained + kappa * explained.diff(kappa)
    return sp.Eq(sp.Symbol("R_test"), top / (1 - degrees - kappa * degrees.diff(kappa)))


def trace_equation(spectrum: Spectrum) -> sp.Eq:
    """1/m = x + sum w s/(1 + psi2 m s), x = (mu2^2 + kappa)/mu1^2 (Silverstein's equation of W^T Sigma W)."""
    return sp.Eq(1 / trace, _x + sp.Add(*(w * s / (1 + psi2 * trace * s) for s, w, _ in spectrum)))


def explained_at(s: sp.Expr) -> sp.Expr:
    """Q of a target of energy one on a level s: mu1*^2 psi2 m s^2/(1 + psi2 m s)."""
    return mu1_star**2 * psi2 * trace * s**2 / (1 + psi2 * trace * s)


def features_parts(spectrum: Spectrum) -> tuple[sp.Expr, sp.Expr]:
    """Q and D of random features: sums of `explained_at`, and (psi2/psi1)(1 - kappa m/mu1^2)."""
    return sp.Add(*(b * explained_at(s) for s, _, b in spectrum)), psi2 / psi1 * (1 - kappa * trace / mu1**2)


def trace_derivative(spectrum: Spectrum) -> sp.Expr:
    """dm/dkappa from `trace_equation`."""
    equation = trace_equation(spectrum)
    gap = equation.lhs - equation.rhs
    return -gap.diff(kappa) / gap.diff(trace)


STATEMENTS = (
    Statement(
        id="E12",
        title="Ridge risk under a covariance, linear and kernel regression",
        formula=linear_statement,
        assumptions=(
            "`x ~ N(0, Sigma), y = beta.x` + noise of variance `s_eps^2, n = alpha d`; noise included in the risk",
            "`B_2 = beta.Sigma (Sigma + kappa)^-2 beta, D_2 = tr Sigma^2 (Sigma + kappa)^-2/alpha`",
            "`lam = kappa (1 - tr Sigma (Sigma + kappa)^-1/alpha)`, penalty `lam |b|^2` beside `(1/n)|y - X b|^2`",
            "a kernel `f(x.x'/d), K + l` inverted, `E y = 0`: `lam = (f(tau) - f(0) - tau f'(0) + l)`/(`alpha f'`(0))",
            "`tau` the normalised trace of `Sigma`",
        ),
        sources=("Dobriban & Wager 2018; El Karoui 2010 (kernels)", "derived here, with the engine of equivalents"),
        status="derived",
    ),
    Statement(
        id="E13",
        title="Ridge risk of random features under a covariance",
        formula=features_statement,
        assumptions=(
            "features `sigma(X W), W d x N` of variance `1/d, x ~ N(0, Sigma), n = psi1 d, N = psi2 d`",
            "`Sigma` of normalised trace one",
            "`y = g(beta.x/(beta.Sigma beta)^(1/2))` + noise, `E y = 0` or `E sigma !=` 0; energies `b` with sum `b "
            "s = 1`",
            "`Q = mu1*^2` sum `b psi2 m s^2/(1 + psi2 m s), D = (psi2/psi1)(1 - kappa m/mu1^2), lam = kappa (1 - D)`",
            "`1/m = (mu2^2 + kappa)/mu1^2 + tr Sigma/(1 + psi2 m Sigma)`; (`1/n`)`|y` - F `a|^2 + lam |a|^2`",
        ),
        sources=("derived here, with the engine of equivalents",),
        status="derived",
    ),
)
