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
    with the caller's workers and store) and returns the figure and its data, one row per point.
    """

    name: str
    title: str
    setting: str
    draw: Callable[[], tuple[Figure, Table]]

    def write(self, folder: Path) -> tuple[str, ...]:
        """Draw and write NAME.pdf, NAME.svg and NAME.csv to `folder`; returns the files' names."""
        from bulkedge.results.plotting import write_figure

        figure, table = self.compose()
        for suffix in FORMATS:
            write_figure(figure, folder / f"{self.name}.{suffix}", self.title, self.setting)
        (folder / f"{self.name}.csv").write_text(csv_text(table, self.setting), encoding="utf-8")
        return (*(f"{self.name}.{suffix}" for suffix in FORMATS), f"{self.name}.csv")

    def compose(self) -> tuple[Figure, Table]:
        """The figure with its title and setting, and its data."""
        import matplotlib

        with matplotlib.rc_context({"legend.frameon": False}):  # read when a legend is made, after new_figure
            figure, table = self.draw()
        figure.suptitle(self.title, fontsize=10, x=0.01, ha="left")
        columns = int(figure.get_figwidth() * 19.5)
        figure.supxlabel(textwrap.fill(self.setting, columns), fontsize=7, color="0.3", x=0.01, ha="left")
        return figure, table


def csv_text(table: Table, setting: str) -> str:
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
