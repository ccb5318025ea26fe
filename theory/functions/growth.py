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

from bulkedge.theory.functions.bounds import Domain, EdgePower, UndecidedError, bound
from bulkedge.theory.functions.quadratic import Quadratic, log_above, log_below
from bulkedge.theory.functions.size import brief
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

SQUARE_INTEGRABLE = Fraction(1, 4)  # exp(2 c2 z^2) phi(z) is integrable iff c2 is below
_MAX_SPLITS = 48
_MAX_WORK = 6000  # nodes of the tree, over all pieces
_FIRST_SPLIT = 2


@dataclass(frozen=True)
class Growth:
    """|f(z)| <= exp(c0 + c1 |z| + c2 z^2) for every z of the interval; c1 and c2 may be negative.

    With a pole s > 0 the bound holds at a distance of at least one from the finite ends, and times x^-s at a distance
    x < 1 (up to a constant): |z|^(-1/4) and its like.
    """

    c0: Fraction
    c1: Fraction
    c2: Fraction
    pole: Fraction = Fraction(0)

    def at(self, t: Fraction) -> Fraction:
        """The bound of log|f| at |z| = t."""
        return self.c0 + self.c1 * t + self.c2 * t * t


def product(first: Growth, second: Growth) -> Growth:
    """The growth of f g."""
    return Growth(first.c0 + second.c0, first.c1 + second.c1, first.c2 + second.c2, first.pole + second.pole)


def sum(*parts: Growth) -> Growth:
    """The growth of f + g + ...; also of a function given by different expressions on several intervals."""
    return Growth(
        max(p.c0 for p in parts) + log_above(Fraction(len(parts))),
        max(p.c1 for p in parts),
        max(p.c2 for p in parts),
        max(p.pole for p in parts),
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
    erf, erfc (no kinks: split at them first). A fractional power may reach zero at an end of the interval, not inside;
    a negative one as well where its base is linear and what it is a power of stays integrable (2 pole < 1 for L2).
    Accuracy: the bounds are rigorous (rationals rounded outwards), not tight.
    Errors: InputError with the reason, where the growth is too fast or where finiteness cannot be shown.
    Source: design; f^2 phi is integrable iff 2 c2 < 1/2.
    """
    singular = poles(expr, lower, upper)
    order, scale = Fraction(0), Fraction(0)
    try:
        for base, s in singular.values():
            if s >= min(2 * limit, 1):
                raise UndecidedError(f"at an end of ({brief(lower)}, {brief(upper)}) it grows like {brief(base**-s)}")
            order = max(order, Fraction(int(s.p), int(s.q)))
            scale += max(-log_below(_rational(sp.Abs(base.coeff(z)), -1)), Fraction(0))
        regular = _with_edges(_tempered(expr, singular), lower, upper)
        parts = [g for half in _halves(lower, upper) for g in _pieces(regular, half, limit)]
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
    return Growth(c0 + order * scale, c1, c2, order)


Poles = dict[sp.Expr, tuple[sp.Expr, sp.Rational]]  # end -> (linear base, s): a factor base^-s


def poles(expr: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> Poles:
    """The finite ends of an interval at which a linear base of a negative power vanishes, with the largest power."""
    found: Poles = {}
    for power in expr.atoms(sp.Pow):
        if not (power.exp.is_Rational and power.exp < 0 and power.base.is_polynomial(z)):
            continue
        for end in _zeros_at_ends(power.base, lower, upper):
            base, s = found.get(end, (power.base, sp.S.Zero))
            if base == power.base:
                found[end] = base, max(s, -power.exp)
    return found


def _zeros_at_ends(base: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> list[sp.Expr]:
    """The finite ends at which a linear base vanishes."""
    if not (base.is_polynomial(z) and base.has(z) and sp.degree(base, z) == 1):
        return []
    return [end for end in (lower, upper) if end.is_finite and ball.sign(base.subs(z, end)) == 0]


def _with_edges(expr: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> sp.Expr:
    """Fractional powers > 0 of a linear base that vanishes at an irrational end, with what is known of its sign."""
    known: dict[sp.Basic, sp.Basic] = {}
    for power in expr.atoms(sp.Pow):
        if not (power.exp.is_Rational and not power.exp.is_Integer and power.exp > 0):
            continue
        for end in _zeros_at_ends(power.base, lower, upper):
            # Linear: its sign on the whole interval is that of its slope, seen from the end.
            upwards = ball.sign(sp.diff(power.base, z)) == (1 if end is lower else -1)
            if upwards and not (end.is_Rational and _rational_linear(power.base)):
                known[power] = EdgePower(power.base, power.exp)
    return expr.xreplace(known) if known else expr


def _rational_linear(base: sp.Expr) -> bool:
    return all(c.is_Rational for c in sp.Poly(base, z).all_coeffs())


def _tempered(expr: sp.Expr, singular: Poles) -> sp.Expr:
    """The expression times base^s for each pole: without them, the powers joined."""
    if not singular:
        return expr
    factor = sp.Mul(*(base**s for base, s in singular.values()))
    return sp.expand(
        expr * factor, power_exp=False, power_base=False, log=False, basic=False, multinomial=True, mul=True
    )


def _flat(g: Quadratic, end: Fraction, c1: Fraction, c2: Fraction) -> Fraction:
    """A c0 such that c0 + c1 t + c2 t^2 is above g on the finite piece [0, end]."""
    return g.minus(Quadratic(Fraction(0), c1, c2)).maximum(Fraction(0), end) or Fraction(0)


def _halves(lower: sp.Expr, upper: sp.Expr) -> list[Domain]:
    halves = []
    # Not SymPy's comparison, which goes by floats where an end is no rational.
    low, high = (_sign(end) for end in (lower, upper))
    if high > 0:
        inner, exact = (_rational(lower, -1), lower.is_Rational) if low > 0 else (Fraction(0), low == 0)
        halves.append(Domain(1, inner, None if upper is sp.oo else _rational(upper, 1), exact, bool(upper.is_Rational)))
    if low < 0:
        inner, exact = (_rational(-upper, -1), upper.is_Rational) if high < 0 else (Fraction(0), high == 0)
        halves.append(
            Domain(-1, inner, None if lower is -sp.oo else _rational(-lower, 1), exact, bool(lower.is_Rational))
        )
    return halves


def _sign(end: sp.Expr) -> int:
    return (1 if end is sp.oo else -1) if end.is_infinite else ball.sign(end)


def _rational(value: sp.Expr, direction: int) -> Fraction:
    """A rational at or beyond a constant, downwards or upwards."""
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    ends = bound(value, Domain(1, Fraction(0), Fraction(0))).span()
    if ends is None:
        raise UndecidedError(f"the constant {value} cannot be enclosed")
    # An inner end stays on its side of zero.
    return max(ends[0], Fraction(0)) if direction < 0 else ends[1]


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
