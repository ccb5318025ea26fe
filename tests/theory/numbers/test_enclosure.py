"""Decimal strings are right in the last digit printed; error strings never round down."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkedge.theory.numbers.digits import check_digits
from bulkedge.theory.numbers.enclosure import Enclosure, decimal_string, error_string
from bulkedge.theory.numbers.errors import InputError

rationals = st.fractions(min_value=-(10**30), max_value=10**30, max_denominator=10**30)


@given(rationals, st.integers(1, 60))
def test_decimal_string_is_the_nearest_of_so_many_digits(value, digits):
    text = Decimal(decimal_string(value, digits))
    if value == 0:
        assert text == 0
        return
    unit = Fraction(10) ** (Decimal(text).adjusted() - digits + 1)
    assert abs(Fraction(text) - value) <= unit / 2


@given(rationals)
def test_error_string_is_an_upper_bound_within_one_percent(value):
    error = abs(value)
    shown = Fraction(Decimal(error_string(error)))
    assert shown >= error
    assert shown <= error * Fraction(102, 100)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(1, 3), 5, "0.33333"),
        (Fraction(999999, 1000000), 3, "1"),
        (Fraction(-25, 10), 1, "-2"),  # ties to even
        (Fraction(10**30), 5, "1e+30"),
        (Fraction(1, 10**9), 3, "1e-9"),
        (Fraction(123456), 3, "123000"),
    ],
)
def test_forms(value, digits, text):
    assert decimal_string(value, digits) == text


@pytest.mark.parametrize("digits", [0, -1, 1001, True, 3.0, "5"])
def test_digits_out_of_range_are_refused(digits):
    with pytest.raises(InputError, match=r"give 1\.\.1000"):
        check_digits(digits)


def test_reaches():
    assert Enclosure(Fraction(1), Fraction(1, 2000)).reaches(4) is True
    assert Enclosure(Fraction(1), Fraction(1, 100)).reaches(4) is False
    assert Enclosure(Fraction(0), Fraction(1, 10**9)).reaches(1) is False
    assert Enclosure(Fraction(0), Fraction(0)).reaches(50) is True
