"""Results with symbols: their expressions by name, and the program of a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bulkedge.results.number import Number
from bulkedge.results.quantities import TRANSPARENT, Frozen, Quantities, numbers
from bulkedge.results.substitution import assumptions

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.theory.numbers.enclosure import Enclosure

    Constants = Mapping[sp.Symbol, Enclosure]


def free_symbols(quantities: Quantities) -> frozenset[Any]:
    """All symbols in the exact expressions."""
    return frozenset().union(*(x.free_symbols for x in numbers(quantities)))


def mapped(value: Any, function: Callable[[Number], Any]) -> Any:
    """The quantities with every Number replaced."""
    if isinstance(value, Number):
        return function(value)
    if isinstance(value, Quantities):
        return type(value)({name: mapped(item, function) for name, item in value.items()})
    return type(value)(mapped(item, function) for item in value) if isinstance(value, tuple) else value


def without_values(quantities: Quantities) -> Quantities:
    """The quantities as the JSON has them where symbols are left: none has a value, also where it is a constant."""
    found: Quantities = mapped(
        quantities, lambda x: x if x.exact is None else Number.without_value(x.exact, x.digits, x.measured)
    )
    return found


def expressions(quantities: Mapping[str, Any]) -> Frozen:
    """The expressions by name, nested as `exact` is in the JSON; a number that is not exact stands as its decimal."""
    import sympy as sp

    found: dict[str, Any] = {}
    for name, value in quantities.items():
        if isinstance(value, Number):
            if value.exact is not None:
                found[name] = value.exact
            elif not value.is_array:
                found[name] = sp.Float(value.decimal(), max(17, value.digits))
        elif isinstance(value, Quantities):
            inner = expressions(value)
            found |= inner if name in TRANSPARENT else {name: inner} if inner else {}
        elif isinstance(value, tuple) and value and all(isinstance(item, Number) for item in value):
            entries = expressions({str(i): item for i, item in enumerate(value)})
            if len(entries) == len(value):
                found[name] = tuple(entries.values())
    return Frozen(found)


def program(
    command: str,
    quantities: Quantities,
    inputs: Mapping[str, Any],
    about: tuple[str, ...],
    constants: Constants,
) -> str:
    """The program of a result: one function of the free symbols."""
    from bulkedge.numerics.functions.program import program as text

    free = sorted(free_symbols(quantities) - set(constants), key=lambda s: s.name)
    doc = [about[0], ""]
    doc += [f"{s.name}: {assumptions(s)}" for s in free]
    doc += [
        f"{name} = {value}" for name, value in inputs.items() if value is not None and name not in ("positive", "real")
    ]
    doc += about[1:]
    return text(command, expressions(quantities), doc, floats(constants))


def floats(constants: Constants) -> dict[Any, float]:
    """The constants as floats."""
    return {s: float(Fraction(x.value)) for s, x in constants.items()}
