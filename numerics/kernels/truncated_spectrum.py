"""G6 for activations that are not homogeneous: the operator of k1 truncated at a Hermite degree, with an error.

sigma(w.x) = sum_k c_k(|w|) h_k(w^.x) with c_k(r) = E[sigma(rz) h_k(z)]. About the spike w* = e_1,

    h_k(w^.x) = sum_a sqrt(C(k,a)) t^a (1-t^2)^{(k-a)/2} h_a(x_1) h_{k-a}(v.x_perp),  t = w^.e_1,  v a unit vector,

and the average over v of h_m(v.x_perp) Y_j(v) is sqrt(q_{m,j}) times a normalised function of x_perp, q_{m,j} =
E[s^m P_j(s)] on the sphere of R^{d-1}. So T = F F^T on the basis (k, a), its columns the quadrature points of w.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.special import eval_genlaguerre, gammaln

from bulkedge.numerics.functions.functions import gauss_nodes, vectorised
from bulkedge.numerics.functions.hermite import hermite_table
from bulkedge.numerics.gaussian.plane import FINER, line_nodes, resolved
from bulkedge.numerics.kernels.radial import length_rule
from bulkedge.numerics.kernels.spiked_spectrum import (
    Array,
    check_inputs,
    direction_rule,
    gram_eigen,
    legendre_table,
    multiplicity,
    truncation_error,
)
from bulkedge.theory.functions import parse
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError

_MAX_HERMITE = 40
ROUNDING = 3e-14  # of the largest eigenvalue, what the Gram matrix's decomposition may lose
_QUADRATURE = 1e-12  # of E sigma(rz)^2, the most that the rule for c_k(r) may leave out
_INTERPOLATION = 96  # Chebyshev nodes in log r: c_k is analytic for |arg r| < pi/4


@dataclass(frozen=True)
class TruncatedSector:
    """The spectrum of the truncated operator in sector j, one parity of k - j.

    Shapes/units: `basis` row i = (k, a): the function of Hermite degree k with h_a along the spike; `eigenvalues`
    descending, each `multiplicity` times; column i of `vectors` holds eigenfunction i.
    Accuracy: `errors` bounds what higher degrees would add (tested, as for the homogeneous case).
    """

    d: int
    j: int
    parity: int
    multiplicity: int
    basis: NDArray[np.int64]
    eigenvalues: Array
    errors: Array
    vectors: Array

    def eigenfunction(self, i: int, X: Array, spike: Array, axis: Array | None = None) -> Array:
        """Values of eigenfunction i at the rows of X (unit norm under N(0, I_d)); `axis` as for Eigenfunction.

        Errors: InputError where j >= 1 and `axis` is missing.
        """
        along = X @ spike
        rest = X - np.outer(along, spike)
        length = np.linalg.norm(rest, axis=1)
        hermite = hermite_table(along, int(self.basis[:, 0].max()))
        order = 0.5 * (self.d - 1) - 1 + self.j
        values = np.zeros(len(X))
        for (k, a), weight in zip(self.basis, self.vectors[:, i], strict=True):
            b = (k - a - self.j) // 2
            log_norm = self.j * math.log(2) + gammaln(b + order + 1) - gammaln(b + 1) - gammaln(0.5 * (self.d - 1))
            radial = (-1.0) ** b * length**self.j * eval_genlaguerre(b, order, length**2 / 2)
            values += weight * hermite[a] * radial * math.exp(-log_norm / 2)
        if self.j == 0:
            return values
        if axis is None:
            raise InputError("axis", f"sector j = {self.j} is degenerate", "give a unit vector orthogonal to the spike")
        cosine = np.clip(rest @ axis / np.where(length > 0, length, 1.0), -1.0, 1.0)
        zonal = legendre_table(self.d - 1, self.j, cosine)[-1] if self.d > 2 else cosine
        return values * math.sqrt(self.multiplicity) * zonal


def truncated_sector(
    d: int, A: float, B: float, activation: Nonlinearity, j: int = 0, parity: int = 0, degree: int = 16
) -> TruncatedSector:
    """The spectrum of k1 for any activation, cut at a Hermite degree, in sector j and parity of k - j.

    Valid for: d >= 2, A > 0, B > -A, sigma square-integrable under the widened Gaussian (variance above that of
    every |w|); degree <= 40.
    Errors: InputError outside; PrecisionError where the degrees do not resolve the activation; ConvergenceError where
    it varies too fast for quadrature, or has a pole.
    Source: G6, extended.
    """
    check_inputs(d, A, B)
    d, A, B = int(d), float(A), float(B)
    activation = nonlinearity(activation, "activation")
    j, parity = parse.integer(j, "j", minimum=0), parse.integer(parity, "parity", minimum=0, maximum=1)
    degree = parse.integer(degree, "degree")
    copies = multiplicity(d - 1, j)
    if copies == 0:
        raise InputError("j", f"there is no sector {j} in dimension {d}", "in dimension 2 only j = 0, 1 exist")
    if not j <= degree <= _MAX_HERMITE:
        raise InputError("degree", f"{degree} is out of range", f"give {j}..{_MAX_HERMITE}")
    if any(piece.growth.c2 > 0 for piece in activation.pieces):
        raise InputError(
            "activation", "it grows like exp(c z^2), so that E sigma(w.x)^2 is infinite", "tame its growth"
        )
    pairs = [(k, a) for k in range(j + parity, degree + 1, 2) for a in range(parity, k - j + 1, 2)]
    basis = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    t, half_weight, coefficients, _, gap = _average(d, A, B, activation, degree)
    factor = np.empty((len(basis), half_weight.size))
    for i, (k, a) in enumerate(basis):
        angular = angular_factor(d, int(k), int(a), j, t)
        factor[i] = (coefficients[k] * half_weight * angular[:, None]).ravel()
    vectors, values = gram_eigen(factor)
    # Rows are ordered by degree: the first half of the degrees is a compression.
    half = int(np.searchsorted(basis[:, 0], degree // 2, side="right"))
    errors = truncation_error(values, factor, max(1, half)) + ROUNDING * values[0]
    if activation.degree is not None and activation.degree <= degree:
        errors = np.full_like(values, 1e-13 * values[0])
    # Coefficients of |w| wrong by e(|w|) change F by at most (degree + 1)^(1/2) times the root mean square of e (the
    # angular factors of a degree are at most one together), and an eigenvalue by twice the product with |F|.
    lost = math.sqrt((degree + 1) * float(np.sum(half_weight**2 * gap**2)))
    # Eigenvalues below its square are the rounding of zeros (the even part of an odd activation): nothing to resolve.
    if values[0] > lost**2 and not errors[0] < values[0] / 2:
        raise PrecisionError(
            f"Hermite degrees up to {degree} do not resolve this activation at these variances "
            "(E sigma(w.x)^2 may be infinite)"
        )
    errors = errors + 2 * lost * math.sqrt(values[0]) + lost**2
    return TruncatedSector(d, j, parity, copies, basis, values, errors, vectors)


def mean_square(d: int, A: float, B: float, activation: Nonlinearity, degree: int = 16) -> float:
    """E sigma(w.x)^2 over weights and inputs: the sum of all eigenvalues of all sectors (the degrees cut off as well).

    `degree` only sets the rule, which the sectors share. Accuracy: that of the quadrature, 1e-12.
    """
    _, half_weight, _, square, _ = _average(d, A, B, activation, degree)
    return float(np.sum(half_weight**2 * square))


@functools.lru_cache(maxsize=2)  # every sector of a spectrum averages over the same weights
def _average(
    d: int, A: float, B: float, activation: Nonlinearity, degree: int
) -> tuple[Array, Array, tuple[Array, ...], Array, Array]:
    """The rule over w: t, roots of the weights (t by |xi|), c_k(|w|) to `degree`, E sigma(|w| z)^2, c_k's error.

    Errors: ConvergenceError where E sigma^2, or the coefficients by its root, are wrong by more than QUADRATURE.
    """
    t, sine, log_u = direction_rule(d, A, B, 0.0, 64 + 32 * degree)
    radius, log_radial = length_rule(d, 48, (8.0, 9.0))
    # |w| for every pair (direction, length of the underlying isotropic vector): |w|^2 = |xi|^2 A/(d (1 - c t^2)),
    # c = B/(A + B); 1 - c t^2 without cancellation.
    stretch = np.sqrt(A / (d * (A + B * sine**2) / (A + B)))
    (*coefficients, square), (gap, square_gap) = _coefficients(activation, np.outer(stretch, radius), degree)
    gap = gap + 4 * np.finfo(float).eps * np.sqrt(np.maximum(square, 0.0))
    half_weight = np.exp(0.5 * (log_u[:, None] + log_radial[None, :]))
    whole, *parts = (float(np.sum(half_weight**2 * v)) for v in (square, square_gap, gap**2))
    if not (parts[0] <= _QUADRATURE * whole and parts[1] <= _QUADRATURE**2 * whole):
        raise ConvergenceError(f"{activation.name} varies too fast for quadrature at these variances")
    return t, half_weight, tuple(coefficients), square, gap


def _coefficients(activation: Nonlinearity, lengths: Array, degree: int) -> tuple[list[Array], list[Array]]:
    """c_k(r) = E[sigma(rz) h_k(z)], k = 0..degree, and last E sigma(rz)^2 on a grid of r, by interpolation in log r.

    Also the gaps between two rules, the largest of all c_k and that of the square.
    """
    low, high = math.log(float(lengths.min())), math.log(float(lengths.max()))
    nodes = np.cos(np.pi * (np.arange(_INTERPOLATION) + 0.5) / _INTERPOLATION)
    radii = np.exp(low + (high - low) * (nodes + 1) / 2)
    _check_size(activation, float(radii.max()))
    panels = resolved(activation, float(radii.min()), float(radii.max()), line=True)
    # The finer of two rules is taken; their difference bounds what the panels leave out.
    tables = np.empty((2, _INTERPOLATION, degree + 2))
    for table, count in zip(tables, (FINER, FINER + 8), strict=True):
        for i, r in enumerate(radii):
            z, weight = line_nodes(((panels, float(r)),), count)
            values = panels.values(r * z)
            table[i, :-1] = hermite_table(z, degree) @ (weight * values)
            table[i, -1] = weight @ values**2
    coarse, table = tables
    gaps = np.abs(table - coarse)
    worst = np.stack([np.max(gaps[:, :-1], axis=1), gaps[:, -1]])
    fit = chebyshev.chebvander(nodes, _INTERPOLATION - 1).T @ table * (2 / _INTERPOLATION)
    fit[0] /= 2
    position = 2 * (np.log(lengths) - low) / (high - low) - 1
    lost = [np.interp(position, nodes[::-1], g[::-1]) for g in worst]  # nodes descend
    found = [np.asarray(chebyshev.chebval(position, fit[:, k]), dtype=np.float64) for k in range(degree + 2)]
    return found, lost


def _check_size(activation: Nonlinearity, r: float) -> None:
    """InputError where E sigma(rz)^2, or the square of a coefficient, is beyond the floats."""
    z, weight = gauss_nodes([float(b) / r for b in activation.kinks])
    with np.errstate(all="ignore"):
        square = weight @ vectorised(activation)(r * z) ** 2
    if not square < 1e300:
        raise InputError(
            "spike", "the activation overflows double precision at this variance", "give smaller variances"
        )


def angular_factor(d: int, k: int, a: int, j: int, t: Array) -> Array:
    """sqrt(C(k,a) q_{k-a,j}) t^a (1-t^2)^{(k-a)/2}: the component of h_k(w^.x) on the basis function (k, a)."""
    log_front = 0.5 * (math.log(math.comb(k, a)) + _log_monomial(d - 1, k - a, j))
    front: Array = math.exp(log_front) * t**a * np.maximum(1 - t**2, 0.0) ** ((k - a) / 2)
    return front


def _log_monomial(dimension: int, m: int, j: int) -> float:
    """log E[s^m P_j(s)], s the first coordinate of a uniform point of the sphere of R^dimension, m - j even."""
    half = dimension / 2
    value = gammaln(m + 1) - m * math.log(2) - gammaln((m - j) / 2 + 1)
    # A ratio of Gamma functions at large arguments, as a product: gammaln alone would lose digits.
    steps = (m + j) // 2
    return float(value - sum(math.log(half + i) for i in range(steps)))
