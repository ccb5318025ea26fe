"""K1: the series of a dual activation, and how fast the coefficients of ReLU decay."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Derivation, Given, Step, Tends
from bulkedge.theory.kernels.arc_cosine import square_coefficient_asymptotics
from bulkedge.theory.kernels.kernel import series_statement
from bulkedge.theory.numbers.symbols import k, l, m, rho, z1, z2

_sigma, _E, _c = sp.Function("sigma"), sp.Function("E"), sp.IndexedBase("c")
_SCALED = _c[2 * m + 2] ** 2 * (2 * m + 2) ** sp.Rational(5, 2)


def _asymptotics() -> sp.Eq:
    constant = sp.simplify(square_coefficient_asymptotics(1) * k ** sp.Rational(5, 2))
    return sp.Eq(sp.Limit(_SCALED, m, sp.oo), constant, evaluate=False)


def _size() -> Iterator[Step]:
    binomial = sp.gamma(m + sp.Rational(1, 2)) / (sp.sqrt(sp.pi) * sp.gamma(m + 1))
    square = binomial / (2 * sp.pi * (2 * m + 1) * (2 * m + 2))
    yield Step(
        square * (2 * m + 2) ** sp.Rational(5, 2), Given(name=_SCALED), "c_k^2 of ReLU at k = 2m + 2, times k^(5/2)"
    )
    yield Step(_asymptotics().rhs, Tends(m, name=sp.Limit(_SCALED, m, sp.oo)), "by Stirling")


def _series() -> Iterator[Step]:
    pair = _E(_sigma(z1) * _sigma(z2))
    double = sp.Sum(_c[k] * _c[l] * rho**k * sp.KroneckerDelta(k, l), (l, 0, sp.oo), (k, 0, sp.oo))
    yield Step(double, Given(define=pair, kind="expansion"), "both in the basis h_k, whose moments Mehler gives (H4)")
    yield Step(pair, Given(), "hence the dual activation")
    yield Step(series_statement().rhs, "=", "only k = l is left")


_SOURCE = "K1; Cho and Saul 2009"

DERIVATIONS = (
    Derivation("K1.size", "How the coefficients of ReLU decay", _asymptotics, _size, _SOURCE),
    Derivation("K1.dual", "The series of a dual activation", series_statement, _series, "K1; H4"),
)
