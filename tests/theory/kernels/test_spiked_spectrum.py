"""G6, the symbols: orthonormality, exact elements, and the closed forms that every order shares."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

from bulkedge.theory.kernels.spiked_spectrum import (
    aligned,
    associated,
    directions,
    funk_hecke,
    legendre,
    matrix_element,
    multiplicity,
    radial_moment,
    t,
    u,
    unspiked,
)
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import A, B, d


@pytest.mark.parametrize("dimension", [2, 3, 5])
@pytest.mark.parametrize("degree", [0, 1, 2, 4])
@pytest.mark.parametrize("power", [1, 2])
def test_funk_hecke_is_the_projection_on_legendre(dimension: int, degree: int, power: int) -> None:
    # The integral over the sphere, in the angle, where every integrand is a trigonometric polynomial.
    a = sp.Symbol("a")
    integrand = sp.cos(a) ** power * legendre(degree, sp.Integer(dimension), sp.cos(a)) * sp.sin(a) ** (dimension - 2)
    whole = sp.integrate(sp.sin(a) ** (dimension - 2), (a, 0, sp.pi))
    expected = sp.integrate(sp.expand(integrand), (a, 0, sp.pi / 2)) / whole
    assert sp.simplify(funk_hecke(degree, power, sp.Integer(dimension)) - expected) == 0


def test_funk_hecke_recurrence() -> None:
    for p in (1, 2, sp.Rational(1, 2)):
        for degree in (0, 1, 2):
            ratio = (p - sp.Integer(degree)) / (degree + d + p)
            low, high = funk_hecke(degree, p), funk_hecke(degree + 2, p)
            if low == 0:  # past the end of the polynomial part
                assert high == 0
            else:
                assert abs(sp.N((high / low - ratio).subs(d, sp.Rational(22, 3)), 40)) < sp.Float("1e-35")


@pytest.mark.parametrize("dimension", [2, 3, 6])
def test_multiplicity_counts_harmonics(dimension: int) -> None:
    for degree in range(6):
        count = sp.binomial(degree + dimension - 1, degree)
        if degree >= 2:
            count -= sp.binomial(degree + dimension - 3, degree - 2)
        assert multiplicity(sp.Integer(dimension), degree) == count


@pytest.mark.parametrize(("dimension", "j"), [(3, 0), (3, 1), (5, 1), (5, 2), (7, 0)])
def test_associated_functions_are_orthonormal(dimension: int, j: int) -> None:
    D = sp.Integer(dimension)
    weight = (1 - t**2) ** ((D - 3) / 2)
    whole = sp.integrate(weight, (t, -1, 1))
    for l1, l2 in [(j, j), (j, j + 2), (j + 1, j + 1), (j + 2, j + 2)]:
        f = sp.expand(associated(l1, j, D) * associated(l2, j, D) * weight)
        assert sp.simplify(sp.integrate(f, (t, -1, 1)) / whole) == int(l1 == l2)


def test_directions_is_a_density_for_both_signs_of_the_spike() -> None:
    for spike in (sp.Rational(7, 2), -sp.Rational(1, 3)):
        law = sp.lambdify(t, directions().subs({d: 4, A: sp.Rational(6, 5), B: spike}), "mpmath")
        assert abs(mpmath.quad(law, [-1, 0, 1]) - 1) < 1e-12


def _moments(expression: sp.Expr) -> sp.Expr:
    """E of a polynomial in u over the sphere, symbolic d: E u^{2k} = (1/2)_k/(d/2)_k."""
    poly = sp.Poly(sp.expand(expression), u)
    return sum(
        c * sp.rf(sp.Rational(1, 2), k[0] // 2) / sp.rf(d / 2, k[0] // 2) for k, c in poly.terms() if k[0] % 2 == 0
    )


def _inside(l: int, l2: int) -> sp.Expr:
    """(A+Bu^2) f_l f_l' as a polynomial in u, for l + l' <= 2 where it is one."""
    warped_square = (A + B) * u**2 / (A + B * u**2)
    x = sp.Symbol("x")
    product = sp.expand(associated(l, 0) * associated(l2, 0)).subs(t, sp.sqrt(x))
    return sp.cancel(sp.expand((A + B * u**2) * product.subs(x, warped_square)))


def test_exact_low_elements() -> None:
    lam0 = unspiked(0)
    assert sp.simplify(d * funk_hecke(0) ** 2 * _moments(_inside(0, 0)) - lam0 * (A + B / d)) == 0
    assert sp.simplify(d * funk_hecke(1) ** 2 * _moments(_inside(1, 1)) - aligned()) == 0
    # <Y0|T|Y2> is exactly linear in B.
    off = sp.simplify(_moments(_inside(0, 2)))
    assert sp.simplify(sp.diff(off, B, 2)) == 0
    assert off.subs(B, 0).simplify() == 0


def test_unspiked_ratios() -> None:
    assert sp.simplify(sp.expand_func(unspiked(2) / unspiked(0)) - 1 / (d + 1) ** 2) == 0
    # lambda_0 = (1 + 1/(2d) + O(d^-2))/(2 pi).
    with mpmath.workdps(30):  # SymPy would multiply the Gamma function's half million factors out
        excess = sp.lambdify(d, unspiked(0) * 2 * sp.pi - 1, "mpmath")(mpmath.mpf(10**6))
    assert float(excess) == pytest.approx(5e-7, rel=1e-5)
    assert unspiked(3) == 0
    assert radial_moment(1) == d


def test_matrix_element_parity_and_refusal() -> None:
    assert matrix_element(0, 1) == 0
    with pytest.raises(InputError, match="no degree 1 in sector 2"):
        associated(1, 2)
