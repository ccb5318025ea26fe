"""Spikes in numbers (O2, R3): predicted outliers, overlaps and fluctuations; strengths with confidence intervals.

The formulas are those of theory/spectra/spike.py, compiled once; here they meet arrays, a noise scale and finite sizes.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import erfinv, ndtri

from bulkedge.numerics.spectra import spike_transition as transition
from bulkedge.numerics.spectra.marchenko_pastur import Floats, MarchenkoPastur
from bulkedge.numerics.trials.domain import finite, positive
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import c, psi, x
from bulkedge.theory.spectra import spike as theory

_RATIO = {"rectangular": psi, "covariance": c, "wishart": c}
_EITHER_SIGN = ("wigner", "wishart")

_SMALLEST_TAIL = 1e-300  # of a confidence level: what lies beyond it underflows


@functools.cache
def _compiled(name: str, field: str) -> Callable[..., Floats]:
    """A formula of a map as a function of (strength or position, ratio)."""
    law: theory.SpikeMap = {m.name: m for m in theory.MAPS}[name]
    expression = dict(law.overlaps)[field] if field in dict(law.overlaps) else getattr(law, field)
    argument = x if field in ("inverse", "outside") else law.strength
    return _lambda((argument, _RATIO.get(name, psi)), expression)


def _lambda(arguments: tuple[sp.Symbol, ...], expression: sp.Basic) -> Callable[..., Any]:
    """sp.lambdify; of conditions part by part, as NumPy's `reduce` of them does not broadcast."""
    if not isinstance(expression, sp.And | sp.Or):
        compiled: Callable[..., Any] = sp.lambdify(arguments, expression, "numpy", cse=True)
        return compiled
    parts = [_lambda(arguments, part) for part in expression.args]
    join = operator.and_ if isinstance(expression, sp.And) else operator.or_
    return lambda *values: functools.reduce(join, (np.asarray(part(*values)) for part in parts))


@dataclass(frozen=True)
class Interval:
    """An estimated strength and the ends of its confidence interval, at the stated level."""

    value: float
    lower: float
    upper: float
    level: float


@dataclass(frozen=True)
class _Side:
    """One soft edge: its direction, place, threshold strength, fluctuation scale, mean shift at finite size, and the
    curvature of the map from strengths to positions at the threshold."""

    outward: float
    edge: float
    threshold: float
    scale: float
    shift: float
    curvature: float


def _check_size(size: int, beta: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise InputError("size", f"{size!r} is not a size", "give a positive integer")
    if beta not in (1, 2):
        raise InputError("beta", f"{beta!r} is neither 1 (real) nor 2 (complex)", "give 1 or 2")


_FEWEST = 4  # of rows or columns that have an edge


@dataclass(frozen=True)
class SpikedModel:
    """One ensemble at a ratio and a noise scale, vectorised over strengths.

    `scale` is the noise's standard deviation for "rectangular" and "wigner" (entries of variance scale^2/d, scale^2/n)
    and its variance for "covariance" and "wishart" (spikes are then in the same units as the scale).
    Valid for: spikes of fixed strength and rank as the sizes grow; orthogonal vectors (else see `spikes_of`).
    Source: O2, R3.
    """

    law: theory.SpikeMap
    ratio: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", positive(self.ratio, "ratio"))
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @property
    def edges(self) -> tuple[float, float]:
        """The bulk's lower and upper edge, in the units of the outlier."""
        if self.law.name == "rectangular":
            lower, upper = MarchenkoPastur(self.ratio).singular_values().edges
            return self.scale * lower, self.scale * upper
        if self.law.name in ("covariance", "wishart"):
            return MarchenkoPastur(self.ratio, self.scale).edges
        return -2 * self.scale, 2 * self.scale

    @property
    def threshold(self) -> float:
        """The strength above which there is an outlier above the bulk (for spikes below the bulk see `above`)."""
        return self.scale * self._threshold(1.0)

    def _threshold(self, outward: float) -> float:
        """The threshold of the upper or the lower side, in units of the noise."""
        field = "threshold" if outward > 0 else "lower_threshold"
        return float(_compiled(self.law.name, field)(0.0, self.ratio))

    @property
    def _centre(self) -> float:
        """The strength about which the thresholds lie."""
        return self.scale * float(_compiled(self.law.name, "centre")(0.0, self.ratio))

    def above(self, strength: ArrayLike) -> NDArray[np.bool_]:
        """Whether there is an outlier."""
        return self._above(self._strength(strength))

    def _above(self, t: Floats) -> NDArray[np.bool_]:
        return np.asarray(_compiled(self.law.name, "above")(t, self.ratio))

    def outlier(self, strength: ArrayLike) -> Floats:
        """The outlier's limit position, or the edge that the spike does not leave."""
        return self.scale * self._where_above(strength, "outlier", _compiled(self.law.name, "edge"))

    def overlap(self, name: str, strength: ArrayLike) -> Floats:
        """The squared overlap of the sample's vector with the spike's: "d" or "N"; "vector" or "scores"; "vector"."""
        if name not in dict(self.law.overlaps):
            names = ", ".join(repr(n) for n, _ in self.law.overlaps)
            raise InputError("name", f"{name!r} is not an overlap of the {self.law.name} model", f"choose from {names}")
        return self._where_above(strength, name, lambda t, _: np.zeros_like(t))

    def sd(self, strength: ArrayLike, size: int, *, beta: int = 1) -> Floats:
        """The standard deviation of the outlier's position at a finite size (d, n or n; see theory.spectra.spike).

        Valid for: Gaussian noise, real (beta = 1) or complex (beta = 2), and strengths further from the threshold than
        a few size^(-1/3): there the fluctuations are Gaussian to leading order. `spread` holds everywhere.
        Convention: 0 within the threshold, where the edge fluctuates on the Tracy-Widom scale instead.
        """
        _check_size(size, beta)
        variance = self._where_above(strength, "variance", lambda t, _: np.zeros_like(t))
        return self.scale * np.sqrt(variance / (size * beta))

    def strength(self, observed: ArrayLike) -> Floats:
        """The inverse map: the strength whose outlier is at `observed`.

        Errors: InputError for a value that lies within the bulk's edges (no strength is seen there).
        """
        positions = finite(observed, "observed")
        if not np.all(np.isfinite(positions)):
            raise InputError("observed", "holds an infinite number", "give numbers up to 1e50")
        if not np.all(_compiled(self.law.name, "outside")(positions / self.scale, self.ratio)):
            raise InputError(
                "observed", "holds a value that is no outlier", f"give values beyond the edge {self.edges[1]:.6g}"
            )
        return self.scale * _compiled(self.law.name, "inverse")(positions / self.scale, self.ratio)

    def strength_or_threshold(self, observed: ArrayLike) -> Floats:
        """The strength above the upper threshold whose outlier is at `observed`; else that threshold."""
        positions = np.asarray(observed, dtype=float)
        threshold, upper = self.threshold, self.edges[1]
        # A hair beyond the edge the root of the inverse is rounding, and may be that of a negative number.
        seen = positions > upper * (1 + 1e-14)
        safe = np.where(seen, positions, 2 * upper) / self.scale
        return np.where(seen, self.scale * _compiled(self.law.name, "inverse")(safe, self.ratio), threshold)

    def spread(self, strength: float, size: int, *, beta: int = 1) -> float:
        """The standard deviation of the extreme value at a finite size, on either side of the threshold and at it.

        That of `sd` far above the threshold, of Tracy-Widom size at and below it (spike_transition between).
        Valid for: Gaussian noise; the side of the bulk that the strength pulls to.
        Accuracy: what is left out is of relative order size^(-1/3).
        Errors: InputError where that side has no soft edge (a lower edge at ratio >= 1).
        """
        _check_size(size, beta)
        side = self._side(self._outward(float(strength)), size)
        if side is None:
            raise InputError(
                "strength", "pulls to a side of the bulk without a soft edge", "give a larger size or strength"
            )
        w, stretch = self._place(float(strength), side, size, beta)
        return side.scale * stretch * transition.moments(w, beta)[1]

    def has_edge(self, strength: float, size: int) -> bool:
        """Whether the side of the bulk that a strength pulls to has a soft edge at this size, as `spread` needs."""
        return self._side(self._outward(float(strength)), size) is not None

    def is_strong(self, strength: float, size: int) -> bool:
        """Whether a strength is so far above the threshold that `spread` is `sd`."""
        side = self._side(self._outward(float(strength)), size)
        return side is None or self._place(float(strength), side, size, 1)[0] < transition.STRONG

    def survival(self, observed: float, strength: float, size: int, *, beta: int = 1) -> float:
        """P(the extreme value is `observed` or further out) at a strength; strength 0 (covariance: the scale) is noise.

        Valid for: see `spread`.
        """
        _check_size(size, beta)
        outward = 1.0 if observed > sum(self.edges) / 2 else -1.0
        side = self._side(outward, size)
        if side is None:
            raise InputError("observed", "lies where the bulk has no soft edge", "give a value above the bulk")
        return math.exp(self._tails(observed, float(strength), side, size, beta)[0])

    def _tails(self, observed: float, strength: float, side: _Side, size: int, beta: int) -> tuple[float, float]:
        """The logarithms of P(at or beyond `observed`) and of P(within it)."""
        return self._tails_at((observed,), strength, side, size, beta)[0]

    def _tails_at(
        self, observed: tuple[float, ...], strength: float, side: _Side, size: int, beta: int
    ) -> list[tuple[float, float]]:
        """`_tails` at several positions: the strength is placed once, which is most of the work."""
        w, stretch = self._place(strength, side, size, beta)
        if w < 0:
            centre, scale = float(self.outlier(strength)) + side.outward * side.shift / (1 + w**2), side.scale * stretch
        else:
            centre, scale = side.edge + side.outward * side.shift, side.scale
        start = w**2 if w < 0 else 0.0
        return [transition.log_tails(side.outward * (x - centre) / scale + start, w, beta) for x in observed]

    def _outward(self, strength: float) -> float:
        null = self._null
        return -1.0 if strength < null and self.law.name != "rectangular" else 1.0

    @property
    def _null(self) -> float:
        """The strength that is no spike."""
        return self.scale if self.law.name == "covariance" else 0.0

    def _side(self, outward: float, size: int) -> _Side | None:
        """The edge on one side of the bulk, its threshold and its scale; None where it is not soft."""
        root = self.ratio**0.5
        other = size if self.law.name == "wigner" else self.ratio * size
        if min(size, other) < _FEWEST:  # a handful of eigenvalues has no edge: the outlier is all there is
            return None
        edge = self.edges[1 if outward > 0 else 0]
        if self.law.name == "wigner":
            unit, shift = 1.0, -1 / (2 * size)
        elif self.law.name == "rectangular":
            unit = (1 + 1 / root) ** (1 / 3) / 2
            shift = -(1 / root + 1) / (4 * size)  # Johnstone's halves
        elif outward < 0 and self.ratio >= 1:
            return None
        else:
            unit = abs((1 + outward * root) * abs(1 + outward / root) ** (1 / 3))
            shift = -(1 + outward * root) * abs(1 + outward / root) / (2 * size)
        if self.law.name == "rectangular" and outward < 0:
            return None
        threshold = self._threshold(outward)
        if outward * threshold < outward * self._null / self.scale:
            return None
        # The map is quadratic in the distance from the threshold.
        step = outward * 1e-4 * root
        gap = abs(float(self.outlier(self.scale * (threshold + step))) - edge) / self.scale
        scale = self.scale * unit * float(size) ** (-2 / 3)
        return _Side(outward, edge, self.scale * threshold, scale, self.scale * shift, gap / step**2)

    def _place(self, strength: float, side: _Side, size: int, beta: int) -> tuple[float, float]:
        """w of the transition, and the factor that makes the spread far above the threshold that of `sd`."""
        distance = side.outward * (strength - side.threshold) / self.scale
        if distance <= 0:
            return float(-distance * np.sqrt(side.curvature * self.scale / side.scale)), 1.0
        gap = max(0.0, side.outward * (float(self.outlier(strength)) - side.edge)) / side.scale
        w = -float(np.sqrt(gap))
        if gap < 1e-8:
            return w, 1.0
        return w, float(self.sd(strength, size, beta=beta)) / (side.scale * float(np.sqrt(4 * -w / beta)))

    def interval(self, observed: float, size: int, *, level: float | sp.Rational = 0.95, beta: int = 1) -> Interval:
        """The strength read from one outlier, with a confidence interval; no spike is in it where noise explains it.

        A test inverted: with alpha = 1 - level the upper end is the strength of which P(position >= observed) is
        1 - alpha/2; the lower end that of which P(position >= observed | position >= edge) is alpha/2, or no spike (0;
        the noise's own eigenvalue for a covariance) where noise alone has more. The condition is there because only
        values beyond the edge are read as outliers: the level holds among those.
        Valid for: Gaussian noise; all strengths, at the threshold and below it too (numerics.spectra.spike_transition).
        Accuracy: what is left out is of relative order size^(-1/3) at the threshold, size^(-1/2) far above it.
        Levels are read exactly if they are rational; beyond .9999 an end near the threshold knows its tail to a factor.
        Errors: InputError for a level outside (0, 1 - 1e-300), a value within the bulk, a size or beta that is none.
        """
        if not (0 < level < 1 and 1 - level > _SMALLEST_TAIL):
            raise InputError("level", f"{level} is not a confidence level", "give a number in (0, 1 - 1e-300)")
        _check_size(size, beta)
        value = float(self.strength(observed))
        # Outwards is away from the noise: to larger strengths above the bulk, to smaller ones below it.
        outward = 1.0 if observed > sum(self.edges) / 2 else -1.0
        side = self._side(outward, size)
        if side is None:
            return self._gaussian_interval(observed, value, outward, size, level, beta)
        tail = math.log(float((1 - level) / 2))
        null = self._null

        def inside(strength: float) -> float:
            beyond, seen = self._tails_at((observed, side.edge), strength, side, size, beta)
            return beyond[0] - seen[0] - tail

        def outside(strength: float) -> float:
            return tail - self._tails(observed, strength, side, size, beta)[1]

        ends = [self._crossing(f, value, side, null) for f in (inside, outside)]
        return Interval(value, min(ends), max(ends), level)

    def _crossing(self, f: Callable[[float], float], value: float, side: _Side, null: float) -> float:
        """The strength between no spike and infinity at which f turns positive, outwards; no spike if it is there."""
        start = null if self.law.name in _EITHER_SIGN else null + (side.threshold - null) * 1e-6
        if f(start) >= 0:
            return null
        far, base = value, self._centre
        for _ in range(400):
            if f(far) > 0:
                return float(brentq(f, start, far, xtol=1e-13))
            far = self._further(far, side.outward, base)
        return far

    def _gaussian_interval(
        self, observed: float, value: float, outward: float, size: int, level: float | sp.Rational, beta: int
    ) -> Interval:
        """The strengths whose predicted position is within the Gaussian quantile: where there is no soft edge."""
        # From the end that is near: (1 + level)/2 in floats would be 1/2, or 1, long before the level is 0 or 1.
        quantile = -float(ndtri(float((1 - level) / 2))) if level > 0.5 else float(np.sqrt(2) * erfinv(float(level)))
        base, threshold = self._centre, self.scale * self._threshold(outward)

        def gap(strength: float, sign: float) -> float:
            position = float(self.outlier(strength)) + sign * outward * quantile * float(
                self.sd(strength, size, beta=beta)
            )
            return outward * (position - observed)

        # Where the fluctuation is below the rounding of positions, the interval's ends round to the value itself.
        inner = float(brentq(gap, threshold, value, args=(1.0,), xtol=1e-13)) if gap(value, 1.0) > 0 else value
        far = value
        for _ in range(200):
            if gap(far, -1.0) > 0:
                break
            far = self._further(far, outward, base)
        outer = value
        if gap(value, -1.0) < 0:
            outer = float(brentq(gap, value, far, args=(-1.0,), xtol=1e-13)) if gap(far, -1.0) > 0 else far
        return Interval(value, min(inner, outer), max(inner, outer), float(level))

    def _further(self, strength: float, outward: float, base: float) -> float:
        if self.law.name == "covariance" and outward < 0:
            return strength / 1.5  # a population eigenvalue stays positive
        return base + (strength - base) * 1.5

    def _strength(self, strength: ArrayLike) -> Floats:
        values = finite(strength, "strength") / self.scale
        if self.law.name not in _EITHER_SIGN and (values <= 0).any():
            raise InputError("strength", "holds a number that is not positive", "give positive numbers")
        if not np.isfinite(values).all():
            raise InputError("strength", "holds an infinite number", "give numbers up to 1e50")
        return values

    def _where_above(self, strength: ArrayLike, field: str, otherwise: Callable[..., Floats]) -> Floats:
        t = self._strength(strength)
        above = self._above(t)
        if t.ndim == 0:  # as root finding asks for by the thousand: one branch only
            return np.asarray((_compiled(self.law.name, field) if above else otherwise)(t, self.ratio))
        # A strength that is safely above stands in where the formula does not apply.
        safe = np.where(above, t, 2 + 2 * self.ratio)
        inside = np.where(above, 2.0, t)
        return np.where(above, _compiled(self.law.name, field)(safe, self.ratio), otherwise(inside, self.ratio))


def rectangular(ratio: float, scale: float = 1.0) -> SpikedModel:
    """W0 + theta u v^T, W0 d x N with entries of variance scale^2/d, ratio psi = N/d (O2)."""
    return SpikedModel(theory.RECTANGULAR, ratio, scale)


def covariance(ratio: float, scale: float = 1.0) -> SpikedModel:
    """(1/n) X^T X with population eigenvalue ell and bulk `scale`, ratio c = p/n (R3)."""
    return SpikedModel(theory.COVARIANCE, ratio, scale)


def wishart(ratio: float, scale: float = 1.0) -> SpikedModel:
    """W + theta v v^T, W = (1/n) X^T X with entries of variance `scale`, ratio c = p/n; either sign (R3)."""
    return SpikedModel(theory.WISHART, ratio, scale)


def wigner(scale: float = 1.0) -> SpikedModel:
    """H + theta v v^T, H symmetric n x n with off-diagonal variance scale^2/n; strengths of either sign (R3)."""
    return SpikedModel(theory.WIGNER, 1.0, scale)


@dataclass(frozen=True)
class Spikes:
    """The singular triples of a low-rank signal: strengths (decreasing), left (d x r), right (N x r) vectors."""

    strengths: Floats
    left: Floats
    right: Floats


def spikes_of(left: ArrayLike, right: ArrayLike) -> Spikes:
    """The singular triples of sum_i left_i right_i^T (columns), which need be neither orthogonal nor normalised.

    Several spikes act through them one by one: outliers by `SpikedModel.outlier`, and the squared overlap of the k-th
    sample vector with any fixed direction v is the map's overlap times <v, k-th vector>^2, strengths being distinct.
    Shapes: left d x r, right N x r; costs two thin QRs and an r x r SVD.
    """
    a, b = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise InputError("left, right", f"have shapes {a.shape} and {b.shape}", "give d x r and N x r factors")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("left, right", "hold numbers that are not finite", "give finite factors")
    qa, ra = np.linalg.qr(a)
    qb, rb = np.linalg.qr(b)
    u, strengths, vt = np.linalg.svd(ra @ rb.T)
    return Spikes(strengths, qa @ u, qb @ vt.T)
