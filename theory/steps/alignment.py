"""Alignment of the second step's directions with the target (T3).

b_k = (1/n) X^T F_k(y, p), p = X u, u = X1^T y1/n. With q = sum_j c_j z_j + s zeta, c_j = E[z_j y], s^2 = E y^2/alpha,
zeta independent, and F' the derivative in q (the sample's own term y/alpha is inside F for a reused batch), the
limits are, for n, d to infinity with n/d = alpha,

    beta_j.b_k -> E[z_j F_k],
    u.b_k      -> sum_j c_j E[z_j F_k] + s^2 E F_k' + (iota/alpha) E[y F_k],
    b_i.b_k    -> sum_j E[z_j F_i] E[z_j F_k] + s^2 E F_i' E F_k'
                  + (1/alpha) (E[F_i F_k] + iota (E F_i' E[y F_k] + E F_k' E[y F_i])).

The last bracket is the memory (Onsager) term: with a reused batch sample m sits in the u that sample i sees. F_k is a
polynomial in (y, q), so every limit is a polynomial in the moments E[z^a y^b] of the target and in 1/alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial, isqrt
from typing import Any

import sympy as sp

from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.enclosure import Enclosure, floor_log10
from bulkedge.theory.numbers.statement import Erratum, Statement
from bulkedge.theory.steps.phases import check_batch
from bulkedge.theory.steps.second_step import Poly
from bulkedge.theory.steps.target import Target, compositions


@dataclass(frozen=True)
class Geometry:
    """The limits of T3 for a target, a ratio and a batch.

    `inverse_alpha` is d/n of the second batch, `first_inverse_alpha` that of the first (the same unless given).
    Valid for: F polynomial in (y, q), finite moments of the label.
    Source: T3; derived by leaving one or two samples out of u (derivations/steps/alignment.py).
    """

    target: Target
    inverse_alpha: Any
    batch: str
    first_inverse_alpha: Any = None

    def __post_init__(self) -> None:
        check_batch(self.batch)

    @property
    def noise2(self) -> Any:
        """s^2 = E y^2/alpha of the first batch: the energy of u outside the target's directions."""
        first = self.inverse_alpha if self.first_inverse_alpha is None else self.first_inverse_alpha
        return self._label(0, 2) * first

    def overlap(self, j: int) -> Any:
        """c_j = E[z_j y], the component of u along beta_j."""
        return self._label(j, 1, power=1)

    @property
    def u_norm2(self) -> Any:
        """|u|^2 -> sum_j c_j^2 + s^2."""
        total = self.noise2
        for j in range(self.target.directions):
            total = total + self.overlap(j) * self.overlap(j)
        return total

    def mean(self, F: Poly, extra: tuple[int, ...] | None = None) -> Any:
        """E[prod z_j^extra_j F(y, q)] over z, the noise and zeta."""
        target = self.target
        extra = extra or (0,) * target.directions
        total = target.rational(Fraction(0))
        for (i, power), coefficient in F.items():
            for h in range(power // 2 + 1):  # zeta^(2h)
                outer = comb(power, 2 * h) * factorial(2 * h) // (2**h * factorial(h))
                for parts in compositions(power - 2 * h, target.directions):
                    ways = outer * factorial(power - 2 * h)
                    for part in parts:
                        ways //= factorial(part)
                    shifted = tuple(a + b for a, b in zip(extra, parts, strict=True))
                    term = coefficient * target.moment(shifted, i) * ways
                    for _ in range(h):
                        term = term * self.noise2
                    for j, part in enumerate(parts):
                        for _ in range(part):
                            term = term * self.overlap(j)
                    total = total + term
        return total

    def signal(self, F: Poly, j: int = 0) -> Any:
        """beta_j.b -> E[z_j F]."""
        return self.mean(F, tuple(int(i == j) for i in range(self.target.directions)))

    def u_dot(self, F: Poly) -> Any:
        """The limit of u.b."""
        total = self.noise2 * self.mean(derivative(F))
        for j in range(self.target.directions):
            total = total + self.overlap(j) * self.signal(F, j)
        if self.batch == "reused":
            total = total + self.inverse_alpha * self.mean(_times_y(F))
        return total

    def gram(self, F: Poly, H: Poly) -> Any:
        """The limit of the inner product of two directions."""
        dF, dH = self.mean(derivative(F)), self.mean(derivative(H))
        total = self.noise2 * dF * dH
        for j in range(self.target.directions):
            total = total + self.signal(F, j) * self.signal(H, j)
        inner = self.mean(product(F, H))
        if self.batch == "reused":
            inner = inner + dF * self.mean(_times_y(H)) + dH * self.mean(_times_y(F))
        return total + self.inverse_alpha * inner

    def without_memory(self, F: Poly) -> Any:
        """|b|^2 with the memory term left out: the natural mistake, for controls."""
        return Geometry(self.target, self.inverse_alpha, "fresh", self.first_inverse_alpha).gram(F, F)

    def _label(self, j: int, b: int, power: int = 0) -> Any:
        powers = tuple(power if i == j else 0 for i in range(self.target.directions))
        return self.target.moment(powers, b)


def derivative(F: Poly) -> Poly:
    """dF/dq."""
    return {(i, j - 1): c * j for (i, j), c in F.items() if j}


def _times_y(F: Poly) -> Poly:
    """y F."""
    return {(i + 1, j): c for (i, j), c in F.items()}


def product(F: Poly, H: Poly) -> Poly:
    """F H."""
    result: Poly = {}
    for (i, j), c in F.items():
        for (m, n), b in H.items():
            key = (i + m, j + n)
            result[key] = result[key] + c * b if key in result else c * b
    return result


def cosine(signal: Enclosure, norm2: Enclosure, digits: int) -> Enclosure:
    """signal/sqrt(norm2) with a bound: interval arithmetic on a rational square root.

    Errors: ArithmeticError if the squared norm is not shown to be positive.
    """
    low, high = norm2.value - norm2.error, norm2.value + norm2.error
    if low <= 0:
        raise ArithmeticError("the squared norm of the direction is not shown to be positive")
    # Both the root and the cosine to relative precision: at extreme ratios either may be as small as it likes.
    guard = 10 ** (digits + 10 + max(0, -floor_log10(low) // 2 + 1))
    root_low, root_high = _root(low, guard), _root(high, guard) + Fraction(1, guard)
    ends = [x / r for x in (signal.value - signal.error, signal.value + signal.error) for r in (root_low, root_high)]
    middle = (max(ends) + min(ends)) / 2
    # The bisected midpoint is itself rounded, so that printed fractions stay short.
    short = 10 ** (digits + 10 + (max(0, -floor_log10(abs(middle))) if middle else 0))
    rounded = Fraction(round(middle * short), short)
    return Enclosure(rounded, (max(ends) - min(ends)) / 2 + abs(middle - rounded), "ball")


def _root(x: Fraction, guard: int) -> Fraction:
    """A lower bound of sqrt(x) within 1/guard."""
    return Fraction(isqrt(x.numerator * guard * guard // x.denominator), guard)


def limits() -> sp.Eq:
    """b_i.b_k in the general form of T3, single index, F' the derivative in q.  Source: T3."""
    E, q = sp.Function("E"), s.q
    F, H = (sp.Function(name)(s.y, q) for name in ("F_i", "F_k"))
    memory = E(F.diff(q)) * E(s.y * H) + E(H.diff(q)) * E(s.y * F)
    right = (
        E(s.z * F) * E(s.z * H)
        + sp.Symbol("s", nonnegative=True) ** 2 * E(F.diff(q)) * E(H.diff(q))
        + (E(F * H) + s.iota * memory) / s.alpha
    )
    return sp.Eq(sp.Function("Gram")(sp.Symbol("b_i"), sp.Symbol("b_k")), right)


STATEMENTS = (
    Statement(
        id="T3",
        title="Alignment of the second step's directions with the target",
        formula=limits,
        assumptions=(
            "`b_k = (1/n) X^T F_k(y, p), p = X u, n/d -> alpha`, finite moments of the label",
            "`q = sum_j c_j z_j + s zeta, c_j = E z_j y, s^2 = E y^2/alpha`; reading rank_one: `F_k = y p^k`",
            "`iota = 1`: the memory term of a reused batch",
            "as statements about `W2` at sizes up to `N = 3000`: python `-m` benchmarks.ladder",
        ),
        sources=("derived here (leave-one-out)",),
        status="derived",
        errata=(
            Erratum(
                "T, Abstract: batch reuse lets the second update capture directions even when the information "
                "exponent exceeds one, for a proper choice of `alpha_1` and `alpha_2`",
                "true of some links only, and `Lambda` does not decide which: an even link is never reached, as `E[z "
                'F_k]` changes its sign with `z` (align "He(2, `z`)": no order); one of mixed parity is reached at '
                "`k = 1`, an odd one of exponent 3 at `k = 2`, with ReLU at `k = 1` (T6)",
                "`beta` is reached at order `k` iff `E[z F_k] !=` 0: a condition on the parity of link and "
                "activation beside `k <= Lambda`",
                ("T3.even.reused.2", "T3.he3.reused.1", "T3.he3.reused.2", "T3.mixed.reused.1", "T6.relu.signal"),
            ),
        ),
    ),
)
