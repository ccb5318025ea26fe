"""G4, G5 and G8 on data."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.kernels.spiked_kernel import (
    alignment_trial,
    leading_eigenpair,
    partial_sums,
    second_harmonic,
    spiked_kernel_matrix,
    warp,
)
from bulkedge.numerics.kernels.spiked_spectrum import sector
from bulkedge.numerics.risk.generalisation import choose_ridge, feature_ridge_error, kernel_ridge_error, target
from bulkedge.theory.kernels import spiked_kernel as symbols
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import A, d

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("name", ["relu", "erf", "abs", "tanh"])
@pytest.mark.parametrize("B", [5.0, -0.6])
def test_the_kernel_is_an_average_over_spiked_weights(name: str, B: float) -> None:
    from bulkedge.numerics.functions.functions import vectorised
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    X, spike = RNG.standard_normal((4, 6)), np.array([0.0, 0.6, 0.8, 0.0, 0.0, 0.0])
    W = warp(RNG.standard_normal((200_000, 6)), spike, 1.3, B) / np.sqrt(6)
    features = vectorised(nonlinearity(name))(X @ W.T)
    K = spiked_kernel_matrix(X, None, spike, 1.3, B, name)
    samples = features[:, None, :] * features[None, :, :]
    spread = samples.std(axis=2) / np.sqrt(200_000)
    assert np.all(np.abs(samples.mean(axis=2) - K) <= 5 * spread + 1e-12)
    # Off the diagonal: at coinciding points the series of a function without closed form is at its slowest.
    cross = spiked_kernel_matrix(X[:2], X[2:], spike, 1.3, B, name)
    np.testing.assert_allclose(cross, K[:2, 2:], atol=1e-10)


def test_leading_eigenpair_approaches_the_exact_spectrum() -> None:
    X, spike = RNG.standard_normal((1500, 10)), np.eye(10)[0]
    top = leading_eigenpair(spiked_kernel_matrix(X, None, spike, 1.0, 10.0))
    exact = sector(10, 1.0, 10.0, tolerance=1e-9)
    psi = exact.eigenfunction(0)(X, spike)
    assert top.value == pytest.approx(exact.eigenvalues[0], rel=0.08)
    assert abs(np.mean(top.vector * psi)) == pytest.approx(1, abs=0.05)
    harmonic = second_harmonic(X, spike)
    assert np.mean(harmonic**2) == pytest.approx(1, abs=0.15)
    assert np.mean(harmonic * psi) == pytest.approx(exact.vectors[1, 0], abs=0.12)


def test_alignment_trial_and_its_control() -> None:
    spiked = alignment_trial(np.random.default_rng(0), 60, 0.9, 4.0)["overlap2"]
    control = alignment_trial(np.random.default_rng(0), 60, None, 4.0)["overlap2"]
    assert control < 0.05 < spiked


def test_partial_sums_converge_inside_the_radius_only() -> None:
    point = {symbols.r: 3, symbols.r_prime: 2, symbols.angle: sp.Rational(6, 5), symbols.s: 1, symbols.s_prime: -1}
    point |= {A: 1, d: 4}
    radius = float(symbols.radius().subs(point))
    inside, exact = partial_sums(point, 0.4 * radius, 16)
    assert abs(inside[-1] - float(exact)) < 1e-7
    assert abs(inside[3] - float(exact)) > abs(inside[6] - float(exact))
    outside, beyond = partial_sums(point, 2 * radius, 16)
    assert abs(outside[-1] - float(beyond)) > abs(outside[3] - float(beyond))


def test_ridge_routes_agree() -> None:
    """Kernel ridge on Phi Phi^T and ridge on Phi are the same estimator, cross-validation included."""
    Phi, Psi = RNG.standard_normal((40, 6)), RNG.standard_normal((15, 6))
    y, test = np.sin(Phi[:, 0]) + Phi[:, 1], np.sin(Psi[:, 0]) + Psi[:, 1]
    kernel = kernel_ridge_error(Phi @ Phi.T, y, Psi @ Phi.T, test)
    assert feature_ridge_error(Phi, y, Psi, test) == pytest.approx(kernel, rel=1e-9)
    assert choose_ridge(Phi @ Phi.T, y) in {10.0**k for k in range(-3, 4)}
    assert target(np.array([0.0]))[0] == 0


def test_refusals() -> None:
    X = RNG.standard_normal((3, 4))
    for spike, bulk, strength in [(np.eye(4)[0], 1.0, -1.0), (np.eye(4)[0], 0.0, 1.0), (np.ones(4), 1.0, 1.0)]:
        with pytest.raises(InputError):
            spiked_kernel_matrix(X, None, spike, bulk, strength)
