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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bulkedge.derivations.engine.verify import Domain, Refuted, Undecided, asymptotic, compare, equal, tends


class DerivationError(AssertionError):
    """A step of a derivation is wrong or could not be decided, or the chain does not reach its claim.

    `held` counts the steps and claims before it, of `parts`; `refuted` is False where nothing was decided.
    """

    def __init__(self, message: str, held: int = 0, parts: int = 1, refuted: bool = True) -> None:
        super().__init__(message)
        self.held, self.parts, self.refuted = held, parts, refuted


@dataclass(frozen=True)
class Relation:
    """How an expression follows from the one before it. `sign` is its LaTeX, `plain` the same in text.

    `name` is what the result is called, where the relation gives a new one (a start, a root, a limit, a value).
    """

    sign: str = field(default="=", init=False)
    plain: str = field(default="=", init=False)
    name: Any = field(default=None, kw_only=True)

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """How it was verified; raises Undecided where it was not."""
        raise NotImplementedError


@dataclass(frozen=True)
class Equal(Relation):
    """The expression equals the one before. `cases` are substitutions that together cover all values (parities)."""

    cases: tuple[Mapping[Any, Any], ...] = ({},)

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """Equality in every case; for equations, of both sides."""
        ways = []
        for case in self.cases:
            a, b = before.subs(case), after.subs(case)
            if isinstance(a, sp.Rel) != isinstance(b, sp.Rel):
                raise Undecided("an equation does not equal an expression")
            pairs = [(a.lhs, b.lhs), (a.rhs, b.rhs)] if isinstance(a, sp.Rel) else [(a, b)]
            ways += [equal(x, y, domain) for x, y in pairs]
        return weakest(ways)


@dataclass(frozen=True)
class Compare(Relation):
    """An inequality with the expression before: `Compare("<=")` says before <= after."""

    order: str = "<="

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", self.order)
        object.__setattr__(self, "sign", {"<=": r"\leq", ">=": r"\geq"}.get(self.order, self.order))

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """By the sign of the difference."""
        return compare(before, after, self.order, domain)


@dataclass(frozen=True)
class Tends(Relation):
    """The limit of the expression before, as `symbol` tends to `point` (from the side `side`, "+" or "-")."""

    symbol: Any
    point: Any = sp.oo
    side: str = "+"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sign", r"\longrightarrow")
        object.__setattr__(self, "plain", f"-> ({self.symbol} -> {self.point})")

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """SymPy's limit, else the gap along a sequence of points."""
        return tends(before, after, self.symbol, self.point, self.side, domain)


@dataclass(frozen=True)
class Asymptotic(Relation):
    """The ratio to the expression before tends to 1, as `symbol` tends to `point`."""

    symbol: Any
    point: Any = sp.oo

    def __post_init__(self) -> None:
        object.__setattr__(self, "sign", r"\sim")
        object.__setattr__(self, "plain", f"~ ({self.symbol} -> {self.point})")

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """SymPy's limit of the ratio, else its gap along a sequence of points."""
        return asymptotic(before, after, self.symbol, self.point, domain)


@dataclass(frozen=True)
class Root(Relation):
    """A value of `symbol` that satisfies the equation before (an Eq, or an expression that is to vanish)."""

    symbol: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "sign", r"\Longrightarrow")
        object.__setattr__(self, "plain", "=>")

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """Substitute and compare both sides."""
        lhs, rhs = (before.lhs, before.rhs) if isinstance(before, sp.Eq) else (before, sp.Integer(0))
        return equal(lhs.subs(self.symbol, after), rhs.subs(self.symbol, after), domain)


@dataclass(frozen=True)
class Using(Relation):
    """Equal to the expression before by an equation: at every value of `symbol` that solves it."""

    equation: Any
    symbol: Any

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """Solve the equation for the symbol, put each solution into both, and compare."""
        solutions = sp.solve(self.equation, self.symbol)
        if not solutions:
            raise Undecided(f"the equation was not solved for {self.symbol}")
        return weakest(
            [Equal().check(before.subs(self.symbol, v), after.subs(self.symbol, v), domain) for v in solutions]
        )


@dataclass(frozen=True)
class Substitute(Relation):
    """The expression before with values put in for symbols."""

    values: Mapping[Any, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sign", r"\Longrightarrow")
        object.__setattr__(self, "plain", "=>")

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """Substitute simultaneously and compare."""
        return Equal().check(before.subs(self.values, simultaneous=True), after, domain)


@dataclass(frozen=True)
class Apply(Relation):
    """A function of the expression before: a derivative, a coefficient, a discriminant, a series to some order."""

    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sign", r"\Longrightarrow")
        object.__setattr__(self, "plain", "=>")

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """Apply and compare."""
        return Equal().check(self.function(before), after, domain)


@dataclass(frozen=True)
class Primitive(Relation):
    """The function of `symbol` whose derivative is the expression before and which is `value` at `at`."""

    symbol: Any
    at: Any
    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "sign", r"\Longrightarrow")
        object.__setattr__(self, "plain", "=>")

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """Differentiate, and compare; then compare the values."""
        at = equal(after.subs(self.symbol, self.at), sp.sympify(self.value, strict=True), domain)
        return weakest([equal(after.diff(self.symbol), before, domain), at])


@dataclass(frozen=True)
class Given(Relation):
    """The start of a chain. With `define` it introduces what has not occurred before (a symbol, or a head such as
    E(f(z))) as a name for the expression, to be put in for it; `kind` says what sort of agreement that is. With `name`
    the chain's first expression is the value of what is named.
    """

    define: Any = None
    kind: str = "definition"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sign", "")
        object.__setattr__(self, "plain", "")

    def check(self, before: Any, after: Any, domain: Domain) -> str:
        """Nothing to verify."""
        return self.kind if self.define is not None else "start"


def named(relation: Relation) -> Any:
    """What a step's expression is called: the result's name, the name defined, the symbol solved for; or None."""
    if relation.name is not None:
        return relation.name
    if isinstance(relation, Given):
        return relation.define
    return relation.symbol if isinstance(relation, Root) else None


NAMED = {"=": Equal(), "<=": Compare("<="), ">=": Compare(">="), "<": Compare("<"), ">": Compare(">")}


@dataclass(frozen=True)
class Step:
    """One step: the expression reached, how it follows from the one before, and the reason in words.

    `relation` is a Relation or one of "=", "<=", ">=", "<", ">". The first step of a derivation starts a chain, and so
    does every step whose relation is Given().
    """

    expression: Any
    relation: Relation | str = "="
    reason: str = ""

    def resolved(self) -> Relation:
        """The relation as an object."""
        if isinstance(self.relation, Relation):
            return self.relation
        if self.relation not in NAMED:
            raise DerivationError(f"unknown relation {self.relation!r}; the named ones are {', '.join(NAMED)}")
        return NAMED[self.relation]


@dataclass(frozen=True)
class Verified:
    """A derivation all of whose steps held, with how each was verified."""

    derivation: Derivation
    claims: tuple[Any, ...]
    steps: tuple[tuple[Step, Relation, str], ...]
    reached: tuple[str, ...]

    @property
    def how(self) -> str:
        """The weakest evidence in the chain: "exact" only if every step is."""
        return weakest([*(way for _, _, way in self.steps), *self.reached])


@dataclass(frozen=True)
class Derivation:
    """A statement derived: verified step by step, then printed.

    `id` begins with the statement's ID ("R1.edges" belongs to R1). `claim` and `steps` are functions, so that nothing
    is computed before it is needed. `domain` holds conditions under which the steps are claimed, as SymPy relations.
    `notation` says in words what the letters mean.
    """

    id: str
    title: str
    claim: Callable[[], Any]
    steps: Callable[[], Iterable[Step]]
    source: str
    domain: tuple[Any, ...] = ()
    notation: str = ""

    def verify(self) -> Verified:
        """Verify every step and that the claim is reached. Errors: DerivationError names the step."""
        return _verify(self)

    def latex(self) -> str:
        """The derivation as LaTeX, verified first: the claim and an align environment with reason and evidence."""
        from bulkedge.derivations.engine.render import as_latex

        return as_latex(self.verify())

    def text(self) -> str:
        """The derivation as plain text, verified first."""
        from bulkedge.derivations.engine.render import as_text

        return as_text(self.verify())

    def _repr_markdown_(self) -> str:
        from bulkedge.derivations.engine.render import as_markdown

        return as_markdown(self.verify())


@functools.cache
def _verify(derivation: Derivation) -> Verified:
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
        else:
            if not chains:
                raise DerivationError(f"{derivation.id}, step {number}: nothing before it to follow from")
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


def weakest(ways: list[str]) -> str:
    """The weakest of several kinds of evidence."""
    order = ["checked", "enclosure", "exact"]
    return min(ways, key=lambda way: next((i for i, kind in enumerate(order) if way.startswith(kind)), len(order)))
