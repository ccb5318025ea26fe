"""G1: the O(1/d) terms of the spike's strength, from the Mehler expansion of v(w) = E[y sigma'(w.x) x]."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Step
from theory.covariance import (
    act,
    along_spike,
    along_weight,
    bend,
    link,
    mean_over_weights,
    overlap,
    printed_pair_terms,
    slope2,
    statement,
)
from theory.symbols import alpha, beta, d, eta

P, Q = along_spike(), along_weight()
LEADING = link[1] ** 2 * act[1] ** 2
ACROSS = link[0] ** 2 * act[2] ** 2


def _pairs() -> Iterator[Step]:
    inside = P**2 + 2 * overlap * P * Q + overlap**2 * Q**2
    averaged = mean_over_weights(inside)
    yield Step(inside, reason="(v.w*)^2 with v = P w* + Q w (Stein), P and Q by Mehler in rho = w.w* and |w|^2 - 1")
    yield Step(averaged, Apply(mean_over_weights), "average over w ~ N(0, I/d): rho^2 -> 1/d, epsilon^2 -> 2/d")
    yield Step(
        sp.expand(d * (averaged - LEADING)) - ACROSS,
        Apply(lambda e: d * (e - LEADING) - ACROSS),
        "d times what is beyond the leading term, less the same in a direction across w*",
    )
    yield Step(printed_pair_terms(), "=", "collected")


def _to_first_order(expression: sp.Expr) -> sp.Expr:
    """The terms up to the order 1/d relative to the leading one."""
    front = eta**2 / (beta**2 * d)
    poly = sp.Poly(sp.expand(expression / front).subs(d, 1 / overlap), overlap)
    return front * sum(c / d**k for (k,), c in poly.terms() if k <= 1)


def _spike() -> Iterator[Step]:
    front = eta**2 / (beta**2 * d)
    pairs = (1 - 1 / (alpha * d)) * (LEADING + printed_pair_terms() / d)
    same = slope2 * bend / (alpha * d)
    yield Step(front * (pairs + same), reason="pairs of different samples, and E[y^2 sigma'^2 x x^T] of equal ones")
    yield Step(statement().rhs, Apply(_to_first_order), "to relative order 1/d")


_SOURCE = "G1; paper F, eq. (3.3)"
_NOTATION = "sigma_k = E sigma He_k, g_k = E g He_k, v_sigma = E sigma'^2, b_g = E g^2 (z^2 - 1)"

DERIVATIONS = (
    Derivation("G1.pairs", "The O(1/d) terms of the spike", printed_pair_terms, _pairs, _SOURCE, notation=_NOTATION),
    Derivation("G1.spike", "The strength of the spike", lambda: statement().rhs, _spike, _SOURCE, notation=_NOTATION),
)
