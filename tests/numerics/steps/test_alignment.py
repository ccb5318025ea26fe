"""Floats for T2, T3, T6: moments against direct quadrature, twins against their symbols."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.steps.alignment import (
    direct_limits,
    float_activation,
    float_moments,
    further_direction,
    signed_means,
)
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps import kink
from bulkedge.theory.steps import second_step as theory
from bulkedge.theory.steps.alignment import Geometry, derivative
from bulkedge.theory.steps.second_step import PolynomialActivation, spike_function
from bulkedge.theory.steps.target import AdditiveTarget, label


def link(z: np.ndarray) -> np.ndarray:
    return np.tanh(z) / 2 + np.cos(1.5 * z)


def cubic(k: int, b: int, c: int) -> float:
    return float(PolynomialActivation(s.z + s.z**2 / 5 - s.z**3 / 7)(k, b, c))


@pytest.mark.parametrize("batch", ["reused", "fresh"])
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_two_routes(batch: str, k: int, noise: float) -> None:
    alpha = 1.7
    target = AdditiveTarget((float_moments(link),), noise**2, float)
    geometry = Geometry(target, 1 / alpha, batch)
    F = spike_function(k, batch, "full", cubic, label(target, 1 / alpha))
    f = sp.lambdify((s.y, s.q), theory.as_expression(F), "numpy")
    df = sp.lambdify((s.y, s.q), theory.as_expression(derivative(F)), "numpy")
    found = direct_limits(f, lambda y, q: df(y, q) + 0 * q, link, alpha, noise, batch, breaks=(0.0,))
    assert found.signal == pytest.approx(geometry.signal(F), rel=1e-8)
    assert found.norm2 == pytest.approx(geometry.gram(F, F), rel=1e-8)
    assert found.error < 1e-6


def test_float_moments() -> None:
    assert float_moments(np.sign, breaks=(0.0,))(1, 3) == pytest.approx(np.sqrt(2 / np.pi), rel=1e-13)
    relu = float_activation((lambda z: (z > 0) * 1.0,), breaks=(0.0,))
    assert relu(1, 2, 3) == pytest.approx(0.5, rel=1e-13)
    tanh = float_activation((lambda z: 1 / np.cosh(z) ** 2, lambda z: -2 * np.tanh(z) / np.cosh(z) ** 2))
    # E[sigma'' G] = E[sigma' (G^2 - 1)] by parts.
    assert tanh(2, 1, 0) == pytest.approx(tanh(1, 2, 0) - tanh(1, 0, 0), rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_twins_of_the_symbols(k: int) -> None:
    m, h = np.linspace(-3, 3, 13), 1e-6
    for n, found in enumerate(signed_means(m, 0.7, k)):
        stated = sp.lambdify((s.q, s.v), kink.signed_mean(n, s.q), "scipy")
        assert found == pytest.approx(stated(m, 0.7), rel=1e-12, abs=1e-13)
    assert signed_means(m, 0.0, k)[k] == pytest.approx(np.sign(m) * m**k)
    found = (
        kink.Kink(sp.Integer(0), (sp.Integer(0),), (sp.Integer(1), sp.Rational(1, 3))),
        kink.Kink(sp.Rational(1, 2), (sp.Rational(-1, 3), sp.Rational(2, 7)), (sp.Rational(1, 4),)),
    )
    mu1, e, v, alpha = 0.6, 0.2, 0.5, 1.5
    symbol = kink.further(found, k, sp.Rational(3, 5), sp.Rational(1, 5))
    stated = sp.lambdify((s.y, s.q), symbol.subs({s.v: v, s.alpha: alpha}), "scipy")
    F, dF = further_direction(found, mu1, e, v, alpha, k)
    y, q = np.array([0.3, -1.2, 2.0]), np.array([-0.7, 0.4, 1.1])
    assert F(y, q) == pytest.approx(stated(y, q), rel=1e-12)
    assert dF(y, q) == pytest.approx((F(y, q + h) - F(y, q - h)) / (2 * h), abs=1e-8)
