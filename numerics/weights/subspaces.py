"""What is new in one matrix's outliers against another's: similarities, subspace angles, intruder directions.

Fine-tuned weights against their start, W1 against W0: a direction is *shared* by its squared projection on the span of
the other's outliers; it is an *intruder* where no single singular vector of the other resembles it (Shuttleworth et
al. 2024), which a rotation inside the bulk alone can also bring about: both are reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import subspace_angles

from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.theory.numbers.errors import InputError

INTRUDER = 0.6  # cosine with every singular vector of the other below which a direction is an intruder
NEW = 0.5  # squared projection on the other's outliers below which a direction is new


@dataclass(frozen=True)
class Direction:
    """One outlier against the other matrix: `shared` squared projections and largest cosines (left, right)."""

    outlier: int
    shared: tuple[float, float]
    similarity: tuple[float, float]

    @property
    def new(self) -> bool:
        """Whether most of it, on either side, lies outside the other's outliers."""
        return min(self.shared) < NEW

    @property
    def intruder(self) -> bool:
        """Whether no singular vector of the other resembles it on either side."""
        return max(self.similarity) < INTRUDER


@dataclass(frozen=True)
class Comparison:
    """The outliers' directions, and the principal angles (degrees, increasing) of both outlier subspaces by side."""

    directions: tuple[Direction, ...]
    left: tuple[float, ...]
    right: tuple[float, ...]


def compare(own: tuple[Floats, Floats], others: tuple[Floats, Floats], array: Floats) -> Comparison:
    """One matrix's outlier vectors (left d x k, right N x k) against another's, and against all singular vectors of it.

    Errors: InputError if the shapes differ.
    """
    shape = (len(own[0]), len(own[1]))
    if array.shape != shape:
        raise InputError("against", f"has shape {array.shape}, the matrix {shape}", "give matrices of one shape")
    u, _, vt = np.linalg.svd(array, full_matrices=False)
    directions = []
    bases = [np.linalg.qr(other)[0] if other.shape[1] else other for other in others]
    for k in range(own[0].shape[1]):
        shared, similar = [], []
        for vectors, basis, every in zip(own, bases, (u, vt.T), strict=True):
            vector = vectors[:, k]
            shared.append(min(1.0, float(np.sum((basis.T @ vector) ** 2))))
            similar.append(min(1.0, float(np.max(np.abs(every.T @ vector)))))
        directions.append(Direction(k, (shared[0], shared[1]), (similar[0], similar[1])))
    angles = []
    for vectors, basis in zip(own, bases, strict=True):
        both = vectors.shape[1] and basis.shape[1]
        found = np.degrees(subspace_angles(vectors, basis)) if both else np.empty(0)
        angles.append(tuple(sorted(float(angle) for angle in found)))
    return Comparison(tuple(directions), angles[0], angles[1])
