"""Whether Marchenko-Pastur fits the bulk of a matrix (R5): a distance and its p-value among noise matrices.

The null is drawn by its law, not by matrices of the data's shape: a Gaussian Gram matrix is L L^T with L triangular
(Bartlett), so that a draw costs the smaller side cubed whatever the larger one; the entries' kurtosis enters through
the spread of the rows' norms alone (to the order of one eigenvalue: the mean of a linear statistic moves by
kappa c m^3/((1 + m)^3 (1 - c m^2/(1 + m)^2)), which is R2 to second order in a population of variance kappa/n).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from bulkedge.numerics.spectra.edge import HEAVY, SMALLEST, OutlierCount
from bulkedge.numerics.spectra.marchenko_pastur import Floats, MarchenkoPastur

MISFIT = 0.01  # p-value of the fit below which the bulk is not called Marchenko-Pastur
DRAWS = 199
_SIDE = 128  # smaller side of the simulated matrices that calibrate the fit


@dataclass(frozen=True)
class Fit:
    """How well Marchenko-Pastur fits the bulk.

    `distance` is the largest gap between the distribution functions; `p` the share of noise matrices of the bulk's
    shape (both sides less the outliers) with a larger one, their entries of the matrix's own kurtosis, or Gaussian
    where it has heavy tails; `draws` of them were made. `scale` and `ratio` are fitted to the bulk's middle quantiles
    alone, the shape not being used: where the law fits they are the noise's scale and the ratio of smaller to larger
    side.
    """

    distance: float
    p: float
    scale: float
    ratio: float
    draws: int


def fit(found: OutlierCount, strengths: Floats, rng: np.random.Generator, draws: int = DRAWS) -> Fit | None:
    """The fit of what the outliers leave; None where that is no bulk (fewer than 8 values, or the count's limit).

    The law tested is Marchenko-Pastur's less what spikes of the given strengths (of the analysed matrix) take from it
    (`spectral_shift`); the null is noise with k rows and k columns fewer, which is that law for strong spikes.
    Accuracy: `p` is a simulation; beyond a side of 128 the null is carried over from two smaller sizes (size times
    distance grows like a logarithm).
    """
    large, small = max(found.shape), min(found.shape)
    if found.exhausted or small - found.count < SMALLEST:
        return None
    bulk = found.spectrum.squared[found.count :] / large
    gap = distance(bulk, large, found.variance, strengths / math.sqrt(large))
    kappa = found.kappa if found.tails <= HEAVY else 0.0
    seed = int(rng.integers(2**62))
    statistics = null_distances(small - found.count, large - found.count, kappa, draws, seed)
    p = (1 + int(np.sum(statistics >= gap))) / (len(statistics) + 1)
    scale, ratio = quantile_fit(bulk, (small - found.count) / (large - found.count))
    return Fit(gap, p, scale * math.sqrt(large / (large - found.count)), ratio, draws)


def spectral_shift(x: Floats, ratio: float, variance: float, strength: float) -> Floats:
    """How many eigenvalues <= x a spike takes from the bulk: Krein's spectral shift, between 0 and 1.

    For N + t u v^T the squared singular values are the zeros of D(z) = 1 - t^2 z m(z) m_(z), m and m_ the Stieltjes
    transforms of N N^T and N^T N; the counting function falls by |arg D(x + i0)|/pi. As t grows this is what one row
    and one column less take (interlacing).
    Shapes/units: x squared singular values over the larger side, `strength` over its root; ratio smaller to larger.
    Valid for: a strength above the threshold; vectors independent of the noise. Source: R5, O2.
    """
    law = MarchenkoPastur(ratio, variance)
    lower, upper = law.edges
    inside = np.clip(x, lower, upper)
    # Just above the axis the branch is that of the upper half-plane; the step is far below the bulk's width.
    z = inside + 1j * 1e-12 * upper
    m = law.stieltjes(z)
    other = ratio * m - (1 - ratio) / z
    return np.where(x < lower, 0.0, np.abs(np.angle(1 - strength**2 * z * m * other)) / np.pi)


def null_distances(small: int, large: int, kappa: float, draws: int, seed: int) -> Floats:
    """Distances of `draws` noise matrices small x large with entries of excess kurtosis kappa."""
    # Rounded, so that the layers of one network share their draws: 2 per cent of the ratio and a tenth of the exponent
    # (below) move the distance by less than a hundredth of its spread.
    aspect = math.exp(round(50 * math.log(large / small)) / 50)
    exponent = round(10 * (1 - math.sqrt(max(1 + kappa / 2, 0.0)))) / 10
    side = min(small, _SIDE)
    statistics = _null(side, aspect, exponent, draws, seed)
    if side < small:
        half = _null(side // 2, aspect, exponent, max(1, draws // 3), seed)
        growth = (float(statistics.mean()) - float(half.mean())) / math.log(side / (side // 2))
        statistics = statistics + growth * math.log(small / side)
    return statistics / small


@functools.lru_cache(maxsize=64)
def _null(side: int, aspect: float, exponent: float, draws: int, seed: int) -> Floats:
    """side x distance of Gaussian matrices whose rows' squared norms are raised to 1 - exponent.

    A squared norm of n Gaussian entries has the relative variance 2/n, entries of excess kurtosis kappa give it
    (2 + kappa)/n = 2 (1 - exponent)^2/n; exponent 1 is rows of equal norm, kappa = -2.
    """
    rng = np.random.default_rng([seed, side])
    other = max(side, round(side * aspect))
    triangle = np.tril(rng.standard_normal((draws, side, side)), -1)
    index = np.arange(side)
    triangle[:, index, index] = np.sqrt(rng.chisquare(other - index, (draws, side)))
    if exponent:
        triangle *= np.mean(triangle**2 * side / other, axis=2, keepdims=True) ** (-exponent / 2)
    values = np.linalg.eigvalsh(triangle @ np.swapaxes(triangle, 1, 2)) / other
    return np.array([side * distance(row, other, float(row.mean())) for row in np.maximum(values, 0.0)])


def distance(bulk: Floats, large: int, variance: float, spikes: Floats | None = None) -> float:
    """The largest gap between the distribution functions of squared singular values over `large` and of the law.

    `spikes` are the strengths, over the root of `large`, of outliers that are not in `bulk` any more.
    """
    shifts = np.empty(0) if spikes is None else spikes
    size = len(bulk)
    ordered = np.sort(bulk)
    ratio = (size + len(shifts)) / large
    expected = MarchenkoPastur(ratio, variance).cdf(ordered) * (size + len(shifts))
    for strength in shifts.tolist():
        expected = expected - spectral_shift(ordered, ratio, variance, strength)
    steps = np.arange(size + 1)
    return float(max(np.max(expected - steps[:-1]), np.max(steps[1:] - expected))) / size


def quantile_fit(squared: Floats, ratio: float) -> tuple[float, float]:
    """(sqrt of the scale, ratio) of the law whose middle quantiles fit best, the shape's ratio only as the start.

    Least squares on the square roots of the 5 to 80 per cent quantiles; for each ratio the scale is linear. What lies
    above 80 per cent -- outliers, heavy edges -- has no influence.
    """
    levels = np.linspace(0.05, 0.8, min(len(squared), 100))
    seen = np.sqrt(np.quantile(squared, levels, method="hazen"))

    def fitted(log_ratio: float) -> tuple[float, float]:
        law = np.sqrt(MarchenkoPastur(math.exp(log_ratio)).ppf(levels))
        scale = float(law @ seen) / float(law @ law)
        return float(np.sum((seen - scale * law) ** 2)), scale

    start = math.log(ratio)
    bounds = (start - 2.5, min(0.0, start + 2.5))
    best = minimize_scalar(lambda r: fitted(r)[0], bounds=bounds, method="bounded", options={"xatol": 1e-4})
    return fitted(float(best.x))[1], math.exp(float(best.x))
