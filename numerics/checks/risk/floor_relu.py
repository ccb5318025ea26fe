"""G8 checked: the published overlap, and the floor of bias-free ReLU kernels against projections of samples."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np

from bulkedge.numerics.checks.kernels.spiked_spectrum import at_spike
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import d
from bulkedge.theory.risk import floor_relu


def overlap(dimension: int, exponent: float) -> float:
    """The exact <Psi, Y2>^2 at A = 1.2, B = 5 d^exponent."""
    part = at_spike(dimension, 5 * dimension**exponent, bulk=1.2)
    return float(part.vectors[1, 0] ** 2)


def _published_overlap() -> Enclosure:
    """Figure 1a's value at d = 3200, exponent .9, read off the picture to half a line's width."""
    return Enclosure(Fraction(183, 1000), Fraction(4, 1000), "read off the published figure")


@stream("G8.floor")
def _floor_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The squared error of the best function of the kernel's closure on Figure 1b's target, d = 300, `size` samples.

    The best function is written down (even part: the projection of 2t^2 on |x| h(x/|x|); odd part: linear), its error
    is sampled; no closed expectation enters but E|x|^3.
    """
    dimension = 300
    t = rng.standard_normal(size)
    rest = rng.chisquare(dimension - 1, size)
    length = np.sqrt(t**2 + rest)
    # E|x|^3 by sampling the same law of lengths.
    cube = np.mean((t**2 + rest) ** 1.5)
    target = 2 * t**2 + 3 * t + 4 * np.sin(2 * t)
    slope = np.mean(t * target)
    even = 2 * (t / length) ** 2 * length * cube / dimension
    return {"floor": float(np.mean((target - slope * t - even) ** 2))}


def _floor(dimension: int) -> float:
    return float(floor_relu.figure_floor().subs(d, dimension).evalf(15))


CHECKS = (
    Check(
        "G8.squared",
        "Figure 1a at `d = 3200`, exponent .9, shows the squared overlap with Y2",
        "G8; paper F, Figure 1a",
        functools.partial(overlap, 3200, 0.9),
        SecondRoute(_published_overlap),
        0.05,
        Control("the overlap itself, as the text defines it", lambda: math.sqrt(overlap(3200, 0.9))),
    ),
    Check(
        "G8.floor",
        "Figure `1b'`s target has the irreducible error 6.845 under every bias-free ReLU kernel",
        "G8; paper F, Figure `1b`",
        functools.partial(_floor, 300),
        MonteCarlo(_floor_trial, "floor", 40_000, 160, 1600),
        0.1,
        Control(
            "the odd part's floor alone, in one dimension", lambda: 8 * (1 - math.exp(-8)) - 64 * math.exp(-4) + 12
        ),
    ),
)
