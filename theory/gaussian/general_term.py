"""The general term: E[f(z) He_k(z)] as one SymPy expression in symbolic k, parity made explicit.

Each kind of addend has a formula for even and one for odd k, valid from some k on; the finitely many coefficients
before it are listed. Piecewise polynomials (ReLU, |z|, sign, clip, shifted ReLU ...) all follow from one line: with
J_b^{(i)} the jump of the i-th derivative at b,

    E[f He_k] = sum_b sum_i J_b^{(i)} He_{k-1-i}(b) phi(b)          for k > degree.

Source: H1.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, value_at
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.gaussian.gaussian import Term, moments, parts
from bulkedge.theory.numbers.symbols import k, z

MAX_POWER = 60
_MAX_RAISED = 8
_i = sp.Symbol("i", integer=True, nonnegative=True)


@dataclass(frozen=True)
class General:
    """Formulas in k for even and for odd k, valid for k >= start."""

    even: sp.Expr
    odd: sp.Expr
    start: int

    def plus(self, other: General) -> General:
        """The sum of two general terms."""
        return General(self.even + other.even, self.odd + other.odd, max(self.start, other.start))

    def times(self, factor: sp.Expr) -> General:
        """A multiple."""
        return General(factor * self.even, factor * self.odd, self.start)

    def shifted(self, by: int) -> General:
        """The general term of k -> k + by."""
        even, odd = (self.even, self.odd) if by % 2 == 0 else (self.odd, self.even)
        return General(even.subs(k, k + by), odd.subs(k, k + by), max(self.start - by, 0))

    def raised(self) -> General:
        """Multiplication of f by z: E[z f He_k] = E[f He_{k+1}] + k E[f He_{k-1}]."""
        up, down = self.shifted(1), self.shifted(-1)
        return General(up.even + k * down.even, up.odd + k * down.odd, self.start + 1)


def _hermite_at(b: sp.Expr, offset: int) -> General:
    """He_{k - offset}(b), valid for k >= offset; at b = 0 by double factorials."""
    if b != 0:
        value = sp.hermite_prob(k - offset, b)
        return General(value, value, offset)
    n = k - offset
    # Written for even n: the parity is decided by the caller, so that no cosine of pi k/2 is needed.
    at_zero = (-1) ** (n / 2) * sp.factorial2(n - 1)
    zero = sp.S.Zero
    return General(at_zero, zero, offset) if offset % 2 == 0 else General(zero, at_zero, offset)


def _piecewise_polynomial(f: Nonlinearity) -> General:
    """The polynomial addends of every piece, by the jumps of their derivatives."""
    polynomials = []
    for piece in f.pieces:
        addends = [
            t.re * z**t.n
            for t in parts(f).terms
            if t.is_polynomial and (t.lower, t.upper) == (piece.lower, piece.upper)
        ]
        polynomials.append(sp.expand(sp.Add(*addends)))
    if not any(polynomials):
        return General(sp.S.Zero, sp.S.Zero, 0)
    degree = max(int(sp.degree(p, z)) if p.has(z) else 0 for p in polynomials)
    total = General(sp.S.Zero, sp.S.Zero, degree + 1)
    for left, right, b in zip(polynomials, polynomials[1:], f.kinks, strict=False):
        # By parts k times a piecewise polynomial leaves its jumps alone: those of the i-th derivative meet He_(k - i -
        # 1) phi.
        difference = sp.expand(right - left)
        for i in range(degree + 1):
            jump = value_at(difference, b)
            difference = sp.diff(difference, z)
            if jump != 0:
                total = total.plus(_hermite_at(b, i + 1).times(jump * normal_density(b)))
    return total


def _wave(term: Term) -> General | None:
    """Whole line, no erf, the power of z left out."""
    q, s, w = term.q, term.s, term.w
    d = 1 + 2 * q
    prefactor = sp.exp((s**2 - w**2) / (2 * d)) / sp.sqrt(d)
    if q == 0 and w == 0:
        value = term.re * prefactor * s**k
        return General(value, value, 0)
    if q == 0 and s == 0:
        even = prefactor * w**k * (-1) ** (k / 2) * term.re
        odd = -prefactor * w**k * (-1) ** ((k - 1) / 2) * term.im
        return General(even, odd, 0)
    if q == 0:
        # (s + i w)^k in polar form: real for every k, where a power of a complex number would not be seen to be.
        angle, turn = s * w, sp.atan2(w, s)
        cos = term.re * sp.cos(angle) - term.im * sp.sin(angle)
        sin = term.re * sp.sin(angle) + term.im * sp.cos(angle)
        value = prefactor * sp.sqrt(s**2 + w**2) ** k * (cos * sp.cos(k * turn) - sin * sp.sin(k * turn))
        return General(value, value, 0)
    if w != 0:
        return None
    if s == 0:
        return General(term.re * prefactor * (-2 * q / d) ** (k / 2) * sp.factorial2(k - 1), sp.S.Zero, 0)
    if q.is_positive:
        value = term.re * prefactor * sp.sqrt(2 * q / d) ** k * sp.hermite_prob(k, s / sp.sqrt(2 * q * d))
        return General(value, value, 0)
    # A narrowing Gaussian has an imaginary argument in Hermite form; the finite sum is real term by term.
    body = sp.factorial(k) / (sp.factorial(_i) * sp.factorial(k - 2 * _i)) * (-q / d) ** _i * (s / d) ** (k - 2 * _i)
    return General(
        term.re * prefactor * sp.Sum(body, (_i, 0, k / 2)),
        term.re * prefactor * sp.Sum(body, (_i, 0, (k - 1) / 2)),
        0,
    )


def _half_exponential(term: Term) -> General | None:
    """e^{s z} on an interval: T_k = s^k T_0 - sum over the ends of [e^{s z} phi sum_{i<k} s^{k-1-i} He_i]."""
    if term.q != 0 or term.s == 0:
        return None
    s = term.s
    first = _exponential_mean(term)
    even = odd = s**k * first
    for end, sign in ((term.upper, 1), (term.lower, -1)):
        if end.is_infinite:
            continue
        weight = -sign * sp.exp(s * end) * normal_density(end)
        if end == 0:
            body = s ** (k - 1 - 2 * _i) * (-1) ** _i * sp.factorial2(2 * _i - 1)
            even += weight * sp.Sum(body, (_i, 0, k / 2 - 1))
            odd += weight * sp.Sum(body, (_i, 0, (k - 1) / 2))
        else:
            body = s ** (k - 1 - _i) * sp.hermite_prob(_i, end)
            total = weight * sp.Sum(body, (_i, 0, k - 1))
            even, odd = even + total, odd + total
    return General(term.re * even, term.re * odd, 0)


def _exponential_mean(term: Term) -> sp.Expr:
    """E[e^{s z}] over the interval of a term."""
    s = term.s

    def primitive(end: sp.Expr) -> sp.Expr:
        if end.is_infinite:
            return sp.sign(end) * sp.S.One
        return sp.erf((end - s) / sp.sqrt(2))

    return sp.exp(s**2 / 2) / 2 * (primitive(term.upper) - primitive(term.lower))


def _error_function(term: Term) -> General | None:
    """erf(a z + b) on the whole line: by Stein a Gaussian at k - 1, valid for k >= 1."""
    if term.q != 0 or term.s != 0 or len(term.erfs) != 1:
        return None
    ((a, b),) = term.erfs
    scale = term.re * 2 * a * sp.exp(-(b**2)) / sp.sqrt(sp.pi)
    # E[f He_k] = E[f' He_(k-1)], and the derivative of erf is a Gaussian, which has its own general term.
    gauss = _wave(Term(term.lower, term.upper, scale, sp.S.Zero, 0, a**2, -2 * a * b, sp.S.Zero))
    assert gauss is not None
    down = gauss.shifted(-1)
    return General(down.even, down.odd, 1)


def _half_power(term: Term) -> General:
    """|z|^p on a half line: E[z^p He_k; z > 0] = Gamma(p + 1) 2^((k - p)/2 - 1)/Gamma((p - k)/2 + 1), p no integer."""
    p = term.n + term.power
    value = term.re * sp.gamma(p + 1) * 2 ** ((k - p) / 2 - 1) / sp.gamma((p - k) / 2 + 1)
    sign = sp.Integer(term.half_line) ** term.n
    return General(sign * value, sign * term.half_line * value, 0)


def _term_general(term: Term) -> General | None:
    if term.power != 0:
        return _half_power(term)
    if term.erfs:
        base = _error_function(term)
    elif term.whole_line:
        base = _wave(term)
    else:
        base = _half_exponential(term)
    if base is not None:
        for _ in range(term.n):
            base = base.raised()
    return base


@functools.lru_cache(maxsize=256)
def general_moment(f: Nonlinearity) -> sp.Expr | None:
    """E[f(z) He_k(z)] for every integer k >= 0 as a SymPy expression in theory.numbers.symbols.k, or None.

    Convention: `moment`. Valid for: every k >= 0 (a finite list of first terms and a formula by parity); powers of z
    beyond 60 (beyond 8 times an exponential, a wave or an erf) have a formula too long to be of use: None.
    Source: H1.
    """
    if parts(f).rest is not None or any(t.n > (MAX_POWER if t.is_polynomial else _MAX_RAISED) for t in parts(f).terms):
        return None
    total = _piecewise_polynomial(f)
    for term in parts(f).terms:
        if term.is_polynomial:
            continue
        general = _term_general(term)
        if general is None:
            return None
        total = total.plus(general)
    for delta in f.deltas:
        value = _hermite_at(delta.at, -delta.order)
        total = total.plus(value.times(delta.weight * normal_density(delta.at)))
    even, odd = (sp.factor_terms(_signs_resolved(e, s)) for e, s in ((total.even, 1), (total.odd, -1)))
    first = moments(f, total.start) if total.start else ()
    return _assembled(first[: total.start], even, odd)


def _signs_resolved(expr: sp.Expr, sign: int) -> sp.Expr:
    """(-a)^(k + n) written as +-a^(k + n): He_k(-b) = (-1)^k He_k(b) leaves such factors; the parity of k decides."""

    def resolve(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        n = exponent - k
        if base.is_Rational and base < 0 and n.is_Integer:
            return sp.Integer(sign * (-1) ** int(n)) * (-base) ** exponent
        return base**exponent

    return sp.expand(expr, deep=False).replace(sp.Pow, resolve)


def _assembled(first: tuple[sp.Expr | None, ...], even: sp.Expr, odd: sp.Expr) -> sp.Expr:
    """The listed first terms (those that the formula does not give already), then the formulas by parity."""
    listed = [
        (value, sp.Eq(k, n))
        for n, value in enumerate(first)
        if value is not None and not _agrees((odd if n % 2 else even), n, value)
    ]
    if even == odd:
        return sp.Piecewise(*listed, (even, True)) if listed else even
    return sp.Piecewise(*listed, (even, sp.Eq(sp.Mod(k, 2), 0)), (odd, True))


def _agrees(formula: sp.Expr, n: int, value: sp.Expr) -> bool:
    """Whether the formula gives the right value already at k = n (0/0 and negative indices do not)."""
    if formula.has(sp.hermite_prob, sp.Sum) and n < 8:
        return False  # a negative order or an empty range would be evaluated by convention only
    if formula.has(sp.gamma):
        return False  # of long decimals SymPy's simplification takes minutes
    try:
        at_n = formula.subs(k, n)
    except (ValueError, ZeroDivisionError):
        return False
    return bool(at_n.is_finite) and sp.simplify(at_n - value) == 0
