"""The length of a standard Gaussian vector: one Gauss-Legendre rule for everything that averages over it."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.functions.legendre import legendre

Array = NDArray[np.float64]


@functools.lru_cache(maxsize=64)
def length_rule(dimension: int, count: int, reach: tuple[float, float]) -> tuple[Array, Array]:
    """Nodes and log weights of |xi|, xi ~ N(0, I_d), where it is within `reach` (below, above) of sqrt d.

    The density r^(d-1) e^(-r^2/2) falls below e^(-reach^2/2) outside, for the logarithm is concave with curvature -1 or
    less. Weights sum to one: the constant of the density, whose gamma function loses digits at large d, is not used.
    Shapes/units: d >= 1; (count,), (count,).
    """
    x, w = legendre(count)
    low, high = max(0.0, math.sqrt(dimension) - reach[0]), math.sqrt(dimension) + reach[1]
    r = 0.5 * (high - low) * x + 0.5 * (high + low)
    log_weight = (dimension - 1) * np.log(r) - r**2 / 2
    log_weight = log_weight - log_weight.max() + np.log(w)
    found = r, log_weight - np.log(np.sum(np.exp(log_weight)))
    for array in found:
        array.setflags(write=False)  # shared by all callers
    return found
