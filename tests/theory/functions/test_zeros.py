"""Break points: none rounded, none lost, poles among them; the values by mpmath's quadrature and cdf at 40 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.functions.zeros import real_zeros, unwrapped
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

VALUES = [
    # decimals are no "nice" numbers
    ("step(z-0.33333333)", "0.36944134143970773128"),
    ("step(z-0.54975)", "0.29124542864582571854"),
    ("relu(z-1/3)-relu(z-(1/3+1e-9))", "3.6944133999307202445e-10"),
    # cubics with irrational coefficients and three real roots
    ("Abs(z**3-3*sqrt(2)*z+1)", "2.2776806369124089021"),
    ("Max(z**3, sqrt(2)*z-1/10)", "0.50523859475288016804"),
    ("Abs(z**3-3*z+1)", "1.6754395250188460513"),
    # sign changes at poles
    ("sign(1/z)", "0"),
    ("Piecewise((z, 1/(z-1) > 0), (0, True))", "0.2419707245191433498"),
    ("Piecewise((z, tanh(1/z) > 1/2), (0, True))", "0.3228652909674615406"),
    ("Piecewise((z, exp(1/z) > 2), (0, True))", "0.25803074918506602252"),
    ("Piecewise((z, z/(z-1/2) > 0), (0, True))", "-0.046876953637133200165"),
    ("z*Heaviside(z/(z-1))", "-0.15697155588228932814"),
    # what was refused with a reason that is false
    ("relu(tanh(z)-1/3)", "0.13369719567994492758"),
]


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values(text, expected):
    found = coefficient(nonlinearity(text), 0, digits=18).enclosure
    assert abs(found.value - Fraction(expected)) <= abs(Fraction(expected)) * Fraction(1, 10**17)


def test_values_of_the_table_by_quadrature():
    """Three lines of the table, by quadrature between break points typed in here."""
    with mp.workdps(25):
        phi = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
        cubic = lambda x: abs(x**3 - 3 * mp.sqrt(2) * x + 1)  # noqa: E731
        roots = sorted(mp.re(r) for r in mp.polyroots([1, 0, -3 * mp.sqrt(2), 1], maxsteps=200, extraprec=100))
        assert mp.almosteq(mp.quad(lambda x: cubic(x) * phi(x), [-15, *roots, 15]), mp.mpf(VALUES[3][1]), 1e-16)
        gap = mp.quad(lambda x: (mp.tanh(x) - mp.mpf(1) / 3) * phi(x), [mp.atanh(mp.mpf(1) / 3), 4, 15])
        assert mp.almosteq(gap, mp.mpf(VALUES[-1][1]), 1e-16)
        inside = mp.quad(lambda x: x * phi(x), [0, 1 / mp.atanh(0.5)])
        assert mp.almosteq(inside, mp.mpf(VALUES[8][1]), 1e-16)


def test_a_factor_is_not_rounded():
    f = nonlinearity("0.33333333*relu(z)")
    assert f.derivative(2).deltas[0].weight == sp.Rational(33333333, 10**8)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("z**3 - 3*sqrt(2)*z + 1", 3),
        ("z**4 - 2*sqrt(2)*z**2 + 1", 4),
        ("sqrt(2)*z**3 - sqrt(3)*z + 1/5", 3),
        ("z**5 - z - 1", 1),
        ("(z**2 - 2)*(z - sqrt(2))", 2),
        ("z**2 + sqrt(2)*z + 1/2", 1),
        ("z**2 - pi*z + 5", 0),
        ("pi*z**3 - 2", 1),
        ("z**6 + sqrt(2)*z + 5", 0),
        ("tanh(z)**2 - 1/4", 2),
        ("1/(1 + z**2) - 1/2", 2),
    ],
)
def test_all_real_roots_are_found(text, count):
    """Each is a zero to 50 digits, and there are as many as a sign count on a fine grid and the algebra say."""
    g = nonlinearity(text).pieces[0].expr
    found = real_zeros(g, -sp.oo, sp.oo, "FUNCTION")
    assert len(found) == count
    with ball.precision(200):
        for root in found:
            value = ball.constant(g.subs(z, root))
            assert value.contains(0)
            assert value.rad() < 1e-50


def test_transcendental_roots_are_refused():
    with pytest.raises(InputError, match="no closed form"):
        nonlinearity("Abs(pi*z**3 - 3*z + 1)")


@pytest.mark.parametrize("text", ["Abs(sin(z))", "sign(sin(1/z))"])
def test_what_has_too_many_zeros_is_refused(text):
    with pytest.raises(InputError, match="cannot be found exactly"):
        nonlinearity(text)


def test_unwrapped_keeps_the_sign():
    for text in ("exp(z) - 2", "3 - 2*tanh(z)", "1/3 - 2*tanh(z)", "log(1 + z**2) - 1", "exp(z) + 1"):
        g = nonlinearity(text).pieces[0].expr
        for x in (sp.Rational(-7, 3), sp.Rational(1, 9), sp.Rational(5, 2)):
            assert ball.sign(g.subs(z, x)) == ball.sign(unwrapped(g).subs(z, x))


# The law: random piecewise functions against plain quadrature ------------------------------------------------------

POINTS = st.one_of(
    st.decimals(-3, 3, places=8).map(str),  # decimals next to fractions
    st.fractions(-3, 3, max_denominator=30).map(str),
    st.sampled_from(["sqrt(2)", "-sqrt(3)/2", "pi/3", "-E/2", "1/3", "0.33333333", "1/3+1e-9", "atan(1)"]),
)
SHAPES = {  # of a kink or jump at b: what is typed, and the function in floats of mpmath
    "relu": ("relu(z-({b}))", lambda x, b: max(x - b, 0)),
    "max": ("Max(2*z, z+({b}))", lambda x, b: max(2 * x, x + b)),
    "abs": ("Abs(3*z-3*({b}))", lambda x, b: abs(3 * x - 3 * b)),
    "sign": ("sign((z-({b}))**3)", lambda x, b: mp.sign(x - b)),
    "pole": ("sign(1/(z-({b})))", lambda x, b: mp.sign(x - b)),
    "tanh": ("Heaviside(tanh(z)-tanh({b}))", lambda x, b: mp.mpf(x > b)),
    "between": (
        "Piecewise((z, (z-({b}))*(z-({b})-1/1000)>0), (0, True))",
        lambda x, b: x * (not b < x < b + mp.mpf(1) / 1000),
    ),
}


@given(st.lists(st.tuples(POINTS, st.sampled_from(sorted(SHAPES)), st.integers(-3, 3)), min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_law_piecewise_functions_by_quadrature(parts):
    text = " + ".join(f"({w})*{SHAPES[shape][0].format(b=b)}" for b, shape, w in parts)
    found = coefficient(nonlinearity(text), 0, digits=15).enclosure if any(w for *_, w in parts) else None
    with mp.workdps(25):
        places = [mp.mpf(sp.N(nonlinearity(b).pieces[0].expr, 30)) for b, *_ in parts]
        cuts = sorted({*places, *(b + mp.mpf(1) / 1000 for b in places)})

        def value(x):
            return sum(w * SHAPES[s][1](x, b) for b, (_, s, w) in zip(places, parts, strict=True))

        density = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
        total = mp.quad(lambda x: value(x) * density(x), [-14, *(c for c in cuts), 14])
    if found is not None:
        assert abs(float(found.value) - float(total)) <= 1e-12 + float(found.error)
