"""Kernel matrices on data: one plumbing for every dual kernel, conjugate, derivative or tangent, and its gradient."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from bulkedge.numerics.functions.functions import gauss_nodes, vectorised
from bulkedge.numerics.kernels.dual_kernel import SMALLEST, closed_form, series
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity, product
from bulkedge.theory.functions.parse import choice, shorten
from bulkedge.theory.kernels.kernel_value import value_at_zero
from bulkedge.theory.numbers.errors import InputError

Array = npt.NDArray[Any]
Block = Callable[[slice, slice, Array], Array]

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
    Valid for: any function of the catalogue or expression in z; rows of zeros included.
    Shapes/units: X is n x d, Y is m x d, the result n x m, float32 if both are, else float64.
    Convention: weight_variance = 1 takes x.y as it is; 1/d is paper O's (and neural-tangents') scaling.
    Accuracy: rounding for functions with a closed form; else `tolerance` relative to sqrt(K_xx K_yy), 1e-12 by default
    (1e-6 in float32). Symmetric bit by bit for Y = None; the diagonal is E sigma(|x| z)^2, not that of a rounded angle.
    Memory: the result and a bounded buffer.
    Errors: InputError for NaN or infinite rows, mismatched dimensions, an unknown kind; ConvergenceError.
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
        return data.filled(_Kernel(f, f, data, tolerance))
    slope = f.derivative()
    if kind == "derivative":
        return data.filled(_Kernel(slope, slope, data, tolerance))
    inner = data.gram()
    result = data.filled(_Kernel(f, f, data, tolerance))
    inner *= readout_variance * data.filled(_Kernel(slope, slope, data, tolerance))
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
    Valid for: functions without jumps, kinked ones where their kernel has a closed form. At identical inputs it is
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
    if slope.deltas:
        raise InputError("nonlinearity", f"{f.name} jumps, so its kernel has no gradient at equal inputs", "smooth it")
    if tolerance is not None:
        _positive("tolerance", tolerance)
    data = _Data(x, y, weight_variance)
    mixed = data.filled(_Kernel(slope, slope, data, tolerance))
    own = data.filled(_Kernel(bend, f, data, tolerance, at_zero=False))
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
        root = np.sqrt(variance).astype(x.dtype)
        norms_x = np.sqrt(np.einsum("ij,ij->i", x, x))
        self.norms_x, self.norms_y = norms_x, norms_x if self.symmetric else np.sqrt(np.einsum("ij,ij->i", y, y))
        self.s, self.t = root * self.norms_x, root * self.norms_y

    def gram(self) -> Array:
        """x.y; numpy takes the symmetric product (half the work) when both are one array."""
        product: Array = self.x @ self.y.T
        return product

    def largest(self) -> float:
        """The largest correlation in size off the diagonal."""
        top = 0.0
        for rows, columns, r in self.blocks(self.gram(), self.symmetric):
            size = np.abs(r)
            if self.symmetric:
                shared = np.arange(rows.stop - rows.start)
                size[shared, shared + rows.start - columns.start] = 0
            top = max(top, float(size.max(initial=0.0)))
        return min(top, 1.0)

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
            yield rows, columns, r

    def filled(self, kernel: _Kernel) -> Array:
        """The kernel's matrix, in the memory of the inner products."""
        result = self.gram()
        if self.symmetric:
            # Exactly one on the diagonal: the rounded angle between a row and itself is not zero.
            np.fill_diagonal(result, self.norms_x * self.norms_x)
        # E[f(u) g(v)] of two different functions is not symmetric, even on one set of rows.
        upper = self.symmetric and kernel.f == kernel.g
        for rows, columns, r in self.blocks(result, upper):
            if self.symmetric:
                shared = np.arange(rows.stop - rows.start)
                r[shared, shared + rows.start - columns.start] = 1
            r[...] = kernel.block(rows, columns, r)
            if upper:
                inside = rows.stop - rows.start
                lower = np.tril_indices(inside, -1)
                r[lower] = r[:, :inside].T[lower]
                result[rows.stop :, rows] = r[:, inside:].T
        if self.symmetric and kernel.closed is None:
            # The series was cut for the correlations off the diagonal.
            kernel.fill_diagonal(result)
        kernel.zerorows(result)
        return result


class _Kernel:
    """E[f(s z1) g(t z2)] over blocks of correlations: the closed form, or the series."""

    def __init__(
        self, f: Nonlinearity, g: Nonlinearity, data: _Data, tolerance: float | None, at_zero: bool = True
    ) -> None:
        self.f, self.g, self.data, self.at_zero = f, g, data, at_zero
        # Any positive scale in the place of zero; rows of zeros are overwritten at the end.
        self.s, self.t = (np.where(v == 0, 1, v) for v in (data.s, data.t))
        self.closed = closed_form(f, g)
        if self.closed is None:
            default = 1e-12 if data.x.dtype == np.float64 else 1e-6
            wanted = default if tolerance is None else tolerance
            self.series = series(f, g, self.s.astype(float), self.t.astype(float), data.largest(), wanted)

    def fill_diagonal(self, result: Array) -> None:
        """E f(s z) g(s z) on the diagonal, by quadrature (where the product is a function)."""
        h = product(self.f, self.g)
        if not h.deltas:
            np.fill_diagonal(result, _means(h, self.s))

    def block(self, rows: slice, columns: slice, r: Array) -> Array:
        """The kernel on a block."""
        if self.closed is None:
            return self.series(rows, columns, r)
        c = np.sqrt((1 - r) * (1 + r))
        np.maximum(c, SMALLEST, out=c)
        return self.closed(self.s[rows, None], self.t[columns], r, c)

    def zerorows(self, result: Array) -> None:
        """Overwrite rows and columns of zero inputs: f(0) E g(t z), at a jump the mean of the two sides."""
        for scales, others, h, own, axis in (
            (self.data.s, self.data.t, self.g, self.f, 0),
            (self.data.t, self.data.s, self.f, self.g, 1),
        ):
            zero = np.flatnonzero(scales == 0)
            if not len(zero):
                continue
            line = float(value_at_zero(own)) * _means(h, others) if self.at_zero else np.zeros(len(others))
            if axis == 0:
                result[zero] = line
            else:
                result[:, zero] = line[:, None]


def _means(f: Nonlinearity, scales: Array) -> Array:
    """E f(t z) for each scale."""
    unique, where = np.unique(scales, return_inverse=True)
    values, kinks = vectorised(f), [float(b) for b in f.kinks]
    means = np.empty(len(unique))
    for i, t in enumerate(unique):
        x, w = gauss_nodes([b / t for b in kinks] if t > 0 else ())
        means[i] = float(w @ values(float(t) * x)) if t > 0 else float(value_at_zero(f))
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
