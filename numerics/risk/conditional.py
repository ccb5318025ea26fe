"""Ridge risk of given first-layer weights by conditional Gaussian equivalence (L1), at any step size.

Condition on kappa = U^T x, U the r spike directions. Given kappa the features sigma(W^T x) behave as Gaussian with mean
m and covariance C = D1 R^T R D1 + D3 (R^T R)^{.2} D3/2 + D2, R the part of W orthogonal to U, D1 and D3 the means of
sigma' and sigma'' and D2 what is left of the variances. The term in D3 is small but for one direction, about
(1/2d) s s^T with s_j = |r_j|^2 E sigma'': the length |x|, which all features share. A large multiple of the features'
mean that fits a link's mean carries it along, at the cost mean^2 (E sigma'')^2/(2 d mu0^2). With S = C + m m^T and
un-normalised features,

    Q = (lam + E[S v])^-1,   v = 1/(1 + delta),   delta(kappa) = tr(S(kappa) Q)/n

is the deterministic equivalent of the ridge estimator, theta = Q E[c v] its mean. The test risk is the total derivative
of the minimum in t (v -> v + t): with R(kappa) the risk of theta at kappa,

    T(kappa) = R(kappa) + (1/n) E_kappa'[ tr(S(kappa) Q S(kappa') Q) T(kappa')/(1 + delta(kappa'))^2 ],

test = E T, train = E[T/(1 + delta)^2]. That is the derivative through delta in closed form: no finite differences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.functions.legendre import legendre, normal_density
from bulkedge.numerics.risk.fixed_point import FixedPoint, fixed_point
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

TOLERANCE = 1e-10
MAX_ITERATIONS = 120
# Nodes for kappa by the number of directions; points whose weight is below the tolerance are dropped.
NODES = {0: 1, 1: 48, 2: 24, 3: 16}


@dataclass(frozen=True)
class Moments:
    """E f(h), E f'(h), E f''(h) and E f(h)^2 for h = mean + std xi, elementwise (f', f'' as distributions)."""

    mean: Array
    slope: Array
    curvature: Array
    second: Array


def local_moments(f: Function, kinks: Sequence[float], mean: Array, std: Array) -> Moments:
    """Gaussian moments of f around each mean, by Gauss-Legendre panels within 9 std that end at the kinks.

    Accuracy: the number of panels is doubled until a few elements change by less than 1e-10 relative to their size.
    Errors: InputError for a std that is not positive (a derivative at a kink would not exist), for an f that overflows,
    and for one that no number of panels resolves.
    """
    mean, std = np.broadcast_arrays(mean, std)
    if not np.all(std > 0):
        raise InputError("weights", "a column lies within the spike directions", "give fewer directions")
    flat = np.stack([mean.ravel(), std.ravel()], axis=1)
    # The elements by which the number of panels is chosen: extremes of mean and std, and an even selection.
    probe = {int(i) for column in flat.T for i in (np.argmin(column), np.argmax(column), np.argmin(np.abs(column)))}
    probe |= set(range(0, len(flat), max(1, len(flat) // 12)))
    chosen = flat[sorted(probe)]
    panels = 12
    previous = _raw_moments(f, kinks, chosen, panels)
    while True:
        panels *= 2
        finer = _raw_moments(f, kinks, chosen, panels)
        # The square root of the second moment, which underflows long before the moments themselves.
        scale = max(np.sqrt(np.max(np.abs(finer[:, 3]))), np.max(np.abs(finer[:, :3]))) + 1e-300
        if np.max(np.abs(finer[:, :3] - previous[:, :3])) <= 1e-10 * scale:
            break
        if panels >= MAX_PANELS:
            raise InputError("function", "varies too fast for this step", "take a smaller step or a smoother function")
        previous = finer
    out = _raw_moments(f, kinks, flat, panels // 2)
    first, with_x, with_x2, second = (out[:, i].reshape(mean.shape) for i in range(4))
    return Moments(first, with_x / std, (with_x2 - first) / std**2, second)


MAX_PANELS = 1536


def _raw_moments(f: Function, kinks: Sequence[float], elements: Array, panels: int) -> Array:
    """E f(m + s x) (1, x, x^2) and E f^2 for rows (m, s) of `elements`, `panels` panels between two kinks."""
    nodes, weights = legendre(12)
    unit = ((np.arange(panels)[:, None] + (1 + nodes) / 2) / panels).ravel()
    unit_weights = np.tile(weights / 2 / panels, panels)
    out = np.zeros((len(elements), 4))
    chunk = max(1, 60_000 // unit.size)  # a few arrays of half a megabyte: they stay in the cache
    with np.errstate(over="ignore", invalid="ignore"):
        if not kinks:  # one rule for every row
            x = 18 * unit - 9
            rule = 18 * unit_weights * normal_density(x) * np.array([np.ones_like(x), x, x**2])
            for start in range(0, len(elements), chunk):
                m, s = elements[start : start + chunk].T[:, :, None]
                value = f(m + s * x)
                out[start : start + chunk, :3] = value @ rule.T
                value *= value
                out[start : start + chunk, 3] = value @ rule[0]
        for start in range(0, len(elements) if kinks else 0, chunk):
            m, s = elements[start : start + chunk].T[:, :, None]
            stops = [np.full_like(m, -9.0), *(np.clip((b - m) / s, -9.0, 9.0) for b in kinks), np.full_like(m, 9.0)]
            for low, high in itertools.pairwise(stops):
                x = low + (high - low) * unit
                value = f(m + s * x)
                weighted = (high - low) * unit_weights * normal_density(x) * value
                with_x = weighted * x
                sums = (weighted.sum(1), with_x.sum(1), (with_x * x).sum(1), (weighted * value).sum(1))
                out[start : start + chunk] += np.stack(sums, axis=1)
    if not np.all(np.isfinite(out)):
        raise InputError("function", "overflows at this step", "take a smaller step or a function that grows less")
    return out


def gauss_nodes(directions: int, count: int | None = None) -> tuple[Array, Array]:
    """Tensor Gauss-Hermite nodes (K x r) and weights for kappa ~ N(0, I_r); r = 0 is a single node."""
    x, w = np.polynomial.hermite_e.hermegauss(count or NODES[directions])
    w = w / w.sum()
    points = np.array(list(itertools.product(x, repeat=directions))).reshape(len(x) ** directions, directions)
    weights = np.array([math.prod(c) for c in itertools.product(w, repeat=directions)])
    keep = weights > 1e-13
    return points[keep], weights[keep] / weights[keep].sum()


@dataclass(frozen=True)
class ConditionalModel:
    """Features and label given kappa at K nodes.

    Shapes: `weights` K; `mean`, `slope` (D1), `curvature` (D3), `diagonal` (D2) K x N; `gram` = R^T R and `gram2` =
    (R^T R)^{.2}/2, N x N; `label`, `label2`, `label_slope`, `label_curvature` (E g', E g'' given kappa) K; `signal` =
    R^T beta_perp and `signal2` = (R^T beta_perp)^{.2}/2, N.
    """

    weights: Array
    mean: Array
    slope: Array
    curvature: Array
    diagonal: Array
    gram: Array
    gram2: Array
    label: Array
    label2: Array
    label_slope: Array
    label_curvature: Array
    signal: Array
    signal2: Array


def conditional_model(
    W: Array,
    directions: Array,
    beta: Array,
    activation: Function,
    link: Function,
    *,
    noise: float = 0.0,
    kinks: Sequence[float] = (),
    link_kinks: Sequence[float] = (),
    count: int | None = None,
) -> ConditionalModel:
    """The conditional model of given weights.

    Shapes: W is d x N (a neuron a column), directions d x r with r in 0..3 (need not be orthonormal), beta d, of unit
    norm. Label: y = link(beta.x) + noise N(0, 1).
    Errors: InputError for shapes that do not fit, dependent directions, or numbers that are not finite.
    """
    d = W.shape[0]
    if W.ndim != 2 or beta.shape != (d,) or directions.ndim != 2 or directions.shape[0] != d:
        raise InputError("weights", f"shapes {W.shape}, {directions.shape}, {beta.shape} do not fit", "give d x N")
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(directions)) and np.all(np.isfinite(beta))):
        raise InputError("weights", "not all entries are finite", "give a finite matrix")
    r = directions.shape[1]
    if r not in NODES:
        raise InputError("directions", f"{r} spike directions", f"give at most {max(NODES)}")
    U, triangle = np.linalg.qr(directions)
    if r and np.min(np.abs(np.diag(triangle))) < 1e-10 * np.max(np.abs(directions)):
        raise InputError("directions", "are linearly dependent", "give independent directions")
    beta = beta / np.linalg.norm(beta)
    kappa, weights = gauss_nodes(r, count)
    spike = U.T @ W
    R = W - U @ spike
    if not 1e-60 <= np.max(np.abs(W)) <= 1e60:
        raise InputError("weights", f"the largest entry is {np.max(np.abs(W)):.1g}", "give weights nearer to 1")
    gram = R.T @ R
    norm2 = np.diag(gram).copy()
    if not np.all(norm2 > 1e-12 * np.sum(W**2, axis=0)):  # a smaller rest is rounding error
        raise InputError("weights", "a neuron lies within the span of the spikes", "take fewer spikes, or leave it out")
    m = local_moments(activation, kinks, kappa @ spike, np.sqrt(norm2))
    along = U.T @ beta
    rest = math.sqrt(max(0.0, 1 - float(along @ along)))
    if rest > 1e-6:
        y = local_moments(link, link_kinks, kappa @ along, np.full(len(weights), rest))
    else:  # beta lies within the directions: the label is a function of kappa
        values = link(kappa @ along)
        y = Moments(values, np.zeros_like(values), np.zeros_like(values), values**2)
    signal = R.T @ (beta - U @ along)
    explained = m.mean**2 + m.slope**2 * norm2 + m.curvature**2 * norm2**2 / 2
    return ConditionalModel(
        weights,
        m.mean,
        m.slope,
        m.curvature,
        np.maximum(m.second - explained, 0.0),
        gram,
        gram**2 / 2,
        y.mean,
        y.second + noise**2,
        y.slope,
        y.curvature,
        signal,
        signal**2 / 2,
    )


@dataclass(frozen=True)
class ConditionalRisk:
    """Test and training risk, both with the noise included, and how they were reached.

    `status` is "converged" (a result that is not raises instead); `residual` the relative change of delta by one more
    iteration; `iterations` the number of N x N inverses.
    """

    test: float
    train: float
    iterations: int
    residual: float
    status: str


def _average(model: ConditionalModel, v: Array) -> Array:
    """sum_k v_k S_k for node weights v."""
    total = model.gram * (model.slope.T @ (model.slope * v[:, None]))
    total += model.gram2 * (model.curvature.T @ (model.curvature * v[:, None]))
    total += model.mean.T @ (model.mean * v[:, None])
    total[np.diag_indices_from(total)] += v @ model.diagonal
    return total


def _traces(model: ConditionalModel, Q: Array) -> Array:
    """tr(S_k Q) for every node k."""
    inner: Array = np.einsum("kj,kj->k", model.slope @ (model.gram * Q), model.slope)
    inner += np.einsum("kj,kj->k", model.curvature @ (model.gram2 * Q), model.curvature)
    inner += np.einsum("kj,kj->k", model.mean @ Q, model.mean)
    inner += model.diagonal @ np.diag(Q)
    return inner


def _inverse(A: Array) -> Array:
    """The inverse of a symmetric positive definite matrix (LU: with OpenBLAS four times faster than dpotri)."""
    try:
        inverse: Array = np.asarray(np.linalg.inv(A), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise ConvergenceError("the regularised population matrix is singular; use a larger ridge") from None
    return inverse


def _resolvent(model: ConditionalModel, n: int, lam: float, delta: Array) -> tuple[Array, Array]:
    """Q and the next delta."""
    A = _average(model, model.weights / (1 + delta))
    A[np.diag_indices_from(A)] += lam
    Q = _inverse(A)
    return Q, _traces(model, Q) / n


def conditional_risk(model: ConditionalModel, n: int, lam: float) -> ConditionalRisk:
    """Test and training risk of ridge regression on n samples, min (1/n)|y - Phi th|^2 + lam |th|^2.

    Convention: un-normalised features, so lam is paper O's (there (lam/N)|th|^2 on features over sqrt N).
    Accuracy: the fixed point to 1e-10 (Anderson acceleration in log delta), the derivative's linear equation to 1e-12.
    Errors: InputError for a ridge or a sample size that is not positive; ConvergenceError.
    Source: L1.
    """
    if not lam > 0 or not math.isfinite(lam):
        raise InputError("ridge", f"{lam} is not positive", "give a ridge above 0")
    if n < 1:
        raise InputError("samples", f"{n} is not a sample size", "give at least one")
    second = model.mean**2 + model.slope**2 * np.diag(model.gram) + model.curvature**2 * np.diag(model.gram2)
    size = float(np.max(model.weights @ (model.diagonal + second)))
    delta = np.full(len(model.weights), model.gram.shape[0] * size / (n * lam + model.gram.shape[0] * size) + 0.1)

    def image(delta: Array) -> tuple[Array, Array]:
        Q, new = _resolvent(model, n, lam, delta)
        return new, Q

    found = fixed_point(image, delta, what="delta(kappa)", tolerance=TOLERANCE, iterations=MAX_ITERATIONS, memory=6)
    return _risk_at(model, n, found)


def covariance_with_label(model: ConditionalModel, v: Array) -> Array:
    """b = sum_k v_k (m E y + D1 R^T beta E g' + D3 (R^T beta)^{.2} E g''/2)_k: E[features y] at node weights v."""
    b = model.mean.T @ (v * model.label) + (model.slope.T @ (v * model.label_slope)) * model.signal
    return np.asarray(b + (model.curvature.T @ (v * model.label_curvature)) * model.signal2)


def _risk_at(model: ConditionalModel, n: int, found: FixedPoint[Array]) -> ConditionalRisk:
    delta, Q = found.value, found.extra
    theta = Q @ covariance_with_label(model, model.weights / (1 + delta))
    fitted = model.mean @ theta
    # E[(y - phi.theta)^2 | kappa] = E y^2 - 2 c.theta + theta.S theta.
    scaled, bent = model.slope * theta, model.curvature * theta
    shared = scaled @ model.signal * model.label_slope + bent @ model.signal2 * model.label_curvature
    spread = np.einsum("kj,kj->k", scaled @ model.gram, scaled) + np.einsum("kj,kj->k", bent @ model.gram2, bent)
    spread += model.diagonal @ theta**2
    own = model.label2 - 2 * (fitted * model.label + shared) + fitted**2 + spread
    damping = model.weights / (1 + delta) ** 2
    T = _derivative(model, n, Q, own, damping)
    return ConditionalRisk(float(model.weights @ T), float(damping @ T), found.iterations, found.residual, "converged")


def _derivative(model: ConditionalModel, n: int, Q: Array, own: Array, damping: Array) -> Array:
    """Solve T = own + A T, A T = (1/n) tr(S_k Q (sum_l damping_l T_l S_l) Q), by GMRES with a small Krylov space.

    A is positive and compact (its numerical rank is the number of moments of kappa that matter), so that a dozen
    products of two N x N matrices suffice.
    """

    def apply(T: Array) -> Array:
        return _traces(model, Q @ _average(model, damping * T) @ Q) / n

    basis = [own / np.linalg.norm(own)]
    images: list[Array] = []
    for _ in range(40):
        images.append(apply(basis[-1]))
        V, AV = np.stack(basis, axis=1), np.stack(images, axis=1)
        y = np.linalg.lstsq(V - AV, own, rcond=None)[0]
        error = float(np.linalg.norm(own - (V - AV) @ y) / np.linalg.norm(own))
        if error < 1e-12:
            break
        new = images[-1]
        for _ in range(2):  # twice is enough (Kahan)
            new = new - V @ (V.T @ new)
        norm = float(np.linalg.norm(new))
        if norm < 1e-14 * float(np.linalg.norm(images[-1])):
            break
        basis.append(new / norm)
    if error > 1e-9:
        raise ConvergenceError(f"the derivative's linear equation was solved to {error:.1e} only")
    result: Array = V @ y
    return result
