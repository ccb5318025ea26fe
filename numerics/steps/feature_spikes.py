"""The spikes of a trained feature matrix, simulated and predicted from its mean entries: the picture M.spikes."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from bulkedge.numerics.functions.functions import HermiteConstants, Vectorised, constants, vectorised
from bulkedge.numerics.steps.network import draw_readout, draw_weights, gradient_step
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity

Array = NDArray[np.float64]

ACTIVATION, LINK, NOISE = "softplus - 0.8060591833474", "tanh(z) + He(2, z)/4", 0.1
SHOWN = 6  # singular values
SPIKES = 3


@functools.cache
def _functions() -> tuple[Vectorised, Vectorised, Vectorised, HermiteConstants, float]:
    f, g = nonlinearity(ACTIVATION), nonlinearity(LINK)
    c = constants(f)
    assert c.derivative_second is not None
    rest = (constants(g).second_moment + NOISE**2) * (c.derivative_second - c.mu1**2)
    return vectorised(f), vectorised(f.derivative()), vectorised(g), c, rest


@stream("M1.full.constant")
def spikes_trial(rng: np.random.Generator, size: int, exponent: str) -> dict[str, float]:
    """One network after a step eta = 2 n^exponent, d = N = n = size: singular values of F/sqrt n and where they belong.

    `s1`..`s6`: found; `p1`..`p3`: predicted (`through_bulk` of the mean entries' singular values; the bulk's edge where
    a spike stays inside); `share1`..`share3`: of p_k of M1 in the span of the three leading left vectors.
    """
    sigma, slope, link, c, rest = _functions()
    d = N = n = size
    W, a = draw_weights("sphere", d, N, rng), draw_readout("gaussian", N, rng)
    beta = rng.standard_normal(d)
    beta /= np.linalg.norm(beta)
    X = rng.standard_normal((n, d))
    y = link(X @ beta) + NOISE * rng.standard_normal(n)
    Z = rng.standard_normal((n, d))
    t = Z @ (X.T @ y / n)
    eta = 2 * n ** float(exponent)
    vectors, s, _ = np.linalg.svd(sigma(Z @ gradient_step(W, a, [(X, y)], sigma, slope, eta)), full_matrices=False)
    # E_xi (mu1 t + xi)^k, orthonormalised in order: the predicted left singular space.
    mean = c.mu1 * t
    basis = np.linalg.qr(np.stack([mean, mean**2 + rest, mean**3 + 3 * rest * mean], axis=1))[0]
    shares = np.sum((vectors[:, :SPIKES].T @ basis) ** 2, axis=0)
    noise = np.linalg.svd(sigma(Z @ W), compute_uv=False) / math.sqrt(n)
    signal = np.linalg.svd(_mean_entries(eta * mean, a, eta**2 * rest), compute_uv=False)[:SPIKES] / math.sqrt(n)
    return {
        **{f"s{i}": float(x) for i, x in enumerate(s[:SHOWN] / math.sqrt(n), start=1)},
        **{f"p{i}": through_bulk(float(x), noise) for i, x in enumerate(signal, start=1)},
        **{f"share{i}": float(x) for i, x in enumerate(shares, start=1)},
    }


def _mean_entries(t: Array, a: Array, rest: float) -> Array:
    """E sigma(t_i a_j + sqrt(1 + rest a_j^2) zeta): the entries given t and the readout, by Gauss-Hermite (smooth)."""
    sigma = _functions()[0]
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    centre, spread = np.outer(t, a), np.sqrt(1 + rest * a**2)
    total = np.zeros_like(centre)
    for x, w in zip(nodes, weights / weights.sum(), strict=True):
        total += w * sigma(centre + spread * x)
    return total


def through_bulk(strength: float, noise: Array) -> float:
    """Where a spike of this strength is seen in a square noise matrix of these singular values: D(s) = 1/strength^2.

    D(s) = (mean s/(s^2 - x^2))^2 (Benaych-Georges & Nadakuditi 2012). Valid for: signals free of the noise. A left
    direction that the noise's rows know as well, as t = Z u here, is seen one or two per cent further out.
    """
    edge = float(noise[0])

    def excess(s: float) -> float:
        return float(np.mean(s / (s * s - noise[1:] ** 2))) ** 2 * strength**2 - 1

    low = edge * (1 + 1e-4)
    return float(brentq(excess, low, 10 * (strength + edge))) if excess(low) > 0 else edge
