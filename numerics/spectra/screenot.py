"""An edge of the noise that assumes no law (ScreeNOT): the best hard threshold given an upper bound of the rank.

The noise's singular values are the matrix's with the k largest replaced by what a bulk with a square-root edge would
have there. With phi(y) = mean y/(y^2 - s^2) over them and D = phi (c phi + (1 - c)/y) (c the ratio of the sides),
cutting at y is worth it for a spike whose outlier is beyond the point where y D'(y)/D(y) = -4.
Source: Donoho, Gavish & Romanov 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.numerics.trials.domain import finite
from bulkedge.theory.numbers.errors import InputError


@dataclass(frozen=True)
class HardThreshold:
    """The threshold, how many singular values pass it, the extrapolated edge, and the bound of the rank used."""

    threshold: float
    count: int
    edge: float
    bound: int


def hard_threshold(values: Floats, ratio: float, bound: int | None = None) -> HardThreshold:
    """The threshold for singular values that loses least in Frobenius norm, the noise being of any law.

    Shapes/units: all singular values (smaller side); ratio of smaller to larger side; `bound` of the signal's rank, at
    most a third of them (by default a tenth, five at least).
    Valid for: noise of compact limit spectrum, orthogonally invariant or such that the spikes see its law alone.
    Errors: InputError for fewer than 8 values or a bound that leaves no bulk.
    """
    ordered = np.sort(finite(values, "values"))
    size = len(ordered)
    if size < 8:
        raise InputError("values", f"are {size}", "give at least 8")
    most = (size - 2) // 3
    k = min(most, max(5, size // 10)) if bound is None else bound
    if not 0 <= k <= most:
        raise InputError("bound", f"{k} of {size} values leave no bulk", f"give 0 to {most}")
    noise = ordered.copy()
    if k:
        inner = noise[size - k - 1]
        steps = (1 - (np.arange(k) / k) ** (2 / 3)) / (2 ** (2 / 3) - 1)
        noise[size - k :] = (inner + steps * (inner - noise[size - 2 * k - 1]))[::-1]
    top = float(noise[-1])
    if not top > 0:
        raise InputError("values", "are zeros below the largest", "give noise plus low rank")
    squares = noise**2

    def excess(y: float) -> float:
        gap = y * y - squares
        phi, slope = float(np.mean(y / gap)), -float(np.mean((y * y + squares) / gap**2))
        other = ratio * phi + (1 - ratio) / y
        return y * (slope / phi + (ratio * slope - (1 - ratio) / y**2) / other) + 4

    low, high = top * (1 + 1e-9), 2 * top
    while excess(high) < 0:
        high *= 2
    threshold = float(brentq(excess, low, high, xtol=1e-12 * top)) if excess(low) < 0 else low
    return HardThreshold(threshold, int(np.sum(ordered > threshold)), top, k)
