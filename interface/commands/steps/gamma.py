"""`bulkedge gamma ACTIVATION LINK`: the feature covariance after one step, in three readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import (
    Count,
    Digits,
    NoiseOrSymbol,
    Numeric,
    ParametricActivation,
    ParametricLink,
    Positive,
    Real,
    RealNames,
    read,
)
from bulkedge.results.number import Number
from bulkedge.results.quantities import COLUMNS, row, rows
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.theory.numbers.enclosure import Enclosure


HAS_PROGRAM = True
_SHORT = 60  # characters of LaTeX: a longer cell of a table of numbers is a decimal


@dataclass(frozen=True)
class GammaResult(Result):
    """Gamma = A I + B w* w*^T as printed, for the rank-one update, and for the true one; and given the batch.

    `moments` are those without a closed form that the expressions hold as symbols.
    """

    command: ClassVar[str] = "gamma"
    averaged: tuple[tuple[str, Number, Number], ...]
    given_batch: tuple[tuple[str, Number], ...]
    exponents: Mapping[str, sp.Expr]
    moments: Mapping[sp.Symbol, Enclosure]
    reached: bool

    @property
    def exit_status(self) -> int:
        """3 if the digits asked for were not reached."""
        return 0 if self.reached else 3

    def constants(self) -> Mapping[sp.Symbol, Enclosure]:
        """The moments without a closed form."""
        return self.moments

    def quantities(self) -> dict[str, Any]:
        """`readings`: {printed, rank_one, full}, each {A, B}; `conditional`: G2's limits; `scaling` in zeta."""
        return {
            "readings": {name: {"A": A, "B": B} for name, A, B in self.averaged},
            "conditional": dict(self.given_batch),
            "scaling": {name: str(exponent) for name, exponent in self.exponents.items()},
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per reading; then the covariance given the batch."""
        given = Table(COLUMNS, tuple(rows(self.conditional)), "given the batch: spike along u = X^T y/n")
        if self.symbolic:
            listed = tuple(
                row(f"{name}, {letter}", x) for name, A, B in self.averaged for letter, x in (("A", A), ("B", B))
            )
            known = tuple((s.name, *row("", Number.of(x))[1:]) for s, x in self.moments.items())
            tables = (Table(COLUMNS, listed, "averaged over batches"), given)
            return (*tables, Table(COLUMNS, known, "moments without a closed form")) if known else tables
        averaged: tuple[tuple[str, ...], ...] = tuple(
            (name, A.decimal(), B.decimal(), A.bound(), B.bound()) for name, A, B in self.averaged
        )
        columns: tuple[str, ...] = ("reading", "A", "B", "error of A", "error of B")
        if all(x.expr is not None for _, A, B in self.averaged for x in (A, B)):
            columns += ("exact A", "exact B")
            averaged = tuple(
                (*cells, *(row("", x)[3] for x in (A, B)))
                for cells, (_, A, B) in zip(averaged, self.averaged, strict=True)
            )
        return (Table(columns, averaged, "averaged over batches"), given)

    def latex(self) -> str:
        """The three readings: formulas with symbols, else a table."""
        from bulkedge.derivations.engine.latex import latex, symbol_name

        if self.symbolic:
            return r", \quad ".join(
                rf"{symbol_name(f'{letter}_{name}')} = {latex(x.expr)}"
                for name, A, B in self.averaged
                for letter, x in (("A", A), ("B", B))
            )
        body = r" \\ ".join(
            rf"\text{{{name.replace('_', '-')}}} & {_cell(A)} & {_cell(B)}" for name, A, B in self.averaged
        )
        return rf"\begin{{array}}{{lrr}} & A & B \\ {body} \end{{array}}"


def _cell(x: Number) -> str:
    """The exact number where it is known and short, else a decimal."""
    return x.latex if x.expr is not None and len(x.latex) <= _SHORT else x.rounded_latex(8)


def gamma(
    activation: ParametricActivation,
    link: ParametricLink,
    n: Annotated[Numeric, Count("samples of the step", "N", low=1, letters=True)],
    m: Annotated[Numeric, Count("width", "M", low=1, letters=True)],
    d: Annotated[Numeric, Count("dimension", "D", low=2, letters=True)],
    step: Annotated[Numeric, Real("the paper's eta, a number", "ETA", letters=True)],
    noise: NoiseOrSymbol = 0,
    digits: Digits = 15,
    positive: Positive = None,
    real: RealNames = None,
) -> GammaResult:
    """The covariance Gamma/d of the weights after one step of size `step` (paper F's eta), Gamma = A I + B w* w*^T.

    `printed` is the paper's eq. (3.3); `rank_one` the exact second moment of w + (c1 eta/(n sqrt m)) a X^T y; `full`
    that of the true update: A - 1 to leading order in 1/d, B with all its terms of relative order 1/d.
    Valid for: continuous activations; the readings need no non-zero coefficient: where the link's first coefficient
    vanishes B keeps its terms of order 1/d, and `conditional` says that u loses w* (cosine 0).
    Sizes, step, noise and the functions may hold declared symbols: A and B are then formulas; a moment without a closed
    form stays a symbol, whose enclosure `moments` holds (a function with parameters has to have closed forms).
    Convention: weights N(0, I/d) before the step, a_j with E a_j = 0, E a_j^2 = 1/m, square loss with 1/2.
    Errors: InputError for sizes below 1 (d below 2), a negative noise, an activation with a jump; exit status 3 where
    the digits are not reached.
    Source: G1, G2 (paper F, eq. 3.3).

    Example:

    >>> found = bulkedge.gamma("relu", "tanh", n=200, m=100, d=100, step=30)
    >>> f"{found.rank_one.B:.12f}"
    '0.825441177200'
    """
    given = read(gamma, locals())
    import sympy as sp

    from bulkedge.theory.functions import parametric
    from bulkedge.theory.numbers import symbols
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps import covariance as c

    f, g, shown = given.activation, given.link, given.digits
    dimension, samples, width = (sp.sympify(x, strict=True) for x in (given.d, given.n, given.m))
    at = {symbols.eta: given.step, symbols.d: dimension, symbols.alpha: samples / dimension}
    at[symbols.beta] = width / dimension
    exact = c.exact_moments(f, g, given.noise)
    open_moments = {symbol for symbol, x in exact.items() if x is None}
    unknown = {symbol for symbol, x in exact.items() if x is None or c.link2 in x.free_symbols}
    held = set().union(*(x.free_symbols for x in exact.values() if x is not None))
    letters = set().union(*(x.free_symbols for x in (*at.values(), given.noise))) | (held - {c.link2})
    for h, said in ((f, "ACTIVATION"), (g, "LINK")):
        mine = parametric.symbols_of(h)
        if mine and any(x is None for symbol, x in exact.items() if c.belongs(symbol, h is f)):
            names = ", ".join(sorted(map(str, mine)))
            problem = f"a moment of {h.name} has no closed form in {names}"
            raise InputError(said, problem, f"give {names} a number")
    clash = sorted({s.name for s in letters} & {s.name for s in exact})
    if clash:
        raise InputError("step", f"{clash[0]} is a moment's name", "choose another letter")
    values = c.moments(f, g, given.noise, shown + 8) if open_moments and not letters else {}

    def number(expression: sp.Expr) -> Number:
        if not letters and not unknown.isdisjoint(expression.free_symbols):  # no formula: a number at once
            return Number.of(c.evaluate(expression, values, at, shown + 8), digits=shown)
        whole = c.inserted(expression, exact, at)
        if letters or not whole.free_symbols:
            return Number.of(whole, digits=shown)
        return Number.of(c.evaluate(expression, values, at, shown + 8), digits=shown)

    def quotient(expression: sp.Expr) -> Number:
        """With a numerator that may vanish together with the denominator: then 0."""
        above, below = sp.fraction(sp.together(expression))
        top, bottom = (c.inserted(x, exact, at) for x in (above, below))
        if top == 0 or letters or not (top.free_symbols | bottom.free_symbols):
            return Number.of(top if top == 0 else sp.cancel(top / bottom), digits=shown)
        return Number.of(c.ratio(*(c.evaluate(x, values, at, shown + 8) for x in (above, below))), digits=shown)

    rows = tuple((r.name, number(r.A), number(r.B)) for r in c.readings())
    conditional = (
        ("strength", number(c.conditional_strength())),
        ("cosine2", quotient(c.conditional_cosine())),
        ("bulk", number(c.conditional_bulk())),
    )
    every = [x for _, A, B in rows for x in (A, B)] + [x for _, x in conditional]
    left = sorted(open_moments & set().union(*(x.free_symbols for x in every)), key=str)
    known = {symbol: c.moment_enclosure(symbol, f, g, shown + 8) for symbol in left} if letters else {}
    notes = [
        "A and B of `full` are derived; A - 1 to leading order in 1/d, B with its terms of relative order 1/d",
        "`printed` is paper F's eq. (3.3); it is refuted by the checks G1 wherever E g' differs from E sigma'",
        "all neurons share one batch: the network's own kernel has the spike along u (conditional), not w*",
        "scaling: the exponents of d in A - 1 (bulk), B (spike) and B/d (relative) at step eta0 d^zeta",
    ]
    first = exact[c.link[1]]
    vanishes = first == 0 if first is not None or letters else values[c.link[1]].value == 0
    if vanishes:
        notes.append("the link's first coefficient vanishes: no spike of leading order, B is a correction of order 1/d")
    if given.conditions:
        notes.append("holds for " + ", ".join(map(str, given.conditions)))
    if known:
        meanings = ", ".join(f"{s} = {c.MEANINGS[s]}" for s in known)
        notes.append(f"moments without a closed form: {meanings}")
    setting = "paper F: f = m^(-1/2) sum a_j sigma(w_j.x), w_j ~ N(0, I/d), E a_j^2 = 1/m; weights after: N(0, Gamma/d)"
    reached = all(x.symbolic or x.error == 0 or _reaches(x, shown) for x in every)
    scaling = {name: c.scaling(name, bool(vanishes)) for name in ("bulk", "spike", "relative")}
    return GammaResult(given.inputs, setting, ("G1", "G2"), tuple(notes), rows, conditional, scaling, known, reached)


def _reaches(x: Number, digits: int) -> bool:
    from bulkedge.theory.numbers.enclosure import Enclosure

    found = Enclosure(x.value, x.radius, "")
    return found.reaches(digits) or abs(x.value) + x.radius < 10 ** (-digits)
