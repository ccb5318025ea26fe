"""R4: the edge of a population that varies a little."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Step
from bulkedge.theory.numbers.symbols import alpha, c
from bulkedge.theory.spectra.marchenko_pastur import edges as mp_edges

_SECOND = sp.Symbol("C_2")
_EPS = sp.Symbol("epsilon", positive=True)


def _spread() -> sp.Expr:
    """psi at the unperturbed critical point, eigenvalues 1 +- epsilon of equal weight (mean 1, variance epsilon^2)."""
    pair = [(1 + sign * _EPS) / (alpha - 1 - sign * _EPS) for sign in (1, -1)]
    return (alpha * (1 + c * sp.Add(*pair) / 2)).subs(alpha, 1 + sp.sqrt(c))


def _second_order_claim() -> sp.Expr:
    return mp_edges(c, sp.Integer(1))[1] / sp.sqrt(c)


def _second_order() -> Iterator[Step]:
    yield Step(
        _spread(),
        reason=(
            "eigenvalues `1 +- epsilon`: `psi` at the critical point of `epsilon = 0`, where the first variation in "
            "`alpha` vanishes, gives the edge to order `epsilon^2`"
        ),
    )
    yield Step(
        _second_order_claim(),
        Apply(lambda e: sp.simplify(e.diff(_EPS, 2).subs(_EPS, 0) / 2), name=_SECOND),
        "the coefficient of `epsilon^2`: the edge moves by the factor 1 + variance/`sqrt c`",
    )


DERIVATIONS = (
    Derivation(
        "R4.kurtosis",
        "The edge of a population that varies a little",
        lambda: sp.Eq(_SECOND, _second_order_claim()),
        _second_order,
        "R2, R4",
        (),
        "`C_2` is the coefficient of `epsilon^2` in the edge.",
    ),
)
