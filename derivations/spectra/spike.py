"""O2: the outlier of one gradient step, its threshold and both overlaps, from the resolvent of W0."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute, Using
from bulkedge.theory.numbers.symbols import psi, theta, w
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.spectra.marchenko_pastur import companion, edges, stieltjes, stieltjes_equation
from bulkedge.theory.spectra.spike import RECTANGULAR, rectangular_outlier

_ONE = sp.Integer(1)
_CRITICAL = sp.Symbol("theta_c")
_EQUATION = stieltjes_equation(psi, _ONE)
_PRODUCT = w * m * companion(m, psi)
_SQUARE = (1 + theta**2) * (psi + theta**2) / theta**2


def _position() -> Iterator[Step]:
    yield Step(
        sp.Eq(theta**2 * _PRODUCT, 1),
        reason=(
            "`w = s^2` is an outlier iff 1 = `theta^2 w m m_d`: `m` and its companion are the traces of the "
            "resolvents of `W0^T W0` and `W0 W0^T`, which the spike's two vectors meet"
        ),
    )
    yield Step(sp.Eq(-(theta**2) * (1 + w * m), 1), Using(_EQUATION, w), "by the quadratic equation of `m`")
    yield Step(-(1 + theta**2) / (theta**2 * w), Root(m), "linear in `m`")
    inserted = _EQUATION.subs(m, -(1 + theta**2) / (theta**2 * w))
    yield Step(_EQUATION, Given(), "the quadratic equation of `m`, ratio `psi = N/d` and scale 1")
    yield Step(inserted, Substitute({m: -(1 + theta**2) / (theta**2 * w)}), "with that value of `m`")
    yield Step(_SQUARE, Root(w), "its solution other than 0")
    yield Step(RECTANGULAR.outlier, Apply(sp.sqrt), "the singular value")
    edge = Substitute({psi: theta**4})
    yield Step(1 + theta**2, edge, "at the threshold `psi = theta^4` it meets the edge 1 + `psi^(1/2)` of the bulk")
    yield Step(RECTANGULAR.outlier, Given(), "the outlier again")
    yield Step(
        rectangular_outlier().rhs,
        Apply(lambda e: sp.Piecewise((e, RECTANGULAR.above), (1 + sp.sqrt(psi), True)), name=rectangular_outlier().lhs),
        "below the threshold no solution lies outside the bulk, and the largest singular value is its edge",
    )


def _threshold() -> Iterator[Step]:
    edge = edges(psi, _ONE)[1]
    yield Step(_PRODUCT, reason="`w m m_d` decreases outside the bulk and is largest at the edge")
    at = _PRODUCT.subs(m, stieltjes(psi, _ONE))
    yield Step(at, Substitute({m: stieltjes(psi, _ONE)}), "with the Stieltjes transform")
    yield Step(1 / sp.sqrt(psi), Substitute({w: edge}), "at the upper edge")
    yield Step(
        RECTANGULAR.threshold, Apply(lambda e: 1 / sp.sqrt(e), name=_CRITICAL), "`theta^-2` must be smaller than that"
    )


def _overlap(side: str) -> Iterator[Step]:
    inner = -1 / (psi + theta**2)
    yield Step(-(1 + theta**2) / (theta**2 * w), reason="the value of `m` at the outlier, from its position")
    yield Step(inner, Substitute({w: _SQUARE}), "there `w` is")
    if side == "d":
        inner = -1 / (1 + theta**2)
        yield Step(inner, Apply(lambda e: companion(e, psi).subs(w, _SQUARE)), "the companion, on the `d` side")
    yield Step(RECTANGULAR.outlier**2, Given(), "along the outlier's position `w` the product `w m m_d` is `theta^-2`")
    slope = -1 / (theta**4 - psi)
    yield Step(slope, Apply(lambda e: (theta**-2).diff(theta) / e.diff(theta)), "so this is its slope `D'` in `w`")
    share = sp.together(inner / (theta**2 * slope))
    yield Step(
        share,
        Apply(lambda e: inner / (theta**2 * e), name=_overlap_claim(side).lhs),
        "the residue of the resolvent at `w`: `m/(theta^2 D')`",
    )
    yield Step(dict(RECTANGULAR.overlaps)[side], "=", "rearranged")


def _overlap_claim(side: str) -> sp.Eq:
    return sp.Eq(sp.cos(sp.Symbol(f"phi_{side}", real=True)) ** 2, dict(RECTANGULAR.overlaps)[side])


_SOURCE = "O2; Benaych-Georges and Nadakuditi 2012"
_ABOVE = (RECTANGULAR.above,)
_NOTATION = (
    "`W0` is `d x N` with iid entries of variance `1/d`; the spike is `theta` times a unit `d`-vector times a unit "
    "`N`-vector, `phi_d` and `phi_N` their angles with the outlier's singular vectors."
)

DERIVATIONS = (
    Derivation("O2.outlier", "The outlier", rectangular_outlier, _position, _SOURCE, _ABOVE, _NOTATION),
    Derivation(
        "O2.threshold",
        "The threshold",
        lambda: sp.Eq(_CRITICAL, RECTANGULAR.threshold),
        _threshold,
        _SOURCE,
        (),
        _NOTATION,
    ),
    *(
        Derivation(
            f"O2.overlap_{side}",
            f"The squared overlap on the `{side}` side",
            partial(_overlap_claim, side),
            partial(_overlap, side),
            _SOURCE,
            _ABOVE,
            _NOTATION,
        )
        for side in ("d", "N")
    ),
)
