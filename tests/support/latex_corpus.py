"""Everything that the toolkit prints as LaTeX: statements, derivations, general terms, and every command's --latex."""

from __future__ import annotations

import functools
from typing import Any

import sympy as sp

from bulkedge import registry
from theory import catalogue
from theory.hermite import general_term
from theory.nonlinearity import nonlinearity


def parts(expression: Any) -> list[Any]:
    """An equation's sides, a tuple's members; else the expression itself."""
    if isinstance(expression, sp.Rel):
        return [*parts(expression.lhs), *parts(expression.rhs)]
    if isinstance(expression, sp.Tuple | tuple | list):
        return [p for e in expression for p in parts(e)]
    return [expression]


@functools.cache
def formulas() -> tuple[tuple[str, Any], ...]:
    """(where it comes from, the formula)."""
    found: list[tuple[str, Any]] = [(st.id, st.expression()) for st in registry.statements()]
    for d in registry.derivations():
        # Not verified here: that is the derivations' own test, and takes longer.
        found.append((f"{d.id}:claim", d.claim()))
        found += [(f"{d.id}:{i}", sp.sympify(step.expression, strict=True)) for i, step in enumerate(d.steps(), 1)]
    for entry in catalogue.CATALOGUE.values():
        f = nonlinearity(entry.name)
        found.append((entry.name, f.expr))
        term = general_term(f, "probabilist")
        if term is not None:
            found.append((f"{entry.name}:term", term))
    return tuple(found)
