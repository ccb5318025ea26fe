"""Everything that the toolkit prints as LaTeX: statements, derivations, general terms, and every command's --latex."""

from __future__ import annotations

import functools
from typing import Any

import sympy as sp

from bulkedge import registry
from bulkedge.book import book
from bulkedge.derivations.engine.derivation import Relation, named
from bulkedge.theory.functions import catalogue
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.hermite import general_term
from bulkedge.theory.steps.scaling import PAPERS, ridge_factor, step_factor


def parts(expression: Any) -> list[Any]:
    """An equation's sides, a tuple's members; else the expression itself."""
    if isinstance(expression, sp.Rel):
        return [*parts(expression.lhs), *parts(expression.rhs)]
    if isinstance(expression, sp.Tuple | tuple | list):
        return [p for e in expression for p in parts(e)]
    return [expression]


@functools.cache
def conditions() -> dict[str, tuple[Any, ...]]:
    """The conditions under which a derivation's formulas are claimed, by its ID."""
    return {d.id: d.domain for d in registry.derivations()}


@functools.cache
def formulas() -> tuple[tuple[str, Any], ...]:
    """(where it comes from, the formula)."""
    found: list[tuple[str, Any]] = [(st.id, st.expression()) for st in registry.statements()]
    for d in registry.derivations():
        # Not verified here: that is the derivations' own test, and takes longer.
        found.append((f"{d.id}:claim", d.claim()))
        for i, step in enumerate(d.steps(), 1):
            found.append((f"{d.id}:{i}", sp.sympify(step.expression, strict=True)))
            name = named(step.relation) if isinstance(step.relation, Relation) else None
            if name is not None:
                found.append((f"{d.id}:{i}:name", name))
        found += [(f"{d.id}:condition", condition) for condition in d.domain if condition != sp.true]
    for entry in catalogue.CATALOGUE.values():
        f = nonlinearity(entry.name)
        found.append((entry.name, f.expr))
        term = general_term(f, "probabilist")
        if term is not None:
            found.append((f"{entry.name}:term", term))
    found += [("book:notation", sp.sympify(letters)) for letters, _ in book.NOTATION]
    found += [(f"book:{name}", expression) for name, expression in book.CONVENTIONS]
    for key, paper in PAPERS.items():
        found += [(f"book:{key}:step", step_factor(key, "O"))] if paper.rate is not None else []
        found += [(f"book:{key}:ridge", ridge_factor(key, "O"))] if paper.ridge is not None else []
        found += [(f"book:{key}:{name}", sp.sympify(value)) for name, value in paper.ratios.items()]
    return tuple(found)
