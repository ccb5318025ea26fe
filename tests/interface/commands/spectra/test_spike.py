"""`bulkedge spike`: the contract's fields, the threshold decided exactly, the inverse, pictures, bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import sympy as sp

import bulkedge
from bulkedge.cli import main


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, str, str]:
    status = main(["spike", *tokens])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(("ratio", "strength"), [("1/2", "3/2"), ("2", "1.5"), ("3", "0.9"), ("0.04", "0.3")])
def test_fields(capsys, ratio, strength):
    status, out, _ = run(capsys, "--ratio", ratio, "--strength", strength, "--json")
    found = json.loads(out)
    assert status == 0
    psi, theta = float(sp.Rational(ratio)), float(sp.Rational(strength))
    t, above = theta**2, theta**4 > psi
    assert found["above"] is above
    outlier = math.sqrt((1 + t) * (psi + t)) / theta if above else 1 + math.sqrt(psi)
    overlaps = (1 - (psi + t) / (t * (t + 1)), 1 - psi * (1 + t) / (t * (t + psi))) if above else (0, 0)
    assert float(found["threshold"]) == pytest.approx(psi**0.25, rel=1e-14)
    assert float(found["outlier"]) == pytest.approx(outlier, rel=1e-14)
    assert (float(found["overlap_d"]), float(found["overlap_N"])) == pytest.approx(overlaps, abs=1e-14)
    for name, text in found["exact"].items():
        assert float(sp.sympify(text)) == pytest.approx(float(found[name]), rel=1e-13)
    assert set(found["errors"].values()) == {"0"}


def test_the_threshold_itself_is_within(capsys):
    _, out, _ = run(capsys, "--ratio", "81/16", "--strength", "1.5", "--json")
    found = json.loads(out)
    assert (found["above"], found["outlier"], found["overlap_d"], found["overlap_N"]) == (False, "3.25", "0", "0")
    hair = "1." + "5" + "0" * 40 + "1"
    _, out, _ = run(capsys, "--ratio", "81/16", "--strength", hair, "--json", "--digits", "5")
    assert json.loads(out)["above"] is True
    assert "within the threshold" in run(capsys, "--ratio", "81/16", "--strength", "1.5")[1]


def test_the_inverse_and_its_interval(capsys):
    _, out, _ = run(capsys, "--ratio", "2", "--strength", "3", "--json", "--size", "500")
    forward = json.loads(out)
    assert float(forward["sd"]) == pytest.approx(math.sqrt((81 - 2) * 21 / (2 * 500 * 9 * 10 * 11)), rel=1e-12)
    _, out, _ = run(capsys, "--ratio", "2", "--observed", forward["outlier"], "--json", "--size", "500")
    back = json.loads(out)
    assert float(back["strength"]) == pytest.approx(3, rel=1e-13)
    low, high = map(float, back["interval"])
    assert low < 3 < high
    # Two standard deviations of the strength: sd over the slope of the map.
    slope = (3.4960294939 - math.sqrt((1 + 2.99**2) * (2 + 2.99**2)) / 2.99) / 0.01
    assert high - low == pytest.approx(2 * 1.96 * float(forward["sd"]) / slope, rel=0.02)


def test_modes(capsys):
    assert run(capsys, "--ratio", "1/2", "--strength", "2", "--latex")[1].startswith(("s_1", "s_{1}"))
    assert run(capsys, "--ratio", "1/2", "--strength", "2", "--csv")[1].startswith("quantity,value,error,exact")


def test_python_function():
    assert bulkedge.spike(2, 3).above is True
    with pytest.raises(bulkedge.InputError, match="strength"):
        bulkedge.spike(2)


@pytest.mark.parametrize(("ratio", "strength"), [("1/2", "2"), ("3", "1")])
def test_picture(tmp_path: Path, ratio, strength, monkeypatch):
    monkeypatch.setattr("bulkedge.results.spectra._SIDE", 200)
    target = tmp_path / "spike.svg"
    assert main(["spike", "--ratio", ratio, "--strength", strength, "--plot", str(target)]) == 0
    assert "<svg" in target.read_text()[:400]


@pytest.mark.parametrize(
    ("tokens", "named"),
    [
        (("--ratio", "0", "--strength", "1"), "ratio"),
        (("--ratio", "1", "--strength", "-1"), "strength"),
        (("--ratio", "1", "--strength", "1e999999"), "strength"),
        (("--ratio", "1"), "--strength"),
        (("--ratio", "1", "--strength", "1", "--observed", "3"), "--observed"),
        (("--ratio", "1", "--observed", "2"), "observed"),
        (("--ratio", "1", "--observed", "3", "--size", "0"), "size"),
        (("--ratio", "1", "--observed", "3", "--size", "9", "--level", "1"), "level"),
    ],
)
def test_unusable_input(capsys, tokens, named):
    status, out, err = run(capsys, *tokens)
    assert status == 2
    assert out == ""
    assert named in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("tokens", "outlier", "overlaps"),
    [
        (("--ensemble", "covariance", "--ratio", "1/4", "--strength", "2"), 2.5, {"vector": 0.6, "scores": 0.75}),
        (("--ensemble", "covariance", "--ratio", "1/4", "--strength", "3/2"), 2.25, {"vector": 0, "scores": 0}),
        (("--ensemble", "covariance", "--ratio", "1/4", "--strength", "1/5"), 0.1375, {"scores": 1 - 0.25 / 0.64}),
        (("--ensemble", "wigner", "--strength", "-2"), -2.5, {"vector": 0.75}),
        (("--ensemble", "wigner", "--strength", "1/2"), 2, {"vector": 0}),
        (("--ensemble", "wigner", "--strength", "0"), 2, {"vector": 0}),
        (("--ensemble", "wishart", "--ratio", "1/2", "--strength", "2"), 10 / 3, {"vector": 7 / 9}),
        (("--ensemble", "wishart", "--ratio", "1/2", "--strength", "-1"), -1 / 3, {"vector": 7 / 9}),
        (("--ensemble", "wishart", "--ratio", "4", "--strength", "1"), 2 / 3, {"vector": 5 / 9}),
        (("--ensemble", "wishart", "--ratio", "1/4", "--strength", "1/2"), 2.25, {"vector": 0}),
    ],
)
def test_other_ensembles(capsys, tokens, outlier, overlaps):
    status, out, _ = run(capsys, *tokens, "--json", "--size", "400")
    found = json.loads(out)
    assert status == 0
    assert float(found["outlier"]) == pytest.approx(outlier)
    for name, value in overlaps.items():
        assert float(found[f"overlap_{name}"]) == pytest.approx(value)
    assert float(found["sd"]) > 0
    if found["above"]:
        place = tokens.index("--strength")
        back = (*tokens[:place], "--observed", found["outlier"], "--size", "400", "--json")
        inverse = json.loads(run(capsys, *back)[1])
        assert float(inverse["strength"]) == pytest.approx(float(found["strength"]), rel=1e-12)
        low, high = map(float, inverse["interval"])
        assert low < float(found["strength"]) < high


@pytest.mark.parametrize(
    ("tokens", "threshold", "edge"),
    [
        (("covariance", "--ratio", "1/2", "--strength", "1/5"), 1 - math.sqrt(0.5), (1 - math.sqrt(0.5)) ** 2),
        (("covariance", "--ratio", "1/2", "--observed", "3/40"), 1 - math.sqrt(0.5), (1 - math.sqrt(0.5)) ** 2),
        (("wigner", "--strength", "-2"), -1, -2),
        (("wishart", "--ratio", "1/2", "--strength", "2"), 0.5 + math.sqrt(0.5), (1 + math.sqrt(0.5)) ** 2),
    ],
)
def test_the_threshold_is_that_of_the_strengths_side(capsys, tokens, threshold, edge):
    found = json.loads(run(capsys, "--ensemble", *tokens, "--json")[1])
    assert found["above"] is True
    assert (float(found["threshold"]), float(found["edge"])) == pytest.approx((threshold, edge), rel=1e-13)
    assert (float(found["strength"]) - threshold) * (float(found["outlier"]) - edge) > 0
    side = "above the" if threshold > 1 else "below the lower"
    assert f"{side} threshold" in run(capsys, "--ensemble", *tokens)[1]


@pytest.mark.parametrize(
    "tokens",
    [
        ("wishart", "--ratio", "2", "--strength", "-2"),
        ("covariance", "--ratio", "1/3", "--strength", "3"),
        ("wigner", "--strength", "-2"),
    ],
)
def test_pictures_of_other_ensembles(tmp_path, tokens, monkeypatch):
    monkeypatch.setattr("bulkedge.results.spectra._SIDE", 200)
    target = tmp_path / "spike.svg"
    assert main(["spike", "--ensemble", *tokens, "--plot", str(target)]) == 0
    assert target.exists()


@pytest.mark.parametrize(
    ("tokens", "named"),
    [
        (("--ensemble", "circular", "--strength", "1"), "ensemble"),
        (("--ensemble", "wigner", "--ratio", "1", "--strength", "2"), "ratio"),
        (("--strength", "2"), "ratio"),
        (("--ensemble", "wigner", "--observed", "2"), "observed"),
        (("--ensemble", "covariance", "--ratio", "2", "--observed", "1/100"), "observed"),
        (("--ensemble", "covariance", "--ratio", "2", "--strength", "0"), "strength"),
        (("--ensemble", "wishart", "--ratio", "2", "--observed", "0"), "observed"),
        (("--ensemble", "wishart", "--ratio", "1/2", "--observed", "1"), "observed"),
    ],
)
def test_unusable_ensembles(capsys, tokens, named):
    status, out, err = run(capsys, *tokens)
    assert (status, out) == (2, "")
    assert named in err


def test_a_huge_strength_does_not_fill_the_table() -> None:
    found = bulkedge.spike(2, "1e400")
    assert found.payload()["strength"] == "1e+400"
    assert max(len(cell) for table in found.tables() for row in table.rows for cell in row) <= 120


def test_near_the_threshold_the_extreme_value_fluctuates_as_the_edge_does(capsys):
    """theta = 1.02, d = 50: .0690 +- .0013 simulated; the law of strong spikes says .0279."""
    for strength, low, high in (("1.02", 0.066, 0.074), ("1", 0.066, 0.074), ("1/2", 0.055, 0.065)):
        _, out, _ = run(capsys, "--ratio", "1", "--strength", strength, "--size", "50", "--json")
        found = json.loads(out)
        assert low < float(found["sd"]) < high
        assert "sd" not in found["exact"]
        assert float(found["errors"]["sd"]) > 0
    assert "sd" in json.loads(run(capsys, "--ratio", "1", "--strength", "4", "--size", "50", "--json")[1])["exact"]


def test_the_interval_holds_no_spike_where_noise_explains_the_value(capsys):
    """Noise of d = N = 50 exceeds the upper Tracy-Widom quantiles with their probability, values of the edge often."""
    scale = 2 ** (1 / 3) / 2 * 50 ** (-2 / 3)
    for s, holds in ((2 + 0.4 * scale, True), (2 + 0.98 * scale, True), (2 + 6 * scale, False)):
        _, out, _ = run(capsys, "--ratio", "1", "--observed", str(s), "--size", "50", "--json")
        assert (float(json.loads(out)["interval"][0]) == 0) is holds
