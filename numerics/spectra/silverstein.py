"""Spectra of sample covariances with a general population (R2): edges, density, Stieltjes transform, outliers.

Everything is done in alpha (theory/spectra/silverstein.py): psi(alpha) = alpha (1 + c E[t/(alpha - t)]). On a gap of
the population psi' is concave, so edges are found by a bracketed search; in the upper half-plane alpha is followed by
Newton's iteration down to the real axis.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar

from bulkedge.numerics.spectra.marchenko_pastur import Complexes, Floats, MarchenkoPastur
from bulkedge.numerics.trials.domain import finite, positive, within
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

_NODES = 256  # angles per component for the distribution function


class Population(Protocol):
    """A population spectrum H on [0, oo), as the equation needs it."""

    def pull(self, alpha: Complexes) -> Complexes:
        """E[t/(alpha - t)]."""

    def strain(self, alpha: Complexes) -> Complexes:
        """E[t^2/(alpha - t)^2], minus the derivative of alpha E[t/(alpha - t)]."""

    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The components of the support without 0 (an eigenvalue is an interval of length 0), increasing."""

    def mass_above(self, t: float) -> float:
        """H(t, oo), for t outside the support."""

    def zero(self) -> float:
        """H{0}."""


@dataclass(frozen=True)
class DiscretePopulation:
    """Eigenvalues t >= 0 with weights that sum to 1 (equal weights by default, as for a given covariance matrix)."""

    values: tuple[float, ...]
    weights: tuple[float, ...]

    @staticmethod
    def of(values: ArrayLike, weights: ArrayLike | None = None) -> DiscretePopulation:
        """From arrays; equal values are merged, tiny negative ones (rounding of an eigensolver) count as 0."""
        t = finite(values, "population").ravel()
        share = np.full(t.size, 1 / max(t.size, 1)) if weights is None else finite(weights, "weights").ravel()
        if not t.size or share.size != t.size or not np.all(np.isfinite(t)):
            raise InputError("population", f"has {t.size} values and {share.size} weights", "give finite pairs")
        top = float(np.max(t))
        if top <= 0 or np.min(t) < -1e-10 * top:
            raise InputError("population", "has negative eigenvalues, or none but 0", "give eigenvalues >= 0")
        if np.min(share) < 0 or abs(float(np.sum(share)) - 1) > 1e-9:
            raise InputError("weights", "are negative or do not sum to 1", "give shares")
        # Eigenvalues of a rank-deficient matrix come out as rounding of either sign; they are one atom at 0, which the
        # law needs exactly (its own atom is the larger of the two).
        distinct, index = np.unique(np.where(t < 1e-14 * top, 0.0, t), return_inverse=True)
        merged = np.bincount(index, share / np.sum(share))
        return DiscretePopulation(tuple(distinct.tolist()), tuple(merged.tolist()))

    def pull(self, alpha: Complexes) -> Complexes:
        """E[t/(alpha - t)]."""
        t, share = np.array(self.values), np.array(self.weights)
        return np.asarray((t / (np.asarray(alpha)[..., None] - t)) @ share)

    def strain(self, alpha: Complexes) -> Complexes:
        """E[t^2/(alpha - t)^2]."""
        t, share = np.array(self.values), np.array(self.weights)
        return np.asarray((t / (np.asarray(alpha)[..., None] - t)) ** 2 @ share)

    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The eigenvalues but 0."""
        return tuple((t, t) for t in self.values if t > 0)

    def mass_above(self, t: float) -> float:
        """H(t, oo)."""
        return float(sum(share for value, share in zip(self.values, self.weights, strict=True) if value > t))

    def zero(self) -> float:
        """H{0}."""
        return self.weights[0] if self.values[0] == 0 else 0.0


@dataclass(frozen=True)
class AffinePopulation:
    """shift + slope s, s of a Marchenko-Pastur law of ratio `ratio` (its atom at 0 included).

    The population mu1^2 W0^T W0 + mu2^2 of the conjugate kernel: slope mu1^2, shift mu2^2, ratio N/d.
    """

    ratio: float
    slope: float
    shift: float

    def __post_init__(self) -> None:
        positive(self.ratio, "ratio"), positive(self.slope, "slope")
        if not (np.isfinite(self.shift) and self.shift >= 0):
            raise InputError("shift", f"{self.shift!r} is not a number >= 0", "give mu2^2")

    @functools.cached_property
    def _law(self) -> MarchenkoPastur:
        return MarchenkoPastur(self.ratio, self.slope)

    def pull(self, alpha: Complexes) -> Complexes:
        """E[t/(alpha - t)] = -1 - alpha m_H(alpha)."""
        # t/(alpha - t) = -1 + alpha/(alpha - t), so that one Stieltjes transform gives it, atom included.
        return np.asarray(-1 - alpha * self._law.stieltjes(alpha - self.shift))

    def strain(self, alpha: Complexes) -> Complexes:
        """E[t^2/(alpha - t)^2] = alpha^2 m_H' + 2 alpha m_H + 1."""
        at = alpha - self.shift
        return np.asarray(1 + alpha * (2 * self._law.stieltjes(at) + alpha * self._law.stieltjes_derivative(at)))

    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The bulk, and the eigenvalue `shift` of the null space of W0 where N > d."""
        lower, upper = self._law.edges
        # W0 with more columns than rows has a null space: the population has an eigenvalue `shift` of its own, between
        # which and the bulk psi' may turn positive (a further gap).
        bulk = (self.shift + lower, self.shift + upper)
        return ((self.shift, self.shift), bulk) if self.ratio > 1 and self.shift > 0 else (bulk,)

    def mass_above(self, t: float) -> float:
        """H(t, oo)."""
        return float(self._law.sf(t - self.shift))

    def zero(self) -> float:
        """H{0}."""
        return self._law.atom if self.shift == 0 else 0.0


@dataclass(frozen=True)
class GeneralLaw:
    """The limit spectrum of (1/n) S^(1/2) Z^T Z S^(1/2) for a population H and ratio c = p/n.

    Valid for: entries of Z iid with variance 1 (a scale belongs into the population).
    Convention: as MarchenkoPastur; `pdf` is the density of the continuous part, everything else includes the atom.
    Accuracy: edges to 1e-12 relatively, Stieltjes transform to a residual of 1e-12, cdf to 1e-9 (its mass is tested).
    Source: R2.
    """

    population: Population
    ratio: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", positive(self.ratio, "ratio"))

    def psi(self, alpha: ArrayLike) -> Floats:
        """The outlier of a population spike alpha (where `slope` > 0), and in general psi."""
        a = np.asarray(alpha, dtype=float)
        return np.asarray(a * (1 + self.ratio * self.population.pull(a + 0j).real))

    def slope(self, alpha: ArrayLike) -> Floats:
        """psi'(alpha)."""
        return 1 - self.ratio * self.population.strain(np.asarray(alpha, dtype=float) + 0j).real

    @functools.cached_property
    def gaps(self) -> tuple[tuple[float, float], ...]:
        """The intervals of alpha with psi' > 0: left of the bulk, its open gaps, right of it."""
        pieces = self.population.intervals()
        scale = pieces[-1][1]
        ends = [-np.inf, *(end for piece in pieces for end in piece), np.inf]
        found = []
        for left, right in zip(ends[::2], ends[1::2], strict=True):
            gap = self._gap(left, right, scale)
            if gap is not None:
                found.append(gap)
        return tuple(found)

    @functools.cached_property
    def edges(self) -> tuple[tuple[float, float], ...]:
        """The edges of every component of the bulk, from left to right."""
        ends = [end for gap in self.gaps for end in gap][1:-1]
        # The lowest edge is 0 at ratio 1, where psi there is a difference of equal terms.
        values = [max(0.0, v) if abs(v) < 1e-14 * abs(ends[-1]) else v for v in map(float, self.psi(ends))]
        return tuple(zip(values[::2], values[1::2], strict=True))

    @functools.cached_property
    def masses(self) -> tuple[float, ...]:
        """The mass of every component: by exact separation, a gap splits the sample as it splits the population."""
        # Integrating the density would lose the digits that the square-root edges cost; the population knows the
        # masses.
        above = [1 - self.atom, *(self.population.mass_above(sum(gap) / 2) for gap in self.gaps[1:-1]), 0.0]
        return tuple(a - b for a, b in itertools.pairwise(above))

    @property
    def atom(self) -> float:
        """The mass at zero, max(H{0}, 1 - 1/c)."""
        return max(self.population.zero(), 1 - 1 / self.ratio, 0.0)

    def alpha(self, z: ArrayLike) -> Complexes:
        """The solution of psi(alpha) = z with Im alpha > 0 for Im z > 0; on the real axis the limit from above.

        Errors: ConvergenceError where Newton's iteration does not reach a residual of 1e-12.
        """
        points = np.atleast_1d(np.asarray(z, dtype=complex))
        if not np.all(np.isfinite(points)):
            raise InputError("z", "holds points that are not finite", "give points of the complex plane")
        # m(conj z) = conj m(z): the half-plane in which the solution is unique is enough.
        lower = points.imag < 0
        target = np.where(lower, points.conj(), points)
        scale = np.maximum(np.abs(target), self.population.intervals()[-1][1] * (1 + np.sqrt(self.ratio)) ** 2)
        # From far above, where alpha ~ z, downwards; each step is small against the distance to the axis.
        height = 4.0 * scale
        a = target + 1j * height
        for _ in range(44):
            # Halving 43 times ends below rounding of the scale; the last steps are on the axis itself, started on the
            # right branch.
            height = height / 2 if _ < 43 else np.zeros_like(height)
            a = self._newton(a, target + 1j * height, 4)
        a = self._newton(a, target, 60)
        residual = np.abs(a * (1 + self.ratio * self.population.pull(a)) - target)
        if not np.all(residual <= 1e-10 * scale) or not np.all(a.imag >= -1e-7 * scale):
            raise ConvergenceError(f"the Silverstein equation was not solved (residual {np.max(residual / scale):.1e})")
        a = np.where(lower, a.conj(), a)
        return np.asarray(a.reshape(np.shape(z)))

    def stieltjes(self, z: ArrayLike) -> Complexes:
        """m(z) = E 1/(lambda - z), atom included."""
        points = np.asarray(z, dtype=complex)
        if np.any(points == 0):
            raise InputError("z", "m has no value at 0 here", "give points other than 0")
        # The companion transform is the one that the equation gives; its zeros are then taken out (or put in) by 1/z.
        companion = -1 / self.alpha(points)
        return np.asarray((companion + (1 - self.ratio) / points) / self.ratio)

    def pdf(self, x: ArrayLike) -> Floats:
        """The density of the continuous part."""
        values = finite(x, "x")
        inside = np.zeros(values.shape, dtype=bool)
        for lower, upper in self.edges:
            inside |= (values > lower) & (values < upper)
        result = np.zeros(values.shape)
        if inside.any():
            result[inside] = np.maximum(0.0, (-1 / self.alpha(values[inside])).imag / (np.pi * self.ratio))
        return result

    def cdf(self, x: ArrayLike) -> Floats:
        """P(lambda <= x), the atom included.

        Errors: ConvergenceError if a component's integrated density misses its mass by more than 1e-6 (a component that
        is almost split in two).
        """
        values = finite(x, "x")
        total = np.where(values >= 0, self.atom, 0.0)
        for (lower, upper), mass, series in zip(self.edges, self.masses, self._series, strict=True):
            inside = np.clip(values, lower, upper)
            # In this angle the square roots at both edges are gone and the density is a cosine series, integrated term
            # by term.
            angle = 2 * np.arctan2(np.sqrt(inside - lower), np.sqrt(upper - inside))
            order = np.arange(1, _NODES)
            swept = series[0] * angle + np.sin(angle[..., None] * order) @ (series[1:] / order)
            total = total + np.clip(swept / (np.pi * series[0]), 0.0, 1.0) * mass
        return total

    def ppf(self, q: ArrayLike) -> Floats:
        """Quantiles, by interpolation of the distribution function and one Newton step; 0 for q up to the atom."""
        levels = finite(q, "q")
        if np.any((levels < 0) | (levels > 1)):
            raise InputError("q", "holds a number outside [0, 1]", "give probabilities")
        angle = np.linspace(0, np.pi, 2001)
        grid = np.concatenate([low + (high - low) * np.sin(angle / 2) ** 2 for low, high in self.edges])
        return np.where(levels <= self.atom, 0.0, np.interp(levels, self.cdf(grid), grid))

    def above(self, alpha: ArrayLike) -> np.ndarray:
        """Whether a population spike leaves an outlier."""
        values = finite(alpha, "alpha")
        return np.asarray(
            np.any([(values > left) & (values < right) for left, right in self.gaps], axis=0) & (values > 0)
        )

    def outlier(self, alpha: ArrayLike) -> Floats:
        """The outlier of a population spike alpha > 0, or the nearest edge if it leaves none."""
        values = finite(alpha, "alpha")
        ends = np.array([end for gap in self.gaps for end in gap][1:-1])
        nearest = ends[np.argmin(np.abs(values[..., None] - ends), axis=-1)]
        return self.psi(np.where(self.above(values), values, nearest))

    def overlap(self, alpha: ArrayLike) -> Floats:
        """The squared overlap of the outlier's eigenvector with the population's, 0 where there is no outlier."""
        values = finite(alpha, "alpha")
        above = self.above(values)
        # Where nothing is seen psi may vanish: a strength that is certainly above stands in.
        safe = np.where(above, values, 10 * self.gaps[-1][0])
        return np.where(above, safe * self.slope(safe) / self.psi(safe), 0.0)

    def sd(self, alpha: ArrayLike, size: int) -> Floats:
        """The standard deviation of the outlier for real Gaussian data of n = size samples, 0 where there is none."""
        values = finite(alpha, "alpha")
        safe = np.where(self.above(values), values, self.gaps[-1][0])
        return np.where(self.above(values), safe * np.sqrt(2 * np.maximum(self.slope(safe), 0.0) / size), 0.0)

    def spike(self, observed: float) -> float:
        """The population spike behind an observed outlier. Errors: InputError for a value inside the bulk."""
        for left, right in self.gaps:
            low = float(self.psi(left)) if np.isfinite(left) else -np.inf
            high = float(self.psi(right)) if np.isfinite(right) else np.inf
            if low < observed < high and observed > 0:
                # psi(alpha) ~ alpha far out, so that a thousand times the observed value brackets the spike.
                far = 1e3 * (abs(observed) + self.gaps[-1][0])
                left, right = max(left, -far), min(right, far)
                return float(brentq(lambda a: float(self.psi(a)) - observed, left, right, xtol=1e-300, rtol=1e-14))
        raise InputError("observed", f"{observed!r} lies in the bulk", f"give a value outside {self.edges}")

    def _gap(self, left: float, right: float, scale: float) -> tuple[float, float] | None:
        """The part of a gap of the population where psi' > 0, or None."""

        def slope(a: float) -> float:
            return float(self.slope(a))

        if np.isinf(left):
            # Left of the population:
            # psi' decreases from 1 to -oo towards the smallest eigenvalue.
            low = -scale
            while slope(low) <= 0:
                low *= 4
            return (-np.inf, _root(slope, low, _short_of(slope, right, -1)))
        if np.isinf(right):
            high = 2 * left
            while slope(high) <= 0:
                high *= 4
            return (_root(slope, _short_of(slope, left, 1), high), np.inf)
        inner = (_short_of(slope, left, 1), _short_of(slope, right, -1))
        if not inner[0] < inner[1]:
            return None
        # psi' is concave in a gap of the population (each t^2/(alpha - t)^2 is convex there): one maximum decides
        # whether any of it is positive, and splits the two zeros.
        top = minimize_scalar(lambda a: -slope(a), bounds=inner, method="bounded", options={"xatol": 1e-12 * scale})
        # A gap that just closes is decided by rounding; its two edges then coincide to 1e-5 and are left out.
        if -top.fun <= 1e-10:
            return None
        return (_root(slope, inner[0], float(top.x)), _root(slope, float(top.x), inner[1]))

    def _newton(self, a: Complexes, target: Complexes, steps: int) -> Complexes:
        for _ in range(steps):
            residual = a * (1 + self.ratio * self.population.pull(a)) - target
            slope = 1 - self.ratio * self.population.strain(a)
            # psi' vanishes at the edges alone; there the step is cut by the next line, not divided by zero.
            move = residual / np.where(slope == 0, 1.0, slope)
            # Stay in the upper half-plane, where the solution is unique: halve steps that would leave it.
            leaves = ((a - move).imag < 0) & (move.imag > 0)
            move = move * np.where(leaves, 0.5 * a.imag / np.where(leaves, move.imag, 1.0), 1.0)
            a = a - move
            if np.all(np.abs(move) <= 1e-15 * np.abs(a)):
                break
        return a

    @functools.cached_property
    def _series(self) -> tuple[Floats, ...]:
        """Cosine coefficients of each component's density in the angle; their mean must give the component's mass."""
        found = []
        angle = np.pi * (np.arange(_NODES) + 0.5) / _NODES
        cosines = np.cos(np.arange(_NODES)[:, None] * angle)
        for (lower, upper), mass in zip(self.edges, self.masses, strict=True):
            x = lower + (upper - lower) * np.sin(angle / 2) ** 2
            # Gauss-Chebyshev in the angle: exponentially accurate, as the density times the Jacobian is smooth up to
            # both edges.
            values = self.pdf(x) * (upper - lower) * np.sin(angle) / 2
            series = cosines @ values * 2 / _NODES
            series[0] /= 2
            if abs(series[0] * np.pi - mass) > 1e-6:
                raise ConvergenceError(
                    f"the bulk on [{lower:.6g}, {upper:.6g}] has mass {series[0] * np.pi:.8f}, not {mass:.8f}"
                )
            found.append(series)
        return tuple(found)


def _short_of(slope: Callable[[float], float], end: float, direction: int) -> float:
    """A point just inside a gap, where psi' is negative; at a tiny ratio the last one that is not the end itself."""
    if not end:
        # An eigenvalue 0 of the population is an end that no relative step leaves.
        return direction * 1e-300
    for distance in (1e-9, 1e-11, 1e-13, 1e-14):
        point = float(end * (1 + direction * distance))
        if slope(point) < 0:
            break
    return point


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """The zero of psi' between a point near the population and one away from it."""
    for point in (low, high):
        # At a tiny ratio psi' changes its sign within rounding of the population.
        if slope(low) >= 0 and slope(high) >= 0 and slope(point) == min(slope(low), slope(high)):
            return point
    return float(brentq(slope, low, high, xtol=1e-300, rtol=1e-14, maxiter=500))


def conjugate_kernel(width_ratio: float, ratio: float, mu1: float, mu2: float) -> GeneralLaw:
    """The bulk of (1/n) Phi^T Phi for centred random features Phi = sigma(X W0), n x N.

    Valid for: isotropic inputs, W0 with unit-norm or N(0, 1/d) columns; width_ratio = N/d, ratio = N/n, sigma's mu1 and
    mu2 (paper O: mu2^2 = Var sigma - mu1^2). The features' own outliers are `conjugate_kernel_spike`.
    Source: R2; Pennington & Worah 2017, Benigni & Peche 2021, Fan & Wang 2020.
    """
    within((mu1, mu2), "mu1 or mu2")
    if mu1 == 0:
        return GeneralLaw(DiscretePopulation.of([mu2**2]), ratio)
    if mu2 == 0:
        raise InputError("mu2", "is 0: the features are linear", "use MarchenkoPastur laws of the inputs")
    return GeneralLaw(AffinePopulation(width_ratio, mu1**2, mu2**2), ratio)


def kernel_population(overlaps: ArrayLike, coefficients: ArrayLike, second_moment: float) -> DiscretePopulation:
    """The exact covariance spectrum of features sigma(w_j.x) for Gaussian x, beyond mu1^2 W0^T W0 + mu2^2.

    E[sigma sigma^T] - E sigma E sigma^T = sum_{k>=1} c_k^2 rho^{o k}, rho = W0^T S W0 with unit diagonal, S the
    covariance of x. For isotropic x all powers k >= 2 are close to the identity; for correlated x they are not.
    Shapes: overlaps N x N; coefficients c_0, c_1, ... (orthonormal), the rest of `second_moment` = E sigma^2
    goes to the identity.
    """
    rho, c = finite(overlaps, "overlaps"), finite(coefficients, "coefficients")
    if rho.ndim != 2 or rho.shape[0] != rho.shape[1] or np.max(np.abs(np.diag(rho) - 1)) > 1e-8:
        raise InputError("overlaps", f"has shape {rho.shape} or no unit diagonal", "normalise the weights")
    # What the given coefficients leave of E sigma^2 belongs to high powers of rho, whose off-diagonal entries vanish.
    rest = second_moment - float(np.sum(c**2))
    if rest < -1e-8 * second_moment:
        raise InputError("coefficients", "their squares exceed the second moment", "give orthonormal coefficients")
    covariance = max(rest, 0.0) * np.eye(len(rho))
    power = np.ones_like(rho)
    for coefficient in c[1:]:
        power = power * rho
        covariance += coefficient**2 * power
    return DiscretePopulation.of(np.linalg.eigvalsh(covariance))


def additive_spike(population: Population, strength: float) -> float | None:
    """The population eigenvalue that a term strength v v^T, v generic, splits off, or None below the threshold.

    1/strength = E 1/(alpha - t), i.e. E[t/(alpha - t)] = alpha/strength - 1.
    """
    top = population.intervals()[-1][1]

    def gap(alpha: float) -> float:
        return alpha / strength - 1 - float(population.pull(np.asarray(alpha + 0j)).real)

    # 1/strength is largest at the edge of the population: where even that does not suffice no eigenvalue splits off.
    near = top * (1 + 1e-9)
    if gap(near) >= 0:
        return None
    return float(brentq(gap, near, near + 2 * (top + strength), rtol=1e-13))


def conjugate_kernel_spike(width_ratio: float, mu1: float, mu2: float, c2: float) -> float | None:
    """The population eigenvalue of the features' quadratic mode, or None where it stays in the bulk.

    Features sigma(w_j.x) share |x|^2: the second Hermite coefficient c2 (orthonormal) adds c2^2 (w_i.w_j)^2, whose mean
    is c2^2/d: a spike of strength c2^2 N/d along (1, ..., 1)/sqrt N over the population mu1^2 W0^T W0 + mu2^2.
    Convention: feature means subtracted. With Gaussian columns and only mu0 subtracted, the means
    c2 (|w_j|^2 - 1)/sqrt 2 are a second spike of the same strength.
    Source: R2 (derived here: the resolvent of the whole population enters, not mu2^2 alone).
    """
    population: Population = AffinePopulation(width_ratio, mu1**2, mu2**2) if mu1 else DiscretePopulation.of([mu2**2])
    return additive_spike(population, c2**2 * width_ratio) if c2 else None
