"""Statements of the Hermite layer."""

from __future__ import annotations

from bulkedge.registry import Statement

STATEMENTS = (
    Statement(
        id="H1",
        title="Hermite coefficients in closed form, and their general term",
        formula="bulkedge.theory.gaussian.hermite:coefficient_statement",
        assumptions=("z ~ N(0, 1)", "f is in L2 of the Gaussian, shown by its certified growth"),
        sources=("O, section 2 (mu_0, mu_1)", "M, section 2 (c_k)", "F, section 2 (mu_k)"),
    ),
    Statement(
        id="H2",
        title="Coefficients without a closed form: rigorous enclosures, tails included",
        formula="bulkedge.theory.gaussian.hermite:tail_statement",
        assumptions=(
            "log|f(z)| <= c0 + c1 z + c2 z^2 for z >= R with c2 < 1/2",
            "R >= 2 sqrt(k), beyond all zeros of He_k",
            "the exponent's slope at R is negative",
        ),
        sources=("derived here",),
        status="derived",
    ),
    Statement(
        id="H3",
        title="Parseval, and the tail of a truncated expansion",
        formula="bulkedge.theory.gaussian.hermite:parseval_statement",
        assumptions=("orthonormal coefficients",),
        sources=("classical",),
    ),
    Statement(
        id="H4",
        title="Mehler's formula for correlated Gaussians",
        formula="bulkedge.theory.gaussian.hermite:mehler_statement",
        assumptions=("z1, z2 ~ N(0, 1) with correlation rho in [-1, 1]", "orthonormal coefficients c of f and d of g"),
        sources=("Mehler 1866", "P11"),
    ),
)
