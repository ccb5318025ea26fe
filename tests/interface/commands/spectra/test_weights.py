"""`bulkedge weights`: the contract's fields, modes, picture, one clear error for each bad input and nothing written."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import bulkedge
from bulkedge.cli import main
from bulkedge.theory.numbers.errors import InputError


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
    assert out.startswith("outlier,value,error,p,p is,strength,sd\n0,")
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
    outliers, *_, overlaps = found.tables()
    assert outliers.rows[0][3:5] == ("1e-16", "at most")
    assert all(0 < float(row[4]) < 0.1 and 0 < float(row[6]) < 0.1 for row in overlaps.rows)
    (overlap,) = found.payload()["overlaps"]
    assert 0 < float(overlap["signal_sd"]) < 0.01
    assert abs(float(overlap["signal"]) - 1) < 4 * float(overlap["signal_sd"])


def matrix(seed: int = 0, shape: tuple[int, int] = (60, 90)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(shape[0]), rng.standard_normal(shape[1])))
    return rng.standard_normal(shape) + 30 * np.outer(u, v)


class WithArray:
    """An array of another library."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.array


class WithDlpack:
    """One that speaks DLPack only."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> object:
        return self.array.__dlpack_device__()


def test_arrays_of_any_library() -> None:
    W = matrix()
    one = bulkedge.weights(W)
    assert one.outliers[0].strength is one.strengths[0]
    assert float(one.strengths[0]) == one.report.strengths[0]
    assert abs(float(one.strengths[0]) - 30) < 4 * one.outliers[0].strength_sd
    assert one.fit is not None
    for other in (W.tolist(), WithArray(W), WithDlpack(W), np.asfortranarray(W)):
        assert bulkedge.weights(other).payload() == one.payload()
    direction = np.ones(60)
    assert bulkedge.weights(W, directions=direction).report.overlaps[0].side == "left"
    for bad in (None, "", 3, "text.txt", {"a": 1}, [["a"]], object()):
        with pytest.raises(InputError):
            bulkedge.weights(bad)


@pytest.mark.torch
def test_tensors_of_pytorch() -> None:
    import torch

    W = matrix()
    one = bulkedge.weights(W).payload()
    assert bulkedge.weights(torch.nn.Parameter(torch.from_numpy(W))).payload() == one
    half = bulkedge.weights(torch.from_numpy(W).to(torch.bfloat16)).outliers[0]
    assert float(half.strength) == pytest.approx(float(one["strengths"][0]), rel=1e-2)


def test_the_vectors_the_denoised_matrix_and_a_comparison(capsys, tmp_path):
    W = matrix()
    start = W - 30 * np.outer(*(x / np.linalg.norm(x) for x in _spike(0)))
    np.save(tmp_path / "w.npy", W)
    np.save(tmp_path / "start.npy", start)
    options = ("--out", str(tmp_path / "o.npz"), "--denoised", str(tmp_path / "d.npy"), "--loss", "operator", "--tail")
    against = ("--against", str(tmp_path / "start.npy"), "--null", str(tmp_path / "start.npy"))
    status, out, _ = run(capsys, str(tmp_path / "w.npy"), *options, *against, "--json")
    found = json.loads(out)
    assert status == 0
    assert found["against"]["directions"][0]["new"] is True
    assert {e["law"]: e["count"] for e in found["edges"]} == {"screenot": 1, "null": 1}
    assert found["denoised"]["loss"] == "operator"
    assert float(found["tail"]["exponent"]) > 1
    with np.load(tmp_path / "o.npz") as kept:
        assert kept["left"].shape == (60, 1)
        assert kept["values"] == pytest.approx(np.linalg.svd(W, compute_uv=False))
    denoised = np.load(tmp_path / "d.npy")
    signal = W - start
    assert np.linalg.norm(denoised - signal, 2) == pytest.approx(float(found["denoised"]["risk"]), rel=0.35)
    assert bulkedge.weights(W, loss="operator").denoised == pytest.approx(denoised)
    assert {p.name for p in tmp_path.iterdir()} == {"w.npy", "start.npy", "o.npz", "d.npy"}
    readable = run(capsys, str(tmp_path / "w.npy"), *against)[1]
    assert "further edge" in readable
    assert "against the other matrix" in readable


def _spike(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(60), rng.standard_normal(90)


def test_many_layers_a_row_each_and_going_on(capsys, tmp_path, monkeypatch):
    conv = np.random.default_rng(1).standard_normal((20, 3, 3, 3))
    np.savez(
        tmp_path / "m.npz",
        **{"a.weight": matrix(), "b.weight": conv, "b.bias": np.ones(9), "c.weight": np.zeros((9, 9))},
    )
    file, store = str(tmp_path / "m.npz"), ("--store", str(tmp_path / "s.sqlite"))
    status, out, err = run(capsys, file, "--array", "*.weight", *store, "--json")
    rows = json.loads(out)["layers"]
    assert status == 0
    assert err == ""
    assert [row["array"] for row in rows] == ["a.weight", "b.weight", "c.weight"]
    assert (rows[0]["count"], rows[0]["trusted"], rows[1]["shape"]) == (1, True, [20, 27])
    assert "constant" in rows[2]["problem"]
    monkeypatch.setattr("bulkedge.numerics.weights.weights.analyse", None)  # what is kept is not computed again
    again = run(capsys, file, "--array", "*.weight", *store, "--csv", "--plot", str(tmp_path / "p.svg"))[1]
    assert again.splitlines()[1].startswith("a.weight,60 x 90,1,yes")
    assert (tmp_path / "p.svg").exists()


def test_several_files(capsys, tmp_path):
    for name in ("a.npy", "b.npy"):
        np.save(tmp_path / name, matrix())
    paths = [str(tmp_path / name) for name in ("a.npy", "b.npy")]
    status, out, _ = run(capsys, *paths)
    assert status == 0
    assert "2 layers; the bulk fits in 2" in out
    assert [row["count"] for row in bulkedge.weights(paths).payload()["layers"]] == [1, 1]
    assert run(capsys, *paths, "--latex")[1].startswith(r"\begin{array}")
    for bad in (("--out", "o.npz"), ("--denoised", "o.npy"), ("--directions-as", "rows")):
        status, out, err = run(capsys, *paths, *bad)
        assert (status, out) == (2, "")
        assert "one matrix" in err


def test_a_misfit_is_no_count_of_spikes(capsys, tmp_path):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((100, 150))
    for k in range(1, 150):
        noise[:, k] = 0.7 * noise[:, k - 1] + 0.714 * noise[:, k]
    np.save(tmp_path / "ar.npy", noise)
    status, out, _ = run(capsys, str(tmp_path / "ar.npy"), "--plot", str(tmp_path / "p.svg"))
    assert status == 0
    assert "values beyond the fitted edge, which need not" in out
    assert "screenot" in out
    found = bulkedge.weights(noise).payload()
    assert found["headline"].split()[1] == "values"
    assert found["rate"] is None
    (screened,) = (e["count"] for e in found["edges"] if e["law"] == "screenot")
    assert screened <= 1 < found["count"]


def test_no_bulk_is_a_null_fit(capsys, tmp_path):
    rng = np.random.default_rng(7)
    levels = np.exp(np.linspace(0, 4, 16))
    turn = [np.linalg.qr(rng.standard_normal((16, 16)))[0] for _ in range(2)]
    np.save(tmp_path / "n.npy", turn[0] @ (levels[:, None] * (turn[1] @ rng.standard_normal((16, 500)))))
    status, out, _ = run(capsys, str(tmp_path / "n.npy"), "--json", "--plot", str(tmp_path / "p.svg"))
    found = json.loads(out)
    assert status == 0
    assert found["fit"] is None
    assert found["rate"] is None
    assert "no bulk left to test" in run(capsys, str(tmp_path / "n.npy"))[1]


def test_the_checkpoint_of_the_documentation(capsys, tmp_path):
    """What docs/weights.md says of it: start and end, which directions are new, that nothing warns."""
    file = Path(__file__).parents[4] / "examples" / "digits_checkpoint.py"
    spec = importlib.util.spec_from_file_location("digits_checkpoint", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    start, trained, accuracy = module.train()
    assert accuracy > 0.95
    np.savez(tmp_path / "start.npz", **start)
    np.savez(tmp_path / "trained.npz", **trained)
    paths = [str(tmp_path / name) for name in ("start.npz", "trained.npz")]
    rows = json.loads(run(capsys, *paths, "--array", "*.weight", "--json")[1])["layers"]
    assert [row["count"] for row in rows[:2]] == [0, 0]
    assert all(row["trusted"] for row in rows[:2])
    assert rows[3]["count"] >= 3
    new = run(capsys, paths[1], "--array", "layer2.weight", "--against", paths[0], "--json")[1]
    assert all(d["new"] for d in json.loads(new)["against"]["directions"])
    step = {name: trained[name] - start[name] for name in start}
    change = bulkedge.weights(step["layer1.weight"])  # the constant pixels: columns of zeros
    assert change.report.dropped[1] > 0


def test_checkpoints_beside_checkpoints(tmp_path, capsys):
    rng = np.random.default_rng(3)
    start = {name: rng.standard_normal((80, 60)) / np.sqrt(60) for name in ("fc1", "fc2", "head")}
    u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(80), rng.standard_normal(60)))
    trained = {name: w + (4.0 * np.outer(u, v) if name == "fc1" else 0) for name, w in start.items()}
    files = {name: str(tmp_path / f"{name}.npz") for name in ("trained", "start", "noise", "directions")}
    np.savez(files["trained"], **trained)
    np.savez(files["start"], fc1=start["fc1"], fc2=start["fc2"])
    np.savez(files["noise"], fc1=rng.standard_normal((9, 80, 60)) / np.sqrt(60), fc2=rng.standard_normal((80, 61)))
    np.savez(files["directions"], fc1=u, fc2=np.ones(7), head=v)
    line = ["weights", files["trained"], "--array", "*", "--against", files["start"], "--null", files["noise"]]
    assert main([*line, "--directions", files["directions"], "--json"]) == 0
    found = {row["array"]: row for row in json.loads(capsys.readouterr().out)["layers"]}
    first = found["fc1"]
    assert (first["count"], first["new"], first["intruders"], first["beyond_null"]) == (1, 1, 1, 1)
    assert float(first["overlap"]) > 0.85
    assert first["missing"] == []
    assert found["fc2"]["new"] == 0
    assert found["fc2"]["missing"] == ["directions of shape 7 fit neither side", "null: has shape (80, 61)"]
    assert found["head"]["missing"] == ["no null called head", "no against called head"]
    one = bulkedge.weights(files["trained"], array="fc1", against=files["start"], directions=u)
    assert float(first["overlap"]) == pytest.approx(float(one.overlaps[0].squared), rel=1e-6)
    table = bulkedge.weights(files["trained"], array="*", against=files["start"]).tables()[0]
    assert {"new", "intruders", "largest shared"} <= set(table.columns)
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_what_goes_beside_many_layers_is_a_file(tmp_path):
    np.savez(tmp_path / "w.npz", a=np.eye(9), b=np.eye(9))
    with pytest.raises(InputError, match="against: goes with many layers as a file"):
        bulkedge.weights(tmp_path / "w.npz", array="*", against=np.eye(3))
    with pytest.raises(InputError, match=r"null: there is no file"):
        bulkedge.weights(tmp_path / "w.npz", array="*", null=str(tmp_path / "none.npz"))
