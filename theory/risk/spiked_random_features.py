"""Spiked random features at the maximal step (C1): the equations of P5, right for every width ratio p/d.

W = c_W W_0 + spike, constant readout a_j = p^(-1/2), unit-norm rows, step eta = step sqrt(p). Pre-activations are
r k + c_W z, k = v.x/sqrt d along the spike. The form recorded elsewhere lacks the factor 1/beta, beta = p/d, in the
resolvent S and in q: it holds at p = d only (a check refutes it elsewhere).
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import PROPORTIONAL, Erratum, Statement

beta = sp.Symbol("beta", positive=True)
penalty, D = sp.symbols("lambda D", nonnegative=True)
# P5's quantities with a hat: of V_1, V_2.
V1_hat, V2_hat = sp.symbols("nu_1 nu_2", nonnegative=True)


def _resolvent_denominator(recorded: bool = False) -> sp.Expr:
    """S(D) = lambda + (Vhat_1 D + Vhat_2)/beta; `recorded` is the form without 1/beta."""
    return penalty + (V1_hat * D + V2_hat) / (1 if recorded else beta)


def resolvent_statement() -> sp.Eq:
    """The corrected resolvent, as an equation."""
    return sp.Eq(sp.Function("S")(D), _resolvent_denominator())


STATEMENTS = (
    Statement(
        id="C1",
        title="Spiked random features at the maximal step, for every width ratio",
        formula=resolvent_statement,
        assumptions=(
            PROPORTIONAL,
            "`eta` = step `sqrt(p)`, constant readout, unit-norm rows of `W0`",
            "the rest of the step is isotropic: every row's norm grows to `c_W`",
        ),
        sources=("P5, fixed-point equations, corrected",),
        status="conjectured",
        errata=(
            Erratum(
                printed="`S = lambda + nu_1 D + nu_2`, as recorded elsewhere",
                found="at `p != d` the recorded form misses by tens of per cent",
                corrected="`S = lambda + (nu_1 D + nu_2)/beta` and `q_i` times `1/beta, beta = p/d`",
                evidence=("C1.narrow", "C1.wide"),
            ),
        ),
    ),
)
