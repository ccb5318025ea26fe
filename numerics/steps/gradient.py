"""O1 in numbers: the first step's spike, its remainder, and what a simulated step leaves of both."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.steps.network import Floats, Trained
from bulkedge.numerics.trials.domain import within
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import alpha, curvature, eta, mu0_star, mu1, mu1_star, mu2_star, s_eps, slope2
from bulkedge.theory.steps import gradient as theory
from bulkedge.theory.steps.setting import Limit, Setting


def step_values(model: Setting | Limit, step: int = 0) -> dict[sp.Symbol, float]:
    """The numbers behind the symbols of theory.steps.gradient: activation, links, noise, alpha and the step's eta.

    Several links count together: mu0* adds up, mu1*^2 and mu2*^2 are sums (orthonormal directions).
    Errors: InputError if the model takes no such step, or a Limit's step grows.
    """
    if not -len(model.steps) <= step < len(model.steps):
        raise InputError("steps", f"there is no step {step}", "give a step size")
    assert model.batch is not None  # a model with steps has a batch
    if isinstance(model, Setting):
        size, ratio = float(model.steps[step]), model.batch / model.d
    else:
        growth = model.steps[step]
        if growth.exponent != 0:
            raise InputError("steps", "the step grows with the width", "ask at a size, Limit.at(d)")
        size, ratio = float(growth.coefficient), float(model.batch)
    for value, name in ((size, "steps"), (ratio, "batch"), (float(model.noise), "noise")):
        within(value, name)
    act, links = constants(model.activation), [constants(g) for g in model.links]
    values = {
        eta: size,
        alpha: ratio,
        s_eps: float(model.noise),
        mu1: act.mu1,
        curvature: act.curvature,
        mu0_star: math.fsum(g.mu0 for g in links),
        mu1_star: math.hypot(*(g.mu1 for g in links)),
        mu2_star: math.hypot(*(g.mu2 for g in links)),
    }
    if act.derivative_second is not None:
        values[slope2] = act.derivative_second
    return values


@functools.cache
def _compiled(statement: Callable[[], sp.Expr]) -> tuple[tuple[sp.Symbol, ...], Callable[..., float]]:
    expression = statement().subs(theory.a_j, 1)
    symbols = tuple(sorted(expression.free_symbols, key=str))
    return symbols, sp.lambdify(symbols, expression, "math")


def _evaluate(statement: Callable[[], sp.Expr], model: Setting | Limit, step: int) -> float:
    symbols, function = _compiled(statement)
    values = step_values(model, step)
    if slope2 in symbols and slope2 not in values:
        raise InputError("activation", "it jumps, so E sigma'(z)^2 is infinite", "choose a continuous activation")
    return float(function(*(values[s] for s in symbols)))


def direction_norm2(model: Setting | Limit, step: int = 0) -> float:
    """|u|^2 -> mu1*^2 + E y^2/alpha.  Source: O2, theory.steps.gradient."""
    return _evaluate(theory.direction_norm2, model, step)


def spike_strength(model: Setting | Limit, step: int = 0) -> float:
    """theta = eta |mu1| |u|.  Source: O2, theory.steps.gradient."""
    return _evaluate(theory.spike_strength, model, step)


def alignment(model: Setting | Limit, step: int = 0) -> float:
    """cos^2(u, beta) -> mu1*^2/|u|^2 (several links: with the span of the directions).  Source: O2, theory.gradient."""
    return _evaluate(theory.alignment, model, step)


def noise_variance(model: Setting | Limit, step: int = 0) -> float:
    """v = E y^2 Var(sigma'(z))/alpha.  Source: O1, theory.steps.gradient.

    Errors: InputError for an activation that jumps (v is infinite).
    """
    return _evaluate(theory.noise_variance, model, step)


def remainder_energy(model: Setting | Limit, step: int = 0) -> float:
    """|E_j|^2/a_j^2 -> eta^2 (v + (mu0* E sigma'')^2).  Source: O1, theory.steps.gradient."""
    return _evaluate(theory.remainder_energy, model, step)


def direction(trained: Trained, step: int = 0) -> Floats:
    """u = (1/n1) X^T y of a step's own batch (d,)."""
    total, count = np.zeros(trained.setting.d), 0
    for X, y in trained.batches[step]:
        total += X.T @ y
        count += len(y)
    return total / count


def remainder(trained: Trained) -> Any:
    """E = W_1 - W_0 - eta mu1 u a^T of a simulated first step (d x N).  Source: O1."""
    values = step_values(trained.setting)
    spike = values[eta] * values[mu1] * np.outer(direction(trained), trained.a)
    return trained.weights[1] - trained.weights[0] - spike
