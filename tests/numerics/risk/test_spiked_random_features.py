"""numerics/spiked_random_features.py: against the large-N limit of L1, the spectrum, the recorded form, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bulkedge.numerics.risk.conditional_limit import one_step_risk, pair_from_functions
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.risk.spiked_random_features import spectrum_averages, spiked_features_risk
from bulkedge.theory.numbers.errors import InputError

TANH = pair_from_functions(np.tanh, lambda z: 1 / np.cosh(z) ** 2, np.tanh)
MIXED = pair_from_functions(
    lambda z: np.maximum(z, 0) - 1 / math.sqrt(2 * math.pi),
    lambda z: np.asarray(z > 0, dtype=float),
    lambda z: np.tanh(z) + 0.5 * (np.abs(z) - math.sqrt(2 / math.pi)),
    kinks=(0.0,),
    link_kinks=(0.0,),
)
SETTING = {"samples": 1.5, "step_samples": 1.0, "penalty": 0.1, "step": 1.2, "noise": 0.2}


@pytest.mark.parametrize("pair", [TANH, MIXED])
@pytest.mark.parametrize("width", [0.5, 1.0, 2.0])
def test_agrees_with_conditional_equivalence(pair: Any, width: float) -> None:
    """L1's large-N equations with a constant readout, extrapolated in 1/N: other unknowns, the same risk."""
    risks = []
    for N in (4000, 8000):
        lam, eta = SETTING["penalty"] * width / SETTING["samples"], SETTING["step"] * math.sqrt(N)
        risks.append(
            one_step_risk(
                pair,
                RidgeProblem(1.5, width, lam, eta, alpha=1.0, noise=0.2),
                N,
                readout="constant",
                weights="sphere",
                count=64,
                isotropic=True,
            ).test
        )
    got = spiked_features_risk(pair, width=width, **SETTING)
    assert got.test == pytest.approx(2 * risks[1] - risks[0] - 0.04, rel=2e-6)
    assert got.status == "converged"
    assert got.residual < 1e-12


def test_recorded_form_holds_at_equal_sizes_only() -> None:
    for width, same in ((1.0, True), (0.5, False), (2.0, False)):
        corrected, recorded = (
            spiked_features_risk(TANH, width=width, recorded=r, **SETTING).test for r in (False, True)
        )
        assert (abs(corrected - recorded) < 1e-12) is same
        assert same or abs(corrected - recorded) > 0.05


@pytest.mark.parametrize("ratio", [0.4, 1.0, 2.5])
def test_spectrum_averages_are_those_of_a_large_matrix(ratio: float) -> None:
    rng = np.random.default_rng(0)
    d = 900
    W = rng.normal(size=(int(ratio * d), d))
    W /= np.linalg.norm(W, axis=1)[:, None]
    D = 1.7 * np.linalg.eigvalsh(W @ W.T)
    a, b = 0.3, 0.8
    S = a + b * D
    got = spectrum_averages(a, b, 1.7, ratio)
    expected = [np.mean(x) for x in (1 / S, D / S, 1 / S**2, D / S**2, D**2 / S**2)]
    np.testing.assert_allclose([got.one, got.d, got.one2, got.d2, got.dd2], expected, rtol=0.01)


def test_without_a_step_it_is_mei_montanari() -> None:
    from bulkedge.numerics.risk.mei_montanari import mei_montanari_risk

    got = spiked_features_risk(TANH, 1.5, 1.0, 0.7, 0.2, 0.0, noise=0.3)
    second = 0.39429449039784
    mu1 = TANH.mu1
    mu2 = math.sqrt(second - mu1**2)
    ridge = 0.2 * 0.7 / 1.5
    assert got.test == pytest.approx(mei_montanari_risk(0.7, 1.5, ridge / 0.7, mu1, mu2, mu1, mu2, 0.3), rel=1e-6)


@pytest.mark.parametrize("change", [{"penalty": 0.0}, {"samples": -1.0}, {"step": math.inf}, {"step_samples": 0.0}])
def test_bad_input(change: dict[str, float]) -> None:
    with pytest.raises(InputError):
        spiked_features_risk(TANH, **{**SETTING, "width": 1.0, **change})
