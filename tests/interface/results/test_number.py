"""Number: arithmetic encloses the truth, comparisons never decide wrongly, what is printed reads back."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.results.number import Number
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import PrecisionError

RATIONALS = st.fractions(min_value=-100, max_value=100, max_denominator=1000)
RADII = st.fractions(min_value=0, max_value=10, max_denominator=1000)
PLACES = st.fractions(min_value=-1, max_value=1, max_denominator=50)  # where in its interval the truth lies
OPERATORS = st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv])
COMPARISONS: tuple[Callable[[Any, Any], Any], ...] = (
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
SURDS = st.builds(lambda a, b, c: a + b * sp.sqrt(c), *(st.integers(-9, 9),) * 2, st.sampled_from([2, 3, 8, 12]))


@st.composite
def known(draw: st.DrawFn) -> tuple[Number, Fraction]:
    """A bounded number and a truth that its bound allows."""
    value, radius, place = draw(RATIONALS), draw(RADII), draw(PLACES)
    return Number.of(value, radius), value + place * radius


def holds(x: Number, truth: Fraction) -> bool:
    return abs(x.value - truth) <= x.radius


# -- arithmetic ------------------------------------------------------------------------------------------------------


@given(known(), known(), OPERATORS)
def test_arithmetic_encloses_the_truth(x, y, function):
    (a, s), (b, t) = x, y
    if function is operator.truediv and abs(b.value) <= b.radius:
        with pytest.raises((PrecisionError, ZeroDivisionError)):
            function(a, b)
        return
    assert holds(function(a, b), function(s, t))
    for plain in (3, Fraction(-2, 7)):  # either side may be a plain number
        assert holds(function(a, plain), function(s, plain))
        if function is not operator.truediv:
            assert holds(function(plain, a), function(plain, s))


@given(known(), st.integers(-4, 6))
def test_powers_enclose_the_truth(x, power):
    a, s = x
    if power < 0 and abs(a.value) <= a.radius:
        return
    try:
        found = a**power
    except PrecisionError:  # (x - r)^n may touch 0 in the bound where x - r does not
        assert power < 0
        return
    assert holds(found, s**power)
    assert holds(-a, -s)
    assert holds(abs(a), abs(s))


@given(st.lists(known(), min_size=1, max_size=4), st.integers(2, 40))
def test_long_sums_of_quotients_stay_short_and_true(terms, rounds):
    """The rationals are rounded outwards before they grow: a thousand bits a round would be 40 000."""
    total, truth = Number.of(Fraction(1, 3), Fraction(1, 10**6)), Fraction(1, 3)
    for k in range(rounds):
        a, s = terms[k % len(terms)]
        divisor = Number.of(Fraction(3**90 + k, 3**90 - 1), Fraction(1, 7**90))
        total, truth = (total + a) / divisor, (truth + s) / divisor.value
    assert holds(total, truth)
    assert total.value.denominator.bit_length() < 6000


def test_a_bound_that_forgets_a_term_is_seen():
    """Negative control of the laws: without dx dy the product's bound misses the corner."""
    a, b = Number.of(Fraction(1), Fraction(1)), Number.of(Fraction(1), Fraction(1))
    assert holds(a * b, Fraction(4))
    assert abs((a * b).value - 4) > a.radius * b.value + b.radius * a.value


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    OPERATORS,
)
def test_arrays_enclose_the_exact_result_of_their_floats(left, right, function):
    size = min(len(left), len(right))
    a, b = (Number.of(np.array(side[:size]), np.zeros(size)) for side in (left, right))
    if function is operator.truediv:
        assume(all(right[:size]))
    try:
        found = function(a, b)
    except ArithmeticError:  # beyond the range of floats: refused, not infinite
        assert function is operator.truediv
        return
    for k in range(size):
        exact = function(Fraction(left[k]), Fraction(right[k]))
        assert abs(Fraction(float(found.value[k])) - exact) <= Fraction(float(found.radius[k]))
        assert found[k].value == Fraction(float(found.value[k]))


@given(SURDS, SURDS, OPERATORS)
def test_exact_numbers_stay_exact(x, y, function):
    if function is operator.truediv and y == 0:
        with pytest.raises(ZeroDivisionError):
            function(Number.of(x), Number.of(y))
        return
    found = function(Number.of(x), Number.of(y))
    assert found.error == 0
    assert sp.simplify(found.exact - function(x, y)) == 0
    assert abs(sp.Rational(found.value.numerator, found.value.denominator) - sp.N(function(x, y), 40)) <= 1e-14 * abs(
        function(x, y)
    )


def test_a_bound_beside_an_exact_number_has_an_error():
    root = Number.of(sp.sqrt(2), digits=30)
    assert (root * root).exact == 2
    assert (root * root).value == 2
    half = root * Number.of(0.5, 1e-9)
    assert half.exact is None
    assert half.error >= Fraction(14142, 10**13)
    assert f"{root:.30f}" == "1.414213562373095048801688724210"


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0, 0.01), st.floats(0, 0.01), st.floats(-1, 1))
def test_a_standard_error_holds_for_any_correlation(x, y, s, t, correlation):
    a, b = Number.of(Estimate(x, s, 9)), Number.of(Estimate(y, t, 9))
    spread = (s**2 + t**2 + 2 * correlation * s * t) ** 0.5
    assert (a + b).measured
    assert float((a + b).error) >= spread * (1 - 1e-12) - 1e-300
    assert float((a * b).error) >= ((y * s) ** 2 + (x * t) ** 2 + 2 * correlation * x * y * s * t) ** 0.5 * (1 - 1e-12)
    assert (a + Number.of(1.0, 0.1)).measured  # four times the sum is at least four standard errors and the bound


def test_the_bias_of_an_estimate_enters_its_margin():
    estimate = Estimate(1.0, 0.25, 5, bias=0.5)
    assert 4 * Number.of(estimate).radius == estimate.margin
    with pytest.raises(PrecisionError):
        _ = Number.of(estimate) < 2.4
    assert Number.of(estimate) < 2.6


# -- comparison ------------------------------------------------------------------------------------------------------


@given(known(), known(), st.sampled_from(COMPARISONS))
def test_a_comparison_never_decides_wrongly(x, y, compare):
    (a, s), (b, t) = x, y
    try:
        decided = compare(a, b)
    except PrecisionError:
        assert abs(a.value - b.value) <= a.radius + b.radius
        return
    assert decided is compare(s, t)


@given(known(), RATIONALS)
def test_what_the_errors_decide_is_decided(x, plain):
    a, _ = x
    assume(abs(a.value - plain) > a.radius)
    assert (a < plain) is (a.value < plain)
    assert (plain < a) is (plain < a.value)
    assert (a == plain) is False
    assert bool(a - plain)


@given(SURDS, SURDS, st.sampled_from(COMPARISONS))
def test_exact_numbers_are_always_compared(x, y, compare):
    assert compare(Number.of(x), Number.of(y)) is bool(compare(sp.expand(x - y), 0))


def test_four_standard_errors_decide():
    a = Number.of(1.0, 0.125, measured=True)
    assert a < 1.6
    with pytest.raises(PrecisionError, match=r"not decided: 1 \+- 0.12 and 1.4"):
        _ = a < 1.4
    with pytest.raises(PrecisionError):
        _ = a == 1.0
    assert a == a
    assert a != "1"
    with pytest.raises(TypeError):
        hash(a)


def test_arrays_compare_entry_by_entry():
    a = Number.of(np.array([1.0, 2.0]), np.array([0.1, 0.1]))
    assert (a < 1.5).tolist() == [True, False]
    with pytest.raises(PrecisionError):
        _ = a < 2.05


# -- symbols ---------------------------------------------------------------------------------------------------------


def test_symbols_have_an_expression_and_no_value():
    c = sp.Symbol("c", positive=True)
    x = Number.of(sp.sqrt(c))
    assert (x.value, x.error, x.symbolic, x.decimal(), x.bound()) == (None, None, True, None, None)
    assert (x**2 + 1).exact == c + 1
    assert x * x == c
    assert x.expression() == "sqrt(c)"
    for asked in (float, np.asarray, lambda n: f"{n:.3f}"):
        with pytest.raises(TypeError, match="give numbers for c"):
            asked(x)
    with pytest.raises(TypeError, match="exact ones"):
        _ = x + Number.of(1.0, 0.1)
    with pytest.raises(PrecisionError, match="symbols"):
        _ = x < 1
    assert str(x) == "sqrt(c)"
    assert x.latex == r"\sqrt{c}"


# -- NumPy -----------------------------------------------------------------------------------------------------------


def test_numpy_takes_values_and_keeps_errors_in_operators():
    a, b = Number.of(1.5, 0.25), Number.of(sp.Rational(1, 2))
    assert np.asarray([a, b], float).tolist() == [1.5, 0.5]
    assert np.asarray(a, float).shape == ()
    for product in (np.float64(2) * a, a * np.float64(2), 2 * a):
        assert (product.value, product.radius) == (3, Fraction(1, 2))
    shifted = np.array([1.0, 2.0]) + a
    assert isinstance(shifted, Number)
    assert np.asarray(shifted).tolist() == [2.5, 3.5]
    assert all(shifted.radius >= 0.25)
    assert shifted.decimal() == ["2.5", "3.5"]
    with pytest.raises(TypeError):
        np.sqrt(a)


# -- printing and reading back ---------------------------------------------------------------------------------------


@given(st.fractions(), st.integers(1, 40))
def test_the_decimal_reads_back_to_its_digits(value, digits):
    x = Number.of(value, Fraction(1, 10**9), digits=digits)
    assert abs(Fraction(x.decimal()) - value) <= abs(value) * Fraction(1, 10 ** (digits - 1)) / 2
    assert Fraction(x.bound()) >= x.radius
    assert Fraction(x.error) >= x.radius
    assert x.text == f"{x.decimal()} +- {x.bound()}"


@given(RATIONALS, RADII)
def test_it_survives_pickling_and_copying(value, radius):
    x = Number.of(value, radius)
    for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):  # noqa: S301
        assert (twin.value, twin.radius, twin.exact) == (x.value, x.radius, x.exact)


@given(st.floats(-1e300, 1e300), st.sampled_from([".3f", ".8g", "+.2e", "10.1f", ".0%", "g", "<12.4g", ",.2f"]))
def test_a_format_is_that_of_floats(value, spec):
    assert format(Number.of(value, 1e-3), spec) == format(value, spec)


@given(st.fractions(min_value=-1000, max_value=1000), st.integers(16, 60))
def test_long_formats_show_the_rational(value, digits):
    shown = Fraction(format(Number.of(value, 1), f".{digits}f"))
    assert abs(shown - value) <= Fraction(1, 2 * 10**digits)


def test_a_number_beyond_the_floats_is_formatted_and_refused_as_a_float():
    huge = Number.of(Fraction(10) ** 400 * 3)
    assert f"{huge:.3e}" == "3.000e+400"
    with pytest.raises(OverflowError):
        float(huge)
    assert Number.of(sp.Integer(10) ** 5000).expression() == "1" + 5000 * "0"


def test_how_it_prints():
    root = Number.of(sp.sqrt(2))
    assert (str(root), repr(root), root.latex) == ("1.4142135623731", "Number(1.4142135623731, sqrt(2))", r"\sqrt{2}")
    bounded = Number.of(0.25, 1.23456e-9)
    assert (f"{bounded}", bounded.latex) == ("0.25 +- 1.24e-9", r"0.25 \pm 1.24 \cdot 10^{-9}")
    assert Number.of(3).expression() == "3"
    measured = Number.of(Estimate(0.5, 0.0123, 7))
    assert (str(measured), measured.bound()) == ("0.5 +- 0.012", "0.0123")
    assert bounded.rounded_latex(1) in {"0.2", "0.3"}


# -- made in one place -----------------------------------------------------------------------------------------------


def test_each_source_of_a_number():
    ninth = Number.of(Enclosure(Fraction(1, 3), Fraction(1, 9)))
    assert (ninth.radius, ninth.error) == (Fraction(1, 9), 1 / 9 + 2**-56)
    assert Number.of(Enclosure(Fraction(1, 3), Fraction(0), "exact")).exact == sp.Rational(1, 3)
    relu = coefficient(nonlinearity("relu"), 0)
    assert Number.of(relu).exact == relu.exact
    assert Number.of(relu).error == 0
    tanh = coefficient(nonlinearity("tanh"), 1, digits=20)
    assert (Number.of(tanh, digits=20).exact, Number.of(tanh).radius) == (None, tanh.enclosure.error)
    assert Number.of(Number.of(2)).exact == 2
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ArithmeticError):
            Number.of(bad, 0.0)
        with pytest.raises(ArithmeticError):
            Number.of(1) + bad
        with pytest.raises(ArithmeticError):
            Number.of(np.array([1.0, bad]), np.zeros(2))
    with pytest.raises(ValueError, match="needs an error"):
        Number.of(0.5)
    with pytest.raises(ValueError, match="not negative"):
        Number.of(0.5, -1.0)
