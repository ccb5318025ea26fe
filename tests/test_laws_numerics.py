"""Laws of the numeric functions: symmetry, scaling, monotonicity, limits, and identities, at random arguments.

Together with the other property tests they reach every public numeric function (tests/test_law_coverage.py).
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.functions import functions, legendre
from bulkedge.numerics.functions.hermite import hermite_table
from bulkedge.numerics.kernels import (
    dual_kernel,
    kernel_entries,
    kernel_matrix,
    leading,
    radial,
    sphere,
    spiked_kernel,
    spiked_spectrum,
    truncated_spectrum,
)
from bulkedge.numerics.risk import (
    batch_spectrum,
    conditional,
    conditional_limit,
    fixed_point,
    floor,
    generalisation,
    mei_montanari,
    pair,
    ridge,
    ridge_error,
    skipping,
    spiked_random_features,
    trained_risk,
)
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.spectra import edge, silverstein, spike, tracy_widom
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.steps import (
    adam,
    alignment,
    covariance,
    feature_spikes,
    gradient,
    network,
    second_step,
    spike_matrix,
    spiked_features,
)
from bulkedge.numerics.trials import check, domain
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.numerics.weights import weight_files
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels import sphere as exact_sphere
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.risk import floor_value
from bulkedge.theory.steps import kink, target
from bulkedge.theory.steps.setting import Limit, Setting

laws = settings(max_examples=15, deadline=None)
few = settings(max_examples=4, deadline=None)

SEEDS = st.integers(0, 2**32 - 1).map(np.random.default_rng)
POSITIVE = st.floats(0.05, 20)
REAL = st.floats(-4, 4)
UNIT = st.floats(-1, 1)
NAMES = st.sampled_from(["relu", "tanh", "gelu", "sin(3*z) - 1/7", "He(3, z)", "elu", "Max(z - 1/3, 0)"])
SMOOTH = st.sampled_from(["tanh", "erf", "sin", "softplus"])
CONTINUOUS = st.sampled_from(["relu", "tanh", "gelu", "softplus", "abs"])


def derivative(f, x, h=1e-5):
    """A central difference: right to about h^2 f''' and eps f/h."""
    return (f(x + h) - f(x - h)) / (2 * h)


# Quadrature ----------------------------------------------------------------------------------------------------------


@laws
@given(st.lists(REAL, max_size=3), st.integers(60, 90))
def test_rules_of_the_gaussian_integrate_polynomials(kinks, nodes):
    for x, w in (
        alignment.gauss_grid(nodes, tuple(kinks)),
        functions.gauss_nodes(kinks),
        conditional_limit.readout_nodes("gaussian", nodes),
    ):
        assert [float(w @ x**k) for k in range(5)] == pytest.approx([1, 0, 1, 0, 3], abs=1e-12)
    points, w = conditional.gauss_nodes(2)
    assert points.T @ (w[:, None] * points) == pytest.approx(np.eye(2), abs=1e-9)
    x, w = conditional_limit.readout_nodes("uniform", nodes)
    assert [float(w @ x**k) for k in range(5)] == pytest.approx([1, 0, 1, 0, 9 / 5], abs=1e-12)


@laws
@given(NAMES, st.lists(REAL, min_size=1, max_size=5))
def test_vectorised_is_the_piece_at_each_point(name, points):
    f = nonlinearity(name)
    values = functions.vectorised(f)(np.array(points))
    for x, got in zip(points, values, strict=True):
        near = [p.expr for p in f.pieces if p.lower <= x <= p.upper]
        assert any(
            float(e.subs("z", 0) if not e.free_symbols else e.subs(dict.fromkeys(e.free_symbols, x)))
            == pytest.approx(got, abs=1e-12)
            for e in near
        )


@laws
@given(NAMES, st.floats(-3, 3))
def test_hermite_constants_are_homogeneous_and_obey_parseval(name, factor):
    factor = Fraction(factor).limit_denominator(50)
    f = nonlinearity(name)
    one, scaled = functions.constants(f), functions.constants(nonlinearity(f.expr * factor))
    s = float(factor)
    for field in ("mu0", "mu1", "curvature"):
        assert getattr(scaled, field) == pytest.approx(s * getattr(one, field), abs=1e-11)
    assert scaled.mu2 == pytest.approx(abs(s) * one.mu2, abs=1e-7)
    assert scaled.second_moment == pytest.approx(s**2 * one.second_moment, rel=1e-11, abs=1e-12)
    values = functions.vectorised(f)
    kinks = [float(b) for b in f.kinks]
    assert functions.gauss_expectation(lambda x: values(x) ** 2, kinks) == pytest.approx(one.second_moment, rel=1e-11)
    second, mean1, fourth = covariance.label_moments(f, 0.5)
    assert (second, mean1) == pytest.approx((one.second_moment + 0.25, one.mu1), rel=1e-11, abs=1e-12)
    assert fourth * second >= 0.25 * second > 0


# Numbers that are taken ----------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.floats())
def test_the_domain_is_one_interval(x):
    inside = math.isfinite(x) and domain.SMALLEST <= x <= domain.LARGEST
    for take, allowed in ((domain.positive, inside), (domain.nonnegative, inside or x == 0)):
        if allowed:
            assert take(x, "x") == x
        else:
            with pytest.raises(InputError):
                take(x, "x")
    if math.isnan(x):
        with pytest.raises(InputError):
            domain.finite([x], "x")
    else:
        kept = float(domain.finite([x], "x")[0])
        assert kept == x or abs(kept) in (domain.SMALLEST, math.inf)
        assert np.sign(kept) == np.sign(x)
        if inside or x == 0:
            domain.within(x, "x")


# Special functions ---------------------------------------------------------------------------------------------------


@laws
@given(REAL, REAL, UNIT)
def test_the_bivariate_distribution_function(h, k, r):
    array = np.array([r])

    def value(a, b, c):
        return float(dual_kernel.bivariate_cdf(np.array([a]), np.array([b]), np.array([c]))[0])

    got = value(h, k, r)
    assert -1e-15 <= got <= 1
    assert got == pytest.approx(value(k, h, r), abs=1e-15)
    assert got + value(h, -k, -r) == pytest.approx(value(h, 40.0, 0.0), abs=4e-15)  # P(X <= h)
    assert got <= value(h, k, min(1.0, r + 0.1)) + 4e-15  # Slepian
    exact = Fraction(h) * Fraction(r) + Fraction(k)
    near = float(dual_kernel.affine(np.array([h]), np.array([k]), array)[0])
    assert near == pytest.approx(float(exact), abs=4e-16 * (abs(h) + abs(k)))


@laws
@given(st.floats(-7, 8), st.floats(0.01, 2), st.sampled_from([1, 2]))
def test_tracy_widom(s, gap, beta):
    low, high = tracy_widom.cdf([s, s + gap], beta)
    assert 0 <= low <= high <= 1
    assert low + float(tracy_widom.sf(s, beta)) == pytest.approx(1, abs=1e-12)
    density = float(tracy_widom.pdf(s, beta))
    assert density >= -1e-13
    assert density == pytest.approx(derivative(lambda x: float(tracy_widom.cdf(x, beta)), s, 1e-4), abs=1e-7)
    if 1e-6 < low < 1 - 1e-6:
        assert float(tracy_widom.ppf(low, beta)) == pytest.approx(s, abs=1e-6)
        assert float(tracy_widom.isf(1 - low, beta)) == pytest.approx(s, abs=1e-6)


@laws
@given(st.integers(2, 10**6), st.integers(2, 10**6), st.sampled_from([1, 2]))
def test_johnstone_is_symmetric_and_near_the_edge(n, p, beta):
    centre, scale = tracy_widom.johnstone(n, p, beta)
    assert (centre, scale) == pytest.approx(tracy_widom.johnstone(p, n, beta), rel=1e-14)
    assert 0 < scale < centre <= (math.sqrt(n) + math.sqrt(p)) ** 2


@laws
@given(st.integers(2, 300), st.integers(0, 4), st.integers(2, 12))
def test_harmonics_in_floats_are_the_exact_ones(dimension, power, degree):
    logs = sphere.log_multiplicities(dimension, degree)
    for l in (0, degree // 2, degree):
        count = exact_sphere.multiplicity(dimension, l)
        assert spiked_spectrum.multiplicity(dimension, l) == count
        assert logs[l] == pytest.approx(math.log(count), abs=1e-11)
    values = sphere.relu_power_values(power, dimension, degree)
    counts = np.exp(logs)
    norm = float(np.sum(counts * values**2))  # Parseval: at most E ReLU(t)^2p = E|t|^2p / 2
    bound = (
        math.exp(
            math.lgamma(power + 0.5)
            - math.lgamma(0.5)
            + math.lgamma(dimension / 2)
            - math.lgamma(dimension / 2 + power)
        )
        / 2
    )
    assert norm <= bound * (1 + 1e-10)


@laws
@given(st.integers(2, 50), st.integers(0, 12), UNIT, REAL)
def test_tables_of_polynomials(dimension, degree, t, x):
    table = spiked_spectrum.legendre_table(dimension, degree, np.array([t, -t, 1.0]))
    assert np.all(np.abs(table) <= 1 + 1e-12)
    assert table[:, 2] == pytest.approx(1)
    assert table[:, 1] == pytest.approx((-1.0) ** np.arange(degree + 1) * table[:, 0], abs=1e-12)
    hermite = hermite_table(np.array([x]), degree)[:, 0]
    expected = np.polynomial.hermite_e.hermeval(x, np.eye(degree + 1)) / np.sqrt(
        [math.factorial(k) for k in range(degree + 1)]
    )
    assert hermite == pytest.approx(expected, rel=1e-10, abs=1e-10)
    nodes, w = functions.gauss_nodes()
    table = hermite_table(nodes, degree)
    assert (table * w) @ table.T == pytest.approx(np.eye(degree + 1), abs=1e-10)


@laws
@given(st.integers(2, 40), st.integers(0, 8), UNIT)
def test_angular_factors_add_up_to_the_power(d, k, t):
    """Sum over a of the squares, all j of one (k - a): at most 1, the norm of h_k(w.x) over |w| = 1."""
    total = sum(float(truncated_spectrum.angular_factor(d, k, a, k - a, np.array([t]))[0]) ** 2 for a in range(k + 1))
    assert 0 <= total <= 1 + 1e-12


# Kernels -------------------------------------------------------------------------------------------------------------


@laws
@given(NAMES, UNIT, st.floats(0.3, 1.5), st.floats(0.3, 1.5))
def test_a_kernel_is_bounded_by_its_diagonal(name, r, s, t):
    f = nonlinearity(name)
    value = float(kernel_entries.curve(f, np.array([0.95 * r]), s, t)[0])
    first, second = (dual_kernel.scale_coefficients(f, np.array([v]), 40) for v in (s, t))
    assert abs(value) <= math.sqrt(float(first[1][0] * second[1][0])) * (1 + 1e-6)
    expansion = dual_kernel.series(f, f, np.array([s]), np.array([t]), 0.95, 1e-9)
    one = slice(0, 1)
    assert value == pytest.approx(
        float(expansion(one, one, np.array([[0.95 * r]]))[0, 0]), abs=3e-6 * max(1.0, abs(value))
    )
    closed = dual_kernel.closed_form(f, f)
    if closed is not None:
        at = np.array([0.95 * r])
        assert float(closed(np.array([s]), np.array([t]), at, np.sqrt(1 - at**2))[0]) == pytest.approx(value, abs=1e-12)


@few
@given(SEEDS, CONTINUOUS)
def test_the_kernels_gradient_is_its_difference(rng, name):
    X, Y, direction = rng.standard_normal((3, 4)), rng.standard_normal((2, 4)), rng.standard_normal((3, 4))
    G = rng.standard_normal((3, 2))
    slope = derivative(
        lambda h: float(np.sum(G * kernel_matrix.kernel_matrix(X + h * direction, Y, name, tolerance=1e-12))), 0.0
    )
    got = float(np.sum(direction * kernel_matrix.kernel_gradient(X, Y, name, cotangent=G, tolerance=1e-12)))
    assert got == pytest.approx(slope, rel=1e-5, abs=1e-6)


@laws
@given(SEEDS, POSITIVE, POSITIVE)
def test_spiked_kernels(rng, A, B):
    X = rng.standard_normal((5, 4))
    spike_ = rng.standard_normal(4)
    spike_ /= np.linalg.norm(spike_)
    K = spiked_kernel.spiked_kernel_matrix(X, None, spike_, A, B)
    assert pytest.approx(K.T, rel=1e-12) == K
    top = spiked_kernel.leading_eigenpair(K)
    assert top.value * len(X) == pytest.approx(float(np.linalg.eigvalsh(K)[-1]), rel=1e-9)
    assert K @ top.vector / len(X) == pytest.approx(top.value * top.vector, abs=1e-6 * top.value)
    warped = spiked_kernel.warp(X, spike_, A, B)
    assert warped @ warped.T == pytest.approx(A * X @ X.T + B * np.outer(X @ spike_, X @ spike_), rel=1e-10, abs=1e-10)
    harmonic = spiked_kernel.second_harmonic(X, spike_)
    assert np.all(np.isfinite(harmonic))


@settings(max_examples=2, deadline=None)
@given(st.integers(3, 5), st.floats(0.5, 2), st.floats(0.5, 2), st.floats(0.2, 5))
def test_leading_eigenvalues_are_homogeneous(d, A, B, factor):
    f = nonlinearity("relu")
    assert leading.homogeneous(f) == spiked_spectrum.Homogeneous(1.0, 1.0, 0.0)
    one, scaled = leading.leading(d, A, B, f), leading.leading(d, factor * A, factor * B, f)
    assert scaled.top.value == pytest.approx(factor * one.top.value, rel=1e-9)
    assert one.top.value >= one.second.value > 0
    assert min(one.top.error, one.second.error) >= 0
    total = spiked_spectrum.mean_square(d, A, B)
    assert total == pytest.approx((d * A + B) / (2 * d), rel=1e-12)
    assert truncated_spectrum.mean_square(d, A, B, f) == pytest.approx(total, rel=1e-9)
    assert one.top.value + one.second.value <= total
    spiked_spectrum.check_inputs(d, A, B)
    with pytest.raises(InputError):
        spiked_spectrum.check_inputs(d, A, -A)


@few
@given(st.integers(2, 6), POSITIVE, POSITIVE)
def test_truncated_and_exact_sectors_agree(d, A, B):
    """The truncated sum of a polynomial is the whole: z^2 is homogeneous of power 2."""
    f = nonlinearity("z**2")
    found = truncated_spectrum.truncated_sector(d, A, B, f, degree=4)
    assert np.all(found.eigenvalues >= -1e-12)
    assert np.all(found.errors >= 0)
    square = spiked_spectrum.Homogeneous(2.0, 1.0, 1.0)
    exact = spiked_spectrum.sector(d, A, B, 0, 0, square)
    assert found.eigenvalues[:2] == pytest.approx(exact.eigenvalues[:2], rel=1e-6, abs=1e-9)


@laws
@given(st.integers(3, 30), POSITIVE, POSITIVE)
def test_the_rule_of_directions_has_the_right_mass(d, A, B):
    t, sine, log_weights = spiked_spectrum.direction_rule(d, A, B, 0.0, 400)
    assert t**2 + sine**2 == pytest.approx(1, abs=1e-12)
    assert float(np.sum(np.exp(log_weights))) == pytest.approx(1, rel=1e-6)


@laws
@given(SEEDS, st.integers(2, 6))
def test_gram_eigenvalues(rng, n):
    factor = rng.standard_normal((n, n + 2))
    vectors, values = spiked_spectrum.gram_eigen(factor)
    assert vectors @ np.diag(values) @ vectors.T == pytest.approx(factor @ factor.T, abs=1e-10)
    assert np.all(np.diff(values) <= 1e-12)
    assert np.all(spiked_spectrum.truncation_error(values, factor, n) == 0)
    assert np.all(spiked_spectrum.truncation_error(values, factor, 1) >= 0)


# Spectra -------------------------------------------------------------------------------------------------------------


@laws
@given(POSITIVE, POSITIVE, st.floats(0.05, 3))
def test_marchenko_pastur_moments_and_slope(ratio, scale, height):
    law = MarchenkoPastur(ratio, scale)
    unit = MarchenkoPastur(ratio)
    for k in range(4):
        assert law.moment(k) == pytest.approx(scale**k * unit.moment(k), rel=1e-12)
    assert law.moment(1) == pytest.approx(law.mean(), rel=1e-12)
    z = complex(scale, height * scale)
    slope = derivative(lambda h: law.stieltjes(z + h), 0.0, 1e-5 * scale)
    assert law.stieltjes_derivative(z) == pytest.approx(slope, rel=1e-5)


@laws
@given(st.lists(POSITIVE, min_size=1, max_size=3), POSITIVE, st.floats(1.05, 6))
def test_general_laws(values, ratio, factor):
    population = silverstein.DiscretePopulation.of(values)
    law = silverstein.GeneralLaw(population, ratio)
    alpha = np.array([max(values) * factor])
    step = 1e-5 * float(alpha[0])
    assert float(law.slope(alpha)[0]) == pytest.approx(float(derivative(law.psi, alpha, step)[0]), rel=1e-5, abs=1e-6)
    assert sum(law.masses) + law.atom == pytest.approx(1, abs=1e-8)
    inside = np.array([complex(max(values), 0.3 * max(values))])
    back = law.alpha(inside)
    pulled = back * (1 + ratio * population.pull(back))
    assert pulled == pytest.approx(inside, rel=1e-7)
    for x in (0.5 * max(values), 2 * max(values)):
        assert population.mass_above(x) == pytest.approx(float(np.mean(np.array(values) > x)), abs=1e-12)
    assert population.zero() == 0
    assert population.intervals()[-1][1] == pytest.approx(max(values))
    complexes = alpha + 0j
    assert population.strain(complexes) == pytest.approx(np.mean([(v / (alpha - v)) ** 2 for v in values], axis=0))


@laws
@given(POSITIVE, st.floats(0.1, 2), st.floats(0.1, 2), st.floats(0.05, 30))
def test_additive_spikes_solve_their_equation(ratio, mu1, mu2, strength):
    for population in (
        silverstein.DiscretePopulation.of([mu1, mu2]),
        silverstein.AffinePopulation(ratio, mu1**2, mu2**2),
    ):
        found = silverstein.additive_spike(population, strength)
        if found is not None:
            assert found > population.intervals()[-1][1]
            pull = float(population.pull(np.asarray(found + 0j)).real)
            assert pull == pytest.approx(found / strength - 1, rel=1e-8)
            stronger = silverstein.additive_spike(population, 2 * strength)
            assert stronger is not None
            assert stronger > found
    assert silverstein.conjugate_kernel_spike(ratio, mu1, mu2, 0.0) is None
    weak, strong = (silverstein.conjugate_kernel_spike(ratio, mu1, mu2, c) for c in (0.5, 5.0))
    assert weak is None or (strong is not None and strong > weak)


@laws
@given(SEEDS, st.lists(st.floats(-1, 1), min_size=2, max_size=4), st.floats(0, 2))
def test_the_population_of_a_kernel_keeps_the_trace(rng, coefficients, rest):
    W = rng.standard_normal((4, 5))
    W /= np.linalg.norm(W, axis=1)[:, None]
    second = sum(c**2 for c in coefficients) + rest + 1e-3
    population = silverstein.kernel_population(W @ W.T, coefficients, second)
    mean = float(np.dot(population.values, population.weights))
    assert mean == pytest.approx(second - coefficients[0] ** 2, rel=1e-9)


@laws
@given(
    POSITIVE,
    st.floats(0.3, 3),
    st.floats(1.2, 5),
    st.sampled_from([spike.rectangular, spike.covariance, spike.wishart]),
)
def test_an_interval_of_a_strength_contains_it_and_narrows(ratio, scale, factor, make):
    model = make(ratio, scale)
    observed = float(model.outlier(model.threshold * factor))
    wide, narrow = (model.interval(observed, size) for size in (200, 20_000))
    assert wide.lower <= wide.value <= wide.upper
    assert narrow.value == pytest.approx(float(model.strength(observed)), rel=1e-9)
    assert narrow.upper - narrow.lower <= (wide.upper - wide.lower) * (1 + 1e-9)


@laws
@given(SEEDS, st.integers(1, 3))
def test_the_triples_of_factors(rng, r):
    left, right = rng.standard_normal((6, r)), rng.standard_normal((5, r))
    found = spike.spikes_of(left, right)
    assert (found.left * found.strengths) @ found.right.T == pytest.approx(left @ right.T, abs=1e-12)
    assert np.all(np.diff(found.strengths) <= 0)
    assert found.left.T @ found.left == pytest.approx(np.eye(r), abs=1e-12)


@laws
@given(SEEDS, st.integers(1, 3), POSITIVE)
def test_spike_matrices_have_the_singular_values_of_the_sum(rng, m, ratio):
    left, right, beta = rng.standard_normal((5, m)), rng.standard_normal((6, m)), rng.standard_normal(6)
    small = spike_matrix.SpikeMatrix(left.T @ left, right.T @ right, right.T @ beta)
    _, expected, vt = np.linalg.svd(left @ right.T)
    assert small.strengths == pytest.approx(expected[:m], rel=1e-7)
    assert small.overlaps == pytest.approx(np.abs(vt[:m] @ beta), abs=1e-6)
    outliers = spike_matrix.predicted_outliers(small, ratio)
    assert np.all(outliers.positions >= outliers.edge * (1 - 1e-12))
    assert np.all(outliers.overlaps <= np.linalg.norm(beta) * (1 + 1e-9))


@few
@given(st.floats(0.5, 5), st.floats(0.1, 2), st.floats(0.1, 2), st.sampled_from(["reused", "fresh"]))
def test_a_spike_matrix_is_linear_in_the_second_step_and_even_in_signs(alpha, eta1, eta2, batch):
    g, sigma = nonlinearity("tanh(z)"), nonlinearity("erf")
    slopes = tuple(functions.vectorised(sigma.derivative(k)) for k in (1, 2, 3, 4, 5))
    activation = alignment.float_activation(slopes)
    scalars = alignment.float_moments(functions.vectorised(g))
    assert scalars(0, 0) == pytest.approx(1, abs=1e-12)
    assert activation(1, 0, 0) == pytest.approx(functions.constants(sigma).mu1, abs=1e-12)
    goal = target.AdditiveTarget((scalars,), 0.0, float)

    def moment(p):
        return float(sphere_moment(p))

    def sphere_moment(p):
        return 0 if p % 2 else math.prod(range(1, p, 2))

    def make(first, second):
        return spike_matrix.spike_matrix(goal, activation, moment, 400, alpha, (first, second), 2, batch)

    one, mirrored = make(eta1, eta2), make(-eta1, -eta2)
    assert mirrored.strengths == pytest.approx(one.strengths, rel=1e-9)
    assert mirrored.overlaps == pytest.approx(one.overlaps, rel=1e-6, abs=1e-9)


# Noise edges and weights ---------------------------------------------------------------------------------------------


@laws
@given(SEEDS, st.integers(8, 14), st.integers(8, 20), st.floats(0.01, 100))
def test_outlier_counts_do_not_depend_on_scale_or_transposition(rng, n, p, factor):
    array = edge.matrix(rng.standard_normal((n, p)))
    array[0] += 8.0
    one, scaled, turned = (edge.count_outliers(m, adjust=False) for m in (array, factor * array, array.T))
    assert one.count == scaled.count == turned.count
    assert scaled.edge == pytest.approx(factor**2 * one.edge, rel=1e-9) or scaled.edge == pytest.approx(
        factor * one.edge, rel=1e-9
    )
    found = edge.spectrum(array, 1)
    assert found.squared == pytest.approx(np.linalg.svd(array, compute_uv=False) ** 2, rel=1e-9)
    assert edge.sequential(found.squared, array.shape, 0.01) >= edge.sequential(found.squared, array.shape, 1e-6)
    variance = edge.noise_variance(found.squared, array.shape, 1)
    assert edge.noise_variance(factor**2 * found.squared, array.shape, 1) == pytest.approx(
        factor**2 * variance, rel=1e-9
    )
    even = edge.homogeneity(array, found)
    assert 0 <= min(even.p_rows, even.p_columns) <= max(even.p_rows, even.p_columns) <= 1
    assert even.kind in {"iid", "rows", "columns", "both"}
    for kind in ("rows", "columns", "both"):
        assert np.all(np.isfinite(edge.equalise(array, found, kind)))


@laws
@given(st.integers(8, 500), st.integers(8, 500), POSITIVE, st.floats(1e-4, 0.2))
def test_the_law_of_the_noise_edge(n, p, variance, alarm):
    law = edge.noise_edge((n, p), 1, variance)
    assert law.centre == pytest.approx(variance * edge.noise_edge((p, n), 1, 1.0).centre, rel=1e-12)
    assert law.p(law.threshold(alarm)) == pytest.approx(alarm, rel=1e-3)
    assert law.p(law.centre) >= law.p(law.centre + law.scale)
    assert edge.noise_edge((n, p), 1, variance, kappa=1.0).centre > law.centre


@laws
@given(SEEDS, st.sampled_from(["npy", "npz", "csv"]))
def test_matrices_are_read_as_they_were_written(rng, suffix):
    array = rng.standard_normal((3, 2))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"weights.{suffix}"
        if suffix == "npy":
            np.save(path, array)
        elif suffix == "npz":
            np.savez(path, W=array)
        else:
            np.savetxt(path, array, delimiter=",", fmt="%.17g")
        assert np.array_equal(weight_files.read_matrix(path), array)


# Risks ---------------------------------------------------------------------------------------------------------------


CONSTANTS = ridge.Constants(0.6, 0.4, 0.1, 0.8, 0.3)


@laws
@given(POSITIVE, POSITIVE, POSITIVE, st.floats(0, 2))
def test_the_kernel_is_the_limit_of_many_neurons(psi1, delta, width, noise):
    tau, degrees, factor = ridge.kernel_ridge(psi1, delta, 0.6, 0.4)
    assert float(tau) * (1 - float(degrees)) == pytest.approx(delta, rel=1e-9)
    assert 0 < factor <= 1
    limit = float(ridge.kernel_risk(CONSTANTS, psi1, delta, noise))
    wide = ridge.ridge_risk(CONSTANTS, RidgeProblem(psi1, 1e7, delta * 1e7, 0.0, noise=noise))
    assert float(wide.test) == pytest.approx(limit, rel=1e-4)
    assert limit >= float(CONSTANTS.floor()) == pytest.approx(float(CONSTANTS.linear_floor()))
    missed = [float(ridge.resolvent_trace(kappa, width, 0.6, 0.4)) for kappa in (delta, 2 * delta)]
    assert 0 <= missed[0] <= missed[1] <= 1
    m1, m2 = spiked_features.traces(psi1, width, delta, 0.6, 0.4)
    assert 0 < m2 <= m1


@laws
@given(POSITIVE, POSITIVE, st.floats(1e-6, 10), st.floats(0.05, 10))
def test_chi_solves_its_equation(psi1, psi2, lam, zeta2):
    chi = mei_montanari.chi(psi1, psi2, zeta2, lam)
    assert chi < 0
    c = -chi + zeta2 * -chi / (1 + zeta2 * -chi)
    assert (psi1 - c) * (psi2 - c) == pytest.approx(-chi * psi1 * psi2 * lam, rel=1e-6, abs=1e-9 * psi1 * psi2)
    assert c <= min(psi1, psi2) * (1 + 1e-9)
    assert chi == pytest.approx(mei_montanari.chi(psi2, psi1, zeta2, lam), rel=1e-9)


@laws
@given(POSITIVE, POSITIVE, st.floats(0.01, 5), st.floats(0, 1e-6))
def test_errors_of_the_risk_grow_with_those_of_the_constants(psi1, psi2, lam, error):
    problem = RidgeProblem(psi1, psi2, lam, (0.0, 1.0), 2.0, 0.1)

    def errors(of):
        return ridge_error.ridge_risk_with_error(CONSTANTS, problem, of, of)

    (value, small), (_, large) = errors(error), errors(2 * error + 1e-9)
    for field in ridge_error.FIELDS:
        assert np.all(small[field] > 0)
        assert np.all(large[field] >= small[field])
    assert np.all(np.isfinite(value.test))


@laws
@given(st.floats(0.01, 5), st.floats(0.1, 3), st.floats(0.2, 4), st.floats(0.2, 4))
def test_averages_over_a_spectrum(a, b, scale, ratio):
    """S = a + b D: a E[1/S] + b E[D/S] = 1, and Jensen."""
    found = spiked_random_features.spectrum_averages(a, b, scale, ratio)
    assert a * found.one + b * found.d == pytest.approx(1, rel=1e-12)
    assert found.one2 >= found.one**2 * (1 - 1e-9)
    assert found.one >= 1 / (a + b * scale) * (1 - 1e-9)
    assert a * found.one2 + b * found.d2 == pytest.approx(found.one, rel=1e-8)


PAIR = conditional_limit.pair_from_functions(
    np.tanh, lambda x: 1 / np.cosh(x) ** 2, functions.vectorised(nonlinearity("z + He(2, z)/2"))
)


@few
@given(st.floats(0.5, 4), st.floats(0.5, 4), st.floats(0.05, 2))
def test_risks_without_a_step_agree(psi1, psi2, lam):
    """The conditional equivalent at eta = 0 knows |x| only through its mean: near O3, from above and below."""
    bias, variance, total = conditional_limit.small_step_risk(PAIR, RidgeProblem(psi1, psi2, lam, 0.0))
    assert all(map(math.isfinite, (bias, variance, total)))
    risk = conditional_limit.one_step_risk(PAIR, RidgeProblem(psi1, psi2, lam, 0.0), 200, count=8)
    assert risk.status == "converged"
    assert 0 <= risk.test < 2 * PAIR.link_second
    groups = conditional_limit.one_step_groups(
        PAIR, RidgeProblem(2.0, 2.0, 0.1, 0.5, noise=0.1), 200, readout="rademacher"
    )
    assert groups is not None
    spiked = spiked_random_features.spiked_features_risk(PAIR, psi1, 2.0, psi2, lam, 0.5)
    assert math.isfinite(spiked.test)


@laws
@given(st.floats(0.2, 5), st.floats(0, 2), st.floats(0.2, 3))
def test_reach_of_a_step_scales(alpha, noise, factor):
    """Labels twice as large allow half the step; four times the width, twice; the label's rms is exact."""
    link, scaled = nonlinearity("tanh"), nonlinearity(f"{factor!r}*tanh(z)")
    one = alignment.reach([link], alpha, 0.0, "reused", None)
    other = alignment.reach([scaled], alpha, 0.0, "reused", None)
    assert other.step * factor == pytest.approx(one.step, rel=1e-9)
    assert other.rms == pytest.approx(factor * one.rms, rel=1e-9)
    assert alignment.reach([link], alpha / 4, noise, "reused", None, 4000).largest == pytest.approx(one.largest + noise)
    assert alignment.reach([link], alpha, noise, "fresh", link).step > 0


@laws
@given(SEEDS, st.floats(0.3, 4), st.floats(0.1, 3), st.floats(0, 1))
def test_spectra_of_batches(rng, alpha, slope, noise):
    """Mass and trace are exact; away from the points of the rule the resolvent solves its own equation."""
    z = rng.standard_normal(60)
    y, weights = slope * z + z**2 / 3 + noise * rng.standard_normal(60), rng.dirichlet(np.ones(60))
    found = batch_spectrum.batch_spectrum(y, z, weights, alpha)
    nodes, mass = found.bulk
    assert mass.sum() == pytest.approx(1, rel=1e-12)
    assert np.all(nodes >= 0)
    assert nodes @ mass == pytest.approx(1, rel=1e-6)
    omega = y**2 / (weights @ y**2)
    for x in (0.05, 0.6, 4.0, 200.0):
        m = mass @ (1 / (nodes + x))
        assert 1 / m == pytest.approx(x + weights @ (omega / (1 + omega * m / alpha)), rel=1e-4)
    assert found.aligned[1].sum() == pytest.approx(1, rel=1e-12)
    assert found.along > 0


@few
@given(SEEDS, st.floats(0.05, 2), st.integers(20, 60))
def test_conditional_risk_of_given_weights(rng, lam, n):
    d, width = 12, 10
    W = rng.standard_normal((d, width)) / math.sqrt(d)
    beta = np.eye(d)[0]
    model = conditional.conditional_model(W, beta[:, None], beta, np.tanh, np.tanh)
    found, larger = (conditional.conditional_risk(model, n, x) for x in (lam, 1e6))
    second = functions.gauss_expectation(lambda x: np.tanh(x) ** 2)
    assert 0 <= found.train <= second * (1 + 1e-6)
    assert larger.test == pytest.approx(second, rel=1e-2)
    order = rng.permutation(width)
    moved = conditional.conditional_model(W[:, order], beta[:, None], beta, np.tanh, np.tanh)
    assert conditional.conditional_risk(moved, n, lam).test == pytest.approx(found.test, rel=1e-6)


@laws
@given(st.floats(-3, 3), st.floats(0.1, 2), REAL, REAL)
def test_local_moments_of_affine_functions(mean, std, a, b):
    found = conditional.local_moments(lambda x: a + b * x, (), np.array([mean]), np.array([std]))
    assert float(found.mean[0]) == pytest.approx(a + b * mean, abs=1e-9)
    assert float(found.slope[0]) == pytest.approx(b, abs=1e-8)
    assert float(found.second[0]) == pytest.approx((a + b * mean) ** 2 + (b * std) ** 2, abs=1e-8)


@laws
@given(st.integers(1, 10**5))
def test_second_moment_of_a_length(dimension):
    r, log_weight = radial.length_rule(dimension, 48, (8.0, 9.0))
    assert np.exp(log_weight) @ r**2 == pytest.approx(dimension, rel=1e-8)


@laws
@given(st.floats(0.05, 8), st.floats(0.3, 3), st.floats(0.01, 5))
def test_strengths_and_thresholds(ratio, scale, beyond):
    """Beyond the edge the inverse of the map, inside it the threshold, which is the inverse at the edge."""
    model = spike.covariance(ratio, scale)
    upper = model.edges[1]
    found = model.strength_or_threshold(np.array([upper * (1 + beyond), upper * 0.9, 0.0]))
    assert found[1:] == pytest.approx(model.threshold)
    assert model.outlier(found[0]) == pytest.approx(upper * (1 + beyond), rel=1e-9)
    assert found[0] > model.threshold


@laws
@given(SEEDS)
def test_fixed_points_of_log_linear_maps(rng):
    """log x -> A log x + b, contracting: the linear system's solution, whatever the memory."""
    A, b = 0.4 * rng.uniform(-1, 1, (3, 3)), rng.standard_normal(3)
    memory = int(rng.integers(2, 7))
    found = fixed_point.fixed_point(
        lambda x: (np.exp(A @ np.log(x) + b), None),
        np.ones(3),
        what="x",
        tolerance=1e-12,
        iterations=200,
        memory=memory,
    )
    assert np.log(found.value) == pytest.approx(np.linalg.solve(np.eye(3) - A, b), abs=1e-10)


@few
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(0, 20), st.integers(1, 40))
def test_a_limit_is_the_problem_of_its_ratios(train, width, batch, noise, penalty):
    """All fields are tenths; named and numbers keep them, and the command's constants give limit_risk."""
    sizes = {"train": train, "width": width, "batch": batch, "noise": noise, "ridge": penalty}
    values = {name: f"{value}/10" for name, value in sizes.items()}
    limit = Limit(activation="tanh", links="tanh", steps=("1",), **values)
    problem = RidgeProblem.of(limit)
    psi1, psi2, lam, eta, alpha, s = problem.numbers()
    assert (psi1, psi2, lam, alpha, s) == pytest.approx([x / 10 for x in (train, width, penalty, batch, noise)])
    assert (eta, problem.named()["step"]) == (1.0, 1.0)
    f = nonlinearity("tanh")
    assert pair.limit_risk(limit).test == ridge.ridge_risk(pair.ridge_constants(f, f)[0], problem).test


@laws
@given(SEEDS)
def test_anderson_solves_an_affine_equation_at_once(rng):
    """In two dimensions three iterates are enough."""
    M, c = 0.4 * rng.uniform(-1, 1, (2, 2)), rng.standard_normal(2)
    x = [np.zeros(2)]
    for _ in range(2):
        x.append(M @ x[-1] + c)
    found = fixed_point.anderson(x, [M @ v + c for v in x])
    assert found == pytest.approx(np.linalg.solve(np.eye(2) - M, c), abs=1e-6)


@laws
@given(st.floats(0.5, 20), st.floats(0.01, 10))
def test_a_spike_through_a_flat_bulk(strength, level):
    """All singular values equal: s^2 - x^2 = theta s."""
    expected = (strength + np.sqrt(strength**2 + 4 * level**2)) / 2
    found = feature_spikes.through_bulk(strength, np.full(7, level))
    assert found == pytest.approx(expected if expected > level * 1.0001 else level, rel=1e-9)


@settings(max_examples=2, deadline=None)
@given(st.floats(0.2, 3))
def test_the_floor_is_homogeneous_and_below_no_activation(factor):
    link = functions.vectorised(nonlinearity("z + He(2, z)/2"))
    one = floor.floor(np.tanh, link)
    second = floor.criterion(np.tanh, lambda x: factor * link(x))
    at = floor.criterion(np.tanh, lambda x: x)
    assert -1e-12 <= one.lower <= one.tau + 1e-12
    assert one.tau <= 1.5 * (1 + 1e-9)  # E g^2, without any feature
    kappa = one.kappa / factor
    assert float(second(0.0)[0]) == pytest.approx(1.5 * factor**2, rel=1e-9)
    assert math.isfinite(kappa)
    assert float(at.at_infinity(1)) == pytest.approx(2 - 2 * math.sqrt(2 / math.pi), rel=1e-6)


@settings(max_examples=3, deadline=None)
@given(st.integers(-30, 30), st.sampled_from(["He(2, z) + z/2", "z**3 - z"]))
def test_tau_of_a_polynomial_is_a_polynomial_and_its_minimum_the_floor(tenths, name):
    """The criterion from three kernels, from the polynomial's coefficients, and the floor below both."""
    f, g = nonlinearity(name), nonlinearity("relu")
    kappa = sp.Rational(tenths, 10)
    kernels = floor_value.value(f, g, kappa)
    polynomial = sum(float(c) * float(kappa) ** j for j, c in enumerate(floor_value.polynomial(f, g)))
    assert polynomial == pytest.approx(float(kernels), rel=1e-11, abs=1e-12)
    found = floor.of_pair(f, g)
    assert found.lower <= found.tau <= float(kernels) + 1e-9


# Alignment -----------------------------------------------------------------------------------------------------------


@laws
@given(REAL, st.floats(0.01, 4))
def test_signed_means_of_a_gaussian(mean, variance):
    """psi_n(m) = E[(m + xi)^n sign(m + xi)]: parity of n + 1, and psi_n' = n psi_{n-1}."""
    values, mirrored = (alignment.signed_means(np.array([m]), variance, 3) for m in (mean, -mean))
    for n, (value, other) in enumerate(zip(values, mirrored, strict=True)):
        assert float(value[0]) == pytest.approx((-1) ** (n + 1) * float(other[0]), rel=1e-12, abs=1e-13)
    for n in (1, 2, 3):
        slope = derivative(lambda h, n=n: float(alignment.signed_means(np.array([mean + h]), variance, n)[n][0]), 0.0)
        assert n * float(values[n - 1][0]) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert abs(float(values[0][0])) <= 1
    assert float(values[1][0]) >= max(abs(mean), math.sqrt(2 * variance / math.pi)) * (1 - 1e-12)


@laws
@given(REAL, REAL, st.sampled_from(["relu", "Max(z - 1/3, -z/5)", "abs"]), st.floats(0.1, 2), st.floats(0.3, 3))
def test_a_further_direction_and_its_derivative(y, q, name, v, alpha):
    F, dF = alignment.further_direction(kink.kinks(nonlinearity(name), 1), 0.5, 0.3, v, alpha)
    one = np.array([y])
    slope = derivative(lambda h: float(F(one, np.array([q + h]))[0]), 0.0)
    assert float(dF(one, np.array([q]))[0]) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert float(F(np.zeros(1), np.array([q]))[0]) == 0


@settings(max_examples=2, deadline=None)
@given(st.floats(0.3, 5), st.floats(0, 1), st.sampled_from(["reused", "fresh"]))
def test_limits_of_the_plain_direction(alpha, noise, batch):
    """F = y is the first step's u: beta.u = mu1*, |u|^2 = mu1*^2 + E y^2/alpha."""
    found = alignment.direct_limits(lambda y, q: y + 0 * q, lambda y, q: 0 * y + 0 * q, np.tanh, alpha, noise, batch)
    link = functions.constants(nonlinearity("tanh"))
    norm2 = link.mu1**2 + (link.second_moment + noise**2) / alpha
    assert found.signal == pytest.approx(link.mu1, abs=found.error + 1e-12)
    assert found.norm2 == pytest.approx(norm2, abs=2 * found.error + 1e-12)
    assert found.error < 1e-3
    assert abs(found.cosine) <= 1
    assert found.cosine_error >= found.error / np.sqrt(found.norm2)
    limits = alignment.further_limits(nonlinearity("relu"), nonlinearity("tanh(z) + z**2/3"), alpha, noise)
    assert limits is not None
    assert abs(limits.cosine) <= 1
    assert alignment.further_limits(nonlinearity("tanh"), nonlinearity("z"), alpha, noise) is None


# Networks ------------------------------------------------------------------------------------------------------------


@laws
@given(SEEDS, st.sampled_from(["square", "correlation"]), st.floats(0.1, 3))
def test_gradients_of_networks(rng, loss, step):
    d, width, n = 4, 5, 6
    W, a = rng.standard_normal((d, width)), rng.standard_normal(width)
    teacher = network.Teacher(np.eye(d)[:, :1], (np.tanh,), 0.3)
    batch = network.Batch(teacher, n, 7, 4)
    X, y = batch.arrays()
    E = rng.standard_normal((d, width))

    def objective(h):
        f = network.output(W + h * E, a, X, np.tanh)
        return float(np.mean((y - f) ** 2) / 2 if loss == "square" else -np.mean(y * f))

    def slope(x):
        return 1 / np.cosh(x) ** 2

    G = network.gradient(W, a, batch, np.tanh, slope, loss)
    assert -float(np.sum(G * E)) / math.sqrt(width) == pytest.approx(derivative(objective, 0.0), abs=1e-7)
    moved = network.gradient_step(W, a, batch, np.tanh, slope, step, loss)
    assert moved == pytest.approx(W + step * G, abs=1e-12)
    mean, own = network.mean_gradient(W, batch, slope), W.copy()
    network.step_in_place(own, a, mean, step)
    assert own == pytest.approx(network.gradient_step(W, a, batch, np.tanh, slope, step, "correlation"), abs=1e-12)
    order = rng.permutation(width)
    assert network.features(W, X, np.tanh)[:, order] == pytest.approx(network.features(W[:, order], X, np.tanh))
    twice = W.copy()
    second_step.second_weights(twice, a, (batch, batch), slope, (step, 0.0))
    assert twice == pytest.approx(own, abs=1e-12)
    assert second_step.peak_bytes(d, width, n) < second_step.peak_bytes(d, 2 * width, n)


@laws
@given(SEEDS, st.floats(0.2, 2))
def test_a_regression_finds_the_powers(rng, eta1):
    a = rng.standard_normal(40)
    b = rng.standard_normal((3, 2))
    found = second_step.regress(b @ np.stack([np.ones(40), eta1 * a]), a, eta1, 2)
    beta = np.array([1.0, 2.0, -1.0])
    assert [found.signal(beta, k) for k in (0, 1)] == pytest.approx(list(beta @ b), abs=1e-9)
    assert found.gram(0, 1) == pytest.approx(found.gram(1, 0), abs=1e-12)
    assert found.gram(0, 1) == pytest.approx(float(b[:, 0] @ b[:, 1]), abs=1e-8)


@settings(max_examples=2, deadline=None)
@given(st.integers(0, 10**6), SMOOTH)
def test_what_a_trained_network_is_made_of(seed, activation):
    setting = Setting(d=12, width=8, batch=20, activation=activation, links="tanh", noise=0, steps=(1,))
    trained = network.train(setting, np.random.default_rng(seed))
    assert np.array_equal(trained.W, trained.weights[-1])
    u = gradient.direction(trained)
    columns = trained_risk.spike_directions(trained)
    assert columns[:, 0] == pytest.approx(u, abs=1e-12)
    spike_ = trained.weights[1] - trained.weights[0] - gradient.remainder(trained)
    assert np.linalg.matrix_rank(spike_, tol=1e-9) == 1
    assert np.linalg.norm(spike_ - np.outer(u, u @ spike_) / (u @ u)) < 1e-9
    norm2 = gradient.direction_norm2(setting)
    assert norm2 > functions.constants(nonlinearity("tanh")).mu1 ** 2
    read = replace(trained, setting=replace(setting, train=24, ridge=1))
    assert trained_risk.trained_risk(read, 8).test >= 0


@laws
@given(SEEDS)
def test_a_perceptrons_gradient(rng):
    X, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    parameters = adam.initialise(rng, 3, 4)
    directions = [rng.standard_normal(p.shape) for p in parameters]

    def objective(h):
        moved = [p + h * e for p, e in zip(parameters, directions, strict=True)]
        return float(np.mean((adam.predict(moved, X) - y) ** 2))

    slope = sum(float(np.sum(g * e)) for g, e in zip(adam.gradient(parameters, X, y), directions, strict=True))
    assert slope == pytest.approx(derivative(objective, 0.0, 1e-7), rel=1e-4, abs=1e-5)


# Regressions and estimates -------------------------------------------------------------------------------------------


@laws
@given(SEEDS)
def test_ridge_on_features_is_ridge_on_their_kernel(rng):
    Phi, Psi = rng.standard_normal((20, 6)), rng.standard_normal((5, 6))
    y, test = generalisation.target(rng.standard_normal(20)), generalisation.target(rng.standard_normal(5))
    features = generalisation.feature_ridge_error(Phi, y, Psi, test)
    assert features == pytest.approx(generalisation.kernel_ridge_error(Phi @ Phi.T, y, Psi @ Phi.T, test), rel=1e-5)
    assert generalisation.choose_ridge(Phi @ Phi.T, y) in generalisation.RIDGES
    K = Phi @ Phi.T
    solved = generalisation.solve(K, y, (0.5, 2.0))
    assert (K + 0.5 * np.eye(20)) @ solved[:, 0] == pytest.approx(y, abs=1e-8)
    assert np.linalg.norm(solved[:, 1]) <= np.linalg.norm(solved[:, 0])
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    one, other = (skipping.ridge_error(Phi @ t, y, (Psi @ t, test), (Psi @ t, test)) for t in (np.eye(6), turn))
    assert one == pytest.approx(other, rel=1e-7)


@laws
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=8), st.floats(0.1, 5), REAL)
def test_estimates_are_equivariant(samples, factor, shift):
    one = Estimate.from_samples(samples)
    moved = Estimate.from_samples([factor * s + shift for s in samples])
    assert moved.value == pytest.approx(factor * one.value + shift, abs=1e-9)
    assert moved.margin == pytest.approx(factor * one.margin, rel=1e-6, abs=1e-9)


@laws
@given(REAL, st.floats(0, 1), REAL, st.floats(0.01, 5))
def test_verdicts(value, stderr, predicted, resolution):
    measured = Estimate(value, stderr, 10)
    found = check.verdict(predicted, measured, resolution)
    if measured.margin >= resolution:
        assert found is check.Verdict.BLIND
    else:
        assert found is check.verdict(value - (predicted - value), measured, resolution) or math.isclose(
            abs(value - predicted), measured.margin, rel_tol=1e-9, abs_tol=1e-9
        )
        assert check.verdict(value, measured, resolution) is check.Verdict.CONFIRMED
        assert check.verdict(value + 3 * resolution, measured, resolution) is check.Verdict.REFUTED


@laws
@given(CONTINUOUS, NAMES, st.floats(0.2, 5))
def test_pairs_scale_with_the_link(activation, link, factor):
    f, g = nonlinearity(activation), nonlinearity(link)
    scale = Fraction(factor).limit_denominator(20)
    h = nonlinearity(g.expr * scale)
    one, scaled = pair.pair(f, g), pair.pair(f, h)
    assert scaled.link_mean == pytest.approx(float(scale) * one.link_mean, abs=1e-10)
    assert scaled.link_second == pytest.approx(float(scale) ** 2 * one.link_second, rel=1e-9)
    assert pair.case(f, g).name == pair.case(f, h).name
    constants, activation_error, link_error = pair.ridge_constants(f, g)
    assert constants.fits_mean == (pair.case(f, g).name != "unfitted")
    assert min(activation_error, link_error) >= 0


@few
@given(st.floats(0.5, 4), st.floats(0.3, 2), st.floats(0.3, 3))
def test_moments_after_a_step_grow_with_it(alpha, beta, eta0):
    step = covariance.Step(activation="relu", link="tanh", alpha=alpha, beta=beta, eta0=eta0)
    double = replace(step, eta0=2 * eta0)
    assert double.eta(50) == pytest.approx(2 * step.eta(50), rel=1e-12)
    (A, B), (A2, B2) = covariance.predicted(step, 50), covariance.predicted(double, 50)
    assert A2 > A > 0 or abs(A) < 1
    assert B2 != B
    f, g = step.functions()
    drawn = covariance.draw(step, 20, np.random.default_rng(1))
    across, along = covariance.second_moment(step, 20, drawn)
    assert math.isfinite(across + along)
    assert f.name == "relu"
    assert g.name == "tanh"


@few
@given(st.sampled_from([("tanh", "tanh"), ("erf", "z + He(3, z)")]), POSITIVE, st.floats(0.1, 3))
def test_each_spike_lowers_the_loss(names, psi1, lam):
    f, g = map(nonlinearity, names)
    drops = spiked_features.loss_drops(f, g, psi1, 1.5, lam, 2.0, 0.1, (1, 2))
    for values in drops.values():
        assert all(x >= -1e-9 for x in values)
        assert list(values) == sorted(values)
    found = spiked_features.spiked_features(f, g, Fraction(3, 10), 2.0, 0.1)
    assert found.norm >= 0
    assert found.variance >= 0
    assert found.error >= 0
    near = spiked_features.finite_size(found, f, Fraction(3, 10), psi1, 1.5, lambda at: {"eta": at})
    assert near.drops["eta"][0] == near.step
    finite = [spiked_features.loss_drops(f, g, psi1, 1.5, lam, 2.0, 0.1, (1,), (step, 10.0)) for step in (1.0, 5.0)]
    assert 0 <= finite[0]["full"][0] <= finite[1]["full"][0] <= drops["full"][0] * (1 + 1e-12)


@laws
@given(st.integers(1, 40), st.floats(-3, 3), st.floats(0.1, 2))
def test_panels_integrate(nodes, start, length):
    low = start + length * np.arange(3)
    x, w = legendre.panels(low, low + length, nodes)
    power = min(2 * nodes - 1, 7)  # the rule is exact up to here
    exact = ((start + 3 * length) ** (power + 1) - start ** (power + 1)) / (power + 1)
    assert w @ x**power == pytest.approx(exact, rel=1e-10, abs=1e-10)
    root, weight = legendre.legendre(nodes)
    assert x[:nodes] == pytest.approx(start + length * (1 + root) / 2, abs=1e-13)
    assert weight.sum() == pytest.approx(2, rel=1e-13)
    # The density's logarithm is a parabola.
    ratio = legendre.normal_density(x) / legendre.normal_density(np.zeros(1))
    assert np.log(ratio) == pytest.approx(-(x**2) / 2, abs=1e-12)
