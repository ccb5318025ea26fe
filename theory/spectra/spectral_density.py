"""Spectral laws with a density, as atoms: a Gauss rule in the angle t, s = (A + B)/2 + (B - A)/2 sin t.

In t a density that is analytic between its ends, with square roots at them, is analytic, so that what is averaged over
the law converges geometrically in the number of nodes; values are given with the difference of two rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import arb

from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError

NODES = 24  # of the rule that is refined until values agree
MOST_NODES = 192
_BITS = 160
_DIGITS = 36
_MASS = sp.Rational(1, 10**9)  # what the mass may be off one: a constant such as 0.3183098862


@dataclass(frozen=True)
class Density:
    """A law on [lower, upper]: "uniform", "semicircle", "arcsine", or "density", a rational function of `variable`."""

    kind: str
    lower: sp.Rational
    upper: sp.Rational
    function: sp.Expr | None = None
    variable: sp.Symbol | None = None

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise InputError("deterministic", f"{self.lower} is not below {self.upper}", "give the ends in order")

    def atoms(self, nodes: int) -> tuple[tuple[tuple[sp.Expr, ...], sp.Expr], ...]:
        """The law as so many atoms; their weights add up to one exactly.

        Errors: InputError for a density that is negative at a node or does not integrate to one.
        """
        with ball.precision(_BITS):
            half, middle = (ball.rational(x) for x in ((self.upper - self.lower) / 2, (self.upper + self.lower) / 2))
            found = []
            for k in range(nodes):
                root, weight = arb.legendre_p_root(nodes, k, weight=True)
                angle = root * arb.pi() / 2
                place = middle + half * angle.sin()
                found.append((_rational(place), _rational(weight * arb.pi() / 2 * self._weight(angle, place, half))))
        if any(weight < 0 for _, weight in found):
            raise InputError("deterministic", "the density is negative somewhere", "give a density")
        mass = sp.Add(*(weight for _, weight in found))
        if abs(mass - 1) > _MASS:
            raise InputError("deterministic", f"the density integrates to {float(mass):.10g}", "divide it by that")
        kept = [(place, weight / mass) for place, weight in found if weight > 0]
        return tuple(((place,), weight) for place, weight in kept)

    def _weight(self, angle: Any, place: Any, half: Any) -> Any:
        """The density in the angle."""
        if self.kind == "arcsine":
            return 1 / arb.pi()
        if self.kind == "uniform":
            return angle.cos() / 2
        if self.kind == "semicircle":
            return 2 / arb.pi() * angle.cos() ** 2
        assert self.function is not None
        assert self.variable is not None
        at = self.function.subs(self.variable, _rational(place))
        if not isinstance(at, sp.Rational):
            raise InputError("deterministic", "the density is not finite at a point", "move the ends")
        return ball.rational(at) * half * angle.cos()


def _rational(x: Any) -> sp.Rational:
    return sp.Rational(x.mid().str(_DIGITS, radius=False))
