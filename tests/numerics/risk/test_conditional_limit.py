"""numerics/conditional_limit.py: O3 at small steps, L1 for drawn weights at large ones, the derivative, bad input."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bulkedge.numerics.risk import conditional_limit as limit
from bulkedge.numerics.risk.conditional import conditional_model, conditional_risk
from bulkedge.numerics.risk.conditional_limit import (
    Pair,
    one_step_groups,
    one_step_risk,
    pair_from_functions,
    readout_nodes,
    small_step_risk,
)
from bulkedge.numerics.risk.ridge import Constants, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.numbers.errors import InputError

TANH = pair_from_functions(np.tanh, lambda z: 1 / np.cosh(z) ** 2, np.tanh)


def softplus(z: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, z)


RELU = pair_from_functions(lambda z: np.maximum(z, 0), lambda z: np.asarray(z > 0, dtype=float), softplus, kinks=(0.0,))


def constants(pair: Pair) -> Constants:
    """O3's constants of a pair."""
    second = one_second(pair)
    mu2_star = math.sqrt(pair.link_second - pair.link_mean**2 - pair.link_slope**2)
    return Constants(pair.mu1, second, pair.link_mean, pair.link_slope, mu2_star, fits_mean=pair.mu0 != 0)


def one_second(pair: Pair) -> float:
    """mu2 of the activation."""
    moments = limit.local_moments(pair.activation, pair.kinks, np.zeros(1), np.ones(1))
    return math.sqrt(float(moments.second[0]) - pair.mu0**2 - pair.mu1**2)


@pytest.mark.parametrize("law", ["gaussian", "rademacher", "uniform", "constant"])
def test_readout_laws_have_second_moment_one(law: str) -> None:
    values, share = readout_nodes(law)
    assert share.sum() == pytest.approx(1)
    assert share @ values**2 == pytest.approx(1)


@pytest.mark.parametrize(
    ("pair", "psi1", "psi2", "lam", "eta", "weights"),
    [
        (TANH, 1.5, 2.0, 0.05, 0.0, "gaussian"),
        (TANH, 0.6, 0.4, 0.3, 3.0, "gaussian"),
        (RELU, 3.0, 1.2, 0.1, 2.0, "gaussian"),
        (RELU, 3.0, 1.2, 0.1, 2.0, "sphere"),
    ],
)
def test_small_steps_are_the_closed_form(
    pair: Pair, psi1: float, psi2: float, lam: float, eta: float, weights: str
) -> None:
    """eta = Theta(1): O3 from a different set of equations, whose difference is O(1/N) and extrapolates to zero."""
    test, train, error = small_step_risk(pair, RidgeProblem(psi1, psi2, lam, eta, noise=0.2), weights=weights)
    closed = ridge_risk(constants(pair), RidgeProblem(psi1, psi2, lam, eta, noise=0.2))
    assert abs(test - 0.04 - float(closed.test)) <= error
    assert error < 1e-6
    assert train == pytest.approx(float(closed.train), rel=1e-6)
    gaussian = one_step_risk(pair, RidgeProblem(psi1, psi2, lam, eta, noise=0.2), 10**5, weights=weights)
    assert gaussian.test - 0.04 == pytest.approx(float(closed.test), rel=2e-4)


def test_a_mean_is_fitted_through_the_norms_of_gaussian_weights() -> None:
    """mu0 = 0, E sigma'' != 0, a link with a mean: Gaussian weights fit some of it, unit ones only after a step."""
    centred = pair_from_functions(lambda z: z + (z**2 - 1) / 2, lambda z: 1 + z, softplus)
    free, stuck = (
        small_step_risk(centred, RidgeProblem(2.0, 1.0, 0.1, 0.0), weights=w)[0] for w in ("gaussian", "sphere")
    )
    closed = [
        float(ridge_risk(replace(constants(centred), fits_mean=fit), RidgeProblem(2.0, 1.0, 0.1, 0.0)).test)
        for fit in (True, False)
    ]
    assert stuck == pytest.approx(closed[1], rel=1e-6)
    assert closed[0] < free < 0.8 * closed[1]
    assert small_step_risk(centred, RidgeProblem(2.0, 1.0, 0.1, 2.0), weights="sphere")[0] < 0.95 * stuck


@pytest.mark.parametrize("readout", ["gaussian", "rademacher"])
def test_large_steps_are_those_of_drawn_weights(readout: str) -> None:
    """eta = Theta(sqrt N) against L1 for weights drawn from the model that the limit describes."""
    d, N, n, lam, noise = 150, 200, 300, 0.1, 0.2
    eta = 1.5 * math.sqrt(N)
    second = TANH.link_second + noise**2
    norm = math.sqrt(TANH.link_slope**2 + second * d / n)
    risks = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        a = rng.normal(size=N) if readout == "gaussian" else rng.choice([-1.0, 1.0], size=N)
        c = np.sqrt(1 + (eta * a) ** 2 / N * second * TANH.slope_variance * d / n)
        u, other = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
        W = c * rng.normal(size=(d, N)) / math.sqrt(d)
        W += np.outer(u, eta / math.sqrt(N) * a * TANH.mu1 * norm)
        cosine = TANH.link_slope / norm
        beta = cosine * u + math.sqrt(1 - cosine**2) * other
        model = conditional_model(W, u[:, None], beta, np.tanh, np.tanh, noise=noise)
        risks.append(conditional_risk(model, n, lam).test)
    predicted = one_step_risk(
        TANH, RidgeProblem(n / d, N / d, lam, eta, noise=noise), N, readout=readout, isotropic=True
    )
    error = np.std(risks, ddof=1) / math.sqrt(len(risks))
    # The mean over draws deviates by O(1/d) beside its standard error.
    assert abs(np.mean(risks) - predicted.test) < 4 * error + 1 / d * predicted.test


def test_risk_is_the_total_derivative_of_the_minimum() -> None:
    """T by the closed Jacobian against a difference quotient of F with its own plain fixed-point iteration."""
    psi1, psi2, lam, eta, width, noise = 1.4, 0.8, 0.2, 25.0, 400, 0.3
    problem = RidgeProblem(psi1, psi2, lam, eta, noise=noise)
    g = one_step_groups(RELU, problem, width, count=24)
    n = psi1 * width / psi2

    def minimum(t: float) -> float:
        delta, q, change = np.ones(len(g.weights)), np.ones(len(g.share)), 1.0
        while change > 1e-14:
            V = g.weights * (1 / (1 + delta) + t)
            q = limit._next_q(g, V, q, lam)
            state = limit._state(g, V, q)
            new = limit._next_delta(g, state, n)
            change, delta = float(np.max(np.abs(new - delta) / new * np.sqrt(g.weights))), new
        both = np.concatenate([V, V])
        linear = g.common_label @ (np.diag(both) - state.E) @ g.common_label
        seen = limit._state(g, V, q, g.spectrum.aligned)
        rest = seen.mass @ [g.label_slope @ (np.diag(V) - H) @ g.label_slope for H in seen.H]
        return float(V @ g.label2 - linear - g.perpendicular * rest)

    h = 1e-4
    quotient = [(minimum(s) - minimum(-s)) / (2 * s) for s in (h, h / 2)]
    risk = one_step_risk(RELU, problem, width, count=24)
    assert risk.test == pytest.approx((4 * quotient[1] - quotient[0]) / 3, rel=1e-6)


def test_large_step_beats_the_linear_floor() -> None:
    """tanh/tanh at eta = Theta(sqrt N) and many samples: below mu2*^2, which no small step passes."""
    floor = float(constants(TANH).floor())
    assert one_step_risk(TANH, RidgeProblem(40.0, 2.0, 1e-3, 1.0), 2000).test > floor
    assert one_step_risk(TANH, RidgeProblem(40.0, 2.0, 1e-3, 1.5 * math.sqrt(2000)), 2000).test < floor / 2


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"lam": 0.0}, "ridge"),
        ({"psi1": math.inf}, "samples"),
        ({"psi2": 0.0}, "width"),
        ({"eta": math.nan}, "step"),
        ({"noise": -1.0}, "noise"),
        ({"width": 0}, "width"),
        ({"readout": "cauchy"}, "readout"),
    ],
)
def test_bad_input(change: dict[str, Any], named: str) -> None:
    good: dict[str, Any] = {"psi1": 2.0, "psi2": 1.0, "lam": 0.1, "eta": 1.0, "width": 100, "readout": "gaussian"}
    values = {**good, **change}
    with pytest.raises(InputError) as caught:
        one_step_risk(TANH, width=values.pop("width"), readout=values.pop("readout"), problem=RidgeProblem(**values))
    assert caught.value.argument == named


def test_the_rest_of_a_step_on_a_small_batch_is_not_isotropic() -> None:
    """n1 = d/2: L1 for weights whose rest has the batch's covariance, over the limit with that and without."""
    d = N = 300
    step, ratios = 2 * math.sqrt(N), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, a = rng.normal(size=(d // 2, d)), rng.choice([-1.0, 1.0], size=N) / math.sqrt(N)
        y = np.tanh(X[:, 0]) + 0.2 * rng.normal(size=d // 2)
        u = X.T @ y / len(y)
        slope = TANH.mu1 + math.sqrt(TANH.slope_variance) * rng.normal(size=(d // 2, N))
        W = rng.normal(size=(d, N)) / math.sqrt(d) + step * (X.T @ (y[:, None] * slope) / len(y) * a)
        model = conditional_model(W, u[:, None], np.eye(d)[0], np.tanh, np.tanh, noise=0.2, count=20)
        # The batch's own |u| and cosine move the risk by several per cent: the prediction takes them too.
        second = 0.5 * (u @ u - u[0] ** 2) - 0.2**2
        here = replace(TANH, link_slope=u[0], link_second=second)
        found = conditional_risk(model, 2 * d, 0.1).test
        problem = RidgeProblem(2.0, 1.0, 0.1, step, alpha=0.5, noise=0.2)
        ratios.append(
            [found / one_step_risk(here, problem, N, readout="rademacher", isotropic=i).test for i in (False, True)]
        )
    batch, isotropic = np.mean(ratios, axis=0)
    assert batch == pytest.approx(1, abs=0.015)
    assert isotropic > 1.025


def test_on_a_large_batch_the_rest_is_isotropic() -> None:
    both = [
        one_step_risk(
            TANH, RidgeProblem(2.0, 1.0, 0.1, 2 * math.sqrt(300), alpha=8.0, noise=0.2), 300, isotropic=i
        ).test
        for i in (False, True)
    ]
    assert both[0] == pytest.approx(both[1], rel=4e-3)
