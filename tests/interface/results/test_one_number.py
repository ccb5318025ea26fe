"""Numbers are printed by bulkedge.results.number alone; a cell holds one number, its error stands in the next."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bulkedge
from bulkedge.results.number import Number, exactly, magnitude, resolved, short
from bulkedge.results.quantities import Atom, Each, Float, Measurement, Quantities, Row, Simulation, payload
from bulkedge.results.result import Result

FRONT = Path(__file__).parents[3] / "interface"
PRINTERS = {"results/number.py", "results/progress.py"}  # the latter counts seconds
PAIR = re.compile(r"\+-|\d[^a-zA-Z(]*[,;] *-?\.?\d")  # "1 +- 2", "1, 2"
WORDS = {"equation", "polynomial"}  # rows whose values are formulas


def formats(source: str) -> Iterator[int]:
    """Lines with an f-string's format of digits, `:.6g`."""
    for node in ast.walk(ast.parse(source)):
        spec = node.format_spec if isinstance(node, ast.FormattedValue) else None
        if spec is not None and re.search(r"\.[\d{].*[gfeE]", ast.unparse(spec)[2:-1]):
            yield node.lineno


def test_no_module_of_the_front_door_formats_floats() -> None:
    found = [
        f"{path.relative_to(FRONT)}:{line}"
        for path in sorted(FRONT.rglob("*.py"))
        if path.relative_to(FRONT).as_posix() not in PRINTERS
        for line in formats(path.read_text())
    ]
    assert not found, f"print these by bulkedge.results.number (short, Number): {found}"


def test_the_search_sees_a_format() -> None:
    assert [*formats("f'{x:.3g}'\nf'{x:>10}'\nf'{x:.{n}f}'\nf'{x}'")] == [1, 3]


def pairs(result: Result) -> list[str]:
    """Cells that hold two numbers, or a number with its error."""
    return [
        cell
        for table in result.tables()
        for row in table.rows
        for name, cell in zip(table.columns, row, strict=True)
        if row[0] not in WORDS and name not in ("claim", "said") and PAIR.search(cell)
    ]


def _matrix() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 90)) + 30 * np.outer(*(x / np.linalg.norm(x) for x in (np.ones(60), np.ones(90))))


def test_weights_and_layers(tmp_path: Path) -> None:
    matrix = _matrix()
    np.savez(tmp_path / "m.npz", **{"a.weight": matrix, "b.weight": np.zeros((4, 5))})
    one = bulkedge.weights(matrix, directions=np.ones(60), against=_matrix() * 2, tail=True, null=matrix)
    assert not pairs(one)
    many = bulkedge.weights(str(tmp_path / "m.npz"), array="*.weight")
    assert not pairs(many)
    layer = many.layers[0]
    assert layer.scale.error == pytest.approx(one.scale.error)
    assert float(layer.strengths[0]) == pytest.approx(float(one.strengths[0]))
    row = many.payload()["layers"][0]
    assert {"scale_sd", "edge_sd", "threshold_sd", "top_error", "strength_sd"} <= set(row)
    assert row["strengths"] == one.payload()["strengths"]


def test_check() -> None:
    found = bulkedge.check(["H4"])
    assert not pairs(found)
    row, (result,) = found.payload()["checks"][0], found.results
    assert (row["predicted"], float(row["measured"])) == (repr(result.predicted), result.measured.value)
    assert float(row["stderr"]) == result.measured.stderr
    assert float(found.checks[0].control_predicted) == result.control_predicted


def test_equivalent() -> None:
    asked = bulkedge.equivalent(
        "tr(inv(X.T*X + lam))", "X: n x d, 1/n", size="n=2,d=1", positive="lam", set="lam=3/10", simulate=20, trials=3
    )
    assert not pairs(asked)
    fields = asked.payload()
    assert set(fields["simulated"]) == {"value", "stderr", "size", "trials", "dimensions"}
    assert fields["exact"] is None
    assert float(fields["error"]) < 1e-13
    assert f"{asked.simulated.estimate.value:.9g}" == fields["simulated"]["value"]
    law = bulkedge.equivalent("tr(inv(X.T*X - z))", "X: n x d, 1/n", size="n=2,d=1", spectrum="z")
    assert not pairs(law)
    fields = law.payload()
    assert len(fields["errors"]["edges"]) == len(fields["edges"]) == 2
    assert fields["value"] is None
    assert fields["error"] is None


def test_rows_of_their_own() -> None:
    half, third = Number.of(0.5, 0.01, measured=True), Number.of(0.25, 0.125)
    fields = payload(
        Quantities(
            {
                "atom": Atom({"value": third, "weight": half}),
                "run": Simulation({"value": half}),
                "ledger": [Measurement({"measured": half, "predicted": Float(0.1)})],
                "places": Each((third, None)),
                "rows": [Row({"value": third})],
            }
        )
    )
    assert fields["atom"] == {"value": "0.25", "value_error": "0.125", "weight": "0.5", "error": "0.01"}
    assert fields["run"] == {"value": "0.5", "stderr": "0.01"}
    assert fields["ledger"] == [{"measured": "0.5", "stderr": "0.01", "predicted": "0.1"}]
    assert (fields["places"], fields["errors"]["places"]) == (["0.25", None], ["0.125", None])
    assert fields["rows"] == [{"exact": None, "value": "0.25", "error": "0.125"}]
    assert Simulation({"value": half}).stderr == half.error


def test_short_numbers() -> None:
    assert [short(x) for x in (0.123456, -2.0, 0, 1e-30)] == ["0.1235", "-2", "0", "1e-30"]
    assert short(Number.of(0.123456, 1e-9), 3) == "0.123"
    assert [exactly(x) for x in (0.1, 1e300, 2.0 / 3)] == ["0.1", "1e+300", repr(2.0 / 3)]
    assert [resolved(0.123456, x) for x in (0.1, 0.003)] == ["0.12", "0.1235"]


def test_magnitudes() -> None:
    assert [magnitude(x) for x in (0.3, 2.634, 8.08, 299.5, 4520.2)] == ["2", "430", "1.2e+08", "3.2e+299", "1e4520"]
