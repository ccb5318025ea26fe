"""Kernels of two functions with means: against iterated quadrature that knows nothing of them; singular pairs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.special
import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.gaussian import plane
from bulkedge.theory.kernels.kernel import dual, dual_of_correlation, shifted
from bulkedge.theory.kernels.kernel_value import covariance, value
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import q11, q12, q22, rho

R = sp.Rational
FUNCTIONS = {  # the function in floats, and its kinks
    "relu": (lambda x: np.maximum(x, 0), (0.0,)),
    "abs": (np.abs, (0.0,)),
    "step": (lambda x: (x > 0) * 1.0, (0.0,)),
    "hard_tanh": (lambda x: np.clip(x, -1, 1), (-1.0, 1.0)),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), (0.0,)),
    "gelu": (lambda x: x * scipy.special.ndtr(x), ()),
    "tanh": (np.tanh, ()),
    "sin(z)": (np.sin, ()),
    "z**2": (np.square, ()),
    "relu(z - 1/10)*tanh(z)": (lambda x: np.maximum(x - 0.1, 0) * np.tanh(x), (0.1,)),
}
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


def _rule(breaks):
    """Gauss-Legendre between break points of [-9, 9]."""
    cuts = sorted({-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0, *(b for b in breaks if -9 < b < 9)})
    x = [(a + b) / 2 + (b - a) / 2 * _NODES for a, b in itertools.pairwise(cuts)]
    w = [(b - a) / 2 * _WEIGHTS for a, b in itertools.pairwise(cuts)]
    points = np.concatenate(x)
    return points, np.concatenate(w) * np.exp(-(points**2) / 2) / math.sqrt(2 * math.pi)


def quadrature(f, g, m1, m2, q1, q2, r):
    """E f(m1 + s u) E[g(m2 + t (r u + c w)) | u], cut where f, g and the conditional mean of g turn."""
    (f, kf), (g, kg) = FUNCTIONS[f], FUNCTIONS[g]
    s, t, c = math.sqrt(q1), math.sqrt(q2), math.sqrt((1 - r) * (1 + r))
    turns = [(k - m2) / t / r for k in kg] if r and t else []
    width = c / abs(r) if r else 0.0
    u, wu = _rule([*((k - m1) / s for k in kf if s), *(x + width * y for x in turns for y in (-8, -4, -2, 0, 2, 4, 8))])
    total = 0.0
    for x, weight in zip(u, wu, strict=True):
        w, ww = _rule([((k - m2) / t - r * x) / c for k in kg if c and t])
        total += weight * float(f(m1 + s * x)) * float(ww @ g(m2 + t * (r * x + c * w)))
    return total


CASES = [
    ("relu", "relu", "1/2", "-3/10", 1, 1, "1/2"),
    ("abs", "abs", 1, 1, 1, 1, "1/2"),
    ("relu", "abs", "-7/5", "1/3", 2, "1/3", "-4/5"),
    ("step", "hard_tanh", "1/4", "2/3", "1/2", 3, "-1/2"),
    ("elu", "relu", "2/3", "-2", "3/2", 2, "9/10"),
    ("elu", "elu", "-1", "1/2", 2, "1/2", "-999/1000"),
    ("gelu", "sin(z)", "3/4", "-1/2", 2, "1/2", "3/5"),
    ("gelu", "relu", "3/4", "-1/2", 2, "1/2", "-3/5"),
    ("z**2", "tanh", "-1/3", 2, 2, 3, "-2/3"),
    ("tanh", "relu", "1/2", "-3/10", 2, "1/3", "-9995/10000"),
    ("tanh", "tanh", "-2", "3/2", 1, 4, "99/100"),
    ("relu(z - 1/10)*tanh(z)", "tanh", "1/2", "-1/4", 2, 1, "7/10"),
    ("relu", "tanh", "1/2", "-3/10", 2, "1/3", 0),
    ("relu", "gelu", "1/2", "-3/10", 2, 3, 1),
    ("elu", "hard_tanh", "1/2", "-3/10", 2, 3, -1),
    ("abs", "tanh", "-1/2", "3/10", 0, 3, 0),
    ("relu", "tanh", "1/2", "3/10", 2, 0, 0),
]


@pytest.mark.parametrize(("f", "g", "m1", "m2", "v1", "v2", "r"), CASES)
def test_against_iterated_quadrature(f, g, m1, m2, v1, v2, r):
    m1, m2, v1, v2, r = map(R, (m1, m2, v1, v2, r))
    first, second = shifted(nonlinearity(f), m1), shifted(nonlinearity(g), m2)
    cov = r * sp.sqrt(v1 * v2)
    found = value(first, v1, cov, v2, 15, second)
    truth = quadrature(f, g, *map(float, (m1, m2, v1, v2, r)))
    # The panels carry some 1e-13 of the functions' size, which is a few units here.
    assert float(found) == pytest.approx(truth, rel=1e-11, abs=3e-13)
    assert found.reaches(15) or found.exact
    # The same pair the other way round.
    turned = value(second, v2, cov, v1, 15, first)
    assert abs(turned.value - found.value) <= turned.error + found.error
    # Negative control: exchanged means are something else, where the quadrature tells them apart.
    other = quadrature(f, g, *map(float, (m2, m1, v1, v2, r)))
    if m1 != m2 and abs(other - truth) > 1e-3:
        assert abs(float(found) - other) > 1e-4
    cross = covariance(first, v1, cov, v2, 12, second, found)
    apart = quadrature(f, g, *map(float, (m1, m2, v1, v2, 0)))
    assert float(cross) == pytest.approx(truth - apart, rel=1e-9, abs=1e-12)


def test_values_of_public_threads():
    """E[relu(X + 1/2) relu(Y - 3/10)], Cov(|X|, |Y|) at means one, P(X < 1/4, Y < 1)."""
    relu, absolute = nonlinearity("relu"), nonlinearity("abs")
    one = sp.Integer(1)
    found = value(shifted(relu, R(1, 2)), one, R(1, 2), one, 15, shifted(relu, -R(3, 10)))
    assert found.value_string(11) == "0.33481169352"
    at_one = shifted(absolute, one)
    assert covariance(at_one, one, R(1, 2), one, 15, at_one).value_string(11) == "0.26747152358"
    below = nonlinearity("step(1/4 - z)"), nonlinearity("step(1 - z)")
    assert value(below[0], one, sp.Integer(0), one, 15, below[1]).value_string(12) == "0.503718421551"


def test_closed_forms_hold_in_all_three_covariances():
    f, g = shifted(nonlinearity("relu"), R(1, 2)), shifted(nonlinearity("hard_tanh"), -R(3, 10))
    closed, unit = dual(f, g), dual_of_correlation(f, g)
    assert closed is not None
    assert unit is not None
    assert not closed.free_symbols - {q11, q12, q22}
    at = {q11: R(2), q12: R(-3, 4), q22: R(1, 2)}
    truth = quadrature("relu", "hard_tanh", 0.5, -0.3, 2.0, 0.5, -0.75)
    assert float(closed.subs(at).evalf(20)) == pytest.approx(truth, abs=1e-12)
    assert float(unit.subs(rho, R(1, 3)).evalf(20)) == pytest.approx(
        quadrature("relu", "hard_tanh", 0.5, -0.3, 1.0, 1.0, 1 / 3), abs=1e-12
    )


@pytest.mark.parametrize("f", ["tanh", "elu", "gelu", "He(12, z)", "relu6", "exp(z)", "sqrt(abs(z))", "exp(z**2/9)"])
@pytest.mark.parametrize("a", [R(-7, 3), R(5, 2)])
def test_a_shift_is_the_function_moved(f, a):
    plain = nonlinearity(f)
    moved = shifted(plain, a)
    assert moved.kinks == tuple(k - a for k in plain.kinks)
    for x in (R(-31, 10), R(1, 7), R(29, 10)):
        assert float(moved(x).evalf(30)) == pytest.approx(float(plain(x + a).evalf(30)), rel=1e-14)
    back = shifted(moved, -a)
    assert all(sp.simplify(p.expr - q.expr) == 0 for p, q in zip(back.pieces, plain.pieces, strict=True))
    assert shifted(plain, sp.Integer(0)) is plain


def test_a_singular_pair_takes_the_mean_of_the_sides_at_a_jump():
    one, zero = sp.Integer(1), sp.Integer(0)
    at_jump = shifted(nonlinearity("step(z - 1/2)"), R(1, 2))
    assert value(at_jump, zero, zero, one, 15, nonlinearity("z + 3")).value == R(3, 2)


def test_a_kink_far_out_is_bounded_not_cut_into_panels():
    """relu(z + 1000) is z + 1000 but for exp(-500000); with tanh there is no closed form."""
    far, g = shifted(nonlinearity("relu"), sp.Integer(1000)), shifted(nonlinearity("tanh"), R(1, 3))
    plain = nonlinearity("z + 1000")
    for r in (R(2, 3), R(-9999, 10000)):
        one, other = (value(f, sp.Integer(1), r, sp.Integer(1), 15, g) for f in (far, plain))
        assert abs(one.value - other.value) <= one.error + other.error
        assert one.reaches(15)


def test_the_tail_bound_knows_the_pieces_beyond_the_radius():
    """A piece that starts beyond the radius is in the bound: without it the bound would be that of zero."""
    late = nonlinearity("Piecewise((0, z < 7), (exp(z), True))")
    exact = math.exp(2) * scipy.special.ndtr(-(8.0 - 2.0))  # E[exp(2 z); z > 8]
    assert float(plane._tail(late, 8.0)) >= exact > 0
    assert float(plane._tail(late, 6.5)) >= math.exp(2) * scipy.special.ndtr(-5.0)
    early = nonlinearity("Piecewise((0, z < 7), (exp(z), z < 8), (0, True))")
    assert float(plane._tail(early, 7.5)) > 0
    assert float(plane._tail(early, 9.0)) == 0


def test_a_mean_may_lead_out_of_what_can_be_shown():
    near = Nonlinearity("f", nonlinearity("exp(z**2/5)").pieces)
    assert shifted(near, sp.Integer(3)).pieces[0].growth.c2 < R(1, 4)
    with pytest.raises((InputError, PrecisionError)):
        value(shifted(near, sp.Integer(3)), sp.Integer(3), sp.Integer(1), sp.Integer(3), 15)


def test_decimals_and_large_means_are_quick():
    """exp(p/q) of means with many digits is no polynomial in a common root; exp(9900) none of degree 9900."""
    f = nonlinearity("relu")
    first, second = shifted(f, R(1234567, 10**7)), shifted(f, R(-987654, 10**6))
    closed = dual_of_correlation(first, second)
    assert closed is not None
    found = value(first, sp.Integer(1), R(7, 10), sp.Integer(1), 15, second)
    assert float(found) == pytest.approx(quadrature("relu", "relu", 0.1234567, -0.987654, 1, 1, 0.7), abs=1e-13)
    assert dual_of_correlation(shifted(nonlinearity("elu"), sp.Integer(100)), shifted(f, sp.Integer(-100))) is not None


@pytest.mark.parametrize("r", [pytest.param("0.9999", marks=pytest.mark.exhaustive), "0.99999"])
def test_a_function_that_is_nearly_a_jump(r):
    """sigmoid(1000 z) at rho = 1 - e: within the mass of |z| < 40/1000 of the kernel of the step, and by quadrature."""
    f = nonlinearity("sigmoid(1000*z)")
    found = value(f, sp.Integer(1), R(r), sp.Integer(1), 15)
    assert found.reaches(15)
    FUNCTIONS["steep"] = (lambda x: scipy.special.expit(1000 * x), (-0.04, -0.01, -0.003, 0.0, 0.003, 0.01, 0.04))
    assert float(found) == pytest.approx(quadrature("steep", "steep", 0, 0, 1, 1, float(r)), abs=1e-11)
