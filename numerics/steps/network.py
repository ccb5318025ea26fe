"""The two-layer network of paper O and its training, simulated exactly at finite size.

Everything streams over chunks of samples that are regenerated from a seed, so that neither the data (n x d) nor the
pre-activations (n x N) are ever held: the memory is a few matrices of the size of W. The heavy products run in the
array namespace of W (NumPy, or PyTorch, CuPy through array-api-compat).

Convention: W is d x N (columns are the neurons' weights), x ~ N(0, I_d), f(x) = N^(-1/2) sum_j a_j sigma(w_j.x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_cupy_array, is_torch_array, to_device
from numpy.typing import NDArray
from scipy.linalg import blas

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.trials.domain import LARGEST, SMALLEST, nonnegative
from bulkedge.theory.numbers.errors import ConvergenceError, InputError
from bulkedge.theory.steps.setting import Setting

Floats = NDArray[Any]  # float32 or float64
Function = Callable[[Floats], Floats]
Residual = Callable[[Floats, Floats], Floats]
Chunk = tuple[Floats, Floats]

CHUNK = 512  # samples a chunk: large enough for the products, small enough to stay in memory beside W


@dataclass(frozen=True)
class Teacher:
    """The labels' law: y = sum_r g_r(beta_r.x) + noise * N(0, 1).

    Shapes/units: `directions` d x r with orthonormal columns beta_r, one function of `links` a column; `noise` is a
    standard deviation.
    """

    directions: Floats
    links: tuple[Function, ...]
    noise: float = 0.0

    def labels(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Labels (n,) of inputs (n, d); the noise is drawn from `rng`."""
        indices = X @ self.directions
        y = self.noise * rng.standard_normal(len(X)) if self.noise else np.zeros(len(X))
        for r, g in enumerate(self.links):
            y += g(indices[:, r])
        return y


@dataclass(frozen=True)
class Batch:
    """A sample of `size` labelled inputs, drawn again from its seed each time it is iterated, chunk by chunk.

    Convention: the inputs and the noise have a stream each, so the sample does not depend on the chunk's length.
    Iterating twice gives the same sample: a batch that is used in two steps is a reused batch.
    """

    teacher: Teacher
    size: int
    seed: int
    chunk: int = CHUNK

    def __iter__(self) -> Iterator[Chunk]:
        # One stream for both would make the sample depend on where a chunk ends.
        inputs, noise = (np.random.default_rng(s) for s in np.random.SeedSequence(self.seed).spawn(2))
        for start in range(0, self.size, self.chunk):
            X = inputs.standard_normal((min(self.chunk, self.size - start), len(self.teacher.directions)))
            yield X, self.teacher.labels(X, noise)

    def arrays(self) -> Chunk:
        """The whole sample: X (n, d) and y (n,)."""
        X, y = zip(*self, strict=True)
        return np.concatenate(X), np.concatenate(y)


def draw_batch(teacher: Teacher, size: int, rng: np.random.Generator, chunk: int = CHUNK) -> Batch:
    """A fresh batch; only its seed is drawn here."""
    return Batch(teacher, size, int(rng.integers(2**63)), chunk)


def draw_directions(d: int, count: int, rng: np.random.Generator) -> Floats:
    """`count` orthonormal directions in dimension d, uniform (d x count)."""
    Q, R = np.linalg.qr(rng.standard_normal((d, count)))
    # QR alone is not uniform: Householder fixes signs. With those of R the columns are Haar distributed.
    return np.asarray(Q * np.sign(np.diag(R)))


def draw_weights(law: str, d: int, width: int, rng: np.random.Generator) -> Floats:
    """First-layer weights (d x N): columns N(0, I/d) (`gaussian`) or uniform on the unit sphere (`sphere`)."""
    W: Any = rng.standard_normal((d, width))
    W /= np.linalg.norm(W, axis=0) if law == "sphere" else float(np.sqrt(d))
    return np.asarray(W)


def draw_readout(law: str, width: int, rng: np.random.Generator) -> Floats:
    """Readout (N,) with E a_j^2 = 1/N: N(0, 1/N), +-N^(-1/2), uniform on +-(3/N)^(1/2), or all N^(-1/2)."""
    a: Floats
    if law == "gaussian":
        a = rng.standard_normal(width)
    elif law == "rademacher":
        a = np.asarray(rng.integers(0, 2, width) * 2.0 - 1.0)
    elif law == "uniform":
        a = rng.uniform(-np.sqrt(3), np.sqrt(3), width)
    else:
        a = np.ones(width)
    return np.asarray(a / np.sqrt(width))


def output(W: Any, a: Floats, X: Floats, sigma: Function) -> Floats:
    """The network's output (n,) at inputs (n, d)."""
    return np.asarray(sigma(_product(X, W)) @ a / np.sqrt(len(a)))


def mean_gradient(W: Any, batch: Iterable[Chunk], dsigma: Function, residual: Residual | None = None) -> Any:
    """(1/n) sum_i r_i x_i sigma'(x_i.W), d x N: a step's direction without the readout's factor a_j.

    `residual(pre-activations, y)` is the r of a loss; None is r = y, the correlation loss.
    Shapes/units: W (d, N), batch of chunks X (c, d), y (c,); precision and array namespace are those of W.
    Accuracy: rounding only; memory: one array of the size of W, and a few chunks.
    Source: O1, T2.
    """
    total, count = _zeros_like(W), 0
    for X, y in batch:
        P = _product(X, W)
        # In place on the derivative: chunk x N arrays are the memory that matters, and BLAS wants them contiguous.
        D = np.ascontiguousarray(dsigma(P), dtype=P.dtype)
        D *= np.asarray(y if residual is None else residual(P, y), dtype=P.dtype)[:, None]
        _add_product(total, X, D)
        count += len(X)
    total /= count
    return total


def gradient(W: Any, a: Floats, batch: Iterable[Chunk], sigma: Function, dsigma: Function, loss: str = "square") -> Any:
    """The direction of a step: (1/n) X^T [(r a^T) o sigma'(X W)], an array of the shape and namespace of W.

    It is -sqrt(N) times the gradient in W of the mean of (1/2)(y - f)^2 (`square`: r = y - f, own output included)
    or of -y f (`correlation`: r = y); paper O's G_0 times sqrt(N).

    Shapes/units: as `mean_gradient`, a (N,); `dsigma` is the a.e. derivative.
    Accuracy: rounding only.
    Source: O1; paper O, eq. of G_0 (with W_0 where the text prints W_1).
    """

    def residual(P: Floats, y: Floats) -> Floats:
        return np.asarray(y - sigma(P) @ a / np.sqrt(len(a)))

    total = mean_gradient(W, batch, dsigma, residual if loss == "square" else None)
    total *= _like(a, W)
    return total


def step_in_place(W: Any, a: Floats, gradient: Any, step: float) -> None:
    """W += step * gradient * a, one neuron a column, in blocks of rows so that nothing of the size of W is made."""
    scaled = _like(np.asarray(step * a), W)
    for start in range(0, W.shape[0], 256):
        rows = slice(start, min(start + 256, W.shape[0]))
        W[rows, :] += gradient[rows, :] * scaled


def gradient_step(
    W: Any,
    a: Floats,
    batch: Iterable[Chunk],
    sigma: Function,
    dsigma: Function,
    step: float,
    loss: str = "square",
) -> Any:
    """One gradient step W + eta sqrt(N) G (paper O's eta); W itself is left as it is.

    Source: O1; paper O, section 2.
    """
    direction = gradient(W, a, batch, sigma, dsigma, loss)
    direction *= step
    direction += W
    return direction


@dataclass(frozen=True)
class Trained:
    """A trained first layer: the weights before the first and after each step, and what they were trained on.

    Shapes/units: `weights` arrays d x N, W_0 first; `a` (N,); `batches` one a step (the same object if reused).
    """

    setting: Setting
    teacher: Teacher
    a: Floats
    weights: tuple[Any, ...]
    batches: tuple[Batch, ...]
    sigma: Function
    dsigma: Function

    @property
    def W(self) -> Any:
        """The weights after the last step."""
        return self.weights[-1]


def initialise(setting: Setting, rng: np.random.Generator) -> Trained:
    """The network at initialisation and its teacher, drawn from `rng` in this order: teacher, W, a."""
    links = tuple(vectorised(g) for g in setting.links)
    teacher = Teacher(draw_directions(setting.d, len(links), rng), links, float(setting.noise))
    W = draw_weights(setting.weights, setting.d, setting.width, rng)
    a = draw_readout(setting.readout, setting.width, rng)
    sigma, dsigma = vectorised(setting.activation), vectorised(setting.activation.derivative())
    return Trained(setting, teacher, a, (W,), (), sigma, dsigma)


def train(
    setting: Setting, rng: np.random.Generator, chunk: int = CHUNK, asarray: Callable[[Floats], Any] | None = None
) -> Trained:
    """Draw a network and its data and take the steps of the setting, exactly as paper O does.

    Shapes/units: see Trained; `chunk` only bounds the memory. `asarray` (torch.asarray, cupy.asarray, ...) puts the
    weights into another array library or precision, which then does the heavy products; the draws are the same.
    Accuracy: rounding only; the numbers depend on the generator alone.
    Source: O1, T2.
    """
    start = initialise(setting, rng)
    weights, batches = [start.W if asarray is None else asarray(start.W)], list[Batch]()
    for step in setting.steps:
        size = setting.batch
        assert size is not None  # a Setting with steps has a batch
        batch = batches[-1] if setting.reuse and batches else draw_batch(start.teacher, size, rng, chunk)
        W = gradient_step(weights[-1], start.a, batch, start.sigma, start.dsigma, float(step), setting.loss)
        weights.append(W)
        batches.append(batch)
    return Trained(setting, start.teacher, start.a, tuple(weights), tuple(batches), start.sigma, start.dsigma)


def features(W: Any, X: Floats, sigma: Function) -> Any:
    """Paper O's features Phi = sigma(X W)/sqrt(N), n x N, in the namespace of W."""
    return _like(np.asarray(sigma(_product(X, W)) / np.sqrt(W.shape[1])), W)


def ridge_readout(Phi: Any, y: Any, ridge: float) -> Any:
    """The minimiser a (N,) of (1/n)|y - Phi a|^2 + (ridge/N)|a|^2; the shortest one if ridge = 0.

    Accuracy: rounding; of the two equivalent systems the smaller one is solved, in the namespace of Phi.
    Errors: InputError for a negative ridge and for numbers that are not finite; ConvergenceError for a system that
    is singular in double precision.
    Source: O3; paper O, eq. of the ridge estimator.
    """
    nonnegative(ridge, "ridge")
    for array in (Phi, y):
        size = float(np.max(np.abs(_numpy(array)), initial=0.0))
        if not (size == 0 or SMALLEST <= size <= LARGEST):
            raise InputError("features or labels", f"reach {size:g}", f"stay within {SMALLEST:g}..{LARGEST:g}")
    xp, (n, width) = array_namespace(Phi), Phi.shape
    y = _like(_numpy(y), Phi)
    penalty = ridge * n / width
    if penalty == 0:
        return xp.linalg.pinv(Phi) @ y
    eye = xp.eye(min(n, width), dtype=Phi.dtype, device=device(Phi))
    if n < width:
        return Phi.T @ _solve(xp, Phi @ Phi.T + penalty * eye, y)
    return _solve(xp, Phi.T @ Phi + penalty * eye, Phi.T @ y)


def _solve(xp: Any, A: Any, b: Any) -> Any:
    try:
        return xp.linalg.solve(A, b[:, None])[:, 0]
    except np.linalg.LinAlgError:
        raise ConvergenceError("the ridge is too small for these features: the system is singular") from None


@dataclass(frozen=True)
class RidgeRisk:
    """Mean squared errors of a ridge read-out: `train` on its sample, `test` on fresh noisy labels, and the readout."""

    train: float
    test: float
    readout: Floats


def ridge_risk(trained: Trained, rng: np.random.Generator, test: int, step: int = -1) -> RidgeRisk:
    """Fit the read-out on a fresh sample of the features after step `step` (default: the last) and test it.

    Shapes/units: `test` fresh samples; the test error includes the labels' noise.
    Errors: InputError if the setting names no ridge or no training sample.
    Source: O3; paper O, section 2 (the sample of the fit is independent of the steps').
    """
    setting = trained.setting
    if setting.train is None or setting.ridge is None:
        raise InputError("train" if setting.train is None else "ridge", "missing", "a read-out needs both")
    W = trained.weights[step]
    X, y = draw_batch(trained.teacher, setting.train, rng).arrays()
    Phi = features(W, X, trained.sigma)
    a = ridge_readout(Phi, y, float(setting.ridge))
    errors = 0.0
    for X_new, y_new in draw_batch(trained.teacher, test, rng):
        errors += float(np.sum((y_new - _numpy(features(W, X_new, trained.sigma) @ a)) ** 2))
    return RidgeRisk(float(np.mean((y - _numpy(Phi @ a)) ** 2)), errors / test, _numpy(a))


def _zeros_like(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return np.zeros(array.shape, array.dtype)  # C-ordered, whatever the order of the array
    return array_namespace(array).zeros_like(array)


def _like(array: Floats, model: Any) -> Any:
    """`array` in the namespace, precision and device of `model`."""
    if isinstance(model, np.ndarray):
        return array.astype(model.dtype, copy=False)
    return array_namespace(model).asarray(array, dtype=model.dtype, device=device(model))


def _numpy(array: Any) -> Floats:
    """An array of any namespace as NumPy's, for the scalar functions."""
    if is_torch_array(array) or is_cupy_array(array):
        array = to_device(array, "cpu")
    return array if isinstance(array, np.ndarray) else np.from_dlpack(array)


def _product(X: Floats, W: Any) -> Floats:
    """X @ W, computed where W lives, returned as NumPy floats of W's precision."""
    return _numpy(_like(X, W) @ W)


def _add_product(total: Any, X: Floats, D: Floats) -> None:
    """total += X^T D, computed where the total lives."""
    if not isinstance(total, np.ndarray):
        total += _like(X, total).T @ _like(D, total)
        return
    gemm: Any = blas.sgemm if total.dtype == np.float32 else blas.dgemm
    X = np.ascontiguousarray(X, dtype=total.dtype)
    # total^T += D^T X in Fortran order, which is total += X^T D in ours, without a temporary of N d floats.
    gemm(1.0, D.T, X.T, beta=1.0, c=total.T, trans_b=1, overwrite_c=1)
