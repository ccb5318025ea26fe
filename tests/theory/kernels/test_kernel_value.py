"""Kernels at numbers: every route against another, the ends, next to the ends, singular covariances, bad input."""

import math

import mpmath
import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.gaussian import plane as floats
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian import plane, rotated_plane
from bulkedge.theory.gaussian.gaussian import expectation
from bulkedge.theory.kernels.kernel import dual_of_correlation, scaled
from bulkedge.theory.kernels.kernel_value import series, value, value_at_zero, without_closed_form
from bulkedge.theory.numbers.ball import to_enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import rho

ONE, ZERO = sp.Integer(1), sp.Integer(0)
TINY = sp.Rational(1, 10**16)


def at(text, r, digits=15):
    return value(nonlinearity(text), ONE, sp.Rational(r), ONE, digits)


@pytest.mark.parametrize("text", ["relu", "abs", "sign", "step", "erf", "gelu", "relu(z - 1/3)", "elu", "hard_tanh"])
def test_enclosure_without_the_closed_form_contains_it(text):
    f = nonlinearity(text)
    for r in (sp.Rational(1, 20), sp.Rational(1, 2), sp.Rational(-9, 10)):
        found = without_closed_form(f, f, r, 15)
        exact = value(f, ONE, r, ONE, 30)
        assert abs(found.value - exact.value) <= found.error + exact.error
        assert found.reaches(15)


@pytest.mark.parametrize("text", ["tanh", "softplus", "1/(1 + z**2)"])
def test_series_and_plane_agree(text):
    f, r = nonlinearity(text), sp.Rational(-3, 10)
    one, two = series(f, f, r, 28, 15), to_enclosure(plane.integral(f, f, r, 15))
    assert abs(one.value - two.value) <= one.error + two.error
    assert max(one.error, two.error) < 1e-14


def test_series_tail_bound_is_honest():
    # Truncated early, the bound must cover what is left out, and not by much more than the next term.
    f, r = nonlinearity("relu"), sp.Rational(1, 2)
    exact = value(f, ONE, r, ONE, 30)
    for degree in (1, 2, 5, 9):
        found = series(f, f, r, degree, 15)
        gap = abs(found.value - exact.value)
        assert gap <= found.error
        assert found.error < 100 * gap


@pytest.mark.parametrize(
    ("text", "r"), [("tanh", "9999/10000"), ("softplus", "-99995/100000"), ("tanh(3*z)", "9995/10000")]
)
def test_near_one_against_an_independent_quadrature(text, r):
    # E[f(u) f(v)] with u, v = sqrt((1+r)/2) a +- sqrt((1-r)/2) b, by mpmath on the rotated pair.
    f, exact = nonlinearity(text), sp.Rational(r)
    g = sp.lambdify(sp.Symbol("z", real=True), f.expr, "mpmath")
    big, small = (
        mpmath.sqrt((1 + mpmath.mpf(exact.p) / exact.q) / 2),
        mpmath.sqrt((1 - mpmath.mpf(exact.p) / exact.q) / 2),
    )
    h = mpmath.mpf(1) / 8
    total = mpmath.mpf(0)
    for i in range(-64, 65):  # the trapezoid rule converges like exp(-2 pi a/h) for functions analytic in |Im z| < a
        for j in range(-20, 21):
            a, b = i * h, j * h * 3
            total += g(big * a + small * b) * g(big * a - small * b) * mpmath.exp(-(a * a + b * b) / 2) * 3 * h * h
    found = at(text, r)
    assert float(found) == pytest.approx(float(total / (2 * mpmath.pi)), abs=2e-8)
    assert found.reaches(15)


@pytest.mark.parametrize("text", ["relu", "step", "relu(z - 1/3)", "erf", "tanh", "softplus", "elu"])
def test_ends(text):
    f = nonlinearity(text)
    top, bottom = at(text, 1), at(text, -1)
    near_top, near_bottom = at(text, ONE - TINY), at(text, TINY - ONE)
    # A jump makes the kernel move like sqrt(e), 1e-8 here; otherwise by e times E f'^2.
    size = 2e-8 if text == "step" else 1e-15
    assert float(top) == pytest.approx(float(near_top), abs=size)
    assert float(bottom) == pytest.approx(float(near_bottom), abs=size)
    from bulkedge.theory.functions.nonlinearity import product

    exact = expectation(product(f, f))
    if exact is not None:
        assert float(top) == pytest.approx(float(exact), rel=1e-15)
    assert near_top.value < top.value


def test_next_to_one_the_step_moves_like_a_square_root():
    found = at("step", ONE - TINY)
    assert float(found) == pytest.approx(0.5 - math.acos(1) - math.sqrt(2e-16) / (2 * math.pi), abs=1e-16)
    assert found.reaches(15)


def test_kernel_too_small_for_any_precision_is_zero_with_a_bound():
    found = at("relu(z - 1/3)", TINY - ONE)
    assert found.value == 0
    assert 0 < found.error < 1e-60
    # exp(-2.6 10^6): elementary, so that no other route is tried (it took 14 seconds).
    found = value(nonlinearity("sin"), sp.Integer(5152503), sp.Integer(111643), sp.Integer(263414))
    assert found.value == 0
    assert 0 < found.error < 1e-50


@pytest.mark.parametrize(
    ("text", "mean"), [("relu", 0), ("step", sp.Rational(1, 4)), ("gelu", 0), ("cos", sp.exp(-sp.Rational(1, 2)))]
)
def test_zero_input(text, mean):
    found = value(nonlinearity(text), ZERO, ZERO, ONE)
    assert float(found) == pytest.approx(float(mean), abs=1e-15)
    both = value(nonlinearity(text), ZERO, ZERO, ZERO)
    assert float(both) == pytest.approx(float(value_at_zero(nonlinearity(text))) ** 2, abs=1e-15)


def test_unequal_variances():
    q = (sp.Rational(7, 10), sp.Rational(2, 5), sp.Rational(19, 10))
    f = nonlinearity("gelu")
    assert float(value(f, *q)) == pytest.approx(0.20767108548122, abs=1e-14)
    scaled_route = without_closed_form
    pair = [scaled(f, sp.sqrt(x)) for x in (q[0], q[2])]
    other = scaled_route(pair[0], pair[1], q[1] / sp.sqrt(q[0] * q[2]), 15)
    assert abs(other.value - value(f, *q, 25).value) <= other.error * 2
    tanh = nonlinearity("tanh")
    one, two = value(tanh, *q), value(tanh, q[2], q[1], q[0])
    assert abs(one.value - two.value) <= one.error + two.error


def test_cross_kernel_of_activation_and_link():
    f, g = nonlinearity("relu"), nonlinearity("tanh")
    r = sp.Rational(3, 10)
    found = value(f, ONE, r, ONE, 15, g)
    # tanh is odd and the odd part of ReLU is z/2: E[tanh(v) u]/2 = rho E[z tanh(z)]/2.
    assert float(found) == pytest.approx(0.3 * 0.605705509602158826 / 2, abs=1e-15)


@pytest.mark.parametrize("digits", [5, 30, 60])
def test_digits(digits):
    found = at("tanh", sp.Rational(1, 10), digits)
    assert found.reaches(digits)
    exact = value(nonlinearity("relu"), ONE, sp.Rational(1, 3), ONE, digits)
    truth = dual_of_correlation(nonlinearity("relu")).subs(rho, sp.Rational(1, 3)).evalf(digits + 10)
    assert abs(sp.Rational(exact.value.numerator, exact.value.denominator) - truth) < sp.Float(10) ** (-digits)


def test_odd_with_even_is_exactly_zero():
    found = value(nonlinearity("tanh"), ONE, sp.Rational(1, 2), ONE, 15, nonlinearity("log_cosh"))
    assert found.value == 0
    assert found.error == 0


@pytest.mark.parametrize(
    ("q", "message"),
    [((1, 2, 1), "no covariance"), ((-1, 0, 1), "negative"), ((1, 0, -1), "negative"), ((0, 1, 1), "no covariance")],
)
def test_no_covariance(q, message):
    with pytest.raises(InputError, match=message):
        value(nonlinearity("relu"), *map(sp.Integer, q))


def test_not_finite_at_a_large_variance():
    with pytest.raises(InputError, match="smaller variances"):
        value(nonlinearity("exp(z**2/5)*tanh(z)"), sp.Integer(4), ONE, sp.Integer(4))


def test_out_of_reach_says_so_with_an_honest_enclosure():
    # sqrt|z| is not analytic at its kink: neither rule applies, and the series converges slowly.
    f, r = nonlinearity("sqrt(Abs(z))"), sp.Rational(9, 10)
    with pytest.raises(PrecisionError) as caught:
        without_closed_form(f, f, r, 15)
    best = caught.value.best
    assert best is not None
    with mpmath.workdps(20):
        # E|u v|^(1/2) = 2F1(-1/4, -1/4; 1/2; rho^2) 2^(1/2) Gamma(3/4)^2/pi.
        truth = mpmath.hyp2f1(-0.25, -0.25, 0.5, 0.81) * mpmath.sqrt(2) * mpmath.gamma(0.75) ** 2 / mpmath.pi
    assert abs(float(best) - float(truth)) <= float(best.error)
    assert float(best.error) < 1e-4
    assert float(value(f, ONE, r, ONE, 15)) == pytest.approx(float(truth), rel=1e-15)  # by its closed form


@pytest.mark.parametrize(
    ("text", "r"),
    [
        ("relu", "9999/10000"),
        ("relu(z - 1/3)", "-9999999999/10000000000"),
        ("hard_tanh", "999999/1000000"),
        ("step", "9999/10000"),
        ("elu", "-9995/10000"),
    ],
)
def test_rotated_plane_contains_the_closed_form(text, r):
    f = nonlinearity(text)
    g = scaled(f, sp.Integer(-1)) if sp.Rational(r) < 0 else f
    found = to_enclosure(rotated_plane.integral(f, g, abs(sp.Rational(r)), 15))
    exact = value(f, ONE, sp.Rational(r), ONE, 25)
    assert abs(found.value - exact.value) <= found.error + exact.error
    assert found.error < 1e-17


@pytest.mark.parametrize("r", ["9999/10000", "-999999/1000000"])
def test_kinks_without_a_closed_form_next_to_one(r):
    # tanh|z| + z/2, whose kernel is an even one plus rho/4: E f^2 - e E f'^2 to first order, kinks at order e^(3/2).
    f = nonlinearity("tanh(Abs(z)) + z/2")
    found = at("tanh(Abs(z)) + z/2", r)
    assert found.reaches(15)
    even = at("tanh(Abs(z))", abs(sp.Rational(r)))
    assert float(found) == pytest.approx(float(even) + float(sp.Rational(r)) / 4, abs=1e-14)
    top = value(f, ONE, ONE, ONE, 15)
    assert 0 < float(top.value - even.value - sp.Rational(1, 4)) < 2 * (1 - abs(float(sp.Rational(r))))


def test_rotated_plane_refuses_close_kinks():
    f = nonlinearity("Abs(tanh(z)) + Abs(z - 1/10)")
    with pytest.raises(PrecisionError, match="too close"):
        rotated_plane.integral(f, f, sp.Rational(999, 1000), 15)


def test_three_hundred_nines():
    near = 1 - sp.Rational(1, 10**300)
    for text in ("tanh", "Abs(tanh(z))", "relu", "relu(z - 1/3)"):
        assert float(at(text, near)) == pytest.approx(float(at(text, 1)), rel=1e-15)
    # E[(z1)_+ (z2)_+] at rho = -1 + e is sqrt(2) e^(3/2)/(3 pi) to leading order.
    assert at("relu", -near).value_string(5).startswith("1.5005e-451")


def test_cancelling_closed_forms_leave_it_to_the_integral():
    """elu at |x|^2 = 10^6: terms of size e^(2 10^6) cancel to a moderate value, which "too large" would deny."""
    q = sp.Integer(10**6)
    with mpmath.workdps(30):
        s = mpmath.mpf(1000)
        # e^(a^2/2) Phi(-a) = erfcx(a/sqrt 2)/2 = 1/(a sqrt(2 pi)) (1 - 1/a^2 + 3/a^4 - ...)
        mills = [sum(mpmath.fac2(2 * j - 1) * (-1) ** j / a ** (2 * j) for j in range(4)) / a for a in (s, 2 * s)]
        right = q / 2 + mpmath.mpf(1) / 2 + (mills[1] - 2 * mills[0]) / mpmath.sqrt(2 * mpmath.pi)
    found = value(nonlinearity("elu"), q, q, q, 12)
    assert abs(float(found) - float(right)) < 1e-9
    assert float(found.error) < 1e-6


def test_off_the_diagonal_too():
    f = nonlinearity("elu")
    found = value(f, *map(sp.Integer, (10**6, 999_999, 10**6)), 9)
    part = floats.resolved(f, 1000.0, 1000.0)
    one = np.full(1, 1000.0)
    assert float(found) == pytest.approx(floats.expectation(part, part, one, one, 0.999999)[0, 0], rel=1e-9)
