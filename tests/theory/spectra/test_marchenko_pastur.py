"""R1, symbolically: the law's transforms, moments and distribution function against each other."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import c, sigma2, w, x
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.spectra import marchenko_pastur as mp

RATIOS = [sp.Rational(1, 4), sp.Rational(1, 2), sp.Integer(1), sp.Integer(2), sp.Integer(4)]


def test_the_root_solves_the_equation():
    equation = mp.stieltjes_equation()
    residual = (equation.lhs - equation.rhs).subs(m, mp.stieltjes())
    a, b = mp.edges()
    root = sp.Symbol("root")
    residual = residual.subs(sp.sqrt(w - a) * sp.sqrt(w - b), root)
    assert sp.simplify(sp.expand(residual).subs(root**2, sp.expand((w - a) * (w - b)))) == 0


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_edges_are_the_zeros_of_the_discriminant(ratio):
    scale = sp.Rational(7, 3)
    equation = mp.stieltjes_equation(ratio, scale)
    zeros = sp.roots(sp.discriminant(equation.lhs, m), w)
    found = sorted((z for z, k in zeros.items() for _ in range(k)), key=float)
    assert all(sp.simplify(f - e) == 0 for f, e in zip(found, mp.edges(ratio, scale), strict=True))


@pytest.mark.parametrize("order", range(1, 7))
def test_moments_are_the_expansion_of_the_stieltjes_transform_at_infinity(order):
    # Second route: iterate m = -1/(w - ...) as a power series in t = 1/w, from the quadratic alone.
    t = sp.Symbol("t")
    g = sp.Integer(0)  # g = -w m = sum_k moment_k t^k solves g = 1 + t sigma2 (c g^2 + (1 - c) g)
    for _ in range(order + 1):
        g = sp.series(1 + t * sigma2 * (c * g**2 + (1 - c) * g), t, 0, order + 1).removeO()
    assert sp.expand(g.coeff(t, order) - mp.moment(order)) == 0


def test_low_moments():
    assert sp.expand(mp.moment(3, c, sp.Integer(1)) - (1 + 3 * c + c**2)) == 0
    assert mp.moment(0) == 1
    assert sp.expand(mp.moment(2) - mp.moment(1) ** 2 - c * sigma2**2) == 0


@pytest.mark.parametrize("order", range(1, 6))
def test_cumulants_give_moments_through_non_crossing_partitions(order):
    # Moment-cumulant formula by Lagrange inversion: moment_n = [z^n] (C(z))^(n+1)/(n+1), C = 1 + sum kappa_k z^k.
    t = sp.Symbol("t")
    series = 1 + sum(mp.free_cumulant(k) * t**k for k in range(1, order + 1))
    moment = sp.expand(series ** (order + 1)).coeff(t, order) / (order + 1)
    assert sp.expand(moment - mp.moment(order)) == 0


def test_r_transform_inverts_the_cauchy_transform():
    # The equation at w -> R(t) + 1/t, m = -t must hold identically.
    t = sp.Symbol("t")
    equation = mp.stieltjes_equation()
    z = mp.r_transform().subs(w, t) + 1 / t
    assert sp.simplify(equation.lhs.subs({w: z, m: -t})) == 0


def test_s_transform_inverts_the_r_transform():
    t = sp.Symbol("t")
    u = t * mp.s_transform().subs(w, t)
    assert sp.simplify(u * mp.r_transform().subs(w, u) - t) == 0


def test_free_cumulants_are_the_series_of_the_r_transform():
    series = sp.series(mp.r_transform(), w, 0, 5).removeO()
    assert all(sp.expand(series.coeff(w, k) - mp.free_cumulant(k + 1)) == 0 for k in range(5))


@pytest.mark.parametrize("ratio", RATIOS)
def test_mass_mean_and_distribution_function(ratio):
    scale = sp.Rational(3, 2)
    lower, upper = (mpmath.mpf(sp.N(e, 30)) for e in mp.edges(ratio, scale))
    density = sp.lambdify(x, mp.density(ratio, scale).args[0][0], "mpmath")
    with mpmath.workdps(30):
        # x = lower + span sin^2(t/2) removes the square roots at the edges.
        def mean(f, until=mpmath.pi):
            def integrand(t):
                point = lower + (upper - lower) * mpmath.sin(t / 2) ** 2
                return f(point) * density(point) * (upper - lower) * mpmath.sin(t) / 2

            return mpmath.quad(integrand, [0, until / 2, until])

        atom = mpmath.mpf(sp.N(mp.atom(ratio), 30))
        assert abs(mean(lambda _: 1) + atom - 1) < 1e-20
        assert abs(mean(lambda v: v) - 1.5) < 1e-20
        middle = sp.Rational(1, 3)  # a point of the bulk given by its angle
        point = lower + (upper - lower) * mpmath.sin(mpmath.pi / 6) ** 2
        closed = sp.N(mp.cdf(ratio, scale).subs(x, sp.Float(point, 30)), 25)
        assert abs(atom + mean(lambda _: 1, mpmath.pi * mpmath.mpf(middle.p) / middle.q) - closed) < 1e-18


def test_the_singular_values_of_a_square_matrix_follow_the_quarter_circle():
    quarter = mp.singular_value_density(sp.Integer(1), sp.Integer(1)).subs(x, sp.Rational(6, 5))
    assert sp.simplify(quarter - sp.sqrt(4 - sp.Rational(36, 25)) / sp.pi) == 0


def test_the_companion_has_the_other_ratio():
    # (1/n) Z Z^T = (p/n) (1/p) Z Z^T: ratio 1/c, scale c sigma2.
    point = {c: sp.Rational(1, 3), sigma2: 2, w: sp.Rational(1, 2) + 2 * sp.I}
    other = mp.stieltjes(1 / c, c * sigma2)
    assert abs(sp.N((mp.companion(mp.stieltjes()) - other).subs(point), 30)) < 1e-25


@pytest.mark.parametrize("order", [-1, 1.0, True, "2"])
def test_orders_that_are_none(order):
    with pytest.raises(InputError):
        mp.moment(order)
    with pytest.raises(InputError):
        mp.free_cumulant(order)
