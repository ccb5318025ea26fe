"""Dual kernels in closed form: against two-dimensional quadrature, their own series, and their expansion at one."""

import functools
import itertools
import math

import numpy as np
import pytest
import scipy.special
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.gaussian import moment
from bulkedge.theory.kernels.kernel import (
    at_correlation_one,
    coefficient,
    dual,
    dual_of_correlation,
    e,
    expansion_at_one,
    scaled,
)
from bulkedge.theory.numbers.ball import enclose_expr
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import k, q11, q12, q22, rho, z

CLOSED = [
    "relu", "leaky_relu(z, 1/5)", "abs", "sign", "step", "erf", "erf(13*z/10 + 1/5)", "Phi", "gelu", "sin(2*z + 1)",
    "cos", "exp(z/2)", "gaussian", "z**3 - z", "He(4, z)", "relu(z - 1/3)", "step(z + 1/2)", "hard_tanh", "relu6",
    "elu", "exp(z/3)*sin(z)",
    "z*sin(2*z)", "exp(-z**2)*cos(z)", "z**2*erf(z)", "exp(z/2)*relu(z)", "z*relu(z) + He(2, z)/2", "Abs(z - 1/2)",
    "Heaviside(z) - Heaviside(z - 1)", "sinh(z/2)",
]  # fmt: skip
COVARIANCES = [
    (sp.Rational(7, 10), sp.Rational(2, 5), sp.Rational(19, 10)),
    (sp.Rational(3, 2), sp.Rational(-4, 5), sp.Rational(1, 2)),
]


def quadrature(f, g, a, b, c):
    """E[f(u) g(v)] by a tensor Gauss-Legendre rule in (u, v), split at the kinks."""
    x, w = np.polynomial.legendre.leggauss(24)

    def nodes(h, sd):
        cuts = sorted({*np.linspace(-9.5, 9.5, 32) * sd, *(float(t) for t in h.kinks)})
        points, weights = [], []
        for low, high in itertools.pairwise(cuts):
            t = (low + high) / 2 + (high - low) / 2 * x
            piece = next(p for p in h.pieces if p.upper == sp.oo or float(p.upper) > (low + high) / 2)
            values = sp.lambdify(z, piece.expr, "scipy")(t)
            points.append(t)
            weights.append(w * (high - low) / 2 * values)
        return np.concatenate(points), np.concatenate(weights)

    (u, wu), (v, wv) = nodes(f, math.sqrt(a)), nodes(g, math.sqrt(c))
    det = a * c - b * b
    density = np.exp(-(c * u[:, None] ** 2 - 2 * b * u[:, None] * v + a * v**2) / (2 * det))
    return float(wu @ density @ wv) / (2 * math.pi * math.sqrt(det))


@functools.cache
def at(text, q):
    return dual(nonlinearity(text)).subs(dict(zip((q11, q12, q22), q, strict=True)))


@pytest.mark.parametrize("q", COVARIANCES)
@pytest.mark.parametrize("text", CLOSED)
def test_closed_form_against_quadrature(text, q):
    f = nonlinearity(text)
    expected = quadrature(f, f, *map(float, q))
    assert float(enclose_expr(at(text, q), 15)) == pytest.approx(expected, rel=2e-11, abs=2e-12)


@pytest.mark.parametrize(
    ("first", "second"), [("relu", "He(3, z)"), ("gelu", "sin(2*z)"), ("step(z - 1/3)", "erf"), ("elu", "relu")]
)
def test_cross_kernels_against_quadrature(first, second):
    f, g = nonlinearity(first), nonlinearity(second)
    for q in COVARIANCES:
        value = dual(f, g).subs(dict(zip((q11, q12, q22), q, strict=True)))
        assert float(enclose_expr(value, 15)) == pytest.approx(quadrature(f, g, *map(float, q)), rel=2e-11, abs=2e-12)


@pytest.mark.parametrize("text", ["tanh", "sigmoid", "softplus", "erf(z)**2", "relu(z)*erf(z)", "1/(1 + z**2)"])
def test_functions_without_a_closed_form(text):
    assert dual(nonlinearity(text)) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("relu", "0.30449889052211"), ("sign", "0.33333333333333"), ("erf", "0.21634689593879"),
        ("gelu", "0.22729491502199"), ("abs", "0.71799556208846"),
    ],
)  # fmt: skip
def test_values_of_other_programs_at_one_half(text, value):
    kernel = dual_of_correlation(nonlinearity(text)).subs(rho, sp.Rational(1, 2))
    assert float(kernel) == pytest.approx(float(value), abs=1e-14)


def test_values_of_neural_tangents_at_unequal_variances():
    q = dict(zip((q11, q12, q22), COVARIANCES[0], strict=True))
    erf = dual(nonlinearity("13/10*erf(7*z/10) + 1/5")).subs(q)
    assert float(erf.evalf()) == pytest.approx(0.23302863064374, abs=1e-13)
    assert float(dual(nonlinearity("gelu")).subs(q).evalf()) == pytest.approx(0.20767108548122, abs=1e-13)


@pytest.mark.parametrize(
    "text", ["relu", "leaky_relu", "abs", "sign", "step", "erf", "Phi", "gelu", "sin", "cos", "exp", "z**3 - z"]
)
def test_closed_form_is_the_series_exactly(text):
    f = nonlinearity(text)
    series = sp.series(dual_of_correlation(f), rho, 0, 13).removeO()
    for degree in range(13):
        exact = moment(f, degree) ** 2 / sp.factorial(degree)
        assert sp.simplify(sp.expand(series).coeff(rho, degree) - exact) == 0


@pytest.mark.parametrize("text", ["gaussian", "relu(z - 1/3)", "z*sin(2*z)", "erf(z + 1/2)"])
def test_closed_form_is_the_series_to_thirty_digits(text):
    # Taylor coefficients by a Cauchy sum on a circle inside the disc of convergence, where aliasing is 4^-40 and less.
    import mpmath

    f = nonlinearity(text)
    kernel = sp.lambdify(rho, dual_of_correlation(f).replace(lambda x: x.func.__name__ == "Phi2", _integral), "mpmath")
    with mpmath.workdps(30):
        points = [mpmath.expjpi(2 * mpmath.mpf(j) / 64) / 4 for j in range(64)]
        values = [kernel(x) for x in points]
        for degree in range(7):
            found = sum(v * x**-degree for v, x in zip(values, points, strict=True)) / 64
            exact = (moment(f, degree) ** 2 / sp.factorial(degree)).evalf(30)
            assert abs(found - mpmath.mpf(str(exact))) < 1e-20


def _integral(call):
    """Phi2 by its defining integral, so that it can be continued to complex correlations."""
    h, k_, r = call.args
    t = sp.Dummy("t")
    inner = sp.exp(-(h**2 + k_**2 - 2 * t * r * h * k_) / (2 * (1 - (t * r) ** 2))) / sp.sqrt(1 - (t * r) ** 2)
    if h.has(rho) or k_.has(rho):  # the thresholds move with rho too, and the formula holds all the same
        pass
    product = (1 + sp.erf(h / sp.sqrt(2))) * (1 + sp.erf(k_ / sp.sqrt(2))) / 4
    return product + r * sp.Integral(inner, (t, 0, 1)) / (2 * sp.pi)


@pytest.mark.parametrize("text", ["relu", "abs", "step", "gelu", "relu(z - 1/3)", "elu", "z*sin(2*z)"])
def test_general_term(text):
    f = nonlinearity(text)
    general = coefficient(f)
    for degree in range(9):
        exact = moment(f, degree) ** 2 / sp.factorial(degree)
        assert float(general.subs(k, degree).doit()) == pytest.approx(float(exact), rel=1e-13, abs=1e-15)
        assert float(exact) >= 0


@pytest.mark.parametrize(
    ("text", "order"),
    [("relu", 3), ("step", 3), ("relu(z)**2", 4), ("relu(z - 1/3)", 3), ("hard_tanh", 2), ("elu", 3), ("gelu", 3),
     ("sin", 3), ("relu(z - 1/3)**2 + z**2*sign(z)", 3)],
)  # fmt: skip
def test_expansion_at_one(text, order):
    f = nonlinearity(text)
    expansion, kernel = expansion_at_one(f, order), dual_of_correlation(f)
    gaps = [
        abs((expansion.subs(e, x) - kernel.subs(rho, 1 - x)).evalf(40, maxn=400))
        for x in (sp.Rational(1, 10**3), sp.Rational(1, 10**5))
    ]
    # The first term left out is of order e^(order + 1/2) at least.
    assert gaps[0] < 10 * sp.Float(10) ** (-3 * (order + sp.Rational(1, 2)))
    assert gaps[1] < gaps[0] * sp.Float(10) ** (-2 * order)


def test_expansion_of_relu_and_the_kink_rule():
    expected = sp.Rational(1, 2) - e / 2 + sp.sqrt(2) * e ** sp.Rational(3, 2) / (3 * sp.pi)
    expected += sp.sqrt(2) * e ** sp.Rational(5, 2) / (60 * sp.pi)
    assert sp.expand(expansion_at_one(nonlinearity("relu"), 3) - expected) == 0
    shifted = expansion_at_one(nonlinearity("relu(z - 1/3)"), 2)
    rule = sp.sqrt(2) * sp.exp(-sp.Rational(1, 18)) / (3 * sp.pi)
    y = sp.Symbol("y", positive=True)
    found = sp.expand(sp.expand(shifted).subs(e, y**2)).coeff(y, 3)
    assert sp.simplify(found - rule) == 0


@settings(max_examples=25, deadline=None)
@given(st.fractions(-1, 1, max_denominator=50).filter(lambda x: abs(x) < 1))
def test_a_kernel_is_at_most_its_value_at_one_and_at_least_its_mirror(r):
    f = nonlinearity("relu(z) - 2*step(z) + exp(z/2)")
    kernel = dual_of_correlation(f)
    value, mirror = (float(kernel.subs(rho, s * sp.Rational(r.numerator, r.denominator)).evalf()) for s in (1, -1))
    top = float(at_correlation_one(f, f))
    # All Taylor coefficients are squares, so the even part dominates and the value at one bounds both.
    assert max(abs(value), abs(mirror)) <= top * (1 + 1e-12)
    assert value + mirror >= 2 * float(kernel.subs(rho, 0).evalf()) * (1 - 1e-12)


def test_kernel_of_a_sum_is_the_double_sum():
    f, g = nonlinearity("relu"), nonlinearity("sin(2*z)")
    together = nonlinearity("3*relu(z) - sin(2*z)/2")
    parts = 9 * dual_of_correlation(f) - sp.Rational(3, 2) * (dual_of_correlation(f, g) + dual_of_correlation(g, f))
    parts += dual_of_correlation(g) / 4
    for r in (sp.Rational(1, 3), sp.Rational(-4, 5)):
        assert float((dual_of_correlation(together) - parts).subs(rho, r)) == pytest.approx(0, abs=1e-14)


def test_scaling():
    f = nonlinearity("relu(z - 1/3)")
    q = (sp.Rational(9, 4), sp.Rational(-3, 4), sp.Rational(9, 4))
    direct = at("relu(z - 1/3)", q)
    moved = dual_of_correlation(scaled(f, sp.Rational(3, 2))).subs(rho, sp.Rational(-1, 3))
    assert float(direct - moved) == pytest.approx(0, abs=1e-15)
    mirrored = scaled(f, sp.Integer(-1))
    assert mirrored.pieces[0].expr == -z - sp.Rational(1, 3)
    assert mirrored.kinks == (-sp.Rational(1, 3),)
    with pytest.raises(InputError, match="scale 2"):
        scaled(nonlinearity("exp(z**2/5)"), sp.Integer(2))


def test_owens_t_form_of_the_shifted_step():
    b, r = 0.5, -0.3
    kernel = dual_of_correlation(nonlinearity("step(z - 1/2)")).subs(rho, sp.Rational(-3, 10))
    expected = scipy.special.ndtr(-b) - 2 * scipy.special.owens_t(b, math.sqrt((1 - r) / (1 + r)))
    assert float(kernel.evalf()) == pytest.approx(expected, abs=1e-15)
