"""A direction of the second step in numbers or symbols (T3): signal, norm, cosine; what is reached when."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.generative import generative_exponent
from bulkedge.theory.gaussian.hermite import information_exponent
from bulkedge.theory.gaussian.moments import MissingFormError, Moments
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.alignment import Geometry, cosine
from bulkedge.theory.steps.kink import further_vanishes, kinks
from bulkedge.theory.steps.phases import BATCHES
from bulkedge.theory.steps.second_step import (
    Label,
    Poly,
    PolynomialActivation,
    as_expression,
    enclosed_rational,
    powers_of_p,
    spike_function,
    symbolic_rational,
)
from bulkedge.theory.steps.target import AdditiveTarget, PolynomialTarget, label

GUARD = 12  # digits beyond those asked for: cancellation between the terms of a limit
_LONGEST = 300  # operations of an exact expression that is still worth printing


@dataclass(frozen=True)
class Value:
    """A limit: its closed form, or None, and an enclosure."""

    exact: sp.Expr | None
    enclosure: Enclosure

    @property
    def vanishes(self) -> bool | None:
        """True or False where decided, None where the enclosure holds zero without being it."""
        if self.exact == 0 or (self.enclosure.exact and self.enclosure.value == 0):
            return True
        return None if self.enclosure.contains(Fraction(0)) else False


@dataclass(frozen=True)
class Direction:
    """beta_j.b_k for each direction, |b_k|^2, and the cosines with the beta_j."""

    signals: tuple[Value, ...]
    norm2: Value
    cosines: tuple[Value, ...]


@dataclass(frozen=True)
class Problem:
    """Links (one a direction, added up), alpha = n/d of both batches, noise, and an activation for the reading `full`.

    Without an activation the reading is `rank_one` in T3's form F_k = y p^k.
    """

    links: tuple[Nonlinearity, ...]
    alpha: Fraction
    noise: Fraction = Fraction(0)
    activation: Nonlinearity | None = None

    @property
    def reading(self) -> str:
        """The reading's name."""
        return "rank_one" if self.activation is None else "full"

    def geometry(self, batch: str, digits: int | None) -> tuple[Geometry, Label, Moments]:
        """T3's limits with moments exact (digits None) or enclosed."""
        kind = Moments(digits)
        scalar: Any = symbolic_rational if digits is None else enclosed_rational
        target = AdditiveTarget(tuple(kind.link(g) for g in self.links), scalar(self.noise**2), scalar)
        inverse = scalar(1 / self.alpha)
        return Geometry(target, inverse, batch), label(target, inverse), kind

    def function(self, k: int, batch: str, here: Label, kind: Moments) -> Poly:
        """F_k of the reading."""
        if self.activation is None:
            return powers_of_p(k, batch, here)
        return spike_function(k, batch, "full", kind.activation(self.activation), here)

    def direction(self, k: int, batch: str, digits: int) -> Direction:
        """b_k: signals, squared norm, cosines, exact where every moment is.

        Accuracy: rigorous; the digits asked for are reached unless a value is zero or nearly so.
        Errors: InputError where b_k vanishes, a moment may be infinite, or the activation is not usable.
        Source: T3.
        """
        geometry, here, kind = self.geometry(batch, digits + GUARD)
        F = self.function(k, batch, here, kind)
        norm2 = geometry.gram(F, F)
        signals = [geometry.signal(F, j) for j in range(len(self.links))]
        if norm2.value - norm2.error <= 0:
            raise InputError("power", f"the direction b_{k} vanishes ({batch} batch)", "take another power or link")
        forms = self._exact(k, batch)
        exact: list[sp.Expr | None] = [None] * len(signals) if forms is None else list(forms[0])
        length = None if forms is None else forms[1]
        cosines = [cosine(signal, norm2, digits + GUARD) for signal in signals]
        quotients = [None if x is None else _short(x / sp.sqrt(length)) for x in exact]
        return Direction(
            tuple(map(_value, exact, signals)), _value(length, norm2), tuple(map(_value, quotients, cosines))
        )

    def _exact(self, k: int, batch: str) -> tuple[tuple[sp.Expr, ...], sp.Expr] | None:
        """Signals and squared norm in closed form, or None where there is none or none worth printing."""
        try:
            geometry, here, kind = self.geometry(batch, None)
            F = self.function(k, batch, here, kind)
            if sum(c.count_ops() for c in F.values()) > _LONGEST:
                return None
            found = [sp.expand(geometry.signal(F, j)) for j in range(len(self.links))]
            norm2 = sp.expand(geometry.gram(F, F))
        except MissingFormError:
            return None
        if any(x.count_ops() > _LONGEST for x in (*found, norm2)):
            return None
        return tuple(found), norm2

    def formulas(self, k: int, batch: str, alpha: sp.Expr, noise: sp.Expr) -> tuple[list[sp.Expr], sp.Expr]:
        """Signals and squared norm of b_k as formulas at a ratio and a noise that hold symbols (its own are not used).

        Errors: InputError where a moment has no closed form.  Source: T3.
        """
        kind = Moments(None)
        try:
            target = AdditiveTarget(tuple(kind.link(g) for g in self.links), noise**2, symbolic_rational)
            geometry = Geometry(target, 1 / alpha, batch)
            F = self.function(k, batch, label(target, 1 / alpha), kind)
            signals = [sp.factor(sp.expand(geometry.signal(F, j))) for j in range(len(self.links))]
            return signals, sp.factor(sp.expand(geometry.gram(F, F)))
        except MissingFormError as error:
            remedy = "give alpha and noise as numbers"
            raise InputError("link", f"the moment {error} has no closed form", remedy) from None

    def reached_from(self, j: int, batch: str, orders: int, digits: int = 15) -> tuple[int | None, bool]:
        """The first k in 0..orders with beta_j.b_k != 0, or None; and whether every k before was decided.

        Source: T3.
        """
        geometry, here, kind = self.geometry(batch, digits)
        decided = True
        for k in range(orders + 1):
            signal = Value(None, geometry.signal(self.function(k, batch, here, kind), j))
            if signal.vanishes is False:
                return k, decided
            decided = decided and signal.vanishes is True
        return None, decided


def _value(exact: sp.Expr | None, enclosure: Enclosure) -> Value:
    """A value; an enclosure without error is a closed form of its own (zero by parity)."""
    if exact is None and enclosure.exact:
        exact = symbolic_rational(enclosure.value)
    return Value(exact, enclosure)


def _short(expression: sp.Expr) -> sp.Expr:
    return sp.radsimp(expression) if expression.count_ops() <= _LONGEST else expression


def reach_table(problem: Problem, orders: int) -> list[dict[str, Any]]:
    """For each direction: information and generative exponent, and from which spike on each batch reaches it."""
    rows = []
    for j, g in enumerate(problem.links):
        generative = generative_exponent(g)
        row: dict[str, Any] = {
            "direction": j + 1,
            "link": g.name,
            "information_exponent": information_exponent(g),
            "generative_exponent": None if generative is None else generative.exponent,
            "generative_witness": None if generative is None else generative.witness,
            "generative_shown": generative is not None and generative.shown,
            "orders": orders,
        }
        for batch in BATCHES:
            row[batch], row[f"{batch}_decided"] = problem.reached_from(j, batch, orders)
        rows.append(row)
    return rows


def closed_form(
    link_degree: int, k: int, batch: str, activation_degree: int | None = None, *, mean: bool = False
) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """F_k(y, q), beta.b_k and |b_k|^2 for polynomial links and activations, in their Hermite coefficients.

    g = sum g_j He_j, j = 1..link_degree, from j = 0 on with `mean`; sigma = sum c_j He_j, whose c_0 no derivative sees;
    alpha = n/d, s_eps the noise. Without an activation F_k = y p^k.
    Valid for: a link with a mean needs `mean`: g_0 enters E y^2, every moment of y, and through e = g_0 E sigma'' F_k.
    Convention: `probabilist`.  Source: T3.
    """
    if link_degree < 1 or (activation_degree is not None and activation_degree < 1):
        raise InputError("degree", "a constant has no direction", "give a degree >= 1")
    g = _hermite_sum("g", link_degree, 0 if mean else 1)
    target = PolynomialTarget(g, noise=s.s_eps)
    here = label(target, 1 / s.alpha)
    if activation_degree is None:
        F = powers_of_p(k, batch, here)
    else:
        F = spike_function(k, batch, "full", PolynomialActivation(_hermite_sum("c", activation_degree)), here)
    geometry = Geometry(target, 1 / s.alpha, batch)
    return as_expression(F), sp.factor(geometry.signal(F)), sp.expand(geometry.gram(F, F))


def _hermite_sum(name: str, degree: int, lowest: int = 1) -> sp.Expr:
    coefficients = sp.symbols(f"{name}{lowest}:{degree + 1}", real=True)
    return sp.Add(*(c * sp.hermite_prob(j, s.z) for j, c in enumerate(coefficients, start=lowest)))


def vanishing_spikes(sigma: Nonlinearity, batch: str, orders: int, centred: bool = True) -> tuple[int, ...]:
    """The k in 0..orders whose function F_k (reading `full`) vanishes identically.

    Centred labels, fresh batch: E[sigma^(k+1)] = 0, or E sigma' = 0 for k = 1; else all mixed moments of F_k vanish.
    Labels with a mean (`centred` False) bring the term e G, e = E[y] E[sigma''], and with it more spikes: ReLU, fresh
    batch, has spike 2 only then.
    Source: T1, T2.
    """
    moment, found = Moments(20).activation(sigma), []
    labels = [_generic_label(mean, second) for mean, second in (_CENTRED if centred else _UNCENTRED)]
    for k in range(orders + 1):
        functions = [spike_function(k, batch, "full", moment, here) for here in labels]
        if all(Value(None, c).vanishes for F in functions for c in F.values()):
            found.append(k)
    return tuple(found)


# (E y, E y^2) of labels: F_k is a polynomial in them, and two points tell an accident from an identity.
_CENTRED, _UNCENTRED = ((0, 1),), ((1, 3), (2, 7))


def _generic_label(mean: int, second: int) -> Label:
    one, first, other = (enclosed_rational(Fraction(x)) for x in (1, mean, second))
    return Label(one, first, other, enclosed_rational)


def further_orders(sigma: Nonlinearity, orders: int, centred: bool = True) -> tuple[int, ...]:
    """The k in 1..orders whose further left vector a^k|a| (T6, reused batch) has a function that is not zero.

    Centred labels have e = E[y] E[sigma''] = 0. So k = 1 is there for ReLU and hard tanh, and no k for |z|.
    Valid for: continuous activations.  Source: T6.
    """
    blind, tilted = _is_constant_zero(sigma, 1), not centred and not _is_constant_zero(sigma, 2)
    return tuple(k for k in range(1, orders + 1) if not further_vanishes(kinks(sigma, k), k, blind, tilted))


def _is_constant_zero(sigma: Nonlinearity, k: int) -> bool:
    """Whether E sigma^(k) vanishes."""
    return bool(Value(None, Moments(20).activation(sigma)(k, 0, 0)).vanishes)
