"""What no linear model, no kernel and no small step can learn, and what one large step can (O4).

At n ~ d the best linear model and every rotation-invariant kernel leave at least mu2*^2. One step of size Theta(sqrt N)
brings the network within 10 tau* + o(1), tau* = inf_kappa E[(g(z1) - E_{z2} sigma(kappa z1 + z2))^2].
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import mu0_star, mu2_star, s_eps, z1

# kappa of the criterion may have either sign, unlike the effective ridge.
slope = sp.Symbol("kappa", real=True)

_BOUND_FACTOR = 10  # of paper O's Theorem 7


def linear_floor(fits_mean: bool = True, noise: bool = False) -> sp.Expr:
    """mu2*^2, plus mu0*^2 if nothing fits the mean, plus s_eps^2 if the risk counts the noise.

    Source: O4; O, Proposition 1 and Fact 4.
    """
    return mu2_star**2 + (0 if fits_mean else mu0_star**2) + (s_eps**2 if noise else 0)


def criterion() -> sp.Expr:
    """tau(kappa) = E g(z1)^2 - 2 E[g(z1) S(kappa z1)] + E[S(kappa z1)^2], S(y) = E_{z2} sigma(y + z2).

    The square of the L2 distance of g from S(kappa .); its infimum over kappa is tau*.
    Source: O4; O, Theorem 7.
    """
    E = sp.Function("E")
    g, S = sp.Function("g"), sp.Function("S")
    return E(g(z1) ** 2) - 2 * E(g(z1) * S(slope * z1)) + E(S(slope * z1) ** 2)


def criterion_statement() -> sp.Eq:
    """tau(kappa), whose infimum over the real line is tau*."""
    return sp.Eq(sp.Function("tau")(slope), criterion())


def erf_criterion() -> sp.Expr:
    """tau(kappa) for the pair erf/erf, from the arcsine kernel.

    E[erf(u) erf(v)] = (2/pi) asin(2 q12/sqrt((1 + 2 q11)(1 + 2 q22))); S(kappa z1) is erf(kappa z1 + z2) averaged, so
    the covariances are (1, kappa, 1 + kappa^2) for the cross term and (1 + kappa^2, kappa^2) for the square.
    Source: O4; O, Corollary 8.
    """
    square = sp.asin(2 * slope**2 / (3 + 2 * slope**2))
    cross = sp.asin(2 * slope / sp.sqrt(3 * (3 + 2 * slope**2)))
    return 2 / sp.pi * (sp.asin(sp.Rational(2, 3)) - 2 * cross + square)


def polynomial_criterion(activation: sp.Expr, link: sp.Expr, argument: sp.Symbol) -> sp.Expr:
    """tau(kappa) of two polynomials, an exact polynomial in kappa.

    E_{z2} and E_{z1} of powers are double factorials: E z^j = (j - 1)!! for even j.
    """
    z2 = sp.Symbol("z2", real=True)
    smoothed = _average(activation.subs(argument, slope * z1 + z2), z2)
    return sp.expand(_average((link.subs(argument, z1) - smoothed) ** 2, z1))


def _average(expr: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """The expectation of a polynomial in a standard normal variable."""
    poly = sp.Poly(sp.expand(expr), variable)
    return sp.Add(*(c * sp.factorial2(j - 1) for (j,), c in poly.terms() if j % 2 == 0))


def verdict(tau_low: float, tau_high: float, floor: float, tolerance: float = 0.0) -> str:
    """What the theorem says about a pair whose tau* lies in [tau_low, tau_high].

    `beats`: 10 tau* < floor, one large step beats every kernel by the theorem; `vacuous`: tau* < floor <= 10 tau*, the
    theorem's bound is too large to tell; `above`: tau* >= floor (up to `tolerance`), no separation by this criterion;
    `undecided` if the interval does not decide.
    """
    if _BOUND_FACTOR * tau_high < floor:
        return "beats"
    if tau_low >= floor - tolerance:
        return "above"
    return "vacuous" if _BOUND_FACTOR * tau_low >= floor and tau_high < floor - tolerance else "undecided"


STATEMENTS = (
    Statement(
        id="O4",
        title="The floor of linear models and kernels, and the criterion of one large step",
        formula=criterion_statement,
        assumptions=(
            "floor `mu2*^2` at `n ~ d`; with noise `mu2*^2 + s_eps^2`, plus `mu0*^2` if nothing fits the mean",
            "`eta = Theta(sqrt N)`, bounded activation, `n/d` large: `R_1 <= 10 tau* + C (sqrt(tau* d/n) + d/n)`",
            "the infimum over `kappa` need not be attained (erf on a sign link)",
        ),
        sources=("O, Proposition 1, Theorem 7, Corollary 8",),
        figure="O.large",
    ),
)
