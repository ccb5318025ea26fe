"""New directions of one matrix against another, and the measures and tails of a whole spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.weights.spectral_measures import measures, power_tail
from bulkedge.numerics.weights.subspaces import compare
from bulkedge.numerics.weights.weights import analyse
from bulkedge.theory.numbers.errors import InputError


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_a_kept_and_a_new_direction():
    g = np.random.default_rng(0)
    u, v, a, b = (unit(g.standard_normal(n)) for n in (80, 120, 80, 120))
    start = g.standard_normal((80, 120)) + 50 * np.outer(u, v)
    tuned = start + 40 * np.outer(a, b)
    one, zero = (analyse(m, rng=g, draws=1) for m in (tuned, start))
    found = compare((one.left, one.right), (zero.left, zero.right), start)
    kept, new = found.directions
    assert (kept.new, kept.intruder) == (False, False)
    assert (new.new, new.intruder) == (True, True)
    assert min(kept.shared) > 0.8
    assert max(new.shared) < 0.3  # two spikes of near strengths share a little
    assert found.left[0] < 20
    with pytest.raises(InputError, match="against"):
        compare((one.left, one.right), (zero.left, zero.right), start[:40])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.integers(0, 3))
def test_laws_of_the_comparison(seed, count, others):
    """Against itself everything is shared at no angle; shares are shares; nothing depends on the vectors' signs."""
    g = np.random.default_rng(seed)
    array = g.standard_normal((9, 12))
    u, _, vt = np.linalg.svd(array, full_matrices=False)
    own, base = (u[:, :count], vt[:count].T), (u[:, :others], vt[:others].T)
    found = compare(own, base, array)
    assert [d.outlier for d in found.directions] == list(range(count))
    for k, d in enumerate(found.directions):
        assert d.shared == pytest.approx((1.0, 1.0) if k < others else (0.0, 0.0), abs=1e-9)
        assert d.similarity == pytest.approx((1.0, 1.0))
        assert d.new == (k >= others)
        assert not d.intruder
    assert len(found.left) == len(found.right) == min(count, others)
    assert found.left == pytest.approx((0,) * len(found.left), abs=1e-5)
    assert compare((-own[0], own[1]), base, array).left == pytest.approx(found.left, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.floats(0.01, 100))
def test_laws_of_the_measures(values, factor):
    """1 <= stable rank <= effective rank's bound, the number of values; no units; equal values count in full."""
    array = np.array(values)
    found, scaled = measures(array), measures(factor * array)
    assert scaled.stable_rank == pytest.approx(found.stable_rank)
    assert scaled.entropy == pytest.approx(found.entropy, abs=1e-12)
    assert 1 - 1e-12 <= found.stable_rank <= len(array) + 1e-9
    assert 1 - 1e-12 <= found.effective_rank <= len(array) + 1e-9
    assert 1 <= found.rank90 <= found.rank99 <= len(array)
    even = measures(np.full(len(array), factor))
    assert (even.stable_rank, even.effective_rank) == (pytest.approx(len(array)), pytest.approx(len(array)))
    with pytest.raises(InputError):
        measures(np.zeros(3))


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1.8, 4.0))
def test_a_power_law_is_read_back(seed, exponent):
    g = np.random.default_rng(seed)
    squares = 2.0 * g.random(400) ** (-1 / (exponent - 1))
    found = power_tail(np.sqrt(squares), g, 19)
    # The start is chosen by the data, which widens the error of a fixed one.
    assert abs(found.exponent - exponent) < 6 * found.exponent_sd
    assert found.count >= 10
    assert found.p > 0.04
    shifted = power_tail(np.sqrt(3 * squares), np.random.default_rng(0), 1)
    assert shifted.exponent == pytest.approx(power_tail(np.sqrt(squares), np.random.default_rng(0), 1).exponent)


def test_no_power_law_and_too_few():
    values = np.sqrt(np.random.default_rng(0).uniform(1, 2, 2000))
    # Any short enough tail passes; a long one that is none does not, its start then lies near the end.
    assert power_tail(values, np.random.default_rng(1), 19).exponent > 5
    with pytest.raises(InputError, match="at least 20"):
        power_tail(np.ones(5), np.random.default_rng(0))
    with pytest.raises(InputError, match="equal"):
        power_tail(np.ones(50), np.random.default_rng(0))
