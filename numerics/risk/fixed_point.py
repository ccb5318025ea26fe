"""Positive fixed points by Anderson acceleration in their logarithms: the loop of L1 and C1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bulkedge.theory.numbers.errors import ConvergenceError

Array = NDArray[np.float64]
Extra = TypeVar("Extra")

_FAR = 300.0  # logarithms beyond which an extrapolation has left the floats


@dataclass(frozen=True)
class FixedPoint(Generic[Extra]):
    """The last image of the map (not its logarithm), what the map returned with it, and how it came about."""

    value: Array
    extra: Extra
    iterations: int
    residual: float


def anderson(x: list[Array], g: list[Array]) -> Array:
    """The next iterate from the last iterates x and their images g (Anderson acceleration, type II)."""
    f = [b - a for a, b in zip(x, g, strict=True)]
    if len(f) == 1:
        return g[-1]
    df = np.stack([b - a for a, b in itertools.pairwise(f)], axis=1)
    dg = np.stack([b - a for a, b in itertools.pairwise(g)], axis=1)
    # Nearly parallel differences are dropped at 1e-12: they carry rounding only and would throw the iterate far away.
    coefficients = np.linalg.lstsq(df, f[-1], rcond=1e-12)[0]
    result: Array = g[-1] - dg @ coefficients
    return result


def fixed_point(
    image: Callable[[Array], tuple[Array, Extra]],
    start: Array,
    *,
    what: str,
    tolerance: float | Callable[[int], float],
    iterations: int,
    memory: int,
    relevance: float | Array = 1.0,
) -> FixedPoint[Extra]:
    """The fixed point of a monotone map of positive vectors, `image` returning the vector and what else it knows.

    Formula: log x -> log image(x), with the last `memory` iterates and the newest. Accuracy: the largest relative
    change, times `relevance`, is at most `tolerance` (of the number of the iteration, where it is a function).
    Errors: ConvergenceError after `iterations` evaluations; those of the map.
    """
    point = np.log(start)
    xs: list[Array] = []
    gs: list[Array] = []
    residual = math.inf
    for iteration in range(1, iterations + 1):
        value, extra = image(np.exp(point))
        new = np.log(value)
        previous, residual = residual, float(np.max(np.abs(new - point) * relevance))
        if residual <= (tolerance(iteration) if callable(tolerance) else tolerance):
            return FixedPoint(value, extra, iteration, residual)
        # An extrapolation that did not pay: the map being monotone, a fresh start from its image always helps.
        if residual > 2 * previous:
            xs, gs = [], []
        xs, gs = [*xs[-memory:], point], [*gs[-memory:], new]
        point = anderson(xs, gs)
        if not np.all(np.abs(point) < _FAR):  # not finite included
            point, xs, gs = new, [], []
    raise ConvergenceError(f"{what} did not converge in {iterations} steps (change {residual:.1e})")
