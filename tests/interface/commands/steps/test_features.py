"""`bulkedge features`: exact counts, removed spikes, drops, bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bulkedge.cli import main
from bulkedge.commands.steps.features import features
from bulkedge.theory.numbers.errors import InputError


def test_fields(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--exponent", "2/5", "--samples", "1", "--width", "2", "--ridge", "1/20", "--noise", ".3"]
    assert main(["features", "softplus", "tanh(z) + He(2, z)/4", *options, "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["order"], out["boundary"], out["present"], out["removed"]) == (4, True, [1, 2, 4], [3])
    rank_one, full = ([float(x) for x in out["loss_drops"][r]] for r in ("rank_one", "full"))
    assert len(full) == 3
    assert rank_one == sorted(rank_one)
    assert rank_one[0] == full[0]
    assert all(float(e) < 1e-10 for e in out["errors"].values())
    assert main(["features", "tanh", "tanh", "--exponent", "0.3"]) == 0
    assert "2 spikes" in capsys.readouterr().out


def test_first_finite_size() -> None:
    """At d = 1000 and eta = 4 a third of the drop is missing: said first; a step that is large is not warned of."""
    near = features("tanh", "tanh(2*z)", exponent="1/5", samples=1, width=1, ridge="1/10", batch=2)
    assert near.notes[0].startswith("WARNING, a limit far from usual sizes: spike 1 exceeds the bulk's edge from d")
    assert "31 per cent from the limit" in near.notes[0]
    assert json.loads(near.to_json())["finite_size"]["loss_drops"]["full"] == ["0.0601"]
    far = features("2*tanh", "tanh(2*z)", exponent="33/100")
    assert not any("WARNING" in note for note in far.notes[:1])
    assert any("spike 1 exceeds" in note for note in far.notes)
    tiny = features("softplus", "tanh", exponent="2500001/10000000")  # next to a boundary: never
    assert tiny.finite_size["beyond"][-1]["dim"].startswith("1e")


def test_a_link_with_a_mean_has_no_drop() -> None:
    r = features("tanh", "softplus", exponent="0.3", samples=1, width=1, ridge=1)
    assert r.drops or any("mean" in note for note in r.notes)
    r = features("softplus", "softplus", exponent="0.3", samples=1, width=1, ridge=1)
    assert not r.drops
    assert any("mean" in note for note in r.notes)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"exponent": "1/2"}, "exponent"),
        ({"exponent": "-1"}, "exponent"),
        ({"batch": 0}, "batch"),
        ({"samples": 1}, "width"),
        ({"samples": 1, "width": 1, "ridge": 0}, "ridge"),
        ({"noise": -1}, "noise"),
    ],
)
def test_bad_input(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as caught:
        features("tanh", "tanh", **{"exponent": "0.3", **change})
    assert caught.value.argument == named


def test_jumps_are_refused() -> None:
    with pytest.raises(InputError, match="jumps"):
        features("sign", "tanh", exponent="0.3")
