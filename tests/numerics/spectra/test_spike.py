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


STRONG = [(MODELS[0], 1.5), (MODELS[1], 6.0), (MODELS[2], 6.0), (MODELS[2], 0.3), (MODELS[3], -1.2), (MODELS[3], 1.2)]
STRONG += [(MODELS[4], -2.0), (MODELS[5], 4.0), (MODELS[5], -3.0)]


@pytest.mark.parametrize(("model", "strength"), STRONG)
def test_intervals_of_strong_spikes_cover_as_often_as_they_say(model, strength):
    # Positions drawn from the Gaussian law of strong spikes: coverage is then the level.
    size, level, trials = 20_000, 0.8, 100
    rng = np.random.default_rng(5)
    centre, sd = float(model.outlier(strength)), float(model.sd(strength, size))
    covered = 0
    for observed in rng.normal(centre, sd, trials):
        interval = model.interval(observed, size, level=level)
        assert interval.lower < interval.value < interval.upper
        covered += interval.lower <= strength <= interval.upper
    assert abs(covered / trials - level) < 4 * math.sqrt(level * (1 - level) / trials)
    if model.has_edge(strength, size):
        assert model.spread(strength, size) == pytest.approx(sd, rel=1e-9)


def extremes(model, strength, size, trials):
    """The extreme values of drawn matrices, on the upper side."""
    rng = np.random.default_rng(11)
    for _ in range(trials):
        if model.law.name == "wigner":
            noise = rng.standard_normal((size, size))
            matrix = (noise + noise.T) / math.sqrt(2 * size)
            matrix[0, 0] += strength
            yield np.linalg.eigvalsh(matrix)[-1]
        elif model.law.name == "rectangular":
            W = rng.standard_normal((size, round(model.ratio * size))) / math.sqrt(size)
            W[0, 0] += strength
            yield math.sqrt(np.linalg.eigvalsh(W.T @ W)[-1])
        else:
            X = rng.standard_normal((size, round(model.ratio * size)))
            if model.law.name == "covariance":
                X[:, 0] *= math.sqrt(strength)
            W = X.T @ X / size
            W[0, 0] += strength if model.law.name == "wishart" else 0
            yield np.linalg.eigvalsh(W)[-1]


@pytest.mark.parametrize(
    ("model", "strength"),
    [
        *((spike.rectangular(1.0), s) for s in (1e-6, 1.0, 1.25)),
        *((spike.covariance(0.5), s) for s in (1.0, 1 + math.sqrt(0.5), 2.1)),
        *((spike.wigner(), s) for s in (1e-6, 1.0, 1.3)),
        (spike.wishart(0.5), 0.5 + math.sqrt(0.5)),
    ],
)
def test_selected_values_at_the_threshold_cover_the_strength(model, strength):
    """Among the values beyond the edge, those that are read as outliers, at least the level; the spread of all."""
    size, trials, level = 60, 240, 0.8
    drawn = np.array(list(extremes(model, strength, size, trials)))
    selected = drawn[drawn > model.edges[1]]
    intervals = [model.interval(float(s), size, level=level) for s in selected]
    covered = np.mean([i.lower <= strength * (1 + 1e-9) and strength <= i.upper for i in intervals])
    assert covered > level - 3 * math.sqrt(level * (1 - level) / len(selected))
    # sd of a sample sd: 1/sqrt(2 trials), and what the law leaves out, size^(-1/3).
    assert model.spread(strength, size) == pytest.approx(np.std(drawn), rel=3 / math.sqrt(2 * trials) + 0.2)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(MODELS[:5]), st.floats(0.3, 3), st.integers(30, 3000), st.floats(0.5, 0.99))
def test_intervals_are_tests_inverted(model, factor, size, level):
    """The ends grow with the value, more level is wider, and the upper end's law has its quantile at the value."""
    edge = model.edges[1]
    low, high = (edge + x * factor * model.scale for x in (0.2, 0.5))
    first, second = (model.interval(x, size, level=level) for x in (low, high))
    assert first.lower <= second.lower <= second.value
    assert first.upper < second.upper
    wide = model.interval(low, size, level=(1 + level) / 2)
    assert wide.lower <= first.lower
    assert wide.upper > first.upper
    assert model.spread(first.upper, size) > 0
    assert model.survival(low, first.upper, size) == pytest.approx((1 + level) / 2, abs=1e-6)


def test_interval_of_a_spike_far_below_the_bulk_stays_positive():
    model = spike.covariance(0.5)
    interval = model.interval(float(model.outlier(0.01)), 200, level=0.999)
    assert 0 < interval.lower < 0.01 < interval.upper < 1
    # Twenty samples of ten variables have such an eigenvalue once in 300 times without any spike.
    assert model.interval(float(model.outlier(0.01)), 20, level=0.999).upper == 1


def test_a_handful_of_columns_has_no_edge():
    """N = 1: the singular value is the length of a noisy vector, far from any Tracy-Widom law."""
    model = spike.rectangular(0.01)
    assert not model.has_edge(1.0, 100)
    found = model.interval(float(model.outlier(1.0)), 100)
    assert 0.7 < found.lower < 1 < found.upper < 1.3


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
