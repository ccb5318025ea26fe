"""The edges offered where Marchenko-Pastur's is in doubt, each with the count of values beyond it.

Levels of rows and columns by the separable law on the matrix as it is (nothing is rescaled), the best hard threshold of
any law (ScreeNOT), and the edge of null matrices that the user brings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bulkedge.numerics.spectra.edge import OutlierCount, squared_singular_values
from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.numerics.spectra.null_edge import null_edge
from bulkedge.numerics.spectra.screenot import hard_threshold
from bulkedge.numerics.spectra.separable import SeparableNoise


@dataclass(frozen=True)
class FurtherEdge:
    """An edge by name; edge and threshold as singular values of the matrix itself, and how many lie beyond the latter.

    `strengths` are those read by the law (evenly spread vectors), where it gives any.
    """

    name: str
    edge: float
    threshold: float
    count: int
    strengths: tuple[float, ...] = ()


def separable_edge(squared: Floats, found: OutlierCount, alarm: float) -> FurtherEdge:
    """The edge of noise with the rows' and columns' own levels, on the squared singular values of the matrix as it is.

    The levels are those of this very matrix (found without the outliers): given them the row norms do not fluctuate,
    which is the kurtosis factor of equal norms (noise_edge, kappa = -2).
    """
    rows, columns = found.levels
    law = SeparableNoise(found.variance * rows**2, columns**2)
    factor = 1 - 2 / math.sqrt(rows.size * columns.size)
    threshold = factor * law.threshold(alarm)
    count = int(np.sum(squared > threshold))
    strengths = tuple(law.strength(s) for s in squared[:count].tolist() if s > law.edge)
    return FurtherEdge("separable", math.sqrt(factor * law.edge), math.sqrt(threshold), count, strengths)


def screenot_edge(values: Floats, shape: tuple[int, int], bound: int) -> FurtherEdge:
    """ScreeNOT's threshold with a bound of the rank; its edge is the one the leading values are extrapolated to."""
    ratio = min(shape) / max(shape)
    found = hard_threshold(values, ratio, max(1, min(bound, (len(values) - 2) // 3)))
    return FurtherEdge("screenot", found.edge, found.threshold, found.count)


def edge_of_null(values: Floats, nulls: list[Floats], alarm: float) -> FurtherEdge:
    """The edge of the null matrices' squared singular values."""
    found = null_edge(nulls)
    threshold = found.threshold(alarm)
    edge, top = (math.sqrt(max(x, 0.0)) for x in (found.law.centre, threshold))
    return FurtherEdge("null", edge, top, int(np.sum(values**2 > threshold)))


def further_edges(
    array: Floats, found: OutlierCount, alarm: float, nulls: list[Floats] | None = None
) -> tuple[FurtherEdge, ...]:
    """The separable edge where levels are unequal, ScreeNOT's, and that of the null matrices where there are any."""
    offered = []
    squared = found.spectrum.squared if found.scaled == "none" else squared_singular_values(array)
    values = np.sqrt(squared)
    if found.scaled != "none":
        offered.append(separable_edge(squared, found, alarm))
    # The bound follows our count only where that has a rate: elsewhere it may be far too large.
    counted = 0 if found.rate is None else found.count + found.count // 2
    offered.append(screenot_edge(values, found.shape, max(5, len(values) // 10, counted)))
    if nulls:
        offered.append(edge_of_null(values, nulls, alarm))
    return tuple(offered)
