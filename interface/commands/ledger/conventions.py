"""`bulkedge conventions`: the conventions, names and limits (CONVENTIONS.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bulkedge.results.result import Result, Table


@dataclass(frozen=True)
class ConventionsResult(Result):
    """The text of CONVENTIONS.md by sections: (title, text in Markdown)."""

    command: ClassVar[str] = "conventions"
    sections: tuple[tuple[str, str], ...]

    def payload(self) -> dict[str, Any]:
        """`sections`: list of title, text."""
        return {"sections": [{"title": title, "text": text} for title, text in self.sections]}

    def tables(self) -> tuple[Table, ...]:
        """One row per section."""
        return (Table(("section", "conventions"), self.sections),)

    def latex(self) -> str:
        """The conventions that are formulas: a two-column array of names and formulas."""
        from bulkedge.book.book import CONVENTIONS
        from bulkedge.derivations.engine.latex import latex
        from bulkedge.derivations.engine.render import escape

        body = r" \\ ".join(rf"\text{{{escape(name)}}} & {latex(formula)}" for name, formula in CONVENTIONS)
        return rf"\begin{{array}}{{ll}} {body} \end{{array}}"


def conventions() -> ConventionsResult:
    """The conventions: Hermite coefficients, names and symbols, functions, numbers and errors.

    Example:

    >>> bulkedge.conventions().sections[0][0]
    'Hermite coefficients'
    """
    from importlib.resources import files

    text = files("bulkedge").joinpath("conventions.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return ConventionsResult({}, "", (), (), tuple((title, body.strip()) for title, _, body in parts))
