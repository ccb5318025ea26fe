"""`bulkedge functions`: the catalogue of named functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.theory.functions.catalogue import Entry


@dataclass(frozen=True)
class FunctionsResult(Result):
    """The named functions, in the order of the catalogue, each with its formula in z and its parameters."""

    command: ClassVar[str] = "functions"
    names: tuple[str, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The catalogue's entries (they hold functions, which cannot be pickled)."""
        from bulkedge.theory.functions.catalogue import CATALOGUE

        return tuple(CATALOGUE[name] for name in self.names)

    def payload(self) -> dict[str, Any]:
        """`functions`: list of name, usage, description, formula (SymPy), parameters, aliases, kinked."""
        return {
            "functions": [
                {
                    "name": entry.name,
                    "usage": entry.usage,
                    "description": entry.text,
                    "formula": str(formula(entry)),
                    "parameters": [{"name": p.name, "default": str(p.default)} for p in entry.parameters],
                    "aliases": list(entry.aliases),
                    "kinked": entry.kinked,
                }
                for entry in self.entries
            ]
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per function."""
        rows = tuple(
            (
                entry.usage if entry.parameters else entry.name,
                entry.text,
                str(formula(entry)),
                ", ".join(entry.aliases),
            )
            for entry in self.entries
        )
        return (Table(("name", "function", "formula", "other names"), rows),)

    def latex(self) -> str:
        """A two-column array of names and formulas."""
        from bulkedge.derivations.engine.latex import latex
        from bulkedge.derivations.engine.render import escape

        body = r" \\ ".join(rf"\text{{{escape(e.name)}}} & {latex(formula(e))}" for e in self.entries)
        return rf"\begin{{array}}{{ll}} {body} \end{{array}}"


def formula(entry: Entry) -> sp.Expr:
    """The function of z, its parameters as symbols of their names."""
    import sympy as sp

    from bulkedge.theory.numbers.symbols import z

    return entry(z, *(sp.Symbol(p.name, real=True, positive=p.positive or None) for p in entry.parameters))


def functions() -> FunctionsResult:
    """The named functions that a FUNCTION may use, with formulas, parameters, defaults and other names.

    Example:

    >>> bulkedge.functions().payload()["functions"][1]["usage"]
    'leaky_relu(z, 1/100)'
    """
    from bulkedge.theory.functions.catalogue import CATALOGUE

    notes = (
        "alone or in an expression, with exact parameters: leaky_relu(2*z - 1, 1/5) + tanh(z)/2",
        "capitals and underscores in names do not matter, except in Phi: ReLU, LeakyReLU, Hard_Tanh",
    )
    return FunctionsResult({}, "", (), notes, tuple(CATALOGUE))
