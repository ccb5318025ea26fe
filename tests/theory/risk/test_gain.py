"""theory/risk/gain.py: against the difference of two risks of O3, whose formulas it never calls, and the signs."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.numbers.symbols import (
    alpha,
    eta,
    g_res,
    kappa,
    lam,
    mu0_star,
    mu1,
    mu1_star,
    mu2,
    mu2_star,
    psi1,
    psi2,
    s_eps,
)
from bulkedge.theory.risk import gain, ridge

R = sp.Rational
FEW = {psi1: R(3, 2), psi2: R(1, 3), eta: R(7, 5), alpha: R(4, 5), mu1: R(-3, 5), mu2: R(1, 5)}
MANY = {psi1: R(1, 2), psi2: R(5, 2), eta: R(9, 2), alpha: 3, mu1: R(4, 5), mu2: R(1, 20)}
LINK = {mu0_star: R(1, 3), mu1_star: R(-7, 10), mu2_star: R(2, 5), s_eps: R(3, 10)}


def _at(values: dict[sp.Symbol, sp.Expr], kappa_value: sp.Rational) -> dict[sp.Symbol, sp.Expr]:
    """All parameters, with g the root of its quadratic and the ridge that makes `kappa_value` the effective one."""
    at = {**values, **LINK, kappa: kappa_value}
    at[g_res] = ridge.resolvent().subs(at).evalf(40)
    at[lam] = (kappa_value * (1 - ridge.degrees_of_freedom().subs(at))).evalf(40)
    return at


@pytest.mark.parametrize("values", [FEW, MANY])
@pytest.mark.parametrize("level", [R(1, 7), R(5, 2)])
def test_it_is_the_difference_of_two_risks(values: dict[sp.Symbol, sp.Expr], level: sp.Rational) -> None:
    at = _at(values, level)
    if at[lam] <= 0:
        level = 6
        at = _at(values, R(level))
    risk = ridge.test_risk()
    before, after = risk.subs({**at, eta: 0}), risk.subs(at)
    assert abs(before - after - gain.spelt_out(gain.gain_in_parts()).subs(at)) < 1e-30
    assert abs(after - at[mu2_star] ** 2 - gain.spelt_out(gain.excess_in_parts()).subs(at)) < 1e-30
    assert abs(1 - gain.used_share().subs(at) - gain.sampling_factor().subs(at)) < 1e-30
    large = before - risk.subs({**at, eta: 10**18})
    assert abs(large - gain.spelt_out(gain.largest_gain()).subs(at)) < 1e-30
    for part in gain.parts().values():
        assert part.subs(at) > 0


@pytest.mark.parametrize("factor", [mu1_star, mu1, eta])
def test_the_gain_vanishes_with_each_of_its_factors(factor: sp.Symbol) -> None:
    at = _at(FEW, R(1, 2))
    whole = gain.spelt_out(gain.gain_in_parts())
    assert whole.subs(at) > 0
    assert whole.subs({**at, factor: 0}) == 0


def test_a_batch_without_end_and_one_of_nothing() -> None:
    """alpha -> infinity: U = mu1*^2; alpha -> 0: the step learns nothing."""
    at = _at(MANY, R(3, 2))
    whole = gain.spelt_out(gain.gain_in_parts())
    usual, endless, none = (whole.subs({**at, alpha: value}) for value in (3, sp.Integer(10) ** 30, R(1, 10**30)))
    assert 0 < none < 1e-25
    assert usual < endless
