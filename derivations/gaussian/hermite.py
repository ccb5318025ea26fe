"""H1-H4: the general term of ReLU, the tail of a coefficient, Parseval and Mehler."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.gaussian.hermite import (
    coefficient_statement,
    mehler_statement,
    parseval_statement,
    relu_statement,
    tail_statement,
)
from bulkedge.theory.numbers.symbols import k, l, m, rho, z, z1, z2

_t, _s = sp.symbols("t s", real=True)
_density = normal_density(z)
_normal_cdf = (1 + sp.erf(_t / sp.sqrt(2))) / 2
_normal_density = normal_density(_t)


_c, _d = sp.IndexedBase("c"), sp.IndexedBase("d")
_f = sp.Function("f")


def _relu_cases() -> tuple[sp.Basic, ...]:
    """The general term at k = 0, k = 1 and k = 2m + 2, and at the odd k = 2m + 3."""
    return tuple(relu_statement().subs(k, value) for value in (0, 1, 2 * m + 2, 2 * m + 3))


def _relu() -> Iterator[Step]:
    generating = sp.Integral(z * sp.exp(_t * z - _t**2 / 2) * _density, (z, 0, sp.oo))
    closed = _t * _normal_cdf + _normal_density
    yield Step(
        generating,
        reason=("the sum over `k` of `E`[ReLU`(z) He_k`(`z`)] `t^k/k`!, by the generating function of `He_k`"),
    )
    yield Step(closed, "=", "complete the square: it is `E`[ReLU(`z + t`)]")
    yield Step(1 / sp.sqrt(2 * sp.pi), Substitute({_t: 0}, name=_c[0]), "the coefficient `k = 0`")
    yield Step(closed, Given(), "the same generating function")
    yield Step(_normal_cdf, Apply(lambda e: e.diff(_t)), "its derivative")
    yield Step(sp.Rational(1, 2), Substitute({_t: 0}, name=_c[1]), "the coefficient `k = 1`")
    yield Step(_normal_cdf, Given(), "the derivative again")
    yield Step(_normal_density, Apply(lambda e: e.diff(_t)), "the second derivative is the Gaussian density")
    power = (-1) ** m * _t ** (2 * m) / (2**m * sp.factorial(m)) / sp.sqrt(2 * sp.pi)
    yield Step(sp.Sum(power, (m, 0, sp.oo)), "=", "its power series: even powers only, so `c_k = 0` for odd `k >=` 3")
    summand = (-1) ** m / (2**m * sp.factorial(m)) / sp.sqrt(2 * sp.pi)
    yield Step(summand, Apply(lambda e: e.function / _t ** (2 * m)), "the coefficient of its power `2m`")
    moment = summand * sp.factorial(2 * m)
    yield Step(
        moment, Apply(lambda e: e * sp.factorial(2 * m)), ("times `(2m)!`: the moment `E`[ReLU `He_k`] at `k = 2m + 2`")
    )
    short = (-1) ** m * sp.factorial2(2 * m - 1) / sp.sqrt(2 * sp.pi)
    yield Step(short, "=", "`(2m)! = (2m)!! (2m - 1)!!` and `(2m)!! = m! 2^m`")
    norm = sp.sqrt(sp.factorial(2 * m + 2))
    yield Step(short / norm, Apply(lambda e: e / norm, name=_c[2 * m + 2]), "orthonormal: divide by the root of `k`!")
    yield Step(_normal_density, Given(), "for odd `k`: the odd part of the density")
    yield Step(sp.Integer(0), Apply(lambda e: (e - e.subs(_t, -_t)) / 2, name=_c[2 * m + 3]), "vanishes")


def _coefficient() -> Iterator[Step]:
    moment = coefficient_statement().rhs * sp.sqrt(sp.factorial(k))
    terms = _c[l] * sp.factorial(k) * sp.KroneckerDelta(k, l) / sp.sqrt(sp.factorial(l))
    yield Step(
        sp.Sum(terms, (l, 0, sp.oo)),
        Given(define=moment, kind="expansion"),
        "`f` is the sum of `c_l He_l/(l!)^(1/2)`, and `E[He_k He_l]` is `k`! if `k = l`, else 0 (Mehler at `rho = 1`)",
    )
    yield Step(coefficient_statement().rhs, Given(), "this moment over the root of `k`!")
    yield Step(_c[k], "=", "only `l = k` is left")


_R = sp.Symbol("R", positive=True)
_c0, _c1, _c2 = sp.symbols("c0 c1 c2", positive=True)


def _tail() -> Iterator[Step]:
    exponent = _c0 + _c1 * _R - (sp.Rational(1, 2) - _c2) * _R**2 + k * sp.log(_R)
    tangent = exponent + exponent.diff(_R) * (z - _R)
    yield Step(
        sp.exp(_c0 + _c1 * z + _c2 * z**2) * z**k,
        Given(define=sp.Abs(_f(z) * sp.hermite_prob(k, z)), kind="worst case"),
        "the largest that `log|f| <= c0 + c1 z + c2 z^2` and `|He_k(z)| <= z^k`, beyond its zeros, admit",
    )
    yield Step(tail_statement().lhs, Given(), "the tail")
    bound = sp.Integral(sp.exp(tangent) / sp.sqrt(2 * sp.pi), (z, _R, sp.oo))
    yield Step(bound, "<=", "the exponent is concave, so it stays below its tangent at `R`")
    yield Step(tail_statement().rhs, "=", "the integral of an exponential")


_g, _E = sp.Function("g"), sp.Function("E")


def _expansion(left: sp.IndexedBase, right: sp.IndexedBase, correlation: sp.Expr) -> sp.Expr:
    """sum_k sum_l left_k right_l E[h_k(z1) h_l(z2)], the moment by Mehler."""
    pair = correlation**k * sp.KroneckerDelta(k, l)
    return sp.Sum(left[k] * right[l] * pair, (l, 0, sp.oo), (k, 0, sp.oo))


def _mehler() -> Iterator[Step]:
    u = sp.Symbol("u", real=True)
    exponent = _s * z - _s**2 / 2 + _t * (rho * z + sp.sqrt(1 - rho**2) * u) - _t**2 / 2
    double = sp.exp(exponent) * sp.exp(-(z**2) / 2 - u**2 / 2) / (2 * sp.pi)
    generating = sp.Integral(double, (u, -sp.oo, sp.oo), (z, -sp.oo, sp.oo))
    yield Step(generating, reason="two generating functions, with `z1 = z` and `z2 = rho z + (1 - rho^2)^(1/2) u`")
    yield Step(sp.exp(rho * _s * _t), "=", "a Gaussian integral")
    series = sp.Sum(rho**k * _s**k * _t**k / sp.factorial(k), (k, 0, sp.oo))
    yield Step(series, "=", "its series: `E[He_k(z1) He_l(z2)]` is `k! rho^k` if `k = l`, else 0")
    pair = _E(_f(z1) * _g(z2))
    yield Step(
        _expansion(_c, _d, rho),
        Given(define=pair, kind="expansion"),
        ("`f` and `g` in the basis `h_k = He_k/(k!)^(1/2)`"),
    )
    yield Step(pair, Given(), "hence the expectation")
    yield Step(mehler_statement().rhs, "=", "only `k = l` is left")


def _parseval() -> Iterator[Step]:
    square = _E(_f(z) ** 2)
    yield Step(
        _expansion(_c, _c, sp.Integer(1)), Given(define=square, kind="expansion"), ("Mehler's moments at `rho = 1`")
    )
    yield Step(square, Given(), "hence the second moment")
    yield Step(parseval_statement().lhs, "=", "only `k = l` is left")


_TAIL = (_c2 < sp.Rational(1, 2), _c1 + k / _R < 2 * _R * (sp.Rational(1, 2) - _c2))

DERIVATIONS = (
    Derivation("H1.coefficient", "A coefficient is a moment", coefficient_statement, _coefficient, "H1"),
    Derivation("H1.relu", "The general term of ReLU", _relu_cases, _relu, "H1; paper O, section 2"),
    Derivation("H2.tail", "The tail of a coefficient", tail_statement, _tail, "H2", _TAIL),
    Derivation("H3.parseval", "Parseval", parseval_statement, _parseval, "H3"),
    Derivation("H4.mehler", "Mehler", mehler_statement, _mehler, "H4; Mehler 1866", (rho > -1, rho < 1)),
)
