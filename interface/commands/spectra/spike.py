"""`bulkedge spike`: the outlier of a rank-one perturbation, and the strength behind an observed outlier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Digits, Numeric, Positive, Real, RealNames, Word, read
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import COLUMNS, rows
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.numerics.spectra.spike import SpikedModel

HAS_CURVE = True
HAS_PROGRAM = True
MAX_SIZE = 10**50  # numerics.trials.domain


@dataclass(frozen=True)
class SpikeResult(Result):
    """The predicted outlier and overlaps, by name; `condition` says when they are those of an outlier.

    `ends` are those of the confidence interval of a strength read from an observed outlier at a finite size, or None.
    """

    command: ClassVar[str] = "spike"
    ensemble: str
    ratio: sp.Rational
    digits: int
    condition: sp.Basic
    known: dict[str, Number]
    ends: tuple[float, float] | None = None
    spread: float | None = None

    @property
    def exact(self) -> dict[str, sp.Expr | None]:
        """The expressions of the numbers, by name."""
        return {name: x.expr for name, x in self.known.items()}

    def quantities(self) -> dict[str, Any]:
        """`threshold`, `strength`, `outlier`, `edge`, `overlap_d`, `overlap_N` (and `sd` at a size), `above`.

        `sd` is an expression far above the threshold, else a number; `interval` is the strength's.
        """
        found: dict[str, Any] = dict(self.known)
        if self.spread is not None:
            found["sd"] = Number.of(self.spread, self.spread * _SPREAD_ERROR, digits=6)
        if self.ends is not None:
            left_out = max(map(abs, self.ends)) * 1e-8  # a bound of what nine digits of the ends leave out
            found["interval"] = [Number.of(end, left_out, digits=9) for end in self.ends]
        return {**found, "above": None if self._open else bool(self.condition)}

    @property
    def _open(self) -> bool:
        """Whether it depends on the symbols if there is an outlier."""
        return not (self.condition == True or self.condition == False)  # noqa: E712 -- SymPy's truth values too

    def payload(self) -> dict[str, Any]:
        """The quantities; `exact` holds those that are: `sd` near the threshold and `interval` are not."""
        found = super().payload()
        exact = {name: text for name, text in found["exact"].items() if text is not None}
        return found | {"exact": exact | ({"above": str(self.condition)} if self.symbolic else {})}

    def tables(self) -> tuple[Table, ...]:
        """One row per quantity."""
        if self._open:
            title = f"an outlier where {self.condition}"
        elif not self.above:
            title = "within the threshold: no outlier"
        else:
            gap = self.known["outlier"] - self.known["edge"]
            title = "below the lower threshold" if not gap.symbolic and gap < 0 else "above the threshold"
        return (Table(COLUMNS, tuple(rows(self._stated)), title),)

    def latex(self) -> str:
        """Outlier and overlaps."""
        from bulkedge.derivations.engine.latex import latex

        if "observed" in self.inputs:
            symbol = {"rectangular": r"\theta", "covariance": r"\ell"}.get(self.ensemble, r"\zeta")
            return rf"{symbol} = {latex(self.known['strength'].expr)}"
        name = "s_{1}" if self.ensemble == "rectangular" else r"\lambda"
        return rf"{name} \to {latex(self.known['outlier'].expr)}"

    def figure(self) -> Figure:
        """The histogram of a simulated spectrum with the law and the predicted outlier over it."""
        from bulkedge.results.spectra import spike_figure

        self.check_numbers("plot")
        return spike_figure(self.ensemble, float(self.ratio), float(self.known["strength"]))


_SPREAD_ERROR = 1e-3  # relative, of the transition's standard deviation (six digits, tested)


_SETTINGS = {
    "rectangular": "W0 + strength u v^T, W0 d x N with iid entries of variance 1/d; ratio = N/d; overlaps are squared",
    "covariance": "(1/n) X^T X, n rows of covariance I + (strength - 1) v v^T; ratio = p/n; overlaps are squared",
    "wigner": "H + strength v v^T, H symmetric n x n with off-diagonal variance 1/n; overlaps are squared",
    "wishart": "X^T X/n + strength v v^T, X n x p with iid entries of variance 1; ratio = p/n; overlaps are squared",
}


_GIVEN, _FINITE = "one of the two", "finite size"
ENSEMBLES = tuple(_SETTINGS)


def spike(
    ratio: Annotated[
        Numeric | None,
        Real(
            "N/d (rectangular), p/n (covariance, wishart); wigner has none", "psi", low=0, exclusive=True, letters=True
        ),
    ] = None,
    strength: Annotated[
        Numeric | None,
        Real(
            "the spike's strength; noise entries have variance 1/d", "theta", group=_GIVEN, either="given", letters=True
        ),
    ] = None,
    *,
    ensemble: Annotated[
        str,
        Word("W0 + theta u v^T, a population eigenvalue, H + theta v v^T, or X^T X/n + theta v v^T", words=ENSEMBLES),
    ] = "rectangular",
    observed: Annotated[
        Numeric | None,
        Real("an observed outlier, to be read back into a strength", "s", group=_GIVEN, either="given", letters=True),
    ] = None,
    size: Annotated[
        Numeric | None,
        Count("d, n or n: adds the sd, or the strength's interval", "d", low=1, high=MAX_SIZE, group=_FINITE),
    ] = None,
    level: Annotated[
        Numeric, Real("level of the interval", "L", low=0, high=1, exclusive=True, group=_FINITE)
    ] = "0.95",
    digits: Digits = 15,
    positive: Positive = None,
    real: RealNames = None,
) -> SpikeResult:
    """The leading singular value of W0 + theta u v^T and the squared overlaps of its vectors with u and v.

    s_1 -> sqrt((1 + theta^2)(psi + theta^2))/theta iff theta^4 > psi (decided exactly), else the edge 1 + sqrt psi.
    Valid for: W0 d x N with iid entries of variance 1/d, psi = N/d, unit vectors u (d) and v (N). `ensemble` asks for a
    spiked covariance (strength: the population eigenvalue, also below the bulk), or for a spike added to a Wigner or
    to a Wishart matrix (of either sign). `threshold` is that of the strength's own side of the bulk. With `observed`
    instead of `strength` the map is inverted; a `size` adds the standard deviation of the extreme value (real
    Gaussian noise), or a confidence interval for the strength. With declared symbols the results are expressions, by
    cases where the symbols do not decide whether there is an outlier.
    Accuracy: exact expressions, printed to `digits` digits.
    Errors: InputError for numbers that are not positive, or an observed value within the bulk.
    Source: O2 (paper O; Benaych-Georges & Nadakuditi 2012), R3.

    Example:

    >>> bulkedge.spike(ratio=2, strength=3).outlier.exact
    sqrt(110)/3
    """
    given = read(spike, locals())
    import sympy as sp

    from bulkedge.theory.functions.parse import within
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.numbers.symbols import c, psi, x
    from bulkedge.theory.spectra import spike as spikes

    (law,) = (law for law in spikes.MAPS if law.name == ensemble)
    d, digits = given.size, given.digits
    if (ratio is None) != (ensemble == "wigner"):
        remedy = "leave it out" if ensemble == "wigner" else "give N/d or p/n"
        raise InputError("ratio", f"the {ensemble} ensemble has {'no' if ratio is not None else 'a'} ratio", remedy)
    ratio_value = sp.Integer(1) if ratio is None else given.ratio
    inputs: dict[str, Any] = {"ensemble": ensemble, "digits": digits}
    if ratio is not None:
        inputs["ratio"] = str(ratio_value)
    if (strength is None) == (observed is None):
        raise InputError("strength", "neither it nor an observed outlier is given, or both are", "give one of them")
    if given.symbolic and d is not None:
        raise InputError("size", "the sd and the interval are numbers", "give the others as numbers, or leave it out")
    both_signs = ensemble in ("wigner", "wishart")
    here = {psi: ratio_value, c: ratio_value}
    needed: tuple[Any, ...] = ()
    name, position = ("strength", given.strength) if observed is None else ("observed", given.observed)
    if not both_signs:
        within(position, name, 0, None, True)
    inputs[name] = str(position)
    condition: Any = sp.true
    if strength is not None:
        t = position
        condition = law.above.xreplace({law.strength: t, **here})
    else:
        outside = law.outside.xreplace({x: position, **here})  # decided in rationals, or a condition
        if outside == False:  # noqa: E712 -- SymPy's truth value
            raise InputError(
                "observed", f"{position} does not lie beyond the bulk", "give a value in units of the noise"
            )
        needed = () if outside == True else (outside,)  # noqa: E712
        t = law.inverse.xreplace({x: position, **here})
    values = {law.strength: t, **here}

    def seen(inside: sp.Expr, outside: sp.Expr) -> sp.Expr:
        """What holds for an outlier, or for none, or by cases."""
        by_cases: sp.Expr = sp.Piecewise((inside.xreplace(values), condition), (outside.xreplace(values), True))
        return by_cases

    if observed is None:
        position = seen(law.outlier, law.edge)
    exact = {
        "threshold": law.own_threshold().xreplace(values),
        "strength": t,
        "outlier": position,
        "edge": law.edge.xreplace(values),
        **{f"overlap_{name}": seen(overlap, sp.Integer(0)) for name, overlap in law.overlaps},
    }
    above = condition == True  # noqa: E712
    interval, spread = None, None
    if d is not None:
        inputs["size"] = d
        from bulkedge.numerics.spectra.spike import SpikedModel

        model = SpikedModel(law, float(ratio_value))
        spread = _near_threshold(model, float(t), d)
        if above and spread is None:
            exact["sd"] = sp.sqrt(law.variance.subs(values) / d)
        if strength is None:
            found = model.interval(float(position), d, level=given.level)
            interval = (found.lower, found.upper)
            inputs["level"] = str(given.level)
    for declared in ("positive", "real"):
        if declared in given.inputs:
            inputs[declared] = given.inputs[declared]
    known = {name: Number.of(value, digits=digits) for name, value in exact.items()}
    notes: tuple[str, ...] = ("proved; limit of large sizes at the given ratio, strength fixed",)
    if needed:
        notes += (f"holds for an observed value beyond the bulk: {needed[0]}",)
    if ensemble == "wishart" and not given.symbolic and ratio_value > 1 and above and t < ratio_value:
        place = "between 0 and the bulk" if t > 0 else "below 0"
        notes += (f"ratio > 1: the spike moves one of the zeros of X^T X/n to the outlier, {place}",)
    if d is not None:
        derived = " (derived here)" if ensemble == "rectangular" else ""
        notes += (f"sd and interval: real Gaussian noise, to leading order in 1/{law.size}{derived}",)
        if spread is not None:
            notes += (
                f"within a few {law.size}^(-1/3) of the threshold: sd of the law between Tracy-Widom and the Gaussian; "
                f"left out is a relative {short(d ** (-1 / 3), 1)}",
            )
        if interval is not None:
            notes += ("interval: among values beyond the edge; it holds no spike where noise alone explains the value",)
    source = ("O2", "R3") if ensemble == "rectangular" else ("R3",)
    return SpikeResult(
        inputs,
        _SETTINGS[ensemble],
        source,
        notes,
        ensemble,
        ratio_value,
        digits,
        condition,
        known,
        interval,
        spread,
    )


def _near_threshold(model: SpikedModel, strength: float, size: int) -> float | None:
    """The spread of the extreme value where it is not that of a strong spike, else None."""
    if not model.has_edge(strength, size) or model.is_strong(strength, size):
        return None
    return model.spread(strength, size)
