"""T1: the strength of spike k, the last spike that survives, and the number of new outliers."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.phases import (
    fresh_cosine2,
    fresh_statement,
    new_outliers,
    reused_length2,
    strength_exponent,
)

_EXPONENT = sp.Symbol("e_k")
_LENGTH = sp.Symbol("L_reused", positive=True)
_GAP = sp.Rational(1, 2) - s.alpha1


def _strength() -> Iterator[Step]:
    yield Step(
        s.N**s.alpha2 * (s.N**s.alpha1) ** s.k * s.N ** (-s.k / 2),
        reason="`eta2 eta1^k |a^(k+1)|` up to constants: `|a^(k+1)|` is of order `N^(-k/2)`",
    )
    yield Step(s.N ** (s.alpha2 - s.k * _GAP), "=", "one power of `N`")
    yield Step(
        strength_exponent(),
        Apply(lambda e: sp.expand_log(sp.log(e), force=True) / sp.log(s.N), name=_EXPONENT),
        "its exponent",
    )


def _count() -> Iterator[Step]:
    last = s.alpha2 / _GAP
    yield Step(strength_exponent(), reason="a spike is visible as long as its exponent is not negative")
    yield Step(last, Root(s.k), "the exponent vanishes there (`alpha1 <` 1/2)")
    yield Step(sp.floor(last), Apply(sp.floor), "the last whole `k` that survives")
    yield Step(
        new_outliers().rhs,
        Apply(lambda e: sp.Min(s.L - 1, e), name=new_outliers().lhs),
        "`E sigma^(k+1) = 0` for `k >= L` if the activation has degree `L`",
    )


def _fresh() -> Iterator[Step]:
    signal, noise = sp.symbols("signal noise", positive=True)
    yield Step(
        s.mu1_star**2 * (s.eta1 + s.eta2) ** 2,
        Given(define=signal),
        "both steps carry `mu1*` along `beta`: `eta1 u1 + eta2 u2` has `(eta1 + eta2) mu1*` there",
    )
    yield Step(
        (s.eta1**2 + s.eta2**2) * s.m2 / s.alpha,
        Given(define=noise),
        "the parts of `u1` and `u2` across `beta` are independent, of energy `E y^2/alpha` each",
    )
    yield Step(
        signal / (signal + noise),
        Given(name=fresh_statement().lhs),
        "squared cosine: the energy along `beta` over all of it",
    )
    yield Step(fresh_cosine2(), "=", "written out")


def _length() -> Iterator[Step]:
    u2 = sp.Symbol("u2", positive=True)
    yield Step(
        s.mu1_star**2 + s.m2 / s.alpha,
        Given(define=u2),
        "`|u|^2` of `u = X^T y/n`: `mu1*` along `beta`, and independent parts of energy `E y^2/alpha` in all across it",
    )
    yield Step(
        s.mu1**2 * (s.eta1 + s.eta2) ** 2 * u2,
        Given(name=_LENGTH**2),
        "below the line `sigma'` acts as its mean `mu1` in both steps, and the batch is the same: `(W2 - W0)^T` a = "
        "`mu1 (eta1 + eta2) |a|^2 u, |a| = 1`",
    )
    yield Step(reused_length2(), "=", "written out: the steps enter by their sum alone")


DERIVATIONS = (
    Derivation(
        "T1.strength",
        "The strength of spike `k`",
        lambda: sp.Eq(_EXPONENT, strength_exponent()),
        _strength,
        "T1, T2; paper T",
    ),
    Derivation("T1.count", "The number of new outliers", new_outliers, _count, "T1; paper T"),
    Derivation("T5.fresh", "Two fresh steps below the line `alpha1 + alpha2 = 1/2`", fresh_statement, _fresh, "T5"),
    Derivation(
        "T5.length",
        "Two steps on one batch below the line: one step of the sum",
        lambda: sp.Eq(_LENGTH**2, reused_length2()),
        _length,
        "T5; paper T",
    ),
)
