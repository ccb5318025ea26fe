"""Rigorous integrals of f(u) g(v) against the bivariate Gaussian density, split along the kinks of both.

For kernels without a closed form. The plane is cut into products of panels on which f and g are analytic, and each is
integrated by the tensor Gauss-Legendre rule; its error is bounded from the size of the integrand on an ellipse
around each panel (Trefethen, Approximation Theory and Approximation Practice, theorem 19.3). Nodes of f and g are
shared by all panels, so a function is evaluated once a node; what lies beyond the last panel is bounded by the
certified growth of f and g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import acb, arb, arb_mat

from bulkedge.theory.functions.nonlinearity import Nonlinearity, Piece
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import PrecisionError
from bulkedge.theory.numbers.symbols import z

# Bernstein ellipse of parameter 4 around every panel: an N-point rule gains a factor 16 per node.
_ELLIPSE = 4.0
SEMI_MAJOR, SEMI_MINOR = (_ELLIPSE + 1 / _ELLIPSE) / 2, (_ELLIPSE - 1 / _ELLIPSE) / 2
_MAX_NODES = 64_000  # some three seconds of products
_MAX_HALVINGS = 40
_SMALLEST_SPREAD = 1e-3  # of sqrt(1 - rho^2); the panels are of its size


@dataclass(frozen=True)
class Panel:
    """A panel [centre - half, centre + half], the bound of |f| on its ellipse, and f as a ball function."""

    centre: Any
    half: Any
    bound: Any
    function: Any


@dataclass(frozen=True)
class _Sampled:
    """A function on the line, cut at |x| <= radius: panels, nodes x, weight * value at the nodes."""

    panels: tuple[Panel, ...]
    radius: float
    nodes: list[Any]
    weighted: list[Any]
    rule: list[tuple[Any, Any]]


def integral(f: Nonlinearity, g: Nonlinearity, correlation: sp.Expr, digits: int) -> Any:
    """E[f(u) g(v)] at unit variances as an arb, u and v of the given correlation (an exact constant, |rho| < 1).

    Valid for: f and g without deltas. Accuracy: rigorous; the absolute error aims at 10^-digits times the product of
    the functions' root mean squares.
    Errors: PrecisionError where the panels would be too many (|rho| too near one, or poles too near the real line).
    """
    s = math.sqrt(float(ball.enclose_expr(1 - correlation**2, 10)))
    if s < _SMALLEST_SPREAD:
        raise PrecisionError("too many panels would be needed at this correlation")
    # The factors of `_sum` have exponents up to (R/s)^2/2: so many bits are lost.
    with ball.precision(ball.bits(digits) + 48 + 4 * int(math.log2(1 + 100 / s**2))):
        rho = ball.constant(correlation)
        s2 = 1 - rho * rho
        log_tolerance = -(digits + 3) * math.log(10)
        radii = [_radius(h, log_tolerance) for h in (f, g)]
        width = 2 * s  # wider panels need more nodes against exp((Im x)^2/2 s^2), narrower ones are too many pairs
        panels = [_panels(h, r, width) for h, r in zip((f, g), radii, strict=True)]
        order = _order(panels, radii, s, s2, log_tolerance)
        if order * max(map(len, panels)) > _MAX_NODES:
            raise PrecisionError(f"{order * max(map(len, panels))} nodes would be needed at this correlation")
        # Ascending, for the bisection in `_sum`.
        rule = [arb.legendre_p_root(order, i, weight=True) for i in reversed(range(order))]
        sampled = [_sample(p, r, rule) for p, r in zip(panels, radii, strict=True)]
        total = _sum(sampled[0], sampled[1], rho, s2, log_tolerance)
        error = _rule_error(panels, radii, s2, order) + _outside(f, g, radii)
        return total + arb(0, error.upper())


def inner_product(f: Nonlinearity, g: Nonlinearity, digits: int) -> Any:
    """E[f(z) g(z)] for functions of one smooth piece each, as an arb; the absolute error aims at 10^-digits.

    Needs no simplification of the product, which for higher derivatives would take longer than the integral.
    """
    log_tolerance = -(digits + 2) * math.log(10)
    radii = [_radius(h, log_tolerance / 2 - 1) for h in (f, g)]
    with ball.precision(ball.bits(digits) + 32):
        first, second = (ball.build(h.pieces[0].expr, z, {}) for h in (f, g))
        norm = (2 * arb.pi()).sqrt()

        def integrand(x: Any, analytic: bool) -> Any:
            a, b = (h if isinstance(h, acb) else h(x, analytic) for h in (first, second))
            return a * b * (x * x / -2).exp()

        reach = arb(max(radii))
        inside = ball.integrate(integrand, -reach, reach, arb(log_tolerance).exp()) / norm
        tails = _tail(f, max(radii)), _tail(g, max(radii))
        return inside + arb(0, (tails[0] * tails[1]).sqrt().upper())


def _radius(f: Nonlinearity, log_tolerance: float) -> float:
    """Beyond this radius E[f^2; |z| > R] is below the square of the tolerance; kinks further out are left out."""
    radius = 6.0
    while not all(_negligible(piece, radius, log_tolerance) for piece in _beyond(f, radius)):
        radius += 0.5
    return radius


def _negligible(piece: Piece, radius: float, log_tolerance: float) -> bool:
    growth = piece.growth
    c0, c1, a = float(growth.c0), float(growth.c1), 0.5 - 2 * float(growth.c2)
    return 2 * a * radius - 2 * c1 >= 1 and 2 * c0 + 2 * c1 * radius - a * radius**2 <= 2 * log_tolerance


def _beyond(f: Nonlinearity, radius: float) -> list[Piece]:
    """The pieces of f that are not zero on z < -R, then those on z > R (a piece may be in both)."""
    r = sp.Rational(radius)
    pieces = [p for p in f.pieces if p.expr != 0]
    low = [p for p in pieces if p.lower.is_infinite or ball.sign(p.lower + r) < 0]
    return low + [p for p in pieces if p.upper.is_infinite or ball.sign(p.upper - r) > 0]


def _tail(f: Nonlinearity, radius: float) -> Any:
    """A bound of E[f^2; |z| > R]: exp(h(R))/|h'(R)| for each piece, h = 2 c0 + 2 c1 x - (1/2 - 2 c2) x^2."""
    total = arb(0)
    r = arb(radius)
    for piece in _beyond(f, radius):
        growth = piece.growth
        c0, c1, c2 = (ball.rational(x) for x in (growth.c0, growth.c1, growth.c2))
        a = arb(1) / 2 - 2 * c2
        slope = 2 * a * r - 2 * c1
        if not slope > 0:
            return arb("inf")
        total += (2 * c0 + 2 * c1 * r - a * r * r).exp() / slope / (2 * arb.pi()).sqrt()
    return total


def _outside(f: Nonlinearity, g: Nonlinearity, radii: list[float]) -> Any:
    """|E[f g; |u| > R or |v| > R]| <= sqrt(tail_f E g^2) + sqrt(tail_g E f^2), by Cauchy and Schwarz."""
    from bulkedge.theory.gaussian.gaussian import enclose, product

    squares = []
    for h in (f, g):
        second = enclose(product(h, h), 3)
        squares.append(ball.rational(second.value + second.error))
    return (_tail(f, radii[0]) * squares[1]).sqrt() + (_tail(g, radii[1]) * squares[0]).sqrt()


def _panels(f: Nonlinearity, radius: float, width: float) -> list[Panel]:
    panels: list[Panel] = []
    for piece in f.pieces:
        low = arb(-radius) if piece.lower.is_infinite else ball.constant(piece.lower).max(arb(-radius))
        high = arb(radius) if piece.upper.is_infinite else ball.constant(piece.upper).min(arb(radius))
        if piece.expr == 0 or not low < high:  # zero, or beyond the radius
            continue
        count = max(1, math.ceil(float((high - low).mid()) / (2 * width)))
        function = ball.build(piece.expr, z, {})
        half = (high - low) / (2 * count)  # one ball for all: `_sum` shares what depends on the width
        for i in range(count):
            panels.extend(_analytic(function, low + half * (2 * i + 1), half, 0))
        if len(panels) > _MAX_NODES // 8:
            raise PrecisionError("too many panels would be needed at this correlation")
    return panels


def _analytic(function: Any, centre: Any, half: Any, depth: int) -> list[Panel]:
    """The panel, halved until the function is analytic and of moderate variation on its ellipse."""
    bound = _bound(function, centre, half)
    if bound is not None:
        return [Panel(centre, half, bound, function)]
    if depth >= _MAX_HALVINGS:
        raise PrecisionError("the function is not analytic at a point of the line that is no kink")
    part = half / 2
    return [p for side in (-1, 1) for p in _analytic(function, centre + side * part, part, depth + 1)]


def _bound(function: Any, centre: Any, half: Any, parts: int = 8) -> Any:
    """A bound of |f| on the rectangle around the ellipse, or None where it is not analytic or blows up there."""
    if isinstance(function, acb):
        return abs(function)
    b = (half * SEMI_MINOR).upper()
    step = half * SEMI_MAJOR / parts
    largest = arb(0)
    middle = abs(function(acb(centre), False))
    for i in range(parts):
        x = centre + step * (2 * i + 1 - parts)
        value = function(acb(x + arb(0, step.upper()), arb(0, b)), True)
        size = abs(value)
        if not size.is_finite():
            return None
        largest = largest.max(size.upper())
    # A bound far above the function's own size would only be paid for in nodes.
    return largest if largest < 1e3 * (1 + middle.upper()) * (1 + abs(centre).upper()) else None


def _order(panels: list[list[Panel]], radii: list[float], s: float, s2: Any, log_tolerance: float) -> int:
    order = 4
    while True:
        error = _rule_error(panels, radii, s2, order)
        if error < arb(log_tolerance).exp():
            return order
        order += 2


def _rule_error(panels: list[list[Panel]], radii: list[float], s2: Any, order: int) -> Any:
    """The tensor rule's error: the one-dimensional error on each panel times the other function's integral.

    On a panel's ellipse |exp(-(x - rho y)^2/(2 s2))| <= exp((Im x)^2/(2 s2)), and the bivariate density is
    phi(y) N(x; rho y, s2); the remaining factor phi(y) is at most its value at the point of g's panel nearest to zero.
    """
    rate = arb(_ELLIPSE) ** (-2 * order)
    factor = arb(64) / 15 * rate / (1 - arb(_ELLIPSE) ** -2) / (2 * arb.pi() * s2.sqrt())
    total = arb(0)
    masses = []
    for side in panels:
        mass = arb(0)
        for p in side:
            nearest = (abs(p.centre) - p.half).max(arb(0)).lower()
            mass += 2 * p.half * p.bound * (-nearest * nearest / 2).exp()
        masses.append(mass)
    for own, other in ((0, 1), (1, 0)):
        for p in panels[own]:
            growth = ((p.half * SEMI_MINOR) ** 2 / (2 * s2)).exp()
            total += p.half * p.bound * growth * factor * masses[other]
    return total


def _sample(panels: list[Panel], radius: float, rule: list[tuple[Any, Any]]) -> _Sampled:
    nodes: list[Any] = []
    weighted: list[Any] = []
    for p in panels:
        for root, weight in rule:
            x = p.centre + p.half * root
            value = p.function if isinstance(p.function, acb) else p.function(acb(x), False)
            nodes.append(x)
            weighted.append(value.real * weight * p.half)
    return _Sampled(tuple(panels), radius, nodes, weighted, rule)


def _sum(f: _Sampled, g: _Sampled, rho: Any, s2: Any, log_tolerance: float) -> Any:
    """sum_ij of weighted values times the density, leaving out (and bounding) panels where the density is negligible.

    With nodes x = c + h r_a and y = C + H r_b, D = C - rho c and e_ab = H r_b - rho h r_a,
        (y - rho x)^2/2s2 = (D^2 + 2 D e_ab + e_ab^2)/2s2:
    e_ab^2 is common to all panels of these widths, and the rest is a product of factors of (i, b), (j, b), (i, a) and
    (j, a), so that a pair of panels costs a row of a matrix product instead of an exponential for each pair of nodes.
    """
    far = 2 * float(s2.mid()) * (8 - log_tolerance)
    r = float(rho.mid())
    order = len(f.rule)
    roots = [root for root, _ in f.rule]
    # By width: factors of the one side that need the other's width, and the common matrix.
    widths = [{_key(p.half): p.half for p in side.panels} for side in (f, g)]
    common = {
        (own, other): arb_mat([[(-((H * b - rho * h * a) ** 2) / (2 * s2)).exp() for b in roots] for a in roots])
        for own, h in widths[0].items()
        for other, H in widths[1].items()
    }
    rows = [_factors(p, p.half * (-rho * rho / s2), roots) for p in f.panels]
    columns = [_factors(p, p.half * (-1 / s2), roots) for p in g.panels]
    left = [
        [w * (-x * x / 2).exp() * e for x, w, e in zip(f.nodes[i:], f.weighted[i:], row, strict=False)]
        for i, row in zip(range(0, len(f.nodes), order), rows, strict=True)
    ]
    right = [
        [w * e for w, e in zip(g.weighted[j:], column, strict=False)]
        for j, column in zip(range(0, len(g.nodes), order), columns, strict=True)
    ]
    tilted = {own: [_factors(p, h * (rho / s2), roots) for p in g.panels] for own, h in widths[0].items()}
    keys = [_key(p.half) for p in g.panels]
    places, halves = [float(p.centre.mid()) for p in g.panels], [float(p.half.mid()) for p in g.panels]
    total = arb(0)
    for p, own_left in zip(f.panels, left, strict=True):
        centre, half = float(p.centre.mid()), float(p.half.mid())
        # x^2 - 2 r x y + y^2 <= far is |y - r x| <= sqrt(far - s2 x^2)
        reach = far - (1 - r * r) * max(0.0, abs(centre) - half) ** 2
        if reach <= 0 or all(w == 0 for w in own_left):
            continue
        own, reach = _key(p.half), math.sqrt(reach) + abs(r) * half
        near = [j for j, y in enumerate(places) if abs(y - r * centre) <= reach + halves[j]]
        for other, H in widths[1].items():
            window = [j for j in near if keys[j] == other]
            if not window:
                continue
            turned = _factors(p, H * (rho / s2), roots)
            entries = [[v * right[j][b] for j in window] for b, v in enumerate(turned)]
            found = common[own, other] * arb_mat(entries)
            for k, j in enumerate(window):
                part = arb(0)
                for a, (w, e) in enumerate(zip(own_left, tilted[own][j], strict=True)):
                    part += w * e * found[a, k]
                distance = g.panels[j].centre - rho * p.centre
                total += part * (-distance * distance / (2 * s2)).exp()
    # Each pair left out has a density below exp(log_tolerance - 7), rounding of the test included.
    mass = [sum((abs(w) for w in side.weighted), arb(0)) for side in (f, g)]
    total += arb(0, (mass[0] * mass[1] * arb(log_tolerance - 7).exp()).upper())
    return total / (2 * arb.pi() * s2.sqrt())


def _key(half: Any) -> tuple[Any, ...]:
    """Panels of one width share this."""
    return (*half.mid().man_exp(), *half.rad().man_exp())


def _factors(panel: Panel, rate: Any, roots: list[Any]) -> list[Any]:
    """exp(rate * centre * r) at the roots r of the rule."""
    return [(panel.centre * rate * root).exp() for root in roots]
