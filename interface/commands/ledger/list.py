"""`bulkedge list`: the statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bulkedge.results.result import Result, Table


@dataclass(frozen=True)
class ListResult(Result):
    """The statements, one row each: (id, title, status, checks, sources)."""

    command: ClassVar[str] = "list"
    statements: tuple[tuple[str, str, str, int, str], ...]

    def payload(self) -> dict[str, Any]:
        """`statements`: list of id, title, status, checks (their number), sources."""
        keys = ("id", "title", "status", "checks", "sources")
        return {"statements": [dict(zip(keys, row, strict=True)) for row in self.statements]}

    def tables(self) -> tuple[Table, ...]:
        """One row per statement."""
        rows = tuple((i, t, s, str(n), src) for i, t, s, n, src in self.statements)
        return (Table(("ID", "statement", "status", "checks", "source"), rows),)

    def latex(self) -> str:
        """A two-column array of IDs and titles."""
        from bulkedge.derivations.engine.render import escape

        body = r" \\ ".join(rf"\text{{{i}}} & \text{{{escape(t)}}}" for i, t, *_ in self.statements)
        return rf"\begin{{array}}{{ll}} {body} \end{{array}}"


def list() -> ListResult:
    """All statements of the registry.

    Example:

    >>> bulkedge.list().payload()["statements"][0]["title"]
    'Hermite coefficients in closed form, and their general term'
    """
    from bulkedge import registry

    owners = [registry.owner(check.id) for check in registry.checks()]
    rows = tuple((s.id, s.title, s.status, owners.count(s.id), "; ".join(s.sources)) for s in registry.statements())
    return ListResult({}, "", (), (), rows)
