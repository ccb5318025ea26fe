"""The first-order kernel S of ReLU splits into a linear and a quadratic part, up to O(1/sqrt d) (G12).

S = ((pi - theta)/pi) s s' + (sin theta/(2 pi)) (s^2 |x'|/|x| + s'^2 |x|/|x'|). Under Gaussian inputs cos theta is
of order 1/sqrt d, so that T_S is T_1* + T_2*, the kernels s s'/2 and (s^2 |x'|/|x| + s'^2 |x|/|x'|)/(2 pi), and what is
left is s s' cos theta/pi to the leading order.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.kernels.spiked_kernel import angle, first_order, r, r_prime, s, s_prime
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import d

gap = sp.Symbol("Delta_S", positive=True)


def _linear_part() -> sp.Expr:
    """S_1* = s s'/2: acts on the linear function <x, w*> alone."""
    return s * s_prime / 2


def _quadratic_part() -> sp.Expr:
    """S_2* = (s^2 |x'|/|x| + s'^2 |x|/|x'|)/(2 pi): couples the radial mode with degree 2."""
    return (s**2 * r_prime / r + s_prime**2 * r / r_prime) / (2 * sp.pi)


def remainder() -> sp.Expr:
    """S - S_1* - S_2*."""
    return first_order() - _linear_part() - _quadratic_part()


def leading_remainder() -> sp.Expr:
    """s s' cos(theta)/pi."""
    return s * s_prime * sp.cos(angle) / sp.pi


def squared_norm() -> sp.Expr:
    """(d + 8)/(pi^2 d^2): E (s s' cos theta)^2/pi^2 with cos theta = x.x'/d; the leading part of ||.||_HS^2.

    The Hilbert-Schmidt norm of T_S - T_1* - T_2* is (1/(pi sqrt d)) (1 + O(1/d)).  Source: G12; paper F, Lemma 5.2.
    """
    return (d + 8) / (sp.pi**2 * d**2)


def response_statement() -> sp.Eq:
    """G12: d ||T_S - T_1* - T_2*||_HS^2 -> 1/pi^2."""
    return sp.Eq(gap, 1 / sp.pi**2)


STATEMENTS = (
    Statement(
        id="G12",
        title="The first order in `B` is a linear and a quadratic kernel, up to O(`1/sqrt d`)",
        formula=response_statement,
        assumptions=(
            "ReLU, `x, x' ~ N(0, I_d)` independent; `s = w*.x, theta` their angle",
            "`Delta_S` = lim `d ||T_S - T_1* - T_2*||_HS^2`; `S_1* = s s'/2, S_2* = (s^2 |x'|/|x| + s'^2 "
            "|x|/|x'|)/(2 pi)`",
        ),
        sources=("F, Lemma 5.2 (`o`(1), no rate)",),
        status="derived",
    ),
)
