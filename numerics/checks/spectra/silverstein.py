"""R2 checked on simulated matrices: edges of a gap, spikes in it, and the conjugate kernel with its own outlier."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.linalg import eigh

from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.silverstein import (
    DiscretePopulation,
    GeneralLaw,
    conjugate_kernel,
    conjugate_kernel_spike,
)
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo
from bulkedge.numerics.trials.stream import stream

_SOURCE = "Silverstein & Choi 1995; Bai & Yao 2012"
_KERNEL = "Pennington & Worah 2017; Fan & Wang 2020"
_RATIO, _LOW, _HIGH, _SPIKE = 0.2, 1.0, 20.0, 5.0
_Z = -0.05
_WIDE, _DEEP = 1.5, 0.5  # N/d and N/n of the conjugate kernel's bulk
_MU1, _C2 = 0.5, 1.0  # sigma = mu1 z + c2 He_2/sqrt 2, so mu2 = c2
_SPIKE_WIDE, _SPIKE_DEEP = 6.0, 0.2


@functools.cache
def _law() -> GeneralLaw:
    return GeneralLaw(DiscretePopulation.of([_LOW, _HIGH]), _RATIO)


@stream("R2.gap")
def _two_levels(rng: np.random.Generator, size: int) -> dict[str, float]:
    """n = size samples, half of the p = n/5 population eigenvalues 1, half 20, and one spike between them."""
    p = round(_RATIO * size)
    levels = np.where(np.arange(p) < p // 2, _LOW, _HIGH)
    levels[0] = _SPIKE
    data = rng.standard_normal((size, p)) * np.sqrt(levels)
    values, vectors = eigh(data.T @ data / size)
    middle = p // 2 - 1  # the spike is the largest of the lower half
    return {
        "spike": float(values[middle]),
        "overlap": float(vectors[0, middle] ** 2),
        "above": float(values[middle + 1]),
        "below": float(values[middle - 1]),
        "lower_share": float(np.mean(values < _law().edges[1][0] - 2)),
    }


@stream("R2.kernel")
def _relu_features(rng: np.random.Generator, size: int) -> dict[str, float]:
    """-z times the Stieltjes transform of centred ReLU features at z = -1/20, unit-norm weights."""
    width, n = round(_WIDE * size), round(_WIDE * size / _DEEP)
    weights = rng.standard_normal((size, width))
    features = np.maximum(rng.standard_normal((n, size)) @ (weights / np.linalg.norm(weights, axis=0)), 0)
    features -= features.mean(axis=0)
    values = np.linalg.eigvalsh(features.T @ features / n)
    return {"resolvent": float(np.mean(-_Z / (values - _Z)))}


@stream("R2.kernel_spike")
def _quadratic_features(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The largest eigenvalue of centred features with a second Hermite coefficient, unit-norm weights."""
    width, n = round(_SPIKE_WIDE * size), round(_SPIKE_WIDE * size / _SPIKE_DEEP)
    weights = rng.standard_normal((size, width))
    z = rng.standard_normal((n, size)) @ (weights / np.linalg.norm(weights, axis=0))
    features = _MU1 * z + _C2 * (z**2 - 1) / math.sqrt(2)
    features -= features.mean(axis=0)
    top = eigh(features.T @ features / n, eigvals_only=True, subset_by_index=[width - 1, width - 1], driver="evr")
    return {"largest": float(top[0])}


def _resolvent() -> float:
    mu2 = math.sqrt(0.25 - 1 / (2 * math.pi))
    return float((-_Z * conjugate_kernel(_WIDE, _DEEP, 0.5, mu2).stieltjes(_Z)).real)


def _kernel_outlier(population_value: float) -> float:
    law = conjugate_kernel(_SPIKE_WIDE, _SPIKE_DEEP, _MU1, _C2)
    return float(law.outlier(population_value))


def _kernel_spike() -> float:
    found = conjugate_kernel_spike(_SPIKE_WIDE, _MU1, _C2, _C2)
    assert found is not None
    return found


def _ladder(component: str, rate: float) -> Ladder:
    return Ladder(_two_levels, component, (100, 200, 400), rate, 160, (400, 800, 1600), 60)


CHECKS = (
    Check(
        "R2.spike",
        "outlier of a population spike 5 in the gap between levels 1 and 20, ratio 1/5",
        _SOURCE,
        lambda: float(_law().outlier(_SPIKE)),
        _ladder("spike", 1),
        0.3,
        Control(
            "the formula of a bulk of 1 alone, `ell (1 + c/(ell - 1))`", lambda: _SPIKE * (1 + _RATIO / (_SPIKE - 1))
        ),
    ),
    Check(
        "R2.overlap",
        "its squared overlap",
        _SOURCE,
        lambda: float(_law().overlap(_SPIKE)),
        _ladder("overlap", 1),
        0.04,
        Control("no correction: overlap 1", lambda: 1.0),
    ),
    Check(
        "R2.gap",
        "lower edge of the upper component, levels 1 and 20, ratio 1/5",
        _SOURCE,
        lambda: _law().edges[1][0],
        _ladder("above", 1 / 2),  # rate 2/3, less a margin: see R1.edge
        1.5,
        Control(
            "a law of level 20 alone at the whole ratio",
            lambda: MarchenkoPastur(_RATIO, _HIGH).edges[0],
        ),
    ),
    Check(
        "R2.separation",
        "share of eigenvalues in the lower component and the gap: the population's (exact separation)",
        _SOURCE,
        lambda: 0.5,
        MonteCarlo(_two_levels, "lower_share", 800, 16, 60),
        0.1,
        Control("the share that a common bulk would have below 5", lambda: 0.25),
    ),
    Check(
        "R2.kernel",
        "resolvent of centred ReLU features, `N/d = 3/2, N/n = 1/2`",
        _KERNEL,
        _resolvent,
        # O(1/d), and most of the margin: a slower rate bounds it (see R1.edge).
        Ladder(_relu_features, "resolvent", (40, 80, 160), 2 / 3, 24, (80, 160, 320), 30),
        0.03,
        Control(
            "a Marchenko-Pastur law of the same mean",
            lambda: float((-_Z * MarchenkoPastur(_DEEP, 0.5 - 1 / (2 * math.pi)).stieltjes(_Z)).real),
        ),
    ),
    Check(
        "R2.kernel_spike",
        "largest eigenvalue of features with `mu1 = 1/2, c_2 = 1, N/d = 6, N/n = 1/5`",
        "derived here (numerics/spectra/silverstein.py)",
        lambda: _kernel_outlier(_kernel_spike()),
        Ladder(_quadratic_features, "largest", (20, 40, 80), 0.5, 32, (40, 80, 160), 16),
        1.2,
        Control(
            "the bulk's edge: `E sigma''` taken for 0",
            lambda: conjugate_kernel(_SPIKE_WIDE, _SPIKE_DEEP, _MU1, _C2).edges[-1][1],
        ),
    ),
)
