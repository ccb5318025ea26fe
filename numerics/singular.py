"""Leading singular triples of a dense matrix by Lanczos, reproducible: the start vector is seeded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, svds

from theory.errors import ConvergenceError

Floats = NDArray[np.float64]


def leading(A: Floats, count: int = 1, seed: int = 0, tolerance: float = 1e-9) -> tuple[Floats, Floats, Floats]:
    """The `count` largest singular triples of A (rows x columns): U (rows, count), s descending, V (columns, count).

    Accuracy: relative `tolerance` of the singular values; the vectors of a cluster (the bulk's edge) only as a space.
    Errors: ConvergenceError if Lanczos does not converge.
    """
    shorter = min(A.shape)
    if 3 * count >= shorter or shorter < 30:  # too small for Lanczos to pay
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
    else:
        start = np.random.default_rng(seed).standard_normal(shorter)
        try:
            U, s, Vt = svds(A, count, v0=start, tol=tolerance, ncv=min(shorter - 1, max(40, 3 * count)))
        except ArpackNoConvergence as error:
            raise ConvergenceError(f"the leading singular values did not converge ({error})") from None
        order = np.argsort(s)[::-1]
        U, s, Vt = U[:, order], s[order], Vt[order]
    return np.asarray(U[:, :count]), np.asarray(s[:count]), np.asarray(Vt[:count].T)


def norm(A: Floats, seed: int = 0) -> float:
    """The operator norm of A."""
    return float(leading(A, 1, seed)[1][0])
