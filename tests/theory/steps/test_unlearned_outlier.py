"""theory/steps/unlearned_outlier.py: polynomial links by hand, and the limits of the overlap's factor."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.numbers.symbols import alpha, eta, mu0_star, mu1, mu2_star, psi, s_eps, z
from bulkedge.theory.steps import unlearned_outlier as uo


def _mean(expr: sp.Expr) -> sp.Expr:
    """E of a polynomial in z."""
    return sp.Add(*(c * sp.factorial2(j - 1) for (j,), c in sp.Poly(sp.expand(expr), z).terms() if j % 2 == 0))


@pytest.mark.parametrize(("link", "factor"), [(z**3 - 3 * z, 7), (z**2 - 1, 5), (z**4 - 6 * z**2 + 3, 9)])
def test_a_hermite_link_leans_2k_plus_1_times_as_much_as_a_random_direction(link: sp.Expr, factor: int) -> None:
    """E z^2 He_k^2/k! = 2 k + 1."""
    assert _mean(z * link) == 0
    at = {uo.second_along: _mean(z**2 * link**2), mu2_star: sp.sqrt(_mean(link**2)), mu0_star: 0, s_eps: 0}
    assert uo.unlearned_overlap().subs(uo.overlap_of_spike, 1).subs(at) == factor
    assert uo.unlearned_overlap().subs(uo.overlap_of_spike, 0) == 1


def test_pure_noise_is_a_random_direction() -> None:
    """y = noise: E z^2 y^2 = E y^2."""
    at = {uo.second_along: s_eps**2, mu2_star: 0, mu0_star: 0}
    assert sp.simplify(uo.unlearned_overlap().subs(at)) == 1


def test_the_outlier_stands_where_a_rank_one_matrix_puts_it() -> None:
    """theta^2 = eta^2 mu1^2 E y^2/alpha = 4 at psi = 1: (1 + 4)/2."""
    at = {eta: 4, mu1: sp.Rational(1, 2), mu2_star: sp.sqrt(3), mu0_star: 0, s_eps: 1, alpha: 4, psi: 1}
    assert uo.strength().subs(at) == 2
    assert uo.position_statement().rhs.subs(at) == sp.Rational(5, 2)
