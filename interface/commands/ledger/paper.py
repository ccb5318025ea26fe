"""`bulkedge paper`: verified derivations as LaTeX, and a book."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Argument, File, Flag, Progress, Seed, read
from bulkedge.commands import workers
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from bulkedge.numerics.trials.check import CheckResult


@dataclass(frozen=True)
class PaperResult(Result):
    """What was written: one row per derivation (id, title, how verified, file), the book's files, TeX's warnings."""

    command: ClassVar[str] = "paper"
    derivations: tuple[tuple[str, str, str, str], ...]
    files: tuple[str, ...]
    warnings: tuple[str, ...]
    promised: bool = False

    @property
    def exit_status(self) -> int:
        """1 where a TeX engine was there, a PDF was not declined, and none came out."""
        return 1 if self.promised and "book.pdf" not in self.files else 0

    def payload(self) -> dict[str, Any]:
        """`derivations`: list of id, title, verified, file; `files`: all files; `warnings` of the TeX engine."""
        keys = ("id", "title", "verified", "file")
        rows = [dict(zip(keys, row, strict=True)) for row in self.derivations]
        return {"derivations": rows, "files": [*self.files], "warnings": [*self.warnings]}

    def tables(self) -> tuple[Table, ...]:
        """One row per derivation."""
        title = "written: " + ", ".join(f for f in self.files if f.startswith("book"))
        return (Table(("ID", "derivation", "weakest evidence", "file"), self.derivations, title),)

    def latex(self) -> str:
        """An array of the derivations."""
        from bulkedge.derivations.engine.render import escape

        body = r" \\ ".join(rf"\text{{{i}}} & \text{{{escape(t)}}} & \text{{{w}}}" for i, t, w, _ in self.derivations)
        return rf"\begin{{array}}{{lll}} {body} \end{{array}}"


def paper(
    names: Annotated[
        str | Sequence[str],
        Argument(
            "statements or derivations, a paper's letter, or FILE.py (all without it)", "ID", place=True, many=True
        ),
    ] = (),
    *,
    out: Annotated[str, File("the folder to write to", "DIR")],
    ledger: Annotated[bool, Flag("leave the checks out (they take a few minutes)")] = True,
    pdf: Annotated[bool, Flag("write the LaTeX files only")] = True,
    store: workers.KeptIn = None,
    seed: Seed = 0,
    jobs: workers.EveryCore = 1,
    cluster: workers.Cluster = None,
    progress: Progress | None = None,
) -> PaperResult:
    """Verify derivations and write them: ID.tex for each, and book.tex (with book.pdf where a TeX engine is installed).

    The book holds notation, conventions, the statements with their derivations, the ledger of checks (a quick run),
    errata and bibliography. `names` restricts it to statements ("R1"), derivations ("R1.edges"), prefixes ("R"), a
    paper's letter ("F": every statement with that source) or the derivations and checks of a file of one's own.
    Errors: InputError for unknown names, a folder that cannot be written, and, before anything is computed, for a TeX
    that lacks packages of the book (`pdf=False` does without); nothing is half-written. A book that does not compile
    is exit status 1.
    DerivationError if a step does not hold.

    Example:

    >>> book = bulkedge.paper(["R1.edges"], out="book", ledger=False)
    >>> [name for name, *_ in book.derivations]
    ['R1.edges']
    """
    asked = read(paper, locals())
    from bulkedge.book import tex
    from bulkedge.book.book import book
    from bulkedge.book.selection import entries, given, select
    from bulkedge.derivations.engine.render import as_latex, document
    from bulkedge.release import __version__
    from bulkedge.results.output import output_folder

    workers.check_address(cluster)
    promised = asked.pdf and tex.engine() is not None
    lacking = tex.missing_packages() if promised else ()
    if lacking:
        from bulkedge.theory.numbers.errors import InputError

        remedy = "install them (texlive-latex-extra and lmodern hold them), or leave the PDF out with --no-pdf"
        raise InputError("pdf", f"the TeX installed here lacks {', '.join(lacking)}", remedy)
    out, names, ledger = asked.out, given(names), asked.ledger
    chosen = select(names)
    how = {name: getattr(asked, name) for name in ("seed", "jobs", "store", "cluster")}
    with output_folder(out) as folder:
        results: tuple[CheckResult, ...] = ()
        if ledger and chosen.checks:
            from bulkedge.commands.ledger.check import run_selected

            results = run_selected(chosen.checks, **how, progress=progress)
        rows = []
        for d in chosen.derivations:
            verified = d.verify()
            (folder / f"{d.id}.tex").write_text(document(as_latex(verified)), encoding="utf-8")
            rows.append((d.id, d.title, verified.how, f"{d.id}.tex"))
        source = folder / "book.tex"
        source.write_text(book(entries(chosen), chosen.derivations, results, __version__), encoding="utf-8")
        warnings: tuple[str, ...] = ()
        notes = ["no TeX engine is installed: no PDF was made"] if asked.pdf and not promised else []
        if promised:
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    made, warnings = tex.compile_pdf(source, Path(scratch))
                    shutil.copyfile(made, folder / "book.pdf")
                except tex.TexError as error:
                    notes.append(f"no PDF was made: {error}")
        files = tuple(sorted(p.name for p in folder.iterdir()))
    if warnings:
        notes.append(f"the TeX engine gave {len(warnings)} warnings, the first: {warnings[0]}")
    inputs = {"names": [*names], "out": out, "ledger": ledger, "pdf": asked.pdf, **how}
    source_ids = tuple(st.id for st in chosen.statements)
    return PaperResult(inputs, "", source_ids, tuple(notes), tuple(rows), files, warnings, promised)
