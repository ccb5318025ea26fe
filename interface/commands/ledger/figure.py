"""`bulkedge figure`: list the figures, or draw them to a folder."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from bulkedge.arguments import Argument, File, Progress, read
from bulkedge.commands import workers
from bulkedge.results.result import Result, Table


@dataclass(frozen=True)
class FigureResult(Result):
    """The figures, one row each: (name, title, setting, files written)."""

    command: ClassVar[str] = "figure"
    figures: tuple[tuple[str, str, str, tuple[str, ...]], ...]

    def payload(self) -> dict[str, Any]:
        """`figures`: list of name, title, setting, files."""
        return {"figures": [{"name": n, "title": t, "setting": s, "files": [*f]} for n, t, s, f in self.figures]}

    def tables(self) -> tuple[Table, ...]:
        """One row per figure."""
        rows = tuple((n, t, s, ", ".join(f)) for n, t, s, f in self.figures)
        return (Table(("name", "figure", "setting", "files"), rows),)

    def latex(self) -> str:
        """A two-column array of names and titles."""
        from bulkedge.derivations.engine.render import escape

        body = r" \\ ".join(rf"\text{{{escape(n)}}} & \text{{{escape(t)}}}" for n, t, *_ in self.figures)
        return rf"\begin{{array}}{{ll}} {body} \end{{array}}"


def figure(
    name: Annotated[str | None, Argument("a figure, or the beginning of several names", "NAME", place=True)] = None,
    *,
    out: Annotated[str | None, File("draw to this folder (without it the figures are listed)", "DIR")] = None,
    jobs: workers.Jobs = 1,
    store: workers.KeptIn = None,
    cluster: workers.Cluster = None,
    progress: Progress | None = None,
) -> FigureResult:
    """List the figures, or draw them: NAME.pdf, NAME.svg, and the data as NAME.csv.

    `name` is a figure's name, or the beginning of several ("F" for all of paper F); all figures without it. Trials go
    through the same workers and store as `check`'s.
    Errors: InputError for an unknown name, unusable workers, a folder or a store that cannot be written; nothing is
    half-written.

    Example:

    >>> [name for name, *_ in bulkedge.figure("K").figures]
    ['K.decay', 'K.kernels']
    """
    asked = read(figure, locals())
    from bulkedge.figures import figures
    from bulkedge.results.output import output_folder
    from bulkedge.theory.functions.parse import shorten
    from bulkedge.theory.numbers.errors import InputError

    if name is not None and not isinstance(name, str):
        raise InputError("name", f"{shorten(name)} is no figure's name", "give a name, or the beginning of several")
    available = figures()
    chosen = [f for f in available if f.name == name] or [f for f in available if f.name.startswith(name or "")]
    if not chosen:
        names = [f.name for f in available]
        near = difflib.get_close_matches(name or "", names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the figures are {', '.join(names)}"
        raise InputError("NAME", f"unknown figure {(name or '')[:40]!r}", hint)
    files: dict[str, tuple[str, ...]] = {}
    workers.check_address(cluster)
    if out is not None:
        with output_folder(asked.out) as folder, workers.workers(asked.jobs, cluster, asked.store, progress):
            files = {f.name: f.write(folder) for f in chosen}
    rows = tuple((f.name, f.title, f.setting, files.get(f.name, ())) for f in chosen)
    return FigureResult(asked.inputs, "", (), (), rows)
