"""G8: paper F's Figure 1b -- kernel ridge with k0 and k1, the one-step network with a ridge read-out, at d = 300.

Target 2t^2 + 3t + 4 sin 2t of t = w*.x, no noise; ridge by five-fold cross-validation on 10^-3..10^3.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from bulkedge.numerics.kernels.spiked_kernel import spiked_kernel_matrix
from bulkedge.numerics.steps import adam

Array = NDArray[np.float64]

RIDGES = tuple(10.0**k for k in range(-3, 4))
FOLDS = 5
A = 1.2


def target(t: Array) -> Array:
    """2t^2 + 3t + 4 sin 2t."""
    return np.asarray(2 * t**2 + 3 * t + 4 * np.sin(2 * t))


def solve(K: Array, y: Array, ridges: tuple[float, ...]) -> Array:
    """(K + ridge I)^-1 y for each ridge (columns), by Cholesky (cheaper than eigenvectors for so few ridges)."""
    columns = []
    for ridge in ridges:
        shifted = K.copy()
        shifted[np.diag_indices_from(shifted)] += ridge
        columns.append(cho_solve(cho_factor(shifted, overwrite_a=True, check_finite=False), y, check_finite=False))
    return np.stack(columns, axis=1)


def feature_ridge_error(Phi: Array, y: Array, Psi: Array, test: Array) -> float:
    """Test error of ridge on features, the ridge by the same cross-validation; solved in the features' dimension."""
    errors = np.zeros(len(RIDGES))
    for part in np.array_split(np.arange(len(y)), FOLDS):
        rest = np.setdiff1d(np.arange(len(y)), part)
        errors += np.mean((y[part, None] - Phi[part] @ _feature_solve(Phi[rest], y[rest], RIDGES)) ** 2, axis=0)
    best = RIDGES[int(np.argmin(errors))]
    return float(np.mean((test - Psi @ _feature_solve(Phi, y, (best,))[:, 0]) ** 2))


def _feature_solve(Phi: Array, y: Array, ridges: tuple[float, ...]) -> Array:
    return solve(Phi.T @ Phi, Phi.T @ y, ridges)


def choose_ridge(K: Array, y: Array, folds: int = FOLDS) -> float:
    """The ridge with the smallest mean squared error over contiguous folds (scikit-learn's KFold, unshuffled)."""
    parts = np.array_split(np.arange(len(y)), folds)
    errors = np.zeros(len(RIDGES))
    for part in parts:
        rest = np.setdiff1d(np.arange(len(y)), part)
        coefficients = solve(K[np.ix_(rest, rest)], y[rest], RIDGES)
        errors += np.mean((y[part, None] - K[np.ix_(part, rest)] @ coefficients) ** 2, axis=0)
    return RIDGES[int(np.argmin(errors))]


def kernel_ridge_error(K: Array, y: Array, cross: Array, test: Array) -> float:
    """Test error of kernel ridge, K (n x n), `cross` (test x n), the ridge by cross-validation."""
    coefficients = solve(K, y, (choose_ridge(K, y),))[:, 0]
    return float(np.mean((test - cross @ coefficients) ** 2))


def trial(
    rng: np.random.Generator,
    samples: int,
    dimension: int = 300,
    exponents: tuple[float, ...] = (0.3, 0.5, 0.7, 0.9),
    steps: tuple[float, ...] = (1.0, 10.0),
    width: int = 400,
    tests: int = 600,
) -> dict[str, float]:
    """Test errors: `k0`, `k1(e)` for B = 5 d^e, `one step(e)` at eta = e sqrt(m) with ridge, and `Adam`.

    The one-step network takes its step on half of the samples; its read-out is a ridge fit on all of
    them, with the same choice of the ridge.
    Source: G8 (paper F, Figure 1b).
    """
    spike = np.eye(dimension)[0]
    X, Z = rng.standard_normal((samples, dimension)), rng.standard_normal((tests, dimension))
    y, test = target(X[:, 0]), target(Z[:, 0])
    result = {}
    for name, bulk, strength in (
        ("k0", 1.0, 0.0),
        *((f"k1({e:g})", A, 5 * dimension**e) for e in exponents),
    ):
        K = spiked_kernel_matrix(X, None, spike, bulk, strength)
        result[name] = kernel_ridge_error(K, y, spiked_kernel_matrix(Z, X, spike, bulk, strength), test)
    W = rng.standard_normal((dimension, width)) / math.sqrt(dimension)
    a = rng.standard_normal(width) / math.sqrt(width)
    half = max(2, samples // 2)
    pre = X[:half] @ W
    residual = y[:half] - np.maximum(pre, 0) @ a / math.sqrt(width)
    direction = X[:half].T @ ((pre > 0) * residual[:, None]) / half * a
    for step in steps:
        moved = W + step * direction  # paper F's eta = step sqrt(m)
        Phi, Psi = (np.maximum(S @ moved, 0) / math.sqrt(width) for S in (X, Z))
        result[f"one step({step:g})"] = feature_ridge_error(Phi, y, Psi, test)
    result["Adam"] = adam.cross_validated_error(rng, X, y, Z, test, width)
    return result
