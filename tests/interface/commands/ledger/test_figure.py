"""Figures: listed, drawn with their data, whole or not at all."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import bulkedge
from bulkedge.figures import Picture, figures
from bulkedge.numerics.trials.runner import current_runner
from bulkedge.numerics.trials.store import Store
from bulkedge.results.output import output_folder
from bulkedge.results.plotting import (
    LINES,
    MARKERS,
    PALETTE,
    check_plot_path,
    line,
    looking,
    new_figure,
    points,
    style_settings,
)
from bulkedge.results.result import Table
from bulkedge.theory.numbers.errors import InputError


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


def test_what_is_predicted_and_what_is_simulated_is_said() -> None:
    for picture in figures():
        assert any(word in picture.setting.lower() for word in ("simulated", "the law", "exact")), picture.name


def test_series_are_told_apart_without_colour() -> None:
    styles = {(line(i)["color"], str(line(i)["linestyle"]), points(i)["marker"]) for i in range(12)}
    assert len(styles) == 12
    grey = {(str(line(i)["linestyle"]), points(i)["marker"]) for i in range(12)}
    assert len(grey) == 12
    assert len(PALETTE) > len(LINES) < len(MARKERS)


def test_words_are_in_the_file_for_readers_who_do_not_see_it(tmp_path: Path) -> None:
    _tiny().write(tmp_path)
    svg = (tmp_path / "X.tiny.svg").read_text()
    assert "Tiny" in svg
    assert "made for the test" in svg
    pdf = (tmp_path / "X.tiny.pdf").read_bytes()
    assert b"/Title (Tiny)" in pdf
    assert b"/FontFile2" in pdf  # TrueType outlines are embedded


def test_no_label_is_cut_off_and_no_legend_is_tiny() -> None:
    for name in ("K.kernels", "K.decay", "T.phases", "R.law"):
        picture = next(f for f in figures() if f.name == name)
        figure, table = picture.compose()
        assert len({len(row) for row in table.rows} | {len(table.columns)}) == 1
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert box.x0 >= -0.01
        assert box.y0 >= -0.01
        assert box.x1 <= width + 0.01
        assert box.y1 <= height + 0.01
        sizes = [t.get_fontsize() for axes in figure.axes if axes.get_legend() for t in axes.get_legend().get_texts()]
        assert min(sizes, default=9) >= 7


def test_numbers_with_an_error_have_it_beside_them() -> None:
    for name, columns in (("K.kernels", ("kernel", "error")), ("K.decay", ("eigenvalue", "error"))):
        _, table = next(f for f in figures() if f.name == name).draw()
        value, error = (table.columns.index(c) for c in columns)
        assert all(0 <= float(row[error]) < 1e-3 * max(1.0, abs(float(row[value]))) for row in table.rows)


def test_a_place_where_no_picture_can_be_is_noticed_before_anything_is_computed(tmp_path: Path) -> None:
    (tmp_path / "x.svg").mkdir()
    for path, word in (
        ("/proc/x.svg", "cannot be written"),
        (f"{tmp_path}/none/x.svg", "does not exist"),
        (f"{tmp_path}/x.svg", "is a folder"),
        (f"{tmp_path}/x.gif", "end the file name"),
    ):
        with pytest.raises(InputError, match=word):
            check_plot_path(path)
    assert check_plot_path(f"{tmp_path}/y.svg").name == "y.svg"
    assert [p.name for p in tmp_path.iterdir()] == ["x.svg"]


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


def test_the_caption_is_beside_the_picture_not_in_it(tmp_path: Path) -> None:
    picture = _tiny()
    plain, titled = picture.compose()[0], picture.compose(titled=True)[0]
    assert plain.get_suptitle() == plain.get_supxlabel() == ""
    assert (titled.get_suptitle(), titled.get_supxlabel()) == ("Tiny", "made for the test")
    picture.write(tmp_path)
    assert (tmp_path / "X.tiny.txt").read_text() == "Tiny. made for the test\n"
    source = (tmp_path / "X.tiny.tex").read_text()
    assert r"\includegraphics{X.tiny.pdf}" in source
    assert r"\caption{Tiny. made for the test}" in source
    assert r"\label{fig:X.tiny}" in source


def test_a_draft_says_that_it_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long, short = (_tiny().draw for _ in range(2))
    picture = Picture("X.tiny", "Tiny", "six trials", long, short)
    monkeypatch.setattr("bulkedge.figures.figures", lambda: (picture,))
    bulkedge.figure("X.tiny", out=str(tmp_path), quick=True)
    assert (tmp_path / "X.tiny.txt").read_text().startswith("Tiny. DRAFT, with fewer and smaller trials")
    bulkedge.figure("X.tiny", out=str(tmp_path))
    assert (tmp_path / "X.tiny.txt").read_text() == "Tiny. six trials\n"


def test_every_simulated_figure_has_a_draft() -> None:
    quick = {"R.law", "O.spectrum", "T.spectrum"}  # one matrix each
    simulated = {f.name for f in figures() if "simulated" in f.setting and "nothing" not in f.setting.lower()}
    assert simulated - quick <= {f.name for f in figures() if f.draft is not None}


def test_width_and_style(tmp_path: Path) -> None:
    with looking(width=3.25, style={"font.size": 7}):
        figure, axes = new_figure(6.5, 4)
        assert tuple(figure.get_size_inches()) == (3.25, 2.0)
        assert axes.xaxis.get_ticklabels()[0].get_fontsize() == 7
    assert tuple(new_figure(6.5, 4)[0].get_size_inches()) == (6.5, 4)
    with looking(style="grayscale"):
        assert next(iter(matplotlib.rcParams["axes.prop_cycle"]))["color"] == "0.00"
    sheet = tmp_path / "mine.mplstyle"
    sheet.write_text("lines.linewidth: 3\n")
    assert style_settings(str(sheet)) == {"lines.linewidth": 3.0}
    with pytest.raises(InputError, match="no style of matplotlib's"):
        bulkedge.figure("R.law", style="nosuch")
    with pytest.raises(InputError, match="width"):
        bulkedge.figure("R.law", width="0.1")


def test_a_result_is_drawn_onto_given_axes() -> None:
    figure, (left, right) = new_figure(ncols=2)
    assert bulkedge.mp("1/2").plot(ax=left) is figure
    assert left.lines
    assert not right.lines
    with pytest.raises(InputError, match="ax: 2 are given where the picture has 1; give one axes"):
        bulkedge.mp("1/2").plot(ax=(left, right))
    with pytest.raises(InputError, match="has no curve"):
        bulkedge.convert("F", "O", step=3, width=100).plot()
    assert bulkedge.outliers("0.35", "0.2", degree=3).plot().axes[0].get_xlabel().startswith(r"$\alpha_1$")


def test_a_finished_figure_stays_whatever_comes_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> tuple[object, Table]:
        raise KeyboardInterrupt

    pictures = (_tiny(), Picture("X.zz", "Interrupted", "exact", fail))
    monkeypatch.setattr("bulkedge.figures.figures", lambda: pictures)
    with pytest.raises(KeyboardInterrupt):
        bulkedge.figure("X", out=str(tmp_path))
    assert {p.suffix for p in tmp_path.iterdir()} == {".pdf", ".svg", ".csv", ".txt", ".tex"}
