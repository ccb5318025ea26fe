"""Two gradient steps at scale, and the spikes of the second one measured by regression (T2, T6).

The data are never held: a batch draws its chunks again from its seed. The weights are updated in place and the
gradient is accumulated by BLAS without a temporary, so that W2 is formed in 2 N d floats and a chunk.

Convention: as numerics.steps.network, W is d x N (columns are neurons); paper T's W is the transpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from bulkedge.numerics.steps.network import Chunk, Floats, Function, mean_gradient, step_in_place
from bulkedge.theory.numbers.errors import InputError


def second_weights(
    W: Any,
    a: Floats,
    batches: tuple[Iterable[Chunk], Iterable[Chunk]],
    dsigma: Function,
    steps: tuple[float, float],
) -> Any:
    """Take two steps of the correlation loss in place: W becomes W2, and the second mean gradient is returned.

    W_{i+1} = W_i + eta_i (1/n) X^T [(y a^T) o sigma'(X W_i)]; the same batch twice is a reused batch.
    Shapes/units: W d x N of any array library, which then does the heavy products.
    Errors: InputError if W is not an array of floats with one column per readout entry (in NumPy C-ordered).
    Source: T2; paper T's update.
    """
    xp = array_namespace(W)
    ordered = not isinstance(W, np.ndarray) or W.flags.c_contiguous
    if W.ndim != 2 or W.shape[1] != len(a) or not ordered or not xp.isdtype(W.dtype, "real floating"):
        raise InputError("W", f"shape {W.shape} or layout does not fit a readout of {len(a)}", "give d x N floats")
    gradient = mean_gradient(W, batches[0], dsigma)
    step_in_place(W, a, gradient, steps[0])
    del gradient
    gradient = mean_gradient(W, batches[1], dsigma)
    step_in_place(W, a, gradient, steps[1])
    return gradient


def peak_bytes(d: int, width: int, chunk: int, itemsize: int = 8) -> int:
    """A bound of the memory of `second_weights`: W, the gradient, and per chunk X, P, D and their copies.

    2 d N + chunk (3 N + 2 d) + 256 N floats; at most 3 d N when chunk (3 N + 2 d) + 256 N <= d N.
    """
    return itemsize * (2 * d * width + chunk * (3 * width + 2 * d) + 256 * width)


@dataclass(frozen=True)
class Regression:
    """The mean gradient's rows regressed on functions of the readout, over two halves of the neurons.

    Each half's coefficients are d x m; the halves' errors are independent given the data, so that inner products of
    one half with the other have no noise floor.
    """

    halves: tuple[Floats, Floats]

    def signal(self, beta: Floats, k: int) -> float:
        """beta.b_k."""
        return float(beta @ (self.halves[0][:, k] + self.halves[1][:, k]) / 2)

    def gram(self, i: int, k: int) -> float:
        """b_i.b_k, unbiased over the neurons."""
        one, two = self.halves
        return float(one[:, i] @ two[:, k] + two[:, i] @ one[:, k]) / 2


def regress(gradient: Floats, a: Floats, eta1: float, orders: int) -> Regression:
    """Regress the columns of the mean gradient on 1, t, ..., t^(orders-1), t = eta1 a_j.

    By T2 the coefficient of t^k is b_k = (1/n) X^T F_k.
    Shapes/units: gradient (d, N), a (N,).
    Errors: InputError if the readout has too few distinct values to tell the columns apart.
    """
    return fit(gradient, np.stack([(eta1 * a) ** k for k in range(orders)], axis=1))


def fit(gradient: Floats, design: Floats) -> Regression:
    """Regress the columns of a gradient (d, N) on those of a design (N, m), in two halves of the neurons.

    Errors: InputError if the design's columns are not independent.
    """
    halves = []
    for half in (slice(0, None, 2), slice(1, None, 2)):
        coefficients, _, rank, _ = np.linalg.lstsq(design[half], gradient.T[half], rcond=None)
        if rank < design.shape[1]:
            raise InputError("readout", f"its powers span {rank} dimensions", f"{design.shape[1]} are needed")
        halves.append(np.asarray(coefficients.T))
    return Regression((halves[0], halves[1]))


def split_gradient(
    W: Floats, a: Floats, batches: tuple[Iterable[Chunk], Iterable[Chunk]], dsigma: Function, eta1: float
) -> tuple[Floats, Floats]:
    """The second mean gradient's parts even and odd in t = eta1 a_j, less its value at t = 0: two arrays (d, N).

    Each neuron stands three times, with readouts a_j, -a_j and 0. What does not depend on t, by far the largest part
    of the noise when t is small, is the same in all three and drops out; under the correlation loss neurons do not
    see one another, so that nothing else changes. With kinks the even part is a series in |t|, t^2, |t|^3, ..., the odd
    one in t, t |t|, t^3, ... (T6).
    """
    wide, readout = np.concatenate([W, W, W], axis=1), np.concatenate([a, -a, 0 * a])
    plus, minus, still = np.split(second_weights(wide, readout, batches, dsigma, (eta1, 0.0)), 3, axis=1)
    return np.asarray((plus + minus) / 2 - still), np.asarray((plus - minus) / 2)
