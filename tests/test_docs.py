"""The tutorials print what they say, the example of a theorem of one's own works, the reference is complete."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import re
import runpy
from pathlib import Path

import pytest

import bulkedge
from bulkedge.book import tex
from bulkedge.commands import COMMANDS

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


def reference() -> str:
    return str(runpy.run_path(str(ROOT / "docs" / "reference.py"))["reference"]())


def test_the_page_of_closed_forms_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "closed_forms.py"))
    assert made["page"]() == (ROOT / "docs" / "closed-forms.md").read_text(encoding="utf-8")
    assert made["lettered"]() <= set(made["CALLS"])


def test_the_reference_is_complete() -> None:
    made = reference()
    for name in bulkedge.__all__[1:]:
        thing = getattr(bulkedge, name)
        assert f"## {name}\n" in made
        assert inspect.getdoc(thing)
        assert str(inspect.getdoc(thing)) in made
        if inspect.isclass(thing):
            for key, member in vars(thing).items():
                if isinstance(member, property) or (inspect.isfunction(member) and member.__doc__):
                    assert key.startswith("_") or f"### {name}.{key}" in made
    for name in COMMANDS:
        assert f", what `{name}` returns" in made


ORDER = ("Valid for:", "Shapes/units:", "Convention:", "Accuracy:", "Errors:", "Source:", "Example:")


def public() -> list[object]:
    """Every public function and class, and the classes' public methods."""
    found: list[object] = []
    for name in bulkedge.__all__[1:]:
        thing = getattr(bulkedge, name)
        found.append(thing)
        if inspect.isclass(thing):
            found += [m for k, m in vars(thing).items() if inspect.isfunction(m) and not k.startswith("_")]
    return found


def test_docstrings_say_things_in_the_same_order() -> None:
    for thing in public():
        text = inspect.getdoc(thing) or ""
        first = text.split("\n\n")[0]
        assert first.endswith((".", ":")), thing  # a line of its own
        places = [text.find(word) for word in ORDER]
        present = [p for p in places if p >= 0]
        assert present == sorted(present), thing


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_in_the_docstring_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tex, "engine", lambda: None)
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(bulkedge, name), name, globs={"bulkedge": bulkedge})
    assert found.examples
    said = io.StringIO()
    assert doctest.DocTestRunner().run(found, out=said.write).failed == 0, said.getvalue()


def test_files_named_in_the_source_exist() -> None:
    """No docstring sends the reader to a page that is not here."""
    there = {path.name for path in ROOT.rglob("*.md")}
    for folder in ("theory", "numerics", "derivations", "interface", "docs", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            for name in re.findall(r"[\w-]+\.md\b", path.read_text(encoding="utf-8")):
                assert name in {*there, "FILE.md"}, f"{path}: {name}"
