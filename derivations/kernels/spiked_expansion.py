"""G7: the largest and the second eigenvalue in the limit d -> infinity at b = B/d, to the orders after the paper's."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Step, Substitute
from bulkedge.theory.kernels.spiked_expansion import b, limit_element, limit_second, paper_statement
from bulkedge.theory.numbers.symbols import A, B, d

_LAMBDA0, _SECOND = sp.Symbol("lambda_0"), sp.Symbol("lambda_second")


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
        reason="the root next to M_00 = lambda_0 (A + b), which is exact at every d (G6): degree 2 eliminated with the "
        "elements of the limit, b = B/d; degree 4 enters at b^4",
    )
    yield Step(exact + b**2 / (4 * sp.pi * A) - b**3 / (4 * sp.pi * A**2), _truncated(3), "to the third order in b")
    yield Step(paper_statement().rhs, Substitute({b: B / d}, name=paper_statement().lhs), "b = B/d")


def _second() -> Iterator[Step]:
    product = _element(0, 2, 3) * _element(2, 0, 3)
    yield Step(_element(2, 2, 3) - product / _element(0, 0, 3), reason="degree 0 eliminated: M_22 - M_02 M_20/M_00")
    yield Step(
        limit_second(1),
        Apply(_truncated(3).function, name=_SECOND),
        "the paper's own matrix has no M_22 of this order, hence its negative root",
    )


_SOURCE = "G7; paper F, Theorem 5.4 and appendix"

DERIVATIONS = (
    Derivation("G7.top", "The largest eigenvalue to the third order", paper_statement, _top, _SOURCE),
    Derivation("G7.second", "The second eigenvalue", lambda: sp.Eq(_SECOND, limit_second(1)), _second, _SOURCE),
)
