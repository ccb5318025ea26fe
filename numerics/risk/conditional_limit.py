"""The risk after one step of any size, from 0 to Theta(sqrt N), as a closed fixed point in a few dozen unknowns (L1).

numerics/risk/conditional.py takes given weights; here they are the typical ones after a step: neuron j has the spike
component s_j = eta mu1 |u| a_j along u = X^T y/n1 and a rest of covariance c_j^2(K)/d,

    c_j^2(tau) = (1 + eta a_j E y E sigma'')^2 + (eta a_j)^2 v tau,   v = E y^2 Var(sigma'(z))/alpha,

K the batch's covariance of mean eigenvalue one (numerics/risk/batch_spectrum.py): on a batch smaller than d it has
d - n1 zeros. So everything depends on the readout a_j alone. Neurons are grouped by a quadrature of its law. With
V = diag(w_k v_k) over the nodes of kappa and slopes d1_g = E[sigma'|kappa] of group g (vectors over the nodes), the
bulk's resolvent is q_g = 1/(lam + V.D2_g + <c_g^2(tau) d1_g^T H(tau) d1_g>), <> the mean over K's spectrum,
H(tau) = (V^-1 + P(tau))^-1, P(tau) = (N/d) sum_g pi_g c_g^2(tau) q_g d1_g d1_g^T. Two vectors are common to all inputs,
the means m_g and, through the length |x|, l_g = c_g^2 E[sigma''|kappa]/sqrt(2 d): as the columns f of a node they add
M = N sum_g pi_g q_g f_g f_g^T + ..., E = (V^-1 + M)^-1, and the minimum is

    F = sum V E[y^2|kappa] - h^T (V - E) h - |beta_perp|^2 <h'^T (V - H(tau)) h'>,
    h = (E[y|kappa], |beta_perp|^2 E[g''|kappa]/sqrt(2 d)),  h' = E[g'|kappa],

the last mean over K as beta_perp sees it. l_g is of relative order d^(-1/2) and matters where the features' mean is
small beside the link's: it costs mean^2 (E sigma'')^2/(2 d mu0^2). Everything is explicit, its derivatives too. At
eta = Theta(1) it is O3, with one value of a_j and N -> inf it is C1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.functions.legendre import legendre, normal_density, panels
from bulkedge.numerics.risk.batch_spectrum import ISOTROPIC, BatchSpectrum, batch_spectrum
from bulkedge.numerics.risk.conditional import NODES, ConditionalRisk, gauss_nodes, local_moments
from bulkedge.numerics.risk.fixed_point import FixedPoint, fixed_point
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.numbers.errors import ConvergenceError, InputError
from bulkedge.theory.steps.gradient import direction_energy, rest_variance

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

MAX_ITERATIONS = 400
TOLERANCE = 1e-12
_PATIENCE = 60  # iterations after which rounding is taken to be what is left


def readout_nodes(law: str, count: int = 40) -> tuple[Array, Array]:
    """Values of sqrt(N) a_j and their weights: exact for rademacher and constant, a Gauss rule for the others."""
    if law == "rademacher":
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    if law == "constant":
        return np.array([1.0]), np.array([1.0])
    if law == "gaussian":
        x, w = np.polynomial.hermite_e.hermegauss(count)
    elif law == "uniform":
        x, w = legendre(count)
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
    """Functions of (group, node), and the label's functions of the node.

    `common` are the vectors that all inputs share, the means and then the lengths' l_g, and `common_label` the label
    beside them, over twice the nodes. The bulk's rest is c_g^2(tau) = still + moved tau, `c2` its mean. `psi2` = N/d,
    `width` = N; `sphere` says whether the weights have norm one, so that no length fluctuates.
    """

    psi2: float
    width: int
    sphere: bool
    weights: Array
    share: Array  # pi_g
    still: Array
    moved: Array
    c2: Array
    slope: Array
    rest: Array  # D2
    curvature: Array
    common: Array
    kappa: Array
    common_label: Array
    label2: Array
    label_slope: Array
    perpendicular: float  # |beta_perp|^2
    spectrum: BatchSpectrum

    def variance(self, tau: float | Array) -> Array:
        """c_g^2(tau), a row for each tau."""
        return np.asarray(self.still + np.multiply.outer(tau, self.moved))


def one_step_groups(
    pair: Pair,
    problem: RidgeProblem,
    width: int,
    *,
    readout: str = "gaussian",
    weights: str = "gaussian",
    count: int | None = None,
    isotropic: bool = False,
) -> _Groups:
    """The groups of neurons after the problem's step (paper O's units) at width N."""
    _, psi2, _, eta, alpha, noise = problem.numbers()
    values, share = readout_nodes(readout)
    scaled = eta / math.sqrt(width) * values  # eta a_j
    # A constant readout has the output f = mu0 + o(1), which the residual y - f takes off the label.
    shift = pair.mu0 if readout == "constant" else 0.0
    mean = pair.link_mean - shift
    second = pair.link_second - 2 * shift * pair.link_mean + shift**2 + noise**2
    norm = math.sqrt(direction_energy(pair.link_slope, second, alpha))
    spike = scaled * pair.mu1 * norm
    still = (1 + scaled * mean * pair.curvature) ** 2
    moved = scaled**2 * rest_variance(second, pair.slope_variance, alpha)
    c2 = still + moved
    kappa_, node_weights = gauss_nodes(1, count)
    kappa = kappa_[:, 0]
    c = np.sqrt(c2)[:, None]
    m = local_moments(pair.activation, pair.kinks, spike[:, None] * kappa, np.broadcast_to(c, (len(c), len(kappa))))
    along = pair.link_slope / norm if norm > 0 else 0.0
    rest = math.sqrt(max(0.0, 1 - along**2))
    y = local_moments(pair.link, pair.link_kinks, along * kappa, np.full(len(kappa), max(rest, 1e-9)))
    length = 1 / math.sqrt(2 * width / psi2)
    points = () if count is None or count >= NODES[1] else (6,)  # a coarse rule for kappa is coarse here too
    # A rest that is moved by less than this is isotropic to rounding.
    plain = isotropic or float(share @ moved) < 1e-9
    return _Groups(
        psi2,
        width,
        weights == "sphere",
        node_weights,
        share,
        still,
        moved,
        c2,
        m.slope,
        np.maximum(m.second - m.mean**2 - m.slope**2 * c2[:, None], 0.0),
        m.curvature,
        np.concatenate([m.mean, length * m.curvature * c2[:, None]], axis=1),
        kappa,
        np.concatenate([y.mean, length * rest**2 * y.curvature]),
        y.second + noise**2,
        y.slope,
        rest**2,
        ISOTROPIC if plain else _label_spectrum(pair, shift, noise, alpha, *points),
    )


def _label_spectrum(pair: Pair, shift: float, noise: float, alpha: float, *points: int) -> BatchSpectrum:
    """numerics.risk.batch_spectrum for the label g(z) - shift + noise."""
    stops = np.unique(np.clip([*np.linspace(-9, 9, 7), *pair.link_kinks], -9, 9))
    z, weights = panels(stops[:-1], stops[1:], 24)
    weights = weights * normal_density(z)
    e, we = np.polynomial.hermite_e.hermegauss(12) if noise else (np.zeros(1), np.ones(1))
    y = pair.link(z)[:, None] - shift + noise * e
    both = np.multiply.outer(weights / weights.sum(), we / we.sum())
    return batch_spectrum(y.ravel(), np.repeat(z, len(e)), both.ravel(), alpha, *points)


@dataclass(frozen=True)
class _State:
    """The resolvent at given v: V, q, M, E, and P, H at each node of K's spectrum (`tau`, with weights `mass`)."""

    V: Array
    q: Array
    tau: Array
    mass: Array
    P: Array
    H: Array
    M: Array
    E: Array


def _bulk(g: _Groups, V: Array, q: Array, tau: Array) -> tuple[Array, Array]:
    """P and H = (V^-1 + P)^-1 at each tau, the latter without dividing by a small V."""
    coefficients = g.psi2 * g.share * q * g.variance(tau)
    P = np.stack([(g.slope.T * c) @ g.slope for c in coefficients])
    return P, _shrunk(V, P)


def _shrunk(V: Array, P: Array) -> Array:
    """(V^-1 + P)^-1 for a positive diagonal V."""
    root = np.sqrt(V)
    inner = np.linalg.inv(np.eye(len(V)) + root[:, None] * P * root)
    return np.asarray(root[:, None] * inner * root)


def _state(g: _Groups, V: Array, q: Array, seen: tuple[Array, Array] | None = None) -> _State:
    """The state, P and H at the nodes of the bulk's spectrum, or of the one in `seen`."""
    tau, mass = g.spectrum.bulk if seen is None else seen
    P, H = _bulk(g, V, q, tau)
    return _State(V, q, tau, mass, P, H, *_means(g, V, q))


def _next_q(g: _Groups, V: Array, q: Array, lam: float) -> Array:
    tau, mass = g.spectrum.bulk
    _, H = _bulk(g, V, q, tau)
    energy = np.einsum("gk,tkl,gl->tg", g.slope, H, g.slope, optimize=True) * g.variance(tau)
    return np.asarray(1 / (lam + g.rest @ V + mass @ energy))


def _means(g: _Groups, V: Array, q: Array) -> tuple[Array, Array]:
    """M: the common vectors, the weights' own component along u, and (Gaussian weights) the fluctuation of |w_j|^2."""
    terms = _weights_of("means", g)
    M = np.asarray(sum((vectors.T * (coefficient * q)) @ vectors for coefficient, vectors in terms))
    return M, _shrunk(_twice(V), M)


def _twice(V: Array) -> Array:
    """A function of the node beside both common vectors."""
    return np.concatenate([V, V])


def _fold(x: Array, axis: int = 0) -> Array:
    """The sum over the two common vectors of each node."""
    first, second = np.split(x, 2, axis=axis)
    return np.asarray(first + second)


def _next_delta(g: _Groups, s: _State, n: float) -> Array:
    """delta(kappa) = tr(S Q)/n: bulk, residual variances, common vectors.

    The last part diag(M - M E M) has M ~ N and would lose N eps: with B^T B = V^(1/2) M V^(1/2) = U s^2 U^T it is the
    positive sum of U^2 s^2/(1 + s^2) over V.
    """
    bulk = g.width / g.psi2 * s.mass @ np.diagonal(s.P - s.P @ s.H @ s.P, axis1=1, axis2=2)
    rows = [np.sqrt(coefficient * s.q)[:, None] * vectors for coefficient, vectors in _weights_of("means", g)]
    V = _twice(s.V)
    _, values, U = np.linalg.svd(np.concatenate(rows) * np.sqrt(V), full_matrices=False)
    common = _fold((values**2 / (1 + values**2)) @ U**2 / V)
    return np.asarray((np.maximum(bulk, 0.0) + g.width * (g.share * s.q) @ g.rest + common) / n)


def one_step_risk(
    pair: Pair,
    problem: RidgeProblem,
    width: int,
    *,
    readout: str = "gaussian",
    weights: str = "gaussian",
    count: int | None = None,
    isotropic: bool = False,
) -> ConditionalRisk:
    """Test and training risk (noise included) after one step of size eta at width N, eta from 0 to Theta(sqrt N).

    Valid for: proportional limit; conjectured. `isotropic` replaces the batch's covariance in the rest of the step by
    a multiple of the identity (the law of weights drawn so; on a batch of n1 < d far from a trained network's).
    Shapes/units: numbers; the problem's eta is paper O's step at this width.
    Accuracy: fixed point to 1e-12; finite width enters through a_j ~ N^(-1/2) and the number of neurons a group has.
    Errors: InputError for numbers that are not usable; ConvergenceError.
    Source: L1 (large N), O3 and C1 as special cases.
    """
    psi1, psi2, lam, *_ = problem.numbers()
    if width < 1:
        raise InputError("width", f"{width} neurons", "give at least one")
    n = psi1 * (width / psi2)
    g = one_step_groups(pair, problem, width, readout=readout, weights=weights, count=count, isotropic=isotropic)
    nodes, groups = len(g.weights), len(g.share)

    def image(point: Array) -> tuple[Array, _State]:
        V, q = g.weights / (1 + point[:nodes]), point[nodes:]
        try:
            with np.errstate(all="ignore"):  # what is not finite is refused below
                new_q = _next_q(g, V, q, lam)
                state = _state(g, V, new_q)
                delta = _next_delta(g, state, n)
        except np.linalg.LinAlgError:
            delta = np.zeros(nodes)
        if not (np.all(np.isfinite(delta)) and np.all(delta > 0) and np.all(new_q > 0)):
            raise ConvergenceError("delta(kappa) left double precision; take a larger ridge or a smaller activation")
        return np.concatenate([delta, new_q]), state

    def settled(iteration: int) -> float:
        # The means' matrix has size N beside terms of order one: rounding leaves N eps of delta.
        return max(TOLERANCE if iteration < _PATIENCE else 1e3 * TOLERANCE, 1e-15 * width)

    found = fixed_point(
        image,
        np.concatenate([np.full(nodes, 0.5), np.full(groups, 1 / (lam + 1))]),
        what="delta(kappa)",
        tolerance=settled,
        iterations=MAX_ITERATIONS,
        memory=8,
        relevance=np.concatenate([np.sqrt(g.weights), np.ones(groups)]),  # a node's delta counts with its weight
    )
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused there
            return _risk(g, found, n)
    except np.linalg.LinAlgError:
        raise ConvergenceError("the derivative's linear system is singular; take a larger ridge") from None


def small_step_risk(pair: Pair, problem: RidgeProblem, *, weights: str = "gaussian") -> tuple[float, float, float]:
    """Test and training risk (noise included) in the limit N -> inf at eta = Theta(1), and a bound of the error.

    Valid for: any activation and link, also a link with a mean that an activation without one fits through the
    fluctuation of |w_j|^2 (the case that theory.risk.ridge.test_risk leaves out).
    Accuracy: Richardson extrapolation in 1/N at three widths; the change of the last extrapolation is the error.
    """
    risks = [one_step_risk(pair, problem, N, weights=weights, readout="rademacher") for N in (10_000, 20_000, 40_000)]
    first, last = (2 * b.test - a.test for a, b in itertools.pairwise(risks))
    return last, 2 * risks[2].train - risks[1].train, abs(last - first) + 1e-10 * last


def _risk(g: _Groups, found: FixedPoint[_State], n: float) -> ConditionalRisk:
    """T = R + K T with K from the Jacobian of tr(S Q) in V, by differentiating the fixed point of q."""
    s, delta = found.extra, found.value[: len(g.weights)]
    # dq_g/dV_k: q_g^-1 = lam + D2_g.V + <c_g^2 d1_g^T H d1_g> and dH = H V^-2 dV H - H dP H.
    c2 = g.variance(s.tau)
    pull = g.slope @ (s.H / s.V)  # (d1_g^T H V^-1)_k at each tau
    inner = g.slope @ s.H @ g.slope.T
    q2 = s.q[:, None] ** 2
    crossed = np.einsum("t,tg,tgh,th->gh", s.mass, c2, inner**2, c2, optimize=True)
    feedback = np.eye(len(s.q)) - q2 * crossed * (g.psi2 * g.share)
    pulled = np.einsum("t,tg,tgk->gk", s.mass, c2, pull**2, optimize=True)
    dq: Array = -np.asarray(np.linalg.solve(feedback, q2 * (g.rest + pulled)), dtype=np.float64)  # (G, K)
    own = g.label2 - _drop(g.common_label, s.E, _twice(s.V), _weights_of("means", g), dq)
    seen = _state(g, s.V, s.q, g.spectrum.aligned)
    for mass, H, tau in zip(seen.mass, seen.H, seen.tau, strict=True):
        terms = _weights_of("bulk", g, float(tau))
        own = own - g.perpendicular * mass * _drop(g.label_slope, H, s.V, terms, dq)
    jacobian = _trace_jacobian(g, s, dq)  # d(n delta_k)/dV_l, negative
    damping = g.weights / (1 + delta) ** 2
    T: Array = np.asarray(np.linalg.solve(np.eye(len(own)) + jacobian.T * damping / n, own), dtype=np.float64)
    if not np.all(np.isfinite(T)):
        raise ConvergenceError("the risk left double precision; take a larger ridge or a smaller activation")
    return ConditionalRisk(float(g.weights @ T), float(damping @ T), found.iterations, found.residual, "converged")


Terms = list[tuple[Array, Array]]


def _weights_of(which: str, g: _Groups, tau: float = 1.0) -> Terms:
    """P(tau) or M as sum_t sum_g coefficient_tg q_g x_tg x_tg^T: the list of (coefficients, vectors)."""
    if which == "bulk":
        return [(g.psi2 * g.share * g.variance(tau), g.slope)]
    nothing = np.zeros_like(g.slope)
    own = g.psi2 * g.share * g.variance(g.spectrum.along)
    terms = [(g.width * g.share, g.common), (own, np.concatenate([g.slope * g.kappa, nothing], axis=1))]
    tau_, mass = g.spectrum.bulk
    lengths = g.psi2 * g.share * (mass @ g.variance(tau_) ** 2) / 2
    return terms if g.sphere else [*terms, (lengths, np.concatenate([g.curvature, nothing], axis=1))]


def _drop(h: Array, X: Array, V: Array, terms: Terms, dq: Array) -> Array:
    """d/dV_k of h^T (V - X) h, X = H or E: h_k^2 - ((X V^-1)^T h)_k^2 + sum_g dP-terms."""
    direct = h**2 - (h @ (X / V)) ** 2
    left = h @ X
    through = sum((coefficient * (vectors @ left) ** 2) @ dq for coefficient, vectors in terms)
    return np.asarray((direct if len(V) == dq.shape[1] else _fold(direct)) + through)


def _trace_jacobian(g: _Groups, s: _State, dq: Array) -> Array:
    """d(tr S_k Q)/dV_l of the three parts of `_next_delta`."""
    total = g.width * g.rest.T @ (g.share[:, None] * dq)
    for mass, P, H, tau in zip(s.mass, s.P, s.H, s.tau, strict=True):
        total = total + g.width / g.psi2 * mass * _turned(P, H, s.V, _weights_of("bulk", g, float(tau)), dq)
    return np.asarray(total + _turned(s.M, s.E, _twice(s.V), _weights_of("means", g), dq))


def _turned(Y: Array, X: Array, V: Array, terms: Terms, dq: Array) -> Array:
    """d diag(Y - Y X Y)/dV: I - X Y = X V^-1 gives -(Y X V^-1)^2 dV + diag(V^-1 X dY X V^-1)."""
    XV = X / V
    direct = -((Y @ XV) ** 2)
    through = sum(((vectors @ XV) ** 2 * coefficient[:, None]).T @ dq for coefficient, vectors in terms)
    if len(V) == dq.shape[1]:
        return np.asarray(direct + through)
    return np.asarray(_fold(_fold(direct), axis=1) + _fold(np.asarray(through)))


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
