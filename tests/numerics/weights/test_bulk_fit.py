"""The fit's null and the spikes' share of the bulk (R5), against matrices that are really drawn and interlacing."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.weights import bulk_fit
from bulkedge.numerics.weights.weights import analyse


def rng(seed=0):
    return np.random.default_rng(seed)


def drawn(draw, small, large, count, seed):
    """Distances of matrices of the given entries, by their own singular values."""
    g = rng(seed)
    found = []
    for _ in range(count):
        values = np.linalg.svd(draw(g, (small, large)), compute_uv=False) ** 2 / large
        found.append(bulk_fit.distance(values, large, float(values.mean())))
    return np.array(found)


@functools.cache
def gauss(small, large):
    return drawn(lambda g, shape: g.standard_normal(shape), small, large, 150, 1)


@pytest.mark.parametrize(
    ("kappa", "draw"),
    [
        (0.0, lambda g, shape: g.standard_normal(shape)),
        (-2.0, lambda g, shape: np.sign(g.standard_normal(shape))),
        (-1.2, lambda g, shape: g.uniform(-1, 1, shape)),
        (3.0, lambda g, shape: g.laplace(size=shape)),
    ],
)
@pytest.mark.parametrize("shape", [(30, 45), (24, 240)])
def test_the_null_is_that_of_matrices_with_such_entries(kappa, draw, shape):
    """Triangular Gaussian factors with turned norms against matrices of the entries themselves: means and quantiles."""
    ours, theirs = bulk_fit.null_distances(*shape, kappa, 400, 1), drawn(draw, *shape, 150, 2)
    error = np.hypot(ours.std() / 20, theirs.std() / np.sqrt(150))
    assert abs(ours.mean() - theirs.mean()) < 4 * error
    # 150 draws put the 90 per cent quantile within four standard deviations of a binomial share.
    assert abs(np.mean(theirs > np.quantile(ours, 0.9)) - 0.1) < 4 * np.sqrt(0.09 / 150 + 0.09 / 400)


def test_carrying_the_null_to_larger_sides():
    carried, own = (
        bulk_fit.null_distances(300, 450, 0.0, 199, 1),
        drawn(lambda g, shape: g.standard_normal(shape), 300, 450, 24, 3),
    )
    assert carried.mean() == pytest.approx(own.mean(), rel=0.12)


@pytest.mark.parametrize("shape", [(200, 200), (100, 250)])
def test_one_spike_moves_the_counting_function_by_its_shift(shape):
    """Singular values of the same noise without and with a spike: the mean loss below x against Krein's shift."""
    small, large = shape
    strength = 1.6 * (small * large) ** 0.25
    law = MarchenkoPastur(small / large)
    x = law.ppf(np.array([0.3, 0.6, 0.9]))
    losses = []
    for seed in range(60):
        g = rng(seed)
        noise = g.standard_normal(shape)
        u, v = g.standard_normal(small), g.standard_normal(large)
        spiked = noise + strength * np.outer(u / np.linalg.norm(u), v / np.linalg.norm(v))
        values = [np.linalg.eigvalsh(m @ m.T) / large for m in (noise, spiked)]
        losses.append([np.sum(values[0] <= p) - np.sum(values[1] <= p) for p in x])
    expected = bulk_fit.spectral_shift(x, small / large, 1.0, strength / np.sqrt(large))
    # Losses are integers of spread at most one half about their mean.
    assert np.mean(losses, axis=0) == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(60))
    assert np.all(expected > 0.1)


@settings(deadline=None)
@given(st.floats(0.02, 1.0), st.floats(0.01, 50), st.floats(1.02, 40))
def test_laws_of_the_shift(ratio, variance, excess):
    """Between 0 and 1, all of one eigenvalue at the edge, and for strong spikes one row and one column less."""
    law = MarchenkoPastur(ratio, variance)
    threshold = rectangular(ratio).threshold * np.sqrt(variance)
    x = law.ppf(np.linspace(0.05, 0.95, 7))
    shift = bulk_fit.spectral_shift(x, ratio, variance, excess * threshold)
    assert np.all((shift >= 0) & (shift <= 1))
    ends = bulk_fit.spectral_shift(np.array([law.edges[0] * 0.5, law.edges[1]]), ratio, variance, excess * threshold)
    assert ends[0] <= 1e-6  # at ratio one both edges are where it starts
    assert ends[1] == pytest.approx(1, abs=1e-3)
    # small F - (small - 1) F of (small - 1) x (large - 1), as the sizes grow: F - d/ds of both.
    h = 1e-5
    fewer = MarchenkoPastur((ratio - h) / (1 - h), variance * (1 - h))
    limit = (ratio * law.cdf(x) - (ratio - h) * fewer.cdf(x)) / h
    strong = bulk_fit.spectral_shift(x, ratio, variance, 1e4 * np.sqrt(variance))
    assert strong == pytest.approx(limit, abs=2e-3)


def orthogonal_spikes(g, shape, strengths):
    left, right = (np.linalg.qr(g.standard_normal((side, len(strengths))))[0] for side in shape)
    return g.standard_normal(shape) + left * np.asarray(strengths) * np.sqrt(shape[0]) @ right.T


@pytest.mark.parametrize("count", [3, 10, 20])
def test_the_model_is_not_rejected_once_its_spikes_are_removed(count):
    p = []
    for seed in range(6):
        report = analyse(orthogonal_spikes(rng(seed), (200, 200), np.linspace(3, 5, count)), rng=rng(seed))
        assert len(report.outliers) == count
        p.append(report.fit.p)
    assert abs(np.mean(p) - 0.5) < 4 / np.sqrt(12 * 6)
    assert np.sum(np.array(p) < 0.01) <= 1


def test_no_bulk_left_is_no_fit():
    g = rng(7)
    levels = np.exp(np.linspace(0, 4, 16))
    turn = [np.linalg.qr(g.standard_normal((16, 16)))[0] for _ in range(2)]
    report = analyse(turn[0] @ (levels[:, None] * (turn[1] @ g.standard_normal((16, 800)))), rng=rng())
    assert report.fit is None
    assert report.rate is None
    assert "no bulk is left" in report.reason
    assert not report.trusted


def test_layers_of_one_shape_share_their_draws():
    bulk_fit._null.cache_clear()
    for seed in range(3):
        analyse(rng(seed).standard_normal((40, 60)), rng=rng(0), draws=9)
    assert bulk_fit._null.cache_info().misses <= 2


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 1.0), st.floats(0.1, 10))
def test_laws_of_the_distance(seed, ratio, factor):
    """A distance is a share and has no units; the null's is of the order log(size)/size; quantiles follow the scale."""
    g = rng(seed)
    large = round(20 / ratio)
    values = np.linalg.eigvalsh((z := g.standard_normal((20, large))) @ z.T) / large
    one = bulk_fit.distance(values, large, 1.0)
    assert 1 / 40 <= one <= 1
    assert bulk_fit.distance(factor * values, large, factor) == pytest.approx(one, rel=1e-9)
    null = bulk_fit.null_distances(20, large, 0.0, 9, seed)
    assert np.all((null >= 1 / 40) & (null < 0.4))
    scale, aspect = bulk_fit.quantile_fit(values, ratio)
    again, same = bulk_fit.quantile_fit(factor**2 * values, ratio)
    assert (again, same) == (pytest.approx(factor * scale, rel=1e-4), pytest.approx(aspect, rel=1e-3))
