"""`bulkedge risk`: the contract, each case of means, curves, weights, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bulkedge.cli import main
from bulkedge.commands.risk.risk import risk
from bulkedge.numerics.risk.mei_montanari import mei_montanari_risk
from bulkedge.theory.numbers.errors import InputError

REAL = ("test", "train", "linear_floor", "random_features")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["risk", *arguments, "--json"]) == 0
    out: dict[str, Any] = json.loads(capsys.readouterr().out)
    return out


def test_contract(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(
        capsys, "erf", "tanh", "--samples", "3/2", "--width", "2", "--ridge", "1e-2", "--step", "1", "--noise", ".2"
    )
    assert out["command"] == "risk"
    for field in REAL:
        assert isinstance(out[field], str)
        assert 0 <= float(out["errors"][field]) < 1e-10
    assert out["status"] == "proved"
    assert out["curve"] is None
    parts = out["decomposition"]
    assert float(out["test"]) == pytest.approx(
        float(out["linear_floor"]) + float(parts["bias"]) + float(parts["variance"]), rel=1e-12
    )
    assert float(out["gain"]) == pytest.approx(float(out["random_features"]) - float(out["test"]), rel=1e-9)


def test_step_zero_is_mei_montanari() -> None:
    r = risk("erf", "He(2, z)/2 + z", samples="0.7", width="2.5", ridge="1/3", step=0, noise="0.3")
    mu1 = 2 / np.sqrt(3 * np.pi)
    mu2 = np.sqrt(2 / np.pi * np.arcsin(2 / 3) - mu1**2)
    expected = mei_montanari_risk(2.5, 0.7, 1 / 3 / 2.5, mu1, mu2, 1.0, np.sqrt(0.5), 0.3)
    assert r.point.test == pytest.approx(expected, rel=1e-10)
    assert abs(r.point.test - expected) <= 2 * r.point.test_error + 1e-13


def test_curve(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "risk.svg"
    out = run(
        capsys, "tanh", "sin", "--samples", "2", "--width", "1", "--ridge", ".1", "--step", "0:3:7",
        "--plot", str(picture),
    )  # fmt: skip
    assert [float(p["step"]) for p in out["curve"]] == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    tests = [float(p["test"]) for p in out["curve"]]
    assert tests == sorted(tests, reverse=True)
    assert out["curve"][0]["test"] == out["random_features"]
    assert out["curve"][-1]["test"] == out["test"]
    assert picture.stat().st_size > 1000
    options = ["--samples", "2", "--width", "1", "--ridge", ".1", "--step", "0:3:7", "--csv"]
    assert main(["risk", "tanh", "sin", *options]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "step,test,train,error of test"


@pytest.mark.parametrize(
    ("activation", "link", "status", "source"),
    [
        ("tanh", "tanh", "proved", ["O3"]),
        ("relu", "tanh", "conjectured", ["O3"]),
        ("relu", "softplus", "conjectured", ["O3"]),
        ("tanh", "softplus", "conjectured", ["O3"]),
        ("relu - 1/sqrt(2*pi)", "softplus", "conjectured", ["O3", "L1"]),
    ],
)
def test_cases_of_means(activation: str, link: str, status: str, source: list[str]) -> None:
    """Each case is told apart; where nothing fits the mean the risk stays above mu2*^2 + mu0*^2."""
    r = risk(activation, link, samples=3, width=2, ridge="0.05", step=1, noise="0.1")
    assert (r.status, list(r.source)) == (status, source)
    assert r.linear_floor <= r.test <= r.random_features
    if (activation, link) == ("tanh", "softplus"):
        assert float(r.floor) == pytest.approx(float(r.linear_floor) + 0.8060591833474398**2, rel=1e-12)
        assert r.test > r.floor


def test_finite_dimension_reaches_large_steps() -> None:
    """erf/erf: at eta = Theta(sqrt N) below the linear floor; at a small step the closed form."""
    r = risk("erf", "erf", samples=30, width=2, ridge="1e-3", step="0:45:4", dim=500)
    assert r.test < r.linear_floor / 2
    closed = risk("erf", "erf", samples=30, width=2, ridge="1e-3", step=0)
    assert float(r.random_features) == pytest.approx(float(closed.test), rel=2e-3)
    assert r.status == "conjectured"


def test_simulation_lies_on_the_curve() -> None:
    r = risk("tanh", "tanh", samples=2, width=1, ridge="0.1", step="0:12:2", dim=100, noise="0.1", simulate=6)
    assert [float(s.step) for s in r.simulation] == [0, 12]
    for simulated, point in zip(r.runs, r.points, strict=True):
        # 5 standard errors of 6 networks and the O(1/d) of the mean
        assert abs(simulated.test.value - point.test) < 5 * simulated.test.stderr + 1 / 100 * point.test
    assert r.to_dict()["simulation"][0]["trials"] == 6
    assert r.figure() is not None


@pytest.fixture
def weights(tmp_path: Path) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(60, 40)) / np.sqrt(40)
    W[:, 0] += 1.5 * rng.normal(size=60)
    np.save(tmp_path / "W.npy", W)
    np.save(tmp_path / "beta.npy", np.eye(40)[0])
    return str(tmp_path / "W.npy"), str(tmp_path / "beta.npy")


def test_given_weights(weights: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    W, beta = weights
    base = ["tanh", "tanh", "--samples", "3", "--ridge", ".1", "--noise", ".1", "--from-weights", W]
    out = run(capsys, *base, "--target", beta)
    assert float(out["test"]) < float(out["random_features"])
    assert 0 < float(out["errors"]["test"]) < 1e-3
    leading = run(capsys, *base)
    assert any("leading singular direction" in note for note in leading["notes"])
    assert float(leading["test"]) == pytest.approx(float(out["test"]), rel=0.3)
    two = run(capsys, *base, "--target", beta, "--spikes", "2")
    assert float(two["test"]) == pytest.approx(float(out["test"]), rel=0.1)


def test_a_neuron_without_weights_is_named(tmp_path: Path) -> None:
    W = np.random.default_rng(0).normal(size=(30, 20))
    W[7] = 0
    np.save(tmp_path / "W.npy", W)
    with pytest.raises(InputError, match="row 7 is all zero"):
        risk("tanh", "tanh", samples=1, ridge=1, from_weights=str(tmp_path / "W.npy"))


def test_pickled_arrays_are_not_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "W.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not an array of numbers"):
        risk("tanh", "tanh", samples=1, ridge=1, from_weights=str(tmp_path / "W.npy"))


GOOD: dict[str, Any] = {"samples": 2, "width": 1, "ridge": "0.1", "step": 1}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"ridge": -1}, "ridge"),
        ({"width": 0}, "width"),
        ({"samples": "0"}, "samples"),
        ({"step": "inf"}, "step"),
        ({"step": "1:2"}, "step"),
        ({"step": "0:1:1"}, "step"),
        ({"step": "-1"}, "step"),
        ({"step": None}, "step"),
        ({"noise": "nan"}, "noise"),
        ({"noise": "-1"}, "noise"),
        ({"batch": "0"}, "batch"),
        ({"simulate": 4}, "dim"),
        ({"dim": 100, "ridge": 0}, "ridge"),
        ({"dim": 2, "width": "0.1"}, "width"),
        ({"dim": 100, "readout": "cauchy"}, "readout"),
        ({"dim": 100, "step": "0:1:9999"}, "step"),
        ({"width": 2, "ridge": 0}, "ridge"),
        ({"from_weights": "w.npy"}, "width"),
        ({"target": "w.npy"}, "target"),
    ],
)
def test_bad_input(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as caught:
        risk("tanh", "tanh", **{**GOOD, **change})
    assert caught.value.argument == named
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("activation", "link", "named"),
    [("tanh", "exp(z**2/3)", "LINK"), ("exp(z**2/4)", "tanh", "ACTIVATION"), ("sign", "tanh", "ACTIVATION"),
     ("1", "tanh", "ACTIVATION"), ("tanh", "log(Abs(z))", "LINK")],
)  # fmt: skip
def test_bad_functions(activation: str, link: str, named: str) -> None:
    """Infinite variance, no certified growth, a gradient that is not defined, a constant: each refused."""
    with pytest.raises(InputError) as caught:
        risk(activation, link, **GOOD)
    assert caught.value.argument == named


def test_a_limit_stands_beside_a_finite_size(capsys: pytest.CaptureFixture[str]) -> None:
    """A mean that is a rounded zero fits the link's only at dimensions that nobody has; plain pairs need no warning."""
    common = ("--samples", "3", "--width", "1", "--ridge", ".1", "--step", "0")
    far = run(capsys, "gelu-0.2821", "3+z", *common)
    assert far["notes"][0].startswith("WARNING")
    # Simulated 9.0; the limit says .59.
    assert float(far["test"]) < 1 < 8 < float(far["finite_size"]["test"]) < 10
    near = run(capsys, "tanh", "z", *common)
    assert not any("WARNING" in note for note in near["notes"])
    assert float(near["finite_size"]["test"]) == pytest.approx(float(near["test"]), rel=5e-3)
    same = run(capsys, "tanh", "z", *common, "--dim", "1000")
    assert same["finite_size"] is None
    assert same["test"] == near["finite_size"]["test"]
    assert run(capsys, "sign", "z", *common)["finite_size"] is None


def test_the_mean_of_a_link_costs_through_the_length_of_the_inputs() -> None:
    """relu on 5 + z at d = 100: .5588 +- .0024 simulated (train .3714); without the term .4165 (.2754)."""
    found = risk("relu", "5+z", samples=10, width=2, ridge="1/100", step=0, dim=100).point
    assert abs(found.test - 0.5588) < 4 * 0.0024
    assert found.train == pytest.approx(0.3714, rel=0.02)
