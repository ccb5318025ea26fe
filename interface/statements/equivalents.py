"""Equivalents: large-size limits of rational expressions in random matrices, and what was derived with them."""

from __future__ import annotations

from bulkedge.registry import Statement

STATEMENTS = (
    Statement(
        id="E2",
        title="The Dyson equation of a pencil, on the example of Marchenko-Pastur",
        formula="bulkedge.theory.equivalents.equivalent_statements:marchenko_pastur_polynomial",
        assumptions=(
            "(L_0 - S(G)) G = I for the linearisation u L^-1 v of a rational expression in Gaussian matrices",
            "S_iq: over pairs of an entry X at (i, j) and X^T at (p, q), the variance times size(j) G_jp",
            "the branch: the one solution at which Y -> G E[X Y X*] G* has spectral radius below one",
            "here g = tr (X^T X + lam)^-1, X n x d with iid N(0, 1/n) entries, c = d/n",
        ),
        sources=("Haagerup & Thorbjornsen 2005; Helton, Rashidi Far & Speicher 2007", "derived here (branch test)"),
        status="derived",
    ),
    Statement(
        id="E6",
        title="Alignment of a preconditioned first step",
        formula="bulkedge.theory.equivalents.equivalent_statements:preconditioned_alignment",
        assumptions=(
            "u = (X^T X/n + l)^-1 X^T y/n, x ~ N(0, I_d), n/d -> alpha, y = g(beta.x) + noise centred, |beta| = 1",
            "m, m_2: Marchenko-Pastur means (ratio 1/alpha) of 1/(s + l) and 1/(s + l)^2; plain step: l -> infinity",
        ),
        sources=("derived here, with the engine of equivalents",),
        status="derived",
    ),
    Statement(
        id="E7",
        title="Alignment of the first step on anisotropic inputs",
        formula="bulkedge.theory.equivalents.equivalent_statements:anisotropic_alignment",
        assumptions=(
            "u = X^T y/n, x ~ N(0, Sigma), y = g(beta.x/(beta.Sigma beta)^(1/2)) + noise centred, |beta| = 1",
            "beta in an eigenspace of Sigma with value sigma_beta; tau the normalised trace of Sigma; n/d -> alpha",
        ),
        sources=("derived here, with the engine of equivalents",),
        status="derived",
    ),
)
