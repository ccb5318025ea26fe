"""A result as text for a terminal, and as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Protocol


class Table(Protocol):
    """What is read of a table (bulkedge.results.result.Table)."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The cells."""

    @property
    def title(self) -> str:
        """The title, or nothing."""


class Result(Protocol):
    """What is read of a result: stated here, so that this module need not know the one that prints by it."""

    @property
    def setting(self) -> str:
        """The conventions and scalings."""

    @property
    def source(self) -> tuple[str, ...]:
        """The statements' IDs."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is proved or conjectured."""

    def tables(self) -> Sequence[Table]:
        """The tables to show."""

    def latex(self) -> str:
        """The formula."""


LONG = 300  # rows from which on a table is laid out here: rich takes milliseconds a row


def text(result: Result, width: int = 160, terminal: bool = False) -> str:
    """The tables, the setting, the notes and the source, without blanks at the ends of lines."""
    import io

    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    buffer = io.StringIO()
    # In a notebook's kernel rich would display what it prints, whatever the file.
    console = Console(file=buffer, width=width, force_terminal=terminal, force_jupyter=False, highlight=False)
    for table in result.tables():
        if len(table.rows) > LONG:
            buffer.write(_long(table))
            continue
        shown = RichTable(title=table.title or None, box=box.SIMPLE_HEAD, title_justify="left")
        for column in table.columns:
            shown.add_column(column, overflow="fold")
        for row in table.rows:
            shown.add_row(*(Text(cell) for cell in row))
        console.print(shown)
    for line in _lines(result):
        console.print(Text(line))
    return "".join(line.rstrip(" ") + "\n" for line in buffer.getvalue().splitlines())


def _long(table: Table) -> str:
    """A long table in the same layout, its cells not folded."""
    widths = [max(map(len, cells)) for cells in zip(table.columns, *table.rows, strict=True)]
    title = f"{table.title}\n" if table.title else ""
    head, *body = (
        "  " + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (table.columns, *table.rows)
    )
    rule = " " + "\u2500" * (sum(widths) + 3 * len(widths) - 1)
    return title + "\n".join(("", head, rule, *body, "", ""))


def html(result: Result) -> str:
    """The formula as MathML, then the same as `text`. A LaTeX array of words is left out: the tables say it."""
    from bulkedge.results.mathml import from_latex

    formula = result.latex()
    parts = [] if formula.startswith(r"\begin{array}") else [from_latex(formula)]
    parts += map(_table, result.tables())
    parts += [f"<div>{escape(line)}</div>" for line in _lines(result)]
    return f"<div>{''.join(parts)}</div>"


def _lines(result: Result) -> list[str]:
    setting = [f"setting: {result.setting}"] if result.setting else []
    source = ["source: " + ", ".join(result.source)] if result.source else []
    return [*setting, *(f"note: {note}" for note in result.notes), *source]


def _table(table: Table) -> str:
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
