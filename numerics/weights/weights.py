"""The spectrum of a weight matrix that a user brings (R5): bulk, edge, outliers, strengths, overlaps, and the fit.

The model is W = noise + low rank, noise entries independent of standard deviation `scale`; singular values, edges and
strengths are in the units of the file. Whether Marchenko-Pastur fits the bulk at all is a test of its own. Rows and
columns of zeros are left out, a deficient rank is turned onto its range (numerics/weights/reduced.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bulkedge.numerics.spectra.edge import OutlierCount, matrix, outliers_of
from bulkedge.numerics.spectra.marchenko_pastur import Floats, MarchenkoPastur
from bulkedge.numerics.spectra.spike import SpikedModel, rectangular
from bulkedge.numerics.weights.bulk_fit import DRAWS, MISFIT, Fit, fit
from bulkedge.numerics.weights.reduced import Reduced, reduced
from bulkedge.numerics.weights.unscaled import FileSignal, file_signal
from bulkedge.theory.numbers.errors import InputError


@dataclass(frozen=True)
class Overlap:
    """Squared overlap of one outlier's singular vector with one direction; `signal` is corrected for the vector's turn.

    `signal` estimates the direction's squared overlap c^2 with the signal itself: the measured one over kept, what O2
    predicts for an outlier of this strength. Both are in the file's own coordinates, whatever was equalised. It may
    pass 1: next to the threshold kept is small and steep, so that the strength's error is most of it. `squared_sd` is
    the fluctuation of `squared` about c^2 kept, `signal_sd` that of `signal` with kept's own, from kept at strength -+
    sd.
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

    `p_values`, `strengths` and `strength_sd` go with `outliers` (decreasing), and so do the columns of `left` and
    `right`, their unit vectors. `rate` is None, with the `reason`, where no rate of false alarms can be quoted; `fit`
    is None where no bulk is left. `scaled` names the side whose noise levels were equalised first: `values`,
    `outliers`, `edge` and `threshold` are then those of the scaled matrix, strengths, vectors and overlaps still those
    of the file. `dropped` rows and columns held zeros only; `rank` is below the smaller side of the rest where
    `deficient`. `kept` are O2's squared overlaps (left, right) of each outlier's vectors with the signal's, in the
    file's coordinates.
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
    fit: Fit | None
    rate: float | None
    reason: str
    scaled: str
    values: Floats
    left: Floats
    right: Floats
    kept: tuple[tuple[float, float], ...]
    dropped: tuple[int, int]
    rank: int
    deficient: bool
    found: OutlierCount
    part: Reduced
    found_strengths: tuple[float, ...]
    found_kept: tuple[tuple[float, float], ...]

    @property
    def law(self) -> MarchenkoPastur:
        """The noise's law for squared singular values: that of the reduced shape less the outliers."""
        # The spikes' rows and columns are no longer noise; each takes one from both sides (interlacing, `noise_edge`).
        k = len(self.outliers)
        large, small = max(self.found.shape) - k, min(self.found.shape) - k
        return MarchenkoPastur(small / large, large * self.scale**2)

    @property
    def trusted(self) -> bool:
        """Whether the values beyond the edge may be called outliers: a bulk is left, and the law fits it."""
        return self.fit is not None and self.fit.p >= MISFIT


def analyse(
    weights: ArrayLike,
    directions: ArrayLike | None = None,
    *,
    alarm: float = 0.01,
    rng: np.random.Generator,
    draws: int = DRAWS,
    scale: float | None = None,
    layout: str | None = None,
) -> WeightSpectrum:
    """Bulk, edge, outliers with p-values and strengths, overlaps with directions, and whether the law fits.

    Valid for: independent noise plus low rank (R4 for the rate); where Marchenko-Pastur does not fit (`fit.p` below
    0.01) or no bulk is left no rate is quoted.
    Shapes: weights d x N; directions are vectors of length d (left) or N (right): one, or a matrix's columns or rows,
    as its shape says or `layout` ("rows" or "columns") does. `scale` is the noise's standard deviation where known.
    Accuracy: strengths have the standard deviation of R3; `fit.p` is a simulation of `draws` matrices from `rng`
    (fewer than 100 of them cannot show a misfit).
    Errors: InputError for an unusable matrix, direction or alarm rate.
    Source: R5, R4, O2.
    """
    given = np.asarray(weights)
    array = matrix(given, "FILE")
    sides = _directions(array.shape, directions, layout)
    # Zeros and a deficient rank are no noise either: the tests see the rows, columns and rank that are there, to the
    # rounding of the precision in which the file holds them.
    part = reduced(array, float(np.finfo(given.dtype).eps) if given.dtype in (np.float32, np.float64) else 2.0**-52)
    found = outliers_of(part.matrix, alarm, scale=scale)
    values = np.sqrt(found.spectrum.squared)
    model, strengths, sds = _read_strengths(found, values)
    # Strengths are found in the equalised matrix; what is reported is in the file's own units.
    signal = file_signal(found, strengths, sds, model)
    left, right = (part.lift(side, signal.found(side)) for side in ("left", "right"))
    tested = fit(found, strengths, rng, draws)
    reasons = [f"the matrix has rank {part.rank} of {_side(part)}"] if part.deficient else []
    reasons += [found.reason] if found.reason else []
    if tested is not None and tested.p < MISFIT:
        reasons.append(f"Marchenko-Pastur does not fit the bulk (distance {tested.distance:.3g}, p = {tested.p:.2g})")
    elif tested is None and not found.exhausted:
        reasons.append("no bulk is left to test")
    return WeightSpectrum(
        shape=(array.shape[0], array.shape[1]),
        scale=math.sqrt(found.variance),
        scale_error=_scale_error(found) if scale is None else 0.0,
        edge=found.edge,
        threshold=found.threshold,
        outliers=tuple(values[: found.count].tolist()),
        p_values=found.p_values,
        strengths=signal.strengths,
        strength_sd=signal.sds,
        overlaps=_overlaps(part, signal, sides, left, right),
        fit=tested,
        # One reason is enough: a rate is a statement about noise that this matrix does not have then.
        rate=None if reasons else alarm,
        reason="; ".join(reasons),
        scaled=found.scaled,
        values=values,
        left=left,
        right=right,
        kept=tuple(zip(signal.kept("left").tolist(), signal.kept("right").tolist(), strict=True)),
        dropped=part.dropped,
        rank=part.rank,
        deficient=part.deficient,
        found=found,
        part=part,
        found_strengths=tuple(strengths.tolist()),
        found_kept=tuple(zip(signal.left.kept.tolist(), signal.right.kept.tolist(), strict=True)),
    )


def denoised(report: WeightSpectrum, values: Floats) -> Floats:
    """The signal with the outliers' given (shrunken) values, in the file's units and shape.

    For an equalised matrix it is D (sum value u^ v^^T) C, D and C the levels: optimal where each entry's error counts
    by its noise level.
    """
    found, part = report.found, report.part
    rows, columns = found.levels
    left = part.lift("left", rows[:, None] * found.spectrum.left)
    right = part.lift("right", columns[:, None] * found.spectrum.right)
    return np.asarray((left * values) @ right.T)


def _side(part: Reduced) -> int:
    return int(min(np.sum(part.rows), np.sum(part.columns)))


def _scale_error(found: OutlierCount) -> float:
    # sd of the scale from n p independent squares: Var x^2 = (2 + excess kurtosis) sigma^4, halved by the root.
    return math.sqrt(found.variance * (2 + max(found.tails, 0.0)) / (4 * math.prod(found.shape)))


def _read_strengths(found: OutlierCount, values: Floats) -> tuple[SpikedModel, Floats, Floats]:
    """The map from strength to outlier, the strengths read back through it, and their standard deviations.

    Each spike is seen in the noise that the other k - 1 leave, k - 1 rows and columns fewer.
    """
    # k - 1, not k: the spike itself stays in the matrix that it is a spike of.
    rows, columns = (side - max(found.count - 1, 0) for side in found.shape)
    model = rectangular(columns / rows, math.sqrt(found.variance * rows))
    if not found.count:
        return model, np.empty(0), np.empty(0)
    # At a lax alarm rate an outlier may lie a hair inside the limit edge: its strength is then the threshold's.
    seen = np.maximum(values[: found.count], model.edges[1] * (1 + 1e-9))
    strengths = model.strength(seen)
    return model, strengths, np.array([_strength_sd(model, s, rows) for s in strengths.tolist()])


def _strength_sd(model: SpikedModel, strength: float, size: int) -> float:
    """The outlier's standard deviation over the slope of the map (difference quotient inside the formula's range)."""
    # Upwards, for below the threshold the map is flat; a relative step of 1e-5 balances rounding and curvature.
    step = 1e-5 * strength
    slope = float(model.outlier(strength + step) - model.outlier(strength)) / step
    return float(model.sd(strength, size)) / slope if slope > 0 else strength


def _directions(
    shape: tuple[int, ...], directions: ArrayLike | None, layout: str | None = None
) -> list[tuple[str, Floats]]:
    """(side, unit vector) of every direction; a length that fits both sides is compared with both."""
    if directions is None:
        return []
    given = np.asarray(directions)
    if given.dtype == object or not np.issubdtype(given.dtype, np.number) or np.iscomplexobj(given):
        raise InputError("directions", f"holds {given.dtype} values", "give real numbers")
    given = given.astype(float)
    if given.ndim not in (1, 2) or given.size == 0:
        raise InputError("directions", f"has shape {given.shape}", "give a vector, or vectors as columns or rows")
    vectors = given[None, :]
    if given.ndim == 2:
        # A square file or equal sides leave open which way the vectors stand; guessing would compare with nonsense.
        as_columns, as_rows = given.shape[0] in shape, given.shape[1] in shape
        if layout is None and as_columns and as_rows and 1 not in given.shape:
            problem = f"of shape {given.shape} may be vectors as columns (of length {given.shape[0]}) or as rows"
            raise InputError("directions", problem, "say --directions-as columns or rows")
        vectors = given if layout == "rows" or (layout is None and as_rows and not as_columns) else given.T
    if vectors.shape[1] not in shape:
        raise InputError("directions", f"has shape {given.shape}", f"give vectors of length {shape[0]} or {shape[1]}")
    if not np.all(np.isfinite(vectors)) or np.any(np.linalg.norm(vectors, axis=1) == 0):
        raise InputError("directions", "holds nan, infinity or a zero vector", "give finite, non-zero vectors")
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [name for name, length in zip(("left", "right"), shape, strict=True) if length == vectors.shape[1]]
    return [(name, unit) for unit in units for name in names]


def _overlaps(
    part: Reduced, signal: FileSignal, sides: list[tuple[str, Floats]], left: Floats, right: Floats
) -> tuple[Overlap, ...]:
    rows = []
    vectors = {"left": left, "right": right}
    for k in range(len(signal.strengths)):
        for index, (side, unit) in enumerate(sides):
            direction = part.lower(side, unit[:, None])[:, 0]
            squared = float(vectors[side][:, k] @ unit) ** 2
            corrected, squared_sd, signal_sd = signal.overlap(side, k, direction, squared)
            rows.append(Overlap(k, _number(sides, index), side, squared, corrected, squared_sd, signal_sd))
    return tuple(rows)


def _number(sides: list[tuple[str, Floats]], index: int) -> int:
    return index // len({name for name, _ in sides})
