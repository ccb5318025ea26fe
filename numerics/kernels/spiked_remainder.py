"""G11 in floats: the remainder of the spiked ReLU kernel's first order in B, at any d and B, from its exact matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.kernels.spiked_spectrum import sector_matrix
from bulkedge.theory.numbers.errors import InputError

Array = NDArray[np.float64]

DEGREE = 24  # beyond the sector's index: elements of l + l' = 2 k are of order (B/d)^k


def remainder_matrix(d: int, A: float, B: float, j: int = 0, parity: int = 0) -> Array:
    """T_1 - A T_0 - B dT_1/dB(0) in a sector, on the degrees up to j + DEGREE.

    Valid for: 0 < B of order d or less.
    Accuracy: 1e-7 of B/d, of the derivative by a difference quotient of fourth order.
    Errors: InputError for a spike that is not positive.
    Source: G11; B dT_1/dB = (B/2d) T_S (G5).
    """
    if not B > 0:
        raise InputError("spike", f"{B:g} is not positive", "give B > 0")

    def matrix(spike: float) -> Array:
        return sector_matrix(d, A, spike, j, parity, DEGREE)[1]

    step = A / 50
    wide, narrow = (matrix(k * step) - matrix(-k * step) for k in (2, 1))
    slope = (8 * narrow - wide) / (12 * step)
    return np.asarray(matrix(B) - matrix(0.0) - B * slope)


def remainder_norm(d: int, A: float, B: float) -> float:
    """||T_R||, over the sectors j = 0, 1, 2."""
    parts = (remainder_matrix(d, A, B, j, parity) for j, parity in ((0, 0), (1, 1), (2, 0)))
    return max(float(np.abs(np.linalg.eigvalsh(part)).max()) for part in parts)
