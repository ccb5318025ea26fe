"""The numeric law (R1) against its symbols, against quadrature, and against sampled matrices' laws."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import w, x
from bulkedge.theory.spectra import marchenko_pastur as theory

RATIOS = [1e-6, 0.01, 0.25, 0.5, 0.999999, 1.0, 1.0001, 2.0, 4.0, 1e5]
laws = st.builds(MarchenkoPastur, st.floats(-6, 6).map(lambda e: 10.0**e), st.floats(-3, 3).map(lambda e: 10.0**e))


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6])
def test_cdf_against_quadrature_to_1e_13(ratio, share):
    law = MarchenkoPastur(ratio, 1.7)
    lower, upper = law.edges
    point = lower + share * (upper - lower)
    with mpmath.workdps(30):
        root, scale = mpmath.sqrt(ratio), mpmath.mpf(1.7)
        t = 2 * mpmath.atan2(mpmath.sqrt(point - scale * (1 - root) ** 2), mpmath.sqrt(scale * (1 + root) ** 2 - point))
        nodes = mpmath.linspace(0, t, 4)
        mass = mpmath.quad(
            lambda u: 2 / mpmath.pi * mpmath.sin(u) ** 2 / ((1 - root) ** 2 + 4 * root * mpmath.sin(u / 2) ** 2), nodes
        )
        value = max(0, 1 - 1 / mpmath.mpf(ratio)) + mass
    assert abs(float(law.cdf(point)) - value) < 1e-13
    assert abs(float(law.sf(point)) - (1 - value)) < 1e-13
    if share <= 0.5:
        # Towards the lower edge the float of the point itself is the limit: its spacing over the distance to the edge.
        assert float(law.cdf(point) - law.atom) == pytest.approx(float(mass), rel=1e-12 + 1e-15 / share / min(ratio, 1))


@pytest.mark.parametrize("ratio", RATIOS)
def test_twin_of_the_symbols(ratio):
    law = MarchenkoPastur(ratio, 0.7)
    exact = sp.Rational(str(ratio)) if ratio >= 1e-3 else sp.Rational(1, 10**6)
    scale = sp.Rational(7, 10)
    lower, upper = (float(sp.N(e, 30)) for e in theory.edges(exact, scale))
    assert law.edges == pytest.approx((lower, upper), rel=1e-14)
    assert law.atom == pytest.approx(float(theory.atom(exact)), abs=1e-15)
    points = [lower + f * (upper - lower) for f in (0.01, 0.3, 0.8)]
    density = [float(sp.N(theory.density(exact, scale).subs(x, sp.Rational(p)), 20)) for p in points]
    cdf = [float(sp.N(theory.cdf(exact, scale).subs(x, sp.Rational(p)), 40)) for p in points]
    assert law.pdf(points) == pytest.approx(density, rel=1e-8 if ratio > 1e4 or ratio < 1e-4 else 1e-12)
    assert law.cdf(points) == pytest.approx(cdf, abs=1e-13)
    for order in range(6):
        assert law.moment(order) == pytest.approx(float(theory.moment(order, exact, scale)), rel=1e-13)
    for point in (sp.Rational(-1), sp.Rational(1, 3) + sp.I / 2, 9 - 4 * sp.I, sp.Integer(10) ** 9):
        value = complex(sp.N(theory.stieltjes(exact, scale).subs(w, point), 40))
        assert complex(law.stieltjes(complex(point))) == pytest.approx(value, rel=1e-11)


def test_stieltjes_branch():
    law = MarchenkoPastur(0.5)
    assert complex(law.stieltjes(1 + 0.3j)) == pytest.approx(-0.2678 + 1.1413j, abs=1e-4)
    assert complex(law.stieltjes(-1)) == pytest.approx(0.5615528128088303, abs=1e-15)  # (sqrt 17 - 3)/2
    # The one-root formula is on the wrong branch there: the control.
    a, b = law.edges
    z = -1 + 0j
    wrong = (0.5 - z + np.sqrt((z - a) * (z - b))) / z
    assert abs(wrong - law.stieltjes(z)) > 1


@pytest.mark.parametrize("ratio", [0.2, 1.0, 3.0])
def test_stieltjes_in_the_plane(ratio):
    law = MarchenkoPastur(ratio, 2.0)
    re, im = np.meshgrid(np.linspace(-3, 15, 37), [1e-9, 1e-3, 0.5, 10.0])
    upper = law.stieltjes(re + 1j * im)
    assert np.all(upper.imag > 0)
    assert np.allclose(law.stieltjes(re - 1j * im), upper.conj(), rtol=1e-12, atol=0)
    # On the bulk: the limit from above gives the density, whatever the sign of the zero imaginary part.
    points = np.linspace(*law.edges, 9)[1:-1]
    assert law.stieltjes(points).imag / np.pi == pytest.approx(law.pdf(points), rel=1e-12)
    assert np.array_equal(law.stieltjes(points - 0j), law.stieltjes(points))
    # Against the integral, quadrature in the angle.
    t, weight = np.polynomial.legendre.leggauss(400)
    t = np.pi * (1 + t) / 2
    a, b = law.edges
    lam = a + (b - a) * np.sin(t / 2) ** 2
    mass = law.pdf(lam) * (b - a) * np.sin(t) / 2 * np.pi / 2 * weight
    for z in (-1.0, 1 + 1j, b + 0.5, 30 - 2j):
        assert complex(law.stieltjes(z)) == pytest.approx(np.sum(mass / (lam - z)) - law.atom / z, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(laws, st.floats(0, 1))
def test_quantiles_invert(law, q):
    point = float(law.ppf(q))
    lower, upper = law.support()
    assert lower <= point <= upper
    if q <= law.atom:
        assert point == 0 or law.ratio <= 1
    else:
        # Near c = 1 the law is steep at 0, elsewhere a float's spacing at the point is what cdf can resolve.
        spacing = float(law.pdf(point)) * np.spacing(point)
        assert abs(float(law.cdf(point)) - q) <= 1e-13 + 4 * spacing


@settings(max_examples=60, deadline=None)
@given(laws, st.floats(0, 1), st.floats(0, 1))
def test_cdf_is_monotone_and_complements_sf(law, f, g):
    lower, upper = law.edges
    a, b = sorted(lower + (upper - lower) * s for s in (f, g))
    assert law.cdf(a) <= law.cdf(b) + 1e-15
    assert float(law.cdf(a) + law.sf(a)) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("ratio", [0.25, 1.0, 2.0])
def test_atom_everywhere(ratio):
    law = MarchenkoPastur(ratio, 3.0)
    atom = max(0, 1 - 1 / ratio)
    assert law.cdf(-1e-300) == 0
    assert law.cdf(0.0) == pytest.approx(atom)
    assert law.cdf(law.edges[0]) == pytest.approx(atom)
    assert law.cdf(law.edges[1]) == 1
    assert law.sf([-np.inf, np.inf]) == pytest.approx([1, 0])
    assert law.pdf(0.0) == 0
    draws = law.rvs(4000, random_state=np.random.default_rng(3))
    z_score = (np.mean(draws == 0) - atom) / math.sqrt(max(atom * (1 - atom), 1e-9) / 4000)
    assert abs(z_score) < 4
    assert abs(np.mean(draws) - 3) < 4 * law.std() / math.sqrt(4000)
    if atom:
        assert complex(law.stieltjes(1e-9j)) * -1e-9j == pytest.approx(atom, rel=1e-6)


def test_the_known_value_at_ratio_two():
    law = MarchenkoPastur(2.0)
    assert float(law.cdf(sum(law.edges) / 2)) == pytest.approx(0.5 + 0.377122, abs=1e-6)


def test_draws_are_reproducible():
    law = MarchenkoPastur(0.3)
    first, second = (law.rvs((2, 5), random_state=np.random.default_rng(1)) for _ in range(2))
    assert first.shape == (2, 5)
    assert np.array_equal(first, second)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.5])
def test_singular_values(ratio):
    squared = MarchenkoPastur(ratio, 1.4)
    law = squared.singular_values()
    lower, upper = law.edges
    points = np.linspace(lower, upper, 7)[1:-1]
    assert law.pdf(points) == pytest.approx(2 * points * squared.pdf(points**2), rel=1e-12)
    assert law.cdf(points) == pytest.approx(squared.cdf(points**2), abs=1e-14)
    assert law.ppf(law.cdf(points)) == pytest.approx(points, rel=1e-12)
    assert law.cdf(-0.1) == 0
    assert law.sf(-0.1) == 1
    assert law.support()[0] == (0 if ratio > 1 else lower)
    if ratio == 1:
        assert float(law.pdf(0.0)) == pytest.approx(upper / (np.pi * 1.4))


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "a", None, True])
def test_unusable_parameters(bad):
    with pytest.raises(InputError, match="ratio"):
        MarchenkoPastur(bad)
    with pytest.raises(InputError, match="scale"):
        MarchenkoPastur(1, bad)


def test_unusable_arguments():
    law = MarchenkoPastur(2)
    for call in (
        lambda: law.cdf(math.nan),
        lambda: law.ppf(1.1),
        lambda: law.moment(-1),
        lambda: law.stieltjes(0),
        lambda: law.stieltjes(complex(math.nan, 0)),
        lambda: law.rvs(3, random_state=0),
    ):
        with pytest.raises(InputError):
            call()
