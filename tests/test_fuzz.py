"""Numeric functions on any floats: a finite answer or one of our errors, never a silent nan, inf or warning.

Warnings are errors here (pyproject.toml), so an overflow that numpy only warns of is a failure too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bulkedge.numerics.kernels.spiked_spectrum import sector
from bulkedge.numerics.risk.mei_montanari import mei_montanari_risk
from bulkedge.numerics.risk.ridge import Constants, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw, conjugate_kernel
from bulkedge.numerics.spectra.spike import covariance, rectangular, wigner
from bulkedge.numerics.steps import gradient
from bulkedge.numerics.steps.network import ridge_readout
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError
from bulkedge.theory.steps.setting import Limit, Setting

OURS = (InputError, ConvergenceError, PrecisionError)
SPECIAL = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"), 5e-324, 1e-308, 1e308, 1e-160, 1e160)
ORDINARY = st.floats(1e-3, 1e3)
WIDE = st.builds(lambda sign, exponent: sign * 10.0**exponent, st.sampled_from([1, 1, 1, -1]), st.floats(-300, 300))
ANY = ORDINARY | WIDE | st.sampled_from(SPECIAL)


def numbers_of(value: Any) -> Iterator[float]:
    """All numbers of an answer."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from numbers_of(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from numbers_of(item)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        yield from np.abs(value).ravel().tolist()
    elif isinstance(value, float | complex | np.floating):
        yield abs(value)


def answer(compute: Callable[[], Any]) -> Any:
    """The answer, all of whose numbers are finite, or None if it was refused."""
    try:
        value = compute()
    except OURS as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert "\n" not in refused
        assert len(refused) < 400
        return None
    assert all(np.isfinite(x) for x in numbers_of(value)), value
    return value


@given(ANY, ANY, ANY, st.floats() | ANY)
@settings(deadline=None)
@example(10.0**33.5, 1.0, 1.0, 0.0)
def test_marchenko_pastur(ratio: float, scale: float, x: float, q: float) -> None:
    law = answer(lambda: MarchenkoPastur(ratio, scale))
    if law is None:
        return
    for method in ("edges", "atom", "mean", "var", "std"):
        answer(lambda m=method: getattr(law, m)) if method == "edges" else answer(lambda m=method: _call(law, m))
    for one in (law, law.singular_values()):
        answer(lambda o=one: o.pdf(x))
        cdf = answer(lambda o=one: o.cdf(x))
        assert cdf is None or 0 <= cdf <= 1
        answer(lambda o=one: o.ppf(q))
    answer(lambda: law.stieltjes(complex(x, q)))


def _call(law: MarchenkoPastur, name: str) -> Any:
    value = getattr(law, name)
    return value() if callable(value) else value


@given(ANY, ANY, ANY, st.sampled_from([rectangular, covariance, "wigner"]))
@settings(deadline=None)
def test_spikes(ratio: float, scale: float, strength: float, kind: Any) -> None:
    model = answer(lambda: wigner(scale) if kind == "wigner" else kind(ratio, scale))
    if model is None:
        return
    position = answer(lambda: model.outlier(strength))
    for name, _ in model.law.overlaps:
        overlap = answer(lambda n=name: model.overlap(n, strength))
        assert overlap is None or -1e-12 <= overlap <= 1 + 1e-12
    answer(lambda: model.sd(strength, 100))
    if position is not None and model.above(strength):
        answer(lambda: model.strength(position))
    answer(lambda: model.strength(strength))


@given(ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY)
@settings(max_examples=300, deadline=None)
def test_ridge_risk(
    psi1: float, psi2: float, lam: float, eta: float, alpha: float, noise: float, mu1: float, mu2: float
) -> None:
    pair = Constants(mu1, mu2, 0.0, 0.8, 0.3)
    risk = answer(lambda: ridge_risk(pair, RidgeProblem(psi1, psi2, lam, eta, alpha, noise)))
    if risk is not None:
        assert risk.test >= 0.09 * (1 - 1e-9)  # never below what a linear model cannot explain
        assert risk.train >= 0


@given(ORDINARY, ORDINARY, ORDINARY, ORDINARY)
@settings(deadline=None)
def test_ridge_risk_has_a_gain_that_grows(psi1: float, psi2: float, lam: float, eta: float) -> None:
    pair = Constants(0.6, 0.4, 0.0, 0.8, 0.3)
    steps = np.array([0, eta / 2, eta, 2 * eta])
    risks = ridge_risk(pair, RidgeProblem(psi1, psi2, lam, steps, noise=0.2)).test
    assert np.all(np.diff(risks) <= 1e-10 * risks[:-1])


@given(ANY, ANY, ANY, ANY, ANY)
@settings(deadline=None)
@example(3.0, 10.0, 0.0, 2.0, 1e-8)
def test_mei_montanari(features: float, samples: float, lam: float, mu1: float, mu2: float) -> None:
    answer(lambda: mei_montanari_risk(features, samples, lam, mu1, mu2, 0.8, 0.3, 0.1))


@given(st.lists(ANY, min_size=1, max_size=3), ANY, ANY)
@settings(max_examples=60, deadline=None)
def test_general_populations(values: list[float], ratio: float, x: float) -> None:
    law = answer(lambda: GeneralLaw(DiscretePopulation.of(values), ratio))
    if law is None:
        return
    answer(lambda: law.edges)
    answer(lambda: law.pdf(x))
    answer(lambda: law.outlier(x))


@given(ANY, ANY, ANY, ANY, ORDINARY)
@settings(max_examples=40, deadline=None)
def test_conjugate_kernel(width: float, ratio: float, mu1: float, mu2: float, x: float) -> None:
    law = answer(lambda: conjugate_kernel(width, ratio, mu1, mu2))
    if law is not None:
        answer(lambda: law.pdf(x))


@given(st.integers(-2, 30), ANY, ANY, st.integers(0, 2), st.integers(0, 1))
@settings(max_examples=8, deadline=None)
def test_exact_spectrum(d: int, A: float, B: float, j: int, parity: int) -> None:
    answer(lambda: sector(d, A, B, j, parity))


FUNCTIONS = st.sampled_from(["relu", "tanh", "sign", "exp", "sin(3*z) - 1/7", "He(3, z)"])


@given(FUNCTIONS, FUNCTIONS, ANY, ANY, ANY, ANY)
@settings(max_examples=60, deadline=None)
def test_settings_and_what_is_predicted_from_them(
    activation: str, link: str, width: float, batch: float, step: float, noise: float
) -> None:
    fields = {"width": width, "batch": batch, "activation": activation, "links": link, "noise": noise, "steps": (step,)}
    limit = answer(lambda: Limit(**fields))
    if limit is not None:
        for predict in (
            gradient.spike_strength,
            gradient.alignment,
            gradient.noise_variance,
            gradient.remainder_energy,
        ):
            answer(lambda p=predict: p(limit))
        answer(lambda: limit.at(7))
    answer(lambda: Setting(d=9, **fields))


@given(st.integers(1, 6), st.integers(1, 6), ANY, ANY)
@example(3, 3, 0.0, 0.0)
def test_small_matrices(rows: int, columns: int, entry: float, ridge: float) -> None:
    A = np.full((rows, columns), entry)
    answer(lambda: leading_triples(A, 1))
    answer(lambda: ridge_readout(A, np.ones(rows), ridge))


@pytest.mark.parametrize("law", [MarchenkoPastur(0.3), MarchenkoPastur(3, 2.5), MarchenkoPastur(1)])
@given(q=st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_quantiles_are_monotone_and_invert(law: MarchenkoPastur, q: list[float]) -> None:
    q = sorted(q)
    x = law.ppf(q)
    assert np.all(np.diff(x) >= 0)
    np.testing.assert_allclose(law.cdf(x), np.maximum(q, law.atom), atol=1e-9)
