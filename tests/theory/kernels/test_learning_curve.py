"""theory/kernels/learning_curve.py: its limits, and the derivatives it needs by differentiating sums of eigenvalues."""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.kernels import learning_curve as lc
from bulkedge.theory.numbers.symbols import kappa, n, s_eps

R = sp.Rational
MODES = ((R(3), R(1, 2), 1), (R(1, 5), R(2), 4), (R(1, 40), R(1, 3), 9))  # lambda_i, c_i, multiplicity


def _sums(gamma: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    shares = [(mult, l / (l + gamma)) for l, _, mult in MODES]
    return sp.Add(*(k * x for k, x in shares)), sp.Add(*(k * x**2 for k, x in shares))


def test_the_risk_is_that_of_ridge_at_kappa_differentiated_by_hand() -> None:
    """b = A - kappa dA/dkappa and df_2 = D + kappa dD/dkappa through kappa(gamma) on three eigenvalues."""
    g, width = lc.gamma, R(17)
    one, two = _sums(g)
    level = g * (1 - one / width)
    missed = sp.Add(*(c**2 * g / (l + g) for l, c, _ in MODES))
    at = {g: R(2, 7)}

    def slope(expr: sp.Expr) -> sp.Expr:
        return sp.diff(expr, g) / sp.diff(level, g)

    values = {lc.width: width, lc.degrees1: one.subs(at), lc.degrees2: two.subs(at), kappa: level.subs(at), **at}
    terms = [lc.missed_term().subs({lc.eigenvalue: l, lc.coefficient: c}).subs(values) for l, c, _ in MODES]
    assert sp.simplify(sp.Add(*terms) - (missed - level * slope(missed)).subs(at)) == 0
    assert sp.simplify(lc.degrees().subs(values) - (one + level * slope(one)).subs(at)) == 0


def test_the_kernel_is_the_limit_of_many_features() -> None:
    assert sp.limit(lc.degrees(), lc.width, sp.oo) == lc.degrees2
    many = lc.missed_term().subs(kappa, lc.width_equation().rhs)
    assert sp.simplify(sp.limit(many, lc.width, sp.oo) - lc.kernel_missed_term()) == 0


def test_endless_samples_leave_what_is_missed() -> None:
    at = {lc.missed: 0, s_eps: R(1, 2)}
    assert sp.limit(lc.kernel_risk().subs(at), n, sp.oo) == lc.unlearnable
