"""Two precisions of every special-function path: 16 digits against 40, and floats against 40 digits.

An enclosure at 16 digits must overlap the one at 40; a float must be as near to it as it says.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb

from bulkedge.numerics.functions.functions import constants, gauss_expectation, vectorised
from bulkedge.numerics.kernels.dual_kernel import bivariate_cdf
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw
from bulkedge.numerics.spectra.spike import covariance, rectangular, wishart
from bulkedge.numerics.spectra.tracy_widom import cdf, sf
from bulkedge.theory.functions.catalogue import CATALOGUE
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.bivariate import Phi2
from bulkedge.theory.gaussian.gaussian import enclose
from bulkedge.theory.kernels import sphere
from bulkedge.theory.kernels.arc_cosine import arc_cosine
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.ball import bits, enclose_expr, precision
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import PrecisionError
from bulkedge.theory.numbers.symbols import c, ell, psi, rho, sigma2, theta, x, z, zeta
from bulkedge.theory.spectra import marchenko_pastur, silverstein, spike

LOW, HIGH = 16, 40
NAMES = (*CATALOGUE, "Max(z - 1/3, 0)", "z**3*tanh(2*z)", "He(5, z) + sin(3*z)")


def two_precisions(path: Callable[[int], Enclosure]) -> Enclosure:
    """The value at 40 digits, after asserting that the one at 16 is consistent with it and that each is honest."""
    found, missed = [], False
    for digits in (LOW, HIGH):
        try:
            found.append(path(digits))
        except PrecisionError as error:
            found.append(error.best)
            missed = True
    low, high = found
    assert not missed or high.contains(0)  # only a zero has no relative precision: its ball must say so
    assert abs(low.value - high.value) <= low.error + high.error
    assert high.error <= Fraction(1, 10**HIGH) * max(abs(high.value), 1)
    return high


@pytest.mark.parametrize("name", NAMES)
def test_hermite_moments(name: str) -> None:
    f = nonlinearity(name)
    for k in (0, 1, 2, 7):
        high = two_precisions(functools.partial(enclose, f, k=k))
        he = np.polynomial.hermite_e.HermiteE.basis(k)
        smooth = gauss_expectation(lambda t, he=he: vectorised(f)(t) * he(t), [float(b) for b in f.kinks])
        # the quadrature's 1e-14 relative to the size of the integrand, which is at most a few hundred here
        assert abs(smooth - float(high)) < 3e-12


@pytest.mark.parametrize("name", NAMES)
def test_floats_of_functions(name: str) -> None:
    """Values on a grid that reaches the tails: relative, or absolute where the formula subtracts (1/2 + erf/2)."""
    f = nonlinearity(name)
    for point in ("-38", "-37/3", "-2", "-1/3", "-1e-9", "1e-300", "1/7", "3/2", "17/3", "30"):
        at = sp.Rational(point)
        expr = next(p.expr for p in f.pieces if p.lower < at <= p.upper)
        high = two_precisions(functools.partial(enclose_expr, expr.subs(z, at)))
        got = float(vectorised(f)(np.array([float(at)]))[0])
        assert np.isfinite(got)
        # the argument's rounding times the condition number (|z| of exp), and a few units of the terms subtracted
        size = abs(float(at))
        assert abs(got - float(high)) <= 4e-15 * max(abs(float(high)) * max(1, size), 0.05 * max(1, size))


@pytest.mark.parametrize("name", ["relu", "gelu", "erf", "sign", "sin", "gaussian", "tanh", "softplus", "relu6", "elu"])
@pytest.mark.parametrize("q", [("1", "1/3", "1"), ("7/10", "-2/5", "19/10"), ("1", "1", "1"), ("1", "-1", "1")])
def test_kernels(name: str, q: tuple[str, str, str]) -> None:
    f = nonlinearity(name)
    covariances = [sp.Rational(v) for v in q]
    closed = name in {"relu", "gelu", "erf", "sign", "sin", "gaussian"}
    if not closed and abs(covariances[1]) != 1:
        # two-dimensional enclosures: the 16 digits asked for first are what the path offers
        low = value(f, *covariances, 10)
        high = value(f, *covariances, 14)
        assert abs(low.value - high.value) <= low.error + high.error
        return
    two_precisions(lambda digits: value(f, *covariances, digits))


@pytest.mark.parametrize("dimension", [2, 3, 10, 1000])
@pytest.mark.parametrize("name", ["relu", "abs", "tanh", "exp"])
def test_sphere(name: str, dimension: int) -> None:
    f = nonlinearity(name)
    for degree in (0, 1, 2, 5):

        def path(digits: int, degree: int = degree) -> Enclosure:
            return sphere.eigenvalues(f, dimension, degree, digits=digits)[degree].eta

        low, high = path(LOW), path(HIGH)
        assert abs(low.value - high.value) <= low.error + high.error


SPECIAL = (
    *("erf(1/3)", "erfc(9)", "gamma(1/3)", "loggamma(100)", "loggamma(1/7)", "atan(10**6)", "acos(1/3)"),
    *("acos(1-10**(-12))", "exp(-300)", "log(1+10**(-15))", "sinh(1/1000)", "cosh(20)", "tanh(18)", "sqrt(2)"),
    *("sin(10**5)", "factorial2(21)"),
)


@pytest.mark.parametrize("text", SPECIAL)
def test_special_functions(text: str) -> None:
    """The balls against mpmath at 60 digits."""
    expr = sp.sympify(text, rational=True, evaluate=False)
    high = two_precisions(functools.partial(enclose_expr, expr))
    with mpmath.workdps(60):
        reference = sp.N(expr, 55)
    exact = Fraction(int(sp.Rational(reference).p), int(sp.Rational(reference).q))
    assert abs(high.value - exact) <= high.error + abs(exact) / 10**50


RATIOS = ("1/1000", "1/4", "99/100", "1", "101/100", "4", "1000")


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("scale", ["1", "7/3"])
def test_floats_of_marchenko_pastur(ratio: str, scale: str) -> None:
    """Density and distribution function against their formulas at 40 digits."""
    law = MarchenkoPastur(float(sp.Rational(ratio)), float(sp.Rational(scale)))
    lower, upper = law.edges
    for share in (0.001, 0.2, 0.5, 0.9, 0.999):
        point = lower + share * (upper - lower)
        values = {c: sp.Rational(law.ratio), sigma2: sp.Rational(law.scale), x: sp.Rational(point)}
        for formula, got in ((marchenko_pastur.density(), law.pdf(point)), (marchenko_pastur.cdf(), law.cdf(point))):
            high = float(formula.subs(values).evalf(HIGH))
            # a point's rounding is worth eps * upper/distance to the nearest edge, where the law is a power of it
            distance = min(share, 1 - share) * (upper - lower)
            assert abs(float(got) - high) <= 4e-15 * upper / distance * max(abs(high), 1e-3)


@pytest.mark.parametrize("ratio", ["1/1000", "1/4", "1", "4", "1000"])
def test_floats_of_spikes(ratio: str) -> None:
    """Outliers and overlaps against their formulas at 40 digits, just above and far above the threshold."""
    models = (
        (rectangular, spike.RECTANGULAR, theta, psi),
        (covariance, spike.COVARIANCE, ell, c),
        (wishart, spike.WISHART, zeta, c),
    )
    for make, law, strength, symbol in models:
        model = make(float(sp.Rational(ratio)))
        threshold = float(law.threshold.subs(symbol, sp.Rational(ratio)))
        for factor in (1.01, 2.0, 100.0, 1e6):
            at = threshold * factor
            values = {strength: sp.Rational(at), symbol: sp.Rational(model.ratio)}
            position = float(law.outlier.subs(values).evalf(HIGH))
            assert float(model.outlier(at)) == pytest.approx(position, rel=1e-13)
            for name, formula in law.overlaps:
                # 1 - (a number near 1): the loss of digits is that of the small factor above the threshold
                expected = float(formula.subs(values).evalf(HIGH))
                assert float(model.overlap(name, at)) == pytest.approx(expected, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_hermite_constants_say_how_near_they_are(name: str) -> None:
    f = nonlinearity(name)
    found = constants(f)
    for k, got in ((0, found.mu0), (1, found.mu1), (2, found.curvature)):
        high = two_precisions(functools.partial(enclose, f, k=k))
        assert abs(got - float(high)) <= found.error + 1e-16 * abs(got)
    assert found.mu0**2 + found.mu1**2 + found.mu2**2 == pytest.approx(found.second_moment, rel=1e-12)


@pytest.mark.parametrize(("h", "k"), [("1/3", "-2"), ("-1", "-7/5"), ("2", "1/1000"), ("0", "3/2")])
@pytest.mark.parametrize("r", ["-3/10", "1/7", "4/5"])
def test_bivariate_normals(h: str, k: str, r: str) -> None:
    """Phi2 by its ball at 16 and 40 digits, and Owen's T in floats."""
    at = [sp.Rational(v) for v in (h, k, r)]
    high = two_precisions(functools.partial(enclose_expr, Phi2(*at)))
    got = float(bivariate_cdf(*(np.array([float(v)]) for v in at))[0])
    # the rounding of r = 1 - delta moves delta by eps/delta relatively, and the value by the root of that times c
    assert abs(got - float(high)) <= 4e-16 + 2e-16 / float(sp.sqrt(1 - at[2] ** 2))


@pytest.mark.parametrize("text", ["uppergamma(1/3, 2)", "lowergamma(5/2, 1/7)", "uppergamma(-1/2, 3)"])
def test_incomplete_gammas(text: str) -> None:
    expr = sp.sympify(text, rational=True, evaluate=False)
    high = two_precisions(functools.partial(enclose_expr, expr))
    assert float(high) == pytest.approx(float(expr.evalf(30)), rel=1e-14)


@pytest.mark.parametrize("p", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("at", ["-1+10**(-9)", "-1/3", "2/3", "1-10**(-9)"])
def test_arc_cosine_kernels(p: int, at: str) -> None:
    two_precisions(functools.partial(enclose_expr, arc_cosine(p).subs(rho, sp.sympify(at, rational=True))))


@pytest.mark.parametrize("ratio", ["1/10", "1", "7/2"])
def test_silverstein_edges(ratio: str) -> None:
    """Critical points and edges of a population of two atoms: algebraic numbers by balls, floats by their own root."""
    population = silverstein.Population((sp.Rational(1), sp.Rational(9, 2)), (sp.Rational(2, 3), sp.Rational(1, 3)))
    law = GeneralLaw(DiscretePopulation((1.0, 4.5), (2 / 3, 1 / 3)), float(sp.Rational(ratio)))
    low, high = (silverstein.enclose_edges(population, sp.Rational(ratio), digits) for digits in (LOW, HIGH))
    ends = [end for pair in high for end in pair]
    for one, two in zip([end for pair in low for end in pair], ends, strict=True):
        assert abs(one.value - two.value) <= one.error + two.error
        assert two.error <= Fraction(1, 10 ** (HIGH - 3))
    floats = [end for pair in law.edges for end in pair]
    assert [float(end) for end in ends] == pytest.approx(floats, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("beta", [1, 2])
@pytest.mark.parametrize("s", [-6.0, 3.0])
def test_tracy_widom(beta: int, s: float) -> None:
    """The Airy determinant in floats against the same at 40 digits on a grid of its own."""
    with mpmath.workdps(HIGH):
        count, length = 36, mpmath.mpf(14) - mpmath.mpf(s)
        roots, weights = _gauss_legendre(count)
        nodes = [length * (1 + x) / 2 for x in roots]
        scale = [mpmath.sqrt(length * w / 2) for w in weights]
        A = mpmath.matrix(count, count)
        for i in range(count):
            for j in range(i + 1):
                A[i, j] = A[j, i] = scale[i] * scale[j] * mpmath.airyai(nodes[i] + nodes[j] + mpmath.mpf(s))
        one = mpmath.eye(count)
        expected = mpmath.det(one - A) * (1 if beta == 1 else mpmath.det(one + A))
        assert float(cdf(s, beta)) == pytest.approx(float(expected), abs=1e-13)
        assert float(sf(s, beta)) == pytest.approx(float(1 - expected), rel=1e-9, abs=1e-13)


@functools.cache
def _gauss_legendre(count: int) -> tuple[list[mpmath.mpf], list[mpmath.mpf]]:
    """Nodes and weights on [-1, 1] at the working precision, by flint's Legendre roots."""
    with precision(bits(50)):
        found = [arb.legendre_p_root(count, k, weight=True) for k in range(count)]
    return tuple([mpmath.mpf(str(pair[i].str(45, radius=False))) for pair in found] for i in (0, 1))  # type: ignore[return-value]
