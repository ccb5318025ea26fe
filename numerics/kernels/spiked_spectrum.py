"""G6 in floats: the exact spectrum of k1 for a positively homogeneous activation, x ~ N(0, I_d), any d and any spike.

With weights w ~ N(0, Gamma/d), Gamma = A I + B w* w*^T, and sigma(z) = right z_+^p + left z_-^p, the integral operator
of k1(x, x') = E sigma(w.x) sigma(w.x') splits by the representations (index j) of the rotations that fix w*:

    T^(j)_{l l'} = M_p eta_l eta_l' E_w[ |w|^{2p} f_{l,j}(t) f_{l',j}(t) ],  t = w.w*/|w|,  M_p = E|x|^{2p},

eta_l the Funk-Hecke numbers of sigma, f_{l,j} the normalised associated Gegenbauer functions. Everything is computed
from polynomials scaled to one at t = 1, which never overflow, and a trapezoid rule whose integrand is analytic in a
strip of half-width pi/2 whatever d and B/A are.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from numbers import Integral, Real

import mpmath
import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.trials.domain import within
from bulkedge.theory.functions import parse
from bulkedge.theory.kernels import sphere
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

Array = NDArray[np.float64]

_START_DEGREE, MAX_DEGREE, MAX_POINTS = 32, 2048, 1 << 17
SMALL = 256  # degrees up to which the factor is kept, for its singular values
_BLOCK = 2048  # points, an even number


@dataclass(frozen=True)
class Homogeneous:
    """sigma(z) = right z^power for z > 0, left |z|^power for z < 0: every positively homogeneous activation."""

    power: float = 1.0
    right: float = 1.0
    left: float = 0.0


RELU = Homogeneous()


@dataclass(frozen=True)
class Sector:
    """The spectrum in one sector j and one parity (of l - j).

    Shapes/units: `eigenvalues` descending; column i of `vectors` holds the components of eigenfunction i on
    phi_{l,j} for l in `degrees`; each eigenvalue occurs `multiplicity` times in the spectrum of k1.
    Accuracy: `errors` bounds truncation (tested, see truncation_error), quadrature and rounding.
    """

    d: int
    A: float
    B: float
    activation: Homogeneous
    j: int
    parity: int
    multiplicity: int
    degrees: NDArray[np.int64]
    eigenvalues: Array
    errors: Array
    vectors: Array

    def eigenfunction(self, i: int) -> Eigenfunction:
        """The i-th eigenfunction, as a function that can be evaluated on data."""
        return Eigenfunction(self, i)


@dataclass(frozen=True)
class Eigenfunction:
    """Psi(x) = (|x|^p / sqrt(M_p)) sum_l v_l f_{l,j}(t) Y_j(direction), unit norm under x ~ N(0, I_d).

    For j >= 1 the sector has multiplicity N(d-1, j); the member evaluated is the zonal one about a unit vector
    `axis` orthogonal to w*.
    """

    sector: Sector
    index: int

    def __call__(self, X: Array, spike: Array, axis: Array | None = None) -> Array:
        """Values at the rows of X (n x d); `spike` is the unit vector w*.

        Errors: InputError where j >= 1 and `axis` is missing.
        """
        s = self.sector
        radius = np.linalg.norm(X, axis=1)
        safe = np.where(radius > 0, radius, 1.0)
        t = np.clip(X @ spike / safe, -1.0, 1.0)
        column = s.vectors[:, self.index]
        sine = np.sqrt(1 - t**2)
        scaled = _scaled_functions(s.d, s.j, int(s.degrees[-1]), t, sine)[s.degrees - s.j]
        norms = np.array([math.exp(float(_log_norm(s.d, s.j, int(l)))) for l in s.degrees])
        # M_p enters through its logarithm: at d = 10^4 and p = 3 it is still finite, its Gamma functions are not.
        factor = np.exp(s.activation.power * np.log(safe) - float(_log_radial_moment(s.d, s.activation.power)) / 2)
        values: Array = np.where(radius > 0, factor, float(s.activation.power == 0)) * ((column * norms) @ scaled)
        if s.j == 0:
            return values
        if axis is None:
            raise InputError("axis", f"sector j = {s.j} is degenerate", "give a unit vector orthogonal to the spike")
        rest = X - np.outer(X @ spike, spike)
        length = np.linalg.norm(rest, axis=1)
        cosine = np.clip(rest @ axis / np.where(length > 0, length, 1.0), -1.0, 1.0)
        zonal = legendre_table(s.d - 1, s.j, cosine)[-1] if s.d > 2 else cosine
        return values * math.sqrt(s.multiplicity) * zonal


def multiplicity(dimension: int, degree: int) -> int:
    """N(dimension, degree): the number of spherical harmonics of a degree on the sphere of R^dimension."""
    if dimension == 1:
        return 1 if degree <= 1 else 0
    return sphere.multiplicity(dimension, degree)


def sector(
    d: int,
    A: float,
    B: float,
    j: int = 0,
    parity: int = 0,
    activation: Homogeneous = RELU,
    tolerance: float = 3e-11,
    count: int | None = None,
) -> Sector:
    """The spectrum of k1 in sector j, parity of l - j, with a truncation adapted to `tolerance` times the largest.

    `count` asks for the tolerance at that many of the largest eigenvalues only (None: at all of them): the rest, whose
    bound is the size of the block left out, need many times the degrees.

    Valid for: d >= 2, A > 0, B > -A, power > -1/2 (else E sigma^2 is infinite).
    Accuracy: every eigenvalue to 1e-10 of the largest for B/A up to 1e4; beyond, the honest error in `errors`.
    Errors: InputError outside.
    Source: G6 (paper F, Section 5, made exact).
    """
    if not isinstance(activation, Homogeneous):
        raise InputError("activation", f"{parse.shorten(activation)} is not homogeneous", "give a Homogeneous")
    check_inputs(d, A, B, activation)
    d, A, B = int(d), float(A), float(B)  # mpmath does not know NumPy's integers
    j, parity = parse.integer(j, "j", minimum=0), parse.integer(parity, "parity", minimum=0, maximum=1)
    tolerance = float(parse.positive(tolerance, "tolerance"))
    count = None if count is None else parse.integer(count, "count", minimum=1)
    copies = multiplicity(d - 1, j)
    if copies == 0:
        raise InputError("j", f"there is no sector {j} in dimension {d}", "in dimension 2 only j = 0, 1 exist")
    degree = _START_DEGREE
    while True:
        degrees, factor, quadrature = _factor(d, A, B, j, parity, activation, j + degree)
        if degrees.size == 0:
            nothing = np.zeros(0)
            return Sector(d, A, B, activation, j, parity, copies, degrees, nothing, nothing, np.zeros((0, 0)))
        half = max(1, int(np.searchsorted(degrees, j + degree // 2, side="right")))
        vectors, values = gram_eigen(factor)
        truncation = truncation_error(values, factor, half)
        top = float(values[0])
        if top == 0.0 or truncation[:count].max() <= tolerance * top or degree >= MAX_DEGREE:
            break
        degree *= 2
    rounding = 4e-16 * math.sqrt(degrees.size) * np.sqrt(values * top) + 1e-15 * values
    signs = np.where(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(values.size)] < 0, -1.0, 1.0)
    return Sector(
        d,
        A,
        B,
        activation,
        j,
        parity,
        copies,
        degrees,
        values,
        truncation + quadrature * top + rounding,
        vectors * signs,
    )


def sector_matrix(
    d: int, A: float, B: float, j: int, parity: int, degree: int, activation: Homogeneous = RELU
) -> tuple[NDArray[np.int64], Array]:
    """The degrees l = j + parity, .., j + `degree` with eta_l != 0 and the matrix T^(j)_{ll'} on them.  Source: G6."""
    check_inputs(d, A, B, activation)
    degrees, factor, _ = _factor(d, A, B, j, parity, activation, j + degree)
    return degrees, factor @ factor.T


def mean_square(d: int, A: float, B: float, activation: Homogeneous = RELU) -> float:
    """E sigma(w.x)^2 over weights and inputs: the sum of all eigenvalues of all sectors, by one trapezoid rule.

    E|w|^{2p} E sigma(z)^2, and E|w|^{2p} is the rule's own sum. Accuracy: 1e-13.
    """
    p = activation.power
    _, _, log_weight = direction_rule(d, A, B, p, 1024)
    # E z_+^{2p} = E|z|^{2p}/2; the rule's weights hold M_p/d^p E[(A/(1 - c t^2))^p], and M_p/d^p belongs to |w|.
    half = math.exp(float(_log_radial_moment(1, p))) / 2
    return half * (activation.right**2 + activation.left**2) * float(np.sum(np.exp(log_weight)))


def check_inputs(d: int, A: float, B: float, activation: Homogeneous = RELU) -> None:
    """InputError where the spectrum is not defined."""
    if isinstance(d, bool) or not isinstance(d, Integral):
        raise InputError("dim", f"{parse.shorten(d)} is no integer", "give an integer >= 2")
    for name, value in (("bulk", A), ("spike", B)):
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InputError(name, f"{parse.shorten(value)} is not a number", "give a float")
    if d < 2:
        raise InputError("dim", f"{d} is not a dimension in which a direction is learned", "give an integer >= 2")
    if not (math.isfinite(A) and A > 0):
        raise InputError("bulk", f"A = {A:g} is not a variance", "give A > 0")
    if not (math.isfinite(B) and B > -A):
        raise InputError("spike", f"B = {B:g} makes A + B negative or zero", "give B > -A")
    within((A, A + B), "bulk or spike")
    if not activation.power > -0.5:
        raise InputError("activation", "its second moment is infinite", "give a power > -1/2")


def truncation_error(values: Array, factor: Array, half: int) -> Array:
    """A bound of what more degrees would add to each eigenvalue.

    The eigenvalues of a compression are lower bounds. Those well above the norm of the block left out change by the
    square of the off-diagonal block: what the second half of the degrees added exceeds what is still to come. For
    the others Aronszajn's inequality bounds the rise by the norm of the block left out, which is below that of the
    second half (Frobenius norm).
    """
    if half >= values.size:
        return np.zeros_like(values)  # a polynomial: nothing is left out
    change = values.copy()
    change[:half] -= gram_eigen(factor[:half])[1]
    tail = factor[half:]
    rest = float(np.linalg.norm(tail @ tail.T))
    return np.where(values >= 4 * rest, np.abs(change), np.maximum(np.abs(change), rest))


def gram_eigen(factor: Array) -> tuple[Array, Array]:
    """Eigenvectors and eigenvalues (descending) of factor factor^T.

    By singular values of the factor where that is cheap: small eigenvalues are then known to eps sqrt(top/value)
    instead of eps top/value.
    """
    if factor.shape[0] <= SMALL:
        triangle: Array = np.asarray(np.linalg.qr(factor.T, mode="r"))
        u, s, _ = np.linalg.svd(triangle.T)
        return u, s**2
    values, vectors = np.linalg.eigh(factor @ factor.T)
    return vectors[:, ::-1], np.maximum(values[::-1], 0.0)


def _factor(
    d: int, A: float, B: float, j: int, parity: int, activation: Homogeneous, degree: int
) -> tuple[NDArray[np.int64], Array, float]:
    """The degrees with eta_l != 0, a matrix whose Gram matrix is T^(j), and its relative quadrature error."""
    every = np.arange(j + parity, degree + 1, 2)
    log_eta, sign = _log_funk_hecke(d, activation, degree)
    degrees = every[sign[every] != 0]
    if degrees.size == 0:
        return degrees, np.zeros((0, 0)), 0.0
    with mpmath.workdps(30):  # each logarithm is of order l log d, their sum of order one: add before rounding
        moment = _log_radial_moment(d, activation.power) / 2
        log_scale = np.array([float(log_eta[l] + _log_norm(d, j, int(l)) + moment) for l in degrees])
    # Weights are exponentials of logarithms, which are rounded relative to their size.
    rounding = 2.0**-52 * (8 + activation.power * (abs(math.log(A)) + abs(math.log((A + B) / A))))
    small = degrees.size <= SMALL
    # A start that resolves the oscillation of the highest degree and the width 1/sqrt(d) of the weight.
    points = 1 << math.ceil(math.log2(64 + 4 * math.sqrt(d) / max(1.0, math.sqrt(d) / 8) + 4 * degree))
    while True:
        t, sine, log_weight = direction_rule(d, A, B, activation.power, points)
        fine, even = np.zeros(degrees.size), np.zeros(degrees.size)
        blocks, gram = [], np.zeros((0, 0)) if small else np.zeros((degrees.size, degrees.size))
        for start in range(0, points + 1, _BLOCK):  # a block of points at a time: all at once is half a gigabyte
            at = slice(start, start + _BLOCK)
            rows = _scaled_functions(d, j, degree, t[at], sine[at])[degrees - j]
            block = sign[degrees][:, None] * rows * np.exp(log_scale[:, None] + 0.5 * log_weight[None, at])
            squares = block**2
            fine += squares.sum(axis=1)
            even += squares[:, ::2].sum(axis=1)
            if small:
                blocks.append(block)
            else:
                gram += block @ block.T
        # Every other point is the rule of twice the step; geometric convergence squares its error at the full rule.
        coarse_error = float(np.max(np.abs(fine - 2 * even)) / np.max(fine)) if np.max(fine) > 0 else 0.0
        if coarse_error <= 1e-9:
            return degrees, np.hstack(blocks) if small else _root(gram), coarse_error**1.5 + rounding
        if points >= MAX_POINTS:
            raise ConvergenceError(f"quadrature with {points} points leaves a relative error {coarse_error:.1e}")
        points *= 2


def _root(gram: Array) -> Array:
    """A square matrix with that Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


def direction_rule(d: int, A: float, B: float, power: float, points: int) -> tuple[Array, Array, Array]:
    """Nodes t = w.w*/|w| >= 0, sqrt(1 - t^2), and log weights of E_w[|w|^{2p} f(t)] for even f.

    w1/|w_perp| = r u with r = sqrt((A+B)/A) and u the same ratio for an isotropic vector, of density proportional
    to (1+u^2)^{-d/2}; |w|^2 = |xi|^2 (A + B u^2/(1+u^2))/d with |xi| independent of u. Put u = sinh(y)/max(r, 1).
    """
    r = math.sqrt((A + B) / A)
    R = max(r, 1.0)
    # Beyond y_max the weight is below e^-46 of its peak.
    u_max = math.sqrt(math.expm1(92.0 / (d - 1)))
    y = np.linspace(0.0, math.asinh(R * u_max), points + 1)
    u = np.sinh(y) / R
    ru = r * u
    sine = 1 / np.sqrt(1 + ru**2)  # not from t, which rounds to 1 at large spikes
    log_one = np.log1p(u**2)
    log_weight = (
        power * (math.log(A) + np.log1p(ru**2) - log_one) - 0.5 * d * log_one + np.log(np.cosh(y)) - math.log(R)
    )
    log_beta = float(mpmath.log(mpmath.beta(mpmath.mpf(1) / 2, mpmath.mpf(d - 1) / 2)))
    log_moment = float(_log_radial_moment(d, power) - power * mpmath.log(d))
    log_weight += math.log(2 * y[1]) - log_beta + log_moment
    log_weight[0] -= math.log(2.0)
    return ru * sine, sine, log_weight


def _log_radial_moment(d: int, power: float) -> mpmath.mpf:
    """log E|xi|^{2p} for xi ~ N(0, I_d), to 30 digits."""
    with mpmath.workdps(30):
        half = mpmath.mpf(d) / 2
        return power * mpmath.log(2) + mpmath.loggamma(half + power) - mpmath.loggamma(half)


@functools.lru_cache(maxsize=4096)
def _log_norm(d: int, j: int, l: int) -> mpmath.mpf:
    """log of f_{l,j}(t) / ((1-t^2)^{j/2} P_{l-j}(t)), P the Legendre polynomial of dimension d + 2j with P(1) = 1."""
    with mpmath.workdps(30):
        half = mpmath.mpf(d) / 2
        m, D = l - j, d + 2 * j
        # N(D, m) = (2m+D-2)/(m+D-2) C(m+D-2, m), and 2 for D = 2, m >= 1.
        if m == 0:
            log_n = mpmath.mpf(0)
        else:
            log_n = (
                mpmath.log(mpmath.mpf(2 * m + D - 2) / (m + D - 2))
                + mpmath.loggamma(m + D - 1)
                - mpmath.loggamma(m + 1)
                - mpmath.loggamma(D - 1)
            )
        shrink = mpmath.loggamma(half - 0.5 + j) - mpmath.loggamma(half - 0.5)
        shrink -= mpmath.loggamma(half + j) - mpmath.loggamma(half)
        return (log_n - shrink) / 2


def _log_funk_hecke(d: int, activation: Homogeneous, degree: int) -> tuple[list[mpmath.mpf], Array]:
    """log |eta_l| to 30 digits, and the sign of eta_l (0 where it vanishes), for l = 0..degree.

    The twin of theory.kernels.spiked_spectrum.funk_hecke, by its recurrence eta_{l+2} = (p - l)/(l + d + p) eta_l.
    """
    p = activation.power
    log_eta = [mpmath.ninf] * (degree + 1)
    sign = np.zeros(degree + 1)
    with mpmath.workdps(30):
        for start in (0, 1):
            amplitude = activation.right + (-1) ** start * activation.left
            if amplitude == 0 or start > degree:
                continue
            # p > -1/2, so the arguments of all Gamma functions are positive.
            value = (
                mpmath.loggamma(p + 1)
                + mpmath.loggamma(mpmath.mpf(d) / 2)
                - (p + 1) * mpmath.log(2)
                - mpmath.loggamma(mpmath.mpf(p - start) / 2 + 1)
                - mpmath.loggamma(mpmath.mpf(p + start + d) / 2)
                + mpmath.log(abs(amplitude))
            )
            s = math.copysign(1.0, amplitude)
            for l in range(start, degree + 1, 2):
                log_eta[l], sign[l] = value, s
                if p == l:
                    break
                value += mpmath.log(abs(mpmath.mpf(p - l) / (l + d + p)))
                s *= math.copysign(1.0, p - l)
    return log_eta, sign


def harmonics(d: int, degree: int, t: Array, j: int = 0) -> Array:
    """f_{l,j}(t), l = j..degree (rows): the associated harmonics, orthonormal under the first coordinate's law."""
    norms = np.array([math.exp(float(_log_norm(d, j, l))) for l in range(j, degree + 1)])
    return np.asarray(norms[:, None] * _scaled_functions(d, j, degree, t, np.sqrt(1 - t**2)))


def legendre_table(dimension: int, degree: int, t: Array) -> Array:
    """P_m(t), m = 0..degree, the Legendre polynomials of a dimension >= 2 (P_m(1) = 1), by the stable recurrence."""
    P = np.empty((degree + 1, t.size))
    P[0] = 1.0
    if degree >= 1:
        P[1] = t
    for m in range(1, degree):
        P[m + 1] = ((2 * m + dimension - 2) * t * P[m] - m * P[m - 1]) / (m + dimension - 2)
    return P


def _scaled_functions(d: int, j: int, degree: int, t: Array, sine: Array) -> Array:
    """(1-t^2)^{j/2} P_{l-j}(t) for l = j..degree; `sine` is sqrt(1-t^2)."""
    P = legendre_table(d + 2 * j, degree - j, t)
    return P if j == 0 else P * sine**j
