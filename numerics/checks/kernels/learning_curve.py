"""Ledger of G10: simulated kernel ridge regression over its prediction, on Figure 1b's target and spiked kernels.

The measured quantity is the ratio of simulated and predicted risk at the same d, whose limit is 1; a wrong spectrum
predicts another ratio.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bulkedge.numerics.kernels.learning_curve import (
    KernelSpectrum,
    finite_size,
    learning_curve,
    network_risk,
    one_step_spectrum,
    relu_spectrum,
)
from bulkedge.numerics.kernels.spiked_kernel import spiked_kernel_matrix
from bulkedge.numerics.risk.generalisation import target
from bulkedge.numerics.steps.covariance import Step, predicted
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity

SOURCE = "G10; paper F, Figure `1b`"
LINK, A, EXPONENT, RIDGE, TESTS = "2*z**2 + 3*z + 4*sin(2*z)", 1.2, 0.7, 0.3, 600
SIZES = (28, 120)


def _spike(d: int) -> float:
    return 5 * math.exp(EXPONENT * math.log(d))


@functools.cache
def spectrum(d: int, spiked: bool = True) -> KernelSpectrum:
    """The spectrum of k1, or of k0, with the target on it."""
    return relu_spectrum(d, *((A, _spike(d)) if spiked else (1.0, 0.0)), nonlinearity(LINK))


def _predicted(d: int, spiked: bool = True, width: float = np.inf) -> float:
    return learning_curve(spectrum(d, spiked), d, RIDGE, width=width).risk


def _data(rng: np.random.Generator, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """d training samples and the test set, and a unit vector along the first coordinate."""
    return rng.standard_normal((d, d)), rng.standard_normal((TESTS, d))


@stream("G10.kernel")
def kernel_trial(rng: np.random.Generator, size: int, spiked: bool = True) -> dict[str, float]:
    """Kernel ridge regression with k1 (or k0) on d = n = size over G10's prediction."""
    X, Z = _data(rng, size)
    values = (np.eye(size)[0], A, _spike(size)) if spiked else (np.eye(size)[0], 1.0, 0.0)
    K = spiked_kernel_matrix(X, None, *values)
    fitted = np.linalg.solve(K + RIDGE * np.eye(size), target(X[:, 0]))
    error = np.mean((target(Z[:, 0]) - spiked_kernel_matrix(Z, X, *values) @ fitted) ** 2)
    return {"ratio": float(error) / _predicted(size, spiked)}


@stream("G10.features")
def _features_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Ridge on m = d/4 ReLU features with weights N(0, Gamma/d), d = n = size, over the prediction for that width."""
    X, Z = _data(rng, size)
    m = size // 4
    W = np.sqrt(A / size) * rng.standard_normal((size, m))
    W[0] *= np.sqrt((A + _spike(size)) / A)
    Phi, Psi = (np.maximum(S @ W, 0) / np.sqrt(m) for S in (X, Z))
    a = np.linalg.solve(Phi.T @ Phi + RIDGE * np.eye(m), Phi.T @ target(X[:, 0]))
    error = np.mean((target(Z[:, 0]) - Psi @ a) ** 2)
    return {"ratio": float(error) / _predicted(size, True, m)}


_NETWORK = Step("relu", "tanh(2*z)", alpha=1.0, beta=2.0, eta0=5.0, zeta=0.75, noise=0.1)


def _averaged() -> float:
    """The prediction for the batch-averaged k1, whose spike is w* itself, over that for the network."""
    d = SIZES[-1]
    A, B = predicted(_NETWORK, d)
    averaged = relu_spectrum(d, 1 + A, B, _NETWORK.functions()[1])
    of_k1, own = (
        learning_curve(s, d, 0.1, _NETWORK.noise, 2 * d).risk for s in (averaged, one_step_spectrum(_NETWORK, d))
    )
    return of_k1 / own


FEW, SMALL, _LARGE_SPIKE = 60, 30, 5 * 60**0.9  # d, n and B of the finite-size check


@stream("G10.finite")
def _finite_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The risk of kernel ridge regression with k1 on few samples, d = 60; 120 test points."""
    X, Z = rng.standard_normal((size, FEW)), rng.standard_normal((120, FEW))
    Z[:, 0] = ndtri((np.arange(120) + rng.random(120)) / 120)  # one point in each of 120 strata: less noise, same mean
    both = spiked_kernel_matrix(np.vstack([X, Z]), X, np.eye(FEW)[0], A, _LARGE_SPIKE)
    fitted = np.linalg.solve(both[:size] + RIDGE * np.eye(size), target(X[:, 0]))
    return {"risk": float(np.mean((target(Z[:, 0]) - both[size:] @ fitted) ** 2))}


@functools.cache
def _few() -> tuple[float, float]:
    """The limit's risk at d = 60, n = 30, and its first finite-size term."""
    term = finite_size(FEW, A, _LARGE_SPIKE, nonlinearity(LINK), SMALL, RIDGE)
    limit = relu_spectrum(FEW, A, _LARGE_SPIKE, nonlinearity(LINK))
    return learning_curve(limit, SMALL, RIDGE).risk, term


def _corrected() -> float:
    return sum(_few())


def _limit() -> float:
    return _few()[0]


def _second_order(size: int) -> float:
    """The square of the relative term: what the next order may add."""
    limit, term = _few()
    return term**2 / limit


def _one() -> float:
    return 1.0


def _other_spectrum() -> float:
    """k0's spectrum against k1's data."""
    return _predicted(SIZES[-1], False) / _predicted(SIZES[-1])


def _k1_for_k0() -> float:
    return _predicted(SIZES[-1]) / _predicted(SIZES[-1], False)


def _wide() -> float:
    """The kernel's prediction for its features."""
    return _predicted(SIZES[-1]) / _predicted(SIZES[-1], True, SIZES[-1] // 4)


CHECKS = (
    Check(
        "G10.kernel",
        "risk of kernel ridge with `k1` over the prediction, `d = n, B = 5 d^.7`, Figure 1b's target",
        SOURCE,
        _one,
        Ladder(kernel_trial, "ratio", SIZES, 0.75, 100, (100, 200, 400), 40),
        0.2,
        Control("`k0'`s spectrum with `k1'`s data", _other_spectrum),
    ),
    Check(
        "G10.k0",
        "the same with `k0`",
        SOURCE,
        _one,
        Ladder(functools.partial(kernel_trial, spiked=False), "ratio", SIZES, 0.75, 100, (100, 200, 400), 40),
        0.2,
        Control("`k1'`s spectrum with `k0'`s data", _k1_for_k0),
    ),
    Check(
        "G10.features",
        "risk of ridge on `m = d/4` random features of `k1` over the prediction at that width",
        SOURCE,
        _one,
        Ladder(_features_trial, "ratio", SIZES, 0.9, 200, (100, 200, 400), 40),
        0.14,
        Control("the kernel's prediction, `m ->` infinity", _wide),
    ),
    Check(
        "G10.network",
        "risk of ridge on a network after one step (`n1 = d, m = 2 d`, link tanh(`2z`)) over the prediction of G2 "
        "and G10",
        SOURCE,
        _one,
        Ladder(functools.partial(network_risk, step=_NETWORK), "ratio", SIZES, 1.0, 100, (100, 200, 400), 40),
        0.18,
        Control("the batch-averaged kernel `k1`: the spike along `w*` itself", _averaged),
    ),
    Check(
        "G10.finite",
        "risk of kernel ridge with `k1` at `n = 30, d = 60`: the limit and its first finite-size term, 10 per cent",
        SOURCE,
        _corrected,
        MonteCarlo(_finite_trial, "risk", SMALL, 1600, 6400, _second_order),
        0.45,
        Control("the limit alone: residual and eigenfunctions independent", _limit),
    ),
)
