"""Gaussian expectations E[f(z) He_k(z)]: exact by closed recurrences, everything else enclosed by ball arithmetic.

The closed addends of a function are taken exactly (theory.gaussian.gaussian_moments); what is left is integrated in
balls between cuts, and the tails beyond the cuts are bounded by the certified growth of the function.

Source: H1, H2.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import acb, acb_poly, arb

from bulkedge.theory.functions.growth import poles
from bulkedge.theory.functions.nonlinearity import Nonlinearity, jump, product
from bulkedge.theory.functions.pieces import Piece, interior
from bulkedge.theory.gaussian import gauss_legendre
from bulkedge.theory.gaussian.gaussian_moments import (
    closed_moments,
    expectation,
    hermite_values,
    moment,
    moments,
    rounded,
)
from bulkedge.theory.gaussian.gaussian_terms import Parts, Term, parts
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.digits import GUARD_DIGITS, check_digits
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import PrecisionError
from bulkedge.theory.numbers.symbols import z

__all__ = ["Parts", "Term", "enclose", "expectation", "hermite_values", "jump", "moment", "moments", "parts", "product"]

# A closed form that needs more bits than this cancels; up to this degree the integral takes over.
_PATIENCE = 4096
_SHORT_DEGREE = 32


def _cut(piece: Piece, k: int, log_tolerance: float, end: Any = None) -> Any:
    """A radius R beyond which the integral of |f He_k| phi on one side has a logarithm below the tolerance.

    It lies beyond the piece's other end, where there is one (given as its distance from zero on this side), so that
    no piece is left out, and at least one from it, where a pole at that end no longer counts.

    With log|f| <= c0 + c1 z + c2 z^2 and |He_k(z)| <= z^k for z >= 2 sqrt k (all zeros of He_k lie
    below 2 sqrt k, by Gershgorin on its Jacobi matrix), the integrand is at most e^h / sqrt(2 pi) with
    h(z) = c0 + c1 z - (1/2 - c2) z^2 + k log z concave, so its integral beyond R is at most e^h(R)/|h'(R)|.
    """
    g = piece.growth
    c0, c1, c2 = float(g.c0), float(g.c1), float(g.c2)
    a = 0.5 - c2

    def log_bound(r: float) -> float:
        slope = 2 * a * r - c1 - k / r
        if slope <= 0:
            return math.inf
        return c0 + c1 * r - a * r * r + k * math.log(r) - math.log(slope)

    radius = max(2 * math.sqrt(k) + 1, 1.0)
    while log_bound(radius) > log_tolerance:
        radius += max(1.0, 0.05 * radius)
    cut = arb(math.ceil(4 * radius) / 4)
    return cut if end is None or end + 1 < cut else (end.upper() + 2).mid()


def _tail(piece: Piece, k: int, r: Any) -> Any:
    """The rigorous bound behind `_cut`, in balls (upper end)."""
    g = piece.growth
    a = arb(1) / 2 - ball.rational(g.c2)
    slope = 2 * a * r - ball.rational(g.c1) - k / r
    h = ball.rational(g.c0) + ball.rational(g.c1) * r - a * r * r + k * r.log()
    return (h.exp() / (slope * (2 * arb.pi()).sqrt())).upper()


@functools.lru_cache(maxsize=256)
def _hermite_coefficients(k: int) -> tuple[int, ...]:
    """Coefficients of He_k in ascending powers, in steps of two from k mod 2."""
    coefficients = []
    for m in range(k // 2, -1, -1):
        value = math.factorial(k) // (math.factorial(m) * math.factorial(k - 2 * m) * 2**m)
        coefficients.append((-1) ** m * value)
    return tuple(coefficients)


_t = sp.Symbol("t", positive=True)


def _unfolded(expr: sp.Expr, end: sp.Expr, direction: int, order: sp.Rational) -> tuple[int, sp.Expr]:
    """(m, f(z) dz/dt) with z = end +- t^m, t > 0, so that a pole (z - end)^-order, order < 1, becomes a power >= 0."""
    m = int(sp.ceiling(1 / (1 - order)))
    moved = sp.expand(expr.subs(z, end + direction * _t**m) * m * _t ** (m - 1), power_exp=False, log=False)
    return m, sp.powdenest(moved)


def _rest_integral(rest: Nonlinearity, parity: int, k: int, log_tolerance: float) -> Any:
    """Enclosure of E[rest He_k] at the current working precision; the error aims at e^log_tolerance."""
    half = parity != 0
    polynomial = acb_poly([ball.rational(c) for c in _hermite_coefficients(k)])
    odd = k % 2
    norm = (2 * arb.pi()).sqrt()
    minus_half = acb(arb(-0.5))
    tolerance = arb(log_tolerance).exp() / (4 * len(rest.pieces))
    total = arb(0)
    for piece in rest.pieces:
        if piece.expr == 0 or (half and piece.upper != sp.oo and ball.sign(piece.upper) <= 0):
            continue
        f = ball.build(piece.expr, z, {})
        tail = arb(0)
        if half and (piece.lower == -sp.oo or ball.sign(piece.lower) < 0):
            lower = arb(0)
        elif piece.lower == -sp.oo:
            radius = _cut(piece, k, log_tolerance - 2, None if piece.upper == sp.oo else -ball.constant(piece.upper))
            tail += _tail(piece, k, radius)
            lower = -radius
        else:
            lower = ball.constant(piece.lower)
        if piece.upper == sp.oo:
            radius = _cut(piece, k, log_tolerance - 2, None if piece.lower == -sp.oo else lower)
            tail += _tail(piece, k, radius)
            upper = radius
        else:
            upper = ball.constant(piece.upper)

        def integrand(x: Any, analytic: bool, f: Any = f) -> Any:
            square = x * x
            value = polynomial(square) * (minus_half * square).exp()
            if odd:
                value *= x
            return value * (f if isinstance(f, acb) else f(x, analytic))

        # A break point that is no dyadic number is a ball; its radius is far below the tolerance.
        inner = arb(0)
        for end, (_, order) in poles(piece.expr, piece.lower, piece.upper).items():
            first = end == piece.lower
            if first and half and lower == 0 and end != 0:
                continue
            at, turned = interior(piece.lower, piece.upper), 1 if first else -1
            m, inside = _unfolded(piece.expr, end, turned, order)
            start, function = ball.constant(end), ball.build(inside, _t, {})

            def folded(
                t: Any, analytic: bool, start: Any = start, turned: int = turned, m: int = m, g: Any = function
            ) -> Any:
                x = start + turned * t**m
                square = x * x
                value = polynomial(square) * (minus_half * square).exp() * (x if odd else 1)
                return value * (g if isinstance(g, acb) else g(t, analytic))

            width = abs(ball.constant(at) - start)
            inner += ball.integrate(folded, arb(0), (width.log() / m).exp(), tolerance)
            lower, upper = (ball.constant(at), upper) if first else (lower, ball.constant(at))
        inner += ball.integrate(integrand, lower, upper, tolerance)
        total += inner / norm + arb(0, tail)
    return 2 * total if half else total


@functools.lru_cache(maxsize=4096)
def best_enclosure(f: Nonlinearity, digits: int, k: int = 0) -> Enclosure:
    """`enclose`, or the best enclosure found where the digits are not reached: its error says so.

    Errors: PrecisionError where there is no enclosure at all.
    Source: H2.
    """
    try:
        return enclose(f, digits, k)
    except PrecisionError as error:
        if error.best is None:
            raise
        return error.best


def _from_tables(f: Nonlinearity, digits: int, k: int) -> Enclosure | None:
    """The enclosure by a rule that serves many degrees, or None where that does not reach the digits.

    A function with a pole at distance a has coefficients of size e^(-a sqrt k): the second table allows for that.
    """
    size = 8 if digits > 60 and k <= 8 else next((s for s in (32, 128, 512, 1024) if k <= s), rounded(k))
    for lost in (12.0, 12.0 + 4 * math.sqrt(size), 12.0 + 8 * math.sqrt(size) + 2.3026 * digits):
        table = _table(f, digits, size, lost)
        if table is None:
            return None
        found = table[k]
        if found is not None and found.value != 0 and found.error <= abs(found.value) * Fraction(1, 10**digits):
            return found
    return None


@functools.lru_cache(maxsize=64)
def _table(f: Nonlinearity, digits: int, size: int, lost: float) -> tuple[Enclosure | None, ...] | None:
    """Enclosures of E[f He_k], k = 0..size, of error about e^-lost 10^-digits sqrt(k!); None if it cannot be."""
    split = parts(f)
    assert split.rest is not None
    log_tolerance = -digits * 2.302585093 - lost
    try:
        values = gauss_legendre.moments(split.rest.pieces, split.parity, size, log_tolerance)
    except gauss_legendre.UnresolvedError:
        return None
    with ball.precision(gauss_legendre.working_bits(size, log_tolerance)):
        closed = closed_moments(f, size)
        whole = [v if c == 0 else v + ball.constant(c) for v, c in zip(values, closed, strict=True)]
        return tuple(ball.to_enclosure(v) if ball.settled(v) else None for v in whole)


def enclose(f: Nonlinearity, digits: int, k: int = 0) -> Enclosure:
    """E[f(z) He_k(z)] with a rigorous error bound, to a relative error below 10^-digits.

    Valid for: every Nonlinearity, deltas included. Convention: `moment`.
    Accuracy: rigorous; the tails beyond the cut are bounded by the certified growth of f and added to the error.
    Errors: PrecisionError (with the best enclosure) where the value cannot be told from zero, or is not reached.
    Source: H2.
    """
    check_digits(digits, GUARD_DIGITS)
    exact = moment(f, k)
    split = parts(f)
    if exact is not None:
        try:
            return ball.enclose_expr(exact, digits, most=max(_PATIENCE, 4 * ball.bits(digits)))
        except PrecisionError:
            if f.deltas or f.is_zero or k > _SHORT_DEGREE:
                return ball.enclose_expr(exact, digits)
        # Terms of size e^(s^2) cancel, as of exponentials cut at a kink at a large scale s: the integral does not care.
        split = Parts((), f, f.parity)
    assert split.rest is not None
    # One integral is the quickest way to one coefficient of low degree and few digits.
    shared = _from_tables(f, digits, k) if exact is None and (k > 4 or digits > 60) else None
    if shared is not None:
        return shared
    closed = closed_moments(f, rounded(k))[k] if exact is None else 0
    scale = math.lgamma(k + 1) / 2  # log of sqrt(k!), the size of a moment
    best: Enclosure | None = None
    lost = 4 * 2.302585  # aim a little lower than the digits asked
    for _ in range(6):
        log_tolerance = scale - digits * 2.302585093 - lost
        prec = ball.bits(digits) + int(lost / 0.69) + 24 + 2 * k
        with ball.precision(prec):
            value = _rest_integral(split.rest, split.parity, k, log_tolerance)
            if closed != 0:
                value += ball.constant(closed)
            if not ball.settled(value):
                lost += 10
                continue
            best = ball.to_enclosure(value)
        if best.value != 0 and best.error <= abs(best.value) * Fraction(1, 10**digits):
            return best
        ratio = abs(best.value) / best.error if best.error else Fraction(0)
        lost += max(12.0, digits * 2.3026 - math.log(max(float(min(ratio, Fraction(10**300))), 1.0)) + 6)
        if lost > 6 * (digits * 2.3026 + 20) and ratio <= 1:  # told from zero, it is worth another step
            break
    if exact is not None:
        return ball.enclose_expr(exact, digits)
    raise PrecisionError(f"E[f He_{k}] could not be enclosed to {digits} significant digits (it may be zero)", best)
