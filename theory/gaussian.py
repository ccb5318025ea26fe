"""Gaussian expectations E[f(z) He_k(z)]: exact by closed recurrences, everything else enclosed by ball arithmetic.

Each addend z^n e^{-q z^2 + s z} {cos, sin}(w z) erf(a z + b)... on an interval has its moments from a recurrence of
Gaussian integration by parts (Stein), so no generic symbolic integration is ever called (it is slow, and with
floating coefficients silently wrong). With D = 1 + 2q, S = s + i w, phi the Gaussian density:

    whole line     E_{k+1} = (S/D) E_k - (2q/D) k E_{k-1},                   E_0 = D^{-1/2} e^{S^2/(2D)}
    interval       D T_{k+1} = -[F He_k phi] + s T_k - 2 q k T_{k-1}
    with an erf    D M_{k+1} = E[(erf)' e^{..} He_k] + s M_k - 2 q k M_{k-1}
    powers of z    E[z f He_k] = E[f He_{k+1}] + k E[f He_{k-1}]
    delta          E[delta_b^{(j)} He_k] = He_{k+j}(b) phi(b)

Source: H1, H2, H4.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import acb, acb_poly, arb

from theory import ball
from theory.enclosure import GUARD_DIGITS, Enclosure, check_digits
from theory.errors import PrecisionError
from theory.nonlinearity import Nonlinearity, Piece, jump, merged, product
from theory.symbols import z

__all__ = ["Parts", "Term", "enclose", "expectation", "hermite_values", "jump", "moment", "moments", "parts", "product"]

Combination = dict[sp.Expr, sp.Expr]  # transcendental basis element -> coefficient (rational wherever possible)

_ROOT_2PI = sp.sqrt(2 * sp.pi)
_MAX_ADDENDS = 60  # of a sum that is searched for a hidden parity
_MAX_OPERATIONS = 300  # likewise


@dataclass(frozen=True)
class Term:
    """Re[(re + i im) z^n e^{-q z^2 + (s + i w) z}] prod_i erf(a_i z + b_i) on (lower, upper)."""

    lower: sp.Expr
    upper: sp.Expr
    re: sp.Expr
    im: sp.Expr
    n: int
    q: sp.Expr
    s: sp.Expr
    w: sp.Expr
    erfs: tuple[tuple[sp.Expr, sp.Expr], ...] = ()

    @property
    def whole_line(self) -> bool:
        """Whether the interval is the whole line."""
        return self.lower is sp.S.NegativeInfinity and self.upper is sp.S.Infinity

    @property
    def is_polynomial(self) -> bool:
        """Whether the term is a monomial on its interval."""
        return self.q == 0 and self.s == 0 and self.w == 0 and not self.erfs

    @property
    def closed(self) -> bool:
        """Whether the recurrences above apply."""
        if self.whole_line:
            if len(self.erfs) == 2:
                return self.w == 0 and self.s == 0 and all(b == 0 for _, b in self.erfs)
            return len(self.erfs) < 2 and (self.w == 0 or not self.erfs)
        return not self.erfs and self.w == 0


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
    # A rigorous non-zero value settles most cases before any simplification.
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
    waves: list[tuple[sp.Expr, sp.Expr, sp.Expr]] = []  # (frequency, re, im)
    erfs: list[tuple[sp.Expr, sp.Expr]] = []
    for factor in sp.Mul.make_args(addend):
        if not factor.has(z):
            coefficient *= factor
            continue
        base, power = factor.as_base_exp()
        if isinstance(factor, sp.exp):
            base, power = factor, sp.S.One
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
        Term(lower, upper, coefficient * re, coefficient * im, n, q, s, w, tuple(erfs))
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


def hermite_values(x: sp.Expr, degree: int) -> list[sp.Expr]:
    """He_0(x), ..., He_degree(x) exactly, by the three-term recurrence."""
    values = [sp.S.One, x]
    for k in range(1, degree):
        values.append(_reduce(x * values[k] - k * values[k - 1]))
    return values[: degree + 1]


def _reduce(x: sp.Expr) -> sp.Expr:
    return x if x.is_Rational else sp.expand(x)


def _add(target: Combination, basis: sp.Expr, coefficient: sp.Expr) -> None:
    if coefficient != 0:
        target[basis] = _reduce(target.get(basis, sp.S.Zero) + coefficient)


def _scaled_sum(*weighted: tuple[sp.Expr, Combination]) -> Combination:
    total: Combination = {}
    for weight, combination in weighted:
        if weight != 0:
            for basis, coefficient in combination.items():
                _add(total, basis, _reduce(weight * coefficient))
    return total


def _wave_moments(q: sp.Expr, s: sp.Expr, w: sp.Expr, degree: int) -> list[tuple[sp.Expr, sp.Expr]]:
    """E[e^{-q z^2 + S z} He_k] over its value at k = 0, as (real, imaginary) pairs."""
    d = 1 + 2 * q
    a, b, r = s / d, w / d, 2 * q / d
    pairs = [(sp.S.One, sp.S.Zero), (a, b)]
    for k in range(1, degree):
        (x1, y1), (x0, y0) = pairs[k], pairs[k - 1]
        pairs.append((_reduce(a * x1 - b * y1 - r * k * x0), _reduce(a * y1 + b * x1 - r * k * y0)))
    return pairs[: degree + 1]


def _base_moments(term: Term, degree: int) -> list[Combination]:
    """Moments k = 0..degree of the term without its power of z."""
    d = 1 + 2 * term.q
    prefactor = sp.exp((term.s**2 - term.w**2) / (2 * d)) / sp.sqrt(d)
    if term.erfs:
        return _erf_moments(term.q, term.s, term.erfs, term.re, degree)
    if not term.whole_line:
        return _interval_moments(term, degree)
    angle = term.s * term.w / d
    c, i = prefactor * sp.cos(angle), prefactor * sp.sin(angle)
    result: list[Combination] = []
    for x, y in _wave_moments(term.q, term.s, term.w, degree):
        combination: Combination = {}
        _add(combination, c, _reduce(term.re * x - term.im * y))
        if angle != 0:
            _add(combination, i, _reduce(-term.re * y - term.im * x))
        result.append(combination)
    return result


def _interval_moments(term: Term, degree: int) -> list[Combination]:
    q, s, d = term.q, term.s, 1 + 2 * term.q
    prefactor = sp.exp(s**2 / (2 * d)) / sp.sqrt(d)
    first: Combination = {}
    ends: list[tuple[sp.Expr, sp.Expr, list[sp.Expr]]] = []  # (sign of [F He_k phi], basis, He_k values)
    for end, sign in ((term.upper, 1), (term.lower, -1)):
        if end.is_infinite:
            _add(first, prefactor, sp.Rational(1, 2))  # the upper end at +oo and the lower at -oo both add 1/2
            continue
        _add(first, prefactor * sp.erf(sp.sqrt(d / 2) * (end - s / d)), sp.Rational(sign, 2))
        density = sp.exp(-(q + sp.Rational(1, 2)) * end**2 + s * end) / _ROOT_2PI
        ends.append((sp.Integer(sign), density, hermite_values(end, degree)))
    result = [first]
    for k in range(degree):
        boundary: Combination = {}
        for sign, density, values in ends:
            _add(boundary, density, _reduce(-sign * values[k] / d))
        previous = result[k - 1] if k else {}
        result.append(_scaled_sum((sp.S.One, boundary), (s / d, result[k]), (-2 * q * k / d, previous)))
    return [_scaled_sum((term.re, c)) for c in result]


def _erf_moments(
    q: sp.Expr, s: sp.Expr, erfs: tuple[tuple[sp.Expr, sp.Expr], ...], weight: sp.Expr, degree: int
) -> list[Combination]:
    d = 1 + 2 * q
    sources: list[list[Combination]] = []
    for i, (a, b) in enumerate(erfs):
        others = erfs[:i] + erfs[i + 1 :]
        scale = 2 * a * sp.exp(-(b**2)) / sp.sqrt(sp.pi)
        if others:
            sources.append(
                [_scaled_sum((scale, c)) for c in _erf_moments(q + a**2, s - 2 * a * b, others, sp.S.One, degree)]
            )
        else:
            gauss = Term(-sp.oo, sp.oo, sp.S.One, sp.S.Zero, 0, q + a**2, s - 2 * a * b, sp.S.Zero)
            basis = sp.exp(-(b**2)) / sp.sqrt(sp.pi)
            sources.append(
                [{k * basis: _reduce(2 * a * v) for k, v in c.items()} for c in _base_moments(gauss, degree)]
            )
    first: Combination = {}
    if len(erfs) == 1:
        ((a, b),) = erfs
        value = sp.erf((a * s / d + b) / sp.sqrt(1 + 2 * a**2 / d))
        _add(first, sp.exp(s**2 / (2 * d)) / sp.sqrt(d) * value, sp.S.One)
    else:
        (a1, _), (a2, _) = erfs
        inside = 2 * a1 * a2 / sp.sqrt((d + 2 * a1**2) * (d + 2 * a2**2))
        _add(first, 2 * sp.asin(inside) / (sp.pi * sp.sqrt(d)), sp.S.One)
    result = [first]
    for k in range(degree):
        previous = result[k - 1] if k else {}
        driven = [(1 / d, source[k]) for source in sources]
        result.append(_scaled_sum(*driven, (s / d, result[k]), (-2 * q * k / d, previous)))
    return [_scaled_sum((weight, c)) for c in result]


def _term_moments(term: Term, degree: int) -> list[Combination]:
    values = _base_moments(term, degree + term.n)
    for step in range(term.n, 0, -1):
        values = [
            _scaled_sum((sp.S.One, values[k + 1]), (sp.Integer(k), values[k - 1] if k else {}))
            for k in range(degree + step)
        ]
    return values[: degree + 1]


def _polynomial_moments(
    lower: sp.Expr, upper: sp.Expr, coefficients: dict[int, sp.Expr], degree: int
) -> list[Combination]:
    """A polynomial p on an interval, k times by parts: E_k = E[p^(k)] - sum_{i<k} [p^(i) He_{k-1-i} phi].

    E[z^n] = (n-1) E[z^{n-2}] - [z^{n-1} phi]. The cost is that of one pass over the coefficients for each k.
    """
    top = max(coefficients)
    mass: Combination = {}
    ends: list[tuple[sp.Expr, sp.Expr, list[sp.Expr], list[sp.Expr], list[sp.Expr]]] = []
    for end, sign in ((upper, sp.S.One), (lower, -sp.S.One)):
        if end.is_infinite:
            _add(mass, sp.S.One, sp.Rational(1, 2))
            continue
        _add(mass, sp.erf(end / sp.sqrt(2)), sign / 2)
        density = sp.exp(-(end**2) / 2) / _ROOT_2PI
        powers = [sp.S.Zero]  # of the density in E[z^n]
        for n in range(1, top + 1):
            powers.append(_reduce(-sign * end ** (n - 1) + (n - 1) * (powers[n - 2] if n > 1 else sp.S.Zero)))
        ends.append((sign, density, powers, _taylor(coefficients, end, degree), hermite_values(end, degree)))
    even = [sp.S.One]
    for n in range(2, top + 1, 2):
        even.append(even[-1] * (n - 1))
    result: list[Combination] = []
    for k in range(degree + 1):
        weights = {n - k: c * sp.ff(n, k) for n, c in coefficients.items() if n >= k}
        total = _scaled_sum((sp.Add(*(c * even[n // 2] for n, c in weights.items() if n % 2 == 0)), mass))
        for sign, density, powers, slopes, values in ends:
            inside = sp.Add(*(c * powers[n] for n, c in weights.items()))
            edge = sp.Add(*(slopes[i] * values[k - 1 - i] for i in range(min(k, top + 1))))
            _add(total, density, _reduce(inside - sign * edge))
        result.append(total)
    return result


def _taylor(coefficients: dict[int, sp.Expr], at: sp.Expr, degree: int) -> list[sp.Expr]:
    """p(at), p'(at), ..., as many as are needed for k <= degree."""
    top = max(coefficients)
    count = min(top + 1, degree)
    if at == 0:
        return [coefficients.get(i, sp.S.Zero) * sp.factorial(i) for i in range(count)]
    terms = ([c * sp.ff(n, i) * at ** (n - i) for n, c in coefficients.items() if n >= i] for i in range(count))
    return [_reduce(sp.Add(*t)) for t in terms]


@functools.lru_cache(maxsize=512)
def _closed_moments(f: Nonlinearity, degree: int) -> tuple[sp.Expr, ...]:
    """E[. He_k] of the closed addends and of the deltas, k = 0..degree."""
    totals: list[Combination] = [{} for _ in range(degree + 1)]
    polynomials: dict[tuple[sp.Expr, sp.Expr], dict[int, sp.Expr]] = {}
    found: list[list[Combination]] = []
    for term in parts(f).terms:
        if term.is_polynomial:
            on_interval = polynomials.setdefault((term.lower, term.upper), {})
            on_interval[term.n] = on_interval.get(term.n, sp.S.Zero) + term.re
        else:
            found.append(_term_moments(term, degree))
    found.extend(_polynomial_moments(a, b, p, degree) for (a, b), p in polynomials.items())
    for combinations in found:
        for total, combination in zip(totals, combinations, strict=True):
            for basis, coefficient in combination.items():
                _add(total, basis, coefficient)
    for delta in f.deltas:
        density = sp.exp(-(delta.at**2) / 2) / _ROOT_2PI
        values = hermite_values(delta.at, degree + delta.order)
        for k, total in enumerate(totals):
            _add(total, density, _reduce(delta.weight * values[k + delta.order]))
    return tuple(sp.Add(*(c * b for b, c in total.items() if c != 0)) for total in totals)


def moments(f: Nonlinearity, degree: int) -> tuple[sp.Expr | None, ...]:
    """E[f(z) He_k(z)] for k = 0..degree: exact, or None where no closed form is known.

    Convention: `moment` (He_k probabilists'). A coefficient that vanishes by parity is an exact zero.
    Source: H1.
    """
    closed = _closed_moments(f, _rounded(degree))[: degree + 1]
    split = parts(f)
    if split.rest is None:
        return closed
    return tuple(value if split.parity == -((-1) ** k) else None for k, value in enumerate(closed))


def _rounded(degree: int) -> int:
    """The next power of two, so that a loop over k does not run the recurrence anew for every k."""
    return max(8, 1 << (degree - 1).bit_length()) if degree else 8


def moment(f: Nonlinearity, k: int) -> sp.Expr | None:
    """E[f(z) He_k(z)], exact, or None where no closed form is known."""
    return moments(f, k)[k]


def expectation(f: Nonlinearity) -> sp.Expr | None:
    """E f(z), exact, or None where no closed form is known."""
    return moment(f, 0)


# ---- enclosures -------------------------------------------------------------------------------------------------


def _cut(piece: Piece, k: int, log_tolerance: float) -> tuple[Any, float]:
    """A radius R and log of a bound of the integral of |f He_k| phi beyond R on one side.

    With log|f| <= c0 + c1 z + c2 z^2 and |He_k(z)| <= z^k for z >= 2 sqrt k (all zeros of He_k lie
    below 2 sqrt k, by Gershgorin on its Jacobi matrix), the integrand is at most e^h / sqrt(2 pi) with
    h(z) = c0 + c1 z - (1/2 - c2) z^2 + k log z concave, so its integral beyond R is at most e^h(R)/|h'(R)|.
    """
    g = piece.growth
    c0, c1, c2 = float(g.c0), float(g.c1), float(g.c2)
    a = 0.5 - c2

    def log_bound(r: float) -> float:
        slope = 2 * a * r - c1 - k / r
        if slope <= 0:
            return math.inf
        return c0 + c1 * r - a * r * r + k * math.log(r) - math.log(slope)

    radius = max(2 * math.sqrt(k) + 1, 1.0)
    while log_bound(radius) > log_tolerance:
        radius += max(1.0, 0.05 * radius)
    radius = math.ceil(4 * radius) / 4
    return radius, log_bound(radius)


def _tail(piece: Piece, k: int, radius: float) -> Any:
    """The rigorous bound behind `_cut`, in balls (upper end)."""
    g = piece.growth
    r = arb(radius)
    a = arb(1) / 2 - ball.rational(g.c2)
    slope = 2 * a * r - ball.rational(g.c1) - k / r
    h = ball.rational(g.c0) + ball.rational(g.c1) * r - a * r * r + k * r.log()
    return (h.exp() / (slope * (2 * arb.pi()).sqrt())).upper()


@functools.lru_cache(maxsize=256)
def _hermite_coefficients(k: int) -> tuple[int, ...]:
    """Coefficients of He_k in ascending powers, in steps of two from k mod 2."""
    coefficients = []
    for m in range(k // 2, -1, -1):
        value = math.factorial(k) // (math.factorial(m) * math.factorial(k - 2 * m) * 2**m)
        coefficients.append((-1) ** m * value)
    return tuple(coefficients)


def _rest_integral(rest: Nonlinearity, parity: int, k: int, log_tolerance: float) -> Any:
    """Enclosure of E[rest He_k] at the current working precision; the error aims at e^log_tolerance."""
    half = parity != 0
    polynomial = acb_poly([ball.rational(c) for c in _hermite_coefficients(k)])
    odd = k % 2
    norm = (2 * arb.pi()).sqrt()
    minus_half = acb(arb(-0.5))
    tolerance = arb(log_tolerance).exp() / (4 * len(rest.pieces))
    total = arb(0)
    for piece in rest.pieces:
        if piece.expr == 0 or (half and piece.upper != sp.oo and ball.sign(piece.upper) <= 0):
            continue
        f = ball.build(piece.expr, z, {})
        tail = arb(0)
        if half and (piece.lower == -sp.oo or ball.sign(piece.lower) < 0):
            lower = arb(0)
        elif piece.lower == -sp.oo:
            radius, _ = _cut(piece, k, log_tolerance - 2)
            tail += _tail(piece, k, radius)
            lower = -arb(radius)
        else:
            lower = ball.constant(piece.lower)
        if piece.upper == sp.oo:
            radius, _ = _cut(piece, k, log_tolerance - 2)
            if lower > radius or not lower < radius:
                radius = float(lower.upper()) + 1
            tail += _tail(piece, k, radius)
            upper = arb(radius)
        else:
            upper = ball.constant(piece.upper)
        if upper < lower:
            continue

        def integrand(x: Any, analytic: bool, f: Any = f) -> Any:
            square = x * x
            value = polynomial(square) * (minus_half * square).exp()
            if odd:
                value *= x
            return value * (f if isinstance(f, acb) else f(x, analytic))

        # A break point that is no dyadic number is a ball; its radius is far below the tolerance.
        inner = ball.integrate(integrand, lower, upper, tolerance)
        total += inner / norm + arb(0, tail)
    return 2 * total if half else total


@functools.lru_cache(maxsize=4096)
def enclose(f: Nonlinearity, digits: int, k: int = 0) -> Enclosure:
    """E[f(z) He_k(z)] with a rigorous error bound, to a relative error below 10^-digits.

    Valid for: every Nonlinearity, deltas included. Convention: `moment`.
    Accuracy: rigorous; the tails beyond the cut are bounded by the certified growth of f and added to the error.
    Errors: PrecisionError (with the best enclosure) where the value cannot be told from zero, or is not reached.
    Source: H2.
    """
    check_digits(digits, GUARD_DIGITS)
    exact = moment(f, k)
    if exact is not None:
        return ball.enclose_expr(exact, digits)
    split = parts(f)
    assert split.rest is not None
    closed = _closed_moments(f, _rounded(k))[k]
    scale = math.lgamma(k + 1) / 2  # log of sqrt(k!), the size of a moment
    best: Enclosure | None = None
    lost = 4 * 2.302585  # aim a little lower than the digits asked
    for _ in range(6):
        log_tolerance = scale - digits * 2.302585093 - lost
        prec = ball.bits(digits) + int(lost / 0.69) + 24 + 2 * k
        with ball.precision(prec):
            value = _rest_integral(split.rest, split.parity, k, log_tolerance)
            if closed != 0:
                value += ball.constant(closed)
            if not value.is_finite():
                lost += 10
                continue
            best = ball.to_enclosure(value)
        if best.value != 0 and best.error <= abs(best.value) * Fraction(1, 10**digits):
            return best
        ratio = abs(best.value) / best.error if best.error else Fraction(0)
        lost += max(12.0, digits * 2.3026 - math.log(max(float(min(ratio, Fraction(10**300))), 1.0)) + 6)
        if lost > 6 * (digits * 2.3026 + 20):
            break
    raise PrecisionError(f"E[f He_{k}] could not be enclosed to {digits} significant digits (it may be zero)", best)
