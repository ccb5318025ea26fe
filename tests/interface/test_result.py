"""Results are frozen through and through, and still copy, pickle and print."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import bulkedge
from bulkedge.cli import main
from bulkedge.results.result import Frozen, Result
from bulkedge.theory.numbers.errors import InputError


@pytest.fixture(scope="module", params=["convert", "align", "mp", "population", "spike"])
def result(request: pytest.FixtureRequest) -> Result:
    made: dict[str, Result] = {
        "convert": bulkedge.convert("F", "O", step=1, width=100),
        "align": bulkedge.align("He(2,z)", power=1, alpha=2, batch="reused"),
        "mp": bulkedge.mp(2),
        "population": bulkedge.mp(2, population="1:1/2,10:1/2"),
        "spike": bulkedge.spike(2, 3),
    }
    return made[request.param]


def test_nothing_in_it_can_be_changed(result: Result) -> None:
    mappings = [value for value in vars(result).values() if isinstance(value, dict)]
    assert mappings
    assert not any(isinstance(value, list) for value in vars(result).values())
    for mapping in [*mappings, *getattr(result, "reach", ())]:
        before = dict(mapping)
        for change in (
            lambda m: m.update(digits=3),
            lambda m: m.__setitem__("digits", 3),
            lambda m: m.__delitem__(next(iter(m))),
            lambda m: m.setdefault("new", 1),
            lambda m: m.pop(next(iter(m))),
            lambda m: m.__ior__({"new": 1}),
            lambda m: m.clear(),
        ):
            with pytest.raises(TypeError, match="frozen"):
                change(mapping)
        assert dict(mapping) == before


def test_it_copies_pickles_and_prints(result: Result) -> None:
    for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):  # noqa: S301
        assert again.to_json() == result.to_json()
        assert isinstance(again.inputs, Frozen)
    found = result.to_dict()
    assert json.loads(json.dumps(found)) == found
    found["inputs"]["mine"] = 1  # the dictionary is the user's own
    assert "mine" not in result.inputs


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("200", 200)])
def test_a_piped_table_keeps_to_its_columns(
    columns: str, widest: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= widest
    assert max(map(len, lines)) > 0.6 * widest
    assert not any(line != line.rstrip() for line in lines)


@pytest.mark.parametrize("scales", [{"q11": 3}, {"q11": 2, "q22": 2}])
def test_a_kernel_that_is_not_finite_names_the_function(scales: dict[str, int]) -> None:
    with pytest.raises(InputError, match="give smaller variances") as error:
        bulkedge.kernel("exp(z**2/5)", rho="0.5", **scales)
    assert error.value.argument == "FUNCTION"
    assert "exp(z**2/5)" in str(error.value)
