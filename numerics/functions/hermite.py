"""The orthonormal Hermite functions in floats, by their recurrence."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def hermite_table(x: Array, degree: int) -> Array:
    """h_k(x) = He_k(x)/sqrt(k!), k = 0..degree, a row each; no factorial can overflow.

    The recurrence is run forwards: beyond the zeros h_k is the solution that grows, so rounding does not.
    """
    h = np.empty((degree + 1, *x.shape))
    h[0] = 1.0
    if degree >= 1:
        h[1] = x
    for k in range(1, degree):
        h[k + 1] = (x * h[k] - math.sqrt(k) * h[k - 1]) / math.sqrt(k + 1)
    return h
