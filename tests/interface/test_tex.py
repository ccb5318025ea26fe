"""Running TeX from any folder, and saying what failed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import bulkedge
from bulkedge.book import tex


@pytest.mark.tex
def test_relative_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = bulkedge.paper("R1.edges", out="relative/folder", ledger=False)
    assert result.files == ("R1.edges.tex", "book.pdf", "book.tex")
    assert Path("relative/folder/book.pdf").read_bytes().startswith(b"%PDF")
    (tmp_path / "scratch").mkdir()
    pdf, _ = tex.compile_pdf(Path("relative/folder/book.tex"), Path("scratch"))
    assert pdf.is_file()


@pytest.mark.parametrize(
    ("log", "printed", "said"),
    [
        (
            "This is pdfTeX\n! Undefined control sequence.\nl.3 \\oops\n\nmore\n",
            "",
            "! Undefined control sequence. l.3",
        ),
        (None, "Rc files read:\n  /etc/LatexMk\nLatexmk: This is Latexmk\nerror: book.tex not found\n", "not found"),
        (None, "Rc files read:\nLatexmk: applying rule\nLatexmk: no rule worked\n", "no rule worked"),
        (None, "", "ended with status 12"),
    ],
)
def test_the_failure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str | None, printed: str, said: str
) -> None:
    def engine(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
        if log is not None:
            (tmp_path / "book.log").write_text(log)
        return subprocess.CompletedProcess([], 12, printed.encode(), b"")

    monkeypatch.setattr(tex, "engine", lambda: "latexmk")
    monkeypatch.setattr(subprocess, "run", engine)
    with pytest.raises(tex.TexError) as error:
        tex.compile_pdf(tmp_path / "book.tex", tmp_path)
    assert said in str(error.value)
    assert "Rc files" not in str(error.value) or "no rule" in str(error.value)
    assert "\n" not in str(error.value)
