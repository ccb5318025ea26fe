"""G9: skipping the first step -- features drawn from its covariance instead of trained, and their ridge risks.

Four sets of m features at the same sizes: untrained N(0, I/d); trained by one step; drawn from N(0, Gamma/d) with the
batch-averaged Gamma of G1; drawn given the batch, sqrt(bulk) N(0, I/d) + (c1 eta/m) b u with u = X^T y/n (G2). Each is
fitted by ridge on the same fresh sample; the ridge is the best of a grid on a validation sample.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.steps.covariance import Step, draw, moment, predicted
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.steps import covariance as symbols

Array = NDArray[np.float64]

RIDGES = tuple(10.0**k for k in range(-4, 3))


def ridge_error(Phi: Array, y: Array, validation: tuple[Array, Array], test: tuple[Array, Array]) -> float:
    """Test error of ridge on features (n x m), penalty k |a|^2 per sample, k the best on the validation set."""
    n, m = Phi.shape
    scale = float(np.mean(Phi**2)) * m
    values, vectors = np.linalg.eigh(Phi.T @ Phi / n)
    right = vectors.T @ (Phi.T @ y / n)
    best, error = math.inf, math.nan
    for k in RIDGES:
        a = vectors @ (right / (np.maximum(values, 0) + k * scale / m))
        score = float(np.mean((validation[1] - validation[0] @ a) ** 2))
        if score < best:
            best, error = score, float(np.mean((test[1] - test[0] @ a) ** 2))
    return error


@stream("G9.conditional")
def risks(rng: np.random.Generator, size: int, step: Step, samples: float = 4.0) -> dict[str, float]:
    """Test errors (noise included) of `untrained`, `trained`, `averaged` and `conditional` features at d = `size`.

    Shapes/units: `samples` size training samples for the read-out, as many for the validation, 4000 for the test.
    Source: G9.
    """
    f, g = step.functions()
    sigma, link = vectorised(f), vectorised(g)
    x = draw(step, size, rng)
    m, eta = len(x.W), step.eta(size)
    b = rng.standard_normal(m)[:, None]
    trained = x.W + eta / m * b * (x.U - b / m * x.V)
    A, B = predicted(step, size)
    averaged = np.sqrt(1 + A) * rng.standard_normal((m, size)) / math.sqrt(size)
    averaged[:, 0] *= math.sqrt((1 + A + B) / (1 + A))
    label2, slope2, c1 = (moment(step, s) for s in (symbols.label2, symbols.slope2, symbols.act[1]))
    rest = (eta / size) ** 2 * (slope2 - c1**2) * label2 / (step.alpha * step.beta**2)
    u = x.X.T @ x.y / len(x.y)
    bulk = np.sqrt(1 + rest) * rng.standard_normal((m, size)) / math.sqrt(size)
    conditional = bulk + c1 * eta / m * rng.standard_normal((m, 1)) * u

    def sample(count: int) -> tuple[Array, Array]:
        X = rng.standard_normal((count, size))
        return X, link(X[:, 0]) + step.noise * rng.standard_normal(count)

    data = [sample(round(samples * size)), sample(round(samples * size)), sample(4000)]
    result = {}
    for name, W in (("untrained", x.W), ("trained", trained), ("averaged", averaged), ("conditional", conditional)):
        (Phi, y), *others = [(sigma(X @ W.T), y) for X, y in data]
        result[name] = ridge_error(Phi, y, others[0], others[1])
    result["conditional_ratio"] = result["conditional"] / result["trained"]
    result["averaged_ratio"] = result["averaged"] / result["trained"]
    return result
