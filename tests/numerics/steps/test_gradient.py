"""O1 in numbers: values against hand-made ones, and the simulated remainder against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bulkedge.numerics.steps import gradient
from bulkedge.numerics.steps.network import train
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import Growth, Limit, Setting


def test_values_of_relu_with_a_linear_link() -> None:
    """g = z: mu1* = 1, E y^2 = 1 + s^2; ReLU: mu1 = 1/2, E sigma'^2 = 1/2, E sigma'' = phi(0)."""
    limit = Limit(width=2, batch=4, activation="relu", links="z", noise=1, steps=(3,))
    assert gradient.direction_norm2(limit) == pytest.approx(1 + 2 / 4, rel=1e-15)
    assert gradient.spike_strength(limit) == pytest.approx(1.5 * math.sqrt(1.5), rel=1e-15)
    assert gradient.alignment(limit) == pytest.approx(1 / 1.5, rel=1e-15)
    assert gradient.noise_variance(limit) == pytest.approx(2 * (1 / 2 - 1 / 4) / 4, rel=1e-15)
    assert gradient.remainder_energy(limit) == pytest.approx(9 / 8, rel=1e-15)
    shifted = Limit(width=2, batch=4, activation="relu", links="z + 2", noise=1, steps=(3,))
    assert gradient.remainder_energy(shifted) == pytest.approx(9 * (6 / 16 + 4 / (2 * math.pi)), rel=1e-15)


def test_a_setting_and_its_limit_agree_and_links_add_up() -> None:
    setting = Setting(d=50, width=100, batch=150, activation="tanh", links=["z", "z + He(2, z)"], steps=(2,))
    assert gradient.spike_strength(setting) == gradient.spike_strength(setting.limit())
    # mu1*^2 = 1 + 1, E y^2 = 1 + (1 + 2)
    assert gradient.direction_norm2(setting) == pytest.approx(2 + 4 / 3, rel=1e-14)


def test_what_has_no_answer_is_refused() -> None:
    jump = Limit(width=2, batch=4, activation="sign", links="z", steps=(3,))
    assert gradient.spike_strength(jump) > 0
    with pytest.raises(InputError, match="activation"):
        gradient.noise_variance(jump)
    grown = Limit(width=2, batch=4, activation="relu", links="z", steps=(Growth(1, "1/4"),))
    with pytest.raises(InputError, match="steps"):
        gradient.spike_strength(grown)
    with pytest.raises(InputError, match="steps"):
        gradient.spike_strength(Limit(width=2, activation="relu", links="z"))


@pytest.mark.parametrize("link", ["sin(2*z)", "z + 1"])
def test_remainder_is_the_gradient_without_its_mean_slope(link: str) -> None:
    setting = Setting(d=12, width=9, batch=20, activation="relu", links=link, noise="1/2", steps=("3/2",))
    trained = train(setting, np.random.default_rng(1))
    (X, y), W, a = trained.batches[0].arrays(), trained.weights[0], trained.a
    f = np.maximum(X @ W, 0) @ a / 3
    slopes = (X @ W > 0).astype(float)
    expected = 1.5 / 20 * X.T @ (np.outer(y, a) * (slopes - 0.5) - np.outer(f, a) * slopes)
    np.testing.assert_allclose(gradient.remainder(trained), expected, atol=1e-13)


def test_several_steps_reuse_or_draw_batches() -> None:
    fields = {"d": 8, "width": 6, "batch": 10, "activation": "tanh", "links": "z", "steps": (1, 2)}
    reused = train(Setting(**fields, reuse=True), np.random.default_rng(2))
    fresh = train(Setting(**fields), np.random.default_rng(2))
    assert reused.batches[0] is reused.batches[1]
    assert fresh.batches[0].seed != fresh.batches[1].seed
    np.testing.assert_array_equal(reused.weights[1], fresh.weights[1])
    assert not np.allclose(reused.weights[2], fresh.weights[2])
