"""theory/spiked_features.py: counts at and beside the boundaries, directions, loss drops, the paper's equations."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import e, g_res, kappa, lam, mu1, mu2, psi1, psi2, v
from bulkedge.theory.risk import ridge
from bulkedge.theory.steps import spiked_features as sf

C = sf.coefficient


@pytest.mark.parametrize(
    ("exponent", "order", "boundary"),
    [
        (Fraction(0), 0, True),
        (Fraction(1, 100), 1, False),
        (Fraction(1, 4), 1, True),
        (Fraction(1, 4) + Fraction(1, 10**12), 2, False),
        (Fraction(3, 10), 2, False),
        (Fraction(1, 3), 2, True),
        (Fraction(3, 8), 3, True),
        (Fraction(49, 100), 49, True),
    ],
)
def test_number_of_spikes(exponent: Fraction, order: int, boundary: bool) -> None:
    """(l - 1)/(2 l) < a < l/(2 l + 2), decided exactly; on a boundary the next spike is of order one."""
    got = sf.number_of_spikes(exponent)
    assert (got.order, got.boundary) == (order, boundary)
    if not boundary:
        assert Fraction(order - 1, 2 * order) < exponent < Fraction(order, 2 * order + 2)


def test_boundary_is_where_the_next_spike_meets_the_bulk() -> None:
    a = Fraction(1, 4)
    assert sf.spike_exponent(2, a) == Fraction(1, 2)
    assert sf.spike_exponent(2, a + Fraction(1, 50)) > Fraction(1, 2)


def test_vanishing_coefficients_remove_spikes() -> None:
    assert sf.number_of_spikes(Fraction(2, 5), vanishing=(2, 4)).present == (1, 3)
    assert sf.number_of_spikes(Fraction(2, 5), vanishing=(1,)).present == ()


def test_directions_of_the_full_reading() -> None:
    """k = 2: c_2 (mu1^2 t^2 + v); k = 3: a further 3 v mu1 t; k = 1 with a mean: mu1 t c_1 + 2 c_2 e."""
    t = sf.t
    assert sp.expand(sf.left_direction(2, "full").subs(e, 0) - C[2] * (mu1**2 * t**2 + v)) == 0
    assert sp.expand(sf.left_direction(3, "full").subs(e, 0) - C[3] * (mu1**3 * t**3 + 3 * v * mu1 * t)) == 0
    assert sp.expand(sf.left_direction(1, "full") - (C[1] * mu1 * t + 2 * C[2] * e)) == 0
    assert sf.left_direction(2, "rank_one") == C[2] * (mu1 * t) ** 2


def test_full_direction_by_a_gaussian_average() -> None:
    """Second route: expand sigma = He_3 + 2 He_2 at h + s (mu1 t + e h + xi) and average h, xi term by term."""
    h, xi, s, t = sp.symbols("h xi s t", real=True)
    sigma = lambda z: z**3 - 3 * z + 2 * (z**2 - 1)  # noqa: E731 -- a polynomial, used twice
    expanded = sp.Poly(sp.expand(sigma(h + s * (mu1 * t + e * h + xi))), s, h, xi)
    for k in (1, 2, 3):
        total = sp.Integer(0)
        for (p, i, j), value in expanded.terms():
            if p == k and i % 2 == 0 and j % 2 == 0:
                total += value * sp.factorial2(i - 1) * sp.factorial2(j - 1) * v ** (j // 2)
        values = {C[i]: {2: 2, 3: 1}.get(i, 0) for i in range(1, 7)}
        assert sp.expand(sf.left_direction(k, "full").subs(sf.t, t).subs(values) - total) == 0


def test_loss_drops_of_the_paper() -> None:
    c1, c2 = sf.link_coefficient[1], sf.link_coefficient[2]
    first = lam * c1**4 * sf.M2 / sf.b**2
    assert sp.simplify(sf.loss_drop(1, "rank_one") - first) == 0
    assert sp.simplify(sf.loss_drop(1, "full") - first) == 0
    second = lam * c1**4 * c2**2 * sf.M1 / sf.b**4
    assert sp.simplify(sf.loss_drop(2, "rank_one") - first - second * sp.Rational(4, 3)) == 0
    statement = sf.drop_statement()
    assert sp.simplify(sf.loss_drop(2, "full") - first - statement.rhs) == 0
    assert sp.simplify(sf.loss_drop(2, "full", constants_in_span=True) - first - 2 * second) == 0
    assert sp.simplify(sf.loss_drop(2, "full").subs(v, 0) - sf.loss_drop(2, "rank_one")) == 0


def test_third_spike_takes_more() -> None:
    """Delta_3 - Delta_2 is a square times the label's third component, in either reading: He_3 is new in the span."""
    c3 = sf.link_coefficient[3]
    for reading in sf.READINGS:
        values = {sf.b: sp.sqrt(2), mu1: sp.Rational(1, 2), v: sp.Rational(1, 3), sf.M1: 3, sf.M2: 1, lam: 1}
        values |= {sf.link_coefficient[1]: 1, sf.link_coefficient[2]: sp.Rational(1, 2)}
        gain = (sf.loss_drop(3, reading) - sf.loss_drop(2, reading)).subs(values)
        assert gain.subs(c3, 2) > 0
        assert sp.Poly(gain, c3).degree() == 2


def test_traces_solve_the_paper_s_equations() -> None:
    """M1 = 1/kappa, M2 = A/kappa from O3's resolvent solve M's two equations."""
    values = {psi1: sp.Rational(3, 2), psi2: sp.Rational(4, 5), mu1: sp.Rational(2, 3), mu2: sp.Rational(1, 3)}
    k0 = sp.Rational(1, 2)
    g = ridge.resolvent().subs(values).subs(kappa, k0)
    lam0 = sp.solve(ridge.effective_ridge_equation().subs({**values, kappa: k0, g_res: g}), lam)[0]
    missed = (psi2 * g_res + 1 - psi2).subs({**values, g_res: g})
    m1, m2 = sf.resolvent_traces(k0, missed)
    for equation in sf.paper_equations(values[mu1], values[mu2] ** 2, 1 / values[psi1], 1 / values[psi2]):
        assert sp.simplify(equation.subs({sf.M1: m1, sf.M2: m2, lam: lam0})) == 0


def test_bad_input() -> None:
    with pytest.raises(InputError):
        sf.number_of_spikes(Fraction(1, 2))


def test_an_exponent_a_hair_below_one_half() -> None:
    """The count is one division; the list of half a million million spikes is refused."""
    got = sf.number_of_spikes(Fraction(499999999999, 10**12), vanishing=(2,))
    assert (got.order, got.boundary) == (5 * 10**11 - 1, True)
    with pytest.raises(InputError, match="exponent"):
        _ = got.present
    with pytest.raises(InputError):
        sf.left_direction(2, "printed")
