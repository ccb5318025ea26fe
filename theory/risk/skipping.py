"""Skipping the first step (G9): weights drawn from the law that the step gives them."""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import beta, d, eta
from bulkedge.theory.steps.covariance import act, conditional_bulk


def conditional_law() -> sp.Eq:
    """G9: a neuron drawn instead of trained, w = sqrt(A_u) w_0 + (c1 eta/m) b u, b ~ N(0, 1), A_u the bulk of G2."""
    w, w0, b, u = sp.symbols("w w_0 b u")
    return sp.Eq(w, sp.sqrt(conditional_bulk()) * w0 + act[1] * eta / (beta * d) * b * u)


STATEMENTS = (
    Statement(
        id="G9",
        title="Skipping the first step: features drawn given the batch replace trained ones, averaged ones do not",
        formula=conditional_law,
        assumptions=(
            "ridge fit on a fresh sample; observed at `eta = .3 d` .. `6 d`, ReLU, link tanh(`2z`)",
            "drawn given the batch: the risk of trained features within a few per cent at every step size (`eta = 3 "
            "d, d = 150`: .221 `+-` .004 against .227 `+-` .004; untrained .315)",
            "drawn from the batch-averaged `Gamma`: .130 `+-` .001 there, as its spike is `w*` itself and not the "
            "noisy `u`, which is all that a network trained on the batch can know: training can be skipped, "
            "averaging cannot replace it",
        ),
        sources=("F, Section 6",),
        status="conjectured",
        figure="F.skipping",
    ),
)
