"""`bulkedge weights`: the contract's fields, modes, picture, one clear error for each bad input and nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bulkedge
from bulkedge.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(60), rng.standard_normal(90)))
    matrix = 0.1 * rng.standard_normal((60, 90)) + 3 * np.outer(u, v)
    np.save(tmp_path / "w.npy", matrix)
    np.savez(tmp_path / "w.npz", first=matrix, second=matrix[:20])
    np.save(tmp_path / "v.npy", v)
    np.save(tmp_path / "nan.npy", np.full((20, 20), np.nan))
    np.save(tmp_path / "object.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
    (tmp_path / "text.csv").write_text("a,b\nc,d\n")
    (tmp_path / "empty.npy").write_bytes(b"")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, str, str]:
    status = main(["weights", *tokens])
    out, err = capsys.readouterr()
    return status, out, err


def test_fields(capsys, folder):
    status, out, _ = run(capsys, str(folder / "w.npy"), "--directions", str(folder / "v.npy"), "--json")
    found = json.loads(out)
    assert status == 0
    assert found["shape"] == [60, 90]
    assert float(found["scale"]) == pytest.approx(0.1, rel=0.05)
    assert float(found["edge"]) == pytest.approx(0.1 * (np.sqrt(60) + np.sqrt(90)), rel=0.05)
    (outlier,) = found["outliers"]
    assert set(outlier) >= {"value", "p", "strength"}
    assert found["strengths"] == [outlier["strength"]]
    assert float(outlier["strength"]) == pytest.approx(3, rel=0.15)
    assert float(outlier["p"]) < 0.01
    assert 0 < float(found["fit"]["p"]) <= 1
    assert 0 < float(found["fit"]["distance"]) < 0.1
    assert found["overlaps"][0]["side"] == "right"
    assert float(found["rate"]) == 0.01


def test_array_of_an_archive_modes_and_picture(capsys, folder):
    status, out, _ = run(capsys, str(folder / "w.npz"), "--array", "second", "--alarm", "0.05")
    assert status == 0
    assert "20 x 90" in out
    target = folder / "picture.svg"
    status, out, _ = run(capsys, str(folder / "w.npy"), "--csv", "--plot", str(target))
    assert out.startswith("outlier,value,p,strength,sd\n0,")
    assert target.exists()
    assert run(capsys, str(folder / "w.npy"), "--latex")[1].startswith(r"\begin{array}")


def test_python_function_is_reproducible(folder):
    one, two = (bulkedge.weights(folder / "w.npy").to_json() for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("tokens", "named"),
    [
        (("nan.npy",), "nan"),
        (("object.npy",), "no plain array"),
        (("text.csv",), "not a number"),
        (("empty.npy",), "empty"),
        (("v.npy",), "1 dimensions"),
        (("missing.npy",), "no file"),
        (("w.npz",), "--array"),
        (("w.npz", "--array", "third"), "third"),
        (("w.npy", "--alarm", "2"), "alarm"),
        (("w.npy", "--alarm", "0"), "alarm"),
        (("w.npy", "--seed", "-1"), "seed"),
        (("w.npy", "--directions", "nan.npy"), "directions"),
    ],
)
def test_bad_input_writes_nothing(capsys, folder, tokens, named):
    before = sorted(folder.iterdir())
    paths = [str(folder / t) if t.endswith((".npy", ".npz", ".csv")) else t for t in tokens]
    status, out, err = run(capsys, *paths, "--plot", str(folder / "new.svg"))
    assert status == 2
    assert out == ""
    assert named in err
    assert err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_vanishing_p_is_a_bound_and_overlaps_have_errors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(60), rng.standard_normal(40)))
    np.save(tmp_path / "w.npy", rng.standard_normal((60, 40)) / 60**0.5 + 30 * np.outer(u, v))
    np.save(tmp_path / "u.npy", u)
    found = bulkedge.weights(tmp_path / "w.npy", directions=tmp_path / "u.npy")
    (outlier,) = found.payload()["outliers"]
    assert (outlier["p"], outlier["p_is_bound"]) == ("1e-16", True)
    outliers, _, overlaps = found.tables()
    assert outliers.rows[0][2] == "< 1e-16"
    assert all(" +- " in row[3] and " +- " in row[4] for row in overlaps.rows)
    (overlap,) = found.payload()["overlaps"]
    assert 0 < float(overlap["signal_sd"]) < 0.01
    assert abs(float(overlap["signal"]) - 1) < 4 * float(overlap["signal_sd"])
