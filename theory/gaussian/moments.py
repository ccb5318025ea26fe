"""Gaussian moments of links and activations, exact where a closed form is known, else enclosed.

They feed theory.steps.target and theory.steps.second_step: E[z^a g(z)^b] of a link, E[sigma^(k)(z) z^b sigma'(z)^c] of
an activation. Powers of z are expanded in He_k, whose coefficients are positive, so that no digits cancel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, Piece, product
from bulkedge.theory.gaussian import gaussian
from bulkedge.theory.numbers.ball import enclose_expr
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.kink import crossing_moment, kinks

ZERO = Enclosure(Fraction(0), Fraction(0), "exact")


@functools.lru_cache(maxsize=2048)
def power(f: Nonlinearity, b: int) -> Nonlinearity:
    """f^b, shown to be integrable against the Gaussian.

    Errors: InputError where that cannot be shown: the moment may be infinite.
    """
    if b == 0:
        return Nonlinearity("1", (Piece(sp.S.NegativeInfinity, sp.S.Infinity, sp.S.One),))
    result = f if b == 1 else product(power(f, b - 1), f)
    return _integrable(result, f"{f.name} to the power {b}")


def _integrable(f: Nonlinearity, what: str) -> Nonlinearity:
    try:
        for piece in f.pieces:
            piece.growth  # noqa: B018 -- certifies that the piece is integrable, or raises
    except InputError:
        raise InputError("moment", f"{what} is not shown to have a finite mean", "use a slower function") from None
    return f


def hermite_weights(a: int) -> tuple[tuple[int, int], ...]:
    """(k, weight) with z^a = sum weight He_k: weights a!/(2^j j! k!), j = (a - k)/2, all positive."""
    return tuple(
        (k, factorial(a) // (2 ** ((a - k) // 2) * factorial((a - k) // 2) * factorial(k)))
        for k in range(a % 2, a + 1, 2)
    )


def exact_mean(f: Nonlinearity, a: int, parity: int = 0, order: int = 0) -> sp.Expr | None:
    """E[z^a f^(order)(z)] in closed form, or None; `parity` is that of f where it is known (0: not known).

    f is not differentiated: E[f^(m) He_k] = E[f He_(k+m)], kinks and jumps included.
    """
    total = sp.S.Zero
    if _odd(parity, a + order):
        return total
    for k, weight in hermite_weights(a):
        value = gaussian.moment(f, k + order)
        if value is None:
            return None
        total += weight * value
    return sp.expand(total)


def enclosed_mean(f: Nonlinearity, a: int, digits: int, parity: int = 0, order: int = 0) -> Enclosure:
    """E[z^a f^(order)(z)] with a rigorous bound; a value that cannot be told from zero keeps its honest error."""
    total = ZERO
    if not _odd(parity, a + order):
        for k, weight in hermite_weights(a):
            total = total + _enclosed(f, k + order, digits) * weight
    return total


@functools.lru_cache(maxsize=8192)
def _enclosed(f: Nonlinearity, k: int, digits: int) -> Enclosure:
    return gaussian.best_enclosure(f, digits, k)


def product_parity(parity: int, *factors: tuple[int, int]) -> int:
    """The parity of prod_i (f^(k_i))^(b_i), factors (k_i, b_i), from that of f; 0 where it is not known.

    One unknown factor makes the product's unknown, even a squared one: f^2 is not even because it is a square.
    """
    result = 1
    for k, b in factors:
        result *= (parity * (-1) ** k) ** b
    return result


def _odd(parity: int, a: int) -> bool:
    """Whether E[z^a f] vanishes by parity. (The parity comes from the factors: products are dear to examine.)"""
    return parity == (1 if a % 2 else -1)


@dataclass(frozen=True)
class Moments:
    """One kind of number for all moments: `digits` None is exact (SymPy; Missing is raised where there is no form)."""

    digits: int | None = None

    def mean(self, f: Nonlinearity, a: int, parity: int = 0, order: int = 0) -> Any:
        """E[z^a f^(order)(z)]."""
        if self.digits is not None:
            return enclosed_mean(f, a, self.digits, parity, order)
        exact = exact_mean(f, a, parity, order)
        if exact is None:
            raise MissingFormError(f"E[z^{a} {f.name}]")
        return exact

    def constant(self, value: sp.Expr) -> Any:
        """A constant expression in this kind of number."""
        return value if self.digits is None else enclose_expr(value, self.digits)

    def link(self, g: Nonlinearity) -> Callable[[int, int], Any]:
        """E[z^a g^b], for theory.steps.target.AdditiveTarget."""
        return functools.cache(lambda a, b: self.mean(power(g, b), a, product_parity(g.parity, (0, b))))

    def activation(self, sigma: Nonlinearity) -> Callable[[int, int, int], Any]:
        """E[sigma^(k) z^b sigma'^c], for theory.steps.second_step.spike_function.

        With c = 0, or smooth sigma, distributional derivatives as they stand. The product of a delta of sigma^(k) with
        a power of sigma', which jumps there, is what T6 gives to the left vector a^k (theory.steps.kink); for k = 2 it
        is (sigma'^2/2)'.
        Valid for: b + c < k at a kink with c > 0.
        Errors: InputError for an activation with jumps, or without one-sided derivatives at a kink.
        """
        first = sigma.derivative()
        if first.deltas:
            raise InputError("activation", f"{sigma.name} jumps: its gradient is not defined", "give a continuous one")

        @functools.cache
        def moment(k: int, b: int, c: int) -> Any:
            parity = sigma.parity
            if c == 0:
                return self.mean(sigma, b, parity, order=k)
            if k == 1:
                return self.mean(power(first, c + 1), b, product_parity(parity, (1, c + 1)))
            if k == 2 or (k == 3 and not first.kinks):
                # sigma'' sigma'^c = (sigma'^(c+1))'/(c+1): shorter, and right at a kink for c = 1; once more for k = 3.
                share = self.constant(sp.Rational(1, c + 1))
                total = self.mean(power(first, c + 1), b, product_parity(parity, (1, c + 1)), order=k - 1) * share
                if k == 3:
                    bent = product(power(_derivative(sigma, 2), 2), power(first, c - 1))
                    total = total + self.mean(bent, b, product_parity(parity, (2, 2), (1, c - 1))) * (-c)
                return total
            f, parity = _derivative(sigma, k), product_parity(parity, (k, 1), (1, c))
            smooth = Nonlinearity(f.name, f.pieces)
            own = _integrable(product(smooth, power(first, c)), f"{f.name} times sigma'^{c}")
            total = self.mean(own, b, parity)
            if not first.kinks:
                return total
            crossed = sp.Add(*(crossing_moment(kink, k - 1, b, c) for kink in kinks(sigma, k - 1)))
            return total if crossed == 0 else total + self.constant(crossed)

        return moment


@functools.lru_cache(maxsize=256)
def _derivative(sigma: Nonlinearity, k: int) -> Nonlinearity:
    return sigma if k == 0 else _derivative(sigma, k - 1).derivative()


class MissingFormError(ArithmeticError):
    """A moment has no closed form here."""
