"""Ledger of G13: the trace of the rest on drawn weights, and the constant as a ratio of two laws of directions."""

from __future__ import annotations

import math

import numpy as np

from bulkedge.numerics.functions.legendre import legendre
from bulkedge.numerics.kernels.upper_bound import upper_bound
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo
from bulkedge.numerics.trials.stream import stream

SOURCE = "G13; paper F, Theorem 4.1"
D, A, B, _TAU, WIDTH = 10, 1.2, 6.0, 0.6, 0.02


def _cosine(w: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(w[:, 0]) / np.linalg.norm(w, axis=1))


@stream("G13.rest")
def trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """E[|w|^2; |t| > tau]/2, and E[|w|^2; t near tau] over the probability of a uniform direction there."""
    isotropic = rng.standard_normal((size, D)) / math.sqrt(D)
    w = isotropic * np.sqrt([A + B, *[A] * (D - 1)])
    energy, t = np.sum(w**2, axis=1), _cosine(w)
    near = np.abs(t - _TAU) < WIDTH
    return {
        "rest": float(np.mean(energy * (t > _TAU))) / 2,
        # Over the exact probability of the band under the uniform law.
        "constant": float(np.mean(energy * near)) / _band(),
    }


def _band() -> float:
    """The probability that a uniform direction has | |t| - tau | below WIDTH, by Gauss and Legendre."""
    nodes, weights = legendre(40)
    t = _TAU + WIDTH * nodes
    norm = math.exp(math.lgamma(D / 2) - math.lgamma((D - 1) / 2)) / math.sqrt(math.pi)
    return float(2 * WIDTH * norm * weights @ (1 - t**2) ** ((D - 3) / 2))


def _constant() -> float:
    return upper_bound(D, A, B, _TAU)[0]


def _rest() -> float:
    return upper_bound(D, A, B, _TAU)[1]


def _absolute() -> float:
    return A


def _isotropic() -> float:
    """The tail without a spike."""
    return upper_bound(D, A, 0.0, _TAU)[1]


CHECKS = (
    Check(
        "G13.constant",
        "`C_tau` at `d = 10, B = 6, tau` = .6: the energy of the weights near `|t| = tau` over a uniform law's share",
        SOURCE,
        _constant,
        # The band's width changes the mean of rho by rho'' WIDTH^2/6, a relative 6e-3.
        MonteCarlo(trial, "constant", 4000, 120, 1200, lambda size: 0.006 * _constant()),
        0.5,
        Control("an absolute constant: `A`", _absolute),
    ),
    Check(
        "G13.rest",
        "`eps_tau` at `d = 10, B = 6, tau = .6`: half the energy of the weights within `tau` of the spike's axis",
        SOURCE,
        _rest,
        MonteCarlo(trial, "rest", 4000, 120, 1200),
        0.05,
        Control("the tail without a spike", _isotropic),
    ),
)
