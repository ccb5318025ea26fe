"""numerics/ridge.py: the twin of theory/ridge.py, Mei and Montanari's second route, limits, laws, bad input."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from effort import at_most
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import ordinary_routes as routes
from bulkedge.numerics.risk.mei_montanari import mei_montanari_risk
from bulkedge.numerics.risk.ridge import Constants, effective_ridge, kernel_risk, ridge_risk
from bulkedge.numerics.risk.ridge_error import ridge_risk_with_error
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.numbers import symbols as sym
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.risk import ridge as theory

ANY = Constants(0.6, 0.2, 0.3, 0.7, 0.35)

positive = st.floats(0.05, 3.0)
ratio = st.floats(0.05, 20.0)
ridge = st.floats(-8, 2).map(lambda e: 10.0**e)


def _far_from_peak(p1: float, p2: float, lam: float) -> bool:
    return lam > 1e-5 or abs(math.log(p1 / p2)) > 0.02


@pytest.mark.parametrize(
    ("p1", "p2", "lam", "eta", "alpha", "s"),
    [(1.5, 2.5, 0.1, 1.7, 0.8, 0.3), (3.0, 0.4, 1e-3, 0.5, 3.0, 0.0), (0.3, 1.0, 2.0, 6.0, 1.5, 1.0)],
)
def test_twin_of_the_symbols(p1: float, p2: float, lam: float, eta: float, alpha: float, s: float) -> None:
    """The theory's expressions, solved and evaluated with 40 digits, against the vectorised float twin."""
    values = {
        sym.psi1: p1, sym.psi2: p2, sym.lam: lam, sym.eta: eta, sym.alpha: alpha, sym.s_eps: s,
        sym.mu1: -0.6, sym.mu2: 0.2, sym.mu0_star: 0.3, sym.mu1_star: 0.7, sym.mu2_star: 0.35,
    }  # fmt: skip
    exact = {k: sp.Rational(v) for k, v in values.items()}
    equation = theory.effective_ridge_equation()
    gap = (equation.lhs - equation.rhs).subs(sym.g_res, theory.resolvent()).subs(exact)
    with mpmath.workdps(40):
        got = ridge_risk(Constants(-0.6, 0.2, 0.3, 0.7, 0.35), RidgeProblem(p1, p2, lam, eta, alpha, s))
        kappa = mpmath.findroot(sp.lambdify(sym.kappa, gap, "mpmath"), mpmath.mpf(float(got.kappa)))
        root = sp.Float(kappa, 40)
        at = {**exact, sym.kappa: root}
        at[sym.g_res] = theory.resolvent().subs(at)
        test = float(theory.test_risk().subs(at).evalf(30))
        train = float(theory.train_risk().subs(at).evalf(30))
    assert float(got.kappa) == pytest.approx(float(kappa), rel=1e-13)
    assert float(got.test) == pytest.approx(test, rel=1e-12)
    assert float(got.train) == pytest.approx(train, rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(ratio, ratio, ridge, positive, positive, positive, positive, positive)
def test_no_step_is_mei_montanari(
    p1: float, p2: float, lam: float, mu1: float, mu2: float, linear: float, nonlinear: float, noise: float
) -> None:
    """O3 at eta = 0 by their formula, which shares nothing with ours, to 1e-10."""
    if not _far_from_peak(p1, p2, lam):
        return
    ours = float(
        ridge_risk(Constants(mu1, mu2, 0.0, linear, nonlinear), RidgeProblem(p1, p2, lam, 0.0, noise=noise)).test
    )
    theirs = mei_montanari_risk(p2, p1, lam / p2, mu1, mu2, linear, nonlinear, noise)
    assert ours == pytest.approx(theirs, rel=1e-10)


@settings(max_examples=200, deadline=None)
@given(ratio, ratio, ridge, positive, positive, positive, st.floats(0, 2), st.floats(0, 1.5), ratio)
def test_the_theorem(
    p1: float, p2: float, lam: float, mu1: float, mu2: float, linear: float, nonlinear: float, s: float, alpha: float
) -> None:
    """The gain is non-negative, monotone in eta, and the risk is never below the linear floor."""
    c = Constants(mu1, mu2, 0.0, linear, nonlinear)
    r = ridge_risk(c, RidgeProblem(p1, p2, lam, [0.0, 0.3, 1.0, 3.0, 10.0, 100.0, np.inf], alpha, s))
    scale = 1e-12 * float(np.max(r.test + s**2))
    assert np.all(np.diff(r.test) <= scale)
    assert np.all(r.test >= nonlinear**2 - scale)
    assert np.all(r.bias >= -scale)
    assert np.all(r.variance >= -scale)


@pytest.mark.parametrize(
    ("c", "eta", "gain"),
    [
        (Constants(0.6, 0.2, 0.0, 0.7, 0.3), 1.0, True),
        (Constants(0.0, 0.2, 0.0, 0.7, 0.3), 1.0, False),
        (Constants(0.6, 0.2, 0.0, 0.0, 0.3), 1.0, False),
        (Constants(0.6, 0.2, 0.0, 0.7, 0.3), 0.0, False),
    ],
)
def test_gain_is_zero_iff_a_factor_is(c: Constants, eta: float, gain: bool) -> None:
    r = ridge_risk(c, RidgeProblem(2.0, 1.5, 0.1, [0.0, eta], noise=0.2)).test
    assert bool(r[0] - r[1] > 1e-3) is gain
    assert gain or r[0] == r[1]


@pytest.mark.parametrize(
    ("name", "near", "at"),
    [
        ("ridge below the threshold", {"lam": 1e-11}, {"lam": 0.0}),
        ("ridge above the threshold", {"lam": 1e-11, "psi2": 4.0}, {"lam": 0.0, "psi2": 4.0}),
        ("width 0", {"psi2": 1e-10}, {"psi2": 0.0}),
        ("width oo", {"psi2": 1e10}, {"psi2": np.inf}),
        ("samples oo", {"psi1": 1e10, "alpha": 1.2}, {"psi1": np.inf, "alpha": 1.2}),
        ("batch oo", {"alpha": 1e10}, {"alpha": np.inf}),
        ("step 0", {"eta": 1e-6}, {"eta": 0.0}),
        ("step oo", {"eta": 1e6}, {"eta": np.inf}),
        ("linear activation", {"mu2": 1e-6}, {"mu2": 0.0}),
        ("no linear part", {"mu1": 1e-6}, {"mu1": 0.0}),
        ("linear, ridgeless, N = d", {"mu2": 0.0, "psi2": 1.0, "lam": 1e-10}, {"mu2": 0.0, "psi2": 1.0, "lam": 0.0}),
        ("linear, ridgeless, N > d", {"mu2": 0.0, "psi2": 3.0, "lam": 1e-10}, {"mu2": 0.0, "psi2": 3.0, "lam": 0.0}),
    ],
)
def test_limits(name: str, near: dict[str, float], at: dict[str, float]) -> None:
    """Each exact limit against a nearby ordinary point (distance 1e-6 at most, hence the tolerance)."""
    base = {"psi1": 2.0, "psi2": 1.5, "lam": 0.05, "eta": 1.3, "alpha": 0.7, "noise": 0.2, "mu1": 0.6, "mu2": 0.2}

    def risk(values: dict[str, float]) -> tuple[float, float]:
        v = {**base, **values}
        r = ridge_risk(Constants(v.pop("mu1"), v.pop("mu2"), 0.2, 0.7, 0.3), RidgeProblem(**v))
        return float(r.test), float(r.train)

    assert risk(near) == pytest.approx(risk(at), rel=1e-5, abs=1e-5), name


def test_wide_limit_at_a_proportional_ridge() -> None:
    wide = ridge_risk(ANY, RidgeProblem(0.8, 1e9, 0.3 * 1e9, 2.0, noise=0.1)).test
    assert float(wide) == pytest.approx(float(kernel_risk(ANY, 0.8, 0.3, 0.1)), rel=1e-7)


def test_double_descent_peak() -> None:
    """At N = n the risk grows as lam^(-1/2), with the theory's coefficient; on either side it is finite at lam = 0."""
    lam = 1e-14
    at = float(ridge_risk(ANY, RidgeProblem(1.7, 1.7, lam, 1.3, noise=0.2)).test) + 0.04
    values = {
        sym.psi2: 1.7, sym.mu1: 0.6, sym.mu2: 0.2, sym.mu0_star: 0.3, sym.mu1_star: 0.7, sym.mu2_star: 0.35,
        sym.s_eps: 0.2, sym.alpha: 1.7, sym.eta: 1.3,
    }  # fmt: skip
    g = theory.resolvent().subs(values).subs(sym.kappa, 0)
    assert at * math.sqrt(lam) == pytest.approx(
        float(theory.peak_coefficient().subs(sym.g_res, g).subs(values)), rel=1e-5
    )
    with pytest.raises(InputError, match="ridge above 0"):
        ridge_risk(ANY, RidgeProblem(1.7, 1.7, 0.0, 1.3))
    sides = ridge_risk(ANY, RidgeProblem(1.7, [1.0, 1.6, 1.8, 3.0], 0.0, 1.3)).test
    assert sides[0] < sides[1]
    assert sides[2] > sides[3]


def test_mean_that_nothing_fits_adds_to_the_floor() -> None:
    odd = Constants(0.6, 0.2, 0.3, 0.7, 0.35, fits_mean=False)
    enough = ridge_risk(odd, RidgeProblem(1e7, 1e3, 1e-6, 1.0, alpha=1.0))
    assert float(enough.test) == pytest.approx(0.35**2 + 0.3**2, rel=1e-3)
    assert float(ridge_risk(ANY, RidgeProblem(1e7, 1e3, 1e-6, 1.0, alpha=1.0)).test) == pytest.approx(0.35**2, rel=1e-3)


def test_decomposition_adds_up() -> None:
    r = ridge_risk(ANY, RidgeProblem(1.5, np.linspace(0.1, 4, 7)[:, None], 0.01, np.linspace(0, 5, 5), noise=0.3))
    assert r.test.shape == (7, 5)
    np.testing.assert_allclose(r.test, r.floor + r.bias + r.variance, rtol=1e-14)


@settings(max_examples=100, deadline=None)
@given(ratio, ratio, st.one_of(st.just(0.0), st.floats(1e-290, 10)), positive, positive)
def test_effective_ridge_solves_its_equation(p1: float, p2: float, lam: float, mu1: float, mu2: float) -> None:
    kappa, residual = effective_ridge(p1, p2, lam, mu1, mu2)
    assert residual <= 1e-14
    assert kappa >= lam * (1 - 1e-15)


@pytest.mark.parametrize(("p1", "p2"), [(1e-6, 1e6), (3e-5, 0.7), (0.1, 1.61), (1e6, 1e-6), (1.0, 1 + 2.0**-40)])
@pytest.mark.parametrize("lam", [1e-20, 1e-3, 10.0])
def test_effective_ridge_without_a_linear_part_is_a_quadratic(p1: float, p2: float, lam: float) -> None:
    """mu1 = 0: kappa^2 + (mu2^2 (1 - N/n) - lam) kappa = lam mu2^2, to full accuracy even for N/n = 1e12."""
    with mpmath.workdps(60):
        square = mpmath.mpf(0.3) ** 2
        b = square * (1 - mpmath.mpf(p2) / mpmath.mpf(p1)) - mpmath.mpf(lam)
        root = mpmath.sqrt(b * b + 4 * lam * square)
        exact = (root - b) / 2 if b <= 0 else 2 * lam * square / (b + root)
        kappa, residual = effective_ridge(p1, p2, lam, 0.0, 0.3)
        assert abs(float(kappa) / exact - 1) < 5e-15
    assert residual <= 1e-14


@pytest.mark.parametrize("lam", [1e-300, 1e-100, 1e-20])
def test_effective_ridge_at_the_peak(lam: float) -> None:
    """N = n: kappa = sqrt(lam/h(0)), h(0) = (sqrt 5 - 1)/2 for mu1 = mu2 = psi2 = 1."""
    kappa, _ = effective_ridge(1.0, 1.0, lam, 1.0, 1.0)
    assert float(kappa) == pytest.approx(math.sqrt(lam * 2 / (math.sqrt(5) - 1)), rel=1e-9)


def test_a_curve_of_1000_points_is_one_vectorised_call() -> None:
    """1000 different ridge problems (each with its own effective ridge) take no more calls than a few per iteration."""
    psi = np.linspace(0.1, 5, 1000)
    with at_most(10_000):
        ridge_risk(ANY, RidgeProblem(psi, 2.0, 1e-4, 1.0))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"lam": -1.0}, "ridge"),
        ({"lam": np.inf}, "ridge"),
        ({"psi1": 0.0}, "samples"),
        ({"psi2": -0.1}, "width"),
        ({"alpha": 0.0}, "batch"),
        ({"eta": np.nan}, "step"),
        ({"noise": np.inf}, "noise"),
        ({"noise": -0.1}, "noise"),
    ],
)
def test_bad_input(arguments: dict[str, float], named: str) -> None:
    good = {"psi1": 2.0, "psi2": 1.0, "lam": 0.1, "eta": 1.0}
    with pytest.raises(InputError) as caught:
        ridge_risk(ANY, RidgeProblem(**{**good, **arguments}))
    assert caught.value.argument == named


def test_constant_activation_and_infinite_variance_are_refused() -> None:
    with pytest.raises(InputError, match="constant"):
        ridge_risk(Constants(0.0, 0.0, 0.0, 0.7, 0.3), RidgeProblem(1.0, 2.0, 0.1, 1.0))
    with pytest.raises(InputError, match="link"):
        ridge_risk(Constants(0.6, 0.2, 0.0, 0.7, np.inf), RidgeProblem(1.0, 2.0, 0.1, 1.0))


@pytest.mark.parametrize("width", [0.4, 5.0])
@pytest.mark.parametrize("lam", [1e-3, 1e-7])
def test_a_rich_linear_model_keeps_its_digits(width: float, lam: float) -> None:
    """Without a rest of the features t and kappa t' agree to order kappa: the risk is what they differ by."""
    c = Constants(1.285, 0.0, 0.0, 0.1158, 0.0)
    found, errors = ridge_risk_with_error(c, RidgeProblem(25.0, width, lam, np.array([30.0]), 0.023), 0.0, 0.0)
    right = routes.ridge_risk(routes.RiskConstants(1.285, 0.0, 0.0, 0.1158, 0.0), 25.0, width, lam, 30.0, 0.023, 0.0)
    assert abs(float(found.test[0]) - right.test) <= float(errors["test"][0])
    assert float(errors["test"][0]) < 1e-12 * right.test


def test_more_neurons_than_samples_keep_their_digits() -> None:
    """At N/n = 15 the two terms of 1 - df1/n were 15 and -15: kappa lost a digit, and the training error two."""
    c, p = Constants(0.356731, 0.0, 0.0, 0.0134592, 0.0484037), (0.840121, 12.9027, 0.000278829)
    found, errors = ridge_risk_with_error(c, RidgeProblem(*p, np.array([0.5]), 21.8598, 0.1), 0.0, 0.0)
    own = routes.RiskConstants(0.356731, 0.0, 0.0, 0.0134592, 0.0484037)
    right = routes.ridge_risk(own, *p, 0.5, 21.8598, 0.1)
    assert abs(float(found.train[0]) - right.train) <= float(errors["train"][0])
    assert float(found.train[0]) == pytest.approx(right.train, rel=1e-14)
    assert float(found.kappa[0]) == pytest.approx(right.kappa, rel=5e-15)
