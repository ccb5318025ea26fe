"""numerics/risk/mei_montanari.py on its own: the equations of nu, the limits that can be written down."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bulkedge.numerics.risk.mei_montanari import chi, mei_montanari_risk


@pytest.mark.parametrize(("p1", "p2", "z2", "lam"), [(0.4, 2.5, 1.7, 0.3), (3.0, 0.7, 0.2, 1e-5), (1.0, 1.0, 5.0, 2.0)])
def test_chi_solves_the_two_equations(p1: float, p2: float, z2: float, lam: float) -> None:
    x = chi(p1, p2, z2, lam)
    xi = 1j * math.sqrt(p1 * p2 * lam)
    c = -x + z2 * -x / (1 - z2 * x)
    nu1, nu2 = 1j * (p1 - c) / abs(xi), 1j * (p2 - c) / abs(xi)
    assert nu1 * nu2 == pytest.approx(x, rel=1e-10)
    assert nu1 == pytest.approx(p1 / (-xi - nu2 - z2 * nu2 / (1 - z2 * nu1 * nu2)), rel=1e-10)
    assert nu2 == pytest.approx(p2 / (-xi - nu1 - z2 * nu1 / (1 - z2 * nu1 * nu2)), rel=1e-10)


@pytest.mark.parametrize(("p1", "p2"), [(0.4, 2.5), (3.0, 0.7)])
def test_ridgeless_chi_is_the_printed_one(p1: float, p2: float) -> None:
    z2, psi = 1.7, min(p1, p2)
    b = psi * z2 - z2 - 1
    assert chi(p1, p2, z2, 0.0) == pytest.approx(-(math.sqrt(b * b + 4 * z2 * psi) + b) / (2 * z2), rel=1e-13)


def test_infinite_ridge_predicts_zero() -> None:
    assert mei_montanari_risk(1.3, 2.0, 1e9, 0.6, 0.3, 0.8, 0.4, 0.5) == pytest.approx(0.8**2 + 0.4**2, rel=1e-6)


def test_many_samples_and_features_leave_the_nonlinear_part() -> None:
    risk = mei_montanari_risk(1e5, 1e5 * np.pi, 1e-4, 0.6, 0.3, 0.8, 0.4, 0.5)
    assert risk == pytest.approx(0.4**2, rel=1e-3)
