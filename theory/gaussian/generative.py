"""The generative exponent of a link: the smallest k for which some function of the label correlates with He_k (T3).

That is the smallest k with E[He_k(z) | y] not zero; noise in the label does not change it. A single witness T with
E[He_k(z) T(y)] != 0 gives an upper bound: powers of y, and the indicators 1{y > c}, which span all bounded T. Below,
E[He_k | y] = 0 is shown exactly for

- odd k and an even link;
- k = 2 and a link that depends on z through z exp(-z^2/2) alone on either side of 0: with u = z phi(z),
  E[He_2 T(g)] = -int T(g) du, and u comes back to 0 (so z^2 exp(-z^2) has the exponent 4);
- a link with finitely many values, whose indicators are all tried.

A polynomial that is not even has the exponent 1: {g > c} for large c is a half-line, or two of unequal ends, and
E[z 1{z > a}] = phi(a).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import acb, arb

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.moments import enclosed_mean, exact_mean, power, product_parity
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

_HIGHEST = 4  # orders k looked at
POWERS = 6  # powers of the label tried
REACH, CELLS, _DEPTH = 8, 64, 18  # |z| <= REACH in CELLS cells, halved DEPTH times where the level is crossed
_LEVELS = 12


@dataclass(frozen=True)
class Generative:
    """A generative exponent; He_k correlates with `witness`, a function of y. `shown` says that no smaller k can."""

    exponent: int
    witness: str
    shown: bool


def generative_exponent(g: Nonlinearity) -> Generative | None:
    """The smallest k <= 4 with a witness, and whether every smaller k is excluded (see the module's text).

    None: no witness, or a constant link.
    Accuracy: rigorous both ways; where a smaller k is neither reached nor excluded the result is an upper bound.
    Source: T3; the definition is that of the generative (leap) exponent literature.
    """
    if g.degree == 0:
        return None
    shown = True
    for k in range(1, _HIGHEST + 1):
        if excluded(g, k):
            continue
        witness = _power_witness(g, k) or _level_witness(g, k)
        if witness is None and k == 1 and g.degree is not None:
            witness = "1{y > c}, c large"
        if witness is not None:
            return Generative(k, witness, shown)
        shown = False
    return None


def excluded(g: Nonlinearity, k: int) -> bool:
    """Whether E[He_k(z) | g(z)] = 0 is shown."""
    if k % 2 and g.parity == 1:
        return True
    if k == 2 and _through_loop(g):
        return True
    values = _steps(g)
    return values is not None and all(_step_moment(g, k, c) == 0 for c in values[:-1])


def level_moment(g: Nonlinearity, k: int, level: Fraction) -> Enclosure:
    """E[He_k(z) 1{g(z) > level}] for k >= 1, enclosed: cells where the sign is certain, the others at full weight.

    With |He_k| phi <= sqrt(k!) .45 (Cramer's bound) an undecided cell costs at most its width times that.
    """
    with ball.precision(80):
        c, total = ball.rational(level), arb(0)
        pieces = [(p, ball.build(p.expr, z, {})) for p in g.pieces]
        weight = arb(math.factorial(k)).sqrt() * ball.rational(Fraction(45, 100))
        width = Fraction(2 * REACH, CELLS)
        cells = [(-REACH + i * width, -REACH + (i + 1) * width, 0) for i in range(CELLS)]
        while cells:
            a, b, depth = cells.pop()
            side = _side(pieces, a, b, c)
            if side > 0:
                total += _primitive(k, b) - _primitive(k, a)
            elif side == 0 and depth < _DEPTH:
                middle = (a + b) / 2
                cells += [(a, middle, depth + 1), (middle, b, depth + 1)]
            elif side == 0:
                total += arb(0, (weight * ball.rational(b - a)).upper())
        # Beyond REACH He_k has one sign, so that any part of the tail is at most the whole.
        tail = 2 * abs(_primitive(k, Fraction(REACH)))
        return ball.to_enclosure(total + arb(0, tail.upper()))


def _side(pieces: list[tuple[Any, Any]], a: Fraction, b: Fraction, c: Any) -> int:
    """1 or -1 if g > c or g < c on all of [a, b], 0 if that is not certain."""
    x = acb(ball.rational((a + b) / 2) + arb(0, ball.rational((b - a) / 2).upper()))
    signs = set()
    for piece, f in pieces:
        if (piece.upper != sp.oo and ball.constant(piece.upper) < ball.rational(a)) or (
            piece.lower != -sp.oo and ball.constant(piece.lower) > ball.rational(b)
        ):
            continue
        value = (f if isinstance(f, acb) else f(x, False)).real
        signs.add(1 if value > c else -1 if value < c else 0)
    return signs.pop() if len(signs) == 1 else 0


def _primitive(k: int, x: Fraction) -> Any:
    """-He_(k-1)(x) phi(x), whose derivative is He_k phi."""
    at = ball.rational(x)
    lower, value = arb(0), arb(1)
    for n in range(k - 1):
        lower, value = value, at * value - n * lower
    return -value * (-at * at / 2).exp() / (2 * arb.pi()).sqrt()


def _power_witness(g: Nonlinearity, k: int) -> str | None:
    for b in range(1, POWERS + 1):
        try:
            y = power(g, b)
        except InputError:
            return None
        if _hermite_moment(y, k, product_parity(g.parity, (0, b))):
            return "y" if b == 1 else f"y^{b}"
    return None


def _hermite_moment(f: Nonlinearity, k: int, parity: int) -> bool:
    """Whether E[f He_k] is shown not to vanish."""
    if enclosed_mean(f, 0, 20, parity, order=k).contains(Fraction(0)):
        return False
    exact = exact_mean(f, 0, parity, order=k)
    return exact is None or sp.simplify(exact) != 0


def _level_witness(g: Nonlinearity, k: int) -> str | None:
    for level in _levels(g):
        try:
            if not level_moment(g, k, level).contains(Fraction(0)):
                return f"1{{y > {float(level):.6g}}}"
        except (InputError, PrecisionError):
            return None
    return None


def _levels(g: Nonlinearity) -> list[Fraction]:
    """Levels between the values of g on a grid."""
    values = set()
    with ball.precision(60):
        for i in range(-7, 8):
            point = sp.Rational(2 * i + 1, 5)
            try:
                value = ball.constant(g(point))
            except InputError:
                continue
            if value.is_finite():
                values.add(ball.fraction(value.mid()))
    ordered = sorted(values)
    between = [(a + b) / 2 for a, b in itertools.pairwise(ordered) if b - a > Fraction(1, 10**9)]
    return between[:: max(1, len(between) // _LEVELS)]


def _steps(g: Nonlinearity) -> list[sp.Expr] | None:
    """The values of a link that is constant on each piece, increasing, or None."""
    if any(p.expr.has(z) for p in g.pieces):
        return None
    values: list[sp.Expr] = []
    for p in g.pieces:
        place = 0
        while place < len(values) and ball.sign(p.expr - values[place]) > 0:
            place += 1
        if place == len(values) or ball.sign(p.expr - values[place]) != 0:
            values.insert(place, p.expr)
    return values


def _step_moment(g: Nonlinearity, k: int, level: sp.Expr) -> int:
    """The sign of E[He_k 1{g > level}] for a link that is constant on each piece."""

    def primitive(x: sp.Expr) -> sp.Expr:
        return sp.S.Zero if x.is_infinite else -sp.hermite_prob(k - 1, x) * sp.exp(-(x**2) / 2)

    return ball.sign(
        sp.Add(*(primitive(p.upper) - primitive(p.lower) for p in g.pieces if ball.sign(p.expr - level) > 0))
    )


def _through_loop(g: Nonlinearity) -> bool:
    """Whether g depends on z through z exp(-z^2/2) alone, on either side of 0.

    With q = exp(-z^2/2) as a symbol: the expression does not change under z -> lambda z, q -> q/lambda.
    """
    if any(kink != 0 for kink in g.kinks):
        return False
    q, scale, x = sp.symbols("q lambda x", positive=True)

    def symbol(argument: sp.Expr) -> sp.Expr:
        rate = sp.expand(argument).coeff(z, 2)
        rest = sp.expand(argument - rate * z**2)
        return sp.exp(argument) if rest.has(z) else q ** (-2 * rate) * sp.exp(rest)

    for piece in g.pieces:
        sides = [x] if piece.lower == 0 else [-x] if piece.upper == 0 else [x, -x]
        for side in sides:
            expr = piece.expr.replace(sp.exp, symbol).subs(z, side)
            scaled = expr.subs({x: scale * x, q: q / scale}, simultaneous=True)
            if sp.simplify(sp.expand(scaled - expr)) != 0:
                return False
    return True
