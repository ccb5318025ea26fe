"""Progress on stderr: a rich bar on a terminal, nothing where stderr is a file or a pipe."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class RichProgress:
    """The runner's Progress, drawn by rich; a context manager."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._progress = Progress(*columns, console=console, transient=True, disable=not self._shown)
        self._task = self._progress.add_task("", total=0)

    def __enter__(self) -> Self:
        if self._shown:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:  # rich before 13.4 ends even a disabled display with an empty line
            self._progress.stop()

    def start(self, what: str, total: int) -> None:
        """`total` trials of `what` are about to run."""
        self._progress.reset(self._task, description=what.split("(")[0].rsplit(":", 1)[-1], total=total)

    def advance(self) -> None:
        """One more trial is finished."""
        self._progress.advance(self._task)
