"""Checks of O2: the outlier of W_1, its overlaps with u, a and beta; both sides of the threshold and of psi = 1."""

from __future__ import annotations

import functools

import numpy as np
import sympy as sp

from numerics import gradient
from numerics.check import Check, Control, Ladder
from numerics.lanczos import leading_triples
from numerics.network import train
from numerics.spike import SpikedModel, rectangular
from theory.nonlinearity import nonlinearity
from theory.setting import Growth, Limit

SOURCE = "paper O, Theorem on the alignment of the first step; Benaych-Georges & Nadakuditi 2012"


@functools.cache
def limit(width: str, step: str) -> Limit:
    """The setting of the checks at width ratio N/d and step eta."""
    return Limit(
        width=sp.Rational(width),
        batch=sp.Integer(3),
        activation=nonlinearity("relu"),
        links=(nonlinearity("tanh(2*z) + He(2, z)/5"),),
        noise=sp.Rational(1, 4),
        steps=(Growth(sp.Rational(step)),),
    )


def trial(rng: np.random.Generator, size: int, width: str, step: str) -> dict[str, float]:
    """One step at d = size: s_1(W_1) and the squared overlaps of its vectors with u, a and beta."""
    trained = train(limit(width, step).at(size), rng)
    top = leading_triples(trained.W, 1)
    u, beta = gradient.direction(trained), trained.teacher.directions[:, 0]
    return {
        "outlier": float(top.values[0]),
        "overlap_d": float((top.left[:, 0] @ u) ** 2 / (u @ u)),
        "overlap_N": float((top.right[:, 0] @ trained.a) ** 2 / (trained.a @ trained.a)),
        "overlap_beta": float((top.left[:, 0] @ beta) ** 2),
    }


def _model(width: str, step: str) -> tuple[SpikedModel, float]:
    model = limit(width, step)
    return rectangular(float(model.width)), gradient.spike_strength(model)


def _outlier(width: str, step: str) -> float:
    model, theta = _model(width, step)
    return float(model.outlier(theta))


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
WIDE_ABOVE = ("9", "6")
WIDE_BELOW = ("9", "2")
NARROW_ABOVE = ("1/4", "7/2")
NARROW_BELOW = ("1/4", "3/5")


def _ladder(case: tuple[str, str], component: str, rate: float, trials: int = 32) -> Ladder:
    width, step = case
    sizes = (50, 100, 200) if width == "9" else (120, 240, 480)
    full = (*sizes, 2 * sizes[-1], 4 * sizes[-1])
    return Ladder(functools.partial(trial, width=width, step=step), component, sizes, rate, trials, full, 32)


def _above(name: str, case: tuple[str, str], text: str) -> tuple[Check, ...]:
    width, step = case
    return (
        Check(
            f"O2.outlier.{name}",
            f"s_1 of W_1 at {text}",
            SOURCE,
            functools.partial(_outlier, width, step),
            _ladder(case, "outlier", 1),
            0.1,
            Control("threshold psi^(1/2): the bulk's edge", lambda: _edge(width))
            if width == "9"
            else Control("overlooked spike: the bulk's edge", lambda: _edge(width)),
        ),
        Check(
            f"O2.overlap.d.{name}",
            f"squared overlap with u at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "d"),
            _ladder(case, "overlap_d", 1),
            0.08,
            Control("the other side's formula", lambda: _overlap(width, step, "N")),
        ),
        Check(
            f"O2.overlap.N.{name}",
            f"squared overlap with a at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "N"),
            _ladder(case, "overlap_N", 1),
            0.08,
            Control("the other side's formula", lambda: _overlap(width, step, "d")),
        ),
        Check(
            f"O2.overlap.beta.{name}",
            f"squared overlap with beta at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "beta"),
            _ladder(case, "overlap_beta", 1),
            0.08,
            Control("without the factor mu1*^2/|u|^2", lambda: _overlap(width, step, "d")),
        ),
    )


def _below(name: str, case: tuple[str, str], text: str) -> tuple[Check, ...]:
    width, step = case
    return (
        Check(
            f"O2.outlier.{name}",
            f"no outlier at {text}: s_1 is the edge",
            SOURCE,
            functools.partial(_outlier, width, step),
            _ladder(case, "outlier", 2 / 3, 16),
            0.08,
            Control("an outlier at any strength", lambda: _always(width, step)),
        ),
        Check(
            f"O2.overlap.d.{name}",
            f"no overlap with u at {text}",
            SOURCE,
            functools.partial(_overlap, width, step, "d"),
            _ladder(case, "overlap_d", 1, 16),
            0.08,
            Control("the top vector taken for u", lambda: 1.0),
        ),
    )


CHECKS = (
    *_above("wide", WIDE_ABOVE, "N/d = 9, theta > psi^(1/4)"),
    *_below("wide.below", WIDE_BELOW, "N/d = 9, theta < psi^(1/4)"),
    *_above("narrow", NARROW_ABOVE, "N/d = 1/4, theta > psi^(1/4)"),
    *_below("narrow.below", NARROW_BELOW, "N/d = 1/4, theta < psi^(1/4)"),
)
