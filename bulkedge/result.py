"""Result: what every command returns -- a frozen value that prints itself as a table, JSON, LaTeX, CSV or a picture.

This module imports nothing heavy, so that `bulkedge --help` stays quick.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Table:
    """A titled table: the columns' names and the rows, all strings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


@dataclass(frozen=True)
class Result(ABC):
    """The base of all results.

    `inputs` are the inputs as they were read (strings and integers), `setting` the conventions and scalings that
    give the numbers their meaning, `source` the statement IDs, `notes` what is proved or conjectured and in which
    limit. Subclasses add their fields and say how they print.
    """

    command: ClassVar[str]

    inputs: Mapping[str, Any]
    setting: str
    source: tuple[str, ...]
    notes: tuple[str, ...]

    @abstractmethod
    def payload(self) -> dict[str, Any]:
        """The command's own JSON fields (the public contract)."""

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """What the readable output shows; the first table is also the CSV."""

    @abstractmethod
    def latex(self) -> str:
        """One LaTeX expression (no dollar signs) that needs standard packages only."""

    def figure(self) -> Figure | None:
        """The picture of the result, or None where there is no curve."""
        return None

    @property
    def exit_status(self) -> int:
        """0 fine; 1 a check failed; 3 the digits asked for were not reached."""
        return 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as a dictionary."""
        return {
            "command": self.command,
            "inputs": dict(self.inputs),
            "setting": self.setting,
            "source": list(self.source),
            "notes": list(self.notes),
            **self.payload(),
        }

    def to_json(self) -> str:
        """The JSON object as a string; reals are decimal strings, so nothing is lost and nothing is nan."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        """What the command prints."""
        from bulkedge.readable import text

        return text(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        from bulkedge.readable import html

        return html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # All forms at once: IPython would take the dataclass's own repr for the plain text.
        return {"text/plain": str(self), "text/html": self._repr_html_(), "text/latex": self._repr_latex_()}
