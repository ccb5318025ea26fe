"""numerics/kernels/learning_curve.py: O3 as a second route, closed forms of the target, laws, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.kernels.learning_curve import (
    KernelSpectrum,
    finite_size,
    learning_curve,
    link_harmonics,
    network_risk,
    one_step_spectrum,
    relu_spectrum,
    tilted_spectrum,
)
from bulkedge.numerics.kernels.spiked_spectrum import harmonics
from bulkedge.numerics.risk.ridge import Constants, kernel_risk, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.steps.covariance import Step
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import d as dimension
from bulkedge.theory.risk.floor_relu import figure_floor, radial_mean

TARGET = nonlinearity("2*z**2 + 3*z + 4*sin(2*z)")
ratio = st.floats(0.1, 10.0)
positive = st.floats(0.1, 2.0)


def _proportional(mu1: float, mu2: float, linear: float, nonlinear: float, d: int) -> KernelSpectrum:
    """d eigenvalues mu1^2/d and a tail of trace mu2^2: the Gaussian equivalent of random features."""
    values, copies = np.array([mu1**2 / d]), np.array([float(d)])
    return KernelSpectrum(values, copies, mu2**2, values, np.array([linear**2]), nonlinear**2)


@settings(max_examples=80, deadline=None)
@given(ratio, ratio, st.floats(-3, 1), positive, positive, positive, positive, st.floats(0, 1))
def test_random_features_by_o3(
    p1: float, p2: float, exponent: float, mu1: float, mu2: float, linear: float, nonlinear: float, noise: float
) -> None:
    """Ridge (1/n)|y - Phi a|^2 + (lam/N)|a|^2 is |y - Phi a|^2 + (lam n/N)|a|^2; the size drops out."""
    if abs(math.log(p1 / p2)) < 0.05:
        return
    d, lam = 1000, 10.0**exponent
    spectrum, c = _proportional(mu1, mu2, linear, nonlinear, d), Constants(mu1, mu2, 0.0, linear, nonlinear)
    ours = learning_curve(spectrum, p1 * d, lam * p1 / p2, noise, p2 * d)
    assert ours.risk == pytest.approx(float(ridge_risk(c, RidgeProblem(p1, p2, lam, noise=noise)).test), rel=1e-8)
    wide = learning_curve(spectrum, p1 * d, lam * p1, noise)
    assert wide.risk == pytest.approx(float(kernel_risk(c, p1, lam, noise)), rel=1e-8)
    assert ours.kappa <= ours.gamma
    assert spectrum.degrees(wide.gamma)[0] == pytest.approx(wide.degrees1)


@settings(max_examples=12, deadline=None)
@given(st.integers(20, 60), st.floats(0.5, 2), st.floats(0, 50), st.sampled_from(["tanh(2*z)", "sin(z)", "z"]))
def test_laws_of_the_spectrum(d: int, A: float, B: float, name: str) -> None:
    """The trace is E k1(x, x) = (A + B/d)/2; Parseval; a spike along w* is a tilt of none; more samples learn more."""
    link = nonlinearity(name)
    spectrum, aligned = relu_spectrum(d, A, B, link), tilted_spectrum(d, A, B, 1.0, link)
    trace = float(spectrum.multiplicities @ spectrum.values) + spectrum.rest
    assert trace == pytest.approx((A + B / d) / 2, rel=1e-9)
    assert spectrum.squares.sum() + spectrum.unlearnable == pytest.approx(link_harmonics(link, d)[2], rel=1e-12)
    risks = [learning_curve(spectrum, n, 1.0).risk for n in (10, 100, 1000, 1e7)]
    assert risks == sorted(risks, reverse=True)
    assert risks[-1] == pytest.approx(spectrum.unlearnable, abs=1e-3)
    across = tilted_spectrum(d, A, B, 0.0, link)
    for n in (10, 1000):
        assert learning_curve(aligned, n, 1.0).risk == pytest.approx(learning_curve(spectrum, n, 1.0).risk, rel=1e-9)
        assert learning_curve(across, n, 1.0).risk >= learning_curve(aligned, n, 1.0).risk


@pytest.mark.parametrize("d", [20, 60, 300])
def test_the_target_of_figure_1b_in_closed_form(d: int) -> None:
    """2t^2 lies on degrees 0 and 2, 3t + 4 sin 2t on the linear function: 3 + 8 e^-2; the rest is G8's floor."""
    even, linear, second = link_harmonics(TARGET, d)
    cube = float(radial_mean(3).subs(dimension, d).evalf(20))
    zero = 2 * cube / d**1.5
    assert even[0] == pytest.approx(zero, rel=1e-10)
    assert even[1] == pytest.approx(zero * math.sqrt(2 * (d - 1) / (d + 2)), rel=1e-10)
    assert np.abs(even[2:]).max() < 10 ** (-4 - 4 * (d > 30))
    assert linear == pytest.approx(3 + 8 * math.exp(-2), rel=1e-12)
    floor = float(figure_floor().subs(dimension, d).evalf(20))
    assert second - even @ even - linear**2 == pytest.approx(floor, rel=1e-8)


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2))
def test_harmonics_are_orthonormal(d: int, j: int) -> None:
    """Under the law of the first coordinate of a uniform point, by Gauss and Legendre in the angle."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    angle = (nodes + 1) * math.pi / 2
    law = weights * np.sin(angle) ** (d - 2)
    table = harmonics(d, 8, np.cos(angle), j)
    gram = (table * (law / law.sum())) @ table.T
    np.testing.assert_allclose(gram, np.eye(9 - j), atol=1e-9)


@settings(max_examples=3, deadline=None)
@given(st.integers(20, 80), st.floats(5, 100), st.integers(20, 400))
def test_the_finite_size_term_falls_as_one_over_n(d: int, B: float, n: int) -> None:
    """At a ridge of n times a constant the effective ridge is all but fixed: what is left is 1/n."""
    few, many = (finite_size(d, 1.2, B, TARGET, count, 3.0 * count) * count for count in (n, 100 * n))
    assert few == pytest.approx(many, rel=0.3)


def test_the_finite_size_term_explains_what_the_limit_leaves_out() -> None:
    """d = 200, n = 30, B = 5 d^.9, ridge .3: simulated 10.08 +- .11 (600 draws), the limit 9.10."""
    B = 5 * 200**0.9
    limit = learning_curve(relu_spectrum(200, 1.2, B, TARGET), 30, 0.3).risk
    assert limit < 9.2
    assert limit + finite_size(200, 1.2, B, TARGET, 30, 0.3) == pytest.approx(10.08, abs=0.3)


@settings(max_examples=10, deadline=None)
@given(st.floats(0.5, 8), st.floats(0.5, 4))
def test_a_network_s_spectrum_knows_its_batch(alpha: float, beta: float) -> None:
    """A larger batch turns the spike towards w*; with an endless one nothing of the linear part is across."""
    steps = [Step("relu", "tanh", alpha=a, beta=beta, eta0=beta, noise=0.2) for a in (alpha, 4 * alpha, 1e12)]
    shares = [one_step_spectrum(step, 50).squares for step in steps]
    across = [s[1] / s.sum() for s in shares]
    assert across[0] > across[1] > across[2]
    assert across[2] < 1e-10


def test_the_network_s_risk_draws_from_its_generator_alone() -> None:
    step = Step("relu", "tanh", alpha=1.0, beta=1.0, eta0=1.0)
    one, two = (network_risk(np.random.default_rng(3), 20, step, tests=50) for _ in range(2))
    assert one == two
    assert one["ratio"] > 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"samples": 0}, "samples"), ({"ridge": 0.0}, "ridge"), ({"noise": -1.0}, "noise"), ({"width": 0}, "width")],
)
def test_bad_input(arguments: dict[str, float], named: str) -> None:
    values = {"samples": 20.0, "ridge": 0.1} | arguments
    with pytest.raises(InputError) as caught:
        learning_curve(_proportional(0.5, 0.3, 1.0, 0.1, 50), **values)
    assert caught.value.argument == named


def test_what_has_no_such_spectrum_is_refused() -> None:
    with pytest.raises(InputError, match="odd"):
        tilted_spectrum(30, 1.0, 1.0, 0.5, TARGET)
    with pytest.raises(InputError, match="cosine"):
        tilted_spectrum(30, 1.0, 1.0, 1.5, nonlinearity("z"))
    with pytest.raises(InputError, match="relu"):
        one_step_spectrum(Step("tanh", "z"), 30)
    with pytest.raises(InputError, match="too small"):
        relu_spectrum(10, 1.0, 1.0, TARGET)
