"""`bulkedge mp`: the contract's fields against an independent evaluation, modes, picture, bad input."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
import sympy as sp

import bulkedge
from bulkedge.cli import main


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, str, str]:
    status = main(["mp", *tokens])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(("ratio", "scale"), [("1/2", "1"), ("2", "0.3"), ("1", "7"), ("1e-3", "2/3"), ("400", "1")])
@pytest.mark.parametrize("digits", [5, 15, 60])
def test_fields(capsys, ratio, scale, digits):
    status, out, _ = run(capsys, "--ratio", ratio, "--scale", scale, "--digits", str(digits), "--json")
    found = json.loads(out)
    assert status == 0
    with mpmath.workdps(digits + 30):
        c, s2 = (mpmath.mpf(f.numerator) / f.denominator for f in (Fraction(ratio), Fraction(scale)))
        expected = [s2 * (1 - mpmath.sqrt(c)) ** 2, s2 * (1 + mpmath.sqrt(c)) ** 2]
        for text, value in zip(found["edges"], expected, strict=True):
            assert abs(mpmath.mpf(text) - value) <= mpmath.mpf(10) ** (1 - digits) * value
        assert abs(mpmath.mpf(found["atom"]) - max(0, 1 - 1 / c)) <= mpmath.mpf(10) ** (1 - digits)
        assert abs(mpmath.mpf(found["variance"]) - c * s2**2) <= mpmath.mpf(10) ** (1 - digits) * c * s2**2
    assert sp.sympify(found["exact"]["edges"][1]).evalf(20) == pytest.approx(float(expected[1]))
    assert set(found["errors"].values()) == {"0"}
    assert found["source"] == ["R1"]


def test_modes(capsys):
    assert "upper edge" in run(capsys, "--ratio", "1/2")[1]
    assert "\\pi" in run(capsys, "--ratio", "1/2", "--latex")[1]
    header, first, *_ = run(capsys, "--ratio", "1", "--csv")[1].splitlines()
    assert header == "quantity,value,error,exact"
    assert first == "lower edge,0,0,0"


def test_python_function():
    result = bulkedge.mp(2, scale="1/2")
    assert result.to_dict()["atom"] == "0.5"
    assert result._repr_latex_().startswith("$")


@pytest.mark.parametrize("ratio", ["1/2", "3", "0.001"])
def test_picture(tmp_path: Path, ratio, monkeypatch):
    monkeypatch.setattr("bulkedge.results.spectra._SIDE", 200)
    target = tmp_path / "law.svg"
    assert main(["mp", "--ratio", ratio, "--plot", str(target)]) == 0
    assert "<svg" in target.read_text()[:400]


@pytest.mark.parametrize(
    ("tokens", "named"),
    [
        (("--ratio", "0"), "ratio"),
        (("--ratio", "-1"), "ratio"),
        (("--ratio", "nan"), "ratio"),
        (("--ratio", "1", "--scale", "inf"), "scale"),
        (("--ratio", "1", "--digits", "0"), "digits"),
        (("--ratio", "1", "--scal", "2"), "--scale"),
        ((), "--ratio"),
    ],
)
def test_unusable_input(capsys, tokens, named):
    status, out, err = run(capsys, *tokens)
    assert status == 2
    assert out == ""
    assert named in err
    assert err.count("\n") == 1


def test_a_population(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("bulkedge.results.spectra._SIDE", 200)
    picture = tmp_path / "law.svg"
    tokens = ("--ratio", "1/10", "--scale", "2", "--population", "1/2:1/2,5:1/2", "--digits", "25", "--json")
    status, out, _ = run(capsys, *tokens, "--plot", str(picture))
    found = json.loads(out)
    assert status == 0
    assert picture.exists()
    low, high = found["components"]
    # Independent: the numeric law (bracketed search in floats).
    from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw

    edges = GeneralLaw(DiscretePopulation.of([1.0, 10.0]), 0.1).edges
    for component, pair in zip((low, high), edges, strict=True):
        assert (float(component["lower"]), float(component["upper"])) == pytest.approx(pair, rel=1e-12)
        assert component["mass"] == "0.5"
        assert 0 < float(component["error"]) < 1e-24
    assert found["edges"] == [low["lower"], high["upper"]]
    assert (found["mean"], found["atom"], found["source"]) == ("5.5", "0", ["R2"])
    # One level is Marchenko-Pastur again, to every digit.
    _, one, _ = run(capsys, "--ratio", "2", "--population", "3:1", "--json")
    _, plain, _ = run(capsys, "--ratio", "2", "--scale", "3", "--json")
    for name in ("edges", "atom", "mean", "variance"):
        assert json.loads(one)[name] == json.loads(plain)[name]
    assert r"\psi" in run(capsys, *tokens[:6], "--latex")[1]
    assert run(capsys, *tokens[:6], "--csv")[1].startswith("lower edge,upper edge,error,mass")


@pytest.mark.parametrize(
    "population", ["1", "1:2:3", "1:1/2", "1:1/2,2:1/3", "-1:1", "0:1", "x:1", "1:1," * 13 + "1:1"]
)
def test_unusable_populations(capsys, population):
    status, out, err = run(capsys, "--ratio", "1", "--population", population)
    assert status == 2
    assert out == ""
    assert "population" in err
    assert err.count("\n") == 1
