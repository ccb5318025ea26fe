"""The tutorials print what they say, the example of a theorem of one's own works, the reference is complete."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import runpy
from pathlib import Path

import pytest

import bulkedge
from bulkedge import tex

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
EXAMPLE = ROOT / "examples" / "my_theorem.py"
BLOCKS = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_code_prints_what_the_page_says(page: Path) -> None:
    names: dict[str, object] = {}
    text = page.read_text(encoding="utf-8")
    assert text.count("```python\n") == len(BLOCKS.findall(text))
    for code, printed in BLOCKS.findall(text):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, page.name, "exec"), names)
        assert out.getvalue() == printed


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_example_is_short_and_shown() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert text.count("\n") < 30
    assert f"```python file=examples/my_theorem.py\n{text}```" in (ROOT / "docs" / "own-theorem.md").read_text()


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_example_is_checked(jobs: int) -> None:
    report = bulkedge.check([str(EXAMPLE)], jobs=jobs)
    assert [(c["id"], c["verdict"], c["control"]) for c in report.payload()["checks"]] == [
        ("X1", "CONFIRMED", "REFUTED"),
        ("X1.larger", "CONFIRMED", "REFUTED"),
    ]


def test_a_file_of_derivations_only_is_in_the_book_and_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tex, "engine", lambda: None)
    file = tmp_path / "derived.py"
    file.write_text(EXAMPLE.read_text() + "CHECKS = ()\n")
    assert [c["id"] for c in bulkedge.check([str(file)]).payload()["checks"]] == ["X1.larger"]
    assert bulkedge.paper([str(file)], out=str(tmp_path / "book")).files == ("X1.larger.tex", "book.tex")
    assert "The larger of two" in (tmp_path / "book" / "book.tex").read_text()
    assert bulkedge.report(str(tmp_path / "page"), [str(file)]).statements == (
        ("X1", "The larger of two", "none", 0, 0),
    )
    assert "Derivation X1.larger" in (tmp_path / "page" / "index.html").read_text()


def test_the_example_is_in_the_book_and_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tex, "engine", lambda: None)
    book = bulkedge.paper([str(EXAMPLE)], out=str(tmp_path))
    assert [row[0] for row in book.derivations] == ["X1.larger"]
    text = (tmp_path / "book.tex").read_text()
    assert "The larger of two" in text
    assert r"\textbf{X1}" in text
    report = bulkedge.report(str(tmp_path), [str(EXAMPLE)])
    assert report.statements == (("X1", "The larger of two", "CONFIRMED", 1, 1),)
    assert f"bulkedge check {EXAMPLE}" in (tmp_path / "index.html").read_text()


def test_the_reference_is_complete() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "reference.py"))["reference"]()
    for name in bulkedge.__all__[1:]:
        assert f"## {name}\n" in made
        assert inspect.getdoc(getattr(bulkedge, name))
