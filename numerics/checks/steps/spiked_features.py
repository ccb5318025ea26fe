"""Ledger of M1 and M2: the left directions of the feature matrix regressed on the step's own projections.

The drop of the loss is measured at a step of order one, where the spike's strength is finite; its limit, for infinite
strength, through what it is made of: the directions, and the quadratic forms of R0 = (F0 F0^T + lam n)^-1 on them.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.numerics.risk.ridge import effective_ridge
from bulkedge.numerics.steps.network import draw_readout, draw_weights, gradient_step
from bulkedge.numerics.steps.spiked_features import loss_drops
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.symbols import e, lam
from bulkedge.theory.numbers.symbols import mu1 as mu1_symbol
from bulkedge.theory.numbers.symbols import v as v_symbol
from bulkedge.theory.steps import spiked_features as sf

NOISE = 0.3
LAM = 0.05
# The link has both a linear and a second component; bounded by a quadratic.
LINK = nonlinearity("tanh(z) + He(2, z)/4")
SIGMA = nonlinearity("z + He(2, z)")  # mu1 = c_2 = 1
_SECOND = constants(LINK).second_moment + NOISE**2
SLOPE = constants(LINK).mu1  # c*_1
V = 4 * _SECOND  # n1 = d, and Var sigma' = Var 2 z = 4
B2 = SLOPE**2 + _SECOND  # |u|^2


@stream("M1.full.constant")
def _step_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """One step at d = n = N = n1 = size, eta = 2 N^(2/5): directions in F, and quadratic forms of R0 on them.

    The coefficient of (eta a_j)^2 in F, sample by sample, is the measured second direction. `t0`, `t2`: its regression
    on the powers of t. `cos2`: squared cosine, in the metric of R0, of the measured direction with He_2(s), s = t/|u|.
    `cosine`: t.R0 X beta/(|u| M2), what the first direction sees of the label's linear part.
    """
    sigma, dsigma, g = vectorised(SIGMA), vectorised(SIGMA.derivative()), vectorised(LINK)
    beta = rng.standard_normal(size)
    beta /= np.linalg.norm(beta)
    W, a = draw_weights("sphere", size, size, rng), draw_readout("gaussian", size, rng)
    X = rng.standard_normal((size, size))
    y = g(X @ beta) + NOISE * rng.standard_normal(size)
    eta = 2.0 * size**0.4
    W1 = gradient_step(W, a, [(X, y)], sigma, dsigma, eta)
    u = X.T @ y / size
    X = rng.standard_normal((size, size))
    t = X @ u
    design = np.stack([(eta * a) ** k for k in range(4)], axis=1)
    second = np.linalg.lstsq(design, sigma(X @ W1).T, rcond=None)[0][2]
    fit = np.linalg.lstsq(np.stack([t**k for k in range(4)], axis=1), second, rcond=None)[0]
    F0 = sigma(X @ W)
    R0 = np.linalg.inv(F0 @ F0.T + LAM * size * np.eye(size))
    forms = np.stack([second, t**2 / float(u @ u) - 1])
    forms = forms @ R0 @ forms.T
    M1, M2 = float(np.trace(R0)), float(np.sum(X * (R0 @ X)) / size)
    return {
        "t0": float(fit[0]),
        "t2": float(fit[2]),
        "M1": M1,
        "M2": M2,
        "cos2": float(forms[0, 1] ** 2 / (forms[0, 0] * forms[1, 1])),
        "cosine": float(t @ R0 @ (X @ beta) / M2 / np.linalg.norm(u)),
    }


# For the drop: an odd activation has no second spike, and a third one of strength eta^3/N.
ODD, _STEEP, STEP, BATCH, _DROP_LAM, _DROP_NOISE = nonlinearity("tanh"), nonlinearity("tanh(2*z)"), 3.0, 2.0, 0.1, 0.1


@stream("M2.drop")
def _drop_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """One step at d = n = N = size, n1 = 2 d, eta = 3: what it takes off min (1/n)|y - F th|^2 + lam |th|^2."""
    sigma, dsigma, g = vectorised(ODD), vectorised(ODD.derivative()), vectorised(_STEEP)
    beta = rng.standard_normal(size)
    beta /= np.linalg.norm(beta)
    W, a = draw_weights("sphere", size, size, rng), draw_readout("gaussian", size, rng)
    samples = round(BATCH * size)
    X = rng.standard_normal((samples, size))
    y = g(X @ beta) + _DROP_NOISE * rng.standard_normal(samples)
    W1 = gradient_step(W, a, [(X, y)], sigma, dsigma, STEP)
    X = rng.standard_normal((size, size))
    y = g(X @ beta) + _DROP_NOISE * rng.standard_normal(size)
    losses = []
    for weights in (W, W1):
        F = sigma(X @ weights)
        losses.append(_DROP_LAM * float(y @ np.linalg.solve(F @ F.T + _DROP_LAM * size * np.eye(size), y)))
    return {"drop": losses[0] - losses[1]}


def _drop(finite: bool) -> float:
    """The drop by the first spike at the step, or in the limit of an infinitely strong one."""
    at = (STEP, math.inf) if finite else None
    return loss_drops(ODD, _STEEP, 1.0, 1.0, _DROP_LAM, BATCH, _DROP_NOISE, (1,), at)["full"][0]


def _trace(which: int) -> float:
    """M1 = 1/kappa or M2 = A/kappa of O3 at psi1 = psi2 = 1."""
    c = constants(SIGMA)
    kappa = float(effective_ridge(1.0, 1.0, LAM, c.mu1, c.mu2)[0])
    x = c.mu2**2 + kappa
    g = (math.sqrt(x * x + 4 * c.mu1**2 * x) - x) / (2 * c.mu1**2)
    return (1.0, g)[which] / kappa


def _cos2(reading: str) -> float:
    """2/(2 + r^2), or 2/3: the loss drops by twice that, times lam c*_1^4 c*_2^2 M1/b^4."""
    values = {sf.M1: 1, sf.M2: 1, sf.b: math.sqrt(B2), mu1_symbol: 1, v_symbol: V, lam: 1}
    values |= {sf.link_coefficient[1]: 1, sf.link_coefficient[2]: 1}
    gain = (sf.loss_drop(2, reading) - sf.loss_drop(1, reading)).subs(values)
    return float(gain) * B2**2 / 2


def _coefficient(power: int, reading: str) -> float:
    """The coefficient of t^power in the second left direction (mu1 = c_2 = 1)."""
    direction = sf.left_direction(2, reading).subs({e: 0, sf.coefficient[2]: 1, mu1_symbol: 1, v_symbol: V})
    return float(sp.Poly(direction, sf.t).coeff_monomial(sf.t**power))


def _ladder(component: str, rate: float = 0.5) -> Ladder:
    return Ladder(_step_trial, component, (60, 300), rate, 128, (150, 400, 1000), 16)


SOURCE = "paper M, Theorem 3.3; the reading full derived here"

CHECKS = (
    Check(
        id="M1.full.constant",
        claim="the second left direction is `c_2 (mu1^2 t^2 + v)`: its constant term",
        source=SOURCE,
        predict=functools.partial(_coefficient, 0, "full"),
        measure=_ladder("t0"),
        resolution=1.0,
        control=Control("reading rank_one: no constant term", functools.partial(_coefficient, 0, "rank_one")),
    ),
    Check(
        id="M1.full.square",
        claim="the second left direction is `c_2 (mu1^2 t^2 + v)`: its square term",
        source=SOURCE,
        predict=functools.partial(_coefficient, 2, "full"),
        measure=_ladder("t2", 2 / 3),  # it falls like 1/n from 60 to 300; a slower rate bounds it
        resolution=0.49,
        control=Control("degree `k + 1` instead of `k`: no square term", functools.partial(_coefficient, 3, "full")),
    ),
    Check(
        id="M2.projection",
        claim=(
            "weighed by R0 the measured second direction has squared cosine 2/(2 + `r^2`) with `He_2`: the drop, halved"
        ),
        source="paper M, Theorem 4.5 (4/3); the reading full derived here",
        predict=functools.partial(_cos2, "full"),
        measure=_ladder("cos2"),
        resolution=0.25,
        control=Control("reading rank_one: 2/3", functools.partial(_cos2, "rank_one")),
    ),
    Check(
        id="M2.first",
        claim="weighed by R0 the first direction has cosine `c*_1/b` with the label's linear part",
        source="paper M, Theorem 4.4",
        predict=lambda: SLOPE / math.sqrt(B2),
        # X^T R0 X knows nothing of (u, beta), whose law is invariant under rotations: the mean is E u.beta/|u|, of
        # which the fluctuations of u leave O(1/n).
        measure=_ladder("cosine", 1.0),
        resolution=0.19,
        control=Control("the direction taken for `beta` itself", lambda: 1.0),
    ),
    Check(
        id="M2.drop",
        claim="at a step of order one the first spike takes `Delta_1/(1 + eta_0^2/eta^2)` off the training loss",
        source="paper M, Theorem 4.4, at a finite strength: derived here",
        predict=functools.partial(_drop, True),
        measure=Ladder(_drop_trial, "drop", (30, 120), 1.0, 256, (60, 240), 256),
        resolution=0.0185,
        control=Control("the limit, of an infinitely strong spike", functools.partial(_drop, False)),
    ),
    Check(
        id="M2.trace",
        claim="M2 = `(1/d) tr X^T` R0 `X` is `A/kappa` of O3's resolvent",
        source="paper M, section 4; derived here",
        predict=functools.partial(_trace, 1),
        measure=_ladder("M2"),
        resolution=0.3,
        control=Control("M1 in place of M2", functools.partial(_trace, 0)),
    ),
)
