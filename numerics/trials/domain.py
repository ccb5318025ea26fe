"""What numbers the numeric layer takes: finite, and of a size whose powers and products stay in double precision."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bulkedge.theory.numbers.errors import InputError

SMALLEST, LARGEST = 1e-50, 1e50  # powers up to the sixth stay within 1e-308..1e308


def positive(value: float, argument: str) -> float:
    """`value` as a float, if it is a positive number within SMALLEST..LARGEST; else InputError naming the argument."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(argument, f"{value!r} is not a number", "give a positive finite number") from None
    if not (math.isfinite(number) and number > 0) or isinstance(value, bool):
        raise InputError(argument, f"{value!r} is not a positive finite number", "give a positive finite number")
    if not SMALLEST <= number <= LARGEST:
        raise _beyond(argument, number)
    return number


def nonnegative(value: float, argument: str) -> float:
    """As `positive`, or 0."""
    return 0.0 if not isinstance(value, bool) and value == 0 else positive(value, argument)


def finite(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """`values` as a float array without nan; numbers nearer to 0 count as +-SMALLEST, those beyond LARGEST as infinite.

    Errors: InputError for nan.
    """
    array = np.asarray(values, dtype=float)
    if array.ndim == 0 and (array == 0 or SMALLEST <= abs(array) <= LARGEST):
        return array  # one number, as root finding asks for by the thousand: without NumPy's overheads
    if np.isnan(array).any():
        raise InputError(argument, "holds nan", "give numbers")
    size = np.abs(array)
    if np.any(size > LARGEST) or np.any((size < SMALLEST) & (size > 0)):
        low = np.where((size < SMALLEST) & (size > 0), np.copysign(SMALLEST, array), array)
        array = np.where(size > LARGEST, np.copysign(np.inf, array), low)
    return array


def within(values: ArrayLike, argument: str) -> None:
    """Nothing, if every number is 0, infinite, or of a size within SMALLEST..LARGEST; else InputError."""
    size = np.abs(np.asarray(values))
    bad = (size > 0) & np.isfinite(size) & ((size < SMALLEST) | (size > LARGEST))
    if np.any(bad):
        raise _beyond(argument, float(size[bad].flat[0]))


def _beyond(argument: str, number: float) -> InputError:
    return InputError(argument, f"{number:.3g} is too small or too large", f"stay within {SMALLEST:g}..{LARGEST:g}")
