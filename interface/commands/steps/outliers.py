"""`bulkedge outliers`: how many outliers the weights have after two gradient steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import BATCHES, READOUTS, Argument, Formula, Function, Numeric, Real, Word, read
from bulkedge.results.number import magnitude, short
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.theory.steps.phases import Count, FirstSize, Phase


_MEANS = {"centred": " (E y = 0); see --labels", "uncentred": " (E y not 0)"}
HAS_CURVE = True
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
    alpha1: Annotated[Numeric, Real("first step of size N^ALPHA1, in [0, 1/2)", "ALPHA1", place=True)],
    alpha2: Annotated[Numeric, Real("second step of size N^ALPHA2, in [0, 1/2)", "ALPHA2", place=True)],
    *,
    degree: Annotated[int | str, Argument("degree of the activation; inf: not a polynomial", "L")],
    batch: Annotated[str, Word("the second step's data", words=BATCHES)] = "reused",
    readout: Annotated[str, Word("law of the readout", words=READOUTS)] = "gaussian",
    activation: Annotated[
        Function | None, Formula("drop the spikes that vanish for it; add those of a kink", "ACT")
    ] = None,
    labels: Annotated[str, Word("a mean of the labels brings spikes back", words=("centred", "uncentred"))] = "centred",
) -> OutliersResult:
    """Count the outliers of W2 after steps of size N^alpha1 and N^alpha2.

    Lambda = min(L - 1, floor(alpha2/(1/2 - alpha1))), total = 1 + Lambda.
    Valid for: exponents in [0, 1/2); paper T's scaling (W0 with entries of variance 1/d, readout N(0, 1/N)).
    `count` drops what the batch, the readout's law, the activation and the labels' mean remove, and adds the left
    vectors a^k|a| of a kink with a reused batch (theory.steps.phases.count). `degree` must be the activation's own.
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
