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

from benchmarks.two_steps import link
from numerics.alignment import float_moments
from numerics.lanczos import leading_triples
from numerics.network import CHUNK, Floats, Teacher, draw_batch, draw_directions, draw_readout, draw_weights
from numerics.second_step import peak_bytes, second_weights
from numerics.spike_matrix import Outliers, predicted_outliers, spike_matrix
from theory import symbols as s
from theory.phases import phase
from theory.second_step import PolynomialActivation
from theory.setting import readout_moment
from theory.target import AdditiveTarget

SIZE, RATIO, NOISE = 20000, 2, 0.1
SECOND, THIRD = Fraction(8, 100), Fraction(2, 100)
CONSTANTS = (4.0, 4.0)
EXPONENTS = (Fraction(2, 5), Fraction(1, 4))
SHOWN = 6


def slope(z: Floats) -> Floats:
    """sigma'."""
    return 1 + 2 * float(SECOND) * z + 3 * float(THIRD) * (z * z - 1)


def steps(size: int) -> tuple[float, float]:
    """(eta1, eta2)."""
    return CONSTANTS[0] * size ** float(EXPONENTS[0]), CONSTANTS[1] * size ** float(EXPONENTS[1])


def predict(size: int, orders: int) -> Outliers:
    """T4's outliers."""
    sigma = PolynomialActivation(s.z + sp.Rational(SECOND) * (s.z**2 - 1) + sp.Rational(THIRD) * (s.z**3 - 3 * s.z))
    target = AdditiveTarget((float_moments(link),), NOISE**2, float)
    matrix = spike_matrix(
        target,
        lambda *x: float(sigma(*x)),
        lambda p: float(readout_moment("uniform", p)),
        size,
        float(RATIO),
        steps(size),
        orders,
    )
    return predicted_outliers(matrix, 1.0)


def main(size: int) -> None:
    """Print the table."""
    count = phase(*EXPONENTS, 3).Lambda
    expected = predict(size, count + 1)
    print(f"d = N = {size}, n = {RATIO * size}: Lambda = {count}, {count + 1} outliers expected")
    rng = np.random.default_rng(2026)
    teacher = Teacher(draw_directions(size, 1, rng), (link,), NOISE)
    W, a = draw_weights("gaussian", size, size, rng), draw_readout("uniform", size, rng)
    batch = draw_batch(teacher, RATIO * size, rng)
    start = time.perf_counter()
    second_weights(W, a, (batch, batch), slope, steps(size))
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
    overlaps = np.abs(teacher.directions[:, 0] @ found.left)
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
