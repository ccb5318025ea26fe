"""What no linear model, no kernel and no small step can learn, and what one large step can (O4).

At n ~ d the best linear model and every rotation-invariant kernel leave at least mu2*^2. One step of size Theta(sqrt N)
brings the network within 10 tau* + o(1), tau* = inf_kappa E[(g(z1) - E_{z2} sigma(kappa z1 + z2))^2].
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, product
from bulkedge.theory.gaussian.gaussian import expectation, moment
from bulkedge.theory.kernels.kernel import dual
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import mu0_star, mu2_star, q11, q12, q22, s_eps, z1

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


def exact_floor(link: Nonlinearity) -> sp.Expr | None:
    """mu2*^2 = E g^2 - mu0*^2 - mu1*^2, exact, or None where a moment has no closed form.  Source: O4."""
    square, mean, first = expectation(product(link, link)), moment(link, 0), moment(link, 1)
    if square is None or mean is None or first is None:
        return None
    whole = sp.expand(square - mean**2 - first**2)
    return whole if whole.has(sp.exp, sp.erf) else sp.factor(whole)


def exact_criterion(activation: Nonlinearity, link: Nonlinearity) -> sp.Expr | None:
    """tau(kappa) in `slope` from the closed kernels of the pair, or None where one is not known.

    The covariances are those of (z1, kappa z1 + z2) and of two copies of kappa z1 + z2 with the same z1.  Source: O4.
    """
    square, cross, own = expectation(product(link, link)), dual(link, activation), dual(activation)
    if square is None or cross is None or own is None:
        return None
    length = 1 + slope**2
    return (
        square - 2 * cross.subs({q11: 1, q12: slope, q22: length}) + own.subs({q11: length, q12: slope**2, q22: length})
    )


_SQUARES = 400  # denominators and numerators of kappa^2 that are tried


def exact_zero(activation: Nonlinearity, link: Nonlinearity, near: float) -> sp.Expr | None:
    """kappa with tau(kappa) = 0, shown exactly, that lies within 1e-6 of `near`; None if none is found.

    A guess -- the simplest square root of a rational near by -- that is tested by the closed criterion. As tau >= 0, it
    is the infimum.  Source: O4.
    """
    square = sp.Rational(Fraction(near * near).limit_denominator(_SQUARES))
    guess = sp.sign(sp.Rational(Fraction(near))) * sp.sqrt(square)
    if abs(float(guess) - near) > 1e-6:
        return None
    criterion = exact_criterion(activation, link)
    if criterion is None:
        return None
    value = criterion.subs(slope, guess)
    if value.free_symbols or abs(sp.N(value, 30)) > 1e-25:  # quick, before anything is simplified
        return None
    return guess if sp.simplify(value) == 0 else None


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
