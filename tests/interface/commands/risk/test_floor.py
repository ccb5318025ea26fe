"""`bulkedge floor`: fields, verdicts, bad input."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkedge.cli import main
from bulkedge.commands.risk.floor import floor
from bulkedge.numerics.risk.floor import finite_size
from bulkedge.theory.numbers.errors import InputError


@pytest.mark.parametrize(
    ("activation", "link", "verdict"),
    [("erf", "erf", "beats"), ("tanh", "tanh", "beats"), ("gelu", "relu", "vacuous"), ("tanh", "He(2, z)", "above"),
     ("erf", "sign", "beats")],
)  # fmt: skip
def test_verdicts(activation: str, link: str, verdict: str) -> None:
    assert floor(activation, link).verdict == verdict


def test_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["floor", "erf", "sign", "--noise", "1/2", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["kappa"] is None
    assert out["attained"] is False
    assert float(out["floor_with_noise"]) == pytest.approx(float(out["linear_floor"]) + 0.25)
    assert any("not attained" in note for note in out["notes"])
    assert main(["floor", "tanh", "tanh"]) == 0
    assert "certified" in capsys.readouterr().out


def test_first_finite_sizes() -> None:
    """A link of slope 1/10 beside He_2: E y^2/mu1*^2 = 2.01/.01. Without a slope the criterion is no network's."""
    weak = floor("erf", "He(2, z) + z/10")
    assert weak.notes[0].startswith("WARNING, a limit far from usual sizes")
    assert weak.finite_size == {"dim": 1000, "correction": "0.003", "batch": "201"}
    none = floor("erf", "He(2, z)")
    assert none.finite_size["batch"] is None
    assert "no linear part" in none.notes[0]
    usual = floor("erf", "erf")
    assert usual.finite_size["batch"] == "1.09"
    assert not any("WARNING" in note for note in usual.notes)


@given(st.floats(0.01, 3), st.floats(0, 5), st.integers(10, 10**6))
def test_scales_of_a_link(slope: float, rest: float, dim: int) -> None:
    """At that batch |u|^2 = mu1*^2 + E y^2/alpha is twice mu1*^2; the rest of a kernel's sight fades as 3/d."""
    near = finite_size(slope, slope**2 + rest, dim)
    assert (slope**2 + rest) / near.batch == pytest.approx(slope**2, rel=1e-12)
    assert near.correction * dim == pytest.approx(3, rel=4 / dim)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="LINK"):
        floor("tanh", "exp(z**2/3)")
    with pytest.raises(InputError, match="noise"):
        floor("tanh", "tanh", noise="-1")


def test_every_number_has_its_error() -> None:
    found = floor("tanh", "z").payload()
    numbers = {"linear_floor", "floor_with_noise", "tau", "tau_lower", "kappa", "bracket"}
    assert numbers <= set(found["errors"])
    gap = float(found["tau"]) - float(found["tau_lower"])
    assert gap <= float(found["errors"]["tau_lower"])
