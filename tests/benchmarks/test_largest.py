"""The largest run in small: the same table, the prediction tied to T4's limits, the memory under its bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from benchmarks.largest import EXPERIMENT, SHOWN, main
from bulkedge.numerics.steps.second_step import peak_bytes
from bulkedge.numerics.steps.spike_matrix import predicted_outliers
from bulkedge.theory.steps.phases import phase


def test_lambda_is_two_and_the_third_outlier_is_predicted_outside_the_bulk():
    assert phase(Fraction(2, 5), Fraction(1, 4), 3).Lambda == 2
    assert EXPERIMENT.exponents == (0.4, 0.25)
    for size in (1500, 20000):
        expected = predicted_outliers(EXPERIMENT.matrix(size, 3), 1.0)
        assert expected.positions[2] > 1.5 * expected.edge


def test_the_slope_is_that_of_the_stated_activation():
    z, h = np.linspace(-2, 2, 9), 1e-5

    def sigma(x):
        return x + 0.08 * (x**2 - 1) + 0.02 * (x**3 - 3 * x)

    assert np.allclose(EXPERIMENT.sigma.slope(z), (sigma(z + h) - sigma(z - h)) / (2 * h), atol=1e-9)
    assert round(EXPERIMENT.steps(10**4)[1], 9) == 40


def test_the_table_shows_the_predicted_beside_the_found(capsys):
    main(300)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 + SHOWN
    assert [len(line.split()) for line in lines[4:]] == [7] * 3 + [3] * (SHOWN - 3)


def test_twenty_thousand_fit():
    assert peak_bytes(20000, 20000, 512) < 7 * 2**30
