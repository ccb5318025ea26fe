"""Floats for T2, T3 and T6: the limits of alignment from moments by quadrature, and from any function F(y, q).

Two routes. `float_geometry` feeds theory.steps.alignment with moments computed by Gaussian quadrature, so the formulas
are those of theory/. `direct_limits` integrates F(y, q) itself over (z, zeta, noise); it needs no polynomial, which is
what T6's further direction asks for, and it is the second route for the rest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, ndtri

from bulkedge.numerics.functions import legendre
from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.steps.directions import further_orders
from bulkedge.theory.steps.kink import Kink, crossing, kinks

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]


@functools.lru_cache(maxsize=32)
def gauss_grid(nodes: int, breaks: tuple[float, ...] = (), reach: float = 9.0) -> tuple[Floats, Floats]:
    """Nodes and weights of E f(z), z ~ N(0, 1): Gauss-Legendre between the breaks, cut at |z| = reach.

    Accuracy: the cut loses 2e-19 of the mass at reach 9; smooth pieces converge geometrically.
    """
    ends = [-reach, *sorted(b for b in breaks if -reach < b < reach), reach]
    points, weights = legendre.panels(np.array(ends[:-1]), np.array(ends[1:]), nodes)
    return points, weights * legendre.normal_density(points)


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

    @property
    def cosine_error(self) -> float:
        """The cosine's error, to first order in `error`."""
        return self.error * (1 + abs(self.signal) / (2 * self.norm2)) / float(np.sqrt(self.norm2))


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

    # The moments by the same grid, not by closed forms: this route shares nothing with theory.steps.alignment.
    s2 = mean(y**2) / alpha
    # q = X u given the link's argument is Gaussian about (E z y) z: the batch's randomness is one further variable.
    q = mean(Z * y) * Z + np.sqrt(s2) * S
    values, slope = F(y, q), mean(dF(y, q))
    norm2 = mean(Z * values) ** 2 + s2 * slope**2 + mean(values**2) / alpha
    if batch == "reused":
        # A reused batch: the sample's own label is part of u, and meets its own F once.
        norm2 += 2 * slope * mean(y * values) / alpha
    return mean(Z * values), norm2


def float_moments(link: Function, breaks: tuple[float, ...] = (), nodes: int = 120) -> Callable[[int, int], float]:
    """E[z^a g(z)^b] of a link, as floats, for theory.steps.target.AdditiveTarget (scalar=float)."""
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


@dataclass(frozen=True)
class Reach:
    """How far T3's limits are from a network of dimension and width `dim`, n = alpha dim samples.

    `rms`: root mean square of the label, `largest`: its size that one of n samples passes on average; `step`: the
    eta_1 at which the first step moves the pre-activation of that sample by one (of a typical one: fresh batch), where
    the expansion in eta_1 a_j that T2 and T3 rest on ends.
    """

    dim: int
    rms: float
    largest: float
    step: float


def reach(
    links: Sequence[Nonlinearity], alpha: float, noise: float, batch: str, sigma: Nonlinearity | None, dim: int = 1000
) -> Reach:
    """The step that T3's limits allow: eta_1 max|y| r/(alpha sqrt N) = 1, r^2 = E sigma'^2 (1 without one).

    For a fresh batch no label acts on its own sample, and eta_1 (mu1^2 |u|^2 + v)^(1/2)/sqrt N = 1 is left.
    Accuracy: an estimate of the scale (two digits).
    """
    alpha = min(max(alpha, 1e-300), 1e300)  # exact ratios may lie beyond the floats
    n = max(2.0, alpha * dim)
    far = float(-ndtri(0.5 / n))  # |z| is beyond it for one sample of n
    z = np.linspace(-far, far, 2001)
    values = [vectorised(g)(z) for g in links]
    largest = max(float(np.max(np.abs(v))) for v in values) + noise
    moments = [constants(g) for g in links]
    mean = sum(m.mu0 for m in moments)
    rms = math.hypot(math.sqrt(sum(m.second_moment - m.mu0**2 for m in moments) + mean**2), noise)  # no overflow
    slope, energy = 1.0, 1.0
    if sigma is not None:
        c = constants(sigma)
        slope, energy = c.mu1, 1.0 if c.derivative_second is None else c.derivative_second
    if batch == "reused":
        # The sample's own label, over n/d, is what moves it: the largest label of the batch goes first.
        push = largest * math.sqrt(energy) / alpha
    else:
        signal = sum(m.mu1**2 for m in moments)
        # A fresh sample sees u from outside: the signal along beta, and the noise of the batch across it.
        push = math.hypot(slope * math.sqrt(signal), rms * math.sqrt(energy / alpha))
    return Reach(dim, rms, largest, math.sqrt(dim) / push)


def signed_means(mean: Floats, variance: float, order: int) -> list[Floats]:
    """E[sgn(m + xi) (m + xi)^n], xi ~ N(0, v), n = 0..order: the twin of theory.kink.signed_mean; v = 0 allowed."""
    if variance == 0:
        return [np.sign(mean) * mean**n for n in range(order + 1)]
    root = np.sqrt(2 * variance)
    found = [np.asarray(erf(mean / root))]
    found.append(np.asarray(mean * found[0] + root / np.sqrt(np.pi) * np.exp(-((mean / root) ** 2))))
    for n in range(1, order):
        found.append(mean * found[n] + n * variance * found[n - 1])
    return found


def further_direction(
    found: tuple[Kink, ...], mu1: float, e: float, v: float, alpha: float, k: int = 1
) -> tuple[Callable[[Floats, Floats], Floats], Callable[[Floats, Floats], Floats]]:
    """T6's F(y, q) of the left vector a^k |a| and its derivative in q (twin of theory.steps.kink.further)."""
    sides = [
        (
            [(n, c, sign * float(normal_density(kink.at)) / 2 * float(x) * e**j) for (n, j, c), x in terms.items()],
            e * float(kink.at),
            float(side[0]),
        )
        for kink in found
        for sign, side in kink.sides
        for terms in (crossing(kink, side, k),)
    ]

    def total(y: Floats, q: Floats, slope: bool) -> Floats:
        result = np.zeros(np.broadcast(y, q).shape)
        for terms, shift, own in sides:
            psi = signed_means(mu1 * q + shift + own * y / alpha, v, k)
            for n, c, weight in terms:
                result += weight * (y / alpha) ** c * (mu1 * n * psi[n - 1] if slope else psi[n])
        return np.asarray(y * result)

    return lambda y, q: total(y, q, False), lambda y, q: total(y, q, True)


def further_limits(sigma: Nonlinearity, g: Nonlinearity, alpha: float, noise: float, k: int = 1) -> Limits | None:
    """T3's limits for T6's further direction a^k |a| of a reused batch, or None if there is none.

    Accuracy: `error` is the change under a finer grid.  Errors: InputError for an activation that jumps itself.
    Source: T6.
    """
    found = kinks(sigma, k)
    link = constants(g)
    if k not in further_orders(sigma, k, centred=link.mu0 == 0):
        return None
    here = constants(sigma)
    assert here.derivative_second is not None
    second = link.second_moment + noise**2
    v = second * max(here.derivative_second - here.mu1**2, 0.0) / alpha
    F, dF = further_direction(found, here.mu1, link.mu0 * here.curvature, v, alpha, k)
    breaks = tuple(sorted({0.0, *(float(b) for b in g.kinks)}))
    return direct_limits(F, dF, vectorised(g), alpha, noise, "reused", breaks)
