"""numerics/risk/trained_risk.py: directions of one and two steps, and the risk against simulated read-outs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bulkedge.numerics.risk.trained_risk import spike_directions, trained_risk
from bulkedge.numerics.steps.network import ridge_risk, train
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import Setting


def setting(**change: Any) -> Setting:
    values: dict[str, Any] = {
        "d": 60, "width": 80, "batch": 90, "train": 120, "activation": "tanh", "links": "tanh", "noise": "1/10",
        "ridge": "1/10", "steps": ("12",),
    }  # fmt: skip
    return Setting(**{**values, **change})


def test_directions() -> None:
    one = train(setting(), np.random.default_rng(0))
    X, y = one.batches[0].arrays()
    np.testing.assert_allclose(spike_directions(one)[:, 0], X.T @ y / 90)
    two = train(setting(steps=("12", "6")), np.random.default_rng(0))
    U = spike_directions(two)
    X2, y2 = two.batches[1].arrays()
    assert U.shape == (60, 3)
    np.testing.assert_allclose(U[:, 1], X2.T @ (y2 * (X2 @ U[:, 0])) / 90)
    reused = train(setting(steps=("12", "6"), reuse=True), np.random.default_rng(0))
    assert spike_directions(reused).shape == (60, 2)
    none = train(setting(steps=(), batch=None), np.random.default_rng(0))
    assert spike_directions(none).shape == (60, 0)


@pytest.mark.parametrize("steps", [("12",), ("10", "6")])
def test_risk_of_a_trained_network(steps: tuple[str, ...]) -> None:
    """L1 for one network against read-outs on fresh samples (4 standard errors, and O(1/d) for the equivalence)."""
    trained = train(setting(steps=steps), np.random.default_rng(1))
    predicted = trained_risk(trained, count=24 if len(steps) == 1 else 6)
    rng = np.random.default_rng(2)
    risks = [ridge_risk(trained, rng, 3000).test for _ in range(24)]
    error = np.std(risks, ddof=1) / math.sqrt(len(risks))
    assert abs(np.mean(risks) - predicted.test) < 4 * error + 3 / 60 * predicted.test


@pytest.mark.parametrize(
    ("change", "named"),
    [({"ridge": None}, "ridge"), ({"links": ["tanh", "sin"]}, "links"), ({"steps": ("1", "1", "1")}, "steps")],
)
def test_bad_settings(change: dict[str, Any], named: str) -> None:
    trained = train(setting(**change), np.random.default_rng(0))
    with pytest.raises(InputError) as caught:
        trained_risk(trained)
    assert caught.value.argument == named
