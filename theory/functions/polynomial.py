"""Polynomials on t >= 0: lower bounds, and positivity by certified root isolation."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import sympy as sp
from flint import fmpq, fmpq_poly, fmpz_poly

from bulkedge.theory.functions.quadratic import Quadratic
from bulkedge.theory.functions.quadratic import above as above_ball
from bulkedge.theory.functions.quadratic import below as below_ball
from bulkedge.theory.functions.size import SizeError, measure
from bulkedge.theory.numbers.symbols import z

MAX_DEGREE = 60  # up to which powers are multiplied out, values bounded and roots isolated


@lru_cache(maxsize=4096)
def coefficients(expr: sp.Expr) -> tuple[sp.Expr, ...] | None:
    """The ascending coefficients of a nonconstant polynomial in z; None also where its factors are better kept."""
    if not expr.has(z) or not expr.is_polynomial(z):
        return None
    if expr.is_Pow and expr.base == z:
        return (sp.S.Zero,) * int(expr.exp) + (sp.S.One,)
    if (expr.is_Pow or expr.is_Mul) and measure(expr).degree > MAX_DEGREE:
        return None
    return tuple(reversed(sp.Poly(expr, z).all_coeffs()))


def multiplied_out(expr: sp.Expr) -> sp.Expr:
    """A polynomial in z, expanded; with rational coefficients by flint, where SymPy may take minutes."""
    try:
        measure(expr)
    except SizeError:
        return sp.expand(expr)
    poly = _rational_polynomial(expr)
    if poly is None:
        return sp.expand(expr)
    return sp.Add(*(sp.Rational(int(c.p), int(c.q)) * z**i for i, c in enumerate(poly.coeffs()) if c != 0))


def _rational_polynomial(expr: sp.Expr) -> fmpq_poly | None:
    if expr == z:
        return fmpq_poly([0, 1])
    if expr.is_Rational:
        return fmpq_poly([fmpq(int(expr.p), int(expr.q))])
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        base = _rational_polynomial(expr.base)
        return None if base is None else base ** int(expr.exp)
    if not (expr.is_Add or expr.is_Mul):
        return None
    result = fmpq_poly([int(expr.is_Mul)])
    for argument in expr.args:
        part = _rational_polynomial(argument)
        if part is None:
            return None
        result = result + part if expr.is_Add else result * part
    return result


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
        if rest[-1] < 0 or len(coefficients) - 1 > MAX_DEGREE:
            return None
        # Beyond Cauchy's bound of its roots the rest is positive, before it at least minus its terms' sizes.
        radius = 1 + max(abs(c) for c in rest) / rest[-1]
        slack = sum((-c * radius ** (i + 3) for i, c in enumerate(rest) if c < 0), Fraction(0))
    return Quadratic(*head, *[Fraction(0)] * (3 - len(head))).shifted(-slack)


def positive_minimum(coefficients: list[Fraction], start: Fraction, end: Fraction | None) -> Fraction | None:
    """A positive lower bound on the closed [start, end], or None where none was found.

    The minimum lies at an end or at a critical point; p is evaluated exactly at the midpoint of each critical point's
    ball, and its derivative bounds what the radius can change.
    """
    least = value(coefficients, start)
    if least <= 0 or (end is None and coefficients[-1] < 0) or (end is not None and value(coefficients, end) <= 0):
        return None
    if all(c >= 0 for c in coefficients):
        return least
    if len(coefficients) - 1 > MAX_DEGREE:
        return None
    least = least if end is None else min(least, value(coefficients, end))
    slope = [i * c for i, c in enumerate(coefficients)][1:]
    for low, high in _real_roots(slope):
        if high < start or (end is not None and low > end):
            continue
        middle, far = (low + high) / 2, max(abs(low), abs(high))
        change = (high - low) / 2 * value([abs(c) for c in slope], far)
        least = min(least, value(coefficients, middle) - change)
        if least <= 0:
            return None
    return least


def positive_inside(
    coefficients: list[Fraction], start: Fraction, end: Fraction | None, start_open: bool, end_open: bool
) -> bool:
    """Whether the polynomial is positive on [start, end] without the ends that are open."""
    inside = start + 1 if end is None else (start + end) / 2
    if len(coefficients) - 1 > MAX_DEGREE or value(coefficients, inside) <= 0:
        return False
    zeros = [e for e, free in ((start, start_open), (end, end_open)) if free and e is not None]
    zeros = [e for e in zeros if value(coefficients, e) == 0]
    for low, high in _real_roots(coefficients):
        outside = high < start or (end is not None and low > end)
        if not outside and not any(low <= e <= high for e in zeros):  # the balls of distinct roots are disjoint
            return False
    return True


def _real_roots(coefficients: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Disjoint intervals that hold one real root each, all real roots together."""
    common = math.lcm(*(c.denominator for c in coefficients))
    poly = fmpz_poly([int(c * common) for c in coefficients])
    if poly.degree() < 1:
        return []
    intervals = []
    for root, _ in poly.complex_roots():
        if root.imag == 0:
            low, high = below_ball(root.real), above_ball(root.real)
            assert low is not None
            assert high is not None
            intervals.append((low, high))
    return intervals
