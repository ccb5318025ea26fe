"""Rows of zeros and deficient ranks are no noise (R5): what is left is analysed, and nothing warns or crashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.weights.reduced import reduced
from bulkedge.numerics.weights.weights import analyse
from bulkedge.theory.numbers.errors import InputError


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_dead_rows_are_left_out_and_change_nothing(share, side):
    for seed in range(4):
        noise = rng(seed).standard_normal((100, 140))
        dead = noise.copy()
        (dead if side == "rows" else dead.T)[: int(share * 100)] = 0
        report = analyse(dead, rng=rng())
        assert report.outliers == ()
        assert report.fit is not None
        assert report.fit.p > 0.01
        assert report.rate == 0.01
        assert report.dropped == ((int(share * 100), 0) if side == "rows" else (0, int(share * 100)))
        alone = analyse((dead if side == "rows" else dead.T)[int(share * 100) :], rng=rng())
        assert report.edge == pytest.approx(alone.edge)


def test_counted_in_they_would_be_outliers():
    """The control: with the zeros filled by next to nothing the edge is that of uneven rows, and wrong."""
    from bulkedge.numerics.spectra.edge import count_outliers

    noise = rng(1).standard_normal((200, 300))
    noise[:60] *= 1e-3
    assert count_outliers(noise, adjust=False).count > 0


def test_vectors_are_those_of_the_whole_matrix():
    g = rng(2)
    u, v = g.standard_normal(90), g.standard_normal(60)
    u[::3] = 0
    noise = g.standard_normal((90, 60)) * (u != 0)[:, None]
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    report = analyse(noise + 40 * np.outer(u, v), u, rng=rng())
    (own,) = report.overlaps
    assert report.left.shape == (90, 1)
    assert np.all(report.left[::3] == 0)
    assert own.squared == pytest.approx(float(u @ report.left[:, 0]) ** 2)
    assert abs(own.signal - 1) < 4 * own.signal_sd


@pytest.mark.parametrize("shape", [(80, 50), (50, 80)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_deficient_rank_is_turned_onto_its_range(shape, dtype):
    g = rng(3)
    basis = np.linalg.qr(g.standard_normal((min(shape), 20)))[0]
    small = g.standard_normal((20, max(shape)))
    matrix = (basis @ small if shape[0] < shape[1] else (basis @ small).T).astype(dtype)
    part = reduced(matrix.astype(float), float(np.finfo(dtype).eps))
    assert (part.rank, part.deficient) == (20, True)
    values = np.linalg.svd(part.matrix, compute_uv=False)
    assert values == pytest.approx(np.linalg.svd(small, compute_uv=False), rel=1e-5)
    report = analyse(matrix, rng=rng())
    # In its range it is plain noise, 20 by the larger side; no rate is quoted all the same.
    assert report.outliers == ()
    assert report.fit is not None
    assert report.fit.p > 0.01
    assert report.rate is None
    assert "rank 20 of 50" in report.reason
    side = "left" if shape[0] < shape[1] else "right"
    unit = part.lift(side, np.eye(20)[:, :1])
    assert part.lower(side, unit)[:, 0] == pytest.approx(np.eye(20)[0], abs=1e-9)


def test_a_huge_spike_is_no_deficient_rank():
    matrix = rng(4).standard_normal((60, 60))
    matrix[0] += 1e8
    part = reduced(matrix)
    assert (part.rank, part.deficient) == (60, False)


def wild():
    """Matrices on which earlier versions crashed or warned."""
    g = rng(5)
    levels = np.outer(np.exp(g.standard_normal(100) / 2), np.exp(g.standard_normal(80) / 2))
    outer = levels * g.standard_normal((100, 80))
    outer[7] = 0
    yield "outer-scaled, a row of zeros", outer
    images = g.standard_normal((64, 30)) * (np.arange(64) % 8 > 1)[:, None]
    yield "constant pixels", images
    yield "repeated rows", np.repeat(g.standard_normal((15, 40)), 2, axis=0)
    yield "one entry", np.eye(40) * 1e-9 + np.outer(np.eye(40)[0], np.eye(40)[1]) * 1e9
    yield "gradient of a small batch", g.standard_normal((60, 12)) @ g.standard_normal((12, 90))
    yield "signs", np.sign(g.standard_normal((20, 30)))
    yield "integers", g.integers(-2, 3, (20, 30))
    yield "a permutation", np.eye(30)[g.permutation(30)]
    yield "geometric spectrum", np.linalg.qr(g.standard_normal((30, 30)))[0] * 2.0 ** -np.arange(30)
    yield "smallest", g.standard_normal((8, 8))


@pytest.mark.parametrize(("name", "matrix"), list(wild()), ids=[name for name, _ in wild()])
def test_no_matrix_crashes_or_warns(name, matrix):
    """Warnings are errors here. Every number that comes back is finite, or the refusal is one line."""
    if name == "one entry":
        with pytest.raises(InputError, match=r"^[^\n]+$"):
            analyse(matrix, np.ones(len(matrix)), rng=rng(), draws=19)
        return
    report = analyse(matrix, np.ones(len(matrix)), rng=rng(), draws=19)
    numbers = [report.scale, report.scale_error, report.edge, report.threshold, *report.outliers, *report.p_values]
    numbers += [*report.strengths, *report.strength_sd, *report.values]
    numbers += [x for o in report.overlaps for x in (o.squared, o.signal, o.squared_sd, o.signal_sd)]
    assert np.all(np.isfinite(numbers))


def test_too_little_is_left():
    matrix = rng().standard_normal((20, 30))
    matrix[5:] = 0
    with pytest.raises(InputError, match="non-zero rows"):
        reduced(matrix)
    with pytest.raises(InputError, match="no bulk"):
        reduced(np.outer(np.arange(1.0, 21), np.arange(1.0, 31)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_laws_of_the_reduction(seed, rows, columns, deficient):
    """Singular values stay, `lift` keeps lengths and `lower` is its adjoint, whatever was dropped or turned."""
    g = rng(seed)
    matrix = g.standard_normal((12, 10)) @ g.standard_normal((10, 20)) if deficient else g.standard_normal((14, 20))
    matrix[g.permutation(len(matrix))[: rows if not deficient else 0]] = 0
    matrix[:, g.permutation(20)[:columns]] = 0
    part = reduced(matrix)
    assert part.dropped == (0 if deficient else rows, columns)
    assert part.deficient == deficient
    own = np.linalg.svd(part.matrix, compute_uv=False)
    assert own == pytest.approx(np.linalg.svd(matrix, compute_uv=False)[: part.rank], rel=1e-9)
    for side, length, full in (("left", part.matrix.shape[0], len(matrix)), ("right", part.matrix.shape[1], 20)):
        inner, outer = g.standard_normal((length, 2)), g.standard_normal((full, 3))
        lifted = part.lift(side, inner)
        assert lifted.T @ lifted == pytest.approx(inner.T @ inner)
        assert lifted.T @ outer == pytest.approx(inner.T @ part.lower(side, outer))
