"""A Dyson equation as a straight-line program: unknowns in the order of their dependence, common subexpressions once.

The entry (j, p) of a block-triangular matrix's inverse needs few of the others, so that the unknowns G_jp fall into
small strongly connected classes that are solved one after the other. In most classes the equation is affine (a block
above the diagonal): it is solved exactly. What is left for Newton's method are a few equations of a few unknowns each,
where the whole equation has dozens. Pivots are chosen at one solution; a point at which they are bad shows in the
difference between two working precisions, which every point is tested by (numerics).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bulkedge.theory.equivalents.dyson import classes
from bulkedge.theory.equivalents.dyson_table import DysonTable

Instruction = tuple[str, int, int, int]  # operation (+ - * /), destination, left, right
_Place = tuple[int, int, int, int]  # dimension, atom, column of G, row of G
_ZERO, _ONE = 0, 1  # the registers of these numbers


@dataclass(frozen=True)
class Segment:
    """Instructions to carry out once; then, where `unknowns` is not empty, Newton's method on them.

    `body` computes the registers `image` and `step` (to be subtracted) from the unknowns' registers; `members` are
    the unknowns' numbers in the table, `start` the registers of their values without Gaussian matrices.
    """

    straight: tuple[Instruction, ...]
    unknowns: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    start: tuple[int, ...] = ()
    body: tuple[Instruction, ...] = ()
    image: tuple[int, ...] = ()
    step: tuple[int, ...] = ()


@dataclass(frozen=True)
class DysonProgram:
    """Registers 0 and 1 hold these numbers; `coefficients` says where the table's coefficients are to be put.

    `outputs`: the functionals' registers; `maps`: for every class of the branch test the size of its matrix and its
    entries (row, column, register).
    """

    registers: int
    coefficients: tuple[int, ...]
    segments: tuple[Segment, ...]
    outputs: tuple[int, ...]
    maps: tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...]

    @property
    def length(self) -> int:
        """The number of instructions."""
        return sum(len(s.straight) + len(s.body) for s in self.segments)


@dataclass
class _Tape:
    """Operations, each kept once, with their values at the sample from which pivots are chosen."""

    values: list[complex] = field(default_factory=lambda: [0j, 1 + 0j])
    made: list[tuple[str, int, int] | None] = field(default_factory=lambda: [None, None])
    known: dict[tuple[str, int, int], int] = field(default_factory=dict)
    needs: list[frozenset[int]] = field(default_factory=lambda: [frozenset(), frozenset()])

    def leaf(self, value: complex, unknown: bool = False) -> int:
        self.values.append(value)
        self.made.append(None)
        self.needs.append(frozenset({len(self.values) - 1}) if unknown else frozenset())
        return len(self.values) - 1

    def apply(self, operation: str, a: int, b: int) -> int:
        if operation in "+*" and a > b:
            a, b = b, a
        if operation == "+" and a == _ZERO:
            return b
        if operation == "-" and b == _ZERO:
            return a
        if operation == "*" and a in (_ZERO, _ONE):
            return _ZERO if a == _ZERO else b
        if operation == "/" and (a == _ZERO or b == _ONE):
            return a
        key = (operation, a, b)
        if key not in self.known:
            x, y = self.values[a], self.values[b]
            result = x + y if operation == "+" else x - y if operation == "-" else x * y if operation == "*" else x / y
            self.values.append(result)
            self.made.append(key)
            self.needs.append(self.needs[a] | self.needs[b])
            self.known[key] = len(self.values) - 1
        return self.known[key]

    def instructions(self, wanted: Iterable[int], done: set[int]) -> tuple[Instruction, ...]:
        """What computes the wanted registers, without those that are done; they are done then."""
        found: list[Instruction] = []
        stack = [(register, False) for register in wanted]
        while stack:
            register, ready = stack.pop()
            made = self.made[register]
            if register in done or made is None:
                continue
            operation, a, b = made
            if ready:
                found.append((operation, register, a, b))
                done.add(register)
            else:
                stack += [(register, True), (a, False), (b, False)]
        return tuple(found)

    def solve(self, matrix: list[list[int]], right: list[list[int]]) -> list[list[int]]:
        """matrix^-1 right by elimination, the largest pivot at the sample.

        Errors: ZeroDivisionError where the matrix is singular at the sample.
        """
        n = len(matrix)
        rows = [[*m, *r] for m, r in zip(matrix, right, strict=True)]
        for k in range(n):
            best = max(range(k, n), key=lambda i: abs(self.values[rows[i][k]]))
            rows[k], rows[best] = rows[best], rows[k]
            pivot = rows[k][k]
            if pivot == _ZERO or self.values[pivot] == 0:
                raise ZeroDivisionError
            rows[k][k + 1 :] = [self.apply("/", x, pivot) for x in rows[k][k + 1 :]]
            for i in range(n):
                factor = rows[i][k]
                if i != k and factor != _ZERO:
                    for c in range(k + 1, len(rows[i])):
                        rows[i][c] = self.apply("-", rows[i][c], self.apply("*", factor, rows[k][c]))
        return [row[n:] for row in rows]


class _Compiler:
    """Builds the tape of one equation."""

    def __init__(
        self, table: DysonTable, support: frozenset[tuple[int, int, int]], coefficients: list[complex], g: list[complex]
    ) -> None:
        self.table, self.support, self.sample = table, support, g
        self.tape = _Tape()
        self.coefficient = [self.tape.leaf(c) for c in coefficients]
        atoms = [1 + max((t for d, t, _ in table.weights if d == dim), default=0) for dim in range(len(table.sizes))]
        self.atoms = atoms
        self.weight = {(d, t): self.coefficient[e] for d, t, e in table.weights}
        self.constants: dict[tuple[int, int, int, int], int] = {}
        for d, t, a, b, e in table.constants:
            place = d, t, a, b
            self.constants[place] = self.tape.apply("+", self.constants.get(place, _ZERO), self.coefficient[e])
        self.energy: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        self.parts: list[list[tuple[int, int, int, int]]] = [[] for _ in table.where]
        for k, d, a, b, e in table.energy:
            self.energy.setdefault((d, a, b), []).append((k, self.coefficient[e]))
            self.parts[k].append((d, a, b, self.coefficient[e]))
        self.blocks = [self._blocks(d) for d in range(len(table.sizes))]
        self.value: dict[int, int] = {}  # the register of every unknown that has one
        self.found: dict[_Place, int] = {}
        self.diagonal: dict[tuple[int, int, int], dict[tuple[int, int], int]] = {}

    def _blocks(self, d: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """By column its block: (columns, rows) of a block-triangular form of L_0 - S."""
        n = self.table.sizes[d]
        cells: dict[int, set[int]] = {b: set() for b in range(n)}
        for dim, _, a, b in self.constants:
            if dim == d:
                cells[b].add(a)
        for dim, a, b in self.energy:
            if dim == d:
                cells[b].add(a)
        owner: dict[int, int] = {}  # by row its column

        def assign(b: int, seen: set[int]) -> bool:
            for a in sorted(cells[b] - seen):
                seen.add(a)
                if a not in owner or assign(owner[a], seen):
                    owner[a] = b
                    return True
            return False

        for b in range(n):
            assign(b, set())
        row_of = {b: a for a, b in owner.items()}
        leads: dict[int, set[int]] = {owner[a]: set() for a in owner}
        for b, rows in cells.items():
            for a in rows:
                leads[owner[a]].add(b)
        result: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())] * n
        for members in classes(list(leads), {k: set(v) for k, v in leads.items()}):
            columns = tuple(sorted(members))
            for b in columns:
                result[b] = columns, tuple(row_of[c] for c in columns)
        return result

    # Which unknowns an entry depends on ------------------------------------------------------------------------

    def order(self) -> list[list[int]]:
        """Classes of unknowns, each after those that it needs."""
        known: dict[tuple[int, int, int], frozenset[int]] = {}

        def held(d: int, a: int, b: int) -> frozenset[int]:
            return frozenset(k for k, _ in self.energy.get((d, a, b), ()))

        def entry(d: int, j: int, p: int) -> frozenset[int]:
            place = d, j, p
            if place not in self.support:
                return frozenset()
            if place not in known:
                known[place] = frozenset()
                columns, rows = self.blocks[d][j]
                total: set[int] = set()
                for i in rows:
                    for q in range(self.table.sizes[d]):
                        if q in columns:
                            total |= held(d, i, q)
                        elif (d, q, p) in self.support and self._filled(d, i, q):
                            total |= held(d, i, q) | entry(d, q, p)
                known[place] = frozenset(total)
            return known[place]

        edges = {k: set(entry(d, j, p)) for k, (d, j, p) in enumerate(self.table.where)}
        return [sorted(members) for members in classes(list(edges), edges)]

    def _filled(self, d: int, a: int, b: int) -> bool:
        return (d, a, b) in self.energy or any((d, t, a, b) in self.constants for t in range(self.atoms[d]))

    # Entries of the inverse as registers -----------------------------------------------------------------------

    def cell(self, d: int, t: int, a: int, b: int) -> int:
        """An entry of L_0 - S."""
        total = self.constants.get((d, t, a, b), _ZERO)
        for k, c in self.energy.get((d, a, b), ()):
            total = self.tape.apply("-", total, self.tape.apply("*", c, self.value[k]))
        return total

    def inverse(self, d: int, t: int, j: int, p: int) -> int:
        """The entry of column j and row p of (L_0 - S)^-1."""
        place = d, t, j, p
        if (d, j, p) not in self.support:
            return _ZERO
        if place not in self.found:
            columns, rows = self.blocks[d][j]
            total = self.block(d, t, j, p) if p in rows else _ZERO
            for i in rows:
                inner = _ZERO
                for q in range(self.table.sizes[d]):
                    if q not in columns and (d, q, p) in self.support and self._filled(d, i, q):
                        product = self.tape.apply("*", self.cell(d, t, i, q), self.inverse(d, t, q, p))
                        inner = self.tape.apply("+", inner, product)
                if inner != _ZERO:
                    total = self.tape.apply("-", total, self.tape.apply("*", self.block(d, t, j, i), inner))
            self.found[place] = total
        return self.found[place]

    def block(self, d: int, t: int, j: int, i: int) -> int:
        """An entry of the inverse of a diagonal block."""
        columns, rows = self.blocks[d][j]
        place = d, t, columns[0]
        if place not in self.diagonal:
            matrix = [[self.cell(d, t, a, b) for b in columns] for a in rows]
            unit = [[_ONE if a == b else _ZERO for b in range(len(rows))] for a in range(len(rows))]
            solved = self.tape.solve(matrix, unit)
            self.diagonal[place] = {(b, a): solved[x][y] for x, b in enumerate(columns) for y, a in enumerate(rows)}
        return self.diagonal[place][j, i]

    def equations(self, members: list[int]) -> tuple[list[int], list[list[int]]]:
        """The image of a class and the matrix d(g - image)/dg, at the unknowns' present registers."""
        apply = self.tape.apply
        image, slopes = [], []
        for k in members:
            d, j, p = self.table.where[k]
            row = []
            for other in members:
                slope = _ONE if other == k else _ZERO
                for dim, a, b, c in self.parts[other]:
                    if dim != d or (d, j, a) not in self.support or (d, b, p) not in self.support:
                        continue
                    for t in range(self.atoms[d]):
                        product = apply("*", self.inverse(d, t, j, a), self.inverse(d, t, b, p))
                        slope = apply("-", slope, apply("*", apply("*", c, self.weight[d, t]), product))
                row.append(slope)
            image.append(self.image(k))
            slopes.append(row)
        return image, slopes

    def program(self) -> DysonProgram:
        """The whole program."""
        segments: list[Segment] = []
        starts = self._starts()
        done: set[int] = set()
        for members in self.order():
            image, step, leaves, linear = self._class(members)
            if linear:
                continue
            outer = {r for r in self._reached([*image, *step]) if not self.tape.needs[r] & set(leaves)}
            start = tuple(starts[k] for k in members)
            straight = self.tape.instructions([*outer, *start], done)
            body = self.tape.instructions([*image, *step], set(done))
            segments.append(Segment(straight, tuple(leaves), tuple(members), start, body, tuple(image), tuple(step)))
        outputs = self._outputs()
        maps = []
        for size, entries in self.table.classes:
            cells: dict[tuple[int, int], int] = {}
            for row, column, d, t, a, i, b, j, e in entries:
                product = self.tape.apply("*", self.inverse(d, t, a, i), self.inverse(d, t, b, j))
                term = self.tape.apply("*", self.coefficient[e], product)
                cells[row, column] = self.tape.apply("+", cells.get((row, column), _ZERO), term)
            maps.append((size, tuple((row, column, r) for (row, column), r in cells.items())))
        wanted = [*outputs, *(r for _, entries in maps for _, _, r in entries)]
        segments.append(Segment(self.tape.instructions(wanted, done)))
        return DysonProgram(
            len(self.tape.values), tuple(self.coefficient), tuple(segments), tuple(outputs), tuple(maps)
        )

    def _starts(self) -> list[int]:
        """The unknowns without Gaussian matrices: the entries of L_0^-1."""
        self.value = dict.fromkeys(range(len(self.table.where)), _ZERO)
        found = [self.image(k) for k in range(len(self.table.where))]
        self.value, self.found, self.diagonal = {}, {}, {}
        return found

    def image(self, k: int) -> int:
        """The entry of G that an unknown is."""
        d, j, p = self.table.where[k]
        total = _ZERO
        for t in range(self.atoms[d]):
            product = self.tape.apply("*", self.weight[d, t], self.inverse(d, t, j, p))
            total = self.tape.apply("+", total, product)
        return total

    def _reached(self, wanted: Iterable[int]) -> set[int]:
        found: set[int] = set()
        stack = list(wanted)
        while stack:
            register = stack.pop()
            made = self.tape.made[register]
            if register not in found:
                found.add(register)
                stack += [] if made is None else made[1:]
        return found

    def _class(self, members: list[int]) -> tuple[list[int], list[int], list[int], bool]:
        """Image, step and unknowns' registers of a class; or its solution, where the equation is affine."""
        kept = dict(self.found), dict(self.diagonal)
        leaves = [self.tape.leaf(self.sample[k], unknown=True) for k in members]
        self.value.update(zip(members, leaves, strict=True))
        image, slopes = self.equations(members)
        affine = not any(self.tape.needs[s] & set(leaves) for row in slopes for s in row)
        if affine:  # exactly: the image at zero is what is left
            self.found, self.diagonal = kept
            self.value.update(dict.fromkeys(members, _ZERO))
            kept = dict(self.found), dict(self.diagonal)
            image, slopes = self.equations(members)
            solution = self.tape.solve(slopes, [[x] for x in image])
            self.found, self.diagonal = kept
            self.value.update(zip(members, (row[0] for row in solution), strict=True))
            return [], [], [], True
        residual = [[self.tape.apply("-", leaf, x)] for leaf, x in zip(leaves, image, strict=True)]
        step = [row[0] for row in self.tape.solve(slopes, residual)]
        return image, step, leaves, False

    def _outputs(self) -> list[int]:
        count = 1 + max((o[0] for o in self.table.outputs), default=-1)
        found = [_ZERO] * count
        for k, d, t, a, b, e in self.table.outputs:
            term = self.coefficient[e]
            if a >= 0:
                term = self.tape.apply("*", term, self.inverse(d, t, a, b))
            found[k] = self.tape.apply("+", found[k], term)
        return found


def dyson_program(
    table: DysonTable, support: frozenset[tuple[int, int, int]], coefficients: list[complex], unknowns: list[complex]
) -> DysonProgram:
    """The program of an equation; pivots are chosen at one solution, given with its coefficients.

    `support`: the entries (dimension, column, row) of G that do not vanish.
    Errors: ZeroDivisionError where a block is singular at that solution.
    """
    return _Compiler(table, support, coefficients, unknowns).program()
