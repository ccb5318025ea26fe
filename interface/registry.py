"""The registry of statements: the one list behind `list`, `show`, `check`, `paper` and `report`.

Modules register by position, not by side effect: every module of theory/ exports STATEMENTS, of
numerics/checks CHECKS, of derivations/ DERIVATIONS. A check or derivation belongs to
the statement whose ID its own ID begins with ("H3.relu" belongs to H3).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bulkedge.derivations.engine.derivation import Derivation
    from bulkedge.numerics.trials.check import Check
    from bulkedge.theory.numbers.statement import Statement


def owner(id: str) -> str:
    """The ID of the statement that a check or derivation belongs to."""
    return id.split(".", 1)[0]


@functools.cache
def exporting(package: str, attribute: str) -> dict[str, tuple[Any, ...]]:
    """What the modules below a package export under a name, by module."""
    root = importlib.import_module(package)
    names = sorted(info.name for info in pkgutil.walk_packages(root.__path__, f"{package}."))
    exported = {name: tuple(getattr(importlib.import_module(name), attribute, ())) for name in names}
    return {name: items for name, items in exported.items() if items}


def _collect(package: str, attribute: str) -> tuple[Any, ...]:
    return tuple(item for items in exporting(package, attribute).values() for item in items)


def order(id: str) -> tuple[int, str]:
    """Sorts IDs as the theory is built up: Hermite, kernels, ..., random matrices; a user's own letters come last."""
    head, letters = owner(id), "HKGOMCLTRE"
    return (
        letters.index(head[0]) if head[0] in letters else len(letters),
        head[0] + head[1:].zfill(3) + id[len(head) :],
    )


def homes(id: str) -> dict[str, tuple[str, ...]]:
    """The modules where a statement and what belongs to it stand, by storey: theory, numerics, checks, derivations."""
    (statement,) = (s for s in statements() if s.id == id)
    theory = statement.formula_name.split(":")[0]
    numerics = theory.replace(".theory.", ".numerics.", 1)
    found: dict[str, tuple[str, ...]] = {"theory": (theory,)}
    found["numerics"] = (numerics,) if importlib.util.find_spec(numerics) else ()
    for storey, package, attribute in (
        ("checks", "bulkedge.numerics.checks", "CHECKS"),
        ("derivations", "bulkedge.derivations", "DERIVATIONS"),
    ):
        modules = exporting(package, attribute)
        found[storey] = tuple(n for n, items in modules.items() if any(owner(item.id) == id for item in items))
    return found


def file_of(module: str) -> str:
    """A module's file in the repository: bulkedge.theory.spectra.spike -> theory/spectra/spike.py."""
    return module.removeprefix("bulkedge.").replace(".", "/") + ".py"


@functools.cache
def statements() -> tuple[Statement, ...]:
    """All statements, in the order of their IDs."""
    return tuple(sorted(_collect("bulkedge.theory", "STATEMENTS"), key=lambda s: order(s.id)))


@functools.cache
def checks() -> tuple[Check, ...]:
    """All checks of the ledger, in the order of their IDs."""
    return tuple(sorted(_collect("bulkedge.numerics.checks", "CHECKS"), key=lambda c: order(c.id)))


@functools.cache
def derivations() -> tuple[Derivation, ...]:
    """All derivations, in the order of their IDs."""
    return tuple(sorted(_collect("bulkedge.derivations", "DERIVATIONS"), key=lambda d: order(d.id)))
