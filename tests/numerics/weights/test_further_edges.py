"""The edges offered beside Marchenko-Pastur's: ScreeNOT's threshold, null matrices, counts where the law is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra.edge import outliers_of, squared_singular_values
from bulkedge.numerics.spectra.null_edge import null_edge
from bulkedge.numerics.spectra.screenot import hard_threshold
from bulkedge.numerics.weights import further_edges as f
from bulkedge.theory.numbers.errors import InputError


def planted(g, shape, strengths):
    left, right = (np.linalg.qr(g.standard_normal((n, len(strengths))))[0] for n in shape)
    return left * np.asarray(strengths) @ right.T


def correlated(g, shape, r=0.7):
    """AR(1) along the columns, variance one."""
    noise = g.standard_normal(shape)
    for k in range(1, shape[1]):
        noise[:, k] = r * noise[:, k - 1] + np.sqrt(1 - r * r) * noise[:, k]
    return noise


def test_screenot_on_white_noise_is_the_known_threshold():
    """Square noise of variance 1/n: 4/sqrt 3 (Gavish & Donoho 2014)."""
    values = np.linalg.svd(np.random.default_rng(0).standard_normal((300, 300)), compute_uv=False) / np.sqrt(300)
    found = hard_threshold(values, 1.0)
    assert found.threshold == pytest.approx(4 / np.sqrt(3), rel=0.02)
    assert (found.count, found.bound) == (0, 30)
    assert found.edge == pytest.approx(2, rel=0.05)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.integers(1, 4))
def test_laws_of_the_edges(seed, factor, bound):
    """They scale with the matrix, thresholds lie above edges, p-values fall."""
    g = np.random.default_rng(seed)
    array = g.standard_normal((20, 30))
    values = np.linalg.svd(array, compute_uv=False)
    one, more = hard_threshold(values, 20 / 30, bound), hard_threshold(factor * values, 20 / 30, bound)
    assert more.threshold == pytest.approx(factor * one.threshold, rel=1e-6)
    assert one.threshold > one.edge > 0
    null = null_edge([values**2])
    scaled = null_edge([(factor * values) ** 2])
    assert scaled.law.centre == pytest.approx(factor**2 * null.law.centre, rel=1e-6)
    assert null.p_value(null.threshold(0.05)) == pytest.approx(0.05, rel=1e-2)
    assert f.edge_of_null(values, [values**2], 0.05).count <= 1
    found = outliers_of(array, 0.01)
    screened = f.screenot_edge(values, array.shape, bound)
    assert screened.count == one.count
    separable = f.separable_edge(values**2, found, 0.01)
    assert separable.threshold > separable.edge
    assert {e.name for e in f.further_edges(array, found, 0.01, [values**2])} >= {"screenot", "null"}


@pytest.mark.parametrize("strengths", [(), (60.0, 70.0, 90.0)])
def test_correlated_noise_is_counted_right_where_the_law_is_not(strengths):
    """Row correlations: Marchenko-Pastur's edge passes dozens, ScreeNOT and a null matrix count what was planted."""
    right = []
    for seed in range(6):
        g = np.random.default_rng(seed)
        matrix = correlated(g, (120, 180)) + (planted(g, (120, 180), strengths) if strengths else 0)
        found = outliers_of(matrix, 0.01)
        assert found.count > 10
        null = squared_singular_values(correlated(g, (120, 180)))
        edges = {e.name: e.count for e in f.further_edges(matrix, found, 0.01, [null])}
        right.append([edges["screenot"] == len(strengths), edges["null"] == len(strengths)])
    assert np.sum(right, axis=0)[0] >= 5
    assert np.sum(right, axis=0)[1] >= 4


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("both", [False, True])
def test_levels_are_counted_right_with_and_without_rescaling(count, both):
    exact = []
    for seed in range(10):
        g = np.random.default_rng(seed)
        rows = np.exp(0.5 * g.standard_normal(120))
        columns = np.exp(0.5 * g.standard_normal(180)) if both else np.ones(180)
        matrix = np.outer(rows, columns) * g.standard_normal((120, 180))
        rms = np.sqrt(np.mean(matrix**2))
        if count:
            matrix += planted(g, (120, 180), rms * 2 * np.array([35.0, 45.0, 55.0]))
        found = outliers_of(matrix, 0.01)
        edges = {e.name: e.count for e in f.further_edges(matrix, found, 0.01)}
        exact.append([found.count == count, edges["separable"] == count])
    assert np.all(np.sum(exact, axis=0) >= 8)


def test_strong_spikes_do_not_hide_in_the_levels():
    """Whatever their strength: they are taken out before the levels of rows are."""
    for factor in (2.0, 20.0, 1e3):
        g = np.random.default_rng(1)
        noise = np.exp(0.5 * g.standard_normal(100))[:, None] * g.standard_normal((100, 150))
        found = outliers_of(noise + planted(g, (100, 150), factor * np.array([35.0, 45.0, 55.0])), 0.001)
        assert found.count == 3


def test_many_null_matrices_are_taken_as_they_are():
    g = np.random.default_rng(2)
    nulls = [squared_singular_values(g.standard_normal((10, 14))) for _ in range(120)]
    found = null_edge(nulls)
    assert found.matrices == 120
    assert found.p_value(found.largest[-1] + 1) == pytest.approx(1 / 121)
    assert np.mean(found.largest > found.threshold(0.1)) == pytest.approx(0.1, abs=0.02)


def test_unusable_spectra():
    for values, bound in ((np.ones(5), None), (np.linspace(1, 2, 12), 6), (np.zeros(12), 2)):
        with pytest.raises(InputError):
            hard_threshold(values, 0.5, bound)
    with pytest.raises(InputError, match="null"):
        null_edge([np.ones(4)])
