"""The derivations of O5 hold, and wrong gains are not reached: no batch noise, a sign, one power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import DerivationError
from bulkedge.derivations.risk import gain as module
from bulkedge.theory.numbers.symbols import mu1, mu1_star
from bulkedge.theory.risk import gain

BY_ID = {d.id: d for d in module.DERIVATIONS}


@pytest.mark.parametrize("id", sorted(BY_ID))
def test_it_holds(id: str) -> None:
    assert "refuted" not in BY_ID[id].text()


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("O5.gain", lambda e: e.subs(gain.turn, 0)),
        ("O5.missed", lambda e: e.subs(gain.norm2, mu1_star**2)),
        ("O5.step", lambda e: -e),
        ("O5.wide", lambda e: e / mu1**2),
    ],
)
def test_a_wrong_claim_is_not_reached(id: str, change: Callable[[sp.Expr], sp.Expr]) -> None:
    claim = BY_ID[id].claim()
    with pytest.raises(DerivationError):
        replace(BY_ID[id], claim=lambda: sp.Eq(claim.lhs, change(claim.rhs))).verify()
