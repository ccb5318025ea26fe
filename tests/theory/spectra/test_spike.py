"""O2 and R3 symbolically: the maps against the resolvent equations, against each other and against their inverses."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.numbers.symbols import c, ell, psi, theta, w, x, zeta
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.spectra import marchenko_pastur as mp
from bulkedge.theory.spectra import spike, spiked_matrices

R, C, W, A = spike.RECTANGULAR, spike.COVARIANCE, spike.WIGNER, spike.WISHART


def test_rectangular_outlier_solves_the_resolvent_equation():
    # s^2 G_d(s^2) G_N(s^2) = 1/theta^2, G = -m the traces of the resolvents on the two sides (Benaych-Georges 2012).
    s2 = R.outlier**2
    g_N, g_d = 1 / (psi + theta**2), 1 / (1 + theta**2)
    assert sp.simplify(mp.stieltjes_equation(psi, sp.Integer(1)).lhs.subs({w: s2, m: -g_N})) == 0
    assert sp.simplify(mp.companion(-g_N, psi).subs(w, s2) + g_d) == 0
    assert sp.simplify(s2 * g_d * g_N - 1 / theta**2) == 0


@pytest.mark.parametrize(("ratio", "strength"), [(sp.Rational(1, 2), 2), (sp.Integer(3), 2), (sp.Integer(1), 3)])
def test_rectangular_overlaps_by_residues(ratio, strength):
    # |<u, left vector>|^2 = -2 phi_u(s)/(theta^2 D'(s)), D = phi_u phi_v, phi_u = s G_d(s^2), and likewise for v.
    s = sp.Symbol("s", positive=True)
    g_N = -mp.stieltjes(ratio, sp.Integer(1)).subs(w, s**2)
    g_d = ratio * g_N + (1 - ratio) / s**2
    product = s**2 * g_d * g_N
    values = {theta: strength, psi: ratio}
    at = {s: sp.N(R.outlier.subs(values), 40)}
    slope = sp.diff(product, s).subs(at)
    for name, trace in (("d", g_d), ("N", g_N)):
        # Normalisation: the residue of the bordered resolvent at its pole, halved between +s and -s.
        found = -2 * (s * trace).subs(at) / (sp.Integer(strength) ** 2 * slope)
        assert abs(sp.N(found - R.overlap(name).subs(values), 30)) < 1e-25


@pytest.mark.parametrize("law", [R, C, W, A], ids=lambda law: law.name)
def test_inverse_map(law):
    for strength in (sp.Integer(3), sp.Integer(4)):
        values = {law.strength: strength, psi: sp.Rational(7, 5), c: sp.Rational(7, 5)}
        back = law.inverse.subs(x, law.outlier).subs(values)
        assert sp.simplify(back - strength) == 0


def test_inverse_below_the_bulk():
    values = {ell: sp.Rational(1, 5), c: sp.Rational(1, 4)}
    assert sp.simplify(C.inverse.subs(x, C.outlier).subs(values) - sp.Rational(1, 5)) == 0
    assert sp.simplify(W.inverse.subs(x, W.outlier).subs(zeta, -3) + 3) == 0
    # Below a Wishart bulk: past theta = c - 1 (an outlier at 0), under the zeros of W and in the gap above them.
    for ratio, strength in ((sp.Rational(1, 2), -1), (sp.Rational(1, 2), sp.Rational(-1, 2)), (4, -1), (4, 1)):
        values = {zeta: strength, c: ratio}
        assert sp.simplify(A.inverse.subs(x, A.outlier).subs(values) - strength) == 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("ratio", [sp.Rational(1, 2), sp.Integer(3)])
def test_a_wishart_outlier_has_the_resolvent_of_its_strength(ratio, sign):
    """G = 1/theta and overlap -1/(theta^2 G'), by quadrature of the density: not by the R-transform."""
    import mpmath

    strength = (ratio + sp.sqrt(ratio)) * sp.Rational(3, 2) if sign > 0 else sp.Rational(-2, 3)
    values = {zeta: strength, c: ratio}
    position = mpmath.mpf(sp.N(A.outlier.subs(values), 25))
    low, high = ((1 - mpmath.sqrt(float(ratio))) ** 2, (1 + mpmath.sqrt(float(ratio))) ** 2)
    r = mpmath.mpf(float(ratio))

    def trace(power):
        # t = low + (high - low) sin^2(a): no singular end
        def integrand(a):
            t = low + (high - low) * mpmath.sin(a) ** 2
            density = (high - low) * mpmath.sin(a) * mpmath.cos(a) / (2 * mpmath.pi * r * t)
            return density * 2 * (high - low) * mpmath.sin(a) * mpmath.cos(a) / (position - t) ** power

        return mpmath.quad(integrand, [0, mpmath.pi / 2]) + max(1 - 1 / r, 0) / position**power

    theta_ = mpmath.mpf(sp.N(strength, 25))
    assert abs(trace(1) - 1 / theta_) < 1e-12
    assert abs(1 / (theta_**2 * trace(2)) - mpmath.mpf(sp.N(A.overlap("vector").subs(values), 25))) < 1e-12


def test_a_strength_is_told_its_own_threshold():
    """Also below one, and for strengths of either sign; the zeros of a wide Wishart matrix have thresholds too."""
    half, root = sp.Rational(1, 2), sp.sqrt(2) / 2
    cases = [
        (C, ell, half, half / 2, 1 - root),
        (C, ell, half, 3, 1 + root),
        (C, ell, 2, half, 0),  # at c >= 1 none leaves downwards
        (W, zeta, 1, -3, -1),
        (W, zeta, 1, 3, 1),
        (A, zeta, half, 2, half + root),
        (A, zeta, half, sp.Rational(1, 10), half + root),  # positive: it would leave upwards
        (A, zeta, half, -1, half - root),
        (A, zeta, 4, 1, 2),
        (A, zeta, 4, 3, 6),
        (A, zeta, 4, -1, 2),
    ]
    for law, strength, ratio, value, expected in cases:
        assert sp.simplify(law.own_threshold().subs({strength: value, c: ratio}) - expected) == 0


@pytest.mark.parametrize("law", [C, W, A], ids=lambda law: law.name)
def test_the_lower_threshold_meets_the_lower_edge(law):
    ratio = sp.Rational(1, 3)
    at = law.lower_threshold.subs(c, ratio)
    values = {c: ratio, law.strength: at}
    assert sp.simplify((law.outlier - law.edge).subs(values)) == 0
    assert all(sp.simplify(overlap.subs(values)) == 0 for _, overlap in law.overlaps)
    just_below = {c: ratio, law.strength: at - sp.Rational(1, 10**30)}
    assert law.above.subs(just_below) == sp.true
    assert law.above.subs({c: ratio, law.strength: at + sp.Rational(1, 10**30)}) == sp.false


def test_a_spiked_covariance_is_a_rectangular_spike():
    # Rows z + sqrt(ell - 1) u v^T over sqrt n: noise variance 1/n with n in the part of d, p in the part of N.
    values = {psi: c, theta: sp.sqrt(ell - 1)}
    assert sp.simplify(R.outlier.subs(values) ** 2 - C.outlier) == 0
    assert sp.simplify(R.overlap("N").args[0][0].subs(values) - C.overlap("vector").args[0][0]) == 0
    scores = C.overlap("scores").args[0][0] * (ell - 1) / ell
    assert sp.simplify(R.overlap("d").args[0][0].subs(values) - scores) == 0


@pytest.mark.parametrize("law", [R, C, W, A], ids=lambda law: law.name)
def test_everything_is_continuous_at_the_threshold(law):
    ratio = sp.Rational(3, 2)
    values = {psi: ratio, c: ratio, law.strength: law.threshold.subs({psi: ratio, c: ratio})}
    assert sp.simplify((law.outlier - law.edge).subs(values)) == 0
    assert sp.simplify(law.variance.subs(values)) == 0
    assert all(sp.simplify(overlap.subs(values)) == 0 for _, overlap in law.overlaps)


def test_the_threshold_is_decided_exactly():
    # theta = 3/2, psi = 81/16: exactly at the threshold, so no outlier; a hair above there is one.
    at = {theta: sp.Rational(3, 2), psi: sp.Rational(81, 16)}
    assert R.position().subs(at) == sp.Rational(13, 4)
    assert R.overlap("d").subs(at) == 0
    above = {theta: sp.Rational(3, 2) + sp.Rational(1, 10**40), psi: sp.Rational(81, 16)}
    assert R.overlap("d").subs(above) > 0


def test_known_values():
    # Baik & Silverstein's map at c = 1/4 (ell - 1 = 1, 3).
    at = {c: sp.Rational(1, 4)}
    assert C.position().subs({**at, ell: 2}) == sp.Rational(5, 2)
    assert C.overlap("vector").subs({**at, ell: 2}) == sp.Rational(3, 5)
    assert C.position().subs({**at, ell: 4}) == sp.Rational(13, 3)
    assert C.overlap("vector").subs({**at, ell: 4}) == sp.Rational(35, 39)
    assert C.position().subs({**at, ell: sp.Rational(3, 2)}) == sp.Rational(9, 4)
    assert C.position().subs({**at, ell: sp.Rational(3, 5)}) == sp.Rational(1, 4)
    assert W.position().subs(zeta, -2) == -sp.Rational(5, 2)
    assert W.position().subs(zeta, sp.Rational(-1, 2)) == -2
    assert W.position().subs(zeta, 0) == 2  # not between the edges
    assert A.position().subs({c: sp.Rational(1, 2), zeta: 2}) == sp.Rational(10, 3)
    assert A.overlap("vector").subs({c: sp.Rational(1, 2), zeta: 2}) == sp.Rational(7, 9)
    assert A.position().subs({c: 4, zeta: 0}) == 9  # no spike, though the zeros' condition holds


def test_variances_from_the_resolvent_and_of_the_gaussian_case():
    # Three independent bilinear forms fluctuate: u.R u, v.R v and u.R W v, for uniform unit vectors u and v.
    t = sp.Symbol("t", positive=True)  # theta^2
    y = (1 + t) * (psi + t) / t
    g_d, g_N, slope = 1 / (1 + t), 1 / (psi + t), sp.diff((1 + t) * (psi + t) / t, t)
    d_d, d_N = sp.diff(g_d, t) / slope, sp.diff(g_N, t) / slope
    var_u, var_v = 2 * y * (-d_d - g_d**2), 2 * y * (-d_N - g_N**2) / psi
    var_cross = (-y * d_d - g_d) / psi
    product_slope = sp.diff(1 / t, t) / slope * 2 * sp.sqrt(y)
    variance = (y * g_N**2 * var_u + y * g_d**2 * var_v + 4 * var_cross / t) / product_slope**2
    assert sp.simplify(variance - R.variance.subs(theta, sp.sqrt(t))) == 0
    # Paul (2007): n = 800, p = 200, ell = 4 has standard deviation 0.1972.
    assert float(sp.sqrt(C.variance.subs({ell: 4, c: sp.Rational(1, 4)}) / 800)) == pytest.approx(0.1972, abs=5e-5)


def test_statements_are_equations():
    assert isinstance(spike.rectangular_outlier(), sp.Eq)
    assert isinstance(spiked_matrices.covariance_outlier(), sp.Eq)
    assert isinstance(spiked_matrices.wishart_outlier(), sp.Eq)


@pytest.mark.parametrize("model", spike.MAPS, ids=lambda m: m.name)
@pytest.mark.parametrize("ratio", [sp.Rational(1, 3), sp.Integer(1), sp.Integer(4)])
def test_conditions_are_even_about_the_centre_and_thresholds_lie_on_it(model, ratio):
    values = {psi: ratio, c: ratio}
    centre, threshold = (e.subs(values) for e in (model.centre, model.threshold))
    for distance in (sp.Rational(1, 7), sp.Rational(3, 4), sp.Rational(5, 4), sp.Integer(3)):
        up, down = (model.above.subs({model.strength: centre + s * distance, **values}) for s in (1, -1))
        assert bool(up) == bool(distance > threshold - centre)
        if model.name != "wishart" or centre != distance:  # there strength 0 is no spike at all
            assert bool(up) == bool(down)


@pytest.mark.parametrize("model", spike.MAPS, ids=lambda m: m.name)
@pytest.mark.parametrize("ratio", [sp.Rational(1, 3), sp.Integer(1), sp.Integer(4)])
def test_what_lies_outside_is_what_a_strength_is_read_from(model, ratio):
    """Beyond the upper edge always, inside never, below only where the inverse gives a strength that is above."""
    values = {psi: ratio, c: ratio}
    upper = model.edge.subs({model.strength: 50, **values})
    for position in (sp.Rational(k, 20) for k in range(-60, 160, 7)):
        seen = bool(model.outside.subs({x: position, **values}))
        if position > upper:
            assert seen
        if seen:
            strength = model.inverse.subs({x: position, **values})
            assert model.above.subs({model.strength: strength, **values}) == sp.true
            assert abs(sp.N(model.outlier.subs({model.strength: strength, **values}) - position, 30)) < 1e-25
