"""Ledger of T2: the second gradient regressed on the powers of the readout, against both readings.

Each trial draws a network with bounded readouts and a bounded link, takes the first step, and projects the measured
coefficient b_k of (eta1 a_j)^k on (1/n) X^T F_k(y, q) computed from the same data: the ratio tends to 1 if F_k is
right. For a polynomial activation the expansion ends, so eta1 a_j need not be small.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import sympy as sp

from bulkedge.numerics.steps.alignment import float_moments
from bulkedge.numerics.steps.network import mean_gradient, step_in_place
from bulkedge.numerics.steps.second_step import Regression, regress, second_weights
from bulkedge.numerics.steps.two_steps import (
    STRONG,
    Cubic,
    Floats,
    Start,
    bounded_link,
    draw_start,
    he3_link,
    without_own,
)
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.alignment import Geometry
from bulkedge.theory.steps.second_step import Label, Poly, as_expression, residual, spike_function
from bulkedge.theory.steps.target import AdditiveTarget, label

SOURCE = "paper T, theorem on `W2`; T2"
ALPHA, NOISE = 2.0, 0.3
ORDERS = 3


def geometry(mean: float, batch: str) -> Geometry:
    """T3's limits for the bounded link with a mean."""
    link = functools.partial(bounded_link, mean=mean)
    return Geometry(AdditiveTarget((float_moments(link),), NOISE**2, float), 1 / ALPHA, batch)


def function(k: int, mean: float, batch: str, reading: str) -> Poly:
    """F_k of a reading for the bounded link."""
    target = geometry(mean, batch).target
    return spike_function(k, batch, reading, STRONG.moment, label(target, 1 / ALPHA))


@functools.cache
def compiled(k: int, mean: float, batch: str) -> Callable[[Floats, Floats], Floats]:
    """F_k of the reading `full` as a function of arrays."""
    found: Callable[[Floats, Floats], Floats] = sp.lambdify(
        (s.y, s.q), as_expression(function(k, mean, batch, "full")), "numpy"
    )
    return found


@stream("T2.full.fresh.1")
def second_gradient(rng: np.random.Generator, size: int, batch: str, mean: float) -> dict[str, float]:
    """d = size, N = n = 2 d, t = eta1 a_j of standard deviation 1/2: ratios b_k.bhat_k/|bhat_k|^2 and beta.b_k."""
    n = int(ALPHA * size)
    start = draw_start(rng, size, 2 * size, n, functools.partial(bounded_link, mean=mean), NOISE, batch)
    found = _measured(start, 0.5)
    X, y, q = without_own(start.batches)
    result = {}
    for k in range(1, ORDERS):
        expected = X.T @ compiled(k, mean, batch)(y, q) / n
        result[f"ratio{k}"] = found.signal(expected, k) / float(expected @ expected)
        result[f"signal{k}"] = found.signal(start.beta, k)
    return result


def _measured(start: Start, scale: float) -> Regression:
    """The second gradient of the ledger's activation, regressed on t = eta1 a_j of standard deviation `scale`."""
    eta1 = scale * np.sqrt(len(start.a))
    gradient = second_weights(start.W, start.a, start.batches, STRONG.slope, (eta1, 0.0))
    return regress(gradient, start.a, eta1, ORDERS)


@stream("T2.he3.fresh")
def _he3_gradient(rng: np.random.Generator, size: int, batch: str) -> dict[str, float]:
    """Cosine with beta of the coefficient of t^2 in the second gradient, odd link of information exponent 3."""
    start = draw_start(rng, size, 2 * size, int(ALPHA * size), he3_link, NOISE, batch)
    found = _measured(start, 1.0)
    signal = found.signal(start.beta, 2)
    return {"signal": signal, "cosine": signal / np.sqrt(max(found.gram(2, 2), 1e-12))}


def _he3_limit(batch: str, cosine: bool) -> float:
    """T3's beta.b_2, or its cosine, in the reading `full` for that link."""
    target = AdditiveTarget((float_moments(he3_link, nodes=400),), NOISE**2, float)
    here = Geometry(target, 1 / ALPHA, batch)
    F = spike_function(2, batch, "full", STRONG.moment, label(target, 1 / ALPHA))
    return float(here.signal(F) / (np.sqrt(here.gram(F, F)) if cosine else 1.0))


# Quadratic, so that the output is linear in eta1 a_j up to terms even in a_j, which cancel in the sum over neurons.
_SQUARED = Cubic(sp.Rational(3, 10))
_SQUARED_STEP = 0.3  # eta1/sqrt(N)


@stream("T2.square")
def _squared_gradient(rng: np.random.Generator, size: int) -> dict[str, float]:
    """The second gradient of the squared loss, reused batch, E y = 1: its coefficient b_0 against y - f(x; W1)."""
    width, n = 2 * size, int(ALPHA * size)
    start = draw_start(rng, size, width, n, functools.partial(bounded_link, mean=1.0), NOISE)
    W, a, batch = start.W, start.a, start.batches[0]
    eta1 = _SQUARED_STEP * np.sqrt(width)

    def remainder(P: Floats, y: Floats) -> Floats:
        return np.asarray(y - (P + 0.3 * (P**2 - 1)) @ a / np.sqrt(width))

    step_in_place(W, a, mean_gradient(W, batch, _SQUARED.slope, remainder), eta1)
    found = regress(mean_gradient(W, batch, _SQUARED.slope, remainder), a, eta1, 2)
    X, y, q = without_own(start.batches)
    right = sum(c * y**i * q**j for (i, j), c in _squared_residual().items())
    expected = X.T @ right / n
    return {"ratio0": found.signal(expected, 0) / float(expected @ expected)}


@functools.cache
def _squared_residual() -> Poly:
    """y - f(x; W1) in numbers."""
    here = Label(sp.Rational(1, 2), sp.Float(geometry(1.0, "reused").target.moment((0,), 1)), s.m2)
    values = {s.eta1: _SQUARED_STEP, s.N: 1}
    return {key: float(c.subs(values)) for key, c in residual("reused", _SQUARED.exact, here).items()}


def _without_output() -> float:
    """The ratio if y stood in the place of y - f."""
    here, right = geometry(1.0, "reused"), _squared_residual()
    return float(here.gram({(1, 0): 1.0}, right) / here.gram(right, right))


def _rank_one_ratio(k: int, mean: float, batch: str) -> float:
    """What the ratio would tend to if `rank_one` were right."""
    here, full = geometry(mean, batch), function(k, mean, batch, "full")
    return float(here.gram(function(k, mean, batch, "rank_one"), full) / here.gram(full, full))


def _lower_derivative(k: int, mean: float, batch: str) -> float:
    """The ratio with E[sigma^(k)] in the place of E[sigma^(k+1)], both readings' leading constant."""
    return float(STRONG.moment(k, 0, 0) / STRONG.moment(k + 1, 0, 0))


def _full(
    id: str, k: int, mean: float, batch: str, mistake: str, wrong: Callable[[], float], resolution: float
) -> Check:
    return Check(
        id=id,
        claim=f"spike {k} of the second gradient is `(1/n) X^T F_{k}`, {batch} batch, `E y = {mean:g}`",
        source=SOURCE,
        predict=lambda: 1.0,
        measure=Ladder(
            functools.partial(second_gradient, batch=batch, mean=mean),
            f"ratio{k}",
            sizes=(60, 120, 240),
            rate=1.0,
            trials=24,
            full_sizes=(150, 300, 600),
            full_trials=40,
        ),
        resolution=resolution,
        control=Control(mistake, wrong),
    )


def _t(k: int, mean: float, batch: str) -> Callable[[], float]:
    return functools.partial(_rank_one_ratio, k, mean, batch)


CHECKS: tuple[Check, ...] = (
    _full(
        "T2.full.reused.1", 1, 0.0, "reused", ("reading rank_one (no `E[sigma' sigma'']`)"), _t(1, 0.0, "reused"), 0.13
    ),
    _full("T2.full.reused.2.mean", 2, 1.0, "reused", "reading rank_one", _t(2, 1.0, "reused"), 0.14),
    _full(
        "T2.full.fresh.1.mean", 1, 1.0, "fresh", "reading rank_one (no `e = E y E[sigma'']`)", _t(1, 1.0, "fresh"), 0.1
    ),
    _full(
        "T2.full.fresh.1",
        1,
        0.0,
        "fresh",
        "`E[sigma']` in the place of `E[sigma'']`",
        lambda: _lower_derivative(1, 0.0, "fresh"),
        0.1,
    ),
    _full("T2.full.fresh.2.mean", 2, 1.0, "fresh", "reading rank_one (no `xi`, no `e`)", _t(2, 1.0, "fresh"), 0.16),
    *(
        Check(
            id=id,
            claim=f"`W2`, odd link of information exponent 3, {batch} batch: {what} of spike 2 with `beta`",
            source="T2, T3; paper T, reused and fresh batches",
            predict=functools.partial(_he3_limit, batch, what == "cosine"),
            measure=Ladder(
                functools.partial(_he3_gradient, batch=batch), what, (60, 120, 240), 1.0, 30, (150, 300, 600), 60
            ),
            resolution=resolution,
            control=Control(f"the {other} batch's", functools.partial(_he3_limit, other, what == "cosine")),
        )
        for id, batch, other, what, resolution in (
            ("T2.he3.reused", "reused", "fresh", "cosine", 0.155),
            ("T2.he3.fresh", "fresh", "reused", "signal", 0.06),
        )
    ),
    Check(
        id="T2.square",
        claim="squared loss: spike 0 of the second gradient carries `y - f`(`x`; `W1`), `E y = 1`",
        source=SOURCE,
        predict=lambda: 1.0,
        measure=Ladder(_squared_gradient, "ratio0", (60, 120, 240), 0.5, 16, (150, 300, 600), 40),
        resolution=0.1,
        control=Control("`y` in the place of `y - f`", _without_output),
    ),
)
