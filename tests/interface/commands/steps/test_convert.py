"""`bulkedge convert`: the contract, values against the dictionary as the papers print it, unusable input."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkedge.cli import main
from bulkedge.commands.steps.convert import convert

COUNTS = st.integers(1, 10**6)
REALS = st.fractions("1/1000", 1000, max_denominator=1000)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["convert", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--step", "4", "--exponent", "3/4", "--ridge", "0.1", "--n", "200", "--m", "100", "--d", "50"]
    answer = run(capsys, "--from", "F", "--to", "O", *options)
    # eta_O = eta_F/sqrt(m), alpha = zeta - 1/2, lambda_O = lambda_F m/n, psi1 = n/d, psi2 = m/d
    assert (answer["step"], answer["exponent"], answer["ridge"]) == ("0.4", "0.25", "0.05")
    assert answer["ratios"] == {"psi1": "4", "psi2": "2", "alpha": "4"}
    assert answer["formulas"]["step"] == "eta_O = eta_F/sqrt(N)"
    assert set(answer["errors"].values()) == {"0"}
    assert {"command", "inputs", "setting", "source", "notes"} <= set(answer)


def test_maximal_step_of_p5_and_exchanged_ratios_of_p9(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, "--from", "P5", "--to", "O", "--step", "3/2", "--width", "2", "--digits", "30")
    assert answer["step"] == "2.12132034355964257320253308631"  # 3/sqrt 2
    assert answer["exact"]["step"] == "3*sqrt(2)/2"
    answer = run(capsys, "--from", "P9", "--to", "O", "--ridge", "1", "--ratio", "psi1=2", "--ratio", "psi2=3")
    assert answer["ridge"] == "2"  # lambda_O = psi2_O lambda_P9, psi2_O = psi1_P9
    assert answer["ratios"] == {"psi1": "3", "psi2": "2", "alpha": None}
    assert "step" not in answer["formulas"]


@given(REALS, REALS, COUNTS, COUNTS, COUNTS, st.sampled_from("OFM"), st.sampled_from(["O", "F", "M", "P5"]))
def test_there_and_back_is_the_identity(
    step: object, ridge: object, d: int, width: int, n: int, source: str, target: str
) -> None:
    there = convert(source, target, step=step, ridge=ridge, d=d, width=width, n=n)
    back = convert(target, source, step="1", ridge=there.exact["ridge"], d=d, width=width, n=n)
    assert back.exact["ridge"] == ridge
    assert (back.exact["step"] * there.exact["step"]).equals(step)


def test_latex_and_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "--from", "F", "--to", "O", "--latex"]) == 0
    assert r"\eta_{O} = \frac{\eta_{F}}{\sqrt{N}}" in capsys.readouterr().out
    assert main(["convert", "--from", "M", "--to", "F"]) == 0
    assert "own output" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "F", "--to", "Z"], "to: unknown paper"),
        (["--from", "F", "--to", "O", "--step", "1"], "give width"),
        (["--from", "F", "--to", "O", "--ridge", "1", "--width", "3"], "give train"),
        (["--from", "F", "--to", "O", "--step", "-1", "--width", "3"], "step"),
        (["--from", "F", "--to", "O", "--step", "inf", "--width", "3"], "step"),
        (["--from", "F", "--to", "O", "--width", "2.5"], "width"),
        (["--from", "F", "--to", "O", "--width", "0"], "width"),
        (["--from", "F", "--to", "O", "--n", "3", "--batch", "4"], "contradicts"),
        (["--from", "F", "--to", "O", "--n", "10", "--d", "5", "--ratio", "alpha=3"], "contradicts"),
        (["--from", "F", "--to", "O", "--ratio", "psi1=3"], "no ratio"),
        (["--from", "F", "--to", "O", "--ratio", "alpha"], "NAME=VALUE"),
        (["--from", "F", "--to", "O", "--ratio", "alpha=-1"], "ratio"),
        (["--from", "P9", "--to", "O", "--step", "1"], "no gradient step"),
        (["--from", "T", "--to", "O", "--ridge", "1"], "not known"),
        (["--from", "F", "--to", "O", "--digits", "0"], "digits"),
        (["--from", "F"], "--to"),
        (["--from", "F", "--to", "O", "--widht", "3"], "--width"),
    ],
)
def test_unusable_input(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["convert", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
