"""`bulkedge gamma ACTIVATION LINK`: the feature covariance after one step, in three readings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Activation, Count, Digits, Link, Noise, Numeric, Real, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import COLUMNS, rows
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from bulkedge.theory.numbers.enclosure import Enclosure


@dataclass(frozen=True)
class GammaResult(Result):
    """Gamma = A I + B w* w*^T as printed, for the rank-one update, and for the true one; and given the batch."""

    command: ClassVar[str] = "gamma"
    digits: int
    averaged: tuple[tuple[str, Enclosure, Enclosure], ...]
    given_batch: tuple[tuple[str, Enclosure], ...]
    reached: bool

    @property
    def exit_status(self) -> int:
        """3 if the digits asked for were not reached."""
        return 0 if self.reached else 3

    def quantities(self) -> dict[str, Any]:
        """`readings`: {printed, rank_one, full}, each {A, B}; `conditional`: G2's limits."""
        return {
            "readings": {
                name: {"A": Number.of(A, digits=self.digits), "B": Number.of(B, digits=self.digits)}
                for name, A, B in self.averaged
            },
            "conditional": {name: Number.of(x, digits=self.digits) for name, x in self.given_batch},
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per reading; then the covariance given the batch."""
        averaged = tuple(
            (name, x.A.decimal(), x.B.decimal(), x.A.bound(), x.B.bound()) for name, x in self.readings.items()
        )
        return (
            Table(("reading", "A", "B", "error of A", "error of B"), averaged, "averaged over batches"),
            Table(COLUMNS, tuple(rows(self.conditional)), "given the batch: spike along u = X^T y/n"),
        )

    def latex(self) -> str:
        """The three readings."""
        body = r" \\ ".join(
            rf"\text{{{name.replace('_', '-')}}} & {x.A.rounded_latex(8)} & {x.B.rounded_latex(8)}"
            for name, x in self.readings.items()
        )
        return rf"\begin{{array}}{{lrr}} & A & B \\ {body} \end{{array}}"


def gamma(
    activation: Activation,
    link: Link,
    n: Annotated[Numeric, Count("samples of the step", "N", low=1)],
    m: Annotated[Numeric, Count("width", "M", low=1)],
    d: Annotated[Numeric, Count("dimension", "D", low=2)],
    step: Annotated[Numeric, Real("the paper's eta, a number", "ETA")],
    noise: Noise = 0,
    digits: Digits = 15,
) -> GammaResult:
    """The covariance Gamma/d of the weights after one step of size `step` (paper F's eta), Gamma = A I + B w* w*^T.

    `printed` is the paper's eq. (3.3); `rank_one` the exact second moment of w + (c1 eta/(n sqrt m)) a X^T y; `full`
    that of the true update: A - 1 to leading order in 1/d, B with all its terms of relative order 1/d.
    Valid for: continuous activations; the readings need no non-zero coefficient: where the link's first coefficient
    vanishes B keeps its terms of order 1/d, and `conditional` says that u loses w* (cosine 0).
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

    from bulkedge.theory.numbers import symbols
    from bulkedge.theory.steps import covariance as c

    shown, dimension = given.digits, sp.Integer(given.d)
    values = c.moments(given.activation, given.link, given.noise, shown + 8)
    at = {symbols.eta: given.step, symbols.d: dimension, symbols.alpha: sp.Integer(given.n) / dimension}
    at[symbols.beta] = sp.Integer(given.m) / dimension

    def value(expression: sp.Expr) -> Enclosure:
        return c.evaluate(expression, values, at, shown + 8)

    rows = tuple((r.name, value(r.A), value(r.B)) for r in c.readings())
    strength, cosine = sp.fraction(sp.together(c.conditional_cosine()))
    conditional = (
        ("strength", value(c.conditional_strength())),
        ("cosine2", c.ratio(value(strength), value(cosine))),
        ("bulk", value(c.conditional_bulk())),
    )
    every = [x for _, A, B in rows for x in (A, B)] + [x for _, x in conditional]
    notes = [
        "A and B of `full` are derived; A - 1 to leading order in 1/d, B with its terms of relative order 1/d",
        "`printed` is paper F's eq. (3.3); it is refuted by the checks G1 wherever E g' differs from E sigma'",
        "all neurons share one batch: the network's own kernel has the spike along u (conditional), not w*",
    ]
    if float(values[c.link[1]].value) == 0:
        notes.append("the link's first coefficient vanishes: no spike of leading order, B is a correction of order 1/d")
    setting = "paper F: f = m^(-1/2) sum a_j sigma(w_j.x), w_j ~ N(0, I/d), E a_j^2 = 1/m; weights after: N(0, Gamma/d)"
    reached = all(x.error == 0 or x.reaches(shown) or abs(x.value) + x.error < 10 ** (-shown) for x in every)
    return GammaResult(given.inputs, setting, ("G1", "G2"), tuple(notes), shown, rows, conditional, reached)
