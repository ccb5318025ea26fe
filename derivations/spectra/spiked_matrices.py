"""R3: spiked covariance, Wigner and Wishart matrices: thresholds, overlaps, fluctuations and inverse maps."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute
from bulkedge.theory.numbers.symbols import c, ell, psi, theta, w, x, zeta
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.spectra.marchenko_pastur import stieltjes_equation
from bulkedge.theory.spectra.spike import (
    COVARIANCE,
    RECTANGULAR,
    WIGNER,
    WISHART,
)
from bulkedge.theory.spectra.spiked_matrices import covariance_outlier, wishart_outlier

_ONE = sp.Integer(1)
_T = sp.Symbol("t", positive=True)
_OUTLIER, _VARIANCE = sp.Symbol("lambda_1"), sp.Symbol("v_s")


def _angle(name: str) -> sp.Expr:
    """The squared cosine of the spike's vector and the outlier's."""
    return sp.cos(sp.Symbol(f"phi_{name}", real=True)) ** 2


def _covariance() -> Iterator[Step]:
    equation = stieltjes_equation(c, _ONE)
    secular = sp.Eq(c * m - (1 - c) / w, -1 / ell)
    value = ((1 - c) / w - 1 / ell) / c
    yield Step(
        secular, reason="an outlier `w` solves (secular equation of the spiked column): companion transform = `-1/ell`"
    )
    yield Step(value, Root(m), "so the transform of the bulk is")
    yield Step(equation, Given(), "which satisfies the quadratic equation, scale 1")
    yield Step(sp.Eq(equation.lhs.subs(m, value), 0), Substitute({m: value}), "with that value")
    yield Step(COVARIANCE.outlier, Root(w), "solved by")
    for sign, edge in ((1, "upper"), (-1, "lower")):
        at = Substitute({ell: 1 + sign * sp.sqrt(c)})
        yield Step(
            (1 + sign * sp.sqrt(c)) ** 2, at, f"at the threshold `1 {'+-'[sign < 0]} sqrt c` it meets the {edge} edge"
        )
        yield Step(COVARIANCE.outlier, Given(), "the outlier again")
    yield Step(
        covariance_outlier().rhs,
        Apply(_cases, name=covariance_outlier().lhs),
        "between the thresholds no solution lies outside the bulk: the extreme eigenvalue is the edge",
    )


def _cases(outlier: sp.Expr) -> sp.Expr:
    edges = sp.Piecewise(((1 + sp.sqrt(c)) ** 2, ell >= 1), ((1 - sp.sqrt(c)) ** 2, True))
    return sp.Piecewise((outlier, COVARIANCE.above), (edges, True))


def _scores() -> Iterator[Step]:
    yield Step(COVARIANCE.outlier, reason="along `ell` the companion resolvent at the outlier is `G = 1/ell`")
    overlap = dict(COVARIANCE.overlaps)["scores"]
    yield Step(
        overlap,
        Apply(lambda e: sp.simplify(e.diff(ell)), name=_angle("scores")),
        "the scores' squared overlap `G^2/(-G') = d` outlier/`d ell`",
    )
    vector = dict(COVARIANCE.overlaps)["vector"]
    yield Step(
        vector,
        Apply(lambda e: ell * e / COVARIANCE.outlier, name=_angle("vector")),
        "and `ell psi'/psi` for the population's vector",
    )


def _covariance_inverse() -> Iterator[Step]:
    position = sp.Eq(x, COVARIANCE.outlier)
    yield Step(position, reason="the outlier's position")
    upper = (x + 1 - c + sp.sqrt((x + 1 - c) ** 2 - 4 * x)) / 2
    yield Step(upper, Root(ell), "solved for the spike, above the bulk")


def _covariance_upper() -> sp.Expr:
    return (x + 1 - c + sp.sqrt((x + 1 - c) ** 2 - 4 * x)) / 2


def _wigner() -> Iterator[Step]:
    yield Step(sp.Eq(m**2 + w * m + 1, 0), reason="the semicircle law's transform")
    yield Step(sp.Eq(1 / zeta**2 - w / zeta + 1, 0), Substitute({m: -1 / zeta}), "at an outlier `m = -1/zeta`")
    yield Step(WIGNER.outlier, Root(w, name=_OUTLIER), "solved for its position")


def _wigner_overlap() -> Iterator[Step]:
    yield Step(WIGNER.outlier, reason="along `zeta` the resolvent at the outlier is `G = 1/zeta`")
    overlap = dict(WIGNER.overlaps)["vector"]
    yield Step(
        overlap,
        Apply(lambda e: e.diff(zeta), name=_angle("vector")),
        "its squared overlap `G^2/(-G') = d` outlier/`d zeta`",
    )


def _wishart() -> Iterator[Step]:
    equation = stieltjes_equation(c, _ONE)
    yield Step(equation, reason="the transform of the bulk `W`, scale 1")
    at_outlier = sp.Eq(equation.lhs.subs(m, -1 / zeta), 0)
    yield Step(at_outlier, Substitute({m: -1 / zeta}), "an outlier `w` of `W + zeta v v^T` has `m(w) = -1/zeta`")
    yield Step(WISHART.outlier, Root(w), "solved for its position")
    for sign, edge in ((1, "upper"), (-1, "lower")):
        at = Substitute({zeta: c + sign * sp.sqrt(c)})
        reason = f"at the threshold `c {'+-'[sign < 0]} sqrt c`, where its slope vanishes, it meets the {edge} edge"
        yield Step((1 + sign * sp.sqrt(c)) ** 2, at, reason)
        yield Step(WISHART.outlier, Given(), "the outlier again")
    yield Step(
        wishart_outlier().rhs,
        Apply(lambda e: sp.Piecewise((e, WISHART.above), (WISHART.edge, True)), name=wishart_outlier().lhs),
        "between the thresholds no solution lies outside the bulk: the extreme eigenvalue is the edge",
    )


def _wishart_overlap() -> Iterator[Step]:
    yield Step(WISHART.outlier, reason="along `zeta` the resolvent at the outlier is `G = 1/zeta`")
    yield Step(
        dict(WISHART.overlaps)["vector"],
        Apply(lambda e: e.diff(zeta), name=_angle("vector")),
        "its squared overlap `G^2/(-G') = d` outlier/`d zeta`",
    )


def _wishart_inverse() -> Iterator[Step]:
    yield Step(sp.Eq(x, WISHART.outlier), reason="the outlier's position")
    yield Step(_wishart_upper(), Root(zeta), "solved for the strength, above the bulk")


def _wishart_upper() -> sp.Expr:
    return (x + c - 1 + sp.sqrt((x + c - 1) ** 2 - 4 * c * x)) / 2


def _wishart_variance() -> Iterator[Step]:
    slope = sp.diff(WISHART.outlier, zeta)
    minus_g = 1 / (zeta**2 * slope)  # -G' along zeta, as G = 1/zeta
    yield Step(
        2 * (minus_g - 1 / zeta**2) / c,
        reason=(
            "`n` times the variance of `v.R v`: `v` is uniform beside the Haar eigenvectors, and 2 `(-G' - G^2)/p, p "
            "= c n`"
        ),
    )
    yield Step(
        2 * (minus_g - 1 / zeta**2) / c / minus_g**2,
        Apply(lambda e: e / minus_g**2, name=_VARIANCE),
        "over the squared slope `G'`",
    )
    yield Step(WISHART.variance, "=", "simplified")


def _variance() -> Iterator[Step]:
    """Delta method on phi_u phi_v = (1/theta - xi)^2, t = theta^2: three independent forms fluctuate."""
    y = (1 + _T) * (psi + _T) / _T
    g_d, g_n, slope = 1 / (1 + _T), 1 / (psi + _T), sp.diff(y, _T)
    d_d, d_n = sp.diff(g_d, _T) / slope, sp.diff(g_n, _T) / slope
    of_u = y * g_n**2 * 2 * y * (-d_d - g_d**2)
    of_v = y * g_d**2 * 2 * y * (-d_n - g_n**2) / psi
    of_cross = 4 * (-y * d_d - g_d) / (psi * _T)
    total = of_u + of_v + of_cross
    product = sp.diff(1 / _T, _T) / slope * 2 * sp.sqrt(y)
    yield Step(
        total,
        reason=(
            "`d` times the variance of `phi_u phi_v + 2 xi/theta, t = theta^2`: uniform `u, v` give `Var phi_u = 2 y "
            "(-G_d' - G_d^2)/d, Var phi_v` likewise over `N, Var xi = (-y G_d' - G_d)/N, y = s^2`"
        ),
    )
    yield Step(
        total / product**2,
        Apply(lambda e: e / product**2, name=_VARIANCE),
        "over the squared slope of `phi_u phi_v = 1/t` in `s`",
    )
    yield Step(RECTANGULAR.variance.subs(theta, sp.sqrt(_T)), "=", "simplified")


_PAUL = "R3; Baik and Silverstein 2006; Paul 2007"
_SEMI = "R3; Capitaine, Donati-Martin and Feral 2009"
_ADDITIVE = "R3; Benaych-Georges and Nadakuditi 2011"
_ABOVE = (ell > 1 + sp.sqrt(c),)
_BEYOND = (x > (1 + sp.sqrt(c)) ** 2,)

DERIVATIONS = (
    Derivation("R3.covariance", "The outlier of a spiked covariance", covariance_outlier, _covariance, _PAUL, _ABOVE),
    Derivation(
        "R3.overlaps",
        "The overlaps of a spiked covariance",
        lambda: tuple(sp.Eq(_angle(name), dict(COVARIANCE.overlaps)[name]) for name in ("vector", "scores")),
        _scores,
        _PAUL,
        _ABOVE,
    ),
    Derivation(
        "R3.inverse",
        "The spike behind an outlier",
        lambda: sp.Eq(ell, _covariance_upper()),
        _covariance_inverse,
        _PAUL,
        (x > (1 + sp.sqrt(c)) ** 2,),
    ),
    Derivation(
        "R3.wigner", "The outlier of a spiked Wigner matrix", lambda: sp.Eq(_OUTLIER, WIGNER.outlier), _wigner, _SEMI
    ),
    Derivation(
        "R3.wigner_overlap",
        "The overlap of a spiked Wigner matrix",
        lambda: sp.Eq(_angle("vector"), dict(WIGNER.overlaps)["vector"]),
        _wigner_overlap,
        _SEMI,
    ),
    Derivation(
        "R3.wishart",
        "The outlier of a Wishart matrix with an additive spike",
        wishart_outlier,
        _wishart,
        _ADDITIVE,
        (zeta > c + sp.sqrt(c),),
    ),
    Derivation(
        "R3.wishart_overlap",
        "The overlap of a Wishart matrix with an additive spike",
        lambda: sp.Eq(_angle("vector"), dict(WISHART.overlaps)["vector"]),
        _wishart_overlap,
        _ADDITIVE,
    ),
    Derivation(
        "R3.wishart_inverse",
        "The spike behind a Wishart outlier",
        lambda: sp.Eq(zeta, _wishart_upper()),
        _wishart_inverse,
        _ADDITIVE,
        _BEYOND,
    ),
    Derivation(
        "R3.wishart_variance",
        "The fluctuation of a Wishart outlier",
        lambda: sp.Eq(_VARIANCE, WISHART.variance),
        _wishart_variance,
        "derived here; Benaych-Georges and Nadakuditi 2011 for the limit",
        (zeta > c + sp.sqrt(c),),
    ),
    Derivation(
        "R3.variance",
        "The fluctuation of a rectangular outlier",
        lambda: sp.Eq(_VARIANCE, RECTANGULAR.variance.subs(theta, sp.sqrt(_T))),
        _variance,
        "derived here; Benaych-Georges and Nadakuditi 2012 for the limit",
        (psi < _T**2,),
    ),
)
