"""E12, E13 checked: real kernels and tanh features on inputs of two variances, and the engine on the typed risks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.equivalents import anisotropic_ridge as ar
from bulkedge.theory.equivalents.equivalent import declare, read, values_of
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import alpha, kappa, lam, mu1, mu1_star, mu2, psi1, psi2, s_eps

_SOURCE = "derived here (E12, E13)"
# Levels 1/4 and 4 of Sigma, weights 4/5 and 1/5 (its normalised trace is one), a target without a preferred direction.
_TWO = tuple((sp.Rational(s), sp.Rational(w), sp.Rational(w)) for s, w in (("1/4", "4/5"), ("4", "1/5")))
# Closer levels for the kernel, whose higher terms fade as tr Sigma^2/d: 1/2 and 2, weights 2/3 and 1/3.
_CLOSE = tuple((sp.Rational(s), sp.Rational(w), sp.Rational(w)) for s, w in (("1/2", "2/3"), ("2", "1/3")))
ONE = ((sp.S.One, sp.S.One, sp.S.One),)
_NOISE, _PENALTY, _RIDGE = sp.Rational(1, 2), sp.Rational(1, 20), sp.Rational(1, 5)


def _solved(risk: sp.Expr, equations: Sequence[sp.Expr], unknowns: Sequence[sp.Symbol]) -> Enclosure:
    """The risk at the positive root; what 20 further digits change bounds its error."""
    found = []
    for digits in (25, 45):
        root = sp.nsolve(equations, unknowns, [sp.Rational(1, 2)] * len(unknowns), prec=digits)
        found.append(risk.subs(dict(zip(unknowns, root, strict=True))).evalf(digits))
        if not all(x > 0 for x in root):
            raise ArithmeticError(f"the root {root} is not positive")
    value, error = Fraction(str(found[1])), Fraction(str(abs(found[1] - found[0])))
    return Enclosure(value, 2 * error + Fraction(1, 10**24), "two precisions")


def _linear_risk(spectrum: ar.Spectrum, ratio: sp.Rational, ridge: sp.Rational, noise: sp.Rational) -> Enclosure:
    """E12's risk, noise included, by R and D.  Source: E12."""
    left, D = (e.subs({alpha: ratio, s_eps: noise}) for e in ar.linear_parts(spectrum))
    equation = ar.effective_ridge_equation().subs(ar.degrees, D).subs(lam, ridge)
    risk = ar.risk().subs({ar.unexplained: left, ar.degrees: D}).doit()
    return _solved(risk, [equation.lhs - equation.rhs], [kappa])


def _features_risk(spectrum: ar.Spectrum, at: dict[sp.Symbol, sp.Rational], energy: sp.Rational) -> Enclosure:
    """E13's risk, noise included, at psi1, psi2, lam, mu1, mu2, mu1* and E y^2.  Source: E13."""
    Q, D = ar.features_parts(spectrum)
    slope = ar.trace_derivative(spectrum)

    def along(e: sp.Expr) -> sp.Expr:
        return e.diff(kappa) + e.diff(ar.trace) * slope

    Q0, Q1, D1 = sp.symbols("Q_0 Q_1 D_1")
    risk = ar.features_statement().rhs.subs({ar.explained.diff(kappa): Q1, ar.degrees.diff(kappa): D1})
    risk = risk.subs({ar.explained: Q0, ar.degrees: D}).subs({Q0: Q, Q1: along(Q), D1: along(D)})
    ridge, resolvent = ar.effective_ridge_equation().subs(ar.degrees, D), ar.trace_equation(spectrum)
    equations = [(e.lhs - e.rhs).subs(at) for e in (ridge, resolvent)]
    return _solved(risk.subs({**at, ar.label_energy: energy}), equations, [kappa, ar.trace])


def _inputs(rng: np.random.Generator, rows: int, size: int) -> np.ndarray:
    """Rows of N(0, Sigma): every fifth coordinate of variance 4, the others of 1/4."""
    return rng.standard_normal((rows, size)) * np.where(np.arange(size) % 5 == 0, 2.0, 0.5)


def _target(rng: np.random.Generator, size: int) -> np.ndarray:
    """A direction with beta.Sigma beta = 1."""
    beta = rng.standard_normal(size)
    return beta / np.linalg.norm(beta * np.where(np.arange(size) % 5 == 0, 2.0, 0.5))


@stream("E12.kernel")
def kernel_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Test error of the kernel exp(x.x'/d), n = 2d, penalty 1/20, noise 1, noise included."""
    deviations = np.where(np.arange(size) % 3 == 0, 2**0.5, 0.5**0.5)
    data, fresh = (rng.standard_normal((rows, size)) * deviations for rows in (2 * size, 4 * size))
    beta = rng.standard_normal(size)
    beta /= np.linalg.norm(beta * deviations)
    labels = data @ beta + rng.standard_normal(2 * size)
    fitted = np.linalg.solve(np.exp(data @ data.T / size) + 0.05 * np.eye(2 * size), labels)
    return {"risk": float(np.mean((fresh @ beta - np.exp(fresh @ data.T / size) @ fitted) ** 2)) + 1.0}


@stream("E13.features")
def _features_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Test error of tanh features, n = 2d, N = 3d/2, ridge 1/5, labels beta.x + noise of 1/2, noise included."""
    data, fresh, beta = _inputs(rng, 2 * size, size), _inputs(rng, 4 * size, size), _target(rng, size)
    weights = rng.standard_normal((size, 3 * size // 2)) / np.sqrt(size)
    labels = data @ beta + 0.5 * rng.standard_normal(2 * size)
    features = np.tanh(data @ weights)
    readout = np.linalg.solve(
        features.T @ features / (2 * size) + 0.2 * np.eye(features.shape[1]), features.T @ labels / (2 * size)
    )
    return {"risk": float(np.mean((fresh @ beta - np.tanh(fresh @ weights) @ readout) ** 2)) + 0.25}


def _kernel(with_rest: bool) -> Enclosure:
    # f = exp, tau = 1: f(tau) - f(0) - tau f'(0) = e - 2.
    rest = sp.Rational(float(sp.E - 2)) if with_rest else sp.S.Zero
    ridge = ar.kernel_ridge(sp.S.One, rest, _PENALTY).subs(alpha, 2)
    return _linear_risk(_CLOSE, sp.Integer(2), ridge, sp.S.One)


def _tanh(spectrum: ar.Spectrum) -> Enclosure:
    f = constants(nonlinearity("tanh"))
    at = {mu1: f.mu1, mu2: f.mu2, psi1: 2, psi2: 1.5, mu1_star: 1}
    exact = {s: sp.Rational(x) for s, x in at.items()} | {lam: _RIDGE}
    return _features_risk(spectrum, exact, 1 + _NOISE**2)


_OTHER = {psi1: "3/2", psi2: "3/4", lam: "1/10", mu1: "5/8", mu2: "1/2", mu1_star: "3/4"}
_LEVELS = "R: d, atoms 1/2:4/5 2:1/5"


def _engine_linear() -> Enclosure:
    model = declare(
        ["X: n x d, 1", "b: d x 1, 1/d", "e: n x 1, 1"], size="n=3/2,d=1", deterministic=_LEVELS, positive="lam,s"
    )
    text = "let A = X*R; let a = inv(A.T*A/n + lam)*A.T*(A*b + s*e)/n; let r = R*(b - a); tr(r.T*r) + s**2"
    theory = read(text, model)
    return theory.enclose(values_of("lam=1/10,s=1/2", theory.symbols), 20)


def _engine_features() -> Enclosure:
    declared = ["X: n x d, 1", "W: d x N, 1/d", "Z: n x N, 1", "b: d x 1, 1/d", "e: n x 1, 1/2"]
    model = declare(declared, size="n=3/2,d=1,N=3/4", deterministic=_LEVELS, positive="lam,mu1,mu2,ms")
    text = (
        "let F = mu1*X*R*W + mu2*Z; let a = inv(F.T*F/n + lam)*F.T*(ms*X*R*b + e)/n;"
        "let r = R*(ms*b - mu1*W*a); tr(r.T*r) + mu2**2*tr(a.T*a) + 1/2"
    )
    theory = read(text, model)
    return theory.enclose(values_of("lam=1/10,mu1=5/8,mu2=1/2,ms=3/4", theory.symbols), 20)


def _linear(spectrum: ar.Spectrum) -> Enclosure:
    return _linear_risk(spectrum, sp.Rational(3, 2), sp.Rational(1, 10), _NOISE)


def _features(spectrum: ar.Spectrum) -> Enclosure:
    exact = {s: sp.Rational(x) for s, x in _OTHER.items()}
    return _features_risk(spectrum, exact, exact[mu1_star] ** 2 + sp.Rational(1, 2))


CHECKS = (
    Check(
        "E12.kernel",
        "test error of the kernel exp(`x.x'/d`) on inputs of variances 2 and 1/2, `n = 2d`",
        _SOURCE,
        functools.partial(_kernel, True),
        Ladder(kernel_trial, "risk", (40, 80, 160), 2 / 3, 50, (80, 160, 320), 50),
        0.19,
        Control("the kernel's own ridge `e - 2` left out", functools.partial(_kernel, False)),
    ),
    Check(
        "E12.engine",
        "linear regression under `Sigma, n = 3d/2`, against the engine's Dyson equation",
        _SOURCE,
        functools.partial(_linear, _TWO),
        SecondRoute(_engine_linear),
        1e-13,
        Control("isotropic inputs", functools.partial(_linear, ONE)),
    ),
    Check(
        "E13.features",
        "test error of tanh features on inputs of variances 4 and 1/4, `n = 2d, N = 3d/2`",
        _SOURCE,
        functools.partial(_tanh, _TWO),
        Ladder(_features_trial, "risk", (40, 80, 160), 2 / 3, 50, (80, 160, 320), 50),
        0.05,
        Control("isotropic inputs", functools.partial(_tanh, ONE)),
    ),
    Check(
        "E13.engine",
        "the same risk at other ratios and constants, against the engine's Dyson equation",
        _SOURCE,
        functools.partial(_features, _TWO),
        SecondRoute(_engine_features),
        1e-13,
        Control("isotropic inputs", functools.partial(_features, ONE)),
    ),
)
