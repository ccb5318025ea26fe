"""R3 checked on simulated spiked matrices: covariance, Wishart, Wigner, rectangular, beyond and within the threshold.

The checks of O2 on the network's own spike are in numerics/checks/spectra/spike.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigh_tridiagonal
from scipy.special import ndtr, ndtri

from bulkedge.numerics.spectra import spike_transition as transition
from bulkedge.numerics.spectra.spike import SpikedModel, covariance, rectangular, wigner, wishart
from bulkedge.numerics.trials.check import Check, Control, Ladder, Measure, MonteCarlo
from bulkedge.numerics.trials.stream import stream

_PAUL = "Baik & Silverstein 2006; Paul 2007"
_WIGNER = "Capitaine, Donati-Martin & Feral 2009; Benaych-Georges & Nadakuditi 2011"
_WISHART = "Benaych-Georges & Nadakuditi 2011; Peche 2006"
_BATCH = 30  # matrices per trial of a variance
_INTERVALS = 8  # matrices per trial of a coverage


@stream("R3.covariance.below")
def _covariance_trial(rng: np.random.Generator, size: int, ratio: float, spike: float) -> dict[str, float]:
    """Extreme eigenpair of a Gaussian sample covariance with one population spike, along the first axis."""
    n, p = size, round(ratio * size)
    data = rng.standard_normal((n, p))
    scores = data[:, 0] / np.linalg.norm(data[:, 0])
    data[:, 0] *= np.sqrt(spike)
    which = p - 1 if spike >= 1 else 0
    values, vectors = eigh(data.T @ data / n, subset_by_index=[which, which], driver="evr")
    vector = vectors[:, 0]
    image = data @ vector
    return {
        "outlier": float(values[0]),
        "vector": float(vector[0] ** 2),
        "scores": float((scores @ image) ** 2 / (image @ image)),
    }


@stream("R3.wishart.below")
def _wishart_trial(rng: np.random.Generator, size: int, ratio: float, strength: float) -> dict[str, float]:
    """Extreme eigenpair of (1/n) X^T X + theta v v^T, along the first axis; the smallest for a negative strength."""
    n, p = size, round(ratio * size)
    data = rng.standard_normal((n, p))
    matrix = data.T @ data / n
    matrix[0, 0] += strength
    which = p - 1 if strength > 0 else 0
    values, vectors = eigh(matrix, subset_by_index=[which, which], driver="evr")
    return {"outlier": float(values[0]), "vector": float(vectors[0, 0] ** 2)}


@stream("R3.wishart.variance")
def wishart_variance(rng: np.random.Generator, size: int, ratio: float, strength: float) -> dict[str, float]:
    """n times the sample variance of the largest eigenvalue over a batch of Wishart matrices with an additive spike."""
    data = rng.standard_normal((_BATCH, size, round(ratio * size)))
    matrices = np.swapaxes(data, 1, 2) @ data / size
    matrices[:, 0, 0] += strength
    return {"variance": size * _variance_of(matrices)}


@stream("R3.wigner.outlier")
def _wigner_trial(rng: np.random.Generator, size: int, strength: float) -> dict[str, float]:
    """Extreme eigenpair of a spiked GOE matrix, along the first axis."""
    noise = rng.standard_normal((size, size))
    matrix = (noise + noise.T) / np.sqrt(2 * size)
    matrix[0, 0] += strength
    which = size - 1 if strength > 0 else 0
    values, vectors = eigh(matrix, subset_by_index=[which, which], driver="evr")
    return {"outlier": float(values[0]), "vector": float(vectors[0, 0] ** 2)}


@stream("R3.covariance.variance")
def _covariance_variance(rng: np.random.Generator, size: int, ratio: float, spike: float) -> dict[str, float]:
    """n times the sample variance of the largest eigenvalue over a batch of Gaussian sample covariances."""
    data = rng.standard_normal((_BATCH, size, round(ratio * size)))
    data[:, :, 0] *= np.sqrt(spike)
    return {"variance": size * _variance_of(np.swapaxes(data, 1, 2) @ data / size)}


@stream("R3.wigner.variance")
def _wigner_variance(rng: np.random.Generator, size: int, strength: float) -> dict[str, float]:
    """n times the sample variance of the largest eigenvalue over a batch of spiked GOE matrices."""
    noise = rng.standard_normal((_BATCH, size, size))
    matrices = (noise + np.swapaxes(noise, 1, 2)) / np.sqrt(2 * size)
    matrices[:, 0, 0] += strength
    return {"variance": size * _variance_of(matrices)}


@stream("R3.rectangular.variance")
def _rectangular_variance(rng: np.random.Generator, size: int, ratio: float, strength: float) -> dict[str, float]:
    """d times the sample variance of the largest singular value over a batch of W0 + theta e1 e1^T, ratio <= 1."""
    matrices = rng.standard_normal((_BATCH, size, round(ratio * size))) / np.sqrt(size)
    matrices[:, 0, 0] += strength
    return {"variance": size * _variance_of(np.swapaxes(matrices, 1, 2) @ matrices, root=True)}


@stream("R3.threshold")
def _at_threshold(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The mean of Lambda, the GOE's largest eigenvalue in the edge's units, with a spike of strength one.

    In tridiagonal form (Trotter; Dumitriu & Edelman) the spike sits in the first entry, and the edge sees a few
    size^(1/3) rows alone.
    """
    rows = min(size, round(12 * size ** (1 / 3)))
    found = []
    for _ in range(_BATCH):
        diagonal = rng.standard_normal(rows) * np.sqrt(2 / size)
        diagonal[0] += 1
        beside = np.sqrt(rng.chisquare(size - np.arange(1, rows)) / size)
        top = eigh_tridiagonal(diagonal, beside, eigvals_only=True, select="i", select_range=(rows - 1, rows - 1))
        found.append(size ** (2 / 3) * (float(top[0]) - 2))
    return {"mean": float(np.mean(found))}


@stream("R3.interval.noise")
def no_spike(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Noise alone, d = N: how often a value beyond the edge has an 80 per cent interval that excludes "no spike"."""
    matrices = rng.standard_normal((_INTERVALS, size, size)) / np.sqrt(size)
    largest = np.sqrt(np.linalg.eigvalsh(np.swapaxes(matrices, 1, 2) @ matrices)[:, -1])
    model = rectangular(1.0)
    beyond = [float(s) for s in largest if s > model.edges[1]]
    wrong = sum(model.interval(s, size, level=0.8).lower > 0 for s in beyond)
    return {"wrong": wrong / len(largest)}


@stream("R3.interval")
def _coverage(rng: np.random.Generator, size: int, ratio: float, strength: float) -> dict[str, float]:
    """The share of 80 per cent intervals that hold the strength of a rectangular spike, ratio <= 1."""
    matrices = rng.standard_normal((_INTERVALS, size, round(ratio * size))) / np.sqrt(size)
    matrices[:, 0, 0] += strength
    largest = np.sqrt(np.linalg.eigvalsh(np.swapaxes(matrices, 1, 2) @ matrices)[:, -1])
    model = rectangular(round(ratio * size) / size)
    intervals = [model.interval(float(s), size, level=0.8) for s in largest]
    return {"covered": float(np.mean([i.lower <= strength <= i.upper for i in intervals]))}


@stream("R3.interval.below")
def _coverage_below(rng: np.random.Generator, size: int, ratio: float, spike: float) -> dict[str, float]:
    """The share of 80 per cent intervals that hold a population eigenvalue below the bulk."""
    data = rng.standard_normal((_INTERVALS, size, round(ratio * size)))
    data[:, :, 0] *= np.sqrt(spike)
    smallest = np.linalg.eigvalsh(np.swapaxes(data, 1, 2) @ data / size)[:, 0]
    model = covariance(round(ratio * size) / size)
    intervals = [model.interval(float(s), size, level=0.8) for s in smallest]
    return {"covered": float(np.mean([i.lower <= spike <= i.upper for i in intervals]))}


def _variance_of(matrices: NDArray[np.float64], root: bool = False) -> float:
    largest = np.linalg.eigvalsh(matrices)[:, -1]
    return float(np.var(np.sqrt(largest) if root else largest, ddof=1))


def _ladder(trial: Callable[..., dict[str, float]], component: str) -> Ladder:
    return Ladder(trial, component, (60, 120, 240), 1.0, 60, (120, 240, 480), 120)


def _within(trial: Callable[..., dict[str, float]]) -> Ladder:
    # An edge is approached at the rate 2/3; 1/2 is taken for the reason given at R1.edge.
    return Ladder(trial, "outlier", (90, 180, 360), 1 / 2, 120, (120, 240, 480), 120)


def _check(
    id: str, claim: str, source: str, values: tuple[float, float], mistake: str, measure: Measure, resolution: float
) -> Check:
    right, wrong = values
    return Check(id, claim, source, lambda: right, measure, resolution, Control(mistake, lambda: wrong))


def _variance(
    model: SpikedModel, strength: float, wrong: float, name: str, trial: Callable[..., dict[str, float]], mistake: str
) -> Check:
    right = float(model.sd(strength, 1)) ** 2
    return Check(
        id=f"R3.{name}.variance",
        claim="variance of the outlier times the size",
        source=_PAUL if name == "covariance" else "derived here (theory/spectra/spike.py)",
        predict=lambda: right,
        measure=Ladder(trial, "variance", (25, 50, 100), 1, 64, (60, 120, 240), 200),
        resolution=0.4 * right,
        control=Control(mistake, lambda: wrong * right),
    )


def _interval(id: str, claim: str, trial: Callable[..., dict[str, float]], size: int) -> Check:
    complex_noise = float(2 * ndtr(ndtri(0.9) / np.sqrt(2)) - 1)
    measure = MonteCarlo(trial, "covered", size, 160, 800)
    mistake = "the variance of complex noise, half as large"
    return _check(id, claim, "derived here (numerics/spectra/spike.py)", (0.8, complex_noise), mistake, measure, 0.08)


def _beyond(size: int) -> float:
    """How often noise alone lies beyond the edge, d = N."""
    return rectangular(1.0).survival(rectangular(1.0).edges[1], 1e-9, size)


_TALL, _WIDE = covariance(0.5), covariance(2.0)
_TALL_SUM, _WIDE_SUM = wishart(0.5), wishart(2.0)
_up, _down = (partial(_wishart_trial, ratio=0.5, strength=s) for s in (2.0, -1.0))
_slight = partial(_wishart_trial, ratio=0.5, strength=0.7)
_under_zero = partial(_wishart_trial, ratio=2.0, strength=-1.0)
_tall = partial(_covariance_trial, ratio=0.5, spike=3.0)
_wide = partial(_covariance_trial, ratio=2.0, spike=4.0)
_low = partial(_covariance_trial, ratio=0.25, spike=0.1)
_weak = partial(_covariance_trial, ratio=0.5, spike=1.4)
_strong_wigner, _weak_wigner = partial(_wigner_trial, strength=-2.0), partial(_wigner_trial, strength=0.6)

CHECKS = (
    _check(
        "R3.covariance.outlier",
        "largest eigenvalue, spike 3, ratio 1/2",
        _PAUL,
        (float(_TALL.outlier(3.0)), float(_WIDE.outlier(3.0))),
        "ratio `n/p` instead of `p/n`",
        _ladder(_tall, "outlier"),
        0.5,
    ),
    _check(
        "R3.covariance.outlier.wide",
        "largest eigenvalue, spike 4, ratio 2",
        _PAUL,
        (float(_WIDE.outlier(4.0)), 4.0),
        "the population eigenvalue itself",
        _ladder(_wide, "outlier"),
        0.8,
    ),
    _check(
        "R3.covariance.vector",
        "squared overlap with the population eigenvector, spike 4, ratio 2",
        _PAUL,
        (float(_WIDE.overlap("vector", 4.0)), float(_WIDE.overlap("scores", 4.0))),
        "the overlap of the scores instead",
        _ladder(_wide, "vector"),
        0.12,
    ),
    _check(
        "R3.covariance.scores",
        "squared overlap of the scores, spike 4, ratio 2",
        _PAUL,
        (float(_WIDE.overlap("scores", 4.0)), float(_WIDE.overlap("vector", 4.0))),
        "the overlap of the vector instead",
        _ladder(_wide, "scores"),
        0.12,
    ),
    _check(
        "R3.covariance.below",
        "smallest eigenvalue, spike 1/10, ratio 1/4: an outlier below the bulk",
        _PAUL,
        (float(covariance(0.25).outlier(0.1)), covariance(0.25).edges[0]),
        "the lower edge",
        _ladder(_low, "outlier"),
        0.04,
    ),
    _check(
        "R3.covariance.below.vector",
        "squared overlap of the smallest eigenvector, spike 1/10, ratio 1/4",
        _PAUL,
        (float(covariance(0.25).overlap("vector", 0.1)), 0.0),
        "spikes below the bulk ignored",
        _ladder(_low, "vector"),
        0.05,
    ),
    _check(
        "R3.covariance.within",
        "largest eigenvalue, spike 7/5 within the threshold 1 + `sqrt(1/2)`: the edge",
        _PAUL,
        (float(_TALL.outlier(1.4)), 3.5),
        "a threshold at `ell = 1`: the population spike moves the outlier to 3.5",
        _within(_weak),
        0.25,
    ),
    _check(
        "R3.wishart.outlier",
        "largest eigenvalue of `W + 2 v v^T`, ratio 1/2: 10/3",
        _WISHART,
        (float(_TALL_SUM.outlier(2.0)), float(_TALL.outlier(3.0))),
        "the map of a population eigenvalue 1 + `theta`",
        _ladder(_up, "outlier"),
        0.2,
    ),
    _check(
        "R3.wishart.vector",
        "squared overlap of the largest eigenvector of `W + 2 v v^T`, ratio 1/2",
        _WISHART,
        (float(_TALL_SUM.overlap("vector", 2.0)), float(_TALL.overlap("vector", 3.0))),
        "the overlap of a population eigenvalue 1 + `theta`",
        _ladder(_up, "vector"),
        0.035,
    ),
    _check(
        "R3.wishart.below",
        "smallest eigenvalue of `W - v v^T`, ratio 1/2: -1/3",
        _WISHART,
        (float(_TALL_SUM.outlier(-1.0)), _TALL_SUM.edges[0]),
        "spikes below the bulk ignored",
        _ladder(_down, "outlier"),
        0.1,
    ),
    _check(
        "R3.wishart.below.vector",
        "squared overlap of the smallest eigenvector of `W - v v^T`, ratio 2: one of the zeros, moved",
        _WISHART,
        (float(_WIDE_SUM.overlap("vector", -1.0)), 0.5),
        "the share of the null space, 1 - `1/c`",
        _ladder(_under_zero, "vector"),
        0.1,
    ),
    _check(
        "R3.wishart.within",
        "largest eigenvalue of `W + (7/10) v v^T`, ratio 1/2, within the threshold `c + sqrt c`: the edge",
        _WISHART,
        (float(_TALL_SUM.outlier(0.7)), 4.2),
        "`theta + theta/(theta - c)` below the threshold",
        _within(_slight),
        0.25,
    ),
    _check(
        "R3.wigner.outlier",
        "smallest eigenvalue, strength -2",
        _WIGNER,
        (float(wigner().outlier(-2.0)), -2.0),
        "the strength itself",
        _ladder(_strong_wigner, "outlier"),
        0.2,
    ),
    _check(
        "R3.wigner.vector",
        "squared overlap, strength -2",
        _WIGNER,
        (float(wigner().overlap("vector", -2.0)), 0.5),
        "1 - `1/|theta|`",
        _ladder(_strong_wigner, "vector"),
        0.08,
    ),
    _check(
        "R3.wigner.within",
        "largest eigenvalue, strength 3/5 within the threshold: the edge",
        _WIGNER,
        (float(wigner().outlier(0.6)), 0.6 + 1 / 0.6),
        "`theta + 1/theta` below the threshold",
        _within(_weak_wigner),
        0.12,
    ),
    _interval(
        "R3.interval",
        "coverage of the 80 per cent interval for a rectangular strength, to leading order in `1/d`",
        partial(_coverage, ratio=0.5, strength=1.8),
        100,
    ),
    _interval(
        "R3.interval.below",
        "coverage of the 80 per cent interval for a population eigenvalue of 0.15 below the bulk, `c = 1/4`",
        partial(_coverage_below, ratio=0.25, spike=0.15),
        160,
    ),
    Check(
        id="R3.threshold",
        claim="mean of the extreme eigenvalue at the threshold, beyond the edge and in units of its scale",
        source="Bloemendal & Virag 2013 (numerics/spectra/spike_transition.py)",
        predict=lambda: transition.moments(0.0)[0],
        measure=Ladder(_at_threshold, "mean", (2000, 20_000, 200_000), 1 / 3, 40, (10**4, 10**5, 10**6), 200),
        resolution=0.5,
        control=Control("Tracy-Widom's, as without a spike", lambda: transition.moments(np.inf)[0]),
    ),
    Check(
        id="R3.interval.noise",
        claim="an 80 per cent interval excludes no spike for 10 per cent of the noise's values beyond the edge",
        source="derived here (numerics/spectra/spike.py)",
        predict=lambda: 0.1 * _beyond(60),
        # Two tails of the limiting law, each off by a relative size^(-1/3): being beyond the edge, and far beyond it.
        # Some 1 per cent of the matrices count: fewer trials would often see none, and a standard error of zero.
        measure=MonteCarlo(no_spike, "wrong", 60, 160, 400, bias=lambda size: 0.2 * _beyond(size) * size ** (-1 / 3)),
        resolution=0.05,
        control=Control("the interval of strong spikes never holds 0", lambda: _beyond(60)),
    ),
    _variance(
        covariance(0.2),
        4.0,
        0.2,
        "covariance",
        partial(_covariance_variance, ratio=0.2, spike=4.0),
        "a further factor `c` (the standard deviation with `sqrt(c/n)`, as one package has it)",
    ),
    _variance(
        _TALL_SUM,
        2.0,
        0.0,
        "wishart",
        partial(wishart_variance, ratio=0.5, strength=2.0),
        "no fluctuation at order `1/n`",
    ),
    _variance(wigner(), 2.0, 0.0, "wigner", partial(_wigner_variance, strength=2.0), "no fluctuation at order `1/n`"),
    _variance(
        rectangular(0.5),
        1.5,
        2.0,
        "rectangular",
        partial(_rectangular_variance, ratio=0.5, strength=1.5),
        "per `N` instead of per `d`",
    ),
)
