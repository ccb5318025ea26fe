"""G7: the largest and the second eigenvalue in the limit d -> infinity at b = B/d, to the orders after the paper's."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Step, Substitute
from bulkedge.theory.kernels.spiked_expansion import (
    b,
    limit_element,
    limit_mixing,
    limit_mixing_statement,
    limit_second,
    mixing,
    mixing_statement,
    paper_statement,
)
from bulkedge.theory.numbers.symbols import A, B, d

_LAMBDA0, _SECOND, _LAMBDA = sp.Symbol("lambda_0"), sp.Symbol("lambda_second"), sp.Symbol("lambda")


def _element(l: int, l_prime: int, order: int) -> sp.Expr:
    """A c_l'^2 E[(1 + (b/A) z^2) t^{l+l'}] through (b/A)^order."""
    return A * sum(value * (b / A) ** n for n, value in enumerate(limit_element(l, l_prime, order)))


def _truncated(order: int) -> Apply:
    return Apply(lambda e: sp.expand(sp.series(e, b, 0, order + 1).removeO()))


def _top() -> Iterator[Step]:
    zero, two = _element(0, 0, 3), _element(2, 2, 3)
    product = _element(0, 2, 3) * _element(2, 0, 3)
    exact = _LAMBDA0 * (A + b)
    yield Step(
        exact + product / (zero - two),
        reason=(
            "the root next to `M_00 = lambda_0 (A + b)`, which is exact at every `d` (G6): degree 2 eliminated with "
            "the elements of the limit, `b = B/d`; degree 4 enters at `b^4`"
        ),
    )
    yield Step(exact + b**2 / (4 * sp.pi * A) - b**3 / (4 * sp.pi * A**2), _truncated(3), "to the third order in `b`")
    yield Step(paper_statement().rhs, Substitute({b: B / d}, name=paper_statement().lhs), "`b = B/d`")


def _second() -> Iterator[Step]:
    product = _element(0, 2, 3) * _element(2, 0, 3)
    yield Step(_element(2, 2, 3) - product / _element(0, 0, 3), reason="degree 0 eliminated: `M_22 - M_02 M_20/M_00`")
    yield Step(
        limit_second(1),
        Apply(_truncated(3).function, name=_SECOND),
        "the paper's own matrix has no `M_22` of this order, hence its negative root",
    )


def _mixing() -> Iterator[Step]:
    coupling = _LAMBDA0 / (d + 1) * sp.sqrt((d - 1) * (d + 2) / 2) * B / d
    yield Step(
        coupling / (_LAMBDA0 * (A + B / d) - A * _LAMBDA0 / (d + 1) ** 2),
        reason=(
            "the row of degree 2 without the degrees beyond: `T_20 + (T_22 - lambda) tau = 0`. `T_02` is exact and "
            "linear in `B, lambda = T_00` (G6; `eta_2 = eta_0/(d+1), lambda_0 = d eta_0^2`), `T_22` = A "
            "`lambda_0/(d+1)^2` + `O(B)`"
        ),
    )
    yield Step(mixing(), Apply(sp.cancel, name=mixing_statement().lhs), "`lambda_0` cancels")


def _limit_mixing() -> Iterator[Step]:
    # c_0^2 E[..] and c_2^2 E[..]: the first column of the similar matrix, and its ratio of components times c_2/c_0.
    row = _element(2, 0, 3) / (_LAMBDA - _element(2, 2, 3))
    yield Step(
        row / sp.sqrt(2),
        reason=(
            "the same row in the limit, `b = B/d`, in the basis `c_l^(-1)` T `c_l'` with `c_2/c_0 = 1/sqrt 2`; "
            "degree 4 enters through `T_24 v_4`, of order `b^5`"
        ),
    )
    top = (A + b) / (2 * sp.pi) + b**2 / (4 * sp.pi * A)
    yield Step((row / sp.sqrt(2)).subs(_LAMBDA, top), Substitute({_LAMBDA: top}), "`lambda` to the second order")
    yield Step(limit_mixing(3), _truncated(3), "to the third order in `b`")
    yield Step(limit_mixing_statement().rhs, Substitute({b: B / d}, name=limit_mixing_statement().lhs), "`b = B/d`")


_SOURCE = "G7; paper F, Theorem 5.4 and appendix"

DERIVATIONS = (
    Derivation("G7.top", "The largest eigenvalue to the third order", paper_statement, _top, _SOURCE),
    Derivation("G7.second", "The second eigenvalue", lambda: sp.Eq(_SECOND, limit_second(1)), _second, _SOURCE),
    Derivation("G7.mixing", "The mixing of degrees 0 and 2", mixing_statement, _mixing, _SOURCE),
    Derivation(
        "G7.mixing_limit", "The mixing to the third order", limit_mixing_statement, _limit_mixing, _SOURCE, (b > 0,)
    ),
)
