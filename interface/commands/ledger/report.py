"""`bulkedge report`: a self-contained web page with the state of every statement."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from bulkedge.arguments import Argument, File, Flag, Progress, Seed, read
from bulkedge.commands import workers
from bulkedge.results.result import Result, Table


@dataclass(frozen=True)
class ReportResult(Result):
    """The page and the state of each statement: (id, title, verdict, checks passed, checks)."""

    command: ClassVar[str] = "report"
    file: str
    statements: tuple[tuple[str, str, str, int, int], ...]

    @property
    def exit_status(self) -> int:
        """0 iff every check is CONFIRMED and every control REFUTED."""
        return 0 if all(passed == checks for *_, passed, checks in self.statements) else 1

    def payload(self) -> dict[str, Any]:
        """`file`, and `statements`: list of id, title, verdict, passed, checks."""
        keys = ("id", "title", "verdict", "passed", "checks")
        return {"file": self.file, "statements": [dict(zip(keys, row, strict=True)) for row in self.statements]}

    def tables(self) -> tuple[Table, ...]:
        """One row per statement."""
        rows = tuple((i, t, v, f"{p} of {n}") for i, t, v, p, n in self.statements)
        return (Table(("ID", "statement", "verdict", "checks passed"), rows, f"written: {self.file}"),)

    def latex(self) -> str:
        """An array of the statements."""
        from bulkedge.derivations.engine.render import escape

        body = r" \\ ".join(
            rf"\text{{{escape(i)}}} & \text{{{escape(t)}}} & \text{{{v}}}" for i, t, v, *_ in self.statements
        )
        return rf"\begin{{array}}{{lll}} {body} \end{{array}}"


def report(
    out: Annotated[str, File("the folder to write index.html to", "DIR", place=True)],
    names: Annotated[
        str | Sequence[str],
        Argument("statements, a paper's letter, or FILE.py (all without it)", "ID", place=True, many=True),
    ] = (),
    *,
    full: Annotated[bool, Flag("more trials and larger sizes")] = False,
    seed: Seed = 0,
    jobs: workers.EveryCore = 1,
    store: workers.KeptIn = None,
    cluster: workers.Cluster = None,
    progress: Progress | None = None,
) -> ReportResult:
    """Run the checks, verify the derivations, and write DIR/index.html: one page that needs no network.

    Errors: InputError for unknown names, unusable options or a folder that cannot be written; nothing is half-written.

    Example:

    >>> page = bulkedge.report("page", ["H4"])
    >>> page.file, page.exit_status
    ('page/index.html', 0)
    """
    asked = read(report, locals())
    from bulkedge import registry
    from bulkedge.book import page
    from bulkedge.book.selection import entries, given, select
    from bulkedge.commands.ledger.check import run_selected
    from bulkedge.release import __version__
    from bulkedge.results.output import output_folder

    out, names, seed, full = asked.out, given(names), asked.seed, asked.full
    chosen = select(names)
    how = {name: getattr(asked, name) for name in ("full", "seed", "jobs", "store", "cluster")}
    with output_folder(out, "DIR") as folder:
        results = run_selected(chosen.checks, **how, progress=progress)
        verified = [d.verify() for d in chosen.derivations]
        files = [name for name in names if name.endswith(".py")]
        own = {c.id for c in chosen.checks} - {c.id for c in registry.checks()}
        options = f" --seed {seed}" + (" --full" if full else "")
        commands = {
            c.id: "bulkedge check " + (" ".join(map(shlex.quote, files)) if c.id in own else c.id) + options
            for c in chosen.checks
        }
        shown = entries(chosen)
        text = page.page(shown, verified, results, commands, __version__, seed, full)
        (folder / "index.html").write_text(text, encoding="utf-8")
    rows = []
    for entry in shown:
        mine = [r for r in results if registry.owner(r.check.id) == entry.id]
        rows.append((entry.id, entry.title, page.verdict(mine), sum(r.passed for r in mine), len(mine)))
    inputs = {"out": out, "names": [*names], **how}
    return ReportResult(inputs, f"seed {seed}", tuple(e.id for e in shown), (), f"{out}/index.html", tuple(rows))
