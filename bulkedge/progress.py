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
        self._progress = Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())
        self._task = self._progress.add_task("", total=0)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def start(self, what: str, total: int) -> None:
        """`total` trials of `what` are about to run."""
        self._progress.reset(self._task, description=what.split("(")[0].rsplit(":", 1)[-1], total=total)

    def advance(self) -> None:
        """One more trial is finished."""
        self._progress.advance(self._task)
