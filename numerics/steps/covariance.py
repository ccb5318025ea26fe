"""G1-G3 measured: the second moment of the weights after one step, neuron by neuron, with the readout averaged exactly.

Neuron j moves by (eta/m) b_j (U_j - (b_j/m) V_j), b_j = sqrt(m) a_j (theory.steps.covariance). The average over b_j,
given the data, the weights and the other readouts, is exact,

    Gamma = I + d mean_j[ -(eta/m^2)(w V^T + V w^T) + (eta/m)^2 (U U^T + (E b^4/m^2) V V^T) ],

which removes the largest noise; the spike's other noise is that of (w*.u)^2, u = X^T y/n, whose mean is known and
which is subtracted (a control variate).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.gaussian.plane import FINER, line_nodes, resolved
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.numbers.symbols import alpha, beta, eta
from bulkedge.theory.numbers.symbols import d as dimension
from bulkedge.theory.steps import covariance as symbols
from bulkedge.theory.steps.setting import exact_real

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """A step in paper F's units at ratios alpha = n/d, beta = m/d and eta = eta0 d^zeta; names of the functions."""

    activation: str = "relu"
    link: str = "tanh"
    alpha: float = 2.0
    beta: float = 1.0
    eta0: float = 1.0
    zeta: float = 0.75
    noise: float = 0.0

    def eta(self, d: int) -> float:
        """The step size at dimension d."""
        return float(self.eta0 * float(d) ** self.zeta)

    def functions(self) -> tuple[Nonlinearity, Nonlinearity]:
        """Activation and link."""
        return nonlinearity(self.activation), nonlinearity(self.link)


@functools.cache
def _moments(step: Step) -> symbols.Moments:
    return symbols.moments(*step.functions(), exact_real(step.noise, "noise"))


@functools.cache
def predicted(step: Step, d: int, reading: str = "full") -> tuple[float, float]:
    """A - 1 and B of a reading at dimension d (`printed`, `rank_one`, `full`).

    Source: G1.
    """
    chosen = next(r for r in symbols.readings() if r.name == reading)
    at = {
        eta: exact_real(step.eta(d), "eta"),
        alpha: exact_real(step.alpha, "alpha"),
        beta: exact_real(step.beta, "beta"),
        dimension: exact_real(d, "d"),
    }
    A, B = (symbols.evaluate(e, _moments(step), at) for e in (chosen.A - 1, chosen.B))
    return float(A), float(B)


def moment(step: Step, symbol: object) -> float:
    """A moment of theory.steps.covariance by its symbol, as a float."""
    return float(_moments(step)[symbol])


@dataclass(frozen=True)
class Draw:
    """One network and batch: weights W (m x d), w* = e_1, data X (n x d), labels y, and the parts U, V (m x d)."""

    W: Array
    X: Array
    y: Array
    U: Array
    V: Array


def draw(step: Step, d: int, rng: np.random.Generator, readout: str = "gaussian") -> Draw:
    """Draw a network of width beta d and a batch of alpha d samples; w* is the first axis."""
    n, m = round(step.alpha * d), round(step.beta * d)
    f, g = step.functions()
    W = rng.standard_normal((m, d)) / np.sqrt(d)
    X = rng.standard_normal((n, d))
    b = rng.standard_normal(m) if readout == "gaussian" else rng.choice([-1.0, 1.0], m)
    y = vectorised(g)(X[:, 0]) + step.noise * rng.standard_normal(n)
    P = X @ W.T
    S, D = vectorised(f)(P), vectorised(f.derivative())(P)
    # f without neuron j's own share, one column a neuron.
    residual = y[:, None] - ((S @ b)[:, None] - S * b) / m
    return Draw(W, X, y, (residual * D).T @ X / n, (S * D).T @ X / n)


def second_moment(step: Step, d: int, x: Draw, fourth: float = 3.0) -> tuple[float, float]:
    """A - 1 and B of one draw, averaged over b exactly (E b^4 = `fourth`): the trace splits along and across w*."""
    m, rate = len(x.W), step.eta(d)
    scale, own = rate**2 / m**2, rate / m**2
    # Averaging over b exactly takes the readout's noise out of both; W and the batch are all that fluctuates.
    along = scale * (x.U[:, 0] ** 2 + fourth / m**2 * x.V[:, 0] ** 2) - 2 * own * x.W[:, 0] * x.V[:, 0]
    whole = scale * np.sum(x.U**2 + fourth / m**2 * x.V**2, axis=1) - 2 * own * np.sum(x.W * x.V, axis=1)
    across = float(np.mean(whole - along)) * d / (d - 1)
    return across, float(np.mean(along)) * d - across


@stream("G1.bulk")
def trial(rng: np.random.Generator, size: int, step: Step) -> dict[str, float]:
    """A - 1 and B of one draw with control variates, and both divided by `full` (G1)."""
    x = draw(step, size, rng)
    bulk, spike = second_moment(step, size, x)
    n, m, rate = len(x.y), len(x.W), step.eta(size)
    c1 = moment(step, symbols.act[1])
    # The control variates: the rank-one parts, whose exact means are known.
    front = size * rate**2 / m**2 * c1**2
    u = x.X.T @ x.y / n
    label2, mean1, twice = label_moments(step.functions()[1], step.noise)
    spike -= front * (u[0] ** 2 - mean1**2 - (twice - mean1**2) / n)
    bulk -= size * rate**2 / m**2 / n * moment(step, symbols.slope2) * (float(np.mean(x.y**2)) - label2)
    A, B = predicted(step, size)
    return {"bulk": bulk, "spike": spike, "bulk_ratio": bulk / A, "spike_ratio": spike / B}


@functools.cache
def label_moments(link: Nonlinearity, noise: float) -> tuple[float, float, float]:
    """E y^2, E z y, E z^2 y^2 of y = g(z) + noise eps, by quadrature (not from the symbols that are checked).

    Accuracy: 1e-13 of E y^2, on panels made for the link. Errors: ConvergenceError where it varies too fast for them
    or has a pole.
    """
    panels = resolved(link, 1.0, 1.0, line=True)
    z, w = line_nodes(((panels, 1.0),), FINER)
    values = panels.values(z)
    return float(w @ values**2) + noise**2, float(w @ (z * values)), float(w @ (z * values) ** 2) + noise**2


@stream("G2.cosine")
def conditional_trial(rng: np.random.Generator, size: int, step: Step) -> dict[str, float]:
    """Given the batch (G2): the direction the neurons share and what is left beside it.

    `cosine2`: of u = X^T y/n with w*; `network`: of the mean of U over neurons with w*; `strength` and `remainder`:
    d (eta/m)^2 times c1^2 |u|^2 and the mean |U - c1 u|^2/d, both divided by the limit of G2.
    """
    x = draw(step, size, rng)
    m, rate = len(x.W), step.eta(size)
    u = x.X.T @ x.y / len(x.y)
    c1 = moment(step, symbols.act[1])
    mean = x.U.mean(axis=0)
    unit = rate**2 / m**2
    return {
        "cosine2": float(u[0] ** 2 / (u @ u)),
        "network": float(mean[0] ** 2 / (mean @ mean)),
        "strength": size * unit * c1**2 * float(u @ u),
        "remainder": unit * float(np.mean(np.sum((x.U - c1 * u) ** 2, axis=1))),
    }


@stream("G3.gaussian")
def kurtosis_trial(rng: np.random.Generator, size: int, readout: str, strength: float) -> dict[str, float]:
    """Kurtosis over `size` neurons of sqrt(d) w.u/|u| after the rank-one step, given the batch (G3).

    The step size is such that the spike's strength given the batch is `strength`; tanh link, d = 20, n = 40. The
    second moment is then known, so that the fourth is divided by its square exactly.
    """
    d, n = 20, 40
    X = rng.standard_normal((n, d))
    u = X.T @ np.tanh(X[:, 0]) / n
    b = rng.standard_normal(size) if readout == "gaussian" else rng.choice([-1.0, 1.0], size)
    W = rng.standard_normal((size, d)) / np.sqrt(d)
    W += np.sqrt(strength / d) * np.outer(b, u / np.linalg.norm(u))
    feature = np.sqrt(d) * (W @ u) / np.linalg.norm(u)
    return {"kurtosis": float(np.mean(feature**4)) / (1 + strength) ** 2}
