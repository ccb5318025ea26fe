"""Which statements, derivations and checks a list of names means, for the book and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.errors import InputError

if TYPE_CHECKING:
    from bulkedge.registry import Statement
    from numerics.check import Check


@dataclass(frozen=True)
class Selection:
    """Statements, derivations and checks, in the order of their IDs."""

    statements: tuple[Statement, ...]
    derivations: tuple[Any, ...]
    checks: tuple[Check, ...]


def select(names: Sequence[str]) -> Selection:
    """Everything whose ID is named, belongs to a named statement, or begins with a named prefix; "FILE.py" adds the
    STATEMENTS, DERIVATIONS and CHECKS of a file of the user's own. No name: everything.

    Errors: InputError for a name that matches nothing.
    """
    from bulkedge import registry, user_file

    kinds: tuple[tuple[Any, ...], ...] = (registry.statements(), registry.derivations(), registry.checks())
    if not names:
        return Selection(*kinds)
    found: list[dict[str, Any]] = [{}, {}, {}]
    owners: set[str] = set()
    for name in names:
        if name.endswith(".py"):
            module = user_file.load(name)
            parts = [getattr(module, kind, ()) for kind in ("STATEMENTS", "DERIVATIONS", "CHECKS")]
        else:
            parts = [_matching(name, kind) for kind in kinds]
        if not any(parts):
            known = ", ".join(st.id for st in kinds[0]) or "none"
            raise InputError("ID", f"nothing is named {name[:40]!r} or begins with it", f"the statements are {known}")
        for chosen, part in zip(found, parts, strict=True):
            chosen.update((item.id, item) for item in part)
            owners.update(registry.owner(item.id) for item in part)
    found[0].update((st.id, st) for st in kinds[0] if st.id in owners)
    return Selection(*(tuple(sorted(chosen.values(), key=lambda i: registry.order(i.id))) for chosen in found))


def _matching(name: str, available: Sequence[Any]) -> list[Any]:
    exact = [i for i in available if i.id == name or i.id.startswith(name + ".")]
    return exact or [i for i in available if i.id.startswith(name)]
