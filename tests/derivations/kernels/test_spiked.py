"""The derivations of paper F's layer: every step holds, and a wrong one is found."""

from __future__ import annotations

import dataclasses

import pytest

from bulkedge.derivations.engine.derivation import DerivationError, Step
from bulkedge.derivations.kernels import spiked_expansion, spiked_kernel, spiked_spectrum
from bulkedge.derivations.steps import covariance
from bulkedge.theory.kernels.spiked_kernel import second_order

ALL = [d for m in (covariance, spiked_kernel, spiked_spectrum, spiked_expansion) for d in m.DERIVATIONS]


def test_a_wrong_sign_is_found() -> None:
    right = next(d for d in ALL if d.id == "G5.second")

    def wrong():  # type: ignore[no-untyped-def]
        first, *_ = right.steps()
        yield first
        yield Step(-second_order(), "=", "with the other sign")

    with pytest.raises(DerivationError):
        dataclasses.replace(right, steps=wrong).verify()
