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

from bulkedge.numerics.functions.rounding import UNIT, Bounded, evaluate, exact
from bulkedge.numerics.gaussian.plane import line_nodes, resolved
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

    Formula: (Phi(h) + Phi(k))/2 - T(h, (k - r h)/(h c)) - T(k, (h - r k)/(k c)) for h, k on one side of zero; else, for
    h < 0 < k, Phi(h) - P(X <= h, Y <= -k) at correlation -r, so that nothing larger than Phi(h) is subtracted.
    Accuracy: about 1e-15 times Phi(h) + Phi(k), and times the smaller of them for h and k on different sides.
    """
    h, k, r = np.broadcast_arrays(*np.atleast_1d(h, k, r))
    # By signs: the product of two tiny numbers is zero in floats.
    apart = np.sign(h) * np.sign(k) < 0
    lower, upper = np.where(apart, np.minimum(h, k), h), np.where(apart, -np.maximum(h, k), k)
    value = _same_side(lower, upper, np.where(apart, -r, r))
    return np.where(apart, scipy.special.ndtr(lower) - value, value)


def _same_side(h: Array, k: Array, r: Array) -> Array:
    """The same for h and k of one sign, or zero."""
    c = np.maximum(np.sqrt((1 - r) * (1 + r)), SMALLEST)

    def owen(x: Array, other: Array) -> Array:
        gap = affine(-x, other, r)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = np.where(x == 0, np.copysign(np.inf, gap), gap / (x * c))
        value: Array = scipy.special.owens_t(x, slope)
        return value

    negative = ((h == 0) & (k < 0)) | ((k == 0) & (h < 0))
    value = (scipy.special.ndtr(h) + scipy.special.ndtr(k)) / 2 - owen(h, k) - owen(k, h) - np.where(negative, 0.5, 0.0)
    zero = (h == 0) & (k == 0)
    return np.where(zero, 0.25 + np.arcsin(np.clip(r, -1, 1)) / (2 * np.pi), value)


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

    def bounded(self, s: Array, t: Array, r: Array, c: Array) -> Bounded:
        """The kernel with a bound of its rounding; infinite where nothing is known."""
        known = {_s: exact(s), _t: exact(t), _r: exact(r), _c: Bounded(c, 2 * UNIT * c)}
        found = evaluate(self.expression, known, _SPECIAL)
        shape = np.broadcast_shapes(r.shape, s.shape, t.shape)
        return Bounded(np.broadcast_to(found.value, shape), np.broadcast_to(found.error, shape))


@functools.lru_cache(maxsize=256)
def closed_form(f: Nonlinearity, g: Nonlinearity) -> ClosedForm | None:
    """The compiled closed form, or None where there is none."""
    expression = dual(f, g)
    if expression is None:
        return None
    moved = _in_scales(expression)
    own: dict[str, Callable[..., Any]] = {
        "Phi2": bivariate_cdf,
        _Affine.__name__: _from_ends,  # the printer calls it by its class
        "erf": scipy.special.erf,
        "Dawson": scipy.special.dawsn,
        # What rounding has put outside the domain comes back to its end; `ClosedForm.bounded` tells how far that was.
        "arcsin": lambda x: np.arcsin(np.clip(x, -1, 1)),
        "arccos": lambda x: np.arccos(np.clip(x, -1, 1)),
        "sqrt": lambda x: np.sqrt(np.maximum(x, 0)),
        "hyper": lambda top, bottom, x: scipy.special.hyp2f1(top[0], top[1], bottom[0], np.minimum(x, 1)),
    }
    modules: list[Any] = [own, "scipy", "numpy"]
    return ClosedForm(moved, sp.lambdify((_s, _t, _r, _c), moved, modules=modules, cse=True))


def _bounded_cdf(h: Bounded, k: Bounded, r: Bounded) -> Bounded:
    """Phi2 with its own error and those of its arguments: slopes at most phi(h), phi(k) and the density in r."""
    value = bivariate_cdf(h.value, k.value, r.value).reshape(
        np.broadcast_shapes(h.value.shape, k.value.shape, r.value.shape)
    )
    low, high = (np.arcsin(np.clip(r.value + side * r.error, -1, 1)) for side in (-1, 1))
    Phi = [scipy.special.ndtr(x.value) for x in (h, k)]
    apart = np.sign(h.value) * np.sign(k.value) < 0
    own = 8 * UNIT * np.where(apart, np.minimum(*Phi), Phi[0] + Phi[1])
    moved = [np.exp(-(np.maximum(np.abs(x.value) - x.error, 0) ** 2) / 2) * x.error for x in (h, k)]
    return Bounded(value, own + moved[0] + moved[1] + np.where(r.error > 0, high - low, 0.0))


def _bounded_affine(a: Bounded, right: Bounded, left: Bounded, r: Bounded) -> Bounded:
    """a r + b from its ends, with the error of the end that is nearer and of what is subtracted from it."""
    value = _from_ends(a.value, right.value, left.value, r.value)
    end = np.where(r.value > 0, right.error, left.error) + UNIT * np.abs(value)
    rest = 1 - np.abs(r.value)
    return Bounded(value, end + rest * (a.error + 2 * UNIT * np.abs(a.value)) + np.abs(a.value) * r.error)


def _bounded_dawson(x: Bounded) -> Bounded:
    value = scipy.special.dawsn(x.value)
    return Bounded(value, x.error + 4 * UNIT * np.abs(value))


_SPECIAL: dict[Any, Callable[..., Bounded]] = {Phi2: _bounded_cdf}


class _Affine(sp.Function):  # type: ignore[misc]
    """a r + b given as a, a + b, b - a, r: evaluated without cancellation at r = +-1 (see `affine`)."""

    nargs = 4


def affine(a: Array, b: Array, r: Array) -> Array:
    """a r + b as (a + b) - (1 - r) a for r > 0 and (b - a) + (1 + r) a else: 1 -+ r is exact next to +-1."""
    return _from_ends(a, a + b, b - a, r)


def _from_ends(a: Array, right: Array, left: Array, r: Array) -> Array:
    """a r + b given a and its values right and left, at r = 1 and -1."""
    value: Array = np.where(r > 0, right - (1 - r) * a, left + (1 + r) * a)
    return value


class Dawson(sp.Function):  # type: ignore[misc]
    """Dawson's integral exp(-x^2) int_0^x exp(t^2) dt."""

    nargs = 1


_SPECIAL[_Affine] = _bounded_affine
_SPECIAL[Dawson] = _bounded_dawson


def _in_scales(expression: sp.Expr) -> sp.Expr:
    """An expression in q11, q12, q22 rewritten in s, t, r and c = sqrt(1 - r^2).

    Inside the special functions a r + b becomes Affine(a, b, r): divided by c, its rounding would cost half the digits.
    """
    moved = expression.subs({q11: _s**2, q22: _t**2, q12: _s * _t * _r}, simultaneous=True)
    return _opened(_dawson(moved) if moved.has(sp.erfi) else moved, inside=False)


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
        a, b = e.coeff(_r, 1), e.coeff(_r, 0)
        # The values at r = +-1 as products: s t - (s^2 + t^2)/2 loses ten digits at scales of 1000, (s - t)^2 none.
        return _Affine(a, sp.factor(a + b), sp.factor(b - a), _r)
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
        total = np.zeros_like(r)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what is beyond float32 is refused later
            a, b = self.first[rows].astype(r.dtype), self.second[columns].astype(r.dtype)
            for k in range(a.shape[1] - 1, -1, -1):
                total *= r
                if a[:, k].any():
                    total += a[:, k, None] * b[:, k]
        return total


def scale_coefficients(f: Nonlinearity, scales: Array, degree: int) -> tuple[Array, Array]:
    """c_k of z -> f(s z) for each scale s (one row each), and E f(s z)^2.

    Accuracy: that of composite Gauss-Legendre panels on which f is resolved, about 1e-14 of sqrt(E f^2).
    """
    unique, where = np.unique(scales, return_inverse=True)
    part = resolved(f, float(unique[0]), float(unique[-1]))
    coefficients = np.empty((len(unique), degree + 1))
    second = np.empty(len(unique))
    for i, s in enumerate(unique):
        # Panels of length two; h_k has about sqrt(4 k)/pi waves a unit length.
        x, w = line_nodes(((part, float(s)),), max(24, int(3.2 * np.sqrt(degree))))
        y = part.values(s * x)
        second[i] = float(w @ y**2)
        before, now = np.zeros_like(x), np.ones_like(x)
        weighted = w * y
        for k in range(degree + 1):
            coefficients[i, k] = weighted @ now
            before, now = now, (x * now - np.sqrt(k) * before) / np.sqrt(k + 1)
    return coefficients[where], second[where]


def series(
    f: Nonlinearity, g: Nonlinearity, s: Array, t: Array, largest: float, tolerance: float, limit: int = MAX_TERMS
) -> Series:
    """The series for rows of scales s and columns of scales t, correlations up to `largest` in size.

    Accuracy: what is left out is at most largest^(K+1) sqrt(tail_f tail_g) <= tolerance sqrt(E f^2 E g^2).
    Errors: ConvergenceError where more than `limit` terms would be needed (kinks, and two inputs nearly parallel).
    """
    if f.deltas or g.deltas:
        raise InputError(
            "nonlinearity",
            "the gradient of a kinked function's kernel needs a closed form, and none is known here",
            "use the kernel itself, or a function without kinks",
        )
    # Where the smallest and the largest scale alone need too many terms, the others need not be looked at.
    ends = [np.unique([v.min(), v.max()]) for v in (s, t)]
    if len(ends[0]) < len(s) or len(ends[1]) < len(t):
        series(f, g, ends[0], ends[1], largest, tolerance, limit)
    degree = 32
    while True:
        a, fa = scale_coefficients(f, s, degree)
        b, gb = scale_coefficients(g, t, degree)
        tails = [np.max(np.maximum(m - np.sum(x**2, axis=1), 0) / np.maximum(m, 1e-300)) for x, m in ((a, fa), (b, gb))]
        left = largest ** (degree + 1) * np.sqrt(tails[0] * tails[1])
        # Parseval's difference itself is only known to rounding.
        if left <= tolerance or max(tails) <= 64 * np.finfo(float).eps:
            return Series(a, b)
        if degree >= limit:
            raise ConvergenceError(
                f"the series of {f.name} leaves out {left:.1g} after {degree} terms at correlation {largest:.6g}; "
                "loosen the tolerance, or drop nearly parallel rows"
            )
        degree = min(2 * degree, limit)
