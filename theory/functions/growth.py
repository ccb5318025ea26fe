"""Membership in L2 of the Gaussian, shown: bounds of log|f| by recursion over the expression's tree.

`growth(f, lower, upper)` returns rational c0, c1, c2 with

    |f(z)| <= exp(c0 + c1 |z| + c2 z^2)   for every z of the interval,

and thereby shows that f is finite there: denominators are shown to be nonzero, arguments of logarithms and of
fractional powers positive. f is in L2(N(0, 1)) if c2 < 1/4. What cannot be shown is refused with the reason.

The recursion (theory/functions/bounds.py) works on one half line at a time, where |z| is t or -t, so that affine
functions are exact and decay is seen; where it does not succeed on a half line it is tried on ever smaller pieces of
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import sympy as sp

from bulkedge.theory.functions.bounds import Domain, UndecidedError, bound
from bulkedge.theory.functions.quadratic import Quadratic, log_above
from bulkedge.theory.functions.size import brief
from bulkedge.theory.numbers.errors import InputError

SQUARE_INTEGRABLE = Fraction(1, 4)  # exp(2 c2 z^2) phi(z) is integrable iff c2 is below
_MAX_SPLITS = 48
_MAX_WORK = 6000  # nodes of the tree, over all pieces
_FIRST_SPLIT = 2


@dataclass(frozen=True)
class Growth:
    """|f(z)| <= exp(c0 + c1 |z| + c2 z^2) for every z of the interval; c1 and c2 may be negative."""

    c0: Fraction
    c1: Fraction
    c2: Fraction

    def at(self, t: Fraction) -> Fraction:
        """The bound of log|f| at |z| = t."""
        return self.c0 + self.c1 * t + self.c2 * t * t


def product(first: Growth, second: Growth) -> Growth:
    """The growth of f g."""
    return Growth(first.c0 + second.c0, first.c1 + second.c1, first.c2 + second.c2)


def sum(*parts: Growth) -> Growth:
    """The growth of f + g + ...; also of a function given by different expressions on several intervals."""
    return Growth(
        max(p.c0 for p in parts) + log_above(Fraction(len(parts))),
        max(p.c1 for p in parts),
        max(p.c2 for p in parts),
    )


def growth(
    expr: sp.Expr,
    lower: sp.Expr = -sp.oo,
    upper: sp.Expr = sp.oo,
    *,
    limit: Fraction = SQUARE_INTEGRABLE,
    argument: str = "FUNCTION",
) -> Growth:
    """Rational c0, c1, c2 with |f(z)| <= exp(c0 + c1 |z| + c2 z^2) on the closed interval, c2 < limit.

    Valid for: smooth real expressions in z made of numbers, + - * / **, exp, log, sin, cos, sinh, cosh, tanh, atan,
    erf, erfc (no kinks: split at them first). A fractional power may reach zero at an end of the interval, not inside.
    Accuracy: the bounds are rigorous (rationals rounded outwards), not tight.
    Errors: InputError with the reason, where the growth is too fast or where finiteness cannot be shown.
    Source: design; f^2 phi is integrable iff 2 c2 < 1/2.
    """
    try:
        parts = [g for half in _halves(lower, upper) for g in _pieces(expr, half, limit)]
    except UndecidedError as error:
        raise InputError(
            argument,
            f"{brief(expr)} cannot be shown to be square integrable under the Gaussian: {error}",
            "use a function that is finite and grows more slowly than exp(z**2/4)",
        ) from None
    tails = [g for g, end in parts if end is None]
    c1 = max((g.c1 for g in tails), default=Fraction(0))
    c2 = max((g.c2 for g in tails), default=Fraction(0))
    c0 = max(g.c0 if end is None else _flat(g, end, c1, c2) for g, end in parts)
    return Growth(c0, c1, c2)


def _flat(g: Quadratic, end: Fraction, c1: Fraction, c2: Fraction) -> Fraction:
    """A c0 such that c0 + c1 t + c2 t^2 is above g on the finite piece [0, end]."""
    return g.minus(Quadratic(Fraction(0), c1, c2)).maximum(Fraction(0), end) or Fraction(0)


def _halves(lower: sp.Expr, upper: sp.Expr) -> list[Domain]:
    halves = []
    if upper > 0:
        inner, exact = (_rational(lower, -1), lower.is_Rational) if lower > 0 else (Fraction(0), bool(lower == 0))
        halves.append(Domain(1, inner, None if upper is sp.oo else _rational(upper, 1), exact, bool(upper.is_Rational)))
    if lower < 0:
        inner, exact = (_rational(-upper, -1), upper.is_Rational) if upper < 0 else (Fraction(0), bool(upper == 0))
        halves.append(
            Domain(-1, inner, None if lower is -sp.oo else _rational(-lower, 1), exact, bool(lower.is_Rational))
        )
    return halves


def _rational(value: sp.Expr, direction: int) -> Fraction:
    """A rational at or beyond a constant, downwards or upwards."""
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    ends = bound(value, Domain(1, Fraction(0), Fraction(0))).span()
    if ends is None:
        raise UndecidedError(f"the constant {value} cannot be enclosed")
    return ends[0] if direction < 0 else ends[1]


def _pieces(expr: sp.Expr, half: Domain, limit: Fraction) -> list[tuple[Quadratic, Fraction | None]]:
    """Bounds of log|f| on pieces that cover the half line, each with its end (None: infinity)."""
    todo, done, splits = [half], [], 0
    nodes = len(list(islice(sp.preorder_traversal(expr), _MAX_WORK)))
    most = min(_MAX_SPLITS, _MAX_WORK // nodes)
    while todo:
        piece = todo.pop()
        try:
            above = bound(expr, piece).log_above
        except UndecidedError as error:
            if error.final or splits >= most or not piece.worth_splitting:
                raise
            splits += 1
            todo.extend(piece.split(_FIRST_SPLIT))
            continue
        if above is None or (piece.end is None and above.c2 >= limit):
            where = "as z -> oo" if piece.sign > 0 else "as z -> -oo"
            slow = (
                "no bound exp(c z**2) was found"
                if above is None
                else f"it may grow like exp({float(above.c2):.4g}*z**2)"
            )
            raise UndecidedError(f"{slow} {where if piece.end is None else 'on a finite interval'}", final=True)
        done.append((above, piece.end))
    return done
