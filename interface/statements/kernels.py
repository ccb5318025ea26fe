"""Statements of the kernel layer."""

from __future__ import annotations

from bulkedge.registry import Statement

STATEMENTS = (
    Statement(
        id="K1",
        title="Dual kernels: closed forms, series, tail, and the expansion at correlation one",
        formula="bulkedge.theory.kernels.kernel:series_statement",
        assumptions=(
            "z1, z2 ~ N(0, 1) with correlation rho in [-1, 1]; sigma in L2 of the Gaussian",
            "tail after degree K at most |rho|^(K+1) (E sigma^2 - sum_{k<=K} c_k^2)",
            "unequal variances: rho = q12/sqrt(q11 q22) and the coefficients of sigma(sqrt(q) z)",
        ),
        sources=(
            "P11: Cho and Saul 2009 (arc-cosine kernels; their k_p is twice the expectation)",
            "Daniely et al. 2016",
        ),
        figure="K.kernels",
    ),
    Statement(
        id="K2",
        title="Eigenvalues on the sphere (Funk-Hecke), ReLU^p in closed form",
        formula="bulkedge.theory.kernels.sphere:relu_statement",
        assumptions=(
            "weight uniform on the unit sphere of R^d, d >= 2; points on the unit sphere",
            "eta_l = E[sigma(t) P_l(t)], P_l(1) = 1; eigenvalue eta_l^2, multiplicity C(l+d-1, l) - C(l+d-3, l-2)",
            "zero for l - p even and positive",
        ),
        sources=("F, lemma 5.1", "P11: Bach 2017, appendix D"),
        figure="K.decay",
    ),
    Statement(
        id="K3",
        title="Derivative kernels, the tangent kernel and the conjugate kernel",
        formula="bulkedge.theory.kernels.derivative_kernel:tangent_statement",
        assumptions=(
            "f(x) = N^(-1/2) sum_j a_j sigma(w_j.x), Var a_j = v_a, w_j ~ N(0, v_w I); paper O: v_a = 1/N, v_w = 1/d",
            "kappa_1 = E[sigma'(u) sigma'(v)] = d kappa/d q12 (Price), distributional where sigma jumps",
        ),
        sources=("O, proposition 1 (conjugate and tangent kernels)", "Price 1958"),
    ),
)
