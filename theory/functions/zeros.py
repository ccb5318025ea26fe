"""The real zeros of an expression in z, exactly: where a Max, an Abs or a condition changes its branch."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import sympy as sp
from flint import fmpz_poly

from bulkedge.theory.functions.polynomial import multiplied_out
from bulkedge.theory.functions.size import brief
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

MAX_FACTORED = 60
MAX_IRRATIONAL = 8  # degree with irrational coefficients, beyond which only pure powers are solved

# Strictly increasing functions and their inverses: h(u) = c iff u = inverse(c).
_INVERSE = {
    sp.exp: sp.log,
    sp.log: sp.exp,
    sp.tanh: sp.atanh,
    sp.sinh: sp.asinh,
    sp.atan: sp.tan,
    sp.erf: sp.erfinv,
}
_RANGE = {
    sp.exp: (sp.S.Zero, sp.S.Infinity),
    sp.tanh: (-sp.S.One, sp.S.One),
    sp.atan: (-sp.pi / 2, sp.pi / 2),
    sp.erf: (-sp.S.One, sp.S.One),
}


def real_zeros(g: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str) -> list[sp.Expr]:
    """The zeros of g at which it may change sign, in closed form (a zero outside (lower, upper) may be listed too).

    Valid for: polynomials, products and odd powers of such, and h(u) = c for strictly monotone elementary h.
    Errors: InputError where the zeros cannot be found exactly, with the remedy of naming the break points.
    """
    return list(_real_zeros(g, lower, upper, argument))


@functools.lru_cache(maxsize=4096)
def _real_zeros(g: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str) -> list[sp.Expr]:
    if g.is_polynomial(z):
        g = multiplied_out(g)
    elif not any(long_power(p) for p in g.atoms(sp.Pow)):
        g = sp.expand(g)
    if not g.has(z) or (g.is_polynomial(z) and sp.Poly(g, z).is_zero):
        return []
    if g.is_polynomial(z):
        return _polynomial_zeros(g, argument)
    factored = sp.factor_terms(g)
    if isinstance(factored, sp.Mul):
        return [r for a in factored.args if a.has(z) for r in real_zeros(a, lower, upper, argument)]
    if isinstance(g, sp.Pow) and g.args[1].is_Rational and not g.args[1].has(z):
        return real_zeros(g.args[0], lower, upper, argument) if g.args[1] > 0 else []
    if isinstance(g, sp.exp | sp.cosh) or (isinstance(g, sp.Pow) and g.args[0] is sp.E):
        return []
    constant, rest = g.as_independent(z, as_Add=True)
    factor, h = rest.as_independent(z, as_Add=False)
    if h.func in _INVERSE and len(h.args) == 1:
        level = sp.simplify(-constant / factor)
        low, high = _RANGE.get(h.func, (sp.S.NegativeInfinity, sp.S.Infinity))
        if (low.is_finite and ball.sign(level - low) <= 0) or (high.is_finite and ball.sign(high - level) <= 0):
            return []
        return real_zeros(h.args[0] - _INVERSE[h.func](level), lower, upper, argument)
    if _one_sign(g, lower, upper):
        return []
    raise InputError(
        argument,
        f"the places where {brief(g)} changes sign cannot be found exactly",
        "write the function as a Piecewise with explicit break points",
    )


def long_power(power: sp.Pow) -> bool:
    """A power of a sum that SymPy would multiply out term by term, also in a denominator."""
    return bool(power.exp.is_Integer and abs(power.exp) > MAX_FACTORED and power.base.is_Add)


def _polynomial_zeros(g: sp.Expr, argument: str) -> list[sp.Expr]:
    poly = sp.Poly(g, z)
    if poly.degree() == 1:
        a, b = poly.all_coeffs()
        return [sp.nsimplify(-b / a) if (b / a).is_Rational else sp.simplify(-b / a)]
    if not all(c.is_Rational for c in poly.all_coeffs()):
        if poly.degree() > MAX_IRRATIONAL and len(poly.terms()) > 2:
            raise InputError(argument, f"the roots of {brief(g)} have no closed form", "use rational coefficients")
        found = sp.roots(poly)
        if sum(found.values()) != poly.degree():
            raise InputError(argument, f"the roots of {brief(g)} have no closed form", "use rational coefficients")
        return [r for r in found if r.is_real]
    (power,), poly = poly.terms_gcd()
    if poly.degree() > MAX_FACTORED:
        raise InputError(
            argument, f"a break point is a root of a polynomial of degree {poly.degree()}", f"stay below {MAX_FACTORED}"
        )
    roots: list[sp.Expr] = [sp.S.Zero] if power else []
    for factor, _ in poly.factor_list()[1]:
        if factor.degree() > 2 and _has_real_root(factor):
            raise InputError(
                argument,
                f"a break point is a root of {brief(factor.as_expr())}, which has no simple closed form",
                "use a function with rational or quadratic break points",
            )
        if factor.degree() <= 2:
            roots.extend(factor.real_roots())
    return roots


def _has_real_root(factor: sp.Poly) -> bool:
    """By certified isolation, which is quick where Sturm's sequence is not."""
    common = math.lcm(*(int(c.q) for c in factor.all_coeffs()))
    ascending = [int(c * common) for c in reversed(factor.all_coeffs())]
    return any(root.imag == 0 for root, _ in fmpz_poly(ascending).complex_roots())


def _one_sign(g: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> bool:
    """Whether g is shown to have no zero: its reciprocal is shown to be finite."""
    from bulkedge.theory.functions.growth import growth

    try:
        growth(1 / g, lower, upper, limit=Fraction(10**6))
    except InputError:
        return False
    return True
