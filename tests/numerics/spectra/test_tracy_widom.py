"""R4: the Fredholm determinants against Painleve II (reference file), published values, and each other."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bulkedge.numerics.spectra import tracy_widom as tw
from bulkedge.theory.numbers.errors import InputError

ROWS = json.loads((Path(__file__).parents[2] / "reference" / "tracy_widom.json").read_text())["rows"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
def test_against_painleve(row):
    s, f1, f2 = row
    assert float(tw.cdf(s, 1)) == pytest.approx(float(f1), abs=1e-13)
    assert float(tw.cdf(s, 2)) == pytest.approx(float(f2), abs=1e-13)


def test_published_values():
    assert float(tw.cdf(0.0, 1)) == pytest.approx(0.83190806620295, abs=1e-13)
    assert float(tw.cdf(0.0, 2)) == pytest.approx(0.96937282835526, abs=1e-13)


@pytest.mark.parametrize(
    ("beta", "mean", "variance"), [(1, -1.2065335745820, 1.607781034581), (2, -1.771086807411, 0.8131947928329)]
)
def test_density_has_the_published_moments(beta, mean, variance):
    t, weight = np.polynomial.legendre.leggauss(100)
    s = -11 + 11 * (t + 1)
    mass = tw.pdf(s, beta) * weight * 11
    assert np.sum(mass) == pytest.approx(1, abs=1e-11)
    assert np.sum(mass * s) == pytest.approx(mean, abs=1e-10)
    assert np.sum(mass * s**2) - np.sum(mass * s) ** 2 == pytest.approx(variance, abs=1e-10)


@pytest.mark.parametrize("beta", [1, 2])
def test_quantiles_and_tails(beta):
    s = np.array([-4.0, -1.3, 0.5, 3.0])
    assert tw.ppf(tw.cdf(s, beta), beta) == pytest.approx(s, abs=1e-9)
    assert tw.isf(tw.sf(s, beta), beta) == pytest.approx(s, abs=1e-9)
    assert tw.cdf(s, beta) + tw.sf(s, beta) == pytest.approx(1, abs=1e-14)
    assert float(tw.isf(1e-40, beta)) > float(tw.isf(1e-20, beta))
    # The upper tail: 1 - F_2 ~ exp(-4 s^(3/2)/3)/(16 pi s^(3/2)), 1 - F_1 ~ exp(-2 s^(3/2)/3)/(4 sqrt pi s^(3/2)).
    far = 24.0
    power = far**1.5
    tail = math.exp(-4 * power / 3) / (16 * math.pi * power)
    if beta == 1:
        tail = math.exp(-2 * power / 3) / (4 * math.sqrt(math.pi) * power)
    assert float(tw.sf(far, beta)) == pytest.approx(tail, rel=0.03)
    assert tw.cdf([-50.0, 50.0], beta) == pytest.approx([0, 1])
    assert tw.sf([-50.0, 50.0], beta) == pytest.approx([1, 0])
    assert tw.pdf([-50.0, 50.0], beta) == pytest.approx([0, 0])


def test_johnstone():
    centre, scale = tw.johnstone(400, 100)
    assert centre == pytest.approx((math.sqrt(399.5) + math.sqrt(99.5)) ** 2)
    # The limit: n (1 + sqrt c)^2, and n^(1/3) (1 + sqrt c)^(4/3) c^(-1/6).
    assert centre / 400 == pytest.approx(1.5**2, rel=5e-3)
    assert scale == pytest.approx(400 ** (1 / 3) * 1.5 ** (4 / 3) * 4 ** (1 / 6), rel=5e-3)
    assert tw.johnstone(400, 100, beta=2)[0] == pytest.approx(900)


def test_unusable_input():
    for call in (
        lambda: tw.cdf(0.0, 4),
        lambda: tw.ppf(1.0),
        lambda: tw.isf(0.0),
        lambda: tw.cdf(math.nan),
        lambda: tw.johnstone(0, 3),
    ):
        with pytest.raises(InputError):
            call()
