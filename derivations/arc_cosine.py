"""K1: the series of a dual activation, and how fast the coefficients of ReLU decay."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Asymptotic, Derivation, Given, Step
from theory.arc_cosine import square_coefficient_asymptotics
from theory.kernel import series_statement
from theory.symbols import k, l, m, rho, z1, z2


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


_SOURCE = "K1; Cho and Saul 2009"

DERIVATIONS = (
    Derivation("K1.size", "How the coefficients of ReLU decay", _asymptotics, _size, _SOURCE),
    Derivation("K1.dual", "The series of a dual activation", series_statement, _series, "K1; H4"),
)
