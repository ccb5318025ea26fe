"""E14: the readout's loss after a step on its own training set, by Woodbury."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.theory.equivalents import reused_step as rs
from bulkedge.theory.numbers.symbols import alpha, eta, lam, mu1, psi2

_OWN = sp.Symbol("c", real=True)
_h, _second, _delta = sp.symbols("h_ij E_slope2 delta", positive=True)


def _loss() -> Iterator[Step]:
    # F F^T/n = F0 F0^T/n + U M U^T, U = (F0 a, w)/sqrt n; y^T Q w/n = B, w^T Q w/n = C; F0 a meets neither y nor w.
    inner = sp.Matrix([[0, 1], [1, 1]])
    small = inner.inv() + sp.Matrix([[1 - rs.share, 0], [0, rs.C]])
    yield Step(
        rs.A - rs.B**2 * small.inv()[1, 1],
        reason="`y^T` (F F`^T/n + lam`)`^-1 y/n` by Woodbury, F = `F0 + w a^T`: `a^T F0^T Q F0` a/`n = 1 - q`",
    )
    yield Step(rs.A - rs.share * rs.B**2 / (1 + rs.share * rs.C), "=", "the inverse of the two by two matrix")
    claim = rs.loss_statement()
    yield Step(claim.rhs, Apply(lambda e: lam * e, name=claim.lhs), "the minimum of the objective is `lam` times it")


def _share() -> Iterator[Step]:
    yield Step(
        sp.Eq(_delta, alpha / (psi2 * rs.share) * (1 - lam * rs.mean)),
        Given(),
        "given `X` the columns of `F0` are iid of covariance `mu1^2 alpha S + mu2^2`: `delta`, the mean of it over "
        "`p s + r`",
    )
    yield Step(
        sp.Eq(1 / rs.share - 1, alpha / (psi2 * rs.share) * (1 - lam * rs.mean)),
        Substitute({_delta: 1 / rs.share - 1}),
        "`q = 1/(1 + delta)`, the other side's resolvent",
    )
    yield Step(rs.share_equation(), Apply(lambda e: sp.Eq(sp.expand(e.lhs * rs.share), e.rhs * rs.share)), "times `q`")


def _own() -> Iterator[Step]:
    yield Step(
        eta * _second / alpha,
        reason=(
            "what sample `i` itself adds to feature ij, over `a_j y_i`: `sigma' eta sigma' |x_i|^2/n`, averaged over "
            "`W0`"
        ),
    )
    yield Step(
        eta * mu1**2 / alpha + rs.own_coefficient(),
        Apply(lambda e: sp.expand(e.subs(_second, mu1**2 + rs.spread))),
        "`E sigma'^2 = mu1^2 + Var sigma'`; the first part is in `e X u` already",
    )
    yield Step(
        rs.own_coefficient(),
        Apply(lambda e: e - eta * mu1**2 / alpha, name=_OWN),
        ("`c`: what the rank-one step leaves out"),
    )


_NOTATION = (
    "`F0 = mu1 X W0 + mu2 Z` are the features before the step, `Q = (F0 F0^T/n + lam)^-1, S = X X^T/n` with "
    "eigenvalues `s`; `A, B, C` are `y^T Q y/n, y^T Q w/n, w^T Q w/n`, and `|a| = 1`."
)

DERIVATIONS = (
    Derivation("E14.loss", "The loss after a step on the training set", rs.loss_statement, _loss, "E14", (), _NOTATION),
    Derivation("E14.share", "The resolvent's parameter `q`", rs.share_equation, _share, "E14", (), _NOTATION),
    Derivation(
        "E14.own", "The samples' own terms", lambda: sp.Eq(_OWN, rs.own_coefficient()), _own, "E14", (), _NOTATION
    ),
)
