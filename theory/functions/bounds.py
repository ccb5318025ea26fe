"""Rigorous bounds of a smooth expression on half a line: its value, its logarithm, and that it does not vanish.

With t = |z| in [start, end] and z = t or -t, every node of the tree gets quadratics in t below and above its value, a
quadratic above log|f|, and on demand its sign and a quadratic below log|f| (which shows that it does not vanish).
Each rule is an inequality that holds at every point; constants are rationals rounded outwards.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import arb

from bulkedge.theory.functions import polynomial
from bulkedge.theory.functions.quadratic import (
    Quadratic,
    above,
    ball,
    below,
    between,
    log_above,
    log_below,
    log_of,
    log_power,
    upper_envelope,
)
from bulkedge.theory.functions.size import SizeError, brief
from bulkedge.theory.numbers.ball import constant, precision
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

ZERO = Fraction(0)
ONE = Fraction(1)
_MAX_EXP = 2000  # beyond, a constant exp(m) is not worth its bits
_MAX_ERFC = Fraction(math.isqrt(_MAX_EXP))  # nor is erfc(m)
_NARROWEST = Fraction(1, 256)
_FARTHEST = 64
_LONG_POWER = 16
_CONSTANT_BITS = 128


class UndecidedError(Exception):
    """What is asked could not be shown here; `final` if a smaller piece of the line would not help."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


@dataclass(frozen=True)
class Domain:
    """z = sign * t with t in [start, end] (end None: infinity); `*_open`: the end of the user's own interval, where a
    fractional power may vanish."""

    sign: int
    start: Fraction
    end: Fraction | None
    start_open: bool = False
    end_open: bool = False

    def split(self, first: Fraction | int) -> tuple[Domain, Domain]:
        """Two halves, of which the second goes to infinity if this does."""
        # Towards infinity the cuts double: logarithmically many intervals reach any distance.
        cut = max(2 * self.start, Fraction(first)) if self.end is None else (self.start + self.end) / 2
        return (
            Domain(self.sign, self.start, cut, self.start_open, False),
            Domain(self.sign, cut, self.end, False, self.end_open),
        )

    @property
    def worth_splitting(self) -> bool:
        """Whether its halves may show more."""
        return self.start < _FARTHEST if self.end is None else self.end - self.start > _NARROWEST


Nonzero = tuple[int, Quadratic | None]  # the sign (0: unknown) and a bound below log|f| (None: it may vanish)


@dataclass(frozen=True)
class Bound:
    """What is known of an expression on a domain; None where nothing is."""

    domain: Domain
    below: Quadratic | None = None
    above: Quadratic | None = None
    logs: tuple[Quadratic | None, ...] = ()
    shown: Callable[[], Nonzero] | None = None

    @functools.cached_property
    def least(self) -> Fraction | None:
        """A lower bound of the value on the whole domain."""
        return None if self.below is None else self.below.minimum(self.domain.start, self.domain.end)

    @functools.cached_property
    def most(self) -> Fraction | None:
        """An upper bound of the value on the whole domain."""
        return None if self.above is None else self.above.maximum(self.domain.start, self.domain.end)

    def span(self) -> tuple[Fraction, Fraction] | None:
        """Rational ends of an interval that holds all values, or None."""
        return None if self.least is None or self.most is None else (self.least, self.most)

    @property
    def sign(self) -> int:
        """1 if the value is shown to be >= 0, -1 if <= 0, else 0, by its bounds."""
        if self.least is not None and self.least >= 0:
            return 1
        return -1 if self.most is not None and self.most <= 0 else 0

    @functools.cached_property
    def log_above(self) -> Quadratic | None:
        """A quadratic above log|f|."""
        # Several routes bound log|f|, each good where another is poor (products by logs, sums by values); the least is
        # taken, and every one of them is a proof by itself.
        candidates = [q for q in self.logs if q is not None]
        if self.below is not None and self.above is not None:
            envelope = upper_envelope([self.below.absolute(), self.above.absolute()])
            candidates.append(log_of(envelope) if any(envelope.key()) else Quadratic(ZERO))
        span = self.span()
        if span is not None and any(span):
            candidates.append(Quadratic(log_above(max(map(abs, span)))))
        return min(candidates, key=Quadratic.key).upwards() if candidates else None

    @functools.cached_property
    def nonzero(self) -> Nonzero:
        """The sign, and a quadratic below log|f| if f is shown not to vanish on the closed domain."""
        if self.least is not None and self.least > 0:
            found: Nonzero = (1, Quadratic(log_below(self.least)))
        elif self.most is not None and self.most < 0:
            found = (-1, Quadratic(log_below(-self.most)))
        else:
            found = (self.sign, None)
        more = self.shown() if self.shown is not None else (0, None)
        lows = [q for _, q in (found, more) if q is not None]
        return found[0] or more[0], max(lows, key=Quadratic.key).downwards() if lows else None

    def times(self, factor: Fraction) -> Bound:
        """The bound of a multiple by a constant other than zero."""
        low, high = (self.below, self.above) if factor > 0 else (self.above, self.below)
        size, unit = abs(factor), 1 if factor > 0 else -1

        def shown() -> Nonzero:
            sign, low_log = self.nonzero
            return unit * sign, low_log and low_log.shifted(log_below(size))

        return Bound(
            self.domain,
            low and low.times(factor),
            high and high.times(factor),
            (self.log_above and self.log_above.shifted(log_above(size)),),
            shown,
        )


@functools.lru_cache(maxsize=1024)
def bound(expr: sp.Expr, domain: Domain) -> Bound:
    """Bounds of `expr` on `domain`.

    Errors: UndecidedError where finiteness cannot be shown.
    """
    if expr.is_Rational:
        return _constant(Fraction(int(expr.p), int(expr.q)), domain)
    if expr in _NUMBERS:
        return _ball(_NUMBERS[expr](), domain)
    if expr.is_Float:
        # A Float prints as what was typed; its binary value is another number.
        return bound(sp.Rational(str(expr)), domain)
    try:
        coefficients = polynomial.coefficients(expr)
    except SizeError as error:
        raise UndecidedError(str(error), final=True) from None
    if coefficients is not None:
        return _polynomial(coefficients, domain)
    if expr.is_Add:
        # 1 - tanh and the like first: adding the bounds of both terms would lose that the difference decays.
        return _tail_of_one(expr, domain) or _add(expr, domain)
    if expr.is_Mul:
        return _mul(expr, domain)
    if expr.is_Pow:
        return _pow(expr.base, expr.exp, domain)
    if isinstance(expr, EdgePower):
        return _edge_power(bound(expr.args[0], domain), Fraction(int(expr.args[1].p), int(expr.args[1].q)))
    rule = _RULES.get(expr.func)
    if rule is None:
        if not expr.has(z):
            return _ball(_constant_ball(expr), domain)
        raise UndecidedError(_unknown(expr), final=True)
    return rule(bound(expr.args[0], domain), expr.args[0])


_NUMBERS = {sp.pi: arb.pi, sp.E: lambda: arb(1).exp(), sp.EulerGamma: arb.const_euler, sp.Catalan: arb.const_catalan}
_KINKED = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise)


def _unknown(expr: sp.Expr) -> str:
    if isinstance(expr, _KINKED):
        return f"the kinks of {brief(expr)} cannot be separated"
    if expr is sp.I or not expr.is_extended_real:
        return f"{brief(expr)} is not real and finite"
    return f"the growth of {expr.func.__name__} is not known here"


def _constant_ball(expr: sp.Expr) -> arb:
    """A constant of any kind that ball arithmetic knows (the level of a tanh, a root of a polynomial)."""
    try:
        with precision(_CONSTANT_BITS):
            return constant(expr)
    except InputError as error:
        raise UndecidedError(f"{brief(expr)} is not known: {error.problem}", final=True) from None


def _constant(value: Fraction, domain: Domain) -> Bound:
    return Bound(domain, Quadratic(value), Quadratic(value))


def _ball(value: arb, domain: Domain) -> Bound:
    low, high = below(value), above(value)
    if low is None or high is None:
        raise UndecidedError("a constant is not finite", final=True)
    return Bound(domain, Quadratic(low), Quadratic(high))


# Polynomials ---------------------------------------------------------------------------------------------------------


def _polynomial(coefficients: tuple[sp.Expr, ...], domain: Domain) -> Bound:
    """From its coefficients (ascending), each enclosed by rationals; in t >= 0 the signs of the powers are known."""
    low, high = [], []
    for i, c in enumerate(coefficients):
        span = bound(c, domain).span()
        if span is None:
            raise UndecidedError(f"the constant {brief(c)} cannot be enclosed", final=True)
        # On the left t = -z >= 0: odd powers change the sign of their coefficient.
        a, b = span if domain.sign > 0 or i % 2 == 0 else (-span[1], -span[0])
        low.append(a)
        high.append(b)
    degree = len(low) - 1
    if degree <= 2:
        pad = [ZERO] * (2 - degree)
        return Bound(domain, Quadratic(*low, *pad), Quadratic(*high, *pad))
    # |p(t)| <= (sum |c_i|) max(1, t)^degree: crude, but its logarithm is quadratically bounded on the whole half-line.
    size = sum((max(abs(a), abs(b)) for a, b in zip(low, high, strict=True)), ZERO)
    log = log_power(degree).shifted(log_above(size)) if size else None
    above_negated = polynomial.below([-c for c in high], domain.start, domain.end)

    def shown() -> Nonzero:
        least = polynomial.positive_minimum(low, domain.start, domain.end)
        if least is not None:
            return 1, Quadratic(log_below(least))
        least = polynomial.positive_minimum([-c for c in high], domain.start, domain.end)
        return (0, None) if least is None else (-1, Quadratic(log_below(least)))

    return Bound(
        domain,
        polynomial.below(low, domain.start, domain.end),
        above_negated and above_negated.times(-ONE),
        (log,),
        shown,
    )


# Sums and products ---------------------------------------------------------------------------------------------------


def _total(parts: Iterable[Quadratic | None]) -> Quadratic | None:
    total = Quadratic(ZERO)
    for part in parts:
        if part is None:
            return None
        total = total.plus(part)
    return total


def _add(expr: sp.Expr, domain: Domain) -> Bound:
    powers = [a for a in expr.args if polynomial.coefficients(a) is not None]
    others = [a for a in expr.args if a not in powers]
    parts = [bound(a, domain) for a in ([sp.Add(*powers)] if powers else []) + others]
    logs = [p.log_above for p in parts]
    log = None
    if all(q is not None for q in logs):
        log = upper_envelope([q for q in logs if q is not None]).shifted(log_above(Fraction(len(parts))))

    def shown() -> Nonzero:
        found = [p.nonzero for p in parts]
        signs = {sign for sign, _ in found}
        lows = [low for _, low in found if low is not None]
        if len(signs) != 1 or 0 in signs:
            return 0, None
        return signs.pop(), max(lows, key=Quadratic.key) if lows else None

    return Bound(domain, _total(p.below for p in parts), _total(p.above for p in parts), (log,), shown)


def _tail_of_one(expr: sp.Expr, domain: Domain) -> Bound | None:
    """a (1 +- tanh g) and a (1 +- erf g), which do not vanish although their infimum is zero."""
    constant, rest = expr.as_coeff_Add()
    factor, function = rest.as_coeff_Mul()
    if not constant.is_Rational or constant == 0 or abs(factor) != abs(constant):
        return None
    if not isinstance(function, sp.tanh | sp.erf):
        return None
    unit = 1 if factor == constant else -1
    inner = bound(function.args[0], domain).times(Fraction(unit))
    outer = _one_plus_tanh(inner) if isinstance(function, sp.tanh) else _erfc(inner.times(-ONE))
    return outer.times(Fraction(int(constant.p), int(constant.q)))


def _one_plus_tanh(g: Bound) -> Bound:
    """1 + tanh g = 2/(1 + exp(-2g)): at most 2 and 2 exp(2g), at least exp(min(0, 2g))."""
    plain = _monotone(g, arb.tanh, -1, 1)
    logs = (g.above and g.above.times(Fraction(2)).shifted(log_above(Fraction(2))),)

    def shown() -> Nonzero:
        if g.sign > 0:
            return 1, Quadratic(ZERO)
        if g.below is None:
            return 1, None
        low = g.below.times(Fraction(2))
        return 1, low if g.sign < 0 else low.absolute().times(-ONE)

    return Bound(
        g.domain, plain.below and plain.below.shifted(ONE), plain.above and plain.above.shifted(ONE), logs, shown
    )


def _mul(expr: sp.Expr, domain: Domain) -> Bound:
    factor, rest = expr.as_coeff_Mul()
    if factor is not sp.S.One and factor.is_Rational:
        return bound(rest, domain).times(Fraction(int(factor.p), int(factor.q)))
    # Exact polynomials first: together they have tighter bounds than apart.
    powers = [a for a in expr.args if polynomial.coefficients(a) is not None]
    joined = sp.Mul(*powers)
    together = len(powers) > 1 and polynomial.coefficients(joined) is not None
    others = [a for a in expr.args if a not in powers] if together else list(expr.args)
    parts = [bound(a, domain) for a in ([joined] if together else []) + others]
    result = parts[0]
    for part in parts[1:]:
        result = _times(result, part)
    return result


def _times(f: Bound, g: Bound) -> Bound:
    """The product of two functions."""

    def shown() -> Nonzero:
        (s, a), (t, b) = f.nonzero, g.nonzero
        return s * t, _total((a, b))

    low, high = _product_values(f, g)
    sign = f.sign * g.sign
    if sign > 0 and (low is None or low.minimum(f.domain.start, f.domain.end) is None):
        low = Quadratic(ZERO)
    if sign < 0 and (high is None or high.maximum(f.domain.start, f.domain.end) is None):
        high = Quadratic(ZERO)
    return Bound(f.domain, low, high, (_total((f.log_above, g.log_above)),), shown)


def _product_values(f: Bound, g: Bound) -> tuple[Quadratic | None, Quadratic | None]:
    first, second = f.span(), g.span()
    if first is not None and second is not None:
        corners = [a * b for a in first for b in second]
        return Quadratic(min(corners)), Quadratic(max(corners))
    if second is not None:
        f, g, first, second = g, f, second, first
    if first is not None:
        return _scaled_by_range(first, g)
    sizes = [_size(f), _size(g)]
    if sizes[0] is None or sizes[1] is None or sizes[0].c2 + sizes[1].c2 != 0:
        return None, None
    a, b = sizes[0], sizes[1]
    top = Quadratic(a.c0 * b.c0, a.c0 * b.c1 + a.c1 * b.c0, a.c1 * b.c1)
    sign = f.sign * g.sign
    return Quadratic(ZERO) if sign > 0 else top.times(-ONE), Quadratic(ZERO) if sign < 0 else top


def _scaled_by_range(span: tuple[Fraction, Fraction], g: Bound) -> tuple[Quadratic | None, Quadratic | None]:
    """The product with a function of values in [m, M]."""
    m, most = span
    if m < 0 < most or most <= 0:
        size = _size(g)
        if most <= 0:
            low, high = _scaled_by_range((-most, -m), g)
            return high and high.times(-ONE), low and low.times(-ONE)
        top = size and size.times(max(-m, most))
        return top and top.times(-ONE), top

    def upper(q: Quadratic | None) -> Quadratic | None:
        if q is None:
            return None
        lowest, highest = q.minimum(g.domain.start, g.domain.end), q.maximum(g.domain.start, g.domain.end)
        if lowest is not None and lowest >= 0:
            return q.times(most)
        if highest is not None and highest <= 0:
            return q.times(m)
        return q.absolute().times(most)

    low = upper(g.below and g.below.times(-ONE))
    return low and low.times(-ONE), upper(g.above)


def _size(g: Bound) -> Quadratic | None:
    if g.below is None or g.above is None:
        return None
    return upper_envelope([g.below.absolute(), g.above.absolute()])


# Powers --------------------------------------------------------------------------------------------------------------


def _pow(base: sp.Expr, exponent: sp.Expr, domain: Domain) -> Bound:
    f = bound(base, domain)
    if not exponent.is_Rational:
        return _exp(_times(bound(exponent, domain), _log(f, base)))
    e = Fraction(int(exponent.p), int(exponent.q))
    if e.denominator == 1 and e > 0:
        return _natural_power(f, int(e))
    if e.denominator != 1 and e > 0 and not (f.nonzero[0] > 0 and f.nonzero[1] is not None):
        if not _positive_inside(base, domain):
            raise UndecidedError(f"{brief(base)} under a fractional power cannot be shown to be positive")
        return _edge_power(f, e)
    sign, low = f.nonzero
    if e.denominator != 1 and sign <= 0:
        raise UndecidedError(f"{brief(base)} under a fractional power cannot be shown to be positive")
    if low is None:
        raise UndecidedError(f"the denominator {brief(base)} cannot be shown to have no zero")
    return _nonzero_power(f, sign, low, e)


def _long_power(value: Fraction, n: int) -> tuple[Fraction, Fraction]:
    """Rationals below and above value^n: itself, or rounded outwards where it would be very long."""
    if n > _LONG_POWER:
        power = ball(value) ** n
        low, high = below(power), above(power)
        if low is not None and high is not None:
            return low, high
    return value**n, value**n


def _natural_power(f: Bound, n: int) -> Bound:
    span = f.span()
    size = _size(f)
    low: Quadratic | None
    high: Quadratic | None
    if span is not None:
        ends = [*(_long_power(e, n) for e in span), *([(ZERO, ZERO)] if span[0] < 0 < span[1] else [])]
        low, high = Quadratic(min(e for e, _ in ends)), Quadratic(max(e for _, e in ends))
    else:
        even = n % 2 == 0
        high = size.squared() if size is not None and n == 2 else (Quadratic(ZERO) if not even and f.sign < 0 else None)
        low = Quadratic(ZERO) if even or f.sign > 0 else None
        if f.least is not None and f.least > 0:
            low = Quadratic(f.least**n)

    def shown() -> Nonzero:
        sign, low_log = f.nonzero
        return (1 if n % 2 == 0 else sign), low_log and low_log.times(Fraction(n))

    logs = [f.log_above and f.log_above.times(Fraction(n))]
    if size is not None and size.c2 == 0 and size.c1 != 0:  # with a tangent that suits the power
        logs.append(log_power(n).shifted(n * log_above(size.c0 + size.c1)))
    return Bound(f.domain, low, high, tuple(logs), shown)


def _nonzero_power(f: Bound, sign: int, low: Quadratic, e: Fraction) -> Bound:
    """f^e for f that does not vanish; positive if e is not an integer."""
    sign = 1 if e.denominator == 1 and e.numerator % 2 == 0 else sign
    source, other = (f.log_above, low) if e > 0 else (low, f.log_above)
    log = source and source.times(e)
    most = None if log is None else log.maximum(f.domain.start, f.domain.end)
    top = Quadratic(_exp_above(most)) if most is not None and most < _MAX_EXP else None
    if e > 0 and top is None:
        top = _root_above(f, e)
    value_low: Quadratic | None = Quadratic(ZERO)
    least = None if other is None else other.times(e).minimum(f.domain.start, f.domain.end)
    if least is not None:
        value_low = Quadratic(_exp_below(least))
    if sign < 0:
        value_low, top = top and top.times(-ONE), value_low and value_low.times(-ONE)
    elif sign == 0:
        value_low = top and top.times(-ONE)
    return Bound(f.domain, value_low, top, (log,), lambda: (sign, other and other.times(e)))


class EdgePower(sp.Function):  # type: ignore[misc]
    """base^e, e > 0, of a base that is known to be >= 0 on the user's own interval, whose ends need not be rational."""

    nargs = 2


def _edge_power(f: Bound, e: Fraction) -> Bound:
    return Bound(f.domain, Quadratic(ZERO), _root_above(f, e), (f.log_above and f.log_above.times(e),))


def _root_above(f: Bound, e: Fraction) -> Quadratic | None:
    """Above f^e, f >= 0, 0 < e < 1: sqrt(A + B t + C t^2) <= sqrt A + (1 + B t)/2 + sqrt(C) t, else x^e <= 1 + x."""
    if f.above is None or e > 1:
        return None
    q = f.above.absolute()
    if e == Fraction(1, 2):
        root_a, root_c = above(ball(q.c0).sqrt()), above(ball(q.c2).sqrt())
        assert root_a is not None
        assert root_c is not None
        half = Fraction(1, 2) if q.c1 else ZERO
        return Quadratic(root_a + half, q.c1 / 2 + root_c).upwards()
    return q.shifted(ONE)


def _positive_inside(base: sp.Expr, domain: Domain) -> bool:
    """Whether a rational polynomial is positive except possibly at the ends of the user's own interval."""
    coefficients = polynomial.coefficients(base)
    if coefficients is None or not all(c.is_Rational for c in coefficients):
        return False
    values = [Fraction(int(c.p), int(c.q)) * domain.sign**i for i, c in enumerate(coefficients)]
    return polynomial.positive_inside(values, domain.start, domain.end, domain.start_open, domain.end_open)


# Functions -----------------------------------------------------------------------------------------------------------


def _exp_above(x: Fraction) -> Fraction:
    value = above(ball(max(x, Fraction(-_MAX_EXP))).exp())
    assert value is not None
    return value


def _exp_below(x: Fraction) -> Fraction:
    if x < -_MAX_EXP:
        return ZERO
    value = below(ball(min(x, Fraction(_MAX_EXP))).exp())
    return max(value or ZERO, ZERO)


def _exp(g: Bound, _: object = None) -> Bound:
    """log exp g = g; exp g >= 1 + g + g^2/2 for g >= 0."""
    high = Quadratic(_exp_above(g.most)) if g.most is not None and g.most < _MAX_EXP else None
    low = Quadratic(ZERO)
    if g.least is not None:
        low = Quadratic(_exp_below(g.least))
        if g.least >= 0 and g.domain.end is None and g.below is not None:
            square = g.below.squared()
            low = g.below.shifted(ONE).plus(square.times(Fraction(1, 2)) if square is not None else Quadratic(ZERO))
    return Bound(g.domain, low, high, (g.above,), lambda: (1, g.below))


def _log(g: Bound, inner: sp.Expr) -> Bound:
    sign, low = g.nonzero
    if sign <= 0 or low is None:
        raise UndecidedError(f"{brief(inner)} inside a logarithm cannot be shown to be positive")
    return Bound(g.domain, low, g.log_above)


def _monotone(g: Bound, function: Callable[[arb], arb], low: Fraction | int, high: Fraction | int) -> Bound:
    """An increasing function with values in [low, high]."""
    bottom = None if g.least is None else below(function(ball(g.least)))
    top = None if g.most is None else above(function(ball(g.most)))
    return Bound(
        g.domain,
        Quadratic(Fraction(low) if bottom is None else max(bottom, Fraction(low))),
        Quadratic(Fraction(high) if top is None else min(top, Fraction(high))),
    )


def _sigmoidal(function: Callable[[arb], arb], limit: Fraction, slope: Fraction) -> Callable[[Bound, object], Bound]:
    """Odd and increasing to +-limit, with |f(x)| <= slope |x|."""

    def rule(g: Bound, _: object) -> Bound:
        plain = _monotone(g, function, -limit, limit)
        log = g.log_above and g.log_above.shifted(log_above(slope))
        return Bound(g.domain, plain.below, plain.above, (log,), lambda: (g.nonzero[0], None))

    return rule


def _asinh(g: Bound, _: object) -> Bound:
    """Odd and increasing, |asinh x| <= |x|."""
    size = _size(g)
    low = None if g.least is None else below(ball(g.least).asinh())
    high = None if g.most is None else above(ball(g.most).asinh())
    return Bound(
        g.domain,
        (size and size.times(-ONE)) if low is None else Quadratic(low),
        size if high is None else Quadratic(high),
        (g.log_above,),
        lambda: (g.nonzero[0], None),
    )


def _wave(function: Callable[[arb], arb], odd: bool) -> Callable[[Bound, object], Bound]:
    """sin or cos: in [-1, 1], tighter over a short range; |sin x| <= |x|."""

    def rule(g: Bound, _: object) -> Bound:
        span = g.span()
        low, high = -ONE, ONE
        if span is not None and span[1] - span[0] < 4:
            values = function(between(*span))
            bottom, top = below(values), above(values)
            low = low if bottom is None else max(bottom, low)
            high = high if top is None else min(top, high)
        return Bound(g.domain, Quadratic(low), Quadratic(high), (g.log_above,) if odd else ())

    return rule


def _log_exp_size(g: Bound) -> tuple[Quadratic | None, ...]:
    """Upper bounds of |g| = log exp|g|."""
    one_sided = g.above if g.sign > 0 else g.below and g.below.times(-ONE) if g.sign < 0 else None
    return _size(g), one_sided


def _cosh(g: Bound, _: object) -> Bound:
    """exp(|g|)/2 <= cosh g <= exp(|g|), and cosh g >= 1 + g^2/2."""
    logs, span = _log_exp_size(g), g.span()
    sides = [g.below, g.above and g.above.times(-ONE)]
    lows = [Quadratic(ZERO), *(q.shifted(log_below(Fraction(1, 2))) for q in sides if q is not None)]
    low: Quadratic = Quadratic(ONE)
    high = None
    if span is not None and max(map(abs, span)) < _MAX_EXP:
        far = max(map(abs, span))
        near = ZERO if span[0] <= 0 <= span[1] else min(map(abs, span))
        top, bottom = above(ball(far).cosh()), below(ball(near).cosh())
        high, low = None if top is None else Quadratic(top), Quadratic(max(bottom or ONE, ONE))
    else:
        for q in sides:
            least = None if q is None else q.minimum(g.domain.start, g.domain.end)
            square = None if q is None else q.squared()
            if least is not None and least >= 0 and square is not None:
                low = square.times(Fraction(1, 2)).shifted(ONE)
    return Bound(g.domain, low, high, logs, lambda: (1, max(lows, key=Quadratic.key)))


def _sinh(g: Bound, _: object) -> Bound:
    """|sinh g| <= exp|g|; x <= sinh x for x >= 0."""
    logs, span = _log_exp_size(g), g.span()
    low = g.below if g.sign > 0 else None
    high = g.above if g.sign < 0 else None
    if span is not None and max(map(abs, span)) < _MAX_EXP:
        bottom, top = below(ball(span[0]).sinh()), above(ball(span[1]).sinh())
        low, high = Quadratic(bottom or ZERO), Quadratic(top or ZERO)
    return Bound(g.domain, low, high, logs, lambda: (g.sign, None))


def _erfc(g: Bound, _: object = None) -> Bound:
    """In (0, 2); at most exp(-x^2) and at least exp(-x^2 - x - 1/2) for x >= 0 (at least 1 for x <= 0)."""
    bottom = None if g.most is None or g.most > _MAX_ERFC else below(ball(g.most).erfc())
    top = None if g.least is None else above(ball(min(g.least, _MAX_ERFC)).erfc())
    logs: list[Quadratic | None] = []
    if g.least is not None and g.least >= 0 and g.below is not None:
        square = g.below.squared()
        logs.append(square and square.times(-ONE))

    def shown() -> Nonzero:
        if g.sign < 0:
            return 1, Quadratic(ZERO)
        x = g.above and g.above.absolute()
        square = x and x.squared()
        return 1, square and x and square.plus(x).shifted(Fraction(1, 2)).times(-ONE)

    return Bound(
        g.domain,
        Quadratic(max(bottom or ZERO, ZERO)),
        Quadratic(Fraction(2) if top is None else min(top, Fraction(2))),
        tuple(logs),
        shown,
    )


_RULES: dict[object, Callable[[Bound, sp.Expr], Bound]] = {
    sp.exp: _exp,
    sp.log: _log,
    sp.tanh: _sigmoidal(arb.tanh, ONE, ONE),
    sp.erf: _sigmoidal(arb.erf, ONE, Fraction(113, 100)),
    sp.atan: _sigmoidal(arb.atan, Fraction(1571, 1000), ONE),
    sp.asinh: _asinh,
    sp.erfc: _erfc,
    sp.sin: _wave(arb.sin, odd=True),
    sp.cos: _wave(arb.cos, odd=False),
    sp.cosh: _cosh,
    sp.sinh: _sinh,
}
