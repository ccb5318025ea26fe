"""`bulkedge spike`: the outlier of a rank-one perturbation, and the strength behind an observed outlier."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from theory.enclosure import Enclosure
    from theory.parse import Numeric

HAS_CURVE = True


@dataclass(frozen=True)
class SpikeResult(Result):
    """The predicted outlier and overlaps: exact expressions and their enclosures, both by name.

    `interval` is the confidence interval of a strength read from an observed outlier at a finite size, or None.
    """

    command: ClassVar[str] = "spike"
    ratio: sp.Rational
    digits: int
    above: bool
    exact: dict[str, sp.Expr]
    enclosed: dict[str, Enclosure]
    interval: tuple[float, float] | None = None

    def payload(self) -> dict[str, Any]:
        """`threshold`, `strength`, `outlier`, `edge`, `overlap_d`, `overlap_N` (and `sd` at a size), `above`."""
        decimal = {name: value.value_string(self.digits) for name, value in self.enclosed.items()}
        payload: dict[str, Any] = {
            **decimal,
            "above": self.above,
            "exact": {name: str(value) for name, value in self.exact.items()},
            "errors": dict.fromkeys(decimal, "0"),
        }
        if self.interval is not None:
            payload["interval"] = [f"{end:.9g}" for end in self.interval]
            payload["errors"]["interval"] = "1e-8"
        return payload

    def tables(self) -> tuple[Table, ...]:
        """One row per quantity."""
        rows = [
            (name.replace("_", " "), value.value_string(self.digits), str(self.exact[name]))
            for name, value in self.enclosed.items()
        ]
        if self.interval is not None:
            rows.append(("interval", "{:.6g} .. {:.6g}".format(*self.interval), ""))
        title = "above the threshold" if self.above else "within the threshold: no outlier"
        return (Table(("quantity", "value", "exact"), tuple(rows), title),)

    def latex(self) -> str:
        """Outlier and overlaps."""
        from derivations.latex import latex

        return rf"s_1 \to {latex(self.exact['outlier'])}"

    def figure(self) -> Figure:
        """The histogram of a simulated spectrum with the law and the predicted outlier over it."""
        from bulkedge.spectra import spike_figure

        return spike_figure(float(self.ratio), float(self.enclosed["strength"]))


def configure(parser: argparse.ArgumentParser) -> None:
    """The ratio, and a strength or an observed outlier."""
    parser.add_argument("--ratio", required=True, metavar="psi", help="N/d, width over input dimension")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--strength", metavar="theta", help="the spike's strength; noise entries have variance 1/d")
    given.add_argument("--observed", metavar="s", help="an observed outlier, to be read back into a strength")
    parser.add_argument("--size", metavar="d", help="finite dimension: adds the sd, or the strength's interval")
    parser.add_argument("--level", default="0.95", metavar="L", help="level of the interval (default 0.95)")
    parser.add_argument("--digits", default="15", metavar="D", help="significant digits (default 15)")


def spike(
    ratio: Numeric,
    strength: Numeric | None = None,
    *,
    observed: Numeric | None = None,
    size: int | None = None,
    level: Numeric = "0.95",
    digits: int = 15,
) -> SpikeResult:
    """The leading singular value of W0 + theta u v^T and the squared overlaps of its vectors with u and v.

    s_1 -> sqrt((1 + theta^2)(psi + theta^2))/theta iff theta^4 > psi (decided exactly), else the edge 1 + sqrt psi.
    Valid for: W0 d x N with iid entries of variance 1/d, psi = N/d, unit vectors u (d) and v (N). With `observed`
    instead of `strength` the map is inverted; a `size` d adds the standard deviation of the outlier (real Gaussian
    noise), or a confidence interval for the strength.
    Accuracy: exact expressions, printed to `digits` digits.
    Errors: InputError for numbers that are not positive, or an observed value within the bulk.
    Source: O2 (paper O; Benaych-Georges & Nadakuditi 2012), R3.
    """
    import sympy as sp

    from theory import spike as spikes
    from theory.ball import enclose_expr
    from theory.enclosure import check_digits
    from theory.errors import InputError
    from theory.parse import positive
    from theory.symbols import psi, theta, x

    law = spikes.RECTANGULAR
    psi_value, digits = positive(ratio, "ratio"), check_digits(digits)
    if size is not None and size < 1:
        raise InputError("size", f"{size} is not a dimension", "give a positive integer")
    confidence = positive(level, "level")
    if not confidence < 1:
        raise InputError("level", f"{level} is not a confidence level", "give a number in (0, 1)")
    inputs: dict[str, Any] = {"ratio": str(psi_value)}
    if (strength is None) == (observed is None):
        raise InputError("strength", "neither it nor an observed outlier is given, or both are", "give one of them")
    if strength is not None:
        t = positive(strength, "strength")
        inputs["strength"] = str(t)
        above = bool(t**4 > psi_value)
    else:
        s = positive(observed, "observed")
        inputs["observed"] = str(s)
        # s > 1 + sqrt psi, in rationals: s > 1 and (s - 1)^2 > psi.
        if not (s > 1 and (s - 1) ** 2 > psi_value):
            remedy = "give a singular value in units of the noise (entries of variance 1/d)"
            raise InputError("observed", f"{s} does not exceed the edge 1 + sqrt({psi_value})", remedy)
        t, above = law.inverse.subs({x: s, psi: psi_value}), True
    values = {theta: t, psi: psi_value}
    exact = {
        "threshold": law.threshold.subs(psi, psi_value),
        "strength": t,
        "outlier": s if strength is None else (law.outlier if above else law.edge).subs(values),
        "edge": law.edge.subs(psi, psi_value),
        **{f"overlap_{name}": overlap.subs(values) if above else sp.Integer(0) for name, overlap in law.overlaps},
    }
    interval = None
    if size is not None:
        inputs["size"] = size
        if above:
            exact["sd"] = sp.sqrt(law.variance.subs(values) / size)
        if strength is None:
            from numerics.spike import rectangular

            found = rectangular(float(psi_value)).interval(float(s), size, level=float(confidence))
            interval = (found.lower, found.upper)
            inputs["level"] = str(confidence)
    enclosed = {name: enclose_expr(value, digits) for name, value in exact.items()}
    setting = "W0 + strength u v^T, W0 d x N with iid entries of variance 1/d; ratio = N/d; overlaps are squared"
    notes: tuple[str, ...] = ("proved; limit d, N -> infinity at N/d = ratio, strength fixed",)
    if size is not None:
        notes += ("sd and interval: real Gaussian noise, to leading order in 1/d (derived here)",)
    return SpikeResult(inputs, setting, ("O2", "R3"), notes, psi_value, digits, above, exact, enclosed, interval)


def run(arguments: argparse.Namespace) -> SpikeResult:
    """Run the command."""
    from theory.parse import integer

    return spike(
        arguments.ratio,
        arguments.strength,
        observed=arguments.observed,
        size=None if arguments.size is None else integer(arguments.size, "size", minimum=1),
        level=arguments.level,
        digits=integer(arguments.digits, "digits"),
    )
