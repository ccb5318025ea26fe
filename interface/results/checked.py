"""A check's numbers, for its table, the book, the report and its pictures."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from bulkedge.results.number import Number

if TYPE_CHECKING:
    from bulkedge.numerics.trials.estimate import Estimate


def measured(estimate: Estimate, digits: int = 17) -> Number:
    """What was measured with its standard error; of a second route, which has none, with the bound of its error."""
    value, stderr, bias = (Fraction(repr(float(x))) for x in (estimate.value, estimate.stderr, estimate.bias))
    if stderr:
        return Number.of(value, stderr, digits=digits, measured=True)
    return Number(value, bias, digits=digits)
