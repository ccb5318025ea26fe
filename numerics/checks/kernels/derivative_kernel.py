"""Checks of the derivative, tangent and distributional kernels (K3), each with its negative control."""

from __future__ import annotations

import functools
import math

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.derivative_kernel import (
    derivative_dual,
    readout_variance,
    tangent_kernel,
    weight_variance,
)
from bulkedge.theory.kernels.kernel import dual
from bulkedge.theory.numbers.symbols import q11, q12, q22

# Two pairs of inputs: a nearly orthogonal one, where score weights vary little, and a correlated one.
X, Y = (1.0, -0.5, 0.3, 0.4), (0.2, 0.8, 1.1, -0.3)
_NEAR = (0.9, -1.2, 0.6, 0.1)
SAMPLES = 15_000  # a trial; many trials, since four standard errors of few are passed too often


def _products(variance: sp.Rational = sp.S.One, other: tuple[float, ...] = Y) -> dict[sp.Symbol, sp.Rational]:
    x, y = (tuple(sp.Rational(str(v)) for v in point) for point in (X, other))
    pairs = ((q11, x, x), (q12, x, y), (q22, y, y))
    return {name: variance * sum(a * b for a, b in zip(p, q, strict=True)) for name, p, q in pairs}


@stream("K3.tangent")
def _network_trial(rng: np.random.Generator, size: int, name: str) -> dict[str, float]:
    """The tangent kernel of one network of paper O of width `size`: gradients of N^(-1/2) a.sigma(W x) in a and W.

    Its mean over networks is the prediction exactly, at every width.
    """
    f = nonlinearity(name)
    sigma, slope = vectorised(f), vectorised(f.derivative())
    d = len(X)
    x, y = np.array(X), np.array(_NEAR)
    W = rng.standard_normal((size, d)) / math.sqrt(d)
    a = rng.standard_normal(size) * math.sqrt(_READOUT)
    u, v = W @ x, W @ y
    features = np.mean(sigma(u) * sigma(v))
    weights = np.mean(a**2 * slope(u) * slope(v)) * (x @ y)
    return {"tangent": float(features + weights)}


_READOUT = 0.5  # variance of the readout; 1/N would hide the second part


def _tangent(variance: float) -> float:
    closed = tangent_kernel(nonlinearity("gelu"))
    assert closed is not None
    at = {
        **_products(sp.Rational(1, len(X)), _NEAR),
        readout_variance: variance,
        weight_variance: sp.Rational(1, len(X)),
    }
    return float(closed.subs(at).evalf())


def _tangent_with_covariance() -> float:
    """q12 in the place of x.x': the 1/d of the weights counted twice."""
    closed = tangent_kernel(nonlinearity("gelu"))
    assert closed is not None
    at = {**_products(sp.Rational(1, len(X)), _NEAR), readout_variance: _READOUT, weight_variance: 1}
    return float(closed.subs(at).evalf())


@stream("K3.distribution")
def _score_trial(
    rng: np.random.Generator, size: int, name: str, orders: tuple[int, int], other: tuple[float, ...]
) -> dict[str, float]:
    """E[f^(i)(u) f^(j)(v)] without any derivative of f: they are moved to the Gaussian density (Stein).

    With (s, t) = Q^-1 (u, v): E[f''(u) f(v)] = E[f f (s^2 - Q^-1_11)], E[f'(u) f'(v)] = E[f f (s t - Q^-1_12)].
    """
    at = {name: float(q) for name, q in _products(other=other).items()}
    q = np.array([[at[q11], at[q12]], [at[q12], at[q22]]])
    inverse = np.linalg.inv(q)
    u, v = np.linalg.cholesky(q) @ rng.standard_normal((2, size))
    s, t = inverse @ np.stack([u, v])
    weight = s * s - inverse[0, 0] if orders == (2, 0) else s * t - inverse[0, 1]
    f = vectorised(nonlinearity(name))
    return {"derivative": float(np.mean(f(u) * f(v) * weight))}


def _by_score(name: str, orders: tuple[int, int], other: tuple[float, ...] = Y) -> MonteCarlo:
    trial = functools.partial(_score_trial, name=name, orders=orders, other=other)
    return MonteCarlo(trial, "derivative", size=SAMPLES, trials=160, full_trials=1600)


def _derivative(name: str, first: int, second: int, other: tuple[float, ...] = Y) -> float:
    closed = derivative_dual(nonlinearity(name), first, second)
    assert closed is not None
    return float(closed.subs(_products(other=other)).evalf())


def _independent() -> float:
    """The product of the two densities at 1/3."""
    at = _products(other=_NEAR)
    return math.prod(math.exp(-1 / (18 * float(at[q]))) / math.sqrt(2 * math.pi * float(at[q])) for q in (q11, q22))


def _half(name: str) -> float:
    """d/dq11 of the kernel: half of E[sigma'' sigma]."""
    closed = dual(nonlinearity(name))
    assert closed is not None
    return float(sp.diff(closed, q11).subs(_products()).evalf())


CHECKS = (
    Check(
        id="K3.price",
        claim="`E[sigma'(u) sigma'(v)]` of ReLU is `(pi - t)/(2 pi) = d kappa/d q12`",
        source="K3",
        predict=lambda: _derivative("relu", 1, 1),
        measure=_by_score("relu", (1, 1)),
        resolution=0.01,
        control=Control("Cho and Saul's `k_0`, twice the expectation", lambda: 2 * _derivative("relu", 1, 1)),
    ),
    Check(
        id="K3.distribution",
        claim="`E[sigma''(u) sigma(v)]` of ReLU, carried by the `delta` at the kink",
        source="K3; F, section 4",
        predict=lambda: _derivative("relu", 2, 0),
        measure=_by_score("relu", (2, 0)),
        resolution=0.02,
        control=Control("the kink lost", lambda: 0.0),
    ),
    Check(
        id="K3.second",
        claim="`d kappa/d q11` is half of `E[sigma''(u) sigma(v)]`: shifted ReLU",
        source="K3",
        predict=lambda: 2 * _half("relu(z - 1/3)"),
        measure=_by_score("relu(z - 1/3)", (2, 0)),
        resolution=0.02,
        control=Control("the factor 1/2 forgotten", lambda: _half("relu(z - 1/3)")),
    ),
    Check(
        id="K3.jump",
        claim="`E[delta(u - 1/3) delta(v - 1/3)]`, the derivative kernel of a shifted step, is the bivariate density",
        source="K3",
        predict=lambda: _derivative("step(z - 1/3)", 1, 1, _NEAR),
        measure=_by_score("step(z - 1/3)", (1, 1), _NEAR),
        resolution=0.02,
        control=Control("the product of the two densities", _independent),
    ),
    Check(
        id="K3.tangent",
        claim="the two-layer tangent kernel, GELU, readout variance 1/2, weights `N(0, I/d)`",
        source="K3; O, proposition 1",
        predict=lambda: _tangent(_READOUT),
        measure=MonteCarlo(
            functools.partial(_network_trial, name="gelu"), "tangent", 4_000, trials=160, full_trials=1600
        ),
        resolution=0.01,
        control=Control("`q12` in the place of `x.x'`", _tangent_with_covariance),
    ),
)
