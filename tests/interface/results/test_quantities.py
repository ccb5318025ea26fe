"""Quantities are stated once: the JSON, the attributes and the tables say the same."""

from __future__ import annotations

import copy
import csv
import pickle
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bulkedge
from bulkedge.cli import main
from bulkedge.results.number import Number
from bulkedge.results.quantities import Flat, Point, Quantities, Row, Shared, Worst, payload, rows
from bulkedge.theory.numbers.errors import PrecisionError

NUMBER = r"-?\d+(\.\d+)?(e[+-]\d+)?"
A, B, EXACT = Number.of(0.5, 1e-3), Number.of(0.25, 1e-2), Number.of(2)
MEASURED = Number.of(1.0, 0.125, measured=True)


def test_errors_and_expressions_stand_where_the_kind_says() -> None:
    found = payload(
        Quantities(
            {
                "a": A,
                "none": None,
                "above": True,
                "pair": [A, B],
                "measured": [MEASURED, MEASURED],
                "inner": {"b": B, "c": EXACT},
                "flat": Flat({"d": EXACT}),
                "weights": Worst({"0": A, "2": B}),
                "readings": {"full": {"A": EXACT}},
                "rows": [Row({"k": 1, "value": EXACT, "eta": A, "strength": MEASURED})],
                "curve": [Point({"step": EXACT, "test": A})],
                "components": [Shared({"lower": A, "upper": B})],
                "listed": [{"k": 1, "values": [A, B]}],
            }
        )
    )
    assert found == {
        "a": "0.5",
        "none": None,
        "above": True,
        "pair": ["0.5", "0.25"],
        "measured": ["1", "1"],
        "inner": {"b": "0.25", "c": "2"},
        "flat": {"d": "2"},
        "weights": {"0": "0.5", "2": "0.25"},
        "readings": {"full": {"A": "2"}},
        "rows": [
            {
                "k": 1,
                "exact": "2",
                "value": "2",
                "error": "0",
                "eta": "0.5",
                "eta_error": "0.00101",
                "strength": "1",
                "strength_sd": "0.125",
            }
        ],
        "curve": [{"step": "2", "test": "0.5", "errors": {"step": "0", "test": "0.00101"}}],
        "components": [{"lower": "0.5", "upper": "0.25", "error": "0.0101"}],
        "listed": [{"k": 1, "values": ["0.5", "0.25"]}],
        "errors": {
            "a": "0.00101",
            "pair": "0.0101",
            "measured": ["0.125", "0.125"],
            "inner": {"b": "0.0101", "c": "0"},
            "d": "0",
            "weights": "0.0101",
            "full": {"A": "0"},
            "listed": "0.0101",
        },
        "exact": {
            "a": None,
            "pair": None,
            "measured": None,
            "inner": {"b": None, "c": "2"},
            "d": "2",
            "weights": None,
            "full": {"A": "2"},
            "listed": None,
        },
    }


def test_quantities_are_attributes_and_frozen() -> None:
    group = Quantities(
        {"readings": {"full": {"B": A}}, "rows": [Row({"value": EXACT})], "two": Shared({"a": A, "b": B})}
    )
    assert group.full.B is A
    assert group.readings.full.B is A
    assert (group.rows[0].exact, group.rows[0].error) == (2, 0)
    assert group.two.error == B.error
    with pytest.raises(AttributeError, match="no quantity 'nothing' here; there are readings, rows, two"):
        _ = group.nothing
    with pytest.raises(TypeError, match="frozen"):
        group["x"] = 1
    for twin in (copy.deepcopy(group), pickle.loads(pickle.dumps(group))):  # noqa: S301
        assert payload(twin) == payload(group)
        assert type(twin.two) is Shared
    assert {row[0] for row in rows(group)} == {"full B", "rows 0 value", "two a", "two b"}


def walk(json: Any, value: Any, path: str = "") -> list[tuple[str, Number]]:
    """The Numbers of a result by the path of the JSON, having compared each with the JSON's text."""
    if isinstance(value, Number):
        assert json == value.decimal(), path
        return [(path, value)]
    if isinstance(json, list):
        return [x for i, (a, b) in enumerate(zip(json, value, strict=True)) for x in walk(a, b, f"{path}[{i}]")]
    if isinstance(json, dict) and isinstance(value, Quantities):
        return [x for name in value for x in walk(json[name], getattr(value, name, value[name]), f"{path}.{name}")]
    return []


SPIKE = (np.ones(60) / 2, np.ones(50) / 2)
CALLS: dict[str, tuple[Any, set[str]]] = {
    "mp": (lambda: bulkedge.mp("1/2"), {".edges[1]", ".atom"}),
    "population": (lambda: bulkedge.mp("1/2", population="1:1/2,10:1/2"), {".edges[1]", ".components[0].mass"}),
    "spike": (lambda: bulkedge.spike(2, observed=4, size=100), {".outlier", ".overlap_d", ".interval[0]", ".sd"}),
    "convert": (lambda: bulkedge.convert("F", "O", step=3, width=100), {".step"}),
    "gamma": (lambda: bulkedge.gamma("relu", "tanh", n=200, m=100, d=100, step=30), {".readings.full.B"}),
    "floor": (lambda: bulkedge.floor("tanh", "z"), {".tau", ".kappa", ".linear_floor"}),
    "spectrum": (lambda: bulkedge.spectrum(20, 1, 6), {".top.eigenvalue", ".linear.aligned", ".top.weights.0"}),
    "features": (
        lambda: bulkedge.features("-erf", "-tanh(z)", exponent="3/10", samples=2, width=1, ridge=".1"),
        {".norm", ".directions[0].full[1]", ".loss_drops.full[0]"},
    ),
    "risk": (
        lambda: bulkedge.risk("tanh", "z", samples=2, width=1, ridge=".1", step="0:1:2", dim=40, simulate=2),
        {".test", ".random_features", ".gain", ".curve[1].test", ".simulation[1].train"},
    ),
    "align": (
        lambda: bulkedge.align("tanh", power=1, alpha=2, batch="reused", activation="relu"),
        {".norm2", ".signals[0]", ".further.cosine"},
    ),
    "weights": (
        lambda: bulkedge.weights(np.random.default_rng(0).standard_normal((60, 50)) + 3 * np.outer(*SPIKE)),
        {".scale", ".edge", ".outliers[0].value", ".outliers[0].strength", ".strengths[0]", ".fit.p"},
    ),
    "limit": (
        lambda: bulkedge.risk("tanh", "z", samples=2, width=1, ridge=".1", step=1),
        {".decomposition.bias", ".finite_size.test"},
    ),
    "hermite": (lambda: bulkedge.hermite("tanh", 3), {".coefficients[3].value"}),
    "kernel": (lambda: bulkedge.kernel("tanh", rho="1/2", order=2), {".value", ".series[1].value"}),
    "sphere": (lambda: bulkedge.sphere("relu", 7, 2), {".eigenvalues[2].eta", ".second_moment"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_attributes_have_the_names_and_values_of_the_json(name: str) -> None:
    make, some = CALLS[name]
    result = make()
    json = result.to_dict()
    found = [x for key, value in result.quantities().items() for x in walk(json[key], getattr(result, key), f".{key}")]
    assert some <= {path for path, _ in found}
    for _, number in found:
        assert float(number) == pytest.approx(float(number.decimal()), rel=1e-8)
        assert number.error >= 0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = result.nothing


def test_a_result_computes_with_its_numbers() -> None:
    found = bulkedge.spike(ratio=2, strength=3)
    assert (found.outlier**2).exact == Fraction(110, 9)
    assert found.outlier > found.edge
    assert 3.4960294939 < found.outlier < 3.4960294940
    assert f"{found.outlier:.4f}" == "3.4960"
    near = bulkedge.spike(2, "1.25", size=100)
    with pytest.raises(PrecisionError, match="not decided"):
        _ = near.sd == float(near.sd)


@pytest.mark.parametrize(
    "call",
    [
        ("mp", "--ratio", "1/2"),
        ("hermite", "relu", "--degree", "3"),
        ("kernel", "tanh", "--order", "3"),
        ("floor", "tanh", "z"),
        ("spike", "--ratio", "2", "--observed", "4", "--size", "100"),
        ("convert", "--from", "F", "--to", "O", "--step", "3", "--width", "100"),
    ],
    ids=lambda call: call[0],
)
def test_the_csv_has_a_number_a_cell(call: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*call, "--csv"]) == 0
    read = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert read
    for line in read:
        assert (
            re.fullmatch(f"|{NUMBER}", line["value"]) or "verdict" in line.values() or line.get("quantity") == "above"
        )
        assert re.fullmatch(f"|{NUMBER}", line["error"])
