"""Enclosure: a number with a rigorous or tested bound of its error, independent of any working precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpz


def decimal_string(value: Fraction, digits: int) -> str:
    """`value` rounded to `digits` significant digits as a plain or exponent decimal string (ties to even).

    Exact rational arithmetic throughout, so that the last digit printed is right for any `digits`.
    """
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    value = abs(value)
    exponent = floor_log10(value)
    scaled = round(value * Fraction(10) ** (digits - 1 - exponent))
    if scaled >= 10**digits:
        scaled //= 10
        exponent += 1
    text = int_to_text(scaled).ljust(digits, "0")
    if -5 <= exponent < max(digits, 16):
        if exponent >= 0:
            whole, frac = text[: exponent + 1].ljust(exponent + 1, "0"), text[exponent + 1 :]
        else:
            whole, frac = "0", "0" * (-exponent - 1) + text
        frac = frac.rstrip("0")
        return sign + whole + ("." + frac if frac else "")
    frac = text[1:].rstrip("0")
    return f"{sign}{text[0]}{'.' + frac if frac else ''}e{exponent:+d}"


def error_string(error: Fraction) -> str:
    """An upper bound of `error` to three significant digits, "0" iff it is zero."""
    if error == 0:
        return "0"
    exponent = floor_log10(error)
    unit = Fraction(10) ** (exponent - 2)
    up = -((-error) // unit)
    return decimal_string(up * unit, 4)


def int_to_text(n: int) -> str:
    """The decimal digits of an integer of any size: Python's own conversion refuses beyond 4300 digits."""
    return str(fmpz(n))


def floor_log10(value: Fraction) -> int:
    """Floor of log10 of a positive rational, by bit lengths first so that huge powers stay cheap."""
    estimate = int((value.numerator.bit_length() - value.denominator.bit_length()) * 0.30102999566398120)
    while Fraction(10) ** estimate > value:
        estimate -= 1
    while Fraction(10) ** (estimate + 1) <= value:
        estimate += 1
    return estimate


@dataclass(frozen=True)
class Enclosure:
    """A real number known up to a bound: |truth - value| <= error.

    Shapes/units: `value` and `error` are exact rationals (a ball's midpoint and radius are dyadic), so nothing
    depends on a working precision. `source` says where the bound comes from ("exact", "ball", "tested", ...).
    """

    value: Fraction
    error: Fraction
    source: str = "ball"

    def __post_init__(self) -> None:
        if self.error < 0:
            raise ValueError("an error bound is not negative")

    def __float__(self) -> float:
        return float(self.value)

    @property
    def bound(self) -> float:
        """The error as a float, rounded up; inf where an enclosure says nothing in floats."""
        try:
            return math.nextafter(float(self.error), math.inf) if self.error else 0.0
        except OverflowError:
            return math.inf

    def __add__(self, other: Enclosure) -> Enclosure:
        """The sum; exact rational arithmetic, so only the errors add."""
        return Enclosure(self.value + other.value, self.error + other.error, self._source(other))

    def __sub__(self, other: Enclosure) -> Enclosure:
        """The difference."""
        return Enclosure(self.value - other.value, self.error + other.error, self._source(other))

    def __mul__(self, other: Enclosure | int) -> Enclosure:
        """The product: errors |x| dy + |y| dx + dx dy."""
        if isinstance(other, int):
            return Enclosure(self.value * other, self.error * abs(other), self.source)
        error = abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        return Enclosure(self.value * other.value, error, self._source(other))

    def _source(self, other: Enclosure) -> str:
        return other.source if self.exact else self.source

    @property
    def exact(self) -> bool:
        """Whether the value is exactly known."""
        return self.error == 0

    def contains(self, other: float | Fraction) -> bool:
        """Whether `other` lies in the enclosure."""
        return abs(self.value - Fraction(other)) <= self.error

    def value_string(self, digits: int) -> str:
        """The value rounded to `digits` significant digits."""
        return decimal_string(self.value, digits)

    def error_string(self) -> str:
        """The error bound, rounded up to three significant digits."""
        return error_string(self.error)

    def reaches(self, digits: int) -> bool:
        """Whether the error is at most half a unit of the `digits`-th significant digit (or the value is exact)."""
        if self.error == 0:
            return True
        if self.value == 0:
            return False
        return self.error <= Fraction(10) ** (floor_log10(abs(self.value)) - digits + 1) / 2
