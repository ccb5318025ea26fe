"""The public contract, command by command: what other programs rely on when they call `bulkedge ... --json`.

Table-driven: CALLS holds one or more cheap calls of every command, FIELDS what its JSON must hold and of which type.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import csv
import dataclasses
import functools
import importlib
import inspect
import io
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import TWO_SECONDS, at_most

import bulkedge
from bulkedge import cli
from bulkedge.cli import main
from bulkedge.commands import COMMANDS
from bulkedge.commands import module as command_module
from bulkedge.parser import parse
from bulkedge.parser import parser as parser_of
from bulkedge.results.result import Result

# FILE, VECTOR and DIR stand for a matrix, a direction and a scratch folder, TRUE and FALSE for a user's own theorems.
CALLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "hermite": (
        ("relu", "--degree", "5"),
        ("tanh(2*z)", "--degree", "3", "--digits", "30", "--convention", "moment"),
        ("-z", "--degree", "1"),
    ),
    "kernel": (
        ("relu", "--rho", "-1/2", "--order", "4"),
        ("tanh", "--order", "3"),
        ("z**2", "--q11", "2", "--q12", "1", "--q22", "3", "--order", "2"),
        ("relu", "--with", "-z", "--mean1", "-1/2", "--mean2", "1/3", "--rho", "1/4", "--order", "2"),
    ),
    "sphere": (
        ("relu", "--dim", "7", "--degree", "4"),
        ("z**3", "--dim", "2", "--degree", "3", "--radius", "1.5"),
        ("erf", "--dim", "5", "--degree", "3"),
    ),
    "gamma": (
        ("tanh", "tanh", "--n", "200", "--m", "100", "--d", "100", "--step", "30"),
        ("relu", "-z", "--n", "10", "--m", "200", "--d", "50", "--step", "1", "--noise", "1/2"),
    ),
    "spectrum": (
        ("--dim", "20", "--bulk", "1", "--spike", "6"),
        ("--dim", "3", "--bulk", "2", "--spike", "-1/2", "--degree", "3"),
    ),
    "mp": (("--ratio", "1/2"), ("--ratio", "3", "--scale", "2", "--digits", "40")),
    "spike": (
        ("--ratio", "1/2", "--strength", "2"),
        ("--ratio", "2", "--strength", "1/10", "--size", "100"),
        ("--ratio", "2", "--observed", "4", "--size", "100"),
    ),
    "outliers": (("1/3", "2/5", "--degree", "4"), ("0", ".35", "--degree", "inf", "--batch", "fresh")),
    "align": (
        ("He(2, z)", "--power", "2", "--alpha", "2", "--batch", "reused"),
        ("-z", "--power", "1", "--alpha", "1/2", "--batch", "fresh", "--noise", "1/3", "--activation", "z + z**2"),
    ),
    "risk": (
        ("tanh", "z", "--samples", "2", "--width", "1", "--ridge", "1/10", "--step", "1"),
        ("-erf", "-tanh(z)", "--samples", "1/2", "--width", "3", "--ridge", "1e-3", "--step", "0:2:3", "--noise", ".1"),
    ),
    "features": (
        ("softplus", "tanh", "--exponent", "3/10"),
        ("-erf", "-tanh(z)", "--exponent", "3/10", "--samples", "2", "--width", "1", "--ridge", ".1"),
    ),
    "floor": (("tanh", "z"), ("relu", "-tanh(z)", "--noise", "1/2")),
    "equivalent": (
        ("tr(inv(X.T*X + lam))", "--gaussian", "X: n x d, 1/n", "--size", "n=1,d=2", "--positive", "lam"),
        (
            *(
                "let A = W + theta*u*v.T; tr(inv(z - A*A.T))",
                "--gaussian",
                "W: d x N, 1/d",
                "--gaussian",
                "u: d x 1, 1/d",
            ),
            *("--gaussian", "v: N x 1, 1/N", "--size", "N=2,d=1", "--real", "z", "--positive", "theta"),
            *("--set", "theta=3/2,z=7", "--simulate", "30", "--trials", "3"),
        ),
    ),
    "convert": (("--from", "F", "--to", "O"), ("--from", "F", "--to", "O", "--step", "3", "--width", "100")),
    "check": (("H4", "--jobs", "1"),),
    "weights": (("FILE",), ("FILE", "--directions", "VECTOR", "--alarm", "1/20")),
    "functions": ((),),
    "conventions": ((),),
    "list": ((),),
    "show": (("H3",), ("K1",)),
    "figure": ((),),
    "paper": (("R1.edges", "--no-ledger", "--out", "DIR"),),
    "report": (("DIR", "TRUE"),),
    "version": ((),),
}


# -- the types of the contract -----------------------------------------------------------------------------------


def integer(x: Any) -> None:
    assert type(x) is int, f"{x!r} is not a JSON integer"


def boolean(x: Any) -> None:
    assert type(x) is bool


def text(x: Any) -> None:
    assert isinstance(x, str), f"{x!r} is not a string"
    assert x


def real(x: Any) -> None:
    assert isinstance(x, str), f"{x!r} is not a decimal string"
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", x), f"{x!r} is not a decimal string"


def bound(x: Any) -> None:
    real(x)
    assert not x.startswith("-")


def or_null(kind: Any) -> Callable[[Any], None]:
    return lambda x: None if x is None else matches(x, kind)


def some(kind: Any) -> Callable[[Any], None]:
    """A list that is not empty."""

    def each(x: Any) -> None:
        assert isinstance(x, list)
        assert x
        for item in x:
            matches(item, kind)

    return each


def many(kind: Any) -> Callable[[Any], None]:
    return lambda x: None if x == [] else some(kind)(x)


def by_degree(x: Any) -> None:
    assert {"0", "2"} <= set(x)
    for key, value in x.items():
        assert key.isdecimal()
        real(value)


def one_of(*words: str) -> Callable[[Any], None]:
    def is_one(x: Any) -> None:
        assert x in words

    return is_one


def matches(x: Any, kind: Any) -> None:
    """Whether `x` holds what `kind` asks for; more keys are allowed."""
    if isinstance(kind, dict):
        assert isinstance(x, dict), f"{x!r} is not an object"
        for key, inner in kind.items():
            assert key in x, f"{key} is missing"
            matches(x[key], inner)
    elif isinstance(kind, list):
        assert isinstance(x, list)
        assert len(x) == len(kind)
        for item, inner in zip(x, kind, strict=True):
            matches(item, inner)
    else:
        kind(x)


COEFFICIENT = {"k": integer, "exact": or_null(text), "value": real, "error": bound}
READING = {"A": real, "B": real}
FIELDS: dict[str, dict[str, Any]] = {
    "hermite": {
        "convention": one_of("orthonormal", "probabilist", "moment"),
        "general_term": or_null(text),
        "information_exponent": or_null(integer),
        "coefficients": some(COEFFICIENT),
    },
    "kernel": {
        "closed_form": or_null(text),
        "general_term": or_null(text),
        "series": some(COEFFICIENT),
        "value": or_null(real),
        "error": or_null(bound),
    },
    "sphere": {
        "eigenvalues": some({"degree": integer, "multiplicity": real, "eta": real, "value": real, "error": bound})
    },
    "gamma": {"readings": {"printed": READING, "rank_one": READING, "full": READING}},
    "spectrum": {
        "top": {"eigenvalue": real, "error": bound, "weights": by_degree},
        "second": real,
        "linear": {"aligned": real, "orthogonal": real},
    },
    "mp": {"edges": [real, real], "atom": real},
    "spike": {"threshold": real, "outlier": real, "overlap_d": real, "overlap_N": real, "above": boolean},
    "outliers": {"Lambda": integer, "total": integer, "boundary": boolean},
    "align": {"signal": real, "norm2": real, "cosine": real, "reading": one_of("rank_one", "full")},
    "risk": {
        "test": real,
        "train": real,
        "linear_floor": real,
        "random_features": real,
        "status": one_of("proved", "conjectured"),
        "curve": or_null(some({"step": real, "test": real, "train": real})),
    },
    "features": {
        "order": integer,
        "boundary": boolean,
        "present": many(integer),
        "directions": many({"k": integer, "exponent": text, "coefficient": real, "rank_one": some(real)}),
    },
    "floor": {"linear_floor": real, "tau": real, "verdict": text},
    "equivalent": {
        "unknowns": some(text),
        "equations": some(text),
        "polynomial": or_null(text),
        "value": or_null(real),
        "error": or_null(bound),
        "pencil": {"blocks": integer, "before": integer},
        "simulated": or_null({"value": real, "stderr": bound, "size": integer}),
        "status": text,
    },
    "convert": {"step": or_null(real), "exponent": or_null(real), "ridge": or_null(real)},
    "check": {
        "checks": some(
            {
                "id": text,
                "claim": text,
                "predicted": real,
                "measured": real,
                "stderr": bound,
                "verdict": one_of("CONFIRMED", "REFUTED", "BLIND"),
                "control": one_of("CONFIRMED", "REFUTED", "BLIND"),
            }
        )
    },
    "weights": {
        "shape": [integer, integer],
        "scale": real,
        "edge": real,
        "outliers": many({"value": real, "p": real, "strength": real}),
        "strengths": many(real),
        "fit": {"distance": real, "p": real},
    },
    "functions": {
        "functions": some({"name": text, "usage": text, "description": text, "formula": text, "kinked": boolean})
    },
    "conventions": {"sections": some({"title": text, "text": text})},
    "list": {"statements": some({"id": text, "title": text, "status": text, "checks": integer})},
    "show": {"id": text, "formula": text, "latex": text, "checks": some({"id": text, "claim": text, "control": text})},
    "figure": {"figures": some({"name": text, "title": text})},
    "paper": {"derivations": some({"id": text, "verified": text}), "files": some(text)},
    "report": {"file": text, "statements": some({"id": text, "verdict": text, "passed": integer, "checks": integer})},
    "version": {"version": text},
}
# Their rows of the contract name an `error` (or a standard error); those without reals have none to give.
WITH_ERROR = {"hermite", "kernel", "sphere", "check", "equivalent"}
WITHOUT_REALS = {"functions", "conventions", "list", "show", "figure", "paper", "report", "version"}

OWN = """
from bulkedge import Check, Control, SecondRoute
from bulkedge.theory.numbers.enclosure import Enclosure
from fractions import Fraction

def measured():
    return Enclosure(Fraction(1), Fraction(0), "exact")

CHECKS = (
    Check("X1", "one", "nobody", lambda: CLAIM, SecondRoute(measured), 0.01, Control("three", lambda: 3)),
)
"""


@pytest.fixture(scope="module", autouse=True)
def _no_engine() -> Iterator[None]:
    """The book's PDF has tests of its own; without it `paper` takes no time."""
    from bulkedge.book import tex

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tex, "engine", lambda: None)
        yield


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("contract")
    rng = np.random.default_rng(3)
    d, width = 60, 90
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    v = rng.standard_normal(width)
    np.save(folder / "matrix.npy", rng.standard_normal((d, width)) / d**0.5 + 3 * np.outer(u, v / np.linalg.norm(v)))
    np.save(folder / "vector.npy", u)
    for name, scale in (("HUGE", 1e300), ("TINY", 1e-300)):
        np.save(folder / f"{name}.npy", scale * rng.standard_normal((20, 30)))
    np.save(folder / "RANK_ONE.npy", np.outer(u, v))
    (folder / "true.py").write_text(OWN.replace("CLAIM", "1"))
    (folder / "false.py").write_text(OWN.replace("CLAIM", "2"))
    return {
        "FILE": str(folder / "matrix.npy"),
        "VECTOR": str(folder / "vector.npy"),
        "DIR": str(folder / "out"),
        **{name: str(folder / f"{name}.npy") for name in ("HUGE", "TINY", "RANK_ONE")},
        "TRUE": str(folder / "true.py"),
        "FALSE": str(folder / "false.py"),
    }


def run(tokens: tuple[str, ...], scratch: dict[str, str]) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a call."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([scratch.get(t, t) for t in tokens])
    return status, out.getvalue(), err.getvalue()


_RESULTS: dict[tuple[str, ...], tuple[Result, dict[str, Any]]] = {}


def result(call: tuple[str, ...], scratch: dict[str, str]) -> tuple[Result, dict[str, Any]]:
    """The result of a call and the JSON that the command line printed for it; each call is computed once."""
    if call not in _RESULTS:
        kept: list[Result] = []
        original = cli.call

        def keep(name: str, arguments: argparse.Namespace) -> Result:
            kept.append(original(name, arguments))
            return kept[0]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cli, "call", keep)
            status, out, _ = run((*call, "--json"), scratch)
        assert status == 0
        _RESULTS[call] = (kept[0], _object(out))
    return _RESULTS[call]


def _object(out: str) -> dict[str, Any]:
    """stdout as one JSON object and nothing else; no JSON number is a float."""

    def refuse(number: str) -> float:
        raise AssertionError(f"{number}: reals are decimal strings, nothing is nan or infinite")

    assert out.endswith("}\n")
    assert out.count("\n") == 1
    found = json.loads(out, parse_float=refuse, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def walk(x: Any) -> Iterator[Any]:
    """All values of a JSON object, the object included."""
    yield x
    for inner in x.values() if isinstance(x, dict) else x if isinstance(x, list) else ():
        yield from walk(inner)


def every_call(*commands: str) -> pytest.MarkDecorator:
    calls = [(name, *tokens) for name in commands or COMMANDS for tokens in CALLS.get(name, ())]
    return pytest.mark.parametrize("call", calls, ids=" ".join)


# -- what every command's JSON holds -----------------------------------------------------------------------------


def test_the_table_knows_every_command():
    """A new command takes a row in CALLS and one in FIELDS."""
    assert set(COMMANDS) == set(CALLS) == set(FIELDS)


@every_call()
def test_the_fields_of_the_contract(call, scratch):
    found = result(call, scratch)[1]
    common = {"command": one_of(call[0]), "setting": lambda x: None, "source": many(text), "notes": many(text)}
    matches(found, {**common, "inputs": {}, **FIELDS[call[0]]})
    assert isinstance(found["setting"], str)
    assert bool(found["source"]) or call[0] in {*WITHOUT_REALS, "convert"}


@every_call()
def test_nothing_is_nan_or_infinite(call, scratch):
    found = result(call, scratch)[1]
    del (kept := dict(found))["inputs"]
    for value in walk(kept):
        assert not (isinstance(value, str) and value.strip("+-").lower() in {"nan", "inf", "infinity", "oo", "zoo"})


@every_call()
def test_an_error_is_zero_where_the_value_is_exact_and_only_there(call, scratch):
    found = result(call, scratch)[1]
    for x in walk(found):
        if isinstance(x, dict) and {"exact", "error"} <= set(x):
            assert (x["error"] in {"0", None}) == (x["exact"] is not None or x["value"] is None)
    if call[0] in {"hermite", "kernel", "sphere"}:  # each error has the exact value, or null, beside it
        assert all("exact" in x for x in walk(found) if isinstance(x, dict) and "error" in x)
    exact, errors = found.get("exact"), found.get("errors")
    if isinstance(exact, dict) and errors is not None:
        flat = [(exact[name], errors[name]) for name in set(exact) & set(errors)]
        for value, error in [(x[key], e[key]) for x, e in flat if isinstance(x, dict) for key in x] + [
            pair for pair in flat if not isinstance(pair[0], dict)
        ]:
            assert (error == "0") == (value is not None)


@every_call()
def test_fields_without_an_error_of_their_own_have_one_in_errors(call, scratch):
    if call[0] in WITH_ERROR | WITHOUT_REALS:
        return
    found = result(call, scratch)[1]
    assert isinstance(found["errors"], dict)
    assert bool(found["errors"]) or found["exact"] == {}  # convert without anything to convert
    keys = {key for x in walk({k: v for k, v in found.items() if k != "errors"}) if isinstance(x, dict) for key in x}
    assert set(found["errors"]) <= keys
    for x in walk(found["errors"]):
        if isinstance(x, str):
            bound(x)


@every_call("hermite", "kernel", "sphere", "mp", "spike", "align")
def test_more_digits_stay_within_the_error_of_fewer(call, scratch):
    """The same call at 8 and at 45 digits: values differ by the errors and the rounding to 8 digits at most."""

    def at(digits: str) -> dict[str, Any]:
        tokens = list(call)
        if "--digits" in tokens:
            del tokens[(i := tokens.index("--digits")) : i + 2]
        return _object(run((*tokens, "--digits", digits, "--json"), scratch)[1])

    coarse, fine = at("8"), at("45")
    pairs = [(a, b) for a, b in zip(walk(coarse), walk(fine), strict=True) if isinstance(a, dict)]
    seen = 0
    for a, b in pairs:
        for name in ("value", "outlier", "threshold", "overlap_d", "overlap_N", "atom", "signal", "norm2", "cosine"):
            if isinstance(a.get(name), str) and name not in a.get("link", {}):
                error = a.get("error") or a.get("errors", {}).get(name)
                if error is None:
                    continue
                low, high = Fraction(a[name]), Fraction(b[name])
                assert abs(low - high) <= Fraction(error) + abs(high) * Fraction(1, 10**7)
                assert len(re.sub(r"e.*|[-.]", "", a[name]).lstrip("0")) <= 8
                seen += 1
    assert seen


def test_the_error_knows_that_bulk_and_spike_may_cancel():
    """A + B = 1e-9 is not what the floats 1 and -0.999999999 add up to."""
    found = json.loads(bulkedge.spectrum(10, 1, "-0.999999999").to_json())
    gap = abs(Fraction(found["linear"]["aligned"]) - Fraction(1, 40 * 10**9))
    assert gap <= Fraction(found["errors"]["aligned"]) < Fraction(1, 10**16)
    odd = next(x for x in found["eigenvalues"] if x["parity"] == 1)
    assert abs(Fraction(odd["value"]) - Fraction(1, 40 * 10**9)) <= Fraction(odd["error"])


# -- results as Python values ------------------------------------------------------------------------------------


@every_call()
def test_a_result_is_a_frozen_value_with_its_inputs(call, scratch):
    found, printed = result(call, scratch)
    assert isinstance(found, Result)
    assert json.loads(found.to_json()) == printed
    assert found.to_dict()["inputs"] == printed["inputs"]
    shown = found._repr_latex_()
    assert shown.startswith("$")
    assert shown.endswith("$")
    assert "$" not in shown[1:-1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.setting = "another"  # type: ignore[misc]


@every_call()
def test_a_result_survives_pickling_and_copying(call, scratch):
    found, printed = result(call, scratch)
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):  # noqa: S301
        assert json.loads(twin.to_json()) == printed
        assert twin._repr_latex_() == found._repr_latex_()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_function_of_the_same_name_takes_the_same_arguments(name):
    parser = parser_of(name, command_module(name))
    options = {a.dest for a in parser._actions} - {"help", "mode", "plot"}
    options = {o.removeprefix("no_") for o in options}  # --no-ledger switches `ledger` off
    function = getattr(bulkedge, name)
    assert function.__name__ == name
    assert set(inspect.signature(function).parameters) - {"progress"} == options


PYTHON: dict[str, Callable[[], Result]] = {
    "hermite": lambda: bulkedge.hermite("z**2/2", 2, digits=20),
    "kernel": lambda: bulkedge.kernel("z**2", rho=0.1, order=2),
    "sphere": lambda: bulkedge.sphere("relu", 4, 2, radius=0.5),
    "gamma": lambda: bulkedge.gamma("tanh", "tanh", n=200, m=100, d=100, step=0.1),
    "spectrum": lambda: bulkedge.spectrum(dim=10, bulk=1, spike=0.1),
    "mp": lambda: bulkedge.mp(Fraction(1, 10), scale=0.5),
    "spike": lambda: bulkedge.spike(2, 1.5),
    "outliers": lambda: bulkedge.outliers(0.35, Fraction(1, 5), degree=3),
    "align": lambda: bulkedge.align("z", power=1, alpha=0.1, batch="fresh"),
    "risk": lambda: bulkedge.risk("tanh", "z", samples=2, width=1, ridge=0.1, step=1),
    "floor": lambda: bulkedge.floor("tanh", "z", noise=0.1),
    "convert": lambda: bulkedge.convert("F", "O", step=0.1, width=100),
    "functions": lambda: bulkedge.functions(),
    "conventions": lambda: bulkedge.conventions(),
    "list": lambda: bulkedge.list(),
    "show": lambda: bulkedge.show("H1"),
    "figure": lambda: bulkedge.figure(),
    "version": lambda: bulkedge.version(),
}


@pytest.mark.parametrize("name", PYTHON)
def test_numbers_of_python_are_read_as_the_decimals_they_print(name):
    found = PYTHON[name]()
    assert type(found).command == name
    assert not any("1000000000000000055511151231257827" in str(v) for v in found.inputs.values())
    json.loads(found.to_json())


# -- the command line --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLS)
def test_output_modes_exclude_each_other(name, scratch):
    call = (name, *CALLS[name][0])
    for modes in (("--json", "--latex"), ("--json", "--csv"), ("--latex", "--csv")):
        status, out, err = run((*call, *modes), scratch)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert modes[0] in err
        assert modes[1] in err


@every_call()
def test_the_table_and_the_csv(call, scratch):
    """As the program prints them, from the result that is at hand."""
    found = result(call, scratch)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "call", lambda name, arguments: found)
        status, out, _ = run((*call, "--csv"), scratch)
        rows = list(csv.reader(io.StringIO(out)))
        assert status == 0
        assert rows
        assert len({len(row) for row in rows}) == 1
        status, out, _ = run(call, scratch)
        assert status == 0
        assert len(out.splitlines()) > 2


SPELLINGS: list[tuple[str, ...]] = [
    ("kernel", "relu", "--order", "1", "--rho", "?"),
    ("kernel", "z**2", "--order", "1", "--q11", "?"),
    ("sphere", "relu", "--dim", "3", "--degree", "2", "--radius", "?"),
    ("gamma", "tanh", "tanh", "--n", "200", "--m", "100", "--d", "100", "--step", "?"),
    ("gamma", "tanh", "tanh", "--n", "200", "--m", "100", "--d", "100", "--step", "1", "--noise", "?"),
    ("spectrum", "--dim", "10", "--bulk", "1", "--spike", "?"),
    ("spectrum", "--dim", "10", "--spike", "1", "--bulk", "?"),
    ("mp", "--ratio", "?"),
    ("mp", "--ratio", "2", "--scale", "?"),
    ("spike", "--strength", "2", "--ratio", "?"),
    ("spike", "--ratio", "2", "--strength", "?"),
    ("outliers", "?", "2/5", "--degree", "3"),
    ("outliers", "2/5", "?", "--degree", "3"),
    ("align", "z", "--power", "1", "--batch", "fresh", "--alpha", "?"),
    ("align", "z", "--power", "1", "--batch", "fresh", "--alpha", "2", "--noise", "?"),
    ("risk", "erf", "z", "--samples", "2", "--width", "1", "--step", "1", "--ridge", "?"),
    ("features", "erf", "z", "--exponent", "?"),
    ("features", "erf", "z", "--exponent", "0", "--batch", "?"),
    ("risk", "erf", "z", "--samples", "2", "--width", "1", "--ridge", "1", "--step", "?"),
    ("convert", "--from", "F", "--to", "O", "--width", "100", "--step", "?"),
    ("convert", "--from", "F", "--to", "O", "--width", "100", "--ridge", "?", "--train", "10"),
    ("weights", "FILE", "--alarm", "?"),
]


@pytest.mark.parametrize("call", SPELLINGS, ids=" ".join)
def test_numbers_are_read_exactly_in_every_spelling(call, scratch):
    found = []
    for spelling in ("0.1", "1/10", "1e-1", ".1", "10e-2", "0.3/3"):
        status, out, _ = run((*(spelling if t == "?" else t for t in call), "--json"), scratch)
        assert status == 0
        found.append(_object(out))
        assert {k: v for k, v in found[-1].items() if k != "inputs"} == {
            k: v for k, v in found[0].items() if k != "inputs"
        }
        if call[0] != "convert":  # echoes what was typed
            assert found[-1]["inputs"] == found[0]["inputs"]
            assert "1/10" in walk(found[-1]["inputs"])


@pytest.mark.parametrize(
    "call",
    [
        ("hermite", "relu", "--degree", "?"),
        ("sphere", "z", "--degree", "1", "--dim", "?"),
        ("spectrum", "--bulk", "1", "--spike", "1", "--dim", "?"),
        ("mp", "--ratio", "2", "--digits", "?"),
    ],
    ids=" ".join,
)
def test_counts_are_integers_however_spelt(call, scratch):
    found = [run((*(s if t == "?" else t for t in call), "--json"), scratch) for s in ("10", "10.0", "1e1", "20/2")]
    assert len(set(found)) == 1
    assert found[0][0] == 0


def with_digits() -> list[str]:
    names = []
    for name in COMMANDS:
        parser = parser_of(name, command_module(name))
        if "--digits" in parser.options():
            names.append(name)
    return names


@pytest.mark.parametrize("name", ["mp", "spike", "floor", "hermite", "sphere", "spectrum"])
def test_a_table_of_numbers_has_their_errors(name, scratch):
    for more in ([], ["--population", "1:1/2,10:1/2"]) if name == "mp" else ([],):
        out = run((name, *CALLS[name][0], *more, "--csv"), scratch)[1]
        rows = list(csv.DictReader(io.StringIO(out)))
        assert rows
        errors = [row["error"] for row in rows]
        assert all(e in {"", "exact"} or float(e) >= 0 for e in errors)
        assert any(e for e in errors)


@pytest.mark.parametrize("name", with_digits())
def test_digits_go_from_1_to_1000(name, scratch):
    call = [name, *CALLS[name][0]]
    for digits in ("0", "-1", "1001", "1.5", "many", ""):
        status, out, err = run((*call, "--digits", digits), scratch)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "digits" in err
    assert run((*call, "--digits", "1"), scratch)[0] == 0
    if name == "gamma":
        call[1:3] = ["z**3", "z"]  # a thousand digits of quadrature take a while
    assert run((*call, "--digits", "1000", "--json"), scratch)[0] == 0


def test_the_commands_of_the_contract_have_digits():
    assert {"hermite", "kernel"} <= set(with_digits())


# -- unusable input ----------------------------------------------------------------------------------------------

FILES = {
    "out", "store", "from_weights", "target", "directions", "array", "file", "against", "null", "denoised",
}  # fmt: skip
BAD_NUMBERS = ("", "abc", "nan", "inf", "1/0", "1e99999", "0x10", "1,5", "1__0", "\N{ARABIC-INDIC DIGIT ONE}")


def options() -> Iterator[tuple[str, str]]:
    """Every option that takes a value which is not the name of a file."""
    for name in COMMANDS:
        parser = parser_of(name, command_module(name))
        for action in parser._actions:
            if action.option_strings and action.nargs is None and action.dest not in {*FILES, "plot", "mode"}:
                yield name, action.option_strings[0]


def refused(tokens: tuple[str, ...], scratch: dict[str, str]) -> str:
    """The one line on stderr of a call that is refused in time, with nothing on stdout."""
    with at_most(TWO_SECONDS):
        status, out, err = run(tokens, scratch)
    assert (status, out) == (2, ""), f"{status} {out[:200]}"
    assert err.count("\n") == 1
    assert err.startswith("bulkedge: ")
    assert len(err) < 1000
    return err


@pytest.mark.parametrize(("name", "option"), list(options()))
def test_a_value_that_makes_no_sense_is_refused_and_named(name, option, scratch):
    kept = list(CALLS[name][0])
    if option in kept:
        del kept[(i := kept.index(option)) : i + 2]
    if option == "--observed":
        del kept[(i := kept.index("--strength")) : i + 2]
    if option in {"--simulate", "--readout"} and name == "risk":
        kept += ["--dim", "50"]
    for bad in BAD_NUMBERS:
        if (option, bad) == ("--degree", "inf") and name == "outliers":
            continue  # not a polynomial
        message = refused((name, *kept, option, bad), scratch)
        assert option.lstrip("-").split("-")[0] in message or (option == "--activation" and "ACTIVATION" in message)


@pytest.mark.parametrize(
    ("name", "place"),
    [(n, i) for n in ("hermite", "kernel", "sphere", "gamma", "align", "risk", "features", "floor") for i in (0, 1)],
)
def test_a_function_that_is_none_is_refused(name, place, scratch):
    call = list(CALLS[name][0])
    if call[place].startswith("--"):
        return
    for bad in ("", " ", "rleu", "x", "z^2", "1j*z", "z+", "1/z", "exp(z**2)", "open('x')", "z.real", "(" * 500, "\0"):
        call[place] = bad
        refused((name, *call), scratch)


OUT_OF_RANGE: list[tuple[str, ...]] = [
    ("kernel", "relu", "--rho", "1.0000001"),
    ("kernel", "relu", "--q11", "-1"),
    ("kernel", "relu", "--q11", "1", "--q12", "2", "--q22", "1"),
    ("kernel", "relu", "--rho", "0", "--q12", "0"),
    ("kernel", "relu", "--order", "-1"),
    ("sphere", "relu", "--dim", "1", "--degree", "2"),
    ("sphere", "relu", "--dim", "3", "--degree", "-2"),
    ("sphere", "relu", "--dim", "3", "--degree", "2", "--radius", "0"),
    ("gamma", "tanh", "tanh", "--n", "0", "--m", "100", "--d", "100", "--step", "1"),
    ("gamma", "tanh", "tanh", "--n", "10", "--m", "1.5", "--d", "100", "--step", "1"),
    ("gamma", "tanh", "tanh", "--n", "10", "--m", "10", "--d", "100", "--step", "1", "--noise", "-1"),
    ("spectrum", "--dim", "1", "--bulk", "1", "--spike", "1"),
    ("spectrum", "--dim", "9", "--bulk", "0", "--spike", "1"),
    ("spectrum", "--dim", "9", "--bulk", "1", "--spike", "-1"),
    ("spectrum", "--dim", "9", "--bulk", "1", "--spike", "1", "--degree", "-1"),
    ("mp", "--ratio", "0"),
    ("mp", "--ratio", "1", "--scale", "-1"),
    ("spike", "--ratio", "-2", "--strength", "1"),
    ("spike", "--ratio", "2", "--strength", "0"),
    ("spike", "--ratio", "2", "--observed", "2"),
    ("spike", "--ratio", "2"),
    ("spike", "--ratio", "2", "--strength", "1", "--observed", "4"),
    ("spike", "--ratio", "2", "--observed", "4", "--size", "0"),
    ("spike", "--ratio", "2", "--observed", "4", "--size", "9", "--level", "1"),
    ("outliers", "1/2", "0", "--degree", "3"),
    ("outliers", "0", "-1/10", "--degree", "3"),
    ("outliers", "0", "0", "--degree", "0"),
    ("align", "1", "--power", "1", "--alpha", "1", "--batch", "fresh"),
    ("align", "z", "--power", "-1", "--alpha", "1", "--batch", "fresh"),
    ("align", "z", "--power", "1", "--alpha", "0", "--batch", "fresh"),
    ("align", "z", "--power", "1", "--alpha", "1", "--batch", "new"),
    ("risk", "tanh", "z", "--samples", "0", "--width", "1", "--ridge", "1", "--step", "1"),
    ("risk", "tanh", "z", "--samples", "1", "--width", "1", "--ridge", "-1", "--step", "1"),
    ("risk", "tanh", "z", "--samples", "1", "--width", "1", "--ridge", "1", "--step", "-1"),
    ("risk", "tanh", "z", "--samples", "1", "--width", "1", "--ridge", "1", "--step", "1:2"),
    ("risk", "tanh", "z", "--samples", "1", "--width", "1", "--ridge", "1", "--step", "0:1:1"),
    ("risk", "tanh", "z", "--samples", "1", "--width", "1", "--ridge", "1"),
    ("features", "softplus", "tanh", "--exponent", "1/2"),
    ("features", "softplus", "tanh", "--exponent", "-1/10"),
    ("features", "softplus", "tanh", "--exponent", "1/10", "--ridge", "1"),
    ("risk", "tanh", "z", "--samples", "2", "--ridge", "1", "--from-weights", "HUGE"),
    ("risk", "tanh", "z", "--samples", "2", "--ridge", "1", "--from-weights", "TINY"),
    ("risk", "tanh", "z", "--samples", "2", "--ridge", "1", "--from-weights", "RANK_ONE"),
    ("hermite", "exp(2000*z)", "--degree", "2"),
    ("kernel", "exp(2000*z)", "--rho", "1/2"),
    ("hermite", "--", "relu", "--degree", "2"),
    ("--", "hermite", "relu", "--degree", "2"),
    ("--json", "hermite", "relu", "--degree", "2"),
    ("risk", "tanh", "z", "--samples", "2", "--ridge", "1", "--from-weights", "nothing_here.npy"),
    ("convert", "--from", "F", "--to", "G"),
    ("convert", "--from", "F", "--to", "O", "--step", "3"),
    ("convert", "--from", "O", "--to", "F", "--ratio", "psi1"),
    ("check", "nothing_here.py"),
    ("check", "ZZ"),
    ("check", "H4", "--seed", "-1"),
    ("check", "H4", "--jobs", "0"),
    ("check", "H4", "--store", "/nowhere/at/all.sqlite"),
    ("weights", "nothing_here.npy"),
    ("weights", "HUGE"),
    ("weights", "TINY"),
    ("weights", "RANK_ONE"),
    ("weights", "FILE", "--array", "W"),
    ("weights", "FILE", "--alarm", "0"),
    ("weights", "FILE", "--alarm", "1"),
    ("weights", "FILE", "--directions", "FILE", "--seed", "-1"),
    ("show", "H0"),
    ("figure", "no such figure"),
    ("figure", "--out", "FILE"),
    ("paper", "ZZ", "--out", "DIR"),
    ("paper", "R1.edges", "--no-ledger", "--out", "FILE"),
    ("report", "FILE"),
    ("report", "DIR", "ZZ"),
    ("list", "H1"),
    ("functions", "relu"),
    ("conventions", "1"),
    ("version", "1"),
    ("hermit", "relu"),
    ("",),
    ("--josn",),
]


@pytest.mark.parametrize("call", OUT_OF_RANGE, ids=" ".join)
def test_values_out_of_range_are_refused(call, scratch):
    refused(call, scratch)


@pytest.mark.parametrize(
    "name", [n for n in COMMANDS if n not in {"functions", "conventions", "list", "figure", "version", "check"}]
)
def test_a_command_without_its_arguments_is_refused(name, scratch):
    refused((name,), scratch)


# -- the other exit statuses -------------------------------------------------------------------------------------


def test_a_false_theorem_ends_with_status_1(scratch):
    status, out, _ = run(("check", "FALSE", "--jobs", "1", "--json"), scratch)
    assert status == 1
    (found,) = _object(out)["checks"]
    assert (found["id"], found["verdict"]) == ("X1", "REFUTED")


def test_digits_that_are_not_reached_end_with_status_3_and_the_value(scratch):
    """A function that is zero, which no enclosure can show: each value comes with the bound that was reached."""
    zero = "tanh(2*z) - 2*tanh(z)/(1 + tanh(z)**2)"
    status, out, _ = run(("hermite", zero, "--degree", "2", "--json"), scratch)
    assert status == 3
    even = _object(out)["coefficients"][0::2]
    assert [c["exact"] for c in even] == [None, None]
    for c in even:
        assert abs(Fraction(c["value"])) <= Fraction(c["error"])


def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bulkedge", "version"], stdout=full, stderr=subprocess.PIPE, text=True,
            cwd=Path(__file__).resolve().parents[2], check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left" in done.stderr


def test_an_interruption_ends_with_status_130(scratch, monkeypatch):

    def interrupt(name: str, arguments: argparse.Namespace) -> Result:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "call", interrupt)
    status, out, err = run(("version",), scratch)
    assert (status, out, err.count("\n")) == (130, "", 1)


# -- pictures ----------------------------------------------------------------------------------------------------


@functools.cache
def curves() -> tuple[str, ...]:
    return tuple(n for n in COMMANDS if getattr(command_module(n), "HAS_CURVE", False))


def test_the_commands_with_a_curve():
    assert {"hermite", "kernel", "sphere", "spectrum", "mp", "spike", "risk", "weights"} <= set(curves())


HEADS = {".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG"}


@pytest.mark.parametrize(
    ("name", "suffixes"),
    [
        *((name, list(HEADS) if name == "mp" else [".svg"]) for name in curves()),
        *(pytest.param(name, [".pdf", ".png"], marks=pytest.mark.exhaustive) for name in curves() if name != "mp"),
    ],
)
def test_a_plot_is_written_whole_in_each_format(name, suffixes, scratch, tmp_path):
    call = next((c for c in CALLS[name] if any(":" in t for t in c)), CALLS[name][0])
    found = result((name, *call), scratch)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "call", lambda name, arguments: found)
        patch.setattr("bulkedge.results.spectra._SIDE", 150)  # simulated spectra of small matrices
        for suffix in suffixes:
            file = tmp_path / f"plot{suffix}"
            status, out, _ = run((name, *call, "--json", "--plot", str(file)), scratch)
            assert status == 0
            _object(out)
            assert file.read_bytes().startswith(HEADS[suffix])
    assert {p.name for p in tmp_path.iterdir()} == {f"plot{suffix}" for suffix in suffixes}


@pytest.mark.parametrize("name", curves())
@pytest.mark.parametrize("file", ["plot.xyz", "plot", "nowhere/plot.svg", "", "."])
def test_a_plot_that_cannot_be_written_is_refused(name, file, scratch, tmp_path):
    assert "plot" in refused((name, *CALLS[name][0], "--plot", str(Path(tmp_path, file)) if file else ""), scratch)


# -- values that begin with a minus sign -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "key", "read"),
    [
        (("kernel", "z", "--order", "1", "--rho", "-1/2"), "rho", "-1/2"),
        (("kernel", "z", "--order", "1", "--rho=-.5"), "rho", "-1/2"),
        (("kernel", "z", "--order", "1", "--rho", "-5e-1"), "rho", "-1/2"),
        (("spectrum", "--dim", "5", "--bulk", "1", "--spike", "-0.5"), "spike", "-1/2"),
        (("convert", "--from", "F", "--to", "O", "--exponent", "-1/2"), "exponent", "-1/2"),
        (("hermite", "-1/2", "--degree", "0"), "function", "-1/2"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else "",
)
def test_a_value_may_begin_with_a_minus(call, key, read, scratch):
    status, out, _ = run((*call, "--json"), scratch)
    assert status == 0
    assert _object(out)["inputs"][key] == read


def test_parsing_keeps_the_minus_of_every_function():
    module = importlib.import_module("bulkedge.commands.risk.risk")
    arguments = parse("risk", module, ["-tanh(z)", "-z", "--samples", "1", "--ridge", "-2"])
    assert (arguments.activation, arguments.link, arguments.ridge) == ("-tanh(z)", "-z", "-2")
