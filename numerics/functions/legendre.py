"""Gauss-Legendre rules on panels, and the normal density in floats: what every quadrature here is put together from."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_ROOT_2PI = math.sqrt(2 * math.pi)


@functools.cache
def legendre(nodes: int) -> tuple[Array, Array]:
    """Nodes and weights on [-1, 1], not to be written to; exact for polynomials of degree 2 nodes - 1."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    x.flags.writeable = w.flags.writeable = False
    return x, w


def panels(low: Array, high: Array, nodes: int) -> tuple[Array, Array]:
    """Nodes and weights of the integral over the panels [low_i, high_i], one panel after the other."""
    x, w = legendre(nodes)
    half = (high - low)[:, None] / 2
    return ((low + high)[:, None] / 2 + half * x).ravel(), (half * w).ravel()


def normal_density(x: Array) -> Array:
    """phi(x) = exp(-x^2/2)/sqrt(2 pi): the float twin of theory.gaussian.bivariate.normal_density."""
    density: Array = np.exp(-x * x / 2) / _ROOT_2PI
    return density
