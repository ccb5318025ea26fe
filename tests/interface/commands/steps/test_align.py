"""`bulkedge align`: the contract's fields, both readings, LaTeX, bad input."""

from __future__ import annotations

import json

import pytest
import sympy as sp

import bulkedge
from bulkedge.cli import main


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, str, str]:
    status = main(["align", *tokens])
    out, err = capsys.readouterr()
    return status, out, err


def test_fields_and_an_exact_value(capsys: pytest.CaptureFixture[str]) -> None:
    tokens = ("z**3 - 3*z", "--power", "2", "--alpha", "2", "--batch", "reused", "--noise", "1/2", "--json")
    status, out, _ = run(capsys, *tokens)
    found = json.loads(out)
    assert status == 0
    assert found["reading"] == "rank_one"
    # beta.b_2 = E[z y^3]/alpha^2 = 36 g_3^3 9/alpha^2 at g_3 = 1; noise drops out of E[z y^3] by E[z y] = 0.
    assert found["exact"]["signal"] == "81"
    assert found["signal"] == "81"
    assert found["errors"]["signal"] == found["errors"]["norm2"] == "0"
    assert float(found["cosine"]) == pytest.approx(81 / float(found["norm2"]) ** 0.5, rel=1e-12)
    assert found["reach"][0]["information_exponent"] == 3
    assert (found["reach"][0]["reused"], found["reach"][0]["fresh"]) == (2, None)
    assert "g3" in found["closed_form"]["signal"]


def test_a_link_with_a_mean_and_an_activation_without_parity() -> None:
    """Signal 65/8, norm^2 165.945 (exact averaging over the weights at d = 1000: 8.22 +- .22, 169.5 +- 8.0)."""
    found = bulkedge.align("1+z", power=2, alpha=2, batch="reused", activation="z + He(2,z)/2 + He(3,z)/6")
    payload = found.payload()
    assert payload["exact"]["signal"] == "65/8"
    assert float(payload["norm2"]) == pytest.approx(165.945, abs=5e-4)
    # The closed form, at this link's own coefficients (its mean g0 too), is the value beside it.
    values = {"g0": 1, "g1": 1, "c1": 1, "c2": sp.Rational(1, 2), "c3": sp.Rational(1, 6), "alpha": 2, "s_eps": 0}
    assert found.forms is not None
    for form, exact in zip(found.forms[1:], (payload["exact"]["signal"], payload["exact"]["norm2"]), strict=True):
        assert form.subs({x: values[x.name] for x in form.free_symbols}) == sp.sympify(exact)
    assert "g0" not in str(bulkedge.align("z", power=2, alpha=2, batch="reused").forms)


def test_published_setting_of_both_readings() -> None:
    """The bounded link at alpha = 2, noise .3: .5211 (full), .4859 (rank_one), fresh .5244 and .4584."""
    link = "sin(1.2*z) + .8*cos(1.5*z) - .8*exp(-9/8)"
    act = "z + .3*He(2,z) + .15*He(3,z)"
    expected = {("reused", None): 0.4859, ("reused", act): 0.5211, ("fresh", None): 0.4584, ("fresh", act): 0.5244}
    for (batch, activation), value in expected.items():
        found = bulkedge.align(link, power=2, alpha=2, batch=batch, noise=0.3, activation=activation)
        assert found.payload()["reading"] == ("rank_one" if activation is None else "full")
        assert float(found.payload()["cosine"]) == pytest.approx(value, abs=5e-5)


def test_kinked_activation_shows_the_further_direction(capsys: pytest.CaptureFixture[str]) -> None:
    common = ("--power", "1", "--alpha", "1", "--batch", "reused", "--activation")
    _, out, _ = run(capsys, "z**3 - 3*z", *common, "relu", "--json")
    found = json.loads(out)
    assert found["signal"] == "0"
    assert abs(float(found["further"]["cosine"])) > 0.1
    _, out, _ = run(capsys, "z**3 - 3*z", *common, "softplus", "--json")
    assert "further" not in json.loads(out)
    _, table, _ = run(capsys, "z**3 - 3*z", *common, "relu")
    assert "further left vector" in table
    assert table.split("further left vector")[1].split()[2:5] == ["limit", "value", "error"]
    # Hard tanh: a^2 carries nothing, a|a| does, and the refusal says so.
    status, _, err = run(capsys, "z**3 - 3*z", *common, "hardtanh")
    assert status == 2
    assert "a|a|" in err
    assert "cosine" in err
    third = bulkedge.align("He(3, z)", power=3, alpha=1, batch="reused", activation="relu").payload()["further"]
    assert third["left"] == "a^3|a|"
    assert abs(float(third["cosine"])) > 0.01


def test_several_directions_and_latex(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "tanh", "He(3,z)", "--power", "2", "--alpha", "1", "--batch", "reused", "--json")
    found = json.loads(out)
    assert len(found["signals"]) == len(found["reach"]) == 2
    assert found["signals"][0] == found["signal"]
    for tokens in (("z + He(2,z)",), ("tanh",), ("sin(z)", "--activation", "z + z**2")):
        status, out, _ = run(capsys, *tokens, "--power", "1", "--alpha", "1", "--batch", "reused", "--latex")
        assert status == 0
        assert r"\beta \cdot b_{1} \to" in out


def test_digits(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(
        capsys, "tanh(z)+z**2", "--power", "1", "--alpha", "1", "--batch", "reused", "--digits", "60", "--json"
    )
    found = json.loads(out)
    assert len(found["norm2"]) >= 58
    assert 0 < float(found["errors"]["norm2"]) < 1e-59


@pytest.mark.parametrize(
    "tokens",
    [
        ("tanh", "--power", "1", "--alpha", "0", "--batch", "reused"),
        ("tanh", "--power", "-1", "--alpha", "1", "--batch", "reused"),
        ("tanh", "--power", "99", "--alpha", "1", "--batch", "reused"),
        ("tanh", "--power", "1.5", "--alpha", "1", "--batch", "reused"),
        ("tanh", "--power", "1", "--alpha", "1", "--batch", "both"),
        ("tanh", "--power", "1", "--alpha", "1", "--batch", "reused", "--noise", "-1"),
        ("tanh", "--power", "1", "--alpha", "1", "--batch", "reused", "--activation", "sign"),
        ("tanh", "--power", "2", "--alpha", "1", "--batch", "reused", "--activation", "relu"),
        ("exp(z**2/9)", "--power", "2", "--alpha", "1", "--batch", "reused"),
        ("exp(z**2)", "--power", "1", "--alpha", "1", "--batch", "fresh"),
        ("2", "--power", "1", "--alpha", "1", "--batch", "fresh"),
        ("nonsense(z)", "--power", "1", "--alpha", "1", "--batch", "fresh"),
        ("tanh", "--power", "1", "--alpha", "1"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], tokens: tuple[str, ...]) -> None:
    status, out, err = run(capsys, *tokens, "--json")
    assert status == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1


def test_the_step_that_a_limit_allows_is_said() -> None:
    """tanh on He_3 at eta_1 = 3, N = 1200: the limit is -.132, simulated -.296 +- .019; far fewer steps are allowed."""
    found = bulkedge.align("He(3,z)", power=2, alpha=2, batch="reused", activation="tanh")
    assert found.reach_of_step.step < 4
    assert any("eta_1 <<" in note for note in found.notes)
    bounded = bulkedge.align("sin(z)", power=1, alpha=2, batch="reused", activation="gelu")
    assert bounded.reach_of_step.step > 40
    assert bulkedge.align("He(3,z)", power=2, alpha=2, batch="fresh").reach_of_step.step > 4 * found.reach_of_step.step
