"""Rigorous E[f(u) g(v)] next to rho = 1, where kinks of f and g meet: the plane in sum and difference coordinates.

With u = c a + e b, v = c a - e b, c^2 = (1 + rho)/2, e^2 = (1 - rho)/2, a and b are independent. Away from the kinks
the integrand is smooth on panels that do not shrink with e. Within L e of a kink T the two lines u = T and v = T are
the diagonals of a square in A = (c a - T)/e and b; each of its four triangles is mapped to a rectangle (b = A tau, or
A = b tau), on which the integrand is analytic again, whatever e. Every rectangle is halved until its tensor
Gauss-Legendre error bound (theory.gaussian.plane) is small.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import sympy as sp
from flint import acb, arb

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.plane import SEMI_MAJOR, SEMI_MINOR
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import PrecisionError
from bulkedge.theory.numbers.symbols import z

_RATE = 16.0  # of an N-point rule with the ellipse of parameter 4
_MAX_RECTANGLES = 3000
_PARTS = 4

_Integrand = Callable[[Any, Any, bool], Any]


def integral(f: Nonlinearity, g: Nonlinearity, correlation: sp.Expr, digits: int) -> Any:
    """E[f(u) g(v)] at unit variances and 0 < rho < 1, as an arb.

    Valid for: f and g without deltas, kinks further apart than 2 L sqrt((1 - rho)/2) (L about 9 at 15 digits).
    Accuracy: rigorous; the absolute error aims at 10^-digits. Errors: PrecisionError where kinks are too close or the
    pieces are not analytic up to their ends.
    """
    log_tolerance = -(digits + 3) * math.log(10)
    reach = _reach(f, g, log_tolerance)
    with ball.precision(ball.bits(digits) + 64):
        # The exact difference 1 - rho first: in balls it would cancel.
        c, e = (ball.constant(sp.sqrt((1 + sign * correlation) / 2)) for sign in (1, -1))
        kinks = _kinks(f, g)
        strip = reach * e
        edges, met = [arb(-reach)], []
        for kink in kinks:
            low, high = (kink - strip) / c, (kink + strip) / c
            if low > reach or high < -reach:  # met only outside, where all is bounded
                continue
            if not low > edges[-1] or not high < reach:
                raise PrecisionError("the kinks are too close, or too far out, for this correlation")
            edges += [low, high]
            met.append(kink)
        edges.append(arb(reach))
        order = math.ceil((-log_tolerance + 8) / math.log(_RATE)) + 4
        work = _Work(order, arb(log_tolerance).exp())
        total = arb(0)
        # Between the strips: one piece of f and one of g.
        for i in range(0, len(edges), 2):
            inside = (edges[i] + edges[i + 1]) / 2 * c
            smooth = _smooth(_piece(f, inside), _piece(g, inside), c, e)
            total += work.integrate(smooth, edges[i], edges[i + 1], arb(-reach), arb(reach))
        for kink in met:
            for integrand in _triangles(f, g, kink, c, e, strip):
                total += work.integrate(integrand, arb(0), arb(reach), arb(-1), arb(1))
        return total + arb(0, _outside(f, g, reach).upper())


def _kinks(f: Nonlinearity, g: Nonlinearity) -> list[Any]:
    """The kinks of both, ascending, each once."""
    exact: list[sp.Expr] = []
    for kink in (*f.kinks, *g.kinks):
        if not any(ball.sign(kink - other) == 0 for other in exact):
            exact.append(kink)
    return sorted((ball.constant(k) for k in exact), key=lambda x: float(x.mid()))


def _piece(f: Nonlinearity, at: Any) -> Any:
    """The smooth expression of f around a point that is no kink, as a ball function."""
    for piece in f.pieces:
        if piece.upper.is_infinite or at < ball.constant(piece.upper):
            return ball.build(piece.expr, z, {})
    raise AssertionError("the pieces cover the line")


def _value(function: Any, x: Any, analytic: bool) -> Any:
    return function if isinstance(function, acb) else function(x, analytic)


def _smooth(f: Any, g: Any, c: Any, e: Any) -> _Integrand:
    """f(c a + e b) g(c a - e b) exp(-(a^2 + b^2)/2)/(2 pi)."""
    front = 1 / (2 * arb.pi())

    def integrand(a: Any, b: Any, analytic: bool) -> Any:
        weight = ((a * a + b * b) / -2).exp() * front
        return _value(f, c * a + e * b, analytic) * _value(g, c * a - e * b, analytic) * weight

    return integrand


def _triangles(f: Nonlinearity, g: Nonlinearity, kink: Any, c: Any, e: Any, strip: Any) -> list[_Integrand]:
    """The four triangles around a kink in (s, tau), s from 0 to L and tau from -1 to 1; Jacobian s e/c.

    Right and left: A = +-s, b = s tau, both arguments on one side of T. Upper and lower: b = +-s, A = s tau, on two.
    """
    front = e / (2 * arb.pi() * c)
    sides = {h: (_piece(h, kink - strip / 2), _piece(h, kink + strip / 2)) for h in (f, g)}

    def integrand(side: int, turned: bool) -> _Integrand:
        first = sides[f][1 if side > 0 else 0]
        second = sides[g][1 if (side > 0) != turned else 0]

        def evaluate(s: Any, tau: Any, analytic: bool) -> Any:
            a, b = (s * tau, side * s) if turned else (side * s, s * tau)
            u, v = kink + e * (a + b), kink + e * (a - b)
            position = (kink + e * a) / c
            weight = ((position * position + b * b) / -2).exp() * front * s
            return _value(first, u, analytic) * _value(second, v, analytic) * weight

        return evaluate

    return [integrand(side, turned) for side in (1, -1) for turned in (False, True)]


def _growth(f: Nonlinearity, g: Nonlinearity) -> tuple[Any, Any, Any]:
    """C0, C1 >= 0, C2 >= 0 with |f(u) g(v)| <= exp(C0 + C1 (|a| + |b|) + C2 (a^2 + b^2)), for u^2, v^2 <= a^2 + b^2."""
    sums = []
    for name in ("c0", "c1", "c2"):
        sums.append(sum(max(max(getattr(p.growth, name) for p in h.pieces), 0) for h in (f, g)))
    return sums[0], sums[1], sums[2]


def _reach(f: Nonlinearity, g: Nonlinearity, log_tolerance: float) -> float:
    radius = 7.0
    while True:
        with ball.precision(64):
            if _outside(f, g, radius) < arb(log_tolerance).exp():
                return radius
        radius += 0.5
        if radius > 200:
            raise PrecisionError("the functions grow too fast for this method")


def _outside(f: Nonlinearity, g: Nonlinearity, radius: float) -> Any:
    """A bound of the integral over |a| > R or |b| > R: twice E exp(C1 |a| + C2 a^2) times the same beyond R."""
    c0, c1, c2 = (ball.rational(x) for x in _growth(f, g))
    r, rest = arb(radius), 1 - 2 * c2
    slope = rest * r - c1
    if not rest > 0 or not slope > 0:
        return arb("inf")
    whole = 2 * (c1 * c1 / (2 * rest)).exp() / rest.sqrt()
    tail = 2 * (c1 * r - rest * r * r / 2).exp() / (slope * (2 * arb.pi()).sqrt())
    return 2 * c0.exp() * whole * tail


class _Work:
    """Tensor Gauss-Legendre on rectangles, halved until each error bound is below its share."""

    def __init__(self, order: int, tolerance: Any) -> None:
        self.rule = [arb.legendre_p_root(order, i, weight=True) for i in range(order)]
        self.factor = arb(64) / 15 * arb(_RATE) ** (-order) / (1 - 1 / arb(_RATE))
        self.tolerance = tolerance / 256
        self.rectangles = 0

    def integrate(self, integrand: _Integrand, x0: Any, x1: Any, y0: Any, y1: Any) -> Any:
        """The integral over a rectangle, its error included."""
        total = arb(0)
        # Panels of half width about one; the Gaussian weights vary on that scale.
        todo = [(*x, *y) for x in _cut(x0, x1) for y in _cut(y0, y1)]
        while todo:
            xa, xb, ya, yb = todo.pop()
            self.rectangles += 1
            if self.rectangles > _MAX_RECTANGLES:
                raise PrecisionError("too many rectangles would be needed")
            errors = self._errors(integrand, xa, xb, ya, yb)
            if all(error is not None and error < self.tolerance for error in errors):
                total += self._rule(integrand, xa, xb, ya, yb) + arb(0, (errors[0] + errors[1]).upper())
            elif errors[0] is None or (errors[1] is not None and errors[0] >= errors[1]):
                middle = (xa + xb) / 2
                todo += [(xa, middle, ya, yb), (middle, xb, ya, yb)]
            else:
                middle = (ya + yb) / 2
                todo += [(xa, xb, ya, middle), (xa, xb, middle, yb)]
        return total

    def _errors(self, integrand: _Integrand, xa: Any, xb: Any, ya: Any, yb: Any) -> tuple[Any, Any]:
        """The rule's error in x and in y: half * factor * bound on the ellipse, times the other side's length."""
        across = self._bound(lambda x, y, flag: integrand(x, y, flag), xa, xb, ya, yb)
        along = self._bound(lambda y, x, flag: integrand(x, y, flag), ya, yb, xa, xb)
        area = (xb - xa) * (yb - ya) / 2 * self.factor
        return (None if across is None else area * across, None if along is None else area * along)

    def _bound(self, integrand: _Integrand, low: Any, high: Any, other_low: Any, other_high: Any) -> Any:
        """A bound for the first variable in the ellipse around its interval and the second in its own interval."""
        centre, half = (low + high) / 2, (high - low) / 2
        tall = (half * arb(SEMI_MINOR)).upper()
        step, other = half * arb(SEMI_MAJOR) / _PARTS, (other_high - other_low) / (2 * _PARTS)
        largest = arb(0)
        for i in range(_PARTS):
            x = acb(centre + step * (2 * i + 1 - _PARTS) + arb(0, step.upper()), arb(0, tall))
            for j in range(_PARTS):
                y = other_low + other * (2 * j + 1) + arb(0, other.upper())
                size = abs(integrand(x, acb(y), True))
                if not size.is_finite():
                    return None
                largest = largest.max(size.upper())
        return largest

    def _rule(self, integrand: _Integrand, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        cx, hx, cy, hy = (xa + xb) / 2, (xb - xa) / 2, (ya + yb) / 2, (yb - ya) / 2
        ys = [(acb(cy + hy * root), weight) for root, weight in self.rule]
        total = arb(0)
        for root, weight in self.rule:
            x = acb(cx + hx * root)
            total += weight * sum((w * integrand(x, y, False).real for y, w in ys), arb(0))
        return total * hx * hy


def _cut(low: Any, high: Any) -> list[tuple[Any, Any]]:
    count = max(1, math.ceil(float((high - low).mid()) / 2))
    points = [low + (high - low) * i / count for i in range(count + 1)]
    return list(itertools.pairwise(points))
