"""G4 on data: the matrix of the spiked kernel for every dual kernel, and its leading eigenvector by Lanczos (G8)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from bulkedge.numerics.kernels.kernel_matrix import kernel_matrix, rows
from bulkedge.numerics.kernels.spiked_spectrum import check_inputs
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.kernels import spiked_kernel as symbols
from bulkedge.theory.numbers import symbols as theory_symbols
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

Array = NDArray[np.float64]


def warp(X: Array, spike: Array, A: float, B: float) -> Array:
    """Gamma^(1/2) x for the rows of X: sqrt(A) x + (sqrt(A+B) - sqrt(A)) (w*.x) w*, w* a unit vector."""
    check_inputs(X.shape[1], A, B)
    if spike.shape != (X.shape[1],) or abs(float(np.linalg.norm(spike)) - 1) > 1e-9:
        raise InputError("spike", "it is not a unit vector of the data's dimension", "give w* with |w*| = 1")
    along = (X @ spike)[:, None] * spike
    return np.asarray(np.sqrt(A) * X + (np.sqrt(A + B) - np.sqrt(A)) * along)


def spiked_kernel_matrix(
    X: Array,
    Y: Array | None,
    spike: Array,
    A: float,
    B: float,
    activation: str | sp.Expr | Nonlinearity = "relu",
) -> Array:
    """k1(x, y) = E sigma(w.x) sigma(w.y), w ~ N(0, (A I + B w* w*^T)/d), between the rows of X and of Y (or of X).

    = k0(Gamma^(1/2) x, Gamma^(1/2) y) exactly, for any activation that numerics.kernels.kernel_matrix knows.
    Errors: InputError for A <= 0, B <= -A, a spike that is no unit vector.
    Source: G4 (paper F, Section 4).
    """
    X = rows(X, "X")
    along = rows(np.atleast_2d(spike) if np.ndim(spike) else spike, "spike")
    if along.shape != (1, X.shape[1]):
        raise InputError("spike", f"its shape is {np.shape(spike)}", f"give a vector of length {X.shape[1]}")
    spike = along[0]
    if Y is not None:
        Y = rows(Y, "Y")
        if Y.shape[1] != X.shape[1]:
            raise InputError(
                "Y", f"its rows have {Y.shape[1]} entries, those of X {X.shape[1]}", "give the same dimension"
            )
    # A Gaussian weight of covariance Gamma/d is Gamma^(1/2) times an isotropic one: the inputs can carry the square
    # root, and the kernel of isotropic weights is all that is needed.
    other = None if Y is None else warp(Y, spike, A, B)
    values = kernel_matrix(warp(X, spike, A, B), other, activation, weight_variance=1 / X.shape[1])
    return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class Leading:
    """The leading eigenpair of K/n on a sample: value, and vector of mean square one (both signs are right)."""

    value: float
    vector: Array


def leading_eigenpair(K: Array, seed: int = 0) -> Leading:
    """The leading eigenpair of K/n by Lanczos; the start is drawn from `seed`.

    Errors: ConvergenceError if the iteration does not converge.
    """
    n = len(K)
    start = np.random.default_rng(seed).standard_normal(n)
    try:
        # One pair out of n: Lanczos costs a few dozen products where a full decomposition costs n^3. The start is
        # drawn, so that no symmetry hides the eigenvector, and seeded, so that it repeats.
        values, vectors = eigsh(K, k=1, v0=start, tol=1e-9)
    except ArpackNoConvergence:
        raise ConvergenceError(f"Lanczos did not converge on a kernel matrix of {n} samples") from None
    return Leading(float(values[0]) / n, np.asarray(vectors[:, 0] * np.sqrt(n)))


def second_harmonic(X: Array, spike: Array) -> Array:
    """(|x|/sqrt d) Y_2(x/|x|), Y_2 = sqrt((d+2)/(2(d-1))) (d t^2 - 1): what paper F's Figure 1a aligns with.

    Unit norm under N(0, I_d).
    """
    d = X.shape[1]
    length = np.linalg.norm(X, axis=1)
    t = X @ spike / length
    return np.asarray(length / np.sqrt(d) * np.sqrt((d + 2) / (2 * (d - 1))) * (d * t**2 - 1))


def alignment_trial(
    rng: np.random.Generator, size: int, exponent: float | None, ratio: float = 1.0
) -> dict[str, float]:
    """Squared cosine on `ratio` size samples between the top eigenvector and Y2: A = 1.2, B = 5 d^exponent (None: k0).

    Source: G8 (paper F, Figure 1a).
    """
    spike = np.eye(size)[0]
    X = rng.standard_normal((round(ratio * size), size))
    A, B = (1.0, 0.0) if exponent is None else (1.2, 5 * float(size) ** exponent)
    top = leading_eigenpair(spiked_kernel_matrix(X, None, spike, A, B)).vector
    harmonic = second_harmonic(X, spike)
    return {"overlap2": float((top @ harmonic) ** 2 / (top @ top) / (harmonic @ harmonic))}


def partial_sums(
    point: dict[sp.Symbol, sp.Expr], B: float, order: int, digits: int = 30
) -> tuple[list[float], Enclosure]:
    """Partial sums of the expansion of ReLU's k1 in B at a point, order 0..`order`, and the exact value.

    `point` gives r, r', theta, s, s', A, d (theory.kernels.spiked_kernel). The remainder after n terms is exact -
    sum_n; beyond the radius it grows.
    Source: G5 (paper F, Theorem 4.2).
    """
    k1 = sp.lambdify(theory_symbols.B, symbols.spiked_kernel().subs(point), "mpmath")
    # A Taylor coefficient of order n by differences loses about two digits an order.
    with mpmath.workdps(digits + 2 * order):
        coefficients = mpmath.taylor(k1, 0, order)
        terms = [c * mpmath.mpf(B) ** n for n, c in enumerate(coefficients)]
        sums = [float(mpmath.fsum(terms[: n + 1])) for n in range(order + 1)]
        exact = mpmath.re(k1(mpmath.mpf(B)))
        numerator = int(mpmath.nint(exact * mpmath.mpf(10) ** digits))
    return sums, Enclosure(Fraction(numerator, 10**digits), Fraction(1, 10 ** (digits - 2)), "closed form")
