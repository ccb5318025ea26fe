"""K1: the kernels of ReLU^p by Price's rule, their coefficients, and the coefficients' size."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Asymptotic, Derivation, Given, Primitive, Step
from theory.arc_cosine import arc_cosine, square_coefficient, square_coefficient_asymptotics
from theory.kernel import series_statement
from theory.symbols import k, l, m, rho, z1, z2


def _kernels() -> tuple[sp.Expr, ...]:
    return tuple(arc_cosine(p) for p in range(3))


def _orders() -> Iterator[Step]:
    density = 1 / (2 * sp.pi * sp.sqrt(1 - rho**2))
    yield Step(density, reason="the joint density at the origin: by Price the derivative of the kernel of the step")
    quarter = sp.Rational(1, 4)
    yield Step(arc_cosine(0), Primitive(rho, 0, quarter), "order 0: at correlation 0 both are positive with chance 1/4")
    yield Step(
        arc_cosine(1), Primitive(rho, 0, 1 / (2 * sp.pi)), "order 1: Price again, and (E z_+)^2 at correlation 0"
    )
    yield Step(4 * arc_cosine(1), Apply(lambda e: 4 * e), "order 2: the derivative of z_+^2 is 2 z_+, twice")
    yield Step(arc_cosine(2), Primitive(rho, 0, quarter), "and (E z_+^2)^2 at correlation 0")


def _even_coefficient() -> sp.Expr:
    """c_k^2 of ReLU at k = 2 m + 2."""
    return square_coefficient(1).subs(k, 2 * m + 2)


def _coefficients() -> Iterator[Step]:
    yield Step(1 / (2 * sp.pi * sp.sqrt(1 - rho**2)), reason="the second derivative of the kernel of ReLU")
    summand = sp.binomial(2 * m, m) / 4**m / (2 * sp.pi)
    yield Step(sp.Sum(summand * rho ** (2 * m), (m, 0, sp.oo)), "=", "the binomial series")
    yield Step(summand, Apply(lambda e: e.function / rho ** (2 * m)), "its coefficient of the power 2m")
    twice = summand / ((2 * m + 1) * (2 * m + 2))
    yield Step(twice, Apply(lambda e: e / ((2 * m + 1) * (2 * m + 2))), "integrated twice: the power k = 2m + 2")
    yield Step(_even_coefficient(), "=", "in double factorials and Gamma functions")


def _asymptotics() -> sp.Expr:
    return square_coefficient_asymptotics(1).subs(k, 2 * m + 2)


def _size() -> Iterator[Step]:
    binomial = sp.gamma(m + sp.Rational(1, 2)) / (sp.sqrt(sp.pi) * sp.gamma(m + 1))
    yield Step(binomial / (2 * sp.pi * (2 * m + 1) * (2 * m + 2)), reason="c_k^2 of ReLU at k = 2m + 2")
    yield Step(1 / (8 * sp.pi ** sp.Rational(3, 2) * m ** sp.Rational(5, 2)), Asymptotic(m), "by Stirling")
    yield Step(_asymptotics(), Asymptotic(m), "and m ~ k/2")


_sigma, _E, _c = sp.Function("sigma"), sp.Function("E"), sp.IndexedBase("c")


def _series() -> Iterator[Step]:
    pair = _E(_sigma(z1) * _sigma(z2))
    double = sp.Sum(_c[k] * _c[l] * rho**k * sp.KroneckerDelta(k, l), (l, 0, sp.oo), (k, 0, sp.oo))
    yield Step(double, Given(define=pair, kind="expansion"), "both in the basis h_k, whose moments Mehler gives (H4)")
    yield Step(pair, Given(), "hence the dual activation")
    yield Step(series_statement().rhs, "=", "only k = l is left")


_INSIDE = (rho > -1, rho < 1)
_SOURCE = "K1; Cho and Saul 2009"

DERIVATIONS = (
    Derivation("K1.arc_cosine", "The kernels of the step, ReLU and its square", _kernels, _orders, _SOURCE, _INSIDE),
    Derivation("K1.coefficients", "The coefficients of ReLU", _even_coefficient, _coefficients, _SOURCE, _INSIDE),
    Derivation("K1.size", "How the coefficients of ReLU decay", _asymptotics, _size, _SOURCE),
    Derivation("K1.series", "The series of a dual activation", series_statement, _series, "K1; H4"),
)
