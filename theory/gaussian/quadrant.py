"""Moments E[u^i v^j] of a Gaussian pair over the plane, a half plane or a quadrant, of any degree, by recurrence.

These are the kernels of monomials cut at zero. The recurrence (theory.gaussian.bivariate's, with cuts at zero) runs
over polynomials in rho, in exact rationals, so that degree 40 costs no more than a few thousand multiplications.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import factorial

import sympy as sp
from flint import fmpq, fmpq_poly

from bulkedge.theory.numbers.symbols import q11, q12, q22


@dataclass(frozen=True)
class Moment:
    """plain + half/sqrt(2 pi) + (angle (pi/2 + asin rho) + root sqrt(1 - rho^2))/(2 pi), polynomials in rho."""

    plain: fmpq_poly
    half: fmpq_poly
    angle: fmpq_poly
    root: fmpq_poly

    def plus(self, other: Moment) -> Moment:
        """The sum."""
        return Moment(
            self.plain + other.plain, self.half + other.half, self.angle + other.angle, self.root + other.root
        )

    def times(self, factor: fmpq_poly) -> Moment:
        """A multiple."""
        return Moment(self.plain * factor, self.half * factor, self.angle * factor, self.root * factor)


def _poly(*coefficients: int) -> fmpq_poly:
    return fmpq_poly(list(coefficients))


def _moment(plain: fmpq_poly | int = 0, half: fmpq_poly | int = 0, angle: int = 0, root: fmpq_poly | int = 0) -> Moment:
    return Moment(*(x if isinstance(x, fmpq_poly) else _poly(x) for x in (plain, half, angle, root)))


def _double_factorial(n: int) -> int:
    """n!! for odd n >= -1."""
    m = (n + 1) // 2
    return int(factorial(2 * m) // (factorial(m) * 2**m))


def _conditional(n: int, cut: bool) -> Moment:
    """phi(0) times the moment of order n of the other variable given that one is zero, above zero if `cut`.

    E[w^n; w > 0] is (n-1)!!/2 for even n and (n-1)!!/sqrt(2 pi) for odd; w has variance 1 - rho^2.
    """
    if n % 2 == 0:
        power = _poly(1, 0, -1) ** (n // 2) * _double_factorial(n - 1)
        return _moment(half=power * fmpq(1, 2) if cut else power)
    if not cut:
        return _moment()
    m = (n - 1) // 2
    return _moment(root=_poly(1, 0, -1) ** m * (factorial(m) * 2**m))


@functools.lru_cache(maxsize=65536)
def moment(i: int, j: int, first: bool, second: bool) -> Moment:
    """E[u^i v^j] at unit variances and correlation rho; `first`: over u > 0 only, `second`: over v > 0 only.

    Formula: E[u^i v^j] = (i-1) E[u^(i-2) v^j] + j rho E[u^(i-1) v^(j-1)] and, at the cuts,
    phi(0) E[v^j | u = 0] for i = 1, rho phi(0) E[u^(i-1) | v = 0] for j = 0.
    Source: H4 (Gaussian integration by parts).
    """
    if i == 0 and j == 0:
        if first and second:
            return _moment(angle=1)
        return _moment(plain=_poly(1) * fmpq(1, 2) if first or second else 1)
    if i == 0:
        return moment(j, 0, second, first)
    total = _moment()
    if i > 1:
        total = total.plus(moment(i - 2, j, first, second).times(_poly(i - 1)))
    if j > 0:
        total = total.plus(moment(i - 1, j - 1, first, second).times(_poly(0, j)))
    if first and i == 1:
        total = total.plus(_conditional(j, second))
    if second and j == 0:
        total = total.plus(_conditional(i - 1, first).times(_poly(0, 1)))
    return total


def in_covariances(i: int, j: int, first: bool, second: bool) -> sp.Expr:
    """The moment at variances q11, q22 and covariance q12, as a SymPy expression."""
    # The recursion is deep: its lower orders first.
    for n in range(0, i + j, 50):
        moment(min(i, n), min(j, n), first, second)
    found = moment(i, j, first, second)
    half = sp.Rational(1, 2)

    def polynomial(p: fmpq_poly, a: int, b: int) -> sp.Expr:
        """sum p_k q12^k q11^((a-k)/2) q22^((b-k)/2)."""
        return sp.Add(
            *(
                sp.Rational(int(c.p), int(c.q)) * q12**k * q11 ** (half * (a - k)) * q22 ** (half * (b - k))
                for k, c in enumerate(p.coeffs())
                if c != 0
            )
        )

    angle = sp.pi / 2 + sp.asin(q12 / sp.sqrt(q11 * q22))
    return (
        polynomial(found.plain, i, j)
        + polynomial(found.half, i, j) / sp.sqrt(2 * sp.pi)
        + sp.expand(polynomial(found.angle, i, j) * angle / (2 * sp.pi))
        + polynomial(found.root, i - 1, j - 1) * sp.sqrt(q11 * q22 - q12**2) / (2 * sp.pi)
    )
