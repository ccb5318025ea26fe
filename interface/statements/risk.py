"""Statements of papers O, M and P5 on the risk after one gradient step."""

from __future__ import annotations

from bulkedge.registry import Erratum, Statement

_PROPORTIONAL = "n, d, N -> infinity in proportion, x ~ N(0, I_d), W0 with entries N(0, 1/d), fresh samples for the fit"

STATEMENTS = (
    Statement(
        id="O3",
        title="Ridge risk after one step of size Theta(1)",
        formula="bulkedge.theory.risk.ridge:risk_statement",
        assumptions=(
            _PROPORTIONAL,
            "A = t (1 - mu1*^2 E), D = df1/n; kappa solves 1 - lam/kappa = D (theory.risk.ridge)",
            "activation odd with bounded derivatives, centred link: proved; else conjectured and simulated",
            "link with a mean: features with a mean fit it; an odd activation leaves mu0*^2; else see L1",
        ),
        sources=("O, Theorems 3 and 5 (formula C.28 re-derived)",),
        figure="O.risk",
    ),
    Statement(
        id="O4",
        title="The floor of linear models and kernels, and the criterion of one large step",
        formula="bulkedge.theory.risk.floor:criterion_statement",
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
        formula="bulkedge.theory.risk.conditional:total_risk",
        assumptions=(
            _PROPORTIONAL,
            "weights with at most three spike directions; given x along them the features are Gaussian",
            "the features share the length |x|: a rank-one term of their covariance, kept (its cost is of relative "
            "order 1/d times the square of the link's mean over the features')",
            "large N: the rest of the step has the covariance of its batch, X^T diag(y^2) X; its correlation with W0, "
            "where E sigma'' is not 0, is left out",
        ),
        sources=("derived here",),
        status="conjectured",
        figure="O.large",
    ),
    Statement(
        id="M1",
        title="Spikes of the feature matrix for eta ~ n^a, in the readings rank_one and full",
        formula="bulkedge.theory.steps.spiked_features:direction_statement",
        assumptions=(
            _PROPORTIONAL,
            "(l - 1)/(2 l) < a < l/(2 l + 2): l spikes, mu1 != 0 and c_k(sigma) != 0 for k <= l",
            "t = x.u, v = E y^2 Var(sigma')/alpha; c_k probabilist; polynomial or smooth activation",
            "output factor N^(-1/2) (without it the gradient's direction is not u)",
        ),
        sources=("M, Theorem 3.3", "derived here: the reading full"),
        status="derived",
        figure="M.spikes",
        errata=(
            Erratum(
                printed="the k-th left direction is (X u)^k (reading rank_one)",
                found="what is left of the step adds xi ~ N(0, v) to every pre-activation, of the order of X u itself",
                corrected="E_xi (mu1 X u + xi)^k (reading full)",
                evidence=("M1.full.constant", "M1.full.square"),
            ),
        ),
    ),
    Statement(
        id="M2",
        title="The drop of the training loss by the second spike, in the reading full",
        formula="bulkedge.theory.steps.spiked_features:drop_statement",
        assumptions=(
            _PROPORTIONAL,
            "rows of W0 of unit norm, E sigma(z) = 0, centred link; spikes of unbounded strength",
            "Delta_1 = lam c*_1^4 M_2/b^2; constants in the span (an intercept): 4/(2 + r^2) becomes 2",
            "Gaussian equivalence of F0 (conjectured by the paper)",
        ),
        sources=("M, Theorems 4.4 and 4.5 (factor 4/3)", "derived here: the reading full, any l"),
        status="conjectured",
        errata=(
            Erratum(
                printed="Delta_2 = Delta_1 + (4/3) lam c*_1^4 c*_2^2 M_1/b^4",
                found="the second left direction is mu1^2 t^2 + v, whose projection has another norm",
                corrected="the factor is 4/(2 + r^2), r = 1 + v/(mu1^2 b^2)",
                evidence=("M2.projection",),
            ),
        ),
    ),
    Statement(
        id="C1",
        title="Spiked random features at the maximal step, for every width ratio",
        formula="bulkedge.theory.risk.spiked_random_features:resolvent_statement",
        assumptions=(
            _PROPORTIONAL,
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
