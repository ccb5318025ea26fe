"""M1 and M2 in numbers: which spikes a step eta ~ n^a makes, along what, and what they take off the training loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.risk.pair import pair
from bulkedge.numerics.risk.ridge import effective_ridge, resolvent_trace
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.numbers.symbols import e as e_symbol
from bulkedge.theory.numbers.symbols import mu1 as mu1_symbol
from bulkedge.theory.numbers.symbols import v as v_symbol
from bulkedge.theory.steps.gradient import direction_energy, rest_variance
from bulkedge.theory.steps.spiked_features import READINGS, left_direction, number_of_spikes, spike_exponent, t
from bulkedge.theory.steps.spiked_features import coefficient as c_symbol

Array = NDArray[np.float64]

TYPICAL = 1000  # the dimension at which a limit is compared with what a network of finite size has
LISTED = 6  # spikes that are described; an exponent close to 1/2 has many


@dataclass(frozen=True)
class Direction:
    """The k-th left direction: polynomials in t = x.u (coefficients from the constant up) in both readings.

    `exponent`: that of n in the spike's norm, the bulk's being 1/2; `coefficient`: c_k of the activation; `present`:
    whether it is not zero.
    """

    index: int
    exponent: Fraction
    coefficient: float
    present: bool
    rank_one: tuple[float, ...]
    full: tuple[float, ...]


@dataclass(frozen=True)
class SpikedFeatures:
    """The count and the directions, |u|, the row variance v, e = E y E sigma'', and the numbers' relative error."""

    order: int
    boundary: bool
    directions: tuple[Direction, ...]
    norm: float
    variance: float
    mean_shift: float
    error: float


def spiked_features(
    activation: Nonlinearity, link: Nonlinearity, exponent: Fraction, alpha: float, noise: float
) -> SpikedFeatures:
    """Spikes of F = sigma(X W1) for a step eta ~ n^exponent on a batch n1 = alpha d.

    Errors: InputError for an exponent outside [0, 1/2) or an activation whose gradient is not defined.
    Source: M1.
    """
    p = pair(activation, link)
    second = p.link_second + noise**2
    norm = math.sqrt(direction_energy(p.link_slope, second, alpha))
    v, e = rest_variance(second, p.slope_variance, alpha), p.link_mean * p.curvature
    count = number_of_spikes(exponent)
    shown = min(count.order, LISTED)
    values = {i: float(coefficient(activation, i, "probabilist").enclosure) for i in range(1, 2 * shown + 1)}
    values = {i: 0.0 if abs(c) < 1e-13 else c for i, c in values.items()}
    substitution = {c_symbol[i]: c for i, c in values.items()}
    substitution |= {mu1_symbol: p.mu1, v_symbol: v, e_symbol: e}
    directions = []
    for k in range(1, shown + 1):
        rank_one, full = (_polynomial(left_direction(k, reading).subs(substitution), k) for reading in READINGS)
        present = values[k] != 0 and p.mu1 != 0
        directions.append(Direction(k, spike_exponent(k, exponent), values[k], present, rank_one, full))
    # A few dozen roundings, and the constants' own errors.
    error = 2.0**-46 + 16 * (constants(activation).error + constants(link).error)
    return SpikedFeatures(count.order, count.boundary, tuple(directions), norm, v, e, error)


def _polynomial(expression: sp.Expr, degree: int) -> tuple[float, ...]:
    poly = sp.Poly(expression, t)
    return tuple(float(poly.coeff_monomial(t**i)) for i in range(degree + 1))


def traces(psi1: float, psi2: float, lam: float, mu1: float, mu2: float) -> tuple[float, float]:
    """M1 = tr R0 = 1/kappa and M2 = (1/d) tr X^T R0 X = t/kappa of the features before the step."""
    kappa = float(effective_ridge(psi1, psi2, lam, mu1, mu2)[0])
    return 1 / kappa, float(resolvent_trace(kappa, psi2, mu1, mu2)) / kappa


def loss_drops(
    activation: Nonlinearity,
    link: Nonlinearity,
    psi1: float,
    psi2: float,
    lam: float,
    alpha: float,
    noise: float,
    present: Sequence[int],
    finite: tuple[float, float] | None = None,
) -> dict[str, tuple[float, ...]]:
    """The drop by the first, the first two, ... of the spikes k in `present`, in both readings.

    Formula: theory.steps.spiked_features.loss_drop, solved in floats (with present = 1..l it is Delta_1, ..., Delta_l).
    `finite` = (eta, N): spikes of the strength that they have at a step eta and width N, Gaussian readout
    (theory.steps.spiked_features.first_drop); without it their strength is infinite, the limit for eta ~ n^a.
    Valid for: centred links; activations with a mean have the constants in their span.
    Source: M2.
    """
    f = constants(activation)
    M1, M2 = traces(psi1, psi2, lam, f.mu1, f.mu2)
    p = pair(activation, link)
    second = p.link_second + noise**2
    b = math.sqrt(direction_energy(p.link_slope, second, alpha))
    v = rest_variance(second, p.slope_variance, alpha)
    rho = p.link_slope / b
    order = max(present, default=0)
    components = [float(coefficient(link, i, "probabilist").enclosure) * rho**i for i in range(1, order + 1)]
    label = np.array([0.0, *components])
    weight = np.array([0.0 if p.mu0 else M1, M2, *(math.factorial(i) * M1 for i in range(2, order + 1))])
    strengths, gram, share = np.ones(len(present)), np.eye(len(present)), math.inf
    if finite is not None and len(present):
        eta, neurons = finite
        # The columns of V, eta^k c_k a^(.k), each by its own strength: their Gram matrix is that of a^(.k) alone.
        strengths = np.array(
            [
                eta**k * float(coefficient(activation, k, "probabilist").enclosure) * neurons ** ((1 - k) / 2)
                for k in present
            ]
        )
        gram = np.array([[_odd((i + j) // 2) * (1 - (i + j) % 2) for j in present] for i in present], dtype=float)
        share = 1 - psi1 / psi2 * (1 - lam * M1)
    found: dict[str, tuple[float, ...]] = {}
    for reading in READINGS:
        variance = v if reading == "full" else 0.0
        rows = np.zeros((len(present), order + 1))
        for row, k in zip(rows, present, strict=True):
            powers = np.zeros(k + 1)
            for m in range(k // 2 + 1):
                powers[k - 2 * m] = math.comb(k, 2 * m) * (p.mu1 * b) ** (k - 2 * m) * _odd(m) * variance**m
            row[: k + 1] = np.polynomial.hermite_e.poly2herme(powers)
        size = np.sqrt((rows**2 * weight[: order + 1]).sum(axis=1))
        rows /= size[:, None]  # directions may differ by many orders of magnitude
        G, g = (rows * weight[: order + 1]) @ rows.T, (rows * weight[: order + 1]) @ label
        drops = []
        for k in range(1, len(present) + 1):  # one spike after the other: leading blocks
            cost = np.linalg.inv(gram[:k, :k]) / np.outer(size * strengths, size * strengths)[:k, :k] / share
            drops.append(lam * float(g[:k] @ np.linalg.lstsq(G[:k, :k] + cost, g[:k], rcond=1e-14)[0]))
        found[reading] = tuple(drops)
    return found


@dataclass(frozen=True)
class FiniteSize:
    """What stands between the limit and a network: at dimension `dim`, N and n at their ratios, eta = n^exponent.

    `beyond`: (k, log10 of the dimension from which spike k is stronger than the bulk's edge); `drops` as loss_drops.
    """

    dim: int
    step: float
    beyond: tuple[tuple[int, float], ...]
    drops: dict[str, tuple[float, ...]]


def finite_size(
    found: SpikedFeatures,
    activation: Nonlinearity,
    exponent: Fraction,
    psi1: float,
    psi2: float,
    drops: Callable[[tuple[float, float]], dict[str, tuple[float, ...]]] | None,
    dim: int = TYPICAL,
) -> FiniteSize:
    """The first finite-size scales of M1 and M2.

    Spike k has the strength s_k = eta^k rms(p_k) sqrt((2k - 1)!! N^(1-k)) in units of sqrt n, d^(ka - (k-1)/2) times
    a constant; the bulk of F0 ends below |mu1| (1 + 1/sqrt psi1)(1 + sqrt psi2) + mu2 (1 + sqrt(psi2/psi1)).
    Source: M1, M2.
    """
    f, a = constants(activation), float(exponent)
    edge = abs(f.mu1) * (1 + psi1**-0.5) * (1 + psi2**0.5) + f.mu2 * (1 + (psi2 / psi1) ** 0.5)
    beyond = []
    for direction in found.directions[: found.order]:
        k = direction.index
        p = np.polynomial.polynomial.polymul(direction.full, direction.full)
        square = sum(float(c) * found.norm**i * _odd(i // 2) for i, c in enumerate(p) if i % 2 == 0)
        growth = float(k * exponent - Fraction(k - 1, 2))
        if direction.present and square > 0 and growth > 0:
            size = math.log10(square * _odd(k)) / 2 + k * a * math.log10(psi1) + (1 - k) / 2 * math.log10(psi2)
            beyond.append((k, (math.log10(edge) - size) / growth))
    step = (psi1 * dim) ** a
    return FiniteSize(dim, step, tuple(beyond), {} if drops is None else drops((step, psi2 * dim)))


def _odd(m: int) -> float:
    """(2m - 1)!!, the Gaussian moment of order 2m."""
    return float(math.prod(range(1, 2 * m, 2)))
