"""E[f(z) He_k(z)] in closed form, by recurrences.

Each addend z^n e^{-q z^2 + s z} {cos, sin}(w z) erf(a z + b)... on an interval has its moments from a recurrence of
Gaussian integration by parts (Stein), so no generic symbolic integration is ever called (it is slow, and with
floating coefficients silently wrong). With D = 1 + 2q, S = s + i w, phi the Gaussian density:

    whole line     E_{k+1} = (S/D) E_k - (2q/D) k E_{k-1},                   E_0 = D^{-1/2} e^{S^2/(2D)}
    interval       D T_{k+1} = -[F He_k phi] + s T_k - 2 q k T_{k-1}
    with an erf    D M_{k+1} = E[(erf)' e^{..} He_k] + s M_k - 2 q k M_{k-1}
    powers of z    E[z f He_k] = E[f He_{k+1}] + k E[f He_{k-1}]
    z^p, z > 0     T_{k+2} = (p - k) T_k,      T_0 = 2^{p/2-1} Gamma((p+1)/2)/sqrt(pi), T_1 = T_0 of p + 1   (p > -1)
    delta          E[delta_b^{(j)} He_k] = He_{k+j}(b) phi(b)

Source: H1, H4.
"""

from __future__ import annotations

import functools
import math

import sympy as sp
from flint import fmpz

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.gaussian.gaussian_terms import Term, parts

_Combination = dict[sp.Expr, sp.Expr]  # transcendental basis element -> coefficient (rational wherever possible)

_ROOT_2PI = sp.sqrt(2 * sp.pi)


def hermite_values(x: sp.Expr, degree: int) -> list[sp.Expr]:
    """He_0(x), ..., He_degree(x) exactly, by the three-term recurrence."""
    values = [sp.S.One, x]
    for k in range(1, degree):
        values.append(_reduce(x * values[k] - k * values[k - 1]))
    return values[: degree + 1]


def _reduce(x: sp.Expr) -> sp.Expr:
    return x if x.is_Rational else sp.expand(x)


def _add(target: _Combination, basis: sp.Expr, coefficient: sp.Expr) -> None:
    if coefficient != 0:
        target[basis] = _reduce(target.get(basis, sp.S.Zero) + coefficient)


def _scaled_sum(*weighted: tuple[sp.Expr, _Combination]) -> _Combination:
    total: _Combination = {}
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


def _base_moments(term: Term, degree: int) -> list[_Combination]:
    """Moments k = 0..degree of the term without its power of z."""
    d = 1 + 2 * term.q
    prefactor = sp.exp((term.s**2 - term.w**2) / (2 * d)) / sp.sqrt(d)
    if term.erfs:
        return _erf_moments(term.q, term.s, term.erfs, term.re, degree)
    if not term.whole_line:
        return _interval_moments(term, degree)
    angle = term.s * term.w / d
    c, i = prefactor * sp.cos(angle), prefactor * sp.sin(angle)
    result: list[_Combination] = []
    for x, y in _wave_moments(term.q, term.s, term.w, degree):
        combination: _Combination = {}
        _add(combination, c, _reduce(term.re * x - term.im * y))
        if angle != 0:
            _add(combination, i, _reduce(-term.re * y - term.im * x))
        result.append(combination)
    return result


def _interval_moments(term: Term, degree: int) -> list[_Combination]:
    q, s, d = term.q, term.s, 1 + 2 * term.q
    prefactor = sp.exp(s**2 / (2 * d)) / sp.sqrt(d)
    first: _Combination = {}
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
        boundary: _Combination = {}
        for sign, density, values in ends:
            _add(boundary, density, _reduce(-sign * values[k] / d))
        previous = result[k - 1] if k else {}
        result.append(_scaled_sum((sp.S.One, boundary), (s / d, result[k]), (-2 * q * k / d, previous)))
    return [_scaled_sum((term.re, c)) for c in result]


def _erf_moments(
    q: sp.Expr, s: sp.Expr, erfs: tuple[tuple[sp.Expr, sp.Expr], ...], weight: sp.Expr, degree: int
) -> list[_Combination]:
    d = 1 + 2 * q
    sources: list[list[_Combination]] = []
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
    first: _Combination = {}
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


def _term_moments(term: Term, degree: int) -> list[_Combination]:
    values = _base_moments(term, degree + term.n)
    for step in range(term.n, 0, -1):
        values = [
            _scaled_sum((sp.S.One, values[k + 1]), (sp.Integer(k), values[k - 1] if k else {}))
            for k in range(degree + step)
        ]
    return values[: degree + 1]


def half_moment(p: sp.Expr) -> sp.Expr:
    """E[z^p 1{z > 0}] = 2^(p/2 - 1) Gamma((p + 1)/2)/sqrt(pi), p > -1."""
    return 2 ** (p / 2 - 1) * sp.gamma((p + 1) / 2) / sp.sqrt(sp.pi)


def _power_moments(term: Term, degree: int) -> list[_Combination]:
    """A real power of |z| on a half line: He_k (d/dz by parts) takes k from the exponent, two at a time."""
    p = term.n + term.power
    basis = half_moment(p), half_moment(p + 1)
    weights = [sp.S.One, sp.S.One]
    for k in range(degree - 1):
        weights.append((p - k) * weights[k])
    # z^n He_k(z) on the left is that on the right times (-1)^(n + k).
    return [{basis[k % 2]: _reduce(term.re * weights[k] * term.half_line ** (term.n + k))} for k in range(degree + 1)]


def _polynomial_moments(
    lower: sp.Expr, upper: sp.Expr, coefficients: dict[int, sp.Expr], degree: int
) -> list[_Combination]:
    """A polynomial p on an interval, k times by parts: E_k = E[p^(k)] - sum_{i<k} [p^(i) He_{k-1-i} phi].

    E[z^n] = (n-1) E[z^{n-2}] - [z^{n-1} phi]. The cost is that of one pass over the coefficients for each k.
    """
    if lower.is_infinite and upper.is_infinite and all(c.is_Rational for c in coefficients.values()):
        return _line_moments(coefficients, degree)
    top = max(coefficients)
    mass: _Combination = {}
    ends: list[tuple[sp.Expr, sp.Expr, list[sp.Expr], list[sp.Expr], list[sp.Expr]]] = []
    for end, sign in ((upper, sp.S.One), (lower, -sp.S.One)):
        if end.is_infinite:
            _add(mass, sp.S.One, sp.Rational(1, 2))
            continue
        _add(mass, sp.erf(end / sp.sqrt(2)), sign / 2)
        density = normal_density(end)
        powers = [sp.S.Zero]  # of the density in E[z^n]
        for n in range(1, top + 1):
            powers.append(_reduce(-sign * end ** (n - 1) + (n - 1) * (powers[n - 2] if n > 1 else sp.S.Zero)))
        ends.append((sign, density, powers, _taylor(coefficients, end, degree), hermite_values(end, degree)))
    even = [sp.S.One]
    for n in range(2, top + 1, 2):
        even.append(even[-1] * (n - 1))
    result: list[_Combination] = []
    for k in range(degree + 1):
        weights = {n - k: c * sp.ff(n, k) for n, c in coefficients.items() if n >= k}
        total = _scaled_sum((sp.Add(*(c * even[n // 2] for n, c in weights.items() if n % 2 == 0)), mass))
        for sign, density, powers, slopes, values in ends:
            inside = sp.Add(*(c * powers[n] for n, c in weights.items()))
            edge = sp.Add(*(slopes[i] * values[k - 1 - i] for i in range(min(k, top + 1))))
            _add(total, density, _reduce(inside - sign * edge))
        result.append(total)
    return result


def _line_moments(coefficients: dict[int, sp.Expr], degree: int) -> list[_Combination]:
    """The same on the whole line with rational coefficients, in integers: E[z^n He_k] = n!/(2^m m!), m = (n - k)/2."""
    whole = math.lcm(*(int(c.q) for c in coefficients.values()))
    # What is carried from k to k + 2 is each power's part: it is multiplied by 2 m.
    carried: tuple[dict[int, fmpz], dict[int, fmpz]] = ({}, {})
    for n, c in coefficients.items():
        m = n // 2
        carried[n % 2][n] = fmpz(int(c.p) * (whole // int(c.q)) * (math.factorial(n) // (2**m * math.factorial(m))))
    result: list[_Combination] = []
    for k in range(degree + 1):
        terms = carried[k % 2]
        total = int(sum(terms.values(), fmpz(0)))
        result.append({sp.S.One: sp.Rational(total, whole)} if total else {})
        for n in list(terms):
            if n < k + 2:
                del terms[n]
            else:
                terms[n] *= n - k
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
def closed_moments(f: Nonlinearity, degree: int) -> tuple[sp.Expr, ...]:
    """E[. He_k] of the closed addends and of the deltas, k = 0..degree."""
    totals: list[_Combination] = [{} for _ in range(degree + 1)]
    polynomials: dict[tuple[sp.Expr, sp.Expr], dict[int, sp.Expr]] = {}
    found: list[list[_Combination]] = []
    for term in parts(f).terms:
        if term.is_polynomial:
            on_interval = polynomials.setdefault((term.lower, term.upper), {})
            on_interval[term.n] = on_interval.get(term.n, sp.S.Zero) + term.re
        elif term.power != 0:
            found.append(_power_moments(term, degree))
        else:
            found.append(_term_moments(term, degree))
    found.extend(_polynomial_moments(a, b, p, degree) for (a, b), p in polynomials.items())
    for combinations in found:
        for total, combination in zip(totals, combinations, strict=True):
            for basis, coefficient in combination.items():
                _add(total, basis, coefficient)
    for delta in f.deltas:
        density = normal_density(delta.at)
        values = hermite_values(delta.at, degree + delta.order)
        for k, total in enumerate(totals):
            _add(total, density, _reduce(delta.weight * values[k + delta.order]))
    return tuple(sp.Add(*(c * b for b, c in total.items() if c != 0)) for total in totals)


def moments(f: Nonlinearity, degree: int) -> tuple[sp.Expr | None, ...]:
    """E[f(z) He_k(z)] for k = 0..degree: exact, or None where no closed form is known.

    Convention: `moment` (He_k probabilists'). A coefficient that vanishes by parity is an exact zero.
    Source: H1.
    """
    closed = closed_moments(f, rounded(degree))[: degree + 1]
    split = parts(f)
    if split.rest is None:
        return closed
    return tuple(value if split.parity == -((-1) ** k) else None for k, value in enumerate(closed))


def rounded(degree: int) -> int:
    """The next power of two, so that a loop over k does not run the recurrence anew for every k."""
    return max(8, 1 << (degree - 1).bit_length()) if degree else 8


def moment(f: Nonlinearity, k: int) -> sp.Expr | None:
    """E[f(z) He_k(z)], exact, or None where no closed form is known."""
    return moments(f, k)[k]


def expectation(f: Nonlinearity) -> sp.Expr | None:
    """E f(z), exact, or None where no closed form is known."""
    return moment(f, 0)
