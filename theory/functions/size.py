"""How large an expression is once expanded: degree, terms and bits, bounded before anything is expanded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

import sympy as sp

MAX_DEGREE = 1000
MAX_TERMS = 1001  # a polynomial of the largest degree
MAX_BITS = 8192  # of one number; below Python's limit of 4300 digits for printing
_MAX_COEFFICIENT_BITS = 20_000  # of a coefficient after expansion
_MAX_DENOMINATOR = 10**18  # of an exponent of z
_MAX_ROOT_BITS = 512  # of a number under a root, which SymPy tries to factor


class SizeError(ValueError):
    """The expression is too large to be computed with."""


@dataclass(frozen=True)
class Size:
    """Upper bounds for the expanded expression; a function of z counts as a variable of its own."""

    degree: int
    terms: int
    bits: int
    polynomial: bool

    def checked(self) -> Size:
        """Itself, if it is within the limits; else SizeError."""
        if self.degree > MAX_DEGREE:
            raise SizeError(f"a degree of {_short(self.degree)} is above {MAX_DEGREE}")
        if self.terms > MAX_TERMS:
            raise SizeError(f"expanded it may have more than {MAX_TERMS} terms")
        if self.bits > _MAX_COEFFICIENT_BITS:
            raise SizeError("its coefficients are too long")
        return self


def bits(value: sp.Rational) -> int:
    """Bits of numerator and denominator together (0 for 0, 1 and -1)."""
    return max(abs(int(value.p)).bit_length() - 1, 0) + int(value.q).bit_length() - 1


def brief(expr: sp.Basic) -> str:
    """An expression in a message: short, and cheap even for a huge one."""
    nodes = sum(1 for _ in islice(sp.preorder_traversal(expr), 200))
    text = str(expr) if nodes < 200 else "the expression"
    return text if len(text) <= 60 else text[:57] + "..."


def measure(expr: sp.Expr) -> Size:
    """The size of `expr` and, on the way, of everything in it.

    Errors: SizeError beyond degree 1000, 1001 terms or 20000 bits.
    """
    return _measure(expr, {})


def check_power(base: sp.Expr, exponent: sp.Expr) -> None:
    """Refuse a power that would be too large, before it is computed.

    Errors: SizeError.
    """
    if exponent.is_Rational:
        # A decimal exponent of z has a long denominator; under a root of a number SymPy would factor.
        if abs(exponent) > MAX_BITS or exponent.q > (MAX_DEGREE if base.is_number else _MAX_DENOMINATOR):
            raise SizeError("an exponent is too large")
        if base.is_Rational:
            if bits(base) * abs(int(exponent.p)) > MAX_BITS:
                raise SizeError("a power is too large a number")
            if exponent.q != 1 and bits(base) * abs(int(exponent.p)) > _MAX_ROOT_BITS:
                raise SizeError("a root of too large a number")
            return
        _power(measure(base), exponent).checked()
    measure(exponent)


def _measure(expr: sp.Basic, seen: dict[sp.Basic, Size]) -> Size:
    if expr in seen:
        return seen[expr]
    if expr.is_Rational:
        size = Size(0, 1, bits(expr), True)
    elif expr.is_Symbol:
        size = Size(1, 1, 0, True)
    elif expr.is_Add:
        parts = [_measure(a, seen) for a in expr.args]
        size = _bounded(
            max(p.degree for p in parts),
            sum(p.terms for p in parts),
            max(p.bits for p in parts) + len(parts).bit_length(),
            all(p.polynomial for p in parts),
        )
    elif expr.is_Mul:
        parts = [_measure(a, seen) for a in expr.args]
        size = _bounded(
            sum(p.degree for p in parts),
            math.prod(p.terms for p in parts),
            sum(p.bits + p.terms.bit_length() - 1 for p in parts),
            all(p.polynomial for p in parts),
        )
    elif expr.is_Pow and expr.exp.is_Rational and not expr.base.is_Rational:
        size = _power(_measure(expr.base, seen), expr.exp)
    else:
        for argument in expr.args:
            _measure(argument, seen)
        size = Size(int(bool(expr.free_symbols)), 1, 0, False)
    seen[expr] = size.checked()
    return size


def _power(base: Size, exponent: sp.Rational) -> Size:
    if exponent.q != 1 or exponent < 0:
        # One generator, its base being expanded at most once.
        return Size(math.ceil(base.degree * abs(exponent)), 1, base.bits * math.ceil(abs(exponent)), False)
    n = int(exponent)
    degree = base.degree * n
    terms = degree + 1 if base.polynomial else _multisets(base.terms, n)
    return _bounded(degree, terms, n * (base.bits + base.terms.bit_length() - 1), base.polynomial)


def _multisets(kinds: int, n: int) -> int:
    if kinds == 1:
        return 1
    # Beyond the limit the exact count does not matter, and it could be astronomical.
    return MAX_TERMS + 1 if min(kinds - 1, n) > 200 else math.comb(kinds + n - 1, n)


def _bounded(degree: int, terms: int, size: int, polynomial: bool) -> Size:
    return Size(degree, min(terms, degree + 1) if polynomial else terms, size, polynomial)


def _short(value: int) -> str:
    return str(value) if value.bit_length() < 64 else "more than 10**18"
