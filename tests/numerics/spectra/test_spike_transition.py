"""The law of a spike leaving the bulk: known at both ends and at w = 0; moments of strong spikes, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra import tracy_widom
from bulkedge.numerics.spectra.spike_transition import log_tails, moments, sf
from bulkedge.theory.numbers.errors import InputError

POINTS = np.linspace(-6, 6, 49)


@pytest.mark.parametrize("beta", [1, 2])
def test_no_spike_is_tracy_widom(beta):
    found, known = sf(POINTS, math.inf, beta), tracy_widom.sf(POINTS, beta)
    assert found == pytest.approx(known, abs=4e-5)
    assert found == pytest.approx(known, rel=2e-3)


def test_complex_noise_at_the_threshold_is_the_square_of_the_real_law():
    """Baik, Ben Arous & Peche 2005: F_2(x, 0) = F_1(x)^2."""
    assert sf(POINTS, 0.0, 2) == pytest.approx(1 - tracy_widom.cdf(POINTS, 1) ** 2, abs=3e-5)


@pytest.mark.parametrize("beta", [1, 2])
def test_moments(beta):
    mean, sd = moments(math.inf, beta)
    assert mean == pytest.approx({1: -1.2065335745820, 2: -1.7710868074116}[beta], abs=1e-4)
    assert sd == pytest.approx(math.sqrt({1: 1.6077810345810, 2: 0.8131947928329}[beta]), rel=1e-3)
    near, far = moments(-4.4, beta), moments(-4.6, beta)
    assert near[0] == pytest.approx(4.4**2, abs=0.2)
    assert far[1] == pytest.approx(math.sqrt(4 * 4.6 / beta))
    assert near[1] == pytest.approx(math.sqrt(4 * 4.4 / beta), rel=0.01)


@settings(max_examples=40, deadline=None)
@given(st.floats(-8, 30), st.floats(-4.4, 20), st.floats(0.05, 3), st.sampled_from([1, 2]))
def test_the_law_is_ordered(x, w, step, beta):
    """Decreasing in x; a stronger spike (smaller w) pushes the eigenvalue up; between 0 and 1."""
    here, right, weaker = (float(sf(*at, beta)) for at in ((x, w), (x + step, w), (x, w + step)))
    # The table ends at 1e-30.
    assert 0 <= right <= here * (1 + 1e-9) + 1e-29 <= 1 + 1e-8
    logs = log_tails(x, w, beta)
    assert math.exp(logs[0]) == pytest.approx(here, rel=1e-9, abs=1e-29)
    assert math.exp(logs[0]) + math.exp(logs[1]) == pytest.approx(1)
    assert weaker <= here * (1 + 1e-6) + 1e-12
    assert moments(w, beta)[1] > 0


def test_bad_input():
    with pytest.raises(InputError):
        sf(0.0, 0.0, 4)
    with pytest.raises(InputError):
        sf(math.nan, 0.0)
