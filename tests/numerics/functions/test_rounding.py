"""The bound of rounding holds, against exact rationals, and is infinite where nothing is known."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.functions.rounding import Bounded, evaluate, exact

x, y = sp.symbols("x y")


@settings(max_examples=60, deadline=None)
@given(st.floats(-30, 30), st.floats(-30, 30), st.integers(1, 12))
def test_the_bound_holds_where_terms_cancel(a, b, n):
    """(x + y)^n multiplied out, against the exact rational."""
    expr = sp.expand((x + y) ** n) - x**n / 3
    found = evaluate(expr, {x: exact([a]), y: exact([b])}, {})
    p, q = Fraction(a), Fraction(b)
    truth = (p + q) ** n - p**n / 3
    assert abs(Fraction(float(found.value[0])) - truth) <= Fraction(float(found.error[0])) * 2 + Fraction(1, 10**300)


@pytest.mark.parametrize(
    "expr",
    [
        sp.exp(x) * sp.erf(x),
        sp.sqrt(x) * sp.log(x),
        sp.asin(x / 4) ** 3,
        sp.sin(x) / sp.cosh(x),
        x ** sp.Rational(-3, 2),
    ],
)
def test_functions(expr):
    points = np.array([0.1, 1.7, 3.9])
    found = evaluate(expr, {x: exact(points)}, {})
    for value, error, at in zip(found.value, found.error, points, strict=True):
        truth = expr.subs(x, sp.Rational(*float(at).as_integer_ratio())).evalf(30)
        assert abs(float(sp.Float(value, 30) - truth)) <= 2 * error
        assert error < 1e-13 * max(1, abs(value))


def test_an_argument_one_rounding_outside_comes_back_and_one_further_out_does_not():
    known = {x: Bounded(np.array([1 + 2e-16, 1.5]), np.array([4e-16, 4e-16]))}
    found = evaluate(sp.asin(x), known, {})
    assert found.value[0] == pytest.approx(np.pi / 2)
    assert found.error[0] < 1e-7
    assert found.error[1] == np.inf


def test_a_function_without_a_rule_is_not_trusted():
    found = evaluate(sp.gamma(x) + 1, {x: exact([2.0])}, {})
    assert found.error[0] == np.inf
