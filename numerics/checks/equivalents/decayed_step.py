"""E11 checked: real gradients of erf networks on fresh batches, momentum 1/2, weight decay 1/5, sign labels."""

from __future__ import annotations

import numpy as np
import sympy as sp

from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.equivalents import decayed_step as ds
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import alpha, eta, mu0_star, mu1, mu1_star, mu2_star, psi, s_eps

_SOURCE = "derived here (E11)"
_GAMMA, _DECAY, _ETA = 0.5, 0.2, 2
_BATCHES = 8  # the weights beyond add up to 2^-8, their squares to 2^-16
_AT = {
    ds.momentum: sp.Rational(1, 2),
    ds.decay: sp.Rational(1, 5),
    eta: sp.Integer(_ETA),
    alpha: sp.S.One,
    psi: sp.S.One,
    mu1: 2 / sp.sqrt(3 * sp.pi),
    mu0_star: sp.S.Zero,
    mu1_star: sp.sqrt(2 / sp.pi),
    mu2_star: sp.sqrt(1 - 2 / sp.pi),
    s_eps: sp.S.Zero,
}


@stream("E11.alignment")
def _decayed_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The top left singular vector of W1 and its singular value, d = N = n1."""
    weights = rng.standard_normal((size, size)) / np.sqrt(size)
    a = rng.standard_normal(size)
    a /= np.linalg.norm(a)
    velocity = np.zeros((size, size))
    for k in range(_BATCHES):
        data = rng.standard_normal((size, size))
        slopes = 2 / np.sqrt(np.pi) * np.exp(-((data @ weights) ** 2))
        gradient = data.T @ (np.sign(data[:, :1]) * a * slopes) / size
        velocity += (1 - _GAMMA) * _GAMMA**k * gradient
    left, values, _ = np.linalg.svd((1 - _DECAY) * weights + _ETA * velocity)
    return {"cosine2": float(left[0, 0] ** 2), "outlier": float(values[0])}


def _enclosed(expr: sp.Expr) -> Enclosure:
    with ball.precision(ball.bits(30)):
        return ball.to_enclosure(ball.constant(expr.subs(_AT)))


def _alignment() -> Enclosure:
    return _enclosed(ds.alignment().rhs)


def _one_batch() -> Enclosure:
    """Without momentum and decay."""
    return _enclosed(ds.alignment().rhs.subs({ds.momentum: 0, ds.decay: 0}))


def _outlier() -> Enclosure:
    return _enclosed(ds.outlier())


def _undecayed() -> Enclosure:
    return _enclosed(ds.outlier().subs(ds.decay, 0))


CHECKS = (
    Check(
        "E11.alignment",
        "squared cosine of `beta` and the top left singular vector after a step with momentum 1/2, decay 1/5; `d = N "
        "= n1`",
        _SOURCE,
        _alignment,
        Ladder(_decayed_trial, "cosine2", (30, 60, 120), 2 / 3, 120, (100, 200, 400), 120),
        0.075,
        Control("neither momentum nor decay", _one_batch),
    ),
    Check(
        "E11.outlier",
        "its singular value",
        _SOURCE,
        _outlier,
        Ladder(_decayed_trial, "outlier", (30, 60, 120), 2 / 3, 120, (100, 200, 400), 120),
        0.07,
        Control("no decay", _undecayed),
    ),
)
