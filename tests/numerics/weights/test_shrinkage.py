"""Optimal shrinkage against a direct minimum of the loss, and the risk against matrices whose signal is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from bulkedge.numerics.weights.shrinkage import LOSSES, shrinkage
from bulkedge.numerics.weights.weights import analyse, denoised
from bulkedge.theory.numbers.errors import InputError

NORMS = {"frobenius": "fro", "operator": 2, "nuclear": "nuc"}


def left_over(value, strength, left, right, loss):
    """The norm of theta e1 e1^T - eta a b^T in the planes of the true and the found vectors."""
    a, b = np.array([left**0.5, (1 - left) ** 0.5]), np.array([right**0.5, (1 - right) ** 0.5])
    block = -value * np.outer(a, b)
    block[0, 0] += strength
    return float(np.linalg.norm(block, NORMS[loss]))


@settings(max_examples=40, deadline=None)
@given(st.floats(0.1, 50), st.floats(0.01, 0.999), st.floats(0.01, 0.999), st.sampled_from(LOSSES))
def test_no_other_value_loses_less(strength, left, right, loss):
    found = shrinkage(np.array([strength]), np.array([left]), np.array([right]), loss)
    assert 0 <= found.values[0] <= strength * (1 + 1e-12)
    assert found.risk == pytest.approx(left_over(found.values[0], strength, left, right, loss))
    best = minimize_scalar(
        left_over,
        args=(strength, left, right, loss),
        bounds=(0, 2 * strength),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found.risk <= best.fun * (1 + 1e-6)


def test_several_spikes_and_none():
    strengths, left, right = np.array([5.0, 3.0]), np.array([0.9, 0.7]), np.array([0.8, 0.6])
    for loss, join in (("frobenius", lambda r: np.hypot(*r)), ("operator", max), ("nuclear", sum)):
        single = [shrinkage(strengths[k : k + 1], left[k : k + 1], right[k : k + 1], loss).risk for k in (0, 1)]
        assert shrinkage(strengths, left, right, loss).risk == pytest.approx(join(single))
        assert shrinkage(strengths[:0], left[:0], right[:0], loss).risk == 0
    with pytest.raises(InputError, match="loss"):
        shrinkage(strengths, left, right, "l1")


@pytest.mark.parametrize("loss", LOSSES)
def test_the_risk_is_the_loss_on_matrices(loss):
    """Two spikes in 120 x 180: the loss measured against the one stated, and against that of cutting the SVD off."""
    measured, stated, plain = [], [], []
    for seed in range(8):
        g = np.random.default_rng(seed)
        left, right = (np.linalg.qr(g.standard_normal((n, 2)))[0] for n in (120, 180))
        signal = left * np.array([28.0, 20.0]) @ right.T
        report = analyse(signal + g.standard_normal((120, 180)), rng=g, draws=1)
        kept = np.array(report.kept)
        found = shrinkage(np.array(report.strengths), kept[:, 0], kept[:, 1], loss)
        measured.append(np.linalg.norm(denoised(report, found.values) - signal, NORMS[loss]))
        plain.append(np.linalg.norm(denoised(report, np.array(report.outliers)) - signal, NORMS[loss]))
        stated.append(found.risk)
    assert np.mean(measured) == pytest.approx(np.mean(stated), rel=0.08)
    assert np.mean(measured) < 0.95 * np.mean(plain)


def test_an_equalised_matrix_is_denoised_in_the_files_units():
    g = np.random.default_rng(1)
    levels = np.repeat([1.0, 3.0], 60)
    u, v = g.standard_normal(120), g.standard_normal(180)
    signal = 120 * np.outer(u / np.linalg.norm(u), v / np.linalg.norm(v))
    report = analyse(signal + levels[:, None] * g.standard_normal((120, 180)), rng=g, draws=1)
    kept = np.array(report.found_kept)
    found = shrinkage(np.array(report.found_strengths), kept[:, 0], kept[:, 1])
    ours = np.linalg.norm(denoised(report, found.values) - signal)
    assert report.scaled == "rows"
    # Better than the unscaled matrix's own best rank one, which mixes the loud rows in.
    a, s, bt = np.linalg.svd(signal + levels[:, None] * np.random.default_rng(2).standard_normal((120, 180)))
    assert ours < np.linalg.norm(s[0] * np.outer(a[:, 0], bt[0]) - signal)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100))
def test_laws_of_the_denoised_matrix(seed, factor):
    """Linear in the values, of their number as its rank, in the file's shape and units."""
    g = np.random.default_rng(seed)
    matrix = g.standard_normal((20, 30)) + 30 * np.outer(g.standard_normal(20), g.standard_normal(30)) / 25
    report = analyse(matrix, rng=g, draws=1)
    values = np.array(report.outliers)
    found = denoised(report, values)
    assert found.shape == (20, 30)
    assert np.linalg.matrix_rank(found) == len(values)
    assert denoised(report, factor * values) == pytest.approx(factor * found)
    if report.scaled == "none":
        assert np.linalg.svd(found, compute_uv=False)[: len(values)] == pytest.approx(values)
