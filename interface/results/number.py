"""Number: a quantity and how well it is known -- exact, enclosed, bounded or measured -- in one frozen value.

Computations return SymPy expressions, Enclosures, Estimates and floats with bounds; `Number.of` is the one place that
makes what a user sees of them. This module imports nothing heavy, so that `bulkedge --help` stays quick.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bulkedge.theory.numbers.errors import PrecisionError

if TYPE_CHECKING:
    import sympy as sp

DIGITS = 15  # printed where nobody asked for others
_STANDARD_ERRORS = 4  # of a measured number: what may be chance (numerics.trials.estimate.Estimate.margin)
_LONG = 4096  # bits of value and radius from which on they are rounded, outwards
_FLOAT_DIGITS = 15  # a float holds that many digits; beyond, formatting is done in decimals


@dataclass(frozen=True, eq=False, repr=False)
class Number:
    """A real number, an array of them, or an expression with symbols, with its error.

    `value` is an exact rational (a float array for arrays, None where symbols are left) and `radius` what it may be
    off: a bound, or a standard error where `measured`. `exact` is the SymPy expression where one is known; `value` then
    is its decimal value, and `error` is 0. `digits` are the significant digits that are printed.

    Arithmetic propagates the errors: bounds as intervals, standard errors by Minkowski's inequality (so whether or not
    the measurements are correlated; to first order in a product). Comparisons are decided by the error -- for measured
    numbers by four standard errors -- or by the exact expressions, else they raise PrecisionError, `==` included; so a
    Number is not hashable. A float is read as the decimal that it prints as. `float()` and numpy.asarray leave the
    error behind; NumPy's own functions of a Number are refused, so that none loses an error in passing.
    """

    value: Any
    radius: Any
    exact: sp.Expr | None = None
    digits: int = DIGITS
    measured: bool = False

    __array_ufunc__ = None  # NumPy leaves operators to the methods below, which keep the error

    def __post_init__(self) -> None:
        if self.value is None:
            if self.exact is None:
                raise ValueError("a number without a value needs an expression")
        elif not (_all(_finite(self.value)) and _all(_finite(self.radius))):
            raise ArithmeticError(f"a number is not finite: {self.value} +- {self.radius}")
        elif not _all(self.radius >= 0):
            raise ValueError("an error is not negative")

    @classmethod
    def of(
        cls,
        source: Any,
        error: Any = None,
        *,
        exact: sp.Expr | None = None,
        digits: int = DIGITS,
        measured: bool = False,
    ) -> Number:
        """A Number from whatever computations return.

        `source` is a SymPy expression (exact), an Enclosure, an Estimate (measured; its bias enters with a quarter, as
        four standard errors are a margin), an object that has `exact` and `enclosure`, an integer or a Fraction
        (exact), or a float or array with its `error`: a bound, or a standard error where `measured`.
        Errors: ValueError for a float without an error; ArithmeticError for one that is not finite; PrecisionError for
        an expression whose digits cannot be reached.
        """
        if isinstance(source, Number):
            return source
        if hasattr(source, "enclosure"):
            exact, source = source.exact, source.enclosure
        if hasattr(source, "free_symbols"):
            return cls._of_expression(source, digits)
        if hasattr(source, "stderr"):
            radius = _rational(source.stderr) + _rational(source.bias) / _STANDARD_ERRORS
            return cls(_rational(source.value), radius, digits=digits, measured=True)
        if hasattr(source, "error") and hasattr(source, "value"):
            source, error = source.value, source.error
        if error is None:
            if isinstance(source, float):
                raise ValueError(f"a float needs an error: {source!r}")
            error = 0
        if getattr(source, "ndim", 0):
            import numpy as np

            array = np.array(source, float)
            return cls(array, np.broadcast_to(np.array(error, float), array.shape), digits=digits, measured=measured)
        value, radius = _rational(source), _rational(error)
        if exact is None and radius == 0 and not measured:
            exact = _as_sympy(value)
        return cls(value, radius, exact, digits, measured)

    @classmethod
    def without_value(cls, expr: sp.Expr, digits: int = DIGITS, measured: bool = False) -> Number:
        """An expression among quantities with symbols: it has no value there, also where it is a constant."""
        return cls(None, None, expr, digits, measured)

    @classmethod
    def _of_expression(cls, expr: sp.Expr, digits: int) -> Number:
        from bulkedge.theory.numbers.ball import enclose_expr

        if expr.free_symbols:
            return cls.without_value(expr, digits)
        found = enclose_expr(expr, digits)
        return cls(found.value, found.error, expr, digits)

    # -- what it is ----------------------------------------------------------------------------------------------

    @property
    def error(self) -> Any:
        """A bound of |truth - value| before rounding to `digits`, or the standard error; 0 iff `exact` is known.

        A float, rounded up (an array of them); `radius` is the rational itself.
        """
        if self.value is None:
            return None
        return _up(self.limit) if isinstance(self.limit, Fraction) else self.limit

    @property
    def limit(self) -> Any:
        """The error as it is kept: a rational, or an array of floats."""
        return Fraction(0) if self.exact is not None else self.radius

    @property
    def symbolic(self) -> bool:
        """Whether symbols are left, so that there is no value."""
        return self.value is None

    @property
    def is_array(self) -> bool:
        """Whether it is an array of numbers."""
        return not (self.value is None or isinstance(self.value, Fraction))

    # -- symbols -------------------------------------------------------------------------------------------------

    @property
    def expr(self) -> sp.Expr | None:
        """The exact expression, or None where none is known."""
        return self.exact

    @property
    def free_symbols(self) -> frozenset[Any]:
        """The symbols of the exact expression."""
        return frozenset() if self.exact is None else frozenset(self.exact.free_symbols)

    def subs(self, *values: Any) -> Number:
        """The Number with values put for symbols: `subs(x, 2)`, `subs({x: 2, "y": "1/3"})`; a float is its decimal.

        Errors: InputError for a symbol that is not there, and a value that contradicts its assumptions.
        """
        from bulkedge.results.substitution import read_values

        return self.substituted(read_values(values, self.free_symbols))

    def substituted(self, values: Mapping[Any, Any], constants: Mapping[Any, Any] | None = None) -> Number:
        """The Number with exact values put for symbols; `constants` are symbols that stand for enclosed numbers."""
        from bulkedge.results.substitution import substituted

        if self.exact is not None and self.value is None and not self.free_symbols:
            return Number.of(self.exact, digits=self.digits)  # a constant among quantities with symbols
        if self.exact is None or not self.free_symbols:
            return self
        return Number.of(substituted(self.exact, values, constants or {}, self.digits), digits=self.digits)

    def lambdify(self) -> Callable[..., Any]:
        """A NumPy function of the free symbols, in the order of the alphabet or by name; arrays broadcast."""
        from bulkedge.numerics.functions.program import lambdified

        function = lambdified({"value": self._expression()})
        return lambda *args, **kwargs: function(*args, **kwargs)["value"]

    def series(self, symbol: Any, point: Any = 0, order: int = 6, side: str = "+") -> sp.Expr:
        """The expansion at a point up to O((symbol - point)^order), on the side asked for where the two differ.

        Errors: InputError where the case is not decided by the assumptions, or where no expansion is found.
        """
        from bulkedge.theory.numbers.asymptotics import series

        symbol = self._symbol(symbol)
        return series(self._expression(), symbol, _as_expression(point), order, side)

    def limits(self, symbol: Any, point: Any, side: str | None = None) -> Any:
        """The limit from one side, "+" or "-", or both as a pair (from below, from above)."""
        from bulkedge.theory.numbers.asymptotics import limit

        symbol, at = self._symbol(symbol), _as_expression(point)
        found = [limit(self._expression(), symbol, at, s) for s in ("-+" if side is None else side)]
        return tuple(found) if side is None else found[0]

    def _expression(self) -> sp.Expr:
        if self.exact is None:
            raise TypeError(f"{self.text} is not known exactly: it has no expression")
        return self.exact

    def _symbol(self, symbol: Any) -> Any:
        from bulkedge.theory.numbers.errors import InputError

        named = {s.name: s for s in self.free_symbols}
        found = named.get(str(symbol), symbol)
        if isinstance(found, str):
            raise InputError(found, "there is no such symbol", f"there are {', '.join(sorted(named)) or 'none'}")
        return found

    # -- how it prints -------------------------------------------------------------------------------------------

    def decimal(self, digits: int | None = None) -> Any:
        """The value as JSON has it: a decimal string (nested lists of them for arrays), None with symbols."""
        from bulkedge.theory.numbers.enclosure import decimal_string

        shown = self.digits if digits is None else digits
        return _each(lambda value: decimal_string(_rational(value), shown), self.value)

    def bound(self) -> Any:
        """The error as JSON has it: a bound rounded up to three digits, a standard error to `digits`."""
        from bulkedge.theory.numbers.enclosure import decimal_string, error_string

        if self.measured:
            return _each(lambda error: decimal_string(_rational(error), self.digits), self.radius)
        return None if self.value is None else _each(lambda error: error_string(_rational(error)), self.limit)

    def expression(self) -> str | None:
        """The exact expression as SymPy text, or None."""
        if self.exact is None:
            return None
        if self.exact.is_Rational:  # Python refuses to print integers beyond 4300 digits
            from bulkedge.theory.numbers.enclosure import int_to_text

            over = "" if self.exact.q == 1 else "/" + int_to_text(int(self.exact.q))
            return int_to_text(int(self.exact.p)) + over
        return str(self.exact)

    def error_text(self) -> str:
        """The error for a reader: a bound as in JSON, a standard error to two digits."""
        from bulkedge.theory.numbers.enclosure import decimal_string

        return decimal_string(self.radius, 2) if self.measured else str(self.bound())

    @property
    def text(self) -> str:
        """The value with its error for a reader, `0.25 +- 1.2e-9`; an exact number has none."""
        if self.value is None:
            return str(self.exact)
        if self.is_array:
            return f"{self.decimal()} +- {self.bound()}"
        return self.decimal() if self.exact is not None else f"{self.decimal()} +- {self.error_text()}"

    @property
    def latex(self) -> str:
        """LaTeX: the exact expression, or the value with its error."""
        from bulkedge.derivations.engine.latex import decimal, latex

        if self.exact is not None:
            return latex(self.exact)
        return rf"{decimal(self.decimal())} \pm {decimal(self.error_text())}"

    def rounded_latex(self, digits: int) -> str:
        """LaTeX of the value alone, rounded to a few digits."""
        from bulkedge.derivations.engine.latex import decimal

        return decimal(self.decimal(digits))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        exact = "" if self.exact is None or self.expression() == self.text else f", {self.exact}"
        return f"Number({self.text}{exact})"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    def __format__(self, spec: str) -> str:
        """The value in a float's format, `f"{x:.30g}"` with all its digits; without one, `text`."""
        if not spec:
            return self.text
        value = self._scalar("formatted")
        if _precision(spec) <= _FLOAT_DIGITS:
            try:
                return format(float(value), spec)
            except OverflowError:  # beyond the range of floats
                pass
        return format(_decimal(value, _precision(spec) + 5), spec)

    # -- leaving the error behind --------------------------------------------------------------------------------

    def __float__(self) -> float:
        return float(self._scalar("a float"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The values as an array of floats (or of the dtype asked for); numpy.asarray calls it."""
        import numpy as np

        value = self.value if self.is_array else float(self)
        return np.array(value, float if dtype is None else dtype)

    def _scalar(self, asked: str) -> Fraction:
        if self.value is None:
            names = ", ".join(sorted(s.name for s in self.exact.free_symbols))  # type: ignore[union-attr]
            raise TypeError(f"{self.exact} has no value to be {asked}: give numbers for {names}")
        if self.is_array:
            raise TypeError(f"an array of shape {self.value.shape} is not {asked}; take an entry, or numpy.asarray")
        assert isinstance(self.value, Fraction)
        return self.value

    def __len__(self) -> int:
        if not self.is_array:
            raise TypeError("a single number has no length")
        return len(self.value)

    def __getitem__(self, index: Any) -> Number:
        if not self.is_array:
            raise TypeError("a single number has no entries")
        value, radius = self.value[index], self.radius[index]
        if getattr(value, "ndim", 0) == 0:
            value, radius = Fraction(float(value)), Fraction(float(radius))
        return replace(self, value=value, radius=radius)

    # -- arithmetic ----------------------------------------------------------------------------------------------

    def _binary(self, other: Any, function: Callable[[Any, Any], Any], balls: Callable[..., Any], flip: bool) -> Any:
        other = self._read(other)
        if other is None:
            return NotImplemented
        a, b = (other, self) if flip else (self, other)
        exact = None
        if a.exact is not None and b.exact is not None:
            exact = function(a.exact, b.exact)
        if a.value is None or b.value is None:
            if exact is None:
                raise TypeError("a number with symbols goes together with exact ones only")
            return Number.of(exact, digits=self.digits)
        measured = a.measured or b.measured
        if balls is _quotient:
            _check_divisor(b)
        value, radius = _trimmed(*_slack(*balls(*_same_kind(a, b))))
        return Number(value, radius, exact, self.digits, measured)._settled()

    def _settled(self) -> Number:
        """With an exact expression: its value anew where cancellation has taken digits."""
        if self.exact is None:
            return self
        if self.exact.is_Rational:
            return replace(self, value=Fraction(int(self.exact.p), int(self.exact.q)), radius=Fraction(0))
        if self.radius * 10**self.digits <= abs(self.value):
            return self
        try:
            return Number._of_expression(self.exact, self.digits)
        except PrecisionError:
            return self

    def _read(self, other: Any) -> Number | None:
        """The other side of an operator, or None where it is no number."""
        if isinstance(other, Number):
            return other
        if isinstance(other, bool):
            return None
        if isinstance(other, int | Fraction):
            return Number.of(Fraction(other), digits=self.digits)
        if isinstance(other, float):
            if not math.isfinite(other):
                raise ArithmeticError(f"a number is not finite: {other}")
            return Number.of(Fraction(repr(float(other))), digits=self.digits)
        if getattr(other, "ndim", 0):
            import numpy as np

            return Number.of(other, np.zeros(np.shape(other)), digits=self.digits)
        if hasattr(other, "free_symbols") and hasattr(other, "is_extended_real"):
            return Number.of(other, digits=self.digits)
        if hasattr(other, "item") and getattr(other, "ndim", 1) == 0:  # a scalar of NumPy
            return self._read(other.item())
        return None

    def __add__(self, other: Any) -> Any:
        """The sum: errors add."""
        return self._binary(other, operator.add, _sum, False)

    def __radd__(self, other: Any) -> Any:
        return self._binary(other, operator.add, _sum, True)

    def __sub__(self, other: Any) -> Any:
        """The difference: errors add."""
        return self._binary(other, operator.sub, _difference, False)

    def __rsub__(self, other: Any) -> Any:
        return self._binary(other, operator.sub, _difference, True)

    def __mul__(self, other: Any) -> Any:
        """The product: errors |x| dy + |y| dx + dx dy."""
        return self._binary(other, operator.mul, _product, False)

    def __rmul__(self, other: Any) -> Any:
        return self._binary(other, operator.mul, _product, True)

    def __truediv__(self, other: Any) -> Any:
        """The quotient: errors (dx + |x/y| dy)/(|y| - dy); a divisor that may be 0 is refused."""
        return self._binary(other, operator.truediv, _quotient, False)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary(other, operator.truediv, _quotient, True)

    def __pow__(self, power: int) -> Number:
        """A whole power."""
        if isinstance(power, bool) or not isinstance(power, int):
            return NotImplemented
        if power < 0:
            inverse: Number = 1 / self**-power
            return inverse
        exact = None if self.exact is None else self.exact**power
        if self.value is None:
            return replace(self, exact=exact)
        value, radius = (self.value, self.radius) if power else (self.value * 0 + 1, self.radius * 0)
        for bit in f"{power:b}"[1:] if power else "":  # squaring, from the leading bit on
            value, radius = _trimmed(*_slack(*_product(value, radius, value, radius)))
            if bit == "1":
                value, radius = _trimmed(*_slack(*_product(value, radius, self.value, self.radius)))
        return replace(self, value=value, radius=radius, exact=exact)._settled()

    def __neg__(self) -> Number:
        exact = None if self.exact is None else -self.exact
        return replace(self, value=None if self.value is None else -self.value, exact=exact)

    def __pos__(self) -> Number:
        return self

    def __abs__(self) -> Number:
        exact = None if self.exact is None else abs(self.exact)
        return replace(self, value=None if self.value is None else abs(self.value), exact=exact)

    # -- comparison ----------------------------------------------------------------------------------------------

    def _compared(self, other: Any, decide: Callable[[Any, Any], Any], refute: Callable[[Any, Any], Any]) -> Any:
        """Decide from the ends of what self - other may be."""
        if self is other:  # whatever its value
            gap: Any = Number.of(0)
        else:
            known = self._read(other)
            if known is None:
                return NotImplemented
            gap = self - known
        if gap.value is None:
            gap = _without_symbols(gap)
        margin = gap.radius * (_STANDARD_ERRORS if gap.measured else 1)
        yes, no = decide(gap.value - margin, gap.value + margin), refute(gap.value - margin, gap.value + margin)
        if _all(yes | no):
            return yes
        raise PrecisionError(
            f"not decided: {self} and {other} differ by less than their errors; ask for more digits, or compare float()"
        )

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda low, high: high < 0, lambda low, high: low >= 0)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda low, high: high <= 0, lambda low, high: low > 0)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda low, high: low > 0, lambda low, high: high <= 0)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda low, high: low >= 0, lambda low, high: high < 0)

    def __eq__(self, other: object) -> Any:
        return self._compared(
            other, lambda low, high: (low == 0) & (high == 0), lambda low, high: (low > 0) | (high < 0)
        )

    def __ne__(self, other: object) -> Any:
        return self._compared(
            other, lambda low, high: (low > 0) | (high < 0), lambda low, high: (low == 0) & (high == 0)
        )

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        """Whether it is not zero; decided as the comparisons are."""
        return bool(self != 0)


def short(value: Any, digits: int = 4) -> str:
    """A number rounded to a few digits, for a sentence, a legend or a cell whose error stands in the next one."""
    from bulkedge.theory.numbers.enclosure import decimal_string

    found = value.value if isinstance(value, Number) else value
    return decimal_string(_rational(found), digits)


def magnitude(log10: float) -> str:
    """A size to two digits, however large, from its logarithm: 430, 1.2e+08, 1e4520."""
    if log10 >= 300:  # beyond the floats
        return f"1e{round(log10)}"
    size = float(short(10.0**log10, 2))
    return str(int(size)) if log10 < 6 else f"{size:.1e}"


def exactly(value: float) -> str:
    """A float as the shortest decimal that reads back to it."""
    return short(Fraction(repr(float(value))), 17)


def resolved(value: Any, resolution: float) -> str:
    """A number with as many decimals as a resolution deserves, and one more; 12 digits where these are many."""
    decimals = max(0, 1 - math.floor(math.log10(resolution)))
    number = Number.of(value, 0) if isinstance(value, float) else Number.of(value)
    return f"{number:.{decimals}f}" if decimals <= 12 else short(number, 12)


# -- values and radii: rationals, or arrays of floats ----------------------------------------------------------------


def _sum(a: Any, r: Any, b: Any, s: Any) -> tuple[Any, Any]:
    return a + b, r + s


def _difference(a: Any, r: Any, b: Any, s: Any) -> tuple[Any, Any]:
    return a - b, r + s


def _product(a: Any, r: Any, b: Any, s: Any) -> tuple[Any, Any]:
    return a * b, abs(a) * s + abs(b) * r + r * s


def _quotient(a: Any, r: Any, b: Any, s: Any) -> tuple[Any, Any]:
    if isinstance(a, Fraction):
        quotient = a / b
        return quotient, (r + abs(quotient) * s) / (abs(b) - s)
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond the floats is refused where it is made a Number
        quotient = a / b
        return quotient, (r + abs(quotient) * s) / (abs(b) - s)


def _check_divisor(b: Number) -> None:
    far = _STANDARD_ERRORS if b.measured else 1
    if not _all(abs(b.value) > far * b.radius):
        if _all(b.radius == 0):
            raise ZeroDivisionError("division by zero")
        raise PrecisionError(f"division by {b}, which its error does not tell from 0")


def _slack(value: Any, radius: Any) -> tuple[Any, Any]:
    """A float array's rounding in the radius; rationals have none."""
    if isinstance(value, Fraction):
        return value, radius
    # One operation rounds by 2^-53 of the result, the radius' few by 2^-50 of it; 5e-324 where it underflows.
    return value, radius * (1 + 2.0**-48) + abs(value) * 2.0**-52 + 5e-324


def _trimmed(value: Any, radius: Any) -> tuple[Any, Any]:
    """Long rationals rounded outwards, so that repeated arithmetic stays cheap."""
    if not isinstance(value, Fraction) or radius == 0:
        return value, radius
    if sum(x.bit_length() for q in (value, radius) for x in (q.numerator, q.denominator)) < _LONG:
        return value, radius
    # A unit of at most 2^-20 of the radius: what is rounded away is a millionth of the error.
    places = 21 - (radius.numerator.bit_length() - radius.denominator.bit_length())
    unit = Fraction(1, 2**places) if places >= 0 else Fraction(2**-places)
    return round(value / unit) * unit, math.ceil(radius / unit + Fraction(1, 2)) * unit


def _same_kind(a: Number, b: Number) -> tuple[Any, Any, Any, Any]:
    """Both as rationals, or both as arrays of floats."""
    if not (a.is_array or b.is_array):
        return a.value, a.radius, b.value, b.radius
    return (*_as_floats(a), *_as_floats(b))


def _as_floats(x: Number) -> tuple[Any, Any]:
    if x.is_array:
        return x.value, x.radius
    import numpy as np

    value = float(x.value)
    return np.float64(value), np.float64(_up(x.radius + abs(x.value - Fraction(value))))


def _without_symbols(gap: Number) -> Number:
    """A difference with symbols left, where it is a constant all the same."""
    import sympy as sp

    simple = sp.simplify(gap.exact)
    if simple.free_symbols:
        raise PrecisionError(f"not decided: the difference {simple} has symbols; give them numbers")
    return Number.of(simple, digits=gap.digits)


def _as_expression(value: Any) -> sp.Expr:
    """A point: an expression, or a number (a float is its decimal)."""
    import sympy as sp

    return value if isinstance(value, sp.Expr) else Number.of(0)._read(value).exact  # type: ignore[union-attr]


def _up(value: Fraction) -> float:
    """The least float that is not below a rational (infinity beyond their range)."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    return math.nextafter(near, math.inf) if Fraction(near) < value else near


def _rational(value: Any) -> Fraction:
    """An integer, rational or float, exactly.

    Errors: ArithmeticError where it is not finite.
    """
    if isinstance(value, Fraction):
        return value
    if hasattr(value, "free_symbols"):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, float) and not math.isfinite(value):
        raise ArithmeticError(f"a number is not finite: {value}")
    return Fraction(value) if isinstance(value, int | float) else Fraction(value.item())


def _as_sympy(value: Fraction) -> sp.Expr:
    import sympy as sp

    return sp.Rational(value.numerator, value.denominator)


def _finite(value: Any) -> Any:
    if isinstance(value, Fraction):
        return True
    import numpy as np

    return np.isfinite(value)


def _all(condition: Any) -> bool:
    """A condition, for every entry of an array."""
    return bool(condition.all()) if hasattr(condition, "all") else bool(condition)


def _each(function: Callable[[Any], str], value: Any) -> Any:
    """The function of a number, or of the entries of an array as nested lists."""
    if value is None:
        return None
    if getattr(value, "ndim", 0):
        return [_each(function, entry) for entry in value]
    return function(value)


def _precision(spec: str) -> int:
    """The digits that a format asks for (a float's default is six)."""
    import re

    found = re.search(r"\.(\d+)", spec)
    return int(found[1]) if found else 6


def _decimal(value: Fraction, places: int) -> Any:
    """A Decimal that formats as the rational itself does.

    Rounded "05up", away from a last digit of 0 or 5: the format's own rounding then never sees a false tie.
    """
    import decimal

    from bulkedge.theory.numbers.enclosure import floor_log10

    before = max(0, floor_log10(abs(value)) + 1) if value else 0  # digits before the point, which %f does not count
    limit = 10**9
    context = decimal.Context(prec=places + before, rounding=decimal.ROUND_05UP, Emax=limit, Emin=-limit)
    return context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
