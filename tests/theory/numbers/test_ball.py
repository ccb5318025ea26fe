"""Ball arithmetic against mpmath at a higher precision, and its refusals."""

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import acb, ctx

from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import k, z

EXPRESSIONS = [
    sp.sqrt(2) * sp.exp(-sp.pi) / 3,
    sp.erf(sp.sqrt(3)) - sp.erfc(sp.Rational(1, 7)),
    sp.hermite_prob(9, sp.sqrt(2) / 3),
    sp.atan(sp.Rational(5, 2)) * sp.asin(sp.Rational(-2, 3)),
    sp.gamma(sp.Rational(7, 3)) / sp.factorial2(9),
    sp.uppergamma(sp.Rational(1, 2), sp.Rational(3, 4)),
    sp.log(sp.cosh(sp.Rational(1, 5))) ** sp.Rational(3, 2),
    sp.tanh(3) - 1,
]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
@pytest.mark.parametrize("digits", [5, 40, 200])
def test_enclosure_contains_the_value_of_another_program(expr, digits):
    enclosure = ball.enclose_expr(expr, digits)
    with mpmath.workdps(digits + 40):
        other = (
            sp.lambdify([], expr, "mpmath")() if not expr.has(sp.hermite_prob) else mpmath.mpf(sp.N(expr, digits + 40))
        )
        value = mpmath.mpf(enclosure.value.numerator) / enclosure.value.denominator
        error = mpmath.mpf(enclosure.error.numerator) / enclosure.error.denominator
        assert abs(other - value) <= error + abs(other) * mpmath.mpf(10) ** (-digits - 30)
        assert error <= abs(value) * mpmath.mpf(10) ** -digits


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 7, 10])
def test_double_factorial_also_at_negative_odd_numbers(n):
    # An unevaluated node: SymPy would otherwise compute the value before the ball sees it.
    value = ball.enclose_expr(sp.factorial2(k), 20, {k: sp.Integer(n)})
    assert value.contains(Fraction(str(sp.factorial2(n))))


def test_the_working_precision_is_restored():
    before = ctx.prec
    ball.enclose_expr(sp.pi, 300)
    assert ctx.prec == before


def test_sign_decides_near_cancellation_and_exact_zero():
    tiny = sp.sqrt(2) - sp.Rational(str(sp.sqrt(2).evalf(70)))
    assert ball.sign(tiny) in (-1, 1)
    assert ball.sign(sp.sqrt(2) * sp.sqrt(3) - sp.sqrt(6)) == 0
    assert ball.sign(sp.sqrt(5 + 2 * sp.sqrt(6)) - sp.sqrt(2) - sp.sqrt(3)) == 0


def test_a_complex_or_unknown_expression_is_refused():
    with pytest.raises(InputError, match="not real"):
        ball.enclose_expr(sp.sqrt(-2, evaluate=False), 10)
    with pytest.raises(InputError, match="does not know"):
        ball.enclose_expr(sp.besselj(0, sp.Rational(1, 3)), 10)
    with pytest.raises(InputError, match="no value"):
        ball.enclose_expr(sp.Symbol("unbound") + 1, 10)


def test_an_exception_in_an_integrand_is_not_swallowed():
    def broken(z, analytic):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ball.integrate(broken, 0, 1, 1e-10)


def test_a_pole_is_reported_not_returned():
    with ball.precision(80), pytest.raises(PrecisionError):
        ball.to_enclosure(ball.integrate(lambda z, _: 1 / z, -1, 1, 1e-10, limit=2000))


def test_huge_terms_that_cancel_are_not_too_large():
    x = sp.exp(3 * 10**6)
    close = sp.sqrt(sp.exp(6 * 10**6) + 1)
    with pytest.raises(PrecisionError):
        ball.enclose_expr(x + sp.sqrt(2) - close, 10, most=2**10)
    with pytest.raises(InputError, match="beyond 2"):
        ball.enclose_expr(x, 10)


def test_what_occurs_twice_is_evaluated_once_a_place(monkeypatch):
    calls = []
    real = ball._UNARY[sp.tanh]
    monkeypatch.setitem(ball._UNARY, sp.tanh, lambda x, analytic: calls.append(x) or real(x, analytic))
    t = sp.tanh(z / 2)
    f = ball.build(z * t**2 / (1 + t) + t - 1 / (1 + t), z, {})
    for x in (0.5, -1.25, 0.5):
        y = mpmath.tanh(mpmath.mpf(x) / 2)
        assert abs(complex(f(acb(x), False)) - complex(x * y * y / (1 + y) + y - 1 / (1 + y))) < 1e-14
    assert len(calls) == 3
