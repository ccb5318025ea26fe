"""The spectrum of a weight matrix that a user brings (R5): bulk, edge, outliers, strengths, overlaps, and the fit.

The model is W = noise + low rank, noise entries independent of standard deviation `scale`; singular values, edges and
strengths are in the units of the file. Whether Marchenko-Pastur fits the bulk at all is a test of its own.
"""

from __future__ import annotations

import csv
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from bulkedge.numerics.spectra.edge import (
    HEAVY,
    OutlierCount,
    Spectrum,
    equalise,
    matrix,
    outliers_of,
    residual,
    squared_singular_values,
)
from bulkedge.numerics.spectra.marchenko_pastur import Floats, MarchenkoPastur
from bulkedge.numerics.spectra.spike import SpikedModel, rectangular
from bulkedge.theory.functions import parse
from bulkedge.theory.numbers.errors import InputError

SUFFIXES = (".npy", ".npz", ".csv")
MISFIT = 0.01  # p-value of the fit below which the bulk is not called Marchenko-Pastur
_MAGIC = {".npy": b"\x93NUMPY", ".npz": b"PK"}
_SIDE = 128  # smaller side of the simulated matrices that calibrate the fit
_DRAWS = 199


def read_matrix(path: str | Path, array: str | None = None, argument: str = "FILE") -> NDArray[np.generic]:
    """The array in a .npy, .npz or .csv file. Pickled objects are never loaded.

    A .npz file needs `array` if it holds more than one matrix; a .csv file may begin with one line of column names.
    Errors: InputError for a missing, empty or unreadable file, another suffix, a name that is not there, entries that
    are not numbers (with line and column), rows of unequal length.
    """
    file = Path(parse.path(path, argument))
    if array is not None and not isinstance(array, str):
        raise InputError("array", f"{parse.shorten(array)} is no name", "give the name of an array of the file")
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(argument, f"{str(file)!r} has no suffix that is read", f"give a file in {', '.join(SUFFIXES)}")
    if not file.is_file():
        raise InputError(argument, f"there is no file {str(file)!r}", "check the path")
    if array is not None and file.suffix.lower() != ".npz":
        raise InputError("array", f"{file.name!r} holds a single array", "leave --array out")
    try:
        if file.stat().st_size == 0:
            raise InputError(argument, f"{file.name!r} is empty", "give a file that holds a matrix")
        if file.suffix.lower() == ".csv":
            return _read_csv(file, argument)
        with file.open("rb") as opened:
            start = opened.read(6)
        if not start.startswith(_MAGIC[file.suffix.lower()]):  # NumPy would take it for a pickle
            raise InputError(argument, f"{file.name!r} is no {file.suffix.lower()} file", "save it with NumPy")
        # Mapping the file checks its size against the header before anything is allocated.
        if file.suffix.lower() == ".npy":
            return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
        with np.load(file, allow_pickle=False) as archive:
            return np.asarray(archive[_member(archive, array, argument)])
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, KeyError, MemoryError, SyntaxError) as error:
        if isinstance(error, InputError):
            raise
        if "pickle" in str(error).lower() or "object" in str(error).lower():
            raise InputError(
                argument,
                f"{file.name!r} is no plain array (pickled Python objects are not loaded)",
                "save plain numbers",
            ) from None
        raise InputError(argument, f"{file.name!r} cannot be read as {file.suffix.lower()}", "save it again") from None


def _member(archive: np.lib.npyio.NpzFile, array: str | None, argument: str) -> str:
    names = archive.files
    if array is not None:
        if array not in names:
            raise InputError(
                "array", f"there is no array {array[:40]!r}", f"the file holds {', '.join(names[:20]) or 'none'}"
            )
        return array
    if len(names) == 1:
        return str(names[0])
    matrices = [name for name in names if _is_matrix(archive, name)]
    if len(matrices) == 1:
        return str(matrices[0])
    if not matrices:
        held = ", ".join(names[:20]) or "nothing"
        raise InputError(argument, f"the file holds no matrix, but {held}", "save an array of two dimensions")
    choice = ", ".join(matrices[:20])
    raise InputError(argument, f"the file holds {len(matrices)} matrices", f"name one with --array ({choice})")


def _is_matrix(archive: np.lib.npyio.NpzFile, name: str) -> bool:
    try:
        return bool(archive[name].ndim == 2)
    except ValueError:  # an object array, which is not loaded
        return False


def _read_csv(file: Path, argument: str) -> Floats:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(argument, f"{file.name!r} is not text", "give comma-separated numbers") from None
    rows: list[list[float]] = []
    lines: list[int] = []
    for number, cells in enumerate(csv.reader(text.splitlines()), 1):
        if not any(cell.strip() for cell in cells):
            continue
        try:
            rows.append([float(cell) for cell in cells])
        except ValueError:
            if not lines and number == 1 and not any(_is_number(cell) for cell in cells):
                continue  # column names
            column = next(index for index, cell in enumerate(cells, 1) if not _is_number(cell))
            separator = _separator(cells[column - 1])
            if separator:
                problem = f"line {number} separates its numbers by {separator}"
                raise InputError(argument, problem, "separate them by commas") from None
            problem = f"line {number}, column {column}: {cells[column - 1][:20]!r} is not a number"
            raise InputError(argument, problem, "give comma-separated numbers") from None
        lines.append(number)
        if len(rows[-1]) != len(rows[0]):
            problem = f"line {number} has {len(rows[-1])} numbers, line {lines[0]} has {len(rows[0])}"
            raise InputError(argument, problem, "give rows of equal length")
    if not rows:
        raise InputError(argument, f"{file.name!r} holds no numbers", "give comma-separated numbers")
    return np.array(rows)


def _separator(cell: str) -> str:
    """What stands between the numbers of a cell that holds several; empty if it does not."""
    for name, mark in (("semicolons", ";"), ("tabs", "\t"), ("spaces", None)):
        parts = cell.split(mark)
        if len(parts) > 1 and all(map(_is_number, parts)):
            return name
    return ""


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Fit:
    """How well Marchenko-Pastur fits the bulk.

    `distance` is the largest gap between the distribution functions; `p` the share of iid noise matrices with a larger
    one, their entries drawn from the matrix's own, or Gaussian where those have heavy tails. `scale` and `ratio` are
    fitted to the bulk's middle quantiles alone, the shape not being used: where the law fits they are the noise's scale
    and the ratio of smaller to larger side.
    """

    distance: float
    p: float
    scale: float
    ratio: float


@dataclass(frozen=True)
class Overlap:
    """Squared overlap of one outlier's singular vector with one direction; `signal` is corrected for the vector's turn.

    `signal` estimates the direction's squared overlap c^2 with the signal itself: the measured one over kept, what O2
    predicts for an outlier of this strength. It may pass 1: next to the threshold kept is small and steep, so that the
    strength's error is most of it. `squared_sd` is the fluctuation of `squared` about c^2 kept, `signal_sd` that of
    `signal` with kept's own, from kept at strength -+ sd.
    """

    outlier: int
    direction: int
    side: str
    squared: float
    signal: float
    squared_sd: float
    signal_sd: float


@dataclass(frozen=True)
class WeightSpectrum:
    """What `analyse` finds. Singular values, `edge`, `threshold` and `strengths` are in the matrix's own units.

    `p_values` and `strength_sd` go with `outliers` (decreasing). `rate` is None, with the `reason`, where no rate of
    false alarms can be quoted. `scaled` names the side whose noise levels were equalised first.
    """

    shape: tuple[int, int]
    scale: float
    scale_error: float
    edge: float
    threshold: float
    outliers: tuple[float, ...]
    p_values: tuple[float, ...]
    strengths: tuple[float, ...]
    strength_sd: tuple[float, ...]
    overlaps: tuple[Overlap, ...]
    fit: Fit
    rate: float | None
    reason: str
    scaled: str
    values: Floats

    @property
    def law(self) -> MarchenkoPastur:
        """The noise's law for squared singular values."""
        return MarchenkoPastur(min(self.shape) / max(self.shape), max(self.shape) * self.scale**2)


def analyse(
    weights: ArrayLike,
    directions: ArrayLike | None = None,
    *,
    alarm: float = 0.01,
    rng: np.random.Generator,
    draws: int = _DRAWS,
) -> WeightSpectrum:
    """Bulk, edge, outliers with p-values and strengths, overlaps with directions, and whether the law fits.

    Valid for: independent noise plus low rank (R4 for the rate); where Marchenko-Pastur does not fit (`fit.p` below
    0.01) no rate is quoted.
    Shapes: weights d x N; directions are vectors of length d (left) or N (right): one, or a matrix's columns or rows.
    Accuracy: strengths have the standard deviation of R3; `fit.p` is a simulation of `draws` matrices from `rng`.
    Errors: InputError for an unusable matrix, direction or alarm rate.
    Source: R5, R4, O2.
    """
    array = matrix(weights, "FILE")
    sides = _directions(array.shape, directions)
    found = outliers_of(array, alarm)
    large, small = max(array.shape), min(array.shape)
    scale = math.sqrt(found.variance)
    model = rectangular(array.shape[1] / array.shape[0], scale * math.sqrt(array.shape[0]))
    values = np.sqrt(found.spectrum.squared)
    # At a lax alarm rate an outlier may lie a hair inside the limit edge: its strength is then the threshold's.
    seen = np.maximum(values[: found.count], model.edges[1] * (1 + 1e-9))
    strengths = model.strength(seen) if found.count else np.empty(0)
    fit = _fit(found, rng, draws)
    rate, reason = found.rate, found.reason
    if fit.p < MISFIT:
        misfit = f"Marchenko-Pastur does not fit the bulk (distance {fit.distance:.3g}, p = {fit.p:.2g})"
        rate, reason = None, f"{reason}; {misfit}" if reason else misfit
    return WeightSpectrum(
        shape=(array.shape[0], array.shape[1]),
        scale=scale,
        scale_error=scale * math.sqrt((2 + max(found.tails, 0.0)) / (4 * large * small)),
        edge=found.edge,
        threshold=found.threshold,
        outliers=tuple(values[: found.count].tolist()),
        p_values=found.p_values,
        strengths=tuple(strengths.tolist()),
        strength_sd=tuple(_strength_sd(model, s, array.shape[0]) for s in strengths.tolist()),
        overlaps=_overlaps(array, found, sides, strengths, model),
        fit=fit,
        rate=rate,
        reason=reason,
        scaled=found.scaled,
        values=values,
    )


def _strength_sd(model: SpikedModel, strength: float, size: int) -> float:
    """The outlier's standard deviation over the slope of the map (difference quotient inside the formula's range)."""
    step = 1e-5 * strength
    slope = float(model.outlier(strength + step) - model.outlier(strength)) / step
    return float(model.sd(strength, size)) / slope if slope > 0 else strength


def _directions(shape: tuple[int, ...], directions: ArrayLike | None) -> list[tuple[str, Floats]]:
    """(side, unit vector) of every direction; a length that fits both sides is compared with both."""
    if directions is None:
        return []
    given = np.asarray(directions)
    if given.dtype == object or not np.issubdtype(given.dtype, np.number) or np.iscomplexobj(given):
        raise InputError("directions", f"holds {given.dtype} values", "give real numbers")
    given = given.astype(float)
    if given.ndim not in (1, 2) or given.size == 0:
        raise InputError("directions", f"has shape {given.shape}", "give a vector, or vectors as columns or rows")
    vectors = given[None, :] if given.ndim == 1 else (given.T if given.shape[0] in shape else given)
    if vectors.shape[1] not in shape:
        raise InputError("directions", f"has shape {given.shape}", f"give vectors of length {shape[0]} or {shape[1]}")
    if not np.all(np.isfinite(vectors)) or np.any(np.linalg.norm(vectors, axis=1) == 0):
        raise InputError("directions", "holds nan, infinity or a zero vector", "give finite, non-zero vectors")
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [name for name, length in zip(("left", "right"), shape, strict=True) if length == vectors.shape[1]]
    return [(name, unit) for unit in units for name in names]


def _overlaps(
    array: Floats, found: OutlierCount, sides: list[tuple[str, Floats]], strengths: Floats, model: SpikedModel
) -> tuple[Overlap, ...]:
    if not found.count or not sides:
        return ()
    left, right = found.spectrum.left, found.spectrum.right
    if found.scaled in {"rows", "both"}:  # the scaled side's vectors, back in the matrix's own units
        left = array @ right
        left /= np.linalg.norm(left, axis=0)
    if found.scaled in {"columns", "both"}:
        right = array.T @ left
        right /= np.linalg.norm(right, axis=0)
    rows = []
    lengths = {"left": "d", "right": "N"}
    per_side = len({name for name, _ in sides})
    for k in range(found.count):
        for index, (side, unit) in enumerate(sides):
            vector = (left if side == "left" else right)[:, k]
            squared = float(unit @ vector) ** 2
            kept = float(model.overlap(lengths[side], float(strengths[k])))
            if not kept > 0:  # at the threshold nothing of the signal is left in the vector
                rows.append(Overlap(k, index // per_side, side, squared, squared, math.sqrt(2) / len(unit), 1.0))
                continue
            sd = _strength_sd(model, float(strengths[k]), array.shape[0])
            ends = model.overlap(lengths[side], np.maximum(strengths[k] + sd * np.array([-1.0, 1.0]), 1e-9 * sd))
            rows.append(
                Overlap(
                    k, index // per_side, side, squared, squared / kept, *_overlap_sd(squared, kept, ends, len(unit))
                )
            )
    return tuple(rows)


def _overlap_sd(squared: float, kept: float, ends: Floats, size: int) -> tuple[float, float]:
    """The standard deviations of a squared overlap and of its estimate c^2 = squared/kept.

    <direction, vector> = c sqrt(kept) + sqrt((1 - kept)(1 - c^2)) g, g of variance 1/size: what the noise adds is
    orthogonal to the signal and points anywhere else. kept varies with the strength (`ends` are kept at strength -+ sd)
    and about its limit, through |noise|^2, by kept (1 - kept) sqrt(2/size). All is taken at the estimate of c^2 and one
    standard deviation above, where it is larger: near the threshold a small estimate would be too sure of itself.
    """
    spread = math.hypot(float(ends[1] - ends[0]) / 2 / kept, (1 - kept) * math.sqrt(2 / size))

    def sd(signal: float) -> float:
        noise = (1 - kept) * (1 - signal) / size
        return math.sqrt((4 * signal * kept * noise + 2 * noise**2) / kept**2 + (signal * spread) ** 2)

    here = sd(min(squared / kept, 1.0))
    found = max(here, sd(min(squared / kept + here, 1.0)))
    return kept * found, found


def _fit(found: OutlierCount, rng: np.random.Generator, draws: int) -> Fit:
    large, small = max(found.shape), min(found.shape)
    bulk = found.spectrum.squared[found.count :] / large
    distance = _distance(bulk, large, found.variance)
    entries = None
    if found.tails <= HEAVY:
        entries = residual(found.analysed, found.spectrum).ravel()
        entries = entries - entries.mean()
    side = min(small, _SIDE)
    statistics = _null(entries, side, large / small, found.scaled, rng, draws)
    if side < small:
        # size x distance grows like a logarithm of the size: carry the null over from two smaller sizes.
        half = _null(entries, side // 2, large / small, found.scaled, rng, max(1, draws // 3))
        growth = (float(statistics.mean()) - float(half.mean())) / math.log(side / (side // 2))
        statistics = statistics + growth * math.log(small / side)
    p = (1 + int(np.sum(statistics >= len(bulk) * distance))) / (len(statistics) + 1)
    scale, ratio = _quantile_fit(bulk * large, small / large)
    return Fit(distance, p, scale / math.sqrt(large), ratio)


def _none(array: Floats) -> Spectrum:
    return Spectrum(np.empty(0), np.empty((array.shape[0], 0)), np.empty((array.shape[1], 0)))


def _null(
    entries: Floats | None, side: int, aspect: float, scaled: str, rng: np.random.Generator, draws: int
) -> Floats:
    """size x distance of iid matrices with the given (or Gaussian) entries, the smaller side being `side`."""
    other = round(side * aspect)
    found = np.empty(draws)
    for index in range(draws):
        sample = rng.standard_normal((side, other)) if entries is None else rng.choice(entries, (side, other))
        if scaled != "none":
            sample = equalise(sample, _none(sample), "rows" if scaled == "both" else scaled)
        values = squared_singular_values(sample) / other
        found[index] = side * _distance(values, other, float(values.mean()))
    return found


def _distance(bulk: Floats, large: int, variance: float) -> float:
    """The largest gap between the empirical and the Marchenko-Pastur distribution function, outliers left out."""
    size = len(bulk)
    expected = MarchenkoPastur(size / large, variance).cdf(np.sort(bulk))
    steps = np.arange(size + 1) / size
    return float(max(np.max(expected - steps[:-1]), np.max(steps[1:] - expected)))


def _quantile_fit(squared: Floats, ratio: float) -> tuple[float, float]:
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
