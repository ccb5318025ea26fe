"""Real powers of |z|: moments, membership, general term, enclosures with shifts, kernels; against mpmath quadrature."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.gaussian import best_enclosure, moment, product
from bulkedge.theory.gaussian.hermite import coefficient, general_term
from bulkedge.theory.kernels import kernel_value
from bulkedge.theory.kernels.kernel import agrees, dual, dual_of_correlation, e, expansion_at_one
from bulkedge.theory.kernels.power_kernel import power_dual
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import k as index
from bulkedge.theory.numbers.symbols import rho


def half_line(p, k, shift=0.0, side=1, dps=20):
    """E[(side (z - shift))_+^p He_k(z)], by the substitution x = shift + side y^m that removes the singularity."""
    with mp.workdps(dps):
        m = max(1, int(mp.ceil(1 / (1 + mp.mpf(p))))) * 4
        density = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
        hermite = lambda x: mp.hermite(k, x / mp.sqrt(2)) / mp.sqrt(2) ** k  # noqa: E731

        def integrand(y):
            x = shift + side * y**m
            return y ** (m * p + m - 1) * m * hermite(x) * density(x)

        ends = [mp.mpf(r) ** (mp.mpf(1) / m) for r in (0, 0.01, 0.5, 1, 2, 4, 8, 16)]
        return mp.quad(integrand, ends)


@pytest.mark.parametrize("p", ["-49/100", "-1/4", "1/3", "0.7", "3/2", "7/2", "-0.4999", "0.123456789"])
def test_mean_of_a_power(p):
    """E|z|^p = 2^(p/2) Gamma((p + 1)/2)/sqrt(pi), exactly."""
    q = sp.Rational(p)
    exact = moment(nonlinearity(f"Abs(z)**({p})"), 0)
    assert exact is not None
    expected = 2 ** (q / 2) * sp.gamma((q + 1) / 2) / sp.sqrt(sp.pi)
    assert ball.enclose_expr(exact / expected, 30).contains(1)


@pytest.mark.parametrize(("text", "right", "left"), [
    ("Abs(z)**({p})", 1, 1), ("sign(z)*Abs(z)**({p})", 1, -1), ("Abs(z)**({p})*Heaviside(z)", 1, 0),
    ("z*Abs(z)**({p})", 1, -1), ("Abs(z)**({p})*Heaviside(-z)", 0, 1),
])  # fmt: skip
@pytest.mark.parametrize("p", ["-2/5", "1/3", "2.7"])
def test_moments_and_general_term(text, right, left, p):
    f = nonlinearity(text.format(p=p))
    general = general_term(f, "moment")
    power = float(sp.Rational(p)) + (1 if text.startswith("z*") else 0)
    for k in range(5):
        exact = moment(f, k)
        value = float(exact)
        expected = float(half_line(power, k) * (right + left * (-1) ** k))
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
        assert float(ball.constant(general, {index: sp.Integer(k)}).mid()) == pytest.approx(value, rel=1e-12, abs=1e-12)
    large = coefficient(f, 3001, digits=10) if left != right else coefficient(f, 3000, digits=10)
    assert large.enclosure.value != 0


def test_relu_powers():
    """relu(z)^(3/2), refused before; relu(z)^p for p < 0 is infinite on half the line."""
    f = nonlinearity("relu(z)**(3/2)")
    assert float(moment(f, 2)) == pytest.approx(float(half_line(1.5, 2)), rel=1e-12)
    assert float(moment(product(f, f), 0)) == pytest.approx(float(mp.sqrt(2 / mp.pi)), rel=1e-12)
    with pytest.raises(InputError):
        nonlinearity("relu(z)**(-1/4)")


@pytest.mark.parametrize(
    "text", ["Abs(z)**(-1/2)", "sign(z)*Abs(z)**(-3/5)", "Abs(z-1/3)**(-1/2)", "1/z", "Abs(z)**(-1)"]
)
def test_what_is_not_square_integrable_is_refused(text):
    with pytest.raises(InputError):
        nonlinearity(text)


def test_no_derivative_where_it_is_no_function():
    with pytest.raises(InputError, match="no function"):
        nonlinearity("Abs(z)**(-1/4)").derivative()
    first = nonlinearity("Abs(z)**(1/3)").derivative()
    with pytest.raises(InputError, match="no function"):
        first.derivative()
    with pytest.raises(InputError, match="finite"):
        best_enclosure(product(first, first), 5)


@given(
    st.fractions(-Fraction(3, 7), 3, max_denominator=7).filter(lambda p: p.denominator > 1),
    st.sampled_from(["1/3", "-0.7", "sqrt(2)", "-pi/4", "0.33333333", "2"]),
    st.sampled_from([1, -1]),
    st.integers(0, 3),
)
@settings(max_examples=20, deadline=None)
def test_law_shifted_powers_by_quadrature(p, shift, side, k):
    f = nonlinearity(f"Piecewise((({side}*(z-({shift})))**({p}), {side}*(z-({shift})) > 0), (0, True))")
    found = best_enclosure(f, 12, k)
    expected = half_line(float(p), k, float(sp.N(nonlinearity(shift).pieces[0].expr, 20)), side)
    # The quadrature takes exponent and shift as floats.
    assert abs(float(found.value) - float(expected)) <= float(found.error) + 1e-11 * (1 + abs(float(expected)))
    assert found.error <= abs(found.value) * Fraction(1, 10**11) or abs(found.value) < Fraction(1, 10**9)


def test_products_with_smooth_functions():
    """|z|^(1/3) tanh z and |2z - 1|^(-1/4) tanh z, by enclosure: no closed form, singular at the kink."""
    for text, p, weight in (
        ("Abs(z)**(1/3)*tanh(z)", mp.mpf(1) / 3, lambda x: mp.tanh(x) * x),
        ("Abs(2*z-1)**(-1/4)*tanh(z)", -mp.mpf(1) / 4, mp.tanh),
    ):
        at, slope, k = (0, 1, 1) if weight is not mp.tanh else (mp.mpf(1) / 2, 2, 0)
        found = best_enclosure(nonlinearity(text), 12, k)

        def integrand(y, side, at=at, slope=slope, p=p, weight=weight):
            x = at + side * y**12
            return (slope * y**12) ** p * weight(x) * mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) * 12 * y**11

        ends = [mp.mpf(r) ** (mp.mpf(1) / 12) for r in (0, 0.01, 0.5, 2, 5, 14)]
        expected = sum(mp.quad(lambda y, s=s: integrand(y, s), ends) for s in (1, -1))
        assert float(found.value) == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.parametrize(
    ("first", "second"),
    [("Abs(z)**0.7", "Abs(z)**0.7"), ("relu(z)**(3/2)", "relu(z)**(1/2)"), ("sign(z)*Abs(z)**(-0.3)", "relu(z)**(1/2)"),
     ("Abs(z)**(-1/4)", "z**2 + Abs(z)**(1/3)"), ("sqrt(Abs(z)) + z", "relu(z)**1.7 + 1")],
)  # fmt: skip
@pytest.mark.parametrize("at", [Fraction(1, 2), Fraction(-7, 10)])
def test_kernel_is_its_series(first, second, at):
    """The hypergeometric closed form against Mehler's sum of exact coefficients, its tail by Parseval's bound."""
    f, g = nonlinearity(first), nonlinearity(second)
    closed = dual_of_correlation(f, g)
    assert closed is not None
    with ball.precision(120):
        value = ball.constant(closed, {rho: sp.Rational(at)})
        total, degree = ball.rational(0), 80
        for k in range(degree + 1):
            a, b = (ball.constant(moment(h, k)) for h in (f, g))
            total += a * b * ball.rational(at**k) / ball.constant(sp.factorial(k))
        squares = [ball.constant(moment(product(h, h), 0)) for h in (f, g)]
        bound = ball.rational(abs(at) ** (degree + 1)) * (squares[0] * squares[1]).sqrt()
        assert abs(value - total) <= bound + ball.rational(Fraction(1, 10**25))


def test_a_wrong_kernel_is_found():
    f = nonlinearity("Abs(z)**0.7")
    right = dual(f)
    assert agrees(right, f, f)
    assert not agrees(right * sp.Rational(101, 100), f, f)


@pytest.mark.parametrize(
    ("p", "order", "known"), [("-1/4", 1, False), ("0.7", 1, True), ("0.7", 2, False), ("3/2", 2, False)]
)
def test_expansion_at_one_leaves_other_powers_out(p, order, known):
    """kappa(1 - e) has e^(p + 1/2): no expansion in halves is given beyond it; before it, it is right."""
    f = nonlinearity(f"Abs(z)**({p})")
    expansion = expansion_at_one(f, order)
    assert (expansion is not None) == known
    if known:
        gaps = []
        for near in (sp.Rational(1, 10**6), sp.Rational(1, 10**8)):
            value = kernel_value.value(f, sp.Integer(1), 1 - near, sp.Integer(1), 25)
            gaps.append(float(value.value - ball.enclose_expr(expansion.subs(e, near), 25).value))
        assert gaps[0] / gaps[1] == pytest.approx(10**2.4, rel=0.02)  # what is left out is of order e^(p + 1/2)


def test_kernel_of_scaled_inputs_is_homogeneous():
    """|z|^p at variances a^2, b^2 is a^p b^p times that at one; at correlation one it is E|z|^(2p)."""
    f = nonlinearity("Abs(z)**(1/3)")
    one = kernel_value.value(f, sp.Integer(1), sp.Rational(2, 5), sp.Integer(1), 15)
    other = kernel_value.value(f, sp.Integer(4), sp.Rational(4, 5) * 3, sp.Integer(9), 15)
    assert float(other.value) == pytest.approx(float(one.value) * 6 ** (1 / 3), rel=1e-14)
    full = kernel_value.value(f, *[sp.Rational(4, 5)] * 3, 15)
    assert float(full.value) == pytest.approx(0.8 ** (1 / 3) * float(moment(product(f, f), 0)), rel=1e-14)


def test_kernels_of_shifted_powers_are_enclosed():
    f = nonlinearity("relu(z-1/3)**(3/2)")
    assert power_dual(f, f) is None
    found = kernel_value.value(f, sp.Rational(4, 5), sp.Rational(2, 5), sp.Rational(3, 2), 6)
    a, b = mp.sqrt(0.8), mp.sqrt(1.5)
    r, total = mp.mpf(0.4) / (a * b), mp.mpf(0)
    for k in range(14):
        first, second = (c**1.5 * half_line(1.5, k, 1 / (3 * c)) for c in (a, b))
        total += first * second * r**k / mp.factorial(k)
    assert float(found.value) == pytest.approx(float(total), rel=1e-5)  # r^14 is 7e-7
