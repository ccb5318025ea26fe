"""theory/risk/floor.py: the exact criteria and the verdict."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.numbers.symbols import mu0_star, mu2_star, s_eps, z
from bulkedge.theory.risk import floor


def test_erf_pair_reaches_zero_at_sqrt_3() -> None:
    """Corollary 8: tau* = 0, kappa* = sqrt 3, exactly."""
    tau = floor.erf_criterion()
    assert sp.simplify(tau.subs(floor.slope, sp.sqrt(3))) == 0
    assert sp.simplify(sp.diff(tau, floor.slope).subs(floor.slope, sp.sqrt(3))) == 0
    assert tau.subs(floor.slope, 1).evalf() > 0.005


def test_polynomial_criterion_by_hand() -> None:
    """sigma = g = z^2: S = kappa^2 z^2 + 1, tau = E(c z^2 - 1)^2 = 3 c^2 - 2 c + 1, c = 1 - kappa^2."""
    k = floor.slope
    c = 1 - k**2
    assert sp.expand(floor.polynomial_criterion(z**2, z**2, z) - (3 * c**2 - 2 * c + 1)) == 0


def test_floors_compare_like_with_like() -> None:
    assert floor.linear_floor() == mu2_star**2
    assert floor.linear_floor(fits_mean=False, noise=True) == mu2_star**2 + mu0_star**2 + s_eps**2


@pytest.mark.parametrize(
    ("low", "high", "level", "expected"),
    [
        (0.0, 1e-4, 0.03, "beats"),
        (0.005, 0.0051, 0.03, "vacuous"),
        (0.05, 0.051, 0.03, "above"),
        (0.02, 0.04, 0.03, "undecided"),
        (0.002, 0.0031, 0.03, "undecided"),
    ],
)
def test_verdict(low: float, high: float, level: float, expected: str) -> None:
    assert floor.verdict(low, high, level) == expected
