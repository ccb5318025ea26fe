"""The Tracy-Widom laws (R4), beta = 1 and 2, by Fredholm determinants (Bornemann 2010).

With the kernel A_s(x, y) = Ai(x + y + s) on L^2(0, oo),
F_1(s) = det(I - A_s),   F_2(s) = det(I - A_s^2) = det(I - A_s) det(I + A_s)   (Ferrari & Spohn 2005).
The kernel is entire, so Gauss-Legendre nodes on a finite interval give the determinants to machine precision.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import airy

from bulkedge.numerics.functions.legendre import legendre
from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.numerics.trials.domain import finite
from bulkedge.theory.numbers.errors import InputError

_REACH = 16.0  # Ai(16) < 1e-19
_LOWEST = -12.0  # F_1 and F_2 are below 1e-30 there
_HIGHEST = 40.0  # and 1 - F below 1e-70


def _check_beta(beta: int) -> int:
    if beta not in (1, 2):
        raise InputError("beta", f"{beta!r} is not supported", "give 1 (real) or 2 (complex)")
    return beta


def _kernel(s: float) -> tuple[Floats, Floats]:
    """A_s and its derivative in s on the nodes, symmetrised by the square roots of the weights."""
    # Further left the kernel oscillates and needs more nodes; with these F is right to 1e-13.
    nodes, weights = legendre(40 if s > -2 else 56 if s > -6 else 64)
    length = max(_REACH - s, 4.0)
    x = length * (1 + nodes) / 2
    root = np.sqrt(length * weights / 2)
    # The kernel depends on x + y alone: half of the matrix is enough.
    row, column = np.triu_indices(len(x))
    ai, slope, _, _ = airy(x[row] + x[column] + s)
    kernel, change = np.empty((len(x), len(x))), np.empty((len(x), len(x)))
    frame = root[row] * root[column]
    kernel[row, column] = kernel[column, row] = frame * ai
    change[row, column] = change[column, row] = frame * slope
    return kernel, change


def _log_cdf(values: NDArray[np.floating], beta: int) -> float:
    """log F_beta from the eigenvalues of A_s; one within rounding of 1 means F below 1e-16, as good as 0."""
    values = np.minimum(values, 1 - 2.0**-53)
    return float(np.sum(np.log1p(-values if beta == 1 else -(values**2))))


@functools.lru_cache(maxsize=4096)
def _log_at(s: float, beta: int) -> float:
    return _log_cdf(np.linalg.eigvalsh(_kernel(s)[0]), beta)


def cdf(s: ArrayLike, beta: int = 1) -> Floats:
    """F_beta(s), the limit law of the largest eigenvalue, centred and scaled (`johnstone`).

    Accuracy: 1e-13 absolutely; F_1(0) = 0.83190806620295, F_2(0) = 0.96937282835526.
    Convention: beta = 1 real (GOE), 2 complex (GUE); mean -1.2065335745820 and -1.7710868074116.
    Source: R4; Tracy & Widom 1994, 1996.
    """
    return _each(lambda v: math.exp(_log_at(v, beta)), s, beta, low=0.0, high=1.0)


def sf(s: ArrayLike, beta: int = 1) -> Floats:
    """1 - F_beta(s), to 1e-12 relatively in the upper tail (no cancellation)."""
    return _each(lambda v: -math.expm1(_log_at(v, beta)), s, beta, low=1.0, high=0.0)


def pdf(s: ArrayLike, beta: int = 1) -> Floats:
    """The density, from the trace of the resolvent (no finite differences)."""

    def density(v: float) -> float:
        kernel, slope = _kernel(v)
        values, vectors = np.linalg.eigh(kernel)
        strain = np.sum(vectors * (slope @ vectors), axis=0)  # d/ds of each eigenvalue
        resolvent = 1 / (1 - np.minimum(values, 1 - 2.0**-53))
        growth = -resolvent if beta == 1 else -2 * values * resolvent / (1 + values)
        return math.exp(_log_cdf(values, beta)) * float(growth @ strain)

    return _each(density, s, beta, low=0.0, high=0.0)


def ppf(q: ArrayLike, beta: int = 1) -> Floats:
    """Quantiles: F_beta(s) = q. Errors: InputError for q outside (0, 1)."""
    return _quantile(q, beta, upper=False)


def isf(q: ArrayLike, beta: int = 1) -> Floats:
    """Upper quantiles: 1 - F_beta(s) = q, also for tiny q."""
    return _quantile(q, beta, upper=True)


def _quantile(q: ArrayLike, beta: int, upper: bool) -> Floats:
    levels = finite(q, "q")
    _check_beta(beta)
    if np.any((levels <= 0) | (levels >= 1)):
        raise InputError("q", "holds a number outside (0, 1)", "give probabilities")
    of = sf if upper else cdf

    def solve(level: float) -> float:
        # In logarithms, which are nearly straight in the tails.
        def gap(s: float) -> float:
            return math.log(max(float(of(s, beta)), 1e-300)) - math.log(level)

        return float(brentq(gap, _LOWEST if upper else -11.0, _HIGHEST if upper else 12.0, xtol=1e-13, rtol=1e-14))

    return np.array([solve(level) for level in levels.ravel()]).reshape(levels.shape)


def _each(function: object, s: ArrayLike, beta: int, low: float, high: float) -> Floats:
    points = finite(s, "s")
    _check_beta(beta)
    flat = np.empty(points.size)
    for index, value in enumerate(points.ravel()):
        if value <= _LOWEST:
            flat[index] = low
        elif value >= _HIGHEST:
            flat[index] = high
        else:
            flat[index] = function(float(value))  # type: ignore[operator]
    return flat.reshape(points.shape)


def johnstone(n: int, p: int, beta: int = 1) -> tuple[float, float]:
    """Centre and scale of the largest eigenvalue of Z^T Z, Z n x p with iid N(0, 1) entries (complex for beta = 2).

    (lambda_1 - centre)/scale is Tracy-Widom up to O(min(n, p)^(-2/3)): centre (sqrt(n - 1/2) + sqrt(p - 1/2))^2,
    scale (sqrt(n - 1/2) + sqrt(p - 1/2)) (1/sqrt(n - 1/2) + 1/sqrt(p - 1/2))^(1/3); no halves for beta = 2.
    Source: R4; Johnstone 2001, Ma 2012.
    """
    half = 0.5 if _check_beta(beta) == 1 else 0.0
    if min(n, p) < 1:
        raise InputError("n, p", f"{n} x {p} is not the shape of a matrix", "give positive integers")
    a, b = math.sqrt(n - half), math.sqrt(p - half)
    return (a + b) ** 2, (a + b) * (1 / a + 1 / b) ** (1 / 3)
