"""The book: every derivation printed after it was verified, complete, compiling without a warning."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import re
import subprocess
from pathlib import Path

import pytest

import bulkedge
from bulkedge import registry
from bulkedge.book import book, tex
from bulkedge.book.bibliography import BIBLIOGRAPHY
from bulkedge.book.selection import entries, select
from bulkedge.cli import main
from bulkedge.derivations.engine.derivation import Derivation, DerivationError, Step
from bulkedge.derivations.engine.render import as_latex, document, prose
from bulkedge.numerics.trials.check import Check, CheckResult, Control, SecondRoute, Verdict
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.marked import Marked
from bulkedge.theory.steps.scaling import PAPERS


def _result() -> CheckResult:
    from fractions import Fraction

    exact = Enclosure(Fraction(1, 2), Fraction(0), "exact")
    check = Check(
        "H1.test",
        "`mu_1 <= 1/2` & 100%",
        "tests",
        lambda: 0.5,
        SecondRoute(lambda: exact),
        1e-3,
        Control("k shifted", float),
    )
    return CheckResult(check, 0.5, Estimate(0.5, 0.0, 1), Verdict.CONFIRMED, Verdict.REFUTED, 0.0)


def test_names_restrict_it(tmp_path: Path) -> None:
    result = bulkedge.paper(["R1.edges"], out=str(tmp_path), ledger=False)
    assert [row[0] for row in result.derivations] == ["R1.edges"]
    assert set(result.files) == {"R1.edges.tex", "book.tex"} == {p.name for p in tmp_path.iterdir()}
    assert "no TeX engine" in result.notes[0]


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing is named"):
        bulkedge.paper(["X9"], out=str(tmp_path), ledger=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        bulkedge.paper(["R1"], out=str(tmp_path / "file"), ledger=False)


def test_a_wrong_derivation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Derivation("R1.wrong", "Wrong", lambda: s.z + 1, lambda: (Step(s.z), Step(s.z + 1)), "tests")
    monkeypatch.setattr(registry, "derivations", lambda: (wrong,))
    with pytest.raises(DerivationError, match=r"R1\.wrong, step 2"):
        bulkedge.paper(out=str(tmp_path / "new"), ledger=False)
    assert not (tmp_path / "new").exists()


def test_a_wrong_derivation_is_one_line_and_status_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bulkedge.cli import main

    file = tmp_path / "mine.py"
    file.write_text(
        "from bulkedge import Derivation, Step\nfrom bulkedge.theory.numbers.symbols import z\n"
        "steps = lambda: (Step(z), Step(z + 1))\n"
        "DERIVATIONS = (Derivation('X1.wrong', 'Wrong', lambda: z + 1, steps, 'tests'),)\n"
    )
    assert main(["paper", str(file), "--out", str(tmp_path / "out")]) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("bulkedge: X1.wrong, step 2")
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_failing_engine_costs_the_pdf_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path, folder: Path) -> None:
        raise tex.TexError("a font is missing")

    monkeypatch.setattr(tex, "engine", lambda: "latexmk")
    monkeypatch.setattr(tex, "compile_pdf", fail)
    result = bulkedge.paper(["R1.edges"], out=str(tmp_path), ledger=False)
    assert set(result.files) == {"R1.edges.tex", "book.tex"}
    assert result.notes == ("no PDF was made: a font is missing",)


def test_the_ledger_and_the_errata_are_in_it() -> None:
    text = book.book(entries(select(())), (), (_result(),), "1")
    assert "Ledger of checks" in text
    assert r"\(\mu_{1} \leq 1/2\) \& 100\%" in text
    for statement in registry.statements():
        for erratum in statement.errata:
            assert prose(erratum.found) in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`mu_1` and `psi1, w_i*`, `x^2`", r"\(\mu_{1}\) and \(\psi_{1},\allowbreak w_{i}^{\star}\), \(x{}^{2}\)"),
        ("a `b ~ N(0, 1) -> oo`", r"a \(b \sim N(0,\allowbreak 1) \to \infty\)"),
        ("psi1 unmarked, `sigma'` of no_words", r"psi1 unmarked, \(\sigma'\) of no\_words"),
        ("`beta^T S^-1 mu1_star`", r"\(\beta{}^{\top} S{}^{-1} \mu_{1}^{\star}\)"),
        ("at `kappa = sqrt 3`, e.g. `sqrt(1 + x^2)`", r"at \(\kappa = \sqrt{3}\), e.g. \(\sqrt{1 + x{}^{2}}\)"),
        ("`A^(-(d-1)/2)` of A theorem", r"\(A{}^{-(d-1)/2}\) of A theorem"),
        ("`sum_{k<=K} He_2(x)`, the paper's", r"\(\sum_{k\leq K} \mathrm{He}_{2}(x)\), the paper's"),
        (
            "`E_xi |E|_op` of `c*_1 w*.x`",
            r"\(\mathbb{E}_{\xi} |E|{}_{\mathrm{op}}\) of \(c_{1}^{\star} w^{\star}\cdot x\)",
        ),
        ("`E sigma'^2` (O3; F, eq. (3.3))", r"\(\mathbb{E} \sigma'{}^{2}\) (O3; F, eq. (3.3))"),
        ("`X` is `n x d`, `log det(1 + lam)`", r"\(X\) is \(n\times d\), \(\log  \det (1 + \lambda)\)"),
    ],
)
def test_prose(text: str, expected: str) -> None:
    assert prose(text) == expected


def test_marks_are_read_once_and_kept() -> None:
    """The words are what tables and JSON show; copies and pickles keep the marks; a mark that is not closed is told."""
    text = Marked("`x^2` of `W0`")
    assert (text, text.marked) == ("x^2 of W0", "`x^2` of `W0`")
    assert Marked(text) is text
    for other in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):  # noqa: S301 -- our own
        assert (other, other.marked) == (text, text.marked)
    with pytest.raises(ValueError, match="not closed"):
        Marked("`x of W0")
    check = next(c for c in registry.checks() if "`" in c.claim.marked)
    assert "`" not in check.claim
    assert "`" not in json.dumps(check.claim)


def test_no_name_is_printed_raw() -> None:
    """In no sentence of the book a power, a root, an index or a starred name stays as it was typed."""
    sentences = [t for st in registry.statements() for t in (st.title, *st.assumptions, *st.sources)]
    for st in registry.statements():
        sentences += [t for e in st.errata for t in (e.printed, e.found, e.corrected)]
    for d in registry.derivations():
        sentences += [d.title, d.notation, d.source, *(step.reason for step in d.steps())]
    sentences += [c.claim for c in registry.checks()] + [c.control.mistake for c in registry.checks()]
    sentences += [p.remark for p in PAPERS.values()]
    assert len(sentences) > 500
    for sentence in sentences:
        words = re.sub(r"\\\(.*?\\\)", " ", prose(sentence))
        assert not re.search(
            r"textasciicircum|\bsqrt\b|_star|\b(?:mu|psi|alpha|eta|sigma|beta|kappa)\d*\b|\*", words
        ), sentence
        # What keeps an underscore is the name of a reading or of an option, not an index.
        assert set(re.findall(r"\w+\\_\w*", words)) <= {r"rank\_one", r"second\_step"}, sentence


def test_every_work_that_is_named_with_its_year_is_in_the_bibliography() -> None:
    known = [" ".join(entry) for entry in BIBLIOGRAPHY.values()]
    sources = [t for st in registry.statements() for t in st.sources] + [d.source for d in registry.derivations()]
    named = {found for t in sources for found in re.findall(r"([A-Z][a-z][\w-]*)[^;(]*?((?:1[89]|20)\d\d)", t)}
    assert len(named) >= 14
    for author, year in named:
        assert any(author in work and year in work for work in known), (author, year)


@functools.cache
def _book() -> str:
    return book.book(entries(select(())), registry.derivations(), (_result(),), "1")


@pytest.mark.tex
def test_the_book_compiles_without_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "book.tex"
    source.write_text(_book())
    pdf, warnings = tex.compile_pdf(source, tmp_path)
    assert warnings == ()
    assert pdf.read_bytes().startswith(b"%PDF")


@pytest.mark.tex
def test_every_derivation_compiles_on_its_own(tmp_path: Path) -> None:
    # The files differ in their bodies only: one document holds all of them, each on pages of its own.
    bodies = [as_latex(d.verify()) for d in registry.derivations()]
    files = [document(body) for body in bodies]
    assert len({file.replace(body, "") for file, body in zip(files, bodies, strict=True)}) == 1
    source = tmp_path / "all.tex"
    source.write_text(document("\\clearpage\n".join(bodies)))
    pdf, warnings = tex.compile_pdf(source, tmp_path)
    assert warnings == ()
    pages = subprocess.run(["pdfinfo", str(pdf)], capture_output=True, text=True, check=True).stdout
    assert int(re.findall(r"Pages:\s+(\d+)", pages)[0]) >= len(bodies)


@pytest.mark.tex
def test_one_file_compiles_on_its_own(tmp_path: Path) -> None:
    source = tmp_path / "one.tex"
    source.write_text(document(as_latex(registry.derivations()[-1].verify())))
    assert tex.compile_pdf(source, tmp_path)[1] == ()


@pytest.mark.tex
def test_no_heading_is_left_alone_at_the_end_of_a_page(tmp_path: Path) -> None:
    # One derivation behind every height of white space from nothing to a page: its headings meet every page's end.
    body = as_latex(next(d for d in registry.derivations() if d.id == "H1.relu").verify())
    copies = (rf"\clearpage\vspace*{{{height}mm}}" + "\n" + body for height in range(0, 200, 4))
    source = tmp_path / "ends.tex"
    source.write_text(document("\\raggedbottom\\pagestyle{empty}\n" + "".join(copies)))
    pdf, _ = tex.compile_pdf(source, tmp_path)
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    pages = [[line.strip() for line in page.splitlines() if line.strip()] for page in text.split("\f")]
    last = [page[-1] for page in pages if page]
    assert len(last) > 60
    # The page breaks do fall around the headings: they begin pages.
    assert {"Claim.", "Derivation."} & {page[0] for page in pages if page}
    assert not {"Claim.", "Derivation."} & set(last)
    assert not any(line.startswith("H1.relu") for line in last)


@pytest.mark.tex
def test_broken_tex_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "broken.tex"
    source.write_text(document(r"\undefinedthing"))
    with pytest.raises(tex.TexError, match="Undefined control sequence"):
        tex.compile_pdf(source, tmp_path)


def test_the_book_says_what_it_is() -> None:
    text = _book()
    (title,) = re.findall(r"pdftitle=\{(.*?)\}", text)
    assert title.startswith("The theory of feature learning")
    assert "pdfauthor={bulkedge 1}" in text
    abstract = text.split(r"\begin{abstract}")[1].split(r"\end{abstract}")[0]
    assert f"{len(registry.statements())} statements" in " ".join(abstract.split())
    assert f"{len(registry.derivations())} derivations" in " ".join(abstract.split())
    assert "Of 1 checks, 1 confirm" in abstract or "1 checks" in abstract


def test_a_tex_without_the_book_s_packages_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tex, "engine", lambda: "latexmk")
    monkeypatch.setattr(tex, "missing_packages", lambda: ("lmodern", "mathtools"))
    monkeypatch.setattr("bulkedge.commands.ledger.check.run_selected", None)  # nothing is computed
    assert main(["paper", "R1", "--out", str(tmp_path / "new")]) == 2
    assert "pdf: the TeX installed here lacks lmodern, mathtools; install them" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main(["paper", "R1.edges", "--no-ledger", "--no-pdf", "--out", str(tmp_path / "new")]) == 0
    assert "no TeX engine" not in capsys.readouterr().out


def test_a_pdf_that_was_promised_and_is_not_there_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise tex.TexError("book.tex: ! Undefined control sequence")

    monkeypatch.setattr(tex, "engine", lambda: "latexmk")
    monkeypatch.setattr(tex, "missing_packages", lambda: ())
    monkeypatch.setattr(tex, "compile_pdf", fails)
    assert main(["paper", "R1.edges", "--no-ledger", "--out", str(tmp_path / "new")]) == 1
    assert "no PDF was made: book.tex: ! Undefined" in capsys.readouterr().out
