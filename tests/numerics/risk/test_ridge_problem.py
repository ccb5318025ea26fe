"""numerics/risk/ridge_problem.py: a Limit and loose numbers are one problem, and the command says the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bulkedge
from bulkedge.numerics.risk.pair import limit_risk, ridge_constants
from bulkedge.numerics.risk.ridge import ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import Limit

FIELDS: dict[str, Any] = {
    "activation": "tanh",
    "links": "tanh(2*z)",
    "width": "3/2",
    "batch": "4/5",
    "train": "2",
    "steps": ("5/4",),
    "ridge": "1/10",
    "noise": "1/5",
}


def test_a_limit_is_what_the_command_predicts() -> None:
    found = limit_risk(Limit(**FIELDS))
    said = bulkedge.risk(
        "tanh", "tanh(2*z)", samples="2", width="3/2", ridge="1/10", step="5/4", batch="4/5", noise="1/5"
    )
    assert float(found.test) == pytest.approx(float(said.test), rel=1e-12)
    assert float(found.train) == pytest.approx(float(said.train), rel=1e-12)
    own = ridge_constants(nonlinearity("tanh"), nonlinearity("tanh(2*z)"))[0]
    assert ridge_risk(own, RidgeProblem(2.0, 1.5, 0.1, 1.25, 0.8, 0.2)).test == pytest.approx(float(found.test))


def test_no_step_and_the_batch_of_the_fit() -> None:
    start = RidgeProblem.of(Limit(**FIELDS | {"steps": (), "batch": None}))
    assert (start.eta, start.alpha, start.batch) == (0.0, None, 2.0)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"ridge": None}, "ridge"),
        ({"steps": ("1", "1")}, "steps"),
        ({"loss": "correlation"}, "loss"),
        ({"activation": "z + He(2, z)", "links": "1 + z"}, "links"),
    ],
)
def test_limits_without_a_risk(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as caught:
        limit_risk(Limit(**FIELDS | change))
    assert caught.value.argument == named


def test_a_step_that_grows_has_no_limit_of_this_kind() -> None:
    from bulkedge.theory.steps.setting import Growth

    with pytest.raises(InputError, match="grows"):
        RidgeProblem.of(Limit(**FIELDS | {"steps": (Growth("1", "1/2"),)}))  # type: ignore[arg-type]  # as a user types


def test_numbers_are_refused_by_name() -> None:
    assert RidgeProblem(1.0, 2.0, 0.1).numbers() == (1.0, 2.0, 0.1, 0.0, 1.0, 0.0)
    for bad, named in (
        (RidgeProblem(1.0, 2.0, 0.0), "ridge"),
        (RidgeProblem(1.0, 2.0, 0.1, math.inf), "step"),
        (RidgeProblem(1.0, 2.0, 0.1, alpha=np.float64(-1)), "batch"),
        (RidgeProblem(1.0, 2.0, 0.1, noise=math.nan), "noise"),
    ):
        with pytest.raises(InputError) as caught:
            bad.numbers()
        assert caught.value.argument == named
