"""numerics/kernels: spiked_remainder, spiked_response, upper_bound: laws over settings, against the exact spectrum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.kernels.spiked_remainder import remainder_matrix, remainder_norm
from bulkedge.numerics.kernels.spiked_response import squared_gap
from bulkedge.numerics.kernels.spiked_spectrum import sector, sector_matrix
from bulkedge.numerics.kernels.upper_bound import upper_bound
from bulkedge.theory.numbers.errors import InputError


@settings(max_examples=15, deadline=None)
@given(st.integers(5, 200), st.floats(0.5, 2), st.floats(0.1, 1))
def test_the_remainder_s_laws(d: int, A: float, ratio: float) -> None:
    """The elements (0,0) and (0,2) are linear in B; scaling A and B scales all; the norm is below its limit."""
    B = ratio * A * d
    R = remainder_matrix(d, A, B)
    scale = sector_matrix(d, A, B, 0, 0, 24)[1][0, 0]
    assert abs(R[0, 0]) <= 1e-6 * scale
    assert abs(R[0, 1]) <= 1e-6 * scale
    np.testing.assert_allclose(remainder_matrix(d, 3 * A, 3 * B), 3 * R, atol=1e-6 * scale)
    assert 0 < remainder_norm(d, A, B) < 3 / (4 * math.pi * A) * (B / d) ** 2


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 40), st.floats(0.5, 2), st.floats(0, 30), st.floats(0.1, 1.0), st.integers(0, 2))
def test_the_upper_half_of_theorem_4_1(d: int, A: float, B: float, tau: float, j: int) -> None:
    """Sector by sector, hence for all: lambda_i(T_1) <= C_tau lambda_i(T_0) + eps_tau."""
    if d == 2 and j > 1:
        return
    constant, rest = upper_bound(d, A, B, tau)
    for parity in (0, 1):
        spiked, plain = (sector(d, a, b, j, parity, tolerance=1e-8, count=4) for a, b in ((A, B), (1.0, 0.0)))
        count = min(4, spiked.eigenvalues.size)
        bound = constant * plain.eigenvalues[:count] + rest
        assert np.all(spiked.eigenvalues[:count] <= bound + 2 * spiked.errors[:count] + 1e-12)


def test_an_absolute_constant_would_not_do() -> None:
    """A alone, or A with the rest of a band, is passed by the aligned linear function: (A + B)/(4d) over 1/(4d)."""
    d, A, B = 30, 1.0, 20.0
    part = sector(d, A, B, 0, 1)
    assert part.eigenvalues[0] > A / (4 * d) + upper_bound(d, A, 0.0, 0.5)[1]


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 60), st.floats(0.5, 2), st.floats(0, 50), st.floats(0.05, 0.9))
def test_constant_and_rest_trade_off(d: int, A: float, B: float, tau: float) -> None:
    near, far = upper_bound(d, A, B, tau), upper_bound(d, A, B, tau + 0.1)
    assert near[0] <= far[0]
    assert near[1] >= far[1] >= 0
    whole = upper_bound(d, A, B, 1.0)
    assert whole[1] == 0
    assert whole[0] == pytest.approx(A * (1 + B / A) ** ((d + 1) / 2), rel=1e-9)
    assert upper_bound(d, A, B, 1e-9)[1] == pytest.approx((A + B / d) / 2, rel=1e-6)


def test_the_gap_at_a_moderate_dimension() -> None:
    """d E(S - S_1 - S_2)^2 at d = 200: 1/pi^2 and terms of order 1/d; 400 000 pairs (a standard error of .8 %)."""
    assert squared_gap(np.random.default_rng(5), 200, 400_000) == pytest.approx(1 / math.pi**2, rel=0.05)


def test_what_is_not_covered_is_refused() -> None:
    with pytest.raises(InputError, match="positive"):
        remainder_matrix(10, 1.0, -0.5)
    for spike, tau in ((-0.5, 0.5), (1.0, 0.0), (1.0, 1.5)):
        with pytest.raises(InputError):
            upper_bound(10, 1.0, spike, tau)
    with pytest.raises(InputError, match="smaller tau"):
        upper_bound(3000, 1.0, 3000.0, 1.0)
