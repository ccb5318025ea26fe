"""A derivation as a line of the ledger: its steps and claims that hold, and a planted mistake as negative control."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from bulkedge.derivations.engine.derivation import Compare, Derivation, DerivationError, Given, Step, verify_after
from bulkedge.numerics.trials.check import Verdict


@dataclass(frozen=True)
class Judged:
    """A derivation, how many of its `parts` (steps and claims) `held`, and the verdicts on it and on its control.

    `evidence` is the weakest kind of evidence in it; where it does not hold, the reason. `planted` is the number of the
    step that the control makes wrong.
    """

    derivation: Derivation
    parts: int
    held: int
    verdict: Verdict
    evidence: str
    planted: int
    control: Verdict

    @property
    def passed(self) -> bool:
        """CONFIRMED, and the planted mistake REFUTED."""
        return self.verdict is Verdict.CONFIRMED and self.control is Verdict.REFUTED


def judge(derivation: Derivation) -> Judged:
    """Verify a derivation, and again with a mistake in the last of its steps that is verified.

    A step that nothing decides is BLIND, and so is a control whose mistake was not decided or not reached.
    """
    parts, held, verdict, evidence = _verdict(derivation)
    steps = tuple(derivation.steps())
    checked = [n for n, step in enumerate(steps) if n and not isinstance(step.resolved(), Given)]
    if not checked:
        raise DerivationError(f"{derivation.id}: no step of it follows from another, so that nothing is verified")
    at = checked[-1]
    # The steps before the mistake are those that held, and are not verified again.
    planted = replace(derivation, steps=lambda: _planted(steps, at))
    _, reached, control, _ = _verdict(planted, known=min(held, at))
    # A mistake before the planted one hides it.
    control = Verdict.BLIND if reached < at else control
    return Judged(derivation, parts, held, verdict, evidence, at + 1, control)


def _verdict(derivation: Derivation, known: int = 0) -> tuple[int, int, Verdict, str]:
    try:
        verified = verify_after(derivation, known) if known else derivation.verify()
    except DerivationError as error:
        return error.parts, error.held, Verdict.REFUTED if error.refuted else Verdict.BLIND, str(error)
    parts = len(verified.steps) + len(verified.claims)
    return parts, parts, Verdict.CONFIRMED, verified.how


def _planted(steps: tuple[Step, ...], at: int) -> Iterator[Step]:
    relation = steps[at].resolved()
    expression: Any = sp.sympify(steps[at].expression, strict=True)
    if isinstance(relation, Compare):
        # One beyond what came before, on the wrong side.
        expression = sp.sympify(steps[at - 1].expression, strict=True) + (-1 if relation.order in {"<", "<="} else 1)
    elif isinstance(expression, sp.Rel):
        expression = expression.func(expression.lhs, expression.rhs + 1, evaluate=False)
    else:
        expression = expression + 1
    yield from (*steps[:at], replace(steps[at], expression=expression), *steps[at + 1 :])
