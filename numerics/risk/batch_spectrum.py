"""The covariance that one gradient step leaves in the rows of the weights: its spectrum, in a few nodes (L1).

Given the batch the rest of the step has, beside the spike along u = X^T y/n1, rows of covariance (eta a_j)^2 v K/d with

    K = (1/n1) X^T diag(omega) X,   omega = y^2/E y^2,   v = E y^2 Var(sigma'(z))/alpha,   tr K/d = 1:

it spans n1 dimensions alone, so that on a batch smaller than d it is far from isotropic. With the resolvent
m = (1/d) tr (K + x)^-1 and delta = m/alpha, sample by sample left out,

    1/m = x + E[omega/(1 + omega delta)],   B = beta^T (K + x)^-1 beta = 1/(x + E[omega z^2/(1 + omega delta)]),
    beta^T (K + x)^-1 u = C B,   u^T (K + x)^-1 u = delta E[y^2/(1 + omega delta)] + C^2 B,
    C = E[y z/(1 + omega delta)].

A law mu is replaced by the quadrature that is exact for the functions 1/((tau + x_i)(tau + x_j)), x_i a geometric
series with infinity: the projection of tau on the span of 1 and the 1/(tau + x_i).
Valid for: sigma' without a linear part (odd sigma). With E sigma'' not 0 a part (E sigma'')^2/Var(sigma') of the rest
has the covariance A^2, A = X^T diag(y) X/n1 - E y, in place of K, and is correlated with W0 through A. A^2 is K times a
constant for n1 << d and has its trace always; the correlation is odd in a_j (what is left of both is measured).
Source: L1, O1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.theory.numbers.errors import ConvergenceError

Array = NDArray[np.float64]

POINTS = 9
_DEPENDENT = 1e-11  # of the functions' Gram matrix: what is below is rounding
STEP = 1e-30  # of the complex derivative, which has no cancellation


@dataclass(frozen=True)
class BatchSpectrum:
    """Nodes and weights of K's spectrum (`bulk`), and as beta's part orthogonal to u sees it (`aligned`) within u's
    orthogonal complement; `along` = u^T K u/|u|^2. The weights of each sum to one."""

    bulk: tuple[Array, Array]
    aligned: tuple[Array, Array]
    along: float


ISOTROPIC = BatchSpectrum((np.ones(1), np.ones(1)), (np.ones(1), np.ones(1)), 1.0)


def batch_spectrum(y: Array, z: Array, weights: Array, alpha: float, points: int = POINTS) -> BatchSpectrum:
    """The spectrum for a label's law, given as nodes (y, z) and their weights (which sum to one), at n1/d = alpha.

    Accuracy: the risk of L1 is right to 1e-10 (bounded labels) .. 4e-6 (He_3); fewer points tell how well.
    Errors: ConvergenceError.
    """

    def mean(values: Array) -> float:
        return float(weights @ values)

    omega = y**2 / mean(y**2)
    slope, noise2 = mean(y * z), mean(y**2) / alpha
    norm2 = slope**2 + noise2
    grid = np.asarray(np.geomspace(0.2 / points, 9 * points, points), dtype=np.float64)
    x = grid + 1j * STEP
    m, last = np.zeros_like(x), False
    for iteration in range(400):
        damped = 1 + np.multiply.outer(m / alpha, omega)
        image = 1 / (x + (omega / damped) @ weights)
        if iteration < 60:  # monotone from 0 to the root
            m = image
            continue
        # Newton's method on m - image(m), whose derivative is in (0, 1).
        step = (m - image) / (1 - image**2 * ((omega**2 / damped**2) @ weights) / alpha)
        m = m - step
        if last:
            break
        last = bool(np.max(np.abs(step / m)) < 1e-13)  # the derivative settles one step later
    else:
        raise ConvergenceError("the batch's spectrum did not converge; give a label with lighter tails")
    damped = 1 + np.multiply.outer(m / alpha, omega)
    target = 1 / (x + (omega * z**2 / damped) @ weights)
    mixed = (y * z / damped) @ weights
    own = m / alpha * ((y**2 / damped) @ weights) + mixed**2 * target
    rest2 = 1 - slope**2 / norm2  # |beta_perp|^2
    along2 = slope**2 * mean(omega * z**2) + noise2 + 2 * slope * mean(omega * y * z) / alpha
    along2 += mean(omega * y**2) / alpha**2
    bulk = _quadrature(grid, m, 1.0)
    if rest2 < 1e-9:
        return BatchSpectrum(bulk, bulk, along2 / norm2)
    cross = slope * mean(omega * z**2) + mean(omega * y * z) / alpha  # beta^T K u
    c = slope / norm2
    seen = (mean(omega * z**2) - 2 * c * cross + c**2 * along2) / rest2
    aligned = _quadrature(grid, (target - (mixed * target) ** 2 / own) / rest2, seen)
    return BatchSpectrum(bulk, aligned, along2 / norm2)


def _quadrature(x: Array, resolvent: NDArray[np.complex128], mean: float) -> tuple[Array, Array]:
    """Nodes and weights of a law of mass one with this resolvent at the points x (derivative: the imaginary part)."""
    S, slope = resolvent.real, resolvent.imag / STEP
    with np.errstate(divide="ignore", invalid="ignore"):
        gram = -(S[:, None] - S) / (x[:, None] - x)
    gram[np.diag_indices(len(x))] = -slope
    moved = S - x[:, None] * gram  # int tau/((tau + x_i)(tau + x_j)) = S(x_j) - x_i int 1/(...)
    A = np.block([[np.ones((1, 1)), S[None]], [S[:, None], gram]])
    B = np.block([[np.full((1, 1), mean), (1 - x * S)[None]], [(1 - x * S)[:, None], (moved + moved.T) / 2]])
    scale = 1 / np.sqrt(np.diag(A))
    values, vectors = np.linalg.eigh(A * scale[:, None] * scale)
    keep = values > _DEPENDENT * values[-1]
    T = scale[:, None] * vectors[:, keep] / np.sqrt(values[keep])
    nodes, turned = np.linalg.eigh(T.T @ B @ T)
    mass = (turned.T @ (T.T @ A[:, 0])) ** 2
    return np.maximum(nodes, 0.0), mass / mass.sum()
