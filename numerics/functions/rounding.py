"""Closed forms in floats with a bound of their rounding: the guard of the float kernels.

Every operation carries its value and a bound of the error that rounding has left in it, first order in the unit
roundoff, as an interval would but without its overestimate of dependence. Where terms cancel, the bound stays at the
size of the terms while the value shrinks, which is what the caller compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special
import sympy as sp

Array = npt.NDArray[Any]

UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Bounded:
    """Floats and a bound of their errors."""

    value: Array
    error: Array


Rule = Callable[..., Bounded]


def exact(value: Any) -> Bounded:
    """Floats without an error."""
    array = np.asarray(value, dtype=float)
    return Bounded(array, np.zeros_like(array))


def evaluate(expr: sp.Expr, known: Mapping[sp.Expr, Bounded], rules: Mapping[Any, Rule]) -> Bounded:
    """An expression at the values of its symbols; `rules` brings the functions that are not elementary.

    Accuracy: the error bounds the rounding of every step; a function without a rule has an infinite one.
    """
    seen: dict[sp.Expr, Bounded] = dict(known)

    def walk(e: sp.Expr) -> Bounded:
        if e not in seen:
            seen[e] = step(e)
        return seen[e]

    def step(e: sp.Expr) -> Bounded:
        if not e.free_symbols:
            value = float(e)
            # Small integers are floats exactly; any other constant is rounded once.
            return Bounded(np.asarray(value), np.asarray(0.0 if value == _int_or_nan(value) else UNIT * abs(value)))
        if e.is_Add:
            return _added([walk(a) for a in e.args])
        if e.is_Mul:
            return _multiplied([walk(a) for a in e.args])
        # exp(u) is a power in SymPy, but rounds as a function of u does.
        if e.is_Pow and e.base is not sp.E:
            return _power(walk(e.base), e.exp)
        if isinstance(e, sp.hyper):
            return _hypergeometric(e, walk(e.args[2]))
        head = sp.exp if e.is_Pow else e.func
        arguments = [walk(e.exp)] if e.is_Pow else [walk(a) for a in e.args]
        rule = rules.get(head) or _RULES.get(head)
        if rule is None:
            # Unknown is not zero: an infinite error makes the caller take another way.
            shape = np.broadcast_shapes(*(a.value.shape for a in arguments))
            return Bounded(np.full(shape, np.nan), np.full(shape, np.inf))
        return rule(*arguments)

    with np.errstate(all="ignore"):
        found = walk(expr)
        bad = ~np.isfinite(found.value) | np.isnan(found.error)
        return Bounded(found.value, np.where(bad, np.inf, found.error))


def _int_or_nan(value: float) -> float:
    """The value if it is a small integer, exactly a float, else nan."""
    return value if abs(value) < 2**53 and value == int(value) else np.nan


def _added(parts: list[Bounded]) -> Bounded:
    value, error = parts[0].value, parts[0].error
    for p in parts[1:]:
        value = value + p.value
        # The partial sum as it is, not the size of its addends: rounding is relative to what is stored.
        error = error + p.error + UNIT * np.abs(value)
    return Bounded(value, error)


def _multiplied(parts: list[Bounded]) -> Bounded:
    value, error = parts[0].value, parts[0].error
    for p in parts[1:]:
        # (a + da)(b + db) with the second-order term kept: errors may be as large as values where terms cancelled.
        error = error * (np.abs(p.value) + p.error) + np.abs(value) * p.error
        value = value * p.value
        error = error + UNIT * np.abs(value)
    return Bounded(value, error)


def _power(base: Bounded, exponent: sp.Expr) -> Bounded:
    if exponent.is_Integer and exponent > 0:
        size = np.abs(base.value)
        n = int(exponent)
        value = base.value**n
        # The whole interval, not n |x|^(n-1) dx: next to zero the slope says nothing.
        return Bounded(value, (size + base.error) ** n - size**n + n * UNIT * np.abs(value))
    p = float(exponent)
    # A power of what is positive: between its values at the two ends.
    size = np.abs(base.value) if exponent.is_Integer else np.maximum(base.value, 0.0)
    low, high = np.maximum(size - base.error, 0.0), size + base.error
    middle = size**p
    error = np.maximum(np.abs(high**p - middle), np.abs(middle - low**p)) + 4 * UNIT * middle
    sign = np.sign(base.value) if exponent.is_Integer and exponent % 2 else 1.0
    return Bounded(sign * middle, np.where((base.error == 0) & (size > 0), 4 * UNIT * middle, error))


def _between(function: Callable[[Array], Array], x: Bounded, low: float = -np.inf, high: float = np.inf) -> Bounded:
    """A monotone function of arguments cut off to its domain [low, high]: what rounding put outside comes back."""
    middle = function(np.clip(x.value, low, high))
    ends = [function(np.clip(x.value + side * x.error, low, high)) for side in (1, -1)]
    error = np.maximum(np.abs(ends[0] - middle), np.abs(ends[1] - middle)) + 2 * UNIT * np.abs(middle)
    # Further outside than rounding explains: there is no value.
    outside = (x.value > high + x.error + UNIT) | (x.value < low - x.error - UNIT)
    return Bounded(middle, np.where(outside, np.inf, error))


def _hypergeometric(e: sp.hyper, x: Bounded) -> Bounded:
    """2F1(a, b; c; x), monotone on [0, 1]; SciPy's is taken to be right to 200 units of roundoff."""
    top, bottom = [float(a) for a in e.args[0]], [float(b) for b in e.args[1]]
    if len(top) != 2 or len(bottom) != 1:
        return Bounded(np.full_like(x.value, np.nan), np.full_like(x.value, np.inf))
    found = _between(lambda v: scipy.special.hyp2f1(top[0], top[1], bottom[0], v), x, 0.0, 1.0)
    return Bounded(found.value, found.error + 200 * UNIT * np.abs(found.value))


def _slow(function: Callable[[Array], Array]) -> Rule:
    """A function whose slope is at most one (sin, cos, Dawson's integral)."""

    def rule(x: Bounded) -> Bounded:
        value = function(x.value)
        return Bounded(value, x.error + 2 * UNIT * (np.abs(value) + np.abs(x.value)))

    return rule


_RULES: dict[Any, Rule] = {
    sp.exp: lambda x: Bounded(np.exp(x.value), np.exp(x.value) * (np.expm1(x.error) + 2 * UNIT)),
    sp.log: lambda x: _between(np.log, x, 0.0),
    sp.asin: lambda x: _between(np.arcsin, x, -1.0, 1.0),
    sp.acos: lambda x: _between(np.arccos, x, -1.0, 1.0),
    sp.atan: lambda x: _between(np.arctan, x),
    sp.erf: lambda x: _between(scipy.special.erf, x),
    sp.erfc: lambda x: _between(scipy.special.erfc, x),
    sp.erfi: lambda x: _between(scipy.special.erfi, x),
    sp.sin: _slow(np.sin),
    sp.cos: _slow(np.cos),
    sp.sinh: lambda x: _between(np.sinh, x),
    sp.tanh: lambda x: _between(np.tanh, x),
    sp.cosh: lambda x: Bounded(np.cosh(x.value), np.cosh(x.value) * (np.expm1(x.error) + 2 * UNIT)),
    sp.Abs: lambda x: Bounded(np.abs(x.value), x.error),
}
