"""`bulkedge sphere`: the contract's fields, radius, dimensions, exit statuses, pictures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import scipy.special
import sympy as sp

import bulkedge
from bulkedge.cli import main


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, dict]:
    status = main(["sphere", *tokens, "--json"])
    out, _ = capsys.readouterr()
    return status, json.loads(out)


@pytest.mark.parametrize("dim", [2, 3, 10, 1000])
def test_relu(capsys, dim):
    status, found = run(capsys, "relu", "--dim", str(dim), "--degree", "6")
    assert status == 0
    rows = found["eigenvalues"]
    assert [row["degree"] for row in rows] == list(range(7))
    assert rows[2]["multiplicity"] == str(dim * (dim + 1) // 2 - 1)
    first = math.exp(scipy.special.gammaln(dim / 2) - scipy.special.gammaln((dim + 1) / 2)) / (2 * math.sqrt(math.pi))
    assert float(rows[0]["eta"]) == pytest.approx(first, rel=1e-12)
    assert float(rows[1]["eta"]) == pytest.approx(1 / (2 * dim), rel=1e-14)
    assert float(rows[2]["eta"]) == pytest.approx(first / (dim + 1), rel=1e-12)
    assert rows[3]["eta"] == rows[3]["value"] == rows[3]["error"] == "0"
    for row in rows:
        assert float(row["value"]) == pytest.approx(float(row["eta"]) ** 2, rel=1e-13)
    closed = sp.sympify(found["closed_form"])
    d, l = sp.symbols("d l")
    assert float(closed.subs({d: dim, l: 4}).evalf()) == pytest.approx(float(rows[4]["eta"]), rel=1e-12)


def test_parseval_radius_and_other_functions(capsys):
    status, found = run(capsys, "tanh", "--dim", "5", "--degree", "15", "--radius", "3/2", "--digits", "20")
    assert status == 0
    assert found["closed_form"] is None
    total = sum(float(row["value"]) * int(row["multiplicity"]) for row in found["eigenvalues"])
    assert total == pytest.approx(float(found["second_moment"]), rel=1e-6)
    assert found["eigenvalues"][2]["eta"] == "0"
    _, once = run(capsys, "relu", "--dim", "5", "--degree", "2")
    _, twice = run(capsys, "relu", "--dim", "5", "--degree", "2", "--radius", "2")
    assert float(twice["eigenvalues"][2]["value"]) == pytest.approx(
        4 * float(once["eigenvalues"][2]["value"]), rel=1e-14
    )


def test_many_multiplicities_are_decimal_strings(capsys):
    _, found = run(capsys, "abs", "--dim", "1000", "--degree", "50")
    assert found["eigenvalues"][50]["multiplicity"] == str(math.comb(1049, 50) - math.comb(1047, 48))
    assert float(found["eigenvalues"][50]["eta"]) == pytest.approx(1.627459424276036e-47, rel=1e-13)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("relu", "--dim", "1", "--degree", "2"), "dim"),
        (("relu", "--dim", "2.5", "--degree", "2"), "dim"),
        (("relu", "--dim", "3", "--degree", "-2"), "degree"),
        (("relu", "--dim", "3", "--degree", "2", "--radius", "0"), "radius"),
        (("relu", "--degree", "2"), "--dim"),
    ],
)
def test_bad_input_is_exit_two(capsys, tokens, message):
    assert main(["sphere", *tokens, "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_modes_and_picture(tmp_path: Path, capsys):
    target = tmp_path / "decay.pdf"
    assert main(["sphere", "relu", "--dim", "3", "--degree", "6", "--plot", str(target)]) == 0
    assert target.read_bytes()[:4] == b"%PDF"
    assert "multiplicity" in capsys.readouterr().out
    assert bulkedge.sphere("tanh", 3, 2).latex().startswith(r"(\eta")
    assert "Gamma" in bulkedge.sphere("relu", dim=3, degree=2, radius="1/2").latex()


def test_figures_of_the_registry():
    from bulkedge.figures.kernel import FIGURES

    for picture in FIGURES:
        _, table = picture.draw()
        assert len(table.rows) > 20
