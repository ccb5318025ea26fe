"""The command spectrum: the contract, and unusable input."""

from __future__ import annotations

import json

import pytest

from bulkedge.cli import main
from bulkedge.commands.kernels.spectrum import spectrum
from bulkedge.theory.numbers.errors import InputError


def test_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spectrum", "--dim", "20", "--bulk", "1", "--spike", "20", "--degree", "4", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["command"] == "spectrum"
    assert float(out["top"]["eigenvalue"]) == pytest.approx(0.368023446, abs=1e-9)
    assert 0 < float(out["top"]["error"]) < 1e-10
    assert list(out["top"]["weights"]) == ["0", "2", "4"]
    assert float(out["top"]["weights"]["2"]) == pytest.approx(0.3368, abs=6e-5)
    assert out["linear"] == {"aligned": "0.2625", "orthogonal": "0.0125"}
    assert float(out["second"]) == pytest.approx(0.2625, rel=1e-13)  # the aligned linear function's
    assert (out["top"]["sector"], out["top"]["parity"], out["top"]["multiplicity"]) == (0, 0, "1")
    assert out["source"] == ["G6", "G7"]
    assert all(isinstance(v["multiplicity"], str) for v in out["eigenvalues"])


def test_numbers_are_read_exactly_and_in_any_form() -> None:
    a = spectrum(20, "1/2", "-1e-1")
    b = spectrum("20", 0.5, -0.1)
    assert a.to_json() == b.to_json()
    assert "lambda" in a.latex()


@pytest.mark.parametrize("options", [("2", "1", "1e4"), ("20", "1", "1e4"), ("3", "1", "5"), ("1000000", "1", "5")])
def test_a_spectrum_takes_seconds(options) -> None:
    """By the degrees that it needs: the truncation follows the leading eigenvalues, not the thousandth."""
    found = spectrum(*options)
    assert found.leading.degree <= (1056 if options[2] == "1e4" else 128)
    assert found.leading.top.error < 1e-10 * found.leading.top.value
    assert found.leading.second.error < 1e-10 * found.leading.top.value


def test_modes_and_picture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spectrum", "--dim", "5", "--bulk", "1", "--spike", "-1/2", "--csv"]) == 0
    assert capsys.readouterr().out.startswith("eigenvalue of,value,error,multiplicity\n")
    figure = spectrum(5, 1, 2, activation="abs").figure()
    assert len(figure.axes[0].lines) == 4


def test_a_spike_that_hides_the_rest() -> None:
    """At B/A = 1e18 one part of the top eigenfunction's sector is left: the linear functions, alone in theirs."""
    found = spectrum(10, 1, "1e18")
    top, aligned = found.leading.top, found.leading.aligned
    assert abs(top.value - 1e18 / 40) <= top.error < 1e-13 * top.value
    assert abs(aligned.value - 1e18 / 40) <= aligned.error
    second = found.leading.second  # the even part, |w.x|/2: alike in the limit
    assert abs(second.value - 1e18 / 40) <= second.error < 1e-7 * second.value
    assert found.leading.companion.value == 0
    constant = spectrum(10, 1, 5, activation="2")
    assert constant.payload()["second"] == "0"
    assert any(note.startswith("second is 0") for note in constant.notes)
    assert not any(note.startswith("second is 0") for note in found.notes)


@pytest.mark.parametrize(
    ("activation", "dim", "bulk", "spike", "top", "second"),
    [
        ("tanh", 2, "3/2", -1, 0.2118, 0.0949),  # the top is the linear function across w*
        ("gelu", 2, 1, 2, 0.375, 0.36148),  # of the other parity
        ("relu", 30, 1, "5.2", 0.191925, 0.051667),  # the aligned linear function
        ("tanh", 20, 1, "-1/2", 0.018337, 0.018337),  # 19 times
    ],
)
def test_top_and_second_are_those_of_all_sectors(activation, dim, bulk, spike, top, second) -> None:
    found = spectrum(dim, bulk, spike, activation=activation)
    assert found.leading.top.value == pytest.approx(top, abs=6e-5)
    assert found.leading.second.value == pytest.approx(second, abs=6e-5)
    assert (found.leading.top.multiplicity > 1) is any("occurs 19 times" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("1", "1", "1"), "dim"),
        (("5", "0", "1"), "bulk"),
        (("5", "1", "-1"), "spike"),
        (("5", "1", "x"), "spike"),
        (("1.5", "1", "1"), "dim"),
    ],
)
def test_bad_input(options: tuple[str, str, str], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    d, A, B = options
    assert main(["spectrum", "--dim", d, "--bulk", A, "--spike", B]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert word in captured.err
    with pytest.raises(InputError):
        spectrum(d, A, B)


@pytest.mark.parametrize("activation", ["relu", "Abs(z)", "leaky_relu(z,1/5)"])
def test_the_mixing_by_its_routes(activation: str) -> None:
    """The weights printed, the eigenvector's equation, and the closed form: tau does not depend on the odd part."""
    result = spectrum(dim=20, bulk="3/2", spike=9, activation=activation)
    rows = {row["route"]: row for row in result.to_dict()["mixing"]}
    weights = dict(result.leading.weights)
    exact = float(rows["exact spectrum"]["value"])
    assert exact == pytest.approx(weights[2] / weights[0], rel=1e-12)
    assert float(rows["exact spectrum"]["error"]) < 1e-12
    # A and B enter by their ratio alone.
    assert exact == pytest.approx(0.163290737118821, rel=1e-11)
    for route in ("closed form", "series to (B/A)^3", "printed in paper F"):
        assert abs(float(rows[route]["value"]) - exact) <= float(rows[route]["error"]) < 0.02
    assert float(rows["closed form"]["error"]) < float(rows["printed in paper F"]["error"]) / 3


@pytest.mark.parametrize(("activation", "spike"), [("tanh", 2), ("relu(z)**2", 2), ("z", 3)])
def test_no_closed_mixing_where_it_is_not_the_statement_s(activation: str, spike: int) -> None:
    routes = [row["route"] for row in spectrum(dim=5, bulk=1, spike=spike, activation=activation).to_dict()["mixing"]]
    assert routes in ([], ["exact spectrum"])


@pytest.mark.parametrize("spike", ["-1/2", "1e-9", "1e6"])
def test_mixing_at_the_ends(spike: str) -> None:
    result = spectrum(dim=3, bulk=1, spike=spike)
    rows = {row["route"]: float(row["value"]) for row in result.to_dict()["mixing"]}
    assert ("series to (B/A)^3" in rows) == (spike != "1e6")
    if spike != "1e6":
        assert rows["closed form"] == pytest.approx(rows["exact spectrum"], rel=0.1)
        assert rows["series to (B/A)^3"] == pytest.approx(rows["exact spectrum"], rel=0.03, abs=1e-15)


LINK = "2*z**2 + 3*z + 4*sin(2*z)"


def test_the_learning_curve_of_figure_1b() -> None:
    """d = 300, n = 200, ridge 1, B = 848: simulated 8.04 +- .08 (30 draws); and with 1000 features more."""
    found = spectrum(300, "1.2", 848, link=LINK, samples=200, ridge=1).regression
    assert float(found.risk) + float(found.finite_size) == pytest.approx(8.04, abs=0.25)
    assert float(found.unlearnable) == pytest.approx(6.84497, abs=1e-5)
    features = spectrum(300, "1.2", 848, link=LINK, samples=200, ridge=1, width=1000).regression
    assert float(features.risk) > float(found.risk)
    assert features.finite_size is None
    assert found.degrees.error < 1e-4


def test_the_learning_curve_in_json_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--dim", "40", "--bulk", "1", "--spike", "10", "--link", "tanh", "--samples", "50", "--ridge", "1/2"]
    assert main(["spectrum", *options, "--noise", "1/10", "--json"]) == 0
    payload = json.loads(capsys.readouterr().out)
    assert 0 < float(payload["regression"]["risk"]) < 1
    assert set(payload["regression"]["errors"]) >= {"risk", "finite_size", "degrees"}
    assert "G10" in payload["source"]
    assert main(["spectrum", *options]) == 0
    assert "learning curve (G10)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"link": "tanh"}, "samples"),
        ({"samples": 10, "ridge": 1}, "link"),
        ({"noise": 1}, "noise"),
        ({"width": 10}, "width"),
        ({"link": "tanh", "samples": 10, "ridge": 1, "activation": "tanh"}, "activation"),
        ({"link": "tanh", "samples": 10, "ridge": 0}, "ridge"),
    ],
)
def test_half_a_regression_is_refused(options: dict[str, object], named: str) -> None:
    with pytest.raises(InputError) as caught:
        spectrum(30, 1, 2, **options)  # type: ignore[arg-type]  # as a user would type them
    assert caught.value.argument == named


def test_a_learning_curve_needs_dimensions() -> None:
    with pytest.raises(InputError, match="too small"):
        spectrum(5, 1, 2, link="tanh", samples=10, ridge=1)
