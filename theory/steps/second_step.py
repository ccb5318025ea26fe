"""The second gradient's spikes: what multiplies a^(k+1) in W2 (T2), in two readings (what a kink adds: theory.kink).

After the first step the pre-activation of neuron j at sample i is G + t P with t = eta1 a_j small and

    P = mu1 q + e G + iota (y/alpha) sigma'(G) + xi,   e = E[y] E[sigma''],   xi ~ N(0, v),
    v = E[y^2] Var(sigma'(G))/alpha,   iota = 1 for a reused batch, 0 for a fresh one,

q = x.u without the sample's own term. The mean over G and xi of sigma'(G + t P), order by order in t, gives

    W2 = W0 + ... + sum_k eta2 eta1^k a^(k+1) (1/n) X^T F_k,
    F_k(y, q) = (y/k!) E_{G,xi}[ sigma^(k+1)(G) P^k ]                      (reading `full`),
    F_k(y, q) = y (E[sigma^(k+1)]/k!) (mu1 p)^k,  p = q + iota y/alpha     (reading `rank_one`).

In both readings F_k is a polynomial in (y, q) whose coefficients are Gaussian moments of the activation, so it is
built once for any kind of number: SymPy expressions, exact or symbolic, and enclosures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from numbers import Integral
from typing import Any

import sympy as sp

from bulkedge.theory.functions.parse import shorten
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import TWO_STEPS, Erratum, Statement
from bulkedge.theory.steps.phases import check_batch

Poly = dict[tuple[int, int], Any]  # (power of y, power of q) -> coefficient
READINGS = ("rank_one", "full")
MAX_POWER = 12


ActivationMoments = Callable[[int, int, int], Any]  # (k, b, c) -> E[sigma^(k)(G) G^b sigma'(G)^c], k >= 1


def symbolic_rational(value: Fraction) -> sp.Rational:
    """A rational scalar among SymPy expressions."""
    return sp.Rational(value.numerator, value.denominator)


def enclosed_rational(value: Fraction) -> Enclosure:
    """A rational scalar among enclosures."""
    return Enclosure(value, Fraction(0), "exact")


@dataclass(frozen=True)
class Label:
    """What the second step needs to know of the data: alpha = n/d, E y, E y^2 (noise included), and the scalars."""

    inverse_alpha: Any
    mean: Any
    second_moment: Any
    rational: Callable[[Fraction], Any] = symbolic_rational

    @staticmethod
    def symbolic() -> Label:
        """alpha, E y = mu0*, E y^2 = m2 as symbols."""
        return Label(1 / s.alpha, s.mu0_star, s.m2)


def check_power(k: int, lowest: int = 0) -> int:
    """Return the order of a spike if it is usable, else raise InputError."""
    if isinstance(k, bool) or not isinstance(k, Integral) or not lowest <= k <= MAX_POWER:
        problem = f"{shorten(k)} is not the order of a spike"
        raise InputError("power", problem, f"give an integer in {lowest}..{MAX_POWER}")
    return int(k)


def _check_reading(reading: str) -> str:
    """Return `reading` if it is "rank_one" or "full", else raise InputError."""
    if reading not in READINGS:
        raise InputError("reading", f"unknown reading {str(reading)[:40]!r}", "give rank_one or full")
    return reading


def remainder_variance(moment: ActivationMoments, label: Label) -> Any:
    """v = E[y^2] Var(sigma'(G))/alpha, the variance of xi.  Source: O1, T2."""
    mu1 = moment(1, 0, 0)
    return label.second_moment * (moment(1, 0, 1) + mu1 * mu1 * label.rational(Fraction(-1))) * label.inverse_alpha


def spike_function(k: int, batch: str, reading: str, moment: ActivationMoments, label: Label) -> Poly:
    """F_k(y, q) of the chosen reading, as a polynomial in y and q (see the module's text).

    Valid for: any reading and batch; at a kink and a reused batch the moments of `moment` carry what crosses it
    (theory.steps.kink, T6), and a further left vector a^k|a| joins.
    Errors: InputError for an unknown batch or reading, or an order outside 0..12.
    Source: T2.
    """
    reused = check_batch(batch) == "reused"
    check_power(k)
    scale = label.rational(Fraction(1, factorial(k)))
    poly: Poly = {}
    if _check_reading(reading) == "rank_one":
        constant = scale * moment(k + 1, 0, 0) * _power(moment(1, 0, 0), k, label)
        for i, j, c in _binomial(k, reused):
            _add(poly, (1 + i, j), constant * c * _power(label.inverse_alpha, i, label))
        return poly
    mu1 = moment(1, 0, 0)
    e = label.mean * moment(2, 0, 0) if k and not _is_zero(label.mean) else label.rational(Fraction(0))
    v = remainder_variance(moment, label) if k > 1 else label.rational(Fraction(0))
    for r, b, c, h in _parts(k, own=reused, mean=not _is_zero(e)):
        ways = factorial(k) // (factorial(r) * factorial(b) * factorial(c) * factorial(2 * h))
        ways *= _double_factorial(h)
        term = scale * ways * moment(k + 1, b, c)
        for base, power in ((mu1, r), (e, b), (label.inverse_alpha, c), (v, h)):
            term = term * _power(base, power, label)
        _add(poly, (1 + c, r), term)
    return poly


def powers_of_p(k: int, batch: str, label: Label) -> Poly:
    """F_k = y p^k with p = q + iota y/alpha: the direction of `rank_one` without its constant.  Source: T3."""
    check_power(k)
    reused = check_batch(batch) == "reused"
    return {(1 + i, j): _power(label.inverse_alpha, i, label) * c for i, j, c in _binomial(k, reused)}


def as_expression(poly: Poly) -> sp.Expr:
    """The polynomial as a SymPy expression in y and q."""
    return sp.Add(*(c * s.y**i * s.q**j for (i, j), c in poly.items()))


def residual(batch: str, moment: ActivationMoments, label: Label) -> Poly:
    """y - f(x; W1) for the squared loss, which multiplies F_k/y at finite N; the symbols eta1 and N stay.

    f = (eta1/sqrt N) (mu1^2 q + e E[sigma''] + iota (y/alpha) E[sigma'^2]), output a.sigma(W x)/sqrt N.
    Valid for: readouts of variance 1/N; the gap to the correlation loss decays as N^(alpha1 - 1/2).
    Source: T2 (the term e E[sigma''] of a link with a mean is ours).
    """
    rate = s.eta1 / sp.sqrt(s.N)
    poly: Poly = {(1, 0): sp.Integer(1), (0, 1): -rate * moment(1, 0, 0) ** 2}
    _add(poly, (0, 0), -rate * label.mean * moment(2, 0, 0) ** 2)
    if check_batch(batch) == "reused":
        _add(poly, (1, 0), -rate * moment(1, 0, 1) * label.inverse_alpha)
    return poly


@dataclass(frozen=True)
class PolynomialActivation:
    """Moments of a polynomial activation, whose coefficients may be symbols: exact.

    `sigma` is a polynomial in `theory.numbers.symbols.z`.
    """

    sigma: sp.Expr

    def __call__(self, k: int, b: int, c: int) -> sp.Expr:
        """E[sigma^(k)(z) z^b sigma'(z)^c]."""
        first = sp.diff(self.sigma, s.z)
        return polynomial_mean(sp.diff(self.sigma, s.z, k) * s.z**b * first**c)


def polynomial_mean(expression: sp.Expr) -> sp.Expr:
    """E[f(z)] of a polynomial in z, z ~ N(0, 1), exactly: sum of coefficients times (2m - 1)!!."""
    poly = sp.Poly(expression, s.z)
    terms = ((n, c) for (n,), c in poly.terms() if n % 2 == 0)
    return sp.expand(sp.Add(*(c * _double_factorial(n // 2) for n, c in terms)))


def full_reading() -> sp.Eq:
    """F_k(y, q) = (y/k!) E[sigma^(k+1)(G) (mu1 q + e G + iota (y/alpha) sigma'(G) + xi)^k] in general form.

    Source: T2.
    """
    sigma = sp.Function("sigma")
    pushed = s.mu1 * s.q + s.e * s.G + s.iota * s.y / s.alpha * sigma(s.G).diff(s.G) + s.xi
    mean = sp.Function("E")(sp.Derivative(sigma(s.G), (s.G, s.k + 1)) * pushed**s.k)
    return sp.Eq(sp.Function("F_k")(s.y, s.q), s.y / sp.factorial(s.k) * mean)


def _binomial(k: int, own: bool) -> Iterator[tuple[int, int, int]]:
    """(i, j, ways) of (q + y/alpha)^k: y^i q^j."""
    for i in range(k + 1 if own else 1):
        yield i, k - i, int(sp.binomial(k, i))


def _parts(k: int, own: bool, mean: bool) -> Iterator[tuple[int, int, int, int]]:
    """Powers (r, b, c, h) of mu1 q, e G, own term and xi^2 with r + b + c + 2h = k."""
    for h in range(k // 2 + 1):
        for c in range(k - 2 * h + 1 if own else 1):
            for b in range(k - 2 * h - c + 1 if mean else 1):
                yield k - 2 * h - c - b, b, c, h


def _double_factorial(h: int) -> int:
    """(2h - 1)!!, the 2h-th Gaussian moment."""
    return int(factorial(2 * h) // (2**h * factorial(h)))


def _power(base: Any, power: int, label: Label) -> Any:
    result = label.rational(Fraction(1))
    for _ in range(power):
        result = result * base
    return result


def _add(poly: Poly, key: tuple[int, int], value: Any) -> None:
    poly[key] = poly[key] + value if key in poly else value


def _is_zero(value: Any) -> bool:
    if isinstance(value, Enclosure):
        return value.exact and value.value == 0
    return bool(value == 0)


STATEMENTS = (
    Statement(
        id="T2",
        title="Spikes of the second step, in the readings rank_one and full",
        formula=full_reading,
        assumptions=(
            TWO_STEPS,
            "correlation loss (squared loss: multiply by `y - f`, theory.steps.second_step.residual)",
            "`G ~ N(0, 1), xi ~ N(0, v), v = E y^2 Var(sigma')/alpha, e = E y E sigma''`; `iota = 1` reused, 0 fresh",
            "a kink and a reused batch: the moments of `F_k` and further left vectors as in T6",
        ),
        sources=("T, theorem on `W2`", "derived here: the reading full"),
        status="derived",
        errata=(
            Erratum(
                printed="`W1` may be replaced by `W0 + eta1 mu1` a `u^T` inside `sigma'` (reading rank_one)",
                found="what is left of the first step moves every pre-activation by terms of the same order",
                corrected="spike `k` carries `(1/n) X^T F_k` with `F_k` of the reading full",
                evidence=("T2.full.reused.1", "T2.full.reused.2.mean", "T2.full.fresh.1.mean", "T2.full.fresh.2.mean"),
            ),
        ),
    ),
)
