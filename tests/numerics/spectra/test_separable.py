"""The separable law against R1 and O2 where levels are equal, R2 where one side is, and matrices where neither is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra.edge import noise_edge
from bulkedge.numerics.spectra.separable import SeparableNoise
from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.theory.numbers.errors import InputError


@settings(max_examples=30, deadline=None)
@given(st.integers(8, 60), st.integers(8, 60), st.floats(0.01, 100), st.floats(1.05, 20))
def test_equal_levels_are_marchenko_pastur(d, N, variance, excess):
    law = SeparableNoise(np.full(d, variance), np.ones(N))
    model = rectangular(N / d, np.sqrt(d * variance))
    assert np.sqrt(law.edge) == pytest.approx(model.edges[1], rel=1e-9)
    assert law.scale == pytest.approx(noise_edge((d, N), 0, variance).scale, rel=0.2)  # Johnstone's halves
    strength = excess * model.threshold
    squared = float(model.outlier(strength)) ** 2
    assert law.strength(squared) == pytest.approx(strength, rel=1e-6)
    assert law.outlier(strength) == pytest.approx(squared, rel=1e-6)
    assert law.outlier(0.9 * model.threshold) is None
    assert law.kept(squared) == pytest.approx(
        (float(model.overlap("d", strength)), float(model.overlap("N", strength))), rel=1e-4, abs=1e-6
    )
    first, second = law.traces(squared)
    assert first * d - second * N == pytest.approx((d - N) / squared, rel=1e-6, abs=1e-9)
    assert law.p_value(law.threshold(0.05)) == pytest.approx(0.05, rel=1e-3)
    mirrored = SeparableNoise(np.ones(N), np.full(d, variance))
    assert mirrored.edge == pytest.approx(law.edge, rel=1e-9)


def test_one_even_side_is_silverstein():
    levels = np.repeat([1.0, 4.0], [90, 30])
    law = SeparableNoise(levels, np.ones(200))
    general = GeneralLaw(DiscretePopulation.of([1.0, 4.0], [0.75, 0.25]), 120 / 200)
    assert law.edge == pytest.approx(200 * general.edges[-1][1], rel=1e-8)


def test_against_matrices_with_levels_on_both_sides():
    g = np.random.default_rng(0)
    rows, columns = g.uniform(0.3, 3, 120), g.uniform(0.5, 2, 160)
    law = SeparableNoise(rows, columns)
    noise = [np.sqrt(np.outer(rows, columns)) * g.standard_normal((120, 160)) for _ in range(30)]
    top = np.array([np.linalg.norm(m, 2) ** 2 for m in noise])
    # Tracy-Widom: mean -1.21, sd 1.27 in units of the scale; at 120 the mean is off by a fraction of one.
    assert (top.mean() - law.edge) / law.scale == pytest.approx(-1.21, abs=4 * 1.27 / np.sqrt(30) + 0.3)
    assert top.std() / law.scale == pytest.approx(1.27, rel=0.45)
    (u, v) = (x / np.linalg.norm(x) for x in (g.standard_normal(120), g.standard_normal(160)))
    strength = 2 * law.strength(1.0001 * law.edge)
    seen = []
    for m in noise[:12]:
        a, s, bt = np.linalg.svd(m + strength * np.outer(u, v))
        seen.append((s[0], (a[:, 0] @ u) ** 2, (bt[0] @ v) ** 2))
    squared = law.outlier(strength)
    assert squared is not None
    error = np.std(seen, axis=0) / np.sqrt(12)
    assert np.all(
        np.abs(np.mean(seen, axis=0) - [np.sqrt(squared), *law.kept(squared)]) < 4 * error + [0.3, 0.02, 0.02]
    )


@pytest.mark.parametrize("bad", [np.zeros(9), np.array([1.0, np.nan]), np.array([]), np.ones((2, 2))])
def test_unusable_levels(bad):
    with pytest.raises(InputError, match="rows"):
        SeparableNoise(bad, np.ones(9))
    law = SeparableNoise(np.ones(9), np.ones(12))
    with pytest.raises(InputError, match="no outlier"):
        law.strength(0.5 * law.edge)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 2), st.floats(0, 2))
def test_the_edge_is_the_least_position(seed, spread, other):
    """z(p) falls to the edge and rises beyond it, with one turning point however far apart the levels are."""
    rng = np.random.default_rng(seed)
    d, N = rng.integers(8, 80, 2)
    law = SeparableNoise(np.exp(spread * rng.standard_normal(d)), np.exp(other * rng.standard_normal(N)))
    p = np.linspace(0.01, 0.99, 25) / law.rows.max()
    z = np.array([law._position(x) for x in p])
    assert law.edge <= z.min() * (1 + 1e-12)
    assert (np.sign(np.diff(z)) == np.sign(p[1:] - law._critical))[np.abs(p[1:] - law._critical) > p[0] * 5].all()
