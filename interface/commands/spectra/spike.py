"""`bulkedge spike`: the outlier of a rank-one perturbation, and the strength behind an observed outlier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Count, Digits, Numeric, Real, Word, read
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import COLUMNS, rows
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from bulkedge.numerics.spectra.spike import SpikedModel
    from bulkedge.theory.numbers.enclosure import Enclosure

HAS_CURVE = True
MAX_SIZE = 10**50  # numerics.trials.domain


@dataclass(frozen=True)
class SpikeResult(Result):
    """The predicted outlier and overlaps: exact expressions and their enclosures, both by name.

    `ends` are those of the confidence interval of a strength read from an observed outlier at a finite size, or None.
    """

    command: ClassVar[str] = "spike"
    ensemble: str
    ratio: sp.Rational
    digits: int
    above: bool
    exact: dict[str, sp.Expr]
    enclosed: dict[str, Enclosure]
    ends: tuple[float, float] | None = None
    spread: float | None = None

    def quantities(self) -> dict[str, Any]:
        """`threshold`, `strength`, `outlier`, `edge`, `overlap_d`, `overlap_N` (and `sd` at a size), `above`.

        `sd` is an expression far above the threshold, else a number; `interval` is the strength's.
        """
        found: dict[str, Any] = {
            name: Number.of(value, exact=self.exact[name], digits=self.digits) for name, value in self.enclosed.items()
        }
        if self.spread is not None:
            found["sd"] = Number.of(self.spread, self.spread * _SPREAD_ERROR, digits=6)
        if self.ends is not None:
            left_out = max(map(abs, self.ends)) * 1e-8  # a bound of what nine digits of the ends leave out
            found["interval"] = [Number.of(end, left_out, digits=9) for end in self.ends]
        return {**found, "above": self.above}

    def payload(self) -> dict[str, Any]:
        """The quantities; `exact` holds those that are: `sd` near the threshold and `interval` are not."""
        found = super().payload()
        return found | {"exact": {name: text for name, text in found["exact"].items() if text is not None}}

    def tables(self) -> tuple[Table, ...]:
        """One row per quantity."""
        side = "above the" if self.exact["outlier"] > self.exact["edge"] else "below the lower"
        title = f"{side} threshold" if self.above else "within the threshold: no outlier"
        return (Table(COLUMNS, tuple(rows(self._stated)), title),)

    def latex(self) -> str:
        """Outlier and overlaps."""
        from bulkedge.derivations.engine.latex import latex

        name = "s_{1}" if self.ensemble == "rectangular" else r"\lambda"
        return rf"{name} \to {latex(self.exact['outlier'])}"

    def figure(self) -> Figure:
        """The histogram of a simulated spectrum with the law and the predicted outlier over it."""
        from bulkedge.results.spectra import spike_figure

        return spike_figure(self.ensemble, float(self.ratio), float(self.enclosed["strength"]))


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
        Real("N/d (rectangular), p/n (covariance, wishart); wigner has none", "psi", low=0, exclusive=True),
    ] = None,
    strength: Annotated[
        Numeric | None,
        Real("the spike's strength; noise entries have variance 1/d", "theta", group=_GIVEN, either="given"),
    ] = None,
    *,
    ensemble: Annotated[
        str,
        Word("W0 + theta u v^T, a population eigenvalue, H + theta v v^T, or X^T X/n + theta v v^T", words=ENSEMBLES),
    ] = "rectangular",
    observed: Annotated[
        Numeric | None, Real("an observed outlier, to be read back into a strength", "s", group=_GIVEN, either="given")
    ] = None,
    size: Annotated[
        Numeric | None,
        Count("d, n or n: adds the sd, or the strength's interval", "d", low=1, high=MAX_SIZE, group=_FINITE),
    ] = None,
    level: Annotated[
        Numeric, Real("level of the interval", "L", low=0, high=1, exclusive=True, group=_FINITE)
    ] = "0.95",
    digits: Digits = 15,
) -> SpikeResult:
    """The leading singular value of W0 + theta u v^T and the squared overlaps of its vectors with u and v.

    s_1 -> sqrt((1 + theta^2)(psi + theta^2))/theta iff theta^4 > psi (decided exactly), else the edge 1 + sqrt psi.
    Valid for: W0 d x N with iid entries of variance 1/d, psi = N/d, unit vectors u (d) and v (N). `ensemble` asks for a
    spiked covariance (strength: the population eigenvalue, also below the bulk), or for a spike added to a Wigner or
    to a Wishart matrix (of either sign). `threshold` is that of the strength's own side of the bulk. With `observed`
    instead of `strength` the map is inverted; a `size` adds the standard deviation of the extreme value (real
    Gaussian noise), or a confidence interval for the strength.
    Accuracy: exact expressions, printed to `digits` digits.
    Errors: InputError for numbers that are not positive, or an observed value within the bulk.
    Source: O2 (paper O; Benaych-Georges & Nadakuditi 2012), R3.

    Example:

    >>> bulkedge.spike(ratio=2, strength=3).outlier.exact
    sqrt(110)/3
    """
    given = read(spike, locals())
    import sympy as sp

    from bulkedge.theory.functions.parse import positive
    from bulkedge.theory.numbers.ball import enclose_expr
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
    both_signs = ensemble in ("wigner", "wishart")
    here = {psi: ratio_value, c: ratio_value}
    if strength is not None:
        t = given.strength if both_signs else positive(given.strength, "strength")
        inputs["strength"] = str(t)
        above = bool(law.above.subs({law.strength: t, **here}))
        position = (law.outlier if above else law.edge).subs({law.strength: t, **here})
    else:
        position = given.observed if both_signs else positive(given.observed, "observed")
        inputs["observed"] = str(position)
        if not law.outside.subs({x: position, **here}):  # decided in rationals
            raise InputError(
                "observed", f"{position} does not lie beyond the bulk", "give a value in units of the noise"
            )
        t, above = law.inverse.subs({x: position, **here}), True
    values = {law.strength: t, **here}
    exact = {
        "threshold": law.own_threshold().subs(values),
        "strength": t,
        "outlier": position,
        "edge": law.edge.subs(values),
        **{f"overlap_{name}": overlap.subs(values) if above else sp.Integer(0) for name, overlap in law.overlaps},
    }
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
    enclosed = {name: enclose_expr(value, digits) for name, value in exact.items()}
    notes: tuple[str, ...] = ("proved; limit of large sizes at the given ratio, strength fixed",)
    if ensemble == "wishart" and ratio_value > 1 and above and t < ratio_value:
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
        above,
        exact,
        enclosed,
        interval,
        spread,
    )


def _near_threshold(model: SpikedModel, strength: float, size: int) -> float | None:
    """The spread of the extreme value where it is not that of a strong spike, else None."""
    if not model.has_edge(strength, size) or model.is_strong(strength, size):
        return None
    return model.spread(strength, size)
