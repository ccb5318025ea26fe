"""How a step is verified: exactly, else (constants) by enclosure, else at random points to 25 digits, else not at all.

The exact route never runs before a numerical look: a step that is false at some admissible point is refuted there at
once, and SymPy is asked to prove only what is numerically true.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

DIGITS = 25
POINTS = 5
GUARD = 15
QUICK = 10
# SymPy's simplify is asked only about differences of this many operations; beyond it may run for minutes.
_SIMPLIFY_OPERATIONS = 150


class Undecided(ArithmeticError):  # noqa: N818 -- it is a verdict
    """A relation that was not verified: refuted at a point, or undecided."""


@dataclass(frozen=True)
class Domain:
    """Where a relation is claimed: the symbols' own assumptions, and conditions on them. `seed` fixes the points."""

    conditions: tuple[Any, ...] = ()
    seed: str = ""

    def points(self, symbols: set[Any], count: int) -> Iterator[dict[Any, Any]]:
        """`count` random rational admissible points (one empty point where there is no symbol)."""
        if not symbols:
            yield {}
            return
        generator = random.Random(int.from_bytes(hashlib.sha256(self.seed.encode()).digest()[:8], "big"))
        needed = set(symbols).union(*(c.free_symbols for c in self.conditions if c.free_symbols & symbols))
        ordered = sorted(needed, key=lambda s: s.name)
        found = 0
        for _ in range(3000):
            point = {s: _draw(s, generator) for s in ordered}
            if all(c.subs(point) == sp.true for c in self.conditions if c.free_symbols <= needed):
                yield point
                found += 1
                if found == count:
                    return
        raise Undecided(f"no admissible points were found for {ordered} under {self.conditions}")


def _draw(symbol: Any, generator: random.Random) -> Any:
    if symbol.is_integer:
        low = 1 if symbol.is_positive else (0 if symbol.is_nonnegative else -6)
        step = 2 if symbol.is_even or symbol.is_odd else 1
        value = generator.randint(low, 12)
        return sp.Integer(value + (step == 2 and bool(value % 2) != bool(symbol.is_odd)))
    scale = generator.choice((1, 1, 2, 4))
    size = sp.Rational(generator.randint(1, 997), 997) * scale
    if symbol.is_positive or symbol.is_nonnegative:
        return size
    if symbol.is_negative or symbol.is_nonpositive:
        return -size
    real = size * generator.choice((-1, 1))
    if symbol.is_real:
        return real
    return real + sp.I * sp.Rational(generator.randint(1, 997), 997)


def evaluate(expression: Any, point: dict[Any, Any], digits: int = DIGITS) -> Any:
    """The value at a point to `digits` digits, twice at different precisions, or Undecided."""
    try:
        at = expression.subs(point)
    except OverflowError:
        raise Undecided(f"no value at {_shown(point)}: too large") from None
    at = at.doit() if at.has(sp.Sum, sp.Derivative, sp.Product, sp.Subs) else at
    if at.free_symbols:
        raise Undecided(f"no value: {sorted(at.free_symbols, key=str)} stay free")
    guard = GUARD if digits == DIGITS else 4
    values = [sp.N(at, digits + guard, maxn=2000), sp.N(at, digits + 2 * guard, maxn=2000)]
    for value in values:
        real, imaginary = value.as_real_imag()
        if not (real.is_Number and imaginary.is_Number and real.is_finite and imaginary.is_finite):
            raise Undecided(f"no value at {_shown(point)}")
    if not _near(values[0], values[1], digits):
        raise Undecided(f"the value at {_shown(point)} is not stable to {digits} digits")
    return values[1]


def _near(a: Any, b: Any, digits: int = DIGITS) -> bool:
    """Equal to `digits` digits: relative, but absolute against zero (where nothing is left to be relative to)."""
    small = sp.Rational(1, 10**digits)
    sizes = [abs(sp.N(v, 60)) for v in (a, b)]
    zero = min(sizes) <= small**2
    return bool(abs(sp.N(a - b, 60)) <= small * (1 if zero else max(sizes)))


def _shown(point: dict[Any, Any]) -> str:
    return ", ".join(f"{s} = {v}" for s, v in point.items()) or "the constant"


def equal(a: Any, b: Any, domain: Domain) -> str:
    """How a = b was verified: a quick look at one point, then SymPy, then all points to full precision."""
    if a == b:
        return "exact"
    if a.has(sp.MatrixSymbol) or b.has(sp.MatrixSymbol):
        raise Undecided("matrices are compared literally")
    symbols = a.free_symbols | b.free_symbols
    trouble: Undecided | None = None
    try:
        _look(a, b, domain.points(symbols, 1), QUICK)
    except Refuted:
        raise
    except Undecided as error:
        trouble = error
    if _vanishes(a - b) or (_same_product(a, b) and _agree(a, b, domain)):
        return "exact"
    if not symbols and _enclosed(a - b):
        return f"enclosure: the difference vanishes to {DIGITS} digits"
    if trouble is not None:
        gap = sp.expand((a - b).doit())
        if gap.is_Number and gap != 0:
            raise Refuted(f"the difference is {gap}")
        raise trouble
    checked = _look(a, b, domain.points(symbols, POINTS), DIGITS)
    return f"checked to {DIGITS} digits" + (f" at {checked} points" if symbols else "")


def _enclosed(difference: Any) -> bool:
    """Whether ball arithmetic encloses a constant difference within 10^-DIGITS of zero."""
    from bulkedge.theory.numbers.ball import enclose_expr
    from bulkedge.theory.numbers.errors import InputError, PrecisionError

    try:
        ball = enclose_expr(difference + 1, DIGITS + 1)
    except (InputError, PrecisionError):
        return False
    return ball.contains(1) and ball.error < Fraction(1, 10**DIGITS)


def _look(a: Any, b: Any, points: Iterable[dict[Any, Any]], digits: int) -> int:
    """Compare at the points; returns their number. Errors: Refuted, or Undecided where there is no value."""
    count = 0
    for point in points:
        left, right = evaluate(a, point, digits), evaluate(b, point, digits)
        if not _near(left, right, digits):
            raise Refuted(f"refuted at {_shown(point)}: {sp.N(left, 12)} is not {sp.N(right, 12)}")
        count += 1
    return count


class Refuted(Undecided):
    """A relation that is false at an admissible point."""


def _without_roots(expr: Any) -> Any:
    """Roots out of the denominators; not within pairs of a Piecewise or lists of a hypergeometric function, which
    SymPy before 1.14 would multiply."""
    plain = all(isinstance(node, sp.Expr) for node in sp.preorder_traversal(expr))
    return sp.radsimp(sp.together(sp.expand(expr))) if plain else expr


def _vanishes(difference: Any) -> bool:
    """Whether SymPy shows that a difference is identically zero."""
    integrals = difference
    try:
        difference = difference.doit()
    except NotImplementedError:
        return False
    attempts: tuple[Callable[[Any], Any], ...] = (
        lambda e: e,
        sp.expand,
        lambda e: sp.cancel(sp.together(e)),
        _without_roots,
        lambda e: sp.expand(sp.powsimp(sp.expand(e, func=True, power_base=True), force=False)),
        lambda e: sp.expand(sp.expand_trig(e)),
        _absolute,
        _radicals,
        _symbolic_powers,
        sp.gammasimp,
        # Before SymPy's conditions of an integral's convergence are simplified: they are the domain's, and take long.
        lambda e: sp.simplify(integrals.doit(conds="none")) if e.has(sp.Integral) else e,
        sp.simplify,
    )
    long = sp.count_ops(difference) > _SIMPLIFY_OPERATIONS
    for attempt in attempts[:-2] if long else attempts:
        try:
            if attempt(difference) == 0:
                return True
        except (NotImplementedError, ValueError, TypeError, AttributeError, sp.PolynomialError):
            continue
    return False


def _absolute(difference: Any) -> Any:
    """The difference with maxima as absolute values, whose arguments are factored (so that |x/c| = |x|/c for c > 0)."""
    if not difference.has(sp.Max, sp.Min, sp.Abs):
        return difference
    # Positive symbols as squares, so that c - 1 has the factors that its roots need.
    squares = {x: sp.Dummy(x.name, positive=True) ** 2 for x in difference.free_symbols if x.is_positive}
    rooted = difference.rewrite(sp.Abs).subs(squares)
    rooted = rooted.replace(lambda e: e.is_Pow and not e.exp.is_Integer, lambda e: sp.factor(e.base) ** e.exp)
    return sp.expand(sp.together(rooted.replace(sp.Abs, lambda x: sp.Abs(sp.factor(x)))))


def _symbolic_powers(difference: Any) -> Any:
    """The difference with powers of a symbolic exponent as one letter each, times whole powers of their bases."""
    letters: dict[Any, Any] = {}

    def split(power: Any) -> Any:
        number, rest = power.exp.as_coeff_Add()
        whole = sp.floor(number)
        letter = letters.setdefault((power.base, rest + number - whole), sp.Dummy(positive=True))
        return letter * power.base**whole

    powers = difference.atoms(sp.Pow)
    if not any(p.exp.free_symbols for p in powers) or difference.has(sp.Integral, sp.Sum):
        return difference
    rational = difference.replace(lambda e: e.is_Pow and bool(e.exp.free_symbols), split)
    return sp.factor(_lowered(rational))


def _lowered(expression: Any) -> Any:
    """Gamma functions whose arguments differ by integers by the one with the least argument."""
    least: dict[Any, Any] = {}
    for gamma in expression.atoms(sp.gamma):
        number, rest = gamma.args[0].as_coeff_Add()
        key = (rest, number % 1)
        least[key] = min(number, least.get(key, number))

    def lower(argument: Any) -> Any:
        number, rest = argument.as_coeff_Add()
        low = least[rest, number % 1]
        return sp.expand_func(sp.rf(rest + low, number - low)) * sp.gamma(rest + low)

    return expression.replace(sp.gamma, lower)


def _radicals(difference: Any) -> Any:
    """The difference with the radicands factored, what is positive in them taken out, over a common denominator."""

    def split(power: Any) -> Any:
        return sp.expand_power_base(sp.factor(power.base) ** power.exp)

    rooted = difference.replace(lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer, split)
    return sp.expand(sp.numer(sp.together(sp.expand(rooted))))


def _agree(a: Any, b: Any, domain: Domain) -> bool:
    """Whether both sides agree at three points or more where they have a value: their signs, once their sizes do."""
    agreed = 0
    for point in domain.points(a.free_symbols | b.free_symbols, 3 * POINTS):
        try:
            # Floats: exact powers of rationals would grow.
            at = {x: v if x.is_integer else sp.Float(v, 60) for x, v in point.items()}
            agreed += _look(a, b, [at], QUICK)
        except Refuted:
            raise
        except Undecided:
            continue
        if agreed == 3:
            return True
    return False


def _same_product(a: Any, b: Any) -> bool:
    """Whether two products of powers that agree at a point have equal logarithms, up to the signs of their factors."""
    if not (a.is_Mul or a.is_Pow) or not (b.is_Mul or b.is_Pow) or a.has(sp.Integral, sp.Sum):
        return False

    def log(e: Any) -> Any:
        total = sp.Integer(0)
        for base, power in sp.expand_func(e).as_powers_dict().items():
            numerator, denominator = sp.fraction(sp.together(base))
            for part, side in ((numerator, 1), (denominator, -1)):
                number, factors = sp.factor_list(part)
                total += side * power * sp.log(abs(number))
                total += sp.Add(
                    *(side * power * n * sp.log(-f if f.could_extract_minus_sign() else f) for f, n in factors)
                )
        return total

    return bool(sp.expand(sp.expand_log(log(a) - log(b))) == 0)


def _slacks(domain: Domain) -> dict[Any, Any]:
    """For conditions x > bound and x < bound: x as the bound plus or minus a positive slack."""
    found: dict[Any, Any] = {}
    for condition in domain.conditions:
        if isinstance(condition, sp.StrictGreaterThan | sp.StrictLessThan) and condition.lhs.is_Symbol:
            sign = 1 if isinstance(condition, sp.StrictGreaterThan) else -1
            slack = sp.Dummy(condition.lhs.name, positive=True)
            found.setdefault(condition.lhs, condition.rhs + sign * slack)
    return found


def _grows_from_zero(gap: Any, slacks: dict[Any, Any]) -> bool:
    """Whether a gap is not negative because it is so where one slack vanishes, and grows with this slack."""
    inside = gap.subs(slacks)
    for bounded in slacks.values():
        (slack,) = bounded.atoms(sp.Dummy)
        growth = sp.factor(sp.together(inside.diff(slack)))
        if growth.is_nonnegative and sp.simplify(inside.subs(slack, 0)).is_nonnegative:
            return True
    return False


def _not_negative(a: Any, b: Any, order: str, domain: Domain) -> bool:
    """Whether SymPy shows a <= b (or a >= b), of what is positive also by the logarithms."""
    low, high = (a, b) if order == "<=" else (b, a)
    slacks = _slacks(domain)
    gaps = [high - low]
    if all(e.subs(slacks).is_positive for e in (low, high)):
        gaps.append(sp.expand_log(sp.log(high.subs(slacks)) - sp.log(low.subs(slacks))))
    return any(_grows_from_zero(gap, slacks) for gap in gaps)


def compare(a: Any, b: Any, order: str, domain: Domain) -> str:
    """How the inequality a (order) b was verified; of integrals over the same range, by their integrands."""
    if isinstance(a, sp.Integral) and isinstance(b, sp.Integral) and a.limits == b.limits and len(a.limits) == 1:
        ((x, low, high),) = a.limits
        ends = tuple(c for c, end in ((x > low, low), (x < high, high)) if end.is_finite is not False)
        return compare(a.function, b.function, order, Domain((*domain.conditions, *ends), domain.seed))
    gap = b - a if order in {"<=", "<"} else a - b
    strict = order in {"<", ">"}
    gap = sp.factor(sp.together(gap)) if sp.count_ops(gap) <= _SIMPLIFY_OPERATIONS else gap
    if gap.is_positive or (not strict and gap.is_nonnegative) or (not strict and _not_negative(a, b, order, domain)):
        return "exact"
    count = 4 * POINTS
    symbols = gap.free_symbols
    for point in domain.points(symbols, count):
        value = evaluate(gap, point)
        if not (value > 0 or (value == 0 and not strict)):
            raise Refuted(f"refuted at {_shown(point)}: the gap is {sp.N(value, 12)}")
    return f"checked to {DIGITS} digits" + (f" at {count} points" if symbols else "")


def _stirling(product: Any, symbol: Any, point: Any) -> Any:
    """A product with its Gamma functions of a growing argument replaced by what they are asymptotic to.

    Gamma(r x + a) ~ sqrt(2 pi) (r x)^(r x + a - 1/2) e^(-r x). The limit of the product is the same, and SymPy finds it
    in a hundredth of the time.
    """
    product = sp.powsimp(product.replace(sp.factorial, lambda n: sp.gamma(n + 1)))
    if point != sp.oo or not product.is_Mul or not product.has(sp.gamma):
        return product
    grown, log = [], sp.Integer(0)
    for base, power in product.as_powers_dict().items():
        rate = base.args[0].diff(symbol) if isinstance(base, sp.gamma) else None
        if rate is None or not (rate.is_Rational and rate > 0 and power.is_Integer):
            grown.append(base**power)
            continue
        shift = sp.expand(base.args[0] - rate * symbol)
        log += power * ((rate * symbol + shift - sp.Rational(1, 2)) * (sp.log(rate) + sp.log(symbol)) - rate * symbol)
        log += power * sp.log(2 * sp.pi) / 2
    return sp.Mul(*grown) * sp.exp(sp.expand(log))


def tends(a: Any, b: Any, symbol: Any, point: Any, side: str, domain: Domain) -> str:
    """How lim a = b was verified."""
    try:
        limit = sp.limit(_stirling(a, symbol, point), symbol, point, side)
        if not limit.has(sp.Limit, sp.AccumBounds):
            return equal(limit, b, domain)
    except Refuted:
        raise
    except (NotImplementedError, ValueError, TypeError, AttributeError, RecursionError, Undecided, sp.PoleError):
        pass
    others = (a.free_symbols | b.free_symbols) - {symbol}
    return _along(lambda x: (a.subs(symbol, x), b), symbol, point, side, others, domain)


def asymptotic(a: Any, b: Any, symbol: Any, point: Any, domain: Domain) -> str:
    """How a ~ b was verified."""
    try:
        if sp.limit(sp.simplify(_stirling(a / b, symbol, point)), symbol, point) == 1:
            return "exact"
    except (NotImplementedError, ValueError, TypeError, AttributeError, RecursionError, sp.PoleError):
        pass
    others = (a.free_symbols | b.free_symbols) - {symbol}
    return _along(lambda x: ((a / b).subs(symbol, x), sp.Integer(1)), symbol, point, "+", others, domain)


def _along(
    sides: Callable[[Any], tuple[Any, Any]], symbol: Any, point: Any, side: str, others: set[Any], domain: Domain
) -> str:
    """The gap along 10^3, 10^6, ..., 10^15 (or towards a finite point) must shrink by a factor at every term."""
    scales = [sp.Integer(10) ** (3 * i) for i in range(1, 6)]
    towards = -1 if side == "-" else 1
    # Floats of 120 digits: SymPy would compute factorials and powers of an integer this large exactly.
    places = [sp.Float(s if point == sp.oo else -s if point == -sp.oo else point + towards / s, 120) for s in scales]
    for chosen in domain.points(others, 3):
        gaps = []
        for place in places:
            left, right = sides(place)
            target = evaluate(right, chosen)
            gaps.append(abs(sp.N(evaluate(left, chosen) - target, 40)) / max(abs(target), sp.Rational(1, 10**6)))
        shrinking = all(later <= earlier / 5 for earlier, later in itertools.pairwise(gaps) if earlier > 0)
        if not (shrinking and gaps[-1] < sp.Rational(1, 1000)):
            raise Refuted(f"the gap does not close: {', '.join(str(sp.N(g, 3)) for g in gaps)} at {_shown(chosen)}")
    return f"checked along {symbol} = {sp.Float(places[0], 6):g}, ..., {sp.Float(places[-1], 6):g}"
