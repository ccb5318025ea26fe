"""The compiled spike maps against their symbols; intervals; several spikes. Simulations are in the ledger."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra import spike
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import c, psi
from bulkedge.theory.spectra import spike as theory

MODELS = [spike.rectangular(0.3, 0.7), spike.rectangular(2.5, 3.0), spike.covariance(0.4, 2.0), spike.wigner(0.5)]
MODELS += [spike.wishart(0.4, 2.0), spike.wishart(3.0, 0.5)]
STRENGTHS = [0.05, 0.3, 0.6, 0.9, 1.0, 1.4, 2.5, 6.0]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.law.name}-{m.ratio}")
def test_twin_of_the_symbols(model):
    law, scale = model.law, model.scale
    ratio = sp.Rational(str(model.ratio))

    def exact(expression, strength):
        return float(sp.N(expression.subs({law.strength: sp.Rational(str(strength)), psi: ratio, c: ratio}), 20))

    units = [s * scale for s in STRENGTHS]
    assert model.outlier(units) == pytest.approx([scale * exact(law.position(), s) for s in STRENGTHS], rel=1e-13)
    for name, _ in law.overlaps:
        assert model.overlap(name, units) == pytest.approx([exact(law.overlap(name), s) for s in STRENGTHS], rel=1e-12)
    variance = sp.Piecewise((law.variance, law.above), (0, True))
    sd = [scale * math.sqrt(exact(variance, s) / 500) for s in STRENGTHS]
    assert model.sd(units, 500) == pytest.approx(sd, rel=1e-12)
    assert model.sd(units, 500, beta=2) == pytest.approx(np.array(sd) / math.sqrt(2), rel=1e-12)
    above = [bool(law.above.subs({law.strength: sp.Rational(str(s)), psi: ratio, c: ratio})) for s in STRENGTHS]
    assert model.above(units).tolist() == above
    assert model.threshold == pytest.approx(scale * float(law.threshold.subs({psi: ratio, c: ratio})))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(MODELS), st.floats(1.02, 50), st.booleans())
def test_strength_inverts_outlier(model, factor, mirrored):
    strength = model.threshold * factor
    if mirrored and model.law.name == "wigner":
        strength = -strength
    if mirrored and model.law.name == "covariance":
        strength = (1 - math.sqrt(model.ratio)) / factor * model.scale
    if mirrored and model.law.name == "wishart":
        strength = (model.ratio - math.sqrt(model.ratio) * factor) * model.scale
    # Near the threshold the map is flat: a rounding of the position moves the strength by its square root.
    assert float(model.strength(model.outlier(strength))) == pytest.approx(strength, rel=1e-12 / (factor - 1) ** 2)


@pytest.mark.parametrize(
    ("model", "strength"),
    [
        *((MODELS[0], 1.5), (MODELS[1], 6.0), (MODELS[2], 6.0), (MODELS[2], 0.3), (MODELS[3], -1.2), (MODELS[3], 1.2)),
        *((MODELS[4], -2.0), (MODELS[5], 4.0)),
    ],
)
def test_intervals_cover_as_often_as_they_say(model, strength):
    # Positions drawn from the Gaussian law that the interval assumes: its coverage is then the level.
    size, level, trials = 400, 0.8, 400
    rng = np.random.default_rng(5)
    centre, sd = float(model.outlier(strength)), float(model.sd(strength, size))
    covered = 0
    for observed in rng.normal(centre, sd, trials):
        interval = model.interval(observed, size, level=level)
        assert interval.lower < interval.value < interval.upper
        covered += interval.lower <= strength <= interval.upper
    assert abs(covered / trials - level) < 4 * math.sqrt(level * (1 - level) / trials)


def test_interval_of_a_spike_far_below_the_bulk_stays_positive():
    model = spike.covariance(0.5)
    interval = model.interval(float(model.outlier(0.01)), 20, level=0.999)
    assert 0 < interval.lower < 0.01 < interval.upper < 1


def test_several_spikes_are_the_singular_triples_of_their_sum():
    rng = np.random.default_rng(2)
    left, right = rng.standard_normal((30, 3)), rng.standard_normal((50, 3))
    spikes = spike.spikes_of(left, right)
    assert left @ right.T == pytest.approx(spikes.left * spikes.strengths @ spikes.right.T, abs=1e-12)
    assert spikes.strengths == pytest.approx(np.linalg.svd(left @ right.T, compute_uv=False)[:3])
    assert spikes.left.T @ spikes.left == pytest.approx(np.eye(3), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: spike.rectangular(-1), "ratio"),
        (lambda: spike.covariance(1, math.inf), "scale"),
        (lambda: MODELS[0].outlier(-1), "strength"),
        (lambda: MODELS[0].outlier(math.nan), "strength"),
        (lambda: MODELS[0].outlier(math.inf), "strength"),
        (lambda: MODELS[0].overlap("vector", 1), "name"),
        (lambda: MODELS[0].strength(0.5), "observed"),
        (lambda: spike.covariance(2.0).strength(0.1), "observed"),
        (lambda: spike.wishart(2.0).strength(0.0), "observed"),
        (lambda: MODELS[0].sd(1, 0), "size"),
        (lambda: MODELS[0].sd(1, 10, beta=4), "beta"),
        (lambda: MODELS[0].interval(5, 100, level=1.0), "level"),
        (lambda: spike.spikes_of(np.ones(3), np.ones((3, 1))), "left, right"),
        (lambda: spike.spikes_of(np.ones((3, 2)), np.ones((3, 1))), "left, right"),
        (lambda: spike.spikes_of(np.full((3, 1), np.nan), np.ones((3, 1))), "left, right"),
    ],
)
def test_unusable_input(call, argument):
    with pytest.raises(InputError, match=argument):
        call()


def test_theory_and_numerics_name_the_same_ensembles():
    assert tuple(m.law for m in (MODELS[0], *MODELS[2:5])) == theory.MAPS
