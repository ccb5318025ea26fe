"""Float quadratures where a rule made for smooth functions of moderate slope loses digits without a sign of it."""

from __future__ import annotations

import math

import mpmath
import pytest

from bulkedge.numerics.functions.functions import constants, gauss_nodes, vectorised
from bulkedge.numerics.kernels.truncated_spectrum import mean_square, truncated_sector
from bulkedge.numerics.steps.covariance import label_moments
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import ConvergenceError

# As functions of mpmath, with the points at which to split.
HARD = {
    "Abs(z)**(1/3)": (lambda x: abs(x) ** (mpmath.mpf(1) / 3), [-20, 0, 20]),
    "sqrt(Abs(z - 1))": (lambda x: mpmath.sqrt(abs(x - 1)), [-20, 0, 1, 2, 20]),
    "sqrt(Max(z, 0))*tanh(z)": (lambda x: mpmath.sqrt(max(x, 0)) * mpmath.tanh(x), [0, 1, 3, 20]),
    "tanh(100*z)": (lambda x: mpmath.tanh(100 * x), [-20, -0.3, -0.05, 0, 0.05, 0.3, 20]),
    "exp(z**2/5)*tanh(z)": (lambda x: mpmath.exp(x**2 / 5) * mpmath.tanh(x), [-60, -20, -5, 0, 5, 20, 60]),
}


def second_route(name: str, power: int) -> float:
    f, ends = HARD[name]
    with mpmath.workdps(20):
        return float(mpmath.quad(lambda x: x**power * f(x) ** 2 * mpmath.npdf(x), ends))


@pytest.mark.parametrize("name", HARD)
def test_second_moments_hold_what_their_error_says(name: str) -> None:
    c = constants(nonlinearity(name))
    assert c.second_moment == pytest.approx(second_route(name, 0), abs=c.error + 1e-15)
    assert c.error < 1e-13 * max(1.0, c.derivative_second or 0.0, c.second_moment)


@pytest.mark.parametrize("name", HARD)
def test_moments_of_labels(name: str) -> None:
    second, _, fourth = label_moments(nonlinearity(name), 0.0)
    # 20 digits of mpmath; 1e-13 is what label_moments says of itself.
    assert second == pytest.approx(second_route(name, 0), rel=1e-13)
    assert fourth == pytest.approx(second_route(name, 2), rel=1e-13)


@pytest.mark.parametrize("name", ["Abs(z)**(1/3)", "sqrt(Abs(z - 1))", "tanh(100*z)"])
def test_the_common_rule_would_not_do(name: str) -> None:
    """A negative control: nodes that know only the kinks are off by a million times the error stated above."""
    f = nonlinearity(name)
    z, w = gauss_nodes([float(b) for b in f.kinks])
    off = max(abs(float(w @ (z**k * vectorised(f)(z) ** 2)) / second_route(name, k) - 1) for k in (0, 2))
    one = abs(float(w @ (z * vectorised(f)(z))) - constants(f).mu1)
    assert max(off, one) > 1e-7


def test_a_pole_is_refused() -> None:
    with pytest.raises(ConvergenceError):
        label_moments(nonlinearity("Abs(z)**(-1/3)"), 0.0)


def test_the_truncated_operator_of_a_root() -> None:
    """|z|^(1/3): c_k(r) = r^(1/3) c_k(1), so that E sigma(w.x)^2 is E|w|^(2/3) E|z|^(2/3)."""
    f, d, A = nonlinearity("Abs(z)**(1/3)"), 6, 1.3
    # |w|^2 = (A/d) chi^2_d without a spike.
    moment = (2 * A / d) ** (1 / 3) * math.gamma(d / 2 + 1 / 3) / math.gamma(d / 2)
    expected = moment * 2 ** (1 / 3) * math.gamma(5 / 6) / math.sqrt(math.pi)
    assert mean_square(d, A, 0.0, f) == pytest.approx(expected, rel=1e-11)
    part = truncated_sector(d, A, 0.0, f, degree=2)
    # The diagonal element of degree 0, E c_0(|w|)^2.
    first = moment * (2 ** (1 / 6) * math.gamma(2 / 3)) ** 2 / math.pi
    assert part.eigenvalues @ part.vectors[0] ** 2 == pytest.approx(first, rel=1e-11)
