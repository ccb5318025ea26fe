"""T4: the spike matrix against an explicit one, and its symbolic twin; Lanczos against a dense SVD."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.steps.alignment import float_moments
from bulkedge.numerics.steps.spike_matrix import SpikeMatrix, predicted_outliers, spike_matrix
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps import second_step
from bulkedge.theory.steps import spike_matrix as theory
from bulkedge.theory.steps.setting import readout_moment
from bulkedge.theory.steps.target import AdditiveTarget

SIGMA = second_step.PolynomialActivation(s.z + s.z**2 / 5 - s.z**3 / 15)


def made(batch: str = "reused", orders: int = 2, width: int = 900) -> SpikeMatrix:
    target = AdditiveTarget((float_moments(lambda z: np.sin(z) + np.cos(2 * z)),), 0.04, float)
    return spike_matrix(
        target,
        lambda *x: float(SIGMA(*x)),
        lambda p: float(readout_moment("uniform", p)),
        width,
        2.5,
        (9.0, 4.0),
        orders,
        batch,
    )


def test_strengths_are_those_of_an_explicit_matrix() -> None:
    rng = np.random.default_rng(1)
    left, right = rng.standard_normal((40, 3)), rng.standard_normal((50, 3))
    beta = rng.standard_normal(50)
    small = SpikeMatrix(left.T @ left, right.T @ right, right.T @ beta)
    _, values, vt = np.linalg.svd(left @ right.T)
    assert small.strengths == pytest.approx(values[:3], rel=1e-10)
    assert small.overlaps == pytest.approx(np.abs(vt[:3] @ beta), rel=1e-9)


@pytest.mark.parametrize("batch", ["reused", "fresh"])
def test_the_symbolic_form_of_two_spikes(batch: str) -> None:
    found = made(batch)
    stated = theory.two_strengths(sp.Matrix(found.left.tolist()), sp.Matrix(found.right.tolist()))
    assert found.strengths**2 == pytest.approx([float(x) for x in stated], rel=1e-9)


def test_gram_matrices_are_positive_and_the_first_spike_is_the_gradient() -> None:
    for batch in ("reused", "fresh"):
        found = made(batch, orders=3)
        assert np.linalg.eigvalsh(found.left)[0] > 0
        assert np.linalg.eigvalsh(found.right)[0] > 0
    # A reused batch: r_0 = (eta1 + eta2) mu1 u exactly.
    reused, alone = made("reused", 1), made("fresh", 1)
    assert reused.right[0, 0] > alone.right[0, 0]
    found = predicted_outliers(reused, 1.5)
    theta = reused.strengths[0]
    assert found.positions[0] == pytest.approx(np.sqrt((1 + theta**2) * (1.5 + theta**2)) / theta, rel=1e-12)
    assert found.edge == pytest.approx(1 + np.sqrt(1.5))
    with pytest.raises(InputError):
        made(orders=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_leading_triples(dtype: type) -> None:
    matrix = np.random.default_rng(0).standard_normal((80, 120)).astype(dtype)
    found = leading_triples(matrix, 5)
    dense = np.linalg.svd(matrix, compute_uv=False)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    assert found.values == pytest.approx(dense[:5], rel=tolerance)
    assert np.all(np.abs(found.values - dense[:5]) <= found.residuals + 10 * np.finfo(dtype).eps * dense[0])
    assert found.left.T @ found.left == pytest.approx(np.eye(5), abs=1e-5)
    again = leading_triples(matrix, 5)
    assert np.array_equal(found.values, again.values)


def test_bad_counts() -> None:
    for count in (0, 80, 1000):
        with pytest.raises(InputError):
            leading_triples(np.eye(80), count)
