"""G4: how far k1 is from the kernel averaged over batches, by deterministic quadrature.

Given its batch a neuron's weight is w + kappa b X^T y, kappa = c1 eta/(n m), b ~ N(0, 1). Averaged over batches its
part across w* is sqrt(1/d + kappa^2 b^2 n E y^2) times a standard normal vector -- a scale mixture in b -- and the
part along w* is N(kappa b tau, 1/d) with tau = sum_i y_i z_i of mean n mu1* and variance n Var(y z). k1 takes the
Gaussian of the same covariance. Both operators are Gram matrices on the Hermite basis of
numerics.kernels.truncated_spectrum; their difference is summed over sectors. (sum_i y_i^2 is taken at its mean: its
fluctuation is of relative order n^-1/2 inside terms that are already of second order.)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.functions.hermite import hermite_table
from bulkedge.numerics.gaussian.plane import FINER, Resolved, line_nodes, resolved
from bulkedge.numerics.kernels.radial import length_rule
from bulkedge.numerics.kernels.spiked_spectrum import multiplicity
from bulkedge.numerics.kernels.truncated_spectrum import angular_factor
from bulkedge.numerics.steps.covariance import Step, label_moments, moment
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.steps import covariance as symbols

Array = NDArray[np.float64]
Profile = Callable[[Array], list[Array]]


@dataclass(frozen=True)
class Weights:
    """A discrete law of (component along w*, length across it), as nodes and weights."""

    along: Array
    across: Array
    weight: Array


def distance(step: Step, d: int, degree: int = 6, sectors: int = 2) -> float:
    """Hilbert-Schmidt norm of T1* - T1 at dimension d, on Hermite degrees <= `degree` and sectors 0..`sectors`.

    Accuracy: what is left out is of relative order 1/d: degree k of sector j scales as d^{-(k-j)/2} and the number of
    its copies as d^j against squared elements of order d^{-2j}. The quadrature is far below that.
    Errors: ConvergenceError for an activation with a pole, or too steep for quadrature.
    Source: G4 (paper F, Theorem 3.1).
    """
    mixture, gaussian = _laws(step, d)
    profile = _profile(step, degree)
    total = 0.0
    for j in range(sectors + 1):
        for parity in (0, 1):
            basis = [(k, a) for k in range(j + parity, degree + 1, 2) for a in range(parity, k - j + 1, 2)]
            difference = _gram(basis, j, d, mixture, profile) - _gram(basis, j, d, gaussian, profile)
            # Each sector occurs as often as its harmonics have members; the norm counts all of them.
            total += multiplicity(d - 1, j) * float(np.sum(difference**2))
    return math.sqrt(total)


def _laws(step: Step, d: int) -> tuple[Weights, Weights]:
    """The law averaged over batches and the Gaussian of the same covariance."""
    n, m = round(step.alpha * d), round(step.beta * d)
    kappa = moment(step, symbols.act[1]) * step.eta(d) / (n * m)
    label2, mean1, twice = label_moments(step.functions()[1], step.noise)
    # Given a readout b the step moves a weight by b times the batch's direction: a mean along w*, a fluctuation along
    # it, and an isotropic part of this energy.
    energy = kappa**2 * n * label2
    mean, spread = kappa * n * mean1, kappa * math.sqrt(n * (twice - mean1**2))
    b, wb = _gauss_hermite(20)
    e, we = _gauss_hermite(6)
    x, wx = _gauss_hermite(20)
    chi, log_weight = length_rule(d - 1, 30, (7.0, 7.0))
    wc = np.exp(log_weight)
    shape = np.ix_(b, e, x, chi)
    along = shape[0] * (mean + spread * shape[1]) + shape[2] / math.sqrt(d)
    across = np.sqrt(1 / d + energy * shape[0] ** 2) * shape[3]
    weight = np.prod(np.broadcast_arrays(*np.ix_(wb, we, wx, wc)), axis=0)
    mixture = Weights(*(np.broadcast_to(v, weight.shape).ravel() for v in (along, across, weight)))
    # The Gaussian of the same covariance: what the averaged law is compared with.
    spike = math.sqrt(1 / d + mean**2 + spread**2)
    pair = np.ix_(x, chi)
    flat = np.prod(np.broadcast_arrays(*np.ix_(wx, wc)), axis=0)
    bulk = math.sqrt(1 / d + energy)
    gaussian = Weights(*(np.broadcast_to(v, flat.shape).ravel() for v in (spike * pair[0], bulk * pair[1], flat)))
    return mixture, gaussian


def _gram(basis: list[tuple[int, int]], j: int, d: int, law: Weights, profile: Profile) -> Array:
    length = np.hypot(law.along, law.across)
    t = law.along / length
    coefficients = profile(length)
    # Half of the weight on each side makes the Gram matrix symmetric and positive, whatever rounding does.
    root = np.sqrt(law.weight)
    factor = np.stack([coefficients[k] * angular_factor(d, k, a, j, t) * root for k, a in basis])
    return factor @ factor.T


def _profile(step: Step, degree: int) -> Profile:
    """c_k(r) = E[sigma(rz) h_k(z)]: r^p c_k(1) for a homogeneous activation, else by interpolation in r."""
    f, _ = step.functions()
    p = f.homogeneity
    if p is not None:
        c = _coefficients(resolved(f, 1.0, 1.0, line=True), 1.0, degree)
        return lambda r: [c[k] * r**p for k in range(degree + 1)]
    # Chebyshev in r over the interval that matters; c_k is analytic around it, whatever the kinks of sigma.
    return functools.partial(_interpolated, f, degree)


def _coefficients(sigma: Resolved, radius: float, degree: int) -> Array:
    """E[sigma(radius z) h_k(z)], k = 0..degree."""
    z, w = line_nodes(((sigma, radius),), FINER)
    found: Array = hermite_table(z, degree) @ (w * sigma.values(radius * z))
    return found


def _interpolated(f: Nonlinearity, degree: int, r: Array) -> list[Array]:
    low, high = float(r.min()), float(r.max())
    sigma = resolved(f, low, high, line=True)
    count = 40
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    table = np.empty((count, degree + 1))
    for i, node in enumerate(nodes):
        table[i] = _coefficients(sigma, low + (high - low) * (node + 1) / 2, degree)
    fit = np.polynomial.chebyshev.chebvander(nodes, count - 1).T @ table * (2 / count)
    fit[0] /= 2
    position = 2 * (r - low) / (high - low) - 1
    return [np.asarray(np.polynomial.chebyshev.chebval(position, fit[:, k])) for k in range(degree + 1)]


@functools.lru_cache(maxsize=8)
def _gauss_hermite(count: int) -> tuple[Array, Array]:
    x, w = np.polynomial.hermite_e.hermegauss(count)
    return x, w / w.sum()
