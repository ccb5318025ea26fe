"""Statements of papers O, M and P5 on the risk after one gradient step."""

from __future__ import annotations

from bulkedge.registry import Statement

_PROPORTIONAL = "n, d, N -> infinity in proportion, x ~ N(0, I_d), W0 with entries N(0, 1/d), fresh samples for the fit"

STATEMENTS = (
    Statement(
        id="O3",
        title="Ridge risk after one step of size Theta(1)",
        formula="theory.ridge:risk_in_parts",
        assumptions=(
            _PROPORTIONAL,
            "A = t (1 - mu1*^2 E), D = df1/n; kappa solves 1 - lam/kappa = D (theory.ridge)",
            "activation odd with bounded derivatives, centred link: proved; else conjectured and simulated",
            "link with a mean: features with a mean fit it; an odd activation leaves mu0*^2; else see L1",
        ),
        sources=("O, Theorems 3 and 5 (formula C.28 re-derived)",),
        figure="O.risk",
    ),
    Statement(
        id="O4",
        title="The floor of linear models and kernels, and the criterion of one large step",
        formula="theory.floor:criterion_statement",
        assumptions=(
            "floor mu2*^2 at n ~ d; with noise mu2*^2 + s_eps^2, plus mu0*^2 if nothing fits the mean",
            "eta = Theta(sqrt N), bounded activation, n/d large: R_1 <= 10 tau* + C (sqrt(tau* d/n) + d/n)",
            "the infimum over kappa need not be attained (erf on a sign link)",
        ),
        sources=("O, Proposition 1, Theorem 7, Corollary 8",),
        figure="O.large",
    ),
    Statement(
        id="L1",
        title="Ridge risk of given weights, any step size, by conditional Gaussian equivalence",
        formula="theory.conditional:total_risk",
        assumptions=(
            _PROPORTIONAL,
            "weights with at most three spike directions; given x along them the features are Gaussian",
            "large N: the rest of the step is isotropic given the readout",
        ),
        sources=("derived here",),
        status="conjectured",
        figure="O.large",
    ),
)
