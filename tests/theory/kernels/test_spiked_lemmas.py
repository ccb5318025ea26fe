"""theory/kernels: spiked_remainder, spiked_response and upper_bound against expansions and integrals made here."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

from bulkedge.theory.kernels import spiked_remainder, spiked_response, upper_bound
from bulkedge.theory.kernels.spiked_expansion import b
from bulkedge.theory.kernels.spiked_kernel import angle, r, r_prime, s, s_prime
from bulkedge.theory.kernels.spiked_spectrum import t
from bulkedge.theory.numbers.symbols import A, B, d


def test_the_remainder_s_elements_are_second_order_moments() -> None:
    """c_2^2 E[(b z^2)^2/(A + b z^2)] and c_0 c_4 of the same, by quadrature at b = 1e-6."""
    small, bulk = mpmath.mpf("1e-6"), mpmath.mpf("1.5")
    mean = mpmath.quad(lambda z: (small * z**2) ** 2 / (bulk + small * z**2) * mpmath.npdf(z), [-20, 0, 20])
    at = {b: sp.Float(str(small), 30), A: sp.Rational(3, 2)}
    diagonal, corner = (float(e.subs(at)) for e in (spiked_remainder.diagonal(), spiked_remainder.corner()))
    assert diagonal == pytest.approx(float(mean / (4 * mpmath.pi)), rel=1e-4)
    assert corner == pytest.approx(float(mean / mpmath.sqrt(2 * mpmath.pi * 48 * mpmath.pi)), rel=1e-4)


def test_what_is_left_of_s_vanishes_at_right_angles_and_is_linear_there() -> None:
    rest = spiked_response.remainder()
    assert sp.simplify(rest.subs(angle, sp.pi / 2)) == 0
    slope = sp.diff(rest, angle).subs(angle, sp.pi / 2)
    assert sp.simplify(slope - sp.diff(spiked_response.leading_remainder(), angle).subs(angle, sp.pi / 2)) == 0
    assert rest.free_symbols == {r, r_prime, s, s_prime, angle}


@pytest.mark.parametrize(("dimension", "spike"), [(5, "1/2"), (8, "9")])
def test_the_multiplier_s_mean_is_the_mean_energy(dimension: int, spike: str) -> None:
    """E_uniform rho = E|w|^2 = A + B/d, by quadrature."""
    at = {A: sp.Rational(6, 5), B: sp.Rational(spike), d: dimension}
    integrand = (upper_bound.density() * upper_bound.uniform()).subs(at)
    value = mpmath.quad(sp.lambdify(t, integrand, "mpmath"), [-1, 0, 1])
    assert float(value) == pytest.approx(float((A + B / d).subs(at)), rel=1e-10)


def test_the_constant_without_a_rest() -> None:
    whole = upper_bound.upper_constant().subs(upper_bound.tau, 1)
    assert sp.simplify(whole - A * (1 + B / A) ** ((d + 1) / 2)).subs({A: 2, B: 3, d: 7}) == 0
