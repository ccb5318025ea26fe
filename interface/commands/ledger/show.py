"""`bulkedge show ID`: one statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from bulkedge.arguments import Argument
from bulkedge.results.result import Result, Table
from bulkedge.theory.numbers.statement import Statement


@dataclass(frozen=True)
class ShowResult(Result):
    """A statement with the checks and derivations that belong to it."""

    command: ClassVar[str] = "show"
    statement: Statement
    formula: str
    formula_latex: str
    checks: tuple[tuple[str, str, str], ...]
    derivations: tuple[str, ...]
    files: tuple[str, ...]
    beside: tuple[tuple[str, str], ...] = ()

    def payload(self) -> dict[str, Any]:
        """`id`, `title`, `formula` (SymPy text), its name, `latex`, assumptions, status, files, checks, ..."""
        s = self.statement
        return {
            "id": s.id,
            "title": s.title,
            "status": s.status,
            "formula": self.formula,
            "latex": self.formula_latex,
            "assumptions": [*s.assumptions],
            "sources": [*s.sources],
            "checks": [dict(zip(("id", "claim", "control"), row, strict=True)) for row in self.checks],
            "derivations": [*self.derivations],
            "beside": [dict(zip(("formula", "latex"), row, strict=True)) for row in self.beside],
            "formula_name": s.formula_name,
            "files": [*self.files],
            "figure": s.figure,
            "errata": [
                {"printed": e.printed, "found": e.found, "corrected": e.corrected, "evidence": [*e.evidence]}
                for e in s.errata
            ],
        }

    def tables(self) -> tuple[Table, ...]:
        """The statement field by field, then its checks."""
        s = self.statement
        rows = [
            ("formula", self.formula),
            *(("beside it", text) for text, _ in self.beside),
            ("formula's name", s.formula_name),
            *(("file", a) for a in self.files),
            *(("assumption", a) for a in s.assumptions),
            ("status", s.status),
            *(("source", a) for a in s.sources),
            *(("derivation", a) for a in self.derivations),
            *(("erratum", f"printed: {e.printed}; found: {e.found}; corrected: {e.corrected}") for e in s.errata),
        ]
        statement = Table(("field", s.id), tuple(rows), title=f"{s.id}  {s.title}")
        if not self.checks:
            return (statement,)
        return (statement, Table(("check", "claim", "negative control"), self.checks))

    def latex(self) -> str:
        """The formula."""
        return self.formula_latex


def show(id: Annotated[str, Argument("a statement, as listed by bulkedge list", "ID", place=True)]) -> ShowResult:
    """One statement: formula, assumptions, sources, checks with their controls, derivations, errata.

    Errors: InputError for an unknown ID.

    Example:

    >>> bulkedge.show("R1").statement.title
    'Marchenko-Pastur law: edges, density, atom, moments and transforms at any ratio and scale'
    """
    from bulkedge import registry
    from bulkedge.book.selection import nearest
    from bulkedge.derivations.engine.latex import latex
    from bulkedge.theory.functions.parse import shorten
    from bulkedge.theory.numbers.errors import InputError

    by_id = {s.id: s for s in registry.statements()}
    statement = by_id.get(str(id)) or by_id.get(str(id).upper())
    if statement is None:
        near = nearest(str(id), by_id)
        hint = f"did you mean {near}?" if near else f"the statements are {', '.join(by_id)}"
        raise InputError("ID", f"unknown statement {shorten(id)}", hint + " (bulkedge paper FILE.py writes your own)")
    id = statement.id
    expression = statement.expression()
    checks = tuple((c.id, c.claim, c.control.mistake) for c in registry.checks() if registry.owner(c.id) == id)
    derivations = tuple(f"{d.id}  {d.title}" for d in registry.derivations() if registry.owner(d.id) == id)
    files = tuple(registry.file_of(module) for modules in registry.homes(id).values() for module in modules)
    further = tuple((str(e), latex(e)) for e in (function() for function in statement.beside))
    return ShowResult(
        {"id": id}, "", (id,), (), statement, str(expression), latex(expression), checks, derivations, files, further
    )
