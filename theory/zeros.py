"""The real zeros of an expression in z, exactly: where a Max, an Abs or a condition changes its branch."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from theory import ball
from theory.errors import InputError
from theory.symbols import z

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
        f"the places where {sp.sstr(g)} changes sign cannot be found exactly",
        "write the function as a Piecewise with explicit break points",
    )


def _polynomial_zeros(g: sp.Expr, argument: str) -> list[sp.Expr]:
    poly = sp.Poly(g, z)
    if poly.degree() == 1:
        a, b = poly.all_coeffs()
        return [sp.nsimplify(-b / a) if (b / a).is_Rational else sp.simplify(-b / a)]
    if not all(c.is_Rational for c in poly.all_coeffs()):
        found = sp.roots(poly)
        if sum(found.values()) != poly.degree():
            raise InputError(argument, f"the roots of {sp.sstr(g)} have no closed form", "use rational coefficients")
        return [r for r in found if r.is_real]
    roots: list[sp.Expr] = []
    for factor, _ in poly.factor_list()[1]:
        if factor.degree() > 2 and factor.count_roots() > 0:
            raise InputError(
                argument,
                f"a break point is a root of {sp.sstr(factor.as_expr())}, which has no simple closed form",
                "use a function with rational or quadratic break points",
            )
        if factor.degree() <= 2:
            roots.extend(factor.real_roots())
    return roots


def _one_sign(g: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> bool:
    """Whether g is shown to have no zero: its reciprocal is shown to be finite."""
    from theory.growth import growth

    try:
        growth(1 / g, lower, upper, limit=Fraction(10**6))
    except InputError:
        return False
    return True
