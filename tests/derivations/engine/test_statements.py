"""Statements and derivations fit together: what a statement prints is the last line of one of its derivations."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

import bulkedge
from bulkedge import registry
from bulkedge.book.selection import entries, select
from bulkedge.derivations.engine.derivation import Derivation, Given, Relation, named

DERIVED = (
    *(f"H{i}" for i in range(1, 5)),
    *(f"K{i}" for i in range(1, 4)),
    *(f"G{i}" for i in (1, 2, 4, 5, 6, 7, 10, 11, 12, 13)),
    *(f"O{i}" for i in range(1, 7)),
    *("M1", "M2", "L1"),
    *(f"T{i}" for i in range(1, 7)),
    *(f"R{i}" for i in range(1, 4)),
    *("E2", "E6", "E7", "E8", "E11", "E12", "E14"),
)
# Without a derivation of the formula: what kind of statement it is instead.
OTHERWISE = {
    "C1": "the fixed-point equations of paper P5, corrected and checked by simulation",
    "E13": "E12's risk at what features explain of a level, which is derived (E13.explained)",
    "G3": "a fourth moment, evaluated in theory/ and checked by simulation",
    "G8": "a projection, evaluated in theory/ and checked by quadrature",
    "G9": "a law proposed in place of training, checked by simulation",
    "R4": "the Tracy-Widom limit, taken from its sources",
    "R5": "the inverse map of O2, applied to given matrices",
}


def claims(derivation: Derivation) -> tuple[Any, ...]:
    """What is claimed; that it holds is test_verdict's."""
    claimed = derivation.claim()
    return tuple(claimed) if isinstance(claimed, tuple | list | sp.Tuple) else (claimed,)


def lines(derivation: Derivation) -> list[tuple[Any, Relation]]:
    """Each step's expression and relation, the first step a start."""
    steps = enumerate(derivation.steps())
    return [
        (sp.sympify(step.expression, strict=True), step.resolved() if i or step.relation != "=" else Given())
        for i, step in steps
    ]


def test_every_statement_is_here() -> None:
    assert sorted((*DERIVED, *OTHERWISE)) == sorted(st.id for st in registry.statements())


@pytest.mark.parametrize("id", DERIVED)
def test_a_derivation_ends_in_the_statement(id: str) -> None:
    (statement,) = (st for st in registry.statements() if st.id == id)
    own = [d for d in registry.derivations() if registry.owner(d.id) == id]
    ends = []
    for d in own:
        if statement.expression() in claims(d):
            line, relation = lines(d)[-1]
            name = named(relation)
            ends.append(
                line == statement.expression()
                or (name is not None and sp.Eq(name, line, evaluate=False) == statement.expression())
                or line in (statement.expression().lhs, statement.expression().rhs)
            )
    assert any(ends), f"no derivation of {id} ends in its formula"


@pytest.mark.parametrize("statement", registry.statements(), ids=lambda st: st.id)
def test_a_statement_names_its_left_side(statement: registry.Statement) -> None:
    assert isinstance(statement.expression(), sp.Rel)


def test_no_claim_is_a_starting_point() -> None:
    # A claim that repeats the line its chain begins with would be a definition, not a result.
    for d in registry.derivations():
        begun = [(line, r) for line, r in lines(d) if isinstance(r, Given) and r.define is None]
        starts = {(named(relation), line) for line, relation in begun}
        assert starts, d.id
        assert not starts & {(claim.lhs, claim.rhs) for claim in claims(d) if isinstance(claim, sp.Eq)}, d.id
        assert not {expression for _, expression in starts} & set(claims(d)), d.id


@pytest.mark.parametrize("statement", [st for st in registry.statements() if st.beside], ids=lambda st: st.id)
def test_what_stands_beside_a_formula_is_derived_and_shown(statement: registry.Statement) -> None:
    own = [d for d in registry.derivations() if registry.owner(d.id) == statement.id]
    claims = {claim for d in own for claim in d.verify().claims}
    shown = bulkedge.show(statement.id)
    for formula in statement.beside:
        assert formula() in claims
        assert str(formula()) in [text for text, _ in shown.beside]
        assert any(formula() in entry.claims for entry in entries(select([statement.id])))
