"""Streams: the permanent name of the random numbers that a trial draws, so that files can move without moving numbers.

A stream is named after the first check that was measured with it, and carries a version: whoever changes what a trial
draws, or in which order, raises the version, and the ledger's numbers move because of that and of nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def stream(id: str, version: int = 1) -> Callable[[F], F]:
    """Name the stream of a trial function, or of a function bound to one: `@stream("R2.gap")`.

    Valid for: functions. Where there is no name (a trial in a user's own file) module and function name serve.
    """

    def named(function: F) -> F:
        function.stream = f"{id}/{version}"  # type: ignore[attr-defined]
        return function

    return named


def stream_of(function: Callable[..., Any]) -> str:
    """The name of a function's stream: given, or else its module and name."""
    given: str | None = getattr(function, "stream", None)
    return given or f"{function.__module__}:{function.__qualname__}"
