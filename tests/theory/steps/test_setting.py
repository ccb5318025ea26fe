"""Setting and Limit: exact conversions between them, and errors that name the field."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z
from bulkedge.theory.steps.setting import (
    LOSSES,
    READOUTS,
    WEIGHTS,
    Growth,
    Limit,
    Setting,
    exact_real,
    readout_moment,
)

ACTIVATION, LINK = nonlinearity("relu"), nonlinearity("tanh(2*z)")

SIZES = st.integers(1, 10**6)
STEPS = st.fractions(0, 1000, max_denominator=60)


@st.composite
def settings(draw: st.DrawFn) -> Setting:
    """Any valid Setting."""
    steps = tuple(draw(st.lists(STEPS, max_size=3)))
    train = draw(st.none() | SIZES)
    return Setting(
        d=draw(st.integers(2, 10**6)),
        width=draw(SIZES),
        batch=draw(SIZES) if steps else None,
        train=train,
        activation=ACTIVATION,
        links=[LINK] * draw(st.integers(1, 2)),
        steps=steps,
        reuse=draw(st.booleans()) if len(steps) > 1 else False,
        noise=draw(STEPS),
        readout=draw(st.sampled_from(READOUTS)),
        weights=draw(st.sampled_from(WEIGHTS)),
        loss=draw(st.sampled_from(LOSSES)),
        ridge=draw(st.none() | STEPS) if train else None,
    )


@given(settings(), st.lists(st.fractions(0, 1, max_denominator=8), min_size=3, max_size=3))
def test_limit_and_back_is_the_identity(setting: Setting, exponents: list[Fraction]) -> None:
    assert setting.limit().at(setting.d) == setting
    grown = setting.limit(tuple(exponents[: len(setting.steps)]))
    assert grown.at(setting.d) == setting
    assert grown.width == sp.Rational(setting.width, setting.d)


def test_growing_steps_grow_and_others_do_not() -> None:
    limit = Limit(width=2, batch=3, activation=ACTIVATION, links=LINK, steps=(Growth(3, Fraction(1, 4)), 2))
    for d in (8, 128):
        assert limit.at(d).steps == (3 * sp.sqrt(sp.sqrt(2 * d)), 2)


def test_fractional_sizes_are_rounded_to_nearest() -> None:
    limit = Limit(width=Fraction(3, 2), train=0.35, activation=ACTIVATION, links=LINK)
    assert (limit.at(3).width, limit.at(3).train) == (5, 1)
    with pytest.raises(InputError, match="train"):
        limit.at(1)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("d", {"d": 0}),
        ("d", {"d": 2.5}),
        ("d", {"d": True}),
        ("width", {"width": -3}),
        ("width", {"width": math.nan}),
        ("width", {"width": "many"}),
        ("batch", {"batch": None}),  # missing, though there are steps
        ("batch", {"steps": ()}),  # contradictory: a batch for no step
        ("batch", {"batch": 0}),
        ("train", {"train": None}),  # missing, though there is a ridge
        ("steps", {"steps": (-1,)}),
        ("steps", {"steps": (math.inf,)}),
        ("steps", {"steps": (sp.Symbol("t"),)}),
        ("reuse", {"reuse": True}),  # contradictory: a single step
        ("reuse", {"reuse": "yes"}),
        ("noise", {"noise": -0.1}),
        ("noise", {"noise": math.nan}),
        ("ridge", {"ridge": -1}),
        ("readout", {"readout": "normal"}),
        ("weights", {"weights": "gauss"}),
        ("loss", {"loss": "hinge"}),
        ("links", {"links": ()}),
        ("links", {"links": [LINK] * 11}),  # more orthogonal directions than dimensions
        ("activation", {"activation": None}),
        ("activation", {"activation": 3}),
        ("activation", {"activation": "rleu"}),
        ("links", {"links": ["tanh", "1/z"]}),  # not in L2 of the Gaussian
    ],
)
def test_unusable_fields_are_named(field: str, change: dict[str, object]) -> None:
    sizes = {"d": 10, "width": 20, "batch": 30, "train": 40}
    good = {**sizes, "activation": ACTIVATION, "links": LINK, "steps": (1,), "ridge": 0.1}
    Setting(**good)
    with pytest.raises(InputError) as caught:
        Setting(**(good | change))
    assert caught.value.argument == field
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("field", "change"), [("width", {"width": 0}), ("width", {"width": -1}), ("batch", {})])
def test_unusable_ratios_are_named(field: str, change: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        Limit(**({"width": 1, "activation": ACTIVATION, "links": LINK, "steps": (1,)} | change))
    assert caught.value.argument == field


def test_functions_are_read_from_names_and_expressions() -> None:
    setting = Setting(d=4, width=4, activation="relu", links=["tanh(2*z)", sp.sin(z)])
    assert setting.activation == ACTIVATION
    assert setting.links == (LINK, nonlinearity("sin(z)"))
    assert hash(setting) == hash(Setting(d=4, width=4, activation=ACTIVATION, links=[LINK, "sin(z)"]))


def test_several_links_have_no_single_link() -> None:
    setting = Setting(d=4, width=4, activation=ACTIVATION, links=[LINK, ACTIVATION])
    with pytest.raises(InputError, match="links"):
        _ = setting.link


def test_floats_are_the_decimals_they_print_as() -> None:
    assert exact_real(0.1, "noise") == sp.Rational(1, 10)
    assert exact_real(Fraction(1, 3), "noise") == sp.Rational(1, 3)
    assert exact_real(sp.sqrt(2), "noise") == sp.sqrt(2)


@pytest.mark.parametrize("law", READOUTS)
def test_readout_moments_by_integration(law: str) -> None:
    t = sp.Symbol("t", real=True)
    for power in range(7):
        if law == "gaussian":
            expected = sp.integrate(t**power * sp.exp(-(t**2) / 2), (t, -sp.oo, sp.oo)) / sp.sqrt(2 * sp.pi)
        elif law == "uniform":
            expected = sp.integrate(t**power, (t, -sp.sqrt(3), sp.sqrt(3))) / (2 * sp.sqrt(3))
        else:
            expected = sp.Integer(1) if law == "constant" else sp.Rational(1 + (-1) ** power, 2)
        assert sp.simplify(readout_moment(law, power) - expected) == 0
