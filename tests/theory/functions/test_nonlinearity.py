"""One function, many spellings: the same pieces, kinks, coefficients and deltas."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import combine, nonlinearity, product
from bulkedge.theory.gaussian.gaussian import expectation, moments
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

SPELLINGS = {
    "relu": [
        "relu",
        "Max(z, 0)",
        "z*Heaviside(z)",
        "Piecewise((z, z > 0), (0, True))",
        "(z + Abs(z))/2",
        "z*(1 + sign(z))/2",
    ],
    "abs": ["abs", "Abs(z)", "z*sign(z)", "Max(z, -z)", "Piecewise((-z, z < 0), (z, True))", "2*relu(z) - z"],
    "clip": ["hard_tanh", "Max(-1, Min(1, z))", "(Abs(z + 1) - Abs(z - 1))/2", "relu(z + 1) - relu(z - 1) - 1"],
    "shifted": [
        "relu(z - 1/3)",
        "Max(z - 1/3, 0)",
        "(z - 1/3)*Heaviside(z - 1/3)",
        "Piecewise((z - 1/3, 3*z > 1), (0, True))",
    ],
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_give_identical_results_including_second_derivatives(name):
    functions = [nonlinearity(text) for text in SPELLINGS[name]]
    for order in range(3):
        derivatives = [f.derivative(order) for f in functions]
        assert len({d.pieces for d in derivatives}) == 1
        assert len({frozenset(d.deltas) for d in derivatives}) == 1
        assert len({moments(d, 6) for d in derivatives}) == 1


def test_the_delta_at_a_kink_is_not_lost():
    phi0 = 1 / sp.sqrt(2 * sp.pi)
    for text in SPELLINGS["relu"]:
        assert sp.simplify(expectation(nonlinearity(text).derivative(2)) - phi0) == 0
    assert sp.simplify(expectation(nonlinearity("abs").derivative(2)) - 2 * phi0) == 0
    # sign' = 2 delta, sign'' = 2 delta', E[delta' z] = -phi(0)
    assert (
        moments(nonlinearity("sign").derivative(2), 1)[1] == -2 * phi0
        or sp.simplify(moments(nonlinearity("sign").derivative(2), 1)[1] + 2 * phi0) == 0
    )


@pytest.mark.parametrize(
    "text", ["relu", "leaky_relu(z, 1/5)", "relu(z - 1/3)", "z*Abs(z)", "sign(z + 1/2)", "elu", "z**3 - z"]
)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_stein_k_times(text, k):
    """E[f^(k)] = E[f He_k], by the derivative's own pieces and deltas."""
    f = nonlinearity(text)
    left, right = expectation(f.derivative(k)), moments(f, k)[k]
    assert abs(sp.N(left - right, 30)) < 1e-25


def test_floats_are_read_as_the_decimals_they_print_as():
    t = sp.Symbol("t")
    assert nonlinearity(sp.exp(-0.5 * t**2)).expr == sp.exp(-(z**2) / 2)
    assert nonlinearity(0.8 * z).expr == sp.Rational(4, 5) * z


@pytest.mark.parametrize(
    ("text", "parity", "degree", "homogeneity"),
    [
        ("relu", 0, None, 1),
        ("abs", 1, None, 1),
        ("step", 0, None, 0),
        ("relu(z)**3", 0, None, 3),
        ("z**3 - z", -1, 3, None),
        ("z**2", 1, 2, 2),
        ("tanh", -1, None, None),
        ("leaky_relu(z, 1/5)", 0, None, 1),
        ("relu(z - 1)", 0, None, None),
        ("hard_tanh", -1, None, None),
        ("3", 1, 0, 0),
    ],
)
def test_properties(text, parity, degree, homogeneity):
    f = nonlinearity(text)
    assert (f.parity, f.degree, f.homogeneity) == (parity, degree, homogeneity)


@pytest.mark.parametrize(
    "text", ["exp(z**2/3)", "exp(z**2/4)", "1/z", "log(z)", "sqrt(-1)*z", "sin(z)/z", "sqrt(z)", "exp(exp(z))"]
)
def test_what_is_not_shown_to_be_in_l2_is_refused(text):
    with pytest.raises(InputError) as error:
        nonlinearity(text, "ACTIVATION")
    assert error.value.argument == "ACTIVATION"
    assert "\n" not in str(error.value)


def test_tan_is_no_function_of_the_language():
    with pytest.raises(InputError):
        nonlinearity("tan(z)")
    with pytest.raises(InputError):
        nonlinearity(sp.tan(z))


def test_kinks_that_cannot_be_found_exactly_are_refused_with_a_remedy():
    with pytest.raises(InputError, match="break points"):
        nonlinearity("Max(z + exp(z), 0)")
    with pytest.raises(InputError):
        nonlinearity("sign(sin(z))")


def test_monotone_functions_hide_no_kinks():
    assert nonlinearity("Max(tanh(z), 0)").kinks == (0,)
    assert nonlinearity("Max(exp(z) - 2, 0)").kinks == (sp.log(2),)
    assert nonlinearity("Abs(1 + z**2)").kinks == ()
    assert nonlinearity("Max(z**2 - 2, 0)").kinks == (-sp.sqrt(2), sp.sqrt(2))


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(-3, 3, max_denominator=8),
    st.fractions(-3, 3, max_denominator=8),
    st.fractions(-2, 2, max_denominator=8),
)
def test_linearity_of_expectations(a, b, shift):
    a, b, shift = (sp.Rational(x.numerator, x.denominator) for x in (a, b, shift))
    f, g = nonlinearity("relu"), nonlinearity(sp.Max(z - shift, 0) ** 2)
    combined = combine(((a, f), (b, g)), "a f + b g")
    for k in range(4):
        expected = a * moments(f, k)[k] + b * moments(g, k)[k]
        assert abs(sp.N(moments(combined, k)[k] - expected, 30)) < 1e-25


def test_product_of_a_delta_is_refused():
    step = nonlinearity("step")
    with pytest.raises(InputError):
        product(step.derivative(), step)
