"""O1's formulas: limits that must hold identically."""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.symbols import N, alpha, eta, mu0_star, mu1, mu1_star, mu2_star, s_eps, slope2
from bulkedge.theory.steps import gradient


def test_second_moments_from_scratch() -> None:
    """u is a sum of n1 independent terms x y: its second moment without the limit, then alpha = n1/d fixed."""
    d, n1 = sp.symbols("d n1", positive=True)
    label = gradient.label_second_moment()
    # E|u|^2 = ((n1 - 1)/n1) |E x y|^2 + (1/n1) E |x|^2 y^2, where |x|^2 = d to leading order
    finite = (n1 - 1) / n1 * mu1_star**2 + d * label / n1
    limit = sp.limit(finite.subs(d, n1 / alpha), n1, sp.oo)
    assert sp.simplify(limit - gradient.direction_norm2()) == 0


def test_no_noise_and_many_samples_align_with_beta() -> None:
    assert sp.limit(gradient.alignment(), alpha, sp.oo) == 1
    assert gradient.alignment().subs(mu1_star, 0) == 0


def test_linear_activation_leaves_no_remainder() -> None:
    assert gradient.remainder_energy().subs({slope2: mu1**2, sp.Symbol("curvature", real=True): 0}) == 0


def test_strength_squared_is_the_energy_of_the_spike() -> None:
    assert sp.simplify(gradient.spike_strength() ** 2 - eta**2 * mu1**2 * gradient.direction_norm2()) == 0
    values = {mu0_star: 0, mu1_star: 1, mu2_star: 1, s_eps: 1, alpha: 3, eta: 2, mu1: sp.Rational(-1, 2)}
    assert gradient.spike_strength().subs(values) == sp.sqrt(2)


def test_remainder_vanishes_iff_the_step_is_below_root_n() -> None:
    for exponent in (sp.S.Zero, sp.Rational(1, 4), sp.S.Half):
        order = sp.limit(gradient.remainder_bound().subs(eta, N**exponent) / sp.log(N), N, sp.oo)
        assert (order == 0) == (gradient.remainder_rate(exponent) < 0)
