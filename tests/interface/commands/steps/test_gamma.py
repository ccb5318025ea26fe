"""The command gamma: the contract, and unusable input."""

from __future__ import annotations

import json

import pytest

from bulkedge.cli import main
from bulkedge.commands.steps.gamma import gamma

SIZES = ["--n", "800", "--m", "400", "--d", "400", "--step", "89.4427191"]


def test_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gamma", "relu", "tanh", *SIZES, "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert set(out["readings"]) == {"printed", "rank_one", "full"}
    assert float(out["readings"]["printed"]["B"]) == pytest.approx(2.692, abs=5e-4)
    assert float(out["readings"]["rank_one"]["B"]) == pytest.approx(1.834, abs=5e-4)
    assert float(out["readings"]["full"]["B"]) == pytest.approx(1.837, abs=5e-4)
    assert float(out["readings"]["full"]["A"]) == pytest.approx(1.00437, abs=1e-5)
    assert float(out["conditional"]["cosine2"]) == pytest.approx(0.6505, abs=5e-5)
    assert float(out["errors"]["full"]["B"]) < 1e-15


def test_noise_and_digits() -> None:
    quiet, loud = gamma("erf", "sin", 20, 10, 10, 2), gamma("erf", "sin", 20, 10, 10, 2, noise="1/2")
    assert loud.full.A > quiet.full.A
    assert float(loud.full.B) == pytest.approx(float(quiet.full.B), rel=1e-12)
    many = gamma("relu", "tanh", 20, 10, 10, "2", digits=40)
    assert len(many.payload()["readings"]["full"]["B"]) >= 40
    assert "rank-one" in many.latex()
    assert many.tables()[0].rows[0][0] == "printed"


def test_a_link_without_a_first_coefficient_is_answered() -> None:
    even = gamma("relu", "z**2 - 1", 20, 10, 10, 2)
    assert even.conditional.cosine2 == 0
    assert any("first coefficient vanishes" in note for note in even.notes)
    assert even.full.B > 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["sign", "tanh", *SIZES], "jump"),
        (["relu", "tanh", "--n", "8", "--m", "4", "--d", "1", "--step", "1"], "d:"),
        (["relu", "tanh", "--n", "0", "--m", "4", "--d", "4", "--step", "1"], "n:"),
        (["relu", "tanh", *SIZES, "--noise", "-1"], "noise"),
        (["relu", "log(Abs(z))", *SIZES], "LINK"),
    ],
)
def test_bad_input(arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gamma", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert word in captured.err
