"""Ledger of O6: real ReLU steps on a link of information exponent 3, d = N, n1 = 3 d.

What a draw owes to its own |a|^2 |u|^2 and (u.beta)^2, whose means are known exactly at every size, is taken off to
first order: control variates, most of the noise and no part of the mean.
"""

from __future__ import annotations

import functools

import numpy as np

from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.steps.covariance import label_moments
from bulkedge.numerics.steps.gradient import direction, spike_strength
from bulkedge.numerics.steps.network import train
from bulkedge.numerics.steps.unlearned_outlier import Unlearned, unlearned_outlier
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.steps.setting import Limit

SOURCE = "O6; paper O's theorem on the spike without its assumption `mu1* !=` 0"

# Odd and bounded with E z g = 0 exactly: E z^4 e^(-z^2/8) = 3 s^2 E z^2 e^(-z^2/8), s^2 = 4/5.
LINK = "7/4*(z**3 - 12*z/5)*exp(-z**2/8)"
NOISE = 0.2


@functools.cache
def _limit() -> Limit:
    return Limit(width="1", batch="3", activation="relu", links=LINK, noise="1/5", steps=("5",))  # type: ignore[arg-type]


@functools.cache
def _predicted() -> Unlearned:
    return unlearned_outlier(_limit())


@functools.cache
def _response() -> float:
    """The derivative of the outlier's position in log theta^2."""
    theta, spikes = spike_strength(_limit()), rectangular(1.0)
    return float(spikes.outlier(theta * 1.01) - spikes.outlier(theta / 1.01)) / (4 * float(np.log(1.01)))


@stream("O6.overlap")
def trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """One step at d = N = size, n1 = 3 d: the largest singular value and d times the squared overlap with beta."""
    trained = train(_limit().at(size), rng)
    label2, _, along = label_moments(nonlinearity(LINK), NOISE)
    values, vectors = np.linalg.eigh(trained.W @ trained.W.T)
    beta, u = trained.teacher.directions[:, 0], direction(trained)
    norm2 = float(u @ u)
    strength = float(trained.a @ trained.a) * norm2 * 3 * size / (along + (size - 1) * label2) - 1  # of mean 0
    chance = 3 * size * float(u @ beta) ** 2 - along  # of mean 0
    return {
        "outlier": float(np.sqrt(values[-1])) - _response() * strength,
        "overlap": size * float(vectors[:, -1] @ beta) ** 2 - _predicted().overlap_u * chance / label2,
    }


def _outlier() -> float:
    return _predicted().outlier


def _edge() -> float:
    return 2.0  # of the bulk at N = d: nothing learned, no outlier


def _overlap() -> float:
    return _predicted().scaled_overlap


def _random() -> float:
    return 1.0


CHECKS = (
    Check(
        "O6.outlier",
        "information exponent 3: an outlier of `W1` where O2 puts it, though nothing of the target is in it",
        SOURCE,
        _outlier,
        Ladder(trial, "outlier", (30, 85), 0.75, 220, (100, 200, 400), 100),
        0.6,
        Control("no outlier, as nothing is learned", _edge),
    ),
    Check(
        "O6.overlap",
        "`d` times its squared overlap with `beta`: of order one, so the overlap vanishes",
        SOURCE,
        _overlap,
        Ladder(trial, "overlap", (30, 85), 1.0, 220, (100, 200, 400), 100),
        1.2,
        Control("that of a random direction, 1", _random),
    ),
)
