"""Figures: listed, drawn with their data, whole or not at all."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import bulkedge
from bulkedge.figures import Picture, figures
from bulkedge.output import output_folder
from bulkedge.plotting import new_figure
from bulkedge.result import Table
from numerics.runner import current_runner
from numerics.store import Store
from theory.errors import InputError


def _tiny() -> Picture:
    def draw() -> tuple[object, Table]:
        figure, axes = new_figure()
        axes.plot([0, 1], [1, 2])
        return figure, Table(("x", "y"), (("0", "1"), ("1", "2")))

    return Picture("X.tiny", "Tiny", "made for the test", draw)


def test_files_and_data(tmp_path: Path) -> None:
    files = _tiny().write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(files)
    lines = (tmp_path / "X.tiny.csv").read_text().splitlines()
    assert lines[0] == "# made for the test"
    assert list(csv.reader(lines[1:])) == [["x", "y"], ["0", "1"], ["1", "2"]]
    assert (tmp_path / "X.tiny.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (tmp_path / "X.tiny.svg").read_text()


def test_same_bytes_twice(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        _tiny().write(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_the_command_lists_and_draws(tmp_path: Path) -> None:
    listed = bulkedge.figure()
    names = [row[0] for row in listed.figures]
    assert names == sorted(names)
    assert len(set(names)) == len(names)
    assert not any(row[3] for row in listed.figures)
    drawn = bulkedge.figure("R.law", out=str(tmp_path / "new" / "folder"))
    assert {p.name for p in (tmp_path / "new" / "folder").iterdir()} == set(drawn.figures[0][3])


def test_names_begin_with_a_paper_and_say_their_setting() -> None:
    for picture in figures():
        assert picture.name[0] in "HKGOMCLTRFB"
        assert picture.name[1] == "."
        assert picture.setting


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"R\.law"):
        bulkedge.figure("R.lw")
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(InputError, match="is a file"):
        bulkedge.figure("R.law", out=str(file))
    with pytest.raises(InputError, match="cannot be written"):
        bulkedge.figure("R.law", out=str(file / "below"))
    with pytest.raises(InputError, match="cannot be written"):
        bulkedge.figure("R.law", out="/proc/nowhere")


def _fail(target: Path, name: str, error: Exception) -> None:
    with output_folder(str(target)) as folder:
        (folder / name).write_text("x")
        raise error


def test_nothing_is_half_written(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    with pytest.raises(ZeroDivisionError):
        _fail(target, "half", ZeroDivisionError())
    assert not (tmp_path / "a").exists()
    with output_folder(str(target)) as folder:
        (folder / "whole").write_text("x")
    with pytest.raises(InputError, match="No space"):
        _fail(target, "other", OSError(28, "No space left on device"))
    assert [p.name for p in target.iterdir()] == ["whole"]


def test_trials_of_a_figure_go_through_the_callers_workers_and_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw() -> tuple[object, Table]:
        found = current_runner(3).run(_trial, (4,), 6)[4]
        figure, axes = new_figure()
        axes.plot([r["x"] for r in found])
        return figure, Table(("x",), tuple((repr(r["x"]),) for r in found))

    monkeypatch.setattr("bulkedge.figures.figures", lambda: (Picture("X.trials", "Trials", "six", draw),))
    bulkedge.figure("X.trials", out=str(tmp_path / "one"))
    bulkedge.figure("X.trials", out=str(tmp_path / "two"), jobs=2, store=str(tmp_path / "store"))
    for name in ("X.trials.csv", "X.trials.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    with Store(tmp_path / "store") as kept:
        assert len(kept) == 6
    with pytest.raises(InputError, match="jobs"):
        bulkedge.figure("X.trials", out=str(tmp_path / "one"), jobs=0)
    with pytest.raises(InputError, match="cluster"):
        bulkedge.figure("X.trials", out=str(tmp_path / "new"), cluster="tcp://127.0.0.1:1")
    assert not (tmp_path / "new").exists()


def _trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    return {"x": float(rng.standard_normal(size).sum())}
