"""The derivations of R2-R4 hold, print, and a planted mistake in each kind is caught."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, DerivationError, Step
from bulkedge.derivations.spectra import silverstein, spiked_matrices
from bulkedge.theory.numbers.symbols import ell, zeta
from bulkedge.theory.spectra.spike import COVARIANCE, WIGNER

ALL = (*silverstein.DERIVATIONS, *spiked_matrices.DERIVATIONS)


@pytest.mark.parametrize(
    ("start", "symbol", "wrong"),
    [
        (COVARIANCE.outlier, ell, dict(COVARIANCE.overlaps)["vector"]),  # the vector's overlap for the scores'
        (WIGNER.outlier, zeta, 1 - 1 / zeta),  # the overlap, not squared
    ],
)
def test_a_wrong_step_is_caught(start, symbol, wrong):
    def steps():
        yield Step(start)
        yield Step(wrong, Apply(lambda e: e.diff(symbol)), "planted")

    with pytest.raises(DerivationError):
        Derivation("R3.planted", "planted", lambda: wrong, steps, "none", (ell > 5, sp.Gt(zeta, 2))).verify()
