"""Where an expression in z may change its sign, exactly: its real zeros, and the points where it is not continuous.

Zeros of polynomials come from factors of degree one and two in closed form, else by certified isolation, as SymPy's
CRootOf (number i, in increasing order, of the real roots of an irreducible rational polynomial): none can be lost. With
algebraic coefficients they are roots of the norm of the polynomial, a rational one; which of them is decided in balls.
A pole changes a sign as a zero does, so that every zero of a denominator is listed, of what stands in a logarithm
and under a fractional power as well. A point too many does no harm: pieces that agree are joined.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import acb_poly

from bulkedge.theory.functions.polynomial import multiplied_out
from bulkedge.theory.functions.size import brief
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

_MAX_FACTORED = 60
_MAX_IRRATIONAL = 8  # degree with irrational coefficients, beyond which only pure powers are solved
_MAX_NORM = 64  # degree of the rational polynomial that has the roots of one with algebraic coefficients
_MAX_SIMPLIFIED = 100  # operations of a constant
_SEPARATION_BITS = (128, 512, 2048)  # at which roots are told apart

_x = sp.Symbol("x")
_z_of_level = sp.Symbol("t", real=True)  # what a monotone function of z is called inside a polynomial

# Strictly increasing functions and their inverses: h(u) = c iff u = inverse(c).
_INVERSE = {
    sp.exp: sp.log,
    sp.log: sp.exp,
    sp.tanh: sp.atanh,
    sp.sinh: sp.asinh,
    sp.asinh: sp.sinh,
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
    """The points at which g may change sign, zeros and poles, exactly (a point too many may be listed).

    Valid for: polynomials, quotients, products and powers of such, h(u) = c for strictly monotone elementary h, and
    polynomials in such an h(u).
    Errors: InputError where the points cannot be found exactly, with the remedy of naming the break points.
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
    if isinstance(g, sp.Pow) and g.base.has(z) and not g.exp.has(z):
        return real_zeros(g.base, lower, upper, argument)
    try:
        inside = _discontinuities(g, lower, upper, argument)
    except InputError:
        if _one_sign(g, lower, upper):  # which shows that it is finite, too
            return []
        raise
    return inside + _zeros(g, lower, upper, argument)


def _zeros(g: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str) -> list[sp.Expr]:
    """The zeros of what is neither a polynomial nor a product, where it is continuous."""
    if isinstance(g, sp.exp | sp.cosh) or (isinstance(g, sp.Pow) and g.base is sp.E):
        return []
    single = _single_level(g)
    if single is not None:
        _, h, level = single
        return _level(h, level, lower, upper, argument)
    if _one_sign(g, lower, upper):
        return []
    if any(map(long_power, g.atoms(sp.Pow))):  # multiplied out it would take minutes
        raise _not_found(g, argument)
    top, bottom = sp.fraction(sp.together(g))
    if bottom != 1 and top.has(z) and top != g:
        return real_zeros(top, lower, upper, argument)
    heads = [f for f in g.atoms(*_INVERSE) if f.has(z)]
    if len(heads) == 1 and not (t := g.xreplace({heads[0]: _z_of_level})).has(z) and t.is_polynomial(_z_of_level):
        levels = real_zeros(t.xreplace({_z_of_level: z}), -sp.oo, sp.oo, argument)
        return [r for level in levels for r in _level(heads[0], level, lower, upper, argument)]
    raise _not_found(g, argument)


def _single_level(g: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr] | None:
    """(factor, h(u), level) with g = factor (h(u) - level) for one of the monotone functions h, or None."""
    constant, rest = g.as_independent(z, as_Add=True)
    factor, h = rest.as_independent(z, as_Add=False)
    if h.func in _INVERSE and len(h.args) == 1:
        return factor, h, _short(-constant / factor)
    return None


def unwrapped(g: sp.Expr) -> sp.Expr:
    """An expression of the same sign as g, without the monotone function around what varies, where there is one.

    h(u) - c has the sign of u - inverse(c); on intervals exp(1/z) - 2 would lose its sign near z = 0.
    """
    single = _single_level(g)
    if single is None:
        return g
    factor, h, level = single
    low, high = _RANGE.get(h.func, (sp.S.NegativeInfinity, sp.S.Infinity))
    sign = sp.Integer(ball.sign(factor))
    if low.is_finite and ball.sign(level - low) <= 0:
        return sign
    if high.is_finite and ball.sign(high - level) <= 0:
        return -sign
    return sign * unwrapped(h.args[0] - _INVERSE[h.func](level))


def _level(h: sp.Expr, level: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str) -> list[sp.Expr]:
    """The solutions of h(u) = level for one of the monotone functions."""
    low, high = _RANGE.get(h.func, (sp.S.NegativeInfinity, sp.S.Infinity))
    if (low.is_finite and ball.sign(level - low) <= 0) or (high.is_finite and ball.sign(high - level) <= 0):
        return []
    return real_zeros(h.args[0] - _INVERSE[h.func](level), lower, upper, argument)


# Continuous wherever their argument is; of the others log and powers are continuous inside their domains.
_CONTINUOUS = (sp.exp, sp.tanh, sp.sinh, sp.cosh, sp.sech, sp.atan, sp.asinh, sp.erf, sp.erfc, sp.erfi, sp.sin, sp.cos)


def _discontinuities(g: sp.Expr, lower: sp.Expr, upper: sp.Expr, argument: str) -> list[sp.Expr]:
    """Where a quotient, a logarithm or a fractional power inside g need not be continuous."""
    points: dict[sp.Expr, None] = {}
    bases = {p.base for p in g.atoms(sp.Pow) if p.base.has(z) and not (p.exp.is_Integer and p.exp > 0)}
    for function in g.atoms(sp.Function):
        if not function.has(z) or isinstance(function, _CONTINUOUS):
            continue
        if not isinstance(function, sp.log | sp.coth | sp.csch):
            raise _not_found(g, argument)
        bases.add(function.args[0])
    for base in sorted(bases, key=sp.default_sort_key):
        points.update(dict.fromkeys(real_zeros(base, lower, upper, argument)))
    return list(points)


def _not_found(g: sp.Expr, argument: str) -> InputError:
    return InputError(
        argument,
        f"the places where {brief(g)} changes sign cannot be found exactly",
        "write the function as a Piecewise with explicit break points",
    )


def long_power(power: sp.Pow) -> bool:
    """A power of a sum that SymPy would multiply out term by term, also in a denominator."""
    return bool(power.exp.is_Integer and abs(power.exp) > _MAX_FACTORED and power.base.is_Add)


def _polynomial_zeros(g: sp.Expr, argument: str) -> list[sp.Expr]:
    poly = sp.Poly(g, z)
    if not all(c.is_Rational for c in poly.all_coeffs()):
        return _irrational_zeros(poly, argument)
    if poly.degree() == 1:
        a, b = poly.all_coeffs()
        return [-b / a]
    (power,), poly = poly.terms_gcd()
    if poly.degree() > _MAX_FACTORED:
        raise InputError(
            argument,
            f"a break point is a root of a polynomial of degree {poly.degree()}",
            f"stay below {_MAX_FACTORED}",
        )
    roots: list[sp.Expr] = [sp.S.Zero] if power else []
    for factor, _ in poly.factor_list()[1]:
        roots.extend(_roots_of_irreducible(factor))
    return roots


def _roots_of_irreducible(factor: sp.Poly) -> list[sp.Expr]:
    """The real roots of an irreducible rational polynomial: radicals up to degree two and of pure powers."""
    if factor.degree() <= 2:
        return list(factor.real_roots())
    _, factor = factor.clear_denoms(convert=True)
    count = len(ball.real_roots(tuple(int(c) for c in factor.all_coeffs())))
    if not count:
        return []
    if len(factor.monoms()) == 2:
        return _pure_power_roots(factor.LC(), factor.degree(), factor.TC())
    # A symbol of its own: an atom that has z would not count as a constant.
    polynomial = sp.Poly(factor.all_coeffs(), _x).as_expr()
    return [sp.CRootOf(polynomial, i, radicals=False) for i in range(count)]


def _pure_power_roots(a: sp.Expr, n: int, c: sp.Expr) -> list[sp.Expr]:
    """The real roots of a z^n + c, c not zero."""
    value = -c / a
    positive = ball.sign(value) > 0
    root = (value if positive else -value) ** sp.Rational(1, n)
    if n % 2:
        return [root if positive else -root]
    return [-root, root] if positive else []


def _irrational_zeros(poly: sp.Poly, argument: str) -> list[sp.Expr]:
    """Real roots of a polynomial whose coefficients are not all rational."""
    coefficients = poly.all_coeffs()
    while coefficients and ball.sign(coefficients[0]) == 0:  # a zero that is not written as one
        coefficients = coefficients[1:]
    roots: list[sp.Expr] = []
    while coefficients and ball.sign(coefficients[-1]) == 0:
        coefficients, roots = coefficients[:-1], [sp.S.Zero]
    degree = len(coefficients) - 1
    if degree < 1:
        return roots
    if degree == 1:
        return [*roots, _short(-coefficients[1] / coefficients[0])]
    if degree == 2:
        return roots + _quadratic_zeros(*coefficients)
    if all(c == 0 for c in coefficients[1:-1]):
        return roots + _pure_power_roots(coefficients[0], degree, _short(coefficients[-1]))
    if degree > _MAX_IRRATIONAL:
        raise InputError(
            argument,
            f"a break point is a root of a polynomial of degree {degree} with irrational coefficients",
            f"use rational coefficients, or a degree of at most {_MAX_IRRATIONAL}",
        )
    return roots + _algebraic_zeros(sp.Poly(coefficients, z), argument)


def _short(constant: sp.Expr) -> sp.Expr:
    """A constant, simplified unless that takes long."""
    return sp.simplify(constant) if constant.count_ops() <= _MAX_SIMPLIFIED else constant


def _quadratic_zeros(a: sp.Expr, b: sp.Expr, c: sp.Expr) -> list[sp.Expr]:
    discriminant = sp.expand(b**2 - 4 * a * c)
    sign = ball.sign(discriminant)
    if sign < 0:
        return []
    if sign == 0:
        return [_short(-b / (2 * a))]
    return [_short((-b + s * sp.sqrt(discriminant)) / (2 * a)) for s in (-1, 1)]


def _algebraic_zeros(poly: sp.Poly, argument: str) -> list[sp.Expr]:
    """Real roots of a polynomial with algebraic coefficients: those roots of its norm that are roots of it.

    Square-free it has as many real roots as balls of its isolated roots meet the real line; each of these meets exactly
    one root of the norm once the balls are small, and is it.
    """
    try:
        over = sp.Poly(poly.as_expr(), z, extension=True)
    except (NotImplementedError, ValueError, sp.PolynomialError):
        over = poly
    known = over.domain.is_Algebraic or over.domain.is_QQ
    found = _isolated(over.sqf_part() if known else poly)
    if found == []:
        return []
    if found is None or not known:
        raise InputError(
            argument,
            f"a break point is a root of {brief(poly.as_expr())}, which has no closed form",
            "use rational or algebraic coefficients, without roots that coincide",
        )
    over = over.sqf_part()
    norm = over.norm() if over.domain.is_Algebraic else over
    if norm.degree() > _MAX_NORM:
        raise InputError(
            argument, f"a root of {brief(poly.as_expr())} has degree {norm.degree()}", f"stay below {_MAX_NORM}"
        )
    candidates = [r for factor, _ in norm.factor_list()[1] for r in _roots_of_irreducible(factor)]
    for bits in _SEPARATION_BITS:
        isolated = _isolated(over, bits)
        with ball.precision(bits):
            values = [ball.constant(r) for r in candidates]
            hits = [[r for r, v in zip(candidates, values, strict=True) if v.overlaps(x)] for x in isolated or []]
        if hits and all(len(h) == 1 for h in hits):
            return [h[0] for h in hits]
    raise InputError(argument, f"the roots of {brief(poly.as_expr())} are too close together", "move them apart")


def _isolated(poly: sp.Poly, bits: int | None = None) -> list[Any] | None:
    """Disjoint balls around the real roots, or None where the roots are not told apart (they may coincide)."""
    for precision in _SEPARATION_BITS if bits is None else (bits,):
        with ball.precision(precision):
            try:
                roots = acb_poly([ball.constant(c) for c in reversed(poly.all_coeffs())]).roots()
            except (ValueError, ArithmeticError):
                continue
            # The conjugate of a root is a root: a ball that meets its own conjugate, and no other ball's, is real.
            pairs = [[y for y in roots if y.overlaps(x.conjugate())] for x in roots]
            if all(len(p) == 1 for p in pairs):
                return sorted((x.real for x, p in zip(roots, pairs, strict=True) if p[0] is x), key=_middle)
    return None


def _middle(x: Any) -> Fraction:
    return ball.fraction(x.mid())


def _one_sign(g: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> bool:
    """Whether g is shown to have no zero: its reciprocal is shown to be finite."""
    from bulkedge.theory.functions.growth import growth

    try:
        growth(1 / g, lower, upper, limit=Fraction(10**6))
    except InputError:
        return False
    return True
