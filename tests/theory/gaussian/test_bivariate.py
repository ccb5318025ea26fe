"""The bivariate normal cdf and the truncated moments against SciPy and against Monte-Carlo-free identities."""

import math

import numpy as np
import pytest
import scipy.stats
import sympy as sp

from bulkedge.theory.gaussian.bivariate import Cut, Pair, Phi2, moment, normal_cdf
from bulkedge.theory.numbers.ball import enclose_expr

POINTS = [
    (sp.Rational(1, 2), sp.Rational(-1, 3), sp.Rational(99, 100)),
    (sp.Rational(-2), sp.Rational(1, 7), sp.Rational(-3, 5)),
    (sp.Rational(0), sp.Rational(1, 2), sp.Rational(1, 4)),
    (sp.Rational(-1), sp.Rational(-1), sp.Rational(-9, 10)),
]


@pytest.mark.parametrize(("h", "k", "r"), POINTS)
def test_against_scipys_own_integration(h, k, r):
    law = scipy.stats.multivariate_normal([0, 0], [[1, float(r)], [float(r), 1]], allow_singular=False)
    # SciPy's tolerance is 1e-8 absolute by default; its bivariate routine is better than that.
    assert float(Phi2(h, k, r).evalf()) == pytest.approx(law.cdf([float(h), float(k)]), abs=2e-8)


@pytest.mark.parametrize(("h", "k", "r"), POINTS)
def test_ball_and_mpmath_agree_to_25_digits(h, k, r):
    ball = enclose_expr(Phi2(h, k, r), 30)
    assert abs(sp.Rational(ball.value.numerator, ball.value.denominator) - Phi2(h, k, r).evalf(30)) < sp.Float("1e-25")


def test_special_values():
    h = sp.Rational(1, 3)
    assert Phi2(0, 0, sp.Rational(1, 2)) == sp.Rational(1, 3)
    assert Phi2(h, sp.oo, sp.Rational(1, 2)) == normal_cdf(h)
    assert Phi2(h, -sp.oo, sp.Rational(1, 2)) == 0
    assert Phi2(h, 1, 0) == normal_cdf(h) * normal_cdf(sp.Integer(1))
    assert Phi2(h, 1, 1) == normal_cdf(h)
    assert sp.N(Phi2(h, 1, -1) - (normal_cdf(h) + normal_cdf(sp.Integer(1)) - 1)) == pytest.approx(0, abs=1e-14)
    assert Phi2(sp.Integer(1), h, sp.Rational(1, 2)) == Phi2(h, sp.Integer(1), sp.Rational(1, 2))


def test_owens_t():
    h, r = sp.Rational(2, 3), sp.Rational(-1, 4)
    t = scipy.special.owens_t(2 / 3, math.sqrt((1 + 0.25) / (1 - 0.25)))
    assert float(Phi2(h, h, r).evalf()) == pytest.approx(float(normal_cdf(h)) - 2 * t, abs=1e-15)


@pytest.mark.parametrize("argument", [1, 2, 3])
def test_derivatives_against_differences(argument):
    at = [sp.Rational(1, 3), sp.Rational(-1, 2), sp.Rational(2, 5)]
    x = sp.symbols("h k r")
    slope = sp.diff(Phi2(*x), x[argument - 1]).subs(dict(zip(x, at, strict=True))).evalf(20)
    step = sp.Rational(1, 10**8)
    up, down = ([a + s * step * int(i == argument - 1) for i, a in enumerate(at)] for s in (1, -1))
    assert float(slope) == pytest.approx(float((Phi2(*up).evalf(40) - Phi2(*down).evalf(40)) / (2 * step)), abs=1e-14)


@pytest.mark.parametrize(
    ("i", "j", "a", "b"),
    [
        (0, 0, -1, 2),
        (1, 0, 0, 0),
        (1, 1, -1, 1),
        (0, 3, 2, -1),
        (3, 2, -4, 5),
        (2, 1, 3, -3),
        (3, 3, 5, -6),
        (1, 2, 0, 2),
    ],
)
def test_moments_with_cuts_against_quadrature(i, j, a, b):
    a, b = sp.Rational(a, 3), sp.Rational(b, 3)
    q11, q12, q22 = sp.Rational(7, 10), sp.Rational(-2, 5), sp.Rational(19, 10)
    zero = sp.Integer(0)
    pair = Pair(zero, zero, q11, q12, q22, Cut(q11, q12, q11, a), Cut(q12, q22, q22, b), q12)
    x, w = np.polynomial.legendre.leggauss(120)
    reach_u, reach_v = 9 - float(a), 13 - float(b)
    u, wu = float(a) + (x + 1) * reach_u / 2, w * reach_u / 2
    v, wv = float(b) + (x + 1) * reach_v / 2, w * reach_v / 2
    det = float(q11 * q22 - q12**2)
    form = float(q22) * u[:, None] ** 2 - 2 * float(q12) * u[:, None] * v + float(q11) * v**2
    density = np.exp(-form / (2 * det)) / (2 * np.pi * math.sqrt(det))
    expected = (wu * u**i) @ density @ (wv * v**j)
    assert float(moment(i, j, pair).evalf()) == pytest.approx(expected, abs=1e-10, rel=1e-10)
