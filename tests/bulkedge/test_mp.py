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
    assert header == "quantity,value,exact"
    assert first == "lower edge,0,0"


def test_python_function():
    result = bulkedge.mp(2, scale="1/2")
    assert result.to_dict()["atom"] == "0.5"
    assert result._repr_latex_().startswith("$")


@pytest.mark.parametrize("ratio", ["1/2", "3", "0.001"])
def test_picture(tmp_path: Path, ratio, monkeypatch):
    monkeypatch.setattr("bulkedge.spectra._SIDE", 200)
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
