"""Ledger of L1: risks of given weights and of trained networks at steps of every size."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from bulkedge.numerics.risk.batch_spectrum import batch_spectrum
from bulkedge.numerics.risk.conditional import conditional_model, conditional_risk
from bulkedge.numerics.risk.conditional_limit import one_step_risk, small_step_risk
from bulkedge.numerics.risk.pair import pair, ridge_constants
from bulkedge.numerics.risk.ridge import ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.risk.simulated_risk import risk_trial
from bulkedge.numerics.steps.network import (
    Teacher,
    draw_directions,
    draw_readout,
    draw_weights,
    gradient_step,
    ridge_readout,
)
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity

NOISE = 0.2
_GIVEN_NOISE, _GIVEN_LAM = 0.05, 0.1  # little noise: what conditioning adds then shows
SOURCE = "derived here; L1"


def _dtanh(z: np.ndarray) -> np.ndarray:
    return np.asarray(1 / np.cosh(z) ** 2)


def _predicted(W: np.ndarray, D: np.ndarray, beta: np.ndarray, n: int, count: int) -> float:
    """L1's test risk of given weights."""
    model = conditional_model(W, D, beta, np.tanh, np.tanh, noise=_GIVEN_NOISE, count=count)
    return conditional_risk(model, n, _GIVEN_LAM).test


@stream("L1.given")
def _given_trial(rng: np.random.Generator, size: int, steps: int) -> dict[str, float]:
    """Networks after one or two large steps: simulated risk over L1's prediction for the very same weights.

    d = size, N = n = 3/2 d. `ratio`: with the spike directions; `plain`: Gaussian equivalence without any. After two
    steps the directions are those of T2: both u_i and (1/n) X_2^T (y_2 o X_2 u_1).
    """
    N = n = 3 * size // 2
    teacher = Teacher(draw_directions(size, 1, rng), (np.tanh,), _GIVEN_NOISE)
    W, a = draw_weights("gaussian", size, N, rng), draw_readout("gaussian", N, rng)
    directions: list[np.ndarray] = []
    for step in range(steps):
        X = rng.standard_normal((n, size))
        y = teacher.labels(X, rng)
        W = gradient_step(W, a, [(X, y)], np.tanh, _dtanh, (1.5, 0.7)[step] * math.sqrt(N))
        u = X.T @ y / n
        if directions:
            directions.append(X.T @ (y * (X @ directions[0])) / n)
        directions.append(u)
    beta = teacher.directions[:, 0]
    U = np.stack(directions, axis=1)
    conditioned, plain = (
        conditional_risk(
            conditional_model(W, D, beta, np.tanh, np.tanh, noise=_GIVEN_NOISE, count=count), n, _GIVEN_LAM
        ).test
        for D, count in ((U, {1: 32, 3: 6}[U.shape[1]]), (U[:, :0], 1))
    )
    Z = rng.standard_normal((3000, size))
    clean = np.tanh(Z @ beta)
    test_features = np.tanh(Z @ W) / math.sqrt(N)
    risks = []
    for _ in range(4):
        X = rng.standard_normal((n, size))
        fitted = ridge_readout(np.tanh(X @ W) / math.sqrt(N), teacher.labels(X, rng), _GIVEN_LAM)
        risks.append(float(np.mean((clean - test_features @ fitted) ** 2)) + _GIVEN_NOISE**2)
    return {"ratio": float(np.mean(risks)) / conditioned, "plain": plain / conditioned}


@functools.cache
def _plain(steps: int) -> float:
    """Gaussian equivalence without conditioning over L1, for a few networks of a fixed seed."""
    return float(np.mean([_given_trial(np.random.default_rng([5, i]), 50, steps)["plain"] for i in range(4)]))


@stream("L1.large")
def _large_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """erf on erf: a network of N = 2 d, n = 5 d after a step eta = 2 sqrt N on a batch of 5 d.

    Labels 8 times as large and a step 8 times as small: the network's own output in the residual, of relative order
    N^(-1/2), which L1 leaves out, is then small beside them.
    """
    step = str(Fraction(math.sqrt(2 * size) / 4).limit_denominator(10**6))
    risk = risk_trial(
        rng, size, activation="erf", link="8*erf(z)", samples="5", width="2", ridge="1/10", step=step, batch="5",
        noise="8/5", test=3000,
    )["test"]  # fmt: skip
    return {"ratio": risk / 64 / _large(size)}


_LARGE = 90
_ERF = nonlinearity("erf")


@functools.cache
def _large(size: int) -> float:
    """L1 at large N, for the step of the networks of this size."""
    eta = 2 * math.sqrt(2 * size)
    return one_step_risk(pair(_ERF, _ERF), RidgeProblem(5.0, 2.0, 0.1, eta, noise=NOISE), 2 * size).test - NOISE**2


def _as_if_small() -> float:
    """O3's formula for the same step, as if it were Theta(1), over L1's."""
    c = ridge_constants(_ERF, _ERF)[0]
    return float(ridge_risk(c, RidgeProblem(5.0, 2.0, 0.1, 2 * math.sqrt(2 * _LARGE), noise=NOISE)).test) / _large(
        _LARGE
    )


NORMS = {"activation": "z + He(2, z)/2", "link": "softplus", "samples": "2", "width": "1", "ridge": "1/10"}
NORMS |= {"step": "1", "batch": "2", "noise": "1/5"}


def _norms() -> float:
    """The case that O3's closed form leaves out: mu0 = 0, E sigma'' != 0, a link with a mean."""
    functions = pair(nonlinearity(NORMS["activation"]), nonlinearity(NORMS["link"]))
    return small_step_risk(functions, RidgeProblem(2.0, 1.0, 0.1, 1.0, noise=NOISE))[0] - NOISE**2


def _norms_unfitted() -> float:
    """O3's closed form, as if the activation were odd."""
    c = ridge_constants(nonlinearity(NORMS["activation"]), nonlinearity(NORMS["link"]))[0]
    return float(ridge_risk(replace(c, fits_mean=False), RidgeProblem(2.0, 1.0, 0.1, 1.0, noise=NOISE)).test)


@stream("L1.length")
def _length_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Ridge on random ReLU features of a link of mean 10, over L1 at the very size: what |x| costs."""
    risk = risk_trial(
        rng, size, activation="relu", link="10 + z", samples="5", width="2", ridge="1/10", step="0", batch="1", test=100
    )
    return {name: risk[name] / value for name, value in _length(size).items()}


@functools.cache
def _length(size: int) -> dict[str, float]:
    found = one_step_risk(pair(RELU, SHIFTED), RidgeProblem(5.0, 2.0, 0.1, 0.0), 2 * size)
    return {"test": found.test, "train": found.train}


RELU, SHIFTED = nonlinearity("relu"), nonlinearity("10 + z")
_LENGTH = 70


def _without_length() -> float:
    """O3's limit, where the length of the inputs is constant, over L1 at the checked size."""
    c = ridge_constants(RELU, SHIFTED)[0]
    return float(ridge_risk(c, RidgeProblem(5.0, 2.0, 0.1, 0.0)).train) / _length(_LENGTH)["train"]


_REST_POINT = 0.3  # of the resolvents (K + x)^-1


@stream("L1.rest.bulk")
def _rest_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """K of a batch of n1 = d/2 samples: (1/d) tr (K + x)^-1, and the same as beta sees it orthogonally to u."""
    X = rng.standard_normal((size // 2, size))
    y = np.tanh(X[:, 0]) + NOISE * rng.standard_normal(size // 2)
    K = (X.T * (y**2 / np.mean(y**2))) @ X / len(y)
    u = X.T @ y / np.linalg.norm(X.T @ y)
    beta = np.eye(size)[0] - u[0] * u
    G = np.linalg.inv(K + _REST_POINT * np.eye(size))
    seen = beta @ G @ beta - (u @ G @ beta) ** 2 / (u @ G @ u)
    return {"bulk": float(np.trace(G)) / size, "aligned": float(seen / (beta @ beta))}


def _rest(which: str) -> float:
    """The same from the closed spectrum."""
    z, w = np.polynomial.hermite_e.hermegauss(60)
    e, we = np.polynomial.hermite_e.hermegauss(12)
    y = (np.tanh(z)[:, None] + NOISE * e).ravel()
    found = batch_spectrum(y, np.repeat(z, 12), np.outer(w / w.sum(), we / we.sum()).ravel(), 0.5)
    nodes, mass = getattr(found, which)
    return float(mass @ (1 / (nodes + _REST_POINT)))


CHECKS = (
    Check(
        id="L1.given",
        claim="weights after one step `eta = 1.5 sqrt N`: simulated risk over L1's, one spike direction",
        source=SOURCE,
        predict=lambda: 1.0,
        measure=Ladder(functools.partial(_given_trial, steps=1), "ratio", (40, 90), 1.0, 50, (60, 120, 240), 60),
        resolution=0.088,
        control=Control("Gaussian equivalence without conditioning", functools.partial(_plain, 1)),
    ),
    Check(
        id="L1.two_steps",
        claim="weights after two steps: simulated risk over L1's, three directions (those of T2)",
        source=SOURCE + ", T2",
        predict=lambda: 1.0,
        measure=Ladder(functools.partial(_given_trial, steps=2), "ratio", (36, 80), 1.0, 28, (50, 100, 200), 30),
        resolution=0.15,
        control=Control("Gaussian equivalence without conditioning", functools.partial(_plain, 2)),
    ),
    Check(
        id="L1.large",
        claim="erf on erf trained by a step `eta = 2 sqrt N`: simulated risk over the closed fixed point's",
        source=SOURCE,
        predict=lambda: 1.0,
        measure=Ladder(_large_trial, "ratio", (30, _LARGE), 1.0, 32, (60, _LARGE), 200),
        resolution=0.28,
        control=Control("O3's formula, as if the step were `Theta`(1)", _as_if_small),
    ),
    Check(
        id="L1.norms",
        claim="a link with a mean, fitted in part by the fluctuation of `|w_j|^2` (`z + He_2/2` on softplus)",
        source=SOURCE + ", O3",
        predict=_norms,
        measure=Ladder(functools.partial(risk_trial, **NORMS), "test", (30, 110), 1.0, 48, (100, 200, 400), 60),  # type: ignore[arg-type]
        resolution=0.15,
        control=Control("nothing fits the mean", _norms_unfitted),
    ),
    Check(
        id="L1.length",
        claim=(
            "relu on a link of mean 10: simulated training error over L1's, which knows that the features share `|x|`"
        ),
        source=SOURCE,
        predict=lambda: 1.0,
        measure=Ladder(_length_trial, "train", (30, _LENGTH), 1.0, 40, (60, 120, 240), 60),
        resolution=0.2,
        control=Control("O3's limit, without the lengths' term", _without_length),
    ),
    Check(
        id="L1.rest.bulk",
        claim="batch of `d/2`: the resolvent of the covariance that the step leaves in the weights",
        source=SOURCE + ", O1",
        predict=functools.partial(_rest, "bulk"),
        measure=Ladder(_rest_trial, "bulk", (40, 120), 1.0, 60, (100, 200, 400), 60),
        resolution=0.15,
        control=Control("an isotropic rest", lambda: 1 / (1 + _REST_POINT)),
    ),
    Check(
        id="L1.rest.aligned",
        claim="the same resolvent at `beta`, orthogonally to the spike: `beta` sees less of the rest than the average",
        source=SOURCE + ", O1",
        predict=functools.partial(_rest, "aligned"),
        measure=Ladder(_rest_trial, "aligned", (40, 120), 1.0, 150, (100, 200, 400), 150),
        resolution=0.2,
        control=Control("the average direction's", functools.partial(_rest, "bulk")),
    ),
)
