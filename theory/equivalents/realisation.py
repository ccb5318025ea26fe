"""Realisation: a rational expression in matrices as u L^-1 v with L affine in the Gaussian matrices (E1).

    M: L = [[I, -M], [0, I]], u = (I, 0), v = (0, I)^T.   Sum: the direct sum.   r1 r2: [[L1, -v1 u2], [0, L2]].
    r^-1: [[L, v], [u, 0]], u = (0, I), v = (0, -I)^T.

Reduction. A block that is a constant is a pivot (Schur complement) if L stays affine: its row, or its column, holds no
Gaussian matrix. Rows (or columns) whose Gaussian parts are proportional are subtracted, which makes one of them free
of Gaussian matrices, so that what two subexpressions share is kept once.

Deterministic matrices commute and count as constants: they are symbols of the field of coefficients, one generator
each; a Gaussian matrix keeps a coefficient that is a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.polys.fields import FracField

from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.numbers.errors import InputError

Coefficient = Any  # an element of a SymPy field of rational functions
Key = tuple[str, bool] | None  # a Gaussian matrix and whether it is transposed; None: a multiple of the identity
Entry = dict[Key, Coefficient]
_MAX_BLOCKS = 400


@dataclass(frozen=True)
class Output:
    """One functional of the pencil: u L^-1 v + direct, its trace over a dimension (ONE: a number)."""

    dimension: str
    u: dict[int, Coefficient]
    v: dict[int, Coefficient]
    direct: Coefficient


@dataclass(frozen=True)
class Pencil:
    """L as blocks: dimensions of the rows and columns, and the entries that are not zero."""

    field: Any
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    entries: dict[tuple[int, int], Entry]
    outputs: tuple[Output, ...]
    before: int

    @property
    def blocks(self) -> int:
        """The number of block rows."""
        return len(self.rows)

    def gaussian_entries(self) -> Iterator[tuple[int, int, tuple[str, bool], Coefficient]]:
        """All (row, column, (name, transposed), coefficient) of Gaussian matrices."""
        for (i, j), entry in self.entries.items():
            for key, c in entry.items():
                if key is not None:
                    yield i, j, key, c


def _coefficient_field(question: mx.Question) -> Any:
    """The field of rational functions in the free symbols and the deterministic matrices (as symbols)."""
    laws = [matrix_symbol(name) for law in question.model.laws for name in law.names]
    held = [*question.model.symbols, *laws, *([EPSILON] if question.model.spiked else [])]
    # A field needs a generator; one that is never used does no harm.
    return FracField(held or [sp.Symbol("_")], sp.QQ)


EPSILON = sp.Symbol("_eps")  # one over the size's root, of which means are multiples: zero in the end


def matrix_symbol(name: str) -> sp.Symbol:
    """The symbol that stands for a deterministic matrix in the coefficients."""
    return sp.Symbol(f"{name}_", commutative=True)


def realise(question: mx.Question) -> Pencil:
    """The reduced pencil of everything that is asked.

    Errors: InputError if an inverse need not exist: if L is singular where the Gaussian matrices vanish.
    """
    field = _coefficient_field(question)
    builder = _Builder(question.model, field)
    outputs = []
    for _, functional in question.functionals:
        u, v = builder.build(functional.matrix)
        outputs.append((functional.matrix.rows, u, v))
    before = len(builder.rows)
    work = _Work(question.model, field, builder.rows, builder.cols, builder.entries, outputs)
    work.reduce()
    return work.pencil(before)


class _Builder:
    """Collects the blocks of all realisations."""

    def __init__(self, model: mx.Model, field: Any) -> None:
        self.model, self.field = model, field
        self.rows: list[str] = []
        self.cols: list[str] = []
        self.entries: dict[tuple[int, int], Entry] = {}

    def block(self, row: str, col: str) -> int:
        self.rows.append(row)
        self.cols.append(col)
        if len(self.rows) > _MAX_BLOCKS:
            raise InputError("expression", f"its realisation has more than {_MAX_BLOCKS} blocks", "use a shorter one")
        return len(self.rows) - 1

    def add(self, i: int, j: int, key: Key, c: Coefficient) -> None:
        entry = self.entries.setdefault((i, j), {})
        entry[key] = entry.get(key, self.field.zero) + c

    def build(self, node: mx.Node) -> tuple[dict[int, Coefficient], dict[int, Coefficient]]:
        """u (by column) and v (by row) of the node's realisation."""
        one = self.field.one
        if isinstance(node, mx.Leaf):
            gaussian = self.model.gaussian(node.name) is not None
            if not gaussian:
                k = self.block(node.rows, node.rows)
                self.add(k, k, None, one)
                return {k: self.field.from_expr(matrix_symbol(node.name))}, {k: one}
            a, b = self.block(node.rows, node.rows), self.block(node.cols, node.cols)
            self.add(a, a, None, one)
            self.add(b, b, None, one)
            self.add(a, b, (node.name, node.transposed), -one)
            return {a: one}, {b: one}
        if isinstance(node, mx.Identity):
            k = self.block(node.rows, node.rows)
            self.add(k, k, None, one)
            return {k: one}, {k: one}
        if isinstance(node, mx.Sum):
            u: dict[int, Coefficient] = {}
            v: dict[int, Coefficient] = {}
            for c, inner in node.terms:
                iu, iv = self.build(inner)
                u.update({j: self.field.from_expr(c) * x for j, x in iu.items()})
                v.update(iv)
            return u, v
        if isinstance(node, mx.Product):
            u, v = self.build(node.factors[0])
            for inner in node.factors[1:]:
                iu, iv = self.build(inner)
                for i, x in v.items():
                    for j, y in iu.items():
                        self.add(i, j, None, -x * y)
                v = iv
            return u, v
        if isinstance(node, mx.Inverse):
            iu, iv = self.build(node.inner)
            k = self.block(node.rows, node.rows)
            for i, x in iv.items():
                self.add(i, k, None, x)
            for j, y in iu.items():
                self.add(k, j, None, y)
            return {k: one}, {k: -one}
        if isinstance(node, mx.Ones):
            left = mx.Leaf(node.rows, mx.ONE, node.degree, mx.ones_name(node.rows), False)
            right = mx.Leaf(mx.ONE, node.cols, node.degree, mx.ones_name(node.cols), True)
            (lu, lv), (ru, rv) = self.build(left), self.build(right)
            k = self.block(mx.ONE, mx.ONE)
            self.add(k, k, None, self.field.from_expr(EPSILON))
            for i, x in lv.items():
                self.add(i, k, None, -x)
            for j, y in ru.items():
                self.add(k, j, None, -y)
            return lu, rv
        if isinstance(node, mx.Feature):
            return self.build(node.equivalent())
        raise InputError("expression", f"a {type(node).__name__} is not understood", "use + - * .T inv tr")


class _Work:
    """The pencil while it is reduced: rows and columns by sparse dictionaries."""

    def __init__(
        self, model: mx.Model, field: Any, rows: list[str], cols: list[str], entries: dict[Any, Entry], outputs: Any
    ) -> None:
        self.model, self.field = model, field
        self.row_dim, self.col_dim = dict(enumerate(rows)), dict(enumerate(cols))
        self.row: dict[int, dict[int, Entry]] = {i: {} for i in self.row_dim}
        self.column: dict[int, set[int]] = {j: set() for j in self.col_dim}
        for (i, j), entry in entries.items():
            self._store(i, j, entry)
        self.u: list[dict[int, Coefficient]] = [dict(u) for _, u, _ in outputs]
        self.v: list[dict[int, Coefficient]] = [dict(v) for _, _, v in outputs]
        self.direct = [field.zero for _ in outputs]
        self.dims = [dim for dim, _, _ in outputs]
        self.numbers = len(model.symbols)  # generators before the deterministic matrices

    def _store(self, i: int, j: int, entry: Entry) -> None:
        kept = {key: c for key, c in entry.items() if c}
        if kept:
            self.row[i][j] = kept
            self.column[j].add(i)
        else:
            self.row[i].pop(j, None)
            self.column[j].discard(i)

    def _number(self, c: Coefficient) -> bool:
        """Whether a coefficient is free of deterministic matrices and of what is zero in the end."""
        if not self.model.laws and not self.model.spiked:
            return True
        return all(
            all(power == 0 for power in monomial[self.numbers :])
            for part in (c.numer, c.denom)
            for monomial in part.itermonoms()
        )

    def reduce(self) -> None:
        """Eliminate constant pivots and subtract proportional rows and columns until neither is possible."""
        while True:
            while (pivot := self._pivot()) is not None:
                self._eliminate(*pivot)
            if not (self._subtract_rows() or self._subtract_columns() or self._divide()):
                return

    def _divide(self) -> bool:
        """Divide a row or a column, free of Gaussian matrices, by the eps that all of it holds; False if none does."""
        if not self.model.spiked:
            return False
        epsilon = self.field.from_expr(EPSILON)
        for i, cells in self.row.items():
            if cells and all(map(self._vanishing, cells.values())) and all(self._small(v[i]) for v in self.v if i in v):
                for j in list(cells):
                    self._store(i, j, {None: cells[j][None] / epsilon})
                for v in self.v:
                    if i in v:
                        v[i] = v[i] / epsilon
                return True
        for j, members in self.column.items():
            entries = [self.row[i][j] for i in members]
            if entries and all(map(self._vanishing, entries)) and all(self._small(u[j]) for u in self.u if j in u):
                for i in list(members):
                    self._store(i, j, {None: self.row[i][j][None] / epsilon})
                for u in self.u:
                    if j in u:
                        u[j] = u[j] / epsilon
                return True
        return False

    def _vanishing(self, entry: Entry) -> bool:
        return set(entry) == {None} and self._small(entry[None])

    def _small(self, c: Coefficient) -> bool:
        """Whether a coefficient is a multiple of eps."""
        place = self.field.symbols.index(EPSILON)
        return all(monomial[place] for monomial in c.numer.itermonoms())

    def _pivot(self) -> tuple[int, int] | None:
        best: tuple[int, int, int] | None = None
        for i, cells in self.row.items():
            for j, entry in cells.items():
                if list(entry) != [None]:
                    continue
                cost = (len(cells) - 1) * (len(self.column[j]) - 1)
                if (best is None or cost < best[0]) and self._allowed(i, j):
                    best = (cost, i, j)
                    if cost == 0:
                        return i, j
        return None if best is None else best[1:]

    def _allowed(self, i: int, j: int) -> bool:
        if not self._number(self.row[i][j][None]):  # it may vanish at an atom of the spectral law
            return False
        in_row = [entry for b, entry in self.row[i].items() if b != j]
        in_col = [self.row[a][j] for a in self.column[j] if a != i]
        row_random = any(key is not None for entry in in_row for key in entry)
        col_random = any(key is not None for entry in in_col for key in entry)
        if row_random and (col_random or any(j in u for u in self.u)):
            return False
        if col_random and any(i in v for v in self.v):
            return False
        if not (row_random or col_random):
            return True
        # A Gaussian matrix keeps a coefficient that is a number.
        constants = [entry[None] for entry in (in_col if row_random else in_row) if None in entry]
        return all(self._number(c) for c in constants)

    def _eliminate(self, i: int, j: int) -> None:
        inverse = 1 / self.row[i][j][None]
        in_row = {b: entry for b, entry in self.row[i].items() if b != j}
        in_col = {a: self.row[a][j] for a in self.column[j] if a != i}
        for a, left in in_col.items():
            for b, right in in_row.items():
                entry = dict(self.row[a].get(b, {}))
                for key, c in _times(left, right, -inverse).items():
                    entry[key] = entry.get(key, self.field.zero) + c
                self._store(a, b, entry)
        for k, (u, v) in enumerate(zip(self.u, self.v, strict=True)):
            uj, vi = u.pop(j, None), v.pop(i, None)
            if uj is not None:
                for b, entry in in_row.items():
                    _accumulate(u, b, -uj * inverse * entry[None])
            if vi is not None:
                for a, entry in in_col.items():
                    _accumulate(v, a, -vi * inverse * entry[None])
            if uj is not None and vi is not None:
                self.direct[k] = self.direct[k] + uj * inverse * vi
        for b in list(self.row[i]):
            self.column[b].discard(i)
        for a in list(self.column[j]):
            self.row[a].pop(j, None)
        del self.row[i], self.column[j], self.row_dim[i], self.col_dim[j]

    def _subtract_rows(self) -> bool:
        """Make rows free of Gaussian matrices and of v, or at least of Gaussian matrices; False if none can be."""
        for fed in (True, False):
            parts: dict[int, dict[Any, Coefficient]] = {}
            for i, cells in self.row.items():
                parts[i] = {(j, key): c for j, entry in cells.items() for key, c in entry.items() if key is not None}
                if fed:
                    parts[i].update({(-1 - k, "v"): v[i] for k, v in enumerate(self.v) if i in v})
                if not all(self._number(c) for c in parts[i].values()):  # no division by what may be zero
                    parts[i] = {}
            # Fed rows come first, so that what is replaced by a combination is rather a row that is not fed.
            order = sorted(parts, key=lambda i: not any(i in v for v in self.v))
            found = [
                pair for pair in _dependencies(order, parts, self.row_dim, self.field) if self._affine(pair[1], parts)
            ]
            for i, others in found:
                for other, factor in others.items():
                    for j in set(self.row[i]) | set(self.row[other]):
                        self._store(i, j, self._less(self.row[i].get(j, {}), factor, self.row[other].get(j, {})))
                    for v in self.v:
                        if other in v:
                            _accumulate(v, i, -factor * v[other])
            if found:
                return True
        return False

    def _subtract_columns(self) -> bool:
        """The same for the columns and u."""
        for read in (True, False):
            parts: dict[int, dict[Any, Coefficient]] = {}
            for j, members in self.column.items():
                parts[j] = {(i, key): c for i in members for key, c in self.row[i][j].items() if key is not None}
                if read:
                    parts[j].update({(-1 - k, "u"): u[j] for k, u in enumerate(self.u) if j in u})
                if not all(self._number(c) for c in parts[j].values()):
                    parts[j] = {}
            order = sorted(parts, key=lambda j: not any(j in u for u in self.u))
            found = [
                pair for pair in _dependencies(order, parts, self.col_dim, self.field) if self._affine(pair[1], parts)
            ]
            for j, others in found:
                for other, factor in others.items():
                    for i in self.column[j] | self.column[other]:
                        self._store(i, j, self._less(self.row[i].get(j, {}), factor, self.row[i].get(other, {})))
                    for u in self.u:
                        if other in u:
                            _accumulate(u, j, -factor * u[other])
            if found:
                return True
        return False

    def _affine(self, others: dict[int, Coefficient], parts: dict[int, dict[Any, Coefficient]]) -> bool:
        """Whether a combination keeps the coefficients of Gaussian matrices numbers."""
        return all(
            self._number(factor) or all(place[1] in ("u", "v") for place in parts[other])
            for other, factor in others.items()
        )

    def _less(self, entry: Entry, factor: Coefficient, other: Entry) -> Entry:
        result = dict(entry)
        for key, c in other.items():
            result[key] = result.get(key, self.field.zero) - factor * c
        return result

    def pencil(self, before: int) -> Pencil:
        """The result, rows and columns numbered anew."""
        rows, cols = list(self.row_dim), list(self.col_dim)
        new_row, new_col = {i: k for k, i in enumerate(rows)}, {j: k for k, j in enumerate(cols)}
        entries = {(new_row[i], new_col[j]): dict(entry) for i, cells in self.row.items() for j, entry in cells.items()}
        outputs = tuple(
            Output(dim, {new_col[j]: c for j, c in u.items() if c}, {new_row[i]: c for i, c in v.items() if c}, direct)
            for dim, u, v, direct in zip(self.dims, self.u, self.v, self.direct, strict=True)
        )
        return Pencil(
            self.field,
            tuple(self.row_dim[i] for i in rows),
            tuple(self.col_dim[j] for j in cols),
            entries,
            outputs,
            before,
        )


def _dependencies(
    order: list[int], parts: dict[int, dict[Any, Coefficient]], dimension: dict[int, str], field: Any
) -> Iterator[tuple[int, dict[int, Coefficient]]]:
    """Every index whose part is a combination of earlier independent ones, with the combination (elimination)."""
    bases: dict[str, dict[Any, tuple[dict[Any, Coefficient], dict[int, Coefficient]]]] = {}
    for index in order:
        if not parts[index]:
            continue
        basis = bases.setdefault(dimension[index], {})
        rest, others = dict(parts[index]), dict[int, Coefficient]()
        while True:
            lead = next((place for place in rest if place in basis), None)
            if lead is None:
                break
            factor = rest[lead]
            vector, combination = basis[lead]
            for place, c in vector.items():
                _accumulate(rest, place, -factor * c)
            for other, c in combination.items():
                _accumulate(others, other, factor * c)
        if not rest:
            yield index, others
            continue
        lead, c = next(iter(rest.items()))
        combination = {other: -x / c for other, x in others.items()}
        combination[index] = field.one / c
        # Reduced echelon form: the new lead is cleared from the others, so that each lead is cleared once.
        new = {place: x / c for place, x in rest.items()}
        for vector, made in basis.values():
            if lead in vector:
                factor = vector[lead]
                for place, x in new.items():
                    _accumulate(vector, place, -factor * x)
                for other, x in combination.items():
                    _accumulate(made, other, -factor * x)
        basis[lead] = (new, combination)


def _times(left: Entry, right: Entry, factor: Coefficient) -> Entry:
    """The product of two entries of which at most one holds Gaussian matrices."""
    return {(a if a is not None else b): factor * x * y for a, x in left.items() for b, y in right.items()}


def _accumulate(vector: dict[Any, Coefficient], index: Any, c: Coefficient) -> None:
    total = vector[index] + c if index in vector else c
    if total:
        vector[index] = total
    else:
        vector.pop(index, None)
