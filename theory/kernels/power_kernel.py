"""Dual kernels of real powers of |z|: |z|^p, relu(z)^p, sign(z) |z|^p and their sums, powers of z among them.

On half lines, s, t = +-1 the side and A_p = E[z^p 1{z > 0}],

    E[(s u)_+^p (t v)_+^q] = q11^(p/2) q22^(q/2) { A_p A_q F(-p/2, -q/2; 1/2; rho^2)
                                                   + s t A_(p+1) A_(q+1) rho F((1-p)/2, (1-q)/2; 3/2; rho^2) },

F = 2F1: the even and the odd part of Mehler's series, whose coefficients are a hypergeometric term (general_term).
p = q = 1 is the arc-cosine kernel of ReLU, p = q that of fractional order.

Source: K1, H4.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.gaussian_moments import half_moment
from bulkedge.theory.gaussian.gaussian_terms import parts
from bulkedge.theory.numbers.symbols import q11, q12, q22

Power = tuple[sp.Expr, sp.Expr, int]  # coefficient, exponent, side


def half_powers(f: Nonlinearity) -> list[Power] | None:
    """f as a sum of coefficient * (side z)_+^exponent with a fractional power among them, or None."""
    split = parts(f)
    if split.rest is not None or f.deltas or not any(t.power != 0 for t in split.terms):
        return None
    return _sides(f)


def _sides(f: Nonlinearity) -> list[Power] | None:
    found: dict[tuple[sp.Expr, int], sp.Expr] = {}
    split = parts(f)
    if split.rest is not None or f.deltas:
        return None
    for term in split.terms:
        sides = (1, -1) if term.whole_line else (term.half_line,)
        if not (term.is_polynomial or term.power != 0) or sides == (0,):
            return None
        for side in sides:
            key = term.n + term.power, side
            found[key] = found.get(key, sp.S.Zero) + term.re * side**term.n
    return [(coefficient, p, side) for (p, side), coefficient in found.items() if coefficient != 0]


def _hypergeometric(a: sp.Expr, b: sp.Expr, c: sp.Expr, x: sp.Expr) -> sp.Expr:
    return sp.S.One if a == 0 or b == 0 else sp.hyper((a, b), (c,), x)


def power_dual(f: Nonlinearity, g: Nonlinearity) -> sp.Expr | None:
    """E[f(u) g(v)] in q11, q12, q22 where a fractional power of |z| is in f or g and all else is a power; else None.

    Valid for: q11, q22 > 0, q12^2 < q11 q22; exponents above -1/2.  Source: K1.
    """
    if half_powers(f) is None and half_powers(g) is None:
        return None
    first, second = _sides(f), _sides(g)
    if first is None or second is None:
        return None
    rho2 = q12**2 / (q11 * q22)
    even: dict[tuple[sp.Expr, sp.Expr], sp.Expr] = {}
    odd: dict[tuple[sp.Expr, sp.Expr], sp.Expr] = {}
    for a, p, s in first:
        for b, q, t in second:
            even[p, q] = even.get((p, q), sp.S.Zero) + a * b
            odd[p, q] = odd.get((p, q), sp.S.Zero) + a * b * s * t
    half, three = sp.Rational(1, 2), sp.Rational(3, 2)
    total = sp.S.Zero
    for (p, q), weight in even.items():
        scale = q11 ** (p / 2) * q22 ** (q / 2)
        total += weight * half_moment(p) * half_moment(q) * scale * _hypergeometric(-p / 2, -q / 2, half, rho2)
        total += (
            odd[p, q]
            * half_moment(p + 1)
            * half_moment(q + 1)
            * q11 ** ((p - 1) / 2)
            * q22 ** ((q - 1) / 2)
            * q12
            * _hypergeometric((1 - p) / 2, (1 - q) / 2, three, rho2)
        )
    return total
