"""T3 and T4 over a ladder of sizes: predicted against observed with standard errors, at sizes beyond a check's.

Run `python -m benchmarks.ladder [RUNS [SIZE ...]]` (defaults: 4 runs of N = 750, 1500, 3000; some minutes); it is no
part of `python -m benchmarks`.

- T4: second outlier of W2 and its overlap with beta, sigma = z + .075 (z^2 - 1), d = N, n = 4d, eta1 = 3 N^.35,
  eta2 = 6 N^.25, uniform readout, noise .1, for a link of information exponent 1 (reused) and a mixed one of exponent 2
  (reused and fresh). `data` is the position over that of the same data's spike matrix: what is left is T4's own error.
- T6: spikes of a kinked activation and a reused batch, z/2 + max(z - 1/2, 0), labels with a mean, d = n = N/8 (up to
  300): the series of the gradient in t, |t|, t^2, t|t|, ... over the predicted (1/n) X^T F, for a^2, a|a| and a^3.
- T3: cosine with beta of the coefficient of t^2 in the second gradient, d = N/2, alpha = n/d = .7, 1, 3.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.steps.alignment import float_moments, further_direction
from bulkedge.numerics.steps.second_step import fit, regress, second_weights, split_gradient
from bulkedge.numerics.steps.spike_matrix import predicted_outliers
from bulkedge.numerics.steps.two_steps import LINKS, STRONG, WEAK, Experiment, draw_start, without_own
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.moments import Moments
from bulkedge.theory.steps.alignment import Geometry
from bulkedge.theory.steps.kink import kinks
from bulkedge.theory.steps.second_step import spike_function
from bulkedge.theory.steps.target import AdditiveTarget, label

RUNS, SIZES = 4, (750, 1500, 3000)
RATIOS, NOISE = (0.7, 1.0, 3.0), 0.3
EXPERIMENTS = {
    "bounded, reused": Experiment(WEAK, 4.0, (3.0, 6.0), (0.35, 0.25)),
    "mixed, reused": Experiment(WEAK, 4.0, (3.0, 6.0), (0.35, 0.25), link="mixed"),
    "mixed, fresh": Experiment(WEAK, 4.0, (3.0, 6.0), (0.35, 0.25), link="mixed", batch="fresh"),
}


@dataclass(frozen=True)
class Rung:
    """One line: what was predicted and what was found."""

    what: str
    size: int
    predicted: float
    found: Estimate

    def __str__(self) -> str:
        """The line as printed."""
        error = f"{self.found.value:.4f} +- {self.found.stderr:.4f}"
        return f"{self.what:<40} {self.size:>6} {self.predicted:>10.4f} {error:>18}"


def outlier_rungs(name: str, size: int, runs: int) -> tuple[Rung, ...]:
    """Position and overlap of the second outlier at a size."""
    experiment = EXPERIMENTS[name]
    expected = predicted_outliers(experiment.matrix(size, 2), 1.0)
    found = []
    for run in range(runs):
        start = experiment.start(np.random.default_rng([size, run]), size)
        near = rectangular(1.0).outlier(experiment.spikes(start, 2).strengths)[1]
        triples = leading_triples(experiment.train(start), 2)
        found.append((triples.values[1], abs(start.beta @ triples.left[:, 1]), triples.values[1] / near))
    position, overlap, ratio = (Estimate.from_samples(list(map(float, x))) for x in zip(*found, strict=True))
    return (
        Rung(f"position, {name}", size, float(expected.positions[1]), position),
        Rung(f"position over data's, {name}", size, 1.0, ratio),
        Rung(f"overlap, {name}", size, float(expected.overlaps[1]), overlap),
    )


def cosine_rung(alpha: float, size: int, runs: int) -> Rung:
    """T3's cosine of b_2 at alpha = n/d, reused batch, as a statement about the second gradient."""
    target = Experiment(STRONG, alpha, (0.0, 0.0), (0.0, 0.0), noise=NOISE).target
    F = spike_function(2, "reused", "full", STRONG.moment, label(target, 1 / alpha))
    limit = Geometry(target, 1 / alpha, "reused")
    d, found = size // 2, []
    for run in range(runs):
        rng = np.random.default_rng([size, run, 2])
        start = draw_start(rng, d, size, int(alpha * d), LINKS["bounded"], NOISE)
        eta1 = 0.5 * np.sqrt(size)
        gradient = second_weights(start.W, start.a, start.batches, STRONG.slope, (eta1, 0.0))
        measured = regress(gradient, start.a, eta1, 3)
        found.append(measured.signal(start.beta, 2) / np.sqrt(measured.gram(2, 2)))
    predicted = float(limit.signal(F) / np.sqrt(limit.gram(F, F)))
    return Rung(f"cosine of b_2, alpha = {alpha:g}", size, predicted, Estimate.from_samples(found))


KINKED, MEAN = "z/2 + Max(z - 1/2, 0)", 0.5


def kinked_rungs(size: int, runs: int) -> tuple[Rung, ...]:
    """T6's first orders, measured over predicted, d = n = size."""
    sigma, link = nonlinearity(KINKED), functools.partial(LINKS["bounded"], mean=MEAN)
    moments, here = float_moments(link), constants(sigma)
    assert here.derivative_second is not None
    target = AdditiveTarget((moments,), NOISE**2, float)
    exact, slope = Moments(None).activation(sigma), vectorised(sigma.derivative())
    v = (moments(0, 2) + NOISE**2) * (here.derivative_second - here.mu1**2)
    powers = [spike_function(k, "reused", "full", lambda *x: float(exact(*x)), label(target, 1.0)) for k in (1, 2)]
    beside, _ = further_direction(kinks(sigma, 1), here.mu1, MEAN * here.curvature, v, 1.0)
    found = []
    for run in range(runs):
        start = draw_start(np.random.default_rng([size, run, 6]), size, 64 * size, size, link, NOISE)
        X, y, q = without_own(start.batches)
        eta1 = 0.2 * np.sqrt(64 * size)
        even, odd = split_gradient(start.W, start.a, start.batches, slope, eta1)
        t = eta1 * start.a
        series = np.stack([np.abs(t) ** k for k in (1, 2, 3, 4)], axis=1)
        left, right = fit(even, series), fit(odd, np.sign(t)[:, None] * series)
        square, cube = (sum(c * y**i * q**j for (i, j), c in F.items()) for F in powers)
        row = []
        for part, k, values in ((right, 0, square), (left, 0, beside(y, q)), (left, 1, cube)):
            expected = X.T @ values / size
            row.append(part.signal(expected, k) / float(expected @ expected))
        found.append(row)
    names = ("a^2", "a|a|", "a^3")
    return tuple(
        Rung(f"{name} of a kink over T6's", size, 1.0, Estimate.from_samples(list(column)))
        for name, column in zip(names, zip(*found, strict=True), strict=True)
    )


def main(runs: int, sizes: Sequence[int]) -> None:
    """Print the ladder, line by line."""
    print(f"{'':<40} {'N':>6} {'predicted':>10} {f'found ({runs} runs)':>18}")
    for size in sizes:
        for alpha in RATIOS:
            print(cosine_rung(alpha, size, runs), flush=True)
        for rung in kinked_rungs(min(size // 8, 300), runs):
            print(rung, flush=True)
        for name in EXPERIMENTS:
            for rung in outlier_rungs(name, size, runs):
                print(rung, flush=True)


if __name__ == "__main__":
    arguments = [int(x) for x in sys.argv[1:]]
    main(arguments[0] if arguments else RUNS, arguments[1:] or SIZES)
