"""G8: the trained network of paper F's Figure 1b -- two layers with biases, one epoch of Adam, in NumPy.

f(x) = a.relu(W x + b) + c, mean squared error, batches of 64, PyTorch's initialisation (uniform within 1/sqrt(fan in)),
learning rate by five-fold cross-validation on 10^-3..1. Its biases let it leave the functions that a bias-free ReLU
kernel is confined to, so that the floor of those kernels does not bind it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Parameters = list[Array]

_RATES = (1e-3, 1e-2, 1e-1, 1.0)
BATCH, FOLDS = 64, 5
_DECAY1, _DECAY2, EPSILON = 0.9, 0.999, 1e-8  # Adam's defaults


def initialise(rng: np.random.Generator, dimension: int, width: int) -> Parameters:
    """W (width x d), b (width), a (width), c (1)."""
    first, second = 1 / np.sqrt(dimension), 1 / np.sqrt(width)
    return [
        rng.uniform(-first, first, (width, dimension)),
        rng.uniform(-first, first, width),
        rng.uniform(-second, second, width),
        rng.uniform(-second, second, 1),
    ]


def predict(parameters: Parameters, X: Array) -> Array:
    """The outputs at the rows of X."""
    W, b, a, c = parameters
    return np.asarray(np.maximum(X @ W.T + b, 0) @ a + c)


def gradient(parameters: Parameters, X: Array, y: Array) -> Parameters:
    """The gradient of the mean squared error."""
    W, b, a, _ = parameters
    pre = X @ W.T + b
    hidden = np.maximum(pre, 0)
    residual = 2 * (predict(parameters, X) - y) / len(y)
    back = residual[:, None] * (pre > 0) * a
    return [back.T @ X, back.sum(axis=0), hidden.T @ residual, residual.sum(keepdims=True)]


def train(rng: np.random.Generator, X: Array, y: Array, rate: float, width: int = 400) -> Callable[[Array], Array]:
    """One epoch of Adam over shuffled batches; returns the trained function."""
    parameters = initialise(rng, X.shape[1], width)
    first, second = ([np.zeros_like(p) for p in parameters] for _ in range(2))
    order = rng.permutation(len(y))
    for step, start in enumerate(range(0, len(y), BATCH), 1):
        rows = order[start : start + BATCH]
        for p, m, v, g in zip(parameters, first, second, gradient(parameters, X[rows], y[rows]), strict=True):
            m += (1 - _DECAY1) * (g - m)
            v += (1 - _DECAY2) * (g**2 - v)
            p -= rate * (m / (1 - _DECAY1**step)) / (np.sqrt(v / (1 - _DECAY2**step)) + EPSILON)
    return lambda Z: predict(parameters, Z)


def cross_validated_error(
    rng: np.random.Generator, X: Array, y: Array, Z: Array, test: Array, width: int = 400
) -> float:
    """Test error of the network with the rate of the smallest cross-validation error."""
    errors = []
    for rate in _RATES:
        total = 0.0
        for part in np.array_split(np.arange(len(y)), FOLDS):
            rest = np.setdiff1d(np.arange(len(y)), part)
            total += float(np.mean((train(rng, X[rest], y[rest], rate, width)(X[part]) - y[part]) ** 2))
        errors.append(total)
    best = _RATES[int(np.argmin(errors))]
    return float(np.mean((train(rng, X, y, best, width)(Z) - test) ** 2))
