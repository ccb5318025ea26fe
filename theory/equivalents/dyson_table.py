"""A Dyson equation as plain tables of indices and coefficients: what a solver in floats needs, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.equivalents.dyson import DysonSystem, classes
from bulkedge.theory.equivalents.elimination import at_atom


@dataclass(frozen=True)
class DysonTable:
    """Places are (dimension, atom, row, column) as integers; the last integer of an entry numbers its coefficient.

    `sizes`: block rows by dimension; `one`: the number of dimension one, or -1; `weights`: (dimension, atom,
    coefficient); `constants`: (dimension, atom, row, column, coefficient); `energy`: (unknown, dimension, row, column,
    coefficient); `where`: (dimension, row, column) of every unknown; `outputs`: entries (output, dimension, atom, row,
    column, coefficient), row -1 for a constant; `classes`: pairs' number, and entries (row, column, dimension, atom, a,
    i, b, j, coefficient) of the map T restricted to a class.
    """

    sizes: tuple[int, ...]
    one: int
    weights: tuple[tuple[int, ...], ...]
    constants: tuple[tuple[int, ...], ...]
    energy: tuple[tuple[int, ...], ...]
    where: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    classes: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]
    coefficients: tuple[sp.Expr, ...]

    def plain(self) -> tuple[Any, ...]:
        """All but the coefficients, as tuples of integers."""
        return (
            self.sizes,
            self.one,
            self.weights,
            self.constants,
            self.energy,
            self.where,
            self.outputs,
            self.classes,
        )


def dyson_table(system: DysonSystem) -> DysonTable:
    """The tables of a Dyson equation; the coefficients are rational functions of the free symbols."""
    pencil = system.pencil
    dims = list(system.rows)
    number = {dim: k for k, dim in enumerate(dims)}
    row_at = {i: a for dim in dims for a, i in enumerate(system.rows[dim])}
    col_at = {j: a for dim in dims for a, j in enumerate(system.cols[dim])}
    known: dict[Any, int] = {}

    def coefficient(c: Any) -> int:
        return known.setdefault(c, len(known))

    constants = [
        (number[dim], t, row_at[i], col_at[q], coefficient(at_atom(system, c, atom)))
        for (i, q), c in system.constants.items()
        for dim in [pencil.rows[i]]
        for t, atom in enumerate(system.atoms[dim])
    ]
    energy = [
        (k, number[pencil.rows[i]], row_at[i], col_at[q], coefficient(c))
        for k, pair in enumerate(system.pairs)
        for i, q, c in system.self_energy[pair]
    ]
    where = [(number[pencil.cols[j]], col_at[j], row_at[p]) for j, p in system.pairs]
    outputs = []
    for k, output in enumerate(pencil.outputs):
        dim = output.dimension
        for t, atom in enumerate(system.atoms[dim]):
            if output.direct:
                direct = coefficient(at_atom(system, output.direct, atom) * atom.weight)
                outputs.append((k, number.get(dim, -1), t, -1, -1, direct))
            for j, u in output.u.items():
                for i, v in output.v.items():
                    both = coefficient(at_atom(system, u * v, atom) * atom.weight)
                    outputs.append((k, number[dim], t, col_at[j], row_at[i], both))
    weights = [(number[dim], t, coefficient(a.weight)) for dim in dims for t, a in enumerate(system.atoms[dim])]
    return DysonTable(
        tuple(len(system.rows[dim]) for dim in dims),
        number.get(mx.ONE, -1),
        tuple(weights),
        tuple(constants),
        tuple(energy),
        tuple(where),
        tuple(outputs),
        tuple(_class(system, members, number, row_at, col_at, coefficient) for members in _irreducible(system)),
        tuple(c.as_expr() for c in known),
    )


def _bulk_entries(system: DysonSystem) -> dict[int, list[tuple[int, Any, Any]]]:
    entries: dict[int, list[tuple[int, Any, Any]]] = {}
    for i, j, key, c in system.pencil.gaussian_entries():
        if mx.ONE not in (system.pencil.cols[j], system.pencil.rows[i]):
            entries.setdefault(j, []).append((i, key, c))
    return entries


def _irreducible(system: DysonSystem) -> list[list[int]]:
    """The classes of block columns that T maps to themselves."""
    entries = _bulk_entries(system)
    edges: dict[int, set[int]] = {}
    for j, parts in entries.items():
        for i, _, _ in parts:
            edges.setdefault(j, set()).update(k for k in system.cols[system.pencil.rows[i]] if (k, i) in system.support)
    found = classes(list(entries), edges)
    return [m for m in found if len(m) > 1 or m[0] in edges.get(m[0], ())]


def _class(
    system: DysonSystem,
    members: list[int],
    number: dict[str, int],
    row_at: dict[int, int],
    col_at: dict[int, int],
    coefficient: Any,
) -> tuple[int, tuple[tuple[int, ...], ...]]:
    cols, rows = system.pencil.cols, system.pencil.rows
    entries = _bulk_entries(system)
    index = {pair: n for n, pair in enumerate((j, k) for j in members for k in members if cols[j] == cols[k])}
    found = []
    for (j, jj), column in index.items():
        for i, key, c in entries.get(j, ()):
            for ii, other, cc in entries.get(jj, ()):
                if other != key:
                    continue
                dim = rows[i]
                for (k, kk), row in index.items():
                    if cols[k] != dim or (k, i) not in system.support or (kk, ii) not in system.support:
                        continue
                    for t, atom in enumerate(system.atoms[dim]):
                        factor = c * cc * system.variances[key[0]] * system.sizes[cols[j]] * atom.weight
                        place = (number[dim], t, col_at[k], row_at[i], col_at[kk], row_at[ii])
                        found.append((row, column, *place, coefficient(factor)))
    return len(index), tuple(found)
