"""The largest eigenvalue while a spike leaves the bulk (R3, R4): the law between Tracy-Widom and the Gaussian.

Within a distance of size^(-1/3) from the threshold the outlier fluctuates neither on the scale size^(-1/2) of a strong
spike nor freely of it. In the units of the edge, Lambda = (position - edge)/scale, the strength is

    w = -sign sqrt(|limit position - edge|/scale), negative above the threshold (Wigner: w = n^(1/3)(1 - theta)),

and F(x, w) = P(Lambda <= x) solves (Bloemendal & Virag 2013, Theorem 1.7)

    dF/dx + (2/beta) d^2F/dw^2 + (x - w^2) dF/dw = 0,   F -> 1 as x, w -> oo, F -> 0 as w -> -oo.

F(., oo) is Tracy-Widom; for w -> -oo Lambda is Gaussian of mean w^2 and variance 4|w|/beta. It is the probability that
dp = (x - p^2) dx + (2/sqrt beta) db from p = w never falls to -oo, so that for large x it is that of the unstable
point p = -sqrt x: Phi((w + sqrt x) sqrt(beta sqrt x)). With w = cot phi the equation is solved downwards in x on
0 <= phi <= pi; at phi = 0 it needs no boundary value.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import RectBivariateSpline
from scipy.linalg import solve_banded
from scipy.special import log_ndtr, ndtr

from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.numerics.trials.domain import finite
from bulkedge.theory.numbers.errors import InputError

_TOP, _BOTTOM, _STEPS, _ANGLES = 40.0, -9.0, 2450, 1400
_TINY = 1e-30
STRONG = -4.5  # beyond it the Gaussian law; its mean and spread are then right to a per cent


@functools.cache
def _table(beta: int) -> RectBivariateSpline:
    """log(1 - F) on a grid of (x, phi), by Crank-Nicolson steps: 1 - F solves the same equation and keeps its tail."""
    phi = np.linspace(0, np.pi, _ANGLES + 1)
    h, dx = phi[1], (_TOP - _BOTTOM) / _STEPS
    s, c = np.sin(phi), np.cos(phi)
    with np.errstate(divide="ignore", over="ignore"):
        w = c / s
    root = math.sqrt(_TOP)
    S = ndtr(-(w + root) * math.sqrt(beta * root))
    S[-1] = 1.0
    diffusion, drift = 2 / beta * s**4, 4 / beta * s**3 * c
    kept = [S]
    for step in range(_STEPS):
        x = _TOP - (step + 0.5) * dx
        speed = drift - (x * s**2 - c**2)
        # Rows of the operator: lower, middle, upper; at phi = 0 a one-sided derivative, S_phi = (4 S1 - 3 S0 - S2)/2h.
        low, up = diffusion / h**2 - speed / (2 * h), diffusion / h**2 + speed / (2 * h)
        middle = -2 * diffusion / h**2
        change = np.zeros_like(S)
        change[1:-1] = low[1:-1] * S[:-2] + middle[1:-1] * S[1:-1] + up[1:-1] * S[2:]
        change[0] = speed[0] * (4 * S[1] - 3 * S[0] - S[2]) / (2 * h)
        bands = np.zeros((4, len(S)))  # two upper diagonals, one lower
        bands[2] = 1 - dx / 2 * middle
        bands[1, 2:] = -dx / 2 * up[1:-1]
        bands[3, :-2] = -dx / 2 * low[1:-1]
        bands[2, 0] = 1 + dx / 2 * speed[0] * 3 / (2 * h)
        bands[1, 1] = -dx / 2 * speed[0] * 4 / (2 * h)
        bands[0, 2] = dx / 2 * speed[0] / (2 * h)
        bands[2, -1] = 1.0
        S = solve_banded((1, 2), bands, S + dx / 2 * change, check_finite=False)
        S[-1] = 1.0
        kept.append(S)
    return RectBivariateSpline(
        np.linspace(_BOTTOM, _TOP, _STEPS + 1)[::10], phi[::4], np.log(np.clip(np.array(kept)[::-10, ::4], _TINY, 1))
    )


def sf(x: ArrayLike, w: float, beta: int = 1) -> Floats:
    """1 - F(x, w) = P(Lambda > x); w = inf is the Tracy-Widom law.

    Accuracy: 2e-5 absolutely and, in the upper tail, 1 per cent relatively for w >= -4.5 (measured at w = inf and,
    complex, w = 0, where F is known); below, the Gaussian limit, which is .7 per cent off at w = -4.5 and improves as
    |w|^(-3/2).
    Errors: InputError for a beta other than 1 (real) or 2 (complex).
    Source: R4; Bloemendal & Virag 2013; Baik, Ben Arous & Peche 2005 (complex).
    """
    if beta not in (1, 2):
        raise InputError("beta", f"{beta!r} is neither 1 (real) nor 2 (complex)", "give 1 or 2")
    points = finite(x, "x")
    if w < STRONG:
        return np.asarray(ndtr((w**2 - points) / math.sqrt(4 * -w / beta)))
    inside = np.clip(points, _BOTTOM, _TOP).ravel()
    logs = _table(beta)(inside, np.full(inside.shape, math.atan2(1, w)), grid=False)
    return np.asarray(np.exp(np.minimum(logs, 0)).reshape(points.shape))


def log_tails(x: float, w: float, beta: int = 1) -> tuple[float, float]:
    """log P(Lambda > x) and log P(Lambda <= x); the second one's far tail is known for w < -4.5 alone (else 1e-5)."""
    if w < STRONG:
        far = (x - w**2) / math.sqrt(4 * -w / beta)
        return float(log_ndtr(-far)), float(log_ndtr(far))
    upper = float(sf(x, w, beta))
    return math.log(max(upper, _TINY)), math.log(max(-math.expm1(math.log(max(upper, _TINY))), _TINY))


@functools.lru_cache(maxsize=512)
def moments(w: float, beta: int = 1) -> tuple[float, float]:
    """Mean and standard deviation of Lambda at w."""
    if w < STRONG:
        return w**2, math.sqrt(4 * -w / beta)
    x = np.linspace(_BOTTOM, _TOP, 3001)
    upper = sf(x, w, beta)
    h = x[1] - x[0]
    mean = _BOTTOM + h * (upper.sum() - (upper[0] + upper[-1]) / 2)
    above = (x - _BOTTOM) * upper
    second = 2 * h * (above.sum() - (above[0] + above[-1]) / 2)
    return float(mean), math.sqrt(float(second) - (mean - _BOTTOM) ** 2)
