"""K3: the kernel with the second derivative of ReLU, and the tangent kernel."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Step
from theory.derivative_kernel import readout_variance, tangent_kernel, weight_variance
from theory.kernel import dual
from theory.nonlinearity import nonlinearity
from theory.symbols import q11, q12, q22


def _curvature() -> sp.Expr:
    """E[relu''(u) relu(v)]: the delta at the kink meets the other variable there."""
    value = dual(nonlinearity("relu").derivative(2), nonlinearity("relu"))
    assert value is not None
    return value


def _kernel() -> sp.Expr:
    value = dual(nonlinearity("relu"))
    assert value is not None
    return value


def _second() -> Iterator[Step]:
    yield Step(_kernel(), reason="the kernel of ReLU at covariance q11, q12, q22")
    yield Step(_curvature(), Apply(lambda e: 2 * e.diff(q11)), "Price in the variance: twice the derivative in q11")


def _tangent_claim() -> sp.Expr:
    value = tangent_kernel(nonlinearity("relu"))
    assert value is not None
    return value


def _tangent() -> Iterator[Step]:
    yield Step(_kernel(), reason="the gradient in the readout gives the kernel of the features")
    inner = readout_variance * q12 / weight_variance
    yield Step(
        _kernel() + inner * _kernel().diff(q12),
        Apply(lambda e: e + inner * e.diff(q12)),
        "the gradient in the weights adds a_j^2 x.x' sigma'(u) sigma'(v), whose mean Price gives",
    )
    yield Step(_tangent_claim(), "=", "in closed form")


_DEFINITE = (q12**2 < q11 * q22,)

DERIVATIONS = (
    Derivation("K3.curvature", "The second derivative of ReLU", _curvature, _second, "K3; Price 1958", _DEFINITE),
    Derivation("K3.tangent", "The tangent kernel of ReLU", _tangent_claim, _tangent, "K3", _DEFINITE),
)
