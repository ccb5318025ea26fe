"""Floats for T2, T3 and T6: the limits of alignment from moments by quadrature, and from any function F(y, q).

Two routes. `float_geometry` feeds theory.alignment with moments computed by Gaussian quadrature, so the formulas are
those of theory/. `direct_limits` integrates F(y, q) itself over (z, zeta, noise); it needs no polynomial, which is
what T6's further direction asks for, and it is the second route for the rest.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.special import erf

from numerics.functions import constants, vectorised
from theory.errors import InputError
from theory.moments import one_sided
from theory.nonlinearity import Nonlinearity, jump

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]


@functools.lru_cache(maxsize=32)
def gauss_grid(nodes: int, breaks: tuple[float, ...] = (), reach: float = 9.0) -> tuple[Floats, Floats]:
    """Nodes and weights of E f(z), z ~ N(0, 1): Gauss-Legendre between the breaks, cut at |z| = reach.

    Accuracy: the cut loses 2e-19 of the mass at reach 9; smooth pieces converge geometrically.
    """
    ends = [-reach, *sorted(b for b in breaks if -reach < b < reach), reach]
    x, w = np.polynomial.legendre.leggauss(nodes)
    points = np.concatenate([(l + r) / 2 + (r - l) / 2 * x for l, r in itertools.pairwise(ends)])
    weights = np.concatenate([(r - l) / 2 * w for l, r in itertools.pairwise(ends)])
    return points, weights * np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Limits:
    """signal = beta.b, norm2 = |b|^2 and the cosine, with the change under a coarser grid as error."""

    signal: float
    norm2: float
    error: float

    @property
    def cosine(self) -> float:
        """beta.b/|b|."""
        return self.signal / float(np.sqrt(self.norm2))


def direct_limits(
    F: Callable[[Floats, Floats], Floats],
    dF: Callable[[Floats, Floats], Floats],
    link: Function,
    alpha: float,
    noise: float,
    batch: str,
    breaks: tuple[float, ...] = (),
) -> Limits:
    """T3's limits of b = (1/n) X^T F for any F(y, q) with dF its derivative in q, by quadrature over (z, zeta, noise).

    Accuracy: `error` is the change from 40 to 60 nodes a dimension (a test compares it with closed forms).
    Source: T3, T6.
    """
    fine, coarse = (_direct(F, dF, link, alpha, noise, batch, breaks, n) for n in (60, 40))
    return Limits(*fine, max(abs(x - y) for x, y in zip(fine, coarse, strict=True)))


def _direct(
    F: Any, dF: Any, link: Function, alpha: float, noise: float, batch: str, breaks: tuple[float, ...], nodes: int
) -> tuple[float, float]:
    z, wz = gauss_grid(nodes, breaks)
    s, ws = gauss_grid(nodes)
    e, we = (np.zeros(1), np.ones(1)) if noise == 0 else gauss_grid(24, reach=6.5)
    Z, S, E = np.meshgrid(z, s, e, indexing="ij")
    weight = wz[:, None, None] * ws[None, :, None] * we[None, None, :]
    y = link(Z) + noise * E

    def mean(values: Floats) -> float:
        return float(np.sum(weight * values))

    s2 = mean(y**2) / alpha
    q = mean(Z * y) * Z + np.sqrt(s2) * S
    values, slope = F(y, q), mean(dF(y, q))
    norm2 = mean(Z * values) ** 2 + s2 * slope**2 + mean(values**2) / alpha
    if batch == "reused":
        norm2 += 2 * slope * mean(y * values) / alpha
    return mean(Z * values), norm2


def float_moments(link: Function, breaks: tuple[float, ...] = (), nodes: int = 120) -> Callable[[int, int], float]:
    """E[z^a g(z)^b] of a link, as floats, for theory.target.AdditiveTarget (scalar=float)."""
    z, w = gauss_grid(nodes, breaks)
    g = link(z)

    @functools.cache
    def moment(a: int, b: int) -> float:
        return float(np.sum(w * z**a * g**b))

    return moment


def float_activation(
    derivatives: tuple[Function, ...], breaks: tuple[float, ...] = (), nodes: int = 120
) -> Callable[[int, int, int], float]:
    """E[sigma^(k) G^b sigma'^c] as floats, from sigma', sigma'', ... (their absolutely continuous parts)."""
    z, w = gauss_grid(nodes, breaks)

    @functools.cache
    def moment(k: int, b: int, c: int) -> float:
        return float(np.sum(w * derivatives[k - 1](z) * z**b * derivatives[0](z) ** c))

    return moment


def folded_mean(mean: Floats, variance: float) -> Floats:
    """E|m + xi|, xi ~ N(0, v): the twin of theory.second_step.folded_mean; |m| for v = 0."""
    if variance == 0:
        return np.abs(mean)
    root = np.sqrt(2 * variance)
    return np.asarray(mean * erf(mean / root) + root / np.sqrt(np.pi) * np.exp(-((mean / root) ** 2)))


def folded_slope(mean: Floats, variance: float) -> Floats:
    """The derivative of `folded_mean` in m: erf(m/sqrt(2 v))."""
    return np.sign(mean) if variance == 0 else np.asarray(erf(mean / np.sqrt(2 * variance)))


@dataclass(frozen=True)
class Kink:
    """A jump of sigma' at `at` from `left` to `right`."""

    at: float
    left: float
    right: float


def further_direction(
    kinks: tuple[Kink, ...], mu1: float, e: float, v: float, alpha: float
) -> tuple[Callable[[Floats, Floats], Floats], Callable[[Floats, Floats], Floats]]:
    """T6's F(y, q) of the left vector a|a| and its derivative in q (twin of theory.second_step.kinked_further)."""

    def total(of: Callable[[Floats, float], Floats], y: Floats, q: Floats) -> Floats:
        result = np.zeros(np.broadcast(y, q).shape)
        for kink in kinks:
            weight = (kink.right - kink.left) * np.exp(-(kink.at**2) / 2) / np.sqrt(2 * np.pi) / 2
            shift = mu1 * q + e * kink.at
            result += weight * (of(shift + kink.left * y / alpha, v) - of(shift + kink.right * y / alpha, v))
        return result

    def F(y: Floats, q: Floats) -> Floats:
        return np.asarray(y * total(folded_mean, y, q))

    def dF(y: Floats, q: Floats) -> Floats:
        return np.asarray(y * mu1 * total(folded_slope, y, q))

    return F, dF


def further_limits(sigma: Nonlinearity, g: Nonlinearity, alpha: float, noise: float) -> Limits | None:
    """T3's limits for T6's further direction a|a| of a reused batch, or None if sigma' does not jump.

    Accuracy: `error` is the change under a finer grid.  Errors: InputError for an activation that jumps itself.
    Source: T6.
    """
    slope = sigma.derivative()
    if slope.deltas:
        raise InputError("activation", f"{sigma.name} jumps: its gradient is not defined", "give a continuous one")
    kinks = tuple(
        Kink(float(at), *(float(x) for x in one_sided(slope, at)))
        for at in slope.kinks
        if sp.simplify(jump(slope, at)) != 0
    )
    if not kinks:
        return None
    link, here = constants(g), constants(sigma)
    assert here.derivative_second is not None
    second = link.second_moment + noise**2
    v = second * max(here.derivative_second - here.mu1**2, 0.0) / alpha
    F, dF = further_direction(kinks, here.mu1, link.mu0 * here.curvature, v, alpha)
    breaks = tuple(sorted({0.0, *(float(b) for b in g.kinks)}))
    return direct_limits(F, dF, vectorised(g), alpha, noise, "reused", breaks)
