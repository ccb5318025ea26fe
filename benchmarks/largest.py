"""Two steps at d = N = 20000, n = 40000, once: time, peak memory, and the three outliers of Lambda = 2 against T4.

Run `python -m benchmarks.largest [N]`; it takes 20 to 40 minutes on two cores and is no part of `python -m benchmarks`.
Setting: sigma = z + .08 (z^2 - 1) + .02 (z^3 - 3z), link sin(1.2z) + .8 cos(1.5z) centred, noise .1, uniform readout,
reused batch, correlation loss, n = 2d, eta1 = 4 N^.4, eta2 = 4 N^.25: Lambda = min(3 - 1, floor(.25/.1)) = 2.

Recorded on 30 November 2026 (two cores shared with much other work, float64): W2 formed
in 2955 s (39 minutes of processor time in all), six triples in 80 s, peak memory 6.51 GiB.
    k   found      predicted  ratio   overlap with beta (predicted)
    0   247.1283   248.2496   .9955   .679 (.677)
    1    12.7987    12.8973   .9924   .049 (.057)
    2     5.2755     5.2605  1.0028   .381 (.387)
    3     2.2976 (the bulk's last value; the law of W0 alone ends at 2)
At N = 1500: 108.15, 8.403, 4.186 against 111.97, 8.581, 4.165, and the bulk ends at 3.11.
"""

from __future__ import annotations

import resource
import sys
import time
from fractions import Fraction

import numpy as np
import sympy as sp

from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.steps.network import CHUNK
from bulkedge.numerics.steps.second_step import peak_bytes
from bulkedge.numerics.steps.spike_matrix import predicted_outliers
from bulkedge.numerics.steps.two_steps import Cubic, Experiment
from bulkedge.theory.steps.phases import phase

SIZE, RATIO = 20000, 2
EXPERIMENT = Experiment(Cubic(sp.Rational(2, 25), sp.Rational(1, 50)), float(RATIO), (4.0, 4.0), (0.4, 0.25))
SHOWN = 6


def main(size: int) -> None:
    """Print the table."""
    count = phase(Fraction(2, 5), Fraction(1, 4), 3).Lambda
    expected = predicted_outliers(EXPERIMENT.matrix(size, count + 1), 1.0)
    print(f"d = N = {size}, n = {RATIO * size}: Lambda = {count}, {count + 1} outliers expected")
    network = EXPERIMENT.start(np.random.default_rng(2026), size)
    start = time.perf_counter()
    W = EXPERIMENT.train(network)
    formed = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    bound = peak_bytes(size, size, CHUNK) / 2**30
    print(
        f"W2 formed in {formed:.0f} s; peak memory {peak:.2f} GiB, bound of W2's own arrays {bound:.2f} GiB", flush=True
    )
    start = time.perf_counter()
    found = leading_triples(W, SHOWN)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{SHOWN} singular triples in {time.perf_counter() - start:.0f} s; peak memory {peak:.2f} GiB")
    overlaps = np.abs(network.beta @ found.left)
    print(f"{'k':>2} {'found':>10} {'residual':>9} {'predicted':>10} {'ratio':>7} {'overlap':>8} {'predicted':>10}")
    for k in range(SHOWN):
        line = f"{k:>2} {found.values[k]:>10.4f} {found.residuals[k]:>9.1e}"
        if k <= count:
            position = expected.positions[k]
            line += f" {position:>10.4f} {found.values[k] / position:>7.4f} {overlaps[k]:>8.3f}"
            line += f" {expected.overlaps[k]:>10.3f}"
        print(line)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
