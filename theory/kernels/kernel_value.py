"""A dual kernel at given covariances, with a rigorous error bound.

Routes, in this order: exact at correlation +-1 and for a zero input; the closed form in balls; Taylor at rho = +-1 for
smooth functions near it; the Hermite series while its tail bound reaches the digits with few terms; the plane's tensor
rule split along the kinks (rotated next to rho = +-1); and the series with whatever its tail bound leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import arb

from bulkedge.theory.functions.nonlinearity import Nonlinearity, product
from bulkedge.theory.gaussian import plane, rotated_plane
from bulkedge.theory.gaussian.bivariate import Phi2
from bulkedge.theory.gaussian.gaussian import best_enclosure, enclose, moment
from bulkedge.theory.gaussian.hermite import Coefficient
from bulkedge.theory.kernels.kernel import dual, scaled
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.digits import MAX_DIGITS, check_digits
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import q11 as s11
from bulkedge.theory.numbers.symbols import q12 as s12
from bulkedge.theory.numbers.symbols import q22 as s22
from bulkedge.theory.numbers.symbols import z

# The series is preferred while this many terms suffice; a further one costs as much as many nodes of the plane's rule.
SERIES_TERMS = 24
_LAST_RESORT_TERMS = 60
# Next to rho = +-1 the plane's panels would shrink like sqrt(1 - rho^2); its rotated form does not mind.
_ROTATED_DISTANCE = 2e-3
# Taylor at rho = +-1 within this distance: few derivatives of the function are needed.
_TAYLOR_DISTANCE = 1e-3
# Below this distance of rho^2 from one a closed form with Phi2 is left for the enclosures.
_PHI2_DISTANCE = sp.Rational(1, 10**30)
_ZERO = Enclosure(Fraction(0), Fraction(0), "exact")


def check_covariances(q11: sp.Rational, q12: sp.Rational, q22: sp.Rational) -> None:
    """Raise InputError unless [[q11, q12], [q12, q22]] is a covariance matrix."""
    for name, q in (("q11", q11), ("q22", q22)):
        if q < 0:
            raise InputError(name, f"{q} is negative", "a variance is >= 0")
    if q12**2 > q11 * q22:
        raise InputError(
            "q12",
            f"q12^2 = {q12**2} exceeds q11 q22 = {q11 * q22}, so this is no covariance",
            "give |q12| <= sqrt(q11 q22)",
        )


def value(
    f: Nonlinearity,
    q11: sp.Rational,
    q12: sp.Rational,
    q22: sp.Rational,
    digits: int = 15,
    g: Nonlinearity | None = None,
) -> Enclosure:
    """E[f(u) g(v)] at exact covariances; g defaults to f.

    Valid for: every covariance matrix, singular ones included; f(0) at a jump is the mean of its two sides.
    Accuracy: rigorous; relative error below 10^-digits (a closed form next to zero: absolute, see `_constant`).
    Errors: InputError for no covariance matrix or a kernel that is not finite at it; PrecisionError with the best
    enclosure where the digits are not reached. Source: K1.
    """
    check_digits(digits)
    check_covariances(q11, q12, q22)
    g = f if g is None else g
    if q11 == 0 or q22 == 0:
        return _times(_at_zero_or(f, q11, digits + 1), _at_zero_or(g, q22, digits + 1))
    root = sp.sqrt(q22 / q11) * sp.sign(q12)
    if q12**2 == q11 * q22:
        if f.deltas or g.deltas:
            raise InputError("rho", "a kernel with deltas is not finite at correlation one", "give |rho| < 1")
        return _expectation(product(scaled(f, sp.sqrt(q11)), scaled(g, root * sp.sqrt(q11))), digits)
    closed = dual(f, g)
    # Phi2's integral needs twice the digits of 1 - rho^2; next to one the rotated plane does not mind.
    if closed is not None and not (closed.has(Phi2) and 1 - q12**2 / (q11 * q22) < _PHI2_DISTANCE):
        try:
            return _constant(closed.subs({s11: q11, s12: q12, s22: q22}), digits)
        except InputError as error:
            if error.argument != "expression":
                raise
            # Beyond the variances where the kernel is finite its closed form has a negative number under the root.
            problem = f"the kernel of {f.name} is not finite at these variances"
            raise InputError("FUNCTION", problem, "give smaller variances") from None
        except PrecisionError as error:
            # Terms of size e^q cancel; the plane's do not.
            lost = error
    else:
        lost = None
    at_scale = tuple(scaled(h, sp.sqrt(q)) for h, q in ((f, q11), (g, q22)))
    try:
        return without_closed_form(at_scale[0], at_scale[1], q12 / sp.sqrt(q11 * q22), digits)
    except PrecisionError as error:
        if lost is None or (error.best is not None and (lost.best is None or error.best.error < lost.best.error)):
            raise
        raise lost from None


def covariance(
    f: Nonlinearity,
    q11: sp.Rational,
    q12: sp.Expr,
    q22: sp.Rational,
    digits: int,
    g: Nonlinearity,
    known: Enclosure | None = None,
) -> Enclosure:
    """Cov(f(u), g(v)) = E[f(u) g(v)] - E f(u) E g(v) at exact covariances; `known`: an enclosure of E[f(u) g(v)].

    Accuracy: rigorous; relative error below 10^-digits, with more digits inside where the difference cancels.
    Errors: as `value`. Source: K1.
    """
    if q12 == 0 or f.degree == 0 or g.degree == 0:
        return _ZERO
    inner = digits
    best: Enclosure | None = None
    for _ in range(3):
        total = known if known is not None and inner == digits else value(f, q11, q12, q22, inner, g)
        best = total - _at_zero_or(f, q11, inner + 1) * _at_zero_or(g, q22, inner + 1)
        if best.reaches(digits):
            return best
        inner = min(inner + digits - _digits(best) + 3, MAX_DIGITS)
    raise PrecisionError(f"{digits} digits of the covariance could not be reached", best)


def _constant(expr: sp.Expr, digits: int) -> Enclosure:
    """A closed form at numbers: to the digits, or to an absolute error below 10^-(2 digits + 30) around zero.

    The second case is a kernel that is positive but below exp(-10^15), as of shifted ReLU next to rho = -1.
    """
    if expr.is_Rational:
        return Enclosure(Fraction(int(expr.p), int(expr.q)), Fraction(0), "exact")
    prec, best = ball.bits(digits + 5), None
    negligible = Fraction(1, 10 ** (2 * digits + 30))
    # An elementary form is cheap at any precision; with Phi2 in it every doubling costs an integral.
    patient = not expr.has(Phi2)
    while prec < 64 * ball.bits(digits + 30):
        with ball.precision(prec):
            x = ball.constant(expr)
            if ball.settled(x):
                try:
                    best = ball.to_enclosure(x)
                except PrecisionError as error:
                    if error.best is None:
                        raise
                    return Enclosure(Fraction(0), negligible)  # smaller than any number that is printed
                if best.reaches(digits):
                    return best
                if not patient and abs(best.value) + best.error < negligible:
                    break
        prec *= 2
    if best is not None and abs(best.value) + best.error < negligible:
        return Enclosure(Fraction(0), abs(best.value) + best.error)
    raise PrecisionError(f"{digits} digits of the kernel could not be reached", best)


def _at_zero_or(f: Nonlinearity, q: sp.Rational, digits: int) -> Enclosure:
    """E f(sqrt(q) z), at q = 0 the value f(0)."""
    if q > 0:
        return _expectation(scaled(f, sp.sqrt(q)), digits)
    at_zero = value_at_zero(f)
    return ball.enclose_expr(at_zero, digits) if at_zero != 0 else _ZERO


def value_at_zero(f: Nonlinearity) -> sp.Expr:
    """f(0), at a jump the mean of its two sides."""
    if any(d.at == 0 for d in f.deltas):
        raise InputError("q", "a delta at zero has no value there", "give positive variances")
    touching = [
        p.expr.subs(z, 0)
        for p in f.pieces
        if (p.lower.is_infinite or ball.sign(p.lower) <= 0) and (p.upper.is_infinite or ball.sign(p.upper) >= 0)
    ]
    mean = sp.Add(*touching) / len(touching)
    return sp.Integer(0) if mean == 0 or ball.sign(mean) == 0 else mean


def _expectation(f: Nonlinearity, digits: int) -> Enclosure:
    """E f(z), an exact zero by parity or by vanishing."""
    if f.parity == -1 or f.is_zero:
        return _ZERO
    return enclose(f, digits)


def _times(a: Enclosure, b: Enclosure) -> Enclosure:
    found = a * b
    return Enclosure(found.value, found.error, "ball" if found.error else "exact")


def without_closed_form(f: Nonlinearity, g: Nonlinearity, rho: sp.Expr, digits: int) -> Enclosure:
    """E[f(u) g(v)] at unit variances and |rho| < 1 by enclosure; see the module's text for the routes."""
    if rho == 0:
        return _times(_expectation(f, digits + 1), _expectation(g, digits + 1))
    if f.parity * g.parity == -1:
        return _ZERO
    size = abs(ball.enclose_expr(rho, 10).value)
    terms = math.ceil((digits + 1) * math.log(10) / -math.log(size)) if size < Fraction(99, 100) else _LAST_RESORT_TERMS
    best = Enclosure(Fraction(0), Fraction(10) ** 400)
    for found in _attempts(f, g, rho, digits, terms):
        if found.error < best.error:
            best = found
        if best.reaches(digits):
            return best
    raise PrecisionError(f"{digits} digits of the kernel could not be reached at rho = {float(rho):.17g}", best)


def _attempts(f: Nonlinearity, g: Nonlinearity, rho: sp.Expr, digits: int, terms: int) -> Iterator[Enclosure]:
    """The routes in their order, each with the enclosure it finds."""
    smooth = len(f.pieces) == len(g.pieces) == 1
    if smooth and 1 - abs(float(rho)) < _TAYLOR_DISTANCE:
        found = _taylor(f, g, rho, digits)
        if found is not None:
            yield found
    if terms <= SERIES_TERMS:
        yield series(f, g, rho, terms, digits)
    near = 1 - abs(float(rho)) < _ROTATED_DISTANCE
    for method in (_rotated, plane.integral) if near else (plane.integral, _rotated):
        extra = digits
        try:
            for _ in range(3):
                found = ball.to_enclosure(method(f, g, rho, extra))
                yield found
                extra += 4 + max(0, digits - _digits(found))  # the value is smaller than the functions
        except (PrecisionError, OverflowError):  # OverflowError: a kink beyond the largest float
            continue
    yield series(f, g, rho, _LAST_RESORT_TERMS, digits)


def _rotated(f: Nonlinearity, g: Nonlinearity, rho: sp.Expr, digits: int) -> Any:
    """The rotated plane, for either sign of the correlation."""
    if rho > 0:
        return rotated_plane.integral(f, g, rho, digits)
    return rotated_plane.integral(f, scaled(g, sp.Integer(-1)), -rho, digits)


def _digits(x: Enclosure) -> int:
    if x.value == 0 or x.error >= abs(x.value):
        return 0
    return 1000 if x.error == 0 else int(math.log10(abs(x.value) / x.error))


def _taylor(f: Nonlinearity, g: Nonlinearity, rho: sp.Expr, digits: int) -> Enclosure | None:
    """Taylor at rho = +-1 for smooth f, g: kappa^(j)(+-1) = (+-1)^j E[f^(j)(z) g^(j)(+-z)].

    The remainder of order J is at most (1 - |rho|)^J/J! sqrt(E f^(J)^2 E g^(J)^2), for |kappa^(J)| is largest at one.
    """
    mirrored = sp.Integer(1 if float(rho) > 0 else -1)
    distance = 1 - mirrored * rho
    size = float(ball.enclose_expr(distance, 10))
    log_size = math.log10(size) if size > 0 else -300.0  # below the smallest float
    orders = next((j for j in range(1, 9) if j * log_size - math.lgamma(j + 1) / 2.3 < -digits - 2), None)
    if orders is None:
        return None
    df, dg = f, scaled(g, mirrored)
    terms = []
    try:
        for _ in range(orders):
            terms.append(plane.inner_product(df, dg, digits + 3))
            df, dg = df.derivative(), dg.derivative()
        sizes = [plane.inner_product(h, h, 3).upper() for h in (df, dg)]
    except (PrecisionError, InputError):
        return None
    with ball.precision(ball.bits(digits) + 32):
        step = ball.constant(distance)
        total, power = arb(0), arb(1)
        for j, term in enumerate(terms):
            total += term * power
            power *= -step / (j + 1)
        remainder = abs(power) * (sizes[0] * sizes[1]).sqrt()
        return ball.to_enclosure(total + arb(0, remainder.upper()))


def series(f: Nonlinearity, g: Nonlinearity, rho: sp.Expr, degree: int, digits: int) -> Enclosure:
    """The Hermite series up to `degree` with its tail |rho|^(K+1) sqrt(tail_f tail_g), tail = E f^2 - sum c_k^2.

    Accuracy: rigorous. Source: K1, H4.
    """
    same = f == g
    cf = coefficients_or_balls(f, degree, digits + 3)
    cg = cf if same else coefficients_or_balls(g, degree, digits + 3)
    with ball.precision(ball.bits(digits) + 64):
        r = ball.constant(rho)
        total = ball.rational(0)
        power = ball.rational(1)
        for a, b in zip(cf, cg, strict=True):
            total += power * _ball(a) * _ball(b)
            power *= r
        bound = power * power
        for h, cs in ((f, cf), (g, cg)):
            tail = _ball(enclose(product(h, h), digits + 3)) - sum((_ball(c) * _ball(c) for c in cs), arb(0))
            bound *= tail.upper()
        radius = bound.sqrt().upper() if bound > 0 else ball.rational(0)
        error = Fraction(0) if radius == 0 else ball.fraction(radius)
        middle = ball.to_enclosure(total)
    return Enclosure(middle.value, middle.error + error)


def coefficients_or_balls(f: Nonlinearity, degree: int, digits: int) -> list[Enclosure]:
    """c_0..c_degree, orthonormal; one that cannot be told from zero stays the ball around zero that it is."""
    found = []
    for k in range(degree + 1):
        raw = best_enclosure(f, digits, k)
        found.append(_times(raw, ball.enclose_expr(1 / sp.sqrt(sp.factorial(k)), digits + 5)) if raw.value else raw)
    return found


def _ball(x: Enclosure) -> Any:
    return ball.rational(x.value) + arb(0, ball.rational(x.error).upper())


def series_coefficient(f: Nonlinearity, g: Nonlinearity, k: int, digits: int) -> tuple[Coefficient, bool]:
    """c_k(f) c_k(g), orthonormal, exact where both are; whether the digits were reached (a zero by parity has them).

    Source: H4.
    """
    first, second = moment(f, k), moment(g, k)
    if first is not None and second is not None:
        exact = sp.expand(first * second) / sp.factorial(k)
        try:
            return Coefficient(k, exact, ball.enclose_expr(exact, digits + 2)), True
        except PrecisionError as error:  # a moment of size exp(-10^5), far out in the Gaussian's tail
            if error.best is None:
                raise
            return Coefficient(k, None, error.best), False
    reached = True
    factors = []
    for h in (f,) if f == g else (f, g):
        try:
            factors.append(enclose(h, digits + 1, k))
        except PrecisionError as error:
            if error.best is None:
                raise
            factors.append(error.best)
            reached = False
    product_ = _times(factors[0], factors[-1])
    return Coefficient(k, None, _times(product_, ball.enclose_expr(1 / sp.factorial(k), 2))), reached
