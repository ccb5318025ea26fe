"""numerics/steps/spiked_features.py: the float twins of theory/steps/spiked_features.py."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.risk.pair import pair
from bulkedge.numerics.steps.spiked_features import finite_size, loss_drops, spiked_features, traces
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import lam as lam_symbol
from bulkedge.theory.numbers.symbols import mu1, v
from bulkedge.theory.steps import spiked_features as sf

ACTIVATION, LINK = nonlinearity("tanh(z + 1/2) - 9/20"), nonlinearity("tanh(z) + He(2, z)/4 + He(3, z)/5")


@pytest.mark.parametrize("activation", ["z + He(2, z)/2 + He(3, z)/6", "softplus"])
def test_drops_are_the_symbolic_ones(activation: str) -> None:
    """Orders 1 to 3 in both readings; softplus has a mean and so the constants in its span."""
    f = nonlinearity(activation)
    psi1, psi2, ridge, alpha, noise = 1.5, 0.8, 0.05, 0.7, 0.3
    p, c = pair(f, LINK), constants(f)
    M1, M2 = traces(psi1, psi2, ridge, c.mu1, c.mu2)
    second = p.link_second + noise**2
    values = {sf.M1: M1, sf.M2: M2, lam_symbol: ridge, mu1: p.mu1, v: second * p.slope_variance / alpha}
    values[sf.b] = math.sqrt(p.link_slope**2 + second / alpha)
    values |= {sf.link_coefficient[i]: float(coefficient(LINK, i, "probabilist").enclosure) for i in (1, 2, 3)}
    got = loss_drops(f, LINK, psi1, psi2, ridge, alpha, noise, (1, 2, 3))
    for reading in sf.READINGS:
        expected = [
            float(sf.loss_drop(order, reading, constants_in_span=activation == "softplus").subs(values))
            for order in (1, 2, 3)
        ]
        assert got[reading] == pytest.approx(expected, rel=1e-9)


def test_drops_at_a_finite_step() -> None:
    """The first spike alone is the symbolic formula; a huge step is the limit; eta_0 halves it."""
    from bulkedge.theory.numbers.symbols import eta, psi1, psi2

    f, at = nonlinearity("tanh"), (2.0, 1.5, 0.1, 2.0, 0.1)  # psi1, psi2, ridge, alpha, noise
    p, c = pair(f, LINK), constants(f)
    M1, M2 = traces(*at[:3], c.mu1, c.mu2)
    b = math.sqrt(p.link_slope**2 + (p.link_second + at[4] ** 2) / at[3])
    values = {sf.M1: M1, sf.M2: M2, lam_symbol: at[2], mu1: p.mu1, sf.b: b, psi1: at[0], psi2: at[1]}
    values |= {sf.link_coefficient[1]: p.link_slope, eta: 1.7}
    found = loss_drops(f, LINK, *at, (1,), (1.7, 300.0))
    assert found["full"][0] == pytest.approx(float(sf.first_drop().subs(values)), rel=1e-12)
    limit = loss_drops(f, LINK, *at, (1, 3))["full"]
    assert loss_drops(f, LINK, *at, (1, 3), (1e6, 300.0))["full"] == pytest.approx(limit, rel=1e-9)
    scale = (float(sf.unused_share().subs(values)) * p.mu1**4 * b**2 * M2) ** -0.5
    assert loss_drops(f, LINK, *at, (1,), (scale, 300.0))["full"][0] == pytest.approx(limit[0] / 2, rel=1e-12)


def test_first_finite_sizes() -> None:
    """Spike k is as strong as the bulk's bound at the dimension that is named, here from matrices of that size."""
    f, a = nonlinearity("tanh"), Fraction(12, 25)
    found = spiked_features(f, LINK, a, 1.0, 0.1)
    near = finite_size(found, f, a, 2.0, 1.5, None)
    assert [k for k, _ in near.beyond] == [1, 3, 5]
    assert near.step == pytest.approx(2000**0.48, rel=1e-12)
    (_, first), *_ = near.beyond
    d = 10**first
    c = constants(f)
    strength = (2 * d) ** 0.48 * c.mu1**2 * found.norm
    edge = c.mu1 * (1 + 2**-0.5) * (1 + 1.5**0.5) + c.mu2 * (1 + 0.75**0.5)
    assert strength == pytest.approx(edge, rel=1e-9)


def test_traces_of_a_large_matrix() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    d, n, N = 500, 600, 400
    W, X = rng.normal(size=(d, N)) / np.sqrt(d), rng.normal(size=(n, d))
    F = 0.7 * X @ W + 0.4 * rng.normal(size=(n, N))
    R0 = np.linalg.inv(F @ F.T + 0.2 * n * np.eye(n))
    M1, M2 = traces(n / d, N / d, 0.2, 0.7, 0.4)
    assert np.trace(R0) == pytest.approx(M1, rel=0.01)
    assert np.sum(X * (R0 @ X)) / d == pytest.approx(M2, rel=0.01)


def test_directions_count_and_removal() -> None:
    got = spiked_features(nonlinearity("tanh"), LINK, Fraction(2, 5) - Fraction(1, 100), 1.0, 0.1)
    assert got.order == 4
    assert [d.index for d in got.directions if d.present] == [1, 3]
    assert not got.boundary
    assert all(d.exponent > Fraction(1, 2) for d in got.directions)


def test_second_direction_has_its_constant() -> None:
    got = spiked_features(nonlinearity("z + He(2, z)/2"), nonlinearity("tanh"), Fraction(3, 10), 1.0, 0.3)
    second = got.directions[1]
    assert second.rank_one == pytest.approx((0, 0, 0.5))
    assert second.full == pytest.approx((0.5 * got.variance, 0, 0.5))
    assert got.variance == pytest.approx(0.3942944903978 + 0.09)


def test_a_mean_enters_the_first_direction() -> None:
    """mu1^2 t + mu0* (E sigma'')^2 at k = 1."""
    f, g = nonlinearity("z + He(2, z)/2"), nonlinearity("tanh(z) + 1/3")
    first = spiked_features(f, g, Fraction(1, 5), 1.0, 0.0).directions[0]
    assert first.full == pytest.approx((1 / 3, 1.0))
    assert first.rank_one == pytest.approx((0.0, 1.0))


def test_bad_exponent() -> None:
    with pytest.raises(InputError):
        spiked_features(ACTIVATION, LINK, Fraction(1, 2), 1.0, 0.0)
