"""The guard of every Nonlinearity made from an expression: its pieces are the expression, shown in balls.

Break points come from symbolic work; a lost zero there would make every later certificate one of another function.
Two things are therefore shown of the expression as it was given, by ball arithmetic that knows nothing of that work:

1. Between two neighbouring break points every Max, Min, Abs, sign, Heaviside and Piecewise keeps its branch: intervals
   are halved until each decision holds on the whole of it. (All but the 2^-40th part of a piece next to its ends is
   covered, and |z| up to 1024 times the largest break point: the Gaussian mass beyond is below 10^-200000.)
2. At points between the break points, and next to them on both sides, pieces and expression have one value.

What cannot be shown is refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import acb, arb, arb_poly

from bulkedge.theory.functions.pieces import NONSMOOTH, Piece
from bulkedge.theory.functions.size import brief
from bulkedge.theory.functions.zeros import unwrapped
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

_CLOSENESS = 40  # bits: a moved break point is seen down to this part of a piece's length
REACH = 1024  # times the largest break point, at least 1024
_FAR = 2**20  # beyond, closeness is relative
_CELLS = 4000  # for all pieces together
_HALVINGS = 200
_PRECISIONS = (160, 640, 2560)
_AGREEMENT = 60  # bits

_Branches = dict[sp.Basic, sp.Basic | int]
Value = Callable[[Any, _Branches], Any]


class Undecided(Exception):  # noqa: N818 -- no error: the interval is halved
    """Which branch holds is not the same, or cannot be seen, on the whole interval."""


def check(expr: sp.Expr, pieces: Sequence[Piece], joined: Sequence[Piece], argument: str) -> None:
    """Show that the pieces are the expression; `joined` are those in which neighbours that agree are one.

    Errors: InputError naming where it could not be shown.
    """
    kinked = expr.has(*NONSMOOTH)
    cuts = _cuts(pieces, argument)
    largest = max([Fraction(1), *(max(abs(low), abs(high)) for low, high in cuts)])
    ends = _ends(cuts, REACH * largest)
    todo = list(zip(pieces, ends, strict=True))
    for bits in _PRECISIONS:
        with ball.precision(bits):
            function = _compiled(expr, {}) if kinked else _smooth(expr)
            todo = [(p, (a, b)) for p, (a, b) in todo if not all(_agree(function, joined, x) for x in _points(a, b))]
    if todo:
        raise _refusal(expr, todo[0][0], argument)
    if kinked:
        narrowest = min(high - low for low, high in ends)
        spread = math.ceil(largest / narrowest).bit_length()
        with ball.precision(_PRECISIONS[0] + spread):
            _check_branches(expr, pieces, ends, argument)


def _refusal(expr: sp.Expr, piece: Piece, argument: str) -> InputError:
    return InputError(
        argument,
        f"the pieces of {brief(expr)} on ({brief(piece.lower)}, {brief(piece.upper)}) cannot be confirmed",
        "write the function as a Piecewise with explicit break points",
    )


def _cuts(pieces: Sequence[Piece], argument: str) -> list[tuple[Fraction, Fraction]]:
    """Rationals below and above each break point, so close that its neighbours are far away."""
    for bits in _PRECISIONS:
        with ball.precision(bits):
            cuts = [ball.constant(p.upper) for p in pieces[:-1]]
            found = [(ball.fraction(c.lower().mid()), ball.fraction(c.upper().mid())) for c in cuts]
        widest = max((high - low for low, high in found), default=Fraction(0))
        if all(b[0] - a[1] > widest * 2**_AGREEMENT for a, b in itertools.pairwise(found)):
            return found
    raise InputError(argument, "two break points cannot be told apart", "move them apart")


def _ends(cuts: list[tuple[Fraction, Fraction]], reach: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Rational ends of each piece, moved inwards by the closeness (of the piece, of one, or of a large end)."""
    lows, highs = [-reach, *(high for _, high in cuts)], [*(low for low, _ in cuts), reach]
    ends = []
    for low, high in zip(lows, highs, strict=True):
        first, last = (min(high - low, max(Fraction(1), abs(end) / _FAR)) / 2**_CLOSENESS for end in (low, high))
        ends.append((low + first, high - last))
    return ends


def _points(low: Fraction, high: Fraction) -> list[Fraction]:
    """Next to both ends and between them, at no special places; far out a value would only be large."""
    near, far = max(low, min(high, Fraction(-4))), min(high, max(low, Fraction(4)))
    inner = [near + (far - near) * Fraction(n, 97) for n in (23, 59)]
    return sorted({low if low == near else near, *inner, high if high == far else far})


def _agree(function: Value, joined: Sequence[Piece], x: Fraction) -> bool:
    piece = next(p for p in joined if p.upper is sp.oo or ball.constant(p.upper) > ball.rational(x))
    try:
        given = function(ball.rational(x), {})
        found = ball.constant(piece.expr, {z: sp.Rational(x.numerator, x.denominator)})
    except (InputError, Undecided):
        return False
    gap = abs(given - found).upper()
    return bool(gap <= (1 + abs(given).lower()) * arb(2) ** -_AGREEMENT)


# The branches, on intervals ----------------------------------------------------------------------------------------


def _check_branches(
    expr: sp.Expr, pieces: Sequence[Piece], ends: Sequence[tuple[Fraction, Fraction]], argument: str
) -> None:
    budget = _CELLS
    function = _compiled(expr, {})
    for piece, (low, high) in zip(pieces, ends, strict=True):
        branches: _Branches | None = None
        todo = [(low, high, 0)]
        while todo:
            a, b, depth = todo.pop()
            budget -= 1
            found: _Branches = {}
            try:
                function(ball.rational(a).union(ball.rational(b)), found)
            except Undecided:
                if depth >= _HALVINGS or budget <= 0:
                    raise _refusal(expr, piece, argument) from None
                middle = (a + b) / 2
                todo += [(a, middle, depth + 1), (middle, b, depth + 1)]
                continue
            if branches is not None and found != branches:
                raise _refusal(expr, piece, argument)
            branches = found


def _compiled(expr: sp.Basic, known: dict[sp.Basic, Value]) -> Value:
    """The expression on an interval, as a function of it and of a record of the branches that it takes."""
    if expr not in known:
        known[expr] = _compile(expr, known)
    return known[expr]


# Increasing functions, and their domain's lower end: on intervals they go by the ends, which is sharp.
_INCREASING = {
    sp.exp: arb.exp,
    sp.log: arb.log,
    sp.tanh: arb.tanh,
    sp.sinh: arb.sinh,
    sp.atan: arb.atan,
    sp.erf: arb.erf,
}


def _compile(expr: sp.Basic, known: dict[sp.Basic, Value]) -> Value:
    if not expr.has(z):
        constant = ball.constant(expr)
        return lambda x, found: constant
    if expr == z:
        return lambda x, found: x
    if expr.is_Add and (coefficients := _monomials(expr)) is not None:
        return _polynomial(coefficients)
    if isinstance(expr, sp.Max | sp.Min):
        return _extremum(expr, known)
    if isinstance(expr, sp.Piecewise):
        return _piecewise(expr, known)
    if isinstance(expr, sp.Abs | sp.sign | sp.Heaviside):
        return _signed(expr, known)
    parts = [_compiled(a, known) for a in expr.args]
    if expr.func in _INCREASING:
        return _by_ends(_INCREASING[expr.func], parts[0])
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
        n = int(expr.exp)
        by_ends = _by_ends(lambda x: x**n, parts[0])

        def power(x: Any, found: _Branches) -> Any:
            value = parts[0](x, found)
            return by_ends(x, found) if value > 0 or value < 0 else value**n

        return power
    return lambda x, found: ball.apply(expr.func, [p(x, found) for p in parts])


def _smooth(expr: sp.Expr) -> Value:
    """An expression without kinks, for points only."""
    f = ball.build(expr, z, {})
    if isinstance(f, acb):
        return lambda x, found: f.real
    return lambda x, found: f(acb(x), False).real


def _by_ends(f: Callable[[Any], Any], inner: Value) -> Value:
    """A monotone function on an interval."""

    def evaluate(x: Any, found: _Branches) -> Any:
        value = inner(x, found)
        return f(value.lower()).union(f(value.upper()))

    return evaluate


def _monomials(expr: sp.Add) -> dict[int, Any] | None:
    """Coefficients by power, as balls, of a sum of monomials; None of another sum."""
    found: dict[int, Any] = {}
    for addend in expr.args:
        factor, power = addend.as_independent(z, as_Add=False)
        base, exponent = power.as_base_exp()
        if power != 1 and (base != z or not exponent.is_Integer or exponent < 0):
            return None
        n = 0 if power == 1 else int(exponent)
        found[n] = found.get(n, 0) + ball.constant(factor)
    return found


def _polynomial(coefficients: dict[int, Any]) -> Value:
    """By Taylor's expansion about the middle, in which powers of one variable do not compete."""
    polynomial = arb_poly([coefficients.get(n, 0) for n in range(max(coefficients) + 1)])

    def evaluate(x: Any, _: _Branches) -> Any:
        middle = x.mid()
        return polynomial(arb_poly([middle, 1]))(x - middle)

    return evaluate


def _signed(expr: sp.Expr, known: dict[sp.Basic, Value]) -> Value:
    inner, gap = _compiled(expr.args[0], known), _difference(expr.args[0], sp.S.Zero, known)

    def evaluate(x: Any, found: _Branches) -> Any:
        sign = 0 if gap is None else _sign(gap(x, found))
        found[expr] = sign
        if isinstance(expr, sp.Abs):
            return sign * inner(x, found)
        return arb(sign) if isinstance(expr, sp.sign) else arb(sign + 1) / 2

    return evaluate


def _sign(value: Any) -> int:
    if value > 0:
        return 1
    if value < 0:
        return -1
    if value.is_zero():  # of two branches that are both exactly zero, say
        return 0
    raise Undecided


def _is_zero(difference: sp.Expr) -> bool:
    return bool(sp.expand(difference) == 0) if difference.is_polynomial(z) else difference == 0


def _difference(a: sp.Expr, b: sp.Expr, known: dict[sp.Basic, Value]) -> Value | None:
    """a - b on an interval; None where it is identically zero."""
    gap = a - b
    if _is_zero(gap):
        return None
    if not gap.has(*NONSMOOTH):
        return _compiled(unwrapped(gap), known)
    first, second = _compiled(a, known), _compiled(b, known)
    return lambda x, found: first(x, found) - second(x, found)


def _extremum(expr: sp.Expr, known: dict[sp.Basic, Value]) -> Value:
    values = [_compiled(a, known) for a in expr.args]
    gaps = {
        (i, j): _difference(expr.args[j], expr.args[i], known)
        for i in range(len(values))
        for j in range(i + 1, len(values))
    }
    wanted = 1 if isinstance(expr, sp.Max) else -1

    def evaluate(x: Any, found: _Branches) -> Any:
        best = 0
        for j in range(1, len(values)):
            gap = gaps[best, j]
            if gap is not None and _sign(gap(x, found)) == wanted:
                best = j
        found[expr] = best
        return values[best](x, found)

    return evaluate


def _piecewise(expr: sp.Expr, known: dict[sp.Basic, Value]) -> Value:
    branches = [(_compiled(value, known), _decision(condition, known)) for value, condition in expr.args]

    def evaluate(x: Any, found: _Branches) -> Any:
        for i, (value, holds) in enumerate(branches):
            if holds(x, found):
                found[expr] = i
                return value(x, found)
        raise Undecided

    return evaluate


def _decision(condition: Any, known: dict[sp.Basic, Value]) -> Callable[[Any, _Branches], bool]:
    if condition in (sp.true, sp.false):
        return lambda x, found: bool(condition)
    if isinstance(condition, sp.And | sp.Or | sp.Not | sp.ITE):
        parts = [_decision(a, known) for a in condition.args]
        if isinstance(condition, sp.Not):
            return lambda x, found: not parts[0](x, found)
        if isinstance(condition, sp.ITE):
            return lambda x, found: parts[1 if parts[0](x, found) else 2](x, found)
        combine = all if isinstance(condition, sp.And) else any
        return lambda x, found: combine(p(x, found) for p in parts)
    gap = _difference(condition.lhs, condition.rhs, known)
    holding = {sp.Gt: (1,), sp.Ge: (0, 1), sp.Lt: (-1,), sp.Le: (-1, 0), sp.Eq: (0,), sp.Ne: (-1, 1)}[condition.func]
    return lambda x, found: (0 if gap is None else _sign(gap(x, found))) in holding
