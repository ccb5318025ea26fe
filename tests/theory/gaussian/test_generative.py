"""Generative exponents: known ones, witnesses by levels against quadrature, what is shown and what is not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.generative import excluded, generative_exponent, level_moment


@pytest.mark.parametrize(
    ("link", "exponent"),
    [
        ("z**3 - 3*z", 1),
        ("z**2", 2),
        ("cos(2*z)", 2),
        ("tanh(z**2 - 1)", 2),
        ("z**2 + z**3", 1),
        ("z**2*exp(-z**2)", 4),  # the example of the literature
        ("tanh(Abs(z)*exp(-z**2/2) + 1/3)", 4),
        ("z**2*exp(-z**2/2)", 2),  # another rate: no function of z exp(-z^2/2)
        ("z*exp(-z**2/2)", 1),
        ("Heaviside(z - 1)", 1),
        ("Heaviside(z - 1) + Heaviside(-z - 1)", 2),
        ("Piecewise((1, z < -1), (0, z < 1), (1, z < 2), (0, True))", 1),
    ],
)
def test_known_exponents(link: str, exponent: int) -> None:
    found = generative_exponent(nonlinearity(link))
    assert found is not None
    assert (found.exponent, found.shown) == (exponent, True)


def test_a_constant_has_none() -> None:
    assert generative_exponent(nonlinearity("2")) is None


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("link", ["tanh(z) + z**2/3", "Max(z - 1/2, 0) - Max(-z - 1, 0)", "sin(3*z)"])
def test_levels_by_quadrature(link: str, k: int) -> None:
    g, level = nonlinearity(link), Fraction(1, 5)
    found = level_moment(g, k, level)
    x = -9 + 18 * (np.arange(100_000) + 0.5) / 100_000
    values = {
        "tanh(z) + z**2/3": np.tanh(x) + x**2 / 3,
        "Max(z - 1/2, 0) - Max(-z - 1, 0)": np.maximum(x - 0.5, 0) - np.maximum(-x - 1, 0),
        "sin(3*z)": np.sin(3 * x),
    }[link]
    weight = np.polynomial.hermite_e.hermeval(x, [0] * k + [1]) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    direct = float(np.sum(weight[values > 0.2])) * 18 / 100_000
    # The midpoint rule misses at most a cell of 2e-4 at each of a dozen crossings.
    assert abs(float(found) - direct) < 2e-3
    assert 0 < found.error < Fraction(1, 10**4)


def test_exclusion_is_not_claimed_without_proof() -> None:
    for link, k in (("z**2*exp(-z**2/2)", 2), ("z**2 + z", 1), ("tanh", 1), ("z**2", 2)):
        assert not excluded(nonlinearity(link), k)
    # Two values, symmetric about 0.
    assert excluded(nonlinearity("Heaviside(z - 1) + Heaviside(-z - 1)"), 1)
