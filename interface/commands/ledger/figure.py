"""`bulkedge figure`: list the figures, or draw them to a folder."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from bulkedge.arguments import Argument, File, Flag, Numeric, Progress, Real, read
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
    quick: Annotated[bool, Flag("drafts in about a minute: fewer and smaller trials, said in the caption")] = False,
    width: Annotated[Numeric | None, Real("of the pictures, in inches", "INCHES", low=1, high=40)] = None,
    style: Annotated[
        str | None, Argument("a style of matplotlib's or a .mplstyle file, beside the house style", "NAME")
    ] = None,
    titled: Annotated[bool, Flag("with title and setting in the picture (they are in NAME.txt and NAME.tex)")] = False,
    jobs: workers.EveryCore = 1,
    store: workers.KeptIn = None,
    cluster: workers.Cluster = None,
    progress: Progress | None = None,
) -> FigureResult:
    """List the figures, or draw them: NAME.pdf, NAME.svg, the data as NAME.csv, the caption as NAME.txt and NAME.tex.

    Each figure's files appear when it is finished. `name` is a figure's name, or the beginning of several ("F" for all
    of paper F); all figures without it. Trials go through the same workers and store
    as `check`'s; a run that was interrupted goes on from the store.
    Errors: InputError for an unknown name, unusable workers, a folder or a store that cannot be written; nothing is
    half-written.

    Example:

    >>> [name for name, *_ in bulkedge.figure("K").figures]
    ['K.decay', 'K.kernels']
    """
    asked = read(figure, locals())
    from bulkedge.figures import figures
    from bulkedge.results.output import output_folder
    from bulkedge.results.plotting import looking, style_settings
    from bulkedge.results.progress import RichProgress
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
    if asked.style is not None:
        style_settings(asked.style)
    look = looking(None if asked.width is None else float(asked.width), asked.style)
    if out is not None:
        with look, workers.workers(asked.jobs, cluster, asked.store, progress):
            for number, f in enumerate(chosen, start=1):
                with output_folder(asked.out) as folder:  # one by one: what is finished stays, whatever comes after
                    files[f.name] = f.write(folder, quick=asked.quick, titled=asked.titled)
                if isinstance(progress, RichProgress):
                    progress.say(f"{f.name} is written, {number} of {len(chosen)}")
    rows = tuple((f.name, f.title, f.setting, files.get(f.name, ())) for f in chosen)
    return FigureResult(asked.inputs, "", (), (), rows)
