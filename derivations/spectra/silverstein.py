"""R2: the Silverstein equation in the population's variable, its edges, its spikes and the second-order edge."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute
from bulkedge.theory.numbers.symbols import alpha, c, w
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.spectra import silverstein as sv
from bulkedge.theory.spectra.marchenko_pastur import edges as mp_edges

_ONE = sv.Population((1,), (1,))
_T = next(s for s in sv.companion_equation().rhs.free_symbols if s.name == "t")


def _in_alpha() -> Iterator[Step]:
    yield Step(sv.companion_equation(), reason="the Silverstein equation for the companion transform `m` at `w`")
    there = sp.Eq(w, alpha + c * _T / (1 - _T / alpha))
    yield Step(there, Substitute({m: -1 / alpha}), "with `alpha = -1/m`")
    yield Step(sp.Eq(w, alpha + c * alpha * _T / (alpha - _T)), "=", "`psi(alpha)` on the right")


_E, _H = sp.Function("E"), sp.Function("m_H")
_LOWER, _UPPER = sp.Symbol("lambda_minus"), sp.Symbol("lambda_plus")
_COS2 = sp.cos(sp.Symbol("phi", real=True)) ** 2


def _linear(mean: sp.Expr) -> sp.Expr:
    """The mean over t ~ H of a rational function in partial fractions, constants taken out."""
    parts = (term.as_independent(_T) for term in sp.Add.make_args(sp.apart(mean, _T)))
    return sp.Add(*(constant * (1 if rest == 1 else _E(rest)) for constant, rest in parts))


def _general() -> Iterator[Step]:
    yield Step(
        sp.Eq(w, -1 / m + c * _E(_T / (1 + _T * m))),
        reason=(
            "the Silverstein equation for the companion transform `m` at `w`; the mean E is over the population, `t "
            "~ H`"
        ),
    )
    there = sp.Eq(w, alpha + c * _E(_T / (1 - _T / alpha)))
    yield Step(there, Substitute({m: -1 / alpha}), "with `alpha = -1/m`")
    parts = sp.Eq(w, alpha + c * _linear(_T / (1 - _T / alpha)))
    yield Step(parts, Apply(lambda e: e.replace(_E, _linear)), "partial fractions in `t`")
    yield Step(
        sv.general_equation(),
        Substitute({_linear(1 / (_T - alpha)): _H(alpha)}),
        "the mean of 1/(`t - alpha`) is the population's transform `m_H` at `alpha`",
    )


def _edges() -> Iterator[Step]:
    lower, upper = 1 - sp.sqrt(c), 1 + sp.sqrt(c)
    yield Step(sv.psi(_ONE), reason="`psi` for the population of one eigenvalue 1")
    yield Step(sv.slope(_ONE), Apply(lambda e: e.diff(alpha)), "its derivative is 1 - `c E[t^2/(alpha - t)^2]`")
    yield Step(upper, Root(alpha), "`alpha` stops being real where it vanishes: the right critical point")
    yield Step(sv.psi(_ONE), Given(), "`psi` again")
    yield Step(
        mp_edges(c, sp.Integer(1))[1], Substitute({alpha: upper}, name=_UPPER), "its critical value is the upper edge"
    )
    yield Step(sv.psi(_ONE), Given(), "`psi` again")
    yield Step(
        mp_edges(c, sp.Integer(1))[0],
        Substitute({alpha: lower}, name=_LOWER),
        "at the left critical point: the lower edge",
    )


def _overlap() -> Iterator[Step]:
    slope, position = sv.slope(_ONE), sv.psi(_ONE)
    yield Step(position, reason="the outlier of a population spike `alpha` is at `psi(alpha)`")
    yield Step(slope, Apply(lambda e: e.diff(alpha)), "its derivative `psi'`")
    yield Step(
        alpha * slope / position,
        Apply(lambda e: alpha * e / position, name=_COS2),
        "the residue of the resolvent along `v`",
    )
    yield Step(sv.overlap(_ONE), "=", "the squared overlap `alpha psi'/psi`")


def _edge_claims() -> tuple[sp.Eq, ...]:
    return tuple(sp.Eq(name, value) for name, value in zip((_LOWER, _UPPER), mp_edges(c, sp.Integer(1)), strict=True))


_SOURCE = "R2; Silverstein and Choi 1995; Bai and Yao 2012"

DERIVATIONS = (
    Derivation("R2.general", "The equation for any population", sv.general_equation, _general, _SOURCE),
    Derivation(
        "R2.alpha",
        "The Silverstein equation in the population's variable",
        lambda: sp.Eq(w, alpha + c * alpha * _T / (alpha - _T)),
        _in_alpha,
        _SOURCE,
    ),
    Derivation("R2.edges", "Edges as critical values", _edge_claims, _edges, _SOURCE),
    Derivation(
        "R2.overlap",
        "The overlap of a spike",
        lambda: sp.Eq(_COS2, sv.overlap(_ONE)),
        _overlap,
        _SOURCE,
        (alpha > 1 + sp.sqrt(c),),
    ),
)
