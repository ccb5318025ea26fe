"""Which statements, derivations and checks a list of names means, for the book and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.errors import InputError

if TYPE_CHECKING:
    from bulkedge.registry import Erratum, Statement
    from numerics.check import Check


@dataclass(frozen=True)
class Selection:
    """Statements, derivations and checks, in the order of their IDs."""

    statements: tuple[Statement, ...]
    derivations: tuple[Any, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Entry:
    """What the book and the report show of a statement: its registered text, or what a user's own file says of it."""

    id: str
    title: str
    claims: tuple[Any, ...]
    assumptions: tuple[str, ...]
    sources: tuple[str, ...]
    status: str
    errata: tuple[Erratum, ...] = ()


def entries(selection: Selection) -> tuple[Entry, ...]:
    """The selection's statements, then those that only a user's derivation or check knows."""
    from bulkedge import registry

    found = {
        st.id: Entry(st.id, st.title, (st.expression(),), st.assumptions, st.sources, st.status, st.errata)
        for st in selection.statements
    }
    for d in selection.derivations:
        if registry.owner(d.id) not in found:
            claims, conditions = d.verify().claims, tuple(str(c) for c in d.domain)
            found[registry.owner(d.id)] = Entry(
                registry.owner(d.id), d.title, claims, conditions, (d.source,), "derived"
            )
    for c in selection.checks:
        found.setdefault(registry.owner(c.id), Entry(registry.owner(c.id), c.claim, (), (), (c.source,), "checked"))
    return tuple(found.values())


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
