"""Floats of a Nonlinearity: vectorised evaluation, quadrature against the Gaussian, the Hermite constants.

The generated code is the numeric twin of the pieces of theory.functions.nonlinearity, evaluated piece by piece (so that
the branch that is not taken cannot overflow); a test ties it to the symbols.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special
import sympy as sp

from bulkedge.numerics.functions.legendre import normal_density, panels
from bulkedge.numerics.trials.domain import LARGEST, SMALLEST
from bulkedge.theory.functions.growth import poles
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.gaussian import enclose, expectation, parts, product
from bulkedge.theory.numbers.ball import enclose_expr
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

Array = npt.NDArray[Any]
Vectorised = Callable[[Array], Array]

_logaddexp = sp.Function("logaddexp")
_expm1 = sp.Function("expm1")


def _stable(expr: sp.Expr) -> sp.Expr:
    """log(1 + e^u) and log cosh u in forms that do not overflow for |u| > 700; e^u - 1 with its digits next to zero."""
    # Before the logarithms: e^u - 1 inside one of them is found as well.
    expr = expr.replace(lambda e: e.is_Add and e.has(sp.exp), _less_one)
    u, c = sp.Wild("u"), sp.Wild("c", exclude=[z])
    expr = expr.replace(sp.log(1 + sp.exp(u)), _logaddexp(0, u))
    return expr.replace(sp.log(c * sp.cosh(u)), sp.log(c / 2) + _logaddexp(u, -u))


def _less_one(total: sp.Expr) -> sp.Expr:
    """a e^u - a in a sum as a expm1(u), where u vanishes at zero (elsewhere nothing cancels)."""
    terms = list(total.args)
    for number in [t for t in terms if t.is_number and not t.has(sp.exp)]:
        for term in terms:
            power = -term / number
            if isinstance(power, sp.exp) and power.exp.has(z) and power.exp.subs(z, 0) == 0:
                rest = [t for t in terms if t is not number and t is not term]
                return sp.Add(number * -1 * _expm1(power.exp), *rest)
    return total


def _right(expr: sp.Expr) -> sp.Expr | None:
    """The same with exp(a z), a > 0, written by E = exp(-a z) over one denominator, for z > 0; None without one.

    e^z/(e^z + 1) is inf/inf beyond z = 709; 1/(1 + E) is not.
    """
    # Only quotients overflow into inf/inf; a lone e^z that is infinite is so in truth.
    denominators = [e for e in sp.preorder_traversal(expr) if e.is_Pow and e.exp.is_negative and e.base is not sp.E]
    if not any(e.base.has(sp.exp, sp.sinh, sp.cosh) for e in denominators):
        return None
    opened = expr.rewrite([sp.sinh, sp.cosh], sp.exp)
    rates: dict[sp.Expr, sp.Expr] = {}
    for e in opened.atoms(sp.exp):
        rate = sp.diff(e.exp, z)
        if rate.is_Rational:
            rates[e] = rate
    if not rates:
        return None
    # One small variable for all of them, so that `together` sees a rational function.
    unit = functools.reduce(lambda a, b: sp.gcd(a, b), (abs(r) for r in rates.values()))
    E = sp.Dummy("E", positive=True)
    small = opened.xreplace({e: sp.exp(e.exp.subs(z, 0)) * E ** (-r / unit) for e, r in rates.items()})
    return sp.together(small).subs(E, sp.exp(-unit * z))


def _lambdified(expr: sp.Expr) -> Vectorised:
    stable = _stable(expr)
    right = _right(stable)
    if right is None:
        return _compiled(stable)
    # The left side by the same rule on the mirror image.
    mirrored = _right(stable.subs(z, -z))
    left = stable if mirrored is None else mirrored.subs(z, -z)
    below, above = _compiled(left), _compiled(right)

    def evaluate(x: Array) -> Array:
        found = np.empty_like(x)
        negative = x < 0
        found[negative], found[~negative] = below(x[negative]), above(x[~negative])
        return found

    return evaluate


def _compiled(expr: sp.Expr) -> Vectorised:
    modules: list[Any] = [{"erf": scipy.special.erf, "logaddexp": np.logaddexp, "expm1": np.expm1}, "scipy", "numpy"]
    f = sp.lambdify(z, expr, modules=modules, cse=True)
    if not expr.has(z):
        value = float(expr)
        # lambdify would give a scalar, whatever the shape.
        return lambda x: np.full_like(x, value)
    result: Vectorised = f
    return result


@functools.lru_cache(maxsize=512)
def vectorised(f: Nonlinearity) -> Vectorised:
    """f as a function of a float array of any shape; the deltas of a derivative are left out (almost everywhere).

    Shapes/units: same shape and floating type as the input. At a kink the left piece is taken, except for
    the step and sign functions' jumps, where the value does not matter (a null set).
    Accuracy: a few units in the last place of the terms that a formula adds: Phi = 1/2 + erf/2 is right to 1e-16, not
    relatively, in its lower tail.
    """
    relu = _as_leaky(f)
    if relu is not None:
        return relu
    if len(f.pieces) == 1:
        only = _lambdified(f.pieces[0].expr)
        return lambda x: only(np.asarray(x, dtype=_floating(x)))
    functions = [_lambdified(p.expr) for p in f.pieces]
    constants = [None if p.expr.has(z) else float(p.expr) for p in f.pieces]
    edges = [float(b) for b in f.kinks]

    def evaluate(x: Array) -> Array:
        x = np.asarray(x, dtype=_floating(x))
        out = np.empty_like(x)
        # From left to right by one comparison a kink: searchsorted and gathers cost several times as much.
        beyond = np.ones(x.shape, dtype=bool)  # the left piece at a kink, the last one for nan
        for i, (g, constant) in enumerate(zip(functions, constants, strict=True)):
            here = beyond
            if i < len(edges):
                here = beyond & (x <= edges[i])
                beyond = beyond & ~here
            if constant is None:
                out[here] = g(x[here])
            else:
                out[here] = constant
        return out

    return evaluate


def _floating(x: Any) -> Any:
    dtype = np.asarray(x).dtype
    return dtype if np.issubdtype(dtype, np.floating) else np.float64


def _as_leaky(f: Nonlinearity) -> Vectorised | None:
    """a z below zero, b z above: without masks, several times faster, and the case of every ReLU network."""
    if f.kinks != (sp.S.Zero,):
        return None
    # Two multiples of z, whatever they are called: relu, leaky_relu, abs and their scalings.
    slopes = [sp.cancel(p.expr / z) for p in f.pieces]
    if any(s.has(z) for s in slopes):
        return None
    a, b = (float(s) for s in slopes)
    if (a, b) == (0.0, 1.0):
        return lambda x: np.maximum(x, 0)
    return lambda x: a * np.minimum(x, 0) + b * np.maximum(x, 0)


@functools.lru_cache(maxsize=64)
def _panels(kinks: tuple[float, ...], reach: float, nodes: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights times the Gaussian density, on panels of length <= 1 between the kinks."""
    # Panels of length one or less: 24 nodes integrate a Gaussian times a smooth function there to rounding.
    cuts = sorted({-reach, reach, *(b for b in kinks if -reach < b < reach)})
    ends = [np.linspace(a, b, max(1, int(np.ceil(b - a))) + 1) for a, b in itertools.pairwise(cuts)]
    low, high = (np.concatenate([e[part] for e in ends]) for part in (slice(None, -1), slice(1, None)))
    points, weights = panels(low, high, nodes)
    return points, weights * normal_density(points)


def gauss_nodes(kinks: Sequence[float] = (), reach: float = 13.0, nodes: int = 24) -> tuple[Array, Array]:
    """Nodes x and weights w with sum w g(x) = E g(z) for g smooth between the kinks and of moderate slope and size.

    Accuracy: panels of length at most 1, split at the kinks (a Gauss-Hermite rule over a kink converges like 1/n only);
    what lies beyond |z| = reach is left out, 1e-38 of a bounded function at the default. Nothing is known of g here:
    next to a fractional power, or where g changes over less than a tenth of a panel, digits are lost unseen. For a
    function that a user gives take panels made for it (numerics.gaussian.plane.resolved) or enclosures.
    """
    return _panels(tuple(float(b) for b in kinks), reach, nodes)


def gauss_expectation(g: Vectorised, kinks: Sequence[float] = ()) -> float:
    """E g(z) in float64 by composite Gauss-Legendre split at the kinks; about 1e-14 relative for smooth pieces."""
    x, w = gauss_nodes(kinks)
    return float(np.dot(w, g(x)))


@dataclass(frozen=True)
class HermiteConstants:
    """Paper O's constants of a function, in floats.

    mu0 = E f, mu1 = E z f, mu2^2 = E f^2 - mu0^2 - mu1^2; `second_moment` = E f^2; `derivative_second` = E f'^2
    (None where f' is no square integrable function: f jumps, or has a root at a kink); `curvature` = E f'' = E[f He_2].
    Accuracy: `error` bounds the error of each.
    """

    mu0: float
    mu1: float
    mu2: float
    second_moment: float
    curvature: float
    derivative_second: float | None
    error: float


@functools.lru_cache(maxsize=512)
def constants(f: Nonlinearity) -> HermiteConstants:
    """The Hermite constants of f, from closed forms and enclosures.

    Errors: InputError for a function whose size floats do not hold (`moderate`).
    Source: H1, H2.
    """
    moderate(f)
    mu0, mu1, curvature = (_float(f, k) for k in (0, 1, 2))
    second, error = _second_moment(f)
    # Parseval: the rest is what the nonlinear part holds.
    rest = second - mu0**2 - mu1**2
    slope = _slope(f)
    derivative_second, slope_error = (None, 0.0) if slope is None else _second_moment(slope)
    # An affine function has mu2 = 0; the subtraction leaves rounding, which a square root would blow up.
    mu2 = float(np.sqrt(rest)) if rest > 64 * np.finfo(float).eps * second else 0.0
    worst = max(error / (2 * mu2) if mu2 else error, error, slope_error, 1e-16 * max(1.0, second))
    return HermiteConstants(mu0, mu1, mu2, second, curvature, derivative_second, worst)


def moderate(f: Nonlinearity, argument: str = "FUNCTION") -> None:
    """Nothing, if f is 0 or its root mean square lies within 1e-50..1e50, so that floats can hold its powers.

    Errors: InputError, naming `argument`.
    """
    try:
        second, _ = _second_moment(f)
    except OverflowError:
        second = np.inf
    if not SMALLEST**2 <= second <= LARGEST**2 and any(piece.expr != 0 for piece in f.pieces):
        side = "small" if second < 1 else "large"
        remedy = f"scale it to a root mean square within {SMALLEST:g}..{LARGEST:g}"
        raise InputError(argument, f"{f.name[:60]} is too {side} for floats", remedy)


def _slope(f: Nonlinearity) -> Nonlinearity | None:
    """f' if it is a square integrable function, else None (jumps; powers of |z| below 1/2)."""
    try:
        slope = f.derivative()
    except InputError:
        return None
    found = [s for p in slope.pieces for _, s in poles(p.expr, p.lower, p.upper).values()]
    return None if slope.deltas or any(2 * s >= 1 for s in found) else slope


@functools.lru_cache(maxsize=512)
def _second_moment(f: Nonlinearity) -> tuple[float, float]:
    """E f^2 and a bound of its error: the closed form where there is one, else an enclosure.

    No fixed quadrature: panels of length one miss a step as steep as tanh(100 z), a reach of 13 misses most of
    E exp(2 z^2/5), and a fractional power is lost at its kink; two orders of one rule agree in all three.
    """
    exact = expectation(product(f, f)) if parts(f).rest is None else None
    if exact is not None:
        value = float(enclose_expr(exact, 18)) if exact != 0 else 0.0
    else:
        value = float(enclose(product(f, f), 18))
    return value, 2.0**-52 * value


def _float(f: Nonlinearity, k: int) -> float:
    try:
        return float(enclose(f, 18, k))
    except PrecisionError as error:
        # A coefficient that cannot be told from zero at 18 digits is zero to float64.
        if error.best is None or error.best.bound > 1e-17:
            raise
        return 0.0
