"""Errors that hold where a piece lies beyond the cut, where digits are missed, and in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath as mp
import pytest
import sympy as sp
from flint import ctx

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.gaussian import best_enclosure, enclose
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import PrecisionError


@pytest.mark.parametrize("cut", [3, 7, 12, 13, 17, 25])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_pieces_far_out_are_not_dropped(cut, side, k):
    """tanh beyond a cut on either side, z elsewhere: E[f He_k] is that of z plus a far integral."""
    text = f"Piecewise((tanh(z), z < {-cut}), (z, True))" if side < 0 else f"Piecewise((z, z < {cut}), (tanh(z), True))"
    found = best_enclosure(nonlinearity(text), 12, k)
    with mp.workdps(40):
        # Scaled to size one: mpmath's quadrature stops at an absolute error.
        density = lambda x: mp.exp((mp.mpf(cut) ** 2 - x * x) / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
        hermite = (lambda x: 1, lambda x: x, lambda x: x * x - 1)[k]
        ends = [cut, cut + mp.mpf(1) / 4, cut + 1, cut + 3, cut + 10]
        far = mp.quad(lambda x: (mp.tanh(x) - x) * hermite(x) * density(x), ends)
        far *= mp.exp(-(mp.mpf(cut) ** 2) / 2)
        expected = far * side ** (k + 1) + (k == 1)
    assert abs(found.value - Fraction(str(mp.nstr(expected, 35)))) <= found.error + abs(found.value) * Fraction(
        1, 10**30
    )


def test_the_value_of_the_issue():
    found = enclose(nonlinearity("Piecewise((tanh(z), z < -12), (z, True))"), 15)
    assert found.value_string(12) == "1.96873552447e-32"
    assert found.error < found.value * Fraction(1, 10**15)


@pytest.mark.parametrize("convention", ["orthonormal", "probabilist", "moment"])
def test_what_misses_its_digits_is_normalised(convention):
    """c_2 of sin(112 z) tanh(z), -8.304e-76 orthonormal; at few digits only a ball about it is found."""
    f = nonlinearity("sin(112*z)*tanh(z)")
    truth = coefficient(f, 2, "moment", 30).enclosure
    factor = {"orthonormal": sp.sqrt(2) / 2, "probabilist": sp.Rational(1, 2), "moment": sp.Integer(1)}[convention]
    expected = truth * ball.enclose_expr(factor, 40)
    if convention == "orthonormal":
        assert expected.value_string(4) == "-8.304e-76"
    for digits in (1, 2, 3, 5, 9, 15):
        try:
            found = coefficient(f, 2, convention, digits).enclosure
        except PrecisionError as error:
            found = error.best
        assert abs(found.value - expected.value) <= found.error + expected.error


def test_missed_digits_keep_the_factor(monkeypatch):
    """Whatever is found of a moment reaches the caller times the normalisation."""
    from bulkedge.theory.gaussian import hermite
    from bulkedge.theory.numbers.enclosure import Enclosure

    def fails(f, digits, k):
        raise PrecisionError("missed", Enclosure(Fraction(6), Fraction(1)))

    monkeypatch.setattr(hermite, "enclose", fails)
    with pytest.raises(PrecisionError) as caught:
        coefficient(nonlinearity("tanh(z)*erf(z)"), 4, "probabilist", 5)
    assert abs(caught.value.best.value - Fraction(6, 24)) < Fraction(1, 10**9)
    assert abs(caught.value.best.error - Fraction(1, 24)) < Fraction(1, 10**9)


def test_threads_do_not_share_a_precision():
    """Many threads at different precisions: every value is right, and the precision is what it was."""
    f = nonlinearity("erf(z)*tanh(z)")
    before, digits = ctx.prec, [10 + 7 * i % 80 for i in range(21)]
    right = enclose(f, 90)
    with ThreadPoolExecutor(21) as pool:
        found = list(pool.map(lambda d: (d, enclose(f, d)), digits))
    assert ctx.prec == before
    for d, value in found:
        assert abs(value.value - right.value) <= value.error + right.error
        assert value.error <= abs(value.value) * Fraction(1, 10**d)


def test_a_precision_belongs_to_one_thread_at_a_time():
    """A thread that is inside one precision is not disturbed by another that asks for its own."""
    seen = []

    def work(bits):
        for _ in range(200):
            with ball.precision(bits):
                mine = ctx.prec
                with ball.precision(bits + 1):
                    inner = ctx.prec
                seen.append((bits, mine, inner, ctx.prec))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(100, 900, 100)))
    assert all(mine == bits and inner == bits + 1 and after == bits for bits, mine, inner, after in seen)


def test_an_error_restores_the_precision():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), ball.precision(777):
        _ = 1 / 0
    assert ctx.prec == before
