"""numerics/risk/pair.py: the cases of O3, what is proved, the constants."""

from __future__ import annotations

import numpy as np
import pytest

from bulkedge.numerics.risk.conditional_limit import pair_from_functions
from bulkedge.numerics.risk.pair import case, pair, ridge_constants
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import InputError


@pytest.mark.parametrize(
    ("activation", "link", "name", "proved"),
    [
        ("tanh", "tanh", "centred", True),
        ("erf", "He(2, z)", "centred", True),
        ("arctan", "sin", "centred", True),
        ("hard_tanh", "tanh", "centred", False),
        ("z**3", "tanh", "centred", False),
        ("relu", "tanh", "centred", False),
        ("relu", "softplus", "fitted", False),
        ("tanh", "softplus", "unfitted", False),
        ("z + He(3, z)", "relu", "unfitted", False),
        ("z + He(2, z)/2", "softplus", "norms", False),
    ],
)
def test_cases(activation: str, link: str, name: str, proved: bool) -> None:
    got = case(nonlinearity(activation), nonlinearity(link))
    assert (got.name, got.proved) == (name, proved)
    assert got.reason


def test_constants_of_a_pair() -> None:
    c, *errors = ridge_constants(nonlinearity("erf"), nonlinearity("He(2, z) + z/3"))
    assert c.mu1 == pytest.approx(2 / np.sqrt(3 * np.pi), rel=1e-14)
    assert (c.mu1_star, c.mu2_star) == (pytest.approx(1 / 3), pytest.approx(np.sqrt(2)))
    assert max(errors) < 1e-12


def test_pair_against_plain_functions() -> None:
    symbolic = pair(nonlinearity("relu"), nonlinearity("tanh(2*z) + 1"))
    plain = pair_from_functions(
        lambda z: np.maximum(z, 0),
        lambda z: np.asarray(z > 0, dtype=float),
        lambda z: np.tanh(2 * z) + 1,
        kinks=(0.0,),
    )
    for field in ("mu0", "mu1", "slope_variance", "curvature", "link_mean", "link_slope", "link_second"):
        assert getattr(symbolic, field) == pytest.approx(getattr(plain, field), abs=1e-9), field


def test_refusals() -> None:
    with pytest.raises(InputError, match="jumps"):
        pair(nonlinearity("sign"), nonlinearity("tanh"))
    with pytest.raises(InputError, match="constant"):
        ridge_constants(nonlinearity("2"), nonlinearity("tanh"))
