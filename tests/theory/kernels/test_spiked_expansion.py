"""G7, the symbols: the expansions against the paper's own first order, the literature's numbers, and limits."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.kernels.spiked_expansion import (
    b,
    limit_element,
    limit_mixing,
    limit_second,
    limit_top,
    mixing,
    paper_second,
    paper_statement,
    paper_tau,
    paper_top,
    second_series,
    tau_series,
    top_series,
)
from bulkedge.theory.kernels.spiked_spectrum import unspiked
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import A, B, d


def test_first_order_is_exact_in_d() -> None:
    """The exact first order is lambda_0 B/d; the paper's B/(2 pi d) is its limit, short by a relative 1/(2d)."""
    assert sp.simplify(top_series(1) - unspiked(0) * (A + B / d)) == 0
    gap = sp.N((top_series(1) / paper_top() - 1).subs({A: 1, B: 50, d: 1000}), 20)
    assert gap == pytest.approx(float(sp.Rational(50, 1000) / (1 + sp.Rational(50, 1000)) / 2000), rel=1e-2)


def test_coefficients_approach_the_limit() -> None:
    """B = b d, d -> infinity: order by order the series at fixed d becomes the limit's."""
    big = 10**8 + sp.Rational(1, 3)  # not a half-integer, whose Gamma function SymPy would write out
    at_size = sp.Poly(sp.expand(top_series(3, big).subs(B, b * big) / A), b)
    limit = sp.Poly(sp.expand(limit_top(3) / A), b)
    for n in range(4):
        ratio = sp.N(at_size.coeff_monomial(b**n) / limit.coeff_monomial(b**n), 15)
        assert abs(ratio - 1) < 1e-7


def test_printed_next_orders() -> None:
    assert sp.expand(limit_top(3) - ((A + b) / (2 * sp.pi) + b**2 / (4 * sp.pi * A) - b**3 / (4 * sp.pi * A**2))) == 0
    assert sp.expand(limit_second(1) - b**2 / (2 * sp.pi * A) * (1 - 7 * b / A)) == 0
    assert paper_statement().lhs.name == "lambda_max"


def test_second_root_of_the_paper_is_of_another_order() -> None:
    """At b = B/d fixed the exact second eigenvalue stays of order one; the paper's A lambda_2 vanishes as d^-2."""
    assert sp.N(paper_second().subs({A: 1, d: 10**4}), 5) < 1e-8
    assert sp.N(limit_second(1).subs({A: 1, b: sp.Rational(1, 50)}), 5) > 1e-5


def test_tau_and_its_printed_form() -> None:
    # The printed tau has d in the place of d + 1 and so on: equal in the limit, 2/d apart at most.
    ratio = (tau_series(1) / paper_tau()).subs({A: 1, B: sp.Rational(1, 1000)})
    for size in (50, 500, 5000):
        assert abs(sp.N(ratio.subs(d, size), 15) - 1) < sp.Rational(2, size)


def test_second_series_starts_at_lambda_2() -> None:
    assert sp.simplify(sp.expand_func(second_series(0) - A * unspiked(2))) == 0
    # For B/A -> infinity within small B/d the same eigenvalue is lambda_2 (A+B)^2/A (1 - 7B/(Ad)): its B term is 2 B.
    big = 10**6 + sp.Rational(1, 3)
    slope = sp.diff(second_series(1, big), B) / unspiked(2).subs(d, big)
    assert sp.N(slope, 10) == pytest.approx(2, rel=1e-5)


def test_limit_elements_are_moments() -> None:
    """c_l'^2 E[(1 + x z^2) t^{l+l'}] by numerical integration at x = 1/50, to the first term left out."""
    x, z = sp.Rational(1, 50), sp.Symbol("z")
    for l, l2 in [(0, 2), (2, 2), (2, 4)]:
        k = (l + l2) // 2
        series = sum(value * x**n for n, value in enumerate(limit_element(l, l2, 7)))
        density = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
        integral = sp.Integral((1 + x * z**2) * (x * z**2 / (1 + x * z**2)) ** k * density, (z, -12, 12))
        front = series / limit_element(l, l2, k)[k] * sp.factorial2(2 * k - 1)
        nextterm = abs(sp.binomial(1 - k, 8 - k)) * sp.factorial2(15) * x**8
        assert abs(integral.evalf(15) - front.evalf(15)) <= float(nextterm) + 1e-13


def test_orders_out_of_range_are_refused() -> None:
    for call in (top_series, limit_second):
        with pytest.raises(InputError, match="order"):
            call(9)


def test_mixing_is_exact_to_the_first_order_and_in_the_limit_to_the_second() -> None:
    for dimension in (2, 3, 20, 1000):
        at = {A: sp.Rational(5, 4), d: dimension}
        slope = sp.diff(mixing(), B).subs(B, 0).subs(at)
        assert sp.simplify(slope - (tau_series(1, sp.Integer(dimension)) / B).subs(at)) == 0
    limit = sp.Poly(sp.expand(limit_mixing(4) * sp.sqrt(2)), b)
    assert [limit.coeff_monomial(b**k) * A**k for k in (1, 2, 3)] == [1, -1, 2]
    # At finite d the series' coefficients of (B/d)^k approach the limit's.
    series = sp.Poly(sp.expand(tau_series(3, sp.Integer(10**6)).subs(A, 1) * sp.sqrt(2)), B)
    for k, expected in ((1, 1), (2, -1), (3, 2)):
        assert float(series.coeff_monomial(B**k) * 10 ** (6 * k)) == pytest.approx(expected, rel=1e-4)
    # The printed tau has the same limit, at a rate of 1/d.
    ratio = (mixing() / paper_tau()).subs({A: 2, B: sp.Integer(200), d: 2000})
    assert float(sp.N(ratio, 20)) == pytest.approx(1, abs=2e-3)
