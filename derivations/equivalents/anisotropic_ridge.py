"""E12, E13: the risk of ridge regression under a covariance, from its loss and the population's ridge."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step
from bulkedge.theory.equivalents import anisotropic_ridge as ar
from bulkedge.theory.numbers.symbols import kappa, mu1_star, psi2, s_eps

_x = sp.Symbol("x", positive=True)
_L = sp.Symbol("L")
_TRAIN = sp.Symbol("R_train")
_B = sp.Function("B")(kappa)

_RISK, _EXPLAINED = sp.symbols("R_test Q", positive=True)


def _risk() -> Iterator[Step]:
    R, D = ar.unexplained, ar.degrees
    yield Step(
        (1 - D) * R,
        Given(name=_L),
        "the minimum of the objective, `lam y^T` (F F`^T + n lam`)`^-1 y`: `lam/kappa = 1 - D` of what `kappa` leaves",
    )
    slope = ((1 - D) * R).diff(kappa) / (kappa * (1 - D)).diff(kappa)
    yield Step(
        (1 - D) * R - kappa * (1 - D) * slope,
        Apply(lambda e: e - kappa * (1 - D) * slope, name=_TRAIN),
        "less `lam |a|^2, |a|^2` = dL/dlam (a minimum), `lam = kappa (1 - D)`",
    )
    yield Step((1 - D) ** 2 * ar.risk(), "=", "simplified")
    yield Step(
        ar.risk(),
        Apply(lambda e: e / (1 - D) ** 2, name=_RISK),
        ("the test risk is `(kappa/lam)^2` times the training error"),
    )


def _linear() -> Iterator[Step]:
    D = ar.degrees
    yield Step(ar.risk(), Given(), "the risk by `R` and `D`")
    inserted = s_eps**2 + kappa * _B
    yield Step(
        (inserted - kappa * inserted.diff(kappa)) / (1 - D - kappa * D.diff(kappa)),
        Apply(lambda e: e.subs(ar.unexplained, inserted).doit()),
        "`R = s_eps^2 + kappa B, B = beta.Sigma (Sigma + kappa)^-1 beta`",
    )
    yield Step((s_eps**2 - kappa**2 * _B.diff(kappa)) / (1 - D - kappa * D.diff(kappa)), "=", "the numerator, expanded")
    claim = ar.linear_statement()
    yield Step(
        claim.rhs,
        Apply(
            lambda e: e.subs(_B.diff(kappa), -ar.missed).subs(D.diff(kappa), (ar.second_degrees - D) / kappa),
            name=claim.lhs,
        ),
        "`B' = -B_2`; `D + kappa D' = D_2`, level by level: `s/(s + kappa) - kappa s/(s + kappa)^2 = s^2/(s + "
        "kappa)^2`",
    )


def _features() -> Iterator[Step]:
    s, m = ar.level, ar.trace
    yield Step(
        s - _x * s / (_x * (1 + psi2 * m * s)),
        reason=(
            "what the ridge explains on a level `s`: `s - x s^(1/2) (Sigma^(1/2) W W^T Sigma^(1/2) + x)^-1 s^(1/2)`, "
            "the resolvent's equivalent 1/(`x (1 + psi2 m s)`) (Silverstein)"
        ),
    )
    yield Step(psi2 * m * s**2 / (1 + psi2 * m * s), "=", "over a common denominator")
    yield Step(
        ar.explained_at(s),
        Apply(lambda e: mu1_star**2 * e, name=_EXPLAINED),
        "`Q` at a target of energy one: its linear part",
    )


DERIVATIONS = (
    Derivation(
        "E12.risk",
        "Risk from the loss and the population's ridge",
        lambda: sp.Eq(_RISK, ar.risk()),
        _risk,
        "E12, E13",
        (),
        "`D` = df`1/n, R` the label's energy that the population ridge `kappa` leaves unexplained, `lam = kappa (1 - "
        "D)`.",
    ),
    Derivation(
        "E12.linear",
        "Linear regression under a covariance",
        ar.linear_statement,
        _linear,
        "E12",
        (),
        "`B_2 = beta.Sigma (Sigma + kappa)^-2 beta, D_2` = df`2/n`.",
    ),
    Derivation(
        "E13.explained",
        "What random features explain of a level",
        lambda: sp.Eq(_EXPLAINED, ar.explained_at(ar.level)),
        _features,
        "E13",
        (),
        "`x = (mu2^2 + kappa)/mu1^2, m = (1/N) tr (W^T Sigma W + x)^-1`.",
    ),
)
