"""Result: what every command returns -- a frozen value that prints itself as a table, JSON, LaTeX, CSV or a picture.

This module imports nothing heavy, so that `bulkedge --help` stays quick.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Table:
    """A titled table: the columns' names and the rows, all strings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


class Frozen(dict[str, Any]):
    """A dictionary that cannot be changed in place; unlike a mapping proxy it can be copied, pickled and printed."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a result is frozen; make a dict of it to change it")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (Frozen, (dict(self),))


def frozen(value: Any) -> Any:
    """The value with every dictionary frozen and every list a tuple."""
    if type(value) is dict:
        return Frozen({key: frozen(item) for key, item in value.items()})
    if type(value) in (list, tuple):
        return tuple(frozen(item) for item in value)
    return value


def plain(value: Any) -> Any:
    """The value as JSON has it: dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) in (dict, list, tuple):
                object.__setattr__(self, field.name, frozen(value))

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
        head = {"command": self.command, "inputs": self.inputs, "setting": self.setting}
        found: dict[str, Any] = plain({**head, "source": self.source, "notes": self.notes, **self.payload()})
        return found

    def to_json(self) -> str:
        """The JSON object as a string; reals are decimal strings, so nothing is lost and nothing is nan."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        """What the command prints."""
        from bulkedge.results.readable import text

        return text(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        from bulkedge.results.readable import html

        return html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # All forms at once: IPython would take the dataclass's own repr for the plain text.
        return {"text/plain": str(self), "text/html": self._repr_html_(), "text/latex": self._repr_latex_()}
