"""Pieces: an expression with Max, Min, Abs, sign, Heaviside and Piecewise split into smooth parts at its kinks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bulkedge.theory.functions import catalogue
from bulkedge.theory.functions.growth import Growth, growth
from bulkedge.theory.functions.polynomial import multiplied_out
from bulkedge.theory.functions.signs import sign_of
from bulkedge.theory.functions.size import SizeError, brief, check_power, measure
from bulkedge.theory.functions.zeros import long_power, real_zeros
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

_MAX_ADDENDS = 250  # up to which a product of sums is multiplied out
_INTEGRABLE = Fraction(1, 2)  # exp(c2 z^2) phi(z) is integrable iff c2 is below
NONSMOOTH = (sp.Max, sp.Min, sp.Abs, sp.sign, sp.Heaviside, sp.Piecewise)


@dataclass(frozen=True)
class Piece:
    """A smooth expression in z on the open interval (lower, upper); an end may be -oo or oo."""

    lower: sp.Expr
    upper: sp.Expr
    expr: sp.Expr

    @property
    def growth(self) -> Growth:
        """The certified growth of the expression on the interval (integrable against the Gaussian)."""
        return _growth(self.expr, self.lower, self.upper, _INTEGRABLE)


@functools.lru_cache(maxsize=4096)
def _growth(expr: sp.Expr, lower: sp.Expr, upper: sp.Expr, limit: Fraction) -> Growth:
    return growth(expr, lower, upper, limit=limit)


def tidy(expr: sp.Expr) -> sp.Expr:
    """One normal form for the spellings of an expression: products of sums multiplied out, nothing else rewritten.

    Powers in a denominator stay: multiplied out, (tanh(u)^2 - 2 tanh(u) + 5)^4 would no longer be seen to be positive.
    """
    if expr.is_polynomial(z):
        return multiplied_out(expr)
    try:
        if measure(expr).terms > _MAX_ADDENDS or any(long_power(p) for p in expr.atoms(sp.Pow)):
            return expr  # multiplied out it would cancel, and be slow
    except SizeError:
        return expr
    powers = [p for p in expr.atoms(sp.Pow) if p.base.is_Add and p.exp.is_Rational]
    below = [p for p in powers if p.exp.is_Integer and p.exp.is_negative]
    names = {base: sp.Dummy("r", real=True) for base in {p.base for p in below}}
    kept = {p: names[p.base] ** -p.exp for p in below}
    # (z - b)^(3/2) is no product (z - b) sqrt(z - b), whose derivative would seem to have a pole.
    roots = [p for p in powers if not p.exp.is_Integer]
    bases = {base: sp.Dummy("b", positive=True) for base in {p.base for p in roots}}
    # A positive dummy keeps SymPy from splitting the root into branches; it goes back in before anyone sees it.
    kept |= {p: bases[p.base] ** p.exp for p in roots}
    out = sp.expand(
        expr.xreplace(kept), power_exp=False, power_base=False, log=False, basic=False, multinomial=True, mul=True
    )
    out = out.xreplace({name: base for base, name in bases.items()})
    return _joined(out.xreplace({name: 1 / base for base, name in names.items()}))


def _joined(expr: sp.Expr) -> sp.Expr:
    """(-z)^a z^n as (-1)^n (-z)^(a + n), for which SymPy's derivative of a power on the left has a pole in n."""
    if not any(p.base == -z and not p.exp.is_Integer for p in expr.atoms(sp.Pow)):
        return expr
    addends = []
    for addend in sp.Add.make_args(expr):
        powers = addend.as_powers_dict()
        left = [(e, b) for b, e in powers.items() if b == -z and not e.is_Integer]
        n = powers.get(z, sp.S.Zero)
        if left and n.is_Integer and n != 0:
            ((e, _),) = left
            addend = addend / (z**n * (-z) ** e) * (-1) ** n * (-z) ** (e + n)
        addends.append(addend)
    return sp.Add(*addends)


def vanishes(expr: sp.Expr) -> bool:
    """Whether a smooth expression in z is shown to be identically zero."""
    normal = tidy(expr)
    if normal == 0:
        return True
    # A polynomial in normal form is zero or it is not; nothing else is needed.
    if normal.is_polynomial(z):
        return False
    if normal.free_symbols - {z}:
        return bool(sp.simplify(normal) == 0)
    # A rigorous witness of a non-zero value settles most cases before simplification is tried.
    for point in (sp.Rational(3, 7), sp.Rational(-11, 5)):
        with ball.precision(120):
            try:
                value = ball.constant(normal, {z: point})
            except InputError:
                continue
            if value.is_finite() and not value.contains(0):
                return False
    return bool(sp.simplify(normal.rewrite(sp.exp)) == 0)


def interior(lower: sp.Expr, upper: sp.Expr) -> sp.Rational:
    """A rational point strictly between two ends."""
    if lower is sp.S.NegativeInfinity and upper is sp.S.Infinity:
        return sp.Rational(1, 3)
    if lower is sp.S.NegativeInfinity:
        # Far from the end, so that a rounding of the end cannot matter.
        return sp.floor(upper) - 1
    if upper is sp.S.Infinity:
        return sp.ceiling(lower) + 1
    # Irrational ends: a rational near the middle, shown to lie between them in ball arithmetic.
    middle = (lower + upper) / 2
    if middle.is_Rational:
        return middle
    for digits in (15, 60, 240):
        point = sp.Rational(str(sp.N(middle, digits)))
        if ball.sign(point - lower) > 0 and ball.sign(upper - point) > 0:
            return point
    raise InputError("FUNCTION", f"the break points {lower} and {upper} are too close", "move them apart")


def split(expr: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str) -> list[Piece]:
    """Resolve Max, Min, Abs, sign, Heaviside and Piecewise into smooth pieces, innermost first."""
    atoms = _innermost(expr)
    if not atoms:
        return [Piece(lower, upper, tidy(expr))]
    # Zeros of the switching expressions cut the line; on each part the atom is one of its branches.
    points = [p for g in switches(atoms[0]) for p in real_zeros(g, lower, upper, argument)]
    inside = sorted_distinct([p for p in points if between(p, lower, upper)])
    pieces: list[Piece] = []
    for a, b in zip([lower, *inside], [*inside, upper], strict=True):
        # Between two zeros a continuous switch keeps its sign, so that one interior point decides the branch.
        point = interior(a, b)

        def sign(g: sp.Expr, point: sp.Rational = point) -> int:
            return ball.sign(g.subs(z, point))

        values: dict[sp.Basic, sp.Basic] = {atom: choose(atom, sign, argument, f"at z = {point}") for atom in atoms}
        try:
            chosen = _substituted(expr, dict(values))
        except (SizeError, ValueError, TypeError, ArithmeticError) as error:
            if isinstance(error, InputError):
                raise
            problem = str(error) if isinstance(error, SizeError) else "it is not real and finite"
            raise InputError(
                argument,
                f"{brief(expr)} where its argument is {brief(values[atoms[0]])}: {problem}",
                "use a tamer function",
            ) from None
        pieces.extend(split(chosen, a, b, argument))
    return pieces


def _substituted(expr: sp.Basic, known: dict[sp.Basic, sp.Basic]) -> Any:
    """The expression with the atom's branch in its place; powers that would be too large are refused, not computed."""
    if expr not in known:
        arguments = [_substituted(a, known) for a in expr.args]
        if all(new is old for new, old in zip(arguments, expr.args, strict=True)):
            known[expr] = expr
        else:
            if isinstance(expr, sp.Pow):
                check_power(*arguments)
            build = {sp.Max: catalogue.maximum, sp.Min: catalogue.minimum, sp.Abs: catalogue.absolute}
            known[expr] = build.get(expr.func, expr.func)(*arguments)
    return known[expr]


def _innermost(expr: sp.Expr) -> list[sp.Expr]:
    """The first innermost atom, and the others that switch where it does (powers of a Piecewise become many)."""
    if not expr.has(*NONSMOOTH):
        return []
    found = [
        node
        for node in _nodes(expr, set())
        if isinstance(node, NONSMOOTH) and not any(a.has(*NONSMOOTH) for a in _parts(node))
    ]
    first = switches(found[0])
    return [node for node in found if switches(node) == first]


def _nodes(expr: sp.Basic, seen: set[sp.Basic]) -> Iterator[sp.Basic]:
    """The expression and all that it contains, each once, from the outside."""
    if expr not in seen:
        seen.add(expr)
        yield expr
        for argument in expr.args:
            yield from _nodes(argument, seen)


def _parts(atom: sp.Expr) -> list[sp.Basic]:
    if isinstance(atom, sp.Piecewise):
        return [part for pair in atom.args for part in pair]
    return list(atom.args)


def switches(atom: sp.Expr) -> list[sp.Expr]:
    """The expressions whose sign changes switch the atom from one branch to another."""
    if isinstance(atom, sp.Max | sp.Min):
        return [a - b for i, a in enumerate(atom.args) for b in atom.args[i + 1 :]]
    if isinstance(atom, sp.Piecewise):
        relations = set().union(*(c.atoms(sp.core.relational.Relational) for _, c in atom.args))
        return [r.lhs - r.rhs for r in sorted(relations, key=str)]
    return [atom.args[0]]


def choose(atom: sp.Expr, sign: Callable[[sp.Expr], int], argument: str, where: str) -> sp.Expr:
    """The branch of the atom that holds where its switches have the signs that `sign` says.

    Errors: InputError, naming `where`, for a Piecewise without a branch there.
    """
    if isinstance(atom, sp.Max | sp.Min):
        best = atom.args[0]
        for other in atom.args[1:]:
            if sign(other - best) == (1 if isinstance(atom, sp.Max) else -1):
                best = other
        return best
    if isinstance(atom, sp.Piecewise):
        for value, condition in atom.args:
            if _holds(condition, sign):
                return value
        raise InputError(argument, f"no branch of the Piecewise holds {where}", "end it with (value, True)")
    inner = atom.args[0]
    s = sign(inner)
    if isinstance(atom, sp.Abs):
        return s * inner
    if isinstance(atom, sp.sign):
        return sp.Integer(s)
    return sp.Rational(s + 1, 2)


def _holds(condition: Any, sign: Callable[[sp.Expr], int]) -> bool:
    if condition in (sp.true, sp.false):
        return bool(condition)
    if isinstance(condition, sp.And):
        return all(_holds(a, sign) for a in condition.args)
    if isinstance(condition, sp.Or):
        return any(_holds(a, sign) for a in condition.args)
    if isinstance(condition, sp.Not):
        return not _holds(condition.args[0], sign)
    if isinstance(condition, sp.ITE):  # what SymPy makes of a comparison with a Piecewise
        return _holds(condition.args[1 if _holds(condition.args[0], sign) else 2], sign)
    s = sign(condition.lhs - condition.rhs)
    return {
        sp.Gt: s > 0,
        sp.Ge: s >= 0,
        sp.Lt: s < 0,
        sp.Le: s <= 0,
        sp.Eq: s == 0,
        sp.Ne: s != 0,
    }[condition.func]


def between(point: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str = "FUNCTION") -> bool:
    """Whether a point lies strictly inside an interval, decided by balls or the symbols' assumptions."""
    above = lower is sp.S.NegativeInfinity or sign_of(point - lower, argument) > 0
    return above and (upper is sp.S.Infinity or sign_of(upper - point, argument) > 0)


def sorted_distinct(points: list[sp.Expr], argument: str = "FUNCTION") -> list[sp.Expr]:
    """Points in increasing order, equal ones once; decided by balls or the symbols' assumptions, not by floats."""

    def order(a: sp.Expr, b: sp.Expr) -> int:
        try:
            return sign_of(a - b, argument)
        except PrecisionError:
            raise InputError(
                argument, f"the break points {brief(a)} and {brief(b)} cannot be told apart", "write them in one way"
            ) from None

    ordered = sorted(points, key=functools.cmp_to_key(order))
    distinct: list[sp.Expr] = []
    for p in ordered:
        if not distinct or sign_of(p - distinct[-1], argument) != 0:
            distinct.append(p)
    return distinct


def merged(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Neighbours that carry the same expression become one piece: such a break is no kink."""
    result: list[Piece] = []
    for piece in pieces:
        if result and vanishes(result[-1].expr - piece.expr):
            result[-1] = replace(result[-1], upper=piece.upper)
        else:
            result.append(piece)
    return tuple(result)
