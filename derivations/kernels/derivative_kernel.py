"""K3: the derivative kernels of ReLU, and the tangent kernel."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Step
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.arc_cosine import (
    arc_cosine,
)
from bulkedge.theory.kernels.derivative_kernel import (
    readout_variance,
    tangent_kernel,
    tangent_statement,
    weight_variance,
)
from bulkedge.theory.kernels.kernel import dual
from bulkedge.theory.numbers.symbols import q11, q12, q22, rho, z1, z2

_sigma, _E = sp.Function("sigma"), sp.Function("E")
_u, _v = sp.symbols("u v", real=True)
_a, _w1, _w2, _x1, _x2, _y1, _y2 = sp.symbols("a w1 w2 x1 x2 x1_prime x2_prime", real=True)
_CURVATURE = _E(sp.Derivative(_sigma(_u), (_u, 2)) * _sigma(_v))


def _products() -> tuple[sp.Expr, sp.Expr]:
    """sigma(u) sigma(v) and sigma'(u) sigma'(v) of the two pre-activations."""
    t = sp.Symbol("t", real=True)
    at = (_w1 * _x1 + _w2 * _x2, _w1 * _y1 + _w2 * _y2)
    slopes = [_sigma(t).diff(t).subs(t, h) for h in at]
    return _sigma(at[0]) * _sigma(at[1]), slopes[0] * slopes[1]


def _gradients(neuron: sp.Expr) -> sp.Expr:
    """The product of the gradients at the two inputs."""
    other = neuron.subs({_x1: _y1, _x2: _y2}, simultaneous=True)
    return sp.Add(*(neuron.diff(p).doit() * other.diff(p).doit() for p in (_a, _w1, _w2)))


def _averaged(e: sp.Expr) -> sp.Expr:
    """The mean over the neurons."""
    values, slopes = _products()
    kappa, kappa1 = (sp.Function(name)(q11, q12, q22) for name in ("kappa", "kappa_1"))
    e = sp.expand(e).subs({values: kappa, slopes: kappa1, _a**2: readout_variance})
    return (
        sp.factor(e.coeff(kappa1)).subs(_x1 * _y1 + _x2 * _y2, q12 / weight_variance) * kappa1 + e.coeff(kappa) * kappa
    )


def _general() -> Iterator[Step]:
    values, slopes = _products()
    yield Step(
        _a * _sigma(_w1 * _x1 + _w2 * _x2),
        reason="one neuron of `f`, times `N^(1/2)`; inputs of two coordinates stand for any number",
    )
    yield Step(
        values + _a**2 * (_x1 * _y1 + _x2 * _y2) * slopes,
        Apply(_gradients),
        "its gradient in a and `w` at `x`, times the one at `x'`",
    )
    yield Step(
        tangent_statement().rhs,
        Apply(_averaged, name=tangent_statement().lhs),
        "the mean over the `N` neurons: `E a^2 = v_a, x.x' = q12/v_w, kappa = E sigma(u) sigma(v), kappa_1 = E "
        "sigma'(u) sigma'(v)`",
    )


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
    yield Step(_kernel(), reason="the kernel of ReLU at covariance `q11, q12, q22`")
    yield Step(
        _curvature(),
        Apply(lambda e: 2 * e.diff(q11), name=_CURVATURE),
        "Price in the variance: twice the derivative in `q11`",
    )


def _tangent_claim() -> sp.Expr:
    value = tangent_kernel(nonlinearity("relu"))
    assert value is not None
    return value


def _tangent() -> Iterator[Step]:
    yield Step(_kernel(), reason="the gradient in the readout gives the kernel of the features")
    inner = readout_variance * q12 / weight_variance
    yield Step(
        _kernel() + inner * _kernel().diff(q12),
        Apply(lambda e: e + inner * e.diff(q12), name=tangent_statement().lhs),
        "the gradient in the weights adds `a_j^2 x.x' sigma'(u) sigma'(v)`, whose mean Price gives",
    )
    yield Step(_tangent_claim(), "=", "in closed form")


_DEFINITE = (q12**2 < q11 * q22,)

_SIGMA = sp.Function("sigma")


_SLOPES = sp.Function("E")(_SIGMA(z1).diff(z1) * _SIGMA(z2).diff(z2))


def _price() -> Iterator[Step]:
    yield Step(arc_cosine(1), reason="the kernel of ReLU")
    yield Step(
        arc_cosine(0), Apply(lambda e: e.diff(rho), name=_SLOPES), "Price: the kernel of its derivative, the step"
    )


DERIVATIONS = (
    Derivation(
        "K3.price",
        "The derivative kernel of ReLU",
        lambda: sp.Eq(_SLOPES, arc_cosine(0)),
        _price,
        "K3; Price 1958",
        (rho > -1, rho < 1),
        "`sigma` is ReLU.",
    ),
    Derivation("K3.general", "The tangent kernel", tangent_statement, _general, "K3; paper O, Proposition 1"),
    Derivation(
        "K3.curvature",
        "The second derivative of ReLU",
        lambda: sp.Eq(_CURVATURE, _curvature()),
        _second,
        "K3; Price 1958",
        _DEFINITE,
        "`sigma` is ReLU; `u` and `v` have the covariances `q`.",
    ),
    Derivation(
        "K3.tangent",
        "The tangent kernel of ReLU",
        lambda: sp.Eq(tangent_statement().lhs, _tangent_claim()),
        _tangent,
        "K3",
        _DEFINITE,
    ),
)
