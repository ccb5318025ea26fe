"""The noise's edge from matrices that hold noise only: the initialisation, a permuted gradient, shuffled labels.

Near a soft edge eigenvalues stand where the Airy process does, on average about -(3 pi/2 (j - 3/4))^(2/3) in units of
the Tracy-Widom scale: a line through the leading ones gives centre and scale, whatever the law of the bulk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bulkedge.numerics.spectra.edge import SMALLEST, EdgeLaw
from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.theory.numbers.errors import InputError

_LEADING = 10  # eigenvalues of one matrix that are taken for the edge's
_ENOUGH = 99  # matrices from which on their largest values are taken as they are


@dataclass(frozen=True)
class NullEdge:
    """The edge of the noise by `matrices` null matrices; squared singular values.

    `law` is Tracy-Widom's about the centre found; `largest` the matrices' own largest values, increasing.
    """

    law: EdgeLaw
    largest: Floats
    matrices: int

    def p_value(self, squared: float) -> float:
        """P(the null's largest squared singular value exceeds `squared`): a share of 99 or more, else by law."""
        if self.matrices >= _ENOUGH:
            return (1 + int(np.sum(self.largest >= squared))) / (self.matrices + 1)
        return self.law.p(squared)

    def threshold(self, alarm: float) -> float:
        """The squared singular value that the null exceeds with probability `alarm`."""
        if self.matrices >= _ENOUGH:
            place = int(np.ceil((1 - alarm) * (self.matrices + 1))) - 1
            return float(self.largest[min(place, self.matrices - 1)])
        return self.law.threshold(alarm)


def null_edge(spectra: list[Floats]) -> NullEdge:
    """The edge from the squared singular values of one or more null matrices.

    Valid for: noise whose bulk ends in a square root. Accuracy: one matrix gives the centre to about a Tracy-Widom
    scale and the scale itself to a fifth; k of them to 1/sqrt k of that.
    Errors: InputError for fewer than 8 singular values.
    """
    size = min(len(spectrum) for spectrum in spectra)
    if size < SMALLEST:
        raise InputError("null", f"has {size} singular values", f"give at least {SMALLEST}")
    count = max(3, min(_LEADING, size // 4))
    places = -((1.5 * np.pi * (np.arange(1, count + 1) - 0.75)) ** (2 / 3))
    leading = np.mean([np.sort(spectrum)[::-1][:count] for spectrum in spectra], axis=0)
    slope, centre = np.polyfit(places, leading, 1)
    largest = np.sort([float(np.max(spectrum)) for spectrum in spectra])
    return NullEdge(EdgeLaw(float(centre), max(float(slope), 1e-9 * float(leading[0]))), largest, len(spectra))
