"""E2, E6, E7 checked: expressions drawn as they were typed, the engine against closed forms, real nonlinear labels."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np
import sympy as sp

from bulkedge.numerics.equivalents.equivalent_simulation import expression_check
from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.equivalents import equivalents as es
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read, values_of
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import alpha, mu1_star
from bulkedge.theory.steps.gradient import direction_energy

_SOURCE = "derived here (E6, E7)"
_ALPHA, _L = 2, 1
_SIGN = {mu1_star: sp.sqrt(2 / sp.pi), es.second_moment: sp.S.One}  # the constants of the link sign(z)
_LOW, _HIGH = sp.Rational(1, 4), sp.Integer(4)  # levels of Sigma, half of the dimensions each


@stream("E6.alignment")
def _preconditioned_step(rng: np.random.Generator, size: int) -> dict[str, float]:
    """cos^2 of (X^T X/n + 1)^-1 X^T y/n with beta, labels sign(beta.x), n = 2d."""
    n = _ALPHA * size
    data = rng.standard_normal((n, size))
    labels = np.sign(data[:, 0])
    u = np.linalg.solve(data.T @ data / n + _L * np.eye(size), data.T @ labels / n)
    return {"cosine2": float(u[0] ** 2 / (u @ u))}


@stream("E7.alignment")
def _anisotropic_step(rng: np.random.Generator, size: int) -> dict[str, float]:
    """cos^2 of X^T y/n with beta, an eigenvector of the larger level, labels sign(beta.x), n = 2d."""
    n = _ALPHA * size
    levels = np.where(np.arange(size) % 2 == 0, float(_HIGH), float(_LOW))
    data = rng.standard_normal((n, size)) * np.sqrt(levels)
    u = data.T @ np.sign(data[:, 0]) / n
    return {"cosine2": float(u[0] ** 2 / (u @ u))}


def _enclosed(expr: sp.Expr) -> Enclosure:
    with ball.precision(ball.bits(30)):
        return ball.to_enclosure(ball.constant(expr))


def _preconditioned(constants: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    m, m2 = (e.subs({alpha: _ALPHA, es.regularisation: _L}) for e in es.resolvent_means())
    formula = es.preconditioned_alignment().rhs
    return _enclosed(
        formula.subs({es.first: m, es.second: m2}).subs({alpha: _ALPHA, es.regularisation: _L, **constants})
    )


def _plain(constants: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    """The step without preconditioner: mu1*^2/|u|^2, |u|^2 = mu1*^2 + E y^2/alpha."""
    return _enclosed(
        (mu1_star**2 / direction_energy(mu1_star, es.second_moment, alpha)).subs({alpha: _ALPHA, **constants})
    )


def _anisotropic(tau: sp.Expr) -> Enclosure:
    at = {es.level: _HIGH, es.mean_level: tau, alpha: _ALPHA, **_SIGN}
    return _enclosed(es.anisotropic_alignment().rhs.subs(at))


def _linear(text: str, deterministic: str | None = None) -> Equivalent:
    model = declare(
        ["X: n x d, 1", "b: d x 1, 1/d", "e: n x 1, 1"], size=f"n={_ALPHA},d=1", deterministic=deterministic
    )
    return read(text, model)


# Labels X b + e: mu1* = 1, E y^2 = 2.
_LINEAR = {mu1_star: sp.S.One, es.second_moment: sp.Integer(2)}


def _engine_preconditioned() -> Enclosure:
    return _linear("let u = inv(X.T*X/n + 1)*X.T*(X*b + e)/n; tr(b.T*u)**2/tr(u.T*u)").enclose({}, 20)


def _engine_anisotropic() -> Enclosure:
    """x = R z, beta = P b of norm^2 1/2 in the upper eigenspace: y = (x.beta)/(2 |beta|) + e, that is mu1* = 1."""
    text = "let u = R*X.T*(X*R*P*b/2 + e/2)/n; 2*tr((P*b).T*u)**2/tr(u.T*u)"
    return _linear(text, "R P: d, atoms 2,1:1/2 1/2,0:1/2").enclose({}, 20)


def _anisotropic_linear(tau: sp.Expr) -> Enclosure:
    # y = x.beta/2 + e/2 has x.beta of variance 4 |beta|^2 = 2: mu1*^2 = 1/2, E y^2 = 3/4.
    at = {
        es.level: _HIGH,
        es.mean_level: tau,
        alpha: _ALPHA,
        mu1_star: sp.sqrt(2) / 2,
        es.second_moment: sp.Rational(3, 4),
    }
    return _enclosed(es.anisotropic_alignment().rhs.subs(at))


def _ridge() -> Equivalent:
    model = declare(["X: n x d, 1", "beta: d x 1, 1/d", "e: n x 1, 1"], size="n=2,d=1", positive="lam,s")
    return read("let b = inv(X.T*X/n + lam)*X.T*(X*beta + s*e)/n - beta; b.T*b", model)


_TAU = (_LOW + _HIGH) / 2

CHECKS = (
    expression_check(
        "E2.ridge",
        _ridge(),
        values_of("lam=1/2,s=1/2", _ridge().symbols),
        60,
        100,
        0.025,
        "e",
        "error of ridge regression, `n = 2d`, ridge 1/2, noise 1/2: the typed expression drawn at three sizes",
        "derived here (E2, E5)",
    ),
    Check(
        "E6.alignment",
        "squared cosine of the preconditioned step with `beta`, sign labels, `n = 2d, l = 1`",
        _SOURCE,
        functools.partial(_preconditioned, _SIGN),
        Ladder(_preconditioned_step, "cosine2", (40, 80, 160), 2 / 3, 120, (100, 200, 400), 120),
        0.05,
        Control("the plain step's alignment", functools.partial(_plain, _SIGN)),
    ),
    Check(
        "E6.engine",
        "the same for linear labels, against the engine's Dyson equation",
        _SOURCE,
        functools.partial(_preconditioned, _LINEAR),
        SecondRoute(_engine_preconditioned),
        1e-12,
        Control("the plain step's alignment", functools.partial(_plain, _LINEAR)),
    ),
    Check(
        "E7.alignment",
        "squared cosine of the step with `beta`, levels 4 (`beta'`s) and 1/4 of `Sigma`, sign labels, `n = 2d`",
        _SOURCE,
        functools.partial(_anisotropic, _TAU),
        Ladder(_anisotropic_step, "cosine2", (40, 80, 160), 2 / 3, 120, (100, 200, 400), 120),
        0.05,
        Control("isotropic inputs of `beta'`s level", functools.partial(_anisotropic, _HIGH)),
    ),
    Check(
        "E7.engine",
        "the same for linear labels, against the engine's Dyson equation",
        _SOURCE,
        functools.partial(_anisotropic_linear, _TAU),
        SecondRoute(_engine_anisotropic),
        1e-12,
        Control("isotropic inputs of `beta'`s level", functools.partial(_anisotropic_linear, _HIGH)),
    ),
)
