"""The deterministic spike matrix of two steps and its strengths (T4).

W2 = W0 + S + small, S = sum_k l_k r_k^T, l_k = a^(k+1), r_0 = eta1 mu1 u + eta2 b_0, r_k = eta2 eta1^k b_k. The squared
singular values of S are the eigenvalues of (l_i.l_k)(r_i.r_k); each goes through O2's map.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.statement import TWO_STEPS, Statement


def two_strengths(left: sp.Matrix, right: sp.Matrix) -> tuple[sp.Expr, sp.Expr]:
    """Both squared strengths of two spikes, larger first: (T +- sqrt(T^2 - 4 D))/2, T = tr(LR), D = det(LR).

    Shapes: the 2 x 2 Gram matrices of the left and of the right vectors.  Source: T4.
    """
    trace, determinant = (left * right).trace(), left.det() * right.det()
    root = sp.sqrt(trace**2 - 4 * determinant)
    return (trace + root) / 2, (trace - root) / 2


def second_strength() -> sp.Eq:
    """The second squared strength of Lambda = 1 for a symmetric readout (E a^3 = 0), b = eta2 eta1 b_1.

    L = diag(1, m4/N), R = ((R00, R01), (R01, R11)).  Source: T4.
    """
    m4, R00, R01, R11 = sp.symbols("m4 R00 R01 R11", positive=True)
    left = sp.Matrix([[1, 0], [0, m4 / s.N]])
    right = sp.Matrix([[R00, R01], [R01, R11]])
    return sp.Eq(sp.Symbol("theta2", positive=True) ** 2, two_strengths(left, right)[1])


STATEMENTS = (
    Statement(
        id="T4",
        title="Outliers of `W2` at finite `N`: the spike matrix through the map of O2",
        formula=second_strength,
        assumptions=(
            TWO_STEPS,
            "symmetric readout with `E` (`sqrt(N)` a)`^4 = m4`; shown for `Lambda = 1`, any `Lambda` numerically",
            "seen at `Lambda = 2` with three outliers beyond the bulk (checks T1.count.three, T4.third)",
        ),
        sources=("derived here", "B"),
        status="derived",
        figure="T.spectrum",
    ),
)
