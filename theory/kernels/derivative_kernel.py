"""Derivative kernels, the two-layer tangent kernel and the conjugate kernel.

Derivatives are distributions: a kink of sigma leaves a delta in sigma'', and E[sigma''(u) sigma(v)] keeps it. Price's
theorem ties them to the dual kernel: d/dq12 E[f(u) g(v)] = E[f'(u) g'(v)], d/dq11 E[f(u) g(v)] = E[f''(u) g(v)]/2.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.kernels.kernel import dual, dual_of_correlation
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import q11, q12, q22

# What multiplies x.x' kappa' in the tangent kernel: the variance of the readout's entries.
readout_variance = sp.Symbol("v_a", positive=True)
# The variance of the first layer's weights: q12 = v_w x.x' (1/d in paper O).
weight_variance = sp.Symbol("v_w", positive=True)


def derivative_dual(f: Nonlinearity, first: int = 1, second: int = 1, g: Nonlinearity | None = None) -> sp.Expr | None:
    """E[f^(first)(u) g^(second)(v)] in q11, q12, q22, distributional, or None where no closed form is known.

    Valid for: 0 < q11, q22, q12^2 < q11 q22 (with a delta in both, the kernel is not finite at correlation one).
    Source: K3.
    """
    return dual(f.derivative(first), (f if g is None else g).derivative(second))


def derivative_dual_of_correlation(f: Nonlinearity, first: int = 1, second: int = 1) -> sp.Expr | None:
    """E[f^(first)(z1) f^(second)(z2)] in rho at unit variances; first = second = 1 is kappa'(rho). Source: K3."""
    return dual_of_correlation(f.derivative(first), f.derivative(second))


def conjugate_kernel(f: Nonlinearity) -> sp.Expr | None:
    """The kernel of the features, E_w[sigma(w.x) sigma(w.x')], in q11, q12, q22: the dual kernel itself. Source: K3."""
    return dual(f)


def tangent_kernel(f: Nonlinearity) -> sp.Expr | None:
    """The two-layer neural tangent kernel in q11, q12, q22, v_a and v_w.

    Formula: kappa + v_a (x.x') E[sigma'(u) sigma'(v)], x.x' = q12/v_w.
    Convention: the network is N^(-1/2) sum_j a_j sigma(w_j.x) with Var a_j = v_a, w_j ~ N(0, v_w I), and the gradient
    is with respect to a and W as they stand. Paper O: v_a = 1/N, v_w = 1/d, so kappa + (x.x'/N) kappa'. The usual NTK
    parameterisation, weights N(0, 1) and pre-activations w.x/sqrt d, is v_a = v_w = 1 with x/sqrt d for x.
    Source: K3.
    """
    kappa, slope = dual(f), derivative_dual(f)
    if kappa is None or slope is None:
        return None
    return kappa + readout_variance * q12 / weight_variance * slope


# ---- the statements, as SymPy ------------------------------------------------------------------------------------

_kappa = sp.Function("kappa")


def tangent_statement() -> sp.Eq:
    """K3: the tangent kernel of the two-layer network."""
    kappa, slope = (sp.Function(name)(q11, q12, q22) for name in ("kappa", "kappa_1"))
    return sp.Eq(sp.Function("Theta")(q11, q12, q22), kappa + readout_variance * q12 / weight_variance * slope)


STATEMENTS = (
    Statement(
        id="K3",
        title="Derivative kernels, the tangent kernel and the conjugate kernel",
        formula=tangent_statement,
        assumptions=(
            "`f(x) = N^(-1/2) sum_j a_j sigma(w_j.x), Var a_j = v_a, w_j ~ N(0, v_w I)`; paper O: `v_a = 1/N, v_w = "
            "1/d`",
            "`kappa_1 = E[sigma'(u) sigma'(v)] = d kappa/d q12` (Price), distributional where `sigma` jumps",
        ),
        sources=("O, proposition 1 (conjugate and tangent kernels)", "Price 1958"),
    ),
)
