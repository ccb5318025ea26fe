"""The steps of a derivation and the relations between them: how an expression follows from the one before, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bulkedge.derivations.engine.verify import Domain, Undecided, asymptotic, compare, equal, tends
from bulkedge.theory.numbers.marked import read_marks


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


_NAMED = {"=": Equal(), "<=": Compare("<="), ">=": Compare(">="), "<": Compare("<"), ">": Compare(">")}


@dataclass(frozen=True)
class Step:
    """One step: the expression reached, how it follows from the one before, and the reason in words.

    `relation` is a Relation or one of "=", "<=", ">=", "<", ">". The first step of a derivation starts a chain, and so
    does every step whose relation is Given().
    """

    expression: Any
    relation: Relation | str = "="
    reason: str = ""

    def __post_init__(self) -> None:
        read_marks(self, "reason")

    def resolved(self) -> Relation:
        """The relation as an object."""
        if isinstance(self.relation, Relation):
            return self.relation
        if self.relation not in _NAMED:
            raise DerivationError(f"unknown relation {self.relation!r}; the named ones are {', '.join(_NAMED)}")
        return _NAMED[self.relation]


def weakest(ways: list[str]) -> str:
    """The weakest of several kinds of evidence."""
    order = ["checked", "enclosure", "exact"]
    return min(ways, key=lambda way: next((i for i, kind in enumerate(order) if way.startswith(kind)), len(order)))
