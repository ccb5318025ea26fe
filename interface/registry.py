"""The registry of statements: the one list behind `list`, `show`, `check`, `paper` and `report`.

Modules register by position, not by side effect: every module of bulkedge/statements exports STATEMENTS, every module
of numerics/checks exports CHECKS, every module of derivations exports DERIVATIONS. A check or derivation belongs to
the statement whose ID its own ID begins with ("H3.relu" belongs to H3).
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.numerics.trials.check import Check


@dataclass(frozen=True)
class Erratum:
    """A statement as printed, what the check found, the corrected statement and the check that is the evidence."""

    printed: str
    found: str
    corrected: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """A statement of the theory.

    `id` is permanent. `formula` names the function of theory/ that states it
    ("bulkedge.theory.gaussian.hermite:parseval"); calling it gives a SymPy expression, so what is shown is what is
    evaluated. `sources` name paper and equation. `status` is "proved", "derived" (by us, checked numerically) or
    "conjectured".
    """

    id: str
    title: str
    formula: str
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]
    status: str = "proved"
    figure: str | None = None
    errata: tuple[Erratum, ...] = ()

    def expression(self) -> sp.Basic:
        """The formula, as SymPy."""
        module, name = self.formula.split(":")
        expression: sp.Basic = getattr(importlib.import_module(module), name)()
        return expression


def owner(id: str) -> str:
    """The ID of the statement that a check or derivation belongs to."""
    return id.split(".", 1)[0]


def _collect(package: str, attribute: str) -> tuple[Any, ...]:
    found: list[Any] = []
    root = importlib.import_module(package)
    for info in sorted(pkgutil.walk_packages(root.__path__, f"{package}."), key=lambda i: i.name):
        found.extend(getattr(importlib.import_module(info.name), attribute, ()))
    return tuple(found)


def order(id: str) -> tuple[int, str]:
    """Sorts IDs as the theory is built up: Hermite, kernels, ..., random matrices; a user's own letters come last."""
    head, letters = owner(id), "HKGOMCLTRE"
    return (
        letters.index(head[0]) if head[0] in letters else len(letters),
        head[0] + head[1:].zfill(3) + id[len(head) :],
    )


@functools.cache
def statements() -> tuple[Statement, ...]:
    """All statements, in the order of their IDs."""
    return tuple(sorted(_collect("bulkedge.statements", "STATEMENTS"), key=lambda s: order(s.id)))


@functools.cache
def checks() -> tuple[Check, ...]:
    """All checks of the ledger, in the order of their IDs."""
    return tuple(sorted(_collect("bulkedge.numerics.checks", "CHECKS"), key=lambda c: order(c.id)))


@functools.cache
def derivations() -> tuple[Any, ...]:
    """All derivations, in the order of their IDs."""
    return tuple(sorted(_collect("derivations", "DERIVATIONS"), key=lambda d: order(d.id)))
