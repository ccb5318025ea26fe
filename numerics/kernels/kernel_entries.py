"""The entries of a dual kernel's matrix in floats, by the route that is right for the functions, norms and angles.

- Two polynomials: their finite Hermite series, its coefficients computed in balls.
- A closed form whose rounding is shown to be small (numerics.functions.rounding): the closed form. Entries where its
terms
  cancel, as exponentials cut at a kink do at large norms, go to quadrature.
- No closed form: the Hermite series while few terms do, else quadrature (numerics.kernels.kernel_table,
numerics.gaussian.plane).

What is returned is compared with certified enclosures (theory.kernels.kernel_value) at the extremes of the data; where
an enclosure takes too long, with quadrature on other panels. Where the two differ, every entry is enclosed.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from bulkedge.numerics.gaussian import plane
from bulkedge.numerics.kernels.dual_kernel import SMALLEST, ClosedForm, Series, closed_form, series
from bulkedge.numerics.kernels.kernel_table import Quadrature, norms
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.kernels import kernel_value
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

Array = npt.NDArray[Any]

# The rounding of a closed form that is accepted, relative to sqrt(E f^2 E g^2).
ACCEPTED = 1e-12
SERIES_TERMS = 256
# Beyond so many entries the closed form's rounding is bounded on a grid over the data's box, not at each entry.
MANY = 100_000
_GRID = 9
_GRID_SAFETY = 16.0
# The guard's comparison; quadrature and closed forms are a thousand times better.
_GUARD = 1e-9
_GUARD_DIGITS, _ENCLOSED_DIGITS = 9, 14
# Scales beyond which an enclosure in the plane takes too long to be a guard, with kinks and without.
_KINKED_SCALE, _SMOOTH_SCALE = 20.0, 100.0
_LINE_SCALE = 1e4  # likewise on the diagonal
_SHORT, _SHORT_ON_LINE = 40, 80  # operations, likewise
ENCLOSED = 300  # entries that are enclosed one by one where floats and an enclosure differ


@dataclass(frozen=True)
class Spread:
    """How many entries off the diagonal there are, and their smallest and largest angle, 0 and pi left out."""

    count: int
    low: float
    high: float


class Entries:
    """E[f(s_i z1) g(t_j z2)] on blocks of correlations; all scales are positive."""

    def __init__(
        self,
        f: Nonlinearity,
        g: Nonlinearity,
        s: Array,
        t: Array,
        tolerance: float,
        spread: Callable[[], Spread],
        largest: Callable[[], float],
    ) -> None:
        self.f, self.g, self.s, self.t = f, g, s.astype(float), t.astype(float)
        self.tolerance, self.spread = tolerance, spread
        self.series: Series | None = None
        self.quadrature: Quadrature | None = None
        self.closed: ClosedForm | None = None
        self.powers = (0, 0)
        self.trusted = False
        self.norms: tuple[Array, Array] | None = None
        if f.degree is not None and g.degree is not None and max(f.degree, g.degree) > 2:
            coefficients = [polynomial_coefficients(h, v) for h, v in ((f, self.s), (g, self.t))]
            shared = min(f.degree, g.degree) + 1
            self.series = Series(coefficients[0][:, :shared], coefficients[1][:, :shared])
            return
        self.closed = closed_form(f, g)
        if f.homogeneity is not None and g.homogeneity is not None:
            # The kernel is s^p t^q kappa(r): one function of r, whose rounding is bounded once.
            self.powers = (f.homogeneity, g.homogeneity)
            self.trusted = self.closed is not None and _homogeneous_is_safe(f, g)
            if not self.trusted:
                one = plane.resolved(f, 1.0, 1.0), plane.resolved(g, 1.0, 1.0)
                units = np.ones(len(s)), np.ones(len(t))
                self.quadrature = Quadrature(*one, *units, tolerance)
                self.closed = None
            return
        try:
            first, second = (plane.resolved(h, float(v.min()), float(v.max())) for h, v in ((f, self.s), (g, self.t)))
        except ConvergenceError:
            # Too fast for quadrature; a closed form that is well conditioned by its own account is enough.
            sizes = [None if self.closed is None else _closed_norms(h, v) for h, v in ((f, self.s), (g, self.t))]
            if sizes[0] is None or sizes[1] is None:
                raise
            self.norms = sizes[0], sizes[1]
            return
        self.quadrature = Quadrature(first, second, self.s, self.t, tolerance)
        self.norms = self.quadrature.norms
        for size, v, name in ((self.norms[0], s, f.name), (self.norms[1], t, g.name)):
            if not np.isfinite(size).all():
                raise _too_large(f"E f^2 of {name} at scale {float(v.max()):.6g}")
        if self.closed is not None:
            self.trusted = len(s) * len(t) > MANY and self._box_is_safe(first, second)
        elif not f.deltas and not g.deltas:
            try:
                self.series = series(f, g, self.s, self.t, largest(), tolerance, SERIES_TERMS)
            except ConvergenceError:
                self.series = None

    def _box_is_safe(self, first: plane.Resolved, second: plane.Resolved) -> bool:
        """Whether the closed form's rounding is small on a grid over the scales and all angles."""
        s, t = (np.geomspace(v.min(), v.max(), _GRID) for v in (self.s, self.t))
        return _grid_is_safe(self.closed, s, t, norms(first, s), norms(second, t))

    def block(self, rows: slice, columns: slice, r: Array, needed: Array) -> Array:
        """The kernel on a block of correlations; what is not needed is arbitrary."""
        s, t = self.s[rows, None], self.t[columns]
        if self.f.deltas and self.g.deltas and (needed & (np.abs(r) == 1)).any():
            raise InputError("X", "a kernel with deltas is not finite at correlation one", "leave out parallel rows")
        if self.closed is not None and self.trusted:
            c = np.maximum(np.sqrt((1 - r) * (1 + r)), SMALLEST)
            return self.closed(s.astype(r.dtype), t.astype(r.dtype), r, c)
        r = r.astype(float)
        if self.closed is not None:
            found = self.closed.bounded(s, t, r, np.maximum(np.sqrt((1 - r) * (1 + r)), SMALLEST))
            assert self.norms is not None
            allowed = ACCEPTED * self.norms[0][rows, None] * self.norms[1][columns]
            if self.f.deltas or self.g.deltas:
                allowed = allowed + ACCEPTED * np.abs(found.value)
            return self._completed(np.array(found.value), needed & ~(found.error <= allowed), rows, columns, r)
        if self.series is not None:
            if self.quadrature is None:
                return self.series(rows, columns, r)
            # The series was cut for correlations inside (-1, 1).
            return self._completed(self.series(rows, columns, r), needed & (np.abs(r) == 1), rows, columns, r)
        values = self._completed(np.zeros_like(r), needed, rows, columns, r)
        p, q = self.powers
        return values * s**p * t**q if p or q else values

    def _completed(self, values: Array, missing: Array, rows: slice, columns: slice, r: Array) -> Array:
        """The entries that are missing, by quadrature."""
        i, j = np.nonzero(missing)
        if not len(i):
            return values
        if self.quadrature is None:
            raise ConvergenceError(
                f"the closed kernel of {self.f.name} loses its digits and it is too fast to integrate"
            )
        if self.quadrature.table is None and np.count_nonzero(np.abs(r[i, j]) < 1) > 0:
            spread = self.spread()
            count = int(np.count_nonzero(np.abs(r[i, j]) < 1))
            if rows.stop - rows.start < len(self.s):  # more blocks are to come
                count = max(count, spread.count * count // max(1, r.size))
            self.quadrature.prepare(count, spread.low, spread.high)
        values[i, j] = self.quadrature(i + rows.start, j + columns.start, r[i, j])
        return values

    def _well_conditioned(self, s: float, t: float, r: float, i: int, j: int) -> bool:
        """Whether the closed form gives this entry; where it cancels, its enclosure needs many digits too."""
        assert self.closed is not None
        assert self.norms is not None
        one = np.ones(1)
        found = self.closed.bounded(s * one, t * one, r * one, np.maximum(np.sqrt((1 - r) * (1 + r)), SMALLEST) * one)
        return bool(found.error[0] <= 1e-6 * self.norms[0][i] * self.norms[1][j])

    def agrees(self, i: int, j: int, r: float, found: float) -> bool:
        """Whether an entry is at its enclosure, or, where that would take too long, at another quadrature's value."""
        f, g, s, t = self.f, self.g, float(self.s[i]), float(self.t[j])
        if self.norms is None:  # polynomials and homogeneous functions are proved once and for all
            return True
        if abs(r) == 1 and (f.deltas or g.deltas):
            return True
        size = float(self.norms[0][i] * self.norms[1][j])
        size += abs(found) if f.deltas or g.deltas else 0.0
        if self._is_quick(s, t, r, i, j):
            truth = _enclosure(f, g, s, t, r)
            if truth is not None and truth.bound <= _GUARD * size:  # a wider one proves nothing
                return abs(found - float(truth)) <= 2 * _GUARD * size
        if self.quadrature is None:
            return True
        # The other function's panels inside, and more nodes.
        first, second = self.quadrature.first, self.quadrature.second
        if abs(r) == 1:
            other = plane.parallel(second, first, t, s, int(r), plane.FINER)
        else:
            other = float(plane.expectation(second, first, self.t[j : j + 1], self.s[i : i + 1], r, plane.FINER)[0, 0])
        return abs(found - other) <= _GUARD * size

    def _is_quick(self, s: float, t: float, r: float, i: int, j: int) -> bool:
        """Whether an enclosure of the entry takes well under a second or two."""
        if self.closed is not None and self._well_conditioned(s, t, r, i, j):
            return True
        operations = sum(int(p.expr.count_ops()) for p in (*self.f.pieces, *self.g.pieces))
        if abs(r) == 1:
            return operations <= _SHORT_ON_LINE and max(s, t) <= _LINE_SCALE
        smooth = not self.f.kinks and not self.g.kinks
        return operations <= _SHORT and max(s, t) <= (_SMOOTH_SCALE if smooth else _KINKED_SCALE)

    def enclosed(self, i: int, j: int, r: float) -> float:
        """One entry by its enclosure.

        Errors: ConvergenceError where that does not reach the digits.
        """
        truth = _enclosure(self.f, self.g, float(self.s[i]), float(self.t[j]), r, _ENCLOSED_DIGITS)
        size = 1.0 if self.norms is None else float(self.norms[0][i] * self.norms[1][j])
        if truth is None or not truth.bound <= max(_GUARD * abs(float(truth)), self.tolerance * size):
            raise ConvergenceError(
                f"the kernel of {self.f.name} is neither right in floats nor enclosed at scales {float(self.s[i])!r}, "
                f"{float(self.t[j])!r} and correlation {r!r}: report it"
            )
        return float(truth)


def _closed_norms(f: Nonlinearity, scales: Array) -> Array | None:
    """sqrt(E f(s z)^2) by the closed kernel at correlation one, or None where that loses its digits."""
    closed = None if f.deltas else closed_form(f, f)
    if closed is None:
        return None
    found = closed.bounded(scales, scales, np.ones_like(scales), np.full_like(scales, SMALLEST))
    if not (found.error <= 1e-6 * found.value).all():
        return None
    size: Array = np.sqrt(found.value)
    return size


def _too_large(what: str) -> InputError:
    return InputError("X", f"{what} is beyond the largest float", "scale the rows down")


@functools.lru_cache(maxsize=4096)
def _enclosure(
    f: Nonlinearity, g: Nonlinearity, s: float, t: float, r: float, digits: int = _GUARD_DIGITS
) -> Enclosure | None:
    a, b, c = (sp.Rational(*Fraction(x).as_integer_ratio()) for x in (s, t, r))
    try:
        return kernel_value.value(f, a**2, a * b * c, b**2, digits, g)
    except PrecisionError as error:
        best = error.best
        # A ball that no float holds says nothing.
        return best if best is not None and best.bound + abs(best.value) < sys.float_info.max else None
    except OverflowError:
        return None
    except InputError as error:
        if error.argument != "value":  # beyond what the enclosures print, not beyond the kernel's domain
            raise
        return None


def _grid_is_safe(closed: ClosedForm | None, s: Array, t: Array, size_s: Array, size_t: Array) -> bool:
    assert closed is not None
    c = np.concatenate([[0.0], np.geomspace(1e-7, 1, 15)])
    cosine = np.sqrt((1 - c) * (1 + c))
    r = np.concatenate([cosine, -cosine])
    c = np.maximum(np.concatenate([c, c]), SMALLEST)
    found = closed.bounded(s[:, None, None], t[None, :, None], r, c)
    return bool((_GRID_SAFETY * found.error <= ACCEPTED * size_s[:, None, None] * size_t[None, :, None]).all())


@functools.lru_cache(maxsize=256)
def _homogeneous_is_safe(f: Nonlinearity, g: Nonlinearity) -> bool:
    """Whether the closed form of homogeneous functions is well conditioned, and equals its enclosure."""
    closed, one = closed_form(f, g), np.ones(1)
    sizes = [norms(plane.resolved(h, 1.0, 1.0), one) for h in (f, g)]
    if not _grid_is_safe(closed, one, one, *sizes):
        return False
    assert closed is not None
    for r in (-0.75, 0.9375):
        truth, c = _enclosure(f, g, 1.0, 1.0, r), np.array([np.sqrt(1 - r * r)])
        found = float(closed(one, one, np.array([r]), c)[0])
        if truth is not None and abs(found - float(truth)) > _GUARD * float(sizes[0][0] * sizes[1][0]):
            return False
    return True


def polynomial_coefficients(f: Nonlinearity, scales: Array) -> Array:
    """c_k of z -> f(s z), orthonormal, for each scale (one row each), f a polynomial.

    Formula: E[(s z)^m h_k] = s^m m!/(2^j j! sqrt(k!)), m = k + 2 j.
    Accuracy: rounding of each coefficient, or of sqrt(E f^2) where terms cancel to nothing; computed in balls.
    """
    powers = [
        Fraction(int(c.p), int(c.q)) if c.is_Rational else c
        for c in reversed(sp.Poly(f.pieces[0].expr, z).all_coeffs())
    ]
    n = len(powers)
    unique, where = np.unique(scales, return_inverse=True)
    found = np.empty((len(unique), n))
    prec = 128
    pending = list(range(len(unique)))
    while pending:
        with ball.precision(prec):
            weights, roots = _monomials(n)
            p = [ball.rational(c) if isinstance(c, Fraction) else ball.constant(c) for c in powers]
            table = [[p[m] * weights[m][m - k] / roots[k] for m in range(k, n, 2)] for k in range(n)]
            open_ = []
            for i in pending:
                s = ball.rational(Fraction(float(unique[i])))
                powers_of_s = [ball.rational(1)]
                for _ in range(n - 1):
                    powers_of_s.append(powers_of_s[-1] * s)
                c = [
                    sum((a * powers_of_s[k + 2 * j] for j, a in enumerate(table[k])), ball.rational(0))
                    for k in range(n)
                ]
                size = sum((abs(x) for x in c), ball.rational(0)) / n
                if all(x.rad() <= 2.0**-60 * size or x.rad() <= 2.0**-60 * abs(x) for x in c):
                    found[i] = [float(x.mid()) for x in c]
                else:
                    open_.append(i)
        pending, prec = open_, 2 * prec
        if prec > 1 << 16:
            raise ConvergenceError(f"the coefficients of {f.name} could not be told from zero")
    if not np.isfinite(found).all():
        raise _too_large(f"a coefficient of {f.name} at scale {float(unique.max()):.6g}")
    return found[where]


def _monomials(n: int) -> tuple[list[dict[int, Any]], list[Any]]:
    """weights[m][2 j] = m!/(2^j j!) and sqrt(k!), below n."""
    factorials = [ball.rational(1)]
    for m in range(1, n):
        factorials.append(factorials[-1] * m)
    halves = [ball.rational(1)]
    for j in range(1, n // 2 + 1):
        halves.append(halves[-1] * 2 * j)
    weights = [{2 * j: factorials[m] / halves[j] for j in range(m // 2 + 1)} for m in range(n)]
    return weights, [x.sqrt() for x in factorials]


def curve(
    f: Nonlinearity,
    correlations: Array,
    s: float = 1.0,
    t: float = 1.0,
    tolerance: float = 1e-6,
    g: Nonlinearity | None = None,
) -> Array:
    """E[f(s z1) g(t z2)] along correlations in [-1, 1]; g defaults to f.

    Accuracy: as kernel_matrix; `tolerance`, relative to sqrt(E f(s z)^2 E g(t z)^2), where there is no closed form.
    Errors: InputError where f(s z) is not square integrable, ConvergenceError.
    """
    r: Array = np.clip(np.asarray(correlations, dtype=float), -1, 1)
    if not len(r):
        return r
    inside = np.arccos(r[np.abs(r) < 1])
    spread = Spread(len(inside), float(inside.min(initial=np.pi / 2)), float(inside.max(initial=np.pi / 2)))
    scales = np.full(1, float(s)), np.full(len(r), float(t))
    largest = float(np.max(np.abs(r[np.abs(r) < 1]), initial=0.0))
    entries = Entries(f, f if g is None else g, *scales, tolerance, lambda: spread, lambda: largest)
    values = entries.block(slice(0, 1), slice(0, len(r)), r[None], np.ones((1, len(r)), dtype=bool))
    found: Array = np.array(values[0])
    if not all(entries.agrees(0, k, float(r[k]), float(found[k])) for k in (int(np.argmin(r)), int(np.argmax(r)))):
        if len(r) > ENCLOSED:
            raise ConvergenceError(f"the kernel of {f.name} is wrong in floats at a correlation: report it")
        found = np.array([entries.enclosed(0, k, float(x)) for k, x in enumerate(r)])
    if not np.isfinite(found).all():
        raise _too_large(f"the kernel of {f.name}")
    return found
