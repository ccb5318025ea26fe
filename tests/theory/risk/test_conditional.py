"""theory/risk/conditional.py: without a spike the equations are those of an effective ridge."""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.symbols import lam, n
from bulkedge.theory.risk import conditional


def test_scalar_fixed_point_is_an_effective_ridge() -> None:
    """kappa = lam (1 + delta) solves 1 - lam/kappa = df1/n, df1 = N omega/(omega + kappa)."""
    omega, kappa = sp.symbols("omega kappa", positive=True)
    equation = conditional.scalar_fixed_point(omega)
    delta = sp.Symbol("delta", positive=True)
    gap = (equation.lhs - equation.rhs).subs(delta, kappa / lam - 1)
    standard = 1 - lam / kappa - conditional.N_ * omega / (omega + kappa) / n
    assert sp.simplify(gap - kappa / lam * standard) == 0


def test_total_risk_without_spike_divides_by_the_sampling_factor() -> None:
    """With a constant kernel K the integral equation gives T = R/(1 - K/(1 + delta)^2), K/(1 + delta)^2 = df2/n."""
    omega, kappa = sp.symbols("omega kappa", positive=True)
    q = 1 / (lam + omega * lam / kappa)
    df2 = conditional.N_ * (omega / (omega + kappa)) ** 2
    kernel = conditional.N_ * omega**2 * q**2 / n
    assert sp.simplify(kernel * (lam / kappa) ** 2 - df2 / n) == 0


def test_equations_are_stated() -> None:
    assert conditional.total_risk().rhs.has(sp.Integral)
    assert conditional.covariance().shape == (conditional.N_, conditional.N_)


def test_one_group_without_a_spike_is_the_marchenko_pastur_quadratic() -> None:
    """c = 1, one node: q = g/(v x) with O3's resolvent g at kappa = lam/v (V = v, D = v mu2^2, d = mu1)."""
    from bulkedge.theory.numbers.symbols import g_res, kappa, mu1, mu2, psi2
    from bulkedge.theory.risk import ridge

    v, d = sp.symbols("V d", positive=True)
    equation = conditional.group_resolvent()
    x = mu2**2 + kappa
    values = {
        conditional.c_g: 1,
        conditional.share: 1,
        d: mu1,
        lam: v * kappa,
        conditional.spread: v * mu2**2,
        conditional.q_g: g_res / (v * x),
        conditional.width_ratio: psi2,
    }
    gap = (equation.lhs - equation.rhs).subs(values, simultaneous=True)
    quadratic = ridge.resolvent_equation().lhs
    assert sp.simplify(sp.together(gap * g_res / (v * x)) * (x + psi2 * mu1**2 * g_res) + quadratic) == 0
