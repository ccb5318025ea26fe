"""A derivation as a line of the ledger: what holds is counted, and a planted mistake is always caught."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from bulkedge import registry
from bulkedge.derivations.engine.derivation import Derivation, DerivationError, Given, Step
from bulkedge.derivations.engine.verdict import judge
from bulkedge.numerics.trials.check import Verdict
from bulkedge.theory.numbers import symbols as s

x = sp.Symbol("x", positive=True)
f = sp.Function("f")


def derivation(*steps: Step, claim: Any) -> Derivation:
    return Derivation("X1.test", "A test", lambda: claim, lambda: steps, "the tests")


@pytest.mark.parametrize("derived", registry.derivations(), ids=lambda d: d.id)
def test_a_planted_mistake_is_caught_in_every_derivation(derived: Derivation) -> None:
    judged = judge(derived)
    assert judged.passed
    assert judged.held == judged.parts > judged.planted > 1


def test_what_fails_is_counted_and_told_apart() -> None:
    right = Step((x + 1) ** 2), Step(x**2 + 2 * x + 1, "=", "expand")
    wrong = judge(derivation(*right, Step(x**2, "=", "wrong"), Step(x**2), claim=x**2))
    assert (wrong.held, wrong.parts, wrong.verdict) == (2, 5, Verdict.REFUTED)
    assert "step 3 (wrong)" in wrong.evidence
    assert wrong.control is Verdict.BLIND  # the mistake in step 4 lies behind the one in step 3
    undecided = judge(derivation(*right, Step(f(x), "=", "why?"), claim=f(x)))
    assert (undecided.verdict, undecided.passed) == (Verdict.BLIND, False)
    unreached = judge(derivation(*right, claim=sp.Eq(s.psi, x)))
    assert (unreached.held, unreached.verdict, unreached.control) == (2, Verdict.REFUTED, Verdict.REFUTED)


def test_an_inequality_is_planted_on_its_wrong_side() -> None:
    assert judge(derivation(Step(x), Step(x + 1, "<=", "larger"), claim=x + 1)).passed
    assert judge(derivation(Step(x + 1), Step(x, ">", "smaller"), claim=x)).passed


def test_a_chain_of_starting_points_verifies_nothing() -> None:
    with pytest.raises(DerivationError, match="nothing is verified"):
        judge(derivation(Step(x), Step(x + 1, Given()), claim=x + 1))
