"""Funk-Hecke coefficients: closed form against integration, known values, Parseval, circle, high dimension, limits."""

import math

import pytest
import scipy.integrate
import scipy.special
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.kernels import sphere
from bulkedge.theory.kernels.sphere import (
    eigenvalues,
    eta,
    gaussian_weight_factor,
    large_dimension,
    legendre_values,
    multiplicity,
    relu_power,
    second_moment,
)
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import d, l, z

CLOSED = ["relu", "relu(z)**3", "step", "abs", "sign", "leaky_relu(z, 1/5)", "z**3 - z", "z**2 + relu(z)/3"]


@pytest.mark.parametrize("dimension", [2, 3, 5, 50])
@pytest.mark.parametrize("text", CLOSED)
def test_closed_form_is_the_integral(text, dimension):
    f = nonlinearity(text)
    closed = eigenvalues(f, dimension, 6)
    for found in closed:
        integral = sphere._one_integral(f, dimension, found.degree, 12)
        assert abs(found.eta.value - integral.value) <= found.eta.error + integral.error
        exact = eta(f).subs({d: dimension, l: found.degree}).evalf(25)
        assert abs(exact - sp.Rational(found.eta.value.numerator, found.eta.value.denominator)) < 1e-18


@pytest.mark.parametrize(("text", "dimension"), [("tanh", 2), ("softplus", 3), ("relu(z - 1/3)", 4), ("elu", 7)])
def test_other_functions_against_quadpack(text, dimension):
    f = nonlinearity(text)
    norm = scipy.special.beta(0.5, (dimension - 1) / 2)
    values = [sp.lambdify(z, p.expr, "math") for p in f.pieces]
    ends = [float(p.upper) for p in f.pieces]

    def integrand(a, degree):
        t = math.cos(a)
        i = next(i for i, end in enumerate(ends) if 1.5 * t <= end)
        return values[i](1.5 * t) * legendre_values(t, dimension, degree)[degree] * math.sin(a) ** (dimension - 2)

    breaks = [math.acos(float(k) / 1.5) for k in f.kinks] or None
    for found in eigenvalues(f, dimension, 5, sp.Rational(3, 2)):
        total = scipy.integrate.quad(
            integrand, 0, math.pi, args=(found.degree,), points=breaks, epsabs=1e-13, epsrel=1e-13
        )[0]
        assert float(found.eta) == pytest.approx(total / norm, abs=1e-12)
        assert float(found.value) == pytest.approx(float(found.eta) ** 2, rel=1e-14, abs=1e-30)


@pytest.mark.parametrize("dimension", [2, 3, 20])
@pytest.mark.parametrize("text", ["relu", "tanh", "z**3 - z", "leaky_relu"])
def test_parseval(text, dimension):
    f, radius = nonlinearity(text), sp.Rational(4, 3)
    found = eigenvalues(f, dimension, 40, radius, 12)
    total = sum(float(x.value) * x.multiplicity for x in found)
    moment = float(second_moment(f, dimension, radius))
    # ReLU's terms at d = 2 fall like l^-4, so what is left out after 40 is below 1e-4.
    assert total == pytest.approx(moment, abs=1e-4)
    assert total <= moment * (1 + 1e-12)
    if text == "z**3 - z":
        assert total == pytest.approx(moment, rel=1e-12)


def test_known_values():
    relu = eigenvalues(nonlinearity("relu"), 3, 4)
    assert [x.multiplicity for x in relu] == [1, 3, 5, 7, 9]
    assert float(relu[1].eta) == pytest.approx(1 / 6, abs=1e-16)
    # int_{-1}^1 P_4 relu dt = -1/48, and the density is 1/2.
    assert float(relu[4].eta) == pytest.approx(-1 / 96, abs=1e-16)
    assert relu[3].eta.value == 0
    assert relu[3].eta.error == 0
    for dimension, top in ((3, 0.1875), (10, 0.1673012), (100, 0.1599527), (1000, 0.1592345)):
        (first,) = eigenvalues(nonlinearity("relu"), dimension, 0)
        assert dimension * float(first.value) == pytest.approx(top, abs=5e-8)


def test_a_kernel_on_the_sphere_by_gegenbauers_own_formula():
    # d = 5: int_{-1}^1 arc-cosine_1(t) C_2^{3/2}(t) (1 - t^2) dt = 5/128 for E[relu relu].
    t = sp.Symbol("t")
    density = sp.gamma(sp.Rational(5, 2)) / (sp.sqrt(sp.pi) * sp.gamma(2))
    found = eigenvalues(nonlinearity("relu"), 5, 2)[2]
    # On the unit sphere with w uniform: E_w = (1/d) E over w ~ N(0, I).
    c2 = sp.gegenbauer(2, sp.Rational(3, 2), t)
    assert sp.Rational(5, 128) * density / c2.subs(t, 1) / 5 == pytest.approx(float(found.value), rel=1e-14)


def test_circle_by_fourier():
    # d = 2: eta_l = (1/pi) int_0^pi f(cos a) cos(l a) da.
    for found in eigenvalues(nonlinearity("relu"), 2, 6):
        m = found.degree
        fourier = (
            sp.integrate(sp.cos(sp.Symbol("a")) * sp.cos(m * sp.Symbol("a")), (sp.Symbol("a"), 0, sp.pi / 2)) / sp.pi
        )
        assert float(found.eta) == pytest.approx(float(fourier), abs=1e-16)
        assert found.multiplicity == (1 if m == 0 else 2)


@given(st.integers(2, 40), st.integers(0, 12))
def test_multiplicities_count_polynomials(dimension, degree):
    # Homogeneous polynomials of degree l split into harmonics of degree l, l-2, ...
    total = sum(multiplicity(dimension, degree - 2 * i) for i in range(degree // 2 + 1))
    assert total == math.comb(degree + dimension - 1, degree)


@settings(max_examples=40)
@given(st.integers(2, 30), st.integers(0, 10), st.floats(-1, 1))
def test_legendre_polynomials_are_gegenbauers(dimension, degree, t):
    value = legendre_values(t, dimension, degree)[degree]
    if dimension == 2:
        expected = scipy.special.eval_chebyt(degree, t)
    else:
        alpha = dimension / 2 - 1
        expected = scipy.special.eval_gegenbauer(degree, alpha, t) / scipy.special.eval_gegenbauer(degree, alpha, 1.0)
    assert value == pytest.approx(expected, abs=1e-10)


def test_recurrence_and_zeros():
    for p in (0, 1, 2, 3):
        for degree in range(8):
            for dimension in (2, 5, 11):
                now, later = (
                    relu_power(sp.Integer(p), sp.Integer(dimension), sp.Integer(m)) for m in (degree, degree + 2)
                )
                assert sp.simplify(later * (degree + dimension + p) + (degree - p) * now) == 0
        assert relu_power(sp.Integer(p), d, sp.Integer(p + 2)) == 0


def test_high_dimension_high_degree():
    found = eigenvalues(nonlinearity("abs"), 1000, 50)[50]
    assert float(found.eta) == pytest.approx(1.627459424276036e-47, rel=1e-14)
    integral = sphere._one_integral(nonlinearity("abs"), 1000, 50, 10)
    assert abs(found.eta.value - integral.value) <= found.eta.error + integral.error
    assert found.multiplicity == math.comb(1049, 50) - math.comb(1047, 48)


@pytest.mark.parametrize(("power", "degree"), [(1, 0), (1, 1), (1, 2), (0, 3), (2, 5), (3, 1)])
def test_large_dimension(power, degree):
    exact = relu_power(sp.Integer(power), d, sp.Integer(degree))
    errors = [abs((large_dimension(power, degree, 2) / exact - 1).subs(d, size).evalf(30)) for size in (200, 400)]
    assert errors[0] < 100 / sp.Integer(200) ** 3 * (1 + degree + power) ** 4
    if errors[0] > 1e-25:
        assert 6 < errors[0] / errors[1] < 10  # the first term left out is of order d^-3
    else:
        assert errors[1] < 1e-25  # the expansion ends
    assert large_dimension(1, 3) == 0


@pytest.mark.parametrize("degree", [0, 1, 2, 4])
def test_limit_is_the_hermite_coefficient(degree):
    size = 20000
    (found,) = eigenvalues(nonlinearity("relu"), size, degree, sp.sqrt(size))[-1:]
    limit = float(coefficient(nonlinearity("relu"), degree).enclosure)
    assert math.sqrt(multiplicity(size, degree)) * float(found.eta) == pytest.approx(limit, rel=20 / size)


def test_gaussian_weights():
    # E over w ~ N(0, I/d): eta_l^2 E|w|^2p.
    assert gaussian_weight_factor(1, sp.Integer(7)) == 1
    assert gaussian_weight_factor(2, sp.Integer(6)) == sp.Rational(6 * 8, 36)


@pytest.mark.parametrize(
    ("dimension", "degree", "radius", "message"),
    [(1, 3, 1, "dim"), (2.5, 3, 1, "dim"), (3, -1, 1, "degree"), (3, 2, 0, "radius"), (3, 2, -1, "radius")],
)
def test_bad_input(dimension, degree, radius, message):
    with pytest.raises(InputError, match=message):
        eigenvalues(nonlinearity("relu"), dimension, degree, sp.Integer(radius))


def test_a_delta_is_refused():
    with pytest.raises(InputError, match="delta"):
        eigenvalues(nonlinearity("relu").derivative(2), 3, 2)


def test_growth_at_infinity_does_not_matter_on_the_sphere():
    # exp(z^2/5) at radius 3 is exp(9 t^2/5), not square integrable against the Gaussian but bounded on the sphere.
    (first,) = eigenvalues(nonlinearity("exp(z**2/5)"), 3, 0, sp.Integer(3))
    expected = scipy.integrate.quad(lambda t: math.exp(9 * t * t / 5), 0, 1)[0]
    assert float(first.eta) == pytest.approx(expected, rel=1e-13)
