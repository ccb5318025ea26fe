"""The right solution of a Dyson equation, enclosed: Newton's method in balls, and a test that singles out the branch.

Existence and error: the interval Newton (Krawczyk) operator maps a ball around the approximate root into itself, so
that there is exactly one root in it. Branch: let T be the positive map

    T(Y) = G E[X Y X*] G*,   X the Gaussian part of the pencil.

Where L is invertible in the limit, Y = E L^-1 L^-* solves Y = G G* + T(Y), so the spectral radius of T is below one.
Conversely two solutions G, G' with radii below one agree, as G - G' = G S(G - G') G' and the radius of K -> G S(K) G'
is at most the geometric mean of the two (Cauchy-Schwarz). So a root with radius below one is the limit, however it was
found; where there is none, the inverse does not exist in the limit (a real z inside the spectrum) and nothing is
returned.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import acb, acb_mat, arb, fmpq

from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.equivalents.dyson import DysonSystem, Pair, classes
from bulkedge.theory.equivalents.realisation import Coefficient
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

_START_BITS = 80
_MARGIN = 1e-9  # of the spectral radius below one
_DAMPED = 60
_STEPS = 400
_PRECISIONS = 4


@dataclass(frozen=True)
class Root:
    """The solution at one point: balls for the entries of G by dimension and atom, and T's spectral radius."""

    system: DysonSystem
    values: tuple[Any, ...]  # of the field's generators
    unknowns: tuple[Any, ...]  # balls, by system.pairs
    radius: float
    bits: int

    def __post_init__(self) -> None:
        assert self.radius < 1

    def solution(self) -> tuple[Any, ...]:
        """The functionals' values as balls, in the question's order."""
        with ball.precision(self.bits):
            numbers = _Numbers(self.system, self.values, self.bits)
            return numbers.outputs(list(self.unknowns))

    def entries(self) -> dict[Pair, Any]:
        """All entries of G outside dimension one (means over the spectral law) as balls."""
        with ball.precision(self.bits):
            numbers = _Numbers(self.system, self.values, self.bits)
            return numbers.green(numbers.resolvents(list(self.unknowns)))

    def all_entries(self) -> dict[tuple[str, int, int, int], Any]:
        """All entries of G by (dimension, atom, column j, row p), dimension one included."""
        found = {}
        with ball.precision(self.bits):
            numbers = _Numbers(self.system, self.values, self.bits)
            g = list(self.unknowns)
            inverses = numbers.resolvents(g)
            one = numbers.one(g)
            if one is not None:
                inverses[mx.ONE] = [one.inv()]
            for dim, matrices in inverses.items():
                rows, cols = numbers.place[dim]
                for t, m in enumerate(matrices):
                    for j, a in cols.items():
                        for p, b in rows.items():
                            if (j, p) in self.system.support:
                                found[dim, t, j, p] = m[a, b]
        return found

    def derivative(self, symbol: sp.Symbol) -> tuple[Any, ...]:
        """d(functionals)/d(symbol) by implicit differentiation of the Dyson equation, as balls."""
        with ball.precision(self.bits):
            numbers = _Numbers(self.system, self.values, self.bits)
            return numbers.derivative(list(self.unknowns), symbol)

    def one_block(self) -> tuple[Any, Any]:
        """The dimension-one part of L_0 - S and its determinant (1 where there is none)."""
        with ball.precision(self.bits):
            numbers = _Numbers(self.system, self.values, self.bits)
            matrix = numbers.one(list(self.unknowns))
            return matrix, (acb(1) if matrix is None else matrix.det())


def find_root(system: DysonSystem, values: Mapping[sp.Symbol, Any], bits: int, near: Root | None = None) -> Root:
    """The solution at values of the free symbols (rationals, arb or acb), enclosed with so many working bits.

    `near` is a solution at other values from which to start; whatever the start, the branch test decides.

    Errors: ConvergenceError where no solution passes the branch test.
    """
    with ball.precision(_START_BITS):
        point = _point(system, values)
        numbers = _Numbers(system, point, _START_BITS)
        # The search needs no rigour and few bits; only its result is enclosed, at the working precision.
        start, radius = _search(numbers, None if near is None else _mid(near.unknowns))
    for attempt in range(_PRECISIONS):  # where the equation is badly conditioned a ball needs more bits to be mapped
        try:
            with ball.precision(bits << attempt):
                numbers = _Numbers(system, _point(system, values), bits << attempt)
                enclosed = _enclose(numbers, start)
        except ConvergenceError:
            if attempt == _PRECISIONS - 1:
                raise
        else:
            return Root(system, tuple(numbers.point), tuple(enclosed), radius, bits << attempt)
    raise AssertionError


def _point(system: DysonSystem, values: Mapping[sp.Symbol, Any]) -> list[Any]:
    by_name = {s.name: v for s, v in values.items()}
    found = []
    for symbol in system.pencil.field.symbols:
        v = by_name.get(symbol.name)
        if v is None:
            if symbol in system.symbols:
                raise InputError("set", f"{symbol.name} has no value", f"set {symbol.name}")
            v = 0  # a deterministic matrix: its atoms bring the values
        found.append(acb(v) if isinstance(v, acb | arb) else acb(ball.rational(v)))
    return found


def evaluate(c: Coefficient, point: Sequence[Any]) -> Any:
    """A rational function at a point, in ball arithmetic."""
    # A ball that holds zero decides nothing about the quotient; more bits may, so that this is no input error.
    below = _polynomial(c.denom, point)
    if below.contains(0):
        raise ConvergenceError("a coefficient divides by zero at these values")
    return _polynomial(c.numer, point) / below


def _polynomial(p: Any, point: Sequence[Any]) -> Any:
    total = acb(0)
    for monomial, c in p.terms():
        term = acb(arb(fmpq(int(c.numerator), int(c.denominator))))
        for value, power in zip(point, monomial, strict=True):
            if power:
                term *= value**power
        total += term
    return total


class _Numbers:
    """The Dyson equation at one point, at the working precision `bits` (which the caller has set)."""

    def __init__(self, system: DysonSystem, point: Sequence[Any], bits: int) -> None:
        self.system, self.point, self.bits = system, list(point), bits
        self.place = {
            dim: ({i: a for a, i in enumerate(system.rows[dim])}, {j: a for a, j in enumerate(system.cols[dim])})
            for dim in system.rows
        }
        self.atoms: dict[str, list[tuple[Any, list[Any]]]] = {}
        for dim, atoms in system.atoms.items():
            self.atoms[dim] = []
            for atom in atoms:
                at = list(self.point)
                for k, value in atom.values:
                    at[k] = evaluate(value, self.point)
                self.atoms[dim].append((evaluate(atom.weight, self.point), at))
        self.constant: dict[str, list[Any]] = {dim: [] for dim in system.rows}
        # Constants by dimension: an atom of a deterministic matrix changes the values, not the pattern.
        by_dim: dict[str, list[tuple[int, int, Coefficient]]] = {dim: [] for dim in system.rows}
        for (i, q), c in system.constants.items():
            dim = system.pencil.rows[i]
            by_dim[dim].append((self.place[dim][0][i], self.place[dim][1][q], c))
        for dim in system.rows:
            n = len(system.rows[dim])
            for _, at in self.atoms[dim]:
                matrix = acb_mat(n, n)
                for a, b, c in by_dim[dim]:
                    matrix[a, b] = evaluate(c, at)
                self.constant[dim].append(matrix)
        self.energy: list[list[tuple[str, int, int, Any]]] = []
        for pair in system.pairs:
            parts = []
            for i, q, c in system.self_energy[pair]:
                dim = system.pencil.rows[i]
                parts.append((dim, self.place[dim][0][i], self.place[dim][1][q], evaluate(c, self.point)))
            self.energy.append(parts)
        self.size = {dim: evaluate(c, self.point) for dim, c in system.sizes.items()}
        self.variance = {name: evaluate(c, self.point) for name, c in system.variances.items()}
        self.bulk = [dim for dim in system.rows if dim != mx.ONE]
        self.where = []
        for j, p in system.pairs:
            dim = system.pencil.cols[j]
            self.where.append((dim, self.place[dim][1][j], self.place[dim][0][p]))

    def matrices(self, g: list[Any], scale: Any, dims: Sequence[str]) -> dict[str, list[Any]]:
        """L_0 - scale S(g), by dimension and atom."""
        lists = {dim: [m * 1 for m in self.constant[dim]] for dim in dims}
        for value, parts in zip(g, self.energy, strict=True):
            for dim, a, b, c in parts:
                if dim in lists:
                    for matrix in lists[dim]:
                        matrix[a, b] -= scale * c * value
        return lists

    def resolvents(self, g: list[Any], scale: Any = 1) -> dict[str, list[Any]]:
        """(L_0 - scale S(g))^-1, by dimension and atom.

        Errors: ConvergenceError where a matrix is singular.
        """
        try:
            return {dim: [m.inv() for m in ms] for dim, ms in self.matrices(g, scale, self.bulk).items()}
        except ZeroDivisionError:
            raise ConvergenceError("L_0 - S is singular") from None

    def image(self, inverses: dict[str, list[Any]]) -> list[Any]:
        """The entries of G that the inverses give."""
        return [
            sum((w * m[a, b] for (w, _), m in zip(self.atoms[dim], inverses[dim], strict=True)), acb(0))
            for dim, a, b in self.where
        ]

    def jacobian(self, inverses: dict[str, list[Any]], scale: Any = 1) -> Any:
        """d (g - image)/dg."""
        n = len(self.where)
        result = acb_mat(n, n)
        for row in range(n):
            result[row, row] = acb(1)
        for k, parts in enumerate(self.energy):
            for dim, a, b, c in parts:
                if dim == mx.ONE:
                    continue
                for (w, _), m in zip(self.atoms[dim], inverses[dim], strict=True):
                    factor = scale * c * w
                    for row, (other, j, p) in enumerate(self.where):
                        if other == dim and not (m[j, a].is_zero() or m[b, p].is_zero()):
                            result[row, k] -= factor * m[j, a] * m[b, p]
        return result

    def green(self, inverses: dict[str, list[Any]]) -> dict[Pair, Any]:
        """All entries of G outside dimension one."""
        found = {}
        for dim in self.bulk:
            rows, cols = self.place[dim]
            for j, a in cols.items():
                for p, b in rows.items():
                    if (j, p) in self.system.support:
                        pairs = zip(self.atoms[dim], inverses[dim], strict=True)
                        found[j, p] = sum((w * m[a, b] for (w, _), m in pairs), acb(0))
        return found

    def one(self, g: list[Any]) -> Any:
        """L_0 - S over dimension one, or None."""
        return self.matrices(g, 1, [mx.ONE])[mx.ONE][0] if mx.ONE in self.system.rows else None

    def outputs(self, g: list[Any]) -> tuple[Any, ...]:
        """The functionals' values."""
        inverses = self.resolvents(g)
        one = self.one(g)
        if one is not None and any(o.dimension == mx.ONE for o in self.system.pencil.outputs):
            try:
                inverses[mx.ONE] = [one.inv()]
            except ZeroDivisionError:
                raise ConvergenceError("the dimension-one part is singular: an outlier lies here") from None
        found = []
        for output in self.system.pencil.outputs:
            dim = output.dimension
            total = acb(0)
            for (w, at), m in zip(self.atoms[dim], inverses.get(dim, [None] * len(self.atoms[dim])), strict=True):
                total += w * evaluate(output.direct, at)
                for j, u in output.u.items():
                    for i, v in output.v.items():
                        entry = m[self.place[dim][1][j], self.place[dim][0][i]]
                        total += w * evaluate(u, at) * entry * evaluate(v, at)
            found.append(total)
        return tuple(found)

    def derivative(self, g: list[Any], symbol: sp.Symbol) -> tuple[Any, ...]:
        """d(outputs)/d(symbol): (1 - J) dg = the image's own derivative, then the outputs'."""
        system = self.system
        k = [s.name for s in system.pencil.field.symbols].index(symbol.name)
        inverses = self.resolvents(g)
        one = self.one(g)
        if one is not None:
            inverses[mx.ONE] = [one.inv()]
        own: dict[str, list[Any]] = {}  # the matrices' derivatives at fixed g
        for dim, rows in system.rows.items():
            own[dim] = []
            for atom, (_, at) in zip(system.atoms[dim], self.atoms[dim], strict=True):
                matrix = acb_mat(len(rows), len(rows))
                for (i, q), c in system.constants.items():
                    if system.pencil.rows[i] == dim:
                        matrix[self.place[dim][0][i], self.place[dim][1][q]] += self.total(c, atom, at, k)
                own[dim].append(matrix)
        for value, pair in zip(g, system.pairs, strict=True):
            for i, q, c in system.self_energy[pair]:
                dim = system.pencil.rows[i]
                change = self.partial(c, self.point, k) * value
                for matrix in own[dim]:
                    matrix[self.place[dim][0][i], self.place[dim][1][q]] -= change
        weights = {dim: [self.partial(a.weight, self.point, k) for a in system.atoms[dim]] for dim in system.atoms}
        moved = {dim: [-(m * d * m) for m, d in zip(ms, own[dim], strict=True)] for dim, ms in inverses.items()}
        right = [
            sum(
                (
                    w * d[a, b] + dw * m[a, b]
                    for (w, _), dw, d, m in zip(self.atoms[dim], weights[dim], moved[dim], inverses[dim], strict=True)
                ),
                acb(0),
            )
            for dim, a, b in self.where
        ]
        dg = self.jacobian(inverses).solve(acb_mat(len(g), 1, right)).entries() if g else []
        for value, parts in zip(dg, self.energy, strict=True):
            for dim, a, b, c in parts:
                for matrix in own[dim]:
                    matrix[a, b] -= c * value
        found = []
        for output in system.pencil.outputs:
            dim = output.dimension
            total = acb(0)
            rows_at, cols_at = self.place.get(dim, ({}, {}))
            none = [None] * len(self.atoms[dim])
            for atom, (w, at), dw, m, d in zip(
                system.atoms[dim],
                self.atoms[dim],
                weights[dim],
                inverses.get(dim, none),
                own.get(dim, none),
                strict=True,
            ):
                moves: Any = None if m is None else -(m * d * m)
                total += dw * evaluate(output.direct, at) + w * self.total(output.direct, atom, at, k)
                for j, u in output.u.items():
                    for i, v in output.v.items():
                        a, b = cols_at[j], rows_at[i]
                        both = u * v
                        inner = self.total(both, atom, at, k) * m[a, b] + evaluate(both, at) * moves[a, b]
                        total += dw * evaluate(both, at) * m[a, b] + w * inner
            found.append(total)
        return tuple(found)

    def partial(self, c: Coefficient, at: Sequence[Any], k: int) -> Any:
        """The derivative of a coefficient in one generator, at a point."""
        return evaluate(c.diff(self.system.pencil.field.gens[k]), at)

    def total(self, c: Coefficient, atom: Any, at: Sequence[Any], k: int) -> Any:
        """The derivative along a symbol, deterministic matrices moving with it."""
        result = self.partial(c, at, k)
        for place, value in atom.values:
            result += self.partial(c, at, place) * self.partial(value, self.point, k)
        return result

    def spectral_radius(self, inverses: dict[str, list[Any]]) -> float:
        """The spectral radius of T: Y -> G E[X Y X*] G*, over its irreducible classes of blocks."""
        system = self.system
        entries: dict[int, list[tuple[int, tuple[str, bool], Any]]] = {}
        for i, j, key, c in system.pencil.gaussian_entries():
            if system.pencil.cols[j] != mx.ONE and system.pencil.rows[i] != mx.ONE:
                entries.setdefault(j, []).append((i, key, evaluate(c, self.point)))
        edges: dict[int, set[int]] = {}
        for j, parts in entries.items():
            for i, _, _ in parts:
                dim = system.pencil.rows[i]
                edges.setdefault(j, set()).update(k for k in self.place[dim][1] if (k, i) in system.support)
        worst = 0.0
        for members in classes(list(entries), edges):
            if len(members) == 1 and members[0] not in edges.get(members[0], ()):
                continue
            worst = max(worst, self._class_radius(members, entries, inverses))
        return worst

    def _class_radius(self, members: list[int], entries: dict[int, Any], inverses: dict[str, list[Any]]) -> float:
        system, cols = self.system, self.system.pencil.cols
        pairs = [(j, k) for j in members for k in members if cols[j] == cols[k]]
        index = {pair: n for n, pair in enumerate(pairs)}
        matrix = acb_mat(len(pairs), len(pairs))
        for (j, jj), col in index.items():
            size = self.size[cols[j]]
            for i, key, c in entries.get(j, ()):
                for ii, other, cc in entries.get(jj, ()):
                    if other != key:
                        continue
                    s = self.variance[key[0]]
                    factor = c * _conjugate(cc) * s * size
                    dim = system.pencil.rows[i]
                    rows, places = self.place[dim]
                    for k in members:
                        for kk in members:
                            if (k, kk) in index and k in places and kk in places:
                                for (w, _), m in zip(self.atoms[dim], inverses[dim], strict=True):
                                    left, right = m[places[k], rows[i]], m[places[kk], rows[ii]]
                                    matrix[index[k, kk], col] += w * factor * left * _conjugate(right)
        values = _balanced(matrix.mid()).eig(algorithm="approx")
        return max((abs(complex(v)) for v in values), default=0.0)


def _balanced(matrix: Any) -> Any:
    """A similar matrix, scaled by powers of two so that its rows and columns are of one size (Osborne).

    With a small ridge its entries differ by twenty orders and more, which the eigenvalues would lose.
    """
    n = matrix.nrows()
    size = [[float(abs(matrix[a, b]).mid()) for b in range(n)] for a in range(n)]
    power = [0] * n
    for _ in range(8):
        moved = False
        for k in range(n):
            row = sum(size[k][b] for b in range(n) if b != k)
            column = sum(size[a][k] for a in range(n) if a != k)
            if not (0 < row < math.inf and 0 < column < math.inf):
                continue
            shift = round(math.log2(row / column) / 2)
            if shift:
                moved, power[k] = True, power[k] + shift
                for b in range(n):
                    if b != k:
                        size[k][b] = math.ldexp(size[k][b], -shift)
                        size[b][k] = math.ldexp(size[b][k], shift)
        if not moved:
            break
    if not any(power):
        return matrix
    return acb_mat(n, n, [matrix[a, b] * arb(2) ** (power[b] - power[a]) for a in range(n) for b in range(n)])


def _conjugate(x: Any) -> Any:
    return acb(x.real, -x.imag)


# Finding it ----------------------------------------------------------------------------------------------------------


def _search(numbers: _Numbers, near: list[Any] | None) -> tuple[list[Any], float]:
    """A root with spectral radius below one: damped iteration, then continuation in the Gaussian part's scale."""
    routes: list[Callable[[], list[Any]]] = [] if near is None else [lambda: _newton(numbers, near, 1)]
    routes.append(lambda: _damped(numbers))
    routes += [functools.partial(_continued, numbers, turn) for turn in (0.0, 1.0, -1.0)]
    closest = float("inf")
    for route in routes:
        try:
            g = route()
            radius = numbers.spectral_radius(numbers.resolvents(g))
        except (ConvergenceError, ZeroDivisionError, ValueError):
            continue
        if radius < 1 - _MARGIN:
            return g, radius
        closest = min(closest, radius)
    tail = "" if closest == float("inf") else f" (spectral radius {closest:.6g})"
    raise ConvergenceError(
        f"no solution passes the branch test{tail}: at these values the inverse does not exist in the limit, or they "
        "lie on an edge of the spectrum"
    )


def _mid(g: Sequence[Any]) -> list[Any]:
    return [x.mid() for x in g]


def _damped(numbers: _Numbers) -> list[Any]:
    g = _mid(numbers.image(numbers.resolvents([acb(0)] * len(numbers.where), 0)))
    for _ in range(_DAMPED):
        new = numbers.image(numbers.resolvents(g))
        g = _mid([(x + y) / 2 for x, y in zip(g, new, strict=True)])
    return _newton(numbers, g, 1)


def _newton(numbers: _Numbers, g: list[Any], scale: Any, steps: int = 30) -> list[Any]:
    """Newton's method until it stops improving.

    Errors: ConvergenceError where it does not converge.
    """
    if not g:
        return g
    last = None
    for _ in range(_DAMPED):
        inverses = numbers.resolvents(g, scale)
        image = numbers.image(inverses)
        residual = acb_mat(len(g), 1, [x - y for x, y in zip(g, image, strict=True)])
        try:
            step = numbers.jacobian(inverses, scale).mid().solve(residual.mid(), algorithm="approx")
        except ZeroDivisionError:
            raise ConvergenceError("the linearised equation is singular") from None
        size = max(float(abs(x).mid()) for x in step.entries())
        level = max(1e-30, max(float(abs(x).mid()) for x in g))
        if not size < 1e30 * level:
            raise ConvergenceError("Newton's method diverges")
        g = _mid([x - y for x, y in zip(g, step.entries(), strict=True)])
        if size < 1e-17 * level:
            return g
        if last is not None and size > 0.9 * last and size < 1e-12 * level:
            return g
        last = size
    raise ConvergenceError("Newton's method does not converge")


def _continued(numbers: _Numbers, turn: float) -> list[Any]:
    """Continue from no Gaussian part to the whole of it, along the real line or an arc beside it."""

    def at(time: float) -> Any:
        return acb(arb(time)) * (acb(0, 1) * arb(turn * (1 - time))).exp()

    g = _mid(numbers.image(numbers.resolvents([acb(0)] * len(numbers.where), 0)))
    time, step, previous = 0.0, 1 / 16, None
    for _ in range(_STEPS):
        if time >= 1:
            return g
        new = min(1.0, time + step)
        guess = g
        if previous is not None:
            old, earlier = previous
            rate = (new - time) / (time - earlier)
            guess = _mid([x + (x - y) * rate for x, y in zip(g, old, strict=True)])
        try:
            found = _newton(numbers, guess, at(new), 8)
            moved = max((float(abs(x - y)) for x, y in zip(found, guess, strict=True)), default=0.0)
            level = max((float(abs(x)) for x in found), default=1.0)
            if moved > 0.1 * level:
                raise ConvergenceError("the step is too long")
        except ConvergenceError:
            step /= 2
            if step < max(1e-7 * time, 1e-30):  # small ridges: the solution turns at a scale of the ridge's order
                raise
            continue
        previous = (g, time)
        g, time, step = found, new, step * 1.5
    raise ConvergenceError("the continuation is too long")


def _enclose(numbers: _Numbers, start: list[Any]) -> list[Any]:
    """Balls that hold exactly one root, by Krawczyk's test.

    Errors: ConvergenceError where the test fails at this precision.
    """
    if not start:
        return []
    n = len(start)
    g = _mid(start)
    for _ in range(40):
        inverses = numbers.resolvents(g)
        residual = acb_mat(n, 1, [x - y for x, y in zip(g, numbers.image(inverses), strict=True)])
        inverse = numbers.jacobian(inverses).mid().inv().mid()
        step = (inverse * residual).entries()
        moved = max(abs(x.mid()) for x in step)
        g = _mid([x - y for x, y in zip(g, step, strict=True)])
        if moved < max(abs(x) for x in g).mid() * arb(2) ** (-numbers.bits * 2 // 3) or moved < arb(2) ** -(
            8 * numbers.bits
        ):
            break
    inverses = numbers.resolvents(g)
    residual = acb_mat(n, 1, [x - y for x, y in zip(g, numbers.image(inverses), strict=True)])
    inverse = numbers.jacobian(inverses).mid().inv().mid()
    step = (inverse * residual).entries()
    reach = max(abs(x).upper() for x in step) * 4 + arb(2) ** (8 - numbers.bits) * max(abs(x).upper() for x in g)
    for _ in range(6):
        offset = [acb(arb(0, reach), arb(0, reach)) for _ in g]
        wide = [x + y for x, y in zip(g, offset, strict=True)]
        try:
            slope = numbers.jacobian(numbers.resolvents(wide))
        except ConvergenceError:
            break
        identity = acb_mat(n, n, [acb(int(a == b)) for a in range(n) for b in range(n)])
        rest = ((identity - inverse * slope) * acb_mat(n, 1, offset)).entries()
        image = [r - s for r, s in zip(rest, step, strict=True)]
        if all(abs(x.real).upper() < reach and abs(x.imag).upper() < reach for x in image):
            found = [x + y for x, y in zip(g, image, strict=True)]
            if all(x.imag == 0 for x in g) and all(x.imag.is_zero() for x in numbers.point):
                # The conjugate is a root of the same real equation in the same ball, so the root is real.
                found = [acb(x.real) for x in found]
            return found
        reach *= 8
    raise ConvergenceError("the solution could not be enclosed at this precision")
