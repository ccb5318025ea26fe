"""Hermite coefficients of a function of a Gaussian variable, in three conventions, exact or enclosed.

    orthonormal    c_k = E[f He_k]/sqrt(k!)    f = sum c_k h_k
    probabilist    c_k = E[f He_k]/k!          f = sum c_k He_k
    moment         c_k = E[f He_k]             f = sum c_k He_k/k!

Source: H1, H2, H3, H4.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.functions.parse import choice, shorten
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.gaussian.conventions import CONVENTIONS, MAX_DEGREE
from bulkedge.theory.gaussian.gaussian import enclose, moment, product
from bulkedge.theory.gaussian.general_term import general_moment
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.digits import GUARD_DIGITS, check_digits
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import k as k_symbol
from bulkedge.theory.numbers.symbols import rho, z1, z2

# Above this degree the exact recurrence is left for the general term, evaluated in balls.
_EXACT_DEGREE = 2000


def _check_convention(convention: str) -> str:
    """Return the convention's name if it is one, else raise InputError."""
    return choice(convention, "convention", CONVENTIONS)


def check_degree(degree: int, argument: str = "degree", maximum: int | None = None) -> int:
    """Return `degree` if it is an integer >= 0 (and at most `maximum`), else raise InputError."""
    if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 0:
        raise InputError(argument, f"{shorten(degree)} is not a degree", "give an integer >= 0")
    if maximum is not None and degree > maximum:
        raise InputError(argument, f"{degree} is too large for a table", f"give at most {maximum}")
    return int(degree)


def normalisation(convention: str, k: sp.Expr = k_symbol) -> sp.Expr:
    """The factor that turns E[f He_k] into the coefficient: 1/sqrt(k!), 1/k! or 1."""
    _check_convention(convention)
    power = {"orthonormal": sp.Rational(1, 2), "probabilist": sp.S.One, "moment": sp.S.Zero}[convention]
    if convention == "orthonormal" and k.is_Integer:
        return _inverse_root_of_factorial(int(k))
    return sp.factorial(k) ** -power


@functools.lru_cache(maxsize=2048)
def _inverse_root_of_factorial(k: int) -> sp.Expr:
    """1/sqrt(k!) as SymPy writes it, by Legendre's formula for the primes of k!; SymPy would factor it again."""
    root, left = 1, 1
    for prime in sp.primerange(2, k + 1):
        count, power = 0, prime
        while power <= k:
            count, power = count + k // power, power * prime
        root *= prime ** (count // 2)
        left *= prime ** (count % 2)
    return sp.Rational(1, root * left) * sp.Pow(left, sp.Rational(1, 2), evaluate=left == 1)


@dataclass(frozen=True)
class Coefficient:
    """The k-th coefficient: its closed form (or None) and an enclosure (error zero iff the closed form is given)."""

    k: int
    exact: sp.Expr | None
    enclosure: Enclosure


def coefficient(f: Nonlinearity, k: int, convention: str = "orthonormal", digits: int = 15) -> Coefficient:
    """The k-th Hermite coefficient of f.

    Valid for: every Nonlinearity (deltas included), every k >= 0 (for large k through the general term).
    Convention: named, see the module's text. Accuracy: exact where a closed form exists (the enclosure then holds its
    decimal value to `digits`), else a rigorous enclosure with relative error below 10^-digits.
    Errors: InputError; PrecisionError where the digits cannot be reached.
    Source: H1, H2.
    """
    check_degree(k, "k")
    check_digits(digits, GUARD_DIGITS // 2)
    factor = normalisation(convention, sp.Integer(k)) if k <= _EXACT_DEGREE else None
    if factor is None:
        general = general_term(f, convention)
        if general is None:
            raise InputError("k", f"{k} is beyond {_EXACT_DEGREE} and no general term is known", "lower k")
        return Coefficient(k, None, ball.enclose_expr(general, digits, {k_symbol: sp.Integer(k)}))
    value = moment(f, k)
    if value is not None:
        exact = collected(value, factor)
        return Coefficient(k, exact, ball.enclose_expr(exact, digits + 2))
    try:
        raw = enclose(f, digits + 1, k)
    except PrecisionError as error:
        if error.best is None or factor == 1:
            raise
        # What was found is a moment; the coefficient asked for is it times the factor.
        raise PrecisionError(error.message, error.best * ball.enclose_expr(factor, digits + 5)) from None
    return Coefficient(k, None, raw if factor == 1 else raw * ball.enclose_expr(factor, digits + 5))


def collected(value: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """The moment times the normalisation, addend by addend (a sum times a surd would stay unexpanded)."""
    return sp.Add(*(term * factor for term in sp.Add.make_args(value)))


def coefficients(
    f: Nonlinearity, degree: int, convention: str = "orthonormal", digits: int = 15
) -> tuple[Coefficient, ...]:
    """The coefficients k = 0..degree; see `coefficient`."""
    check_degree(degree, maximum=MAX_DEGREE)
    return tuple(coefficient(f, k, convention, digits) for k in range(degree + 1))


def general_term(f: Nonlinearity, convention: str = "orthonormal") -> sp.Expr | None:
    """The coefficient as a SymPy expression in theory.symbols.k, right for every k >= 0, or None where none is known.

    Source: H1.
    """
    value = general_moment(f)
    if value is None:
        return None
    factor = normalisation(convention)
    if factor == 1:
        return value
    if isinstance(value, sp.Piecewise):
        pairs = []
        for branch, condition in value.args:
            if isinstance(condition, sp.Eq) and condition.lhs == k_symbol:
                pairs.append((collected(branch, normalisation(convention, condition.rhs)), condition))
            else:
                pairs.append((branch * factor, condition))
        return sp.Piecewise(*pairs)
    return value * factor


def information_exponent(g: Nonlinearity, limit: int = 64) -> int | None:
    """The smallest k >= 1 with c_k(g) != 0, or None if g is constant.

    Accuracy: decided exactly or by an enclosure that excludes zero, never by a threshold.
    Errors: PrecisionError where a coefficient can be told neither from zero nor to be zero, or none up to `limit`
    is non-zero.
    """
    if g.degree == 0:
        return None
    if g.degree is not None:
        limit = max(limit, g.degree)
        moment(g, limit)  # one table for the whole loop
    for k in range(1, limit + 1):
        exact = moment(g, k)
        if exact is not None:
            if exact != 0 and ball.sign(exact) != 0:
                return k
            continue
        enclose(g, 3, k)  # succeeds only if zero is excluded
        return k
    raise PrecisionError(f"no non-zero coefficient was found up to k = {limit}")


def parseval_tail(f: Nonlinearity, degree: int, digits: int = 15) -> Enclosure:
    """E f^2 - sum_{k <= degree} c_k^2 (orthonormal): what a truncated expansion leaves out, never negative.

    Accuracy: an enclosure; `digits` are those of the terms, so the difference loses as many as cancel.
    Source: H3.
    """
    total = enclose(product(f, f), digits + 5)
    left = total
    for c in coefficients(f, degree, "orthonormal", digits + 5):
        left = left - c.enclosure * c.enclosure
    value, error = left.value, left.error
    if value + error < 0:
        raise AssertionError("Parseval's sum exceeds the second moment")
    # The truth is not negative: the enclosure may be cut there.
    if value - error < 0:
        upper = value + error
        return Enclosure(upper / 2, upper / 2, total.source)
    return Enclosure(value, error, total.source)


def second_moment(f: Nonlinearity, digits: int = 15) -> Enclosure:
    """E f(z)^2."""
    return enclose(product(f, f), digits)


# ---- the statements, as SymPy ------------------------------------------------------------------------------------

_f, _g = sp.Function("f"), sp.Function("g")
_E = sp.Function("E")
_c_f, _c_g = sp.IndexedBase("c"), sp.IndexedBase("d")


def coefficient_statement() -> sp.Eq:
    """H1: the orthonormal coefficient."""
    z = sp.Symbol("z", real=True)
    density = normal_density(z)
    integral = sp.Integral(_f(z) * sp.hermite_prob(k_symbol, z) * density, (z, -sp.oo, sp.oo))
    return sp.Eq(_c_f[k_symbol], integral / sp.sqrt(sp.factorial(k_symbol)))


def relu_statement() -> sp.Eq:
    """H1: the general term of ReLU, read off the engine."""
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    return sp.Eq(_c_f[k_symbol], general_term(nonlinearity("relu")))


def tail_statement() -> sp.LessThan:
    """H2: the bound of the part of E[f He_k] beyond a radius R, for log|f| <= c0 + c1 z + c2 z^2."""
    c0, c1, c2, r = sp.symbols("c0 c1 c2 R", positive=True)
    z = sp.Symbol("z", real=True)
    h = c0 + c1 * r - (sp.Rational(1, 2) - c2) * r**2 + k_symbol * sp.log(r)
    density = normal_density(z)
    tail = sp.Integral(sp.Abs(_f(z) * sp.hermite_prob(k_symbol, z)) * density, (z, r, sp.oo))
    return sp.Le(tail, sp.exp(h) / (sp.sqrt(2 * sp.pi) * -sp.diff(h, r)), evaluate=False)


def parseval_statement() -> sp.Eq:
    """H3: Parseval."""
    z = sp.Symbol("z", real=True)
    return sp.Eq(sp.Sum(_c_f[k_symbol] ** 2, (k_symbol, 0, sp.oo)), _E(_f(z) ** 2))


def mehler_statement() -> sp.Eq:
    """H4: Mehler, for correlation rho."""
    series = sp.Sum(_c_f[k_symbol] * _c_g[k_symbol] * rho**k_symbol, (k_symbol, 0, sp.oo))
    return sp.Eq(_E(_f(z1) * _g(z2)), series)


def mehler_sum(f: Nonlinearity, g: Nonlinearity, correlation: Fraction, degree: int, digits: int = 15) -> Enclosure:
    """E[f(z1) g(z2)] at a correlation by Mehler's series up to `degree`, the tail bounded by Parseval and Cauchy.

    |tail| <= |rho|^(degree+1) sqrt(tail_f tail_g). Accuracy: an enclosure. Source: H4.
    """
    if not -1 <= correlation <= 1:
        raise InputError("rho", f"{correlation} is not a correlation", "give a number in [-1, 1]")
    value, error = Fraction(0), Fraction(0)
    pairs = zip(coefficients(f, degree, digits=digits), coefficients(g, degree, digits=digits), strict=True)
    for a, b in pairs:
        term, power = a.enclosure * b.enclosure, Fraction(correlation) ** a.k
        value += term.value * power
        error += term.error * abs(power)
    tails = [parseval_tail(h, degree, digits) for h in (f, g)]
    bound = Fraction(1)
    for tail in tails:
        bound *= tail.value + tail.error
    root = ball.enclose_expr(sp.sqrt(sp.Rational(bound.numerator, bound.denominator)), 5)
    error += abs(Fraction(correlation)) ** (degree + 1) * (root.value + root.error)
    return Enclosure(value, error)


STATEMENTS = (
    Statement(
        id="H1",
        title="Hermite coefficients in closed form, and their general term",
        formula=coefficient_statement,
        assumptions=("`z ~ N`(0, 1)", "`f` is in L2 of the Gaussian, shown by its certified growth"),
        sources=("O, section 2 (`mu_0, mu_1`)", "M, section 2 (`c_k`)", "F, section 2 (`mu_k`)"),
    ),
    Statement(
        id="H2",
        title="Coefficients without a closed form: rigorous enclosures, tails included",
        formula=tail_statement,
        assumptions=(
            "`log|f(z)| <= c0 + c1 z + c2 z^2` for `z >= R` with `c2 <` 1/2",
            "`R >= 2 sqrt(k)`, beyond all zeros of `He_k`",
            "the exponent's slope at `R` is negative",
        ),
        sources=("derived here",),
        status="derived",
    ),
    Statement(
        id="H3",
        title="Parseval, and the tail of a truncated expansion",
        formula=parseval_statement,
        assumptions=("orthonormal coefficients",),
        sources=("classical",),
    ),
    Statement(
        id="H4",
        title="Mehler's formula for correlated Gaussians",
        formula=mehler_statement,
        assumptions=(
            ("`z1, z2 ~ N`(0, 1) with correlation `rho` in [-1, 1]"),
            ("orthonormal coefficients `c` of `f` and `d` of `g`"),
        ),
        sources=("Mehler 1866", "P11"),
    ),
)
