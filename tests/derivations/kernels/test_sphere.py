"""The derivations of the eigenvalues verify, and a shifted degree is caught."""

import dataclasses

import pytest

from bulkedge.derivations.engine.derivation import DerivationError
from bulkedge.derivations.kernels.sphere import DERIVATIONS
from bulkedge.theory.kernels.sphere import relu_power
from bulkedge.theory.numbers.symbols import l


def test_a_wrong_claim_is_caught():
    wrong = dataclasses.replace(DERIVATIONS[0], id="K2.wrong", claim=lambda: relu_power(l=l + 1))
    with pytest.raises(DerivationError):
        wrong.verify()
