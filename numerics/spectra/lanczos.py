"""Leading singular triples of a large matrix by Lanczos bidiagonalisation, each with a bound of its error (T4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, svds

from bulkedge.numerics.trials.domain import within
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

Floats = NDArray[Any]  # float32 or float64
_DENSE = 40  # a side below which Lanczos has no room


@dataclass(frozen=True)
class Triples:
    """Singular triples, decreasing: values (k,), left (d, k), right (N, k), and the residuals' norms (k,).

    Each value is within its residual of a true singular value: residual = max(|A v - s u|, |A^T u - s v|).
    """

    values: Floats
    left: Floats
    right: Floats
    residuals: Floats


def leading_triples(matrix: Floats, count: int, seed: int = 0, tolerance: float = 1e-8) -> Triples:
    """The `count` leading singular triples of a dense matrix.

    Deterministic: the start vector is drawn from `seed`. Cost: a few hundred products with the matrix, memory O(d + N).
    Accuracy: relative tolerance on the eigenvalues of A^T A; the residuals are measured, not assumed.
    Errors: InputError for an unusable count; ConvergenceError if the iteration does not converge.
    """
    if matrix.ndim != 2 or not 1 <= count < min(matrix.shape):
        raise InputError("count", f"{count} triples of a matrix of shape {matrix.shape}", "give 1 <= count < its rank")
    if not np.all(np.isfinite(matrix)):
        raise InputError("matrix", "holds nan or infinity", "give finite numbers")
    within(float(np.max(np.abs(matrix))), "matrix")
    if min(matrix.shape) < _DENSE:
        return _triples(matrix, *(part[..., :count] for part in _dense(matrix)))
    start = np.random.default_rng(seed).standard_normal(min(matrix.shape)).astype(matrix.dtype)
    try:
        left, values, right = svds(matrix, k=count, v0=start, tol=tolerance, ncv=min(min(matrix.shape), 4 * count + 20))
    except ArpackNoConvergence as error:
        raise ConvergenceError(f"Lanczos: {len(error.eigenvalues)} of {count} triples converged") from None
    order = np.argsort(values)[::-1]
    return _triples(matrix, left[:, order], values[order], right[order].T)


def _dense(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return left, values, right.T


def _triples(matrix: Floats, left: Floats, values: Floats, right: Floats) -> Triples:
    residuals = np.maximum(
        np.linalg.norm(matrix @ right - left * values, axis=0),
        np.linalg.norm(matrix.T @ left - right * values, axis=0),
    )
    return Triples(values, left, right, residuals)
