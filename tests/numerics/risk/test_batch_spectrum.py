"""numerics/risk/batch_spectrum.py: exact cases, and the resolvents of a drawn batch."""

from __future__ import annotations

import numpy as np
import pytest

from bulkedge.numerics.risk.batch_spectrum import batch_spectrum
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur


def label_law(noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z, w = np.polynomial.hermite_e.hermegauss(60)
    e, we = np.polynomial.hermite_e.hermegauss(16)
    y = np.tanh(z)[:, None] + noise * e
    return y.ravel(), np.repeat(z, 16), np.outer(w / w.sum(), we / we.sum()).ravel()


@pytest.mark.parametrize("alpha", [0.4, 1.0, 2.5])
def test_labels_of_one_size_give_marchenko_pastur(alpha: float) -> None:
    """y = +-1 independent of z: K is a sample covariance of ratio d/n1, also beside u."""
    found = batch_spectrum(np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1]), np.full(4, 0.25), alpha)
    law = MarchenkoPastur(1 / alpha)
    for x in (0.05, 0.8, 30.0):
        expected = abs(complex(law.stieltjes(complex(-x))))  # E 1/(t + x), whatever the sign convention
        assert found.bulk[1] @ (1 / (found.bulk[0] + x)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_resolvents_of_a_drawn_batch(alpha: float) -> None:
    """tr (K + x)^-1, beta's resolvent in u's complement and u^T K u/|u|^2 of batches at d = 400 (mean of three)."""
    d, noise, x = 400, 0.3, 0.3
    n = int(alpha * d)
    found, drawn = batch_spectrum(*label_law(noise), alpha), []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        y = np.tanh(X[:, 0]) + noise * rng.standard_normal(n)
        K = (X.T * (y**2 / np.mean(y**2))) @ X / n
        u = X.T @ y / np.linalg.norm(X.T @ y)
        P = np.eye(d) - np.outer(u, u)
        beta = P[:, 0] / np.linalg.norm(P[:, 0])
        values = np.linalg.inv(P @ K @ P + x * np.eye(d))
        drawn.append([np.trace(np.linalg.inv(K + x * np.eye(d))) / d, beta @ values @ beta, u @ K @ u])
    nodes, mass = found.bulk
    seen, weight = found.aligned
    expected = [mass @ (1 / (nodes + x)), weight @ (1 / (seen + x)), found.along]
    # Tolerance: fluctuations of order 1/d of a trace, of d^(-1/2) for one vector.
    assert np.mean(drawn, axis=0)[0] == pytest.approx(expected[0], rel=0.01)
    assert np.mean(drawn, axis=0)[1:] == pytest.approx(expected[1:], rel=0.08)
    assert expected[1] > 1.1 * expected[0]
