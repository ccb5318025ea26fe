"""Spiked random features at the maximal step (C1): a fixed point in two unknowns, then linear algebra.

Only V1 and V2 need iterating: the means (m, theta), psi and the overlaps (q1, q2) are then linear systems. The
averages over the eigenvalues of W Pi W^T are closed forms of the Marchenko-Pastur resolvent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.risk.conditional import gauss_nodes, local_moments
from bulkedge.numerics.risk.conditional_limit import Pair
from bulkedge.numerics.risk.fixed_point import fixed_point
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.gradient import direction_energy, rest_variance

Array = NDArray[np.float64]

TOLERANCE = 1e-13
MAX_ITERATIONS = 500


@dataclass(frozen=True)
class SpikedRisk:
    """The test error (noise excluded); `status` is "converged", `residual` the relative change of (V1, V2)."""

    test: float
    V1: float
    V2: float
    q1: float
    q2: float
    iterations: int
    residual: float
    status: str


@dataclass(frozen=True)
class _Spectrum:
    """Averages of 1/S, D/S, 1/S^2, D/S^2, D^2/S^2 for S = a + b D."""

    one: float
    d: float
    one2: float
    d2: float
    dd2: float


def spectrum_averages(a: float, b: float, scale: float, ratio: float) -> _Spectrum:
    """Averages over the eigenvalues D of scale W W^T, W p x d with rows of norm one, ratio = p/d.

    g = x (1/p) tr (scale W W^T + x)^-1 solves ratio scale g^2 + (x + scale (1 - ratio)) g - x = 0, x = a/b.
    """
    x = a / b
    linear = x + scale * (1 - ratio)
    root = math.sqrt(linear**2 + 4 * ratio * scale * x)
    g = 2 * x / (linear + root) if linear > 0 else (root - linear) / (2 * ratio * scale)
    h = g / x
    slope = ((1 - g) / root - h) / x  # dh/dx
    one, one2 = h / b, -slope / b**2
    return _Spectrum(one, (1 - a * one) / b, one2, (one - a * one2) / b, (1 - 2 * a * one + a**2 * one2) / b**2)


def spiked_features_risk(
    pair: Pair,
    samples: float,
    step_samples: float,
    width: float,
    penalty: float,
    step: float,
    *,
    noise: float = 0.0,
    recorded: bool = False,
    count: int = 64,
) -> SpikedRisk:
    """Test error of ridge regression on spiked random features, noise excluded.

    Shapes/units: P5's -- samples = n/d, step_samples = n0/d, width = p/d, `penalty` lambda of the sum-loss ridge
    |y - Phi a/sqrt p|^2 + lambda |a|^2 (paper O's ridge is lambda p/n), eta = step sqrt(p), constant readout.
    `recorded` takes the form without 1/beta, right at p = d only.
    Valid for: activations without a mean output, E sigma(z) = 0, or after subtraction of f (P5 takes y for y - f).
    Accuracy: fixed point to 1e-13, Gauss-Hermite in k.
    Errors: InputError for numbers that are not positive; ConvergenceError.
    Source: C1; P5, its fixed-point equations, corrected.
    """
    for name, value in (("samples", samples), ("batch", step_samples), ("width", width), ("ridge", penalty)):
        if not (value > 0 and math.isfinite(value)):
            raise InputError(name, f"{value} is not positive and finite", "give a number above 0")
    if not (math.isfinite(step) and math.isfinite(noise)):
        raise InputError("step", "or noise is not finite", "give finite numbers")
    divisor = 1.0 if recorded else width
    second = pair.link_second + noise**2
    norm = math.sqrt(direction_energy(pair.link_slope, second, step_samples))
    r, c2 = step * pair.mu1 * norm, 1 + step**2 * rest_variance(second, pair.slope_variance, step_samples)
    gamma = pair.link_slope / norm
    rho = math.sqrt(1 - gamma**2)
    kappa, w = gauss_nodes(1, count)
    k = kappa[:, 0]
    m = local_moments(pair.activation, pair.kinks, r * k, np.full(len(k), math.sqrt(c2)))
    mu0, mu1 = m.mean, m.slope
    mu2sq = np.maximum(m.second - mu0**2 - c2 * mu1**2, 0.0)
    y = local_moments(pair.link, pair.link_kinks, gamma * k, np.full(len(k), max(rho, 1e-9)))
    h, h2, h1 = y.mean, y.second + noise**2, rho * y.slope

    def hats(V: Array) -> tuple[float, float]:
        v = w / (1 + mu1**2 * V[0] + mu2sq * V[1])
        return samples * float(v @ mu1**2), samples * float(v @ mu2sq)

    def image(V: Array) -> tuple[Array, _Spectrum]:
        V1_hat, V2_hat = hats(V)
        found = spectrum_averages(penalty + V2_hat / divisor, V1_hat / divisor, c2, width)
        return np.array([found.d, found.one]), found

    settled = fixed_point(image, np.ones(2), what="V1, V2", tolerance=TOLERANCE, iterations=MAX_ITERATIONS, memory=4)
    (V1, V2), average = settled.value, settled.extra
    v = w / (1 + mu1**2 * V1 + mu2sq * V2)
    # theta = thetahat <F/S> and m minimise; both are linear in the other.
    F = c2 * average.one
    system = np.array(
        [[float(v @ mu0**2), float(v @ (mu0 * mu1 * k))], [samples * F * float(v @ (k * mu1 * mu0)), 1.0]]
    )
    system[1, 1] += samples * F * float(v @ (k * mu1) ** 2)
    right = np.array([float(v @ (mu0 * h)), samples * F * float(v @ (k * mu1 * h))])
    if system[0, 0] < 1e-14 * float(v.sum()):  # no mean given k (no spike and E sigma = 0): nothing for m to fit
        system[0] = [1.0, 0.0]
        right[0] = 0.0
    mean, theta = np.linalg.solve(system, right)
    theta_hat = theta / F
    psi_hat = samples * float(v @ (mu1 * h1))
    psi = psi_hat * average.d
    c = mean * mu0 + mu1 * k * theta
    base = c**2 + h2 - 2 * c * h - 2 * mu1 * psi * h1
    # q_i = L_i0 + L_i1 qhat_1 + L_i2 qhat_2 and qhat = samples E[mu^2 (base + mu1^2 q1 + mu2^2 q2) v^2]: linear in q.
    v2 = w / (1 + mu1**2 * V1 + mu2sq * V2) ** 2
    mu = np.stack([mu1**2, mu2sq])
    gain = samples * (mu * v2) @ mu.T
    start = samples * (mu * v2) @ base
    L = np.array([[average.dd2, average.d2], [average.d2, average.one2]]) / divisor
    own = np.array([theta_hat**2 * c2 * average.d2 + psi_hat**2 * average.dd2,
                    theta_hat**2 * c2 * average.one2 + psi_hat**2 * average.d2]) / divisor  # fmt: skip
    q = np.linalg.solve(np.eye(2) - L @ gain, own + L @ start)
    test = float(w @ (base + mu.T @ q)) - noise**2
    return SpikedRisk(
        test, float(V1), float(V2), float(q[0]), float(q[1]), settled.iterations, settled.residual, "converged"
    )
