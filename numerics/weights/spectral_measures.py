"""Single numbers of a spectrum: stable rank, entropy, ranks by energy, and the exponent of a power-law tail.

A tail exponent says how the largest squared singular values fall off if they do so by a power. It does not show that
they do: the goodness of fit is a test (Clauset, Shalizi & Newman 2009), which a small tail always passes, and the edge
of plain noise with a few spikes has an exponent of the same size as trained layers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.theory.numbers.errors import InputError

_CANDIDATES = 40  # places where the tail may begin
_FEWEST = 10  # values of a tail


@dataclass(frozen=True)
class Measures:
    """|W|_F^2/|W|^2; entropy of the energies' shares (nats) and its exponential; ranks holding 90 and 99 % of it."""

    stable_rank: float
    entropy: float
    effective_rank: float
    rank90: int
    rank99: int


def measures(values: Floats) -> Measures:
    """The measures of singular values of any order, not all zero."""
    energy = np.sort(np.asarray(values, dtype=float))[::-1] ** 2
    total = float(energy.sum())
    if not total > 0:
        raise InputError("values", "are all zero", "give a matrix with a spectrum")
    shares = energy / total
    positive = shares[shares > 0]
    entropy = max(0.0, -float(positive @ np.log(positive)))
    cumulative = np.cumsum(shares)
    ranks = [min(int(np.searchsorted(cumulative, level * (1 - 1e-12))) + 1, len(shares)) for level in (0.9, 0.99)]
    return Measures(total / float(energy[0]), entropy, float(np.exp(entropy)), ranks[0], ranks[1])


@dataclass(frozen=True)
class Tail:
    """A power law fitted to the squared singular values from `start` on: density ~ x^-exponent, `count` of them.

    `exponent_sd` is that of the maximum likelihood at a fixed start; `p` the share of samples of the fitted law that
    lie further from their own fit.
    """

    exponent: float
    exponent_sd: float
    start: float
    count: int
    distance: float
    p: float


def power_tail(values: Floats, rng: np.random.Generator, draws: int = 99) -> Tail:
    """The tail exponent of squared singular values, its start by the least Kolmogorov distance, and its test.

    Valid for: independent values; those of a matrix are rigid, so that `p` is if anything too large.
    Errors: InputError for fewer than 20 positive values.
    """
    squares = np.sort(np.asarray(values, dtype=float) ** 2)
    squares = squares[squares > 0]
    if len(squares) < 2 * _FEWEST:
        raise InputError("values", f"are {len(squares)}", f"give at least {2 * _FEWEST} positive ones")
    exponent, start, count, distance = _best(squares)
    body = squares[squares < start]
    further = 0
    for _ in range(draws):
        within = int(rng.binomial(len(squares), count / len(squares)))
        tail = start * rng.random(within) ** (-1 / (exponent - 1))
        rest = rng.choice(body, len(squares) - within) if len(body) else start * np.ones(len(squares) - within)
        further += _best(np.sort(np.concatenate([rest, tail])))[3] >= distance
    sd = (exponent - 1) / count**0.5
    return Tail(exponent, sd, start, count, distance, (1 + further) / (draws + 1))


def _best(ordered: Floats) -> tuple[float, float, int, float]:
    """(exponent, start, count, distance) of the start whose tail is nearest to its power law."""
    last = len(ordered) - _FEWEST
    found: tuple[float, float, int, float] | None = None
    for index in np.unique(np.linspace(0, last, _CANDIDATES).astype(int)).tolist():
        tail = ordered[index:]
        logs = np.log(tail / tail[0])
        mean = float(logs.mean())
        if mean <= 0:
            continue
        rate = 1 / mean
        model = -np.expm1(-rate * logs)
        steps = np.arange(len(tail) + 1) / len(tail)
        distance = float(max(np.max(np.abs(model - steps[:-1])), np.max(np.abs(model - steps[1:]))))
        if found is None or distance < found[3]:
            found = (1 + rate, float(tail[0]), len(tail), distance)
    if found is None:
        raise InputError("values", "are all equal in the tail", "give a matrix with a spectrum")
    return found
