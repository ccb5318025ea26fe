"""The risk after one step of any size, from 0 to Theta(sqrt N), as a closed fixed point in a few dozen unknowns (L1).

numerics/risk/conditional.py takes given weights; here they are the typical ones after a step: neuron j has the spike
component s_j = eta mu1 |u| a_j along u = X^T y/n1 and an isotropic rest of norm c_j,

    c_j^2 = (1 + eta a_j E y E sigma'')^2 + (eta a_j)^2 v,   v = E y^2 Var(sigma'(z))/alpha,

so everything depends on the readout a_j alone. Neurons are grouped by a quadrature of its law. With V = diag(w_k v_k)
over the nodes of kappa and slopes d1_g = E[sigma'|kappa] of group g (vectors over the nodes), the bulk's resolvent is
q_g = 1/(lam + V.D2_g + c_g^2 d1_g^T H d1_g), H = (V^-1 + P)^-1, P = (N/d) sum_g pi_g c_g^2 q_g d1_g d1_g^T; the means
add M = N sum_g pi_g q_g m_g m_g^T + ..., E = (V^-1 + M)^-1, and the minimum is

    F = sum V E[y^2|kappa] - h^T (V - E) h - |beta_perp|^2 h'^T (V - H) h',  h = E[y|kappa], h' = E[g'|kappa].

Everything is explicit, its derivatives too. At eta = Theta(1) it is O3, with one value of a_j and N -> inf it is C1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.risk.conditional import ConditionalRisk, anderson, gauss_nodes, local_moments
from bulkedge.theory.numbers.errors import ConvergenceError, InputError

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

MAX_ITERATIONS = 400
TOLERANCE = 1e-12
PATIENCE = 60  # iterations after which rounding is taken to be what is left


def readout_nodes(law: str, count: int = 40) -> tuple[Array, Array]:
    """Values of sqrt(N) a_j and their weights: exact for rademacher and constant, a Gauss rule for the others."""
    if law == "rademacher":
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    if law == "constant":
        return np.array([1.0]), np.array([1.0])
    if law == "gaussian":
        x, w = np.polynomial.hermite_e.hermegauss(count)
    elif law == "uniform":
        x, w = np.polynomial.legendre.leggauss(count)
        x = math.sqrt(3) * x
    else:
        raise InputError("readout", f"{law!r} is not known", "choose one of gaussian, rademacher, uniform, constant")
    return x, w / w.sum()


@dataclass(frozen=True)
class Pair:
    """An activation and a link as floats: callables, kinks, and the moments that the step depends on.

    `slope_variance` = Var sigma'(z), `curvature` = E sigma''(z) (distributional), `link_mean` = E g, `link_second` =
    E g^2, `link_slope` = E[z g] (the link's mu1*).
    """

    activation: Function
    kinks: tuple[float, ...]
    mu0: float
    mu1: float
    slope_variance: float
    curvature: float
    link: Function
    link_kinks: tuple[float, ...]
    link_mean: float
    link_slope: float
    link_second: float


@dataclass(frozen=True)
class _Groups:
    """Functions of (group, node), and the label's functions of the node."""

    weights: Array
    share: Array  # pi_g
    c2: Array
    mean: Array
    slope: Array
    rest: Array  # D2
    curvature: Array
    kappa: Array
    label: Array
    label2: Array
    label_slope: Array
    perpendicular: float  # |beta_perp|^2


def one_step_groups(
    pair: Pair, eta: float, alpha: float, width: int, noise: float, readout: str, count: int | None = None
) -> _Groups:
    """The groups of neurons after a step of size eta (paper O's units) at width N."""
    values, share = readout_nodes(readout)
    scaled = eta / math.sqrt(width) * values  # eta a_j
    # A constant readout has the output f = mu0 + o(1), which the residual y - f takes off the label.
    shift = pair.mu0 if readout == "constant" else 0.0
    mean = pair.link_mean - shift
    second = pair.link_second - 2 * shift * pair.link_mean + shift**2 + noise**2
    norm = math.sqrt(pair.link_slope**2 + second / alpha)
    v = second * pair.slope_variance / alpha
    spike = scaled * pair.mu1 * norm
    c2 = (1 + scaled * mean * pair.curvature) ** 2 + scaled**2 * v
    kappa_, weights = gauss_nodes(1, count)
    kappa = kappa_[:, 0]
    c = np.sqrt(c2)[:, None]
    m = local_moments(pair.activation, pair.kinks, spike[:, None] * kappa, np.broadcast_to(c, (len(c), len(kappa))))
    along = pair.link_slope / norm if norm > 0 else 0.0
    rest = math.sqrt(max(0.0, 1 - along**2))
    y = local_moments(pair.link, pair.link_kinks, along * kappa, np.full(len(kappa), max(rest, 1e-9)))
    diagonal = np.maximum(m.second - m.mean**2 - m.slope**2 * c2[:, None], 0.0)
    return _Groups(
        weights, share, c2, m.mean, m.slope, diagonal, m.curvature, kappa, y.mean, y.second + noise**2, y.slope, rest**2
    )


@dataclass(frozen=True)
class _State:
    """The resolvent at given v: V, q, P, H, M, E."""

    V: Array
    q: Array
    P: Array
    H: Array
    M: Array
    E: Array


def _bulk(g: _Groups, V: Array, q: Array, psi2: float) -> tuple[Array, Array]:
    """P and H = (V^-1 + P)^-1, the latter without dividing by a small V."""
    P = (g.slope.T * (psi2 * g.share * g.c2 * q)) @ g.slope
    return P, _shrunk(V, P)


def _shrunk(V: Array, P: Array) -> Array:
    """(V^-1 + P)^-1 for a positive diagonal V."""
    root = np.sqrt(V)
    inner = np.linalg.inv(np.eye(len(V)) + root[:, None] * P * root)
    return np.asarray(root[:, None] * inner * root)


def _state(g: _Groups, V: Array, q: Array, psi2: float, width: int, sphere: bool) -> _State:
    P, H = _bulk(g, V, q, psi2)
    return _State(V, q, P, H, *_means(g, V, q, P, psi2, width, sphere))


def _next_q(g: _Groups, V: Array, q: Array, psi2: float, lam: float) -> Array:
    _, H = _bulk(g, V, q, psi2)
    return np.asarray(1 / (lam + g.rest @ V + g.c2 * np.einsum("gk,kl,gl->g", g.slope, H, g.slope)))


def _means(g: _Groups, V: Array, q: Array, P: Array, psi2: float, width: int, sphere: bool) -> tuple[Array, Array]:
    """M: the groups' means, the weights' own component along u, and (Gaussian weights) the fluctuation of |w_j|^2."""
    M = (g.mean.T * (width * g.share * q)) @ g.mean + P * np.outer(g.kappa, g.kappa)
    if not sphere:
        M += (g.curvature.T * (psi2 * g.share * q * g.c2**2 / 2)) @ g.curvature
    return M, _shrunk(V, M)


def _next_delta(g: _Groups, s: _State, n: float, d: float, width: int, psi2: float, sphere: bool) -> Array:
    """delta(kappa) = tr(S Q)/n: bulk, residual variances, means.

    The means' part diag(M - M E M) has M ~ N and would lose N eps: with B^T B = V^(1/2) M V^(1/2) = U s^2 U^T it is the
    positive sum of U^2 s^2/(1 + s^2) over V.
    """
    bulk = d * np.diag(s.P - s.P @ s.H @ s.P)
    rows = [
        np.sqrt(coefficient * s.q)[:, None] * vectors
        for coefficient, vectors in _weights_of("means", g, psi2, width, sphere)
    ]
    _, values, U = np.linalg.svd(np.concatenate(rows) * np.sqrt(s.V), full_matrices=False)
    mean = (values**2 / (1 + values**2)) @ U**2 / s.V
    return np.asarray((np.maximum(bulk, 0.0) + width * (g.share * s.q) @ g.rest + mean) / n)


def one_step_risk(
    pair: Pair,
    psi1: float,
    psi2: float,
    lam: float,
    eta: float,
    width: int,
    *,
    alpha: float | None = None,
    noise: float = 0.0,
    readout: str = "gaussian",
    weights: str = "gaussian",
    count: int | None = None,
) -> ConditionalRisk:
    """Test and training risk (noise included) after one step of size eta at width N, eta from 0 to Theta(sqrt N).

    Valid for: proportional limit; conjectured. The rest of the first step is taken isotropic, though its covariance is
    that of the batch: at eta = Theta(sqrt N) this misses a little (measured with L1 on the same weights: 2 % for ReLU
    on tanh and 1.4 % for tanh on tanh at n1 = d, .8 % for erf on erf at n1 = 5 d); at eta = Theta(1) nothing.
    Shapes/units: psi1 = n/d, psi2 = N/d, alpha = n1/d, lam paper O's ridge, eta paper O's step at this width.
    Accuracy: fixed point to 1e-12; finite width enters through a_j ~ N^(-1/2) and the number of neurons a group has.
    Errors: InputError for numbers that are not usable; ConvergenceError.
    Source: L1 (large N), O3 and C1 as special cases.
    """
    _check(psi1, psi2, lam, eta, width, alpha, noise)
    d = width / psi2
    n = psi1 * d
    g = one_step_groups(pair, eta, alpha if alpha is not None else psi1, width, noise, readout, count)
    sphere = weights == "sphere"
    nodes = len(g.weights)
    point = np.concatenate([np.full(nodes, -0.7), np.full(len(g.share), -math.log(lam + 1))])
    relevance = np.concatenate([np.sqrt(g.weights), np.ones(len(g.share))])  # a node's delta counts with its weight
    xs: list[Array] = []
    gs: list[Array] = []
    residual = math.inf
    for iteration in range(1, MAX_ITERATIONS + 1):
        # log delta and log q in one Anderson iteration; both maps are monotone, so a fresh start always helps.
        V, q = g.weights / (1 + np.exp(point[:nodes])), np.exp(point[nodes:])
        try:
            with np.errstate(all="ignore"):
                new_q = _next_q(g, V, q, psi2, lam)
                s = _state(g, V, new_q, psi2, width, sphere)
                delta = _next_delta(g, s, n, d, width, psi2, sphere)
        except np.linalg.LinAlgError:
            delta = np.zeros(nodes)
        if not (np.all(np.isfinite(delta)) and np.all(delta > 0) and np.all(new_q > 0)):
            raise ConvergenceError("delta(kappa) left double precision; take a larger ridge or a smaller activation")
        image = np.concatenate([np.log(delta), np.log(new_q)])
        previous, residual = residual, float(np.max(np.abs(image - point) * relevance))
        # The means' matrix has size N beside terms of order one: rounding leaves N eps of delta.
        settled = TOLERANCE if iteration < PATIENCE else 1e3 * TOLERANCE
        if residual < max(settled, 1e-15 * width):
            try:
                with np.errstate(all="ignore"):  # what is not finite is refused there
                    return _risk(g, s, delta, n, d, psi2, width, sphere, iteration, residual)
            except np.linalg.LinAlgError:
                raise ConvergenceError("the derivative's linear system is singular; take a larger ridge") from None
        if residual > 2 * previous:
            xs, gs = [], []
        xs, gs = [*xs[-8:], point], [*gs[-8:], image]
        point = anderson(xs, gs)
        if not np.all(np.abs(point) < 300):
            point, xs, gs = image, [], []
    raise ConvergenceError(f"delta(kappa) did not converge in {MAX_ITERATIONS} steps (change {residual:.1e})")


def small_step_risk(
    pair: Pair,
    psi1: float,
    psi2: float,
    lam: float,
    eta: float,
    *,
    alpha: float | None = None,
    noise: float = 0.0,
    weights: str = "gaussian",
) -> tuple[float, float, float]:
    """Test and training risk (noise included) in the limit N -> inf at eta = Theta(1), and a bound of the error.

    Valid for: any activation and link, also a link with a mean that an activation without one fits through the
    fluctuation of |w_j|^2 (the case that theory.risk.ridge.test_risk leaves out).
    Accuracy: Richardson extrapolation in 1/N at three widths; the change of the last extrapolation is the error.
    """
    risks = [
        one_step_risk(pair, psi1, psi2, lam, eta, N, alpha=alpha, noise=noise, weights=weights, readout="rademacher")
        for N in (10_000, 20_000, 40_000)
    ]
    first, last = (2 * b.test - a.test for a, b in itertools.pairwise(risks))
    return last, 2 * risks[2].train - risks[1].train, abs(last - first) + 1e-10 * last


def _risk(
    g: _Groups,
    s: _State,
    delta: Array,
    n: float,
    d: float,
    psi2: float,
    width: int,
    sphere: bool,
    steps: int,
    res: float,
) -> ConditionalRisk:
    """T = R + K T with K from the Jacobian of tr(S Q) in V, by differentiating the fixed point of q."""
    # dq_g/dV_k: q_g^-1 = lam + D2_g.V + c_g^2 d1_g^T H d1_g and dH = H V^-2 dV H - H dP H.
    HV = s.H / s.V  # H V^-1, columns scaled
    pull = g.slope @ HV  # (d1_g^T H V^-1)_k
    inner = g.slope @ s.H @ g.slope.T
    q2 = s.q[:, None] ** 2
    feedback = np.eye(len(s.q)) - q2 * g.c2[:, None] * inner**2 * (psi2 * g.share * g.c2)
    dq: Array = -np.asarray(
        np.linalg.solve(feedback, q2 * (g.rest + g.c2[:, None] * pull**2)), dtype=np.float64
    )  # (G, K)
    own = g.label2 - _drop(g.label, HV=None, state=s, which="means", g=g, dq=dq, psi2=psi2, width=width, sphere=sphere)
    own = own - g.perpendicular * _drop(
        g.label_slope, HV=HV, state=s, which="bulk", g=g, dq=dq, psi2=psi2, width=width, sphere=sphere
    )
    jacobian = _trace_jacobian(g, s, dq, d, psi2, width, sphere)  # d(n delta_k)/dV_l, negative
    damping = g.weights / (1 + delta) ** 2
    T: Array = np.asarray(np.linalg.solve(np.eye(len(own)) + jacobian.T * damping / n, own), dtype=np.float64)
    if not np.all(np.isfinite(T)):
        raise ConvergenceError("the risk left double precision; take a larger ridge or a smaller activation")
    return ConditionalRisk(float(g.weights @ T), float(damping @ T), steps, res, "converged", T)


def _weights_of(which: str, g: _Groups, psi2: float, width: int, sphere: bool) -> list[tuple[Array, Array]]:
    """P or M as sum_t sum_g coefficient_tg q_g x_tg x_tg^T: the list of (coefficients, vectors)."""
    bulk = (psi2 * g.share * g.c2, g.slope)
    if which == "bulk":
        return [bulk]
    terms = [(width * g.share, g.mean), (bulk[0], g.slope * g.kappa)]
    return terms if sphere else [*terms, (psi2 * g.share * g.c2**2 / 2, g.curvature)]


def _drop(
    h: Array,
    *,
    HV: Array | None,
    state: _State,
    which: str,
    g: _Groups,
    dq: Array,
    psi2: float,
    width: int,
    sphere: bool,
) -> Array:
    """d/dV_k of h^T (V - X) h, X = H or E: h_k^2 - ((X V^-1)^T h)_k^2 + sum_g dP-terms."""
    X = state.H if which == "bulk" else state.E
    XV = X / state.V if HV is None else HV
    result = h**2 - (h @ XV) ** 2
    left = h @ X
    for coefficient, vectors in _weights_of(which, g, psi2, width, sphere):
        result = result + (coefficient * (vectors @ left) ** 2) @ dq
    return np.asarray(result)


def _trace_jacobian(g: _Groups, s: _State, dq: Array, d: float, psi2: float, width: int, sphere: bool) -> Array:
    """d(tr S_k Q)/dV_l of the three parts of `_next_delta`."""
    total = width * g.rest.T @ (g.share[:, None] * dq)
    for which, scale, Y, X in (("bulk", d, s.P, s.H), ("means", 1.0, s.M, s.E)):
        # diag(Y - Y X Y): I - X Y = X V^-1 gives -(Y X V^-1)^2 dV + diag(V^-1 X dY X V^-1).
        YXV = Y @ X / s.V
        total = total - scale * YXV**2
        XV = X / s.V
        for coefficient, vectors in _weights_of(which, g, psi2, width, sphere):
            total = total + scale * ((vectors @ XV) ** 2 * coefficient[:, None]).T @ dq
    return np.asarray(total)


def _check(psi1: float, psi2: float, lam: float, eta: float, width: int, alpha: float | None, noise: float) -> None:
    for name, value in (
        ("samples", psi1),
        ("width", psi2),
        ("ridge", lam),
        ("batch", psi1 if alpha is None else alpha),
    ):
        if not (value > 0 and math.isfinite(value)):
            raise InputError(name, f"{value} is not positive and finite", "give a number above 0")
    if not math.isfinite(eta):
        raise InputError("step", "is not finite", "give a finite number")
    if not (noise >= 0 and math.isfinite(noise)):
        raise InputError("noise", f"{noise} is not a standard deviation", "give a finite number >= 0")
    if width < 1:
        raise InputError("width", f"{width} neurons", "give at least one")


def pair_from_functions(
    activation: Function,
    slope: Function,
    link: Function,
    *,
    kinks: Sequence[float] = (),
    link_kinks: Sequence[float] = (),
) -> Pair:
    """A Pair from plain functions (`slope` = sigma' almost everywhere; sigma itself continuous), by quadrature."""
    zero, one = np.zeros(1), np.ones(1)
    a = local_moments(activation, kinks, zero, one)
    s = local_moments(slope, kinks, zero, one)
    g = local_moments(link, link_kinks, zero, one)
    return Pair(
        activation,
        tuple(kinks),
        float(a.mean[0]),
        float(a.slope[0]),
        float(s.second[0] - a.slope[0] ** 2),
        float(a.curvature[0]),
        link,
        tuple(link_kinks),
        float(g.mean[0]),
        float(g.slope[0]),
        float(g.second[0]),
    )
