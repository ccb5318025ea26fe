"""`bulkedge weights` over many matrices: one row a layer, one tensor in memory at a time, finished rows kept."""

from __future__ import annotations

import hashlib
import json
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.figure import Figure

    from bulkedge.numerics.weights.tensor import Tensor


@dataclass(frozen=True)
class LayersResult(Result):
    """The reports on many matrices, a row each: `layers` are mappings of the JSON fields."""

    command: ClassVar[str] = "weights"
    layers: tuple[Mapping[str, Any], ...]

    def payload(self) -> dict[str, Any]:
        """`layers`: a list of `file`, `array`, `shape`, `count`, `headline`, `scale`, `edge`, ... or a `problem`."""
        return {"layers": [dict(row) for row in self.layers]}

    def tables(self) -> tuple[Table, ...]:
        """One row a layer."""
        columns: tuple[str, ...] = (
            "array",
            "shape",
            "beyond",
            "trusted",
            "scale",
            "edge",
            "top",
            "strength",
            "fit p",
            "screenot",
        )
        columns += ("stable rank", "rank90", "said")
        rows = []
        for row in self.layers:
            name = row["array"] or Path(row["file"]).name
            if "problem" in row:
                rows.append((name, _shape(row["shape"]), *("",) * (len(columns) - 3), row["problem"]))
                continue
            strongest = row["strengths"][0] if row["strengths"] else ""
            numbers = (row["scale"], row["edge"], row["top"], strongest, row["fit"]["p"] if row["fit"] else "")
            shown = tuple(f"{float(x):.4g}" if x else "" for x in numbers)
            trusted = "yes" if row["trusted"] else "no"
            rest = (str(row["screenot"]), f"{float(row['stable_rank']):.4g}", str(row["rank90"]), row["reason"])
            rows.append((name, _shape(row["shape"]), str(row["count"]), trusted, *shown, *rest))
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


def _shape(shape: Any) -> str:
    return " x ".join(map(str, shape))


def layers(
    files: list[Any], array: str | None, alarm: float, inputs: dict[str, Any], scale: Any, store: str | None
) -> LayersResult:
    """The report on every matrix of the files whose name matches; what cannot be analysed is a row with its problem."""
    from bulkedge.numerics.trials.store import Store
    from bulkedge.results.progress import RichProgress

    pattern = array or "*"
    chosen = [(str(file), tensor) for file in files for tensor in _chosen(file, pattern)]
    options = {"alarm": alarm, "scale": None if scale is None else float(scale), "seed": inputs["seed"]}
    rows = []
    with Store(store) if store is not None else nullcontext() as kept, RichProgress() as progress:
        progress.start("layers", len(chosen))
        for file, tensor in chosen:
            key = _key(file, tensor, options)
            row = kept.get(key) if kept is not None else None
            if row is None:
                row = _row(file, tensor, options)
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
    shown = {"file": [str(file) for file in files], "array": pattern, **inputs}
    return LayersResult(shown, setting, ("R5", "R4", "O2"), tuple(notes), tuple(rows))


def _chosen(file: Any, pattern: str) -> Iterator[Tensor]:
    from bulkedge.numerics.weights.weight_files import matching

    yield from matching(file, pattern)


def _key(file: str, tensor: Tensor, options: Mapping[str, Any]) -> str:
    """What a row depends on: the file as it stands, the array, the options and the code."""
    from bulkedge.numerics.trials.fingerprint import toolkit_fingerprint

    state = Path(file).stat()
    parts = (str(Path(file).resolve()), state.st_size, state.st_mtime_ns, tensor.name, options, toolkit_fingerprint())
    return "weights:" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _row(file: str, tensor: Tensor, options: Mapping[str, Any]) -> dict[str, Any]:
    import numpy as np

    from bulkedge.numerics.spectra.edge import squared_singular_values
    from bulkedge.numerics.weights.further_edges import further_edges
    from bulkedge.numerics.weights.spectral_measures import measures
    from bulkedge.numerics.weights.weights import analyse
    from bulkedge.theory.numbers.enclosure import decimal_string
    from bulkedge.theory.numbers.errors import InputError

    def text(value: float) -> str:
        from fractions import Fraction

        return decimal_string(Fraction(value), 9)

    head = {"file": file, "array": tensor.name, "shape": list(tensor.matrix_shape or tensor.shape)}
    try:
        matrix, _ = tensor.matrix()
        rng = np.random.default_rng(options["seed"])
        report = analyse(matrix, alarm=options["alarm"], rng=rng, scale=options["scale"])
    except InputError as error:
        return {**head, "problem": f"{error.problem}; {error.remedy}"}
    edges = {e.name: e for e in further_edges(report.part.matrix, report.found, options["alarm"])}
    found = measures(np.sqrt(squared_singular_values(report.part.matrix)))
    return {
        **head,
        "count": len(report.outliers),
        "trusted": report.trusted,
        "rate": None if report.rate is None else text(report.rate),
        "reason": report.reason,
        "scaled": report.scaled,
        "scale": text(report.scale),
        "edge": text(report.edge),
        "threshold": text(report.threshold),
        "top": text(float(report.values[0])),
        "outliers": [text(x) for x in report.outliers],
        "strengths": [text(x) for x in report.strengths],
        "strength_sd": [text(x) for x in report.strength_sd],
        "fit": None if report.fit is None else {"distance": text(report.fit.distance), "p": text(report.fit.p)},
        "screenot": edges["screenot"].count,
        "separable": edges["separable"].count if "separable" in edges else None,
        "dropped": list(report.dropped),
        "rank": report.rank,
        "stable_rank": text(found.stable_rank),
        "effective_rank": text(found.effective_rank),
        "rank90": found.rank90,
        "rank99": found.rank99,
    }
