"""Benchmark: two or more ways to the same numbers, timed side by side."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison: our seconds, the other's, and the ratio that is asked for (other/ours at least `required`)."""

    what: str
    other: str
    ours_seconds: float
    other_seconds: float
    required: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times longer the other takes."""
        return self.other_seconds / self.ours_seconds

    @property
    def met(self) -> bool:
        """Whether the ratio reaches what is asked for."""
        return self.required is None or self.ratio >= self.required


@dataclass(frozen=True)
class Benchmark:
    """A named measurement that gives one or more rows."""

    name: str
    run: Callable[[], tuple[Row, ...]]


def seconds(work: Callable[[], object], repeats: int = 3, before: Callable[[], object] | None = None) -> float:
    """The best of a few runs (`before` runs untimed each time, to empty caches)."""
    best = float("inf")
    for _ in range(repeats):
        if before is not None:
            before()
        gc.collect()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best
