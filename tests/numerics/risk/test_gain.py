"""numerics/risk/gain.py: the twin of theory/risk/gain.py; signs and growth over random settings; tiny gains."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.risk.gain import gain
from bulkedge.numerics.risk.ridge import Constants, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.numbers import symbols as sym
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.risk import gain as theory
from bulkedge.theory.risk import ridge

positive = st.floats(0.05, 3.0)
ratio = st.floats(0.05, 20.0)
level = st.floats(-6, 2).map(lambda e: 10.0**e)


@pytest.mark.parametrize(
    ("p1", "p2", "lam", "eta"), [(1.5, 2.5, 0.1, 1.7), (3.0, 0.4, 1e-3, 0.5), (2.0, 40.0, 7.0, 9.0)]
)
def test_twin_of_the_symbols(p1: float, p2: float, lam: float, eta: float) -> None:
    c = Constants(-0.6, 0.2, 0.3, 0.7, 0.35)
    found = gain(c, RidgeProblem(p1, p2, lam, eta, 0.8, 0.3))
    values = {
        sym.psi1: p1, sym.psi2: p2, sym.lam: lam, sym.eta: eta, sym.alpha: 0.8, sym.s_eps: 0.3,
        sym.mu1: -0.6, sym.mu2: 0.2, sym.mu0_star: 0.3, sym.mu1_star: 0.7, sym.mu2_star: 0.35,
    }  # fmt: skip
    exact = {k: sp.Rational(v) for k, v in values.items()}
    equation = ridge.effective_ridge_equation()
    gap = (equation.lhs - equation.rhs).subs(sym.g_res, ridge.resolvent()).subs(exact)
    start = float(ridge_risk(c, RidgeProblem(p1, p2, lam, eta)).kappa)
    with mpmath.workdps(40):
        at = {**exact, sym.kappa: sp.Float(mpmath.findroot(sp.lambdify(sym.kappa, gap, "mpmath"), start), 40)}
    at[sym.g_res] = ridge.resolvent().subs(at)
    for value, formula in (
        (found.gain, theory.gain_in_parts()),
        (found.largest, theory.largest_gain()),
        (found.excess, theory.excess_in_parts()),
    ):
        assert float(value) == pytest.approx(float(theory.spelt_out(formula).subs(at).evalf(30)), rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(ratio, ratio, level, positive, positive, positive, st.floats(0, 2), st.floats(0, 1.5), ratio)
def test_the_theorem(
    p1: float, p2: float, lam: float, mu1: float, mu2: float, linear: float, nonlinear: float, s: float, alpha: float
) -> None:
    """Over random settings: the gain is that of two risks; >= 0, growing in eta and n1; the floor is never passed."""
    c = Constants(mu1, mu2, 0.0, linear, nonlinear)
    steps = np.array([0.0, 0.1, 0.5, 1.0, 3.0, 30.0, 1e3])
    found = gain(c, RidgeProblem(p1, p2, lam, steps, alpha, s))
    whole = ridge_risk(c, RidgeProblem(p1, p2, lam, steps, alpha, s))
    # Near the peak the two risks' condition number is the subtraction's.
    scale = 1e-11 * float(np.max(whole.test + s**2))
    np.testing.assert_allclose(found.gain, whole.test[0] - whole.test, atol=scale, rtol=1e-9)
    np.testing.assert_allclose(found.excess, whole.test - nonlinear**2, atol=scale, rtol=1e-9)
    assert found.gain[0] == 0
    assert np.all(np.diff(found.gain) >= -1e-14 * found.gain[1:])
    assert np.all(found.gain <= found.largest * (1 + 1e-14))
    assert np.all(found.excess >= 0)
    batches = gain(c, RidgeProblem(p1, p2, lam, 1.3, alpha * np.array([0.1, 1.0, 10.0]), s)).gain
    assert np.all(np.diff(batches) >= -1e-14 * batches[1:])


def test_a_tiny_gain_keeps_its_digits() -> None:
    """At eta = 1e-8 the difference of two risks has none left: quadratic in eta, by the formula's own symbols."""
    c = Constants(0.6, 0.2, 0.0, 0.7, 0.35)
    small, ordinary = gain(c, RidgeProblem(2.0, 1.5, 0.1, [1e-8, 1e-3])).gain
    assert small == pytest.approx(1e-10 * ordinary, rel=1e-5)


def test_a_wide_network_gains_as_one_over_its_width() -> None:
    c, width = Constants(0.6, 0.2, 0.3, 0.7, 0.35), 1e7
    found = gain(c, RidgeProblem(1.5, width, 0.3 * width, 1.7, 0.8, 0.3)).gain * width
    tau = float(ridge_risk(c, RidgeProblem(1.5, width, 0.3 * width, 0.0)).kappa) / width
    at = {sym.mu1: 0.6, sym.mu1_star: 0.7, sym.eta: 1.7, sym.psi1: 1.5, sym.kappa: tau}
    assert float(found) == pytest.approx(float(theory.wide_gain().subs(at)), rel=1e-6)


@pytest.mark.parametrize(
    ("constants", "eta"),
    [
        (Constants(0.0, 0.2, 0.0, 0.7, 0.3), 1.0),
        (Constants(0.6, 0.2, 0.0, 0.0, 0.3), 1.0),
        (Constants(0.6, 0.2, 0.0, 0.7, 0.3), 0.0),
    ],
)
def test_no_gain_without_each_of_its_factors(constants: Constants, eta: float) -> None:
    assert float(gain(constants, RidgeProblem(2.0, 1.5, 0.1, eta)).gain) == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"lam": 0.0}, "ridge"), ({"psi2": np.inf}, "width"), ({"eta": -1.0}, "step"), ({"alpha": np.nan}, "batch")],
)
def test_bad_input(arguments: dict[str, float], named: str) -> None:
    good = {"psi1": 2.0, "psi2": 1.0, "lam": 0.1, "eta": 1.0}
    with pytest.raises(InputError) as caught:
        gain(Constants(0.6, 0.2, 0.0, 0.7, 0.3), RidgeProblem(**{**good, **arguments}))
    assert caught.value.argument == named
