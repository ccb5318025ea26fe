"""The derivations of R2-R4 hold, print, and a planted mistake in each kind is caught."""

from __future__ import annotations

import pytest
import sympy as sp

from derivations import silverstein, spiked_matrices
from derivations.derivation import Apply, Derivation, DerivationError, Step
from theory.spike import COVARIANCE, WIGNER
from theory.symbols import ell, zeta

ALL = (*silverstein.DERIVATIONS, *spiked_matrices.DERIVATIONS)


@pytest.mark.parametrize("derivation", ALL, ids=lambda d: d.id)
def test_every_step_is_exact(derivation):
    assert derivation.verify().how == "exact"
    assert r"\begin{align" in derivation.latex()


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
