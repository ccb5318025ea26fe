"""Two steps at scale: against the definition written out, within the memory bound, and the regression's exactness."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bulkedge.numerics.steps.network import (
    Teacher,
    draw_batch,
    draw_directions,
    draw_readout,
    draw_weights,
    mean_gradient,
)
from bulkedge.numerics.steps.second_step import Regression, fit, peak_bytes, regress, second_weights, split_gradient
from bulkedge.theory.numbers.errors import InputError


def dsigma(z: np.ndarray) -> np.ndarray:
    return 1 / np.cosh(z) ** 2


def setting(d: int, width: int, n: int, chunk: int = 64):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    teacher = Teacher(draw_directions(d, 1, rng), (np.sin,), 0.2)
    W, a = draw_weights("gaussian", d, width, rng), draw_readout("gaussian", width, rng)
    return teacher, W, a, draw_batch(teacher, n, rng, chunk), draw_batch(teacher, n, rng, chunk)


@pytest.mark.parametrize("reused", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_against_the_definition(reused: bool, dtype: type) -> None:
    _, W, a, one, two = setting(30, 40, 100)
    two = one if reused else two
    X1, y1 = one.arrays()
    X2, y2 = two.arrays()
    W1 = W + 3.0 * X1.T @ (np.outer(y1, a) * dsigma(X1 @ W)) / 100
    W2 = W1 + 2.0 * X2.T @ (np.outer(y2, a) * dsigma(X2 @ W1)) / 100
    found = W.astype(dtype)
    gradient = second_weights(found, a, (one, two), dsigma, (3.0, 2.0))
    tolerance = 1e-12 if dtype is np.float64 else 2e-5
    assert found.dtype == dtype
    assert np.abs(found - W2).max() < tolerance
    assert np.abs(gradient - X2.T @ (y2[:, None] * dsigma(X2 @ W1)) / 100).max() < tolerance


def _same_in(asarray: Callable[[np.ndarray], Any]) -> None:
    """Both steps in another array library: the numbers of NumPy, up to the order of summation."""
    _, W, a, one, two = setting(30, 40, 100)
    other = asarray(W.copy())
    gradient = second_weights(other, a, (one, two), dsigma, (3.0, 2.0))
    expected = second_weights(W, a, (one, two), dsigma, (3.0, 2.0))
    assert type(gradient) is type(other) is type(asarray(np.zeros(1)))
    np.testing.assert_allclose(np.from_dlpack(other), W, atol=1e-12)
    np.testing.assert_allclose(np.from_dlpack(gradient), expected, atol=1e-12)
    with pytest.raises(InputError, match="W"):
        second_weights(asarray(np.ones((30, 40), dtype=int)), a, (one, two), dsigma, (3.0, 2.0))


def test_any_array_library_takes_the_two_steps() -> None:
    import array_api_strict  # the standard and nothing else

    _same_in(array_api_strict.asarray)


@pytest.mark.torch
def test_torch_takes_the_two_steps() -> None:
    import torch

    _same_in(torch.asarray)


def test_squared_loss_residual_sees_the_output() -> None:
    _, W, a, one, _ = setting(20, 25, 50)
    X, y = one.arrays()
    P = X @ W
    r = y - np.tanh(P) @ a / 5.0
    found = mean_gradient(W, one, dsigma, lambda P, y: y - np.tanh(P) @ a / 5.0)
    assert np.abs(found - X.T @ (r[:, None] * dsigma(P)) / 50).max() < 1e-13


def test_memory_stays_within_the_bound() -> None:
    d, width, n, chunk = 400, 600, 1200, 32
    _, W, a, one, _ = setting(d, width, n, chunk)
    bound = peak_bytes(d, width, chunk)
    assert bound < 3 * d * width * 8
    tracemalloc.start()
    second_weights(W, a, (one, one), dsigma, (1.0, 1.0))
    peak = tracemalloc.get_traced_memory()[1] + W.nbytes
    tracemalloc.stop()
    assert peak <= bound
    # The largest size, float64: 24 GiB hold it with room to spare.
    assert peak_bytes(20000, 20000, 512) < 11 * 2**30


def test_regression_recovers_what_is_there() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(200) / np.sqrt(200), rng.standard_normal((15, 4))
    t = 2.0 * a
    columns = np.stack([t**0, t, t**2, np.abs(t)])
    kinked = fit(b @ columns, columns.T)
    smooth = regress(b[:, :3] @ columns[:3], a, 2.0, 3)
    for found, orders in ((kinked, 4), (smooth, 3)):
        assert isinstance(found, Regression)
        for i in range(orders):
            assert found.signal(b[:, 0], i) == pytest.approx(b[:, 0] @ b[:, i], rel=1e-9)
            assert found.gram(i, 2) == pytest.approx(b[:, i] @ b[:, 2], rel=1e-9)


@pytest.mark.parametrize("reused", [True, False])
def test_even_and_odd_parts(reused: bool) -> None:
    _, W, a, one, two = setting(30, 40, 100)
    batches = (one, one if reused else two)

    def gradient(readout: np.ndarray) -> np.ndarray:
        return second_weights(W.copy(), readout, batches, dsigma, (3.0, 0.0))

    even, odd = split_gradient(W, a, batches, dsigma, 3.0)
    assert np.abs(even + odd - gradient(a) + gradient(0 * a)).max() < 1e-13
    assert np.abs(even - odd - gradient(-a) + gradient(0 * a)).max() < 1e-13


def test_a_readout_of_two_values_cannot_tell_three_powers_apart() -> None:
    a = np.where(np.arange(60) % 4 < 2, 1.0, -1.0) / np.sqrt(60)
    with pytest.raises(InputError):
        regress(np.ones((5, 60)), a, 1.0, 3)


def test_bad_weights() -> None:
    _, W, a, one, _ = setting(10, 12, 20)
    with pytest.raises(InputError):
        second_weights(W.T, a, (one, one), dsigma, (1.0, 1.0))
