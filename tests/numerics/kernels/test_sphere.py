"""The float coefficients against the enclosures and exact multiplicities."""

import math

import numpy as np
import pytest

from bulkedge.numerics.kernels.sphere import log_multiplicities, relu_power_values
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.sphere import eigenvalues, multiplicity
from bulkedge.theory.numbers.errors import InputError

NAMES = {0: "step", 1: "relu", 2: "relu(z)**2", 3: "relu(z)**3"}


@pytest.mark.parametrize("dimension", [2, 3, 17, 1000])
@pytest.mark.parametrize("power", list(NAMES))
def test_twin_of_the_symbol(power, dimension):
    exact = [float(x.eta) for x in eigenvalues(nonlinearity(NAMES[power]), dimension, 60)]
    np.testing.assert_allclose(relu_power_values(power, dimension, 60), exact, rtol=3e-12, atol=0)


@pytest.mark.parametrize("dimension", [2, 3, 4, 50])
def test_multiplicities(dimension):
    exact = [math.log(multiplicity(dimension, l)) for l in range(40)]
    np.testing.assert_allclose(log_multiplicities(dimension, 39), exact, atol=1e-11)


def test_short_and_bad_input():
    assert relu_power_values(1, 5, 0).shape == (1,)
    for dimension, degree in ((1, 3), (3, -1)):
        with pytest.raises(InputError):
            relu_power_values(1, dimension, degree)
