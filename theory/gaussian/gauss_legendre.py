"""E[f He_k] for k = 0..K at once: one Gauss-Legendre rule in balls, its error bounded for every degree together.

On a panel of half-width w the rule of n nodes is off by at most (64/15) w M rho^(2-2n)/(1 - rho^-2) for an integrand
that is analytic and at most M in modulus on the ellipse whose foci are the panel's ends, of semi-axes
w (rho +- 1/rho)/2. With |He_j(x)| <= sqrt(j!) e^(x^2/4) (Cramer), Taylor's formula gives for every k at once

    |He_k(x + iy)| <= sqrt(k!) e^(x^2/4 + sqrt(k) |y|),

so that M comes from a ball that holds f on the ellipse. The nodes' values of f are shared by all degrees, and He_k by
its three-term recurrence costs a few products a node and degree, where an integral for each degree costs a thousand.

Source: H2; Trefethen 2008 (the rule's error).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from bulkedge.theory.functions.pieces import Piece
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.symbols import z

_ELLIPSES = (1.6, 2.0, 2.7, 3.6, 5.0, 8.0, 14.0)  # rho, all tried
MAX_PANELS = 600
_STEEPEST = Fraction(1, 5)  # of the growth e^(c2 z^2): beyond, Cramer's bound leaves too little of the weight


@dataclass(frozen=True)
class Panel:
    """A piece of the line, the number of nodes that it needs, and the function there."""

    middle: Any
    half: Any
    nodes: int
    values: Any


class UnresolvedError(Exception):
    """The rule would need too many panels: another route has to be taken."""


def working_bits(degree: int, log_tolerance: float) -> int:
    """The precision at which `moments` is to be called, and works: radii grow as e^(k/2) in the recurrence at most."""
    return int(1.45 * -log_tolerance + 0.75 * degree) + 64


def moments(pieces: tuple[Piece, ...], parity: int, degree: int, log_tolerance: float) -> list[Any]:
    """E[f He_k], k = 0..degree, of a function given by its pieces, at `working_bits` of precision.

    The error aims at e^log_tolerance sqrt(k!). A function with a parity (+1 or -1) is integrated over z > 0 only, and
    its other degrees are exact zeros.
    Errors: UnresolvedError where a piece grows too fast or takes too many panels.
    """
    with ball.precision(working_bits(degree, log_tolerance)):
        return _moments(pieces, parity, degree, log_tolerance)


def _moments(pieces: tuple[Piece, ...], parity: int, degree: int, log_tolerance: float) -> list[Any]:
    bits, log_share = working_bits(degree, log_tolerance), log_tolerance - math.log(4 * len(pieces) + 4)
    sums, missing = [arb(0)] * (degree + 1), arb(0)
    root, log_norm = arb(degree).sqrt(), (2 * arb.pi()).log() / 2

    def others(real: Any, high: Any) -> Any:  # |He_k| phi/sqrt(k!)
        nearest = real.abs_lower()
        return high * high / 2 - nearest * nearest / 4 + root * high - log_norm

    for piece in pieces:
        if piece.expr == 0 or (parity and not piece.upper.is_infinite and ball.sign(piece.upper) <= 0):
            continue
        lower, upper, beyond = _ends(piece, degree, log_share, bool(parity))
        missing += beyond + arb(log_share).exp()
        for panel in panels(ball.build(piece.expr, z, {}), lower, upper, others, log_share):
            _add(sums, panel, parity, bits)
    scale, found = arb(1), []
    for k, value in enumerate(sums):
        if parity and (parity == 1) == (k % 2 == 1):
            found.append(arb(0))
        else:
            whole = value + (scale * missing) * arb(0, 1)
            found.append(2 * whole if parity else whole)
        scale *= arb(k + 1).sqrt()
    return found


def _ends(piece: Piece, degree: int, log_share: float, half: bool) -> tuple[Any, Any, Any]:
    """Where the piece is cut off, and a bound of what lies beyond, over sqrt(k!)."""
    beyond = arb(0)
    lower = arb(0) if half and (piece.lower.is_infinite or ball.sign(piece.lower) < 0) else None
    if lower is None and not piece.lower.is_infinite:
        lower = ball.constant(piece.lower)
    upper = None if piece.upper.is_infinite else ball.constant(piece.upper)
    start = max(float(abs(x).upper()) for x in (lower, upper, arb(0)) if x is not None)
    if lower is None or upper is None:
        radius, tail = _cut(piece, degree, log_share, start)
        if lower is None:
            lower, beyond = -arb(radius), beyond + tail
        if upper is None:
            upper, beyond = arb(radius), beyond + tail
    return lower, upper, beyond


def _cut(piece: Piece, degree: int, log_share: float, start: float) -> tuple[float, Any]:
    """A radius beyond `start`, and a bound of the integral of |f He_k| phi/sqrt(k!) beyond it, for k <= degree.

    The integrand is at most e^h/sqrt(2 pi), h(x) = c0 + c1 x - (1/4 - c2) x^2 by Cramer's bound; h is concave, so that
    the integral is at most e^h(R)/|h'(R)|. Where x >= 2 sqrt(degree), |He_k(x)| <= x^k as well: all zeros lie below.
    """
    g = piece.growth
    if g.c2 > _STEEPEST:
        raise UnresolvedError
    c0, c1, c2 = ball.rational(g.c0), ball.rational(g.c1), ball.rational(g.c2)

    def bound(radius: float) -> Any:
        r = arb(radius)
        bounds = []
        a = arb(1) / 4 - c2
        slope = 2 * a * r - c1
        if slope > 0:
            bounds.append((c0 + c1 * r - a * r * r).exp() / slope)
        a, slope = arb(1) / 2 - c2, 2 * (arb(1) / 2 - c2) * r - c1 - degree / r
        if radius >= 2 * math.sqrt(degree) + 1 and slope > 0:
            # x^k/sqrt(k!) grows with k up to k = x^2 > degree.
            log_power = degree * r.log() - arb(degree + 1).lgamma() / 2
            bounds.append((c0 + c1 * r - a * r * r + log_power).exp() / slope)
        if not bounds:
            return arb("inf")
        best = bounds[0] if len(bounds) == 1 else bounds[0].min(bounds[1])
        return (best / (2 * arb.pi()).sqrt()).upper()

    radius = math.ceil(4 * start + 4) / 4
    target = arb(log_share).exp()
    while not bound(radius) < target:
        radius += max(0.5, math.floor(radius / 8) / 4)
    return radius, bound(radius)


def panels(f: Any, lower: Any, upper: Any, others: Callable[[Any, Any], Any], log_share: float) -> Iterator[Panel]:
    """Panels from left to right, halved until a ball holds the function on an ellipse that is wide enough.

    The integrand is f (a Function of theory.numbers.ball, or a constant) times something that is analytic everywhere,
    and whose modulus has a logarithm of at most others(x, y) on the real parts of the ball x and imaginary parts within
    +-y. Each panel's error is then at most e^log_share/MAX_PANELS.
    """
    # rho = e takes the fewest nodes beside a pole, but long rules, and a rule costs the square of its length: rho = 5.
    most = 24 + 2 * math.ceil(-log_share / (4 * math.log(5)))
    waiting, made = [(lower, upper)], 0
    while waiting:
        a, b = waiting.pop()
        middle, half = (a + b) / 2, (b - a) / 2
        count = min(_needed(f, middle, half, rho, others, log_share) for rho in _ELLIPSES)
        if count <= most:
            yield Panel(middle, half, min(1 << max(3, math.ceil(math.log2(count))), most), f)  # few different rules
            made += 1
        else:
            cut = arb(middle.mid())
            waiting += [(cut, b), (a, cut)]
        if made + len(waiting) > MAX_PANELS:
            raise UnresolvedError


def _needed(f: Any, middle: Any, half: Any, rho: float, others: Callable[[Any, Any], Any], log_share: float) -> float:
    """How many nodes the bound asks for on this ellipse; infinite where the ball does not hold the function."""
    wide, high = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
    real = middle + wide * arb(0, 1)
    size = abs(f if isinstance(f, acb) else f(acb(real, high * arb(0, 1)), True)).upper()
    if not size.is_finite():
        return math.inf
    front = size * 64 / 15 * half * MAX_PANELS / (1 - arb(rho) ** -2)
    log_front = front.log().upper() if front > 0 else arb(log_share)
    log_bound = log_front + others(real, high.upper())
    if not log_bound.is_finite():
        return math.inf
    return max(1.0, (float(log_bound.upper()) - log_share) / (2 * math.log(rho)) + 1.5)


def nodes(panel: Panel, bits: int) -> Iterator[tuple[Any, Any]]:
    """The panel's nodes x, and their weights times f(x), at a precision that the caller has set to so many bits."""
    f = panel.values
    for node, weight in _rule(panel.nodes, bits):
        for t in (node, -node):
            x = panel.middle + panel.half * t
            yield x, weight * panel.half * (f.real if isinstance(f, acb) else f(acb(x), False).real)


@functools.lru_cache(maxsize=16)
def _rule(nodes: int, prec: int) -> tuple[tuple[Any, Any], ...]:
    """The positive nodes and the weights of the rule, nodes even, at a precision that the caller has set."""
    return tuple(arb.legendre_p_root(nodes, i, weight=True) for i in range(nodes // 2))


def _add(sums: list[Any], panel: Panel, parity: int, bits: int) -> None:
    """Add the panel's part of every moment."""
    root, degree = (2 * arb.pi()).sqrt(), len(sums) - 1
    for x, value in nodes(panel, bits):
        current, previous = value * (-x * x / 2).exp() / root, arb(0)
        if parity:
            _add_every_other(sums, x, current, degree, parity)
            continue
        for k in range(degree + 1):
            sums[k] += current
            current, previous = x * current - k * previous, current


def _add_every_other(sums: list[Any], x: Any, start: Any, degree: int, parity: int) -> None:
    # He_{k+2} = (x^2 - 2k - 1) He_k - k (k-1) He_{k-2}
    square, previous = x * x, arb(0)
    first = 0 if parity == 1 else 1
    current = start * x if first else start
    for k in range(first, degree + 1, 2):
        sums[k] += current
        current, previous = (square - (2 * k + 1)) * current - k * (k - 1) * previous, current
