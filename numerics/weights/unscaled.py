"""The signal of an equalised matrix in the file's own units (R5).

Where rows and columns were divided by noise levels D, C (mean square one), the spikes found are those of
D^-1 S C^-1, S the file's signal: its singular triples theta', u', v' are another decomposition. S = D U' Theta' V'^T C
has the singular values of G^(1/2) Theta' H^(1/2), G = U'^T D^2 U', H = V'^T C^2 V'. The vectors found carry noise,
u^ = sqrt(kept) u' + sqrt(1 - kept) g, and so u^T D^2 u^ = kept G + (1 - kept) mean D^2 on the diagonal; off it the
noise of different outliers is independent. For one spike this is theta = theta' sqrt(w), w = (|D u^|^2 - (1 -
kept))/kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from bulkedge.numerics.spectra.edge import OutlierCount
from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.numerics.spectra.spike import SpikedModel

_LEAST = 1e-3  # of kept: below it, next to the threshold, nothing of the signal is left in a vector


@dataclass(frozen=True)
class _Side:
    """One side of the signal: noise levels, vectors found (scaled coordinates), their kept (O2), also at strength +-
    sd.

    `mixing` (k x k) turns the scaled spikes' unit vectors into the file's: its column j holds the coefficients of the
    j-th. `weights` are |D u'|^2.
    """

    level: Floats
    vectors: Floats
    kept: Floats
    ends: Floats
    weights: Floats
    mixing: Floats

    @property
    def in_file(self) -> Floats:
        """kept of the unit vector D u^: the squared overlap with the signal's own vector D u'."""
        return self.kept * self.weights / (self.kept * self.weights + 1 - self.kept)


@dataclass(frozen=True)
class FileSignal:
    """The strengths (in the outliers' order) in the file's units with their standard deviations, and both sides."""

    strengths: tuple[float, ...]
    sds: tuple[float, ...]
    left: _Side
    right: _Side

    def found(self, name: str) -> Floats:
        """The vectors found, as unit vectors in the file's coordinates (columns)."""
        side = self._side(name)
        vectors = side.level[:, None] * side.vectors
        return np.asarray(vectors / np.linalg.norm(vectors, axis=0)) if vectors.shape[1] else vectors

    def kept(self, name: str) -> Floats:
        """The squared overlap of each of them with the signal's vector, as O2 predicts it."""
        return self._side(name).in_file

    def overlap(self, name: str, k: int, direction: Floats, squared: float) -> tuple[float, float, float]:
        """The direction's squared overlap with the k-th signal vector, the sd of `squared`, and its own.

        <direction, vector> = c sqrt(kept) + sqrt((1 - kept)(1 - c^2)) g, g of variance f/size: what the noise adds is
        orthogonal to the signal and points anywhere else, in proportion to the levels (f = |D direction|^2). kept
        varies with the strength (its values at strength -+ sd) and about its limit, through |noise|^2, by
        kept (1 - kept) sqrt(2/size). All is taken at the estimate of c^2 and one standard deviation above, where it is
        larger: near the threshold a small estimate would be too sure of itself.
        """
        side = self._side(name)
        size, kept = len(side.level), float(side.in_file[k])
        if side.kept[k] <= _LEAST:
            return squared, math.sqrt(2) / size, 1.0
        scaled = side.level * direction
        # In the scaled coordinates the direction meets all spikes' vectors; the file's k-th is a mixture of them.
        estimate = float(side.mixing[:, k] @ (side.vectors.T @ scaled / np.sqrt(side.kept))) ** 2
        spread = math.hypot(
            float(side.ends[1, k] - side.ends[0, k]) / 2 / float(side.kept[k]), (1 - kept) * math.sqrt(2 / size)
        )
        weight = float(scaled @ scaled)

        def sd(signal: float) -> float:
            noise = (1 - kept) * (1 - signal) * weight / size
            return math.sqrt((4 * signal * kept * noise + 2 * noise**2) / kept**2 + (signal * spread) ** 2)

        here = sd(min(estimate, 1.0))
        error = max(here, sd(min(estimate + here, 1.0)))
        return estimate, kept * error, error

    def _side(self, name: str) -> _Side:
        return self.left if name == "left" else self.right


def file_signal(found: OutlierCount, strengths: Floats, sds: Floats, model: SpikedModel) -> FileSignal:
    """The signal behind the outliers in the file's own units: strengths with errors, and both sides' vectors.

    Valid for: distinct strengths; a spike of fixed strength as the sizes grow.
    Accuracy: the standard deviation adds that of w to the strength's own. Source: R5, O2.
    """
    count = found.count
    sides = []
    for name, level, vectors in zip("dN", found.levels, (found.spectrum.left, found.spectrum.right), strict=True):
        if not count:
            empty = np.empty(0)
            sides.append((_Side(level, vectors, empty, np.empty((2, 0)), empty, np.empty((0, 0))), np.empty((0, 0))))
            continue
        kept = model.overlap(name, strengths)
        seen = kept >= _LEAST
        kept = np.maximum(kept, _LEAST)
        low = np.maximum(strengths - sds, 1e-9 * strengths)
        ends = np.stack([model.overlap(name, low), model.overlap(name, strengths + sds)])
        gram = vectors.T @ (level[:, None] ** 2 * vectors)
        gram = gram / np.sqrt(np.outer(kept, kept))
        gram[np.diag_indices(count)] -= (1 - kept) / kept
        gram = np.where(np.outer(seen, seen), gram, np.eye(count))
        values, basis = np.linalg.eigh(gram)
        values = np.clip(values, np.min(level) ** 2, np.max(level) ** 2)  # |D u|^2 lies between the squared levels
        root, inverse = ((basis * values**power) @ basis.T for power in (0.5, -0.5))
        weights = np.einsum("ij,ij->j", root, root)
        sides.append((_Side(level, vectors, kept, ends, weights, inverse), root))
    if not count or found.scaled == "none":
        # Without levels the Gram matrices are those of orthonormal vectors: nothing is mixed.
        plain = [_Side(s.level, s.vectors, s.kept, s.ends, np.ones(count), np.eye(count)) for s, _ in sides]
        return FileSignal(tuple(strengths.tolist()), tuple(sds.tolist()), plain[0], plain[1])
    turned, values, other = np.linalg.svd(sides[0][1] @ np.diag(strengths) @ sides[1][1])
    # Each of the file's spikes belongs to the outlier it contributes most to.
    _, order = linear_sum_assignment(-(turned**2 + other.T**2))
    own = []
    for (side, _), turn in zip(sides, (turned, other.T), strict=True):
        own.append(_Side(side.level, side.vectors, side.kept, side.ends, side.weights, side.mixing @ turn[:, order]))
    errors = []
    for k in range(count):
        relative = [float(sds[k] / strengths[k])] + [_weight_sd(side, k) / (2 * float(side.weights[k])) for side in own]
        errors.append(float(values[order[k]]) * math.hypot(*relative))
    return FileSignal(tuple(values[order].tolist()), tuple(errors), own[0], own[1])


def _weight_sd(side: _Side, k: int) -> float:
    """The standard deviation of w: noise g of variance 1/size in u^, crosswise and by itself."""
    kept, size = float(side.kept[k]), len(side.level)
    squares = side.level**2
    vector = side.vectors[:, k]
    cross = float(np.sum((squares * vector) ** 2)) - float(squares @ vector**2) ** 2
    itself = 2 * float(np.var(squares)) / size
    if kept <= _LEAST:
        return 2 * float(side.weights[k])
    return math.sqrt(4 * kept * (1 - kept) * max(cross, 0.0) / size + (1 - kept) ** 2 * itself) / kept
