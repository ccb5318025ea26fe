"""L1: without a spike the conditional fixed point is the ridge regression's own (O3)."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Step, Substitute
from theory.conditional import N_, scalar_fixed_point
from theory.symbols import kappa, lam, n

_population = sp.Symbol("omega", positive=True)
_delta = sp.Symbol("delta", positive=True)


def _claim() -> sp.Eq:
    return scalar_fixed_point(_population)


def _fixed_point() -> Iterator[Step]:
    yield Step(
        sp.Eq(1 - lam / kappa, N_ / n * _population / (kappa + _population)),
        reason="the effective ridge of n samples for the population omega times the identity: 1 - lambda/kappa = df1/n",
    )
    inner = lam * (1 + _delta)
    yield Step(
        sp.Eq(1 - lam / inner, N_ / n * _population / (inner + _population)),
        Substitute({kappa: inner}),
        "with kappa = lambda (1 + delta), delta what the sample adds to the ridge",
    )
    yield Step(
        scalar_fixed_point(_population),
        Apply(lambda e: sp.Eq(e.lhs * (1 + _delta), e.rhs * (1 + _delta))),
        "times 1 + delta: L1's equation at one node",
    )


DERIVATIONS = (Derivation("L1.no_spike", "Without a spike", _claim, _fixed_point, "L1; O3"),)
