"""A kernel tabulated in the two scales and the angle: Chebyshev in log s, log t and theta, for many entries.

Valid where kinks are at zero or absent: E[f(s z1) g(t z2)] is then smooth in log s, log t and theta = arccos r, ends
included, and the panels in theta are halved until each series has converged. Where there are few entries, or kinks
elsewhere, every entry is integrated by itself (numerics.gaussian.plane).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bulkedge.numerics.gaussian import plane
from bulkedge.numerics.gaussian.plane import FINER, Resolved
from bulkedge.theory.numbers.errors import ConvergenceError

Array = npt.NDArray[Any]

FEW = 300  # entries, below which a table does not pay
MOST = 30_000  # entries without a table: some minutes
_ANGLES = 24
_SCALES = (12, 20, 32, 48, 72)
_MAX_PANELS = 200
_SAMPLE = 6
# What quadrature is known to; a table cannot be better.
FLOOR = 2e-13


def _nodes(n: int) -> Array:
    """Chebyshev's points of the first kind in [-1, 1]."""
    points: Array = np.cos((np.arange(n) + 0.5) * np.pi / n)
    return points


def _transform(n: int) -> Array:
    """Values at the points to coefficients of T_k."""
    matrix: Array = 2 / n * np.cos(np.outer(np.arange(n), (np.arange(n) + 0.5) * np.pi / n))
    matrix[0] /= 2
    return matrix


def _polynomials(x: Array, n: int) -> Array:
    """T_0..T_(n-1) at the points, one row each."""
    # By cosines, not by the recurrence: all degrees at once, and no growth of rounding.
    angle = np.arccos(np.clip(x, -1, 1))
    table: Array = np.cos(angle[:, None] * np.arange(n))
    return table


@dataclass(frozen=True)
class Axis:
    """log s over an interval."""

    low: float
    high: float
    count: int

    def scales(self) -> Array:
        """The scales at the points."""
        return np.exp(self.low + (self.high - self.low) * (_nodes(self.count) + 1) / 2)

    def basis(self, scales: Array) -> Array:
        """The polynomials at scales."""
        width = self.high - self.low
        x = (2 * np.log(scales) - self.low - self.high) / width if width else np.zeros(len(scales))
        return _polynomials(x, self.count)


@dataclass(frozen=True)
class Table:
    """Coefficients on panels of the angle, of the kernel over the norms of f and g."""

    first: Axis
    second: Axis
    edges: Array
    coefficients: tuple[Array, ...]

    def __call__(self, s: Array, t: Array, rows: Array, columns: Array, theta: Array) -> Array:
        """The normalised kernel at s[rows], t[columns], theta (flat arrays, rows ascending)."""
        A, B = self.first.basis(s), self.second.basis(t)
        found = np.empty(len(theta))
        panel = np.clip(np.searchsorted(self.edges, theta) - 1, 0, len(self.coefficients) - 1)
        # Entries of one row and panel share the contraction over s: grouped, it is done once for all of them.
        order = np.lexsort((rows, panel))
        key = panel[order] * len(s) + rows[order]
        starts = np.flatnonzero(np.concatenate([[True], np.diff(key) > 0]))
        for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
            here = order[start:stop]
            p, i = panel[here[0]], rows[here[0]]
            low, high = self.edges[p], self.edges[p + 1]
            T = _polynomials((2 * theta[here] - low - high) / (high - low), _ANGLES)
            M = np.tensordot(A[i], self.coefficients[p], axes=1)
            found[here] = np.einsum("ek,ek->e", B[columns[here]] @ M, T)
        return found


def build(first: Resolved, second: Resolved, s: Array, t: Array, low: float, high: float, tolerance: float) -> Table:
    """The table for scales s, t and angles from low to high.

    Accuracy: the last coefficients of every series are below `tolerance` of the norms.
    Errors: ConvergenceError where too many panels would be needed.
    """
    # Below it the coefficients are rounding and never fall further.
    tolerance = max(tolerance, FLOOR)
    ends = [(float(np.log(v.min())), float(np.log(v.max()))) for v in (s, t)]
    counts = [1 if a == b else 0 for a, b in ends]
    axes: list[Axis] = []
    for which in (0, 1):
        # Three angles decide how many scales are needed; the panels below test every series again.
        for count in (1,) if counts[which] else _SCALES:
            trial = Axis(*ends[which], count)
            pair = [trial, Axis(*ends[1], 1)] if which == 0 else [Axis(*ends[0], 1), trial]
            samples = [_values(first, second, pair[0], pair[1], x) for x in (low, (low + high) / 2, high)]
            series = [np.tensordot(_transform(count), v, axes=(1, which)) for v in samples]
            if count == 1 or max(float(np.max(np.abs(c[-2:]))) for c in series) <= tolerance:
                break
        else:
            raise ConvergenceError(f"the kernel of {first.f.name} varies too fast with the norms for a table")
        axes.append(trial)
    edges, found = [low], list[Array]()
    todo = [(low, max(high, low + 1e-12))]
    while todo:
        a, b = todo.pop()
        theta = a + (b - a) * (_nodes(_ANGLES) + 1) / 2
        values = np.stack([_values(first, second, axes[0], axes[1], x) for x in theta], axis=2)
        # A function is resolved where the last coefficients of its Chebyshev series have died out; else the panel is
        # halved.
        series = np.einsum("ia,jb,kc,abc->ijk", *(_transform(n) for n in values.shape), values, optimize=True)
        if np.max(np.abs(series[:, :, -2:])) > tolerance:
            middle = (a + b) / 2
            todo += [(middle, b), (a, middle)]
            if len(todo) + len(found) > _MAX_PANELS or b - a < 1e-7:
                raise ConvergenceError(f"the kernel of {first.f.name} varies too fast with the angle for a table")
            continue
        found.append(series)
        edges.append(b)
    return Table(axes[0], axes[1], np.array(edges), tuple(found))


def _values(first: Resolved, second: Resolved, rows: Axis, columns: Axis, theta: float) -> Array:
    s, t = rows.scales(), columns.scales()
    # Next to pi the cosine rounds to -1; the smallest angle is that of two floats.
    r = float(np.clip(np.cos(theta), -1 + 2**-52, 1 - 2**-53))
    values: Array = plane.expectation(first, second, s, t, r) / np.outer(norms(first, s), norms(second, t))
    return values


def norms(part: Resolved, scales: Array) -> Array:
    """sqrt(E f(s z)^2), with the deltas' weights added: the size of f in a kernel."""
    unique, where = np.unique(scales, return_inverse=True)
    found = np.sqrt(plane.second_moments(part, unique))
    for delta in part.f.deltas:
        at = float(delta.at) / unique
        found += abs(float(delta.weight)) * np.exp(-at * at / 2) / unique ** (delta.order + 1)
    return found[where]


class Quadrature:
    """E[f(s z1) g(t z2)] at entries of a matrix: a table if they are many, one integral each if they are few."""

    def __init__(self, first: Resolved, second: Resolved, s: Array, t: Array, tolerance: float) -> None:
        self.first, self.second, self.s, self.t, self.tolerance = first, second, s, t, tolerance
        self.table: Table | None = None
        self.spread: tuple[float, float] | None = None
        self.norms = norms(first, s), norms(second, t)
        self.done = 0

    def prepare(self, count: int, low: float, high: float) -> None:
        """Make a table where `count` entries with angles from low to high, ends excluded, are to come."""
        smooth = self.first.kinks_at_zero and self.second.kinks_at_zero
        if count <= FEW or not smooth or (self.first.f.deltas and self.second.f.deltas):
            return
        try:
            self.table = build(self.first, self.second, self.s, self.t, low, high, self.tolerance)
        except ConvergenceError:
            if count > MOST:
                raise
        self.spread = (low, high)

    def __call__(self, rows: Array, columns: Array, r: Array) -> Array:
        """The values at flat arrays of indices and correlations."""
        found = np.empty(len(r))
        ends = np.abs(r) == 1
        for k in np.flatnonzero(ends):
            found[k] = self._parallel(float(self.s[rows[k]]), float(self.t[columns[k]]), int(r[k]))
        inside = np.flatnonzero(~ends)
        if not len(inside):
            return found
        rows, columns, r = rows[inside], columns[inside], r[inside]
        if self.table is None:
            self.done += len(inside)
            if self.done > MOST:
                raise ConvergenceError(
                    f"more than {MOST} entries of the kernel of {self.first.f.name} would need an integral each; "
                    "give fewer rows, or move its kinks to zero"
                )
            found[inside] = [self._one(i, j, x) for i, j, x in zip(rows, columns, r, strict=True)]
            return found
        theta = np.arctan2(np.sqrt((1 - r) * (1 + r)), r)
        values = self.table(self.s, self.t, rows, columns, theta) * self.norms[0][rows] * self.norms[1][columns]
        self._tested(rows, columns, r, values)
        found[inside] = values
        return found

    def _parallel(self, s: float, t: float, sign: int) -> float:
        if self.first.f.deltas or self.second.f.deltas:
            value = plane.parallel_with_deltas(self.first, self.second, s, t, sign)
        else:
            value = plane.parallel(self.first, self.second, s, t, sign)
        return value

    def _one(self, i: int, j: int, r: float, nodes: int = plane.NODES) -> float:
        s, t = self.s[i : i + 1], self.t[j : j + 1]
        return float(plane.expectation(self.first, self.second, s, t, float(r), nodes)[0, 0])

    def _tested(self, rows: Array, columns: Array, r: Array, values: Array) -> None:
        """Entries between the table's points against their own integrals: the extremes, and some on a grid."""
        chosen = {int(k) for k in np.linspace(0, len(r) - 1, _SAMPLE)} | {int(np.argmax(r)), int(np.argmin(r))}
        for k in chosen:
            size = self.norms[0][rows[k]] * self.norms[1][columns[k]]
            gap = abs(values[k] - self._one(rows[k], columns[k], r[k], FINER))
            if not gap <= 8 * max(self.tolerance, FLOOR) * size:
                raise ConvergenceError(f"the table of the kernel of {self.first.f.name} is off by {gap:.1g} at a point")
