"""Polynomials on t >= 0: lower bounds, and positivity by exact root counting."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import sympy as sp

from theory.quadratic import Quadratic
from theory.symbols import z

_MAX_EXPANDED = 60  # degree up to which a power or product is multiplied out
_MAX_STURM = 60  # degree up to which roots are counted
_t = sp.Dummy("t")


@lru_cache(maxsize=4096)
def coefficients(expr: sp.Expr) -> tuple[sp.Expr, ...] | None:
    """The ascending coefficients of a nonconstant polynomial in z, or None (also where a factored form is better)."""
    if not expr.has(z) or not expr.is_polynomial(z):
        return None
    if (expr.is_Pow or expr.is_Mul) and sp.degree(expr, z) > _MAX_EXPANDED and not expr.as_independent(z)[1].is_Pow:
        return None
    if expr.is_Pow and not expr.base.is_Symbol and sp.degree(expr.base, z) * expr.exp > _MAX_EXPANDED:
        return None
    return tuple(reversed(sp.Poly(expr, z).all_coeffs()))


def value(coefficients: list[Fraction], t: Fraction) -> Fraction:
    """By Horner's rule."""
    total = Fraction(0)
    for c in reversed(coefficients):
        total = total * t + c
    return total


def below(coefficients: list[Fraction], start: Fraction, end: Fraction | None) -> Quadratic | None:
    """A quadratic below the polynomial on [start, end], 0 <= start, or None."""
    if end is not None:
        terms = (c * (start if c >= 0 else end) ** i for i, c in enumerate(coefficients))
        return Quadratic(sum(terms, Fraction(0)))
    head, rest = coefficients[:3], coefficients[3:]
    slack = Fraction(0)
    while rest and rest[-1] == 0:
        rest = rest[:-1]
    if any(c < 0 for c in rest):
        if rest[-1] < 0:
            return None
        # Beyond Cauchy's bound of its roots the rest is positive, before it at least minus its terms' sizes.
        radius = 1 + max(abs(c) for c in rest) / rest[-1]
        slack = sum((-c * radius ** (i + 3) for i, c in enumerate(rest) if c < 0), Fraction(0))
    return Quadratic(*head, *[Fraction(0)] * (3 - len(head))).shifted(-slack)


def positive_minimum(coefficients: list[Fraction], start: Fraction, end: Fraction | None) -> Fraction | None:
    """A positive lower bound on the closed [start, end], or None where the polynomial is not positive there."""
    least = value(coefficients, start)
    if least <= 0 or (end is None and coefficients[-1] < 0) or (end is not None and value(coefficients, end) <= 0):
        return None
    if all(c >= 0 for c in coefficients):
        return least
    if len(coefficients) - 1 > _MAX_STURM or _roots(coefficients, start, end):
        return None
    radius = 1 + max(abs(c) for c in coefficients) / abs(coefficients[-1])
    far = start + radius if end is None else end
    least = min(value(coefficients, start + (far - start) * Fraction(i, 64)) for i in range(65))
    least = Fraction(least).limit_denominator(1 << 20) or least
    for _ in range(40):  # the grid's minimum, halved until it is a bound
        least /= 2
        if not _roots([coefficients[0] - least, *coefficients[1:]], start, end):
            return least
    return None


def positive_inside(
    coefficients: list[Fraction], start: Fraction, end: Fraction | None, start_open: bool, end_open: bool
) -> bool:
    """Whether the polynomial is positive on [start, end] without the ends that are open."""
    if len(coefficients) - 1 > _MAX_STURM:
        return False
    inside = start + 1 if end is None else (start + end) / 2
    if value(coefficients, inside) <= 0:
        return False
    roots = _roots(coefficients, start, end)
    roots -= start_open and value(coefficients, start) == 0
    roots -= end_open and end is not None and value(coefficients, end) == 0
    return roots == 0


def _roots(coefficients: list[Fraction], start: Fraction, end: Fraction | None) -> int:
    """The number of distinct roots in the closed interval."""
    rationals = [sp.Rational(c.numerator, c.denominator) for c in reversed(coefficients)]
    poly = sp.Poly(rationals, _t, domain="QQ").sqf_part()
    if poly.degree() < 1:
        return 0
    upper = None if end is None else sp.Rational(end.numerator, end.denominator)
    return int(poly.count_roots(sp.Rational(start.numerator, start.denominator), upper))
