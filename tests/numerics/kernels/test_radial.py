"""numerics/kernels/radial.py: moments of a Gaussian vector's length, from d = 1 to a million."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bulkedge.numerics.kernels.radial import length_rule


@pytest.mark.parametrize("dimension", [1, 2, 7, 100, 10**6])
def test_moments(dimension: int) -> None:
    """E |xi|^2 = d, E |xi|^4 = d (d + 2), E |xi| by gamma functions."""
    r, log_weight = length_rule(dimension, 48, (8.0, 9.0))
    weight = np.exp(log_weight)
    assert weight @ r**2 == pytest.approx(dimension, rel=1e-9)
    assert weight @ r**4 == pytest.approx(dimension * (dimension + 2), rel=1e-9)
    if dimension < 200:
        mean = math.sqrt(2) * math.exp(math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2))
        assert weight @ r == pytest.approx(mean, rel=1e-9)


def test_the_shorter_reach() -> None:
    r, log_weight = length_rule(20, 30, (7.0, 7.0))
    assert np.exp(log_weight) @ r**2 == pytest.approx(20, rel=1e-9)
    assert not r.flags.writeable
