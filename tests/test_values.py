"""Values by two routes over random functions: what is stated exactly or enclosed against plain quadrature.

The quadrature is Gauss-Legendre in panels of width 1 split at the kinks, in one or two dimensions; it calls nothing of
the engine but the function itself.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.kernels.kernel_matrix import kernel_matrix
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.kernels.kernel import agrees, dual
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from tests.support.random_functions import random_function

END, DEGREE = 9.0, 4
X, W = np.polynomial.legendre.leggauss(24)


def grid(breaks: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (with the normal density) on [-END, END], split at the breaks."""
    cuts = np.unique([b for b in (*breaks, *np.linspace(-END, END, 19)) if -END <= b <= END])
    half, middle = np.diff(cuts) / 2, (cuts[1:] + cuts[:-1]) / 2
    nodes = (middle[:, None] + half[:, None] * X).ravel()
    return nodes, (half[:, None] * W).ravel() * np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi)


def hermite(f: Nonlinearity) -> np.ndarray:
    nodes, weights = grid([float(k) for k in f.kinks])
    basis = [np.ones_like(nodes), nodes]
    for k in range(1, DEGREE):
        basis.append((nodes * basis[k] - np.sqrt(k) * basis[k - 1]) / np.sqrt(k + 1))
    return np.array([np.sum(weights * vectorised(f)(nodes) * h) for h in basis])


def kernel(f: Nonlinearity, q11: float, rho: float, q22: float) -> float:
    call, kinks, far = vectorised(f), np.array([float(k) for k in f.kinks]), np.sqrt(1 - rho**2)
    s, t = np.sqrt(q11), np.sqrt(q22)
    outer, weights = grid(list(kinks / s))
    total = 0.0
    for x, w in zip(outer, weights, strict=True):
        inner, v = grid(list((kinks / t - rho * x) / far))
        total += w * call(np.array([s * x]))[0] * np.sum(v * call(t * (rho * x + far * inner)))
    return float(total)


def functions(seed: int) -> Nonlinearity | None:
    try:
        return nonlinearity(random_function(random.Random(seed)))
    except InputError:
        return None


def check(seed: int) -> bool:
    """Compare all routes for one seed; False if the function is refused."""
    f = functions(seed)
    if f is None:
        return False
    call, points = vectorised(f), np.array([0.137, 0.61, 1.13, 1.9, 2.7])
    if f.parity:
        assert np.allclose(call(-points), f.parity * call(points), rtol=1e-9, atol=1e-12), f.name
    expected = hermite(f)
    size = max(1.0, float(np.max(np.abs(expected))))
    for k in range(DEGREE + 1):
        found = coefficient(f, k)
        error = float(found.enclosure.error)
        assert abs(float(found.enclosure.value) - expected[k]) <= 1e-9 * size + error, (f.name, k)
        if found.exact is not None:
            assert abs(float(sp.N(found.exact, 20)) - expected[k]) <= 1e-9 * size, (f.name, k)
    rng = random.Random(seed)
    rho = sp.Rational(rng.choice((-7, -3, 2, 5, 8)), 10)
    q11, q22 = rng.choice(((1, 1), (1, 1), (sp.Rational(3, 4), sp.Rational(5, 4))))
    if q11 != q22:
        rho = sp.Rational(1, 2)
        q12 = sp.Rational(3, 8)
        actual = float(q12) / np.sqrt(float(q11 * q22))
    else:
        q12, actual = rho, float(rho)
    try:
        found_kernel = value(f, sp.S(q11), q12, sp.S(q22), 12)
    except (InputError, PrecisionError):
        return True  # not square integrable at that scale, or an honest refusal
    direct = kernel(f, float(q11), actual, float(q22))
    assert abs(float(found_kernel.value) - direct) <= 1e-8 * max(1.0, abs(direct)) + float(found_kernel.error), f.name
    return True


@pytest.mark.parametrize("block", [0, *(pytest.param(b, marks=pytest.mark.exhaustive) for b in range(1, 6))])
def test_random_functions(block: int) -> None:
    assert sum(check(seed) for seed in range(6 * block, 6 * block + 6)) >= 3


@pytest.mark.parametrize(
    "text",
    [
        "sign(z-1)*tanh(z)",
        "Piecewise((-log_cosh(z), z<1), (log_cosh(z), True))",
        "sign(z+5/4)*Phi(z)",
        "Piecewise((-z, z<1/2), (z, True))",
        "Piecewise((-tanh(z), z<-1), (z, z<1/4), (-z, z<1), (tanh(z), True))",
    ],
)
def test_a_mirrored_pair_about_another_point_is_neither_odd_nor_even(text: str) -> None:
    f = nonlinearity(text)
    assert f.parity == 0
    assert np.allclose([float(coefficient(f, k).enclosure.value) for k in range(DEGREE + 1)], hermite(f), atol=1e-10)


@pytest.mark.parametrize(("text", "parity"), [("sign(z)*tanh(z)", 1), ("sign(z)*log_cosh(z)", -1), ("hard_tanh", -1)])
def test_parity_is_still_seen(text: str, parity: int) -> None:
    assert nonlinearity(text).parity == parity


@pytest.mark.parametrize(
    "text",
    [
        "sin(z)+sign(z)",
        "erf(z)+sin(z)",
        "cos(z)+step(z-1)",
        "cos(2*z)+Abs(z)",
        "sin(3*z)*exp(-z**2/3)+sign(z-1)",
        "elu(z)+sin(z)",
        "sin(z)+erf(z+1)",
        "exp(z)*cos(z)+step(z)",
    ],
)
@pytest.mark.parametrize("rho", [sp.Rational(1, 2), sp.Rational(-3, 10)])
def test_waves_beside_kinks_keep_their_cross_terms(text: str, rho: sp.Rational) -> None:
    f = nonlinearity(text)
    found = value(f, sp.S(1), rho, sp.S(1))
    assert float(found.value) == pytest.approx(kernel(f, 1, float(rho), 1), rel=1e-10)


@pytest.mark.parametrize("text", ["relu", "sin(z)+sign(z)", "z**3 - z", "exp(z/2)"])
def test_a_closed_form_that_lost_a_term_is_found_out(text: str) -> None:
    f = nonlinearity(text)
    closed = dual(f)
    assert closed is not None
    assert agrees(closed, f, f)
    assert not any(agrees(sp.expand(closed) - term, f, f) for term in sp.Add.make_args(sp.expand(closed)))


@pytest.mark.parametrize("text", ["sin(z)+erf(z)", "sin(z)+sign(z)", "cos(2*z)+Abs(z)"])
@pytest.mark.parametrize("scale", [1.0, 3.0, 60.0])
def test_compiled_kernels_of_waves_beside_kinks(text: str, scale: float) -> None:
    """Large scales: exp(-q/2) erfi(.) must not become nan."""
    f = nonlinearity(text)
    points = scale * np.array([[1.0, 0.0], [0.6, 0.8], [-0.3, 0.2]])
    found = kernel_matrix(points, points, nonlinearity=f)
    nodes, weights = grid([0.0])
    if scale < 10:
        assert found[0, 0] == pytest.approx(np.sum(weights * vectorised(f)(scale * nodes) ** 2), rel=1e-9)
        assert found[0, 1] == pytest.approx(kernel(f, scale**2, 0.6, scale**2), rel=1e-9)
    assert np.all(np.isfinite(found))
