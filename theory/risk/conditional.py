"""Ridge risk at any step size by conditional Gaussian equivalence (L1): the equations, as symbols.

Given kappa = U^T x the features have mean m, slope matrix D1, curvature matrix D3 and residual variance D2. The
functions below state what numerics/risk/conditional.py solves; in the case without a spike they reduce to the equations
of theory/risk/ridge.py (tested).
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import PROPORTIONAL, Statement
from bulkedge.theory.numbers.symbols import lam, n

k1, k2 = sp.symbols("kappa_1 kappa_2", real=True)
_delta = sp.Function("delta", nonnegative=True)
_T, _R = sp.Function("T"), sp.Function("R")
_rho = sp.Function("phi", positive=True)  # the density of kappa

N_ = sp.Symbol("N", integer=True, positive=True)
S = sp.Function("S")
Q, _R_MATRIX = sp.MatrixSymbol("Q", N_, N_), sp.MatrixSymbol("R", N_, N_)


def covariance() -> sp.MatrixExpr:
    """S(kappa) = D1 R^T R D1 + D3 (R^T R)^{.2} D3/2 + D2 + m m^T: the second moment of the features given kappa.

    The square is that of the entries. Off its diagonal it is |r_i|^2 |r_j|^2/d and noise of small operator norm: a
    rank-one term (1/2d) s s^T, s_j = |r_j|^2 E[sigma'' | kappa], through the length |x| that the features share.
    """
    d1, d2, d3 = (sp.MatrixSymbol(name, N_, N_) for name in ("D_1", "D_2", "D_3"))
    mean = sp.MatrixSymbol("m", N_, 1)
    gram = _R_MATRIX.T * _R_MATRIX
    squares = sp.matrices.expressions.HadamardProduct(gram, gram)
    return d1 * gram * d1 + d3 * squares * d3 / 2 + d2 + mean * mean.T


def _trace_kernel() -> sp.Expr:
    """The symbol K(kappa, kappa') = tr(S(kappa) Q S(kappa') Q)/n of `total_risk`."""
    return sp.Function("K")(k1, k2)


def total_risk() -> sp.Eq:
    """T = R + E_kappa'[K(kappa, kappa') T(kappa')/(1 + delta(kappa'))^2]: the test risk given kappa (noise included).

    R(kappa) is the risk of the mean estimator theta = Q E[c v]; the integral is the cost of the finite sample. It is
    the total derivative F'(0) of L1, through delta, by duality: dF = E[R dv] with dv = dt - d delta/(1 + delta)^2.
    Source: L1.
    """
    integral = sp.Integral(_trace_kernel() * _T(k2) / (1 + _delta(k2)) ** 2 * _rho(k2), (k2, -sp.oo, sp.oo))
    return sp.Eq(_T(k1), _R(k1) + integral)


def scalar_fixed_point(population: sp.Expr) -> sp.Eq:
    """Without a spike (one node): delta = (1/n) tr Omega (lam + Omega/(1 + delta))^-1 for Omega = population * 1_N."""
    delta = sp.Symbol("delta", positive=True)
    return sp.Eq(delta, N_ / n * population / (lam + population / (1 + delta)))


# Large N: groups of neurons with the same readout value; V = diag(w v) over the nodes of kappa.
q_g, c_g, spread = sp.symbols("q_g c_g D", positive=True)  # D = V.D2_g
width_ratio, share = sp.symbols("psi2 pi_g", positive=True)


def group_resolvent() -> sp.Eq:
    """1/q_g = lam + V.D2_g + c_g^2 d_g^T (V^-1 + P)^-1 d_g, one node: the diagonal of Q for the neurons of a group.

    Written for a single node and a single group, P = psi2 pi c^2 q d^2: the columns of [sqrt(V_k) d_gk r_j]_k are
    independent, so Q_jj = 1/(lam + D + column energy/(1 + ...)) as for a sample covariance. With several nodes and
    groups V^-1 + P is a matrix (numerics/risk/conditional_limit.py).
    Source: L1 (large N).
    """
    v, d = sp.symbols("V d", positive=True)
    P = width_ratio * share * c_g**2 * q_g * d**2
    return sp.Eq(1 / q_g, lam + spread + c_g**2 * d**2 / (1 / v + P))


STATEMENTS = (
    Statement(
        id="L1",
        title="Ridge risk of given weights, any step size, by conditional Gaussian equivalence",
        formula=total_risk,
        assumptions=(
            PROPORTIONAL,
            "weights with at most three spike directions; given `x` along them the features are Gaussian",
            "the features share the length `|x|`: a rank-one term of their covariance, kept (its cost is of relative "
            "order `1/d` times the square of the link's mean over the features')",
            "large `N`: the rest of the step has the covariance of its batch, `X^T diag(y^2) X`; its correlation "
            "with `W0`, where `E sigma''` is not 0, is left out",
        ),
        sources=("derived here",),
        status="conjectured",
        figure="O.large",
    ),
)
