"""theory/conditional.py: without a spike the equations are those of an effective ridge."""

from __future__ import annotations

import sympy as sp

from theory import conditional
from theory.symbols import lam, n


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
