"""`bulkedge outliers`: how many outliers the weights have after two gradient steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import (
    BATCHES,
    READOUTS,
    Argument,
    Formula,
    Function,
    Numeric,
    Positive,
    Real,
    RealNames,
    Word,
    read,
)
from bulkedge.results.number import Number, magnitude, short
from bulkedge.results.quantities import COLUMNS, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.theory.steps.phases import Count, FirstSize, Phase


_MEANS = {"centred": " (E y = 0); see --labels", "uncentred": " (E y not 0)"}
HAS_CURVE = True
HAS_PROGRAM = True
_SLOW = 6  # log10 of a width: an outlier that has not grown tenfold there is worth a warning
_EXAMINED = 3  # spikes whose functions are computed for a given activation


@dataclass(frozen=True)
class OutliersResult(Result):
    """The phase, the generic count, and the count for the readout law and batch asked for."""

    command: ClassVar[str] = "outliers"
    phase: Phase
    count: Count
    near: FirstSize

    def _listed(self) -> list[tuple[int, Fraction]]:
        from bulkedge.theory.steps.phases import LISTED

        return [(k, self.phase.exponent(k)) for k in range(min(self.phase.total, LISTED))]

    def quantities(self) -> dict[str, Any]:
        """`Lambda`, `total`, `boundary`; exponents of the spikes' strengths; the count with this readout and batch."""
        return {
            "Lambda": self.phase.Lambda,
            "total": self.phase.total,
            "boundary": self.phase.boundary,
            "one_step": self.phase.one_step,
            "exponents": [{"k": k, "exponent": str(x)} for k, x in self._listed()],
            "counted": self.count.total,
            "directions": [*self.count.directions],
            "reasons": [*self.count.reasons],
            "finite_size": {
                "width": self.near.width,
                "weakest": self.near.spike,
                "factor": short(self.near.factor, 3),
                "tenfold": magnitude(self.near.tenfold),
                "correction": short(self.near.correction, 2),
            },
            "errors": {"Lambda": "0", "total": "0"},
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per spike."""
        from bulkedge.theory.steps.phases import left_vector

        rows = tuple((str(k), left_vector(k), f"N^({x})", "yes" if x == 0 else "no") for k, x in self._listed())
        title = f"Lambda = {self.Lambda} new outliers, {self.total} in all"
        tables = [Table(("k", "left vector", "strength", "on the boundary"), rows, title)]
        if self.count.reasons:
            given = ", ".join(str(self.inputs[x]) for x in ("activation", "batch", "readout") if self.inputs[x])
            reasons = tuple((reason,) for reason in self.count.reasons)
            title = f"{self.count.total} in all here ({given}): {', '.join(self.count.directions)}"
            tables.append(Table(("why",), reasons, title))
        return tuple(tables)

    def latex(self) -> str:
        """Lambda and the total, with the formula they come from."""
        from bulkedge.derivations.engine.latex import latex

        a1, a2 = (latex(x) for x in (self.phase.alpha1, self.phase.alpha2))
        cap = r"\infty" if self.phase.degree is None else str(self.phase.degree - 1)
        return (
            rf"\Lambda = \min\left({cap}, \left\lfloor \frac{{{a2}}}{{\frac{{1}}{{2}} - {a1}}} \right\rfloor\right)"
            rf" = {self.Lambda}, \qquad 1 + \Lambda = {self.total}"
        )

    def figure(self) -> Figure:
        """Lambda over the plane of exponents, for this degree, with the point asked for."""
        from bulkedge.results.phases import phase_figure

        cap = None if self.phase.degree is None else self.phase.degree - 1
        return phase_figure(cap, float(self.phase.alpha1), float(self.phase.alpha2))


_REGIONS = 6  # that are listed of an activation without a degree


@dataclass(frozen=True)
class OutliersFormula(Result):
    """Lambda as a formula in the exponents, the conditions of each Lambda, and the lines between them."""

    command: ClassVar[str] = "outliers"
    first: sp.Expr
    second: sp.Expr
    degree: int | None
    most: int | None

    def quantities(self) -> dict[str, Any]:
        """`Lambda`, `total`, `counted` as formulas; `regions`: each Lambda with its condition; `lines`, `exponents`."""
        import sympy as sp

        from bulkedge.theory.steps.phases import lambda_formula, region, spike_exponent

        count = lambda_formula(self.first, self.second, self.degree)
        orders = range(_REGIONS if self.degree is None else min(self.degree, _REGIONS))
        ends = {"first": self.first, "second": self.second}
        return {
            "Lambda": Number.of(count),
            "total": Number.of(1 + count),
            "boundary": None,
            "counted": Number.of(1 + count if self.most is None else sp.Min(1 + count, self.most)),
            "regions": [
                {"Lambda": k, "condition": str(region(k, self.first, self.second, self.degree))} for k in orders
            ],
            "lines": [str(sp.Eq(self.second, k * (sp.Rational(1, 2) - self.first))) for k in orders if k],
            "exponents": [{"k": k, "exponent": str(spike_exponent(k, **ends))} for k in orders],
        }

    def payload(self) -> dict[str, Any]:
        """The quantities; `exact.boundary` is the condition under which a counted spike is of order one."""
        import sympy as sp

        found = super().payload()
        condition = sp.Eq(self.second, self.Lambda.expr * (sp.Rational(1, 2) - self.first))
        return found | {"exact": found["exact"] | {"boundary": str(condition)}}

    def tables(self) -> tuple[Table, ...]:
        """The formulas, then the regions."""
        regions = tuple((str(x["Lambda"]), x["condition"]) for x in self.regions)
        formulas = tuple(row(name, self._stated[name]) for name in ("Lambda", "total", "counted"))
        return (Table(COLUMNS, formulas), Table(("Lambda", "where"), regions))

    def latex(self) -> str:
        """Lambda."""
        from bulkedge.derivations.engine.latex import latex

        return rf"\Lambda = {latex(self.Lambda.expr)}"


def _sizes(near: FirstSize) -> tuple[bool, str]:
    """Whether the weakest outlier needs widths that nobody has, and how it grows in words, computed."""
    correction = f"corrections are of relative order N^(alpha1 - 1/2) = {short(near.correction, 2)} at N = {near.width}"
    if near.spike is None:
        return False, correction
    far = near.tenfold > _SLOW
    text = (
        f"the weakest counted spike that grows, k = {near.spike}, has grown by {short(near.factor, 3)} over its "
        f"constant of order one at N = {near.width}, tenfold at N of about {magnitude(near.tenfold)}; {correction}"
    )
    return far, (f"WARNING, a limit far from usual sizes: {text}" if far else text)


def outliers(
    alpha1: Annotated[Numeric, Real("first step of size N^ALPHA1, in [0, 1/2)", "ALPHA1", place=True, letters=True)],
    alpha2: Annotated[Numeric, Real("second step of size N^ALPHA2, in [0, 1/2)", "ALPHA2", place=True, letters=True)],
    *,
    degree: Annotated[int | str, Argument("degree of the activation; inf: not a polynomial", "L")],
    batch: Annotated[str, Word("the second step's data", words=BATCHES)] = "reused",
    readout: Annotated[str, Word("law of the readout", words=READOUTS)] = "gaussian",
    activation: Annotated[
        Function | None, Formula("drop the spikes that vanish for it; add those of a kink", "ACT")
    ] = None,
    labels: Annotated[str, Word("a mean of the labels brings spikes back", words=("centred", "uncentred"))] = "centred",
    positive: Positive = None,
    real: RealNames = None,
) -> OutliersResult | OutliersFormula:
    """Count the outliers of W2 after steps of size N^alpha1 and N^alpha2.

    Lambda = min(L - 1, floor(alpha2/(1/2 - alpha1))), total = 1 + Lambda.
    Valid for: exponents in [0, 1/2); paper T's scaling (W0 with entries of variance 1/d, readout N(0, 1/N)).
    `count` drops what the batch, the readout's law, the activation and the labels' mean remove, and adds the left
    vectors a^k|a| of a kink with a reused batch (theory.steps.phases.count). `degree` must be the activation's own.
    Exponents may be expressions over declared symbols: Lambda is then a formula, with the region of each value.
    Convention: a float is read as the decimal it prints as, so that 0.35 is 7/20.
    Accuracy: exact; `finite_size` says how slowly the weakest counted outlier grows, its constant left out.
    Errors: InputError.  Source: T1.

    Example:

    >>> bulkedge.outliers("0.35", "0.2", degree=5).Lambda
    1
    """
    given = read(outliers, locals())
    from bulkedge.theory.functions.parse import integer, shorten
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps.phases import count, first_size, phase

    if given.symbolic:
        return _formula(given, degree)
    first, second = (Fraction(int(x.p), int(x.q)) for x in (given.alpha1, given.alpha2))
    cap = None if str(degree).strip() == "inf" else integer(degree, "degree")
    point = phase(first, second, cap)
    missing: tuple[int, ...] = ()
    further: tuple[int, ...] = ()
    if activation is not None:
        from bulkedge.theory.steps.directions import further_orders, vanishing_spikes

        sigma, centred = given.activation, labels == "centred"
        if sigma.degree != cap:
            own = "no polynomial" if sigma.degree is None else f"a polynomial of degree {sigma.degree}"
            remedy = "give degree inf" if sigma.degree is None else f"give degree {sigma.degree}"
            problem = (
                f"{'inf' if cap is None else cap} contradicts the activation {shorten(sigma.name)}, which is {own}"
            )
            raise InputError("degree", problem, f"{remedy}, or leave the activation out")
        missing = vanishing_spikes(sigma, batch, min(point.Lambda, _EXAMINED), centred)
        if batch == "reused":
            further = further_orders(sigma, min(point.uncapped, _EXAMINED), centred)
    inputs = {
        "alpha1": str(first),
        "alpha2": str(second),
        "degree": "inf" if cap is None else cap,
        "batch": batch,
        "readout": readout,
        "activation": activation if activation is None or isinstance(activation, str) else given.activation.name,
        "labels": labels,
    }
    notes = ["generic count: E[sigma^(k+1)] is not zero for the counted k, E sigma' is not zero"]
    if point.boundary:
        notes.append("on a boundary: a counted spike is of order one and shows only above the threshold of O2")
    if point.one_step:
        notes.append("alpha1 + alpha2 < 1/2: two steps learn what one step learns")
    if activation is not None:
        notes.append(f"the count for this activation holds for {labels} labels" + _MEANS[labels])
    if activation is not None and point.Lambda > _EXAMINED:
        notes.append(f"the activation was examined up to spike {_EXAMINED}; the spikes beyond are counted as generic")
    counted = count(point, batch, readout, missing, further)
    near = first_size(point)
    far, text = _sizes(near)
    notes.insert(0 if far else len(notes), text)
    setting = "steps eta_i = N^alpha_i, W0 with entries N(0, 1/d), readout of variance 1/N, n, d, N proportional"
    return OutliersResult(inputs, setting, ("T1", "T5"), tuple(notes), point, counted, near)


def _formula(given: Any, degree: int | str) -> OutliersFormula:
    """The answer in letters: generic, for the readout's law."""
    import sympy as sp

    from bulkedge.theory.functions.parse import integer, within
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.steps.phases import READOUTS as DISTINCT

    if given.activation is not None:
        remedy = "leave it out, or give the exponents as numbers"
        raise InputError("activation", "what it removes is counted at given exponents", remedy)
    half = sp.Rational(1, 2)
    notes = ["generic count: E[sigma^(k+1)] is not zero for the counted k, E sigma' is not zero"]
    for name, x in (("alpha1", given.alpha1), ("alpha2", given.alpha2)):
        within(x, name, 0, None, False)
        below = sp.Lt(x, half)
        if below == False:  # noqa: E712 -- SymPy's truth value
            raise InputError(name, f"{x} is outside [0, 1/2)", "give an exponent below 1/2")
        if below != True:  # noqa: E712
            notes.append(f"holds for {below}")
    cap = None if str(degree).strip() == "inf" else integer(degree, "degree", minimum=1)
    most = DISTINCT[given.readout]
    if most is not None:
        notes.append(f"a {given.readout} readout has {most} distinct non-zero value(s): its powers span no more")
    setting = "steps eta_i = N^alpha_i, W0 with entries N(0, 1/d), readout of variance 1/N, n, d, N proportional"
    inputs = given.inputs | {"degree": "inf" if cap is None else cap}
    return OutliersFormula(inputs, setting, ("T1", "T5"), tuple(notes), given.alpha1, given.alpha2, cap, most)
