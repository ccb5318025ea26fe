"""`bulkedge outliers`: the contract's fields, exact boundaries, bad input."""

from __future__ import annotations

import json

import pytest

import bulkedge
from bulkedge.cli import main
from bulkedge.theory.numbers.errors import InputError


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


def test_first_finite_size() -> None:
    """Spike 1 at (.35, .2) grows as N^(1/20): by 1.41 at N = 1000, tenfold at 10^20. On a boundary the one before."""
    slow = bulkedge.outliers("0.35", "0.2", degree=5)
    assert slow.notes[0].startswith(
        "WARNING, a limit far from usual sizes: the weakest counted spike that grows, k = 1"
    )
    assert slow.finite_size == {
        "width": 1000, "weakest": 1, "factor": "1.41", "tenfold": "1.0e+20", "correction": "0.35"
    }  # fmt: skip
    fast = bulkedge.outliers("0.4", "0.45", degree=2)
    assert (fast.finite_size["weakest"], fast.finite_size["tenfold"]) == (1, "720")
    assert not any("WARNING" in note for note in fast.notes)
    assert bulkedge.outliers("2/5", "0.3", degree=9).finite_size["weakest"] == 2
    assert bulkedge.outliers("0", "0", degree=2).finite_size["weakest"] is None
    assert bulkedge.outliers("1/3", "1/6", degree=2).finite_size["weakest"] == 0


def test_readout_and_batch(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "0.45", "0.2", "--degree", "inf", "--readout", "rademacher", "--json")
    found = json.loads(out)
    assert (found["total"], found["counted"]) == (5, 2)
    _, table, _ = run(capsys, "0.45", "0.2", "--degree", "inf", "--readout", "rademacher")
    assert "Lambda = 4 new outliers, 5 in all" in " ".join(table.split())
    assert "2 in all here (reused, rademacher)" in " ".join(table.split())
    assert "a rademacher readout has 2 distinct" in " ".join(table.split())


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
    ("activation", "batch", "labels", "directions"),
    [
        ("abs", "reused", "centred", []),
        ("Abs(z) + He(2, z)/5", "reused", "centred", []),
        ("Abs(z) + z/5", "reused", "centred", ["a", "a^2", "a|a|"]),
        ("hard_tanh", "reused", "centred", ["a", "a|a|"]),
        ("hard_tanh", "fresh", "centred", ["a"]),
        ("relu", "fresh", "centred", ["a", "a^2"]),
    ],
)
def test_a_kink_counts_where_its_function_does_not_vanish(
    activation: str, batch: str, labels: str, directions: list[str]
) -> None:
    found = bulkedge.outliers("0.35", "0.2", degree="inf", batch=batch, activation=activation, labels=labels)
    assert list(found.count.directions) == directions
    shown = " ".join(" ".join(row) for table in found.tables() for row in table.rows)
    assert all(reason in shown for reason in found.count.reasons)


def test_a_mean_of_the_labels_brings_a_spike_back() -> None:
    """ReLU, fresh batch, spike 2: the third derivative has mean zero, but e G gives -mu2 E[y] phi(0) mu1 y q."""
    counts = [
        bulkedge.outliers("0.4", "0.25", degree="inf", batch="fresh", activation="relu", labels=labels).count.total
        for labels in ("centred", "uncentred")
    ]
    assert counts == [2, 3]
    biased = bulkedge.align("He(1,z) + 1/2", power=2, alpha=2, batch="fresh", activation="relu")
    assert float(biased.payload()["norm2"]) > 0
    with pytest.raises(InputError):
        bulkedge.align("He(1,z)", power=2, alpha=2, batch="fresh", activation="relu")
    with pytest.raises(InputError, match="labels"):
        bulkedge.outliers("0.4", "0.25", degree="inf", labels="any")


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


@pytest.mark.parametrize(
    ("activation", "degree", "remedy"),
    [
        ("z+He(2,z)", "5", "give degree 2"),
        ("z+He(2,z)", "inf", "give degree 2"),
        ("tanh", "3", "give degree inf"),
        ("relu", "1", "give degree inf"),
    ],
)
def test_a_degree_that_contradicts_the_activation_is_refused(activation: str, degree: str, remedy: str) -> None:
    with pytest.raises(InputError, match=remedy) as error:
        bulkedge.outliers("0.4", "0.45", degree=degree, activation=activation)
    assert error.value.argument == "degree"


@pytest.mark.parametrize("alpha2", ["0.05", "0.2", "0.45"])
def test_no_more_outliers_are_counted_than_the_degree_allows(alpha2: str) -> None:
    """z + He_2: sigma'' is constant and sigma''' vanishes, so that spike 1 is the last at any size of the steps."""
    found = bulkedge.outliers("0.4", alpha2, degree=2, activation="z+He(2,z)")
    assert found.count.total == found.total == min(2, found.phase.uncapped + 1)
    assert not any("examined" in note for note in found.notes)
