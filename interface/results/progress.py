"""Progress on stderr: a rich bar on a terminal, a line now and then where stderr is a file or a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

FIRST, BETWEEN = 1.0, 10.0  # seconds until the first line, and between two: what is quick says nothing


class RichProgress:
    """The runner's Progress, drawn by rich; a context manager."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._progress = Progress(*columns, console=console, transient=True, disable=not self._shown)
        self._task = self._progress.add_task("", total=0)
        self._made = self._begun = time.monotonic()
        self._next = self._made + FIRST
        self._what, self._done, self._total = "", 0, 0

    def __enter__(self) -> Self:
        if self._shown:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:  # rich before 13.4 ends even a disabled display with an empty line
            self._progress.stop()

    def say(self, text: str) -> None:
        """A line that stays: something is finished."""
        if self._shown:
            self._progress.console.print(text, highlight=False, markup=False)
        elif sys.stderr is not None and time.monotonic() >= self._made + FIRST:
            with contextlib.suppress(OSError, ValueError):
                print(text, file=sys.stderr, flush=True)

    def start(self, what: str, total: int) -> None:
        """`total` trials of `what` are about to run."""
        self._what, self._done, self._total = what.split("(")[0].rsplit(":", 1)[-1], 0, total
        self._begun = time.monotonic()
        self._next = self._begun + FIRST
        self._progress.reset(self._task, description=self._what, total=total)

    def advance(self) -> None:
        """One more trial is finished."""
        self._done += 1
        self._progress.advance(self._task)
        now = time.monotonic()
        if self._shown or sys.stderr is None or now < self._next:
            return
        left = (now - self._begun) / self._done * (self._total - self._done)
        self._next = now + BETWEEN
        with contextlib.suppress(OSError, ValueError):  # a stderr that was closed is no reason to stop
            print(f"{self._what}: {self._done} of {self._total}, about {left:.0f} s left", file=sys.stderr, flush=True)
