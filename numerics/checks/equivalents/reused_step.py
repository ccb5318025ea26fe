"""E14 checked: tanh networks after a step on their own training set, and the engine on the typed features."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.risk.pair import pair
from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.equivalents import reused_step as rs
from bulkedge.theory.equivalents.equivalent import declare, read, values_of
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import alpha, eta, lam, mu1, mu1_star, mu2, psi2

_SOURCE = "derived here (E14)"
_RIDGE, _ETA = 0.3, 0.5
_TYPED = "let y = ms*X*b + e; let u = {}; let F = mu1*X*(W0 + eta*mu1*u*a.T) + mu2*Z{}; lam*y.T*inv(F*F.T/n + lam)*y/n"


@functools.lru_cache(maxsize=8)
def _reused_loss(given: tuple[tuple[sp.Symbol, sp.Rational], ...], reused: bool = True, own: bool = True) -> Enclosure:
    """E14 as it stands: lam (A - q B^2/(1 + q C)) at values of alpha, psi2, lam, eta, mu1, mu2, mu1*, rest, Var sigma'.

    Accuracy: q lies between two rationals 2e-13 apart, of opposite sign in its equation; the loss at both.
    Source: E14.
    """
    at = dict(given)
    slope, level = (e.subs(at) for e in rs.resolvent())
    # The principal roots of `resolvent_mean`, left of the bulk, are those of positive numbers.
    mean = rs.resolvent_mean().subs(at)
    equation = (rs.share_equation().lhs - rs.share_equation().rhs).subs(at)
    polynomials = [rs.means(polynomial).subs(at) for polynomial in rs.weights(reused, own)]
    loss = rs.loss().subs(at)

    def inserted(expr: sp.Expr, q: sp.Rational) -> Any:
        known = {rs.share: q, rs.p: slope.subs(rs.share, q), rs.r: level.subs(rs.share, q)}
        parts = (e.subs(known) for e in polynomials)
        known |= dict(zip((rs.A, rs.B, rs.C), parts, strict=True))
        return ball.constant(expr.subs(known).subs(rs.mean, mean.subs(known)))

    gap = sp.lambdify(rs.share, equation.subs(rs.mean, mean.subs({rs.p: slope, rs.r: level})), "numpy")
    q = sp.Rational(brentq(lambda x: complex(gap(x + 0j)).real, 1e-9, 1 - 1e-12, xtol=1e-15, rtol=1e-14))
    lower, upper = q - sp.Rational(1, 10**13), q + sp.Rational(1, 10**13)
    with ball.precision(200):
        assert inserted(equation, lower) * inserted(equation, upper) < 0
        # Over 1e-13 the loss is a straight line to 25 digits.
        return ball.to_enclosure(inserted(loss, lower).union(inserted(loss, upper)))


@functools.cache
def _tanh() -> tuple[tuple[sp.Symbol, sp.Rational], ...]:
    tanh = nonlinearity("tanh(2*z)")
    f, variance = constants(tanh), pair(tanh, tanh).slope_variance
    at = {mu1: f.mu1, mu2: f.mu2, rs.spread: variance, lam: _RIDGE, eta: _ETA}
    ones = ((s, sp.S.One) for s in (alpha, psi2, mu1_star, rs.rest))
    return (*((s, sp.Rational(x)) for s, x in at.items()), *ones)


@stream("E14.loss")
def _reused_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The readout's loss after a step of tanh(2 z) networks on its own training set, d = N = n, eta = 1/2, noise 1."""
    weights = rng.standard_normal((size, size))
    weights /= np.linalg.norm(weights, axis=0)
    a = rng.choice([-1.0, 1.0], size) / np.sqrt(size)
    data = rng.standard_normal((size, size))
    labels = data[:, 0] + rng.standard_normal(size)
    labels *= np.sqrt(2 * size) / np.linalg.norm(labels)  # of the energy that they have in the limit
    slopes = 2 * (1 - np.tanh(2 * data @ weights) ** 2)
    features = np.tanh(2 * data @ (weights + _ETA * data.T @ (labels[:, None] * a * slopes) / size))
    inverse = np.linalg.solve(features @ features.T / size + _RIDGE * np.eye(size), labels)
    return {"loss": float(_RIDGE * labels @ inverse / size)}


def _predicted(reused: bool, own: bool) -> Enclosure:
    return _reused_loss(_tanh(), reused, own)


# Away from the normal point: all ratios and constants different.
_OTHER = {alpha: 1.5, psi2: 0.75, lam: 0.25, eta: 2, mu1: 0.625, mu2: 0.5, mu1_star: 0.75, rs.rest: 0.5}
_EXACT = tuple((s, sp.Rational(x)) for s, x in {**_OTHER, rs.spread: 0.375}.items())


def _engine() -> Enclosure:
    declared = ["X: n x d, 1", "W0: d x N, 1/d", "Z: n x N, 1", "a: N x 1, 1/N", "b: d x 1, 1/d", "e: n x 1, v"]
    model = declare(declared, size="n=3/2,d=1,N=3/4", positive="mu1,mu2,ms,v,eta,lam,s")
    theory = read(_TYPED.format("X.T*y/n", " + eta*s*(d/n)*y*a.T"), model)
    return theory.enclose(values_of("mu1=5/8,mu2=1/2,ms=3/4,v=1/2,eta=2,lam=1/4,s=3/8", theory.symbols), 20)


CHECKS = (
    Check(
        "E14.loss",
        "the readout's loss of tanh(`2 z`) networks after a step on its own training set, `d = N = n, eta = 1/2`",
        _SOURCE,
        functools.partial(_predicted, True, True),
        Ladder(_reused_trial, "loss", (40, 80, 160), 2 / 3, 160, (80, 160, 320), 160),
        0.08,
        Control("the samples' own terms left out", functools.partial(_predicted, True, False)),
    ),
    Check(
        "E14.engine",
        "the closed form for typed features, at other ratios and constants, against the engine's Dyson equation",
        _SOURCE,
        functools.partial(_reused_loss, _EXACT),
        SecondRoute(_engine),
        1e-11,
        Control("a fresh batch", functools.partial(_reused_loss, _EXACT, False)),
    ),
)
