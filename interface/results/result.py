"""Result: what every command returns -- a frozen value that prints itself as a table, JSON, LaTeX, CSV or a picture.

This module imports nothing heavy, so that `bulkedge --help` stays quick.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.results.number import Number
from bulkedge.results.quantities import COLUMNS, Frozen, Quantities, Table, frozen, payload, plain, rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["Frozen", "Result", "Table"]


@dataclass(frozen=True)
class Result:
    """The base of all results.

    `inputs` are the inputs as they were read (strings and integers), `setting` the conventions and scalings that
    give the numbers their meaning, `source` the statement IDs, `notes` what is proved or conjectured and in which
    limit. Subclasses add what was computed and state their `quantities`, by the JSON's names: JSON, tables and LaTeX
    follow, and each quantity is an attribute (`spike(...).outlier`), a Number where it is a real number.
    """

    command: ClassVar[str]

    inputs: Mapping[str, Any]
    setting: str
    source: tuple[str, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) in (dict, list, tuple):
                object.__setattr__(self, field.name, frozen(value))

    def quantities(self) -> Mapping[str, Any]:
        """The command's own quantities by their JSON names: Numbers, words, counts, and mappings and lists of them."""
        return {}

    @cached_property
    def _stated(self) -> Quantities:
        found = self.quantities()
        return found if isinstance(found, Quantities) else Quantities(found)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "inputs" not in self.__dict__ or name in ("quantities", "payload"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        if name == "series" and name not in self._stated:  # a quantity of that name comes first
            return self._series
        try:
            return getattr(self._stated, name)
        except AttributeError as error:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}: {error}") from None

    def __dir__(self) -> Sequence[str]:
        return sorted({*super().__dir__(), *self._stated})

    def payload(self) -> dict[str, Any]:
        """The command's own JSON fields (the public contract)."""
        return payload(self._shown)

    # -- symbols -------------------------------------------------------------------------------------------------

    def constants(self) -> Mapping[Any, Any]:
        """Symbols in the expressions that stand for enclosed numbers: moments without a closed form."""
        return {}

    @property
    def symbolic(self) -> bool:
        """Whether symbols are left in the quantities."""
        return bool(self.free_symbols)

    @property
    def free_symbols(self) -> frozenset[Any]:
        """The symbols that the quantities depend on."""
        from bulkedge.results.symbolic import free_symbols

        return free_symbols(self._stated) - set(self.constants())

    @property
    def expr(self) -> Frozen:
        """The quantities as SymPy expressions, by their JSON names (without `readings`)."""
        from bulkedge.results.symbolic import expressions

        return expressions(self._stated)

    def subs(self, *values: Any) -> Quantities:
        """The quantities with values put for symbols, `subs(x, 2)` or `subs({x: 2, "y": "1/3"})`.

        Errors: InputError for a symbol that is not there, and a value that contradicts its assumptions.
        """
        from bulkedge.results.substitution import read_values
        from bulkedge.results.symbolic import mapped

        given = read_values(values, self.free_symbols)
        found: Quantities = mapped(self._stated, lambda x: x.substituted(given, self.constants()))
        return found

    def lambdify(self) -> Callable[..., Any]:
        """A NumPy function of the free symbols that returns a dictionary of the quantities; arrays broadcast.

        By position in the order of the alphabet, or by name. Errors: ValueError where a quantity is not finite.
        """
        from bulkedge.numerics.functions.program import lambdified
        from bulkedge.results.symbolic import floats

        return lambdified(self.expr, floats(self.constants()))

    def python(self) -> str:
        """A program: one function of the free symbols that imports NumPy (SciPy for special functions)."""
        from bulkedge.results.symbolic import program

        about = (f"{self.setting} ({', '.join(self.source)})" if self.source else self.setting, *self.notes)
        return program(self.command, self._stated, self.inputs, about, self.constants())

    def _series(self, symbol: Any, point: Any = 0, order: int = 6, side: str = "+") -> Any:
        """Every quantity that depends on the symbol, expanded at a point; see Number.series."""
        from bulkedge.results.symbolic import mapped

        def expanded(x: Number) -> Any:
            names = {s.name for s in x.free_symbols}
            return x.series(symbol, point, order, side) if str(symbol) in names else x.exact

        return mapped(self._stated, expanded)

    @cached_property
    def _shown(self) -> Quantities:
        """The quantities as JSON has them."""
        from bulkedge.results.symbolic import without_values

        return without_values(self._stated) if self.symbolic else self._stated

    def tables(self) -> Sequence[Table]:
        """What the readable output shows; the first table is also the CSV."""
        return (Table(COLUMNS, tuple(rows(self._stated))),)

    def latex(self) -> str:
        """One LaTeX expression (no dollar signs) that needs standard packages only."""
        from bulkedge.derivations.engine.render import escape

        shown = ((name, value) for name, value in self._stated.items() if isinstance(value, Number))
        return r", \quad ".join(rf"\text{{{escape(name)}}} = {value.latex}" for name, value in shown)

    def figure(self) -> Figure | None:
        """The picture of the result, or None where there is no curve."""
        return None

    def plot(self, ax: Any = None) -> Figure:
        """The picture, drawn onto `ax` (matplotlib's axes; a list of them for several panels) or as a new figure.

        Errors: InputError for a result without a curve, and for axes that are not as many as the picture's panels.
        """
        from bulkedge.results.plotting import looking
        from bulkedge.theory.numbers.errors import InputError

        with looking(ax=ax):
            figure = self.figure()
        if figure is None:
            raise InputError("plot", f"this result of {self.command} has no curve", "plot one over a range")
        return figure

    def check_numbers(self, argument: str) -> None:
        """Refuse what needs numbers where symbols are left.

        Errors: InputError, naming them.
        """
        if self.symbolic:
            from bulkedge.theory.numbers.errors import InputError

            names = ", ".join(sorted(s.name for s in self.free_symbols))
            raise InputError(argument, f"the symbols {names} are left", "give them numbers")

    @property
    def exit_status(self) -> int:
        """0 fine; 1 a check failed; 3 the digits asked for were not reached."""
        return 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as a dictionary."""
        head = {"command": self.command, "inputs": self.inputs, "setting": self.setting}
        found: dict[str, Any] = plain({**head, "source": self.source, "notes": self.notes, **self.payload()})
        return found | self._of_symbols() if self.symbolic else found

    def _of_symbols(self) -> dict[str, Any]:
        from bulkedge.results.substitution import assumptions

        listed = sorted(self.free_symbols, key=lambda s: s.name)
        found: dict[str, Any] = {"symbolic": True, "symbols": {s.name: assumptions(s) for s in listed}}
        if self.constants():
            values = {s.name: Number.of(x) for s, x in self.constants().items()}
            found["symbols"] |= {s.name: assumptions(s) for s in self.constants()}
            found["moments"] = {name: {"value": x.decimal(), "error": x.bound()} for name, x in values.items()}
        return found

    def to_json(self) -> str:
        """The JSON object as a string; reals are decimal strings, so nothing is lost and nothing is nan."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        """What the command prints."""
        from bulkedge.results.readable import text

        return text(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        from bulkedge.results.readable import html

        return html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # All forms at once: IPython would take the dataclass's own repr for the plain text.
        return {"text/plain": str(self), "text/html": self._repr_html_(), "text/latex": self._repr_latex_()}
