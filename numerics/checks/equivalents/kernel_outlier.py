"""E8 checked: real features erf(X W1) after a step, sign labels; and the engine's outlier and residue."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import scipy.special
import sympy as sp

from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.equivalents import kernel_outlier as ko
from bulkedge.theory.equivalents.equivalent import declare, read
from bulkedge.theory.equivalents.equivalent_spectrum import spectrum
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import (
    alpha,
    c,
    ell,
    eta,
    mu0_star,
    mu1,
    mu1_star,
    mu2,
    mu2_star,
    psi,
    s_eps,
    theta,
)
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps.gradient import alignment, label_second_moment, spike_strength

_SOURCE = "derived here (E8)"
_SMALL, _LARGE = (2, 1, 2), (4, 4, 1)  # eta, n1/d and n/d; d = N
_ERF, _SECOND = 2 / sp.sqrt(3 * sp.pi), 2 / sp.pi * sp.asin(sp.Rational(2, 3))


def _real(setting: tuple[int, int, int]) -> dict[sp.Symbol, sp.Expr]:
    step, batch, samples = setting
    return {
        psi: sp.S.One,
        c: sp.Rational(1, samples),
        alpha: sp.Integer(batch),
        eta: sp.Integer(step),
        mu1: _ERF,
        mu2: sp.sqrt(_SECOND - _ERF**2),
        mu0_star: sp.S.Zero,
        mu1_star: sp.sqrt(2 / sp.pi),
        mu2_star: sp.sqrt(1 - 2 / sp.pi),
        s_eps: sp.S.Zero,
    }


# Features 3/5 X W1 + 1/2 Z, step 3 = eta mu1, labels X beta + noise 1/2.
_LINEAR = {
    psi: sp.S.One,
    c: sp.Rational(1, 2),
    alpha: sp.S.One,
    eta: sp.Integer(5),
    mu1: sp.Rational(3, 5),
    mu2: sp.Rational(1, 2),
    mu0_star: sp.S.Zero,
    mu1_star: sp.S.One,
    mu2_star: sp.S.Zero,
    s_eps: sp.Rational(1, 2),
}


@stream("E8.outlier")
def _features_after_a_step(setting: tuple[int, int, int], rng: np.random.Generator, size: int) -> dict[str, float]:
    """The largest eigenvalue of F F^T/n and its vector's squared cosine with the labels, F = erf(X W1)."""
    step, ratio, samples = setting
    batch = rng.standard_normal((ratio * size, size))
    u = batch.T @ np.sign(batch[:, 0])
    u *= np.sqrt(2 / np.pi + 1 / ratio) / np.linalg.norm(u)  # its length at the limit (O2): most of the fluctuation
    a = rng.standard_normal(size)
    a /= np.linalg.norm(a)  # its own fluctuation is not what is measured
    weights = rng.standard_normal((size, size)) / np.sqrt(size) + step * float(_ERF) * np.outer(u, a)
    n = samples * size
    data = rng.standard_normal((n, size))
    left, values, _ = np.linalg.svd(scipy.special.erf(data @ weights) / np.sqrt(n), full_matrices=False)
    return {"position": float(values[0] ** 2), "cosine2": float(left[:, 0] @ np.sign(data[:, 0])) ** 2 / n}


def _enclosed(expr: sp.Expr, at: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    """With ell, s_1 and the means over the bulk in closed form."""
    first, second = ko.bulk_means()
    expr = expr.subs({ko.pull: first, ko.strain: second}).subs(ell, ko.population_spike())
    expr = expr.subs({ko.spike2: RECTANGULAR.outlier}).subs(theta, spike_strength()).subs(at)
    with ball.precision(ball.bits(30)):
        return ball.to_enclosure(ball.constant(expr))


def _position(at: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    return _enclosed(ko.kernel_outlier().rhs, at)


def _spike(at: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    """The population's spike, as if the samples were many."""
    return _enclosed(ell, at)


def _labels(at: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    return _enclosed(ko.label_overlap().rhs, at)


def _direction(at: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    """As if the vector were X u itself: (mu1*^2/E y^2) (mu1*^2/|u|^2)."""
    return _enclosed(mu1_star**2 / label_second_moment() * alignment(), at)


def _many_samples(at: Mapping[sp.Symbol, sp.Expr]) -> Enclosure:
    """Without the samples' factor 1 - c H_2."""
    return _enclosed(ko.label_overlap().rhs / (1 - c * ko.strain), at)


@functools.lru_cache(maxsize=1)
def _engine() -> tuple[Enclosure, Enclosure]:
    model = declare(
        [
            "X: n x d, 1",
            "W0: d x N, 1/d",
            "Z: n x N, 1",
            "Xs: n1 x d, 1",
            "a: N x 1, 1/N",
            "beta: d x 1, 1/d",
            "e1: n1 x 1, 1/4",
            "e: n x 1, 1/4",
        ],
        size="n=2,N=1,d=1,n1=1",
        real="z",
    )
    theory = read(
        "let u = Xs.T*(Xs*beta + e1)/n1; let F = 3/5*X*(W0 + 3*u*a.T) + 1/2*Z; let y = X*beta + e;"
        "y.T*inv(z - F*F.T/n)*y/n",
        model,
    )
    (outlier,) = spectrum(theory, theory.symbols[0], 16).outliers
    assert outlier.residue is not None
    second = label_second_moment().subs(_LINEAR)
    scale = Enclosure(Fraction(int(second.q), int(second.p)), Fraction(0))
    return outlier.position, outlier.residue * scale


def _engine_position() -> Enclosure:
    return _engine()[0]


def _engine_labels() -> Enclosure:
    return _engine()[1]


CHECKS = (
    Check(
        "E8.outlier",
        "largest eigenvalue of the conjugate kernel after a step: erf features, sign labels, `d = N = n1, n = 2 d`",
        _SOURCE,
        functools.partial(_position, _real(_SMALL)),
        Ladder(
            functools.partial(_features_after_a_step, _SMALL),
            "position",
            (50, 100, 200),
            2 / 3,
            120,
            (100, 200, 400),
            120,
        ),
        0.21,
        Control("the population's spike", functools.partial(_spike, _real(_SMALL))),
    ),
    Check(
        "E8.labels",
        "squared cosine of its eigenvector with the labels, `d = N = n, n1 = 4 d`",
        _SOURCE,
        functools.partial(_labels, _real(_LARGE)),
        Ladder(
            functools.partial(_features_after_a_step, _LARGE),
            "cosine2",
            (50, 100, 200),
            2 / 3,
            120,
            (100, 200, 400),
            120,
        ),
        0.053,
        Control("the direction of the step itself", functools.partial(_direction, _real(_LARGE))),
    ),
    Check(
        "E8.engine",
        "the position for Gaussian features and linear labels, against the engine's outlier",
        _SOURCE,
        functools.partial(_position, _LINEAR),
        SecondRoute(_engine_position),
        1e-12,
        Control("the population's spike", functools.partial(_spike, _LINEAR)),
    ),
    Check(
        "E8.residue",
        "the labels' overlap for Gaussian features and linear labels, against the engine's residue",
        _SOURCE,
        functools.partial(_labels, _LINEAR),
        SecondRoute(_engine_labels),
        1e-12,
        Control("without the samples' factor", functools.partial(_many_samples, _LINEAR)),
    ),
)
