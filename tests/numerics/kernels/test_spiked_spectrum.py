"""G6 in floats: against brute force in dimensions 2 and 3, closed forms, traces, and the symbols."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.kernels.spiked_spectrum import RELU, Homogeneous, _log_funk_hecke, multiplicity, sector
from bulkedge.theory.kernels import spiked_expansion as expansion
from bulkedge.theory.kernels import spiked_spectrum as symbols
from bulkedge.theory.numbers.errors import InputError


def arc_cosine(q11: np.ndarray, q12: np.ndarray, q22: np.ndarray) -> np.ndarray:
    """E relu(u) relu(v) for Gaussian (u, v): the closed form, which never sees an eigenvalue."""
    product = np.sqrt(q11 * q22)
    angle = np.arccos(np.clip(q12 / product, -1, 1))
    return product * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / (2 * np.pi)


def circle(A: float, B: float, n: int) -> np.ndarray:
    """All eigenvalues at d = 2 by Nystrom's rule on the circle (kinks leave an error of order n^-4)."""
    phi = 2 * np.pi * (np.arange(n) + 0.5) / n
    X = np.stack([np.cos(phi), np.sin(phi)], axis=1)
    Q = (X * np.array([A + B, A])) @ X.T / 2
    diagonal = np.diag(Q)
    return np.linalg.eigvalsh(2 * arc_cosine(diagonal[:, None], Q, diagonal[None, :]) / n)[::-1]


@pytest.mark.parametrize(("A", "B"), [(1.0, 3.0), (1.7, -1.2), (0.6, 40.0)])
def test_dimension_two_against_the_circle(A: float, B: float) -> None:
    coarse, fine = circle(A, B, 300)[:8], circle(A, B, 600)[:8]
    expected = fine + (fine - coarse) / 15  # Richardson, order 4
    ours = np.sort(np.concatenate([sector(2, A, B, j, q, tolerance=1e-8).eigenvalues for j in (0, 1) for q in (0, 1)]))[
        ::-1
    ]
    # What Richardson leaves is of order n^-6 relative to the smoothest eigenfunction's width.
    np.testing.assert_allclose(ours[:8], expected, atol=2e-8 * expected[0])


@pytest.mark.parametrize("j", [0, 1, 2])
@pytest.mark.parametrize(("A", "B"), [(1.3, 2.6), (1.0, -0.7)])
def test_dimension_three_against_a_product_rule(A: float, B: float, j: int) -> None:
    """Nystrom in (t, angle) at d = 3: sector j is the j-th Fourier mode about w*."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    phi = 2 * np.pi * (np.arange(160) + 0.5) / 160
    q = ((A + B) * nodes**2 + A * (1 - nodes**2)) / 3
    s = np.sqrt(1 - nodes**2)
    modes = np.zeros((120, 120))
    for angle in phi:
        cross = ((A + B) * np.outer(nodes, nodes) + A * np.outer(s, s) * math.cos(angle)) / 3
        modes += arc_cosine(q[:, None], cross, q[None, :]) * math.cos(j * angle) / phi.size
    root = np.sqrt(weights / 2)
    expected = np.linalg.eigvalsh(3 * root[:, None] * modes * root[None, :])[::-1]
    ours = np.sort(np.concatenate([sector(3, A, B, j, parity, tolerance=1e-8).eigenvalues for parity in (0, 1)]))[::-1]
    # The kernel has a |distance|^3 kink on the diagonal: the rule's error is of order 120^-3.
    np.testing.assert_allclose(ours[:4], expected[:4], atol=3e-7 * ours[0])


@pytest.mark.parametrize(
    ("B", "value", "weights"),
    [(6.0, 0.2177, (0.9868, 0.1611, -0.0165)), (20.0, 0.368023446, (0.9395, 0.3368, -0.0587))],
)
def test_reference_values(B: float, value: float, weights: tuple[float, ...]) -> None:
    top = sector(20, 1.0, B)
    assert top.eigenvalues[0] == pytest.approx(value, abs=5e-5 if B < 10 else 5e-10)
    np.testing.assert_allclose(top.vectors[:3, 0], weights, atol=6e-5)


@pytest.mark.parametrize(("d", "A", "B"), [(2, 1.0, 5.0), (20, 1.2, -1.1), (400, 0.7, 3e3), (10_000, 1.0, 1e4)])
def test_linear_functions_decouple(d: int, A: float, B: float) -> None:
    assert sector(d, A, B, 0, 1).eigenvalues[0] == pytest.approx((A + B) / (4 * d), rel=1e-12)
    assert sector(d, A, B, 1, 0).eigenvalues[0] == pytest.approx(A / (4 * d), rel=1e-12)


@pytest.mark.parametrize("d", [2, 3, 100, 10**5])
@pytest.mark.parametrize(("A", "ratio"), [(1e-40, 100.0), (1e3, 1e30), (1.0, 1e18), (1.0, 0.0), (1e-6, -0.9)])
def test_error_bounds_hold_at_any_scale(d: int, A: float, ratio: float) -> None:
    for j, exact in ((0, (A + A * ratio) / (4 * d)), (1, A / (4 * d))):
        part = sector(d, A, A * ratio, j, 1 - j)
        i = int(np.argmin(np.abs(part.eigenvalues - exact)))
        assert abs(part.eigenvalues[i] - exact) <= part.errors[i] < 1e-13 * part.eigenvalues[i]


@pytest.mark.parametrize(("d", "A", "B"), [(2, 1.0, 8.0), (3, 1.5, 3.0), (20, 1.0, 20.0)])
@pytest.mark.parametrize("activation", [RELU, Homogeneous(1.0, 1.0, -0.2), Homogeneous(2.0, 1.0, 0.5)])
def test_trace_over_all_sectors(d: int, A: float, B: float, activation: Homogeneous) -> None:
    """Sum of multiplicity times eigenvalue = E k1(x, x): every sector and multiplicity enters."""
    total = 0.0
    for j in range(2 if d == 2 else 16 if d == 3 else 8):
        for parity in (0, 1):
            part = sector(d, A, B, j, parity, activation, tolerance=1e-4)
            total += part.multiplicity * float(part.eigenvalues.sum())
    # E sigma(w.x)^2 = E z_+^{2p} (right^2 + left^2) E (x^T Gamma x/d)^p, elementary for p = 1, 2.
    first = (A * d + B) / d
    second = (A * A * d * (d + 2) + 2 * A * B * (d + 2) + 3 * B * B) / d**2
    expected = (activation.right**2 + activation.left**2) / 2 * (first if activation.power == 1 else 3 * second)
    # What is missing (degrees cut at the tolerance, sectors beyond the last) is positive.
    assert 0 <= expected - total <= 4e-3 * expected


def test_funk_hecke_twin() -> None:
    for activation in (RELU, Homogeneous(2.0, 1.0, 0.5), Homogeneous(0.0, 1.0, -1.0), Homogeneous(0.5, 0.3, -1.0)):
        logs, signs = _log_funk_hecke(7, activation, 9)
        for l in range(10):
            amplitude = activation.right + (-1) ** l * activation.left
            expected = float(amplitude * symbols.funk_hecke(l, sp.Rational(activation.power), sp.Integer(7)))
            assert signs[l] * math.exp(logs[l]) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_matrix_element_is_the_symbol() -> None:
    """The Gram matrix, rebuilt from eigenpairs, against the integral of theory/ at 20 digits."""
    for d, A, B, j in [(5, 1.5, 4.0, 0), (7, 1.0, -0.5, 1)]:
        part = sector(d, A, B, j, j % 2)
        matrix = part.vectors @ np.diag(part.eigenvalues) @ part.vectors.T
        for i, k in [(0, 1), (1, 1)]:
            l1, l2 = int(part.degrees[i]), int(part.degrees[k])
            element = symbols.matrix_element(l1, l2, j, sp.Integer(1), sp.Integer(d))
            element = element.subs({symbols.A: sp.Rational(A), symbols.B: sp.Rational(B)})
            assert matrix[i, k] == pytest.approx(float(element.evalf(15)), rel=1e-11)


def test_no_spike_gives_the_isotropic_spectrum() -> None:
    for d in (3, 9, 3000):
        part = sector(d, 1.3, 0.0, tolerance=1e-9)
        lam0 = float(
            d * mpmath.gamma(mpmath.mpf(d) / 2) ** 2 / (4 * mpmath.pi * mpmath.gamma(mpmath.mpf(d + 1) / 2) ** 2)
        )
        assert part.eigenvalues[0] == pytest.approx(1.3 * lam0, rel=1e-13)
        assert part.eigenvalues[1] == pytest.approx(1.3 * lam0 / (d + 1) ** 2, rel=1e-9)


def test_error_bounds_are_met_where_the_degrees_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """B/A = 10^6: cut at degree 256, the error claimed covers the way to degree 512."""
    from bulkedge.numerics.kernels import spiked_spectrum

    found = []
    for degree in (256, 512):
        monkeypatch.setattr(spiked_spectrum, "MAX_DEGREE", degree)
        found.append(sector(20, 1.0, 1e6))
    short, long = found
    n = short.eigenvalues.size
    assert np.all(np.abs(short.eigenvalues - long.eigenvalues[:n]) <= short.errors)
    assert short.errors[0] < 1e-5 * short.eigenvalues[0]


def test_error_bounds_are_met() -> None:
    """Half as many degrees and a looser tolerance: the error claimed covers the change to the tight answer."""
    for d, B in [(3, 300.0), (40, 1e3), (3000, 1e3)]:
        loose, tight = sector(d, 1.0, B, tolerance=1e-6), sector(d, 1.0, B, tolerance=3e-11)
        n = min(loose.eigenvalues.size, tight.eigenvalues.size)
        gap = np.abs(loose.eigenvalues[:n] - tight.eigenvalues[:n])
        assert np.all(gap <= loose.errors[:n] + tight.errors[:n])
        assert loose.degrees.size < tight.degrees.size
        assert tight.errors.max() <= 1e-10 * tight.eigenvalues[0]


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 500), st.floats(0.1, 10), st.floats(-0.9, 50), st.floats(0.2, 5))
def test_scaling_and_monotonicity(d: int, A: float, ratio: float, factor: float) -> None:
    """T is linear in Gamma for ReLU under a common factor, and grows with the spike."""
    one = sector(d, A, ratio * A, tolerance=1e-8)
    other = sector(d, factor * A, factor * ratio * A, tolerance=1e-8)
    assert other.eigenvalues[0] == pytest.approx(factor * one.eigenvalues[0], rel=1e-10)
    assert sector(d, A, ratio * A + A, tolerance=1e-8).eigenvalues[0] > one.eigenvalues[0]


def test_eigenfunctions_on_data() -> None:
    """Orthonormality and the eigen equation on a Monte Carlo sample, in sectors 0 and 1."""
    rng = np.random.default_rng(7)
    d, A, B = 4, 1.2, 6.0
    X = rng.standard_normal((60_000, d))
    spike = np.array([0.6, 0.8, 0.0, 0.0])
    axis = np.array([0.0, 0.0, 1.0, 0.0])
    even, tilted = sector(d, A, B), sector(d, A, B, 1, 1)
    psi = [even.eigenfunction(0)(X, spike), even.eigenfunction(1)(X, spike), tilted.eigenfunction(0)(X, spike, axis)]
    gram = np.array([[np.mean(a * b) for b in psi] for a in psi])
    # |Psi|^4 has a finite mean of order 10: the standard error of a mean of products is about 3/sqrt(6e4).
    np.testing.assert_allclose(gram, np.eye(3), atol=0.06)
    W = rng.standard_normal((40, d)) @ np.diag(np.sqrt(A) * np.ones(d)) / math.sqrt(d)
    points = X[:40]
    Gamma = A * np.eye(d) + B * np.outer(spike, spike)
    Q = X @ Gamma @ points.T / d
    K = arc_cosine(np.sum(X @ Gamma * X, axis=1)[:, None] / d, Q, np.sum(points @ Gamma * points, axis=1)[None, :] / d)
    for part, values, tail in [(even, psi[0], ()), (tilted, psi[2], (axis,))]:
        image = K.T @ values / X.shape[0]
        expected = part.eigenvalues[0] * part.eigenfunction(0)(points, spike, *tail)
        spread = np.std(K * values[:, None], axis=0) / math.sqrt(X.shape[0])
        assert np.all(np.abs(image - expected) <= 5 * spread)
    assert W.shape == (40, d)
    with pytest.raises(InputError, match="axis"):
        tilted.eigenfunction(0)(X[:3], spike)
    assert np.all(np.isfinite(even.eigenfunction(0)(np.zeros((1, d)), spike)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1.0, 1.0), "dim"),
        ((5, 0.0, 1.0), "bulk"),
        ((5, -1.0, 3.0), "bulk"),
        ((5, 1.0, -1.0), "spike"),
        ((5, 1.0, math.nan), "spike"),
        ((2, 1.0, 1.0, 2), "j"),
        ((5, 1.0, 1.0, 0, 0, Homogeneous(-0.5)), "activation"),
    ],
)
def test_bad_input_is_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sector(*arguments)  # type: ignore[arg-type]


def test_extreme_ratios_stay_finite() -> None:
    for d, A, B in [(2, 1.0, 1e5), (10_000, 1.0, 1e5), (3, 1.0, -0.99999), (10_000, 1e-6, 1e-6)]:
        part = sector(d, A, B, tolerance=1e-6)
        assert np.all(np.isfinite(part.eigenvalues))
        assert np.all(part.errors <= 1e-5 * part.eigenvalues[0])
    assert multiplicity(1, 0) == 1
    assert multiplicity(1, 2) == 0


def test_expansions_close_in_order_by_order() -> None:
    """G7 against G6: every further order divides the gap by about B/A, on both sides of B = 0."""
    d = 20
    for ratio in (0.05, -0.04):
        exact = sector(d, 1.5, 1.5 * ratio)
        at = {symbols.A: sp.Rational(3, 2), symbols.B: sp.Rational(1.5 * ratio)}
        for column, series, value in [
            (0, expansion.top_series, exact.eigenvalues[0]),
            (1, expansion.second_series, exact.eigenvalues[1]),
            (2, expansion.tau_series, exact.vectors[1, 0] / exact.vectors[0, 0]),
        ]:
            gaps = [abs(value - float(series(n, sp.Integer(d)).subs(at))) for n in range(4)]
            # Rounding of the second eigenvalue is eps sqrt(top second).
            assert all(b < 3 * abs(ratio) * a + 1e-14 for a, b in itertools.pairwise(gaps)), column
