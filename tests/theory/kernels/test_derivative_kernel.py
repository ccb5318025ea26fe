"""Derivative and tangent kernels: Price's theorem against differentiation, known ReLU forms, distributional cases."""

import pytest
import sympy as sp

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.derivative_kernel import (
    conjugate_kernel,
    derivative_dual,
    derivative_dual_of_correlation,
    readout_variance,
    tangent_kernel,
    weight_variance,
)
from bulkedge.theory.kernels.kernel import dual, dual_of_correlation
from bulkedge.theory.numbers.symbols import q11, q12, q22, rho

AT = {q11: sp.Rational(7, 10), q12: sp.Rational(-2, 5), q22: sp.Rational(19, 10)}
SMOOTH = [
    "relu",
    "abs",
    "leaky_relu(z, 1/5)",
    "relu(z - 1/3)",
    "gelu",
    "erf",
    "sin(2*z)",
    "z**3 - z",
]
JUMPS = ["step", "sign", "step(z - 1/3)", "relu(z) + 2*sign(z)", "Heaviside(z) - Heaviside(z - 1)"]


@pytest.mark.parametrize("text", SMOOTH + JUMPS)
def test_price(text):
    f = nonlinearity(text)
    kernel = dual(f)
    for by, first, second, factor in ((q12, 1, 1, 1), (q11, 2, 0, 2), (q22, 0, 2, 2)):
        direct = sp.diff(kernel, by).subs(AT).evalf(30) * factor
        assert abs(direct - derivative_dual(f, first, second).subs(AT).evalf(30)) < sp.Float("1e-25")


@pytest.mark.parametrize("text", ["relu", "gelu", "step"])
def test_kappa_prime_in_the_correlation(text):
    f = nonlinearity(text)
    for r in (sp.Rational(1, 3), sp.Rational(-4, 5)):
        slope = sp.diff(dual_of_correlation(f), rho).subs(rho, r)
        assert abs((slope - derivative_dual_of_correlation(f).subs(rho, r)).evalf(30, maxn=200)) < sp.Float("1e-25")


def test_relu_in_the_papers_form():
    # F: E[sigma' sigma'] = (pi - theta)/(2 pi), E[sigma'' sigma] = sin(theta) |v|/(2 pi |u|): paper F's S, halved.
    f = nonlinearity("relu")
    angle = sp.acos(q12 / sp.sqrt(q11 * q22))
    assert abs((derivative_dual(f) - (sp.pi - angle) / (2 * sp.pi)).subs(AT).evalf(30)) < sp.Float("1e-25")
    bend = sp.sin(angle) * sp.sqrt(q22 / q11) / (2 * sp.pi)
    assert abs((derivative_dual(f, 2, 0) - bend).subs(AT).evalf(30)) < sp.Float("1e-25")
    both = 1 / (2 * sp.pi * sp.sqrt(q11 * q22 - q12**2))
    assert sp.simplify(derivative_dual(f, 2, 2) - both) == 0


def test_delta_of_higher_order():
    # E[delta'(u) v] = -d/dt {phi(t) t q12/q11} at 0 for q11 = 1: -q12 phi(0).
    f = nonlinearity("step")
    found = dual(f.derivative(2), nonlinearity("z")).subs(q11, 1)
    assert sp.simplify(found + q12 / sp.sqrt(2 * sp.pi)) == 0


def test_tangent_kernel_of_paper_o():
    f = nonlinearity("relu")
    d, N = sp.symbols("d N", positive=True)
    found = tangent_kernel(f).subs({readout_variance: 1 / N, weight_variance: 1 / d})
    inner = d * q12
    expected = conjugate_kernel(f) + inner / N * derivative_dual(f)
    assert sp.expand(found - expected) == 0
    assert tangent_kernel(nonlinearity("tanh")) is None
    assert derivative_dual(nonlinearity("tanh")) is None
