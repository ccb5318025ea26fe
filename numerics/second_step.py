"""Two gradient steps at scale, and the spikes of the second one measured by regression (T2, T6).

The data are never held: a batch draws its chunks again from its seed. The weights are updated in place and the
gradient is accumulated by BLAS without a temporary, so that W2 is formed in 2 N d floats and a chunk.

Convention: as numerics.network, W is d x N (columns are neurons); paper T's W is the transpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from numerics.network import Chunk, Floats, Function, mean_gradient, step_in_place
from theory.errors import InputError


def second_weights(
    W: Floats,
    a: Floats,
    batches: tuple[Iterable[Chunk], Iterable[Chunk]],
    dsigma: Function,
    steps: tuple[float, float],
) -> Floats:
    """Take two steps of the correlation loss in place: W becomes W2, and the second mean gradient is returned.

    W_{i+1} = W_i + eta_i (1/n) X^T [(y a^T) o sigma'(X W_i)]; the same batch twice is a reused batch.
    Errors: InputError if W is not a C-ordered array of floats with one column per readout entry.
    Source: T2; paper T's update.
    """
    if W.ndim != 2 or W.shape[1] != len(a) or not W.flags.c_contiguous or W.dtype.kind != "f":
        raise InputError("W", f"shape {W.shape} or layout does not fit a readout of {len(a)}", "give d x N floats")
    gradient = mean_gradient(W, batches[0], dsigma)
    step_in_place(W, a, gradient, steps[0])
    del gradient
    gradient = mean_gradient(W, batches[1], dsigma)
    step_in_place(W, a, gradient, steps[1])
    return np.asarray(gradient)


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


def regress(gradient: Floats, a: Floats, eta1: float, orders: int, kinked: bool = False) -> Regression:
    """Regress the columns of the mean gradient on 1, t, ..., t^(orders-1), t = eta1 a_j; `kinked` adds |t| (last).

    By T2 the coefficient of t^k is b_k = (1/n) X^T F_k and that of |t| is T6's further direction.
    Shapes/units: gradient (d, N), a (N,).
    Errors: InputError if the readout has too few distinct values to tell the columns apart.
    """
    t = eta1 * a
    columns = [t**k for k in range(orders)] + ([np.abs(t)] if kinked else [])
    design = np.stack(columns, axis=1)
    halves = []
    for half in (slice(0, None, 2), slice(1, None, 2)):
        coefficients, _, rank, _ = np.linalg.lstsq(design[half], gradient.T[half], rcond=None)
        if rank < design.shape[1]:
            raise InputError("readout", f"its powers span {rank} dimensions", f"{design.shape[1]} are needed")
        halves.append(np.asarray(coefficients.T))
    return Regression((halves[0], halves[1]))
