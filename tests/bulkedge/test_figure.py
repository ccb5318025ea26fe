"""Figures: listed, drawn with their data, whole or not at all."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import bulkedge
from bulkedge.figures import Picture, figures
from bulkedge.output import output_folder
from bulkedge.plotting import new_figure
from bulkedge.result import Table
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
