"""G6 for any activation: the truncated operator against the exact one, polynomials, and data."""

from __future__ import annotations

import numpy as np
import pytest

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.kernels.leading import homogeneous, leading
from bulkedge.numerics.kernels.spiked_spectrum import RELU, Homogeneous, sector
from bulkedge.numerics.kernels.spiked_spectrum import mean_square as spiked_mean_square
from bulkedge.numerics.kernels.truncated_spectrum import mean_square, truncated_sector
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import InputError, PrecisionError


@pytest.mark.parametrize(
    ("d", "A", "B", "j", "parity"), [(20, 1.0, 6.0, 0, 0), (5, 1.3, -0.6, 0, 0), (7, 0.8, 4.0, 1, 1)]
)
def test_relu_within_its_error_of_the_exact_spectrum(d: int, A: float, B: float, j: int, parity: int) -> None:
    ours = truncated_sector(d, A, B, nonlinearity("relu"), j, parity, 16)
    exact = sector(d, A, B, j, parity, tolerance=1e-9)
    gap = exact.eigenvalues[:4] - ours.eigenvalues[:4]
    assert np.all(gap >= -1e-12)  # a compression: from below
    assert np.all(gap <= ours.errors[:4])
    assert ours.errors[0] < 5e-3 * ours.eigenvalues[0]


@pytest.mark.parametrize("B", [-0.8, 3.0])
def test_a_polynomial_is_exact(B: float) -> None:
    """z^2 is homogeneous as well: two bases, one spectrum."""
    for j, parity in [(0, 0), (1, 1), (2, 0)]:
        ours = truncated_sector(6, 1.1, B, nonlinearity("z**2"), j, parity, 4)
        exact = sector(6, 1.1, B, j, parity, Homogeneous(2.0, 1.0, 1.0))
        n = exact.eigenvalues.size
        np.testing.assert_allclose(ours.eigenvalues[:n], exact.eigenvalues, rtol=1e-11, atol=1e-14)


def test_a_kink_away_from_zero_on_data() -> None:
    """The eigen equation of Max(z - 1/3, 0) + sin on a Monte Carlo sample; sector 1 as well."""
    rng = np.random.default_rng(11)
    d, A, B = 4, 1.2, 3.0
    f = nonlinearity("Max(z - 1/3, 0)")
    spike = np.array([0.0, 0.6, 0.8, 0.0])
    axis = np.array([1.0, 0.0, 0.0, 0.0])
    X, W = rng.standard_normal((4000, d)), rng.standard_normal((4000, d))
    W = (np.sqrt(A) * W + (np.sqrt(A + B) - np.sqrt(A)) * np.outer(W @ spike, spike)) / np.sqrt(d)
    features = np.maximum(X @ W.T - 1 / 3, 0)
    for j, parity in [(0, 0), (0, 1), (1, 0)]:
        part = truncated_sector(d, A, B, f, j, parity, 14)
        psi = part.eigenfunction(0, X, spike, axis)
        projections = features.T @ psi / len(X)
        # E_w (E_x sigma(w.x) psi(x))^2 = eigenvalue, up to the variance of the inner mean, 1/n of a bounded number.
        samples = projections**2
        spread = samples.std() / np.sqrt(len(W)) + (features**2 * psi[:, None] ** 2).mean() / len(X)
        assert np.mean(psi**2) == pytest.approx(1, abs=0.12)
        assert np.mean(samples) == pytest.approx(part.eigenvalues[0], abs=5 * spread + 0.05 * part.eigenvalues[0])
    with pytest.raises(InputError, match="axis"):
        part.eigenfunction(0, X, spike)


def test_refusals() -> None:
    f = nonlinearity("tanh")
    for arguments, name in [((1, 1.0, 1.0), "dim"), ((5, 1.0, -2.0), "spike"), ((2, 1.0, 1.0), "j")]:
        with pytest.raises(InputError, match=name):
            truncated_sector(*arguments, f, 2 if name == "j" else 0)
    with pytest.raises(InputError, match="degree"):
        truncated_sector(5, 1.0, 1.0, f, 0, 0, 200)


def test_an_activation_that_overflows_is_refused() -> None:
    with pytest.raises(InputError, match="overflows"):
        truncated_sector(10, 1.0, 1e3, nonlinearity("exp"))
    with pytest.raises(InputError, match="overflows"):
        truncated_sector(10, 1.0, 1e48, nonlinearity("He(12, z)"))


def test_growth_beyond_the_features_is_refused() -> None:
    with pytest.raises(InputError, match="grows"):
        truncated_sector(5, 1.0, 100.0, nonlinearity("exp(z**2/8)"))
    with pytest.raises(PrecisionError, match="infinite"):
        truncated_sector(5, 1.0, 2.0, nonlinearity("exp(z)"))
    mild = truncated_sector(40, 1.0, 2.0, nonlinearity("exp(z/4)"))
    assert 0 < mild.errors[0] < 1e-6 * mild.eigenvalues[0]


def test_leading_values() -> None:
    relu = leading(20, 1.0, 20.0, nonlinearity("relu"), sectors=1)
    assert homogeneous(nonlinearity("relu")) == RELU
    assert homogeneous(nonlinearity("tanh")) is None
    assert relu.top.value == pytest.approx(0.368023446, abs=1e-9)
    assert next(v.multiplicity for v in relu.listed if v.sector == 1) == 19
    assert sum(w**2 for _, w in relu.weights) == pytest.approx(1, abs=1e-3)
    leaky = leading(20, 1.0, 20.0, nonlinearity("leaky_relu(z, 1/5)"))
    assert leaky.aligned.value == pytest.approx(0.36 * 21 / 20, rel=1e-14)
    odd = leading(12, 1.0, 2.0, nonlinearity("erf"))
    assert [k for k, _ in odd.weights][:2] == [1, 3]
    assert odd.top.value == odd.aligned.value
    with pytest.raises(InputError, match="activation"):
        leading(12, 1.0, 2.0, nonlinearity("0*z"))


@pytest.mark.parametrize(
    ("name", "A", "B"), [("tanh", 1.5, -1.0), ("gelu", 1.0, 2.0), ("relu", 1.0, -0.9), ("He(2, z)/3 + z/5", 1.0, -0.8)]
)
def test_the_largest_of_all_sectors_by_a_grid_over_the_plane(name: str, A: float, B: float) -> None:
    """d = 2: the kernel's operator is F F^T with F = sigma(w.x) on Gaussian grids of x and of w; no sectors in it."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(22 if name != "relu" else 34)
    root = np.sqrt(np.outer(weights, weights).ravel() / (2 * np.pi))
    x = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
    w = x * np.sqrt(np.array([A + B, A]) / 2)
    factor = root[:, None] * vectorised(nonlinearity(name))(x @ w.T) * root[None, :]
    grid = np.linalg.svd(factor, compute_uv=False)[:2] ** 2
    found = leading(2, A, B, nonlinearity(name))
    tolerance = 2e-2 if name == "relu" else 4e-3  # the grid's own error, at a kink mostly
    assert [found.top.value, found.second.value] == pytest.approx(grid, rel=tolerance)


def test_the_sum_of_all_eigenvalues() -> None:
    """E sigma(w.x)^2 over the sectors with their multiplicities, and by a normal variance where it is simple."""
    assert spiked_mean_square(7, 1.3, 2.0) == pytest.approx((7 * 1.3 + 2.0) / 14, rel=1e-13)
    step = Homogeneous(0.0, 1.0, 0.5)
    assert spiked_mean_square(3, 1.3, -0.7, step) == pytest.approx(0.625, rel=1e-13)
    assert mean_square(5, 1.0, 2.0, nonlinearity("z")) == pytest.approx(7 / 5, rel=1e-12)
    assert mean_square(5, 1.0, 2.0, nonlinearity("relu")) == pytest.approx(7 / 10, rel=1e-10)
    total = sum(
        part.multiplicity * part.eigenvalues.sum()
        for part in (truncated_sector(3, 1.0, 0.5, nonlinearity("tanh"), j, q, 20) for j in range(5) for q in (0, 1))
    )
    exact = mean_square(3, 1.0, 0.5, nonlinearity("tanh"))
    assert 0.99 * exact < total < exact  # sectors and degrees beyond hold the rest


def test_the_linear_part_at_any_ratio() -> None:
    """The odd part of GELU is z/2: the first odd eigenvalue is (A + B)/(4 d), whatever the rest."""
    for A, B in ((1e-40, 1.0), (1.0, 3.0), (1e-3, 10.0)):
        part = truncated_sector(10, A, B, nonlinearity("gelu"), 0, 1)
        assert abs(part.eigenvalues[0] - (A + B) / 40) <= part.errors[0] < 1e-6 * part.eigenvalues[0]
