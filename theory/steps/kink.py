"""What a kink of the activation adds to the second gradient of a reused batch, at every order (T6).

sigma' is s_- below b and s_+ above, smooth each up to b; t = eta1 a_j, P_-+(G) = A + e G + (y/alpha) s_-+(G) with
A = mu1 q + xi, and p_-+ its value at b. G moves to G + t P, and crosses b from below where t p_- > 0, from above where
t p_+ < 0; what crosses adds D = s_+ - s_- in the first case, and takes it away in the second. Both are, by Lagrange's
inversion of G -> G + t P, the one series

    C_-+(t) = int_b^(b + t p_-+) D(h) sum_m ((-t)^m/m!) d^m/dh^m [phi(h) P_-+(h)^m] dh = sum_k C_-+,k t^k,
    C_k = sum_(m<k) ((-1)^m/(m! (k-m)!)) p^(k-m) [D (phi P^m)^(m)]^(k-1-m) at b.

Since 1{t p > 0} = (1 + sgn t sgn p)/2, the order t^k has two left vectors, for every k >= 1 (a finite number):

    a^(k+1):  y { E[sigma_ac^(k+1)(G) P^k]/k! + sum_b E_xi[C_-,k + C_+,k]/2 }            (a polynomial in y and q),
    a^k |a|:  y sum_b E_xi[sgn(p_-) C_-,k - sgn(p_+) C_+,k]/2.

With a fresh batch P_- = P_+: the second is zero, and the first is the pairing with the deltas of sigma^(k+1).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import comb, factorial
from typing import Any

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, value_at
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.ball import sign as sign_of
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import Statement

Term = tuple[int, int, int]  # powers of p, e and y/alpha
Terms = dict[Term, Any]


@dataclass(frozen=True)
class Kink:
    """A point where sigma' has different sides: `left` and `right` hold sigma', sigma'', ... there (0 from then on)."""

    at: Any
    left: tuple[Any, ...]
    right: tuple[Any, ...]

    @property
    def height(self) -> Any:
        """J = sigma'(b+) - sigma'(b-)."""
        return self.right[0] - self.left[0]

    @property
    def sides(self) -> tuple[tuple[int, tuple[Any, ...]], ...]:
        """(sign, one-sided derivatives): what crosses from the left counts +, from the right -."""
        return ((1, self.left), (-1, self.right))


def kinks(sigma: Nonlinearity, order: int) -> tuple[Kink, ...]:
    """The kinks of sigma' with one-sided derivatives sigma', ..., sigma^(order).

    Errors: InputError for an activation that jumps, and where a one-sided derivative is not finite.
    """
    first = sigma.derivative()
    if first.deltas:
        raise InputError("activation", f"{sigma.name} jumps: its gradient is not defined", "give a continuous one")
    found = []
    for left, right in zip(first.pieces, first.pieces[1:], strict=False):
        at = left.upper
        sides = [tuple(value_at(sp.diff(p.expr, s.z, i), at) for i in range(order)) for p in (left, right)]
        if any(x.is_finite is False or x.has(sp.nan) for side in sides for x in side):
            raise InputError(
                "activation",
                f"{sigma.name} has no one-sided derivative of order {order} at {at}",
                "take a lower --power, or an activation with smooth sides",
            )
        found.append(Kink(at, *sides))
    return tuple(found)


def crossing(kink: Kink, side: tuple[Any, ...], k: int) -> Terms:
    """C_k of one side over phi(b), as a polynomial in p, e and y/alpha, homogeneous of degree k >= 1.  Source: T6."""
    phi = [sp.Integer(1), -kink.at]  # phi(b + x)/phi(b) = exp(-b x - x^2/2)
    for i in range(1, k):
        phi.append((-kink.at * phi[i] - phi[i - 1]) / (i + 1))
    height = [(_at(kink.right, i) - _at(kink.left, i)) / factorial(i) for i in range(k)]
    pushed: list[Terms] = [{(1, 0, 0): sp.Integer(1)}, {(0, 1, 0): sp.Integer(1), (0, 0, 1): _at(side, 1)}]
    pushed += [{(0, 0, 1): _at(side, i) / factorial(i)} for i in range(2, k + 1)]
    power: list[Terms] = [{(0, 0, 0): c} for c in phi[:k]]  # phi P^m, m = 0 first
    total: Terms = {}
    for m in range(k):
        if m:
            power = _product(power, pushed, k)
        derived = [_scaled(power[i + m], factorial(i + m) // factorial(i)) for i in range(k - m)]
        j = k - 1 - m
        weight = sp.Rational((-1) ** m * factorial(j), factorial(m) * factorial(k - m))
        for i in range(j + 1):
            for (n, b, c), value in derived[j - i].items():
                _add(total, (n + k - m, b, c), weight * height[i] * value)
    return {term: value for term, value in total.items() if value != 0}


def crossing_moment(kink: Kink, k: int, b: int, c: int) -> sp.Expr:
    """What a kink adds to E[sigma^(k+1)(G) G^b sigma'(G)^c] in T2's F_k, so that its sum is E_xi[C_- + C_+]/2.

    For c = 0 it is the pairing of the deltas of sigma^(k+1) with z^b.
    Source: T6.
    """
    total = sp.S.Zero
    for _, side in kink.sides:
        for (n, j, i), value in crossing(kink, side, k).items():
            if j <= b and i <= c:  # p^n = (A + e b + (y/alpha) s)^n: powers k - b - c, b - j, c - i
                ways = comb(n, b - j) * comb(n - b + j, c - i)
                total += value * ways * kink.at ** (b - j) * side[0] ** (c - i)
    return total * factorial(k - b - c) * factorial(b) * factorial(c) * normal_density(kink.at) / 2


def further(found: Collection[Kink], k: int, mu1: Any, e: Any) -> sp.Expr:
    """The function of the further left vector a^k |a|: y sum_b E_xi[sgn(p_-) C_-,k - sgn(p_+) C_+,k]/2.

    For k = 1: y sum (J phi(b)/2) E_xi[ |mu1 q + e b + xi + l y/alpha| - |mu1 q + e b + xi + r y/alpha| ].
    Zero without kinks and for even activations (|z|), whose one-sided terms cancel.
    Valid for: reused batch, xi ~ N(0, v), v > 0.  Source: T6 (+).
    """
    total = sp.S.Zero
    for kink in found:
        for sign, side in kink.sides:
            p = mu1 * s.q + e * kink.at + side[0] * s.y / s.alpha
            for (n, j, c), value in crossing(kink, side, k).items():
                total += sign * normal_density(kink.at) / 2 * value * e**j * (s.y / s.alpha) ** c * signed_mean(n, p)
    return s.y * total


def further_vanishes(found: Collection[Kink], k: int, blind: bool = False, tilted: bool = False) -> bool:
    """Whether the function of a^k |a| is identically zero; `blind`: mu1 = 0, `tilted`: e is not 0.

    It is a sum of (y/alpha)^c e^j psi_n(mu1 q + shift), and functions of different n or shift are independent, so its
    weights cancel shift by shift. psi_n has the parity of n + 1: with mu1 = 0 shifts of opposite sign count as one (so
    that even activations have none), and no shift at all leaves only odd n.
    """
    weights: list[tuple[_Shift, Terms]] = []
    for kink in found:
        for sign, side in kink.sides:
            shift = (kink.at if tilted else sp.S.Zero, side[0])
            terms, parity = _group(weights, shift, blind)
            odd_only = blind and _same(shift, _opposite(shift))
            for (n, j, c), value in crossing(kink, side, k).items():
                if (j == 0 or tilted) and (n % 2 or not odd_only):
                    _add(terms, (n, j, c), sign * parity ** (n + 1) * value * sp.exp(-(kink.at**2) / 2))
    return all(sign_of(sp.expand(value)) == 0 for _, terms in weights for value in terms.values())


_Shift = tuple[Any, Any]  # coefficients of e and of y/alpha


def _group(weights: list[tuple[_Shift, Terms]], shift: _Shift, blind: bool) -> tuple[Terms, int]:
    """The weights of a shift, or (sign -1) of its opposite where they count as one; new ones if there are none."""
    for other, terms in weights:
        if _same(shift, other):
            return terms, 1
        if blind and _same(_opposite(shift), other):
            return terms, -1
    weights.append((shift, {}))
    return weights[-1][1], 1


def _opposite(shift: _Shift) -> _Shift:
    return -shift[0], -shift[1]


def _same(one: _Shift, two: _Shift) -> bool:
    return all(sign_of(x - y) == 0 for x, y in zip(one, two, strict=True))


def signed_mean(n: int, mean: sp.Expr) -> sp.Expr:
    """psi_n = E[sgn(m + xi) (m + xi)^n], xi ~ N(0, v): psi_(n+1) = m psi_n + n v psi_(n-1), psi_1 = E|m + xi|."""
    if n == 0:
        return sp.erf(mean / sp.sqrt(2 * s.v))
    if n == 1:
        return folded_mean(mean)
    return mean * signed_mean(n - 1, mean) + (n - 1) * s.v * signed_mean(n - 2, mean)


def folded_mean(mean: sp.Expr) -> sp.Expr:
    """E|m + xi|, xi ~ N(0, v), v > 0: m erf(m/sqrt(2v)) + sqrt(2v/pi) exp(-m^2/(2v))."""
    return mean * sp.erf(mean / sp.sqrt(2 * s.v)) + sp.sqrt(2 * s.v / sp.pi) * sp.exp(-(mean**2) / (2 * s.v))


def square(found: Collection[Kink], continuous: tuple[Any, Any, Any], mu1: Any, e: Any) -> sp.Expr:
    """The function of the left vector a^2 (k = 1) for an activation whose derivative jumps, reused batch.

    y { E[sigma''_ac (mu1 q + e G + (y/alpha) sigma')] + sum J phi(b) (mu1 q + e b + (l + r) y/(2 alpha)) };
    `continuous` holds E[sigma''_ac], E[sigma''_ac G], E[sigma''_ac sigma'] of the absolutely continuous part.
    Source: T6.
    """
    plain, with_G, with_own = continuous
    total = mu1 * s.q * plain + e * with_G + s.y / s.alpha * with_own
    for kink in found:
        middle = mu1 * s.q + e * kink.at + (kink.left[0] + kink.right[0]) * s.y / (2 * s.alpha)
        total += kink.height * normal_density(kink.at) * middle
    return s.y * total


def statement() -> sp.Eq:
    """The function of a|a| for one kink of sigma' from l to r at b, before the mean over xi (see `further`).

    Source: T6.
    """
    at, left, right = sp.symbols("b l r", real=True)
    E, shift = sp.Function("E"), s.mu1 * s.q + s.e * at + s.xi
    means = E(sp.Abs(shift + left * s.y / s.alpha)) - E(sp.Abs(shift + right * s.y / s.alpha))
    return sp.Eq(sp.Function("F")(s.y, s.q), s.y * (right - left) * normal_density(at) / 2 * means)


def _at(derivatives: tuple[Any, ...], i: int) -> Any:
    return derivatives[i] if i < len(derivatives) else sp.S.Zero


def _product(f: list[Terms], g: list[Terms], length: int) -> list[Terms]:
    """The product of two power series, cut at `length`."""
    result: list[Terms] = [{} for _ in range(length)]
    for i, one in enumerate(f[:length]):
        for j, two in enumerate(g[: length - i]):
            for (n, b, c), x in one.items():
                for (m, d, e), y in two.items():
                    _add(result[i + j], (n + m, b + d, c + e), x * y)
    return result


def _scaled(terms: Terms, factor: int) -> Terms:
    return {term: value * factor for term, value in terms.items()}


def _add(terms: Terms, term: Term, value: Any) -> None:
    terms[term] = terms[term] + value if term in terms else value


STATEMENTS = (
    Statement(
        id="T6",
        title="Kinked activations: the further left vectors `a^k|a|` of a reused batch, shown for `k = 1`",
        formula=statement,
        assumptions=(
            "`sigma'` is smooth up to `b` on either side, from `l` to `r` at `b`; reused batch; `xi ~ N(0, v)`",
            "every order `k >=` 1 has the left vectors `a^(k+1)` and `a^k|a|`, both of the strength of spike `k`: a "
            "finite set",
            "order `k`: `y E_xi`[sgn`(p_-) C_-,k` - sgn`(p_+) C_+,k`]/2, `C_-+,k` the series of what crosses `b` "
            "(theory: kink)",
            "zero for ReLU at even `k` without a mean of `y`; a corner of `sigma'` without a jump has its first at "
            "`k = 3`",
        ),
        sources=("derived here",),
        status="derived",
    ),
)
