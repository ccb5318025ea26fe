"""A matrix in a .csv file: which line is a header, which column an index, and what to say where it is neither.

Tables are written with a line of names above and, by default in pandas, a column of row names to the left under an
empty first cell. Read as numbers, 0, 1, 2, ... are the strongest outlier there is.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.theory.numbers.errors import InputError

_INTEGER = re.compile(r"\s*[+-]?\d+\s*\Z")
_UNNAMED = re.compile(r"\s*(Unnamed: \d+)?\s*\Z")  # the first name of a table whose first column is its index


def read_csv(file: Path, argument: str) -> tuple[Floats, tuple[str, ...]]:
    """The matrix, and notes on what was left out.

    A header: a first line without any number; integers 0..n-1 or 1..n (three at least) or, where nothing below is
    written as an integer, any integers. An index: the first column under an empty header cell, whatever it holds; or
    0, 1, 2, ... or 1, 2, 3, ... written as integers beside numbers none of which is.
    Errors: InputError with line and column of what is not a number, for rows of unequal length, and other separators.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(argument, f"{file.name!r} is not text", "give comma-separated numbers") from None
    try:
        lines = [
            (n, cells) for n, cells in enumerate(csv.reader(text.splitlines()), 1) if any(c.strip() for c in cells)
        ]
    except csv.Error as error:
        raise InputError(argument, f"{file.name!r} is no table ({error})", "give comma-separated numbers") from None
    notes = []
    header = _header(lines)
    if header:
        names, lines = lines[0][1], lines[1:]
        if not any(map(_is_number, names)):
            notes.append("the first line holds names")
        else:
            notes.append("the first line, integers, was read as column names")
    if header and len(names) > 1 and _UNNAMED.match(names[0]) and all(len(cells) == len(names) for _, cells in lines):
        notes.append("the first column, under an empty name, was read as row names")
        lines = [(n, cells[1:]) for n, cells in lines]
    elif _index(lines):
        notes.append("the first column, 0, 1, 2, ... beside decimals, was read as row numbers")
        lines = [(n, cells[1:]) for n, cells in lines]
    rows = [_row(number, cells, argument) for number, cells in lines]
    if not rows:
        raise InputError(argument, f"{file.name!r} holds no numbers", "give comma-separated numbers")
    for (number, _), row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            problem = f"line {number} has {len(row)} numbers, line {lines[0][0]} has {len(rows[0])}"
            raise InputError(argument, problem, "give rows of equal length")
    return np.array(rows), tuple(notes)


def _header(lines: list[tuple[int, list[str]]]) -> bool:
    if not lines or lines[0][0] != 1:
        return False
    first = lines[0][1]
    if not any(map(_is_number, first)):
        # a row of numbers with another separator is no header, but has its own message
        return not (len(first) == 1 and _separator(first[0]))
    names = first[1:] if len(first) > 1 and _UNNAMED.match(first[0]) else first
    if not all(_INTEGER.match(name) for name in names) or len(lines) < 2:
        return False
    if names is not first:
        return True
    count = [int(name) for name in names]
    if len(count) >= 3 and count in (list(range(len(count))), list(range(1, len(count) + 1))):
        return True
    below = [cells[1:] if len(cells) > 1 else cells for _, cells in lines[1:]]  # the first may be an index
    return not any(_INTEGER.match(cell) for cells in below for cell in cells)


def _index(lines: list[tuple[int, list[str]]]) -> bool:
    first = [cells[0] for _, cells in lines]
    if len(first) < 3 or not all(map(_INTEGER.match, first)) or min(len(cells) for _, cells in lines) < 2:
        return False
    count = [int(cell) for cell in first]
    if count not in (list(range(len(count))), list(range(1, len(count) + 1))):
        return False
    return not any(_INTEGER.match(cell) for _, cells in lines for cell in cells[1:])


def _row(number: int, cells: list[str], argument: str) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        pass
    column = next(index for index, cell in enumerate(cells, 1) if not _is_number(cell))
    cell = cells[column - 1]
    separator = _separator(cell)
    if separator:
        raise InputError(argument, f"line {number} separates its numbers by {separator}", "separate them by commas")
    if number > 1 and column == 1 and len(cells) > 1 and all(map(_is_number, cells[1:])):
        problem = f"line {number} begins with {cell[:20]!r}, a row's name"
        raise InputError(argument, problem, "write it without row names (in pandas: to_csv(..., index=False))")
    problem = f"line {number}, column {column}: {cell[:20]!r} is not a number"
    raise InputError(argument, problem, "give comma-separated numbers")


def _separator(cell: str) -> str:
    """What stands between the numbers of a cell that holds several; empty if it does not."""
    for name, mark in (("semicolons", ";"), ("tabs", "\t"), ("spaces", None)):
        parts = cell.split(mark)
        if len(parts) > 1 and all(map(_is_number, parts)):
            return name
    return ""


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
