"""G12 on samples: the squared distance of S from its linear and quadratic parts, over pairs of Gaussian inputs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import sympy as sp

from bulkedge.theory.kernels import spiked_kernel
from bulkedge.theory.kernels import spiked_response as theory


@functools.cache
def _remainder() -> Any:
    k = spiked_kernel
    return sp.lambdify((k.r, k.r_prime, k.angle, k.s, k.s_prime), theory.remainder(), "numpy")


def squared_gap(rng: np.random.Generator, d: int, pairs: int) -> float:
    """d times the mean of (S - S_1* - S_2*)^2 over `pairs` pairs of inputs in R^d, drawn by their invariants.

    Valid for: d >= 3.
    """
    s = rng.standard_normal((2, pairs))
    # Lengths across w*, and the cosine of the angle there: the first coordinate of a uniform direction of R^(d-1).
    across = np.sqrt(rng.chisquare(d - 1, (2, pairs)))
    first = rng.standard_normal(pairs)
    cosine = first / np.sqrt(first**2 + rng.chisquare(d - 2, pairs))
    r = np.sqrt(s**2 + across**2)
    angle = np.arccos(np.clip((s[0] * s[1] + across[0] * across[1] * cosine) / (r[0] * r[1]), -1, 1))
    return float(d * np.mean(_remainder()(r[0], r[1], angle, s[0], s[1]) ** 2))
