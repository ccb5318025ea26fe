"""The derivation engine: steps that are verified one by one, and printed from the expressions that were verified.

A derivation is a chain of expressions. Every step says how its expression follows from the one before (a relation) and
why (a reason, in words). `verify` tries, in this order: an exact proof by SymPy; ball arithmetic, for constants; both
sides at random admissible points to 25 digits. It records which one held; a step that none of them decides fails.
Formulas are never typed as text, so what is printed is what was verified.

    from theory import symbols as s
    from bulkedge.theory.spectra.marchenko_pastur import edges

    def steps():
        yield Step(Eq(c * x * m**2 + (x + c - 1) * m + 1, 0), reason="the Stieltjes equation at scale one")
        yield Step(discriminant, Apply(lambda e: sp.discriminant(e.lhs, m)), "its discriminant in m")
        yield Step((1 + sqrt(c)) ** 2, Root(x), "the density starts where the discriminant vanishes")

    DERIVATIONS = (Derivation("R1.edges", "Edges of the bulk", claim=edges, steps=steps, source="...",
                              domain=(c < 1,)),)

`claim` is a function of theory/ that returns the statement, an expression or an equation (or several): an expression
must be a member of a chain; both sides of an equation must lie in one stretch of equalities, or its left side is the
symbol that a Root step solved for, or the name that the stretch's first step gave to its expression (name=...). Claims
are printed with both sides, so name what a chain computes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bulkedge.derivations.engine.relations import (
    Apply,
    Asymptotic,
    Compare,
    DerivationError,
    Equal,
    Given,
    Primitive,
    Relation,
    Root,
    Step,
    Substitute,
    Tends,
    Using,
    named,
    weakest,
)
from bulkedge.derivations.engine.render import as_latex, as_markdown, as_text
from bulkedge.derivations.engine.verified import Stated, Verified
from bulkedge.derivations.engine.verify import Domain, Refuted, Undecided, equal

# The relations too, so that a derivation has all its words from here.
__all__ = [
    "Apply",
    "Asymptotic",
    "Compare",
    "Derivation",
    "DerivationError",
    "Equal",
    "Given",
    "Primitive",
    "Relation",
    "Root",
    "Step",
    "Substitute",
    "Tends",
    "Using",
    "Verified",
    "named",
    "weakest",
]


@dataclass(frozen=True)
class Derivation(Stated):
    """A statement derived: verified step by step, then printed."""

    def verify(self) -> Verified:
        """Verify every step and that the claim is reached. Errors: DerivationError names the step."""
        return _verify(self)

    def latex(self) -> str:
        """The derivation as LaTeX, verified first: the claim and an align environment with reason and evidence."""
        return as_latex(self.verify())

    def text(self) -> str:
        """The derivation as plain text, verified first."""
        return as_text(self.verify())

    def _repr_markdown_(self) -> str:
        return as_markdown(self.verify())


@functools.cache
def _verify(derivation: Derivation) -> Verified:
    return verify_after(derivation, 0)


def verify_after(derivation: Derivation, known: int) -> Verified:
    """As `Derivation.verify`, where the first `known` steps are those of a derivation in which they held.

    They are not verified again, so `how` speaks of the steps after them alone.
    """
    names: dict[Any, Any] = {}
    seen: set[Any] = set()
    done: list[tuple[Step, Relation, str]] = []
    chains: list[list[Any]] = []
    links: list[list[Relation]] = []
    steps, claims = tuple(derivation.steps()), _claims(derivation)
    for number, step in enumerate(steps, 1):
        expression = sp.sympify(step.expression, strict=True)
        if expression in (sp.true, sp.false):
            raise DerivationError(
                f"{derivation.id}, step {number}: SymPy reads the relation as {expression}: no content"
            )
        relation = step.resolved() if number > 1 or isinstance(step.relation, Relation) else Given()
        domain = Domain(derivation.domain, f"{derivation.id}:{number}")
        if relation.name is not None and isinstance(relation, Equal | Compare | Using):
            raise DerivationError(f"{derivation.id}, step {number}: what equals a line has its name")
        if relation.name in seen:
            raise DerivationError(f"{derivation.id}, step {number}: {relation.name} has occurred before")
        if isinstance(relation, Given):
            if relation.define is not None:
                if relation.define in seen or expression.has(relation.define):
                    raise DerivationError(f"{derivation.id}, step {number}: {relation.define} has occurred before")
                names[relation.define] = _expand(expression, names)
            else:
                chains.append([])
                links.append([])
            way = relation.check(None, expression, domain)
        elif not chains:
            raise DerivationError(f"{derivation.id}, step {number}: nothing before it to follow from")
        elif number <= known:
            way = "exact"
        else:
            before = chains[-1][-1]
            try:
                way = relation.check(_expand(before, names), _expand(expression, names), domain)
            except Undecided as error:
                text = (
                    f"{derivation.id}, step {number} ({step.reason}): {before} {relation.plain} {expression}: {error}"
                )
                parts = len(steps) + len(claims)
                raise DerivationError(text, number - 1, parts, isinstance(error, Refuted)) from None
        if not (isinstance(relation, Given) and relation.define is not None):
            chains[-1].append(expression)
            links[-1].append(relation)
        seen |= {*sp.preorder_traversal(expression), named(relation)} - {None}
        done.append((Step(expression, relation, step.reason), relation, way))
    runs = [run for chain, kinds in zip(chains, links, strict=True) for run in _runs(chain, kinds)]
    expanded = [_Run(run.symbol, tuple(_expand(e, names) for e in run.members), run.orders) for run in runs]
    reached: list[str] = []
    for claim in claims:
        how = _reached(derivation, claim, runs, expanded)
        if how is None:
            text = f"{derivation.id}: no chain of steps reaches the claim {claim}"
            raise DerivationError(text, len(steps) + len(reached), len(steps) + len(claims))
        reached.append(how)
    return Verified(derivation, claims, tuple(done), tuple(reached))


def _claims(derivation: Derivation) -> tuple[Any, ...]:
    claimed = derivation.claim()
    claims = tuple(claimed) if isinstance(claimed, tuple | list | sp.Tuple) else (sp.sympify(claimed, strict=True),)
    if any(claim in (sp.true, sp.false) for claim in claims):
        raise DerivationError(f"{derivation.id}: SymPy reads the claim as a truth value: no content")
    return claims


def _expand(expression: Any, names: Mapping[Any, Any]) -> Any:
    return expression.xreplace(dict(names))


@dataclass(frozen=True)
class _Run:
    """A stretch of a chain in which each member equals (or is bounded by) the one before.

    `symbol` is what the members are values of, where the stretch begins with a Root or with a named result. `orders`
    are the relations used.
    """

    symbol: Any
    members: tuple[Any, ...]
    orders: frozenset[str]


def _runs(chain: list[Any], links: list[Relation]) -> list[_Run]:
    runs: list[_Run] = []
    for member, link in zip(chain, links, strict=True):
        if isinstance(link, Equal | Compare | Using) and runs:
            order = link.order if isinstance(link, Compare) else "="
            runs[-1] = _Run(runs[-1].symbol, (*runs[-1].members, member), runs[-1].orders | {order})
        else:
            runs.append(_Run(named(link), (member,), frozenset("=")))
    return runs


def _reached(derivation: Derivation, claim: Any, runs: list[_Run], expanded: list[_Run]) -> str | None:
    """How the claim is reached: literally; or both of its sides lie in one stretch of equalities; or it ends one."""
    domain = Domain(derivation.domain, f"{derivation.id}:claim")
    order = {"==": "="}.get(getattr(claim, "rel_op", "="), getattr(claim, "rel_op", "="))
    called = [pair for pair in zip(runs, expanded, strict=True) if pair[0].symbol == getattr(claim, "lhs", claim)]
    for run, full in called or zip(runs, expanded, strict=True):
        if any(claim == e for e in (*run.members, *full.members)):
            return "exact"
        if not run.orders <= {"=", order}:
            continue
        members = list({e: None for e in (*full.members, *run.members) if not isinstance(e, sp.Rel)})
        try:
            if isinstance(claim, sp.Rel):
                left = "exact" if claim.lhs == run.symbol else _first(claim.lhs, members, domain)
                return weakest([left, _first(claim.rhs, members, domain)])
            return _first(claim, members, domain)
        except Undecided:
            continue
    return None


def _first(target: Any, members: list[Any], domain: Domain) -> str:
    if target in members:
        return "exact"
    # From the end of the chain; integrals, which are slow to evaluate, last.
    order = sorted(range(len(members)), key=lambda i: (bool(members[i].has(sp.Integral)), -i))
    for member in (members[i] for i in order):
        try:
            return equal(member, target, domain)
        except Undecided:
            continue
    raise Undecided("no member of the chain equals it")
