"""Checks of O2: the outlier of W_1, its overlaps with u, a and beta; both sides of the threshold and of psi = 1.

What the spike of a draw owes to its own |a|^2, |u|^2 and (u.beta)^2, whose means are known exactly at every size, is
subtracted to first order (control variates): most of the noise, and no part of the mean.
"""

from __future__ import annotations

import functools

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.legendre import legendre
from bulkedge.numerics.spectra import tracy_widom
from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.spectra.spike import SpikedModel, rectangular
from bulkedge.numerics.steps import gradient
from bulkedge.numerics.steps.covariance import label_moments
from bulkedge.numerics.steps.network import Trained, train
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.steps.setting import Growth, Limit

SOURCE = "paper O, Theorem on the alignment of the first step; Benaych-Georges & Nadakuditi 2012"


@functools.cache
def limit(width: str, step: str) -> Limit:
    """The setting of the checks at width ratio N/d and step eta.

    Large labels and small steps: the network's own output in the residual, which moves the spike by mu1 W a/sqrt N
    and would leave corrections of order N^(-1/2), is then small beside y; others are O(1/N).
    """
    return Limit(
        width=sp.Rational(width),
        batch=sp.Integer(3),
        activation=nonlinearity("relu"),
        links=(nonlinearity("8*tanh(2*z) + 8*He(2, z)/5"),),
        noise=sp.Integer(2),
        steps=(Growth(sp.Rational(step)),),
    )


@stream("O2.outlier.narrow")
def trial(rng: np.random.Generator, size: int, width: str, step: str) -> dict[str, float]:
    """One step at d = size: s_1(W_1) and the squared overlaps of its vectors with u, a and beta."""
    trained = train(limit(width, step).at(size), rng)
    top = leading_triples(trained.W, 1)
    value = float(top.values[0])
    if _outlier(width, step) == _edge(width):
        value -= _edge_shift(trained.setting.d, trained.setting.width)
    u, beta = gradient.direction(trained), trained.teacher.directions[:, 0]
    strength, cosine2 = _excess(trained)
    slope = {name: _response(width, step, name) for name in ("outlier", "d", "N")}
    turned = slope["d"] * strength + _overlap(width, step, "d") * cosine2
    return {
        "outlier": value - slope["outlier"] * strength,
        "overlap_d": float((top.left[:, 0] @ u) ** 2 / (u @ u)) - slope["d"] * strength,
        "overlap_N": float((top.right[:, 0] @ trained.a) ** 2 / (trained.a @ trained.a)) - slope["N"] * strength,
        "overlap_beta": float((top.left[:, 0] @ beta) ** 2) - gradient.alignment(limit(width, step)) * turned,
    }


@functools.cache
def _edge_shift(d: int, width: int) -> float:
    """How far the largest singular value of noise lies from the edge in the mean, by Tracy and Widom's law (R4).

    Of order N^(-2/3), most of the finite size within the threshold; what is left is O(1/N).
    """
    nodes, weights = legendre(30)
    mean = -8 + 7 * float(weights @ tracy_widom.sf(-1 + 7 * nodes))  # over [-8, 6]
    centre, scale = tracy_widom.johnstone(max(d, width), min(d, width))
    return float(np.sqrt((centre + scale * mean) / d) - 1 - np.sqrt(width / d))


def _excess(trained: Trained) -> tuple[float, float]:
    """|a|^2 |u|^2 over its mean, less one; and (u.beta)^2 over its mean, less |u|^2 over its own: both of mean zero.

    E|a|^2 = 1; with n samples E (u.beta)^2 = m^2 + (E z^2 y^2 - m^2)/n, m = E z y, and E|u|^2 adds (d - 1) E y^2/n.
    """
    setting = trained.setting
    assert setting.batch is not None
    label2, mean1, twice = label_moments(setting.links[0], float(setting.noise))
    along = mean1**2 + (twice - mean1**2) / setting.batch
    whole = along + (setting.d - 1) * label2 / setting.batch
    u, beta = gradient.direction(trained), trained.teacher.directions[:, 0]
    norm2 = float(u @ u) / whole
    return float(trained.a @ trained.a) * norm2 - 1, float(u @ beta) ** 2 / along - norm2


@functools.cache
def _response(width: str, step: str, what: str) -> float:
    """The derivative of the outlier or of an overlap in log theta^2 (0 within the threshold)."""
    model, theta = _model(width, step)
    at = model.outlier if what == "outlier" else functools.partial(model.overlap, what)
    return float(at(theta * 1.01) - at(theta / 1.01)) / (4 * float(np.log(1.01)))


def _model(width: str, step: str) -> tuple[SpikedModel, float]:
    model = limit(width, step)
    return rectangular(float(model.width)), gradient.spike_strength(model)


@functools.cache
def _outlier(width: str, step: str) -> float:
    model, theta = _model(width, step)
    return float(model.outlier(theta))


@functools.cache
def _overlap(width: str, step: str, side: str) -> float:
    model, theta = _model(width, step)
    if side == "beta":
        return float(model.overlap("d", theta)) * gradient.alignment(limit(width, step))
    return float(model.overlap(side, theta))


def _always(width: str, step: str) -> float:
    """The outlier's formula used within the threshold."""
    model, theta = _model(width, step)
    return float(np.sqrt((1 + theta**2) * (model.ratio + theta**2)) / theta)


def _edge(width: str) -> float:
    return rectangular(float(limit(width, "1").width)).edges[1]


# (part, N/d, eta): psi above and below 1, theta above and below psi^(1/4).
_WIDE_ABOVE = ("9", "3/4")
_WIDE_BELOW = ("9", "1/4")
NARROW_ABOVE = ("1/4", "7/16")
_NARROW_BELOW = ("1/4", "3/40")


def _ladder(case: tuple[str, str], component: str, rate: float, trials: int = 32) -> Ladder:
    width, step = case
    sizes = (50, 100, 200) if width == "9" else (120, 240, 480)
    full = (*sizes, 2 * sizes[-1], 4 * sizes[-1])
    return Ladder(functools.partial(trial, width=width, step=step), component, sizes, rate, trials, full, 32)


def _above(ids: tuple[str, str, str, str], case: tuple[str, str], text: str) -> tuple[Check, ...]:
    width, step = case
    rate = 1.0 if width == "9" else 0.75  # overlaps at N = 30 show the next orders too: a slower rate bounds them
    return (
        Check(
            ids[0],
            f"`s_1` of `W1` at {text}",
            SOURCE,
            functools.partial(_outlier, width, step),
            _ladder(case, "outlier", 1),
            0.1,
            Control("threshold `psi^(1/2)`: the bulk's edge", lambda: _edge(width))
            if width == "9"
            else Control("overlooked spike: the bulk's edge", lambda: _edge(width)),
        ),
        Check(
            ids[1],
            f"squared overlap with `u` at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "d"),
            _ladder(case, "overlap_d", rate),
            0.08,
            Control("the other side's formula", lambda: _overlap(width, step, "N")),
        ),
        Check(
            ids[2],
            f"squared overlap with a at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "N"),
            _ladder(case, "overlap_N", rate),
            0.08,
            Control("the other side's formula", lambda: _overlap(width, step, "d")),
        ),
        Check(
            ids[3],
            f"squared overlap with `beta` at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "beta"),
            _ladder(case, "overlap_beta", rate),
            0.08,
            Control("without the factor `mu1*^2/|u|^2`", lambda: _overlap(width, step, "d")),
        ),
    )


def _below(ids: tuple[str, str], case: tuple[str, str], text: str) -> tuple[Check, ...]:
    width, step = case
    return (
        Check(
            ids[0],
            f"no outlier at {text}: `s_1` is the edge",
            SOURCE,
            functools.partial(_outlier, width, step),
            _ladder(case, "outlier", 1, 20),
            0.08,
            Control("an outlier at any strength", lambda: _always(width, step)),
        ),
        Check(
            ids[1],
            f"no overlap with `u` at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "d"),
            _ladder(case, "overlap_d", 1 / 2, 20),  # O(1/N), far below the resolution: a bound, as in R1.edge
            0.08,
            Control("the top vector taken for `u`", lambda: 1.0),
        ),
    )


CHECKS = (
    *_above(
        ("O2.outlier.wide", "O2.overlap.d.wide", "O2.overlap.N.wide", "O2.overlap.beta.wide"),
        _WIDE_ABOVE,
        "`N/d = 9, theta > psi^(1/4)`",
    ),
    *_below(("O2.outlier.wide.below", "O2.overlap.d.wide.below"), _WIDE_BELOW, "`N/d = 9, theta < psi^(1/4)`"),
    *_above(
        ("O2.outlier.narrow", "O2.overlap.d.narrow", "O2.overlap.N.narrow", "O2.overlap.beta.narrow"),
        NARROW_ABOVE,
        "`N/d = 1/4, theta > psi^(1/4)`",
    ),
    *_below(("O2.outlier.narrow.below", "O2.overlap.d.narrow.below"), _NARROW_BELOW, "`N/d = 1/4, theta < psi^(1/4)`"),
)
