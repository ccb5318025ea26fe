"""tau* and kappa* of a pair (O4), with a certificate that the minimum is the global one.

sqrt(tau) is an L2 distance, sqrt tau(kappa) = |g - S_kappa| with S_kappa(z) = S(kappa z), S(y) = E sigma(y + xi). So it
is Lipschitz in kappa with the constant |d S_kappa/d kappa| <= min(sup |S'|, (phi(0)/kappa^3 int y^2 S'(y)^2 dy)^(1/2)),
and branch and bound over a bracket gives a lower bound of tau* from evaluations alone. Outside the bracket S_kappa is
close to its limit (bounded activations), or too large (activations that grow linearly).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.integrate import trapezoid
from scipy.interpolate import BSpline, make_interp_spline

from bulkedge.numerics.functions.functions import gauss_nodes, moderate, vectorised
from bulkedge.numerics.gaussian.plane import resolved
from bulkedge.numerics.risk.conditional import local_moments
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.risk import floor_value

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_NODE_REACH = 10.0  # of the quadrature of z1
TOLERANCE = 1e-6
REACH = 40.0  # of the table of S; beyond it S is taken from its asymptote
_SPACING = 0.02
_DEFAULT_BRACKET = 50.0
_MAX_BRACKET = 1e5
_MAX_EVALUATIONS = 60_000
_DENSITY = 1 / math.sqrt(2 * math.pi)  # phi(0)


@dataclass(frozen=True)
class Floor:
    """tau* of a pair.

    `tau` is the smallest value found, at `kappa` (+-inf if the infimum is not attained); `lower` <= tau* <= `tau`
    (`quadrature` bounds the error of an evaluation and is included in `lower`; `tau_error` bounds that of `tau` as the
    criterion's value at `kappa`). The certificate covers |kappa| <= `bracket`, and all kappa if `everywhere`;
    `certified` is False where no Lipschitz constant exists. `kappa_error`: further away tau is larger than its
    resolution.
    """

    tau: float
    kappa: float
    lower: float
    bracket: float
    everywhere: bool
    certified: bool
    attained: bool
    quadrature: float
    tau_error: float = 0.0
    kappa_error: float = 0.0


@dataclass(frozen=True)
class FiniteSize:
    """First finite-size scales of O4: what kernels see at n = d = `dim`, and the batch at which a step sees beta.

    `correction`: n samples span n of the (d + 2)(d - 1)/2 quadratic harmonics, and 1/d of He_2(x.beta) is a function
    of |x|: relative to mu2*^2, for its quadratic part (higher degrees: less of the first, more of the second).
    `batch`: the ratio n1/d = E y^2/mu1*^2 where cos^2(u, beta) = 1/2 (inf for a link without a linear part).
    """

    dim: int
    correction: float
    batch: float


def finite_size(slope: float, second_moment: float, dim: int = 1000) -> FiniteSize:
    """The scales of a link of slope E z g and second moment E y^2, noise included.  Source: O4, O2."""
    correction = 1 / dim + 2 * dim / ((dim + 2) * (dim - 1))
    seen = slope**2
    return FiniteSize(dim, correction, second_moment / seen if seen > 1e-26 * second_moment else math.inf)


@dataclass(frozen=True)
class _Smoothed:
    """S as a spline on [-REACH, REACH], linear beyond with the slopes and intercepts at +inf and -inf."""

    spline: BSpline
    slopes: tuple[float, float] | None  # at +inf, -inf; None if S has no asymptote
    offsets: tuple[float, float] | None
    lipschitz: float | None
    drift: float = 0.0  # of the offsets, extrapolated from 1e6 and 1e7: what decays faster than 1/y

    def __call__(self, y: Array) -> Array:
        inside = np.clip(y, -REACH, REACH)
        value: Array = self.spline(inside)
        if self.slopes is None:
            return value
        assert self.offsets is not None
        for sign, slope, offset in zip((1, -1), self.slopes, self.offsets, strict=True):
            edge = float(self.spline(sign * REACH))
            # From the edge's value to the asymptote like 1/y: exact where they agree (all but arctan's kind).
            outside = sign * y > REACH
            asymptote = slope * y + offset
            value = np.where(
                outside,
                asymptote + (edge - slope * sign * REACH - offset) * REACH / np.maximum(np.abs(y), REACH),
                value,
            )
        return value


def _smooth(activation: Function, kinks: Sequence[float]) -> _Smoothed:
    grid = np.arange(-REACH, REACH + _SPACING / 2, _SPACING)
    moments = local_moments(activation, kinks, grid, np.ones_like(grid))
    spline = make_interp_spline(grid, moments.mean, k=5)
    slope = moments.slope
    far = np.abs(grid) > 0.75 * REACH
    with np.errstate(over="ignore", invalid="ignore"):
        probes = activation(np.array([1e6, 1e7, -1e6, -1e7]))
    asymptotes, drift = [], 0.0
    for sign, (near, away), edge in ((1, probes[:2], slope[-1]), (-1, probes[2:], slope[0])):
        if not (np.isfinite(near) and np.isfinite(away)):
            return _Smoothed(spline, None, None, _lipschitz(slope, far))
        s = (away - near) / (sign * 9e6)
        s = 0.0 if abs(s) < 1e-6 else s
        # A distance from the limit that decays like 1/y has nine tenths of it between the two probes.
        offset = near - s * sign * 1e6 if s else away + (away - near) / 9
        # An asymptote: the slope seen from afar is the slope at the table's edge, up to a decay like 1/y^2.
        if not (np.isfinite(s) and abs(s - edge) < 1e-2 * (1 + abs(s)) and abs(away - near - s * sign * 9e6) < 1e-4):
            return _Smoothed(spline, None, None, _lipschitz(slope, far))
        drift = max(drift, 1e-5 * abs(float(away - near - s * sign * 9e6)))
        asymptotes.append((float(s), float(offset)))
    (up, up_offset), (down, down_offset) = asymptotes
    return _Smoothed(spline, (up, down), (up_offset, down_offset), _lipschitz(slope, far), drift)


def _lipschitz(slope: Array, far: NDArray[np.bool_]) -> float | None:
    """sup |S'|, or None if it grows towards the table's ends."""
    top, outer = float(np.max(np.abs(slope))), float(np.max(np.abs(slope[far])))
    inner = float(np.max(np.abs(slope[~far])))
    if outer > 1.001 * inner + 1e-9:
        return None
    return top + float(np.max(np.abs(np.diff(slope))))  # between two entries S' moves by less than the largest jump


@dataclass(frozen=True)
class Criterion:
    """tau(kappa) of a pair as a function of an array of kappa."""

    smoothed: _Smoothed
    z: Array
    weights: Array
    link: Array

    def __call__(self, kappa: Array) -> Array:
        kappa = np.atleast_1d(np.asarray(kappa, dtype=np.float64))
        out = np.empty(len(kappa))
        chunk = max(1, 2_000_000 // len(self.z))
        for start in range(0, len(kappa), chunk):
            part = slice(start, start + chunk)
            gap = self.link - self.smoothed(kappa[part, None] * self.z)
            out[part] = gap**2 @ self.weights
        return out

    def at_infinity(self, sign: int) -> float:
        """lim tau(kappa), kappa -> sign inf, for an activation that is bounded."""
        assert self.smoothed.offsets is not None
        up, down = self.smoothed.offsets[:: 1 if sign > 0 else -1]
        return float((self.link - np.where(self.z > 0, up, down)) ** 2 @ self.weights)


def criterion(
    activation: Function, link: Function, kinks: Sequence[float] = (), link_kinks: Sequence[float] = (), nodes: int = 12
) -> Criterion:
    """The criterion of a pair of float functions; panels are refined towards 0, where S_kappa becomes steep."""
    cuts = [0.0, *(sign * 2.0**-k for k in range(1, 16) for sign in (1, -1))]
    z, weights = gauss_nodes((*link_kinks, *cuts), nodes=nodes, reach=_NODE_REACH)
    return Criterion(_smooth(activation, kinks), z, weights, link(z))


def of_pair(f: Nonlinearity, g: Nonlinearity, *, tolerance: float = TOLERANCE) -> Floor:
    """tau*, kappa* and the certificate of an activation f and a link g: the search in floats, its result enclosed.

    `tau` is the enclosure of the criterion at `kappa`, so that it is an upper bound of tau* whatever the search has
    done; the quadrature of the lower bound has panels made for the link, and is compared with enclosures at the
    minimum, at zero and at one: two orders of one rule agree where both miss a step or a fractional power.
    Accuracy, errors: as `floor`.
    Source: O4.
    """
    moderate(g, "LINK")
    if f.degree is not None:
        return _polynomial_pair(f, g)
    kinks, link_kinks = ([float(b) for b in h.kinks] for h in (f, g))
    edges = resolved(g, 1.0, 1.0, line=True).edges
    cuts = (*link_kinks, *(float(x) for x in edges if abs(x) < _NODE_REACH))
    truth = functools.partial(_truth, f, g)
    return floor(vectorised(f), vectorised(g), kinks, cuts, tolerance=tolerance, truth=truth)


def _truth(f: Nonlinearity, g: Nonlinearity, kappa: float) -> Enclosure:
    return floor_value.value(f, g, sp.Rational(*float(kappa).as_integer_ratio()))


def _polynomial_pair(f: Nonlinearity, g: Nonlinearity) -> Floor:
    """A polynomial activation: tau is a polynomial in kappa, known in balls; its minimum is at one of its roots."""
    coefficients = floor_value.polynomial(f, g)
    try:
        values = np.array([float(x.value) for x in coefficients])
    except OverflowError:
        raise InputError("ACTIVATION", "its criterion exceeds the floats", "scale it down") from None

    def tau(kappa: float) -> Enclosure:
        x = Enclosure(Fraction(kappa), Fraction(0), "exact")
        total = Enclosure(Fraction(0), Fraction(0), "exact")
        for c in reversed(coefficients):
            total = total * x + c
        return total

    # In units in which the leading term is of the constant's size no root is far from one.
    last = int(np.max(np.flatnonzero(values), initial=0))
    unit = abs(values[0] / values[last]) ** (1 / last) if last and values[0] else 1.0
    derivative = np.polynomial.polynomial.polyder(values[: last + 1] * unit ** np.arange(last + 1))
    roots = np.polynomial.polynomial.polyroots(derivative) * unit if last > 1 else np.zeros(0)
    real = {0.0, *(float(x) for x in np.real(roots[np.abs(np.imag(roots)) < 1e-3 * (unit + np.abs(roots))]))}
    best = min(real, key=lambda k: tau(k).value)
    found = tau(best)
    # Rounding moves a root of multiplicity m by eps^(1/m), and tau at it by about eps of its terms.
    size = float(np.sum(np.abs(values) * np.abs(best) ** np.arange(len(values))))
    quadrature = float(found.error) + 64 * np.finfo(float).eps * size

    def above(kappa: float) -> float:
        return float(tau(kappa).value - found.value)

    # Of a constant activation every kappa is a minimum, zero exactly.
    reach = _flat(above, best, quadrature) if any(values[1:]) else 0.0
    value = max(float(found.value), 0.0)
    low = max(value - quadrature, 0.0)
    return Floor(value, best, low, math.inf, True, True, True, quadrature, float(found.error), reach)


def _flat(above: Callable[[float], float], kappa: float, resolution: float) -> float:
    """The distance from kappa at which tau, on both sides, exceeds its minimum by more than its resolution."""
    h = 1e-12 * (1 + abs(kappa))
    while min(above(kappa + h), above(kappa - h)) <= 2 * resolution:
        h *= 2
        if h > 1e6 * (1 + abs(kappa)):
            break
    return h


def floor(
    activation: Function,
    link: Function,
    kinks: Sequence[float] = (),
    link_kinks: Sequence[float] = (),
    *,
    tolerance: float = TOLERANCE,
    truth: Callable[[float], Enclosure] | None = None,
) -> Floor:
    """tau*, kappa* and the certificate, from float functions.

    Valid for: activations that are no polynomials (`of_pair` has their criterion exactly). `truth` encloses the
    criterion at a kappa.
    Accuracy: tau - lower <= tolerance E g^2 where the certificate closes; the quadrature's error is the change between
    two orders, and the distance from `truth` where it is given (without, a step that both orders miss is not seen).
    Errors: InputError for a link without a finite second moment.
    Source: O4.
    """
    c = criterion(activation, link, kinks, link_kinks)
    second = float(c.link**2 @ c.weights)
    if not math.isfinite(second):
        raise InputError("LINK", "has no finite variance", "choose another")
    fine = criterion(activation, link, kinks, link_kinks, nodes=18)
    s = c.smoothed
    # Without an asymptote S is known where the table is: |kappa z| <= REACH for all |z| <= _NODE_REACH.
    widest = _DEFAULT_BRACKET if s.slopes is not None else REACH / _NODE_REACH
    grid = np.concatenate([np.linspace(0, 4, 81), np.geomspace(4.1, max(widest, 4.2), 40)])
    grid = grid[grid <= widest]
    grid = np.concatenate([-grid[:0:-1], grid])
    values = c(grid)
    kappa, tau = _polish(c, grid, int(np.argmin(values)))
    tau = max(tau, 0.0)
    quadrature = float(np.max(np.abs(fine(grid) - values))) + 1e-14 * second

    def gap(at: float, enclosed: Enclosure) -> float:
        return 2 * (abs(float(enclosed.value) - float(c(np.array([at]))[0])) + float(enclosed.error))

    if truth is not None:
        quadrature = max(quadrature, *(gap(k, truth(k)) for k in (0.0, math.copysign(1.0, kappa))))
    bracket, everywhere, outside = widest, False, math.inf
    attained = True
    if s.slopes == (0.0, 0.0):
        # |S_kappa - S_inf|^2 <= phi(0) int r^2/kappa, r = S minus its limit.
        limits = {sign: c.at_infinity(sign) for sign in (1, -1)}
        sign = min(limits, key=lambda k: limits[k])
        lowest, energy = math.sqrt(max(limits[sign], 0.0)), _DENSITY * _tail_energy(s)
        quadrature += 2 * math.sqrt(second) * 2 * s.drift + 4 * s.drift**2
        attained = limits[sign] > tau + 1e-9 * second + quadrature
        if attained:
            needed = energy / (lowest - math.sqrt(tau)) ** 2
            bracket, everywhere = (max(2.0, needed), True) if needed <= _MAX_BRACKET else (widest, False)
        else:
            kappa, tau, everywhere = sign * math.inf, max(limits[sign], 0.0), True
            outside = max(lowest - math.sqrt(energy / bracket), 0.0) ** 2
    elif s.slopes is not None:
        assert s.offsets is not None
        # |S_kappa| >= kappa |hom| - sup |S - hom|.
        y = np.linspace(-REACH, REACH, 4001)
        rest = float(np.max(np.abs(s(y) - np.where(y > 0, s.slopes[0] * y, s.slopes[1] * y))))
        growth = math.sqrt((s.slopes[0] ** 2 + s.slopes[1] ** 2) / 2)
        bracket, everywhere = (math.sqrt(second) + math.sqrt(tau) + rest) / growth, True
    error = quadrature
    if truth is not None and attained:
        enclosed = truth(kappa)
        quadrature = max(quadrature, gap(kappa, enclosed))
        tau, error = max(float(enclosed.value), 0.0), float(enclosed.error) + 2.0**-52 * second
    reach = 0.0
    if attained:
        lowest = float(c(np.array([kappa]))[0])
        reach = _flat(lambda k: float(c(np.array([k]))[0]) - lowest, kappa, quadrature)
    if s.lipschitz is None:
        return Floor(tau, kappa, 0.0, bracket, False, False, attained, quadrature, error, reach)
    lower = min(_lower_bound(c, bracket, tau, tolerance * second, quadrature), outside)
    return Floor(tau, kappa, min(lower, tau), bracket, everywhere, True, attained, quadrature, error, reach)


def _polish(c: Criterion, grid: Array, best: int) -> tuple[float, float]:
    """Golden-section refinement of the best grid point between its neighbours."""
    from scipy.optimize import minimize_scalar

    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(
        lambda k: float(c(np.array([k]))[0]), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    value = float(c(grid[best : best + 1])[0])
    return (float(found.x), float(found.fun)) if found.fun < value else (float(grid[best]), value)


def _tail_energy(s: _Smoothed) -> float:
    """int (S - S(+-inf))^2 dy, the part beyond the table bounded by a decay like 1/y."""
    assert s.offsets is not None
    y = np.linspace(-REACH, REACH, 16001)
    r2 = (s(y) - np.where(y > 0, s.offsets[0], s.offsets[1])) ** 2
    return float(trapezoid(r2, y) + 2 * REACH * (r2[0] + r2[-1]))


def _steepness(s: _Smoothed) -> float | None:
    """phi(0) int y^2 S'(y)^2 dy, or None where it diverges (an activation that grows)."""
    if s.slopes != (0.0, 0.0):
        return None
    y = np.linspace(-REACH, REACH, 16001)
    f = (y * s.spline(y, 1)) ** 2
    return _DENSITY * float(trapezoid(f, y) + 2 * REACH * (f[0] + f[-1]))


def _lower_bound(c: Criterion, bracket: float, tau: float, tolerance: float, quadrature: float) -> float:
    """A lower bound of tau over |kappa| <= bracket, by branch and bound on sqrt(tau)."""
    assert c.smoothed.lipschitz is not None
    top, steep = c.smoothed.lipschitz, _steepness(c.smoothed)
    target = math.sqrt(max(tau - tolerance, 0.0))
    # Cells: centres and half widths; geometric beyond 1, because the Lipschitz constant falls there.
    ends = np.concatenate([np.linspace(0, 1, 9), np.geomspace(1.1, max(bracket, 1.2), 60)])
    ends = np.concatenate([-ends[:0:-1], ends])
    centre, half = (ends[1:] + ends[:-1]) / 2, np.diff(ends) / 2
    lowest, evaluations = math.inf, 0
    while len(centre):
        nearest = np.maximum(np.abs(centre) - half, 0.0)
        with np.errstate(divide="ignore"):
            slope = np.full(len(centre), top) if steep is None else np.minimum(top, np.sqrt(steep / nearest**3))
        bound = np.sqrt(np.maximum(c(centre) - quadrature, 0.0)) - slope * half
        evaluations += len(centre)
        done = (bound >= target) | (half < 1e-9)
        if evaluations > _MAX_EVALUATIONS:
            done[:] = True
        if np.any(done):
            lowest = min(lowest, float(np.min(bound[done])))
        centre, half = centre[~done], half[~done] / 2
        centre, half = np.concatenate([centre - half, centre + half]), np.concatenate([half, half])
    return max(lowest, 0.0) ** 2
