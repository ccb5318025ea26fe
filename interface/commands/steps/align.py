"""`bulkedge align`: how much of the target the second step's k-th direction has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import (
    BATCHES,
    Count,
    Digits,
    Formula,
    Function,
    Numeric,
    Positive,
    Real,
    RealNames,
    SizedNoiseOrSymbol,
    Word,
    read,
)
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import COLUMNS, Shared, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.numerics.steps.alignment import Limits, Reach
    from bulkedge.theory.steps.directions import Direction, Problem, Value

ORDERS = 4  # spikes looked at for "reached from"; derivatives of other activations than polynomials grow fast
HAS_PROGRAM = True


@dataclass(frozen=True)
class AlignResult(Result):
    """The limits of b_k: a Direction, the table of what is reached when, and closed forms where both are polynomial.

    `forms` are (F_k, signal, squared norm) in Hermite coefficients, or None; `folded` is T6's direction a^k|a|.
    """

    command: ClassVar[str] = "align"
    reading: str
    power: int
    digits: int
    direction: Direction
    reach: Sequence[Mapping[str, Any]]
    forms: tuple[sp.Expr, sp.Expr, sp.Expr] | None
    folded: Limits | None
    reach_of_step: Reach

    def _named(self) -> list[tuple[str, Value]]:
        d = self.direction
        return [("signal", d.signals[0]), ("norm2", d.norm2), ("cosine", d.cosines[0])]

    @property
    def unreached(self) -> list[str]:
        """The fields that did not reach the digits asked for."""
        return [n for n, v in self._named() if v.exact is None and not v.enclosure.reaches(self.digits)]

    @property
    def exit_status(self) -> int:
        """3 if the digits were not reached."""
        return 3 if self.unreached else 0

    def quantities(self) -> dict[str, Any]:
        """`signal`, `norm2`, `cosine`, `reading`; `signals`, `cosines`, `reach`, closed forms, `further`."""
        from bulkedge.theory.steps.phases import left_vector

        far, folded = self.reach_of_step, self.folded
        found: dict[str, Any] = {name: self._number(v) for name, v in self._named()}
        found |= {
            "reading": self.reading,
            "signals": [self._number(v) for v in self.direction.signals],
            "cosines": [self._number(v) for v in self.direction.cosines],
            "reach": [dict(line) for line in self.reach],
            "closed_form": None
            if self.forms is None
            else dict(zip(("F", "signal", "norm2"), map(str, self.forms), strict=True)),
            "finite_size": {
                "dim": far.dim,
                "label_rms": short(far.rms, 3),
                "largest_label": short(far.largest, 3),
                "step": short(far.step, 2),
            },
        }
        if folded is not None:
            found["further"] = Shared(
                {
                    "left": left_vector(self.power, folded=True),
                    "signal": Number.of(folded.signal, folded.error),
                    "norm2": Number.of(folded.norm2, folded.error),
                    "cosine": Number.of(folded.cosine, folded.cosine_error),
                }
            )
        return found

    def _number(self, value: Value) -> Number:
        return Number.of(value, digits=self.digits)

    def tables(self) -> tuple[Table, ...]:
        """The limits, then which direction is reached from which spike on."""
        limits = tuple(row(name, self._number(v)) for name, v in self._named())
        reached = tuple(
            (
                str(line["direction"]),
                line["link"],
                str(line["information_exponent"]),
                str(line["generative_exponent"]) + ("" if line["generative_shown"] else " (at most)"),
                *(_from(line, batch) for batch in ("reused", "fresh")),
            )
            for line in self.reach
        )
        columns = (
            "direction",
            "link",
            "information exponent",
            "generative exponent",
            "reused: from k",
            "fresh: from k",
        )
        tables = [
            Table(COLUMNS, limits, f"b_{self.power}, reading {self.reading}"),
            Table(columns, reached, "reached from spike k on"),
        ]
        if self.folded is not None:
            shown = tuple(row(name, x)[:3] for name, x in self.further.items() if name != "left")
            title = f"further left vector {self.further.left} (T6)"
            tables.append(Table(("limit", "value", "error"), shown, title))
        return tuple(tables)

    def latex(self) -> str:
        """The values, with their errors where they are not exact, and the closed forms where both are polynomial."""
        from bulkedge.derivations.engine.latex import latex

        names = [rf"\beta \cdot b_{{{self.power}}}", rf"\lvert b_{{{self.power}}} \rvert^{{2}}", r"\cos"]
        forms = ("", "", "") if self.forms is None else (latex(self.forms[1]), latex(self.forms[2]), "")
        parts = []
        for name, form, (_, v) in zip(names, forms, self._named(), strict=True):
            number = self._number(v)
            value = number.latex
            parts.append(rf"{name} \to {form} = {value}" if form else rf"{name} \to {value}")
        return r", \qquad ".join(parts)


@dataclass(frozen=True)
class AlignFormula(Result):
    """The limits of b_k as formulas in the ratio and the noise."""

    command: ClassVar[str] = "align"
    reading: str
    power: int
    known: Mapping[str, Number]
    others: tuple[tuple[Number, Number], ...]

    def quantities(self) -> dict[str, Any]:
        """`signal`, `norm2`, `cosine`, `reading`; `signals`, `cosines` of every direction."""
        signals, cosines = zip(*self.others, strict=True)
        return {**self.known, "reading": self.reading, "signals": signals, "cosines": cosines}

    def tables(self) -> tuple[Table, ...]:
        """The limits."""
        limits = tuple(row(name, x) for name, x in self.known.items())
        return (Table(COLUMNS, limits, f"b_{self.power}, reading {self.reading}"),)

    def latex(self) -> str:
        """The limits."""
        names = (rf"\beta \cdot b_{{{self.power}}}", rf"\lvert b_{{{self.power}}} \rvert^{{2}}", r"\cos")
        return r", \qquad ".join(rf"{name} \to {x.latex}" for name, x in zip(names, self.known.values(), strict=True))


def _formula(given: Any, problem: Problem, power: int, batch: str) -> AlignFormula:
    """The answer in letters.

    Errors: InputError where a moment has no closed form, or the direction vanishes.
    """
    import sympy as sp

    from bulkedge.theory.numbers.errors import InputError

    signals, norm2 = problem.formulas(power, batch, given.alpha, given.noise)
    if norm2 == 0:
        raise InputError("power", f"the direction b_{power} vanishes ({batch} batch)", "take another power or link")
    pairs = tuple(
        (Number.of(x, digits=given.digits), Number.of(x / sp.sqrt(norm2), digits=given.digits)) for x in signals
    )
    known = {"signal": pairs[0][0], "norm2": Number.of(norm2, digits=given.digits), "cosine": pairs[0][1]}
    setting = "n, d -> infinity, n/d = alpha for both batches, correlation loss; y = sum g_j(beta_j.x) + noise"
    notes = ["derived here and checked by simulation; the limit of b_k itself, before O2's overlap"]
    notes += [f"holds for {condition}" for condition in given.conditions]
    source = ("T3",) if problem.activation is None else ("T3", "T2")
    return AlignFormula(given.inputs, setting, source, tuple(notes), problem.reading, power, known, pairs)


def _from(row: Mapping[str, Any], batch: str) -> str:
    text = f"never up to {row['orders']}" if row[batch] is None else str(row[batch])
    return text if row[f"{batch}_decided"] else text + " (not all decided)"


def align(
    link: Annotated[
        Function | Sequence[Function],
        Formula("a function, or one for each orthogonal direction", "LINK", place=True, many=True),
    ],
    *,
    power: Annotated[Numeric, Count("the order k of the spike", "k", low=0)],
    alpha: Annotated[Numeric, Real("n/d of both batches", "a", low=0, exclusive=True, letters=True)],
    batch: Annotated[str, Word("the second step's data", words=BATCHES)],
    noise: SizedNoiseOrSymbol = 0,
    activation: Annotated[
        Function | None, Formula("asks for the reading full: F_k = Fbar_k of this activation", "ACT")
    ] = None,
    digits: Digits = 15,
    positive: Positive = None,
    real: RealNames = None,
) -> AlignResult | AlignFormula:
    """Limits of the k-th direction b_k of the second step: beta.b_k, |b_k|^2 and their cosine.

    b_k = (1/n) X^T F_k(y, X u), F_k = y p^k (reading rank_one), or F_k of T2's reading full with an activation.
    Valid for: n, d to infinity with n/d = alpha for both batches; y = sum of links + noise, one orthogonal direction
    each (signal and cosine are those of the first); moments of the label finite. A kinked activation and a reused batch
    have a second direction at each k >= 1, with the left vector a^k|a| (T6): `further`.
    Accuracy: exact where every moment has a closed form, else rigorous; `further`: quadrature with a tested error.
    Errors: InputError.  Source: T3, T2, T6.

    Example:

    >>> bulkedge.align("He(2, z) + He(3, z)", power=1, alpha=2, batch="reused").cosine.decimal()
    '0.218073709255444'
    """
    given = read(align, locals())
    from fractions import Fraction

    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps.directions import Problem, closed_form, reach_table
    from bulkedge.theory.steps.phases import left_vector
    from bulkedge.theory.steps.second_step import check_power, polynomial_mean

    digits, power, links = given.digits, check_power(given.power), given.link
    ratio, deviation, sigma = given.alpha, given.noise, given.activation
    for g in links:
        if g.degree == 0:
            raise InputError("link", f"{g.name} is constant: there is no direction to learn", "give another link")
    if given.symbolic:
        return _formula(given, Problem(links, Fraction(1), activation=sigma), power, batch)
    problem = Problem(links, Fraction(str(ratio)), Fraction(str(deviation)), sigma)
    further = None
    if sigma is not None and batch == "reused" and power and len(links) == 1:
        from bulkedge.numerics.steps.alignment import further_limits

        further = further_limits(sigma, links[0], float(ratio), float(deviation), power)
    try:
        found = problem.direction(power, batch, digits)
    except InputError as error:
        if further is None:
            raise
        beside = (
            f"the further left vector {left_vector(power, folded=True)} (T6) has the cosine {short(further.cosine, 6)}"
        )
        raise InputError(error.argument, f"{error.problem}; {beside}", error.remedy) from None
    forms, degree = None, links[0].degree
    degrees = [degree] if sigma is None else [degree, sigma.degree]
    # Beyond these sizes a closed form fills pages; theory.steps.directions.closed_form gives it all the same.
    if len(links) == 1 and power <= 2 and all(d is not None and d <= 3 for d in degrees):
        assert degree is not None
        centred = polynomial_mean(links[0].pieces[0].expr) == 0
        forms = closed_form(degree, power, batch, None if sigma is None else sigma.degree, mean=not centred)
    setting = "n, d -> infinity, n/d = alpha for both batches, correlation loss; y = sum g_j(beta_j.x) + noise"
    notes = ["derived here and checked by simulation; the limit of b_k itself, before O2's overlap"]
    if forms is not None:
        notes.append("closed_form: g = sum g_j He_j, sigma = sum c_j He_j (probabilist), alpha = n/d, s_eps the noise")
    from bulkedge.numerics.steps.alignment import reach

    far = reach(links, float(ratio), float(deviation), batch, sigma)
    if power:
        own = (
            f"the largest label of a batch is {short(far.largest, 2)} (rms {short(far.rms, 2)})"
            if batch == "reused"
            else "for a typical sample"
        )
        notes.append(
            f"needs eta_1 << {short(far.step, 2)} at d = N = {far.dim}, growing as sqrt N ({own}): beyond, the limit "
            "is not that of a network"
        )
    if problem.reading == "rank_one":
        notes.append("rank_one replaces W1 by W0 + eta1 mu1 a u^T; give an activation for what W2 really carries (T2)")
    return AlignResult(
        given.inputs,
        setting,
        ("T3",) if sigma is None else ("T3", "T2", "T6") if further is not None else ("T3", "T2"),
        tuple(notes),
        problem.reading,
        power,
        digits,
        found,
        reach_table(problem, ORDERS if sigma is None or sigma.degree is not None else min(power, ORDERS)),
        forms,
        further,
        far,
    )
