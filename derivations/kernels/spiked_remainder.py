"""G11: the norm of the remainder after the first order in B."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Asymptotic, Derivation, Given, Step, Substitute
from bulkedge.theory.kernels import spiked_remainder as sr
from bulkedge.theory.kernels.spiked_expansion import b
from bulkedge.theory.numbers.symbols import A, B, d, z

_c0, _c2, _c4 = (sp.Symbol(f"c_{l}", positive=True) for l in (0, 2, 4))
_VALUES = {_c0: 1 / sp.sqrt(2 * sp.pi), _c2: 1 / sp.sqrt(4 * sp.pi), _c4: 1 / sp.sqrt(48 * sp.pi)}


def _mean(expr: sp.Expr) -> sp.Expr:
    """E over z of a polynomial."""
    return sp.Add(*(c * sp.factorial2(j - 1) for (j,), c in sp.Poly(expr, z).terms() if j % 2 == 0))


def _remainder() -> Iterator[Step]:
    yield Step(
        sr.integrand(0) + sr.integrand(1),
        reason="`l + l' = 0` and 2: the matrix elements are linear in `b`, no part of `R` (their integrands, summed)",
    )
    yield Step(sp.Integer(0), Apply(lambda e: sp.diff(e, b, 2)), "the second derivative in `b`")
    yield Step(sr.integrand(2), Given(), "`l + l' = 4`: the integrand of `T_22, T_04` and `T_40`")
    yield Step(b**2 * z**4 / A, Asymptotic(b, 0), "`b ->` 0; those of `l + l' = 2 k` are of order `b^k`")
    yield Step(3 * b**2 / A, Apply(_mean), "`E z^4 = 3`")
    yield Step(
        _c0 * _c4 * 3 * b**2 / A,
        Apply(lambda e: _c0 * _c4 * e),
        "the pair `T_04, T_40` alone has the eigenvalues `+-` this",
    )
    yield Step(sr.corner(), Substitute(_VALUES), "the Hermite coefficients of ReLU")
    yield Step(sr.diagonal(), "<", "`(T_R)_22 = 3 c_2^2 b^2`/A is larger: degree 2 holds the norm")
    yield Step(3 * _c2**2 * b**2 / A, Given(), "`(T_R)_22`")
    yield Step(sr.diagonal(), Substitute(_VALUES), "`c_2^2 = 1/(4 pi)`")
    claim = sr.remainder_statement()
    yield Step(claim.rhs, Substitute({b: B / d}, name=claim.lhs), "`b = B/d`")


DERIVATIONS = (
    Derivation(
        "G11.norm",
        "The norm of the remainder",
        sr.remainder_statement,
        _remainder,
        "G11; paper F, Lemma 4.5",
        (),
        "`T_ll' -> c_l c_l' E[(b z^2)^k (A + b z^2)^(1-k)], 2 k = l + l'`, as `d ->` infinity at `b = B/d` (G7).",
    ),
)
