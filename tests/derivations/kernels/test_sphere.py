"""The derivations of the eigenvalues verify, and a shifted degree is caught."""

import dataclasses

import pytest

from bulkedge.derivations.engine.derivation import DerivationError
from bulkedge.derivations.kernels.sphere import DERIVATIONS
from bulkedge.theory.kernels.sphere import relu_power
from bulkedge.theory.numbers.symbols import l


@pytest.mark.parametrize("derivation", DERIVATIONS, ids=lambda d: d.id)
def test_verifies(derivation):
    assert derivation.verify().how in {"exact", "checked to 25 digits at 5 points"}
    assert "align" in derivation.latex()


def test_a_wrong_claim_is_caught():
    wrong = dataclasses.replace(DERIVATIONS[0], id="K2.wrong", claim=lambda: relu_power(l=l + 1))
    with pytest.raises(DerivationError):
        wrong.verify()
