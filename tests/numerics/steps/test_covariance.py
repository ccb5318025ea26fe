"""G1-G3, measured: the split of the update against the network's own gradient, and the average over the readout."""

from __future__ import annotations

import numpy as np
import pytest

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.kernels.batch_average import distance
from bulkedge.numerics.steps.covariance import (
    Step,
    conditional_trial,
    draw,
    kurtosis_trial,
    predicted,
    second_moment,
    trial,
)
from bulkedge.numerics.steps.network import gradient


@pytest.mark.parametrize("step", [Step("gelu", "tanh(z+1/2)", 1.5, 0.5, noise=0.3), Step("relu", "z", zeta=0.5)])
def test_the_update_is_the_networks_gradient(step: Step) -> None:
    """(eta/m) b (U - (b/m) V) is eta/sqrt(m) times the direction that numerics.network computes, neuron by neuron."""
    d, seed = 12, 3
    m = round(step.beta * d)
    x = draw(step, d, np.random.default_rng(seed))
    # The readout that `draw` took from the same stream: after W (m x d) and X (n x d).
    rng = np.random.default_rng(seed)
    rng.standard_normal((m, d)), rng.standard_normal((len(x.y), d))
    b = rng.standard_normal(m)
    f, _ = step.functions()
    theirs = gradient(x.W.T, b / np.sqrt(m), [(x.X, x.y)], vectorised(f), vectorised(f.derivative()))
    ours = b[:, None] / np.sqrt(m) * (x.U - b[:, None] / m * x.V)
    np.testing.assert_allclose(ours, theirs.T, atol=1e-14)


def test_average_over_the_own_readout() -> None:
    """The exact average over b_j against a sample of b_j, on one draw."""
    step, d = Step(), 16
    x = draw(step, d, np.random.default_rng(5))
    m, eta = len(x.W), step.eta(d)
    rng = np.random.default_rng(6)
    b = rng.standard_normal((40_000, m, 1))
    b = np.concatenate([b, -b])
    moved = np.zeros((d, d))
    for part in np.array_split(b, 40):
        delta = eta / m * part * (x.U - part / m * x.V)
        moved += np.einsum("bmi,bmj->ij", x.W + delta, x.W + delta) - len(part) * np.einsum("mi,mj->ij", x.W, x.W)
    moved *= d / (len(b) * m)
    across = (np.trace(moved) - moved[0, 0]) / (d - 1)
    A, B = second_moment(step, d, x)
    assert across == pytest.approx(A, rel=0.02)
    assert moved[0, 0] - across == pytest.approx(B, rel=0.02)


def test_trials_return_what_the_checks_compare() -> None:
    step = Step()
    result = trial(np.random.default_rng(0), 40, step)
    assert set(result) == {"bulk", "spike", "bulk_ratio", "spike_ratio"}
    assert result["spike"] == pytest.approx(predicted(step, 40)[1], rel=0.5)
    given = conditional_trial(np.random.default_rng(0), 60, step)
    assert 0.3 < given["cosine2"] < 0.95
    assert given["network"] == pytest.approx(given["cosine2"], abs=0.1)
    assert kurtosis_trial(np.random.default_rng(0), 50_000, "rademacher", 2.0)["kurtosis"] == pytest.approx(
        19 / 9, abs=0.1
    )


def test_distance_from_the_batch_average() -> None:
    """Reference values at zeta = 3/4, alpha = 2, beta = 1, tanh link, and their scaling in the step."""
    assert distance(Step("relu"), 50) / (50**0.75 / 50) ** 6 == pytest.approx(3.3e-4, rel=0.02)
    assert distance(Step("erf"), 50) / (50**0.75 / 50) ** 4 == pytest.approx(5.9e-3, rel=0.02)
    small, smaller = (distance(Step("erf", eta0=e), 100) for e in (0.2, 0.1))
    assert small / smaller == pytest.approx(16, rel=0.02)
    assert distance(Step("abs"), 60) < 1e-12  # c1 = 0: no spike, no batch noise in the rank-one part
