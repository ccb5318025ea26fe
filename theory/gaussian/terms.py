"""Terms: the functions whose dual kernels have closed forms, and the kernel of a pair of them.

A term is coef * z^power * exp(tilt z - gauss z^2) * 1{slope z + noise w > threshold}, w an independent standard
normal averaged over. noise = 0 is a kink (step, ReLU, |z|, hard tanh, ELU), noise = 1 an error function (Phi, erf,
GELU), no indicator a polynomial, an exponential or (imaginary tilt) a sine. Kernels are bilinear: the kernel of two
sums of terms is the double sum, whatever the two functions are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Delta, Nonlinearity
from bulkedge.theory.gaussian import quadrant
from bulkedge.theory.gaussian.bivariate import Cut, Pair, moment
from bulkedge.theory.numbers.symbols import q11, q12, q22, z

_ZERO, _ONE = sp.Integer(0), sp.Integer(1)
# Total degree beyond which monomials are left to the recurrence in numbers (theory.gaussian.quadrant).
_SHORT = 12


@dataclass(frozen=True)
class Term:
    """coef * z^power * exp(tilt z - gauss z^2) * P(slope z + noise w > threshold); slope 0: no indicator."""

    coef: sp.Expr
    power: int = 0
    tilt: sp.Expr = _ZERO
    gauss: sp.Expr = _ZERO
    slope: sp.Expr = _ZERO
    noise: sp.Expr = _ZERO
    threshold: sp.Expr = _ZERO


@functools.lru_cache(maxsize=512)
def terms(f: Nonlinearity) -> tuple[Term, ...] | None:
    """The regular part of f as a sum of terms, or None where it is not one.

    Formula: f = f_first + sum over kinks b of (f_right - f_left) 1{z > b}.
    """
    if any(kink.has(sp.CRootOf) for kink in f.kinks):
        return None  # powers of a root without a form: minutes for what an enclosure gives in a second
    found: dict[Term, sp.Expr] = {}
    previous = _ZERO
    for piece in f.pieces:
        cut = piece.lower if piece.lower is not sp.S.NegativeInfinity else None
        new = _smooth_terms(sp.expand(piece.expr - previous, power_exp=False), cut)
        if new is None:
            return None
        previous = piece.expr
        for term in new:
            key = replace(term, coef=_ONE)
            found[key] = found.get(key, _ZERO) + term.coef
    result = tuple(replace(key, coef=coef) for key, coef in found.items() if sp.expand(coef) != 0)
    return result if all(_admissible(t) for t in result) else None


def _admissible(t: Term) -> bool:
    """Square integrable on the whole line (a piece may be continued past its end), and real where it is cut."""
    growing = sp.ask(sp.Q.positive(t.gauss + sp.Rational(1, 4)))
    return bool(growing) and (t.slope == 0 or bool(t.tilt.is_real))


def _smooth_terms(expr: sp.Expr, cut: sp.Expr | None) -> list[Term] | None:
    """The terms of a smooth expression times 1{z > cut}."""
    trigonometric = expr.has(sp.sin, sp.cos, sp.sinh, sp.cosh)
    if trigonometric:
        expr = sp.expand(expr.replace(lambda e: e.func in (sp.sin, sp.cos, sp.sinh, sp.cosh), _exponentials))
    result: list[Term] = []
    for addend in sp.Add.make_args(expr):
        if addend == 0:
            continue
        parts = _factors(addend, cut)
        if parts is None:
            return None
        result.extend(parts)
    return result


def _exponentials(e: sp.Expr) -> sp.Expr:
    x = e.args[0]
    up, down = (sp.exp(sp.I * x), sp.exp(-sp.I * x)) if e.func in (sp.sin, sp.cos) else (sp.exp(x), sp.exp(-x))
    if e.func is sp.cos or e.func is sp.cosh:
        return (up + down) / 2
    return (up - down) / (2 * sp.I) if e.func is sp.sin else (up - down) / 2


def _factors(addend: sp.Expr, cut: sp.Expr | None) -> list[Term] | None:
    """One product as terms: its powers of z, exponentials of quadratics and at most one error function."""
    term = Term(_ONE) if cut is None else Term(_ONE, slope=_ONE, threshold=cut)
    error_function: sp.Expr | None = None
    for factor in sp.Mul.make_args(addend):
        base, exponent = factor.as_base_exp()
        if not factor.has(z):
            term = replace(term, coef=term.coef * factor)
        elif base == z and exponent.is_Integer and exponent > 0:
            term = replace(term, power=term.power + int(exponent))
        elif base is sp.E:
            if not exponent.is_polynomial(z) or sp.degree(exponent, z) > 2:
                return None
            c2, c1, c0 = (exponent.expand().coeff(z, n) for n in (2, 1, 0))
            term = replace(term, coef=term.coef * sp.exp(c0), tilt=term.tilt + c1, gauss=term.gauss - c2)
        elif factor.func is sp.erf and error_function is None and cut is None:
            error_function = factor.args[0]
        else:
            return None
    if error_function is None:
        return [term]
    if not error_function.is_polynomial(z) or sp.degree(error_function, z) != 1:
        return None
    a, b = error_function.expand().coeff(z, 1), error_function.expand().coeff(z, 0)
    # erf(a z + b) = 2 P(sqrt 2 (a z + b) + w > 0) - 1
    soft = replace(term, coef=2 * term.coef, slope=sp.sqrt(2) * a, noise=_ONE, threshold=-sp.sqrt(2) * b)
    return [soft, replace(term, coef=-term.coef)]


def dual_of_terms(f: tuple[Term, ...], g: tuple[Term, ...]) -> sp.Expr:
    """sum_ij E[f_i(u) g_j(v)] in q11, q12, q22, not yet tidied.

    Formula: exponentials of quadratics change the covariance, Q' = (Q^-1 + 2 diag(gauss))^-1, and the mean, Q' tilt.
    """
    return sp.Add(*(a.coef * b.coef * _dual(replace(a, coef=_ONE), replace(b, coef=_ONE)) for a in f for b in g))


@functools.lru_cache(maxsize=4096)
def _dual(a: Term, b: Term) -> sp.Expr:
    if a.power + b.power > _SHORT and _monomial(a) and _monomial(b):
        return quadrant.in_covariances(a.power, b.power, a.slope != 0, b.slope != 0)
    pair, weight = _tilted(a, b)
    return weight * moment(a.power, b.power, pair)


def _monomial(t: Term) -> bool:
    """Whether a term is z^n, on the whole line or above zero."""
    return t.tilt == t.gauss == t.noise == t.threshold == 0 and t.slope in (0, 1)


def _tilted(a: Term, b: Term) -> tuple[Pair, sp.Expr]:
    """The Gaussian pair under the exponentials of two terms, with their cuts, and the exponentials' expectation."""
    uu, uv, vv, weight = q11, q12, q22, _ONE
    if a.gauss != 0 or b.gauss != 0:
        det = q11 * q22 - q12**2
        D = sp.expand((1 + 2 * a.gauss * q11) * (1 + 2 * b.gauss * q22) - 4 * a.gauss * b.gauss * q12**2)
        uu, uv, vv = (q11 + 2 * b.gauss * det) / D, q12 / D, (q22 + 2 * a.gauss * det) / D
        weight = 1 / sp.sqrt(D)
    mean_u, mean_v = a.tilt * uu + b.tilt * uv, a.tilt * uv + b.tilt * vv
    weight *= sp.exp((a.tilt**2 * uu + 2 * a.tilt * b.tilt * uv + b.tilt**2 * vv) / 2)
    pair = Pair(
        mean_u,
        mean_v,
        uu,
        uv,
        vv,
        _cut(a, uu, uv, uu, mean_u),
        _cut(b, uv, vv, vv, mean_v),
        a.slope * b.slope * uv,
    )
    return pair, weight


def _cut(t: Term, u: sp.Expr, v: sp.Expr, own: sp.Expr, mean: sp.Expr) -> Cut | None:
    if t.slope == 0:
        return None
    return Cut(t.slope * u, t.slope * v, t.slope**2 * own + t.noise**2, t.threshold - t.slope * mean)


def dual_of_delta(delta: Delta, g: tuple[Term, ...]) -> sp.Expr:
    """E[delta^(n)(u - t) g(v)] = (-1)^n (d/dt)^n { density of u at t times E[g(v) | u = t] }."""
    at = sp.Dummy("t", real=True)
    total = _ZERO
    for term in g:
        pair, weight = _tilted(Term(_ONE), term)
        # `_tilted` puts the term's cut second; the delta takes the first place and is conditioned on.
        on = replace(pair, first=Cut(pair.uu, pair.uv, pair.uu, at - pair.mean_u), cross=term.slope * pair.uv)
        assert on.first is not None
        total += term.coef * weight * on.first.density * moment(0, term.power, on.given_first())
    return delta.weight * (-1) ** delta.order * sp.diff(total, at, delta.order).subs(at, delta.at)


def dual_of_deltas(a: Delta, b: Delta) -> sp.Expr:
    """E[delta^(n)(u - s) delta^(m)(v - t)]: derivatives of the bivariate density."""
    s, t = sp.symbols("s t", real=True)
    det = q11 * q22 - q12**2
    density = sp.exp(-(q22 * s**2 - 2 * q12 * s * t + q11 * t**2) / (2 * det)) / (2 * sp.pi * sp.sqrt(det))
    moved = sp.diff(density, s, a.order, t, b.order) if a.order + b.order else density
    return a.weight * b.weight * (-1) ** (a.order + b.order) * moved.subs({s: a.at, t: b.at})


def swapped(expr: sp.Expr) -> sp.Expr:
    """The expression with the roles of u and v exchanged."""
    return expr.subs({q11: q22, q22: q11}, simultaneous=True)


def tidied(expr: sp.Expr) -> sp.Expr:
    """A sum over the special functions and roots that occur, each with a factored algebraic coefficient."""
    names: dict[sp.Expr, sp.Dummy] = {}

    def name(e: sp.Expr) -> sp.Expr:
        return names.setdefault(e, sp.Dummy(positive=True))

    def rename(e: sp.Expr) -> sp.Expr:
        if e.free_symbols and e.is_Pow and e.base.is_Add and e.exp.is_Rational:
            if e.exp.q == 2:
                return name(sp.sqrt(e.base)) ** (2 * e.exp)
            if e.exp.is_Integer and e.exp < 0:  # a denominator stays a denominator
                return name(1 / e.base) ** (-e.exp)
        if e.free_symbols and isinstance(e, sp.Function | sp.exp):
            return name(e)
        return e.func(*map(rename, e.args)) if e.args else e

    opened = sp.expand(rename(expr))
    radicand = {d: e.base for e, d in names.items() if e.is_Pow and e.exp == sp.Rational(1, 2)}
    collected: dict[sp.Expr, sp.Expr] = {}
    dummies = set(names.values())
    for addend in sp.Add.make_args(opened):
        coef, mono = addend.as_independent(*dummies, as_Add=False)
        for d, base in radicand.items():
            n = mono.as_powers_dict().get(d, 0)
            if n >= 2:
                mono, coef = mono / d ** (n - n % 2), coef * base ** ((n - n % 2) / 2)
        collected[mono] = collected.get(mono, _ZERO) + coef
    back = {d: e for e, d in names.items()}
    return sp.Add(*(_factored(c) * m.xreplace(back) for m, c in collected.items()))


def _factored(coef: sp.Expr) -> sp.Expr:
    # exp(p/q) and exp(r/s) would be powers of one generator exp(1/(q s)): polynomials of any degree.
    names = {e: sp.Dummy(positive=True) for e in coef.atoms(sp.exp) if e.is_number}
    merged = sp.factor(sp.together(sp.expand(coef.xreplace(names)))).xreplace({d: e for e, d in names.items()})
    return merged if merged.count_ops() <= coef.count_ops() else coef
