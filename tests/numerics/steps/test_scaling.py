"""The dictionary against the papers' own rules: the same network trained by each paper's literal update."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.steps.network import Batch, Teacher, draw_directions, gradient_step, ridge_readout
from bulkedge.theory.numbers.symbols import N, d, n, n1
from bulkedge.theory.steps.scaling import ridge_factor, step_factor

D, M, STEP_SAMPLES, FIT_SAMPLES = 6, 4, 9, 13
SIZES = {d: D, N: M, n1: STEP_SAMPLES, n: FIT_SAMPLES}
ETA = 2.3


def sigma(t: np.ndarray) -> np.ndarray:
    return np.tanh(t + 0.2)


def dsigma(t: np.ndarray) -> np.ndarray:
    return 1 - np.tanh(t + 0.2) ** 2


def paper_f(w: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, eta: float) -> np.ndarray:
    """w^1 = w^0 - eta g, g_j = (1/(n sqrt m)) sum_i (f(x_i) - y_i) a_j x_i sigma'(w_j.x_i); rows are neurons."""
    new = w.copy()
    m, samples = len(w), len(X)
    for j in range(m):
        g = np.zeros(D)
        for x, label in zip(X, y, strict=True):
            f = sum(a[i] * sigma(w[i] @ x) for i in range(m)) / np.sqrt(m)
            g += (f - label) * a[j] * x * dsigma(w[j] @ x) / (samples * np.sqrt(m))
        new[j] -= eta * g
    return new


def paper_t(w: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, eta: float) -> np.ndarray:
    """W_1 = W_0 + eta (1/n) [(a y^T) o sigma'(W_0 X^T)] X; rows are neurons."""
    return w + eta / len(X) * (np.outer(a, y) * dsigma(w @ X.T)) @ X


def paper_p5(w: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, eta: float) -> np.ndarray:
    """w_j + eta~ (1/n) X^T [(y - f) o sigma'(X w_j)], f = p^(-1/2) a.sigma, a_j = p^(-1/2)."""
    residual = y - sigma(X @ w.T) @ a / np.sqrt(len(w))
    return np.array([wj + eta / len(X) * X.T @ (residual * dsigma(X @ wj)) for wj in w])


def paper_p7(w: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, eta: float) -> np.ndarray:
    """w_j - eta grad of (1/2n) sum (y - f)^2, f = p^(-1/2) sum a_i sigma, by central differences."""

    def loss(v: np.ndarray) -> float:
        return float(np.mean((y - sigma(X @ v.T) @ a / np.sqrt(len(w))) ** 2)) / 2

    new, h = w.copy(), 1e-5
    for index in np.ndindex(*w.shape):
        e = np.zeros_like(w)
        e[index] = h
        new[index] -= eta * (loss(w + e) - loss(w - e)) / (2 * h)
    return new


@pytest.mark.parametrize(
    ("key", "rule", "loss", "readout"),
    [
        ("F", paper_f, "square", "gaussian"),
        ("T", paper_t, "correlation", "gaussian"),
        ("M", paper_t, "correlation", "gaussian"),  # with the own output left out (the record's remark)
        ("P5", paper_p5, "square", "constant"),
        ("P7", paper_p7, "square", "gaussian"),
    ],
)
def test_paper_o_with_the_converted_step_moves_the_weights_alike(
    key: str, rule: Callable[..., np.ndarray], loss: str, readout: str
) -> None:
    rng = np.random.default_rng(11)
    batch = Batch(Teacher(draw_directions(D, 1, rng), (np.sin,), 0.3), STEP_SAMPLES, 12)
    X, y = batch.arrays()
    w = rng.standard_normal((M, D)) / np.sqrt(D)
    a = rng.standard_normal(M) / np.sqrt(M) if readout == "gaussian" else np.full(M, M**-0.5)
    eta = ETA * float(sp.sympify(step_factor(key, "O")).subs(SIZES))
    ours = gradient_step(w.T, a, batch, sigma, dsigma, eta, loss).T
    literal = rule(w, a, X, y, ETA)
    # central differences of paper_p7: truncation 1e-10
    np.testing.assert_allclose(ours, literal, atol=1e-9)
    assert not np.allclose(gradient_step(w.T, a, batch, sigma, dsigma, 1.1 * eta, loss).T, literal, atol=1e-3)


@pytest.mark.parametrize(
    ("key", "output", "data", "penalty"),
    [
        ("F", M**-0.5, 1.0, 1.0),  # argmin sum (y - f)^2 + lambda |a|^2
        ("P5", M**-0.5, 1.0, 1.0),  # |y - Phi a/sqrt p|^2 + lambda |a|^2
        ("M", 1.0, 1 / FIT_SAMPLES, 1.0),  # (1/n)|y - F a|^2 + lambda |a|^2
        ("P9", 1.0, 1 / FIT_SAMPLES, M / D),  # (1/n) sum + (N lambda/d)|a|^2
    ],
)
def test_paper_o_with_the_converted_ridge_fits_the_same_function(
    key: str, output: float, data: float, penalty: float
) -> None:
    rng = np.random.default_rng(13)
    S, y, lam = rng.standard_normal((FIT_SAMPLES, M)), rng.standard_normal(FIT_SAMPLES), 0.7
    A = output * S  # the literal objective's normal equations
    literal = A @ np.linalg.solve(data * A.T @ A + penalty * lam * np.eye(M), data * A.T @ y)
    Phi = S / np.sqrt(M)
    ridge = lam * float(sp.sympify(ridge_factor(key, "O")).subs(SIZES))
    np.testing.assert_allclose(Phi @ ridge_readout(Phi, y, ridge), literal, rtol=1e-12)
