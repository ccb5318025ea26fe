"""`bulkedge kernel`: the contract against independent evaluation, ends, covariances, exit statuses, picture."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
import sympy as sp

import bulkedge
from bulkedge.cli import main
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import PrecisionError


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, dict, str]:
    status = main(["kernel", *tokens, "--json"])
    out, err = capsys.readouterr()
    return status, json.loads(out) if out else {}, err


def test_fields(capsys):
    status, found, _ = run(capsys, "relu", "--rho", "-1/2", "--order", "12", "--digits", "20")
    assert status == 0
    rho, k = sp.symbols("rho k")
    closed = sp.sympify(found["closed_form"])
    with mpmath.workdps(40):
        truth = mpmath.mpf(str(closed.subs(rho, -sp.Rational(1, 2)).evalf(40)))
        assert abs(mpmath.mpf(found["value"]) - truth) <= mpmath.mpf(found["error"]) + mpmath.mpf(10) ** -20
    assert [c["k"] for c in found["series"]] == list(range(13))
    series = sp.series(closed, rho, 0, 13).removeO()
    general = sp.sympify(found["general_term"])
    for c in found["series"]:
        exact = sp.sympify(c["exact"])
        assert c["error"] == "0"
        assert sp.simplify(series.coeff(rho, c["k"]) - exact) == 0
        assert sp.simplify(general.subs(k, c["k"]) - exact) == 0
        assert float(c["value"]) == pytest.approx(float(exact), abs=1e-15)
    assert found["source"] == ["K1", "H4"]


def test_without_rho_there_is_no_value(capsys):
    status, found, _ = run(capsys, "gelu")
    assert status == 0
    assert found["value"] is None
    assert found["error"] is None
    assert len(found["series"]) == 11


def test_covariances(capsys):
    _, found, _ = run(capsys, "gelu", "--q11", "7/10", "--q12", "0.4", "--q22", "1.9")
    assert float(found["value"]) == pytest.approx(0.20767108548122, abs=1e-14)
    at = {"q11": sp.Rational(7, 10), "q12": sp.Rational(2, 5), "q22": sp.Rational(19, 10)}
    assert float(sp.sympify(found["closed_form"]).subs(at)) == pytest.approx(0.20767108548122, abs=1e-14)
    r = 0.4 / (0.7 * 1.9) ** 0.5
    partial = sum(float(c["value"]) * r ** c["k"] for c in found["series"])
    assert partial == pytest.approx(float(found["value"]), abs=1e-4)
    _, by_rho, _ = run(capsys, "relu", "--q11", "4", "--q22", "9", "--rho", "1/2")
    assert float(by_rho["value"]) == pytest.approx(6 * 0.30449889052211, rel=1e-13)


@pytest.mark.parametrize(
    ("tokens", "value"),
    [
        (("relu", "--rho", "1"), 0.5),
        (("relu", "--rho", "-1"), 0),
        (("step", "--rho", "-0.9999999999999999"), 2.2507907903927652e-9),
        (("relu", "--q11", "0", "--q12", "0"), 0),
        (("step", "--q11", "0", "--q12", "0"), 0.25),
        (("tanh", "--rho", "-1"), -0.39429449039784117),
    ],
)
def test_ends_and_zero_inputs(capsys, tokens, value):
    status, found, _ = run(capsys, *tokens)
    assert status == 0
    assert float(found["value"]) == pytest.approx(value, rel=1e-14, abs=1e-16)


def test_functions_without_a_closed_form(capsys):
    status, found, _ = run(capsys, "tanh", "--rho", "1/2", "--digits", "20")
    assert status == 0
    assert found["closed_form"] is None
    assert found["general_term"] is None
    c = {row["k"]: row for row in found["series"]}
    assert c[2]["exact"] == "0"
    assert float(c[1]["value"]) == pytest.approx(0.605705509602158826**2, rel=1e-14)
    assert 0 < float(found["error"]) < 1e-20
    assert found["value"].startswith("0.1863244132034")


def test_digits_out_of_reach_are_exit_three(capsys, monkeypatch):
    """A value that misses its digits (here it is made to: which functions do changes) is printed with its error."""

    def missed(*_):
        raise PrecisionError("15 digits could not be reached", Enclosure(Fraction(1, 3), Fraction(1, 10**6)))

    monkeypatch.setattr("bulkedge.theory.kernels.kernel_value.value", missed)
    status, found, _ = run(capsys, "relu", "--rho", "0.9", "--order", "0")
    assert status == 3
    assert (found["value"], found["error"]) == ("0.333333333333333", "1e-6")
    assert any("did not reach" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("relu", "--rho", "1.0001"), "-1 <= value <= 1"),
        (("relu", "--q11", "1", "--q12", "2", "--q22", "1"), "no covariance"),
        (("relu", "--q11", "-1"), "0 <= value"),
        (("relu", "--rho", "0", "--q12", "0"), "one of them"),
        (("relu", "--rho", "x"), "rho"),
        (("relu", "--digits", "0"), "digits"),
        (("relu", "--order", "-1"), "order"),
        (("relu", "--rno", "1"), "--rho"),
        (("nosuch", "--rho", "1"), "FUNCTION"),
        (("relu", "--with", "nosuch"), "with"),
        (("relu", "--mean1", "x"), "mean1"),
        (("relu", "--mean2", "1001"), "mean2"),
    ],
)
def test_bad_input_is_exit_two(capsys, tokens, message):
    status = main(["kernel", *tokens, "--json"])
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_two_functions_and_means(capsys):
    status, found, _ = run(
        capsys, "relu", "--with", "relu", "--mean1", "1/2", "--mean2", "-3/10", "--rho", "1/2", "--order", "4"
    )
    assert status == 0
    assert found["value"].startswith("0.33481169351")
    assert (found["inputs"]["with"], found["inputs"]["mean1"], found["inputs"]["mean2"]) == ("relu", "1/2", "-3/10")
    assert found["with"] == "Max(0, z)"
    # c_0 of the series is E f E g, by the density and the distribution function of N(0, 1).
    means = [float(m * mpmath.ncdf(m) + mpmath.npdf(m)) for m in (0.5, -0.3)]
    assert float(found["series"][0]["value"]) == pytest.approx(means[0] * means[1], rel=1e-14)
    assert float(found["series"][1]["value"]) == pytest.approx(float(mpmath.ncdf(0.5) * mpmath.ncdf(-0.3)), rel=1e-14)
    covariance = float(found["value"]) - means[0] * means[1]
    assert float(found["covariance"]["value"]) == pytest.approx(covariance, rel=1e-13)
    k = sp.Symbol("k")
    general = sp.sympify(found["general_term"])
    for c in found["series"]:
        assert float(general.subs(k, c["k"]).evalf(20)) == pytest.approx(float(c["value"]), rel=1e-14)


def test_the_series_of_two_functions_sums_to_the_value(capsys):
    _, found, _ = run(
        capsys, "tanh", "--with", "softplus", "--mean1", "-1/2", "--mean2", "2",
        "--q11", "2", "--q12", "-1/2", "--q22", "1/3", "--order", "24", "--digits", "12",
    )  # fmt: skip
    r = -0.5 / (2 / 3) ** 0.5
    total = sum(float(c["value"]) * r ** c["k"] for c in found["series"])
    assert total == pytest.approx(float(found["value"]), abs=1e-7)
    assert found["closed_form"] is None
    swapped = bulkedge.kernel(
        "softplus", q11="1/3", q12="-1/2", q22=2, with_="tanh", mean1=2, mean2=-0.5, order=1, digits=12
    )
    assert swapped.to_dict()["value"] == found["value"]


def test_a_covariance_that_cancels_has_its_digits(capsys):
    _, found, _ = run(capsys, "exp", "--mean1", "3", "--rho", "1e-20", "--order", "0")
    truth = sp.exp(4) * (sp.exp(sp.Rational(1, 10**20)) - 1)  # E f E g = exp(1/2 + 3) exp(1/2)
    assert float(found["covariance"]["value"]) == pytest.approx(float(truth.evalf(30)), rel=1e-14)
    assert float(found["covariance"]["error"]) < 1e-30
    _, independent, _ = run(capsys, "relu", "--mean1", "1", "--rho", "0", "--order", "0")
    assert independent["covariance"] == {"value": "0", "error": "0", "exact": "0"}


def test_latex_names_the_variables_it_uses(capsys):
    """Nothing that is written in q11, q12, q22 is called kappa(rho)."""
    for tokens in (("erf", "--q11", "2", "--q12", "1", "--q22", "3"), ("erf", "--q22", "2", "--with", "relu")):
        assert main(["kernel", *tokens, "--latex"]) == 0
        tex = capsys.readouterr().out
        assert tex.startswith(r"\kappa(q_{11}, q_{12}, q_{22}) = ")
        assert r"\rho" not in tex
    assert main(["kernel", "relu", "--mean1", "1", "--latex"]) == 0
    tex = capsys.readouterr().out
    assert tex.startswith(r"\kappa(\rho) = ")
    assert "q_{" not in tex


def test_the_readable_table_names_both_functions(capsys):
    assert main(["kernel", "relu", "--with", "abs", "--mean2", "1", "--rho", "0.3", "--order", "1"]) == 0
    out = capsys.readouterr().out
    assert "relu, abs at mean 1: coefficients of rho^k" in out
    assert "covariance" in out
    assert "E u = 0, E v = 1" in " ".join(out.split())  # wherever the terminal's width breaks the line


def test_modes_and_python(capsys):
    assert main(["kernel", "relu", "--rho", "1/2"]) == 0
    assert "closed form" in capsys.readouterr().out
    assert main(["kernel", "tanh", "--latex"]) == 0
    assert r"\rho" in capsys.readouterr().out
    assert main(["kernel", "relu", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "k,exact,value,error"
    result = bulkedge.kernel(nonlinearity("relu"), rho=sp.Rational(1, 2))
    assert result._repr_latex_().startswith("$")
    assert bulkedge.kernel("relu", rho="0.5").to_dict()["value"] == result.to_dict()["value"]


@pytest.mark.parametrize(
    "tokens",
    [("relu",), ("tanh",), ("gelu", "--q11", "4"), ("Abs(tanh(z))",), ("relu", "--with", "tanh", "--mean1", "1")],
)
def test_picture(tmp_path: Path, tokens):
    target = tmp_path / "kernel.svg"
    assert main(["kernel", *tokens, "--order", "1", "--plot", str(target)]) == 0
    assert "<svg" in target.read_text()[:400]
