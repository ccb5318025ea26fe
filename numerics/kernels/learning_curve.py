"""G10 in floats: learning curves of the spiked ReLU kernel and of its features, from the exact spectrum (G6).

The target is a function of t = w*.x: its coefficients lie in the sector j = 0, those of the even part on the even
degrees, and a linear part; the rest of it no bias-free ReLU kernel holds (G8).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.gaussian.plane import FINER, line_nodes, resolved
from bulkedge.numerics.kernels.spiked_spectrum import Sector, harmonics, mean_square, sector
from bulkedge.numerics.steps.covariance import Step, draw, moment
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.numbers.errors import ConvergenceError, InputError
from bulkedge.theory.steps import covariance
from bulkedge.theory.steps.gradient import direction_energy, rest_variance

Array = NDArray[np.float64]

_SECTORS = 4  # j beyond: their eigenvalues are below any effective ridge in use, and count through the trace
_DEGREES = 40  # of the harmonics on which the target is expanded
_SHORT, REACH, SMALL = 64, 4.0, 1e-2  # in the finite-size term: degrees, |t| (a cut series diverges beyond), weights
_RADIAL_NODES = 32
_SMALLEST_DIMENSION = 20  # below it |x| varies too much for that rule
TOLERANCE, _COUNT = 1e-8, 6  # of the largest eigenvalues of a sector; what is left counts through the trace


@dataclass(frozen=True)
class KernelSpectrum:
    """The spectrum of a kernel as its learning curve needs it, and a target on it.

    Shapes/units: `values` and `multiplicities` of all eigenvalues that are resolved, `rest` the sum of the others;
    `aligned` and `squares` the eigenvalues and squared coefficients where the target has any, `unlearnable` what it has
    beyond the kernel's closure (or beyond what is resolved).
    """

    values: Array
    multiplicities: Array
    rest: float
    aligned: Array
    squares: Array
    unlearnable: float

    def degrees(self, gamma: float) -> tuple[float, float]:
        """D_1 and D_2 at gamma."""
        shares = self.values / (self.values + gamma)
        return float(self.multiplicities @ shares) + self.rest / gamma, float(self.multiplicities @ shares**2)


@dataclass(frozen=True)
class LearningCurve:
    """One point of a learning curve: the test risk (noise excluded), both effective ridges, D_1 and df_2."""

    risk: float
    kappa: float
    gamma: float
    degrees1: float
    degrees2: float


def relu_spectrum(d: int, A: float, B: float, link: Nonlinearity) -> KernelSpectrum:
    """The spectrum of ReLU's kernel with weights N(0, (A I + B w* w*^T)/d), and the link's coefficients on it.

    Valid for: as numerics.kernels.spiked_spectrum.sector, d >= 20; links that label_moments can integrate.
    Accuracy: leading eigenvalues to 1e-8 of their sector's largest; coefficients to 1e-10 of the link's norm.
    Source: G6, G8, G10.
    """
    even_link, linear, second = link_harmonics(link, d)
    values, multiplicities, rest, (even, odd) = _eigenvalues(d, A, B)
    count = min(even_link.size, even.degrees.size)
    # An odd link has no even part but its linear one, which is an eigenfunction by itself.
    squares = np.append((even.vectors[:count].T @ even_link[:count]) ** 2, linear**2)
    aligned = np.append(even.eigenvalues, odd.eigenvalues[0])
    return KernelSpectrum(values, multiplicities, rest, aligned, squares, max(0.0, second - float(squares.sum())))


def tilted_spectrum(d: int, A: float, B: float, cosine2: float, link: Nonlinearity) -> KernelSpectrum:
    """The same where the spike is not w* but a unit vector u with (u.w*)^2 = `cosine2`, and the link is odd.

    A network after one step has this kernel given its batch (G2): of its linear part only the share `cosine2` lies on
    the eigenvalue (A+B)/(4d), the rest on A/(4d); what is not linear of an odd link no such kernel holds.
    Errors: InputError for a link that is not odd.
    Source: G2, G10.
    """
    if link.parity != -1:
        raise InputError("link", f"{link.name} is not odd", "give an odd link")
    if not 0 <= cosine2 <= 1:
        raise InputError("cosine2", f"{cosine2:g} is no squared cosine", "give a number in [0, 1]")
    _, linear, second = link_harmonics(link, d)
    values, multiplicities, rest, _ = _eigenvalues(d, A, B)
    # The linear functions are exact eigenfunctions of ReLU's kernel, along the spike and across it.
    aligned = np.array([A + B, A]) / (4 * d)
    squares = linear**2 * np.array([cosine2, 1 - cosine2])
    return KernelSpectrum(values, multiplicities, rest, aligned, squares, max(0.0, second - linear**2))


@functools.lru_cache(maxsize=64)
def one_step_spectrum(step: Step, d: int) -> KernelSpectrum:
    """`tilted_spectrum` of a ReLU network after a step, given its batch: G2's strength, bulk and angle, an odd link."""
    if step.activation != "relu":
        raise InputError("activation", f"{step.activation} is not relu", "give relu")
    label2, slope2, c1 = (moment(step, s) for s in (covariance.label2, covariance.slope2, covariance.act[1]))
    link = step.functions()[1]
    _, linear, _ = link_harmonics(link, d)
    norm2 = direction_energy(linear, label2, step.alpha)
    # G2 given the batch: the noise of the batch widens every neuron alike and turns the spike away from w*.
    unit = (step.eta(d) / (step.beta * d)) ** 2
    bulk = 1 + unit * rest_variance(label2, slope2 - c1**2, step.alpha)
    return tilted_spectrum(d, bulk, unit * d * c1**2 * norm2, linear**2 / norm2, link)


@stream("G10.network")
def network_risk(
    rng: np.random.Generator, size: int, step: Step, samples: float = 1.0, ridge: float = 0.1, tests: int = 600
) -> dict[str, float]:
    """A network trained by one step, ridge on `samples` d fresh data: `risk` (noise excluded), over its prediction too.

    Convention: paper F's units; |y - f|^2 summed + ridge |a|^2 on features over sqrt m.
    """
    n, link = round(samples * size), vectorised(step.functions()[1])
    x = draw(step, size, rng)
    m = len(x.W)
    b = rng.standard_normal(m)[:, None]
    trained = x.W + step.eta(size) / m * b * (x.U - b / m * x.V)
    X, Z = rng.standard_normal((n, size)), rng.standard_normal((tests, size))
    y = link(X[:, 0]) + step.noise * rng.standard_normal(n)
    Phi, Psi = (np.maximum(S @ trained.T, 0) / math.sqrt(m) for S in (X, Z))
    # The dual system: n x n, whatever the width.
    fitted = Phi.T @ np.linalg.solve(Phi @ Phi.T + ridge * np.eye(n), y)
    risk = float(np.mean((link(Z[:, 0]) - Psi @ fitted) ** 2))
    return {"risk": risk, "ratio": risk / learning_curve(one_step_spectrum(step, size), n, ridge, step.noise, m).risk}


@functools.lru_cache(maxsize=64)  # at spikes beyond 10^4 A one takes a second
def _sector(d: int, A: float, B: float, j: int, parity: int) -> Sector:
    return sector(d, A, B, j, parity, tolerance=TOLERANCE, count=_COUNT)


@functools.lru_cache(maxsize=32)
def _eigenvalues(d: int, A: float, B: float) -> tuple[Array, Array, float, tuple[Sector, Sector]]:
    """All eigenvalues that are resolved, their multiplicities, the trace of the rest, and both parities of j = 0."""
    parts = [_sector(d, A, B, j, q) for j in range(_SECTORS + 1) for q in (0, 1)]
    values = np.concatenate([part.eigenvalues for part in parts])
    multiplicities = np.concatenate([np.full(part.eigenvalues.size, float(part.multiplicity)) for part in parts])
    # What is not resolved is known in sum, by the trace; each part of it is small beside gamma.
    rest = max(0.0, mean_square(d, A, B) - float(multiplicities @ values))
    return values, multiplicities, rest, (parts[0], parts[1])


def link_harmonics(link: Nonlinearity, d: int) -> tuple[Array, float, float]:
    """E[g(t) phi_l], l = 0, 2, .., DEGREES (phi_l = |x| Y_l(x/|x|)/sqrt d, normalised), E[t g(t)] and E g^2, t = w*.x.

    Quadrature over t on the link's own panels, and over |x|^2 - t^2, a chi-square, by Gauss and Laguerre: exact to 1e-4
    at d = 20 and degree 40, to 1e-10 at the low degrees.
    Errors: InputError for d below 20.
    """
    if d < _SMALLEST_DIMENSION:
        raise InputError("dim", f"{d} is too small for a learning curve", f"give at least {_SMALLEST_DIMENSION}")
    panels = resolved(link, 1.0, 1.0, line=True)
    z, weights = line_nodes(((panels, 1.0),), FINER)
    g = panels.values(z)
    squares, chances = _chi_square(d - 1)
    # One radius at a time: the table of harmonics at all radii would be a hundred times larger.
    even = np.zeros(_DEGREES // 2 + 1)
    for square, chance in zip(squares, chances, strict=True):
        radius = np.sqrt(z**2 + square)
        even += chance * (harmonics(d, _DEGREES, z / radius)[::2] @ (weights * g * radius)) / math.sqrt(d)
    return even, float(weights @ (z * g)), float(weights @ g**2)


def finite_size(d: int, A: float, B: float, link: Nonlinearity, samples: float, ridge: float) -> float:
    """The first finite-size term of the kernel's learning curve, to be added to its risk (noise 0).

    (1/n) sum_i s_i^2 (E rho^2 Psi_i^2 - (E rho Psi_i)^2 - E rho^2)/(1 - D_2/n), s_i the shares, rho the residual
    g - sum s_i c_i Psi_i: the variance of a learned coefficient is that of rho Psi_i, and rho and the eigenfunctions
    are functions of one variable t = w*.x, not independent Gaussians. Sectors j = 0 and 1; the members of one have
    sum_m Psi_m^2 = multiplicity F^2, F a function of |x| and t.
    Accuracy: what is left is of second order in it; eigenfunctions are cut at degree SHORT and |t| at REACH, about a
    tenth of the term.
    Source: G10.
    """
    spectrum = relu_spectrum(d, A, B, link)
    point = learning_curve(spectrum, samples, ridge)
    even_link, linear, _ = link_harmonics(link, d)
    panels = resolved(link, 1.0, 1.0, line=True)
    z, weights = line_nodes(((panels, 1.0),), FINER)
    # Fourth powers of eigenfunctions grow in the tails, where quadrature of them is rounding times a large number.
    z, weights = z[np.abs(z) < REACH], weights[np.abs(z) < REACH]
    squares, chances = _chi_square(d - 1)
    radius = np.sqrt(z[None, :] ** 2 + squares[:, None])
    measure = chances[:, None] * weights[None, :]
    residual = np.broadcast_to(panels.values(z), radius.shape).copy()
    learned: list[tuple[float, Array, bool]] = []
    for j, parity in ((0, 0), (0, 1), (1, 0), (1, 1)):
        part = _sector(d, A, B, j, parity)
        kept = part.degrees <= _SHORT
        table = harmonics(d, _SHORT, (z / radius).ravel(), j)[part.degrees[kept] - j]
        for i in range(min(_COUNT, part.eigenvalues.size)):
            share = float(part.eigenvalues[i] / (part.eigenvalues[i] + point.gamma))
            if share**2 * part.multiplicity < SMALL:
                break
            values = radius / math.sqrt(d) * (part.vectors[kept, i] @ table).reshape(radius.shape)
            learned.append((share**2 * part.multiplicity, values, j == 0))
            if j == 0:
                own = min(part.degrees.size, even_link.size)
                along = part.vectors[:own, i] @ even_link[:own] if parity == 0 else linear
                residual -= share * float(along) * values
    total = float(np.sum(measure * residual**2))
    term = 0.0
    for weight, values, alone in learned:
        excess = float(np.sum(measure * residual**2 * values**2)) - total
        term += weight * (excess - (float(np.sum(measure * residual * values)) ** 2 if alone else 0.0))
    return term / samples / (1 - point.degrees2 / samples)


@functools.lru_cache(maxsize=64)
def _chi_square(degrees: int) -> tuple[Array, Array]:
    """Gauss's rule for a chi-square variable: the Jacobi matrix of the Laguerre polynomials of index degrees/2 - 1."""
    index, k = degrees / 2 - 1, np.arange(_RADIAL_NODES)
    values, vectors = eigh_tridiagonal(2 * k + index + 1, np.sqrt(k[1:] * (k[1:] + index)))
    return np.asarray(2 * values, dtype=np.float64), np.asarray(vectors[0] ** 2, dtype=np.float64)


def learning_curve(
    spectrum: KernelSpectrum, samples: float, ridge: float, noise: float = 0.0, width: float = math.inf
) -> LearningCurve:
    """The test risk of ridge regression, |y - f|^2 summed + ridge |f|^2, with the kernel or `width` of its features.

    Formula: theory.kernels.learning_curve.test_risk.
    Valid for: n and m large; the spectrum's own directions are not Gaussian (see G10's finite-size term).
    Accuracy: 1e-10 relative, of the formula.
    Errors: InputError for sizes, ridges and noises that are none; ConvergenceError where no effective ridge is found.
    Source: G10.
    """
    for name, value in (("samples", samples), ("width", width)):
        if not value > 0 or math.isinf(samples):
            raise InputError(name, f"{value:g} is no number of them", "give a number above 0")
    if not (math.isfinite(ridge) and ridge > 0):
        raise InputError("ridge", f"{ridge:g} is not above 0", "give a number above 0")
    if not (math.isfinite(noise) and noise >= 0):
        raise InputError("noise", f"{noise:g} is not a standard deviation", "give a finite number >= 0")

    def ridge_of(gamma: float) -> float:
        one, _ = spectrum.degrees(gamma)
        return gamma * max(0.0, 1 - one / width) * max(0.0, samples - one)

    low = high = ridge / samples
    for _ in range(400):
        if ridge_of(high) >= ridge:
            break
        low, high = high, 2 * high
    else:
        raise ConvergenceError("no effective ridge was found")
    gamma = float(brentq(lambda x: math.log(max(ridge_of(x), 1e-300) / ridge), low / 2, high, xtol=1e-300, rtol=1e-14))
    one, two = spectrum.degrees(gamma)
    kappa = gamma * (1 - one / width)
    stretch = 1 / (1 - two / width)
    df2 = two if math.isinf(width) else (two * (width - 2 * one) + one**2) / (width - two)
    level = spectrum.aligned + gamma
    missed = float(spectrum.squares @ (gamma / level - kappa * stretch * spectrum.aligned / level**2))
    risk = (missed + spectrum.unlearnable + noise**2) / (1 - df2 / samples) - noise**2
    return LearningCurve(float(risk), kappa, gamma, one, df2)
