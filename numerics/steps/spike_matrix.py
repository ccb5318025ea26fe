"""Outliers of W2 at finite N: the deterministic spike matrix pushed through O2's map (T4).

S = sum_k l_k r_k^T with l_k = a^(k+1) and r_0 = eta1 mu1 u + eta2 b_0, r_k = eta2 eta1^k b_k. Its singular values
follow from two small Gram matrices: l_i.l_k = N E a^(i+k+2), and those of T3. Each is a spike strength of O2.
Corrections decay as N^(alpha - 1/2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.alignment import Geometry
from bulkedge.theory.steps.second_step import Poly, spike_function
from bulkedge.theory.steps.target import Target, label

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SpikeMatrix:
    """The small matrices that carry everything: Gram of the left vectors, Gram of the right ones, beta.r_k.

    Shapes: (m, m), (m, m), (m,) for m spikes (k = 0..m-1).
    """

    left: Floats
    right: Floats
    signal: Floats

    @property
    def strengths(self) -> Floats:
        """The singular values of S, decreasing."""
        return self._svd()[0]

    @property
    def overlaps(self) -> Floats:
        """beta.v for the right singular vectors v of S, up to a sign."""
        return self._svd()[1]

    def _svd(self) -> tuple[Floats, Floats]:
        # S = Q_l (GL^(1/2) GR^(1/2)) Q_r^T with orthonormal Q, and beta.Q_r = GR^(-1/2) beta.r.
        root_left, root_right = _root(self.left), _root(self.right)
        _, strengths, vt = np.linalg.svd(root_left @ root_right)
        return strengths, np.abs(vt @ np.linalg.lstsq(root_right, self.signal, rcond=None)[0])


@dataclass(frozen=True)
class Outliers:
    """Predicted outliers, decreasing: positions, and |beta.v| for the singular vector of W2 in input space."""

    positions: Floats
    overlaps: Floats
    edge: float


def spike_matrix(
    target: Target,
    activation: Callable[[int, int, int], float],
    readout_moment: Callable[[int], float],
    width: int,
    alpha: float,
    steps: tuple[float, float],
    orders: int,
    batch: str = "reused",
    reading: str = "full",
) -> SpikeMatrix:
    """The spike matrix of k = 0..orders-1 at width N and steps (eta1, eta2), single-index target.

    `readout_moment(p)` is E (sqrt(N) a_j)^p; `activation(k, b, c)` is E[sigma^(k) G^b sigma'^c], floats.
    Valid for: correlation loss, smooth activations (reused) or any (fresh); both batches of ratio alpha = n/d.
    Source: T2, T3, T4.
    """
    if orders < 1:
        raise InputError("orders", f"{orders} spikes", "give a number >= 1")
    eta1, eta2 = steps
    geometry = Geometry(target, 1 / alpha, batch)
    F: list[Poly] = [spike_function(k, batch, reading, activation, label(target, 1 / alpha)) for k in range(orders)]
    # l_k is measured in units of N^(-k/2), which r_k takes over.
    scale = np.array([eta2 * (eta1 / np.sqrt(width)) ** k for k in range(orders)])
    left = np.array([[readout_moment(i + k + 2) for k in range(orders)] for i in range(orders)])
    right = np.array([[scale[i] * scale[k] * geometry.gram(F[i], F[k]) for k in range(orders)] for i in range(orders)])
    signal = scale * np.array([geometry.signal(f) for f in F])
    first = eta1 * activation(1, 0, 0)
    cross = first * scale * np.array([geometry.u_dot(f) for f in F])
    right[0, :] += cross
    right[:, 0] += cross
    right[0, 0] += first**2 * geometry.u_norm2
    signal[0] += first * geometry.overlap(0)
    return SpikeMatrix(left, right, signal)


def predicted_outliers(matrix: SpikeMatrix, ratio: float) -> Outliers:
    """Push the strengths through O2's map at ratio psi = N/d: positions, and overlaps with beta.

    Below the threshold the position is the bulk's edge and the overlap 0.
    Source: T4, O2.
    """
    model = rectangular(ratio)
    strengths = matrix.strengths
    return Outliers(model.outlier(strengths), matrix.overlaps * np.sqrt(model.overlap("d", strengths)), model.edges[1])


def _root(gram: Floats) -> Floats:
    """The symmetric square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray((vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T)
