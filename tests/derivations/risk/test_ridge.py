"""The derivations of O3, O4, M1 and M2 hold exactly, and a wrong claim is not reached."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import DerivationError
from bulkedge.derivations.risk import floor, ridge
from bulkedge.derivations.steps import spiked_features
from bulkedge.theory.numbers.symbols import eta, mu1, v
from bulkedge.theory.steps.gradient import direction_norm2
from bulkedge.theory.steps.spiked_features import drop_statement, step_statement

ALL = (*ridge.DERIVATIONS, *floor.DERIVATIONS, *spiked_features.DERIVATIONS)
BY_ID = {d.id: d for d in ALL}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("O3.woodbury", lambda: BY_ID["O3.woodbury"].claim().subs(eta, 2 * eta)),
        ("O3.large", lambda: sp.Eq(BY_ID["O3.large"].claim().lhs, 1 / (2 * direction_norm2()))),
        ("M2.second", lambda: drop_statement().subs(v, 0)),
        ("M2.step", lambda: step_statement().subs(eta, 2 * eta)),
        ("O4.erf", lambda: sp.Eq(BY_ID["O4.erf"].claim().lhs, BY_ID["O4.erf"].claim().rhs * mu1)),
    ],
)
def test_a_wrong_claim_is_not_reached(name: str, wrong: object) -> None:
    with pytest.raises(DerivationError):
        replace(BY_ID[name], claim=wrong).verify()
