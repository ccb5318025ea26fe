"""Funk-Hecke coefficients in floats: ReLU^p in microseconds, for every degree at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special

from bulkedge.theory.kernels.sphere import check_dimension
from bulkedge.theory.numbers.errors import InputError

Array = npt.NDArray[Any]


def relu_power_values(power: int, dimension: int, degree: int) -> Array:
    """eta_l of ReLU^p at radius one, l = 0..degree.

    Formula: eta_0 and eta_1 by log-gamma, then eta_{l+2} = -(l - p)/(l + d + p) eta_l.
    Valid for: d >= 2; below the smallest float the values are zero. Accuracy: 1e-13 relative at d <= 10^4.
    Source: K2; the numeric twin of theory.kernels.sphere.relu_power.
    """
    check_dimension(dimension)
    if degree < 0 or power < 0:
        raise InputError("degree" if degree < 0 else "power", "it is negative", "give an integer >= 0")
    values = np.zeros(degree + 1)
    for parity in range(min(2, degree + 1)):
        pole = power - parity + 2
        if pole > 0 or pole % 2:
            log = scipy.special.gammaln(power + 1) + scipy.special.gammaln(dimension / 2)
            log -= scipy.special.gammaln((power + parity + dimension) / 2) + (power + 1) * np.log(2)
            values[parity] = np.exp(log) * scipy.special.rgamma((power - parity) / 2 + 1)
        steps = np.arange(parity, degree - 1, 2)
        values[parity + 2 :: 2] = values[parity] * np.cumprod(-(steps - power) / (steps + dimension + power))
    return values


def log_multiplicities(dimension: int, degree: int) -> Array:
    """log N(d, l) for l = 0..degree, N = (2l + d - 2)/(l + d - 2) C(l + d - 2, l); at d = 2: 1, 2, 2, ..."""
    check_dimension(dimension)
    l = np.arange(degree + 1)
    if dimension == 2:
        return np.where(l == 0, 0.0, np.log(2.0))
    binomial = (
        scipy.special.gammaln(l + dimension - 1) - scipy.special.gammaln(l + 1) - scipy.special.gammaln(dimension - 1)
    )
    logs: Array = binomial + np.log((2 * l + dimension - 2) / (l + dimension - 2))
    return logs
