"""The ridge risk after one step (O3), vectorised: a whole curve in one call, with its exact limits.

The formulas are those of theory/ridge.py (a test ties each line to its symbol), arranged so that no subtraction
cancels: 1 - g, t and 1 - df2/n are each written as sums or quotients of non-negative terms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.domain import LARGEST, SMALLEST, within
from theory.errors import ConvergenceError, InputError

Array = NDArray[np.float64]

MAX_ITERATIONS = 200
NO_RIDGE = 1e-290  # below it double precision has no full digits left: a smaller ridge counts as 0


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


@dataclass(frozen=True)
class _Resolvent:
    """g, t, 1 - g, h = g/x and kappa dg/dkappa at one kappa."""

    g: Array
    t: Array
    one_minus_g: Array
    h: Array
    kappa_dg: Array


def _resolvent(kappa: Array, psi2: Array, mu1sq: Array, mu2sq: Array) -> _Resolvent:
    x = mu2sq + kappa
    b = x + mu1sq * (1 - psi2)
    bt = x + mu1sq * (psi2 - 1)
    disc = np.sqrt(b * b + 4 * psi2 * mu1sq * x)
    few = psi2 <= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        # few: b > 0 (or x = mu1 = 0); many: bt > 0. Each branch divides by a sum of non-negative terms.
        h = np.where(few, 2 / (b + disc), np.inf)
        share = np.where(few, 0.0, 2 / (bt + disc))  # t/x
        g = np.where(few, h * x, np.where(psi2 * mu1sq > 0, (disc - b) / (2 * psi2 * mu1sq), 1.0))
        g = np.where(few | (b <= 0), g, 2 * x / (b + disc))
        t = np.where(few, 1 - psi2 + psi2 * g, share * x)
        one_minus_g = np.where(few, mu1sq * h * t, mu1sq * g * share)
        h = np.where(few, h, g / x)
        kappa_dg = np.where(kappa == 0, 0.0, kappa * one_minus_g / disc)
    corner = (x == 0) & (psi2 == 1) & (mu1sq > 0)  # N = d, mu2 = kappa = 0: g ~ sqrt(x)/mu1
    g, t, one_minus_g = np.where(corner, 0.0, g), np.where(corner, 0.0, t), np.where(corner, 1.0, one_minus_g)
    return _Resolvent(g, t, one_minus_g, h, kappa_dg)


def resolvent_trace(kappa: ArrayLike, psi2: ArrayLike, mu1: ArrayLike, mu2: ArrayLike) -> Array:
    """t = (x/d) tr (mu1^2 W0 W0^T + x)^-1, x = mu2^2 + kappa: what of a linear function the features miss."""
    kappa_, psi2_, mu1_, mu2_ = (np.asarray(_f(v)) for v in (kappa, psi2, mu1, mu2))
    return np.asarray(_resolvent(kappa_, psi2_, mu1_**2, mu2_**2).t)


def _degrees(kappa: Array, ratio: Array, r: _Resolvent, mu2sq: Array) -> tuple[Array, Array]:
    """df1/n and -kappa d(df1/n)/dkappa, for kappa > 0; ratio = psi2/psi1."""
    x = mu2sq + kappa
    degrees = ratio * (mu2sq + kappa * r.one_minus_g) / x
    return degrees, ratio * (kappa / x) * (r.g * mu2sq / x + r.kappa_dg)


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
    psi1_, psi2_, lam_, mu1_, mu2_ = np.broadcast_arrays(*map(_f, (psi1, psi2, lam, mu1, mu2)))
    lam_ = np.where(lam_ < NO_RIDGE, 0.0, lam_)
    mu1sq, mu2sq, ratio = mu1_**2, mu2_**2, psi2_ / psi1_
    zero = (lam_ == 0) & (_degrees_at_zero(psi2_, ratio, mu1sq, mu2sq) <= 1)
    excess = np.where(np.isinf(psi1_), 1.0, (psi1_ - psi2_) / np.where(np.isinf(psi1_), 1.0, psi1_))  # 1 - ratio
    kappa = np.where(zero, 1.0, lam_ + ratio * (mu1sq + mu2sq))
    for _ in range(4):
        # h = g/x decreases in kappa: freezing it at an upper bound of kappa gives a better upper bound. One step
        # bridges any number of orders of magnitude (lam = 1e-300 at the peak), which Newton's method would halve.
        b = ratio * _resolvent(kappa, psi2_, mu1sq, mu2sq).h
        root = np.sqrt(excess**2 + 4 * b * lam_)
        with np.errstate(divide="ignore", invalid="ignore"):
            better = np.where(excess >= 0, 2 * lam_ / (root + excess), (root - excess) / (2 * b))
        kappa = np.where(zero, kappa, np.fmin(kappa, better))
    for _ in range(MAX_ITERATIONS):
        r = _resolvent(kappa, psi2_, mu1sq, mu2sq)
        missing = ratio * kappa * r.h
        gap = lam_ / kappa - missing - excess
        step = np.where(zero, 0.0, gap / np.where(zero, 1.0, lam_ / kappa + _degrees(kappa, ratio, r, mu2sq)[1]))
        # gap relative to its own terms is at rounding level: nothing more to be had.
        terms = lam_ / kappa + missing + np.abs(excess)
        residual = np.where(zero, 0.0, np.abs(gap) / np.where(zero, 1.0, terms))
        if np.all((np.abs(step) <= 2e-15) | (residual <= 4e-16)):
            return np.where(zero, 0.0, kappa), residual
        kappa = kappa / (1 - np.minimum(step, 0.5))
    if np.all(residual <= 1e-14):
        return np.where(zero, 0.0, kappa), residual
    raise ConvergenceError(f"the effective ridge did not converge (residual {float(np.max(residual)):.2g})")


def ridge_risk(
    constants: Constants,
    psi1: ArrayLike,
    psi2: ArrayLike,
    lam: ArrayLike,
    eta: ArrayLike,
    alpha: ArrayLike | None = None,
    noise: ArrayLike = 0.0,
) -> RidgeRisk:
    """The limiting ridge risk after one step of size eta = Theta(1), for arrays of anything.

    Formula: theory.ridge.test_risk and train_risk.
    Valid for: see theory.ridge.test_risk. Limits taken exactly: lam = 0; eta = 0 and eta = inf (after d -> inf);
    psi1 = inf, psi2 = inf (at fixed lam: the ridgeless kernel), psi2 = 0, alpha = inf.
    Shapes/units: psi1 = n/d, psi2 = N/d, alpha = n1/d (default psi1) of the step's own batch, noise a standard
    deviation; all broadcast against one another.
    Accuracy: a few units in the 15th digit away from the interpolation peak; near it the condition number.
    Errors: InputError for a negative ridge, ratio, noise or step that is not usable, and at the peak itself (lam = 0
    and as many features as samples), where the risk is infinite.
    Source: O3.
    """
    names = ("samples", "width", "ridge", "step", "batch", "noise", "mu1", "mu2", "mu1_star", "mu2_star", "mu0_star")
    c = constants
    values = (psi1, psi2, lam, eta, psi1 if alpha is None else alpha, noise, c.mu1, c.mu2, c.mu1_star, c.mu2_star)
    # Not broadcast yet: the effective ridge is found on the ratios' own shape, whatever the number of steps.
    arrays = [_f(v) for v in (*values, c.mu0_star)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    checked = dict(zip(names, arrays, strict=True))
    for name in set(names) - {"ridge"}:  # whose own smallest size is NO_RIDGE
        checked[name] = np.where(np.abs(checked[name]) < SMALLEST, 0.0, checked[name])
    _validate(checked)
    p1, p2, lm, et, al, nz, m1, m2, m1s, m2s, m0s = checked.values()
    mu1sq, mu2sq, m1s2 = m1**2, m2**2, m1s**2
    lm = np.where(lm < NO_RIDGE, 0.0, lm)
    floor = m2s**2 if c.fits_mean else m2s**2 + m0s**2
    unorm2 = m1s2 + (m0s**2 + m1s2 + m2s**2 + nz**2) / al
    wide = np.isinf(p2)
    p2f = np.where(wide, 1.0, p2)
    kappa, residual = effective_ridge(p1, p2f, lm, m1, m2)
    ratio = p2f / p1
    r = _resolvent(kappa, p2f, mu1sq, mu2sq)
    at_zero = kappa == 0
    safe = np.where(at_zero, 1.0, kappa)
    degrees, slope = _degrees(safe, ratio, _resolvent(safe, p2f, mu1sq, mu2sq), mu2sq)
    zero_degrees = _degrees_at_zero(p2f, ratio, mu1sq, mu2sq)
    degrees = np.where(at_zero, zero_degrees, degrees)
    rho = np.where(at_zero, 1 - zero_degrees, lm / safe)
    factor = np.where(at_zero, 1 - zero_degrees, rho + slope)
    # E and kappa E' of theory.ridge.enhancement, written so that eta = inf is its limit.
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(et == 0, np.inf, 1 / (et**2 * mu1sq))  # 1/e^2
        inert = np.isinf(inverse) | (unorm2 == 0)
        gain = np.where(inert, 0.0, r.one_minus_g / (inverse + unorm2 * r.one_minus_g))
        gain_slope = np.where(inert, 0.0, inverse * r.kappa_dg / (inverse + unorm2 * r.one_minus_g) ** 2)
    gain, gain_slope = np.nan_to_num(gain), np.nan_to_num(gain_slope)
    missed = (r.t - p2f * r.kappa_dg) * (1 - m1s2 * gain) - r.t * m1s2 * gain_slope
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
    fields = (test, train, floor, bias, variance, kappa, degrees, residual)
    return RidgeRisk(*(np.array(np.broadcast_to(f, shape)) for f in fields))


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

    Formula: theory.ridge.kernel_test_risk.
    Source: O3 (limit); the step does not change it.
    """
    mu1sq = _f(constants.mu1) ** 2
    tau, _, factor = kernel_ridge(psi1, delta, constants.mu1, constants.mu2)
    irreducible = constants.floor() + _f(noise) ** 2
    bias = _f(constants.mu1_star) ** 2 * (tau / (mu1sq + tau)) ** 2
    result: Array = (irreducible + bias) / factor - _f(noise) ** 2
    return result


def _validate(values: dict[str, Array]) -> None:
    for name, value in values.items():
        if np.any(np.isnan(value)):
            raise InputError(name, "is not a number", "give a finite number")
    for name, value in values.items():
        if name != "ridge":
            within(value, name)
    if np.any(values["ridge"] > LARGEST):
        raise InputError("ridge", "is too large", f"give at most {LARGEST:g}")
    if np.any(values["ridge"] < 0) or np.any(np.isinf(values["ridge"])):
        raise InputError("ridge", "is negative or infinite", "give a number >= 0")
    if np.any(values["samples"] <= 0):
        raise InputError("samples", "n/d is not positive", "give a ratio above 0")
    if np.any(values["batch"] <= 0):
        raise InputError("batch", "n1/d is not positive", "give a ratio above 0")
    if np.any(values["width"] < 0):
        raise InputError("width", "N/d is negative", "give a ratio above 0")
    if np.any(np.isinf(values["noise"])) or np.any(values["noise"] < 0):
        raise InputError("noise", "is not a standard deviation", "give a finite number >= 0")
    for name in ("mu1", "mu2", "mu1_star", "mu2_star", "mu0_star"):
        if np.any(np.isinf(values[name])):
            raise InputError("link" if "star" in name else "activation", "has no finite variance", "choose another")
    if np.any((values["mu1"] == 0) & (values["mu2"] == 0)):
        raise InputError("activation", "is constant", "give a function that varies")
