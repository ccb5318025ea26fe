"""The figures, one module per layer; each exports FIGURES, a tuple of Picture.

def draw() -> tuple[Figure, Table]:
    figure, axes = new_figure()
    axes.plot(x, y, label="predicted")
    return figure, Table(("x", "predicted"), tuple((repr(a), repr(b)) for a, b in zip(x, y)))

FIGURES = (Picture("R.law", "The law", "ratio 1/2, scale 1", draw),)
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("pdf", "svg")


@dataclass(frozen=True)
class Picture:
    """A figure for a paper.

    `name` begins with the paper's letter ("F.alignment"). `setting` is what one must know to read it: sizes,
    activation, link, seed, number of runs, and what of it is predicted or simulated; it is printed under the figure.
    `draw` takes no argument (its randomness has a fixed seed; trials go through numerics.trials.runner.current_runner,
    with the caller's workers and store) and returns the figure and its data, one row per point. `draft` does the same
    with fewer and smaller trials, where `draw` takes longer than a few seconds.
    """

    name: str
    title: str
    setting: str
    draw: Callable[[], tuple[Figure, Table]]
    draft: Callable[[], tuple[Figure, Table]] | None = None

    def write(self, folder: Path, *, quick: bool = False, titled: bool = False) -> tuple[str, ...]:
        """Draw and write NAME.pdf, NAME.svg, NAME.csv, and the caption as NAME.txt and NAME.tex; the files' names."""
        from bulkedge.results.plotting import write_figure

        figure, table = self.compose(quick, titled)
        setting = self.caption(quick)
        for suffix in FORMATS:
            write_figure(figure, folder / f"{self.name}.{suffix}", self.title, setting)
        texts = {
            "csv": _csv_text(table, setting),
            "txt": f"{self.title}. {setting}\n",
            "tex": self.latex(quick),
        }
        for suffix, text in texts.items():
            (folder / f"{self.name}.{suffix}").write_text(text, encoding="utf-8")
        return tuple(f"{self.name}.{suffix}" for suffix in (*FORMATS, *texts))

    def caption(self, quick: bool = False) -> str:
        """The setting; a draft says that it is one."""
        if quick and self.draft is not None:
            return f"DRAFT, with fewer and smaller trials than these: {self.setting}"
        return self.setting

    def latex(self, quick: bool = False) -> str:
        """A figure environment with the caption."""
        from bulkedge.derivations.engine.render import escape

        caption = f"\\caption{{{escape(self.title)}. {escape(self.caption(quick))}}}"
        lines = ["\\begin{figure}", "  \\centering", f"  \\includegraphics{{{self.name}.pdf}}"]
        lines += [*textwrap.wrap(caption, 100, initial_indent="  ", subsequent_indent="    ")]
        return "\n".join([*lines, f"  \\label{{fig:{self.name}}}", "\\end{figure}", ""])

    def compose(self, quick: bool = False, titled: bool = False) -> tuple[Figure, Table]:
        """The figure, with its title and setting in it where `titled`, and its data."""
        import matplotlib

        with matplotlib.rc_context({"legend.frameon": False}):  # read when a legend is made, after new_figure
            figure, table = self.draft() if quick and self.draft is not None else self.draw()
        if titled:
            figure.suptitle(self.title, fontsize=10, x=0.01, ha="left")
            text = textwrap.fill(self.caption(quick), int(figure.get_figwidth() * 19.5))
            figure.supxlabel(text, fontsize=7, color="0.3", x=0.01, ha="left")
        return figure, table


def _csv_text(table: Table, setting: str) -> str:
    """A table as CSV, with the setting as a comment above the header."""
    import csv
    import io

    buffer = io.StringIO()
    buffer.write(f"# {setting}\n")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return buffer.getvalue()


@functools.cache
def figures() -> tuple[Picture, ...]:
    """All figures, by name."""
    found: list[Picture] = []
    for info in pkgutil.iter_modules(__path__):
        found.extend(importlib.import_module(f"{__name__}.{info.name}").FIGURES)
    return tuple(sorted(found, key=lambda picture: picture.name))
