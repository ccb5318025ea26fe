"""`bulkedge weights`: the spectrum of a weight matrix in a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Argument, File, Flag, Numeric, Real, Seed, Word, read
from bulkedge.commands.layers import DIGITS, ROUNDING, Beside, LayersResult, layers
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import Bare, Quantities, Row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.numerics.spectra.marchenko_pastur import Floats
    from bulkedge.numerics.weights.bulk_fit import Fit
    from bulkedge.numerics.weights.further_edges import FurtherEdge
    from bulkedge.numerics.weights.shrinkage import Shrinkage
    from bulkedge.numerics.weights.spectral_measures import Measures, Tail
    from bulkedge.numerics.weights.subspaces import Comparison
    from bulkedge.numerics.weights.weights import WeightSpectrum

HAS_CURVE = True
_SIDES = ("left", "right")
LOSSES = ("frobenius", "operator", "nuclear")
_BESIDE, _WRITTEN = "beside it", "denoising, and files to write"
_SMALLEST_P = 1e-16  # below it Tracy-Widom's tail is rounding: a p-value is then a bound


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
        rounding = ROUNDING * float(r.values[0])
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
                        "p": Bare(max(p, _SMALLEST_P)),
                        "p_is_bound": bool(p < _SMALLEST_P),
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
        rounding = Bare(ROUNDING * float(self.report.values[0])).decimal
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
        """The outliers (the CSV), the bulk, the overlaps; a number a cell, its error in the next one."""
        r, stated = self.report, self._stated
        outliers = tuple(
            (str(k), *_cell(o["value"], 6), short(o.p, 2), _bound(o.p_is_bound), *_cell(o["strength"], 5))
            for k, o in enumerate(stated.outliers)
        )
        tables = [Table(("outlier", "value", "error", "p", "p is", "strength", "sd"), outliers, self.headline)]
        bulk: list[tuple[str, str, str]] = [
            ("noise scale", *_cell(stated.scale, 6)),
            ("edge", *_cell(stated.edge, 6)),
            ("threshold", *_cell(stated.threshold, 6)),
            ("noise levels equalised", r.scaled, ""),
        ]
        if stated.fit is None:
            bulk.append(("fit", "no bulk left to test", ""))
        else:
            bulk += [
                ("fit: distance", short(stated.fit.distance, 3), ""),
                ("fit: p", *_cell(stated.fit.p, 2)),
                ("fit: scale of the middle", short(stated.fit.scale, 5), ""),
                ("fit: ratio of the middle", short(stated.fit.ratio), ""),
            ]
        bulk += [(f"{side} of zeros left out", str(n), "") for side, n in stated.dropped.items() if n]
        if r.deficient:
            bulk.append(("rank", str(r.rank), ""))
        bulk += self._measures()
        tables.append(Table((f"bulk of {r.shape[0]} x {r.shape[1]}", "value", "error"), tuple(bulk)))
        if stated.denoised["values"]:
            shrunken = tuple((str(k), short(x, 5)) for k, x in enumerate(stated.denoised["values"]))
            title = f"denoised: what the outliers shrink to ({self.shrunk.loss} loss)"
            tables.append(Table(("outlier", "shrunken"), shrunken, title))
        if (self.further and not r.trusted) or any(e.name == "null" for e in self.further):
            further = tuple((e.law, short(e.edge, 6), short(e.threshold, 6), str(e.count)) for e in stated.edges)
            tables.append(Table(("further edge", "edge", "threshold", "beyond"), further))
        if stated.against is not None:
            tables += _comparison(stated.against)
        if stated.overlaps:
            columns = ("outlier", "direction", "side", "squared overlap", "sd", "with the signal", "sd of that")
            overlaps = tuple(
                (str(o.outlier), str(o.direction), o.side, *_cell(o["squared"], 4), *_cell(o["signal"], 4))
                for o in stated.overlaps
            )
            tables.append(Table(columns, overlaps))
        return tuple(tables)

    def _measures(self) -> list[tuple[str, str, str]]:
        m, tail = self._stated.measures, self._stated.tail
        rows = [
            ("stable rank", short(m.stable_rank, 5), ""),
            ("entropy", short(m.entropy, 5), ""),
            ("effective rank", short(m.effective_rank, 5), ""),
            ("rank of 90 % of the energy", str(m.rank90), ""),
            ("rank of 99 % of the energy", str(m.rank99), ""),
            ("denoised: loss that remains", short(self._stated.denoised.risk), ""),
        ]
        if tail is not None:
            rows.append((f"tail exponent of {tail.count} values", *_cell(tail["exponent"], 3)))
            rows.append(("tail: p of a power law", short(tail.p, 2), ""))
        return rows

    def latex(self) -> str:
        """An array of outliers, p-values and strengths."""
        from bulkedge.derivations.engine.latex import decimal

        body = r" \\ ".join(
            rf"{o['value'].rounded_latex(5)} & {_at_most(o.p_is_bound)}{decimal(short(o.p, 2))} & "
            rf"{replace(o['strength'], digits=4).latex}"
            for o in self._stated.outliers
        )
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
    return dict(zip(_SIDES, map(Bare, pair), strict=True))


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


def _comparison(found: Quantities) -> list[Table]:
    names = ("shared", "similarity")
    rows = tuple(
        (
            str(d.outlier),
            *(short(d[name][side]) for name in names for side in _SIDES),
            "new" if d.new else "",
            "intruder" if d.intruder else "",
        )
        for d in found.directions
    )
    columns = ("outlier", *(f"{name}, {side}" for name in names for side in _SIDES), "new", "intruder")
    angles = tuple((str(k), side, short(x, 3)) for side in _SIDES for k, x in enumerate(found.angles[side]))
    return [
        Table(columns, rows, "against the other matrix"),
        Table(("principal angle", "side", "degrees"), angles),
    ]


def _cell(number: Number, digits: int) -> tuple[str, str]:
    """The value, rounded, and its error: two cells."""
    return short(number, digits), number.error_text()


def _bound(is_bound: bool) -> str:
    return "at most" if is_bound else ""


def _at_most(is_bound: bool) -> str:
    return r"\leq " if is_bound else ""


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
    for `array`, give one row a layer (`store` keeps finished ones); `null`, `against` and `directions` are then
    checkpoints, whose arrays go with those of the same name.
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
        for name, value in {"denoised": denoised, "out": out, "directions_as": directions_as}.items():
            if value is not None:
                raise InputError(name, "goes with one matrix", "name one file and one array")
        beside = {"null": null, "against": against, "directions": directions}
        for name, value in beside.items():
            if value is not None and not is_path(value):
                raise InputError(name, "goes with many layers as a file", "give a checkpoint with the same names")
        if not several and not is_path(file):
            raise InputError("array", "is a pattern of names", "give a file with it")
        compared = Beside(**{name: None if value is None else str(value) for name, value in beside.items()})
        return layers(list(file) if several else [file], array, float(rate), inputs, known, store, compared)
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
