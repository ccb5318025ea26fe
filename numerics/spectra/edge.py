"""How many singular values of a finite matrix are outliers, at a stated false-alarm rate (R4).

Sequentially, from the largest: the k-th squared singular value is tested against the Tracy-Widom law of a noise matrix
with k - 1 rows and columns fewer, until one test does not reject. The noise scale is estimated together with the
spikes.

The rate is that of iid entries with light tails; their excess kurtosis moves the edge by a Tracy-Widom unit or so at
the sizes one meets, which is corrected (`noise_edge`). Rows or columns of unequal variance move it further: they are
tested for, and where they are found each is divided by its noise level first. Unequal on both sides, heavy tails, or
no bulk left: no rate is quoted.
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
from bulkedge.numerics.spectra.separable import SeparableNoise
from bulkedge.numerics.spectra.spike import covariance
from bulkedge.numerics.trials.domain import positive
from bulkedge.theory.numbers.errors import InputError

SMALLEST = 8  # sides below this, and fewer values, have no bulk to speak of
UNEQUAL = 1e-3  # p-value below which variances count as unequal
HEAVY = 3.5  # excess kurtosis beyond which the corrected edge is not trusted (Laplace noise has 3)
_FLOOR = 1e-12  # of the mean variance: the least a row's or a column's may be
_ROUNDS, _SETTLED = 20, 0.01  # of levels and count together, until no level moves by more
_SHUFFLED = 1.0  # excess kurtosis from which an outlier is also compared with the same entries shuffled
_LONE = 0.8  # largest entry, in units of the strength (n p)^(1/4) at which a single entry is an outlier by itself


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
        if np.count_nonzero(counted) < 2:  # the outliers hold the rest: nothing to compare
            p.append(1.0)
            continue
        second = np.einsum("ij,ij->i" if axis else "ij,ij->j", squares, squares) / size
        share, first, second = share[counted], first[counted], second[counted]
        level = (mean + first) / share
        spread = np.maximum(second - first**2, 0.0) / share**2
        between = size * float(np.var(level, ddof=1))
        within = float(np.mean(spread)) * size / (size - 1)
        # Where there is nothing within, any difference between rows is real.
        tiny = 1e-18 * float(np.mean(level)) ** 2
        even = float(between <= tiny)
        p.append(float(fdtrc(len(level) - 1, len(level) * (size - 1), between / within)) if within > tiny else even)
    return Homogeneity(p[0], p[1], _kurtosis(noise))


def levels(array: Floats, found: Spectrum, kind: str) -> tuple[Floats, Floats]:
    """The noise levels (standard deviations, mean square one) of rows and columns; ones on a side not in `kind`."""
    noise, kept = _noise(array, found)
    squares = noise**2 / np.outer(np.maximum(kept[0], 0.05), np.maximum(kept[1], 0.05))
    rows, columns = np.ones(len(array)), np.ones(array.shape[1])
    for _ in range(200 if kind == "both" else 1):
        before = rows
        if kind != "columns":
            rows = np.mean(squares / columns, axis=1)
            rows = np.maximum(rows, _FLOOR * rows.mean())
        if kind != "rows":
            columns = np.mean(squares / rows[:, None], axis=0)
            columns = np.maximum(columns, _FLOOR * columns.mean())
        if float(np.max(np.abs(rows - before))) <= 1e-9 * float(np.max(rows)):
            break
    return np.sqrt(rows / rows.mean()), np.sqrt(columns / columns.mean())


def equalise(array: Floats, found: Spectrum, kind: str) -> Floats:
    """The matrix with rows, columns or both divided by their noise level (`levels`), so that the noise is even."""
    return np.asarray(array / np.outer(*levels(array, found, kind)))


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


def _kurtosis_factor(large: int, small: int, kappa: float) -> float:
    """1 + kappa/sqrt(n p), what the entries' excess kurtosis does to the edge.

    The rows' norms^2 vary by kappa/n more (relatively) than Gaussian ones, and a population of that variance has its
    edge further out by (kappa/n) alpha^2/sqrt c at alpha = 1 + sqrt c (R2 to second order). Equal norms are kappa = -2,
    whatever the entries.
    """
    return 1 + kappa / math.sqrt(large * small)


def noise_edge(shape: tuple[int, int], spikes: int, variance: float, kappa: float = 0.0) -> EdgeLaw:
    """Johnstone's centre and scale for entries of the given variance, both sides less the spikes found.

    By interlacing, what k strong spikes leave lies between the spectra of the noise without k rows and of the noise
    without k rows and k columns, and is the latter to second order in noise over strength: without the columns too, 20
    spikes in 300 x 300 put the edge 2.4 Tracy-Widom units too far out.
    `kappa` is the entries' excess kurtosis (`_kurtosis_factor`).
    """
    large, small = max(shape) - spikes, min(shape) - spikes
    centre, scale = tracy_widom.johnstone(large, small)
    return EdgeLaw(variance * centre * _kurtosis_factor(large, small, kappa), variance * scale)


def limit_edge(shape: tuple[int, int], spikes: int, variance: float, kappa: float = 0.0) -> float:
    """The squared singular values' edge: Marchenko-Pastur, both sides less the spikes, times the kurtosis factor."""
    large, small = max(shape) - spikes, min(shape) - spikes
    return large * MarchenkoPastur(small / large, variance).edges[1] * _kurtosis_factor(large, small, kappa)


def most_outliers(small: int) -> int:
    """How many outliers a matrix may have so that a bulk is left: three quarters, and eight values of sixteen."""
    return small - max(small // 4, min(SMALLEST, small - small // 4))


def noise_variance(squared: Floats, shape: tuple[int, int], spikes: int) -> float:
    """The entries' variance from the squared singular values, the `spikes` largest of which are signal.

    The trace less the spikes' energy: p sigma2 = sum lambda/n - sum (ell_j - sigma2), ell_j the population value behind
    the j-th outlier (R3), iterated (Kritchman & Nadler 2009): the mean of the other values alone is biased by order
    spikes/p, which is more than a Tracy-Widom unit.
    """
    large, small = max(shape), min(shape)
    values = squared / large
    model = covariance(small / large)
    total, top = float(np.sum(values)), values[:spikes]
    variance = float(np.sum(values[spikes:])) / (small - spikes)
    for _ in range(100):
        # A value that the current scale puts inside the bulk counts with the threshold.
        ell = model.strength_or_threshold(top / variance)
        updated = (total - variance * float(np.sum(ell - 1))) / small
        if not updated > 0 or abs(updated - variance) <= 1e-14 * variance:
            break
        variance = updated
    return variance


def sequential(
    squared: Floats, shape: tuple[int, int], alarm: float, kappa: float = 0.0, known: float | None = None
) -> int:
    """The count of the sequential test on squared singular values (decreasing), `most_outliers` at most.

    Each test estimates the noise as if no further value were signal, which is exact under its null hypothesis; the
    estimate is then repeated with the count found, since further spikes had inflated it, until the count is stable.
    With a `known` variance nothing is estimated.
    """
    count = -1
    found, most = 0, most_outliers(min(shape))
    while found > count:
        count = found
        variance = noise_variance(squared, shape, count) if known is None else known
        while found < most and squared[found] > noise_edge(shape, found, variance, kappa).threshold(alarm):
            found += 1
    return found


@dataclass(frozen=True)
class OutlierCount:
    """The outliers of a matrix: how many, at which alarm rate, the edge they passed, and each one's p-value.

    `rate` is None where none can be quoted, and `reason` says why. `scaled` is the side whose noise levels were
    equalised first (none, rows, columns, both); all values then refer to the scaled matrix, `analysed`, which is the
    matrix over the outer product of `levels`. `edge` is the limit edge and `threshold` what noise exceeds at the rate,
    both as singular values; `variance` that of a noise entry, `tails` the noise entries' excess kurtosis, `kappa` the
    one that the edge was corrected for. `exhausted`: the test went on to `most_outliers`, no bulk is left.
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
    kappa: float
    analysed: Floats
    levels: tuple[Floats, Floats]
    exhausted: bool


def count_outliers(
    values: ArrayLike, alarm: float = 0.01, *, adjust: bool = True, scale: float | None = None
) -> OutlierCount:
    """The number of outliers among the singular values of a matrix of noise plus low rank, at a false-alarm rate.

    Valid for: noise with independent light-tailed entries of mean 0, of unequal variance on one side at most (equalised
    first, unless `adjust` is False); sides of at least 8. With a `scale`, the noise entries' known standard deviation,
    nothing is estimated or equalised.
    Accuracy: the rate P(any outlier is reported | noise only) is calibrated by simulation in the ledger.
    Errors: InputError for an alarm rate outside (0, 1/2] or an array that is not a usable matrix.
    Source: R4; Johnstone 2001, Kritchman & Nadler 2009; Bao, Pan & Zhou 2012 (matrices with equal norms).
    """
    return outliers_of(matrix(values), alarm, adjust=adjust, scale=scale)


def outliers_of(array: Floats, alarm: float, *, adjust: bool = True, scale: float | None = None) -> OutlierCount:
    """`count_outliers` of an array that `matrix` has accepted."""
    if not 0 < alarm <= 0.5:
        raise InputError("alarm", f"{alarm!r} is not a false-alarm rate", "give a number in (0, 1/2]")
    known = None if scale is None else positive(scale, "scale") ** 2
    found, count = _analyse(array, alarm, _kurtosis(array), known)
    even = homogeneity(array, found)
    scaled = even.kind if adjust and known is None else "iid"
    kappa = even.kurtosis if scaled == "iid" else -2.0
    analysed, by = array, (np.ones(len(array)), np.ones(array.shape[1]))
    plain = found.squared
    if scaled != "iid":
        by, analysed, found, count = _levelled(array, scaled, alarm)
    noise = residual(analysed, found)
    variance = noise_variance(found.squared, array.shape, count) if known is None else known
    doubtful = _with_the_weakest(analysed, noise, found, variance)
    tails = max(_kurtosis(noise), _kurtosis(doubtful))
    exhausted = count > 0 and count == most_outliers(min(array.shape))
    reason = ""
    if exhausted:
        reason = f"{count} of {min(array.shape)} values lie beyond the edge: no bulk is left to test"
    elif scaled == "both":
        reason = "the noise level varies over rows and over columns"
    elif scaled != "iid" and count and (doubt := _levels_in_doubt(plain, found, by, variance, alarm)):
        reason = doubt
    elif tails > HEAVY:
        reason = f"the entries have heavy tails (excess kurtosis {tails:.2g})"
    elif (largest := _lone(analysed, doubtful, found, variance)) > 0:
        reason = f"the entries have heavy tails (one of {largest:.2g} standard deviations is nearly a spike by itself)"
    elif known is not None and even.kind != "iid":
        reason = f"the noise level varies over {'rows and columns' if even.kind == 'both' else even.kind}"
    elif count and tails > _SHUFFLED and _shuffled_exceed(doubtful, found, alarm):
        reason = (
            f"the entries have heavy tails (excess kurtosis {tails:.2g}); shuffled, they reach as far as the outlier"
        )
    p_values = tuple(noise_edge(array.shape, k, variance, kappa).p(float(found.squared[k])) for k in range(count))
    return OutlierCount(
        count=count,
        rate=None if reason else alarm,
        reason=reason,
        scaled={"iid": "none"}.get(scaled, scaled),
        shape=(array.shape[0], array.shape[1]),
        variance=variance,
        edge=math.sqrt(limit_edge(array.shape, count, variance, kappa)),
        threshold=math.sqrt(noise_edge(array.shape, count, variance, kappa).threshold(alarm)),
        p_values=p_values,
        spectrum=found,
        homogeneity=even,
        tails=tails,
        kappa=kappa,
        analysed=analysed,
        levels=by,
        exhausted=exhausted,
    )


def _levelled(array: Floats, kind: str, alarm: float) -> tuple[tuple[Floats, Floats], Floats, Spectrum, int]:
    """Noise levels and outliers together: the levels, the equalised matrix, its spectrum and count.

    Spikes hide in the noise levels. First the levels of the whole matrix (right if it is noise only, so that the rate
    is kept; else too large), the edge of noise with such levels on the matrix as it is, and again without what lies
    beyond. Then they are corrected on the equalised matrix, without the outliers found there, until count and levels
    settle: only where the noise is even do a row's leverages say how much of its noise the outliers took, else the
    loud rows' noise leaks into the quiet ones.
    """
    found, before = spectrum(array), -1
    most = most_outliers(min(array.shape))
    for _ in range(_ROUNDS):
        by = levels(array, found, kind)
        noise = residual(array, found)
        mean = float(np.sum(noise * noise)) / float(np.sum(np.outer(by[0] ** 2, by[1] ** 2)))
        threshold = SeparableNoise(mean * by[0] ** 2, by[1] ** 2).threshold(alarm)
        count = min(int(np.sum(found.squared > threshold)), most)
        if count <= before:
            break
        found, before = spectrum(array, count), count
    before = -1
    for _ in range(_ROUNDS):
        analysed = array / np.outer(*by)
        found, count = _analyse(analysed, alarm, -2.0)
        # A row that the outliers mostly hold says little of its noise: it keeps its level; and no level runs away.
        shares = (np.sum(side**2, axis=1) for side in (found.left, found.right))
        raw = levels(analysed, found, kind)
        change = tuple(np.where(h > 0.5, 1.0, np.clip(c, 0.5, 2.0)) for c, h in zip(raw, shares, strict=True))
        if count == most:
            break
        if count == before and max(float(np.max(np.abs(np.log(side)))) for side in change) < _SETTLED:
            break
        before = count
        by = (by[0] * change[0], by[1] * change[1])
        by = (by[0] / float(np.sqrt(np.mean(by[0] ** 2))), by[1] / float(np.sqrt(np.mean(by[1] ** 2))))
    return by, analysed, found, count


def _levels_in_doubt(plain: Floats, found: Spectrum, by: tuple[Floats, Floats], variance: float, alarm: float) -> str:
    """Why no rate holds for outliers of an equalised matrix, or nothing.

    The levels are estimated with the outliers: where these hold most of a row, or where they are not all seen in the
    matrix as it was (`plain`, its squared singular values, against the separable law of the levels), one may be theirs.
    """
    held = max(float(np.max(np.sum(side**2, axis=1))) for side in (found.left, found.right))
    if held > 0.5:
        return f"the outliers hold {held:.0%} of a row or column, its noise level cannot be told"
    law = SeparableNoise(variance * by[0] ** 2, by[1] ** 2)
    factor = 1 - 2 / math.sqrt(by[0].size * by[1].size)
    seen, count = int(np.sum(plain > factor * law.threshold(alarm))), found.left.shape[1]
    return f"only {seen} of {count} values pass the edge before noise levels are equalised" if seen < count else ""


def _with_the_weakest(array: Floats, noise: Floats, found: Spectrum, variance: float) -> Floats:
    """The noise and the weakest outlier, unless that holds a tenth of the noise's energy and is no chance of its tails.

    What a false alarm is judged by must not have lost the entries that made it: only then is the judgement the same
    for every order of the entries, so that a rate which holds over all orders holds among those it is quoted for.
    """
    count = found.left.shape[1]
    if count == 0 or found.squared[count - 1] > 0.1 * noise.size * variance:
        return noise
    return residual(array, Spectrum(found.squared, found.left[:, :-1], found.right[:, :-1]))


def _shuffled_exceed(rest: Floats, found: Spectrum, alarm: float) -> bool:
    """Whether the same entries in another order reach the weakest outlier's value, the stronger ones removed.

    Under any law of independent entries all orders are equally likely: 1/alarm - 1 of them (99 at most, 19 of a large
    matrix) give a test at that rate which no tail can mislead. Asked only where the corrected edge may be misled.
    """
    observed = float(found.squared[found.left.shape[1] - 1])
    rng = np.random.default_rng(0)
    most = 99 if min(rest.shape) <= 300 else 19
    for _ in range(min(most, math.ceil(1 / alarm) - 1)):
        shuffled: Floats = rng.permutation(rest.ravel()).reshape(len(rest), -1)
        wide = shuffled if len(shuffled) <= rest.shape[1] else shuffled.T
        size = len(wide)
        if size <= 300:
            largest = float(eigh(wide @ wide.T, eigvals_only=True, subset_by_index=[size - 1, size - 1])[0])
        else:
            largest = float(eigsh(wide @ wide.T, 1, v0=np.ones(size), return_eigenvectors=False, tol=1e-4)[0])
        if largest >= observed:
            return True
    return False


def _lone(array: Floats, noise: Floats, found: Spectrum, variance: float) -> float:
    """The largest entry, in standard deviations, if it is nearly a spike by itself; else 0.

    A single entry is an outlier from the strength (n p)^(1/4) on. The kurtosis of a sample misses what makes the edge
    of t5 noise fail, its few largest entries; and one that was counted is no longer in the noise: it is sought where
    the outliers' vectors sit on one row and one column. Small Gaussian matrices have entries of that size too: up to
    sqrt(2 log(2 n p)) + 1/2 is never taken for a tail, and no vector for localised below four times its largest share.
    """
    limit: float = max(_LONE * noise.size**0.25, math.sqrt(2 * math.log(2 * noise.size)) + 0.5)
    largest = float(np.max(np.abs(noise)))
    for left, right in zip(found.left.T, found.right.T, strict=True):
        row, column = int(np.argmax(np.abs(left))), int(np.argmax(np.abs(right)))
        shares = ((left[row] ** 2, len(left)), (right[column] ** 2, len(right)))
        if all(share > max(0.1, 4 * math.log(size) / size) for share, size in shares):
            largest = max(largest, abs(float(array[row, column])))
    largest /= math.sqrt(variance)
    return largest if largest > limit else 0.0


def _analyse(array: Floats, alarm: float, kappa: float, known: float | None = None) -> tuple[Spectrum, int]:
    found = spectrum(array, lambda squared: sequential(squared, array.shape, alarm, kappa, known))
    return found, found.left.shape[1]


def _kurtosis(entries: Floats) -> float:
    squares = (entries - entries.mean()).ravel()
    squares *= squares
    mean = float(squares.mean())
    return float(squares @ squares) / len(squares) / mean**2 - 3 if mean > 0 else 0.0


def residual(array: Floats, found: Spectrum) -> Floats:
    """The matrix less its leading triples."""
    return array - found.left @ (found.left.T @ array) if found.left.shape[1] else array


def _noise(array: Floats, found: Spectrum) -> tuple[Floats, tuple[Floats, Floats]]:
    """The matrix less its leading triples, and the shares of noise energy that rows and columns keep."""
    kept = tuple(1 - np.sum(side**2, axis=1) for side in (found.left, found.right))
    return residual(array, found), kept
