"""The simulated network: the gradient by finite differences and by a plain loop, laws, streams, ridge read-out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bulkedge.numerics.steps.network import (
    Batch,
    Teacher,
    draw_batch,
    draw_directions,
    draw_readout,
    draw_weights,
    features,
    gradient,
    gradient_step,
    output,
    ridge_readout,
    ridge_risk,
    train,
)
from bulkedge.theory.steps.setting import READOUTS, WEIGHTS, Setting

D, N, SAMPLES = 7, 5, 11


def sigma(t: np.ndarray) -> np.ndarray:
    return np.tanh(t) + 0.3 * t**2


def dsigma(t: np.ndarray) -> np.ndarray:
    return 1 - np.tanh(t) ** 2 + 0.6 * t


def network(seed: int, readout: str = "gaussian") -> tuple[np.ndarray, np.ndarray, Batch]:
    rng = np.random.default_rng(seed)
    teacher = Teacher(draw_directions(D, 2, rng), (np.sin, np.square), 0.4)
    return draw_weights("gaussian", D, N, rng), draw_readout(readout, N, rng), draw_batch(teacher, SAMPLES, rng, 4)


def loss_value(W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, loss: str) -> float:
    """The mean loss, written out: f(x) = N^(-1/2) sum_j a_j sigma(w_j.x)."""
    f = sum(a[j] * sigma(X @ W[:, j]) for j in range(N)) / np.sqrt(N)
    return float(np.mean((y - f) ** 2) / 2 if loss == "square" else -np.mean(y * f))


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("loss", ["square", "correlation"])
def test_gradient_is_the_finite_difference_of_the_loss(loss: str, readout: str) -> None:
    W, a, batch = network(1, readout)
    X, y = batch.arrays()
    direction = gradient(W, a, batch, sigma, dsigma, loss)
    h = 1e-5
    for i in range(D):
        for j in range(N):
            E = np.zeros_like(W)
            E[i, j] = h
            slope = (loss_value(W + E, a, X, y, loss) - loss_value(W - E, a, X, y, loss)) / (2 * h)
            # central differences: truncation h^2 ~ 1e-10, rounding 1e-16/h ~ 1e-11
            assert direction[i, j] == pytest.approx(-np.sqrt(N) * slope, abs=1e-8)


@pytest.mark.parametrize("loss", ["square", "correlation"])
@pytest.mark.parametrize("act", ["smooth", "relu"])
def test_step_is_paper_o_written_as_a_loop(loss: str, act: str) -> None:
    s, ds = (sigma, dsigma) if act == "smooth" else (lambda t: np.maximum(t, 0), lambda t: (t > 0) * 1.0)
    W, a, batch = network(2)
    X, y = batch.arrays()
    eta = 3.7
    G = np.zeros_like(W)
    for i in range(SAMPLES):
        f = sum(a[j] * s(W[:, j] @ X[i]) for j in range(N)) / np.sqrt(N) if loss == "square" else 0.0
        for j in range(N):
            G[:, j] += (y[i] - f) * a[j] * ds(W[:, j] @ X[i]) * X[i] / (SAMPLES * np.sqrt(N))
    before = W.copy()
    after = gradient_step(W, a, batch, s, ds, eta, loss)
    np.testing.assert_allclose(after, before + eta * np.sqrt(N) * G, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(W, before)  # W itself is untouched


def test_single_precision_stays_single() -> None:
    W, a, batch = network(3)
    half = gradient_step(W.astype(np.float32), a, batch, sigma, dsigma, 2.0)
    assert half.dtype == np.float32
    np.testing.assert_allclose(half, gradient_step(W, a, batch, sigma, dsigma, 2.0), rtol=1e-4, atol=1e-5)


def test_batch_is_the_same_each_time_and_for_every_chunk() -> None:
    _, _, batch = network(4)
    X, y = batch.arrays()
    for chunk in (1, 3, SAMPLES, 1000):
        X2, y2 = Batch(batch.teacher, batch.size, batch.seed, chunk).arrays()
        np.testing.assert_array_equal(X, X2)
        np.testing.assert_allclose(y, y2, rtol=1e-14, atol=1e-14)  # a product over another block rounds differently


def test_labels_are_the_links_of_the_directions_plus_noise() -> None:
    rng = np.random.default_rng(5)
    beta = draw_directions(D, 2, rng)
    np.testing.assert_allclose(beta.T @ beta, np.eye(2), atol=1e-14)
    X = rng.standard_normal((4000, D))
    clean = np.sin(X @ beta[:, 0]) + (X @ beta[:, 1]) ** 2
    np.testing.assert_allclose(Teacher(beta, (np.sin, np.square)).labels(X, rng), clean, atol=1e-13)
    noise = Teacher(beta, (np.sin, np.square), 0.5).labels(X, rng) - clean
    # 4 standard errors of a standard deviation over 4000 samples: 4 * 0.5/sqrt(8000)
    assert abs(noise.std() - 0.5) < 0.023


@pytest.mark.parametrize("law", READOUTS)
def test_readout_laws(law: str) -> None:
    width = 40_000
    a = draw_readout(law, width, np.random.default_rng(6)) * np.sqrt(width)
    fourth = {"gaussian": 3.0, "rademacher": 1.0, "uniform": 9 / 5, "constant": 1.0}[law]
    # 4 standard errors: Var a^2 <= 2, Var a^4 <= 96
    assert abs(np.mean(a**2) - 1) < 4 * np.sqrt(2 / width)
    assert abs(np.mean(a**4) - fourth) < 4 * np.sqrt(96 / width)
    if law in {"rademacher", "constant"}:
        assert set(np.unique(a).round(12)) == ({1.0} if law == "constant" else {-1.0, 1.0})


@pytest.mark.parametrize("law", WEIGHTS)
def test_weight_laws(law: str) -> None:
    d, width = 50, 3000
    W = draw_weights(law, d, width, np.random.default_rng(7))
    squares = np.sum(W**2, axis=0)
    if law == "sphere":
        np.testing.assert_allclose(squares, 1, rtol=1e-13)
    else:
        # |w|^2 has variance 2/d
        assert abs(squares.var() * d / 2 - 1) < 0.15
    assert abs(squares.mean() - 1) < 4 * np.sqrt(2 / d / width)


@pytest.mark.parametrize(("n", "width"), [(30, 12), (12, 30)])
def test_ridge_readout_is_stationary(n: int, width: int) -> None:
    rng = np.random.default_rng(8)
    Phi, y = rng.standard_normal((n, width)), rng.standard_normal(n)
    a = ridge_readout(Phi, y, 0.3)
    # the gradient of (1/n)|y - Phi a|^2 + (ridge/N)|a|^2
    np.testing.assert_allclose(Phi.T @ (Phi @ a - y) / n + 0.3 / width * a, 0, atol=1e-12)
    np.testing.assert_allclose(ridge_readout(Phi, y, 1e-9), ridge_readout(Phi, y, 0.0), rtol=1e-5, atol=1e-6)


def test_features_times_readout_is_the_output() -> None:
    W, a, batch = network(9)
    X, _ = batch.arrays()
    np.testing.assert_allclose(features(W, X, sigma) @ a, output(W, a, X, sigma), rtol=1e-12)


def _same_in(asarray: Callable[[np.ndarray], Any]) -> None:
    """One step and a read-out in another array library: the numbers of NumPy, up to the order of summation."""
    sizes = {"d": 20, "width": 30, "batch": 70, "train": 50}
    for train_samples, loss in ((50, "square"), (20, "correlation")):  # more and fewer samples than neurons
        fields = {**sizes, "train": train_samples, "loss": loss, "ridge": "1/10", "noise": "1/4", "steps": (3,)}
        setting = Setting(**fields, activation="softplus", links="tanh")
        ours = train(setting, np.random.default_rng(10), chunk=16)
        other = train(setting, np.random.default_rng(10), chunk=16, asarray=asarray)
        assert type(other.W) is type(asarray(np.zeros(1)))
        np.testing.assert_allclose(np.from_dlpack(other.W), ours.W, atol=1e-12)
        one, two = (ridge_risk(t, np.random.default_rng(11), 100) for t in (ours, other))
        assert (two.train, two.test) == pytest.approx((one.train, one.test), rel=1e-9)


def test_any_array_library_gives_the_same_numbers() -> None:
    import array_api_strict  # the standard and nothing else

    _same_in(array_api_strict.asarray)


@pytest.mark.torch
def test_torch_gives_the_same_numbers() -> None:
    import torch

    _same_in(torch.asarray)
