"""`bulkedge weights`: the spectrum of a weight matrix in a file."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from bulkedge.numerics.weights.weights import WeightSpectrum
    from bulkedge.theory.functions.parse import Numeric

HAS_CURVE = True
SMALLEST_P = 1e-16  # below it Tracy-Widom's tail is rounding: a p-value is then a bound


@dataclass(frozen=True)
class WeightsResult(Result):
    """The report on one matrix (numerics.weights.weights.WeightSpectrum)."""

    command: ClassVar[str] = "weights"
    report: WeightSpectrum

    def payload(self) -> dict[str, Any]:
        """`shape`, `scale`, `edge`, `outliers` (value, p, strength), `strengths`, `fit` (distance, p), and more.

        `rate` is the false-alarm rate that holds, or null with its `reason`; `overlaps` are squared, with standard
        deviations about O2's limit. A `p` below 1e-16 is given as that bound (`p_is_bound`). `errors` are
        standard errors; singular values carry rounding errors only.
        """
        r = self.report
        return {
            "shape": [*r.shape],
            "scale": _text(r.scale),
            "edge": _text(r.edge),
            "threshold": _text(r.threshold),
            "count": len(r.outliers),
            "outliers": [
                {
                    "value": _text(value),
                    "p": _text(max(p, SMALLEST_P)),
                    "p_is_bound": p < SMALLEST_P,
                    "strength": _text(strength),
                    "strength_sd": _text(sd),
                }
                for value, p, strength, sd in zip(r.outliers, r.p_values, r.strengths, r.strength_sd, strict=True)
            ],
            "strengths": [_text(s) for s in r.strengths],
            "rate": None if r.rate is None else _text(r.rate),
            "reason": r.reason,
            "scaled": r.scaled,
            "fit": {
                "distance": _text(r.fit.distance),
                "p": _text(r.fit.p),
                "fits": r.fit.p >= 0.01,
                "scale": _text(r.fit.scale),
                "ratio": _text(r.fit.ratio),
            },
            "overlaps": [
                {
                    "outlier": o.outlier,
                    "direction": o.direction,
                    "side": o.side,
                    "squared": _text(o.squared),
                    "squared_sd": _text(o.squared_sd),
                    "signal": _text(o.signal),
                    "signal_sd": _text(o.signal_sd),
                }
                for o in r.overlaps
            ],
            "errors": {
                "scale": _text(r.scale_error),
                "edge": _text(r.edge * r.scale_error / r.scale),
                "threshold": _text(r.threshold * r.scale_error / r.scale),
                "outliers": _text(1e-7 * float(r.values[0])),
                "strengths": [_text(sd) for sd in r.strength_sd],
                "fit": {"p": _text((r.fit.p * (1 - r.fit.p) / 199) ** 0.5)},
            },
        }

    def tables(self) -> tuple[Table, ...]:
        """The outliers (the CSV), the bulk, the overlaps."""
        r = self.report
        rows = tuple(
            (str(k), f"{value:.6g}", _p(p), f"{strength:.5g}", f"{sd:.2g}")
            for k, (value, p, strength, sd) in enumerate(
                zip(r.outliers, r.p_values, r.strengths, r.strength_sd, strict=True)
            )
        )
        rate = f"false-alarm rate {r.rate:g}" if r.rate is not None else f"no rate: {r.reason}"
        tables = [Table(("outlier", "value", "p", "strength", "sd"), rows, f"{len(rows)} outliers; {rate}")]
        bulk = (
            ("noise scale", f"{r.scale:.6g} +- {r.scale_error:.1g}"),
            ("edge", f"{r.edge:.6g}"),
            ("threshold", f"{r.threshold:.6g}"),
            ("noise levels equalised", r.scaled),
            ("fit: distance, p", f"{r.fit.distance:.3g}, {r.fit.p:.2g}"),
            ("fit: scale, ratio of the middle", f"{r.fit.scale:.5g}, {r.fit.ratio:.4g}"),
        )
        tables.append(Table(("bulk", f"{r.shape[0]} x {r.shape[1]}"), bulk))
        if r.overlaps:
            overlaps = tuple(
                (
                    str(o.outlier),
                    str(o.direction),
                    o.side,
                    f"{o.squared:.4f} +- {o.squared_sd:.1g}",
                    f"{o.signal:.4f} +- {o.signal_sd:.1g}",
                )
                for o in r.overlaps
            )
            tables.append(Table(("outlier", "direction", "side", "squared overlap", "with the signal"), overlaps))
        return tuple(tables)

    def latex(self) -> str:
        """An array of outliers, p-values and strengths."""
        from bulkedge.derivations.engine.latex import decimal

        r = self.report
        rows = zip(r.outliers, r.p_values, r.strengths, r.strength_sd, strict=True)
        cells = (
            [
                decimal(f"{value:.5g}"),
                (r"\leq " if p < SMALLEST_P else "") + decimal(f"{max(p, SMALLEST_P):.2g}"),
                decimal(f"{strength:.4g}"),
                decimal(f"{sd:.1g}"),
            ]
            for value, p, strength, sd in rows
        )
        body = r" \\ ".join(rf"{value} & {p} & {strength} \pm {sd}" for value, p, strength, sd in cells)
        body = body or r"\text{none} & &"
        return rf"\begin{{array}}{{rrr}} s & p & \theta \\ {body} \end{{array}}"

    def figure(self) -> Figure:
        """The histogram of the singular values with the law and the outliers over it."""
        from bulkedge.results.spectra import weights_figure

        return weights_figure(self.report)


def _p(p: float) -> str:
    return f"< {SMALLEST_P:g}" if p < SMALLEST_P else f"{p:.2g}"


def _text(value: float) -> str:
    """Nine significant digits: what a float of a measured spectrum is good for."""
    from fractions import Fraction

    from bulkedge.theory.numbers.enclosure import decimal_string

    return decimal_string(Fraction(value), 9)


def configure(parser: argparse.ArgumentParser) -> None:
    """The file and how to read it."""
    parser.add_argument("file", metavar="FILE", help="a matrix, d x N: .npy, .npz or .csv (never pickles)")
    parser.add_argument("--array", metavar="NAME", help="which array of a .npz file")
    parser.add_argument("--directions", metavar="FILE", help="vectors of length d or N to compare the outliers with")
    parser.add_argument("--alarm", default="0.01", metavar="RATE", help="false-alarm rate of the count (default 0.01)")
    parser.add_argument("--seed", default="0", metavar="S", help="seed of the fit's calibration (default 0)")


def weights(
    file: str | Path,
    array: str | None = None,
    directions: str | Path | None = None,
    *,
    alarm: Numeric = "0.01",
    seed: int = 0,
) -> WeightsResult:
    """The bulk, edge and outliers of a weight matrix, its spikes' strengths, and whether Marchenko-Pastur fits.

    Valid for: noise with independent entries plus low rank. Unequal noise levels of rows or columns are equalised
    first; heavy tails, unequal levels on both sides and a bulk that does not fit are said, and no rate is quoted then.
    Accuracy: strengths with standard errors (R3); the count at the stated false-alarm rate (R4).
    Errors: InputError for a file that holds no usable matrix, and for directions of another length.
    Source: R5, R4, O2.

    Example:

    >>> import numpy as np
    >>> np.save("W.npy", np.random.default_rng(0).standard_normal((200, 100)))
    >>> bulkedge.weights("W.npy").payload()["count"]
    0
    """
    import numpy as np

    from bulkedge.numerics.weights.weights import analyse, read_matrix
    from bulkedge.theory.functions.parse import integer, positive
    from bulkedge.theory.numbers.errors import InputError

    rate = positive(alarm, "alarm")
    if rate > positive("1/2", "alarm"):
        raise InputError("alarm", f"{alarm} is not a false-alarm rate", "give a number in (0, 1/2]")
    seed = integer(seed, "seed", minimum=0)
    matrix = read_matrix(file, array)
    vectors = None if directions is None else read_matrix(directions, argument="directions")
    report = analyse(matrix, vectors, alarm=float(rate), rng=np.random.default_rng(seed))
    inputs: dict[str, Any] = {"file": str(file), "alarm": str(rate), "seed": seed}
    if array is not None:
        inputs["array"] = array
    if directions is not None:
        inputs["directions"] = str(directions)
    setting = "d x N as in the file; values, edge and strengths in its units; scale = sd of a noise entry"
    notes = ["edge and strengths: limit of large sizes; count: Tracy-Widom (R4), calibrated by simulation"]
    if report.scaled != "none":
        notes.append(f"noise levels of {report.scaled} equalised first: values are those of the scaled matrix")
    if report.reason:
        notes.append(f"no false-alarm rate: {report.reason}")
    return WeightsResult(inputs, setting, ("R5", "R4", "O2"), tuple(notes), report)


def run(arguments: argparse.Namespace) -> WeightsResult:
    """Run the command."""
    from bulkedge.theory.functions.parse import integer

    return weights(
        arguments.file,
        arguments.array,
        arguments.directions,
        alarm=arguments.alarm,
        seed=integer(arguments.seed, "seed", minimum=0),
    )
