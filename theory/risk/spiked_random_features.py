"""Spiked random features at the maximal step (C1): the equations of P5, right for every width ratio p/d.

W = c_W W_0 + spike, constant readout a_j = p^(-1/2), unit-norm rows, step eta = step sqrt(p). Pre-activations are
r k + c_W z, k = v.x/sqrt d along the spike. The form recorded elsewhere lacks the factor 1/beta, beta = p/d, in the
resolvent S and in q: it holds at p = d only (a check refutes it elsewhere).
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import PROPORTIONAL, Erratum, Statement
from bulkedge.theory.numbers.symbols import alpha

alpha0, beta, step = sp.symbols("alpha0 beta eta_tilde", positive=True)
h1, h1_star = sp.symbols("h1 h1_star", real=True)
h2_star, slope_variance, penalty, D = sp.symbols("h2_star h_check lambda D", nonnegative=True)
# P5's quantities with a hat: of V_1, V_2, q_1, q_2, theta, psi.
V1_hat, V2_hat, q1_hat, q2_hat = sp.symbols("nu_1 nu_2 chi_1 chi_2", nonnegative=True)
theta_hat, psi_hat = sp.symbols("vartheta varphi", real=True)


def direction_norm2() -> sp.Expr:
    """h1*^2 + h2*/alpha0: the squared norm of X^T y/n0 (h2* = E y^2, noise included)."""
    return h1_star**2 + h2_star / alpha0


def spike() -> sp.Expr:
    """r = step h1 sqrt(h1*^2 + h2*/alpha0): the strength of the spike in the pre-activation."""
    return step * h1 * sp.sqrt(direction_norm2())


def bulk_variance() -> sp.Expr:
    """c_W^2 = 1 + step^2 h2* Var(sigma')/alpha0: what the rest of the step adds to every row."""
    return 1 + step**2 * h2_star * slope_variance / alpha0


def alignment() -> sp.Expr:
    """gamma = h1*/sqrt(h1*^2 + h2*/alpha0): cosine of the spike's and the target's direction."""
    return h1_star / sp.sqrt(direction_norm2())


def resolvent_denominator(recorded: bool = False) -> sp.Expr:
    """S(D) = lambda + (Vhat_1 D + Vhat_2)/beta; `recorded` is the form without 1/beta."""
    return penalty + (V1_hat * D + V2_hat) / (1 if recorded else beta)


def overlap_integrands(recorded: bool = False) -> tuple[sp.Expr, sp.Expr]:
    """q_1 and q_2 before the average over the eigenvalues D (F -> c_W^2, H -> D by independence and rotation)."""
    S = resolvent_denominator(recorded)
    inner = q1_hat * D + q2_hat + theta_hat**2 * bulk_variance() + psi_hat**2 * D
    prefactor = 1 if recorded else 1 / beta
    return prefactor * D / S**2 * inner, prefactor / S**2 * inner


def resolvent_statement() -> sp.Eq:
    """The corrected resolvent, as an equation."""
    return sp.Eq(sp.Function("S")(D), resolvent_denominator())


def ridge_in_units_of_o(ratio: sp.Expr = alpha) -> sp.Expr:
    """Paper O's ridge: lambda p/n = lambda beta/alpha (P5's loss is a sum over the samples)."""
    return penalty * beta / ratio


STATEMENTS = (
    Statement(
        id="C1",
        title="Spiked random features at the maximal step, for every width ratio",
        formula=resolvent_statement,
        assumptions=(
            PROPORTIONAL,
            "eta = step sqrt(p), constant readout, unit-norm rows of W0",
            "the rest of the step is isotropic: every row's norm grows to c_W",
        ),
        sources=("P5, fixed-point equations, corrected",),
        status="conjectured",
        errata=(
            Erratum(
                printed="S = lambda + nu_1 D + nu_2, as recorded elsewhere",
                found="at p != d the recorded form misses by tens of per cent",
                corrected="S = lambda + (nu_1 D + nu_2)/beta and q_i times 1/beta, beta = p/d",
                evidence=("C1.narrow", "C1.wide"),
            ),
        ),
    ),
)
