"""G1, G2: the O(1/d) terms of the spike's strength, from the Mehler expansion of v(w) = E[y sigma'(w.x) x]."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Given, Step, Substitute, Tends
from theory.covariance import (
    act,
    along_spike,
    along_weight,
    bend,
    conditional_bulk,
    conditional_cosine,
    conditional_strength,
    label2,
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


_samples, _width, _norm2 = sp.symbols("n m u_norm", positive=True)


def _conditional() -> Iterator[Step]:
    total = (_samples - 1) / _samples * link[1] ** 2 + (d - 1) * label2 / _samples
    yield Step(
        total,
        reason="E |u|^2, u = X^T y/n: pairs of samples give |E x y|^2 = g_1^2, a sample with itself |x|^2 y^2",
    )
    yield Step(total.subs(_samples, alpha * d), Substitute({_samples: alpha * d}), "at n = alpha d")
    norm2 = link[1] ** 2 + label2 / alpha
    yield Step(norm2, Tends(d), "in the limit")
    factor = eta**2 * act[1] ** 2 / _width**2 * d
    yield Step(
        factor * norm2,
        Apply(lambda e: factor * e),
        "given u a neuron moves by (eta/m^(1/2)) a_j c1 u, a_j ~ N(0, 1/m): variance along u, in units of 1/d",
    )
    yield Step(conditional_strength(), Substitute({_width: beta * d}), "at m = beta d")
    yield Step(norm2, Given(), "|u|^2 again")
    yield Step(conditional_cosine(), Apply(lambda e: link[1] ** 2 / e), "(u.w*)^2 = g_1^2 in the limit, over |u|^2")


def _bulk() -> Iterator[Step]:
    energy = eta**2 / _width**2 * (slope2 - act[1] ** 2) * label2 * d / _samples
    yield Step(
        1 + energy, reason="|w|^2 = 1 and the energy of what is left of the step (O1), spread over all directions"
    )
    yield Step(conditional_bulk(), Substitute({_width: beta * d, _samples: alpha * d}), "at m = beta d and n = alpha d")


def _given_the_batch() -> tuple[sp.Expr, ...]:
    return conditional_strength(), conditional_cosine()


_SOURCE = "G1; paper F, eq. (3.3)"
_NOTATION = "sigma_k = E sigma He_k, g_k = E g He_k, v_sigma = E sigma'^2, b_g = E g^2 (z^2 - 1)"

DERIVATIONS = (
    Derivation("G1.pairs", "The O(1/d) terms of the spike", printed_pair_terms, _pairs, _SOURCE, notation=_NOTATION),
    Derivation("G1.spike", "The strength of the spike", lambda: statement().rhs, _spike, _SOURCE, notation=_NOTATION),
    Derivation(
        "G2.spike", "Given the batch", _given_the_batch, _conditional, "G2", notation=_NOTATION + ", y_2 = E y^2"
    ),
    Derivation("G2.bulk", "Beside the spike", conditional_bulk, _bulk, "G2", notation=_NOTATION + ", y_2 = E y^2"),
)
