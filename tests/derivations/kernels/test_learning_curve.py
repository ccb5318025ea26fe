"""The derivations of G10 hold, and the usual mistakes are not reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import DerivationError
from bulkedge.derivations.kernels.learning_curve import DERIVATIONS
from bulkedge.theory.kernels import learning_curve as lc

BY_ID = {d.id: d for d in DERIVATIONS}


@pytest.mark.parametrize("id", sorted(BY_ID))
def test_it_holds(id: str) -> None:
    assert BY_ID[id].verify().claims


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("G10.curve", lambda e: e.subs(lc.degrees1, 0)),
        ("G10.kernel", lambda e: e.subs(lc.degrees2, lc.degrees1)),
        ("G10.missed", lambda e: e.subs(lc.degrees2, 0)),
        ("G10.width", lambda e: e.subs(lc.degrees2, lc.degrees1)),
    ],
)
def test_a_wrong_claim_is_not_reached(id: str, change: Callable[[sp.Expr], sp.Expr]) -> None:
    claim = BY_ID[id].claim()
    with pytest.raises(DerivationError):
        replace(BY_ID[id], claim=lambda: sp.Eq(claim.lhs, change(claim.rhs))).verify()
