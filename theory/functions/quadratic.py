"""Quadratics in t = |z| with rational coefficients, the currency of the growth bounds; everything rounds outwards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

_GRID = 1 << 40


def above(ball: arb) -> Fraction | None:
    """A rational at or above a ball, or None if it is not finite."""
    return _fraction(ball.upper()) if ball.is_finite() else None


def below(ball: arb) -> Fraction | None:
    """A rational at or below a ball, or None if it is not finite."""
    return _fraction(ball.lower()) if ball.is_finite() else None


def _fraction(exact: arb) -> Fraction:
    mantissa, exponent = exact.man_exp()
    m, e = int(mantissa), int(exponent)
    return Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)


def ball(value: Fraction) -> arb:
    """A ball around a rational."""
    return arb(fmpq(value.numerator, value.denominator))


def between(low: Fraction, high: Fraction) -> arb:
    """A ball that contains [low, high]."""
    return ball(low).union(ball(high))


def log_above(value: Fraction) -> Fraction:
    """A short rational at or above log(value), value > 0."""
    top = above(ball(value).log())
    assert top is not None
    return round_up(top)


def log_below(value: Fraction) -> Fraction:
    """A short rational at or below log(value), value > 0."""
    bottom = below(ball(value).log())
    assert bottom is not None
    return round_down(bottom)


def round_up(value: Fraction) -> Fraction:
    """A rational with a short denominator, at or above."""
    # Denominators double with every operation; rounded outwards they stay short and the bound a bound.
    return value if value.denominator <= _GRID else Fraction(math.ceil(value * _GRID), _GRID)


def round_down(value: Fraction) -> Fraction:
    """A rational with a short denominator, at or below."""
    return -round_up(-value)


@dataclass(frozen=True)
class Quadratic:
    """c0 + c1 t + c2 t^2 on t >= 0."""

    c0: Fraction
    c1: Fraction = Fraction(0)
    c2: Fraction = Fraction(0)

    def plus(self, other: Quadratic) -> Quadratic:
        """The sum."""
        return Quadratic(self.c0 + other.c0, self.c1 + other.c1, self.c2 + other.c2)

    def minus(self, other: Quadratic) -> Quadratic:
        """The difference."""
        return self.plus(other.times(Fraction(-1)))

    def times(self, factor: Fraction) -> Quadratic:
        """A multiple."""
        return Quadratic(self.c0 * factor, self.c1 * factor, self.c2 * factor)

    def shifted(self, c0: Fraction) -> Quadratic:
        """The constant c0 added."""
        return Quadratic(self.c0 + c0, self.c1, self.c2)

    def squared(self) -> Quadratic | None:
        """The square, if the degree allows it."""
        if self.c2 != 0:
            return None
        return Quadratic(self.c0**2, 2 * self.c0 * self.c1, self.c1**2)

    def absolute(self) -> Quadratic:
        """A quadratic above |self|, with nonnegative coefficients."""
        return Quadratic(abs(self.c0), abs(self.c1), abs(self.c2))

    def key(self) -> tuple[Fraction, Fraction, Fraction]:
        """Order by growth."""
        return (self.c2, self.c1, self.c0)

    def upwards(self) -> Quadratic:
        """Shorter coefficients, at or above on t >= 0."""
        return Quadratic(round_up(self.c0), round_up(self.c1), round_up(self.c2))

    def downwards(self) -> Quadratic:
        """Shorter coefficients, at or below on t >= 0."""
        return Quadratic(round_down(self.c0), round_down(self.c1), round_down(self.c2))

    def __call__(self, t: Fraction) -> Fraction:
        return self.c0 + self.c1 * t + self.c2 * t * t

    def minimum(self, start: Fraction, end: Fraction | None) -> Fraction | None:
        """The minimum on [start, end], end None meaning infinity; None if it is -oo."""
        # On a half-line the leading coefficient decides before anything else.
        if end is None and (self.c2 < 0 or (self.c2 == 0 and self.c1 < 0)):
            return None
        points = [start] if end is None else [start, end]
        if self.c2 > 0:
            vertex = -self.c1 / (2 * self.c2)
            if vertex > start and (end is None or vertex < end):
                points.append(vertex)
        return min(self(t) for t in points)

    def maximum(self, start: Fraction, end: Fraction | None) -> Fraction | None:
        """The maximum on [start, end]; None if it is +oo."""
        lowest = self.times(Fraction(-1)).minimum(start, end)
        return None if lowest is None else -lowest


def upper_envelope(parts: list[Quadratic]) -> Quadratic:
    """A quadratic above all of them on t >= 0."""
    return Quadratic(max(p.c0 for p in parts), max(p.c1 for p in parts), max(p.c2 for p in parts))


def log_of(q: Quadratic) -> Quadratic:
    """A bound above log(q), for q with nonnegative coefficients, not all zero: linear in t.

    sum c_i t^i <= (sum c_i) max(1, t)^n, and log t <= t/s + log s - 1 for any s (the tangent at s).
    """
    degree = 2 if q.c2 else int(q.c1 != 0)
    return log_power(degree).shifted(log_above(q.c0 + q.c1 + q.c2))


def log_power(degree: Fraction | int) -> Quadratic:
    """A bound above degree * log(max(1, t)), degree >= 0, linear in t; its tangent point suits Gaussian tails."""
    if degree == 0:
        return Quadratic(Fraction(0))
    s = max(8, 2 * math.isqrt(math.ceil(degree)))
    return Quadratic(degree * (log_above(Fraction(s)) - 1), Fraction(degree) / s)
