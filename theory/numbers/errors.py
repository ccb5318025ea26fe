"""The errors of the toolkit: each says what is wrong and what would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bulkedge.theory.numbers.enclosure import Enclosure


class InputError(ValueError):
    """Unusable input: names the argument, the problem and the remedy, in one line.

    On the command line it ends with exit status 2.
    """

    def __init__(self, argument: str, problem: str, remedy: str) -> None:
        self.argument = argument
        self.problem = problem
        self.remedy = remedy
        super().__init__(argument, problem, remedy)  # all three, so that it survives pickling to a worker

    def __str__(self) -> str:
        return f"{self.argument}: {self.problem}; {self.remedy}"


class PrecisionError(ArithmeticError):
    """The digits asked for could not be reached; `best` is the best enclosure, with its honest error.

    On the command line the value is printed all the same and the exit status is 3.
    """

    def __init__(self, message: str, best: Enclosure | None = None) -> None:
        self.message = message
        self.best = best
        super().__init__(message, best)

    def __str__(self) -> str:
        return self.message


class ConvergenceError(ArithmeticError):
    """An iteration did not converge; nothing of it is returned as if it had."""
