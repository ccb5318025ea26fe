"""`bulkedge weights`: the spectrum of a weight matrix in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Argument, File, Flag, Numeric, Real, Seed, Word, read
from bulkedge.results.number import Number
from bulkedge.results.quantities import Bare, Row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.commands.layers import LayersResult
    from bulkedge.numerics.spectra.marchenko_pastur import Floats
    from bulkedge.numerics.weights.bulk_fit import Fit
    from bulkedge.numerics.weights.further_edges import FurtherEdge
    from bulkedge.numerics.weights.shrinkage import Shrinkage
    from bulkedge.numerics.weights.spectral_measures import Measures, Tail
    from bulkedge.numerics.weights.subspaces import Comparison
    from bulkedge.numerics.weights.weights import WeightSpectrum

HAS_CURVE = True
LOSSES = ("frobenius", "operator", "nuclear")
_BESIDE, _WRITTEN = "beside it", "denoising, and files to write"
DIGITS = 9  # what a float of a measured spectrum is good for
SMALLEST_P = 1e-16  # below it Tracy-Widom's tail is rounding: a p-value is then a bound


@dataclass(frozen=True)
class WeightsResult(Result):
    """The report on one matrix (numerics.weights.weights.WeightSpectrum), and what was asked for beside it."""

    command: ClassVar[str] = "weights"
    report: WeightSpectrum
    further: tuple[FurtherEdge, ...]
    spectral: Measures
    shrunk: Shrinkage
    power_law: Tail | None = None
    comparison: Comparison | None = None

    @property
    def denoised(self) -> Floats:
        """The matrix of the outliers alone, shrunken for the loss (in the file's units and shape)."""
        from bulkedge.numerics.weights.weights import denoised

        return denoised(self.report, self.shrunk.values)

    def quantities(self) -> dict[str, Any]:
        """`shape`, `scale`, `edge`, `outliers` (value, p, strength), `strengths`, `fit` (distance, p), and more.

        `rate` is the false-alarm rate that holds, or None with its `reason`; `overlaps` are squared, with standard
        deviations about O2's limit. A `p` below 1e-16 is given as that bound (`p_is_bound`). Errors are
        standard errors; singular values carry rounding errors only.
        """
        r = self.report
        relative = r.scale_error / r.scale
        rounding = 1e-7 * float(r.values[0])
        strengths = [_measured(s, sd) for s, sd in zip(r.strengths, r.strength_sd, strict=True)]
        return {
            "shape": [*r.shape],
            "scale": _measured(r.scale, r.scale_error),
            "edge": _measured(r.edge, r.edge * relative),
            "threshold": _measured(r.threshold, r.threshold * relative),
            "count": len(r.outliers),
            "headline": self.headline,
            "outliers": [
                Row(
                    {
                        "value": Number.of(float(value), rounding, digits=DIGITS),
                        "p": Bare(max(p, SMALLEST_P)),
                        "p_is_bound": bool(p < SMALLEST_P),
                        "strength": strength,
                    }
                )
                for value, p, strength in zip(r.outliers, r.p_values, strengths, strict=True)
            ],
            "strengths": strengths,
            "rate": None if r.rate is None else Bare(r.rate),
            "reason": r.reason,
            "scaled": r.scaled,
            "fit": None if r.fit is None else _fit(r.fit, r.trusted),
            "dropped": {"rows": r.dropped[0], "columns": r.dropped[1]},
            "rank": r.rank,
            "overlaps": [
                Row(
                    {
                        "outlier": o.outlier,
                        "direction": o.direction,
                        "side": o.side,
                        "squared": _measured(o.squared, o.squared_sd),
                        "signal": _measured(o.signal, o.signal_sd),
                    }
                )
                for o in r.overlaps
            ],
            "edges": [
                {
                    "law": e.name,
                    "edge": Bare(e.edge),
                    "threshold": Bare(e.threshold),
                    "count": e.count,
                    "strengths": [*map(Bare, e.strengths)],
                }
                for e in self.further
            ],
            "measures": {
                "stable_rank": Bare(self.spectral.stable_rank),
                "entropy": Bare(self.spectral.entropy),
                "effective_rank": Bare(self.spectral.effective_rank),
                "rank90": self.spectral.rank90,
                "rank99": self.spectral.rank99,
            },
            "denoised": {
                "loss": self.shrunk.loss,
                "values": [*map(Bare, self.shrunk.values.tolist())],
                "risk": Bare(self.shrunk.risk),
            },
            "tail": None if self.power_law is None else _tail(self.power_law),
            "against": None if self.comparison is None else _against(self.comparison),
        }

    def payload(self) -> dict[str, Any]:
        """The quantities; `errors` has one bound for the singular values beyond the edge."""
        found = super().payload()
        rounding = Bare(1e-7 * float(self.report.values[0])).decimal
        return found | {"errors": {"strengths": [], "fit": None, **found["errors"], "outliers": rounding}}

    @property
    def headline(self) -> str:
        """A count of outliers with its rate; where the bulk is not the law's, of values beyond the fitted edge only."""
        r = self.report
        count = len(r.outliers)
        if r.trusted:
            said = f"{count} outlier{'' if count == 1 else 's'}"
            return f"{said}; " + (f"false-alarm rate {r.rate:g}" if r.rate is not None else f"no rate: {r.reason}")
        said = f"{count} value{'' if count == 1 else 's'} beyond the fitted edge"
        return f"{said}, which need not be spikes: {r.reason}"

    def tables(self) -> tuple[Table, ...]:
        """The outliers (the CSV), the bulk, the overlaps."""
        r = self.report
        rows = tuple(
            (str(k), f"{value:.6g}", _p(p), f"{strength:.5g}", f"{sd:.2g}")
            for k, (value, p, strength, sd) in enumerate(
                zip(r.outliers, r.p_values, r.strengths, r.strength_sd, strict=True)
            )
        )
        tables = [Table(("outlier", "value", "p", "strength", "sd"), rows, self.headline)]
        fit = "no bulk left to test" if r.fit is None else f"{r.fit.distance:.3g}, {r.fit.p:.2g}"
        middle = "-" if r.fit is None else f"{r.fit.scale:.5g}, {r.fit.ratio:.4g}"
        bulk = [
            ("noise scale", f"{r.scale:.6g} +- {r.scale_error:.1g}"),
            ("edge", f"{r.edge:.6g}"),
            ("threshold", f"{r.threshold:.6g}"),
            ("noise levels equalised", r.scaled),
            ("fit: distance, p", fit),
            ("fit: scale, ratio of the middle", middle),
        ]
        if any(r.dropped):
            bulk.append(("rows, columns of zeros left out", f"{r.dropped[0]}, {r.dropped[1]}"))
        if r.deficient:
            bulk.append(("rank", str(r.rank)))
        bulk += self._measures()
        tables.append(Table(("bulk", f"{r.shape[0]} x {r.shape[1]}"), tuple(bulk)))
        if (self.further and not r.trusted) or any(e.name == "null" for e in self.further):
            further = tuple((e.name, f"{e.edge:.6g}", f"{e.threshold:.6g}", str(e.count)) for e in self.further)
            tables.append(Table(("further edge", "edge", "threshold", "beyond"), further))
        if self.comparison is not None:
            tables += _comparison(self.comparison)
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

    def _measures(self) -> list[tuple[str, str]]:
        m, s = self.spectral, self.shrunk
        rows = [
            ("stable rank", f"{m.stable_rank:.5g}"),
            ("entropy; effective rank", f"{m.entropy:.5g}; {m.effective_rank:.5g}"),
            ("rank of 90, 99 % of the energy", f"{m.rank90}, {m.rank99}"),
            (f"denoised: values ({s.loss})", ", ".join(f"{x:.5g}" for x in s.values[:6]) or "none"),
            ("denoised: loss that remains", f"{s.risk:.4g}"),
        ]
        if self.power_law is not None:
            t = self.power_law
            rows.append(("tail exponent; p", f"{t.exponent:.3g} +- {t.exponent_sd:.1g} ({t.count} values); {t.p:.2g}"))
        return rows

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


def _measured(value: float, sd: float) -> Number:
    return Number.of(float(value), float(sd), digits=DIGITS, measured=True)


def _fit(fit: Fit, trusted: bool) -> dict[str, Any]:
    p = _measured(fit.p, (fit.p * (1 - fit.p) / fit.draws) ** 0.5)
    return {"distance": Bare(fit.distance), "p": p, "fits": trusted, "scale": Bare(fit.scale), "ratio": Bare(fit.ratio)}


def _tail(tail: Tail) -> Row:
    return Row(
        {
            "exponent": _measured(tail.exponent, tail.exponent_sd),
            "start": Bare(tail.start),
            "count": tail.count,
            "distance": Bare(tail.distance),
            "p": Bare(tail.p),
        }
    )


def _sides(pair: tuple[float, float]) -> dict[str, Bare]:
    return {"left": Bare(pair[0]), "right": Bare(pair[1])}


def _against(found: Comparison) -> dict[str, Any]:
    return {
        "directions": [
            {
                "outlier": d.outlier,
                "shared": _sides(d.shared),
                "similarity": _sides(d.similarity),
                "new": d.new,
                "intruder": d.intruder,
            }
            for d in found.directions
        ],
        "angles": {"left": [*map(Bare, found.left)], "right": [*map(Bare, found.right)]},
    }


def _comparison(found: Comparison) -> list[Table]:
    rows = tuple(
        (
            str(d.outlier),
            f"{d.shared[0]:.4f}, {d.shared[1]:.4f}",
            f"{d.similarity[0]:.4f}, {d.similarity[1]:.4f}",
            "new" if d.new else "",
            "intruder" if d.intruder else "",
        )
        for d in found.directions
    )
    columns = ("outlier", "shared (left, right)", "similarity (left, right)", "new", "intruder")
    sides = (("left", found.left), ("right", found.right))
    angles = tuple((side, ", ".join(f"{x:.1f}" for x in a) or "-") for side, a in sides)
    return [Table(columns, rows, "against the other matrix"), Table(("angles (degrees)", ""), angles)]


def _p(p: float) -> str:
    return f"< {SMALLEST_P:g}" if p < SMALLEST_P else f"{p:.2g}"


def weights(
    file: Annotated[
        Any,
        Argument(
            "a matrix, d x N, or a checkpoint: .npy .npz .csv .safetensors .pt .pth .onnx .h5 .mat (never pickles)",
            "FILE",
            place=True,
            many=True,
        ),
    ],
    array: Annotated[str | None, Argument("which array of the file; 'encoder.*.weight' takes them all", "NAME")] = None,
    directions: Annotated[
        Any, Argument("vectors of length d or N to compare the outliers with", "FILE", group=_BESIDE)
    ] = None,
    *,
    alarm: Annotated[
        Numeric, Real("false-alarm rate of the count, at most 1/2", "RATE", low=0, exclusive=True)
    ] = "0.01",
    seed: Seed = 0,
    scale: Annotated[
        Numeric | None, Real("the noise's standard deviation, if known", "S", low=0, exclusive=True)
    ] = None,
    directions_as: Annotated[
        str | None,
        Word("where the vectors are, if both lengths fit", words=("rows", "columns"), group=_BESIDE),
    ] = None,
    against: Annotated[
        Any, Argument("another matrix of this shape: which outliers are new", "FILE", group=_BESIDE)
    ] = None,
    null: Annotated[
        Any, Argument("a matrix of noise only, or several: their edge beside ours", "FILE", group=_BESIDE)
    ] = None,
    loss: Annotated[str, Word("what denoising loses least in", words=LOSSES, group=_WRITTEN)] = "frobenius",
    denoised: Annotated[
        str | None, File("write the matrix of the outliers, shrunken, as .npy", "FILE", group=_WRITTEN)
    ] = None,
    out: Annotated[str | None, File("write values, vectors and strengths as .npz", "FILE", group=_WRITTEN)] = None,
    tail: Annotated[bool, Flag("the exponent of a power-law tail, with its test")] = False,
    store: Annotated[
        str | None,
        File("with many layers: keep the finished ones; a second run goes on from there", "FILE", group=_WRITTEN),
    ] = None,
) -> WeightsResult | LayersResult:
    """The bulk, edge and outliers of a weight matrix, its spikes' strengths, and whether Marchenko-Pastur fits.

    `file` is a path, or an array of NumPy, PyTorch or anything with __array__ or DLPack; several paths, or a pattern
    for `array`, give one row a layer (`store` keeps finished ones).
    Valid for: noise with independent entries plus low rank. Unequal noise levels of rows or columns are equalised
    first; heavy tails, unequal levels on both sides and a bulk that does not fit are said, and no rate is quoted then.
    Rows and columns of zeros are left out. `scale` is the noise's standard deviation where it is known, `null` a matrix
    of noise only, `against` another matrix (the start of training); `denoised` and `out` are files to write.
    Accuracy: strengths with standard errors (R3); the count at the stated false-alarm rate (R4).
    Errors: InputError for a file that holds no usable matrix, and for directions of another length.
    Source: R5, R4, O2.

    Example:

    >>> import numpy as np
    >>> bulkedge.weights(np.random.default_rng(0).standard_normal((200, 100))).payload()["count"]
    0
    """
    given = read(weights, locals())
    from bulkedge.commands.layers import layers
    from bulkedge.commands.weight_inputs import check_target, is_path
    from bulkedge.numerics.weights.weight_files import is_pattern
    from bulkedge.theory.numbers.errors import InputError

    rate, known, loss, tail, directions_as = given.alarm, given.scale, given.loss, given.tail, given.directions_as
    denoised, out, store = given.denoised, given.out, given.store
    if 2 * rate > 1:
        raise InputError("alarm", f"{alarm} is not a false-alarm rate", "give a number in (0, 1/2]")
    inputs: dict[str, Any] = {"alarm": str(rate), "seed": given.seed}
    if known is not None:
        inputs["scale"] = str(known)
    check_target(denoised, "denoised", ".npy")
    check_target(out, "out", ".npz")
    several = isinstance(file, list | tuple) and len(file) > 0 and all(map(is_path, file))
    if several or is_pattern(array):
        single = {"directions": directions, "null": null, "denoised": denoised, "out": out, "against": against}
        for name, value in single.items():
            if value is not None:
                raise InputError(name, "goes with one matrix", "name one file and one array")
        if not several and not is_path(file):
            raise InputError("array", "is a pattern of names", "give a file with it")
        return layers(list(file) if several else [file], array, float(rate), inputs, known, store)
    if store is not None:
        raise InputError("store", "keeps finished layers", "give several files, or a pattern with --array")
    return _one(file, array, directions, directions_as, against, null, loss, denoised, out, tail, inputs)


def _one(
    file: Any,
    array: str | None,
    directions: Any,
    directions_as: str | None,
    against: Any,
    null: Any,
    loss: str,
    denoised: str | None,
    out: str | None,
    tail: bool,
    inputs: dict[str, Any],
) -> WeightsResult:
    import numpy as np

    from bulkedge.commands.weight_inputs import as_array, is_path, label, matrix_of, null_spectra, write
    from bulkedge.numerics.spectra.edge import matrix as checked
    from bulkedge.numerics.spectra.edge import squared_singular_values
    from bulkedge.numerics.weights.further_edges import further_edges
    from bulkedge.numerics.weights.shrinkage import shrinkage
    from bulkedge.numerics.weights.spectral_measures import measures, power_tail
    from bulkedge.numerics.weights.subspaces import compare
    from bulkedge.numerics.weights.weight_files import read_matrix
    from bulkedge.numerics.weights.weights import analyse
    from bulkedge.theory.functions.parse import positive

    given, read, name = matrix_of(file, array, "FILE")
    vectors = None
    if directions is not None:
        path = is_path(directions)
        vectors = read_matrix(directions, argument="directions") if path else as_array(directions, "directions")
    rate, seed = float(positive(inputs["alarm"], "alarm")), inputs["seed"]
    scale = float(positive(inputs["scale"], "scale")) if "scale" in inputs else None
    options: dict[str, Any] = {"alarm": rate, "scale": scale}
    report = analyse(given, vectors, rng=np.random.default_rng(seed), layout=directions_as, **options)
    nulls = None if null is None else null_spectra(null, "null", report.shape)
    kept = np.array(report.found_kept).reshape(-1, 2)
    shrunk = shrinkage(np.array(report.found_strengths), kept[:, 0], kept[:, 1], loss)
    comparison = None
    if against is not None:
        other, _, _ = matrix_of(against, name if name and is_path(against) else None, "against")
        start = analyse(other, rng=np.random.default_rng(seed), **options)
        comparison = compare((report.left, report.right), (start.left, start.right), checked(other, "against"))
    result = WeightsResult(
        {
            "file": label(file),
            **({} if array is None else {"array": array}),
            **({} if directions is None else {"directions": label(directions)}),
            **({} if directions_as is None else {"directions_as": directions_as}),
            **({} if against is None else {"against": label(against)}),
            **({} if null is None else {"null": label(null)}),
            **({"loss": loss} if loss != "frobenius" else {}),
            **inputs,
        },
        "d x N as in the file; values, edge and strengths in its units; scale = sd of a noise entry",
        ("R5", "R4", "O2"),
        (*_notes(report, tail, comparison), *read),
        report,
        further_edges(report.part.matrix, report.found, rate, nulls),
        measures(np.sqrt(squared_singular_values(report.part.matrix))),
        shrunk,
        power_tail(report.values, np.random.default_rng(seed)) if tail else None,
        comparison,
    )
    if denoised is not None:
        write(denoised, "denoised", lambda opened: np.save(opened, result.denoised))
    if out is not None:
        write(out, "out", lambda opened: np.savez(opened, **_arrays(report)))
    return result


def _arrays(report: WeightSpectrum) -> dict[str, Any]:
    import numpy as np

    return {
        "values": report.values,
        "outliers": np.array(report.outliers),
        "p_values": np.array(report.p_values),
        "strengths": np.array(report.strengths),
        "strength_sd": np.array(report.strength_sd),
        "left": report.left,
        "right": report.right,
        "kept": np.array(report.kept).reshape(-1, 2),
    }


def _notes(report: WeightSpectrum, tail: bool, comparison: Comparison | None) -> list[str]:
    notes = ["edge and strengths: limit of large sizes; count: Tracy-Widom (R4), calibrated by simulation"]
    if report.scaled != "none":
        which = "rows and columns" if report.scaled == "both" else report.scaled
        notes.append(
            f"noise levels of {which} equalised first: values, edge and threshold are those of the scaled matrix (mean "
            "square level one), the loss is measured on it; strengths, vectors and overlaps are the file's own"
        )
    if any(report.dropped):
        notes.append(f"{report.dropped[0]} rows and {report.dropped[1]} columns hold zeros only and are left out")
    if report.reason:
        notes.append(f"no false-alarm rate: {report.reason}")
    if tail:
        notes.append("a tail exponent does not show a power law: noise with a few spikes has one of the same size")
    if comparison is not None:
        from bulkedge.numerics.weights.subspaces import INTRUDER, NEW

        notes.append(
            f"new: a squared projection on the other's outliers below {NEW} on a side; intruder: no singular vector of "
            f"the other within a cosine of {INTRUDER} on either"
        )
    return notes
