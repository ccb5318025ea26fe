"""The networks, links and activations on which the statements about two steps are tried (T1-T6).

Links and readouts are bounded and the constants small, so that the corrections, which decay as N^(alpha - 1/2), are
small at sizes that a check can afford.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.spectra.spike import Spikes, spikes_of
from bulkedge.numerics.steps.alignment import float_moments
from bulkedge.numerics.steps.network import Batch, Teacher, draw_batch, draw_directions, draw_readout, draw_weights
from bulkedge.numerics.steps.second_step import second_weights
from bulkedge.numerics.steps.spike_matrix import SpikeMatrix, spike_matrix
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.second_step import Poly, PolynomialActivation, spike_function
from bulkedge.theory.steps.setting import readout_moment
from bulkedge.theory.steps.target import AdditiveTarget, label

Floats = NDArray[np.float64]
Link = Callable[[Floats], Floats]


def bounded_link(z: Floats, mean: float = 0.0) -> Floats:
    """sin(1.2 z) + .8 cos(1.5 z), centred, plus a mean."""
    return np.asarray(np.sin(1.2 * z) + 0.8 * np.cos(1.5 * z) - 0.8 * np.exp(-1.125) + mean)


def he3_link(z: Floats) -> Floats:
    """1.5 (tanh(He_3/sqrt 6) minus its linear part): bounded by a line, odd, information exponent 3."""
    return np.asarray(1.5 * (_he3(z) - _parts(_he3)[1] * z))


def _mixed_link(z: Floats) -> Floats:
    """1.6 (tanh(He_2/sqrt 2 + He_3/sqrt 6) minus mean and linear part): information exponent 2, mixed parity."""
    mean, slope = _parts(_mixed)
    return np.asarray(1.6 * (_mixed(z) - mean - slope * z))


def even_link(z: Floats) -> Floats:
    """1.6 (tanh(He_2/sqrt 2) minus its mean): information exponent 2, even."""
    return np.asarray(1.6 * (_he2(z) - _parts(_he2)[0]))


def _he2(z: Floats) -> Floats:
    return np.asarray(np.tanh((z**2 - 1) / np.sqrt(2)))


def _he3(z: Floats) -> Floats:
    return np.asarray(np.tanh((z**3 - 3 * z) / np.sqrt(6)))


def _mixed(z: Floats) -> Floats:
    return np.asarray(np.tanh((z**2 - 1) / np.sqrt(2) + (z**3 - 3 * z) / np.sqrt(6)))


LINKS: dict[str, Link] = {"bounded": bounded_link, "he3": he3_link, "mixed": _mixed_link, "even": even_link}


@functools.cache
def _parts(link: Link) -> tuple[float, float]:
    """Mean and linear coefficient of a link."""
    moment = float_moments(link, nodes=400)
    return moment(0, 1), moment(1, 1)


@dataclass(frozen=True)
class Cubic:
    """sigma = z + c2 (z^2 - 1) + c3 (z^3 - 3z): its derivative on arrays, and its Gaussian moments as floats."""

    c2: sp.Rational
    c3: sp.Rational = sp.S.Zero

    @property
    def exact(self) -> PolynomialActivation:
        """The activation in SymPy."""
        return PolynomialActivation(s.z + self.c2 * (s.z**2 - 1) + self.c3 * (s.z**3 - 3 * s.z))

    def slope(self, z: Floats) -> Floats:
        """sigma'."""
        return np.asarray(1 + 2 * float(self.c2) * z + 3 * float(self.c3) * (z * z - 1))

    def moment(self, k: int, b: int, c: int) -> float:
        """E[sigma^(k) G^b sigma'^c]."""
        return _moment(self, k, b, c)


@functools.cache
def _moment(sigma: Cubic, k: int, b: int, c: int) -> float:
    return float(sigma.exact(k, b, c))


# sigma' = 1 + .6 z + .45 (z^2 - 1): its derivatives at 0 are all of order one, and sigma' is far from constant.
STRONG = Cubic(sp.Rational(3, 10), sp.Rational(3, 20))
# sigma' = 1 + .15 z: only the spikes k = 0, 1 exist.
WEAK = Cubic(sp.Rational(3, 40))


# sigma' = 1 + .12 z + .03 (z^2 - 1): the spikes k = 0, 1, 2 exist.
SLIGHT = Cubic(sp.Rational(3, 50), sp.Rational(1, 100))


def relu_slope(z: Floats) -> Floats:
    """The derivative of ReLU."""
    return np.asarray((z > 0).astype(float))


@dataclass(frozen=True)
class Start:
    """What two steps begin from: a teacher, weights W0 (d x N), a readout, and a batch for each step."""

    teacher: Teacher
    W: Floats
    a: Floats
    batches: tuple[Batch, Batch]

    @property
    def beta(self) -> Floats:
        """The target's direction."""
        return np.asarray(self.teacher.directions[:, 0])


def draw_start(
    rng: np.random.Generator,
    d: int,
    width: int,
    samples: int,
    link: Link,
    noise: float,
    batch: str = "reused",
    readout: str = "uniform",
) -> Start:
    """A teacher of one direction, W0 with entries N(0, 1/d), a readout and both batches (the same one if reused)."""
    teacher = Teacher(draw_directions(d, 1, rng), (link,), noise)
    W, a = draw_weights("gaussian", d, width, rng), draw_readout(readout, width, rng)
    first = draw_batch(teacher, samples, rng)
    return Start(teacher, W, a, (first, first if batch == "reused" else draw_batch(teacher, samples, rng)))


def without_own(batches: tuple[Batch, Batch]) -> tuple[Floats, Floats, Floats]:
    """The second batch X, y, and q = X u with each sample's own term left out of u if the batch is reused."""
    X1, y1 = batches[0].arrays()
    X, y = batches[1].arrays()
    q = X @ (X1.T @ y1) / len(y1)
    if batches[0] is batches[1]:
        # On a reused batch u holds sample i itself: x_i.x_i y_i/n, of order one for n of order d. The statement is
        # about what the others contribute.
        q -= np.sum(X**2, axis=1) * y / len(y)
    return X, y, np.asarray(q)


@dataclass(frozen=True)
class Experiment:
    """Two steps on a square network: d = N = size, n = ratio N, eta_i = constants_i N^exponents_i, correlation loss."""

    sigma: Cubic
    ratio: float
    constants: tuple[float, float]
    exponents: tuple[float, float]
    link: str = "bounded"
    noise: float = 0.1
    batch: str = "reused"
    readout: str = "uniform"

    def steps(self, size: int) -> tuple[float, float]:
        """(eta1, eta2)."""
        (c1, c2), (x1, x2) = self.constants, self.exponents
        return c1 * size**x1, c2 * size**x2

    def start(self, rng: np.random.Generator, size: int) -> Start:
        """Draw the network and its data."""
        samples = int(self.ratio * size)
        return draw_start(rng, size, size, samples, LINKS[self.link], self.noise, self.batch, self.readout)

    def train(self, start: Start) -> Floats:
        """Take both steps in place and return W2."""
        second_weights(start.W, start.a, start.batches, self.sigma.slope, self.steps(len(start.a)))
        return start.W

    @property
    def target(self) -> AdditiveTarget:
        """The label's moments."""
        return AdditiveTarget((float_moments(LINKS[self.link], nodes=400),), self.noise**2, float)

    def functions(self, orders: int) -> list[Poly]:
        """F_k of the reading `full`, k = 0..orders-1."""
        here = label(self.target, 1 / self.ratio)
        return [spike_function(k, self.batch, "full", self.sigma.moment, here) for k in range(orders)]

    def matrix(self, size: int, orders: int, highest: int | None = None) -> SpikeMatrix:
        """T4's spike matrix from T3's Gram matrices, at the steps of this size.

        `highest` caps the order of the derivatives in E[sigma^(k) ...], for controls.
        """
        return spike_matrix(
            self.target,
            lambda k, b, c: self.sigma.moment(k if highest is None else min(k, highest), b, c),
            lambda p: float(readout_moment(self.readout, p)),
            size,
            self.ratio,
            self.steps(size),
            orders,
            self.batch,
        )

    def spikes(self, start: Start, orders: int) -> Spikes:
        """The spike matrix of these very data: (1/n) X^T F_k(y, q) and the powers of this readout (T2)."""
        (eta1, eta2), a = self.steps(len(start.a)), start.a
        X1, y1 = start.batches[0].arrays()
        X, y, q = without_own(start.batches)
        right = []
        for k, F in enumerate(self.functions(orders)):
            values = sum(c * y**i * q**j for (i, j), c in F.items())
            right.append(eta2 * eta1**k * (X.T @ values) / len(y))
        right[0] = right[0] + eta1 * self.sigma.moment(1, 0, 0) * (X1.T @ y1) / len(y1)
        return spikes_of(np.stack(right, axis=1), np.stack([a ** (k + 1) for k in range(orders)], axis=1))


def bulk_edge(W: Floats, a: Floats, powers: int = 4) -> float:
    """The top singular value of W with the left vectors a, ..., a^powers and a|a| projected out.

    It keeps what the steps add to the rows, which a finite W2's bulk has and the law of W0 has not.
    """
    columns = [a**k for k in range(1, powers + 1)] + [a * np.abs(a)]
    span = np.linalg.qr(np.stack(columns, axis=1))[0]
    return float(leading_triples(W - (W @ span) @ span.T, 1).values[0])
