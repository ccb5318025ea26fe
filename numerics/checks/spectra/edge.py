"""R4 calibrated: the count's false-alarm rate and power, equal and unequal variances, the edge's corrections."""

from __future__ import annotations

import functools
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from bulkedge.numerics.spectra import spike_transition, tracy_widom
from bulkedge.numerics.spectra.edge import count_outliers, noise_edge, sequential
from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo
from bulkedge.numerics.trials.stream import stream

_ALARM = 0.1
_BATCH = 5  # matrices per trial
_INFLATION = 1.0
_POWER_ALARM, _POWER_BATCH, _SEEN = 0.05, 10, -1.5  # of the power's checks; w of the stronger spike
_JOHNSTONE = "Johnstone 2001; Ma 2012"


@stream("R4.alarm")
def alarms(rng: np.random.Generator, size: int, inflation: float, adjust: bool) -> dict[str, float]:
    """The share of noise matrices (size x 3/2 size, uniform entries) in which an outlier is reported.

    Row variances are 1 + inflation a_j^2, a_j Gaussian: what a gradient step leaves beside its spike (O1).
    """
    shape = (size, 3 * size // 2)
    found = 0
    for _ in range(_BATCH):
        levels = np.sqrt(1 + inflation * rng.standard_normal(size) ** 2)
        matrix = levels[:, None] * rng.uniform(-1, 1, shape)
        found += count_outliers(matrix, _ALARM, adjust=adjust).count > 0
    return {"alarm": found / _BATCH}


@stream("R4.count")
def hits(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The mean count on matrices with three spikes well above the threshold."""
    counts = []
    for _ in range(5):
        matrix = rng.standard_normal((size, 3 * size // 2)) / np.sqrt(size)
        for strength in (2.5, 3.5, 5.0):
            u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(size), rng.standard_normal(matrix.shape[1])))
            matrix += strength * np.outer(u, v)
        counts.append(count_outliers(matrix, 0.01).count)
    return {"count": float(np.mean(counts))}


@stream("R4.kurtosis")
def _kurtosis_shift(rng: np.random.Generator, size: int) -> dict[str, float]:
    """sqrt(n p) times the relative shift of the mean largest eigenvalue, +-1 entries against Gaussian ones."""
    n, p = 3 * size // 2, size

    def largest(z: NDArray[np.float64]) -> float:
        z = z / np.sqrt(np.mean(z**2, axis=(1, 2), keepdims=True))
        return float(np.mean(np.linalg.eigvalsh(np.swapaxes(z, 1, 2) @ z)[:, -1]))

    gauss = rng.standard_normal((100, n, p))  # their signs are the other matrices: both fluctuate together
    return {"shift": np.sqrt(n * p) * (largest(np.sign(gauss)) / largest(gauss) - 1)}


def planted_spectrum(rng: np.random.Generator, size: int, strength: float) -> NDArray[np.float64]:
    """Squared singular values of Gaussian noise, size x 3/2 size, and one spike, decreasing.

    In bidiagonal form (Golub-Kahan): with the spike along the first axes, turning the first column onto its axis leaves
    the other columns Gaussian, so that every entry is an independent chi and only the first knows the spike.
    """
    diagonal = np.sqrt(rng.chisquare(size - np.arange(size)))
    below = rng.chisquare(size - 1)
    diagonal[0] = np.sqrt((rng.standard_normal() + strength) ** 2 + below)
    beside = np.sqrt(rng.chisquare(3 * size // 2 - np.arange(1, size + 1)))
    values = eigh_tridiagonal(diagonal**2 + beside**2, diagonal[1:] * beside[:-1], eigvals_only=True)
    return np.asarray(values[::-1])


def power(w: float) -> float:
    """P(seen) of a spike at w in the limit: the law of a spike leaving the bulk beyond Tracy-Widom's quantile."""
    return float(spike_transition.sf(tracy_widom.isf(_POWER_ALARM), w))


@functools.cache
def planted_at(size: int, w: float) -> tuple[float, float]:
    """The strength whose outlier lies w^2 Tracy-Widom units beyond the edge, and P(seen) at this size.

    Known of the finite size: the spike is still in the estimate of the noise while it is tested, which adds
    strength^2/(n p) to a unit variance (at the threshold 1/sqrt(n p), of order size^(-1/3) in units of the edge), and
    Johnstone's halves. What is left out is of order size^(-1/3) too; the ladder fits it.
    """
    large = 3 * size // 2
    model = rectangular(large / size, float(np.sqrt(size)))
    scale = noise_edge((size, large), 0, 1.0).scale
    strength = float(model.strength(np.sqrt(model.edges[1] ** 2 + w * w * scale))) if w else model.threshold
    threshold = noise_edge((size, large), 0, 1 + strength**2 / (size * large)).threshold(_POWER_ALARM)
    return strength, model.survival(float(np.sqrt(threshold)), strength, size)


@stream("R4.power")
def _seen(rng: np.random.Generator, size: int, w: float) -> dict[str, float]:
    """The share of matrices in which a spike at w is counted, less what is known of the finite size."""
    strength, known = planted_at(size, w)
    shape = (size, 3 * size // 2)
    found = sum(sequential(planted_spectrum(rng, size, strength), shape, _POWER_ALARM) > 0 for _ in range(_POWER_BATCH))
    return {"power": found / _POWER_BATCH - (known - power(w))}


def _unequal_rate(size: int) -> float:
    """How often the iid edge is passed: the noise's edge is then that of the rows' population (R2)."""
    quantiles = np.array([tracy_widom.isf(_ALARM)])
    grid = np.polynomial.hermite_e.hermegauss(60)
    variances = 1 + _INFLATION * grid[0] ** 2
    weights = grid[1] / np.sum(grid[1])
    keep = weights > 1e-8
    law = GeneralLaw(DiscretePopulation.of(variances[keep], weights[keep] / np.sum(weights[keep])), 2 / 3)
    large = 3 * size // 2
    plain = noise_edge((size, large), 0, 1 + _INFLATION)
    beyond = (large * law.edges[-1][1] - plain.centre) / plain.scale
    return float(tracy_widom.sf(quantiles[0] - beyond))


def second_order(size: int) -> float:
    """What Johnstone's halves (n - 1/2 for n in the edge's centre) change in the rate; what is left is of higher order.

    The bias of a rate at finite size: the edge's law holds up to n^(-2/3) with them, to n^(-1/3) without.
    """
    large = 3 * size // 2
    centre, scale = tracy_widom.johnstone(large, size)
    first = (np.sqrt(large) + np.sqrt(size)) ** 2
    return abs(float(tracy_widom.sf(tracy_widom.isf(_ALARM) + (first - centre) / scale)) - _ALARM)


def _rate(inflation: float, trials: int) -> MonteCarlo:
    trial = partial(alarms, inflation=inflation, adjust=True)
    return MonteCarlo(trial, "alarm", 50, trials, 800, second_order)


CHECKS = (
    Check(
        id="R4.alarm",
        claim=f"false alarms of the outlier count on iid noise at a rate of {_ALARM}",
        source=_JOHNSTONE,
        predict=lambda: _ALARM,
        measure=_rate(0.0, 320),
        resolution=0.07,
        control=Control(
            "the `beta = 2` quantile for a real matrix",
            lambda: float(tracy_widom.sf(tracy_widom.isf(_ALARM, beta=2), beta=1)),
        ),
    ),
    Check(
        id="R4.alarm.unequal",
        claim=f"the same on rows of unequal variance, equalised first, at a rate of {_ALARM}",
        source="Bao, Pan & Zhou 2012; derived here",
        predict=lambda: _ALARM,
        measure=_rate(_INFLATION, 160),
        resolution=0.12,
        control=Control("the rate of the iid edge", lambda: _unequal_rate(50)),
    ),
    Check(
        id="R4.alarm.iid_edge",
        claim="rows of unequal variance pass the iid edge as often as their own edge (R2) says",
        source="O1; El Karoui 2007",
        predict=lambda: _unequal_rate(50),
        measure=MonteCarlo(partial(alarms, inflation=_INFLATION, adjust=False), "alarm", 50, 15, 300),
        resolution=0.2,
        control=Control("the nominal rate", lambda: _ALARM),
    ),
    Check(
        id="R4.count",
        claim="mean count with three spikes above the threshold",
        source=_JOHNSTONE,
        predict=lambda: 3.0,
        measure=MonteCarlo(hits, "count", 100, 12, 60),
        resolution=0.3,
        control=Control("one missed", lambda: 2.0),
    ),
    Check(
        id="R4.power",
        claim=f"power of the count at a rate of {_POWER_ALARM}: a spike 9/4 Tracy-Widom units beyond the edge",
        source="Bloemendal & Virag 2013 (numerics/spectra/spike_transition.py); derived here",
        predict=lambda: power(_SEEN),
        measure=Ladder(partial(_seen, w=_SEEN), "power", (40, 80, 160), 1 / 3, 56, (100, 200, 400), 240),
        resolution=0.22,
        control=Control("the power at the threshold", lambda: power(0.0)),
    ),
    Check(
        id="R4.power.threshold",
        claim=f"power of the count at a rate of {_POWER_ALARM}: a spike at the threshold itself",
        source="Bloemendal & Virag 2013 (numerics/spectra/spike_transition.py); derived here",
        predict=lambda: power(0.0),
        measure=Ladder(partial(_seen, w=0.0), "power", (40, 80, 160), 1 / 3, 56, (100, 200, 400), 240),
        resolution=0.22,
        control=Control("every spike from the threshold on is seen", lambda: 1.0),
    ),
    Check(
        id="R4.kurtosis",
        claim="relative shift of the edge by the excess kurtosis -2 of `+-`1 entries, times `sqrt(n p)`",
        source="derived here (numerics/spectra/edge.py)",
        predict=lambda: -2.0,
        # Mostly finite size, at the rate 2/3; 1/2 keeps the noise of the fitted term out of the margin (see R1.edge).
        measure=Ladder(_kurtosis_shift, "shift", (12, 64), 1 / 2, 56, (40, 80, 160), 60),
        resolution=1.0,
        control=Control("no shift (universality at leading order)", lambda: 0.0),
    ),
)
