"""Functions of z with parameters: split at break points that depend on them, and when they are square integrable.

What numbers decide for a function without parameters -- the order of break points, the sign of a slope, membership in
L2 -- is decided here from the symbols' assumptions. What they leave open is an error that names the assumption that
would do, or, for membership in L2, a condition that is part of the answer. Every piece is then compared with the input
at scattered admissible values of the symbols, in balls.
"""

from __future__ import annotations

import functools
import itertools

import sympy as sp

from bulkedge.theory.functions.growth import SQUARE_INTEGRABLE
from bulkedge.theory.functions.nonlinearity import Nonlinearity, from_expr
from bulkedge.theory.functions.parse import shorten
from bulkedge.theory.functions.pieces import NONSMOOTH, Piece, between, choose, sorted_distinct, switches
from bulkedge.theory.functions.signs import sign_of
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

_BOUNDED = (sp.erf, sp.erfc, sp.tanh, sp.sin, sp.cos, sp.atan)
_SQUARE = sp.Rational(SQUARE_INTEGRABLE)
_TRIALS = 6  # sets of admissible values in the guard


@functools.lru_cache(maxsize=256)
def parametric(expr: sp.Expr, name: str, argument: str = "FUNCTION") -> tuple[Nonlinearity, tuple[sp.Basic, ...]]:
    """The function split at its break points, and the conditions under which it is in L2 (none where it is shown).

    Valid for: break points where expressions affine in z change sign, with a slope of known sign; pieces that are sums
    of products of polynomials, exponentials of quadratics, and bounded functions of z.
    Errors: InputError, naming the assumption that would decide; for functions that are not in L2 or not of this kind.
    """
    pieces = _split(expr, -sp.oo, sp.oo, argument)
    joined: list[Piece] = []
    for piece in pieces:
        if joined and sp.expand(joined[-1].expr - piece.expr) == 0:
            joined[-1] = Piece(joined[-1].lower, piece.upper, piece.expr)
        else:
            joined.append(piece)
    conditions: list[sp.Basic] = []
    for piece in joined:
        if piece.lower.is_infinite or piece.upper.is_infinite:
            conditions += _conditions(piece.expr, name, argument)
        else:
            _rates(piece.expr, argument)
    f = Nonlinearity(name, tuple(joined))
    _guard(expr, f, argument)
    return f, tuple(dict.fromkeys(conditions))


def symbols_of(*functions: Nonlinearity) -> set[sp.Symbol]:
    """The parameters of functions."""
    held = [e for f in functions for e in (*f.kinks, *(p.expr for p in f.pieces), *(d.weight for d in f.deltas))]
    return set().union(*(e.free_symbols for e in held)) - {z}


def at(f: Nonlinearity, values: dict[sp.Symbol, sp.Expr]) -> Nonlinearity:
    """The function at values of its parameters: a plain nonlinearity, certified anew.

    Valid for: functions without deltas.
    """
    last = f.pieces[-1].expr.subs(values)
    if len(f.pieces) == 1:
        return from_expr(last, f.name)
    pairs = [(p.expr.subs(values), z < p.upper.subs(values)) for p in f.pieces[:-1]]
    return from_expr(sp.Piecewise(*pairs, (last, True), evaluate=False), f.name)


def moved(f: Nonlinearity, scale: sp.Expr, mean: sp.Expr) -> Nonlinearity:
    """z -> f(mean + scale z), scale and mean exact or in symbols, scale not zero.

    Errors: InputError where the assumptions do not order the break points, and where it is not in L2.
    """
    if scale == 1 and mean == 0:
        return f
    return parametric(f.expr.subs(z, mean + scale * z), f"{f.name} at mean {mean}, scale {scale}")[0]


def _split(expr: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str) -> list[Piece]:
    """As theory.functions.pieces.split, one atom at a time, decided by assumptions."""
    atom = next((a for a in sp.postorder_traversal(expr) if isinstance(a, NONSMOOTH)), None)
    if atom is None:
        return [Piece(lower, upper, sp.expand(expr, power_exp=False, power_base=False, log=False))]
    roots: list[tuple[sp.Expr, sp.Expr, int]] = []  # switch, root, sign of the slope
    constant: dict[sp.Expr, int] = {}
    for g in switches(atom):
        if not g.has(z):
            constant[g] = sign_of(g, argument)
            continue
        g_expanded = sp.expand(g)
        if not g_expanded.is_polynomial(z) or sp.degree(g_expanded, z) != 1:
            problem = f"{shorten(g)} is not affine in z, so where it changes sign is not known"
            raise InputError(argument, problem, "with symbols, break points are those of affine expressions")
        slope = g_expanded.coeff(z, 1)
        root = sp.factor_terms(sp.cancel(-g_expanded.coeff(z, 0) / slope))
        roots.append((g, root, sign_of(slope, argument)))
    points = sorted_distinct([root for _, root, _ in roots], argument)
    cuts = [p for p in points if between(p, lower, upper, argument)]
    pieces: list[Piece] = []
    for a, b in itertools.pairwise([lower, *cuts, upper]):
        signs = dict(constant)
        for g, root, slope_sign in roots:
            right = not a.is_infinite and sign_of(root - a, argument) <= 0
            signs[g] = slope_sign if right else -slope_sign

        def sign(g: sp.Expr, signs: dict[sp.Expr, int] = signs) -> int:
            return signs[g] if g in signs else -signs[-g]

        branch = choose(atom, sign, argument, "everywhere")
        pieces.extend(_split(expr.xreplace({atom: branch}), a, b, argument))
    return pieces


# -- square integrability --------------------------------------------------------------------------------------------


def _conditions(expr: sp.Expr, name: str, argument: str) -> list[sp.Basic]:
    """What has to hold of the rates of growth that the assumptions do not show."""
    found: list[sp.Basic] = []
    for rate in _rates(expr, argument):
        left = sp.expand(_SQUARE - rate)
        if left.is_positive:
            continue
        if left.is_nonpositive or not left.free_symbols:
            raise InputError(argument, f"{name} is not square integrable", f"{rate} has to be less than 1/4")
        found.append(rate < _SQUARE)
    return found


def _rates(expr: sp.Expr, argument: str) -> list[sp.Expr]:
    """Bounds c of the growth exp(c z^2) of the addends."""
    if not expr.has(z) or expr.is_polynomial(z):
        return [sp.S.Zero]
    if expr.is_Add:
        return [rate for a in expr.args for rate in _rates(a, argument)]
    if expr.is_Mul:
        sums = [sp.S.Zero]
        for factor in expr.args:
            sums = [a + b for a in sums for b in dict.fromkeys(_rates(factor, argument))]
        return sums
    if isinstance(expr, sp.exp):
        exponent = sp.expand(expr.args[0])
        if exponent.is_polynomial(z) and sp.degree(exponent, z) <= 2:
            return [exponent.coeff(z, 2)]
    elif expr.is_Pow and expr.exp.is_Integer and expr.exp.is_positive:
        return [expr.exp * rate for rate in _rates(expr.base, argument)]
    elif isinstance(expr, _BOUNDED) or _is_softplus(expr):
        return [sp.S.Zero]
    problem = f"{shorten(expr)} is of no kind whose growth is known with symbols in it"
    raise InputError(
        argument, problem, "use polynomials, exponentials, erf, tanh, sin, cos, atan, kinks; or give numbers"
    )


def _is_softplus(expr: sp.Expr) -> bool:
    """log(1 + exp(a z + b))."""
    if not isinstance(expr, sp.log):
        return False
    rest = expr.args[0] - 1
    return isinstance(rest, sp.exp) and rest.args[0].is_polynomial(z) and sp.degree(rest.args[0], z) == 1


# -- guard -----------------------------------------------------------------------------------------------------------


def admissible(symbols: set[sp.Symbol], index: int) -> dict[sp.Symbol, sp.Rational]:
    """Scattered rational values that the symbols' assumptions allow: the index-th set of a fixed sequence."""
    found = {}
    for place, symbol in enumerate(sorted(symbols, key=str), start=1):
        scattered = (index + 1) * (137 + 59 * place) % 307
        value = sp.Rational(scattered + 1, 100)
        if symbol.is_integer:
            value = sp.Integer(scattered % 6 + 1)
        if symbol.is_negative or (not symbol.is_nonnegative and (index + place) % 2):
            value = -value
        found[symbol] = value
    return found


def _guard(expr: sp.Expr, f: Nonlinearity, argument: str) -> None:
    """Compare the pieces with the input, in balls, at admissible values of the symbols, beside and between the ends.

    Errors: InputError where they differ.
    """
    symbols = expr.free_symbols - {z}
    for index in range(_TRIALS):
        values = admissible(symbols, index)
        ends = [p.upper.subs(values) for p in f.pieces[:-1]]
        points = [sp.Rational((index * 4 + i + 1) * 211 % 797 - 400, 100) for i in range(4)]
        for end in ends:
            points += [sp.Rational(str(sp.N(end, 12))) + shift for shift in (sp.Rational(-1, 97), sp.Rational(1, 89))]
        for point in points:
            try:
                place = sum(1 for end in ends if ball.sign(point - end) > 0)
                if any(point == end for end in ends):
                    continue
                with ball.precision(100):
                    shown = ball.constant(f.pieces[place].expr.subs(values).subs(z, point))
                    given = ball.constant(sp.sympify(expr.subs(values).subs(z, point), strict=True))
                    differ = not (shown - given).contains(0)
            except (PrecisionError, InputError):
                continue
            if differ:
                at = ", ".join(f"{s} = {v}" for s, v in values.items())
                raise InputError(
                    argument, f"its pieces differ from it at z = {point}, {at}", "please report this function"
                )
