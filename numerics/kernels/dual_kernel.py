"""Dual kernels in floats: the closed form compiled for arrays, or the Hermite series with coefficients for each scale.

The compiled twin takes the scales s = sqrt q11 and t = sqrt q22, the correlation r and c = sqrt(1 - r^2) as separate
arguments, so that nothing is lost or divided by zero at |r| = 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special
import sympy as sp

from bulkedge.numerics.functions.functions import gauss_nodes, vectorised
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.bivariate import Phi2
from bulkedge.theory.kernels.kernel import dual
from bulkedge.theory.numbers.errors import ConvergenceError, InputError
from bulkedge.theory.numbers.symbols import q11, q12, q22

Array = npt.NDArray[Any]

_s, _t, _c = sp.symbols("s t c", positive=True)
_r = sp.Symbol("r", real=True)

# Below any 1 - r^2 that two different floats can give; it only keeps 0/0 away.
SMALLEST = 1e-18
MAX_TERMS = 1500


def bivariate_cdf(h: Array, k: Array, r: Array) -> Array:
    """P(X <= h, Y <= k) for standard normals of correlation r, by Owen's T; finite at |r| = 1.

    Formula: (Phi(h) + Phi(k))/2 - T(h, (k - r h)/(h c)) - T(k, (h - r k)/(k c)) - [h and k on different sides of 0]/2.
    Accuracy: about 1e-15 absolute.
    """
    h, k, r = np.broadcast_arrays(*np.atleast_1d(h, k, r))
    c = np.maximum(np.sqrt((1 - r) * (1 + r)), SMALLEST)

    def owen(x: Array, other: Array) -> Array:
        gap = affine(-x, other, r)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = np.where(x == 0, np.copysign(np.inf, gap), gap / (x * c))
        value: Array = scipy.special.owens_t(x, slope)
        return value

    # By signs: the product of two tiny numbers is zero in floats.
    side = np.sign(h) * np.sign(k)
    apart = (side < 0) | ((side == 0) & (h + k < 0))
    value = (scipy.special.ndtr(h) + scipy.special.ndtr(k)) / 2 - owen(h, k) - owen(k, h) - np.where(apart, 0.5, 0.0)
    zero = (h == 0) & (k == 0)
    return np.where(zero, 0.25 + np.arcsin(r) / (2 * np.pi), value)


@dataclass(frozen=True)
class ClosedForm:
    """E[f(u) g(v)] compiled: called with arrays s, t, r, c that broadcast."""

    expression: sp.Expr
    function: Callable[..., Any]

    def __call__(self, s: Array, t: Array, r: Array, c: Array) -> Array:
        """The kernel, same floating type as r."""
        with np.errstate(under="ignore", over="ignore"):
            value = self.function(s, t, r, c)
        return np.broadcast_to(np.asarray(value, dtype=r.dtype), np.broadcast_shapes(r.shape, s.shape, t.shape))


@functools.lru_cache(maxsize=256)
def closed_form(f: Nonlinearity, g: Nonlinearity) -> ClosedForm | None:
    """The compiled closed form, or None where there is none."""
    expression = dual(f, g)
    if expression is None:
        return None
    moved = in_scales(expression)
    own: dict[str, Callable[..., Any]] = {
        "Phi2": bivariate_cdf,
        "Affine": affine,
        "erf": scipy.special.erf,
        "Dawson": scipy.special.dawsn,
    }
    own["hyper"] = lambda top, bottom, x: scipy.special.hyp2f1(top[0], top[1], bottom[0], x)
    modules: list[Any] = [own, "scipy", "numpy"]
    return ClosedForm(moved, sp.lambdify((_s, _t, _r, _c), moved, modules=modules, cse=True))


class Affine(sp.Function):  # type: ignore[misc]
    """a r + b, evaluated without cancellation at r = +-1 (see `affine`)."""

    nargs = 3


def affine(a: Array, b: Array, r: Array) -> Array:
    """a r + b as (a + b) - (1 - r) a for r > 0 and (b - a) + (1 + r) a else: 1 -+ r is exact next to +-1."""
    value: Array = np.where(r > 0, (a + b) - (1 - r) * a, (b - a) + (1 + r) * a)
    return value


def in_scales(expression: sp.Expr) -> sp.Expr:
    """An expression in q11, q12, q22 rewritten in s, t, r and c = sqrt(1 - r^2).

    Inside the special functions a r + b becomes Affine(a, b, r): divided by c, its rounding would cost half the digits.
    """
    moved = expression.subs({q11: _s**2, q22: _t**2, q12: _s * _t * _r}, simultaneous=True)
    return _opened(_dawson(moved) if moved.has(sp.erfi) else moved, inside=False)


class Dawson(sp.Function):  # type: ignore[misc]
    """Dawson's integral exp(-x^2) int_0^x exp(t^2) dt."""

    nargs = 1


def _dawson(e: sp.Expr) -> sp.Expr:
    """erfi(x) = 2 exp(x^2) Dawson(x)/sqrt(pi), the exponentials joined: erfi alone overflows at scales above 38."""
    grown = e.replace(sp.erfi, lambda x: 2 * sp.exp(x**2) * Dawson(x) / sp.sqrt(sp.pi))
    return sp.Add(*(sp.powsimp(x, combine="exp") for x in sp.Add.make_args(sp.expand_mul(grown))))


def _opened(e: sp.Expr, inside: bool) -> sp.Expr:
    if not e.has(_r) or not e.args:
        return e
    if isinstance(e, sp.exp | sp.erf | Phi2) and not inside:
        return e.func(*(_opened(_squares(sp.factor(_roots(x))), inside=True) for x in e.args))
    if inside and e.is_Add and sp.degree(e, _r) == 1 and e.is_polynomial(_r):
        return Affine(e.coeff(_r, 1), e.coeff(_r, 0), _r)
    if e.is_Pow and e.base.is_Add and not e.exp.is_Integer:
        return _root(e)
    return e.func(*(_opened(x, inside) for x in e.args))


def _roots(e: sp.Expr) -> sp.Expr:
    return e.replace(lambda x: x.is_Pow and x.base.is_Add and not x.exp.is_Integer and x.has(_r), _root)


def _squares(e: sp.Expr) -> sp.Expr:
    """(r - 1)(r + 1) in a product is -c^2."""
    powers = e.as_powers_dict()
    down, up = powers.get(_r - 1, 0), powers.get(_r + 1, 0)
    if down == up != 0:
        return e / ((_r - 1) * (_r + 1)) ** up * (-(_c**2)) ** up
    return e


def _root(e: sp.Pow) -> sp.Expr:
    """The root of a multiple of 1 - r^2 is a multiple of c."""
    factored = sp.factor(e.base)
    if factored.subs(_r, 1) == 0 and factored.subs(_r, -1) == 0:
        rest = sp.cancel(factored / (1 - _r**2))
        return _c ** (2 * e.exp) * sp.powdenest(rest**e.exp, force=True)
    return e


@dataclass(frozen=True)
class Series:
    """E[f(s z1) g(t z2)] = sum_k a_k(s) b_k(t) r^k, truncated where what is left out is below `tolerance`."""

    first: Array
    second: Array

    def __call__(self, rows: slice, columns: slice, r: Array) -> Array:
        """Horner's rule in r over a block."""
        a, b = self.first[rows].astype(r.dtype), self.second[columns].astype(r.dtype)
        total = np.zeros_like(r)
        for k in range(a.shape[1] - 1, -1, -1):
            total *= r
            if a[:, k].any():
                total += a[:, k, None] * b[:, k]
        return total


def scale_coefficients(f: Nonlinearity, scales: Array, degree: int) -> tuple[Array, Array]:
    """c_k of z -> f(s z) for each scale s (one row each), and E f(s z)^2.

    Accuracy: that of composite Gauss-Legendre panels split at the kinks, about 1e-14 of sqrt(E f^2).
    """
    unique, where = np.unique(scales, return_inverse=True)
    values = vectorised(f)
    kinks = [float(b) for b in f.kinks]
    coefficients = np.empty((len(unique), degree + 1))
    second = np.empty(len(unique))
    for i, s in enumerate(unique):
        x, w = gauss_nodes([b / s for b in kinks] if s > 0 else (), nodes=max(24, int(0.4 * np.sqrt(degree) * 4)))
        y = values(s * x)
        second[i] = float(w @ y**2)
        before, now = np.zeros_like(x), np.ones_like(x)
        weighted = w * y
        for k in range(degree + 1):
            coefficients[i, k] = weighted @ now
            before, now = now, (x * now - np.sqrt(k) * before) / np.sqrt(k + 1)
    return coefficients[where], second[where]


def series(f: Nonlinearity, g: Nonlinearity, s: Array, t: Array, largest: float, tolerance: float) -> Series:
    """The series for rows of scales s and columns of scales t, correlations up to `largest` in size.

    Accuracy: what is left out is at most largest^(K+1) sqrt(tail_f tail_g) <= tolerance sqrt(E f^2 E g^2).
    Errors: ConvergenceError where more than MAX_TERMS terms would be needed (kinks, and two inputs nearly parallel).
    """
    if f.deltas or g.deltas:
        raise InputError(
            "nonlinearity",
            "the gradient of a kinked function's kernel needs a closed form, and none is known here",
            "use the kernel itself, or a function without kinks",
        )
    degree = 32
    while True:
        a, fa = scale_coefficients(f, s, degree)
        b, gb = scale_coefficients(g, t, degree)
        tails = [np.max(np.maximum(m - np.sum(x**2, axis=1), 0) / np.maximum(m, 1e-300)) for x, m in ((a, fa), (b, gb))]
        left = largest ** (degree + 1) * np.sqrt(tails[0] * tails[1])
        # Parseval's difference itself is only known to rounding.
        if left <= tolerance or max(tails) <= 64 * np.finfo(float).eps:
            return Series(a, b)
        if degree >= MAX_TERMS:
            raise ConvergenceError(
                f"the series of {f.name} leaves out {left:.1g} after {degree} terms at correlation {largest:.6g}; "
                "loosen the tolerance, or drop nearly parallel rows"
            )
        degree = min(2 * degree, MAX_TERMS)


def curve(
    f: Nonlinearity,
    correlations: Array,
    s: float = 1.0,
    t: float = 1.0,
    tolerance: float = 1e-6,
    g: Nonlinearity | None = None,
) -> Array:
    """E[f(s z1) g(t z2)] along correlations in [-1, 1]; g defaults to f.

    Accuracy: rounding with a closed form, else `tolerance` relative to the value at one. Errors: ConvergenceError.
    """
    r = np.clip(np.asarray(correlations, dtype=float), -1, 1)
    g = f if g is None else g
    closed = closed_form(f, g)
    one = np.ones(1)
    if closed is not None:
        value: Array = closed(s * one, t * one, r, np.maximum(np.sqrt((1 - r) * (1 + r)), SMALLEST))
        return value
    expansion = series(f, g, s * one, t * one, float(np.max(np.abs(r))), tolerance)
    found: Array = expansion(slice(0, 1), slice(0, 1), r[None])[0]
    return found
