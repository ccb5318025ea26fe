"""What a derivation states, and the same with the evidence for each of its steps: what is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bulkedge.derivations.engine.relations import Relation, Step, weakest
from bulkedge.theory.numbers.marked import read_marks


@dataclass(frozen=True)
class Stated:
    """A statement derived: verified step by step, then printed.

    `id` begins with the statement's ID ("R1.edges" belongs to R1). `claim` and `steps` are functions, so that nothing
    is computed before it is needed. `domain` holds conditions under which the steps are claimed, as SymPy relations.
    `notation` says in words what the letters mean.
    """

    id: str
    title: str
    claim: Callable[[], Any]
    steps: Callable[[], Iterable[Step]]
    source: str
    domain: tuple[Any, ...] = ()
    notation: str = ""

    def __post_init__(self) -> None:
        read_marks(self, "title", "source", "notation")


@dataclass(frozen=True)
class Verified:
    """A derivation all of whose steps held, with how each was verified."""

    derivation: Stated
    claims: tuple[Any, ...]
    steps: tuple[tuple[Step, Relation, str], ...]
    reached: tuple[str, ...]

    @property
    def how(self) -> str:
        """The weakest evidence in the chain: "exact" only if every step is."""
        return weakest([*(way for _, _, way in self.steps), *self.reached])
