"""Values put for symbols: what a reader gives is read exactly, and must keep the symbols' assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.theory.numbers.enclosure import Enclosure

    Constants = Mapping[sp.Symbol, Enclosure]

_ASSUMPTIONS = ("integer", "positive", "negative", "nonnegative", "nonpositive", "real")


def assumptions(symbol: sp.Symbol) -> str:
    """What is known of a symbol, in as few words as say it all: "positive", "integer positive", "real"."""
    words = ["integer"] if symbol.is_integer else []
    words += [w for w in _ASSUMPTIONS[1:] if getattr(symbol, f"is_{w}")][:1]
    return " ".join(words)


def read_values(values: tuple[Any, ...], symbols: frozenset[Any]) -> dict[Any, Any]:
    """What is put for which symbol, exactly: (symbol, value), or one mapping or pairs; names stand for their symbols.

    Errors: InputError for a name that is not there, and for a value that contradicts the symbol's assumptions.
    """
    import sympy as sp

    from bulkedge.theory.functions.parse import number, shorten
    from bulkedge.theory.numbers.errors import InputError

    known = {s.name: s for s in symbols}
    found = {}
    for key, value in dict([values] if len(values) == 2 else values[0]).items():
        name = key.name if isinstance(key, sp.Symbol) else str(key)
        if name not in known:
            raise InputError(
                shorten(name), "there is no such symbol", f"there are {', '.join(sorted(known)) or 'none'}"
            )
        symbol = known[name]
        value = getattr(value, "exact", None) or getattr(value, "value", value)  # a Number
        held = value if isinstance(value, sp.Expr) and not value.is_Rational else number(value, name)
        if held.atoms(sp.Float):
            held = held.xreplace({f: sp.Rational(str(f)) for f in held.atoms(sp.Float)})
        for word in _ASSUMPTIONS:
            if getattr(symbol, f"is_{word}") and getattr(held, f"is_{word}") is False:
                raise InputError(name, f"{shorten(held)} is not {word}", "give a value within its assumptions")
        found[symbol] = held
    return found


def substituted(expr: sp.Expr, values: Mapping[Any, Any], constants: Constants, digits: int) -> sp.Expr | Enclosure:
    """An expression with values put for symbols; `constants` are symbols that stand for enclosed numbers.

    Errors: InputError where the expression has no value there.
    """
    import sympy as sp

    from bulkedge.theory.numbers.errors import InputError

    found: sp.Expr = expr.subs(values, simultaneous=True) if values else expr
    if found.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise InputError("subs", f"{expr} has no value there", "give admissible values")
    left = found.free_symbols
    return _enclosed(found, constants, digits) if left and left <= set(constants) else found


def _enclosed(expr: sp.Expr, constants: Constants, digits: int) -> Enclosure:
    """An expression in enclosed constants, to what their errors allow."""
    from flint import arb

    from bulkedge.theory.numbers import ball

    with ball.precision(ball.bits(digits + 20)):
        env = {
            s: arb(ball.rational(x.value), ball.rational(x.error))
            for s, x in constants.items()
            if s in expr.free_symbols
        }
        return ball.to_enclosure(ball.constant(expr, env))
