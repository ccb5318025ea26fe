"""R2 in numbers: against rmtool's polynomials, exact edges, Marchenko-Pastur, and features of scikit-learn's digits."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf
from sklearn.datasets import load_digits

from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.silverstein import (
    AffinePopulation,
    DiscretePopulation,
    GeneralLaw,
    additive_spike,
    conjugate_kernel,
    conjugate_kernel_spike,
    kernel_population,
)
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.spectra import silverstein as theory

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "rmtool_laws.json").read_text())["cases"]
POPULATION = DiscretePopulation.of([0, 1, 3, 10], [0.2, 0.2, 0.3, 0.3])
populations = st.lists(st.tuples(st.floats(0.1, 20), st.floats(0.05, 1)), min_size=1, max_size=5).map(
    lambda pairs: DiscretePopulation.of([t for t, _ in pairs], [w / sum(s for _, s in pairs) for _, w in pairs])
)


@pytest.mark.parametrize("case", REFERENCE, ids=lambda c: f"{'-'.join(c['values'])}@{c['ratio']}")
def test_against_an_independent_program(case):
    values, weights = ([float(sp.Rational(v)) for v in case[key]] for key in ("values", "weights"))
    law = GeneralLaw(DiscretePopulation.of(values, weights), float(sp.Rational(case["ratio"])))
    for point, re, im in case["stieltjes"]:
        assert complex(law.stieltjes(complex(sp.sympify(point)))) == pytest.approx(
            float(re) + 1j * float(im), rel=1e-11
        )
    # Moments from the density: the third route (edges, Newton, quadrature).
    t, share = np.polynomial.legendre.leggauss(400)
    moments = np.zeros(6)
    for lower, upper in law.edges:
        angle = np.pi * (1 + t) / 2
        x = lower + (upper - lower) * np.sin(angle / 2) ** 2
        mass = law.pdf(x) * (upper - lower) * np.sin(angle) / 2 * np.pi / 2 * share
        moments += [np.sum(mass * x**k) for k in range(6)]
    moments[0] += law.atom
    assert moments == pytest.approx([float(sp.Rational(v)) for v in case["moments"]], rel=1e-9)


@pytest.mark.parametrize("ratio", ["1/10", "1/2", "1", "3"])
def test_edges_against_the_exact_ones(ratio):
    exact = theory.Population((0, 1, 3, 10), tuple(map(sp.Rational, ("1/5", "1/5", "3/10", "3/10"))))
    expected = [[float(sp.N(e, 25)) for e in pair] for pair in theory.edges(exact, sp.Rational(ratio))]
    law = GeneralLaw(POPULATION, float(sp.Rational(ratio)))
    assert np.array(law.edges) == pytest.approx(np.array(expected), rel=1e-12)
    assert law.atom == pytest.approx(float(theory.atom(exact, sp.Rational(ratio))))
    assert sum(law.masses) + law.atom == pytest.approx(1)
    assert float(law.cdf(law.edges[-1][1])) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 3.0])
def test_a_point_population_is_marchenko_pastur(ratio):
    law, known = GeneralLaw(DiscretePopulation.of([2.0]), ratio), MarchenkoPastur(ratio, 2.0)
    assert law.edges[0] == pytest.approx(known.edges, rel=1e-12, abs=1e-12)
    x = np.linspace(*known.edges, 12)[1:-1]
    assert law.pdf(x) == pytest.approx(known.pdf(x), rel=1e-9)
    assert law.cdf(x) == pytest.approx(known.cdf(x), abs=1e-9)
    assert law.ppf(known.cdf(x)) == pytest.approx(x, rel=1e-4)
    z = np.array([-1.0, 0.3 + 0.1j, 5 - 2j, 40.0])
    assert law.stieltjes(z) == pytest.approx(known.stieltjes(z), rel=1e-11)


@settings(max_examples=40, deadline=None)
@given(populations, st.floats(0.05, 5), st.floats(-5, 60), st.floats(1e-6, 5))
def test_stieltjes_is_in_the_upper_half_plane_and_solves_the_equation(population, ratio, re, im):
    law = GeneralLaw(population, ratio)
    z = complex(re, im)
    m = complex(law.stieltjes(z))
    assert m.imag > 0
    u = ratio * m - (1 - ratio) / z
    t, w = np.array(population.values), np.array(population.weights)
    # the companion u is a difference of two poles near z = 0
    assert abs(-1 / u + ratio * np.sum(w * t / (1 + t * u)) - z) < 1e-8 * (1 + abs(z)) + 1e-11 / abs(z)


@settings(max_examples=40, deadline=None)
@given(populations, st.floats(0.05, 5), st.floats(1.02, 10))
def test_spikes_and_outliers_invert(population, ratio, factor):
    law = GeneralLaw(population, ratio)
    spike = law.gaps[-1][0] * factor
    assert bool(law.above(spike))
    assert float(law.outlier(spike)) > law.edges[-1][1]
    assert law.spike(float(law.outlier(spike))) == pytest.approx(spike, rel=1e-9 / (factor - 1) ** 2)
    assert 0 < float(law.overlap(spike)) < 1
    assert float(law.sd(spike, 100)) > 0


def test_spikes_in_a_gap_and_below():
    law = GeneralLaw(DiscretePopulation.of([1, 10], [0.5, 0.5]), 0.05)
    assert len(law.edges) == 2
    between = sum(law.gaps[1]) / 2
    assert law.edges[0][1] < float(law.outlier(between)) < law.edges[1][0]
    assert 0 < float(law.outlier(0.3)) < law.edges[0][0]
    assert law.spike(float(law.outlier(0.3))) == pytest.approx(0.3)
    # A spike inside the population's threshold stays at the nearest edge and leaves no overlap.
    assert float(law.outlier(1.05)) == pytest.approx(law.edges[0][1])
    assert float(law.overlap(1.05)) == 0
    assert float(law.sd(1.05, 50)) == 0


@pytest.mark.parametrize(("width_ratio", "ratio"), [(2.0, 0.5), (2.0, 0.05), (0.5, 2.0)])
def test_the_conjugate_kernel_is_the_limit_of_its_quantiles(width_ratio, ratio):
    # Second route: the population replaced by many quantiles of it.
    law = conjugate_kernel(width_ratio, ratio, 0.5, 0.3)
    points = MarchenkoPastur(width_ratio).ppf((np.arange(3000) + 0.5) / 3000)
    many = DiscretePopulation.of(0.25 * points + 0.09)
    z = np.array([-0.3, 0.5 + 0.2j, 1 + 0.05j])
    assert law.stieltjes(z) == pytest.approx(GeneralLaw(many, ratio).stieltjes(z), rel=2e-4)
    assert float(law.cdf(law.edges[-1][1])) == pytest.approx(1)
    assert sum(law.masses) + law.atom == pytest.approx(1)


def test_affine_population_against_quadrature():
    population = AffinePopulation(0.4, 0.7, 0.2)
    draws = 0.2 + 0.7 * MarchenkoPastur(0.4).ppf((np.arange(20000) + 0.5) / 20000)
    alpha = np.array([3.0 + 0j, 0.1 + 0.4j])
    for k, of in enumerate((population.pull, population.strain)):
        expected = [np.mean((draws / (a - draws)) ** (k + 1)) for a in alpha]
        assert of(alpha) == pytest.approx(np.array(expected), rel=1e-6)


def test_additive_spike():
    assert additive_spike(DiscretePopulation.of([3.0]), 2.0) == pytest.approx(5.0)
    population = DiscretePopulation.of([1.0, 2.0])
    found = additive_spike(population, 4.0)
    assert found is not None
    assert 0.5 * (1 / (found - 1) + 1 / (found - 2)) == pytest.approx(1 / 4)
    # A bulk with a soft edge has a threshold.
    assert additive_spike(AffinePopulation(0.5, 1.0, 0.1), 0.01) is None
    assert conjugate_kernel_spike(2.0, 0.5, 0.3, 0.0) is None


def test_features_of_real_digits():
    """Random erf features of the digits (whitened, rows on the sphere) against the Gaussian prediction."""
    x = load_digits().data
    x = x[:, x.std(axis=0) > 0]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    n = len(x)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    x = u[:, s > 1e-8 * s[0]]
    x *= math.sqrt(x.shape[1]) / np.linalg.norm(x, axis=1)[:, None]
    gram = x.T @ x / n
    width = 400
    weights = np.random.default_rng(0).standard_normal((x.shape[1], width))
    weights /= np.sqrt(np.einsum("ij,ij->j", weights, gram @ weights))
    features = erf(x @ weights)
    features -= features.mean(axis=0)
    values = np.linalg.eigvalsh(features.T @ features / n)
    # Orthonormal coefficients of erf by quadrature.
    t, share = np.polynomial.hermite_e.hermegauss(120)
    share = share / share.sum()
    basis = [np.ones_like(t), t]
    for k in range(1, 40):
        basis.append((t * basis[-1] - math.sqrt(k) * basis[-2]) / math.sqrt(k + 1))
    coefficients = [float(np.sum(share * erf(t) * h)) for h in basis]
    second = float(np.sum(share * erf(t) ** 2))
    law = GeneralLaw(kernel_population(weights.T @ gram @ weights, coefficients, second), width / n)
    z = -np.array([0.03, 0.1, 0.3, 1.0])
    observed = np.mean(1 / (values[:, None] - z), axis=0) * -z
    gap = np.max(np.abs(observed - law.stieltjes(z).real * -z))
    plain = MarchenkoPastur(width / n, float(values.mean()))
    plain_gap = np.max(np.abs(observed - plain.stieltjes(z).real * -z))
    # What is left is what Gaussian equivalence misses on real data; Marchenko-Pastur alone is far off.
    assert gap < 0.03
    assert plain_gap > 3 * gap


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: DiscretePopulation.of([]), "population"),
        (lambda: DiscretePopulation.of([0.0]), "population"),
        (lambda: DiscretePopulation.of([-1.0, 1.0]), "population"),
        (lambda: DiscretePopulation.of([1.0, math.inf]), "population"),
        (lambda: DiscretePopulation.of([1.0, 2.0], [0.5, 0.6]), "weights"),
        (lambda: AffinePopulation(1.0, 1.0, -1.0), "shift"),
        (lambda: GeneralLaw(POPULATION, 0.0), "ratio"),
        (lambda: GeneralLaw(POPULATION, 0.5).spike(5.0), "observed"),
        (lambda: GeneralLaw(POPULATION, 0.5).stieltjes(0), "z"),
        (lambda: GeneralLaw(POPULATION, 0.5).alpha(math.nan), "z"),
        (lambda: GeneralLaw(POPULATION, 0.5).ppf(2.0), "q"),
        (lambda: conjugate_kernel(1.0, 1.0, 1.0, 0.0), "mu2"),
        (lambda: kernel_population(np.ones((2, 3)), [0, 1], 1.0), "overlaps"),
        (lambda: kernel_population(np.eye(2), [0, 1], 0.5), "coefficients"),
    ],
)
def test_unusable_input(call, argument):
    with pytest.raises(InputError, match=argument):
        call()
