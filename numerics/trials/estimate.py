"""Estimate: a measured number with its standard error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A measured value, its standard error, the number of trials, and a bound of its systematic error.

    `bias` bounds what more trials would not remove (finite size, discretisation); it is derived or fitted, never
    typed in. `stderr` is 0 for a deterministic second route.
    """

    value: float
    stderr: float
    n: int
    bias: float = 0.0

    def __post_init__(self) -> None:
        if not all(math.isfinite(x) for x in (self.value, self.stderr, self.bias)):
            raise ArithmeticError(f"a measurement is not finite: {self.value} +- {self.stderr} (bias {self.bias})")

    @property
    def margin(self) -> float:
        """What a gap may be by chance and by finite size: 4 standard errors plus the bias."""
        return 4 * self.stderr + self.bias

    @staticmethod
    def from_samples(samples: Sequence[float]) -> Estimate:
        """Mean and standard error of independent samples (at least two)."""
        n = len(samples)
        if n < 2:
            raise ValueError("a standard error needs at least two samples")
        mean = math.fsum(samples) / n
        variance = math.fsum((x - mean) ** 2 for x in samples) / (n - 1)
        return Estimate(mean, math.sqrt(variance / n), n)
