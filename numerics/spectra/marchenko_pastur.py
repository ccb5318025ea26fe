"""The numeric Marchenko-Pastur law (R1), with the method names of a SciPy distribution and its atom.

In the bulk x = sigma2 (1 + c - 2 sqrt c cos t), 0 <= t <= pi, and the law of t is
(2/pi) sin^2 t/(1 + c - 2 sqrt c cos t) dt: no square-root edges are left, so the distribution function and its inverse
are accurate up to the edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bulkedge.numerics.functions.legendre import legendre
from bulkedge.numerics.trials.domain import finite, positive, within
from bulkedge.theory.numbers.errors import InputError

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

_BLOCK = 8192
_NODES, _WEIGHTS = legendre(20)


@dataclass(frozen=True)
class MarchenkoPastur:
    """The limit law of the eigenvalues of (1/n) Z^T Z, Z an n x p matrix of iid entries of variance `scale`.

    density sqrt((b - x)(x - a))/(2 pi c sigma2 x) between a, b = sigma2 (1 -+ sqrt c)^2; atom 1 - 1/c at 0 if c > 1.
    Valid for: any ratio c = p/n > 0 and scale > 0. All methods are vectorised.
    Convention: `pdf` is the density of the continuous part, of mass min(1, 1/c); `cdf`, `ppf`, `rvs`, the moments and
    `stieltjes` include the atom. pdf is 0 at the edges; at c = 1 it is unbounded at 0+ and 0 at 0 itself.
    Accuracy: cdf and sf to 1e-14 absolutely, and to 1e-12 relatively towards the edge where they vanish.
    Errors: InputError for a ratio or scale that is not a positive finite number.
    Source: R1.
    """

    ratio: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", positive(self.ratio, "ratio"))
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @property
    def edges(self) -> tuple[float, float]:
        """The edges of the continuous part."""
        root = math.sqrt(self.ratio)
        # 1 - sqrt c through 1 - c, which is exact near c = 1.
        lower, upper = self.scale * ((1 - self.ratio) / (1 + root)) ** 2, self.scale * (1 + root) ** 2
        return min(lower, upper), upper  # one number where they are nearer than rounding

    @property
    def atom(self) -> float:
        """The mass at zero."""
        return max(0.0, (self.ratio - 1) / self.ratio)

    def support(self) -> tuple[float, float]:
        """The smallest interval that holds all mass (it begins at 0 where there is an atom)."""
        lower, upper = self.edges
        return (0.0 if self.ratio > 1 else lower), upper

    def mean(self) -> float:
        """sigma2, whatever the ratio."""
        return self.scale

    def var(self) -> float:
        """c sigma2^2."""
        return self.ratio * self.scale**2

    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var())

    def moment(self, order: int) -> float:
        """E lambda^k by Narayana's numbers."""
        if isinstance(order, bool) or not isinstance(order, int) or order < 0:
            raise InputError("order", f"{order!r} is not the order of a moment", "give an integer >= 0")
        terms = (math.comb(order, j) * math.comb(order - 1, j) / (j + 1) * self.ratio**j for j in range(order))
        return self.scale**order * math.fsum(terms) if order else 1.0

    def pdf(self, x: ArrayLike) -> Floats:
        """The density of the continuous part (see the class for x at an edge)."""
        values = finite(x, "x")
        lower, upper = self.edges
        inside = (values > lower) & (values < upper)
        safe = np.where(inside, values, (lower + upper) / 2)
        result = np.sqrt((upper - safe) * (safe - lower)) / (2 * np.pi * self.ratio * self.scale * safe)
        return np.where(inside, result, 0.0)

    def cdf(self, x: ArrayLike) -> Floats:
        """P(lambda <= x), the atom included."""
        return _blockwise(self._cdf, finite(x, "x"))

    def _cdf(self, values: Floats) -> Floats:
        sine, cosine = self._half_angle(values)
        return np.where(values < 0, 0.0, self.atom + self._mass * _swept(sine, cosine, self._root))

    def sf(self, x: ArrayLike) -> Floats:
        """P(lambda > x), without cancellation near the upper edge."""
        return _blockwise(self._sf, finite(x, "x"))

    def _sf(self, values: Floats) -> Floats:
        sine, cosine = self._half_angle(values)
        return np.where(values < 0, 1.0, self._mass * _swept(cosine, sine, -self._root))

    def ppf(self, q: ArrayLike) -> Floats:
        """The smallest x with cdf(x) >= q; 0 for q up to the atom.

        Errors: InputError for a probability outside [0, 1].
        """
        levels = finite(q, "q")
        if np.any((levels < 0) | (levels > 1)):
            raise InputError("q", "holds a number outside [0, 1]", "give probabilities")
        share = np.clip((levels - self.atom) / self._mass, 0.0, 1.0)
        rest = np.clip((1 - levels) / self._mass, 0.0, 1.0)
        low = share <= 0.5
        # From the nearer edge, so that neither tail loses digits.
        from_lower = _unsweep(np.where(low, share, 0.5), self._root)
        from_upper = _unsweep(np.where(low, 0.5, rest), -self._root)
        lower, upper = self.edges
        span = 4 * math.sqrt(self.ratio) * self.scale
        x = np.where(low, lower + span * np.sin(from_lower / 2) ** 2, upper - span * np.sin(from_upper / 2) ** 2)
        return np.where((levels <= self.atom) & (self.ratio > 1), 0.0, x)

    def rvs(self, size: int | tuple[int, ...] | None = None, *, random_state: np.random.Generator) -> Floats:
        """Independent draws by inversion, zeros included where there is an atom.

        Convention: `random_state` is a numpy Generator, and the only source of randomness.
        """
        if not isinstance(random_state, np.random.Generator):
            raise InputError(
                "random_state", f"{random_state!r} is not a generator", "give numpy.random.default_rng(seed)"
            )
        return self.ppf(random_state.random(size))

    def stieltjes(self, w: ArrayLike) -> Complexes:
        """m(w) = E 1/(lambda - w) on the complex plane; on the bulk itself the limit from the upper half-plane.

        Errors: InputError for w = 0 at ratio >= 1, where m has a pole (the atom) or is unbounded.
        """
        points = np.asarray(w, dtype=complex)
        if not np.isfinite(points).all():
            raise InputError("w", "holds nan or infinity", "give points of the complex plane")
        within(points, "w")
        within(points.imag, "w")
        if self.ratio >= 1 and np.any(points == 0):
            raise InputError("w", f"m has no value at 0 for ratio {self.ratio:g}", "give points other than 0")
        points = np.where(points.imag == 0, points.real + 0j, points)  # -0.0 would be the limit from below
        lower, upper = self.edges
        # Separate roots: the product under one root is on the wrong branch for Re w < (a + b)/2.
        root = np.sqrt(points - lower) * np.sqrt(points - upper)
        linear = points - self.scale * (1 - self.ratio)
        # (root - linear)(root + linear) = -4 c sigma2 w: take the form that does not cancel.
        stable = np.abs(linear + root) >= np.abs(linear - root)
        plus, minus = np.where(stable, linear + root, 1.0), np.where(stable, 1.0, root - linear)
        at_zero = np.where(stable, 1.0, points)
        return np.where(stable, -2 / plus, minus / (2 * self.ratio * self.scale * at_zero))

    def stieltjes_derivative(self, w: ArrayLike) -> Complexes:
        """m'(w) = E 1/(lambda - w)^2, from the quadratic; not at the edges, where it is unbounded."""
        points, m = np.asarray(w, dtype=complex), self.stieltjes(w)
        slope = 2 * self.ratio * self.scale * points * m + points - self.scale * (1 - self.ratio)
        if np.any(slope == 0):
            raise InputError("w", "m' has no value at an edge of the bulk", "give other points")
        return np.asarray(-m * (1 + self.ratio * self.scale * m) / slope)

    def singular_values(self) -> SingularValueLaw:
        """The law of the singular values of Z/sqrt n."""
        return SingularValueLaw(self)

    @property
    def _mass(self) -> float:
        return min(1.0, 1 / self.ratio)

    @property
    def _root(self) -> float:
        # The non-zero spectrum at c > 1 is that at 1/c on another scale: the angle's law is the same.
        return math.sqrt(min(self.ratio, 1 / self.ratio))

    def _half_angle(self, values: Floats) -> tuple[Floats, Floats]:
        """sin(t/2) and cos(t/2)."""
        lower, upper = self.edges
        inside = np.clip(values, lower, upper)
        if lower == upper:
            return np.zeros_like(inside), np.ones_like(inside)
        span = 1 / (upper - lower)
        return np.sqrt((inside - lower) * span), np.sqrt((upper - inside) * span)


@dataclass(frozen=True)
class SingularValueLaw:
    """The law of sqrt(lambda), lambda of a Marchenko-Pastur law: singular values of Z/sqrt n (p of them).

    density 2 x rho(x^2); the quarter circle at ratio 1. The same conventions and accuracy as `MarchenkoPastur`.
    Source: R1.
    """

    squared: MarchenkoPastur

    @property
    def edges(self) -> tuple[float, float]:
        """sigma |1 - sqrt c| and sigma (1 + sqrt c)."""
        lower, upper = self.squared.edges
        return math.sqrt(lower), math.sqrt(upper)

    @property
    def atom(self) -> float:
        """The mass at zero."""
        return self.squared.atom

    def support(self) -> tuple[float, float]:
        """The smallest interval that holds all mass."""
        lower, upper = self.squared.support()
        return math.sqrt(lower), math.sqrt(upper)

    def pdf(self, x: ArrayLike) -> Floats:
        """The density of the continuous part; at ratio 1 it is sigma's quarter circle, continuous at 0."""
        values = finite(x, "x")
        lower, upper = self.edges
        inside = (values >= lower) & (values <= upper)
        safe = np.where(inside & (values > 0), values, upper)
        squares = (upper - safe) * (upper + safe)
        below = np.where(lower > 0, (safe - lower) * (safe + lower) / safe**2, 1.0)
        ratio, scale = self.squared.ratio, self.squared.scale
        result = np.sqrt(squares * below) / (np.pi * ratio * scale)
        result = np.where(inside & (values == 0), upper / (np.pi * ratio * scale), result)
        return np.where(inside, result, 0.0)

    def cdf(self, x: ArrayLike) -> Floats:
        """P(s <= x), the atom included."""
        values = finite(x, "x")
        return np.where(values < 0, 0.0, self.squared.cdf(np.abs(values) * values))

    def sf(self, x: ArrayLike) -> Floats:
        """P(s > x)."""
        values = finite(x, "x")
        return np.where(values < 0, 1.0, self.squared.sf(np.abs(values) * values))

    def ppf(self, q: ArrayLike) -> Floats:
        """Quantiles."""
        return np.sqrt(self.squared.ppf(q))

    def rvs(self, size: int | tuple[int, ...] | None = None, *, random_state: np.random.Generator) -> Floats:
        """Independent draws."""
        return np.sqrt(self.squared.rvs(size, random_state=random_state))


def _blockwise(function: Callable[[Floats], Floats], values: Floats) -> Floats:
    """A function of each element, on pieces whose temporaries stay in the cache."""
    if values.size <= _BLOCK:
        return function(values)
    result = np.empty(values.shape)
    source, target = values.ravel(), result.ravel()
    for start in range(0, values.size, _BLOCK):
        target[start : start + _BLOCK] = function(source[start : start + _BLOCK])
    return result


def _density(angle: Floats, root: float) -> Floats:
    """(2/pi) sin^2 t/(1 + r^2 - 2 r cos t), the law of the angle; r in [-1, 1], negative from the upper edge."""
    near = (1 - root) ** 2 + 4 * root * np.sin(angle / 2) ** 2
    far = np.where(near > 0, near, 1.0)
    # At r = 1 the limit towards t = 0 is 2/pi.
    return np.where(near > 0, 2 / np.pi * np.sin(angle) ** 2 / far, 2 / np.pi)


def _swept(half_sine: Floats, half_cosine: Floats, root: float) -> Floats:
    """The mass of the angles in (0, t), by the closed form, and near t = 0 (where it cancels) by Gauss-Legendre.

    Takes sin(t/2) and cos(t/2). The closed form loses about (1 - r)^2/(r t^2) units in the last place.
    """
    angle, sine = 2 * np.arctan2(half_sine, half_cosine), 2 * half_sine * half_cosine
    arc = np.arctan2(root * sine, (1 - root) + 2 * root * half_sine * half_sine)
    if abs(root) < 0.1:
        # (1/pi)(t + A - sum_{k>=2} r^(k-2) sin(k t)/k), A = sum_{k>=1} r^k sin(k t)/k: the form below loses 1/r.
        closed = (angle + arc - sum(root ** (k - 2) * np.sin(k * angle) / k for k in range(2, 20))) / np.pi
    else:
        closed = (angle + sine / root - (1 - root) * (1 + root) / root**2 * arc) / np.pi
    swept = np.array(np.clip(closed, 0.0, 1.0))  # an array even for a single angle, so that it can be filled
    small = angle < min(0.3, (1 - root) / 4)
    if small.any():
        half = np.asarray(angle)[small][:, None] / 2
        swept[small] = np.sum(_density(half * (1 + _NODES), root) * _WEIGHTS * half, axis=-1)
    return swept


def _unsweep(mass: Floats, root: float) -> Floats:
    """The angle below which there is `mass` <= 1/2 or so: Newton's iteration inside a shrinking bracket."""
    shape, mass = mass.shape, mass.ravel()
    # A grid that is dense towards 0 gives each start within a cell.
    grid = np.pi * np.linspace(0, 1, 400) ** 2
    table = _swept(np.sin(grid / 2), np.cos(grid / 2), root)
    cell = np.clip(np.searchsorted(table, mass), 1, len(grid) - 1)
    low, high = grid[cell - 1], grid[cell]
    share = (mass - table[cell - 1]) / np.maximum(table[cell] - table[cell - 1], np.finfo(float).tiny)
    angle = low + (high - low) * np.clip(share, 0.0, 1.0)
    active = np.flatnonzero(mass > 0)
    for _ in range(100):
        here = angle[active]
        gap = _swept(np.sin(here / 2), np.cos(here / 2), root) - mass[active]
        low[active] = np.where(gap <= 0, here, low[active])
        high[active] = np.where(gap >= 0, here, high[active])
        slope = _density(here, root)
        newton = here - gap / np.where(slope > 0, slope, 1.0)
        usable = (slope > 0) & (newton >= low[active]) & (newton <= high[active])
        angle[active] = np.where(usable, newton, (low[active] + high[active]) / 2)
        moving = (np.abs(gap) > 2e-16 * mass[active]) & (np.abs(angle[active] - here) > 4e-16 * here)
        active = active[moving]
        if not active.size:
            break
    return np.where(mass > 0, angle, 0.0).reshape(shape)
