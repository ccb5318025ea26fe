"""Statements on the first gradient step: O1 (theory.steps.gradient)."""

from __future__ import annotations

from bulkedge.registry import Statement

STATEMENTS = (
    Statement(
        "O1",
        "One gradient step is a rank-one spike plus a remainder whose column energies never vanish",
        "bulkedge.theory.steps.gradient:rank_one_gradient",
        (
            "n1/d -> alpha, N/d -> psi; a_j with E a_j^2 = 1/N, w_j ~ N(0, I/d); x ~ N(0, I), y = g(beta.x) + noise",
            "u = (1/n1) X^T y, mu1 = E sigma'(z)",
            "|E|_op = O(eta N^(-1/2) log N): negligible only for eta = o(sqrt N)",
            "|E_j|^2 -> eta^2 a_j^2 (v + (mu0* E sigma'')^2), v = E y^2 Var(sigma'(z))/alpha: never negligible",
        ),
        ("paper O, Proposition 2", "column energy: derived, as in G1"),
        "derived",
        figure="O.spectrum",
    ),
)
