"""The derivations of G11, G12, G13 and of G1's rates hold, and wrong claims are not reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import DerivationError
from bulkedge.derivations.kernels import spiked_remainder, spiked_response, upper_bound
from bulkedge.derivations.steps import covariance
from bulkedge.theory.kernels import upper_bound as theory

ALL = (*spiked_remainder.DERIVATIONS, *spiked_response.DERIVATIONS, *upper_bound.DERIVATIONS)
BY_ID = {d.id: d for d in (*ALL, *(d for d in covariance.DERIVATIONS if d.id == "G1.rates"))}


@pytest.mark.parametrize("id", sorted(BY_ID))
def test_it_holds(id: str) -> None:
    assert BY_ID[id].verify().claims


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("G11.norm", lambda e: e / 3),
        ("G12.response", lambda e: e / 4),
        ("G13.constant", lambda e: e.subs(theory.tau, 0)),
        ("G13.rest", lambda e: 2 * e),
    ],
)
def test_a_wrong_claim_is_not_reached(id: str, change: Callable[[sp.Expr], sp.Expr]) -> None:
    claim: Any = BY_ID[id].claim()
    with pytest.raises(DerivationError):
        replace(BY_ID[id], claim=lambda: sp.Eq(claim.lhs, change(claim.rhs))).verify()
