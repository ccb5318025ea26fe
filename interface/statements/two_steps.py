"""Statements of paper T: two gradient steps."""

from __future__ import annotations

from bulkedge.registry import Erratum, Statement

_SCALING = "W0 is N x d with entries N(0, 1/d), readout of variance 1/N, eta_i = N^alpha_i, n, d, N proportional"

STATEMENTS = (
    Statement(
        id="T1",
        title="Number of outliers after two steps",
        formula="bulkedge.theory.steps.phases:new_outliers",
        assumptions=(
            _SCALING,
            "0 <= alpha1, alpha2 < 1/2",
            "activation of degree L (no cap if it is not a polynomial), E sigma' and E sigma^(k+1) not zero",
            "the readout takes more than Lambda distinct non-zero values",
        ),
        sources=("T, abstract and theorem on the number of outliers",),
        status="derived",
        figure="T.phases",
    ),
    Statement(
        id="T2",
        title="Spikes of the second step, in the readings rank_one and full",
        formula="bulkedge.theory.steps.second_step:full_reading",
        assumptions=(
            _SCALING,
            "correlation loss (squared loss: multiply by y - f, theory.steps.second_step.residual)",
            "G ~ N(0, 1), xi ~ N(0, v), v = E y^2 Var(sigma')/alpha, e = E y E sigma''; iota = 1 reused, 0 fresh",
            "a kink and a reused batch: the moments of F_k and further left vectors as in T6",
        ),
        sources=("T, theorem on W2", "derived here: the reading full"),
        status="derived",
        errata=(
            Erratum(
                printed="W1 may be replaced by W0 + eta1 mu1 a u^T inside sigma' (reading rank_one)",
                found="what is left of the first step moves every pre-activation by terms of the same order",
                corrected="spike k carries (1/n) X^T F_k with F_k of the reading full",
                evidence=("T2.full.reused.1", "T2.full.reused.2.mean", "T2.full.fresh.1.mean", "T2.full.fresh.2.mean"),
            ),
        ),
    ),
    Statement(
        id="T3",
        title="Alignment of the second step's directions with the target",
        formula="bulkedge.theory.steps.alignment:limits",
        assumptions=(
            "b_k = (1/n) X^T F_k(y, p), p = X u, n/d -> alpha, finite moments of the label",
            "q = sum_j c_j z_j + s zeta, c_j = E z_j y, s^2 = E y^2/alpha; reading rank_one: F_k = y p^k",
            "iota = 1: the memory term of a reused batch",
            "as statements about W2 at sizes up to N = 3000: python -m benchmarks.ladder",
        ),
        sources=("derived here (leave-one-out)",),
        status="derived",
    ),
    Statement(
        id="T4",
        title="Outliers of W2 at finite N: the spike matrix through the map of O2",
        formula="bulkedge.theory.steps.spike_matrix:second_strength",
        assumptions=(
            _SCALING,
            "symmetric readout with E (sqrt(N) a)^4 = m4; shown for Lambda = 1, any Lambda numerically",
            "seen at Lambda = 2 with three outliers beyond the bulk (checks T1.count.three, T4.third)",
        ),
        sources=("derived here", "B"),
        status="derived",
        figure="T.spectrum",
    ),
    Statement(
        id="T5",
        title="Phase transitions, and the squared cosine below the line alpha1 + alpha2 = 1/2 (fresh batches)",
        formula="bulkedge.theory.steps.phases:fresh_statement",
        assumptions=(
            _SCALING,
            "alpha1 + alpha2 < 1/2",
            "m2 = E y^2, both batches of ratio alpha = n/d; phi is the angle with beta",
        ),
        sources=("T, equivalence with one step", "derived here: the fresh batch"),
        status="derived",
        figure="T.phases",
    ),
    Statement(
        id="T6",
        title="Kinked activations: the further left vectors a^k|a| of a reused batch, shown for k = 1",
        formula="bulkedge.theory.steps.kink:statement",
        assumptions=(
            "sigma' is smooth up to b on either side, from l to r at b; reused batch; xi ~ N(0, v)",
            "every order k >= 1 has the left vectors a^(k+1) and a^k|a|, both of the strength of spike k: a finite set",
            "order k: y E_xi[sgn(p_-) C_-,k - sgn(p_+) C_+,k]/2, C_-+,k the series of what crosses b (theory: kink)",
            "zero for ReLU at even k without a mean of y; a corner of sigma' without a jump has its first at k = 3",
        ),
        sources=("derived here",),
        status="derived",
    ),
)
