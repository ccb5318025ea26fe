"""The label as a random variable: moments E[z_1^a1 ... z_r^ar y^b] of y = g(z_1, ..., z_r) + noise.

Single- and multi-index targets alike; the moments are SymPy expressions (exact, symbolic coefficients allowed) or
enclosures. Everything T3 says about alignment is a polynomial in these moments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import Any, Protocol

import sympy as sp

from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.second_step import Label, symbolic_rational


class Target(Protocol):
    """A label: its directions and its moments, with the scalars they multiply."""

    @property
    def directions(self) -> int:
        """The number of directions beta_j, orthonormal."""

    def moment(self, powers: tuple[int, ...], b: int) -> Any:
        """E[prod_j z_j^powers[j] y^b], noise included."""

    def rational(self, value: Fraction) -> Any:
        """A rational scalar of the same kind of number."""


LinkMoments = Callable[[int, int], Any]  # (a, b) -> E[z^a g(z)^b], without noise


def variables(directions: int) -> tuple[sp.Symbol, ...]:
    """z for one direction; z1, z2, ... for several."""
    if directions == 1:
        return (s.z,)
    return tuple(sp.Symbol(f"z{j}", real=True) for j in range(1, directions + 1))


@dataclass(frozen=True)
class PolynomialTarget:
    """y = g(z) (or g(z1, ..., zr)) + noise for a polynomial g whose coefficients may be symbols; exact.

    `noise` is the standard deviation.
    """

    g: sp.Expr
    directions: int = 1
    noise: sp.Expr = sp.S.Zero

    def rational(self, value: Fraction) -> sp.Rational:
        """A SymPy rational."""
        return symbolic_rational(value)

    def moment(self, powers: tuple[int, ...], b: int) -> sp.Expr:
        """The moment as a SymPy expression."""
        return _noisy(lambda c: _polynomial_moment(self.g, self.directions, powers, c), self.noise**2, b)


@functools.lru_cache(maxsize=4096)
def _polynomial_moment(g: sp.Expr, directions: int, powers: tuple[int, ...], b: int) -> sp.Expr:
    z = variables(directions)
    poly = sp.Poly(sp.Mul(g**b, *(v**a for v, a in zip(z, powers, strict=True))), *z)
    return sp.expand(sp.Add(*(c * sp.Mul(*map(_gaussian_moment, ns)) for ns, c in poly.terms())))


@dataclass(frozen=True)
class AdditiveTarget:
    """y = sum_j g_j(beta_j.x) + noise, each link given by its moments, in any kind of number."""

    links: tuple[LinkMoments, ...]
    noise2: Any
    scalar: Any = symbolic_rational

    @property
    def directions(self) -> int:
        """One direction per link."""
        return len(self.links)

    def rational(self, value: Fraction) -> Any:
        """A scalar of the links' kind."""
        return self.scalar(value)

    def moment(self, powers: tuple[int, ...], b: int) -> Any:
        """Sums of products of the links' own moments (multinomial theorem)."""

        def noiseless(c: int) -> Any:
            total = self.rational(Fraction(0))
            for parts in compositions(c, self.directions):
                ways = factorial(c)
                for part in parts:
                    ways //= factorial(part)
                term = self.rational(Fraction(ways))
                for link, power, part in zip(self.links, powers, parts, strict=True):
                    term = term * link(power, part)
                total = total + term
            return total

        return _noisy(noiseless, self.noise2, b)


def label(target: Target, inverse_alpha: Any) -> Label:
    """What the second step needs of the target: E y and E y^2."""
    nothing = (0,) * target.directions
    return Label(inverse_alpha, target.moment(nothing, 1), target.moment(nothing, 2), target.rational)


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """All tuples of `parts` non-negative integers with this sum."""
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


def _noisy(noiseless: Any, noise2: Any, b: int) -> Any:
    """E[. (g + eps)^b] from E[. g^c]: sum over even powers of the noise."""
    total = noiseless(b)
    power = None
    for r in range(1, b // 2 + 1):
        power = noise2 if power is None else power * noise2
        total = total + noiseless(b - 2 * r) * power * (comb(b, 2 * r) * int(_gaussian_moment(2 * r)))
    return total


def _gaussian_moment(n: int) -> sp.Integer:
    return sp.Integer(0) if n % 2 else sp.Integer(factorial(n) // (2 ** (n // 2) * factorial(n // 2)))
