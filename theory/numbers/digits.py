"""How many significant digits may be asked for."""

from __future__ import annotations

from numbers import Integral

from bulkedge.theory.numbers.errors import InputError

MAX_DIGITS = 1000
GUARD_DIGITS = 50  # what inner computations may ask for beyond the user's digits


def check_digits(digits: int, guard: int = 0) -> int:
    """Return `digits` if it is an integer in 1..1000 (+ guard digits), else raise InputError."""
    if isinstance(digits, bool) or not isinstance(digits, Integral) or not 1 <= digits <= MAX_DIGITS + guard:
        shown = repr(digits) if isinstance(digits, str) else str(digits)
        raise InputError("digits", f"{shown[:40]} is not a number of significant digits", f"give 1..{MAX_DIGITS}")
    return int(digits)
