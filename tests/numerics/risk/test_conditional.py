"""numerics/risk/conditional.py: moments against closed forms, the total derivative by a second route, invariances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from bulkedge.numerics.risk.conditional import (
    ConditionalModel,
    _average,
    _inverse,
    _traces,
    conditional_model,
    conditional_risk,
    covariance_with_label,
    gauss_nodes,
    local_moments,
)
from bulkedge.numerics.risk.ridge import Constants, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.numbers.errors import InputError


def relu(z: np.ndarray) -> np.ndarray:
    return np.maximum(z, 0)


def quadratic(z: np.ndarray) -> np.ndarray:
    return z + (z**2 - 1) / 2


def make(seed: int, d: int, N: int, r: int, strength: float, activation: Any = np.tanh, **options: Any) -> Any:
    """Weights with r planted spikes, their directions and a target direction that overlaps with them."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(d, r)) / math.sqrt(d)
    W = rng.normal(size=(d, N)) / math.sqrt(d) + strength * directions @ rng.normal(size=(r, N))
    beta = directions.sum(axis=1) + rng.normal(size=d) / math.sqrt(d)
    beta = beta / np.linalg.norm(beta)
    return W, directions, beta, conditional_model(W, directions, beta, activation, np.tanh, noise=0.3, **options)


@pytest.mark.parametrize("std", [0.3, 1.0, 2.5])
def test_moments_of_relu_are_the_closed_forms(std: float) -> None:
    mean = np.array([-2.0, -0.1, 0.0, 3.0])
    got = local_moments(relu, (0.0,), mean, np.full(4, std))
    t = mean / std
    density = np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(got.mean, mean * ndtr(t) + std * density, atol=1e-12)
    np.testing.assert_allclose(got.slope, ndtr(t), atol=1e-12)
    np.testing.assert_allclose(got.second, (mean**2 + std**2) * ndtr(t) + mean * std * density, atol=1e-12)


def test_moments_of_a_jump_keep_the_delta() -> None:
    mean = np.array([-0.7, 0.4])
    got = local_moments(np.sign, (0.0,), mean, np.full(2, 1.3))
    t = mean / 1.3
    np.testing.assert_allclose(got.slope, 2 * np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi) / 1.3, atol=1e-12)


@pytest.mark.parametrize("r", [0, 1, 2, 3])
def test_nodes_integrate_polynomials(r: int) -> None:
    points, weights = gauss_nodes(r)
    assert points.shape == (len(weights), r)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    if r:
        assert weights @ (points[:, 0] ** 4 * points[:, -1] ** 2) == pytest.approx(15 if r == 1 else 3, abs=1e-7)


def objective(model: ConditionalModel, n: int, lam: float, t: float) -> float:
    """F(t) of L1 by plain damped iteration of delta (a second route to the fixed point and to its derivative)."""
    delta = np.ones(len(model.weights))
    for _ in range(2000):
        A = _average(model, model.weights * (1 / (1 + delta) + t)) + lam * np.eye(model.gram.shape[0])
        Q = _inverse(A)
        new = _traces(model, Q) / n
        done = np.max(np.abs(new - delta)) < 1e-13
        delta = 0.5 * (delta + new)
        if done:
            break
    v = model.weights * (1 / (1 + delta) + t)
    b = covariance_with_label(model, v)
    return float(v @ model.label2 - b @ Q @ b)


@pytest.mark.parametrize(("r", "activation", "kinks"), [(0, np.tanh, ()), (1, relu, (0.0,)), (2, quadratic, ())])
def test_risk_is_the_total_derivative_of_the_minimum(r: int, activation: Any, kinks: Any) -> None:
    """T by the dual equation against a Richardson difference quotient of F; train = F - lam dF/dlam likewise."""
    count = {0: 1, 1: 12, 2: 6}[r]
    *_, model = make(3, 30, 40, r, 0.8, activation, kinks=kinks, count=count)
    n, lam, h = 50, 0.2, 1e-3
    got = conditional_risk(model, n, lam)

    def slope(step: float) -> float:
        return (objective(model, n, lam, step) - objective(model, n, lam, -step)) / (2 * step)

    def ridge_slope(step: float) -> float:
        return (objective(model, n, lam + step, 0) - objective(model, n, lam - step, 0)) / (2 * step)

    richardson = (4 * slope(h / 2) - slope(h)) / 3
    assert got.test == pytest.approx(richardson, rel=1e-7)
    train = objective(model, n, lam, 0) - lam * (4 * ridge_slope(h / 2) - ridge_slope(h)) / 3
    assert got.train == pytest.approx(train, rel=1e-7)
    assert got.status == "converged"
    assert got.residual <= 1e-10


def test_agrees_with_the_closed_form_without_a_step() -> None:
    """O3 at eta = 0, averaged over draws of W0 (the deviation is O(1/d) with a fluctuation of about 1/d)."""
    tanh1, tanh2, second = 0.605705509602, 0.16561, 0.394294490398
    tanh2 = math.sqrt(second - tanh1**2)
    d, values = 150, []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        W = rng.normal(size=(d, 2 * d)) / math.sqrt(d)
        beta = rng.normal(size=d)
        model = conditional_model(W, np.empty((d, 0)), beta, np.tanh, np.tanh, noise=0.3)
        values.append(conditional_risk(model, 3 * d, 0.05).test)
    limit = ridge_risk(Constants(tanh1, tanh2, 0.0, tanh1, tanh2), RidgeProblem(3.0, 2.0, 0.05, 0.0, noise=0.3))
    assert np.mean(values) == pytest.approx(float(limit.test) + 0.09, rel=0.02)


def test_invariant_under_rotations_permutations_and_the_basis_of_the_spikes() -> None:
    W, U, beta, model = make(5, 25, 30, 2, 1.0, count=8)
    base = conditional_risk(model, 40, 0.1)
    rng = np.random.default_rng(1)
    O = np.linalg.qr(rng.normal(size=(25, 25)))[0]
    order = rng.permutation(30)
    rotated = conditional_model(O @ W[:, order], O @ U, O @ beta, np.tanh, np.tanh, noise=0.3, count=8)
    assert conditional_risk(rotated, 40, 0.1).test == pytest.approx(base.test, rel=1e-9)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    fine = [conditional_model(W, V, beta, np.tanh, np.tanh, noise=0.3, count=20) for V in (U, 2 * U @ turn)]
    results = [conditional_risk(m, 40, 0.1).test for m in fine]
    assert results[0] == pytest.approx(results[1], rel=1e-4)  # 20 nodes a direction


def test_more_nodes_change_little() -> None:
    """Gauss-Hermite converges like exp(-c sqrt K) for smoothed functions: each step up gains a digit here."""
    results = []
    for count in (32, 48, 64):
        *_, model = make(7, 30, 40, 1, 2.0, count=count)
        results.append(conditional_risk(model, 60, 0.1).test)
    assert results[1] == pytest.approx(results[2], rel=1e-5)
    assert abs(results[1] - results[2]) < 0.3 * abs(results[0] - results[1])


def test_label_within_the_directions() -> None:
    """beta along the spike: the label is a function of kappa and its perpendicular slope vanishes."""
    W, U, _, _ = make(9, 30, 40, 1, 1.0)
    model = conditional_model(W, U, U[:, 0], np.tanh, np.tanh)
    assert np.all(model.label_slope == 0)
    assert conditional_risk(model, 60, 0.1).test > 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"W": np.full((10, 12), np.nan)}, "weights"),
        ({"beta": np.ones(9)}, "weights"),
        ({"directions": np.ones((10, 2))}, "directions"),
        ({"directions": np.eye(10)[:, :4]}, "directions"),
        ({"W": np.outer(np.eye(10)[:, 0], np.ones(12)), "directions": np.eye(10)[:, :1]}, "weights"),
    ],
)
def test_bad_models(change: dict[str, Any], named: str) -> None:
    rng = np.random.default_rng(0)
    good = {"W": rng.normal(size=(10, 12)), "directions": rng.normal(size=(10, 1)), "beta": np.ones(10)}
    with pytest.raises(InputError) as caught:
        conditional_model(*{**good, **change}.values(), np.tanh, np.tanh)
    assert caught.value.argument == named


@pytest.mark.parametrize(("n", "lam", "named"), [(20, 0.0, "ridge"), (20, math.nan, "ridge"), (0, 0.1, "samples")])
def test_bad_regression(n: int, lam: float, named: str) -> None:
    *_, model = make(0, 10, 12, 1, 1.0, count=8)
    with pytest.raises(InputError) as caught:
        conditional_risk(model, n, lam)
    assert caught.value.argument == named
