"""Kernel matrices on data: one plumbing for every dual kernel, conjugate, derivative or tangent, and its gradient."""

from __future__ import annotations

import functools
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from bulkedge.numerics.gaussian.plane import delta_mean, line_nodes, resolved
from bulkedge.numerics.kernels.kernel_entries import ENCLOSED, Entries, Spread
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.functions.parse import choice, shorten
from bulkedge.theory.kernels.kernel_value import value_at_zero
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

Array = npt.NDArray[Any]

KINDS = ("conjugate", "derivative", "tangent")
# Elements of a block of rows: a few of its temporaries fit a core's cache.
BLOCK = 1 << 16


def kernel_matrix(
    X: npt.ArrayLike,
    Y: npt.ArrayLike | None = None,
    nonlinearity: str | sp.Expr | Nonlinearity = "relu",
    *,
    kind: str = "conjugate",
    weight_variance: float = 1.0,
    readout_variance: float = 1.0,
    tolerance: float | None = None,
) -> Array:
    """The matrix of a kernel between the rows of X and of Y (Y = X by default).

    Formula: conjugate K = E[sigma(w.x) sigma(w.y)], w ~ N(0, weight_variance I); derivative: sigma' for sigma; tangent
    K + readout_variance x.y E[sigma'(w.x) sigma'(w.y)].
    Valid for: any function of the catalogue or expression in z, at any norms at which it is square integrable; rows of
    zeros, equal and opposite rows included.
    Shapes/units: X is n x d, Y is m x d, the result n x m, float32 if both are, else float64.
    Convention: weight_variance = 1 takes x.y as it is; 1/d is paper O's (and neural-tangents') scaling.
    Accuracy: 1e-12 of sqrt(K_xx K_yy) (1e-6 in float32), or `tolerance` where there is no closed form: a closed form is
    used where a bound of its rounding is below that, else quadrature, or a table of it where entries are many. Entries
    at the extremes of the data (norms, correlations nearest +-1) are compared with certified enclosures first.
    Symmetric bit by bit for Y = None; the diagonal is E sigma(|x| z)^2, not that of a rounded angle.
    Memory: the result and a bounded buffer.
    Errors: InputError for NaN or infinite rows, mismatched dimensions, an unknown kind, norms at which the function is
    not square integrable or the result leaves the floats, the derivative kernel of a jump at parallel rows;
    ConvergenceError where the digits are not reached (kinks away from zero, no closed form and many rows).
    Source: K1, K3.

    As a precomputed kernel of scikit-learn:

    >>> import numpy as np
    >>> from bulkedge import kernel_matrix
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> train, test = rng.standard_normal((200, 5)), rng.standard_normal((50, 5))
    >>> model = KernelRidge(alpha=1e-3, kernel="precomputed")
    >>> model = model.fit(kernel_matrix(train, nonlinearity="relu"), np.abs(train[:, 0]))
    >>> error = model.predict(kernel_matrix(test, train, "relu")) - np.abs(test[:, 0])
    >>> bool(np.mean(error**2) < 0.1 * np.var(np.abs(test[:, 0])))
    True
    """
    choice(kind, "kind", KINDS)
    f = _function(nonlinearity)
    x, y = _inputs(X, Y)
    _positive("weight_variance", weight_variance)
    _positive("readout_variance", readout_variance)
    if tolerance is not None:
        _positive("tolerance", tolerance)
    data = _Data(x, y, weight_variance)
    if kind == "conjugate":
        return data.filled(f, f, tolerance)
    slope = f.derivative()
    if kind == "derivative":
        return data.filled(slope, slope, tolerance)
    # Both factors in place: the tangent kernel of many rows needs two matrices of its size, not four.
    inner = data.gram()
    result = data.filled(f, f, tolerance)
    inner *= readout_variance * data.filled(slope, slope, tolerance)
    result += inner
    return result


def kernel_gradient(
    X: npt.ArrayLike,
    Y: npt.ArrayLike | None = None,
    nonlinearity: str | sp.Expr | Nonlinearity = "relu",
    *,
    cotangent: npt.ArrayLike | None = None,
    weight_variance: float = 1.0,
    tolerance: float | None = None,
) -> Array:
    """The gradient of the conjugate kernel's matrix with respect to the rows of X.

    Formula: dK_ij/dx_i = weight_variance (E[sigma'(u) sigma'(v)] y_j + E[sigma''(u) sigma(v)] x_i).
    Valid for: functions without jumps. At identical inputs it is
    finite (the angle is not differentiated). A row of zeros, where the gradient of a kinked kernel has no direction,
    takes its regular part only.
    Shapes/units: with a cotangent G (n x m) the gradient of sum_ij G_ij K_ij, n x d; for Y = None both places of X
    count. Without one, the Jacobian dK_ij/dx_i at fixed y_j, n x m x d.
    Errors: as kernel_matrix; InputError for a function with a jump. Source: K3 (Price).
    """
    f = _function(nonlinearity)
    x, y = _inputs(X, Y)
    _positive("weight_variance", weight_variance)
    slope, bend = f.derivative(), f.derivative(2)
    # A jump makes sigma' a delta: the kernel has the slope of an arccosine, infinite at equal inputs.
    if slope.deltas:
        raise InputError("nonlinearity", f"{f.name} jumps, so its kernel has no gradient at equal inputs", "smooth it")
    if tolerance is not None:
        _positive("tolerance", tolerance)
    data = _Data(x, y, weight_variance)
    mixed = data.filled(slope, slope, tolerance)
    # At a row of zeros the deltas of sigma'' sit at every angle at once: a kinked kernel has no direction there.
    own = data.filled(bend, f, tolerance, at_zero=False)
    if cotangent is None:
        jacobian: Array = weight_variance * (mixed[:, :, None] * y[None] + own[:, :, None] * x[:, None])
        return jacobian
    try:
        G = np.asarray(cotangent)
        if G.dtype.kind not in "fiub":
            raise TypeError
        G = G.astype(x.dtype)
    except (TypeError, ValueError):
        raise InputError("cotangent", "it is no matrix of real numbers", "give one number an entry") from None
    if G.shape != mixed.shape:
        raise InputError("cotangent", f"its shape is {G.shape}, the matrix's {mixed.shape}", "give one number an entry")
    if Y is None:
        G = G + G.T
    gradient: Array = weight_variance * ((G * mixed) @ y + np.sum(G * own, axis=1)[:, None] * x)
    return gradient


class _Data:
    """Two sets of rows, their norms and inner products, and the loop over blocks."""

    def __init__(self, x: Array, y: Array, variance: float) -> None:
        self.x, self.y, self.variance = x, y, variance
        self.symmetric = y is x
        # In the rows' own type: a float64 here would double the memory of a float32 matrix.
        root = np.sqrt(variance).astype(x.dtype)
        norms_x = _lengths(x)
        self.norms_x, self.norms_y = norms_x, norms_x if self.symmetric else _lengths(y)
        self.s, self.t = root * self.norms_x, root * self.norms_y

    @property
    def empty(self) -> bool:
        """Whether there is no entry."""
        return not (len(self.x) and len(self.y))

    def gram(self) -> Array:
        """x.y; numpy takes the symmetric product (half the work) when both are one array."""
        product: Array = self.x @ self.y.T
        return product

    @functools.cached_property
    def _extremes(self) -> tuple[Spread, float]:
        """What `spread` and `largest` say, in one pass."""
        count, low, high = 0, 1.0, -1.0
        for rows, columns, r in self.blocks(self.gram(), self.symmetric):
            inside = r[self.needed(rows, columns, self.symmetric) & (np.abs(r) < 1)]
            count += len(inside)
            low, high = min(low, float(inside.min(initial=1.0))), max(high, float(inside.max(initial=-1.0)))
        if not count:
            return Spread(0, np.pi / 2, np.pi / 2), 0.0
        # (1 - r)(1 + r) keeps the digits of small angles, which 1 - r^2 loses.
        angles = [float(np.arctan2(np.sqrt((1 - r) * (1 + r)), r)) for r in (high, low)]
        return Spread(count, *angles), max(abs(low), abs(high))

    def spread(self) -> Spread:
        """How many entries there are off the diagonal, and their angles."""
        return self._extremes[0]

    def largest(self) -> float:
        """The largest correlation in size below one."""
        return self._extremes[1]

    def needed(self, rows: slice, columns: slice, upper: bool) -> Array:
        """The entries of a block that belong to rows that are not zero, of a symmetric matrix its upper triangle."""
        mask: Array = (self.norms_x[rows, None] != 0) & (self.norms_y[columns] != 0)
        if upper:
            mask = mask & (np.arange(rows.start, rows.stop)[:, None] <= np.arange(columns.start, columns.stop))
        return mask

    def blocks(self, gram: Array, upper: bool) -> Any:
        """Row blocks (rows, columns, correlations), the upper part only or all; correlations are in place."""
        n, m = gram.shape
        inverse_x, inverse_y = (1 / np.where(v == 0, 1, v) for v in (self.norms_x, self.norms_y))
        step = max(1, BLOCK // max(m, 1))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            columns = slice(start if upper else 0, m)
            r = gram[rows, columns]
            r *= inverse_x[rows, None]
            r *= inverse_y[columns]
            np.clip(r, -1, 1, out=r)
            # Rounding cannot tell these from parallel rows; a jump would turn it into its root, 1e-8.
            near = np.abs(r) > 1 - 4 * np.finfo(r.dtype).eps
            if near.any():
                r[near] = np.sign(r[near])
            if self.symmetric:
                # Exactly one on the diagonal: the rounded angle between a row and itself is not zero.
                shared = np.arange(rows.stop - rows.start)
                r[shared, shared + rows.start - columns.start] = 1
            yield rows, columns, r

    def filled(self, f: Nonlinearity, g: Nonlinearity, tolerance: float | None, at_zero: bool = True) -> Array:
        """The kernel's matrix, in the memory of the inner products.

        With `at_zero` False rows of zeros (not columns) give zero.
        """
        result = self.gram()
        if self.empty:
            return result
        default = 1e-12 if result.dtype == np.float64 else 1e-6
        # Rows of zeros are filled at the end; meanwhile they pass for one of the other rows.
        s, t = (np.where(v == 0, v.max() if v.any() else 1, v) for v in (self.s, self.t))
        wanted = default if tolerance is None else tolerance
        # Which formula is right depends on the range of the data; it is decided once, not block by block.
        entries = Entries(f, g, s, t, wanted, self.spread, self.largest)
        # E[f(u) g(v)] of two different functions is not symmetric, even on one set of rows.
        upper = self.symmetric and f == g
        extremes = _Extremes(entries)
        for rows, columns, r in self.blocks(result, upper):
            needed = self.needed(rows, columns, upper)
            values = entries.block(rows, columns, r, needed)
            extremes.see(rows, columns, r, values, needed)
            with np.errstate(over="ignore"):  # what is needed was seen to fit; the rest is overwritten
                r[...] = values
            if upper:
                inside = rows.stop - rows.start
                lower = np.tril_indices(inside, -1)
                r[lower] = r[:, :inside].T[lower]
                result[rows.stop :, rows] = r[:, inside:].T
        # Entries at the extremes are where floats go wrong first: if these are right the others are, if not every entry
        # is enclosed.
        if not extremes.agree():
            self._enclose(result, entries, upper)
        self._zero_rows(result, f, g, at_zero)
        return result

    def _enclose(self, result: Array, entries: Entries, upper: bool) -> None:
        """Every entry by its enclosure, where the floats were wrong at one.

        Errors: ConvergenceError where these are too many, or an enclosure is too wide.
        """
        gram = self.gram()
        if result.size > (2 if upper else 1) * ENCLOSED:
            raise ConvergenceError(
                f"the kernel of {entries.f.name} is wrong in floats at an entry, {result.size} enclosures are many: "
                "give fewer rows at a time, and report it"
            )
        for rows, columns, r in self.blocks(gram, upper):
            for i, j in zip(*np.nonzero(self.needed(rows, columns, upper)), strict=True):
                a, b = int(i) + rows.start, int(j) + columns.start
                result[a, b] = entries.enclosed(a, b, float(r[i, j]))
                if upper:
                    result[b, a] = result[a, b]

    def _zero_rows(self, result: Array, f: Nonlinearity, g: Nonlinearity, at_zero: bool) -> None:
        """Overwrite rows and columns of zero inputs: f(0) E g(t z), at a jump the mean of the two sides."""
        for scales, others, h, own, axis in ((self.s, self.t, g, f, 0), (self.t, self.s, f, g, 1)):
            zero = np.flatnonzero(scales == 0)
            if not len(zero):
                continue
            if axis == 0:
                result[zero] = float(value_at_zero(own)) * _means(h, others) if at_zero else 0.0
            else:
                at = np.flatnonzero(others) if not at_zero else np.arange(len(others))
                if len(at):
                    line = float(value_at_zero(own)) * _means(h, others[at])
                    result[np.ix_(at, zero)] = line[:, None]


class _Extremes:
    """The entries at the extremes of the data, and their comparison with enclosures.

    Kept: the largest and smallest correlation inside (-1, 1), the largest and smallest product of scales.
    """

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self.best: dict[str, tuple[float, int, int, float, float]] = {}

    def see(self, rows: slice, columns: slice, r: Array, values: Array, needed: Array) -> None:
        """Take a block into account, before it is overwritten."""
        if not needed.any():
            return
        # The result's own floats count, which may be narrower than those that it is computed in.
        bad = needed & ~(np.abs(values) <= np.finfo(r.dtype).max)
        if bad.any():
            i, j = (int(k[0]) for k in np.nonzero(bad))
            raise InputError(
                "X", f"entry ({i + rows.start}, {j + columns.start}) is beyond the largest float", "scale the rows down"
            )
        if self.entries.norms is None:
            return  # polynomials and homogeneous functions are proved once and for all
        size = np.outer(self.entries.s[rows], self.entries.t[columns])
        inside = needed & (np.abs(r) < 1)
        for name, measure, mask in (("near", r, inside), ("opposite", -r, inside), ("long", size, needed)):
            if mask.any():
                self._keep(name, np.where(mask, measure, -np.inf), rows, columns, r, values)
        self._keep("short", np.where(needed, -size, -np.inf), rows, columns, r, values)

    def _keep(self, name: str, measure: Array, rows: slice, columns: slice, r: Array, values: Array) -> None:
        i, j = (int(k) for k in np.unravel_index(np.argmax(measure), measure.shape))
        top = float(measure[i, j])
        if name not in self.best or top > self.best[name][0]:
            self.best[name] = (top, i + rows.start, j + columns.start, float(r[i, j]), float(values[i, j]))

    def agree(self) -> bool:
        """Whether the entries kept lie at their enclosures."""
        return all(self.entries.agrees(i, j, r, found) for _, i, j, r, found in self.best.values())


def _lengths(x: Array) -> Array:
    """The rows' norms; zero where the square leaves the floats downwards (such a row counts as zero).

    Errors: InputError where it leaves them upwards.
    """
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", x, x)
    if not np.isfinite(squares).all():
        row = int(np.argmin(np.isfinite(squares)))
        raise InputError("X", f"the squared norm of row {row} is beyond the largest float", "scale the rows down")
    # Below this a square has lost digits, and a product with another row may have.
    lengths: Array = np.where(squares < np.finfo(x.dtype).tiny / np.finfo(x.dtype).eps, 0, np.sqrt(squares))
    return lengths


def _means(f: Nonlinearity, scales: Array) -> Array:
    """E f(t z) for each scale, deltas included; f(0) at scale zero."""
    unique, where = np.unique(scales, return_inverse=True)
    means = np.empty(len(unique))
    positive = unique[unique > 0].astype(float)
    part = resolved(f, float(positive[0]), float(positive[-1])) if len(positive) else None
    for i, t in enumerate(unique.astype(float)):
        if t == 0 or part is None:
            means[i] = float(value_at_zero(f))
            continue
        x, w = line_nodes(((part, t),))
        means[i] = float(w @ part.values(t * x)) + delta_mean(f, t)
    return means[where]


def _function(spec: str | sp.Expr | Nonlinearity) -> Nonlinearity:
    return nonlinearity(spec, "nonlinearity")


def _positive(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not (np.isfinite(float(value)) and value > 0):
        raise InputError(name, f"{shorten(value)} is not a positive number", "give a positive number")


def _inputs(X: npt.ArrayLike, Y: npt.ArrayLike | None) -> tuple[Array, Array]:
    x = rows(X, "X")
    if Y is None:
        return x, x
    y = rows(Y, "Y")
    if x.shape[1] != y.shape[1]:
        raise InputError("Y", f"its rows have {y.shape[1]} entries, those of X {x.shape[1]}", "give the same dimension")
    common = np.result_type(x, y)
    return x.astype(common, copy=False), y.astype(common, copy=False)


def rows(values: npt.ArrayLike, name: str) -> Array:
    """A matrix of finite real numbers, one input a row; InputError names what it is not."""
    try:
        found = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(name, "its rows have different lengths", "give a matrix, one input a row") from None
    if found.ndim != 2:
        raise InputError(name, f"it has {found.ndim} dimensions", "give a matrix, one input a row")
    if found.dtype.kind not in "fiub":
        raise InputError(name, f"its entries are {found.dtype}", "give real numbers")
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    finite = np.isfinite(found).all(axis=1)
    if not finite.all():
        raise InputError(name, f"row {int(np.argmin(finite))} holds a NaN or an infinity", "leave such rows out")
    return np.ascontiguousarray(found)
