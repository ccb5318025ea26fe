"""`bulkedge weights` over many matrices: one row a layer, one tensor in memory at a time, finished rows kept."""

from __future__ import annotations

import functools
import hashlib
import json
from contextlib import nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.results.number import Number, short
from bulkedge.results.quantities import Bare, Row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.figure import Figure

    from bulkedge.numerics.weights.tensor import Tensor
    from bulkedge.numerics.weights.weights import WeightSpectrum

DIGITS = 9  # what a float of a measured spectrum is good for
ROUNDING = 1e-7  # of the largest singular value: what the eigenvalues of the Gram matrix lose in the small ones
_ERRORS = ("scale_sd", "edge_sd", "threshold_sd", "top_error")


@dataclass(frozen=True)
class LayersResult(Result):
    """The reports on many matrices: `rows` as they are kept, `layers` with Numbers."""

    command: ClassVar[str] = "weights"
    rows: tuple[Mapping[str, Any], ...]

    def quantities(self) -> dict[str, Any]:
        """`layers`: a list of `file`, `array`, `shape`, `count`, `headline`, `scale`, `edge`, ... or a `problem`."""
        return {"layers": [_stated(row) for row in self.rows]}

    def tables(self) -> tuple[Table, ...]:
        """One row a layer."""
        beside = tuple(name for name in _BESIDE if any(name in row for row in self.rows))
        columns: tuple[str, ...] = (
            *("array", "shape", "beyond", "trusted", "scale", "sd", "edge", "top", "strength", "sd of that", "fit p"),
            *("screenot", "stable rank", "rank90", *(_BESIDE[name] for name in beside), "said"),
        )
        rows = []
        for row in self.layers:
            head = (row["array"] or Path(row["file"]).name, _shape(row["shape"]))
            if "problem" in row:
                rows.append((*head, *("",) * (len(columns) - 3), row["problem"]))
                continue
            strongest = ("", "")
            if row["strengths"]:
                strongest = (short(row["strengths"][0]), row["strengths"][0].error_text())
            rows.append(
                (
                    *(*head, str(row["count"]), "yes" if row["trusted"] else "no"),
                    *(short(row["scale"]), row["scale"].error_text(), short(row["edge"]), short(row["top"])),
                    *(*strongest, "" if row["fit"] is None else short(row["fit"]["p"])),
                    *(str(row["screenot"]), short(row["stable_rank"]), str(row["rank90"])),
                    *(_beside(row.get(name)) for name in beside),
                    "; ".join(filter(None, (row["reason"], *row["missing"]))),
                )
            )
        good = sum("problem" not in row and row["trusted"] for row in self.layers)
        return (Table(columns, tuple(rows), f"{len(rows)} layers; the bulk fits in {good}"),)

    def latex(self) -> str:
        """An array of layers and counts."""
        rows = [(str(k), row.get("count", "-")) for k, row in enumerate(self.layers)]
        body = r" \\ ".join(f"{k} & {count}" for k, count in rows)
        return rf"\begin{{array}}{{rr}} \text{{layer}} & \text{{outliers}} \\ {body} \end{{array}}"

    def figure(self) -> Figure:
        """Counts over the layers, and the largest value over the edge."""
        from bulkedge.results.plotting import new_figure

        figure, (above, below) = new_figure(6.4, 4.4, nrows=2, sharex=True)
        read = [(k, row) for k, row in enumerate(self.layers) if "problem" not in row]
        for trusted, colour, name in (
            (True, "#0072B2", "outliers"),
            (False, "#D55E00", "beyond a fitted edge that does not fit"),
        ):
            rows = [(k, row["count"]) for k, row in read if row["trusted"] == trusted]
            if rows:
                above.bar(
                    [k for k, _ in rows],
                    [c for _, c in rows],
                    color=colour,
                    hatch=None if trusted else "//",
                    label=name,
                )
        above.set_ylabel("count")
        if read:
            above.legend(fontsize=8, frameon=False)
        below.plot(
            [k for k, _ in read],
            [float(row["top"]) / float(row["edge"]) for _, row in read],
            "o-",
            ms=3,
            color="#000000",
        )
        below.axhline(1, color="#888888", lw=0.8)
        below.set_ylabel("largest value/edge")
        below.set_xlabel("layer")
        return figure


# What --null, --against and --directions add to a row, and the columns' names.
_BESIDE = {
    "beyond_null": "beyond the null's edge",
    "new": "new",
    "intruders": "intruders",
    "shared": "largest shared",
    "overlap": "largest overlap",
}


def _beside(value: Any) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else short(value, 4)


def _stated(row: Mapping[str, Any]) -> Row:
    """A kept row, whose floats are plain, with Numbers: errors stand beside their quantities."""
    found: dict[str, Any] = {key: value for key, value in row.items() if key not in _ERRORS}
    if "problem" in row:
        return Row(found)
    for name, error in (("scale", "scale_sd"), ("edge", "edge_sd"), ("threshold", "threshold_sd")):
        found[name] = Number.of(row[name], row[error], digits=DIGITS, measured=True)
    found["top"] = Number.of(row["top"], row["top_error"], digits=DIGITS)
    sds = row["strength_sd"]
    found["strengths"] = [
        Number.of(x, sd, digits=DIGITS, measured=True) for x, sd in zip(row["strengths"], sds, strict=True)
    ]
    found |= {name: [*map(Bare, row[name])] for name in ("outliers", "strength_sd")}
    found |= {name: Bare(row[name]) for name in ("stable_rank", "effective_rank")}
    found |= {name: Bare(row[name]) for name in ("shared", "overlap") if row.get(name) is not None}
    found["rate"] = None if row["rate"] is None else Bare(row["rate"])
    found["fit"] = None if row["fit"] is None else {name: Bare(x) for name, x in row["fit"].items()}
    return Row(found)


def _shape(shape: Any) -> str:
    return " x ".join(map(str, shape))


@dataclass(frozen=True)
class Beside:
    """Checkpoints whose arrays are compared with those of the same name: `null`, `against`, and `directions`."""

    null: str | None = None
    against: str | None = None
    directions: str | None = None

    @functools.cached_property
    def asked(self) -> dict[str, str]:
        """The checkpoints that are given, by argument."""
        return {f.name: path for f in fields(self) if (path := getattr(self, f.name)) is not None}

    @functools.cached_property
    def listed(self) -> dict[str, tuple[Tensor, ...]]:
        """What each of them holds, listed once for all layers; the arrays are read one by one."""
        from bulkedge.numerics.weights.weight_files import tensors

        return {name: tensors(path, name) for name, path in self.asked.items()}

    def matrix(self, argument: str, name: str) -> Any:
        """The array of that name in a checkpoint (its only one, where it holds one), or None where there is none."""
        held = self.listed[argument]
        found = [t for t in held if t.name == name] or (list(held) if len(held) == 1 else [])
        if not found:
            return None
        return found[0].read() if argument != "against" else found[0].matrix()[0]


def layers(
    files: list[Any],
    array: str | None,
    alarm: float,
    inputs: dict[str, Any],
    scale: Any,
    store: str | None,
    beside: Beside | None = None,
) -> LayersResult:
    """The report on every matrix of the files whose name matches; what cannot be analysed is a row with its problem."""
    from bulkedge.numerics.trials.store import Store
    from bulkedge.results.progress import RichProgress

    pattern = array or "*"
    chosen = [(str(file), tensor) for file in files for tensor in _chosen(file, pattern)]
    options = {"alarm": alarm, "scale": None if scale is None else float(scale), "seed": inputs["seed"]}
    beside = beside or Beside()
    asked = beside.asked
    for name in beside.listed:  # unusable files are said before anything is computed
        options[name] = _state(asked[name])
    rows = []
    with Store(store) if store is not None else nullcontext() as kept, RichProgress() as progress:
        progress.start("layers", len(chosen))
        for file, tensor in chosen:
            key = _key(file, tensor, options)
            row = kept.get(key) if kept is not None else None
            if row is None:
                row = _row(file, tensor, options, beside)
                if kept is not None:
                    kept.put(key, row)
            rows.append(row)
            progress.advance()
    setting = "a row a matrix, d x N as in its file; values, edge and strengths in its units"
    notes = [
        "what `bulkedge weights FILE --array NAME` says in full; torch, ONNX and safetensors store outputs x inputs"
    ]
    notes += sorted({note for _, tensor in chosen for note in tensor.notes})
    if any(len(tensor.shape) > 2 for _, tensor in chosen):
        notes.append("kernels of more axes are matrices of outputs by everything else")
    if asked:
        notes.append(f"{', '.join(asked)}: arrays go with those of the same name; `said` tells where there is none")
    if beside.against is not None:
        from bulkedge.numerics.weights.subspaces import INTRUDER, NEW

        notes.append(
            f"new: outliers with a squared projection on the other's below {NEW} on a side; intruders: no singular "
            f"vector of the other within a cosine of {INTRUDER} on either; shared: the largest squared projection"
        )
    shown = {"file": [str(file) for file in files], "array": pattern, **asked, **inputs}
    return LayersResult(shown, setting, ("R5", "R4", "O2"), tuple(notes), tuple(rows))


def _chosen(file: Any, pattern: str) -> Iterator[Tensor]:
    from bulkedge.numerics.weights.weight_files import matching

    yield from matching(file, pattern)


def _key(file: str, tensor: Tensor, options: Mapping[str, Any]) -> str:
    """What a row depends on: the file as it stands, the array, the options and the code."""
    from bulkedge.numerics.trials.fingerprint import toolkit_fingerprint

    parts = (*_state(file), tensor.name, options, toolkit_fingerprint())
    return "weights:" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _state(file: str) -> list[Any]:
    state = Path(file).stat()
    return [str(Path(file).resolve()), state.st_size, state.st_mtime_ns]


def _row(file: str, tensor: Tensor, options: Mapping[str, Any], beside: Beside) -> dict[str, Any]:
    import numpy as np

    from bulkedge.numerics.spectra.edge import squared_singular_values
    from bulkedge.numerics.weights.further_edges import further_edges
    from bulkedge.numerics.weights.spectral_measures import measures
    from bulkedge.numerics.weights.weights import analyse
    from bulkedge.theory.numbers.errors import InputError

    head = {"file": file, "array": tensor.name, "shape": list(tensor.matrix_shape or tensor.shape)}
    try:
        matrix, _ = tensor.matrix()
        rng = np.random.default_rng(options["seed"])
        vectors, missing = _vectors(beside, tensor.name, matrix.shape)
        report = analyse(matrix, vectors, alarm=options["alarm"], rng=rng, scale=options["scale"])
    except InputError as error:
        return {**head, "problem": f"{error.problem}; {error.remedy}"}
    compared = _compared(beside, tensor.name, report, options, missing)
    edges = {e.name: e for e in further_edges(report.part.matrix, report.found, options["alarm"])}
    found = measures(np.sqrt(squared_singular_values(report.part.matrix)))
    return {
        **head,
        "count": len(report.outliers),
        "trusted": report.trusted,
        "rate": report.rate,
        "reason": report.reason,
        "scaled": report.scaled,
        "scale": report.scale,
        "scale_sd": report.scale_error,
        "edge": report.edge,
        "edge_sd": report.edge * report.scale_error / report.scale,
        "threshold": report.threshold,
        "threshold_sd": report.threshold * report.scale_error / report.scale,
        "top": float(report.values[0]),
        "top_error": ROUNDING * float(report.values[0]),
        "outliers": [*map(float, report.outliers)],
        "strengths": [*map(float, report.strengths)],
        "strength_sd": [*map(float, report.strength_sd)],
        "fit": None if report.fit is None else {"distance": report.fit.distance, "p": report.fit.p},
        "screenot": edges["screenot"].count,
        "separable": edges["separable"].count if "separable" in edges else None,
        "dropped": list(report.dropped),
        "rank": report.rank,
        "stable_rank": found.stable_rank,
        "effective_rank": found.effective_rank,
        "rank90": found.rank90,
        "rank99": found.rank99,
        **compared,
        "missing": missing,
    }


def _vectors(beside: Beside, name: str, shape: tuple[int, ...]) -> tuple[Any, list[str]]:
    """The directions for a layer, and what there is to say where there are none."""
    if beside.directions is None:
        return None, []
    vectors = beside.matrix("directions", name)
    if vectors is None:
        return None, [f"no directions called {name}"]
    sides = set(vectors.shape[:1]) if vectors.ndim == 1 else set(vectors.shape)
    if not sides & set(shape):
        return None, [f"directions of shape {_shape(vectors.shape)} fit neither side"]
    return vectors, []


def _compared(
    beside: Beside, name: str, report: WeightSpectrum, options: Mapping[str, Any], missing: list[str]
) -> dict[str, Any]:
    """What --null, --against and --directions say of a layer; what is missing is added to the list."""
    import numpy as np

    from bulkedge.commands.weight_inputs import null_spectra
    from bulkedge.numerics.spectra.edge import matrix as checked
    from bulkedge.numerics.weights.further_edges import further_edges
    from bulkedge.numerics.weights.subspaces import compare
    from bulkedge.numerics.weights.weights import analyse
    from bulkedge.theory.numbers.errors import InputError

    found: dict[str, Any] = {}
    if beside.directions is not None:
        found["overlap"] = max((o.squared for o in report.overlaps), default=None)
    for argument in ("null", "against"):
        if getattr(beside, argument) is None:
            continue
        other = beside.matrix(argument, name)
        if other is None:
            missing.append(f"no {argument} called {name}")
            continue
        try:
            if argument == "null":
                nulls = null_spectra(other, argument, report.shape)
                edges = further_edges(report.part.matrix, report.found, options["alarm"], nulls)
                found["beyond_null"] = next(e.count for e in edges if e.name == "null")
            else:
                rng = np.random.default_rng(options["seed"])
                start = analyse(other, alarm=options["alarm"], rng=rng, scale=options["scale"])
                pairs = (report.left, report.right), (start.left, start.right)
                compared = compare(*pairs, checked(other, argument)).directions
                found["new"] = sum(d.new for d in compared)
                found["intruders"] = sum(d.intruder for d in compared)
                found["shared"] = max((min(d.shared) for d in compared), default=None)
        except InputError as error:
            missing.append(f"{argument}: {error.problem}")
    return found
