"""A derivation as a line of the ledger: what holds is counted, and a planted mistake is always caught."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from bulkedge import registry
from bulkedge.derivations.engine.derivation import Derivation, DerivationError, Equal, Given, Step
from bulkedge.derivations.engine.verdict import judge
from bulkedge.numerics.trials.check import Verdict
from bulkedge.theory.numbers import symbols as s

x = sp.Symbol("x", positive=True)
f = sp.Function("f")


def derivation(*steps: Step, claim: Any) -> Derivation:
    return Derivation("X1.test", "A test", lambda: claim, lambda: steps, "the tests")


# The only steps that are not exact, with the reason.
CHECKED = {
    "K1.series:8": "the binomial series at a symbolic correlation: SymPy sums it under conditions only",
}


@pytest.mark.parametrize("derived", registry.derivations(), ids=lambda d: d.id)
def test_every_derivation_holds_and_a_planted_mistake_is_caught(derived: Derivation) -> None:
    """All that is asked of each one, so that it is verified once."""
    judged = judge(derived)
    assert judged.passed
    assert judged.held == judged.parts > judged.planted > 1
    verified = derived.verify()
    assert all(isinstance(claim, sp.Rel) for claim in verified.claims)  # a claim names its left side
    assert set(verified.reached) == {"exact"}
    for number, (_, _, way) in enumerate(verified.steps, 1):
        assert way.startswith("checked") == (f"{derived.id}:{number}" in CHECKED), (derived.id, number, way)
    assert r"\begin{align" in derived.latex()


def test_a_prefix_that_held_is_not_verified_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control looks at the planted step alone, and finds what is wrong there and nowhere else."""
    seen: list[Any] = []
    look = Equal.check
    monkeypatch.setattr(Equal, "check", lambda self, a, b, domain: (seen.append(b), look(self, a, b, domain))[1])
    steps = Step((x + 1) ** 2), Step(x**2 + 2 * x + 1, "=", "expand"), Step(x * (x + 2) + 1, "=", "factor")
    judged = judge(derivation(*steps, claim=x * (x + 2) + 1))
    assert judged.passed
    assert seen == [x**2 + 2 * x + 1, x * (x + 2) + 1, x * (x + 2) + 2]


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
