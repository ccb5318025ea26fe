"""tau(kappa) of a pair (O4) in balls: the criterion is three dual kernels at exact covariances."""

from __future__ import annotations

import math
from fractions import Fraction

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.gaussian import best_enclosure
from bulkedge.theory.kernels import kernel_value
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import PrecisionError
from bulkedge.theory.numbers.symbols import z


def value(activation: Nonlinearity, link: Nonlinearity, kappa: sp.Rational, digits: int = 15) -> Enclosure:
    """tau(kappa) = E[(g(z1) - S(kappa z1))^2], S(y) = E_{z2} sigma(y + z2), with a rigorous error bound.

    Formula: E g^2 - 2 E[g(z1) sigma(u)] + E[sigma(u) sigma(v)] with u = kappa z1 + z2, v = kappa z1 + z3: covariances
    (1, kappa, 1 + kappa^2) and (1 + kappa^2, kappa^2, 1 + kappa^2).
    Valid for: every pair whose kernels at these variances are finite; kappa exact.
    Accuracy: rigorous; the error aims at 10^-digits of the three terms (not of tau, which may be zero).
    Errors: InputError where a term is infinite; PrecisionError where there is no enclosure of one.
    Source: O4; O, Theorem 7; K1.
    """
    one, variance = sp.Integer(1), 1 + kappa**2
    return (
        _term(link, one, one, one, digits, link)
        - _term(link, one, kappa, variance, digits, activation) * 2
        + _term(activation, variance, kappa**2, variance, digits, activation)
    )


def _term(
    f: Nonlinearity, q11: sp.Rational, q12: sp.Rational, q22: sp.Rational, digits: int, g: Nonlinearity
) -> Enclosure:
    try:
        return kernel_value.value(f, q11, q12, q22, digits, g)
    except PrecisionError as error:  # zero, or next to it: its absolute error is enough for a sum
        if error.best is None:
            raise
        return error.best


def polynomial(activation: Nonlinearity, link: Nonlinearity, digits: int = 25) -> list[Enclosure]:
    """The coefficients of tau(kappa) in ascending powers of kappa, for a polynomial activation.

    Formula: S(y) = sum_j a_j y^j with a_j = sum_i p_{j+2i} C(j + 2i, 2i) (2i - 1)!!, and then
    tau = E g^2 - 2 sum_j a_j E[g z^j] kappa^j + sum_{jl} a_j a_l E[z^(j+l)] kappa^(j+l).
    Accuracy: rigorous, each to about 10^-digits of the terms that it adds.
    Source: O4.
    """
    if activation.degree is None:
        raise ValueError("the activation is no polynomial")
    p = list(reversed(sp.Poly(activation.pieces[0].expr, z).all_coeffs()))
    n = len(p)
    found = [Enclosure(Fraction(0), Fraction(0), "exact") for _ in range(2 * n - 1)]
    found[0] = _term(link, sp.Integer(1), sp.Integer(1), sp.Integer(1), digits, link)
    with ball.precision(ball.bits(digits) + 64):
        c = [ball.constant(x) for x in p]
        a = [
            sum((c[m] * (math.comb(m, j) * _odd_factorial(m - j)) for m in range(j, n, 2)), ball.rational(0))
            for j in range(n)
        ]
        # z^j = sum_i j!/(2^i i! (j - 2i)!) He_{j-2i}
        moments = [best_enclosure(link, digits, k) for k in range(n)]
        for j in range(n):
            cross = sum(
                (moments[k] * (math.comb(j, k) * _odd_factorial(j - k)) for k in range(j % 2, j + 1, 2)),
                Enclosure(Fraction(0), Fraction(0), "exact"),
            )
            found[j] = found[j] - cross * ball.to_enclosure(a[j]) * 2
        for j in range(n):
            for k in range(j % 2, n, 2):
                found[j + k] = found[j + k] + ball.to_enclosure(a[j] * a[k] * _odd_factorial(j + k))
    return found


def _odd_factorial(m: int) -> int:
    """E z^m = (m - 1)!! for even m."""
    return math.prod(range(m - 1, 0, -2))
