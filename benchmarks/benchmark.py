"""Benchmark: two or more ways to the same numbers timed side by side, or one way timed over a ladder of sizes."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

_PAIR = "{:<46} {:>11} {:<36} {:>11} {:>9} {:>8}  {}"


class Line(Protocol):
    """A line of the printed table."""

    HEADER: ClassVar[str]

    @property
    def met(self) -> bool:
        """Whether the line reaches what is asked for."""

    @property
    def line(self) -> str:
        """The line as printed under HEADER."""


@dataclass(frozen=True)
class Row:
    """One comparison: our seconds, the other's, and the ratio that is asked for (other/ours at least `required`)."""

    HEADER: ClassVar[str] = _PAIR.format("ours", "seconds", "against", "seconds", "ratio", "asked", "")
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

    @property
    def line(self) -> str:
        """What is compared, both times, their ratio and the verdict."""
        asked = "" if self.required is None else f"{self.required:g}"
        verdict = "" if self.required is None else ("met" if self.met else "MISSED")
        times = (f"{self.ours_seconds:.3g}", self.other, f"{self.other_seconds:.3g}", f"{self.ratio:.3g}")
        return _PAIR.format(self.what, *times, asked, f"{verdict} {self.note}".strip())


@dataclass(frozen=True)
class Missing:
    """A comparison that was not made: the peer is not installed, and `remedy` is the command that makes it so."""

    HEADER: ClassVar[str] = Row.HEADER
    what: str
    other: str
    remedy: str

    @property
    def met(self) -> bool:
        """Nothing is asked of a comparison that was not made."""
        return True

    @property
    def line(self) -> str:
        """What would be compared, and how to have it."""
        return _PAIR.format(self.what, "", self.other, "", "", "", f"not installed: {self.remedy}")


@dataclass(frozen=True)
class Benchmark:
    """A named measurement that gives one or more lines."""

    name: str
    run: Callable[[], tuple[Line, ...]]


def seconds(
    work: Callable[[], object],
    repeats: int = 3,
    before: Callable[[], object] | None = None,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """The best of a few runs by a clock of processor time (`before` runs untimed each time, to empty caches)."""
    best = float("inf")
    gc.collect()
    gc.disable()  # once: a collection between short runs would leave their data out of the cache
    try:
        for _ in range(repeats):
            if before is not None:
                before()
            start = clock()
            work()
            best = min(best, clock() - start)
    finally:
        gc.enable()
    return best


def children() -> float:
    """Processor seconds of the processes that were started and have ended."""
    used = os.times()
    return used.children_user + used.children_system
