"""numerics/risk/floor.py: exact pairs, certificates that hold against a dense search, infima that are not attained."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.special import erf

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.risk.floor import Floor, criterion, of_pair
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.symbols import z
from bulkedge.theory.risk import floor as theory
from bulkedge.theory.risk import floor_value as theory_value


def of(activation: str, link: str) -> Floor:
    return of_pair(nonlinearity(activation), nonlinearity(link))


def test_criterion_of_erf_is_the_arcsine_formula() -> None:
    kappa = np.array([-3.0, -0.2, 0.0, 0.7, 1.9, 30.0])
    exact = [float(theory.erf_criterion().subs(theory.slope, sp.Rational(k))) for k in kappa]
    np.testing.assert_allclose(criterion(erf, erf)(kappa), exact, atol=1e-11)


@pytest.mark.parametrize(
    ("activation", "link", "tau", "kappa"),
    [
        ("erf", "erf", 0.0, math.sqrt(3)),
        ("tanh", "tanh", 9.4527e-5, 1.58827),
        ("erf", "-erf", 0.0, -math.sqrt(3)),
        ("tanh", "He(2, z)", 2.0, 0.0),
    ],
)
def test_known_pairs(activation: str, link: str, tau: float, kappa: float) -> None:
    got = of(activation, link)
    assert got.tau == pytest.approx(tau, abs=1e-9)
    assert got.kappa == pytest.approx(kappa, abs=1e-5)
    assert got.certified
    assert got.everywhere
    assert got.attained
    assert got.lower <= tau + 1e-9
    assert got.tau - got.lower < 3e-6


@pytest.mark.parametrize(
    ("activation", "link"),
    [("relu", "tanh"), ("gelu", "relu"), ("tanh", "sin(2*z)"), ("arctan", "erf"), ("step", "tanh(3*z)")],
)
def test_certificate_against_a_dense_search(activation: str, link: str) -> None:
    """No kappa of a dense grid goes below the certified lower bound, and the minimum is that close to it."""
    f, g = nonlinearity(activation), nonlinearity(link)
    kinks, link_kinks = ([float(b) for b in h.kinks] for h in (f, g))
    got = of(activation, link)
    grid = np.linspace(-1, 1, 2001) * min(got.bracket, 60.0)
    values = criterion(vectorised(f), vectorised(g), kinks, link_kinks)(grid)
    assert got.certified
    assert np.min(values) >= got.lower - 1e-9
    assert got.tau <= np.min(values) + 1e-9


@pytest.mark.parametrize(("activation", "link"), [("erf", "sign"), ("sign", "sign"), ("tanh", "-sign")])
def test_infimum_that_is_not_attained(activation: str, link: str) -> None:
    got = of(activation, link)
    assert not got.attained
    assert math.isinf(got.kappa)
    assert got.tau == pytest.approx(0.0, abs=1e-9)
    assert (got.kappa < 0) == link.startswith("-")


def test_polynomial_activation_by_its_exact_criterion() -> None:
    got = of("z + He(2, z)/2", "z**3/3 - z/2")
    exact = theory.polynomial_criterion(z + (z**2 - 1) / 2, z**3 / 3 - z / 2, z)
    roots = sp.Poly(sp.diff(exact, theory.slope), theory.slope).nroots()
    best = min(float(exact.subs(theory.slope, sp.re(r))) for r in roots if abs(sp.im(r)) < 1e-9)
    assert got.tau == pytest.approx(best, rel=1e-9)
    assert got.everywhere


@pytest.mark.parametrize(("activation", "link"), [("z + z**2/10", "abs(z)**(1/4)"), ("relu", "tanh(100*z - 30)")])
def test_the_value_is_an_enclosure(activation: str, link: str) -> None:
    """Two orders of one rule agree to 1e-11 beside a root, and not at all on a steep step; the enclosure tells."""
    got = of(activation, link)
    gap = nonlinearity(link) if activation.startswith("z") else None
    value = theory_value.value(nonlinearity(activation), nonlinearity(link), sp.Rational(got.kappa), 10)
    assert abs(float(value) - got.tau) <= got.tau_error + float(value.error)
    assert got.lower <= got.tau
    assert got.tau - got.lower < 2e-6
    if gap is not None:  # by hand: E|z|^(1/2) - 2 k^2 E[|z|^(1/4) z^2]/10 - ... at the kappa found
        k = got.kappa

        def power(p: float) -> float:  # E|z|^p
            return 2 ** (p / 2) * math.gamma((p + 1) / 2) / math.sqrt(math.pi)

        a, b = 0.1, k * k / 10  # S(k z) = a + k z + b z^2
        square = a * a + k * k + 2 * a * b + 3 * b * b
        assert got.tau == pytest.approx(power(0.5) - 2 * (a * power(0.25) + b * power(2.25)) + square, rel=1e-14)


def test_kappa_of_a_flat_minimum_says_how_flat_it_is() -> None:
    # tau = 1 + 6 kappa^6 - ..., kappa* = 0: nothing below 1e-3 can be told from it in floats.
    got = of("He(3, z)", "abs(z)")
    assert 1e-3 < got.kappa_error < 0.1
    assert abs(got.kappa) <= got.kappa_error
    assert of("z", "100*z").kappa == pytest.approx(100, rel=1e-12)
    assert of("2 + 0*z", "tanh").kappa_error == 0


def test_without_an_asymptote_the_certificate_is_for_the_bracket_only() -> None:
    got = of("sin", "tanh")
    assert got.certified
    assert not got.everywhere
    assert abs(got.kappa) < got.bracket
