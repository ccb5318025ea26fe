"""The NumPy network of Figure 1b: its gradient by differences, Adam's first step, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from bulkedge.numerics.steps import adam


def test_gradient_by_differences() -> None:
    rng = np.random.default_rng(0)
    parameters = adam.initialise(rng, 3, 5)
    X, y = rng.standard_normal((7, 3)), rng.standard_normal(7)
    exact = adam.gradient(parameters, X, y)
    for p, g in zip(parameters, exact, strict=True):
        for index in np.ndindex(p.shape):
            kept = p[index]
            values = []
            for h in (1e-6, -1e-6):
                p[index] = kept + h
                values.append(float(np.mean((adam.predict(parameters, X) - y) ** 2)))
            p[index] = kept
            assert g[index] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-5, abs=1e-8)


def test_first_step_moves_by_the_rate() -> None:
    """Adam's first step is rate times the sign of the gradient."""
    X, y = np.ones((4, 2)), np.full(4, 50.0)
    before = adam.initialise(np.random.default_rng(1), 2, 3)
    f = adam.train(np.random.default_rng(1), X, y, 1e-3, 3)
    moved = float(f(X)[0] - adam.predict(before, X)[0])
    scale = sum(np.abs(g).sum() for g in adam.gradient(before, X, y)) / np.abs(adam.gradient(before, X, y)[3][0])
    assert moved == pytest.approx(1e-3 * scale, rel=0.02)


def test_it_learns_a_linear_function() -> None:
    rng = np.random.default_rng(2)
    X, Z = rng.standard_normal((1500, 4)), rng.standard_normal((300, 4))
    error = adam.cross_validated_error(rng, X, X[:, 0], Z, Z[:, 0], 40)
    assert error < 0.3
