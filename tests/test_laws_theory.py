"""Laws of the exact layer's numbers: enclosures contain, bounds bound, expectations are linear, at random arguments.

Together with the other property tests they reach every public numeric function (tests/test_law_coverage.py).
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw
from bulkedge.theory.functions import growth, polynomial, quadratic, size
from bulkedge.theory.functions.nonlinearity import combine, nonlinearity, product
from bulkedge.theory.gaussian import gaussian, hermite, moments
from bulkedge.theory.kernels import kernel, kernel_value, sphere
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.digits import check_digits
from bulkedge.theory.numbers.enclosure import Enclosure, floor_log10, int_to_text
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z
from bulkedge.theory.spectra import silverstein
from bulkedge.theory.steps import alignment, covariance, gradient, scaling, spiked_features, target

laws = settings(max_examples=20, deadline=None)
few = settings(max_examples=6, deadline=None)

FRACTIONS = st.fractions(-9, 9, max_denominator=30)
POSITIVE = st.fractions(Fraction(1, 20), 9, max_denominator=30)
NAMES = st.sampled_from(["relu", "tanh", "gelu", "sin(3*z) - 1/7", "He(3, z)", "Max(z - 1/3, 0)"])


def rational(x):
    return sp.Rational(x.numerator, x.denominator)


def overlap(a, b):
    return abs(a.value - b.value) <= a.error + b.error


@laws
@given(FRACTIONS, POSITIVE, POSITIVE)
def test_enclosures_of_constants(a, b, c):
    expr = rational(a) + sp.sqrt(rational(b)) * sp.log(1 + rational(c))
    low, high = (ball.enclose_expr(expr, digits) for digits in (16, 40))
    assert overlap(low, high)
    with ball.precision(ball.bits(30)):
        constant = ball.constant(expr)
        assert ball.to_enclosure(constant).contains(high.value) or overlap(ball.to_enclosure(constant), high)
        assert abs(ball.fraction(constant.mid()) - high.value) <= Fraction(1, 10**25)
        assert ball.rational(a).contains(ball.rational(rational(a)))
        square = ball.integrate(
            ball.build(z**2, z, {}), ball.rational(0), ball.rational(b), ball.rational(Fraction(1, 10**20))
        )
        assert square.contains(ball.rational(b**3 / 3))
    assert ball.sign(expr) == (high.value > 0) - (high.value < 0)
    assert ball.sign(rational(a)) == (a > 0) - (a < 0)
    quotient = covariance.ratio(low, Enclosure(b, Fraction(0), "exact"))
    assert abs(quotient.value - high.value / b) <= quotient.error + high.error / b


@laws
@given(st.integers(1, 1000))
def test_digits(digits):
    assert check_digits(digits) == digits
    assert ball.bits(digits + 1) > ball.bits(digits) > digits * math.log2(10)
    with pytest.raises(InputError):
        check_digits(-digits)


@few
@given(NAMES, NAMES, FRACTIONS, FRACTIONS, st.integers(0, 4))
def test_expectations_are_linear(first, second, a, b, k):
    f, g = nonlinearity(first), nonlinearity(second)
    both = combine(((rational(a), f), (rational(b), g)), "a f + b g")
    one, two, joined = (moments.enclosed_mean(h, k, 12) for h in (f, g, both))
    assert abs(joined.value - a * one.value - b * two.value) <= joined.error + abs(a) * one.error + abs(b) * two.error
    assert one.error < Fraction(1, 10**9)
    if k == 1:
        assert overlap(one, gaussian.enclose(f, 12, 1))  # z = He_1


@few
@given(NAMES, st.integers(0, 6))
def test_coefficients_obey_parseval(name, degree):
    f = nonlinearity(name)
    listed = hermite.coefficients(f, degree)
    assert overlap(listed[degree].enclosure, hermite.coefficient(f, degree).enclosure)
    second, tail = hermite.second_moment(f), hermite.parseval_tail(f, degree)
    squares = sum(c.enclosure.value**2 for c in listed)
    slack = tail.error + second.error + Fraction(1, 10**10)
    assert abs(second.value - squares - tail.value) <= slack
    assert tail.value >= -slack
    assert hermite.parseval_tail(f, degree + 1).value <= tail.value + slack
    flat = hermite.mehler_sum(f, f, Fraction(0), degree)
    assert abs(flat.value - listed[0].enclosure.value ** 2) <= flat.error + Fraction(1, 10**10)
    order = hermite.information_exponent(f)
    assert order == hermite.information_exponent(nonlinearity(3 * f.expr))
    assert order is None or order >= 1


@laws
@given(st.integers(0, 12), FRACTIONS)
def test_powers_in_hermite_polynomials(a, x):
    total = sum(weight * sp.hermite_prob(k, rational(x)) for k, weight in moments.hermite_weights(a))
    assert total == rational(x) ** a


@few
@given(NAMES, FRACTIONS, POSITIVE)
def test_products_powers_and_scalings_are_pointwise(name, x, s):
    f = nonlinearity(name)
    at = rational(x)
    value = sp.N(f(at), 30)
    assert sp.N(product(f, f)(at), 30) == pytest.approx(value**2, abs=1e-20)
    assert sp.N(moments.power(f, 3)(at), 30) == pytest.approx(value**3, abs=1e-20)
    assert sp.N(kernel.scaled(f, rational(s))(at), 30) == pytest.approx(sp.N(f(at * rational(s)), 30), abs=1e-20)


@few
@given(st.sampled_from(["relu", "erf", "gelu", "sin"]), POSITIVE, POSITIVE, st.fractions(-1, 1, max_denominator=12))
def test_kernels_are_bounded_by_their_diagonal(name, a, b, r):
    f = nonlinearity(name)
    q11, q22, q12 = rational(a) ** 2, rational(b) ** 2, rational(a * b * r)
    kernel_value.check_covariances(q11, q12, q22)
    value, first, second = (kernel_value.value(f, *q, 12) for q in ((q11, q12, q22), (q11, q11, q11), (q22, q22, q22)))
    assert value.value**2 <= first.value * second.value * (1 + Fraction(1, 10**9))
    assert overlap(value, kernel_value.value(f, q22, q12, q11, 12))
    with pytest.raises(InputError):
        kernel_value.check_covariances(q11, 2 * rational(a * b), q22)
    expansion = kernel_value.series(f, f, rational(r) / 2, 30, 12)
    half = kernel_value.value(f, sp.S.One, rational(r) / 2, sp.S.One, 12)
    assert overlap(expansion, half)
    balls = kernel_value.coefficients_or_balls(f, 3, 12)
    pair, _ = kernel_value.series_coefficient(f, f, 3, 12)
    assert pair.enclosure.value == pytest.approx(float(balls[3].value) ** 2, abs=1e-10)


@few
@given(
    st.tuples(st.sampled_from(["relu", "erf", "step"]), st.sampled_from(["abs", "gelu", "hard_tanh"])),
    st.tuples(st.fractions(-2, 2, max_denominator=9), st.fractions(-2, 2, max_denominator=9)),
    st.fractions(-1, 1, max_denominator=12),
    FRACTIONS,
)
def test_covariances_of_two_functions_with_means(names, means, r, x):
    """Cauchy and Schwarz, symmetry, and sum_k c_k(f) c_k(g) rho^k without k = 0."""
    first, second = (kernel.shifted(nonlinearity(n), rational(m)) for n, m in zip(names, means, strict=True))
    moved = nonlinearity(names[0])(rational(x + means[0]))
    assert sp.N(first(rational(x)), 30) == pytest.approx(sp.N(moved, 30), abs=1e-20)
    one, rho = sp.S.One, rational(r)

    def within(f, correlation, g):
        try:
            return kernel_value.covariance(f, one, correlation, one, 12, g)
        except PrecisionError as error:  # a covariance that vanishes next to others of size one
            return error.best

    found, back = within(first, rho, second), within(second, rho, first)
    assert overlap(found, back)
    variances = within(first, one, first), within(second, one, second)
    assert found.value**2 <= variances[0].value * variances[1].value * (1 + Fraction(1, 10**9))
    terms = [kernel_value.series_coefficient(first, second, k, 12)[0].enclosure.value for k in range(1, 13)]
    tail = abs(r) ** 13 * math.sqrt(variances[0].value * variances[1].value)
    assert abs(found.value - sum(c * r**k for k, c in enumerate(terms, 1))) <= tail + Fraction(1, 10**10)


@laws
@given(FRACTIONS, POSITIVE, POSITIVE, st.lists(FRACTIONS, min_size=3, max_size=3), POSITIVE)
def test_what_is_rounded_outwards_stays_outside(x, y, t, coefficients, factor):
    assert quadratic.round_down(x) <= x <= quadratic.round_up(x)
    low, high = quadratic.log_below(y), quadratic.log_above(y)
    assert low <= high
    assert float(low) <= math.log(y) + 1e-12
    assert float(high) >= math.log(y) - 1e-12
    around = quadratic.between(min(x, y), max(x, y))
    assert around.contains(quadratic.ball(x))
    assert quadratic.below(around) <= min(x, y) <= max(x, y) <= quadratic.above(around)
    q = quadratic.Quadratic(*map(abs, coefficients))
    other = quadratic.Quadratic(y, x)
    top = quadratic.upper_envelope([q, other])
    assert top(t) >= max(q(t), other(t))
    if q(t) > 0 and q.c0 + q.c1 + q.c2 > 0:
        assert float(quadratic.log_of(q)(t)) >= math.log(q(t)) - 1e-9
    assert float(quadratic.log_power(factor)(t)) >= float(factor) * math.log(max(1, t)) - 1e-9
    one, two = growth.Growth(x, y, factor), growth.Growth(y, x, x)
    assert growth.product(one, two).at(t) == one.at(t) + two.at(t)
    joined, larger = growth.sum(one, two).at(t), max(one.at(t), two.at(t))
    gap = min(700.0, float(abs(one.at(t) - two.at(t))))
    assert float(joined - larger) >= math.log1p(math.exp(-gap)) - 1e-9  # log(e^a + e^b) less the larger


@laws
@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(-6000, 6000))
def test_sizes_by_powers_of_ten(top, bottom, exponent):
    """Also beyond the 4300 digits that Python's own conversion gives."""
    x = Fraction(top, bottom) * Fraction(10) ** exponent
    found = floor_log10(x)
    assert Fraction(10) ** found <= x < Fraction(10) ** (found + 1)
    text = int_to_text(top * 10 ** abs(exponent))
    assert text == str(top) + "0" * abs(exponent)


@given(st.lists(FRACTIONS, min_size=1, max_size=5), POSITIVE, POSITIVE, st.fractions(0, 1, max_denominator=9))
def test_bounds_of_polynomials(coefficients, start, length, share):
    end = start + length
    at = start + share * length
    here = polynomial.value(coefficients, at)
    assert here == sum(c * at**i for i, c in enumerate(coefficients))
    below = polynomial.below(coefficients, start, end)
    assert below is not None
    assert below(at) <= here
    least = polynomial.positive_minimum(coefficients, start, end)
    if least is not None:
        assert 0 < least <= here
    if polynomial.positive_inside(coefficients, start, end, False, False):
        assert here > 0


@laws
@given(st.lists(POSITIVE, min_size=1, max_size=3, unique=True), POSITIVE)
def test_edges_enclosed_are_those_in_floats(values, ratio):
    weights = tuple(sp.Rational(1, len(values)) for _ in values)
    exact = silverstein.Population(tuple(map(rational, values)), weights)
    law = GeneralLaw(DiscretePopulation.of([float(v) for v in values]), float(ratio))
    low, high = (silverstein.enclose_edges(exact, rational(ratio), digits) for digits in (16, 40))
    assert len(low) == len(high)
    for one, two in zip(low, high, strict=True):
        assert overlap(one[0], two[0])
        assert overlap(one[1], two[1])
    if len(law.edges) == len(high):  # two that nearly touch are one in floats
        assert float(high[-1][1]) == pytest.approx(law.edges[-1][1], rel=1e-6)


@few
@given(NAMES, st.integers(2, 30), st.integers(0, 5))
def test_eigenvalues_on_the_sphere_obey_parseval(name, dimension, degree):
    assert sphere.check_dimension(dimension) == dimension
    f = nonlinearity(name)
    found = sphere.eigenvalues(f, dimension, degree, digits=8)
    whole = sphere.second_moment(f, dimension, digits=8)
    part = sum(e.multiplicity * e.eta.value**2 for e in found)
    assert part <= (whole.value + whole.error) * (1 + Fraction(1, 10**5))


@laws
@given(st.sampled_from(sorted(scaling.PAPERS)), st.sampled_from(sorted(scaling.PAPERS)), POSITIVE)
def test_units_there_and_back(source, goal, value):
    assert scaling.paper(source).key == source
    units = (
        (scaling.convert_step, scaling.step_factor, "rate"),
        (scaling.convert_ridge, scaling.ridge_factor, "ridge"),
    )
    for convert, factor, field in units:
        if getattr(scaling.PAPERS[source], field) is None or getattr(scaling.PAPERS[goal], field) is None:
            continue
        sizes = {s: sp.Integer(n) for n, s in enumerate(sorted(factor(source, goal).free_symbols, key=str), 5)}
        there = convert(source, goal, rational(value), sizes)
        assert sp.simplify(convert(goal, source, there.value, sizes).value - rational(value)) == 0


@laws
@given(st.integers(1, 8), st.fractions(0, Fraction(12, 25), max_denominator=40))
def test_spikes_are_those_above_the_bulk(index, exponent):
    found = spiked_features.number_of_spikes(exponent)
    assert (index <= found.order) == (spiked_features.spike_exponent(index, exponent) > Fraction(1, 2))
    assert spiked_features.number_of_spikes(exponent, (1,)).present == ()


@laws
@given(st.integers(0, 6), st.integers(1, 4))
def test_compositions_are_counted(total, parts):
    found = target.compositions(total, parts)
    assert len(set(found)) == len(found) == math.comb(total + parts - 1, parts - 1)
    assert all(sum(c) == total for c in found)


@laws
@given(st.integers(0, 6), st.integers(0, 6), FRACTIONS)
def test_the_measured_size_bounds_the_expanded_one(m, n, a):
    expr = (z + rational(a)) ** m * (2 * z**2 - 3) ** n
    found = size.measure(expr)
    expanded = sp.Poly(sp.expand(expr), z)
    assert found.degree >= expanded.degree()
    assert found.terms >= len(expanded.terms())
    assert size.bits(rational(a)) >= 0
    size.check_power(z + 1, sp.Integer(m))
    with pytest.raises(size.SizeError):
        size.check_power(z + 1, sp.Integer(10**6 + m))


@laws
@given(FRACTIONS, POSITIVE, st.fractions(0, Fraction(1, 1000)))
def test_cosines_enclose(signal, norm2, error):
    found = alignment.cosine(Enclosure(signal, error, ""), Enclosure(norm2, error / 100, ""), 12)
    assert abs(float(found.value) - float(signal) / math.sqrt(norm2)) <= float(found.error) + 1e-12
    exact = alignment.cosine(Enclosure(signal, Fraction(0), ""), Enclosure(norm2, Fraction(0), ""), 12)
    assert exact.error <= found.error + Fraction(1, 10**12)


@laws
@given(FRACTIONS, POSITIVE, POSITIVE, POSITIVE, st.integers(2, 10**6))
def test_the_energy_of_a_gradient_is_the_direction_and_the_rest(m, extra, along, ratio, d):
    second, n = m**2 + extra, ratio * d
    # E|X^T y/n|^2 at n samples in d dimensions, `along` = E z^2 y^2, exactly; it is the limit to order 1/n.
    finite = (1 - 1 / n) * m**2 + (along + (d - 1) * second) / n
    assert finite - gradient.direction_energy(m, second, ratio) == (along - m**2 - second) / n
    # With slopes of mean c and variance v the label's power is c^2 + v times as large: c^2 of it lies along u.
    c, v = Fraction(2, 3), along
    whole = gradient.direction_energy(c * m, (c**2 + v) * second, ratio)
    parts = c**2 * gradient.direction_energy(m, second, ratio), gradient.rest_variance(second, v, ratio)
    assert whole == sum(parts)
