"""Nonlinearity: a function of one Gaussian variable, piecewise smooth, with its kinks and jumps kept.

Activation and link are the same type; the name of the argument says the role. A Nonlinearity is an element of
L2(Gauss): membership is shown when it is made (theory.functions.growth), not assumed. Its derivatives are
distributions: a jump at b leaves a delta there, so that E[sigma''] of ReLU is phi(0) and not 0 (field trap: SymPy's
derivative of a Piecewise loses it).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from numbers import Real

import sympy as sp

from bulkedge.theory.functions import guard, parse
from bulkedge.theory.functions.growth import SQUARE_INTEGRABLE, growth
from bulkedge.theory.functions.pieces import Piece, interior, merged, sorted_distinct, split, tidy, vanishes
from bulkedge.theory.functions.signs import sign_of
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

__all__ = [
    "Delta",
    "Nonlinearity",
    "Piece",
    "combine",
    "exact_numbers",
    "from_expr",
    "jump",
    "nonlinearity",
    "product",
    "value_at",
]


@dataclass(frozen=True)
class Delta:
    """weight * (d/dz)^order delta(z - at)."""

    at: sp.Expr
    order: int
    weight: sp.Expr


@dataclass(frozen=True)
class Nonlinearity:
    """f(z): smooth pieces between kinks, plus deltas where it is the derivative of something with a kink or jump."""

    name: str
    pieces: tuple[Piece, ...]
    deltas: tuple[Delta, ...] = ()

    @property
    def kinks(self) -> tuple[sp.Expr, ...]:
        """Where one smooth expression ends and the next begins."""
        return tuple(piece.upper for piece in self.pieces[:-1])

    @property
    def expr(self) -> sp.Expr:
        """The function as one SymPy expression in z (deltas included)."""
        body = self.pieces[0].expr if len(self.pieces) == 1 else _pretty(self.pieces)
        return body + sp.Add(*(d.weight * sp.DiracDelta(z - d.at, d.order) for d in self.deltas))

    @property
    def is_zero(self) -> bool:
        """Whether f vanishes almost everywhere and has no delta."""
        return not self.deltas and all(piece.expr == 0 for piece in self.pieces)

    @property
    def degree(self) -> int | None:
        """The degree if f is a polynomial (0 for the zero function), else None."""
        if self.deltas or len(self.pieces) > 1 or not self.pieces[0].expr.is_polynomial(z):
            return None
        return int(max(sp.degree(self.pieces[0].expr, z), 0)) if self.pieces[0].expr.has(z) else 0

    @functools.cached_property
    def parity(self) -> int:
        """+1 if f is shown to be even, -1 if odd, 0 otherwise (the zero function counts as even)."""
        for sign in (1, -1):
            if self._has_parity(sign):
                return sign
        return 0

    def _has_parity(self, sign: int) -> bool:
        count = len(self.pieces)
        for i in range((count + 1) // 2):
            left, right = self.pieces[i], self.pieces[count - 1 - i]
            if not all(_mirrored(*ends) for ends in ((left.lower, right.upper), (left.upper, right.lower))):
                return False
            if not vanishes(left.expr - sign * right.expr.subs(z, -z)):
                return False
        return all(any(_mirrored_deltas(d, other, sign) for other in self.deltas) for d in self.deltas)

    @functools.cached_property
    def homogeneity(self) -> int | None:
        """p if f(tz) = t^p f(z) for all t > 0 (ReLU: 1, step: 0, |z|^3: 3), else None."""
        if self.deltas or not all(k == 0 for k in self.kinks) or self.is_zero:
            return None
        degrees: set[int] = set()
        for piece in self.pieces:
            if piece.expr == 0:
                continue
            if not piece.expr.is_polynomial(z):
                return None
            terms = sp.Poly(piece.expr, z).monoms()
            degrees.update(m[0] for m in terms)
        return degrees.pop() if len(degrees) == 1 else None

    def derivative(self, order: int = 1) -> Nonlinearity:
        """The distributional derivative of the given order; jumps become deltas."""
        f = self
        for _ in range(order):
            f = _differentiate(f)
        return f

    def __call__(self, argument: sp.Expr) -> sp.Expr:
        """The SymPy expression f(argument)."""
        return self.expr.subs(z, argument)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {sp.latex(self.expr)}$"


def nonlinearity(spec: str | sp.Expr | Nonlinearity, argument: str = "FUNCTION") -> Nonlinearity:
    """Make a Nonlinearity from a catalogue name, a string expression in z, a SymPy expression, or itself.

    Valid for: real functions whose square is shown to be integrable against the Gaussian.
    Errors: InputError, naming `argument`, for what cannot be parsed or whose membership in L2 cannot be shown.
    """
    if isinstance(spec, Nonlinearity):
        return spec
    if isinstance(spec, str):
        return _from_text(spec.strip(), argument)
    if isinstance(spec, Real) and not isinstance(spec, bool | sp.Basic):  # NumPy's numbers too
        spec = parse.number(spec, argument)
    if isinstance(spec, sp.Expr):
        expr = spec
        return from_expr(_with_our_symbol(exact_numbers(expr), argument), sp.sstr(expr), argument)
    raise InputError(argument, f"{type(spec).__name__} is not a function", "give a name, an expression in z or SymPy")


@functools.lru_cache(maxsize=512)
def _from_text(text: str, argument: str) -> Nonlinearity:
    return from_expr(parse.expression(text, argument), text, argument)


@functools.lru_cache(maxsize=512)
def from_expr(expr: sp.Expr, name: str, argument: str = "FUNCTION") -> Nonlinearity:
    """Split an expression in theory.numbers.symbols.z at its kinks and certify each piece."""
    if expr.has(sp.I):
        raise InputError(argument, "the function is not real", "leave imaginary parts out")
    try:
        return _certified(expr, name, argument)
    except OverflowError:
        raise InputError(argument, "a constant in it is too large to be computed with", "use smaller numbers") from None


def _certified(expr: sp.Expr, name: str, argument: str) -> Nonlinearity:
    pieces = split(expr, sp.S.NegativeInfinity, sp.S.Infinity, argument)
    for piece in pieces:  # before they are compared, which takes long where nothing can be evaluated
        _certify(piece, argument)
    joined = merged(pieces)
    for piece in joined:
        if piece not in pieces:
            _certify(piece, argument)
    guard.check(expr, pieces, joined, argument)
    return Nonlinearity(name, joined)


def _with_our_symbol(expr: sp.Expr, argument: str) -> sp.Expr:
    others = expr.free_symbols - {z}
    if len(others) == 1 and z not in expr.free_symbols:
        return expr.subs(others.pop(), z)  # a one-variable expression in a symbol of the user's own
    if others:
        names = ", ".join(sorted(str(s) for s in expr.free_symbols))
        raise InputError(
            argument, f"the symbols {names} appear", "give a function of one variable with exact parameters"
        )
    return expr


def exact_numbers(expr: sp.Expr) -> sp.Expr:
    """Floats replaced by the rational of the decimal they print as (0.8 -> 4/5)."""
    floats = expr.atoms(sp.Float)
    return expr.xreplace({f: sp.Rational(str(f)) for f in floats}) if floats else expr


def _certify(piece: Piece, argument: str) -> None:
    growth(piece.expr, piece.lower, piece.upper, limit=SQUARE_INTEGRABLE, argument=argument)


def value_at(expr: sp.Expr, point: sp.Expr) -> sp.Expr:
    """A smooth expression at a point, exactly."""
    return sp.expand(expr.subs(z, point))


def jump(f: Nonlinearity, at: sp.Expr, order: int = 0) -> sp.Expr:
    """The jump f^(order)(at+) - f^(order)(at-) of the piecewise derivative."""
    for left, right in zip(f.pieces, f.pieces[1:], strict=False):
        if left.upper == at:
            gap = value_at(sp.diff(right.expr, z, order) if order else right.expr, at) - value_at(
                sp.diff(left.expr, z, order) if order else left.expr, at
            )
            if not gap.is_finite:
                raise InputError(
                    "function", f"{f.name} is not finite at {at}: its derivative is no function", "take a lower order"
                )
            if gap.free_symbols:
                return sp.factor_terms(gap)
            return sp.S.Zero if ball.sign(gap) == 0 else gap
    return sp.S.Zero


def _mirrored(x: sp.Expr, y: sp.Expr) -> bool:
    """Whether x = -y, infinities included."""
    if x.is_infinite or y.is_infinite:
        return bool(x == -y)
    return bool(tidy(x + y) == 0)


def _mirrored_deltas(one: Delta, other: Delta, sign: int) -> bool:
    """Whether delta_b^(j) turned by z -> -z, which is (-1)^j delta_(-b)^(j), times `sign` is the other."""
    if one.order != other.order or not _mirrored(one.at, other.at):
        return False
    return bool(tidy(other.weight - sign * (-1) ** one.order * one.weight) == 0)


def _differentiate(f: Nonlinearity) -> Nonlinearity:
    deltas = [Delta(d.at, d.order + 1, d.weight) for d in f.deltas]
    for kink in f.kinks:
        weight = jump(f, kink)
        if weight != 0:
            deltas.append(Delta(kink, 0, weight))
    pieces = merged([Piece(p.lower, p.upper, tidy(sp.diff(p.expr, z))) for p in f.pieces])
    return Nonlinearity(f"d/dz {f.name}", pieces, tuple(deltas))


def combine(terms: tuple[tuple[sp.Expr, Nonlinearity], ...], name: str) -> Nonlinearity:
    """The finite sum of weight * f over the terms."""
    cuts = sorted_distinct([k for _, f in terms for k in f.kinks])
    pieces = [
        Piece(a, b, tidy(sp.Add(*(w * _on(f, a, b) for w, f in terms))))
        for a, b in zip([sp.S.NegativeInfinity, *cuts], [*cuts, sp.S.Infinity], strict=True)
    ]
    deltas = tuple(Delta(d.at, d.order, w * d.weight) for w, f in terms for d in f.deltas)
    return Nonlinearity(name, merged(pieces), deltas)


def product(f: Nonlinearity, g: Nonlinearity) -> Nonlinearity:
    """The product f g (no deltas: the product of a delta with a jump has no meaning).

    The product need only be integrable: two functions of L2 always are, by Cauchy and Schwarz.
    """
    if f.deltas or g.deltas:
        raise InputError("function", "a product with a delta is not defined", "integrate by parts first")
    cuts = sorted_distinct([*f.kinks, *g.kinks])
    pieces = [
        Piece(a, b, tidy(_on(f, a, b) * _on(g, a, b)))
        for a, b in zip([sp.S.NegativeInfinity, *cuts], [*cuts, sp.S.Infinity], strict=True)
    ]
    return Nonlinearity(f"({f.name})*({g.name})", merged(pieces))


def _on(f: Nonlinearity, lower: sp.Expr, upper: sp.Expr) -> sp.Expr:
    if any(end.free_symbols for end in (lower, upper, *f.kinks)):
        if upper.is_infinite:
            return f.pieces[-1].expr
        return next(p.expr for p in f.pieces if p.upper.is_infinite or sign_of(p.upper - upper) >= 0)
    point = interior(lower, upper)
    for piece in f.pieces:
        if piece.upper is sp.S.Infinity or ball.sign(piece.upper - point) > 0:
            return piece.expr
    raise AssertionError("the pieces cover the line")


def _pretty(pieces: tuple[Piece, ...]) -> sp.Expr:
    """One expression for a piecewise function: x Heaviside for one kink at which it is short, else a Piecewise."""
    if len(pieces) == 2:
        left, right, b = pieces[0].expr, pieces[1].expr, pieces[0].upper
        if left == 0 and tidy(right - (z - b)) == 0:
            return sp.Max(z - b, 0)
        if tidy(left + right) == 0 and tidy(right - (z - b)) == 0:
            return sp.Abs(z - b)
        if left == 0 and right == 1:
            return sp.Heaviside(z - b)
        if left == -1 and right == 1:
            return sp.sign(z - b)
    return sp.Piecewise(*((p.expr, z < p.upper) for p in pieces[:-1]), (pieces[-1].expr, True))
