"""The risk after one step: a curve of the closed form against a ridge solve, L1 against matrix inverses."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.benchmark import Benchmark, Row, seconds
from bulkedge.numerics.risk.conditional import conditional_model, conditional_risk
from bulkedge.numerics.risk.conditional_limit import one_step_risk, pair_from_functions
from bulkedge.numerics.risk.ridge import Constants, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem

CONSTANTS = Constants(0.6, 0.2, 0.0, 0.7, 0.3)


def curve() -> tuple[Row, ...]:
    """1000 points of O3, each its own ridge problem, against one ridge solve at d = 400."""
    psi = np.linspace(0.2, 5, 1000)
    rng = np.random.default_rng(0)
    Phi, y = rng.normal(size=(600, 400)), rng.normal(size=600)

    def solve() -> np.ndarray:
        return np.linalg.solve(Phi.T @ Phi + 6 * np.eye(400), Phi.T @ y)

    steps = np.linspace(0, 5, 1000)
    by_step = seconds(lambda: ridge_risk(CONSTANTS, RidgeProblem(1.5, 2.0, 1e-4, steps, noise=0.1)), repeats=50)
    by_ratio = seconds(lambda: ridge_risk(CONSTANTS, RidgeProblem(psi, 2.0, 1e-4, 1.0, noise=0.1)), repeats=50)
    other = seconds(solve, repeats=50)
    against = "one ridge solve at d = 400, n = 600"
    return (
        Row("O3, 1000 step sizes", against, by_step, other, 10.0, "budget 50 ms"),
        Row("O3, 1000 sample ratios", against, by_ratio, other, 10.0, "each point its own effective ridge"),
        Row("O3, 1000 sample ratios", "a budget of 50 ms", by_ratio, 0.05, 1.0),
    )


def given_weights() -> tuple[Row, ...]:
    """L1 at N = 1000, one spike, against three times 25 inverses of its size."""
    N = d = 1000
    rng = np.random.default_rng(0)
    u = rng.normal(size=d) / math.sqrt(d)
    W = rng.normal(size=(d, N)) / math.sqrt(d) + 1.5 * np.outer(u, rng.normal(size=N))
    model = conditional_model(W, u[:, None], u, np.tanh, np.tanh, noise=0.2)
    A = model.gram + np.eye(N)
    inverse = seconds(lambda: np.linalg.inv(A))
    ours = seconds(lambda: conditional_risk(model, 1500, 0.1), repeats=1)
    return (Row("L1, given weights, N = 1000", "3 x 25 inverses of an N x N matrix", ours, 75 * inverse, 1.0),)


def any_step() -> tuple[Row, ...]:
    """The closed fixed point of one step of any size against L1 for one drawn network of N = 400."""
    pair = pair_from_functions(np.tanh, lambda z: 1 / np.cosh(z) ** 2, np.tanh)
    N = d = 400
    rng = np.random.default_rng(0)
    u = rng.normal(size=d) / math.sqrt(d)
    W = rng.normal(size=(d, N)) / math.sqrt(d) + 1.5 * np.outer(u, rng.normal(size=N))
    model = conditional_model(W, u[:, None], u, np.tanh, np.tanh, noise=0.2)
    ours = seconds(lambda: one_step_risk(pair, RidgeProblem(1.5, 1.0, 0.1, 30.0, noise=0.2), N))
    other = seconds(lambda: conditional_risk(model, 600, 0.1), repeats=1)
    return (Row("L1, large-N fixed point, any step", "L1 for one drawn network, N = 400", ours, other, 5.0),)


BENCHMARKS = (
    Benchmark("ridge.curve", curve),
    Benchmark("ridge.given_weights", given_weights),
    Benchmark("ridge.any_step", any_step),
)
