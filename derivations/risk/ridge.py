"""O3: the ridge risk after one step, from the resolvent of W0 and Woodbury's identity with the rank-two update."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute, Tends, Using
from bulkedge.theory.numbers.symbols import (
    c,
    eta,
    g_res,
    kappa,
    lam,
    mu1,
    mu1_star,
    mu2,
    mu2_star,
    psi1,
    psi2,
    s_eps,
    sigma2,
    w,
)
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.risk import ridge
from bulkedge.theory.spectra.marchenko_pastur import stieltjes_equation
from bulkedge.theory.steps.gradient import direction_norm2

X = mu2**2 + kappa  # the regularised population ridge x
T = psi2 * g_res + 1 - psi2  # (x/d) tr (mu1^2 W0 W0^T + x)^-1
_MISSED, _DF, _GAIN = sp.Symbol("A"), sp.Symbol("D"), sp.Symbol("E_inf")
_norm2 = sp.Symbol("u2", positive=True)  # |u|^2
_q = sp.Symbol("omega", positive=True)  # an eigenvalue of Omega = mu1^2 W1^T W1 + mu2^2
_weight = sp.Symbol("b2", positive=True)  # the weight of b on its eigenvector


def _resolvent() -> Iterator[Step]:
    yield Step(
        stieltjes_equation(), reason=("`W0^T W0` has the Marchenko-Pastur law; its Stieltjes transform at `w` solves")
    )
    values = {c: psi2, sigma2: mu1**2, w: -X, m: g_res / X}
    at = stieltjes_equation().subs(values, simultaneous=True)
    yield Step(at, Substitute(values), "ratio `N/d = psi2`, scale `mu1^2, w = -x, g = x m` with `x = mu2^2 + kappa`")
    yield Step(
        ridge.resolvent_equation(),
        Apply(lambda e: sp.Eq(sp.expand(-X * (e.lhs - e.rhs)), 0)),
        "multiplied by `-x`",
    )


def _woodbury() -> Iterator[Step]:
    e = eta * mu1
    yield Step(direction_norm2(), Given(define=_norm2), "`|u|^2`")
    # M = S^-1 + V C V^T, V = [u, p], p = W0 a: mu1^2 (W0 + e u a^T)(W0 + e u a^T)^T + x.
    C = mu1**2 * sp.Matrix([[e**2, e], [e, 0]])
    G = sp.diag(_norm2 * T / X, (1 - g_res) / mu1**2)
    k = sp.Matrix([mu1_star * T / X, 0])
    correction = (k.T * (C.inv() + G).inv() * k)[0]
    yield Step(
        X * (T / X - correction),
        Given(name=_MISSED),
        "`x beta^T (S^-1 + V C V^T)^-1 beta = x (beta^T S beta - k^T (C^-1 + G)^-1 k)` with `S = (mu1^2 W0 W0^T + "
        "x)^-1, V` = [`u, W0` a], `C = mu1^2 [[e^2, e], [e, 0]], e = eta mu1`; deterministic equivalents: `beta^T S "
        "beta = t/x, u^T S u = |u|^2 t/x, beta^T S u = mu1_star t/x, a^T W0^T S W0` a = `(1 - g)/mu1^2`, the cross "
        "terms vanish",
    )
    gain = mu1_star**2 * e**2 * mu1**2 * T**2 * g_res / (X + e**2 * mu1**2 * _norm2 * T * g_res)
    yield Step(T - gain, "=", "the two-by-two inverse, written out")
    y = e**2 * (1 - g_res)
    yield Step(
        T * (1 - mu1_star**2 * y / (1 + _norm2 * y)),
        Using(ridge.resolvent_equation(), kappa),
        "the quadratic of `g` says `mu1^2 g t = x (1 - g)`",
    )


def _degrees() -> Iterator[Step]:
    share = sp.Symbol("q", positive=True)  # the mean of 1/(omega + kappa)
    yield Step(psi2 / psi1 * (1 - kappa * share), reason="df`1/n = (N/n)(1/N) tr Omega (Omega + kappa)^-1`")
    yield Step(
        psi2 / psi1 * (1 - kappa * g_res / X),
        Substitute({share: g_res / X}, name=_DF),
        "`(1/N) tr (mu1^2 W1^T W1 + x)^-1 = g/x`: an update of rank one does not change a trace",
    )


def _bias() -> Iterator[Step]:
    Q = _weight / (_q + kappa)
    yield Step(
        _weight * (2 / (_q + kappa) - _q / (_q + kappa) ** 2),
        reason="what `theta = (Omega + kappa)^-1 b` explains, `2 b.theta - theta.Omega theta`, on one eigenvector",
    )
    yield Step(Q - kappa * sp.diff(Q, kappa), "=", "is `Q - kappa Q'` with `Q = b^T (Omega + kappa)^-1 b`")
    A, D = (sp.Function(name)(kappa) for name in ("A", "D"))
    total = mu1_star**2 + mu2_star**2 + s_eps**2
    q = mu1_star**2 * (1 - A)
    yield Step(
        (total - q + kappa * sp.diff(q, kappa)) / (1 - D - kappa * sp.diff(D, kappa)) - s_eps**2,
        Given(name=ridge.risk_statement().lhs),
        "the risk of ridge regression: what is not explained, over 1 - `df2/n` with `df2/n = D + kappa D'`, less the "
        "noise; `Q = mu1_star^2 (1 - A)`",
    )
    yield Step(ridge.risk_in_parts(), Using(sp.Eq(1 - lam / kappa, D), lam), "the effective ridge: 1 - `D = lam/kappa`")


def _large() -> Iterator[Step]:
    yield Step(direction_norm2(), Given(define=_norm2), "`|u|^2`")
    y = eta**2 * mu1**2 * (1 - g_res)
    yield Step(y / (1 + _norm2 * y), Given(), "the enhancement E")
    yield Step(1 / _norm2, Tends(eta, name=_GAIN), "a large step only turns the features towards `u`")


_SOURCE = "O3; paper O, Theorems 3 and 5 (C.28 re-derived)"
_NOTATION = (
    "`x = mu2^2 + kappa, g = (x/N) tr (mu1^2 W0^T W0 + x)^-1, t = psi2 g + 1 - psi2` the same trace on the `d` side; "
    "A is what the features leave of the linear part, `D` = df`1/n, E_inf` the largest enhancement; `Omega = mu1^2 "
    "W1^T W1 + mu2^2, b = mu1 mu1_star W1^T beta`."
)
_DOMAIN = (g_res < 1, psi2 < 1)

DERIVATIONS = (
    Derivation(
        "O3.resolvent", "The quadratic of the resolvent", ridge.resolvent_equation, _resolvent, _SOURCE, (), _NOTATION
    ),
    Derivation(
        "O3.woodbury",
        "The linear part that is missed after a step",
        lambda: sp.Eq(_MISSED, ridge.unexplained()),
        _woodbury,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "O3.degrees",
        "Degrees of freedom",
        lambda: sp.Eq(_DF, ridge.degrees_of_freedom()),
        _degrees,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
    Derivation("O3.risk", "The test risk in parts", ridge.risk_statement, _bias, _SOURCE, (), _NOTATION),
    Derivation(
        "O3.large",
        "The limit of a large step",
        lambda: sp.Eq(_GAIN, 1 / direction_norm2()),
        _large,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
)
