"""All degrees on the sphere by one rule: against one integral each, closed forms, large dimensions."""

from __future__ import annotations

import pytest
import sympy as sp
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels import funk_hecke, sphere
from bulkedge.theory.kernels.kernel import scaled
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.symbols import z

TOLERANCE = -70.0


@pytest.mark.parametrize("dimension", [2, 3, 7, 40])
@pytest.mark.parametrize(
    "text", ["tanh(2*z)", "gelu", "relu(z - 1/3)", "exp(z)*Abs(z)", "Piecewise((z, z < 1/2), (1, True))"]
)
def test_against_an_integral_for_each_degree(text, dimension):
    f = nonlinearity(text)
    table = funk_hecke.coefficients(f.pieces, f.parity, dimension, 9, TOLERANCE)
    with ball.precision(funk_hecke.working_bits(dimension, 9, TOLERANCE)):
        for degree in (0, 1, 4, 9):
            single = sphere._one_integral(f, dimension, degree, 12)
            assert (
                abs(table[degree] - ball.rational(single.value)) <= ball.rational(single.error) + arb(TOLERANCE).exp()
            )
            assert table[degree].rad() <= 2 * arb(TOLERANCE).exp()


def test_the_error_is_a_bound_where_the_values_are_known():
    """Polynomials and ReLU through the rule: nothing it says may exclude the closed form."""
    for text in ("relu", "z**3 - z", "Abs(z)", "step", "z**2 + relu(z)/3"):
        f = nonlinearity(text)
        for dimension, tolerance in ((2, -6.0), (5, -30.0), (300, -90.0)):
            table = funk_hecke.coefficients(f.pieces, 0, dimension, 12, tolerance)
            closed = sphere.eigenvalues(f, dimension, 12, digits=60)
            with ball.precision(500):
                for value, exact in zip(table, closed, strict=True):
                    gap = abs(value.mid() - ball.rational(exact.eta.value))
                    assert gap <= value.rad() + ball.rational(exact.eta.error)


@settings(max_examples=8, deadline=None)
@given(st.integers(2, 60), st.integers(0, 12), st.fractions("1/5", 3, max_denominator=9))
def test_multiplication_by_t(dimension, degree, slope):
    """Another function's coefficients by the recurrence of the polynomials.

    E[t f P_l] = ((l + d - 2) eta_{l+1} + l eta_{l-1})/(2 l + d - 2).
    """
    f = nonlinearity(sp.tanh(sp.Rational(slope) * z))
    times = nonlinearity(z * sp.tanh(sp.Rational(slope) * z))
    etas = funk_hecke.coefficients(f.pieces, -1, dimension, degree + 1, TOLERANCE)
    moved = funk_hecke.coefficients(times.pieces, 1, dimension, degree, TOLERANCE)[degree]
    with ball.precision(funk_hecke.working_bits(dimension, degree, TOLERANCE)):
        before = degree * etas[degree - 1] if degree else arb(0)
        if degree == 0:
            assert (moved - etas[1]).contains(0)
        else:
            assert (
                moved * (2 * degree + dimension - 2) - (degree + dimension - 2) * etas[degree + 1] - before
            ).contains(0)


@pytest.mark.parametrize("power", [4, 12, 24])
def test_large_dimensions(power):
    """tanh t = t - t^3/3 + 2 t^5/15: E[t tanh t] and the next by the moments of t, exactly up to the order left out."""
    d = 10**power
    found = sphere.eigenvalues(nonlinearity("tanh"), d, 3)
    first = sp.Rational(1, d) - sp.Rational(1, d * (d + 2)) + sp.Rational(2, d * (d + 2) * (d + 4))
    assert abs(sp.Rational(found[1].eta.value.numerator, found[1].eta.value.denominator) - first) < 17 * sp.Rational(
        1, d**4
    )
    assert found[1].value.reaches(14)
    assert (found[0].eta.value, found[2].eta.error) == (0, 0)
    third = -2 * sp.Rational(1, d**3)  # -(1/3) E[t^3 P_3] = -(1/3) 6/(d^3 + ...)
    assert float(found[3].eta) == pytest.approx(float(third), rel=60 / d)
    assert found[3].value.reaches(14)
    assert float(sphere.second_moment(nonlinearity("tanh"), d)) == pytest.approx(1 / d, rel=3 / d)


def test_a_high_degree_beside_a_large_dimension():
    """Far below any fixed tolerance: eta_59 of tanh in dimension 10^4 is 1e-190, to fifteen digits."""
    found = sphere.eigenvalues(nonlinearity("tanh"), 10_000, 59)
    assert all(x.eta.reaches(15) or x.eta.value == 0 for x in found)
    ratio = found[59].eta.value / found[57].eta.value
    # Rodrigues: eta_l = E[f^(l)] in dimension d + 2l over d (d + 2) ... (d + 2l - 2), to leading order f^(l)(0)
    derivatives = [sp.diff(sp.series(sp.tanh(z), z, 0, 62).removeO(), z, n).subs(z, 0) for n in (57, 59)]
    leading = float(derivatives[1] / derivatives[0]) / (10_000 + 2 * 57) / (10_000 + 2 * 58)
    assert float(ratio) == pytest.approx(leading, rel=0.2)


@pytest.mark.parametrize(
    ("text", "zeros", "first"),
    [
        ("gelu", (3, 5, 7), "1/2"),
        ("silu", (3, 5), "1/2"),
        ("softplus", (3, 5), "1/2"),
        ("sigmoid", (2, 4), "0"),
        ("Phi", (0 + 2, 6), "0"),
    ],
)
def test_exact_zeros_of_a_closed_half(text, zeros, first):
    """gelu = z/2 + even, sigmoid = 1/2 + odd: zeros that no enclosure could show are exact, and printed as 0."""
    found = sphere.eigenvalues(nonlinearity(text), 10, 7, sp.Rational(3, 2))
    for degree in zeros:
        assert (found[degree].eta.value, found[degree].eta.error) == (0, 0)
        assert found[degree].eta.value_string(15) == "0"
    if first != "0":
        assert float(found[1].eta) == pytest.approx(float(sp.Rational(first)) * 1.5 / 10, rel=1e-14)
    else:
        assert float(found[0].eta) == pytest.approx(0.5, rel=1e-14)
    whole = scaled(nonlinearity(text), sp.Rational(3, 2), bounded=True)
    for degree in (0, 1, 2, 3):  # the halves are those of the function
        single = sphere._one_integral(whole, 10, degree, 12)
        assert abs(found[degree].eta.value - single.value) <= found[degree].eta.error + single.error


@given(st.integers(2, 30), st.integers(0, 30))
def test_multiplicities_one_after_the_other(dimension, degree):
    assert sphere.multiplicities(dimension, degree) == [sphere.multiplicity(dimension, l) for l in range(degree + 1)]
