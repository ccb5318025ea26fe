"""What the first order in B leaves of the spiked ReLU kernel, k1 = k0^(A) + (B/2d) S + R: its norm, with the constant.

In the limit d -> infinity at b = B/d the even matrix elements about w* are c_l c_l' E[(b z^2)^k (A + b z^2)^(1-k)],
k = (l + l')/2 (G7): linear in b for k = 0 and 1, so R begins at k = 2, with T_22 and the pair T_04, T_40.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.kernels.spiked_expansion import b, limit_element
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import A, B, d, z

norm = sp.Symbol("T_R", positive=True)


def integrand(k: int) -> sp.Expr:
    """(b z^2)^k (A + b z^2)^(1 - k), whose mean times c_l c_l' is T_ll', l + l' = 2 k."""
    return (b * z**2) ** k * (A + b * z**2) ** (1 - k)


def diagonal() -> sp.Expr:
    """The leading part of (T_R)_22: 3 c_2^2 b^2/A."""
    return A * limit_element(2, 2, 2)[2] * (b / A) ** 2


def corner() -> sp.Expr:
    """The leading part of (T_R)_04 = (T_R)_40: 3 c_0 c_4 b^2/A."""
    return A * sp.sqrt(limit_element(0, 4, 2)[2] * limit_element(4, 0, 2)[2]) * (b / A) ** 2


def remainder_norm() -> sp.Expr:
    """||T_R|| = (3/(4 pi A)) (B/d)^2 (1 + o(1)), B/d -> 0.  Source: G11; paper F, Lemma 4.5."""
    return diagonal().subs(b, B / d)


def remainder_statement() -> sp.Eq:
    """G11: the operator norm of the remainder."""
    return sp.Eq(norm, remainder_norm())


STATEMENTS = (
    Statement(
        id="G11",
        title="The remainder of the spiked kernel's first order, with its constant",
        formula=remainder_statement,
        assumptions=(
            "ReLU, `x ~ N(0, I_d)`; `d ->` infinity and `B/d ->` 0 (leading order; the next is smaller by O(`B/d`) + "
            "O(`1/d`))",
            "`T_R = T_1 - A T_0 - (B/2d) T_S`; its norm is in sector 0, on degree 2; the other sectors are "
            "O(`B^2/d^3`)",
        ),
        sources=("F, Lemma 4.5 (O(`B^2/d^2`), no constant)",),
        status="derived",
    ),
)
