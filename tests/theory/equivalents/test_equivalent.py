"""Equivalents against closed forms, known constants and identities that the engine does not know of."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read, values_of
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import ConvergenceError, InputError
from bulkedge.theory.numbers.symbols import w
from bulkedge.theory.spectra import marchenko_pastur

POSITIVE = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=50)
RATIO = st.fractions(min_value=Fraction(1, 6), max_value=6, max_denominator=12)


def mp(expression: str = "tr(inv(X.T*X + lam))", n: object = 2, d: object = 1, **more: str) -> Equivalent:
    return read(expression, declare("X: n x d, 1/n", size=f"n={n},d={d}", positive="lam", **more))


def value(e: Equivalent, text: str = "", digits: int = 25) -> Fraction:
    found = e.enclose(values_of(text, e.symbols), digits)
    assert found.reaches(digits) or abs(found.value) < Fraction(1, 10**digits)
    return found.value


def close(a: Fraction | sp.Expr, b: Fraction | sp.Expr, digits: int) -> bool:
    return abs(Fraction(a) - Fraction(b)) <= max(abs(Fraction(a)), Fraction(1, 1000)) * Fraction(1, 10**digits)


# -- E5: the prototype's numbers and Marchenko-Pastur -----------------------------------------------------------------


def test_two_exactly() -> None:
    assert close(value(mp(n=1, d=2), "lam=3/10"), Fraction(2), 25)


@settings(max_examples=12)
@given(RATIO, POSITIVE, POSITIVE)
def test_marchenko_pastur(ratio: Fraction, lam: Fraction, scale: Fraction) -> None:
    model = declare(f"X: n x d, ({scale})/n", size=f"n=1,d={ratio}", positive="lam")
    e = read("tr(inv(X.T*X + lam))", model)
    closed = marchenko_pastur.stieltjes(sp.Rational(ratio), sp.Rational(scale)).subs(w, -sp.Rational(lam))
    with ball.precision(200):
        expected = ball.to_enclosure(ball.constant(closed)).value
    assert close(value(e, f"lam={lam}"), expected, 24)


@settings(max_examples=8)
@given(RATIO, POSITIVE)
def test_identities_of_the_resolvent(ratio: Fraction, lam: Fraction) -> None:
    """1 = lam tr Q + tr Q X^T X, and both sides of X (X^T X + lam)^-1 = (X X^T + lam)^-1 X."""
    at = f"lam={lam}"
    first, second = mp(n=1, d=ratio), mp("tr(inv(X.T*X + lam)*X.T*X)", n=1, d=ratio)
    assert close(lam * value(first, at) + value(second, at), Fraction(1), 22)
    left, right = mp("tr(X*inv(X.T*X + lam)*X.T)", 1, ratio), mp("tr(inv(X*X.T + lam)*X*X.T)", 1, ratio)
    assert close(value(left, at), value(right, at), 22)
    square = mp("tr(inv(X.T*X + lam)**2)", 1, ratio)  # minus the derivative in lam, by the polynomial
    v, s = sp.Symbol("value"), sp.Symbol("lam", positive=True)
    p = first.reduced.polynomial
    assert p is not None
    slope = (-p.diff(s) / p.diff(v)).subs({s: sp.Rational(lam), v: sp.Rational(value(first, at, 60))})
    assert close(-slope, value(square, at), 22)


def test_ridge_regression() -> None:
    """E5: n = 2d, ridge 1/10, noise 1/2, against the closed form with Marchenko-Pastur traces, to 20 digits."""
    model = declare(["X: n x d, 1", "beta: d x 1, 1/d", "e: n x 1, 1"], size="n=2,d=1", positive="lam,s")
    e = read("let b = inv(X.T*X/n + lam)*X.T*(X*beta + s*e)/n - beta; b.T*b", model)
    found = value(e, "lam=1/10,s=1/2")
    assert abs(float(found) - 0.1767837257) < 5e-11
    # bias lam^2 tr Q^2, variance s^2 (d/n) tr Q S Q = s^2 (d/n) (tr Q - lam tr Q^2).
    one, two = value(mp(), "lam=1/10", 40), value(mp("tr(inv(X.T*X + lam)**2)"), "lam=1/10", 40)
    lam = Fraction(1, 10)
    assert close(found, lam**2 * two + (one - lam * two) / 8, 20)
    assert e.system.pencil.blocks <= 6


O3 = (
    "let u = Xs.T*(ms*Xs*beta + e1)/n1; let W = W0 + eta*mu1*u*a.T; let F = mu1*X*W + mu2*Z;"
    "let ah = inv(F.T*F/n + lam)*F.T*(ms*X*beta + e)/n;"
)
STEP = [
    "X: n x d, 1",
    "Xs: n1 x d, 1",
    "W0: d x N, 1/d",
    "a: N x 1, 1/N",
    "Z: n x N, 1",
    "beta: d x 1, 1/d",
    "e1: n1 x 1, s2",
    "e: n x 1, s2",
]
# E z tanh z and what is left of E tanh^2, by mpmath's quadrature at 40 digits.
TANH = (
    "mu1=0.6057055096021588255835402275558804,ms=0.6057055096021588255835402275558804,"
    "mu2=0.1655757410837416640309975838002437,s2=0.02741532603543025715602361010855036,eta=1,lam=1/10"
)


def step_model() -> object:
    return declare(STEP, size="n=3,N=2,d=1,n1=1", positive="eta,mu1,mu2,ms,lam,s2")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("beta.T*W*ah", 0.7419091042446855),
        ("ah.T*W.T*W*ah", 0.6243992523049858),
        ("ah.T*ah", 0.4125959011637718),
    ],
)
def test_features_after_a_step(asked: str, expected: float) -> None:
    """E5's numbers: tanh on tanh, psi1 = 3, psi2 = 2, ridge 1/10, n1 = d, step 1."""
    e = read(O3 + asked, step_model())  # type: ignore[arg-type]
    # The prototype's own constants of tanh were good to some 1e-12; the closed form O3 is compared to more digits.
    assert abs(float(value(e, TANH, 15)) - expected) < 3e-12


# -- spectral laws, symmetric matrices, several forms -----------------------------------------------------------------


def test_semicircle_and_its_branch() -> None:
    e = read("tr(inv(z - H))", declare("H: n x n symmetric, 1/n", real="z"))
    z = sp.Rational(5, 2)
    assert close(value(e, "z=5/2"), Fraction((z - sp.sqrt(z**2 - 4)) / 2), 20)
    assert close(value(e, "z=-5/2"), Fraction(-(z - sp.sqrt(z**2 - 4)) / 2), 20)
    with pytest.raises(ConvergenceError, match="branch test"):
        value(e, "z=1")


def test_an_inverse_that_is_lost_on_the_way_is_not_answered() -> None:
    """(1 - c X)^-1 of a square non-symmetric X: the equation says 1 for every c, right only for c < 1."""
    e = read("tr(inv(1 - c*X))", declare("X: n x n, 1/n", positive="c"))
    assert value(e, "c=9/10") == 1
    for c in ("1", "2"):
        with pytest.raises(ConvergenceError, match="branch test"):
            value(e, f"c={c}")


def test_general_population_against_silverstein() -> None:
    """Silverstein's equation for (1/n) S^1/2 Z^T Z S^1/2, S of levels 1 and 4, at -lam: a fixed point by iteration."""
    model = declare("X: n x d, 1/n", size="n=2,d=1", deterministic="S: d, atoms 1:1/2 4:1/2", positive="lam")
    found = value(read("tr(inv(S*X.T*X + lam))", model), "lam=3/10", 20)
    lam, v = 0.3, 1.0
    for _ in range(500):  # v = 1/(lam + c E t/(1 + t v)), c = d/n: the companion's transform
        v = 1 / (lam + 0.5 * (0.5 / (1 + v) + 0.5 * 4 / (1 + 4 * v)))
    assert abs(float(found) - (0.5 / (lam * (1 + v)) + 0.5 / (lam * (1 + 4 * v)))) < 1e-14
    both = declare("X: n x d, 1/n", size="n=2,d=1", deterministic="R S: d, atoms 1,1:1/2 2,4:1/2", positive="lam")
    assert close(value(read("tr(inv(R*X.T*X*R + lam))", both), "lam=3/10", 20), found, 19)
    weighed = value(read("tr(S*inv(R*X.T*X*R + lam))", both), "lam=3/10", 20)
    assert abs(float(weighed) - (0.5 / (lam * (1 + v)) + 0.5 * 4 / (lam * (1 + 4 * v)))) < 1e-14


@pytest.mark.parametrize("z", [7, -1, Fraction(61, 10)])
def test_spike_does_not_move_the_trace(z: object) -> None:
    """A rank-one spike of a rectangular matrix leaves the trace of the resolvent, and its pencil has 4 blocks."""
    model = declare(["W: d x N, 1/d", "u: d x 1, 1/d", "v: N x 1, 1/N"], size="N=2,d=1", positive="theta", real="z")
    e = read("let A = W + theta*u*v.T; tr(inv(z - A*A.T))", model)
    plain = read("tr(inv(z - W*W.T))", declare("W: d x N, 1/d", size="N=2,d=1", real="z"))
    assert close(value(e, f"theta=3/2,z={z}"), value(plain, f"z={z}"), 22)
    assert (e.system.pencil.before, e.system.pencil.blocks) == (14, 4)


def test_a_sum_of_functionals() -> None:
    e = mp("1 - lam*tr(inv(X.T*X + lam)) - tr(inv(X.T*X + lam)*X.T*X)")
    assert value(e, "lam=1/3") == 0
    quotient = mp("tr(inv(X.T*X + lam))/tr(inv(X*X.T + lam))")
    assert close(value(quotient, "lam=1/3"), value(mp(), "lam=1/3") / value(mp("tr(inv(X*X.T+lam))"), "lam=1/3"), 20)


# -- equations and polynomials ----------------------------------------------------------------------------------------


def test_marchenko_pastur_is_reduced_to_two_blocks_and_its_quadratic() -> None:
    e = read("tr(inv(X.T*X + lam))", declare("X: n x d, 1/n", size="n=1,d=c", positive="lam,c"))
    assert (e.system.pencil.before, e.system.pencil.blocks) == (6, 2)
    lam, c = sp.symbols("lam c", positive=True)
    v = sp.Symbol("value")
    assert e.reduced.polynomial is not None
    assert sp.expand(e.reduced.polynomial - (c * lam * v**2 + (lam + 1 - c) * v - 1)) == 0


def test_a_cubic_of_a_product() -> None:
    """E5: tr ((X W)^T X W + 1/2)^-1, n = 3d/2, p = c d: a cubic; it vanishes at the enclosed value."""
    model = declare(["X: n x d, 1/n", "W: d x p, 1/d"], size="n=3/2,d=1,p=c", positive="c")
    e = read("tr(inv((X*W).T*(X*W) + 1/2))", model)
    v, c = sp.Symbol("value"), sp.Symbol("c", positive=True)
    assert e.reduced.polynomial is not None
    assert sp.degree(e.reduced.polynomial, v) == 3
    at = e.reduced.polynomial.subs({c: sp.Rational(5, 3), v: sp.Rational(value(e, "c=5/3", 40))})
    assert abs(at) < 1e-36
    assert e.system.pencil.blocks <= 4


def test_the_equations_hold_at_the_solution() -> None:
    """With the value inserted, the remaining equations have a common real root."""
    model = declare(["X: n x d, 1/n", "W: d x p, 1/d"], size="n=3/2,d=1,p=2", positive="lam")
    e = read("tr(inv((X*W).T*(X*W) + lam))", model)
    reduced = e.reduced
    at = {sp.Symbol("lam", positive=True): sp.Rational(1, 2), sp.Symbol("value"): sp.Rational(value(e, "lam=1/2", 50))}
    assert len(reduced.unknowns) == len(reduced.equations) == 2
    first, second = (sp.Poly(x.subs(at), sp.Symbol(reduced.unknowns[0])) for x in reduced.equations)
    assert any(abs(second.eval(r)) < 1e-25 for r in first.nroots(n=40))


def test_sympy_expressions() -> None:
    n, d, c, lam = sp.symbols("n d c lam", positive=True)
    X = sp.MatrixSymbol("X", n, d)
    model = declare({X: 1 / n}, size={n: 1, d: c}, positive=[lam])
    trace = sp.Trace((X.T * X + lam * sp.Identity(d)).inv())
    text = read("tr(inv(X.T*X + lam))", declare("X: n x d, 1/n", size="n=1,d=c", positive="lam,c"))
    for asked in (trace, trace / d):
        assert read(asked, model).reduced.polynomial == text.reduced.polynomial
    y = sp.MatrixSymbol("y", n, 1)
    both = declare({X: 1 / n, y: 1 / n}, size={n: 1, d: c}, positive=[lam])
    form = read(y.T * X * X.T * y, both)
    assert form.reduced.polynomial in (sp.Symbol("value") - c, c - sp.Symbol("value"))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("tr(inv(X.T*X))", "need not exist"),
        ("tr(inv(X*X.T + X.T*X))", "are added"),
        ("tr(X)", "not square|tr of a n x d"),
        ("tr(X*X)", "times a n x d"),
        ("X.T*X", "take tr"),
        ("1 + lam", "no matrix"),
        ("tr(inv(X.T*X/n + lam))", "order size"),
        ("tr(X.T*X)/n", "not of order one"),
        ("tr(inv(X.T*X + mu))", "mu is not declared"),
        ("tr(inv(X.T*X + lam)*tr(X.T*X))", "inside a matrix"),
        ("__import__('os').system('true')", "not understood"),
        ("tr(X.H*X)", "transpose is .T"),
        ("tr(exp(X.T*X))", "no product of two Gaussian"),
        ("let A = X; let A = X.T; tr(A*X)", "has a meaning already"),
        ("tr(inv(X.T*X + lambda))", "write lam"),
        ("tr((X.T*X)**x)", "not declared"),
        ("tr(inv(X.T*X + lam)", "not an expression"),
        ("tr(" * 200 + "X", "not an expression|nested too deeply"),
        ("", "no expression|not an expression|nothing"),
    ],
)
def test_what_is_outside_is_refused(expression: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        _ = mp(expression).system


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"gaussian": "X: n x d"}, "not understood"),
        ({"gaussian": ["X: n x d, 1/n", "X: n x n, 1/n"], "size": "n=1,d=1"}, "two meanings"),
        ({"gaussian": "X: n x d, -1/n", "size": "n=1,d=1"}, "not positive"),
        ({"gaussian": "X: n x d, 1/m", "size": "n=1,d=1"}, "m is not declared"),
        ({"gaussian": "X: n x d, 1/n"}, "has no size"),
        ({"gaussian": "X: n x d, 1/n", "size": "n=1,d=1,k=2"}, "no dimension"),
        ({"gaussian": "X: n x d, 1/n", "size": "n=1,d=-1"}, "not positive"),
        ({"gaussian": "H: n x d symmetric, 1/n", "size": "n=1,d=1"}, "not square"),
        ({"gaussian": "x: 1 x 1, 1"}, "does not concentrate"),
        ({"gaussian": "lambda: n x d, 1"}, "reserved"),
        (
            {
                "gaussian": "X: n x d, 1/n",
                "size": "n=1,d=1",
                "deterministic": ["S: d, atoms 1:1", "T: d, atoms 1:1/2 2:1/2"],
            },
            "commute",
        ),
        ({"gaussian": "X: n x d, 1/n", "size": "n=1,d=1", "deterministic": "S: d, atoms 1:1/2 2:1/3"}, "add up"),
    ],
)
def test_declarations_that_are_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        declare(**arguments)  # type: ignore[arg-type]


def test_a_trace_of_deterministic_matrices_alone() -> None:
    """No block of their dimension is left in the pencil; their law is (0 was given beside a random matrix before)."""
    model = declare("X: n x m, 1/n", size="n=1,m=1,d=2", deterministic="S: d, atoms 1:1/2 2:1/2", positive="lam")
    for expression, expected in (("lam*tr(S*S)", 2.5), ("tr(S*S) + tr(inv(X.T*X + lam))", 2.5 + (5**0.5 - 1) / 2)):
        e = read(expression, model)
        assert float(e.enclose(values_of("lam=1", e.symbols), 15)) == pytest.approx(expected, rel=1e-14)
        assert e.reduced.polynomial is not None
