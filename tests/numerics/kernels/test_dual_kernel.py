"""The compiled kernels against balls, Owen's T form of the bivariate cdf, and the truncated series."""

import numpy as np
import pytest
import scipy.stats
import sympy as sp

from bulkedge.numerics.kernels.dual_kernel import affine, bivariate_cdf, closed_form, scale_coefficients, series
from bulkedge.numerics.kernels.kernel_entries import curve
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.bivariate import Phi2
from bulkedge.theory.gaussian.hermite import coefficients
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.errors import ConvergenceError

NAMES = ["relu", "gelu", "elu", "relu(z - 1/3)", "hard_tanh", "step(z + 1/2)", "sin(2*z)", "erf(z/2)", "relu(z)**3"]


@pytest.mark.parametrize("name", NAMES)
def test_compiled_form_is_the_closed_form(name):
    f = nonlinearity(name)
    kernel = closed_form(f, f)
    for s2, r, t2 in (("7/10", "3/10", "19/10"), ("2", "-9/10", "1/3"), ("1", "999999/1000000", "1")):
        q11, rho, q22 = map(sp.Rational, (s2, r, t2))
        exact = value(f, q11, rho * sp.sqrt(q11 * q22), q22)
        s, t, c = (np.array([float(sp.sqrt(x))]) for x in (q11, q22, 1 - rho**2))
        assert kernel(s, t, np.array([float(rho)]), c)[0] == pytest.approx(float(exact), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(
    ("h", "k", "expected"), [(-1e-190, -1e-190, 0.25), (1e-190, -1e-190, 0.25), (0.0, -1e-300, 0.25)]
)
def test_bivariate_cdf_where_a_product_underflows(h, k, expected):
    assert bivariate_cdf(np.array([h]), np.array([k]), np.array([0.0]))[0] == pytest.approx(expected, abs=1e-15)


def test_bivariate_cdf():
    rng = np.random.default_rng(3)
    h, k, r = rng.uniform(-3, 3, 40), rng.uniform(-3, 3, 40), rng.uniform(-1, 1, 40)
    h[:4], k[2:6] = 0, 0
    exact = [float(Phi2(*map(sp.Rational, map(str, x))).evalf(20)) for x in zip(h, k, r, strict=True)]
    np.testing.assert_allclose(bivariate_cdf(h, k, r), exact, atol=3e-15)
    same = bivariate_cdf(h, h, np.ones(40))
    np.testing.assert_allclose(same, scipy.stats.norm.cdf(h), atol=1e-15)
    np.testing.assert_allclose(
        bivariate_cdf(h, k, -np.ones(40)), np.maximum(0, scipy.stats.norm.cdf(h) - scipy.stats.norm.cdf(-k)), atol=1e-15
    )


def test_affine_keeps_its_digits_next_to_one():
    r = 1 - 2.0**-52
    assert affine(np.array(0.3), np.array(-0.3), np.array(r)) == pytest.approx(-0.3 * 2.0**-52, rel=1e-15)
    assert affine(np.array(0.3), np.array(0.3), np.array(-r)) == pytest.approx(0.3 * 2.0**-52, rel=1e-15)


@pytest.mark.parametrize("name", ["tanh", "softplus", "silu"])
def test_series_against_the_enclosure(name):
    f = nonlinearity(name)
    r = np.array([-0.9, -0.3, 0.5, 0.99])
    found = curve(f, r, 1.5, 0.5, tolerance=1e-12)
    for x, got in zip(r, found, strict=True):
        q = sp.Rational(9, 4), sp.Rational(str(x)) * sp.Rational(3, 4), sp.Rational(1, 4)
        assert got == pytest.approx(float(value(f, *q, 13)), rel=1e-11, abs=1e-13)


def test_coefficients_at_scale_one_are_the_theorys():
    a, second = scale_coefficients(nonlinearity("relu"), np.ones(2), 12)
    exact = [float(c.enclosure) for c in coefficients(nonlinearity("relu"), 12)]
    np.testing.assert_allclose(a, [exact, exact], atol=1e-14)
    np.testing.assert_allclose(second, 0.5, rtol=1e-14)


def test_a_slow_series_is_refused():
    f = nonlinearity("Abs(tanh(z))")
    with pytest.raises(ConvergenceError, match="nearly parallel"):
        series(f, f, np.ones(1), np.ones(1), 1.0, 1e-12)
