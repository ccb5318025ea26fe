"""R5 where noise levels are unequal: strengths and overlaps of planted spikes in the file's own units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra import edge
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.weights.unscaled import file_signal
from bulkedge.numerics.weights.weights import analyse


def rng(seed=0):
    return np.random.default_rng(seed)


def unit(vector):
    return vector / np.linalg.norm(vector)


def two_groups(seed, loud, transposed=False):
    """A spike of 82.16 on the quiet (sd 1) or loud (sd 2) half of the rows of a 200 x 300 matrix."""
    g = rng(seed)
    levels = np.repeat([1.0, 2.0], 100)
    u = unit(np.where((levels == 2) == loud, g.standard_normal(200), 0.0))
    v = unit(g.standard_normal(300))
    matrix = levels[:, None] * g.standard_normal((200, 300)) + 82.16 * np.outer(u, v)
    return (matrix.T, v, u) if transposed else (matrix, u, v)


@pytest.mark.parametrize("loud", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_strength_and_overlaps_of_a_spike_on_one_group(loud, transposed):
    z, overlaps = [], []
    for seed in range(6):
        matrix, u, v = two_groups(seed, loud, transposed)
        report = analyse(matrix, u, rng=rng(), draws=1)
        assert report.scaled == ("columns" if transposed else "rows")
        z.append((report.strengths[0] - 82.16) / report.strength_sd[0])
        own = report.overlaps[0]
        overlaps.append((own.signal - 1) / own.signal_sd)
        assert report.strength_sd[0] < 4
        # What O2 predicts for the vector found, in the file's coordinates, is what it has.
        assert own.squared == pytest.approx(report.kept[0][0], abs=4 * own.squared_sd)
        right = analyse(matrix, v, rng=rng(), draws=1).overlaps[0]
        overlaps.append((right.signal - 1) / right.signal_sd)
    # Means of six: standard error 0.4. The equalised matrix's own strengths (130, 66) are 40 and 8 sd away.
    assert abs(np.mean(z)) < 1.7
    assert max(np.abs(z)) < 4
    assert max(np.abs(overlaps)) < 4.5


def test_two_spikes_that_equalising_mixes():
    """D^-1 turns orthogonal spikes into oblique ones; their strengths are those of the file all the same."""
    found = []
    for seed in range(6):
        g = rng(seed)
        levels = np.repeat([1.0, 3.0], 100)
        (a, b), (v, w) = np.linalg.qr(g.standard_normal((200, 2)))[0].T, np.linalg.qr(g.standard_normal((300, 2)))[0].T
        signal = 150 * np.outer(a, v) + 100 * np.outer(b, w)
        report = analyse(levels[:, None] * g.standard_normal((200, 300)) + signal, a, rng=rng(), draws=1)
        assert len(report.outliers) == 2
        found.append(sorted(report.strengths))
        best = max(report.overlaps, key=lambda o: o.signal)
        assert best.signal == pytest.approx(1, abs=4.5 * best.signal_sd)
        errors = max(report.strength_sd)
    assert np.mean(found, axis=0) == pytest.approx([100, 150], abs=4 * errors / np.sqrt(6))


def test_both_sides_scaled():
    g = rng(3)
    rows, columns = np.exp(0.5 * g.standard_normal(150)), np.exp(0.5 * g.standard_normal(220))
    u, v = unit(g.standard_normal(150)), unit(g.standard_normal(220))
    noise = np.outer(rows, columns) * g.standard_normal((150, 220))
    report = analyse(noise + 120 * np.outer(u, v), rng=rng(), draws=1)
    assert (report.scaled, report.rate) == ("both", None)
    assert report.strengths[0] == pytest.approx(120, abs=4 * report.strength_sd[0])


def test_without_levels_nothing_changes():
    """Equal levels, known or estimated: the strengths of O2 as they are."""
    g = rng(4)
    matrix = g.standard_normal((90, 120)) + 30 * np.outer(unit(g.standard_normal(90)), unit(g.standard_normal(120)))
    one, known = analyse(matrix, rng=rng(), draws=1), analyse(matrix, rng=rng(), draws=1, scale=1.0)
    assert one.scaled == known.scaled == "none"
    assert (known.scale, known.scale_error) == (1.0, 0.0)
    assert one.strengths == pytest.approx(known.strengths, rel=0.02)
    assert one.left.T @ one.left == pytest.approx(np.eye(1))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["none", "rows", "columns"]), st.floats(0.01, 100))
def test_laws_of_the_files_units(seed, kind, factor):
    """Strengths scale with the file, vectors are units, overlaps do not depend on the scale."""
    g = rng(seed)
    matrix = g.standard_normal((30, 40)) + 40 * np.outer(unit(g.standard_normal(30)), unit(g.standard_normal(40)))
    if kind == "rows":
        matrix *= np.repeat([1.0, 3.0], 15)[:, None]
    elif kind == "columns":
        matrix *= np.repeat([1.0, 3.0], 20)
    direction = unit(g.standard_normal(30))
    seen = []
    for scaled in (matrix, factor * matrix):
        found = edge.count_outliers(scaled)
        by = edge.levels(found.analysed, found.spectrum, "both")
        assert [float(np.mean(side**2)) for side in by] == pytest.approx([1, 1])
        assert found.count <= edge.most_outliers(30)
        assert edge.limit_edge((30, 40), found.count, found.variance, found.kappa) == pytest.approx(found.edge**2)
        model = rectangular(40 / 30, np.sqrt(30 * found.variance))
        values = np.sqrt(found.spectrum.squared[: found.count])
        strengths = model.strength(np.maximum(values, 1.001 * model.edges[1])) if found.count else np.empty(0)
        signal = file_signal(found, strengths, 0.05 * strengths, model)
        for side in ("left", "right"):
            assert np.linalg.norm(signal.found(side), axis=0) == pytest.approx(np.ones(found.count))
            assert np.all((signal.kept(side) >= 0) & (signal.kept(side) <= 1))
        values = [signal.overlap("left", k, direction, 0.1) for k in range(found.count)]
        seen.append((np.array(signal.strengths), np.array(values)))
        assert all(sd > 0 for sd in signal.sds)
    assert seen[1][0] == pytest.approx(factor * seen[0][0], rel=1e-6)
    assert seen[1][1] == pytest.approx(seen[0][1], rel=1e-6, abs=1e-9)
