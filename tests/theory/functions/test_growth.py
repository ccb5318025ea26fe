"""Growth bounds: membership in L2 shown where it holds, refused where it does not, and every bound true at points."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from effort import TWO_SECONDS, at_most
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions import catalogue
from bulkedge.theory.functions.growth import Growth, growth, product, sum
from bulkedge.theory.functions.parse import expression
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

ACCEPTED = [
    "0", "1", "z", "exp(z)", "exp(-z**2)", "exp(z**2/5)", "exp(tanh(z))", "exp(-cosh(z))", "tanh(exp(z))",
    "log(1+z**2)", "log(cosh(z))", "log(1+exp(z))", "1/(1+z**2)", "sqrt(1+z**2)", "1/(2+sin(z))", "sin(z**2)",
    "exp(sin(z))", "atan(z**3)", "z**5*exp(-z**2/8)", "exp(z**2)/(1+exp(z**2))", "log(z+exp(-z))", "exp(-z**4+z**3)",
    "log(Phi(z))", "log(1+tanh(z))", "exp(sqrt(1+z**2))", "He(30, z)", "(z+1)**900", "1/(z**4-z**2+1)", "2**z",
    "1/(z**2-2*z+sqrt(2))", "exp(z*tanh(z))", "(1+z**2)**(1/3)", "1/cosh(z)", "exp(-exp(z)*z**2)", "exp(pi*z)",
    "1/(3+2*sin(z)+2*cos(z)/3)", "log(2+cos(z)+z**2)", "1/(1+z**6-z)", "log(cosh(z)-1/2)", "1/(z**2+exp(-z))",
    "sinh(tanh(z))", "1/(exp(z)-z)", "(1+z**2+z**8)**(-3/7)", "1/(1+z**62)", "((z**2+1)**20+z)**(1/3)",
    "erfc(z)*exp(-z)", "1/(1+erf(z/4))", "exp(z**2/(2*pi))", "sinh(z)/cosh(2*z)", "1/(exp(z)-z-1/2)",
]  # fmt: skip

REFUSED = [
    ("1/z", "zero"), ("log(z)", "positive"), ("sqrt(z)", "positive"), ("sin(z)/z", "zero"), ("tanh(z)/z", "zero"),
    ("log(Abs(z))", "kink"), ("exp(exp(z))", "no bound"), ("exp(z**2/4)", r"0\.25"), ("exp(z**2/3)", r"0\.3333"),
    ("exp(z**3)", "no bound"), ("1/sin(z)", "zero"), ("sqrt(1-z**2)", "positive"), ("1/(z**2-2)", "zero"),
    ("1/(z-sqrt(2))", "zero"), ("sqrt(z**2+z**4)", "positive"), ("log(cosh(z)-1)", "positive"), ("1/(1+z**3)", "zero"),
    ("cosh(z**2/2)", r"0\.5"), ("sinh(z**3)", "no bound"), ("exp(z**2*cosh(z))", "no bound"), ("sin(1/z)", "zero"),
    ("1/tanh(z)", "zero"), ("log(z**2)", "positive"), ("1/(exp(z)-1)", "zero"), ("1/Phi(z)", "grow"),
    ("Abs(z)", "kink"), ("exp(-z**3)", "no bound"), ("exp(z**2/8)**2", r"0\.25"), ("(z**2+1)**(1/2)/(z-1)", "zero"),
]  # fmt: skip


def value(f: sp.Expr, x: Fraction, digits: int = 30) -> mpmath.mpf:
    """f(x) by mpmath, the second route."""
    with mpmath.workdps(digits):
        names = {"Max": max, "Heaviside": lambda t, *_: 0 if t <= 0 else 1}
        return mpmath.mpf(sp.lambdify(z, f, modules=[names, "mpmath"])(mpmath.mpf(x.numerator) / x.denominator))


def assert_bounds(f: sp.Expr, g: Growth, x: Fraction, digits: int = 30) -> None:
    y = abs(value(f, x, digits))
    if y != 0:
        assert mpmath.log(y) <= float(g.at(abs(x))) + 1e-9 * (1 + abs(float(g.at(abs(x))))), (f, x)


POINTS = [Fraction(n, 7) for n in (*range(-30, 31, 2), -350, -150, -77, 77, 150, 350)]


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted_functions_are_bounded(text):
    f = expression(text)
    g = growth(f)
    assert g.c2 < Fraction(1, 4)
    digits = 600 if f.has(sp.erf, sp.tanh) else 30  # 1 + erf(-12.5) is 1e-69, Phi(-50) is 1e-545
    for x in POINTS:
        assert_bounds(f, g, x, digits)


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refused_functions_come_with_the_reason(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        growth(expression(text), argument="LINK")
    assert caught.value.argument == "LINK"
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("f", [sp.tan(z), sp.I * z, sp.gamma(z), sp.asin(z), z * sp.Symbol("a"), sp.nan, sp.oo * z,
                               sp.Integral(sp.exp(-(z**2)), z), sp.sqrt(-1) * z, sp.Function("f")(z)])  # fmt: skip
def test_expressions_outside_the_grammar_are_refused(f):
    with pytest.raises(InputError, match="FUNCTION"):
        growth(f)


SMOOTH = [name for name, entry in catalogue.CATALOGUE.items() if not entry.kinked]


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_of_the_catalogue(name, order):
    f = sp.diff(expression(name), z, order)
    g = growth(f)
    for x in POINTS[::3]:
        assert_bounds(f, g, x)


def test_exponents_are_exact():
    assert growth(expression("exp(z**2/5 - 3*z)")).c2 == Fraction(1, 5)
    assert growth(expression("exp(z**2/5 - 3*z)")).c1 == 3
    decaying = growth(expression("exp(-2*z**2)*cosh(z)"))
    assert (decaying.c1, decaying.c2) == (1, -2)


def test_the_limit_is_the_callers():
    f = expression("exp(z**2/3)")
    assert growth(f, limit=Fraction(1, 2)).c2 == Fraction(1, 3)
    with pytest.raises(InputError):
        growth(f, limit=Fraction(1, 3))


@pytest.mark.parametrize(
    ("f", "lower", "upper"),
    [
        (sp.sqrt(z), sp.S.Zero, sp.oo),
        (sp.sqrt(z - 1), sp.S.One, sp.oo),
        (sp.sqrt(-z), -sp.oo, sp.S.Zero),
        (sp.sqrt(1 - z**2), -sp.S.One, sp.S.One),
        (z ** sp.Rational(3, 2), sp.S.Zero, sp.oo),
        (1 / z, sp.S.One, sp.Integer(3)),
        (sp.exp(z**2), sp.Integer(-2), sp.sqrt(2)),
        (sp.exp(sp.exp(z)), -sp.oo, sp.Integer(3)),
        (sp.log(z), sp.sqrt(2), sp.pi),
        (sp.exp(-(z**3)), sp.Integer(-4), sp.oo),
        (1 / (z + 3), sp.Integer(-2), sp.Rational(-1, 3)),
    ],
)
def test_intervals(f, lower, upper):
    g = growth(f, lower, upper)
    low = Fraction(str(sp.N(lower, 20))) if lower.is_finite else Fraction(-20)
    high = Fraction(str(sp.N(upper, 20))) if upper.is_finite else Fraction(20)
    for i in range(1, 40):
        assert_bounds(f, g, low + (high - low) * Fraction(i, 40))


@pytest.mark.parametrize(
    ("f", "lower", "upper"),
    [
        (1 / z, sp.S.Zero, sp.oo),
        (1 / (z - sp.sqrt(2)), sp.sqrt(2), sp.oo),
        (sp.log(z), sp.S.Zero, sp.S.One),
        (sp.sqrt(z), -sp.S.One, sp.S.One),
        (sp.exp(z**3), sp.Integer(-4), sp.oo),
        (1 / (1 - z), -sp.oo, sp.S.One),
    ],
)
def test_poles_on_the_closed_interval_are_refused(f, lower, upper):
    with pytest.raises(InputError):
        growth(f, lower, upper)


@pytest.mark.parametrize(("a", "b"), [("exp(z)", "z**3"), ("tanh(z)", "exp(z**2/9)"), ("exp(-z**2)", "cosh(2*z)")])
def test_closure(a, b):
    f, g = expression(a), expression(b)
    for x in POINTS:
        assert_bounds(f * g, product(growth(f), growth(g)), x)
        assert_bounds(f + g, sum(growth(f), growth(g)), x)
        assert_bounds(f - g, sum(growth(f), growth(g)), x)


@pytest.mark.parametrize("text", ["exp(-He(1000, z))", "1/(He(59, z) + 1)", "1/(He(20, z)**2 - 1)",
                                  "log(1+" * 28 + "He(9, z)" + ")" * 28])  # fmt: skip
def test_undecided_cases_end_soon(text):
    with at_most(TWO_SECONDS), pytest.raises(InputError):
        growth(expression(text))


_LEAVES = st.sampled_from(["z", "1", "2", "1/3", "pi", "-1/2", "z**2"])
_SMOOTH_NAMES = [
    "exp",
    "log",
    "sin",
    "cos",
    "sinh",
    "cosh",
    "tanh",
    "atan",
    "erf",
    "erfc",
    "sqrt",
    "sigmoid",
    "softplus",
]


def _compose(inner):
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "1/2", "-3/2"])).map(lambda t: f"({t[0]})**({t[1]})"),
        st.tuples(st.sampled_from(_SMOOTH_NAMES), inner).map(lambda t: f"{t[0]}({t[1]})"),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.recursive(_LEAVES, _compose, max_leaves=5), st.lists(st.fractions(-50, 50, max_denominator=97), max_size=5))
def test_random_expressions_are_bounded_or_refused(text, points):
    try:
        f = expression(text)
        g = growth(f)
    except InputError:
        return
    for x in points:
        y = value(f, x)
        assume(mpmath.isfinite(y))
        assert_bounds(f, g, x)


def test_a_wrong_bound_would_be_noticed():
    """The control of these tests: a bound that is too small by a tenth fails."""
    f = expression("exp(z**2/5)")
    with pytest.raises(AssertionError):
        assert_bounds(f, Growth(Fraction(0), Fraction(0), Fraction(9, 50)), Fraction(5))
    assert math.isclose(float(growth(f).at(Fraction(5))), 5)
