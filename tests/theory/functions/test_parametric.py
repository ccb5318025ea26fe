"""Functions with parameters, against the same with numbers in them, which another route splits and certifies."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions import parametric as module
from bulkedge.theory.functions.nonlinearity import nonlinearity, product
from bulkedge.theory.functions.parametric import admissible, at, parametric, symbols_of
from bulkedge.theory.functions.parse import expression
from bulkedge.theory.functions.pieces import Piece
from bulkedge.theory.functions.signs import sign_of
from bulkedge.theory.gaussian.gaussian import expectation, moments
from bulkedge.theory.gaussian.general_term import general_moment
from bulkedge.theory.kernels.kernel import dual, dual_of_correlation, e, expansion_at_one
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import k, q11, q12, q22, rho, z

POSITIVE = {name: sp.Symbol(name, positive=True) for name in ("a", "b", "s")}
LETTERS = POSITIVE | {name: sp.Symbol(name, real=True) for name in ("c", "w")}
CLOSED = (
    "leaky_relu(z, s)",
    "Max(z - b, 0)",
    "erf(s*z)",
    "exp(c*z)",
    "gelu(s*z)",
    "sin(w*z)",
    "z + c*He(2, z)",
    "elu(z, a)",
    "Abs(z - c)",
    "hard_tanh(s*z)",
    "exp(-a*z**2)*relu(z)",
    "Heaviside(z - b) - Heaviside(z + b)",
    "relu(z - b)*Abs(z + a)",
    "Piecewise((s*z, z < -b), (z**2, z < a + 1), (1, True))",
)


def made(text):
    return parametric(expression(text, "FUNCTION", LETTERS), text)[0]


def plain(text, values):
    return nonlinearity(expression(text, "FUNCTION", LETTERS).subs(values))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 100))
@pytest.mark.parametrize("text", CLOSED)
def test_moments_are_those_of_the_function_with_numbers(text, index):
    f = made(text)
    values = admissible(symbols_of(f), index)
    for degree, (mine, other) in enumerate(zip(moments(f, 6), moments(plain(text, values), 6), strict=True)):
        assert float(mine.subs(values)) == pytest.approx(float(other), rel=1e-12, abs=1e-12), degree


@pytest.mark.parametrize("text", CLOSED)
def test_the_general_term_is_that_of_the_table(text):
    f = made(text)
    general = general_moment(f)
    if general is None:
        assert text == "exp(-a*z**2)*relu(z)"  # nor with numbers
        return
    values = admissible(symbols_of(f), 3)
    for degree, exact in enumerate(moments(f, 7)):
        found = general.subs(k, degree).doit().subs(values)
        assert float(found) == pytest.approx(float(exact.subs(values)), rel=1e-11, abs=1e-12)


SLOW = ("relu(z - b)*Abs(z + a)", "hard_tanh(s*z)", "exp(-a*z**2)*relu(z)", "Abs(z - c)")


@pytest.mark.parametrize(
    "text",
    [pytest.param(t, marks=[pytest.mark.exhaustive] if t in SLOW else []) for t in CLOSED if "Piecewise" not in t],
)
def test_kernels_are_those_of_the_function_with_numbers(text):
    f = made(text)
    values = admissible(symbols_of(f), 5)
    numbers = plain(text, values)
    at_variances = {q11: sp.Rational(3, 2), q12: sp.Rational(-2, 5), q22: sp.Rational(4, 5)}
    expected = value(numbers, *at_variances.values(), 12)
    assert float(dual(f).subs(values).subs(at_variances).evalf(20)) == pytest.approx(float(expected), rel=1e-10)
    unit = value(numbers, sp.Integer(1), sp.Rational(1, 3), sp.Integer(1), 12)
    found = dual_of_correlation(f).subs(values).subs(rho, sp.Rational(1, 3))
    assert float(found.evalf(20)) == pytest.approx(float(unit), rel=1e-10)


def test_second_moments_derivatives_and_the_expansion_at_one():
    s, b = LETTERS["s"], LETTERS["b"]
    leaky = made("leaky_relu(z, s)")
    assert sp.expand(expectation(product(leaky, leaky)) - (1 + s**2) / 2) == 0
    second = leaky.derivative(2)
    assert sp.expand(expectation(second) - (1 - s) / sp.sqrt(2 * sp.pi)) == 0
    assert (
        sp.expand(
            sp.expand(expansion_at_one(leaky)).coeff(e ** sp.Rational(3, 2)) - sp.sqrt(2) * (1 - s) ** 2 / (3 * sp.pi)
        )
        == 0
    )
    shifted = made("Max(z - b, 0)")
    assert expectation(shifted.derivative(2)) == sp.sqrt(2) * sp.exp(-(b**2) / 2) / (2 * sp.sqrt(sp.pi))


def test_parity_and_vanishing_coefficients_hold_for_all_values():
    assert (made("hard_tanh(s*z)").parity, made("exp(-a*z**2)").parity, made("elu(z, a)").parity) == (-1, 1, 0)
    assert moments(made("tanh(s*z)"), 3) == (0, None, 0, None)
    assert moments(made("softplus(s*z)"), 3) == (None, LETTERS["s"] / 2, None, 0)


def test_membership_in_l2_is_shown_or_a_condition():
    a, c = LETTERS["a"], LETTERS["c"]
    for text, needed in (
        ("exp(a*z**2)", (a < sp.Rational(1, 4),)),
        ("z*exp(c*z**2 - z)*sin(z) + 1", (c < sp.Rational(1, 4),)),
        ("exp(-a*z**2)", ()),
        ("exp(a*z**2)*Heaviside(1 - z)*Heaviside(z)", ()),
    ):
        assert parametric(expression(text, "FUNCTION", LETTERS), text)[1] == needed
    with pytest.raises(InputError, match="is not square integrable"):
        made("exp((a + 1)*z**2)")
    with pytest.raises(InputError, match="of no kind whose growth is known"):
        made("1/(z**2 + s)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("step(c*z)", "the answer depends on the sign of c; declare --positive c"),
        ("Max(z - b, 0)*Abs(z - s)", "the answer depends on the sign of .*b.*; give numbers for some of the symbols"),
        ("Abs(z**2 - s)", "is not affine in z"),
        ("relu(z, t)", "relu takes one argument"),
        ("leaky_relu(z, t)", "t is not known here; .* for a parameter declare it, --positive t"),
        ("z*d", "d is not declared; declare it, --positive d"),
        ("softplus(z, c)", "is not known to be positive; declare its symbols, --positive c"),
        ("sqrt(c)*z", "c under sqrt is not known to be positive"),
    ],
)
def test_what_the_assumptions_leave_open_is_said(text, said):
    with pytest.raises(InputError, match=said):
        made(text)


def test_the_signs_of_expressions():
    a, b, c = (LETTERS[name] for name in "abc")
    assert [sign_of(x) for x in (a + b, -a * b, a - a, 1 + c**2, sp.sqrt(2) - 1)] == [1, -1, 0, 1, 1]
    with pytest.raises(InputError, match="declare --positive c"):
        sign_of(a + c)


def test_a_wrong_piece_is_found_by_the_guard(monkeypatch):
    split = module._split

    def wrong(*arguments):
        first, *rest = split(*arguments)
        return [Piece(first.lower, first.upper, first.expr + sp.Rational(1, 1000)), *rest]

    monkeypatch.setattr(module, "_split", wrong)
    with pytest.raises(InputError, match="its pieces differ from it at z = "):
        parametric(expression("leaky_relu(z, s) + s", "FUNCTION", LETTERS), "leaky_relu(z, s) + s")


def test_a_plain_function_again():
    f = at(made("leaky_relu(z, s)"), {LETTERS["s"]: sp.Rational(1, 5)})
    assert moments(f, 4) == moments(nonlinearity("leaky_relu(z, 1/5)"), 4)
    assert f.expr.free_symbols == {z}
