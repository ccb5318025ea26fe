"""R2 symbolically: exact edges, the number of components, the single-eigenvalue case, the companion equation."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import alpha, c, ell, mu1, mu2, w
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.spectra import marchenko_pastur, spike
from bulkedge.theory.spectra import silverstein as sv

R = sp.Rational


@pytest.mark.parametrize("ratio", [R(1, 3), R(1), R(5, 2)])
def test_one_eigenvalue_is_marchenko_pastur(ratio):
    ((lower, upper),) = sv.edges(sv.Population((R(3, 2),), (1,)), ratio)
    a, b = marchenko_pastur.edges(ratio, R(3, 2))
    assert sp.simplify(lower - a) == 0
    assert sp.simplify(upper - b) == 0


def test_one_eigenvalue_gives_the_spiked_covariance():
    one = sv.Population((1,), (1,))
    law = spike.COVARIANCE
    assert sp.simplify(sv.psi(one).subs(alpha, ell) - law.outlier) == 0
    assert sp.simplify(sv.overlap(one).subs(alpha, ell) - dict(law.overlaps)["vector"]) == 0
    assert sp.simplify(sv.variance(one).subs(alpha, ell) - law.variance) == 0


def test_slope_is_the_derivative():
    population = sv.Population((0, 1, R(7, 2)), (R(1, 4), R(1, 4), R(1, 2)))
    assert sp.simplify(sp.diff(sv.psi(population), alpha) - sv.slope(population)) == 0


def test_components_are_counted_exactly():
    # For eigenvalues 1 and t with equal weights the gap closes at a ratio c* where psi' has a double zero.
    population = sv.Population((1, 3), (R(1, 2), R(1, 2)))
    slope = sp.fraction(sp.together(sv.slope(population)))[0]
    closing = [r for r in sp.real_roots(sp.Poly(sp.discriminant(slope, alpha), c)) if r > 0]
    critical = next(
        r for r in closing if len(sv.edges(population, R(sp.floor(r * 10**6), 10**6))) == 2
    )  # two components just below
    below, above = (R(sp.floor(critical * 10**30) + shift, 10**30) for shift in (0, 1))
    assert len(sv.edges(population, below)) == 2
    assert len(sv.edges(population, above)) == 1


@pytest.mark.parametrize("ratio", [R(1, 10), R(1, 2), R(3)])
@pytest.mark.parametrize("digits", [5, 60])
def test_enclosed_edges_hold_the_exact_ones(ratio, digits):
    population = sv.Population((0, 1, 3, 10), (R(1, 5), R(1, 5), R(3, 10), R(3, 10)))
    exact = sv.edges(population, ratio)
    enclosed = sv.enclose_edges(population, ratio, digits)
    for pair, balls in zip(exact, enclosed, strict=True):
        for edge, ball in zip(pair, balls, strict=True):
            assert ball.reaches(digits)
            assert ball.contains(Fraction(str(sp.N(edge, digits + 40))))
    assert sum(sv.masses(population, ratio)) + sv.atom(population, ratio) == 1


def test_companion_equation_is_psi():
    equation = sv.companion_equation()
    t = next(s for s in equation.rhs.free_symbols if s.name == "t")
    one = sv.Population((2,), (1,))
    assert sp.simplify(equation.rhs.subs({m: -1 / alpha, t: 2}) - sv.psi(one)) == 0


def test_conjugate_kernel_population():
    # A population of a single eigenvalue through its Stieltjes transform gives psi again.
    equation = sv.silverstein_equation(1 / (2 - w))
    assert sp.simplify(equation.lhs - sv.psi(sv.Population((2,), (1,)))) == 0
    # mu1^2 s + mu2^2, s Marchenko-Pastur: the expansion at infinity has mean mu1^2 + mu2^2.
    law = sv.conjugate_kernel_stieltjes(R(2))
    values = {mu1: R(1, 2), mu2: R(1, 3), w: sp.Integer(10) ** 12}
    assert float(sp.N((-w - w**2 * law).subs(values), 40)) == pytest.approx(1 / 4 + 1 / 9, rel=1e-10)


def test_additive_spike_over_a_point_population():
    # Over H = delta_t a rank-one term of strength s puts the eigenvalue at t + s.
    s = sp.Symbol("s", positive=True)
    equation = sv.additive_spike(1 / (3 - w), s)
    assert sp.solve(equation, alpha) == [s + 3]


def test_atom():
    population = sv.Population((0, 2), (R(3, 4), R(1, 4)))
    assert sv.atom(population, R(1, 2)) == R(3, 4)
    assert sv.atom(population, R(10)) == R(9, 10)
    # Zero eigenvalues of the population only dilute: the bulk is that of ratio c/4.
    ((lower, upper),) = sv.edges(population, R(2))
    a, b = marchenko_pastur.edges(R(1, 2), sp.Integer(2))
    assert sp.simplify(lower - a) == 0
    assert sp.simplify(upper - b) == 0


@pytest.mark.parametrize(
    ("values", "weights"),
    [
        ((), ()),
        ((1, 2), (1,)),
        ((-1,), (1,)),
        ((0,), (1,)),
        ((1, 2), (R(1, 2), R(1, 3))),
        ((0.5,), (1,)),
        ((1, 2), (0, 1)),
    ],
)
def test_unusable_populations(values, weights):
    with pytest.raises(InputError, match="population"):
        sv.Population(values, weights)


@pytest.mark.parametrize("ratio", [0, -1, 0.5, sp.pi])
def test_unusable_ratios(ratio):
    with pytest.raises(InputError, match="ratio"):
        sv.edges(sv.Population((1,), (1,)), ratio)
