"""hermite, kernel and sphere in the user's own letters: against the same commands with numbers, and as programs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import bulkedge
from bulkedge.cli import main
from bulkedge.theory.functions.parametric import admissible, at
from bulkedge.theory.numbers.symbols import rho

s, b, a = sp.symbols("s b a", positive=True)
c, w = sp.symbols("c w", real=True)
z = sp.Symbol("z", real=True)

FUNCTIONS = (
    ("leaky_relu(z, s)", "s", ""),
    ("Max(z - b, 0)", "b", ""),
    ("erf(s*z) + c*z", "s", "c"),
    ("gelu(s*z)", "s", ""),
    ("sin(w*z)", "", "w"),
    ("elu(z, a)", "a", ""),
)


def ran(line: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert main([*line, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def called(program: str, name: str, values: dict[sp.Symbol, sp.Rational]) -> dict[str, Any]:
    """The program's answer: what a user runs; only names of the program are in reach."""
    scope: dict[str, Any] = {}
    exec(program, scope)
    found: dict[str, Any] = scope[name](**{symbol.name: float(x) for symbol, x in values.items()})
    return found


@settings(max_examples=2, deadline=None)
@given(st.integers(0, 60))
@pytest.mark.parametrize(("text", "positive", "real"), FUNCTIONS)
def test_hermite_at_values_is_hermite_of_the_function_there(text, positive, real, index):
    result = bulkedge.hermite(text, 5, positive=positive or None, real=real or None)
    values = admissible(set(result.free_symbols), index)
    plain = bulkedge.hermite(at(result.function, values), 5)
    for mine, other in zip(result.subs(values).coefficients, plain.coefficients, strict=True):
        assert float(mine["value"]) == pytest.approx(float(other["value"]), rel=1e-12, abs=1e-13)
    expected = [float(x["value"]) for x in plain.coefficients]
    np.testing.assert_allclose(
        called(result.python(), "hermite", values)["coefficients"], expected, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(("text", "positive", "real"), FUNCTIONS)
def test_kernel_at_values_is_the_kernel_of_the_function_there(text, positive, real):
    result = bulkedge.kernel(text, rho="1/3", order=4, positive=positive or None, real=real or None)
    values = admissible(set(result.free_symbols), 7)
    plain = bulkedge.kernel(at(result.function, values), rho="1/3", order=4)
    assert float(result.subs(values).value) == pytest.approx(float(plain.value), rel=1e-12)
    for mine, other in zip(result.subs(values).series, plain.series, strict=True):
        assert float(mine["value"]) == pytest.approx(float(other["value"]), rel=1e-12, abs=1e-14)
    if "Phi2" not in str(result.at):
        assert called(result.python(), "kernel", values)["value"] == pytest.approx(float(plain.value), rel=1e-9)


def test_variances_correlations_and_means_may_be_letters(capsys):
    line = ["kernel", "relu", "--q11", "2*a", "--q12", "a*c", "--q22", "a", "--positive", "a", "--real", "c"]
    found = ran(line, capsys)
    assert found["symbols"] == {"a": "positive", "c": "real"}
    assert found["value"] is None
    assert found["error"] is None
    exact = sp.sympify(found["exact"], locals={"a": a, "c": c})
    numbers = bulkedge.kernel("relu", q11="5/2", q12="-5/8", q22="5/4").value
    assert float(exact.subs({a: sp.Rational(5, 4), c: sp.Rational(-1, 2)})) == pytest.approx(float(numbers), rel=1e-13)
    crossed = bulkedge.kernel("relu", rho="1/2", with_="Max(z - b, 0)", mean1="-b", positive="b", order=1)
    plain = bulkedge.kernel("relu", rho="1/2", with_="relu(z - 2/5)", mean1="-2/5", order=1)
    assert float(crossed.subs(b, "2/5").covariance.value) == pytest.approx(float(plain.covariance.value), rel=1e-10)


def test_the_contract_of_symbols(capsys):
    found = ran(["hermite", "leaky_relu(z, s)", "--degree", "3", "--positive", "s"], capsys)
    assert found["symbolic"] is True
    assert found["symbols"] == {"s": "positive"}
    assert found["inputs"]["positive"] == "s"
    for row in found["coefficients"]:
        assert row["value"] is None
        assert row["error"] is None
    read_back = [sp.sympify(row["exact"], locals={"s": s}) for row in found["coefficients"]]
    assert sp.expand(read_back[2] - (1 - s) / (2 * sp.sqrt(sp.pi))) == 0
    plain = ran(["hermite", "relu", "--degree", "2"], capsys)
    assert "symbolic" not in plain
    assert "positive" not in plain["inputs"]


def test_python_takes_sympy_symbols_with_their_own_assumptions():
    result = bulkedge.hermite(sp.Max(z - b, 0), 1)
    assert result.free_symbols == {b}
    assert sp.expand(result.expr["coefficients"][1] - (1 - sp.erf(b / sp.sqrt(2))) / 2) == 0
    assert bulkedge.kernel(sp.erf(s * z), order=0).closed_form == 2 * sp.asin(2 * rho * s**2 / (2 * s**2 + 1)) / sp.pi
    with pytest.raises(bulkedge.InputError, match="the symbol t is not known to be real"):
        bulkedge.hermite(sp.tanh(sp.Symbol("t") * z), 1)


def test_sphere_in_dimension_degree_and_slope(capsys):
    found = ran(["sphere", "leaky_relu(z, s)", "--dim", "d", "--degree", "3", "--positive", "s,d"], capsys)
    d = sp.Symbol("d", positive=True)
    plain = bulkedge.sphere("leaky_relu(z, 1/5)", dim=7, degree=3).eigenvalues
    for row, number in zip(found["eigenvalues"], plain, strict=True):
        eta = sp.sympify(row["exact"], locals={"s": s, "d": d}).subs({s: sp.Rational(1, 5), d: 7})
        assert float(eta) == pytest.approx(float(number.eta), rel=1e-12, abs=1e-15)
        count = sp.sympify(row["multiplicity"], locals={"d": d}).subs(d, 7)
        assert int(count) == int(number.multiplicity)
    one = bulkedge.sphere("relu", dim=11, degree="l", positive="l")
    (eta,) = one.expr["eta"]
    (l,) = one.free_symbols
    expected = bulkedge.sphere("relu", dim=11, degree=4).eigenvalues[4].eta
    assert float(sp.gammasimp(eta.subs(l, 4))) == pytest.approx(float(expected), rel=1e-12)


def test_without_a_closed_form_a_letter_stands_for_the_coefficient():
    result = bulkedge.hermite("tanh(s*z)", 3, positive="s")
    assert [str(e) for e in result.expr["coefficients"]] == ["0", "c_1", "0", "c_3"]
    assert any("c_1 = E[f(z) h_1(z)], no closed form" in note for note in result.notes)
    enclosed = result.subs(s, "3/2").coefficients[1]["value"]
    assert float(enclosed) == pytest.approx(
        float(bulkedge.hermite("tanh(3*z/2)", 1).coefficients[1]["value"]), rel=1e-14
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hermite tanh(q*z) --degree 1", "FUNCTION: q is not declared; declare it, --positive q or --real q"),
        ("hermite tanh(rho*z) --degree 1 --positive rho", "rho means the correlation here"),
        ("hermite tanh(s*z) --degree 1 --positive s --real s", "s is declared twice"),
        ("hermite tanh(s*z) --degree 1 --positive s,b", "b is declared and appears nowhere"),
        ("hermite step(c*z) --degree 1 --real c", "the answer depends on the sign of c; declare --positive c"),
        ("hermite leaky_relu(z,s) --degree 1 --positive s --plot x.svg", "the symbols s are left"),
        ("kernel elu(z,a) --positive a --python", "Phi2 has no NumPy function"),
        ("kernel tanh(s*z) --positive s --python", "no closed form is known"),
        ("kernel relu --q11 v --q12 1 --rho 1/2 --positive v", "rho: it is given together with q12"),
        (
            "kernel leaky_relu(z,s) --q11 1 --q12 3 --q22 1 --positive s",
            "q12: q12^2 = 9 exceeds q11 q22 = 1, so this is no covariance; give |q12| <= sqrt(q11 q22)",
        ),
        ("sphere tanh --dim d --degree 2 --positive d", "no closed form of tanh on the sphere"),
        ("sphere relu --dim d --degree 501 --positive d", "501 is too large for a table with symbols"),
    ],
)
def test_bad_input(line, said, capsys):
    assert main(line.split()) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    assert said in error


def test_latex_has_a_left_hand_side_and_the_letters(capsys):
    assert main(["hermite", "leaky_relu(z, s)", "--degree", "3", "--positive", "s", "--latex"]) == 0
    assert capsys.readouterr().out.startswith(r"c_{k} = \begin{cases} \frac{s}{2} + \frac{1}{2} & \text{for } k = 1")
    assert main(["kernel", "erf(s*z)", "--positive", "s", "--latex"]) == 0
    assert capsys.readouterr().out.startswith(r"\kappa(\rho) = ")


@pytest.mark.parametrize(
    ("text", "options", "correlation"),
    [
        ("Max(z - b, 0)", {"real": "b"}, "1"),
        ("Max(z - b, 0)", {"positive": "b"}, "-1"),
        ("Abs(z - b)", {"positive": "b"}, "-1"),
        ("leaky_relu(z, b)", {"positive": "b"}, "-1"),
    ],
)
def test_at_full_correlation_the_kernel_is_a_moment_of_one_variable(text, options, correlation):
    # the closed form divides by sqrt(1 - rho^2) there: it gave nan or erf(zoo*b)
    result = bulkedge.kernel(text, rho=correlation, order=0, **options)
    assert not result.at.has(sp.nan, sp.zoo)
    (letter,) = result.free_symbols
    for value in (sp.Rational(2, 3), sp.Integer(1)):
        plain = bulkedge.kernel(at(result.function, {letter: value}), rho=correlation, order=0)
        assert float(result.subs(letter, value).value) == pytest.approx(float(plain.value), rel=1e-12, abs=1e-14)


def test_full_correlation_in_letters_and_a_sign_that_is_not_declared():
    result = bulkedge.kernel("relu", q11="a", q12="-sqrt(a*b)", q22="b", positive="a,b", order=0)
    assert result.at == 0
    with pytest.raises(bulkedge.InputError, match="declare --positive b"):
        bulkedge.kernel("Abs(z - b)", rho="-1", real="b")


@pytest.mark.parametrize("text", ["relu", "leaky_relu(z, 1/5)", "relu(z)**2", "He(3, z) + abs(z)"])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_degree_in_letters_holds_at_every_degree(text, dim):
    # simplified, the formula is 0/0 at l = 1 on the circle, and Gamma has poles where eta is zero
    result = bulkedge.sphere(text, dim=dim, degree="l", positive="l")
    (letter,) = result.free_symbols
    for row in bulkedge.sphere(text, dim=dim, degree=6).eigenvalues[1:]:
        exact = result.expr["eta"][0].subs(letter, row.degree)
        assert float(exact) == pytest.approx(float(row.eta), rel=1e-12, abs=1e-15)
        values = {letter: sp.Integer(row.degree)}
        program = called(result.python(), "sphere", values)["eta"]
        assert float(np.ravel(program)[0]) == pytest.approx(float(row.eta), rel=1e-12, abs=1e-14)


def test_a_kernel_without_a_closed_form_is_enclosed_once_the_letters_have_values():
    result = bulkedge.kernel("tanh(s*z)", rho="c", order=1, positive="s", real="c")
    found = result.subs({"s": 2, "c": "1/3"})
    plain = bulkedge.kernel("tanh(2*z)", rho="1/3", order=1)
    assert float(found.value) == pytest.approx(float(plain.value), rel=1e-14)
    assert float(found.series[1]["value"]) == pytest.approx(float(plain.series[1]["value"]), rel=1e-14)


def test_a_and_b_for_a_leaky_relu_of_any_slope(capsys):
    found = bulkedge.gamma(
        "leaky_relu(z, s)", "z + c*He(2, z)", n=300, m=200, d=100, step=30, noise="1/5", positive="s", real="c"
    )
    plain = bulkedge.gamma("leaky_relu(z, 1/5)", "z + He(2, z)/3", n=300, m=200, d=100, step=30, noise="1/5")
    there = found.subs({"s": "1/5", "c": "1/3"})
    for reading in ("printed", "rank_one", "full"):
        for name in ("A", "B"):
            mine, other = (getattr(getattr(x, reading), name) for x in (there, plain))
            assert float(mine) == pytest.approx(float(other), rel=1e-13)
    line = ["gamma", "tanh(s*z)", "z", "--n", "9", "--m", "9", "--d", "9", "--step", "1", "--positive", "s"]
    assert main(line) == 2
    assert "ACTIVATION: a moment of tanh(s*z) has no closed form in s; give s a number" in capsys.readouterr().err
