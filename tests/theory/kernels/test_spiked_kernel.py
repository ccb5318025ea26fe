"""G4, G5, the symbols: orders in B against the printed forms, Price against expectations, radius, counterexample."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.spiked_kernel import (
    angle,
    counterexample,
    counterexample_sum,
    counterexample_term,
    covariances,
    derivative,
    determinant,
    expansion_statement,
    first_order,
    gamma1,
    gamma2,
    kernel_of,
    lower_bound,
    r,
    r_prime,
    radius,
    relu_kernel,
    s,
    s_prime,
    second_order,
    spiked_kernel,
    term,
    weyl_ratio_circle,
)
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import A, B, d, q11, q12, q22

POINTS = [
    {A: sp.Rational(6, 5), B: sp.Rational(1, 3), d: 7, r: 2, r_prime: 3, angle: sp.Rational(4, 5), s: 1, s_prime: -2},
    {A: 1, B: -sp.Rational(1, 4), d: 30, r: 5, r_prime: 4, angle: sp.Rational(9, 4), s: -2, s_prime: 1},
]


@pytest.mark.parametrize("point", POINTS)
def test_first_two_orders_are_the_printed_ones(point: dict[sp.Symbol, sp.Expr]) -> None:
    assert abs(sp.N((term(1) - B / (2 * d) * first_order()).subs(point), 30)) < 1e-25
    assert abs(sp.N((term(2) - second_order()).subs(point), 30)) < 1e-25
    assert expansion_statement().rhs.has(sp.Symbol("R"))


def test_orders_are_taylor_coefficients() -> None:
    """Every order through the 5th against a numerical derivative of the closed form in B."""
    point = {symbol: value for symbol, value in POINTS[0].items() if symbol != B}
    k1 = sp.lambdify(B, spiked_kernel().subs(point), "mpmath")
    with mpmath.workdps(40):
        coefficients = mpmath.taylor(k1, 0, 5)
        for order in range(6):
            ours = sp.N((term(order) / B**order).subs(point), 30)
            assert abs(mpmath.mpf(str(ours)) - coefficients[order]) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize("name", ["erf", "abs", "z**2+z", "leaky_relu(z, 1/5)"])
def test_price_holds_for_any_closed_kernel(name: str) -> None:
    """S/2d = [s'^2 E sigma sigma'' + 2 s s' E sigma' sigma' + s^2 E sigma'' sigma]/2d."""
    from bulkedge.theory.kernels.kernel import dual

    f = nonlinearity(name)
    mixed, bent = dual(f.derivative()), dual(f.derivative(2), f)
    assert mixed is not None
    assert bent is not None
    swapped = bent.subs({q11: q22, q22: q11}, simultaneous=True)
    price = (s**2 * bent + 2 * s * s_prime * mixed + s_prime**2 * swapped) / (2 * d)
    at = {q11: sp.Rational(3, 2), q12: -sp.Rational(1, 3), q22: sp.Rational(4, 5), s: 2, s_prime: -1, d: 9}
    assert abs(sp.N((derivative(kernel_of(f), 1) - price).subs(at), 25)) < 1e-20


def test_relu_kernel_is_the_kernel_layers() -> None:
    closed = kernel_of(nonlinearity("relu"))
    for at in ({q11: 2, q12: sp.Rational(1, 2), q22: 1}, {q11: sp.Rational(1, 3), q12: -sp.Rational(1, 2), q22: 2}):
        assert abs(sp.N((closed - relu_kernel()).subs(at), 25)) < 1e-20


@pytest.mark.parametrize("point", POINTS)
def test_determinant_is_linear_and_the_radius_is_its_root(point: dict[sp.Symbol, sp.Expr]) -> None:
    q = covariances()
    exact = d**2 * (q[q11] * q[q22] - q[q12] ** 2)
    assert sp.expand(sp.expand(exact - determinant()).subs(sp.sin(angle) ** 2, 1 - sp.cos(angle) ** 2)) == 0
    assert sp.simplify(determinant().subs(B, -radius())) == 0
    # sqrt-type branch at the root: |c_n/c_{n+1}| = radius (1 + 5/(2n) + ...), extrapolated once.
    plain = {k: v for k, v in point.items() if k != B}
    k1 = sp.lambdify(B, spiked_kernel().subs(plain), "mpmath")
    with mpmath.workdps(80):
        c = mpmath.taylor(k1, 0, 42)
        n = 40
        ratios = [abs(c[i] / c[i + 1]) for i in (n // 2, n)]
        estimate = 2 * ratios[1] - ratios[0]
    assert float(estimate) == pytest.approx(float(radius().subs(plain)), rel=0.03)


def test_radius_at_right_angles() -> None:
    right = radius().subs({angle: sp.pi / 2, r: sp.sqrt(d), r_prime: sp.sqrt(d)})
    assert sp.simplify(right - A * d / (s**2 + s_prime**2)) == 0


def test_counterexample_diverges() -> None:
    for j in range(5):
        binomial = sp.binomial(sp.Rational(1, 2), j) * (gamma2 / gamma1) ** j * sp.sqrt(2 * gamma1 / sp.pi)
        assert sp.simplify(counterexample_term(j) - binomial) == 0
    at = {gamma1: 1, gamma2: sp.Rational(3, 2)}
    assert sp.N(counterexample().subs(at), 10) == pytest.approx(1.2616, abs=5e-5)
    sums = [float(sp.N(counterexample_sum(j).subs(at), 15)) for j in (5, 10, 20, 40)]
    assert sums == pytest.approx([1.348, 1.02, -3.7, -5.9e3], rel=0.01)
    inside = {gamma1: 1, gamma2: sp.Rational(1, 2)}
    gap = counterexample_sum(60).subs(inside) - counterexample().subs(inside)
    assert abs(sp.N(gap, 20)) < 1e-18


def test_no_absolute_constant() -> None:
    """The limit of the ratio at d = 2 is above the bound, and falls below any constant."""
    for spike in (1, 100, 10**6):
        at = {A: 1, B: sp.Integer(spike)}
        assert sp.N(weyl_ratio_circle().subs(at), 20) >= sp.N(lower_bound().subs(at), 20)
    assert sp.N(weyl_ratio_circle().subs({A: 1, B: 10**12}), 10) < 0.01


def test_orders_and_kernels_that_are_refused() -> None:
    with pytest.raises(InputError, match="order"):
        term(40)
    with pytest.raises(InputError, match="closed"):
        kernel_of(nonlinearity("tanh"))
