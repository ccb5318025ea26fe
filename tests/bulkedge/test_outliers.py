"""`bulkedge outliers`: the contract's fields, exact boundaries, bad input."""

from __future__ import annotations

import json

import pytest

import bulkedge
from bulkedge.cli import main


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, str, str]:
    status = main(["outliers", *tokens])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "degree", "Lambda", "boundary"),
    [
        ("0.35", "0.2", "5", 1, False),
        ("2/5", "0.3", "9", 3, True),
        ("0.45", "0.4", "3", 2, False),
        ("0.4", "0.2", "inf", 2, True),
        ("0", "0.49", "4", 0, False),
        ("1/3", "1/6", "2", 1, True),
        ("0.49", "0.49", "1", 0, False),
    ],
)
def test_fields(
    capsys: pytest.CaptureFixture[str], alpha1: str, alpha2: str, degree: str, Lambda: int, boundary: bool
) -> None:
    status, out, _ = run(capsys, alpha1, alpha2, "--degree", degree, "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["Lambda"], found["total"], found["boundary"]) == (Lambda, 1 + Lambda, boundary)
    assert found["command"] == "outliers"
    assert "T1" in found["source"]


def test_python_reads_floats_as_the_decimals_they_print_as() -> None:
    assert bulkedge.outliers(0.4, 0.3, degree=9).Lambda == bulkedge.outliers("0.4", "0.3", degree="9").Lambda == 3
    assert r"\Lambda" in bulkedge.outliers(0.4, 0.3, degree=9)._repr_latex_()


def test_readout_and_batch(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "0.45", "0.2", "--degree", "inf", "--readout", "rademacher", "--json")
    found = json.loads(out)
    assert (found["total"], found["counted"]) == (5, 2)
    _, table, _ = run(capsys, "0.45", "0.2", "--degree", "inf", "--readout", "rademacher")
    assert "Lambda = 4 new outliers, 5 in all (2 with this batch and readout)" in " ".join(table.split())


def test_activation(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "0.42", "0.25", "--degree", "inf", "--batch", "fresh", "--activation", "tanh", "--json")
    found = json.loads(out)
    assert (found["Lambda"], found["total"], found["counted"]) == (3, 4, 2)
    assert found["directions"] == ["a", "a^3"]
    _, out, _ = run(capsys, "0.35", "0.2", "--degree", "inf", "--activation", "relu", "--json")
    found = json.loads(out)
    assert (found["total"], found["counted"]) == (2, 3)
    assert found["directions"] == ["a", "a^2", "a|a|"]


@pytest.mark.parametrize(
    "tokens",
    [
        ("0.5", "0.1", "--degree", "3"),
        ("-0.1", "0.1", "--degree", "3"),
        ("0.1", "x", "--degree", "3"),
        ("0.1", "0.1", "--degree", "0"),
        ("0.1", "0.1", "--degree", "2.5"),
        ("0.1", "0.1"),
        ("0.1", "0.1", "--degree", "3", "--batch", "both"),
        ("0.1", "0.1", "--degree", "3", "--readout", "cauchy"),
        ("0.4", "0.3", "--degree", "inf", "--activation", "sign"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], tokens: tuple[str, ...]) -> None:
    status, out, err = run(capsys, *tokens, "--json")
    assert status == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1


def test_a_tower_of_outliers_is_counted_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "0.4999999999999999999999", "0.25", "--degree", "inf", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["Lambda"] == 10**22 // 4
    assert len(found["exponents"]) == 50
