"""G8: the floor of the bias-free ReLU kernels."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.numbers.symbols import d, z
from bulkedge.theory.risk.floor_relu import even_floor, figure_floor, odd_floor, radial_mean, statement


def test_figure_floor() -> None:
    exact = figure_floor()
    expected = 8 * (1 - sp.exp(-8)) - 64 * sp.exp(-4) + 12 * (1 - radial_mean(3) ** 2 / (d**2 * (d + 2)))
    for size in (2, 300):
        assert sp.N((exact - expected).subs(d, size), 20) == pytest.approx(0, abs=1e-15)
    assert float(exact.subs(d, 300).evalf(15)) == pytest.approx(6.8450, abs=5e-5)
    assert float(odd_floor(3 * z + 4 * sp.sin(2 * z))) == pytest.approx(6.825, abs=1e-3)
    assert statement().rhs == exact


def test_even_floor_vanishes_for_what_is_homogeneous_and_with_the_dimension() -> None:
    # Degree 0: a constant is far from |x| at d = 2, close at large d.
    assert float(even_floor(0).subs(d, 2).evalf(15)) == pytest.approx(float(1 - sp.pi / 4))
    assert float(even_floor(2).subs(d, 4000).evalf(15)) < 1e-3
    assert float(even_floor(2).subs(d, 2).evalf(15)) > 0.1
