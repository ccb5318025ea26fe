"""Eigenvalues on the sphere: Funk-Hecke coefficients eta_l(d) of a function, and the multiplicities.

The kernel E_w[sigma(w.x) sigma(w.x')], w uniform on the unit sphere of R^d and |x| = |x'| = R, has the spherical
harmonics of degree l as eigenfunctions, with eigenvalue eta_l^2 and multiplicity N(d, l), where

    eta_l = E[sigma(R t) P_l(t)],   t = first coordinate of a uniform point,   P_l(1) = 1

(P_l the Legendre polynomial in dimension d: Chebyshev's at d = 2, Legendre's at d = 3).
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import acb, arb

from bulkedge.theory.functions.nonlinearity import Nonlinearity, combine, product
from bulkedge.theory.functions.pieces import Piece, vanishes
from bulkedge.theory.gaussian import gauss_legendre
from bulkedge.theory.kernels import funk_hecke
from bulkedge.theory.kernels.kernel import scaled
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.digits import check_digits
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import d, l, p, z

MAX_DEGREE = 20_000
_MAX_INTEGRATED = 500  # where there is no closed form
_GROUPS = (8, 32, 128, _MAX_INTEGRATED)
_HALF = sp.Rational(1, 2)


def multiplicity(dimension: int, degree: int) -> int:
    """N(d, l), the dimension of the spherical harmonics of degree l on the unit sphere of R^d.

    Formula: C(l+d-1, l) - C(l+d-3, l-2): 1, d, ...; at d = 2: 1, 2, 2, ...; at d = 3: 2l + 1.
    Source: K2.
    """
    below = math.comb(degree + dimension - 3, degree - 2) if degree > 1 else 0
    return math.comb(degree + dimension - 1, degree) - below


def multiplicities(dimension: int, degree: int) -> list[int]:
    """N(d, l), l = 0..degree, as C(l+d-2, l) + C(l+d-3, l-1): one binomial after the other."""
    counts, current, before = [], 1, 0
    for deg in range(degree + 1):
        counts.append(current + before)
        before = current
        current = current * (deg + dimension - 1) // (deg + 1)
    return counts


def relu_power(p: sp.Expr = p, d: sp.Expr = d, l: sp.Expr = l) -> sp.Expr:
    """eta_l of ReLU^p at radius one, in d and l (p = 0: the step).

    Formula: p! Gamma(d/2)/(2^(p+1) Gamma((p-l)/2 + 1) Gamma((p+l+d)/2)); zero where (p-l)/2 + 1 is a pole.
    Valid for: d >= 2, l, p >= 0. Source: K2.
    """
    top = sp.factorial(p) * sp.gamma(d * _HALF) / 2 ** (p + 1)
    return top / (sp.gamma((p - l) * _HALF + 1) * sp.gamma((p + l + d) * _HALF))


def relu_power_recurrence() -> sp.Eq:
    """K2: eta_{l+2} (l + d + p) = -(l - p) eta_l for ReLU^p."""
    eta = sp.IndexedBase("eta")
    return sp.Eq(eta[l + 2], -(l - p) / (l + d + p) * eta[l])


def relu_statement() -> sp.Eq:
    """K2: the eigenvalues of ReLU^p."""
    return sp.Eq(sp.IndexedBase("eta")[l], relu_power())


def gaussian_weight_factor(p: int, d: sp.Expr = d) -> sp.Expr:
    """What eta_l^2 of a p-homogeneous function is multiplied by for w ~ N(0, I/d) instead of uniform on the sphere.

    Formula: E|w|^(2p) = prod_{i<p} (d + 2i)/d^p. Source: K2.
    """
    return sp.Mul(*(d + 2 * i for i in range(p))) / d**p


def _homogeneous_parts(f: Nonlinearity) -> dict[tuple[int, int], sp.Expr] | None:
    """f as a sum of weight * (side z)_+^p, keyed by (p, side), or None: piecewise polynomial with no kink but 0."""
    if f.deltas or any(kink != 0 for kink in f.kinks):
        return None
    found: dict[tuple[int, int], sp.Expr] = {}
    sides = ((f.pieces[-1].expr, 1), (f.pieces[0].expr, -1))
    for expr, side in sides:
        if not expr.is_polynomial(z):
            return None
        for (power,), coef in sp.Poly(expr, z).terms():
            if coef != 0:
                found[power, side] = coef * side**power
    return found


def eta(f: Nonlinearity, radius: sp.Expr = sp.S.One) -> sp.Expr | None:
    """eta_l of f in theory.numbers.symbols d and l, or None where no closed form is known.

    Valid for: piecewise polynomials whose only kink is at 0 (ReLU^p, leaky ReLU, |z|, sign, step, polynomials).
    Formula: (-z)_+^p has (-1)^l times the coefficient of z_+^p. Source: K2.
    """
    parts = _homogeneous_parts(f)
    if parts is None:
        return None
    total = sp.Integer(0)
    for power in sorted({power for power, _ in parts}):
        up, down = parts.get((power, 1), sp.Integer(0)), parts.get((power, -1), sp.Integer(0))
        total += radius**power * (up + down * (-1) ** l) * relu_power(sp.Integer(power))
    return total


def large_dimension(power: int, degree: int, order: int = 2) -> sp.Expr:
    """eta_l of ReLU^p as d -> oo at fixed l: the leading power of d times a polynomial in 1/d up to `order`.

    Formula: log Gamma(x + a) = (x + a - 1/2) log x - x + log(2 pi)/2 + sum_n (-1)^(n+1) B_{n+1}(a)/(n (n+1) x^n).
    Source: K2.
    """
    a = sp.Rational(power + degree, 2)
    front = sp.factorial(power) / (2 ** (power + 1) * sp.gamma(sp.Rational(power - degree, 2) + 1))
    if front == 0:
        return sp.Integer(0)
    x = sp.Dummy("x", positive=True)  # 2/d
    exponent = sp.Add(
        *(
            (-1) ** (n + 1) * (sp.bernoulli(n + 1, 0) - sp.bernoulli(n + 1, a)) / (n * (n + 1)) * x**n
            for n in range(1, order + 1)
        )
    )
    series = sp.series(sp.exp(exponent), x, 0, order + 1).removeO().subs(x, 2 / d)
    return front * (d * _HALF) ** (-a) * sp.expand(series)


@dataclass(frozen=True)
class Eigenvalue:
    """Degree l, multiplicity N(d, l), the Funk-Hecke coefficient eta_l and the kernel's eigenvalue eta_l^2."""

    degree: int
    multiplicity: int
    eta: Enclosure
    value: Enclosure


def check_dimension(dimension: int) -> int:
    """Return `dimension` if it is an integer >= 2, else raise InputError."""
    if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 2:
        raise InputError("dim", f"{dimension!r} is not the dimension of a sphere's space", "give an integer >= 2")
    return dimension


def eigenvalues(
    f: Nonlinearity, dimension: int, degree: int, radius: sp.Rational = sp.S.One, digits: int = 15
) -> tuple[Eigenvalue, ...]:
    """The eigenvalues l = 0..degree of the kernel of f on the sphere of the given radius, weight uniform.

    Valid for: every f without deltas that is bounded near the points, d >= 2 (circle included), any degree.
    Accuracy: rigorous; relative error below 10^-digits, or absolute error below 10^-(digits) sup|f| where eta_l cannot
    be told from zero. Errors: InputError for d < 2 or a negative degree; PrecisionError.
    Source: K2.
    """
    check_dimension(dimension)
    check_digits(digits)
    if isinstance(degree, bool) or not isinstance(degree, int) or not 0 <= degree <= MAX_DEGREE:
        raise InputError("degree", f"{degree!r} is not a degree", f"give an integer 0..{MAX_DEGREE}")
    if not radius > 0:
        raise InputError("radius", f"{radius} is not a radius", "give a positive number")
    if f.deltas:
        raise InputError("FUNCTION", "a delta has no values on the sphere", "give a function")
    etas: dict[int, Enclosure] = {}
    for half, parity in _halves(f):
        parts = _homogeneous_parts(half)
        if parts is not None:
            values = _closed(parts, dimension, degree, radius, digits)
        elif degree > _MAX_INTEGRATED:
            problem = f"{degree} is beyond {_MAX_INTEGRATED}, and {half.name} has no closed form"
            raise InputError("degree", problem, f"give at most {_MAX_INTEGRATED}")
        else:
            moved = half if radius == 1 else scaled(half, radius, bounded=True)
            values = list(_integrated(moved, dimension, degree, digits))
        for deg in range(degree + 1):
            if parity == 0 or (-1) ** deg == parity:
                etas[deg] = values[deg]
    counts = multiplicities(dimension, degree)
    return tuple(Eigenvalue(deg, counts[deg], etas[deg], etas[deg] * etas[deg]) for deg in range(degree + 1))


def _halves(f: Nonlinearity) -> tuple[tuple[Nonlinearity, int], ...]:
    """f as it is (0), or its even (1) and odd (-1) half where one of them is closed: gelu = z/2 + an even function.

    The degrees of that half are then exact, zeros among them, which no enclosure could show.
    """
    if _homogeneous_parts(f) is not None or f.parity:
        return ((f, 0),)
    mirrored = scaled(f, sp.Integer(-1), bounded=True)
    halves = []
    for sign in (1, -1):
        half = combine(((_HALF, f), (sign * _HALF, mirrored)), f.name)
        if _homogeneous_parts(half) is None and len(half.pieces) == 1:
            half = _without_disguise(half, sign)
        halves.append((half, sign))
    if all(_homogeneous_parts(half) is None for half, _ in halves):
        return ((f, 0),)
    return tuple(halves)


def _without_disguise(half: Nonlinearity, sign: int) -> Nonlinearity:
    """A half that is a constant or a multiple of z once it is simplified (of softplus: z/2), as that."""
    expr = half.pieces[0].expr
    simple = sp.simplify(expr.subs(z, 0)) if sign == 1 else sp.simplify(sp.diff(expr, z).subs(z, 0)) * z
    if not vanishes(expr - simple):
        return half
    return Nonlinearity(half.name, (Piece(sp.S.NegativeInfinity, sp.S.Infinity, simple),))


def _closed(
    parts: dict[tuple[int, int], sp.Expr], dimension: int, degree: int, radius: sp.Rational, digits: int
) -> list[Enclosure]:
    """The homogeneous parts, each by its two-term recurrence in l, in balls (no gamma function but the first two)."""
    prec = ball.bits(digits) + 32
    powers = sorted({power for power, _ in parts})
    while True:
        with ball.precision(prec):
            sums = [arb(0)] * (degree + 1)
            for power in powers:
                up, down = (sp.expand(parts.get((power, side), sp.Integer(0))) for side in (1, -1))
                # The factor up + (-1)^l down is an exact zero where the function has a parity.
                even, odd = (_ball_or_zero((up + sign * down) * radius**power) for sign in (1, -1))
                values = _relu_power_values(power, dimension, degree)
                sums = [s + (odd if deg % 2 else even) * v for deg, (s, v) in enumerate(zip(sums, values, strict=True))]
            lost = [x for x in sums if x != 0 and x.rel_accuracy_bits() < ball.bits(digits) - ball.GUARD_BITS + 4]
            if not lost:
                return [ball.to_enclosure(x) for x in sums]
            if prec > ball.MAX_BITS // 64:
                raise PrecisionError(
                    f"the eigenvalues could not be enclosed to {digits} digits", ball.to_enclosure(lost[0])
                )
        prec *= 2


def _ball_or_zero(x: sp.Expr) -> Any:
    return arb(0) if sp.expand(x) == 0 else ball.constant(x)


def _relu_power_values(power: int, dimension: int, degree: int) -> list[Any]:
    """eta_l of ReLU^p for l = 0..degree at the working precision."""
    values = []
    d_, p_ = arb(dimension), arb(power)
    front = (arb(power + 1).lgamma() + (d_ / 2).lgamma()).exp() / arb(2) ** (power + 1)
    for deg in range(min(2, degree + 1)):
        pole = power - deg + 2
        if pole <= 0 and pole % 2 == 0:
            values.append(arb(0))
        else:
            values.append(front * ((p_ - deg) / 2 + 1).rgamma() * (-((p_ + deg + d_) / 2).lgamma()).exp())
    for deg in range(degree - 1):
        values.append(values[deg] * (power - deg) / (deg + dimension + power))
    return values


# ---- any function ------------------------------------------------------------------------------------------------


def legendre_values(t: Any, dimension: int, degree: int) -> list[Any]:
    """P_0(t), ..., P_degree(t) in dimension d, normalised P_l(1) = 1, for numbers or balls.

    Formula: (l + d - 2) P_{l+1} = (2l + d - 2) t P_l - l P_{l-1}; at d = 2, l = 0 the factor 0/0 is one (P_1 = t).
    Source: K2.
    """
    values = [t * 0 + 1, t]
    for deg in range(1, degree):
        values.append(((2 * deg + dimension - 2) * t * values[deg] - deg * values[deg - 1]) / (deg + dimension - 2))
    return values[: degree + 1]


@functools.lru_cache(maxsize=128)
def _integrated(f: Nonlinearity, dimension: int, degree: int, digits: int) -> tuple[Enclosure, ...]:
    """eta_l by rigorous integration over the angle: t = cos a leaves no singular end point at any d >= 2.

    Degrees in groups, each by one rule: the higher ones are smaller, and ask for a smaller error.
    """
    found: list[Enclosure] = []
    for top in _GROUPS:
        if len(found) <= degree:
            found += _group(f, dimension, len(found), min(top, degree), digits)
    return tuple(found)


def _group(f: Nonlinearity, dimension: int, first: int, last: int, digits: int) -> list[Enclosure]:
    """eta_l, l = first..last."""
    # P_l has the mean square 1/N(d, l), and eta_l of a function of t alone is smaller by about that once more.
    small = _log_multiplicity(dimension, last)
    lost = 6.0 + small / 2
    best: list[Enclosure | None] = [None] * (last + 1)
    for _ in range(5):
        log_tolerance = -digits * math.log(10) - lost
        try:
            values = funk_hecke.coefficients(f.pieces, f.parity, dimension, last, log_tolerance)
        except gauss_legendre.UnresolvedError:
            break
        worst = 0.0
        with ball.precision(funk_hecke.working_bits(dimension, last, log_tolerance)):
            for deg in range(first, last + 1):
                x = values[deg]
                best[deg] = enclosed = ball.to_enclosure(x)
                if x == 0 or enclosed.reaches(digits):
                    continue
                # how many digits are missing, the size being unknown where the ball holds zero
                ratio = float((x.rad() / abs(x).lower()).log()) if not x.contains(0) else small / 2 + 2.0 * last
                worst = max(worst, ratio + digits * math.log(10) + 2)
        if worst == 0:
            break
        lost += worst
    done = []
    for deg in range(first, last + 1):
        value = best[deg]
        settled = value is not None and (value.reaches(digits) or value.contains(0))
        done.append(value if value is not None and settled else _one_integral(f, dimension, deg, digits))
    return done


def _log_multiplicity(dimension: int, degree: int) -> float:
    """log N(d, l) roughly, without its digits."""
    return (
        math.lgamma(degree + dimension) - math.lgamma(degree + 1) - math.lgamma(dimension)
        if dimension < 1e9
        else (degree * math.log(dimension + degree) - math.lgamma(degree + 1))
    )


def _one_integral(f: Nonlinearity, dimension: int, degree: int, digits: int) -> Enclosure:
    if f.parity == -((-1) ** degree):
        return Enclosure(Fraction(0), Fraction(0), "exact")
    # The recurrence for P_l loses about log2(1 + sqrt 2) bits a step on complex points near the interval.
    prec = ball.bits(digits) + 48 + 2 * degree
    best: Enclosure | None = None
    for attempt in range(4):
        with ball.precision(prec * (1 + attempt)):
            tolerance = arb(10) ** (-(digits + 2) * (1 + attempt))  # a float would underflow beyond 300 digits
            value = _angle_integral(f, dimension, degree, tolerance)
            if value.is_finite():
                best = ball.to_enclosure(value)
                if best.reaches(digits) or (best.contains(0) and attempt == 3):
                    return best
    if best is None or not best.contains(0):
        raise PrecisionError(f"eta_{degree} could not be enclosed to {digits} digits", best)
    return best


def _angle_integral(f: Nonlinearity, dimension: int, degree: int, tolerance: Any) -> Any:
    total = arb(0)
    half = arb(1) / 2
    # 1/int_0^pi sin^(d-2) = Gamma(d/2)/(sqrt pi Gamma((d-1)/2))
    norm = ((arb(dimension) * half).lgamma() - ((arb(dimension) - 1) * half).lgamma()).exp() / arb.pi().sqrt()
    for piece in f.pieces:
        low = arb(-1) if piece.lower.is_infinite else ball.constant(piece.lower)
        high = arb(1) if piece.upper.is_infinite else ball.constant(piece.upper)
        if not (high > -1 and low < 1):
            continue
        start = arb(0) if high >= 1 else high.acos()
        stop = arb.pi() if low <= -1 else low.acos()
        values = ball.build(piece.expr, z, {})

        def integrand(a: Any, analytic: bool, values: Any = values) -> Any:
            t = a.cos()
            legendre = (a * degree).cos() if dimension == 2 else legendre_values(t, dimension, degree)[degree]
            weight = a.sin() ** (dimension - 2) * norm
            return legendre * weight * (values if isinstance(values, acb) else values(t, analytic))

        # Most of the mass sits within a few 1/sqrt(d) of the equator: break there.
        middle = arb.pi() * half
        breaks = [start, middle, stop] if start < middle and middle < stop else [start, stop]
        for a, b in itertools.pairwise(breaks):
            total += ball.integrate(integrand, a, b, tolerance / (2 * len(f.pieces)))
    return total


def second_moment(f: Nonlinearity, dimension: int, radius: sp.Rational = sp.S.One, digits: int = 15) -> Enclosure:
    """E f(R t)^2 over the sphere, which the sum of N(d, l) eta_l^2 must equal. Source: K2 (Parseval)."""
    square = product(f, f)
    parts = _homogeneous_parts(square)
    if parts is not None:  # in closed form, so at any dimension: there the integrand lives on a tiny part of the circle
        return _closed(parts, check_dimension(dimension), 0, radius, digits)[0]
    moved = square if radius == 1 else scaled(square, radius, bounded=True)
    return _integrated(moved, dimension, 0, digits)[0]


STATEMENTS = (
    Statement(
        id="K2",
        title="Eigenvalues on the sphere (Funk-Hecke), ReLU`^p` in closed form",
        formula=relu_statement,
        assumptions=(
            "weight uniform on the unit sphere of `R^d, d >=` 2; points on the unit sphere",
            "`eta_l = E[sigma(t) P_l(t)], P_l`(1) = 1; eigenvalue `eta_l^2`, multiplicity `C(l+d-1, l) - C(l+d-3, "
            "l-2)`",
            "zero for `l - p` even and positive",
        ),
        sources=("F, lemma 5.1", "P11: Bach 2017, appendix `D`"),
        figure="K.decay",
    ),
)
