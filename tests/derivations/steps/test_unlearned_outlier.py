"""The derivations of O6 hold; a random direction's overlap and a learned one's strength are not reached."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import DerivationError
from bulkedge.derivations.steps.unlearned_outlier import DERIVATIONS
from bulkedge.theory.numbers.symbols import theta
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps import unlearned_outlier as uo
from bulkedge.theory.steps.gradient import spike_strength

OVERLAP, POSITION = DERIVATIONS


def test_they_hold() -> None:
    assert OVERLAP.verify().claims == (uo.unlearned_statement(),)
    assert POSITION.verify().claims == (uo.position_statement(),)


def test_wrong_claims_are_not_reached() -> None:
    random = sp.Eq(uo.unlearned_statement().lhs, sp.Integer(1))
    learned = sp.Eq(uo.position_statement().lhs, RECTANGULAR.outlier.subs(theta, spike_strength()))
    for derivation, wrong in ((OVERLAP, random), (POSITION, learned)):
        with pytest.raises(DerivationError):
            replace(derivation, claim=lambda wrong=wrong: wrong).verify()  # type: ignore[misc]
