"""The ladder's predictions, and that its trials run; nothing large."""

from __future__ import annotations

import math

import pytest

from benchmarks.ladder import EXPERIMENTS, RATIOS, cosine_rung, kinked_rungs, outlier_rungs
from bulkedge.numerics.steps.spike_matrix import predicted_outliers


def test_predictions() -> None:
    # Obtained before, by a program of its own.
    assert [cosine_rung(alpha, 200, 2).predicted for alpha in RATIOS] == pytest.approx([0.384, 0.431, 0.572], abs=6e-4)
    positions = [predicted_outliers(EXPERIMENTS["bounded, reused"].matrix(n, 2), 1.0).positions[1] for n in (750, 3000)]
    assert positions == pytest.approx([3.362, 3.774], rel=2e-3)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_rungs(name: str) -> None:
    rungs = outlier_rungs(name, 60, 2)
    assert [rung.size for rung in rungs] == [60] * 3
    assert all(math.isfinite(rung.found.value) and rung.found.stderr > 0 for rung in rungs)
    assert (rungs[2].predicted < 1e-9) == name.endswith("fresh")
    assert rungs[0].what in str(rungs[0])


def test_the_first_orders_of_a_kink() -> None:
    square, beside, _ = kinked_rungs(40, 8)
    for rung in (square, beside):
        # What the cut series and the small size add is within these.
        assert abs(rung.found.value - 1) < 4 * rung.found.stderr + 0.15
