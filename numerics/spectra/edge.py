"""How many singular values of a finite matrix are outliers, at a stated false-alarm rate (R4).

Sequentially, from the largest: the k-th squared singular value is tested against the Tracy-Widom law of a noise matrix
with k - 1 columns fewer, until one test does not reject. The noise scale is estimated together with the spikes.

The rate is that of iid entries with light tails; their excess kurtosis moves the edge by a Tracy-Widom unit or so at
the sizes one meets, which is corrected (`noise_edge`). Rows or columns of unequal variance move it further: they are
tested for, and where they are found each is divided by its noise level first. Unequal on both sides, or heavy tails:
no rate is quoted.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh
from scipy.special import fdtrc

from bulkedge.numerics.spectra import tracy_widom
from bulkedge.numerics.spectra.marchenko_pastur import Floats, MarchenkoPastur
from bulkedge.theory.numbers.errors import InputError

SMALLEST = 8  # sides below this have no bulk to speak of
UNEQUAL = 1e-3  # p-value below which variances count as unequal
HEAVY = 3.5  # excess kurtosis beyond which the corrected edge is not trusted (Laplace noise has 3)


def matrix(values: ArrayLike, argument: str = "matrix") -> Floats:
    """A real matrix with both sides at least SMALLEST and finite entries; InputError says which of these fails."""
    array = np.asarray(values)
    if array.dtype == object or not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise InputError(argument, f"holds {array.dtype} values", "give an array of real numbers")
    if np.iscomplexobj(array):
        raise InputError(argument, "holds complex numbers", "give an array of real numbers")
    if array.ndim != 2:
        raise InputError(argument, f"has {array.ndim} dimensions", "give a matrix (reshape a kernel first)")
    if min(array.shape) < SMALLEST:
        raise InputError(argument, f"has shape {array.shape}", f"give at least {SMALLEST} rows and columns")
    array = array.astype(float)
    if not np.all(np.isfinite(array)):
        raise InputError(argument, "holds nan or infinite entries", "remove them")
    largest = float(np.max(np.abs(array)))
    if largest and not 1e-20 <= largest <= 1e20:  # fourth powers are taken, and the law's scale is a square
        raise InputError(argument, f"holds entries of size {largest:.1g}", "rescale it to entries nearer to 1")
    if not np.any(array - array.flat[0]):
        raise InputError(argument, "is constant", "give a matrix with a spectrum")
    return array


@dataclass(frozen=True)
class Homogeneity:
    """Whether the noise's squared entries vary between rows or columns more than within (p-values), and its tails.

    `kurtosis` is the entries' excess kurtosis (0 for a Gaussian).
    """

    p_rows: float
    p_columns: float
    kurtosis: float

    @property
    def kind(self) -> str:
        """One of iid, rows, columns, both: where the variances are unequal."""
        unequal = (self.p_rows < UNEQUAL / 2, self.p_columns < UNEQUAL / 2)
        return {(False, False): "iid", (True, False): "rows", (False, True): "columns", (True, True): "both"}[unequal]


def squared_singular_values(array: Floats) -> Floats:
    """All squared singular values (decreasing, min(shape) of them) of a matrix of any content."""
    wide = array if array.shape[0] <= array.shape[1] else array.T
    return _descending(wide @ wide.T)


def _descending(gram: Floats) -> Floats:
    return np.asarray(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))


@dataclass(frozen=True)
class Spectrum:
    """A matrix's squared singular values (decreasing, min(shape) of them) and its leading singular vectors."""

    squared: Floats
    left: Floats
    right: Floats


def spectrum(array: Floats, count: Callable[[Floats], int] | int = 0) -> Spectrum:
    """All squared singular values and the `count` leading singular vectors, through the smaller Gram matrix.

    `count` may be a function of the squared singular values, so that the Gram matrix serves once.
    """
    wide = array if array.shape[0] <= array.shape[1] else array.T
    gram = wide @ wide.T
    size = len(gram)
    squared = _descending(gram)
    if squared[size // 2] <= 1e-15 * size * squared[0]:  # rounding errors of the Gram matrix, not noise
        raise InputError("matrix", "most of its singular values vanish: it has no bulk", "give noise plus low rank")
    vectors = count if isinstance(count, int) else count(squared)
    if vectors == 0:
        left, right = np.empty((size, 0)), np.empty((wide.shape[1], 0))
    else:
        if size <= 400 or vectors > size // 10:
            left = eigh(gram, subset_by_index=[size - vectors, size - 1])[1][:, ::-1]
        else:
            # A fixed start keeps the result the same from run to run.
            left = eigsh(gram, vectors, v0=np.ones(size))[1][:, ::-1]
        right = wide.T @ left
        right /= np.linalg.norm(right, axis=0)
    return Spectrum(squared, left, right) if wide is array else Spectrum(squared, right, left)


def homogeneity(array: Floats, found: Spectrum) -> Homogeneity:
    """Two one-way analyses of variance of the squared noise entries, over rows and over columns.

    The noise is the matrix less its leading triples; a row with leverage h in them keeps 1 - h of its noise energy.
    """
    noise, kept = _noise(array, found)
    squares = noise * noise
    mean = float(squares.mean())
    squares -= mean  # so that entries of one absolute value (+-1) leave nothing but rounding
    p = []
    for axis, share in ((1, kept[0]), (0, kept[1])):
        size, counted = array.shape[axis], share > 0.5
        first = squares.mean(axis=axis)
        second = np.einsum("ij,ij->i" if axis else "ij,ij->j", squares, squares) / size
        level = ((mean + first) / share)[counted]
        spread = (np.maximum(second - first**2, 0.0) / share**2)[counted]
        between = size * float(np.var(level, ddof=1))
        within = float(np.mean(spread)) * size / (size - 1)
        # Where there is nothing within, any difference between rows is real.
        tiny = 1e-18 * float(np.mean(level)) ** 2
        even = float(between <= tiny)
        p.append(float(fdtrc(len(level) - 1, len(level) * (size - 1), between / within)) if within > tiny else even)
    return Homogeneity(p[0], p[1], _kurtosis(noise))


def equalise(array: Floats, found: Spectrum, kind: str) -> Floats:
    """The matrix with rows, columns or both divided by their noise level (mean level 1), so that the noise is even."""
    noise, kept = _noise(array, found)
    squares = noise**2 / np.outer(np.maximum(kept[0], 0.05), np.maximum(kept[1], 0.05))
    rows, columns = np.ones(len(array)), np.ones(array.shape[1])
    for _ in range(200 if kind == "both" else 1):
        if kind != "columns":
            rows = np.mean(squares / columns, axis=1)
        if kind != "rows":
            columns = np.mean(squares / rows[:, None], axis=0)
    floor = 1e-12
    rows, columns = (np.maximum(v, floor * v.mean()) / v.mean() for v in (rows, columns))
    return np.asarray(array / np.sqrt(np.outer(rows, columns)))


@functools.lru_cache(maxsize=64)
def _quantile(alarm: float) -> float:
    return float(tracy_widom.isf(alarm))


@dataclass(frozen=True)
class EdgeLaw:
    """Centre and scale of the noise's largest squared singular value: Tracy-Widom (beta = 1) after that."""

    centre: float
    scale: float

    def p(self, squared: float) -> float:
        """P(the noise's largest squared singular value exceeds `squared`)."""
        return float(tracy_widom.sf((squared - self.centre) / self.scale))

    def threshold(self, alarm: float) -> float:
        """The squared value that noise exceeds with probability `alarm`."""
        return self.centre + self.scale * _quantile(alarm)


def noise_edge(shape: tuple[int, int], spikes: int, variance: float, kappa: float = 0.0) -> EdgeLaw:
    """Johnstone's centre and scale for entries of the given variance, the smaller side less the spikes found.

    `kappa` is the entries' excess kurtosis: the rows' norms^2 vary by kappa/n more (relatively) than Gaussian ones, and
    a population of that variance has its edge further out by (kappa/n) alpha^2/sqrt c at alpha = 1 + sqrt c (R2 to
    second order), which is the factor 1 + kappa/sqrt(n p). Equal norms are kappa = -2, whatever the entries.
    """
    large, small = max(shape), min(shape) - spikes
    centre, scale = tracy_widom.johnstone(large, small)
    return EdgeLaw(variance * centre * (1 + kappa / math.sqrt(large * small)), variance * scale)


def noise_variance(squared: Floats, shape: tuple[int, int], spikes: int) -> float:
    """The entries' variance from the squared singular values, the `spikes` largest of which are signal.

    The trace less the spikes' energy: p sigma2 = sum lambda/n - sum (ell_j - sigma2), ell_j the population value behind
    the j-th outlier (R3), iterated (Kritchman & Nadler 2009): the mean of the other values alone is biased by order
    spikes/p, which is more than a Tracy-Widom unit.
    """
    large, small = max(shape), min(shape)
    values = squared / large
    ratio = small / large
    total, top = float(np.sum(values)), values[:spikes]
    variance = float(np.sum(values[spikes:])) / (small - spikes)
    for _ in range(100):
        shift = top / variance + 1 - ratio
        # A value that the current scale puts inside the bulk counts with the threshold.
        ell = (shift + np.sqrt(np.maximum(shift**2 - 4 * top / variance, 0.0))) / 2
        updated = (total - variance * float(np.sum(ell - 1))) / small
        if not updated > 0 or abs(updated - variance) <= 1e-14 * variance:
            break
        variance = updated
    return variance


def sequential(squared: Floats, shape: tuple[int, int], alarm: float, kappa: float = 0.0) -> int:
    """The count of the sequential test on squared singular values (decreasing).

    Each test estimates the noise as if no further value were signal, which is exact under its null hypothesis; the
    estimate is then repeated with the count found, since further spikes had inflated it, until the count is stable.
    """
    count = -1
    found = 0
    while found > count:
        count = found
        variance = noise_variance(squared, shape, count)
        while found < len(squared) - 2 and squared[found] > noise_edge(shape, found, variance, kappa).threshold(alarm):
            found += 1
    return found


@dataclass(frozen=True)
class OutlierCount:
    """The outliers of a matrix: how many, at which alarm rate, the edge they passed, and each one's p-value.

    `rate` is None where none can be quoted, and `reason` says why. `scaled` is the side whose noise levels were
    equalised first (none, rows, columns, both); all values then refer to the scaled matrix, `analysed`. `edge` is the
    limit edge and `threshold` what noise exceeds at the rate, both as singular values; `variance` that of a noise
    entry, `tails` the noise entries' excess kurtosis.
    """

    count: int
    rate: float | None
    reason: str
    scaled: str
    shape: tuple[int, int]
    variance: float
    edge: float
    threshold: float
    p_values: tuple[float, ...]
    spectrum: Spectrum
    homogeneity: Homogeneity
    tails: float
    analysed: Floats


def count_outliers(values: ArrayLike, alarm: float = 0.01, *, adjust: bool = True) -> OutlierCount:
    """The number of outliers among the singular values of a matrix of noise plus low rank, at a false-alarm rate.

    Valid for: noise with independent light-tailed entries of mean 0, of unequal variance on one side at most (equalised
    first, unless `adjust` is False); sides of at least 8.
    Accuracy: the rate P(any outlier is reported | noise only) is calibrated by simulation in the ledger.
    Errors: InputError for an alarm rate outside (0, 1/2] or an array that is not a usable matrix.
    Source: R4; Johnstone 2001, Kritchman & Nadler 2009; Bao, Pan & Zhou 2012 (matrices with equal norms).
    """
    return outliers_of(matrix(values), alarm, adjust=adjust)


def outliers_of(array: Floats, alarm: float, *, adjust: bool = True) -> OutlierCount:
    """`count_outliers` of an array that `matrix` has accepted."""
    if not 0 < alarm <= 0.5:
        raise InputError("alarm", f"{alarm!r} is not a false-alarm rate", "give a number in (0, 1/2]")
    found, count = _analyse(array, alarm, _kurtosis(array))
    even = homogeneity(array, found)
    scaled = even.kind if adjust else "iid"
    kappa = even.kurtosis if scaled == "iid" else -2.0
    analysed = array
    if scaled != "iid":
        # Spikes hide in the noise levels: first take the levels of the whole matrix (right if it is noise only, so that
        # the rate is kept), then those without the outliers found, until the count settles.
        count, removed = -1, Spectrum(found.squared, found.left[:, :0], found.right[:, :0])
        for _ in range(10):
            analysed = equalise(array, removed, scaled)
            found, again = _analyse(analysed, alarm, kappa)
            if again == count or again == 0:
                count = again
                break
            count, removed = again, _unscale(array, found)
    tails = even.kurtosis if analysed is array else _kurtosis(residual(analysed, found))
    variance = noise_variance(found.squared, array.shape, count)
    reason = ""
    if scaled == "both":
        reason = "the noise level varies over rows and over columns"
    elif tails > HEAVY:
        reason = f"the entries have heavy tails (excess kurtosis {tails:.2g})"
    large, small = max(array.shape), min(array.shape)
    p_values = tuple(noise_edge(array.shape, k, variance, kappa).p(float(found.squared[k])) for k in range(count))
    return OutlierCount(
        count=count,
        rate=None if reason else alarm,
        reason=reason,
        scaled={"iid": "none"}.get(scaled, scaled),
        shape=(array.shape[0], array.shape[1]),
        variance=variance,
        edge=math.sqrt(large * MarchenkoPastur(small / large, variance).edges[1]),
        threshold=math.sqrt(noise_edge(array.shape, count, variance, kappa).threshold(alarm)),
        p_values=p_values,
        spectrum=found,
        homogeneity=even,
        tails=tails,
        analysed=analysed,
    )


def _analyse(array: Floats, alarm: float, kappa: float) -> tuple[Spectrum, int]:
    found = spectrum(array, lambda squared: sequential(squared, array.shape, alarm, kappa))
    return found, found.left.shape[1]


def _kurtosis(entries: Floats) -> float:
    squares = (entries - entries.mean()).ravel()
    squares *= squares
    return float(squares @ squares) / len(squares) / float(squares.mean()) ** 2 - 3


def _unscale(array: Floats, found: Spectrum) -> Spectrum:
    """The leading triples of the scaled matrix as (nearly singular) triples of the matrix itself."""
    left = np.linalg.qr(array @ found.right)[0]
    right = np.linalg.qr(array.T @ left)[0]
    return Spectrum(found.squared, left, right)


def residual(array: Floats, found: Spectrum) -> Floats:
    """The matrix less its leading triples."""
    return array - found.left @ (found.left.T @ array) if found.left.shape[1] else array


def _noise(array: Floats, found: Spectrum) -> tuple[Floats, tuple[Floats, Floats]]:
    """The matrix less its leading triples, and the shares of noise energy that rows and columns keep."""
    kept = tuple(1 - np.sum(side**2, axis=1) for side in (found.left, found.right))
    return residual(array, found), kept
