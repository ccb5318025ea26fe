"""The ridge risk after one step (O3), vectorised: a whole curve in one call, with its exact limits.

The formulas are those of theory/risk/ridge.py (a test ties each line to its symbol), arranged so that no subtraction
cancels: 1 - g, t and 1 - df2/n are each written as sums or quotients of non-negative terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.trials.domain import LARGEST, SMALLEST, within
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

Array = NDArray[np.float64]

MAX_ITERATIONS = 200
_NO_RIDGE = 1e-290  # below it double precision has no full digits left: a smaller ridge counts as 0


@dataclass(frozen=True)
class Constants:
    """The constants of a pair (activation, link) that the risk depends on (paper O's convention).

    Shapes/units: floats, or arrays that broadcast. `mu0_star` enters |u|^2 always, and the target's variance only
    where nothing fits it (`fits_mean` False: an activation without a mean).
    """

    mu1: ArrayLike
    mu2: ArrayLike
    mu0_star: ArrayLike
    mu1_star: ArrayLike
    mu2_star: ArrayLike
    fits_mean: bool = True

    def linear_floor(self) -> Array:
        """mu2*^2, the link's own part of the floor."""
        return np.asarray(_f(self.mu2_star) ** 2)

    def floor(self) -> Array:
        """What no linear model can explain, noise excluded: mu2*^2, plus mu0*^2 where nothing fits the mean."""
        floor = _f(self.mu2_star) ** 2
        return floor if self.fits_mean else floor + _f(self.mu0_star) ** 2


@dataclass(frozen=True)
class RidgeRisk:
    """Test risk (noise excluded) = floor + bias + variance, training error (noise included), effective ridge.

    `bias` is the missed linear part (over the sampling factor), `variance` what noise and the nonlinear part of the
    link cost through the finite sample. `degrees` is df1/n, `residual` the relative residual of its equation.
    """

    test: Array
    train: Array
    floor: Array
    bias: Array
    variance: Array
    kappa: Array
    degrees: Array
    residual: Array


def _f(x: ArrayLike) -> Array:
    return np.asarray(x, dtype=np.float64)


class _Resolvent(NamedTuple):
    """g, t, 1 - g, h = g/x, kappa dg/dkappa and t - kappa dt/dkappa at one kappa."""

    g: Array
    t: Array
    one_minus_g: Array
    h: Array
    kappa_dg: Array
    convex: Array


def _resolvent(kappa: Array, psi2: Array, mu1sq: Array, mu2sq: Array) -> _Resolvent:
    return _Features(psi2, mu1sq, mu2sq).at(kappa)


class _Features:
    """The resolvent of the features as a function of kappa; what does not depend on kappa is computed once."""

    def __init__(self, psi2: Array, mu1sq: Array, mu2sq: Array) -> None:
        self._psi2, self._mu1sq, self._mu2sq = psi2, mu1sq, mu2sq
        # Which branch is free of cancellation depends on N/d alone, so that it is chosen once for all kappa.
        self._few = psi2 <= 1
        self._all_few, self._none_few = bool(np.all(self._few)), not np.any(self._few)
        self._shift, self._cross = mu1sq * (1 - psi2), 4 * mu1sq
        self._cross_few, self._left = self._cross * psi2, 1 - psi2

    def at(self, kappa: Array) -> _Resolvent:
        """The resolvent at kappa >= 0."""
        x = self._mu2sq + kappa
        # Mixed ratios compute both branches and choose; the usual case of one ratio pays for one.
        if (self._all_few or self._none_few) and np.all(x > 0):
            return (self._at_few if self._all_few else self._at_many)(kappa, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            narrow, wide = self._at_few(kappa, x), self._at_many(kappa, x)
        r = [np.where(self._few, a, b) for a, b in zip(narrow, wide, strict=True)]
        corner = (x == 0) & (self._psi2 == 1)  # N = d, mu2 = kappa = 0: g ~ sqrt(x)/mu1
        g, t, missing = (np.where(corner, v, a) for v, a in zip((0.0, 0.0, 1.0), r[:3], strict=True))
        return _Resolvent(g, t, missing, r[3], np.where(kappa == 0, 0.0, r[4]), np.where(kappa == 0, t, r[5]))

    def h(self, kappa: Array) -> Array:
        """g/x alone, at kappa > 0."""
        # Newton's bracket asks for h alone; with more neurons than inputs it has a form without the other parts.
        if not self._none_few:
            return self.at(kappa).h
        x = self._mu2sq + kappa
        bt = x - self._shift
        return np.asarray(1 / (x + self._mu1sq * 2 * x / (bt + np.sqrt(bt * bt + self._cross * x))))

    # With b = x + mu1^2 (1 - psi2), bt = x - mu1^2 (1 - psi2) and D^2 = b^2 + 4 psi2 mu1^2 x = bt^2 + 4 mu1^2 x: at
    # most as many neurons as inputs means b >= 0, more means bt > 0, and each branch has only sums and quotients of
    # non-negative terms. So has t - kappa t' = (t - x t') + mu2^2 t', in which t and kappa t' cancel to order kappa^2
    # without mu2: t - x t' = -x^2 (t/x)', and t/x = 2/(bt + D).
    def _at_few(self, kappa: Array, x: Array) -> _Resolvent:
        b = x + self._shift
        disc = np.sqrt(b * b + self._cross_few * x)
        h = 2 / (b + disc)
        g = h * x
        t = self._left + self._psi2 * g
        missing = self._mu1sq * h * t
        convex = self._left + self._psi2 * (g * g * (1 / h + self._psi2 * self._mu1sq) + self._mu2sq * missing) / disc
        return _Resolvent(g, t, missing, h, kappa * missing / disc, convex)

    def _at_many(self, kappa: Array, x: Array) -> _Resolvent:
        bt = x - self._shift
        disc = np.sqrt(bt * bt + self._cross * x)
        share = 2 / (bt + disc)  # t/x
        odds = self._mu1sq * share
        g = 1 / (1 + odds)
        missing, t = odds * g, share * x
        convex = (t * t * (1 / share + self._mu1sq) + self._psi2 * self._mu2sq * missing) / disc
        return _Resolvent(g, t, missing, g / x, kappa * missing / disc, convex)


def resolvent_parts(kappa: ArrayLike, psi2: ArrayLike, mu1: ArrayLike, mu2: ArrayLike) -> tuple[Array, ...]:
    """g, t, 1 - g and kappa dg/dkappa at one kappa > 0 (theory.risk.ridge), each without a cancellation."""
    kappa_, psi2_, mu1_, mu2_ = (np.asarray(_f(v)) for v in (kappa, psi2, mu1, mu2))
    r = _resolvent(kappa_, psi2_, mu1_**2, mu2_**2)
    return r.g, r.t, r.one_minus_g, r.kappa_dg


def resolvent_trace(kappa: ArrayLike, psi2: ArrayLike, mu1: ArrayLike, mu2: ArrayLike) -> Array:
    """t = (x/d) tr (mu1^2 W0 W0^T + x)^-1, x = mu2^2 + kappa: what of a linear function the features miss."""
    kappa_, psi2_, mu1_, mu2_ = (np.asarray(_f(v)) for v in (kappa, psi2, mu1, mu2))
    return np.asarray(_resolvent(kappa_, psi2_, mu1_**2, mu2_**2).t)


def _degrees(kappa: Array, ratio: Array, r: _Resolvent, mu2sq: Array) -> Array:
    """df1/n for kappa > 0; ratio = psi2/psi1."""
    return ratio * (mu2sq + kappa * r.one_minus_g) / (mu2sq + kappa)


def _slope(kappa: Array, ratio: Array, r: _Resolvent, mu2sq: Array) -> Array:
    """-kappa d(df1/n)/dkappa, for kappa > 0."""
    x = mu2sq + kappa
    return ratio * (kappa / x) * (r.g * mu2sq / x + r.kappa_dg)


def _degrees_at_zero(psi2: Array, ratio: Array, mu1sq: Array, mu2sq: Array) -> Array:
    """df1/n at kappa = 0: the number of features that are there, over n."""
    return np.where(mu2sq > 0, ratio, np.where(mu1sq > 0, ratio * np.minimum(1, 1 / np.maximum(psi2, 1e-300)), 0.0))


def effective_ridge(
    psi1: ArrayLike, psi2: ArrayLike, lam: ArrayLike, mu1: ArrayLike, mu2: ArrayLike
) -> tuple[Array, Array]:
    """kappa and the relative residual of 1 - lam/kappa = df1/n; all arguments broadcast.

    Valid for: 0 <= lam, 0 < psi1 (inf allowed), 0 <= psi2 < inf. lam = 0 below the interpolation threshold gives
    kappa = 0 exactly.
    Accuracy: Newton's method in 1/kappa, where df1 + lam/kappa is concave and increasing: from kappa's upper bound it
    converges monotonically; iterated until the step is at rounding level.
    Errors: ConvergenceError after MAX_ITERATIONS steps (never seen; the argument above excludes it).
    """
    psi1_, psi2_, lam_, mu1_, mu2_ = map(_f, (psi1, psi2, lam, mu1, mu2))
    lam_ = np.where(lam_ < _NO_RIDGE, 0.0, lam_)
    mu1sq, mu2sq, ratio = mu1_**2, mu2_**2, psi2_ / psi1_
    with np.errstate(invalid="ignore"):
        # 1 - ratio would lose digits near N = n, where the answer hangs on them.
        excess = (psi1_ - psi2_) / psi1_  # 1 - ratio
    excess = np.where(np.isinf(psi1_), 1.0, excess)
    values = (psi2_, lam_, mu1sq, mu2sq, ratio, excess)
    shape = np.broadcast_shapes(*(v.shape for v in values))
    if np.all(lam_ > 0):  # arguments of one value stay scalars
        kappa, residual = _solve(*values)
        return np.broadcast_to(kappa, shape), np.broadcast_to(residual, shape)
    whole = [np.broadcast_to(v, shape) for v in values]
    # Without a ridge kappa is positive only where the features outnumber the samples; elsewhere it is 0, not small.
    solved = (whole[1] > 0) | (_degrees_at_zero(whole[0], whole[4], whole[2], whole[3]) > 1)
    result, residuals = np.zeros(shape), np.zeros(shape)
    if solved.any():
        result[solved], residuals[solved] = _solve(*(v[solved] for v in whole))
    return result, residuals


def _solve(psi2: Array, lam: Array, mu1sq: Array, mu2sq: Array, ratio: Array, excess: Array) -> tuple[Array, Array]:
    """kappa > 0 and its relative residual."""
    features, size = _Features(psi2, mu1sq, mu2sq), np.abs(excess)
    kappa = lam + ratio * (mu1sq + mu2sq)
    for _ in range(4):
        # h = g/x decreases in kappa: freezing it at an upper bound of kappa gives a better upper bound. One step
        # bridges any number of orders of magnitude (lam = 1e-300 at the peak), which Newton's method would halve.
        b = ratio * features.h(kappa)
        root = np.sqrt(excess * excess + 4 * b * lam)
        total = root + size
        with np.errstate(divide="ignore", invalid="ignore"):
            # The root of lam/kappa = b kappa + excess, in the form that adds terms of one sign on either side of the
            # peak.
            better = np.fmin(kappa, np.where(excess >= 0, 2 * lam / total, total / (2 * b)))
        near = np.all(2 * better > kappa)
        kappa = better
        if near:
            break
    # The equation is lam/kappa = 1 - df1/n = missing + excess. The second form is exact where N is near n; the first
    # where more neurons than samples (twice as many, or more) make its two terms large and opposite.
    many = ratio > 2
    some = bool(np.any(many))
    for iteration in range(MAX_ITERATIONS):
        r = features.at(kappa)
        missing, own = ratio * kappa * r.h, lam / kappa
        gap = own - missing - excess
        if some:
            used = _degrees(kappa, ratio, r, mu2sq)
            gap = np.where(many, own + used - 1, gap)
        step = gap / (own + _slope(kappa, ratio, r, mu2sq))
        length = np.abs(step)
        if iteration > 8 or length.max() <= 1e-7:
            # gap relative to its own terms is at rounding level: nothing more to be had.
            terms = own + missing + size
            residual = np.abs(gap) / (np.where(many, own + used + 1, terms) if some else terms)
            if np.all((length <= 2e-15) | (residual <= 4e-16)):
                return kappa, residual
        kappa = kappa / (1 - np.minimum(step, 0.5))
    if np.all(residual <= 1e-14):
        return kappa, residual
    raise ConvergenceError(f"the effective ridge did not converge (residual {float(np.max(residual)):.2g})")


def ridge_risk(constants: Constants, problem: RidgeProblem) -> RidgeRisk:
    """The limiting ridge risk after one step of size eta = Theta(1), for arrays of anything.

    Formula: theory.risk.ridge.test_risk and train_risk.
    Valid for: see theory.risk.ridge.test_risk. Limits taken exactly: lam = 0; eta = 0 and eta = inf (after d -> inf);
    psi1 = inf, psi2 = inf (at fixed lam: the ridgeless kernel), psi2 = 0, alpha = inf.
    Shapes/units: the problem's fields and the constants broadcast against one another.
    Accuracy: a few units in the 15th digit away from the interpolation peak; near it the condition number.
    Errors: InputError for a negative ridge, ratio, noise or step that is not usable, and at the peak itself (lam = 0
    and as many features as samples), where the risk is infinite.
    Source: O3.
    """
    c = constants
    # Not broadcast yet: the effective ridge is found on the ratios' own shape, whatever the number of steps.
    checked = {name: _f(value) for name, value in problem.named().items()}
    checked |= {name: _f(getattr(c, name)) for name in ("mu1", "mu2", "mu1_star", "mu2_star", "mu0_star")}
    shape = np.broadcast_shapes(*(a.shape for a in checked.values()))
    for name in set(checked) - {"ridge"}:  # whose own smallest size is NO_RIDGE
        small = np.abs(checked[name]) < SMALLEST
        if np.any(small):
            checked[name] = np.where(small, 0.0, checked[name])
    _validate(checked)
    p1, p2, lm, et, al, nz, m1, m2, m1s, m2s, m0s = checked.values()
    mu1sq, mu2sq, m1s2 = m1**2, m2**2, m1s**2
    lm = np.where(lm < _NO_RIDGE, 0.0, lm)
    floor = m2s**2 if c.fits_mean else m2s**2 + m0s**2
    spread = (m0s**2 + m1s2 + m2s**2 + nz**2) / al
    unorm2 = m1s2 + spread
    wide = np.isinf(p2)
    p2f = np.where(wide, 1.0, p2)
    kappa, residual = effective_ridge(p1, p2f, lm, m1, m2)
    ratio = p2f / p1
    r = _resolvent(kappa, p2f, mu1sq, mu2sq)
    at_zero = kappa == 0
    if np.any(at_zero):
        safe = np.where(at_zero, 1.0, kappa)
        at_safe, zero_degrees = _resolvent(safe, p2f, mu1sq, mu2sq), _degrees_at_zero(p2f, ratio, mu1sq, mu2sq)
        degrees = np.where(at_zero, zero_degrees, _degrees(safe, ratio, at_safe, mu2sq))
        rho = np.where(at_zero, 1 - zero_degrees, lm / safe)
        factor = np.where(at_zero, 1 - zero_degrees, rho + _slope(safe, ratio, at_safe, mu2sq))
    else:
        degrees, rho = _degrees(kappa, ratio, r, mu2sq), lm / kappa
        factor = rho + _slope(kappa, ratio, r, mu2sq)
    # E and kappa E' of theory.risk.ridge.enhancement, written so that eta = inf is its limit.
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(et == 0, np.inf, 1 / (et**2 * mu1sq))  # 1/e^2
        inert = np.isinf(inverse) | (unorm2 == 0)
        gain_slope = np.where(inert, 0.0, inverse * r.kappa_dg / (inverse + unorm2 * r.one_minus_g) ** 2)
        # 1 - m1s2 gain, its difference taken in |u|^2.
        left = np.where(inert, 1.0, (inverse + spread * r.one_minus_g) / (inverse + unorm2 * r.one_minus_g))
    left, gain_slope = np.nan_to_num(left, nan=1.0), np.nan_to_num(gain_slope)
    missed = r.convex * left - r.t * m1s2 * gain_slope
    missed, factor, rho, kappa, degrees, residual = _wide_limit(
        wide, (missed, factor, rho, kappa, degrees, residual), p1, lm, mu1sq, mu2sq
    )
    if np.any(factor <= 0):
        raise InputError(
            "ridge", "is 0 with as many features as samples, where the risk is infinite", "give a ridge above 0"
        )
    bias = m1s2 * missed / factor
    irreducible = floor + nz**2
    variance = irreducible * (1 - factor) / factor
    test = floor + bias + variance
    train = rho**2 * (test + nz**2)
    found = (test, train, floor, bias, variance, kappa, degrees, residual)
    return RidgeRisk(*(np.array(np.broadcast_to(f, shape)) for f in found))


def _wide_limit(
    wide: Array, finite: tuple[Array, ...], psi1: Array, lam: Array, mu1sq: Array, mu2sq: Array
) -> tuple[Array, ...]:
    """Replace the entries with psi2 = inf by the limit at fixed lam: theory.ridge.kernel_test_risk with delta = 0."""
    if not np.any(wide):
        return finite
    tau, degrees, factor = kernel_ridge(psi1, 0.0, np.sqrt(mu1sq), np.sqrt(mu2sq))
    missed = (tau / (mu1sq + tau)) ** 2
    limit = (missed, factor, 0 * tau, tau, degrees, 0 * tau)
    return tuple(np.where(wide, a, b) for a, b in zip(limit, finite, strict=True))


def kernel_ridge(psi1: ArrayLike, delta: ArrayLike, mu1: ArrayLike, mu2: ArrayLike) -> tuple[Array, Array, Array]:
    """tau = kappa/psi2, df1/n and 1 - df2/n of the kernel limit N/d -> inf with lam = delta psi2 held proportional.

    1 - delta/tau = (mu2^2/tau + mu1^2/(mu1^2 + tau))/psi1 is a quadratic of tau; its positive root.
    """
    psi1_, d, m1, m2 = np.broadcast_arrays(*map(_f, (psi1, delta, mu1, mu2)))
    mu1sq, mu2sq = m1**2, m2**2
    c = d + mu2sq / psi1_  # tau^2 + (mu1^2 (1 - 1/psi1) - c) tau - c mu1^2 = 0
    b = mu1sq * (1 - 1 / psi1_) - c
    root = np.sqrt(b * b + 4 * c * mu1sq)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = np.where(b <= 0, (root - b) / 2, 2 * c * mu1sq / (b + root))
        tau = np.where(c == 0, np.maximum(-b, 0.0), tau)
        degrees = np.where(tau > 0, (mu2sq / tau + mu1sq / (mu1sq + tau)) / psi1_, 1 / psi1_)
        factor = 1 - (mu1sq / np.where(mu1sq + tau > 0, mu1sq + tau, 1.0)) ** 2 / psi1_
    return tau, degrees, factor


def kernel_risk(constants: Constants, psi1: ArrayLike, delta: ArrayLike, noise: ArrayLike = 0.0) -> Array:
    """The test risk (noise excluded) in the kernel limit N/d -> inf at lam/psi2 = delta.

    Formula: theory.risk.ridge.kernel_test_risk.
    Source: O3 (limit); the step does not change it.
    """
    mu1sq = _f(constants.mu1) ** 2
    tau, _, factor = kernel_ridge(psi1, delta, constants.mu1, constants.mu2)
    irreducible = constants.floor() + _f(noise) ** 2
    bias = _f(constants.mu1_star) ** 2 * (tau / (mu1sq + tau)) ** 2
    result: Array = (irreducible + bias) / factor - _f(noise) ** 2
    return result


def _validate(values: dict[str, Array]) -> None:
    # Of each array its extremes decide; nan is both.
    ends = {name: (float(v.min()), float(v.max())) if v.size else (1.0, 1.0) for name, v in values.items()}
    for name, (low, _) in ends.items():
        if math.isnan(low):
            raise InputError(name, "is not a number", "give a finite number")
    for name, (low, high) in ends.items():
        if name != "ridge" and not (low >= SMALLEST and high <= LARGEST):
            within(values[name], name)
    if ends["ridge"][1] > LARGEST:
        raise InputError("ridge", "is too large", f"give at most {LARGEST:g}")
    if ends["ridge"][0] < 0:
        raise InputError("ridge", "is negative or infinite", "give a number >= 0")
    if ends["samples"][0] <= 0:
        raise InputError("samples", "n/d is not positive", "give a ratio above 0")
    if ends["batch"][0] <= 0:
        raise InputError("batch", "n1/d is not positive", "give a ratio above 0")
    if ends["width"][0] < 0:
        raise InputError("width", "N/d is negative", "give a ratio above 0")
    if ends["noise"][0] < 0 or math.isinf(ends["noise"][1]):
        raise InputError("noise", "is not a standard deviation", "give a finite number >= 0")
    for name in ("mu1", "mu2", "mu1_star", "mu2_star", "mu0_star"):
        if math.isinf(ends[name][0]) or math.isinf(ends[name][1]):
            raise InputError("link" if "star" in name else "activation", "has no finite variance", "choose another")
    if np.any((values["mu1"] == 0) & (values["mu2"] == 0)):
        raise InputError("activation", "is constant", "give a function that varies")
