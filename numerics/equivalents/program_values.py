"""A Dyson equation as a straight-line program, at many points: two precisions and the branch test at every point."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bulkedge.theory.equivalents import elimination
from bulkedge.theory.equivalents.dyson_program import DysonProgram, Segment, dyson_program
from bulkedge.theory.equivalents.dyson_root import Root
from bulkedge.theory.equivalents.equivalent import Equivalent
from bulkedge.theory.numbers.errors import ConvergenceError

Array = NDArray[Any]
_CHUNK = 2048  # points worked on together: the registers stay in the cache
_DAMPED = (24, 400)  # steps of damped iteration, at first and where that was not enough
_NEWTON, _REFINED = 12, 2
_SQUARINGS = 9
_EXTENDED = np.finfo(np.longdouble).eps < 2.0**-60  # whether there is a second precision


@dataclass(frozen=True)
class Compiled:
    """The program of an equivalent and functions of its symbols that give what it needs, in any precision."""

    program: DysonProgram
    fractions: Any  # numerators and denominators of the coefficients
    exact: tuple[str, ...]  # constants of functions, to 30 digits
    asked: Any  # numerator and denominator of what is asked, also a function of the functionals

    def solve(self, points: Sequence[NDArray[np.float64]]) -> tuple[Array, Array, NDArray[np.bool_]]:
        """What is asked at n points, bounds of its error, and which points are certain."""
        n = len(points[0])
        found, errors, certain = np.empty(n), np.empty(n), np.zeros(n, dtype=bool)
        for first in range(0, n, _CHUNK):
            part = slice(first, min(first + _CHUNK, n))
            found[part], errors[part], certain[part] = self._chunk([p[part] for p in points], _DAMPED[0])
        for steps in _DAMPED[1:]:  # a longer way to Newton's method for the points that it did not lead to a solution
            left = np.flatnonzero(~certain)[:_CHUNK]
            if left.size:
                found[left], errors[left], certain[left] = self._chunk([p[left] for p in points], steps)
        return found, errors, certain

    def at(self, point: Sequence[complex], root: Root) -> complex:
        """What is asked at one complex point, with the unknowns of an enclosed solution."""
        registers = [0j] * self.program.registers
        registers[1] = 1 + 0j
        above, below = self.fractions(*point)
        for place, num, den in zip(self.program.coefficients, above, below, strict=True):
            registers[place] = num / den
        for segment in self.program.segments:
            _execute(registers, segment.straight)
            for unknown, number in zip(segment.unknowns, segment.members, strict=True):
                registers[unknown] = complex(root.unknowns[number])
        num, den = self.asked(*point, *(registers[r] for r in self.program.outputs))
        return complex(num / den)

    def _chunk(self, points: Sequence[NDArray[np.float64]], damped: int) -> tuple[Array, Array, NDArray[np.bool_]]:
        n = len(points[0])
        with np.errstate(all="ignore"):
            plain, starts, certain = self._run(points, np.float64, None, damped)
            fine, _, _ = self._run(points, np.longdouble, starts, 0)
            found = np.asarray(fine, dtype=float)
            # The second precision's own error is a thousandth of the first's: their difference bounds it.
            errors = np.asarray(np.abs(fine - plain), dtype=float) + 2.0**-51 * np.abs(found)
            certain &= np.isfinite(found) & np.isfinite(errors)
        return np.broadcast_to(found, n), np.broadcast_to(errors, n), np.broadcast_to(certain, n)

    def _run(
        self, points: Sequence[NDArray[np.float64]], dtype: Any, starts: list[Array] | None, damped: int
    ) -> tuple[Any, ...]:
        """One pass: what is asked, Newton's unknowns, and (in the first) which points are certain."""
        n = len(points[0])
        given = [p[0].astype(dtype) if np.all(p == p[0]) else p.astype(dtype) for p in points]
        given += [dtype(text) for text in self.exact]
        registers: list[Any] = [dtype(0)] * self.program.registers
        registers[1] = dtype(1)
        above, below = self.fractions(*given)
        for place, num, den in zip(self.program.coefficients, above, below, strict=True):
            registers[place] = _number(num, dtype) / _number(den, dtype)
        certain = np.ones(n, dtype=bool)
        held: list[Array] = []
        for k, segment in enumerate(self.program.segments):
            _execute(registers, segment.straight)
            if segment.unknowns:
                certain &= _solve(registers, segment, n, dtype, None if starts is None else starts[k], damped)
                held.append(np.array([np.broadcast_to(registers[u], n) for u in segment.unknowns]))
            else:
                held.append(np.empty((0, n)))
        parts = [registers[r] for r in self.program.outputs]
        (num, den) = self.asked(*given, *parts)
        if starts is None:
            for size, entries in self.program.maps:
                matrix = np.zeros((n, size, size))
                for row, column, register in entries:
                    matrix[:, row, column] = registers[register]
                certain &= contracting(matrix)
        return _number(num, dtype) / _number(den, dtype), held, certain


def _number(x: Any, dtype: Any) -> Any:
    return dtype(x) if isinstance(x, int) else x


def _execute(registers: list[Any], instructions: tuple[tuple[str, int, int, int], ...]) -> None:
    for operation, place, a, b in instructions:
        if operation == "*":
            registers[place] = registers[a] * registers[b]
        elif operation == "+":
            registers[place] = registers[a] + registers[b]
        elif operation == "-":
            registers[place] = registers[a] - registers[b]
        else:
            registers[place] = registers[a] / registers[b]


def _solve(
    registers: list[Any], segment: Segment, n: int, dtype: Any, start: Array | None, damped: int
) -> NDArray[np.bool_]:
    """Damped iteration and Newton's method on the unknowns of a segment; where it converged."""
    for row, unknown in enumerate(segment.unknowns):
        registers[unknown] = registers[segment.start[row]] if start is None else start[row].astype(dtype)
    if start is None:
        for _ in range(damped):
            _execute(registers, segment.body)
            moved = [registers[i] for i in segment.image]
            for unknown, image in zip(segment.unknowns, moved, strict=True):
                registers[unknown] = (registers[unknown] + image) / 2
    certain = np.zeros(n, dtype=bool)
    for _ in range(_NEWTON if start is None else _REFINED):
        _execute(registers, segment.body)
        steps = [registers[s] for s in segment.step]
        size = functools.reduce(np.maximum, (np.abs(s) for s in steps))
        for unknown, step in zip(segment.unknowns, steps, strict=True):
            registers[unknown] = registers[unknown] - step
        level = functools.reduce(np.maximum, (np.abs(registers[u]) for u in segment.unknowns))
        certain = np.broadcast_to(size < 1e-12 * level, (n,))
        if start is None and np.all(certain | ~np.isfinite(size)):
            break
    return certain


def contracting(matrices: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of n matrices have a spectral radius below one, by 1 - 1e-7 at least: a power has a norm below one.

    What nine squarings leave open is decided by the eigenvalues.
    """
    n = len(matrices)
    certain = np.zeros(n, dtype=bool)
    finite = np.all(np.isfinite(matrices), axis=(1, 2))
    open_, powers = np.flatnonzero(finite), matrices[finite]
    for _ in range(_SQUARINGS):
        norm = np.sqrt(np.einsum("nij,nij->n", powers, powers))
        certain[open_[norm < 0.5]] = True
        left = (norm >= 0.5) & (norm < 1e100)
        open_, powers = open_[left], powers[left]
        if not open_.size:
            break
        powers = powers @ powers
    if open_.size:
        radius = np.max(np.abs(np.linalg.eigvals(matrices[open_])), axis=1)
        certain[open_[radius < 1 - 1e-7]] = True
    return certain


@functools.lru_cache(maxsize=64)
def compiled(theory: Equivalent) -> Compiled | None:
    """The program of an equivalent, tested at a scattered point of its symbols against the enclosed solution there.

    None where it has no program: no scattered point passes the branch test, a block is singular there, or there is no
    second precision.
    """
    if not _EXTENDED:
        return None
    system, table = theory.system, theory.table
    try:
        root = elimination.sample_roots(system, 1)[0]
    except ConvergenceError:
        return None
    row_at = {i: a for dim in system.rows for a, i in enumerate(system.rows[dim])}
    col_at = {j: (d, a) for d, dim in enumerate(system.rows) for a, j in enumerate(system.cols[dim])}
    support = frozenset((*col_at[j], row_at[p]) for j, p in system.support)
    held = theory.constants(128)
    symbols = (*theory.symbols, *held)
    parts = [_fraction(c) for c in table.coefficients]
    fractions = sp.lambdify(symbols, [[num for num, _ in parts], [den for _, den in parts]], "math")
    functionals = [s for s, _ in theory.question.functionals]
    asked = sp.lambdify((*symbols, *functionals), _fraction(theory.question.value), "math")
    at = dict(zip((s.name for s in system.pencil.field.symbols), root.values, strict=True))
    point = [complex(at[s.name]) for s in symbols]
    above, below = fractions(*point)
    coefficients = [num / den for num, den in zip(above, below, strict=True)]
    try:
        program = dyson_program(table, support, coefficients, [complex(g) for g in root.unknowns])
    except ZeroDivisionError:
        return None
    exact = tuple(v.mid().str(30, radius=False) for v in held.values())
    found = Compiled(program, fractions, exact, asked)
    expected = complex(elimination.value_ball(system, root))
    return found if abs(found.at(point, root) - expected) <= 1e-9 * abs(expected) else None


def _fraction(expr: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Numerator and denominator with integer coefficients: no rational is rounded before the division."""
    num, den = sp.fraction(sp.together(expr))
    return num, den
