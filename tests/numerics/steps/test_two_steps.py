"""What the two-step statements are tried on: links, activations, starts, and the spike matrix of given data."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.steps.alignment import float_moments, gauss_grid
from bulkedge.numerics.steps.two_steps import (
    LINKS,
    SLIGHT,
    STRONG,
    WEAK,
    Cubic,
    Experiment,
    bulk_edge,
    draw_start,
    without_own,
)
from bulkedge.theory.numbers import symbols as s


@pytest.mark.parametrize(("link", "exponent"), [("bounded", 1), ("he3", 3), ("mixed", 2)])
def test_links_are_centred_and_have_their_information_exponent(link: str, exponent: int) -> None:
    moment = float_moments(LINKS[link], nodes=400)
    hermite = {1: (0, 1), 2: (-1, 0, 1), 3: (0, -3, 0, 1)}
    found = [sum(c * moment(a, 1) for a, c in enumerate(hermite[k])) for k in (1, 2, 3)]
    assert moment(0, 1) == pytest.approx(0, abs=1e-12)
    assert all(abs(x) < 1e-12 for x in found[: exponent - 1])
    assert abs(found[exponent - 1]) > 0.1


@pytest.mark.parametrize("sigma", [STRONG, WEAK, SLIGHT, Cubic(sp.Rational(-1, 7), sp.Rational(2, 3))])
def test_the_slope_is_the_derivative_and_the_moments_are_its_moments(sigma: Cubic) -> None:
    derivative = sp.lambdify(s.z, sp.diff(sigma.exact.sigma, s.z))
    x, w = gauss_grid(120)
    assert sigma.slope(x) == pytest.approx(derivative(x), rel=1e-13, abs=1e-12)
    assert sigma.moment(1, 2, 1) == pytest.approx(float(np.sum(w * x**2 * derivative(x) ** 2)), rel=1e-12)
    assert sigma.moment(3, 0, 2) == pytest.approx(
        float(6 * sigma.c3 * np.sum(w * derivative(x) ** 2)), rel=1e-12, abs=1e-15
    )


def test_batches() -> None:
    reused = draw_start(np.random.default_rng(5), 12, 20, 40, LINKS["bounded"], 0.1)
    fresh = draw_start(np.random.default_rng(5), 12, 20, 40, LINKS["bounded"], 0.1, "fresh")
    assert reused.batches[0] is reused.batches[1]
    assert fresh.batches[0].seed == reused.batches[0].seed != fresh.batches[1].seed
    X, y, q = without_own(reused.batches)
    i = 7
    others = [m for m in range(40) if m != i]
    assert q[i] == pytest.approx(X[i] @ (X[others].T @ y[others]) / 40, rel=1e-12)


def test_the_edge_does_not_see_spikes_along_powers_of_the_readout() -> None:
    start = draw_start(np.random.default_rng(1), 60, 90, 10, LINKS["bounded"], 0.1)
    before = bulk_edge(start.W, start.a)
    spiked = start.W + 50 * np.outer(start.beta, start.a**3 + start.a * np.abs(start.a))
    assert bulk_edge(spiked, start.a) == pytest.approx(before, rel=1e-6)
    assert np.linalg.norm(spiked, 2) > 2 * before


@pytest.mark.parametrize("batch", ["reused", "fresh"])
def test_the_data_have_the_spike_matrix_of_the_limit(batch: str) -> None:
    experiment = Experiment(SLIGHT, 4.0, (7.0, 8.0), (0.4, 0.25), batch=batch)
    rng = np.random.default_rng(2)
    found = np.mean([experiment.spikes(experiment.start(rng, 300), 3).strengths for _ in range(8)], axis=0)
    # Eight draws of relative spread .1 to .15 each.
    assert found == pytest.approx(experiment.matrix(300, 3).strengths, rel=0.15)


def test_a_capped_derivative_changes_the_highest_spike() -> None:
    experiment = Experiment(SLIGHT, 4.0, (7.0, 8.0), (0.4, 0.25))
    assert experiment.matrix(300, 3, highest=3).right == pytest.approx(experiment.matrix(300, 3).right)
    assert abs(experiment.matrix(300, 3, highest=2).right[2, 2] / experiment.matrix(300, 3).right[2, 2] - 1) > 0.5
