"""Which statements, derivations and checks a list of names means, for the book and the report."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bulkedge.theory.functions.parse import shorten
from bulkedge.theory.numbers.errors import InputError

if TYPE_CHECKING:
    from bulkedge.numerics.trials.check import Check
    from bulkedge.theory.numbers.statement import Erratum, Statement


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
        st.id: Entry(
            st.id,
            st.title,
            (_formula(st), *(function() for function in st.beside)),
            st.assumptions,
            st.sources,
            st.status,
            st.errata,
        )
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


def _formula(statement: Statement) -> Any:
    """The statement's formula; a user's own that cannot be read is unusable input."""
    try:
        return statement.expression()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        problem = f"the formula {str(statement.formula)[:60]!r} of {statement.id} cannot be read ({error})"
        raise InputError("FILE", problem, 'write "module:function", a function without arguments') from error


def select(names: str | Sequence[str]) -> Selection:
    """Everything whose ID is named, belongs to a named statement, or begins with a named prefix, and for a paper's
    letter ("F") every statement with that source; "FILE.py" adds the STATEMENTS, DERIVATIONS
    and CHECKS of a file of the user's own. No name: everything.

    Errors: InputError for a name that matches nothing.
    """
    from bulkedge import registry

    names = given(names)
    kinds: dict[str, tuple[Any, ...]] = {
        "STATEMENTS": registry.statements(),
        "DERIVATIONS": registry.derivations(),
        "CHECKS": registry.checks(),
    }
    if not names:
        return Selection(*kinds.values())
    chosen = gather(names, kinds, "nothing", "the statements are")
    owners = {registry.owner(id) for items in chosen.values() for id in items}
    chosen["STATEMENTS"].update((st.id, st) for st in kinds["STATEMENTS"] if st.id in owners)
    return Selection(*(tuple(sorted(items.values(), key=lambda i: registry.order(i.id))) for items in chosen.values()))


def given(names: str | Sequence[str], argument: str = "names") -> tuple[str, ...]:
    """The names as a tuple; a plain string is one name.

    Errors: InputError for what is no sequence of strings, and for an empty name (it would mean everything).
    """
    remedy = 'give an ID such as "H1", or a list of IDs'
    if isinstance(names, str):
        names = (names,)
    if not isinstance(names, list | tuple):
        raise InputError(argument, f"a {type(names).__name__} is no list of IDs", remedy)
    for name in names:
        if not isinstance(name, str):
            raise InputError(argument, f"a {type(name).__name__} is no ID", remedy)
        if not name.strip():
            raise InputError(argument, "an ID is empty", "leave it out, or give one such as H1")
    return tuple(names)


def gather(
    names: Sequence[str], kinds: Mapping[str, Sequence[Any]], nothing: str, known: str
) -> dict[str, dict[str, Any]]:
    """What the names mean, by kind and ID: of the registry's items and of those that the named files export.

    A name matches an ID, the IDs that continue it after a dot, or else those that begin with it; first as it is
    spelt, then in capitals. A paper's letter means every statement with that source as well. A file counts
    whole unless some of its own IDs are named.
    Errors: InputError for a name that matches nothing, with the nearest ID.
    """
    from bulkedge import registry
    from bulkedge.book import user_file

    files = [user_file.exports(name, tuple(kinds)) for name in names if name.endswith(".py")]
    available = {kind: [*(i for file in files for i in file[kind]), *items] for kind, items in kinds.items()}
    found: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    for name in names:
        if name.endswith(".py"):
            continue
        every = [item.id for items in available.values() for item in items]
        paper = of_paper(name)
        ids = matching(name, every) | {id for id in every if registry.owner(id) in paper}
        if not ids:
            owners = dict.fromkeys(registry.owner(i.id) for items in available.values() for i in items)
            near = nearest(name, [*owners, *(i.id for items in available.values() for i in items)])
            remedy = f"did you mean {near}?" if near else f"{known} {', '.join(owners)}"
            remedy += "" if files else "; an ID of your own needs its FILE.py beside it"
            raise InputError("ID", f"{nothing} is named {shorten(name)} or begins with it", remedy)
        for kind, items in available.items():
            found[kind].update((item.id, item) for item in items if item.id in ids)
    for own in files:
        if not any(item.id in found[kind] for kind, items in own.items() for item in items):
            for kind, exported in own.items():
                found[kind].update((item.id, item) for item in exported)
    return found


def of_paper(name: str) -> set[str]:
    """The statements that the paper of this letter is a source of ("F": paper F); empty where it is no paper's."""
    from bulkedge import registry
    from bulkedge.book.bibliography import cited

    return {st.id for st in registry.statements() if name.upper() in cited(st.sources)}


def matching(name: str, ids: Collection[str]) -> set[str]:
    """The IDs that a name means."""
    for fold in (str, str.casefold):
        wanted = fold(name)
        exact = {i for i in ids if fold(i) == wanted or fold(i).startswith(wanted + ".")}
        found = exact or {i for i in ids if fold(i).startswith(wanted)}
        if found:
            return found
    return set()


def nearest(name: str, ids: Collection[str]) -> str | None:
    """The ID that a misspelt name is closest to."""
    spelt = {i.casefold(): i for i in ids}
    near = difflib.get_close_matches(name.casefold(), spelt, n=1)
    return spelt[near[0]] if near else None
