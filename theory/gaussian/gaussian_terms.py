"""A function of a Gaussian variable split into addends whose moments are closed, and a rest.

Source: H1.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.functions.pieces import Piece, merged
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.symbols import z

_MAX_ADDENDS = 60  # of a sum that is searched for a hidden parity
_MAX_OPERATIONS = 300  # likewise


@dataclass(frozen=True)
class Term:
    """Re[(re + i im) z^n |z|^power e^{-q z^2 + (s + i w) z}] prod_i erf(a_i z + b_i) on (lower, upper)."""

    lower: sp.Expr
    upper: sp.Expr
    re: sp.Expr
    im: sp.Expr
    n: int
    q: sp.Expr
    s: sp.Expr
    w: sp.Expr
    erfs: tuple[tuple[sp.Expr, sp.Expr], ...] = ()
    power: sp.Rational = sp.S.Zero

    @property
    def whole_line(self) -> bool:
        """Whether the interval is the whole line."""
        return self.lower is sp.S.NegativeInfinity and self.upper is sp.S.Infinity

    @property
    def is_polynomial(self) -> bool:
        """Whether the term is a monomial on its interval."""
        return self.q == 0 and self.s == 0 and self.w == 0 and not self.erfs and self.power == 0

    @property
    def half_line(self) -> int:
        """1 for (0, oo), -1 for (-oo, 0), else 0."""
        if self.lower == 0 and self.upper is sp.S.Infinity:
            return 1
        return -1 if self.upper == 0 and self.lower is sp.S.NegativeInfinity else 0

    @property
    def closed(self) -> bool:
        """Whether the recurrences apply, and end in a form worth having (powers of a root without a form are none)."""
        if self.power != 0:
            plain = self.q == 0 and self.s == 0 and self.w == 0 and not self.erfs
            return plain and self.half_line != 0 and self.n + self.power > -1
        if self.whole_line:
            if len(self.erfs) == 2:
                return self.w == 0 and self.s == 0 and all(b == 0 for _, b in self.erfs)
            return len(self.erfs) < 2 and (self.w == 0 or not self.erfs)
        return not self.erfs and self.w == 0 and not (self.lower.has(sp.CRootOf) or self.upper.has(sp.CRootOf))


@dataclass(frozen=True)
class Parts:
    """f split into addends with closed moments and a rest without (or None); `parity` is that of the rest."""

    terms: tuple[Term, ...]
    rest: Nonlinearity | None
    parity: int = 0


@functools.lru_cache(maxsize=1024)
def parts(f: Nonlinearity) -> Parts:
    """Split f into its closed addends and the rest."""
    terms: list[Term] = []
    rest: list[Piece] = []
    for piece in f.pieces:
        left_over: list[sp.Expr] = []
        for addend in sp.Add.make_args(_exponentials(piece.expr)):
            found = _terms(addend, piece.lower, piece.upper)
            if found is None or not all(t.closed for t in found):
                left_over.append(addend)
            else:
                terms.extend(found)
        rest.append(Piece(piece.lower, piece.upper, sp.Add(*left_over)))
    if all(piece.expr == 0 for piece in rest):
        return Parts(tuple(terms), None)
    left = Nonlinearity(f.name, merged(rest))
    if left.parity == 0 and len(left.pieces) == 1 and _worth_searching(left.pieces[0].expr):
        taken = _hidden_parity(left.pieces[0].expr)
        if taken is not None:
            closed, parity = taken
            terms.extend(_terms(closed, -sp.oo, sp.oo) or [])
            remainder = Nonlinearity(f.name, (Piece(-sp.oo, sp.oo, left.pieces[0].expr - closed),))
            return Parts(tuple(terms), remainder, parity)
    return Parts(tuple(terms), left, left.parity)


def _worth_searching(expr: sp.Expr) -> bool:
    """Whether a hidden parity is looked for: in long expressions the search costs minutes (products of mish')."""
    return len(expr.args) <= _MAX_ADDENDS and int(expr.count_ops()) <= _MAX_OPERATIONS


def _hidden_parity(expr: sp.Expr) -> tuple[sp.Expr, int] | None:
    """A constant or a multiple of z whose removal leaves an even or odd function: (what, parity of what is left).

    softplus = z/2 + even, the logistic function = 1/2 + odd: their coefficients of the other parity are exactly zero,
    which no enclosure could show.
    """
    mirrored = expr.subs(z, -z)
    if _vanishes_in_exponentials(sp.diff(expr - mirrored, z, 2)):
        slope = sp.simplify(sp.diff(expr - mirrored, z).subs(z, 0)) / 2
        return slope * z, 1
    if _vanishes_in_exponentials(sp.diff(expr + mirrored, z)):
        return sp.simplify(expr.subs(z, 0)), -1
    return None


def _vanishes_in_exponentials(expr: sp.Expr) -> bool:
    """Whether a rational function of exponentials (hyperbolic functions included) is identically zero."""
    # A rigorous non-zero value settles most cases before any simplification (with parameters there is none).
    if not expr.free_symbols - {z}:
        with ball.precision(120):
            value = ball.constant(expr.subs(z, sp.Rational(3, 7)))
            if value.is_finite() and not value.contains(0):
                return False
    return bool(sp.cancel(sp.together(sp.expand(expr.rewrite(sp.exp)))) == 0)


def _exponentials(expr: sp.Expr) -> sp.Expr:
    """sinh, cosh by exponentials and erfc by erf; products multiplied out."""
    if not expr.has(sp.sinh, sp.cosh, sp.erfc):
        return expr
    expr = expr.replace(sp.sinh, lambda u: (sp.exp(u) - sp.exp(-u)) / 2)
    expr = expr.replace(sp.cosh, lambda u: (sp.exp(u) + sp.exp(-u)) / 2)
    expr = expr.replace(sp.erfc, lambda u: 1 - sp.erf(u))
    return sp.expand(expr, power_exp=False, power_base=False, log=False, basic=False, multinomial=True, mul=True)


def _affine(u: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    if not u.is_polynomial(z) or sp.degree(u, z) > 1:
        return None
    poly = sp.Poly(u, z)
    return poly.coeff_monomial(z), poly.coeff_monomial(1)


def _terms(addend: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> list[Term] | None:
    """The terms of one product, or None where a factor is of another kind."""
    coefficient, n, q, s = sp.S.One, 0, sp.S.Zero, sp.S.Zero
    fraction = sp.S.Zero  # exponent of |z|
    waves: list[tuple[sp.Expr, sp.Expr, sp.Expr]] = []  # (frequency, re, im)
    erfs: list[tuple[sp.Expr, sp.Expr]] = []
    for factor in sp.Mul.make_args(addend):
        if not factor.has(z):
            coefficient *= factor
            continue
        base, power = factor.as_base_exp()
        if isinstance(factor, sp.exp):
            base, power = factor, sp.S.One
        if power.is_Rational and ((base == z and lower == 0) or (base == -z and upper == 0)) and not power.is_Integer:
            fraction += power
            continue
        if not (power.is_Integer and power > 0):
            return None
        count = int(power)
        if base == z:
            n += count
        elif isinstance(base, sp.exp):
            exponent = base.args[0]
            if not exponent.is_polynomial(z) or sp.degree(exponent, z) > 2:
                return None
            poly = sp.Poly(exponent, z)
            q -= count * poly.coeff_monomial(z**2)
            s += count * poly.coeff_monomial(z)
            coefficient *= sp.exp(count * poly.coeff_monomial(1))
        elif isinstance(base, sp.sin | sp.cos | sp.erf):
            affine = _affine(base.args[0])
            if affine is None:
                return None
            a, b = affine
            if isinstance(base, sp.erf):
                erfs.extend([(a, b)] * count)
            elif isinstance(base, sp.cos):
                waves.extend([(a, sp.cos(b), sp.sin(b))] * count)
            else:
                waves.extend([(a, sp.sin(b), -sp.cos(b))] * count)
        else:
            return None
    if len(erfs) > 2 or len(waves) > 12:
        return None
    return [
        Term(lower, upper, coefficient * re, coefficient * im, n, q, s, w, tuple(erfs), fraction)
        for w, re, im in _multiplied(waves)
    ]


def _multiplied(waves: list[tuple[sp.Expr, sp.Expr, sp.Expr]]) -> list[tuple[sp.Expr, sp.Expr, sp.Expr]]:
    """A product of Re[A e^{iwz}] as a sum of such: Re A Re B = Re[AB + A conj(B)]/2."""
    total: dict[sp.Expr, tuple[sp.Expr, sp.Expr]] = {sp.S.Zero: (sp.S.One, sp.S.Zero)}
    for w, re, im in waves:
        new: dict[sp.Expr, tuple[sp.Expr, sp.Expr]] = {}
        for v, (x, y) in total.items():
            for sign in (1, -1):
                # (x + iy)(re + sign i im) / 2 at frequency v + sign w
                a, b = (x * re - sign * y * im) / 2, (sign * x * im + y * re) / 2
                key = v + sign * w
                if key.could_extract_minus_sign():  # Re[A e^{-iwz}] = Re[conj(A) e^{iwz}]
                    key, b = -key, -b
                old = new.get(key, (sp.S.Zero, sp.S.Zero))
                new[key] = (sp.expand(old[0] + a), sp.expand(old[1] + b))
        total = new
    return [(w, x, y) for w, (x, y) in total.items() if (x, y) != (0, 0)]
