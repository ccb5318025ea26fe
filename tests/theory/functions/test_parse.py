"""The reader: what it accepts means exactly what it says; everything else is refused with a remedy, at once."""

from __future__ import annotations

import math
import resource
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from effort import TWO_SECONDS, at_most
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions import catalogue
from bulkedge.theory.functions.parse import FUNCTIONS, expression, hermite_polynomial, integer, number, positive
from bulkedge.theory.functions.size import measure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

R = sp.Rational


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1/2", R(-1, 2)),
        ("+.5", R(1, 2)),
        ("1e-3", R(1, 1000)),
        ("2.50E1/5", 5),
        (" 7 ", 7),
        ("0.1", R(1, 10)),
        (0.1, R(1, 10)),
        (1e-30, R(1, 10**30)),
        (Fraction(2, 6), R(1, 3)),
        (R(4, 6), R(2, 3)),
        ("1e1200", 10**1200),
    ],
)
def test_numbers_are_exact(text, value):
    assert number(text, "--x") == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_it_prints_as(value):
    assert number(value, "--x") == R(Fraction(repr(value)).numerator, Fraction(repr(value)).denominator)


@pytest.mark.parametrize(
    "text",
    ["", "nan", "inf", "-inf", "1e1201", "1e-99999999", "9" * 401, "1/0", "1//2", "0x10", "1_0", "१", "1+1", "z",
     "--1", "1e", "1e5.5", math.nan, math.inf, True, None, [1], sp.sqrt(2), 1j],
)  # fmt: skip
def test_unusable_numbers_are_refused(text):
    with pytest.raises(InputError, match="--x"):
        number(text, "--x")


def test_an_integer_too_long_to_print_is_refused():
    with pytest.raises(InputError, match="too long"):
        number(10**5000, "--x")


def test_bounds_of_numbers():
    assert number("1", "--x", minimum=1, maximum=1) == 1
    assert integer("1e3", "--k", minimum=0) == 1000
    for bad in ("-1", "1/2", "0.5"):
        with pytest.raises(InputError, match="--k"):
            integer(bad, "--k", minimum=0)
    with pytest.raises(InputError, match="0 < value"):
        positive("0", "--x")
    with pytest.raises(InputError, match="value < 1"):
        number("1", "--x", maximum=1, exclusive=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1*z", z / 10),
        ("1e-3 + z", z + R(1, 1000)),
        ("tanh(2*z)", sp.tanh(2 * z)),
        ("z + He(2, z)/2", z + (z**2 - 1) / 2),
        ("He(3, 2*z - 1)", (2 * z - 1) ** 3 - 3 * (2 * z - 1)),
        ("Max(z - 1/3, 0)", sp.Max(z - R(1, 3), 0)),
        ("relu(z - 1/3)", sp.Max(z - R(1, 3), 0)),
        ("leaky_relu(z, 1/5)", sp.Max(z, 0) + sp.Min(z, 0) / 5),
        ("leaky_relu", sp.Max(z, 0) + sp.Min(z, 0) / 100),
        ("elu(z, 2)", sp.Piecewise((z, z > 0), (2 * sp.exp(z) - 2, True))),
        ("-relu", -sp.Max(z, 0)),
        ("--z", z),
        ("E**z", sp.exp(z)),
        ("2**-z", sp.S(2) ** -z),
        ("(z +\n 1)", z + 1),
        ("pi*z/2", sp.pi * z / 2),
        ("gaussian(z, 1/2)", sp.exp(-(z**2) / 2)),
        ("swish", z * (1 + sp.tanh(z / 2)) / 2),
        ("sqrt(4*z**2)", 2 * sp.Abs(z)),
        ("Phi(2*z)", (1 + sp.erf(sp.sqrt(2) * z)) / 2),
        ("1-2-3", -4),
        ("2**3**2", 512),
        ("(-8)**2", 64),
        ("-2**2", -4),
    ],
)
def test_expressions_mean_what_they_say(text, value):
    assert sp.expand(expression(text) - value) == 0


def test_conditions_of_piecewise():
    f = expression("Piecewise((1, -1 < z < 0), (2, z > 3 and z <= 4), (3, (z < -7) | (z > 8)), (4, True))")
    points = {-8: 3, -7: 4, R(-1, 2): 1, 0: 4, 3: 4, 4: 2, 5: 4, 9: 3}
    assert {p: f.subs(z, p) for p in points} == points
    assert expression("Piecewise((z, 2 < 1), (z**2, 1 < 2), (0, True))") == z**2


@pytest.mark.parametrize("degree", range(12))
def test_hermite_polynomials_by_the_recurrence(degree):
    before, now = sp.S.Zero, sp.S.One
    for k in range(degree):
        before, now = now, sp.expand(z * now - k * before)
    assert sp.expand(hermite_polynomial(degree, z)) == now


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("tanh(x)", "called z"),
        ("z^2", r"\*\*"),
        ("z²", r"z\*\*2"),
        ("1j*z", "real-valued"),
        ("I*z", "real-valued"),
        ("sqrt(-1)*z", "real-valued"),
        ("(-1)**(1/3)", "real-valued"),
        ("log(-2)", "real-valued"),
        ("tanhh(z)", "did you mean tanh"),
        ("rleu", "did you mean relu"),
        ("np.tanh(z)", "not np.tanh"),
        ("leaky_relu(z, slope=2)", "position"),
        ("2z", r"2\*z"),
        ("2(z+1)", r"\*"),
        ("z(z+1)", r"\*"),
        ("tan(z)", "poles"),
        ("ln(z)", "log"),
        ("max(z, 0)", "Max"),
        ("z**z", "exp"),
        ("z > 0", "Heaviside"),
        ("z if z > 0 else 0", "Piecewise"),
        ("Piecewise((z, z > 0))", "True"),
        ("Piecewise((z, z > 0 & z < 1), (0, True))", "parentheses"),
        ("sinh", r"sinh\(z\)"),
        ("relu(z, 1)", r"relu\(z\)"),
        ("celu(z, -1)", r"celu\(z, 1\)"),
        ("elu(z, z)", r"elu\(z, 1\)"),
        ("He(-1, z)", "He"),
        ("He(1/2, z)", "He"),
        ("1/0", "zero"),
        ("0**-1", "zero"),
        ("", "tanh"),
    ],
)
def test_messages_say_what_would_do(text, remedy):
    with pytest.raises(InputError, match=remedy) as caught:
        expression(text)
    assert "\n" not in str(caught.value)
    assert caught.value.argument == "FUNCTION"


HOSTILE = [
    "__import__('os').system('touch pwned')", "().__class__.__bases__[0].__subclasses__()", "z.__class__", "eval('1')",
    "exec('1')", "open('/etc/passwd')", "print(z)", "getattr(z, 'diff')", "lambda: 1", "[z for z in (1,)]",
    "{z: 1}", "(a := 1)", "f'{z}'", "'a'", "b'a'", "...", "None", "True", "z\0", "ｅxp(z)", "ехр(z)", "z\u2028+1",
    "9**9**9**9", "1e99999999", "(z+1)**100000", "2**(10**9)", "(1/3)**(10**9)", "10**2000*10**2000",
    "*".join(["10**2000"] * 20), "He(1001, z)", "He(1000, He(1000, z))", "He(2, He(500, He(2, z)))",
    "(10**2000*z + 1)**1000", "(exp(z) + z + 1)**1000", "(z+1)**1000*(z+2)**1000", "(z + sqrt(2) + sqrt(3))**700",
    "exp(exp(exp(100)))", "Max(exp(exp(exp(9))), 1)", "sinh(1e9)", "z" * 100_000, "(" * 50_000 + "z" + ")" * 50_000,
    "(" * 990 + "z" + ")" * 990, "-" * 1999 + "z", "~" * 500 + "z", "**".join(["2"] * 600), "not " * 400 + "z",
    "sin(" * 390 + "z" + ")" * 390, "Max(" + ",".join(f"Abs(z-{i})" for i in range(150)) + ")", "1 is 1", "'a'()",
    "z;z", "z#", "*z", "z=1", "yield z", "await z", "import os", "z\\\n+1", "1e1000**(1/3)", "z[0]", "(z, z)",
    "Max(" + ",".join(f"Abs(z-{i})" for i in range(28)) + ")",
    "Piecewise((z, z))", "Piecewise(*z)", "Max(z)", "He(z)", "relu()", "0x10", "0b1", "1_0", "z@z", "z//2", "z%2",
    "9" * 1999, "log(0)", "sqrt(-1/3)", "(sin(1)-2)**(1/2)",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: t[:24].encode("ascii", "replace").decode())
def test_hostile_input_is_refused_at_once(text):
    with at_most(TWO_SECONDS), pytest.raises(InputError) as caught:
        expression(text)
    assert len(str(caught.value)) < 500


def test_the_worst_input_stays_within_time_and_memory():
    """A fresh process with the work of two seconds after the import of SymPy and 1.5 GB: no recursion or memory error
    either, whatever the interpreter's own limits are."""
    code = """
import sys
sys.path.append("tests/support")
from effort import TWO_SECONDS, at_most
from bulkedge.theory.functions.parse import expression
from bulkedge.theory.numbers.errors import InputError
with at_most(TWO_SECONDS):
    for text in sys.stdin.read().split("\\1"):
        try:
            expression(text)
        except InputError:
            continue
        raise SystemExit("accepted: " + text[:40])
"""
    worst = ["9**9**9**9", "(z+1)**100000", "z" * 100_000, "(" * 50_000, "-" * 1999 + "z", "He(1000, He(1000, z))",
             "**".join(["2"] * 600), "Max(exp(exp(exp(9))), 1)", "(exp(z) + z + 1)**1000"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        input="\1".join(worst),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29)),
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.returncode == 0, done.stderr


# Random expressions over the grammar: an expression or InputError, never anything else.

_ATOMS = st.sampled_from(["z", "pi", "E", "0", "1", "2", "1/3", "0.25", "-1", "relu", "tanh", "1e-3", "7"])
_UNARY = st.sampled_from([*FUNCTIONS, *catalogue.CATALOGUE])


def _grow(inner):
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "1/2", "-2"])).map(lambda t: f"({t[0]})**({t[1]})"),
        st.tuples(_UNARY, inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(["Max", "Min"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"Piecewise(({t[0]}, {t[1]} > 0), ({t[2]}, True))"),
        st.tuples(st.integers(0, 6), inner).map(lambda t: f"He({t[0]}, {t[1]})"),
        inner.map(lambda t: f"-{t}"),
    )


GRAMMAR = st.recursive(_ATOMS, _grow, max_leaves=6)


@settings(max_examples=150, deadline=None)
@given(GRAMMAR)
def test_random_expressions_give_an_expression_or_a_refusal(text):
    try:
        value = expression(text)
    except InputError:
        return
    assert isinstance(value, sp.Expr)
    assert value.free_symbols <= {z}
    assert not value.has(sp.nan, sp.zoo, sp.oo, sp.I)
    measure(value)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="z0123456789.+-*/()eE,<>=&|^[]{}'\" \n_:!~%@abPHM", max_size=40))
def test_random_text_gives_an_expression_or_a_refusal(text):
    try:
        value = expression(text)
    except InputError:
        return
    assert isinstance(value, sp.Expr)


@pytest.mark.parametrize("name", catalogue.CATALOGUE)
def test_catalogue_entries_are_usable_alone_and_as_functions(name):
    entry = catalogue.CATALOGUE[name]
    assert expression(name) == expression(f"{name}(z)") == entry(z)
    assert expression(f"{name}(2*z)") == entry(2 * z)
    assert expression(entry.usage) == entry(z)


@pytest.mark.parametrize(
    ("name", "direct"),
    [
        ("sigmoid", lambda x: 1 / (1 + math.exp(-x))),
        ("silu", lambda x: x / (1 + math.exp(-x))),
        ("mish", lambda x: x * math.tanh(math.log1p(math.exp(x)))),
        ("softplus", lambda x: math.log1p(math.exp(x))),
        ("gelu", lambda x: x * math.erfc(-x / math.sqrt(2)) / 2),
        ("celu", lambda x: x if x > 0 else math.expm1(x)),
        ("selu", lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x))),
        ("log_cosh", lambda x: math.log(math.cosh(x))),
        ("relu6", lambda x: min(max(x, 0), 6)),
        ("hard_tanh", lambda x: min(max(x, -1), 1)),
        ("gaussian", lambda x: math.exp(-x * x)),
        ("relu2", lambda x: max(x, 0) ** 2),
        ("squared_relu(2*z - 1)", lambda x: max(2 * x - 1, 0) ** 2),
        ("prelu", lambda x: x if x > 0 else x / 4),
        ("prelu(z, -1/3)", lambda x: x if x > 0 else -x / 3),
        ("hardswish", lambda x: x * min(max(x + 3, 0), 6) / 6),
        ("hard_sigmoid", lambda x: min(max(x + 3, 0), 6) / 6),
        ("hard_sigmoid(z, 1/5)", lambda x: min(max(0.2 * x + 0.5, 0), 1)),
        ("hard_sigmoid(z, 1/2)", lambda x: min(max((x + 1) / 2, 0), 1)),
        ("softsign", lambda x: x / (1 + abs(x))),
        ("softsign(3*z + 1)", lambda x: (3 * x + 1) / (1 + abs(3 * x + 1))),
        ("logsigmoid", lambda x: -math.log1p(math.exp(-x))),
        ("tanhshrink", lambda x: x - math.tanh(x)),
        ("softshrink", lambda x: math.copysign(max(abs(x) - 0.5, 0), x)),
        ("softshrink(z, 2)", lambda x: math.copysign(max(abs(x) - 2, 0), x)),
        ("hardshrink", lambda x: x if abs(x) > 0.5 else 0),
        ("hardshrink(z, 2)", lambda x: x if abs(x) > 2 else 0),
        ("quick_gelu", lambda x: x / (1 + math.exp(-1.702 * x))),
        ("gelu_tanh", lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
        ("asinh", math.asinh),
        ("softplus(z, 3)", lambda x: math.log1p(math.exp(3 * x)) / 3),
        ("swish(z, 3/2)", lambda x: x / (1 + math.exp(-1.5 * x))),
        ("silu(z, -2)", lambda x: x / (1 + math.exp(2 * x))),
        ("snake", lambda x: x + math.sin(x) ** 2),
        ("snake(z, 5)", lambda x: x + math.sin(5 * x) ** 2 / 5),
        ("Phi", lambda x: math.erfc(-x / math.sqrt(2)) / 2),
    ],
)
def test_catalogue_against_direct_formulas(name, direct):
    f = expression(name)
    for x in (-5.5, -0.75, 0.25, 1.5, 7.0):
        assert float(f.subs(z, R(x)).evalf(30)) == pytest.approx(direct(x), rel=1e-12)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Relu(z)", "relu"), ("ReLU", "relu"), ("RELU(2*z)", "relu(2*z)"), ("LeakyReLU(z, 1/5)", "leaky_relu(z, 1/5)"),
        ("Hardtanh", "hard_tanh"), ("HardTanh(z)", "hard_tanh"), ("Hard_Swish(z)", "hardswish"), ("Tanh(z)", "tanh"),
        ("LogSigmoid(z)", "logsigmoid"), ("Softplus(z, 2)", "softplus(z, 2)"), ("SiLU", "silu"), ("Swish(z)", "silu"),
        ("PReLU(z, 1/10)", "prelu(z, 1/10)"), ("Hardsigmoid", "hard_sigmoid"), ("SquaredReLU", "relu2"),
        ("QuickGELU(z)", "quick_gelu"), ("GELU", "gelu"), ("Log(2 + Cosh(z))", "log(2 + cosh(z))"),
        ("arcsinh(z)", "asinh"), ("Exp(-z**2)", "gaussian"), ("Heaviside(z)", "step"), ("Abs(z)", "abs"),
    ],
)  # fmt: skip
def test_capitals_and_underscores_do_not_matter(written, meant):
    assert expression(written) == expression(meant)


def test_phi_is_not_the_distribution_function():
    """phi is the field's name of the density; reading it as Phi would be a wrong number."""
    with pytest.raises(InputError, match="phi"):
        expression("phi(z)")


def test_no_two_names_fold_to_one():
    names = [*catalogue.CATALOGUE, *catalogue.ALIASES]
    folded = {}
    for name in names:
        owner = catalogue.ALIASES.get(name, name)
        assert folded.setdefault(catalogue.folded(name), owner) == owner
    assert all(owner in catalogue.CATALOGUE for owner in catalogue.ALIASES.values())
    for name in FUNCTIONS:  # an elementary function and a name of the catalogue that look alike are the same
        entry = catalogue.entry(name)
        assert entry is None or name == "Phi" or FUNCTIONS[name](z) == entry(z)


@pytest.mark.parametrize("name", ["tanhh", "sinn", "rleu", "absz", "stepp", "Heavisid", "atann", "sofplus", "hardtan"])
def test_a_suggestion_names_each_function_once(name):
    with pytest.raises(InputError) as caught:
        expression(f"{name}(z)")
    hint = caught.value.remedy
    assert hint.startswith("did you mean ")
    offered = hint.removeprefix("did you mean ").removesuffix("?").split(" or ")
    assert len({word.lower() for word in offered}) == len(offered)


@pytest.mark.parametrize("usage", ["hardshrink(z, 0)", "softplus(z, 0)", "snake(z, -1)", "hard_sigmoid(z, -1/6)"])
def test_parameters_that_must_be_positive(usage):
    with pytest.raises(InputError, match="not positive"):
        expression(usage)
