"""The random-matrix layer: the law's distribution function, a weight matrix's report, general populations.

The distribution function is timed against adaptive quadrature of the density; programs of others are in peers.py.
"""

from __future__ import annotations

import os

import numpy as np
from scipy.integrate import quad

from benchmarks.benchmark import Benchmark, Row, seconds
from bulkedge.numerics.spectra import tracy_widom
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.silverstein import DiscretePopulation, GeneralLaw
from bulkedge.numerics.weights.weights import analyse

# 4000 takes minutes on one core; BULKEDGE_SIDE=4000 runs it at that size.
SIDE = int(os.environ.get("BULKEDGE_SIDE", "1000"))


def cdf_rows() -> tuple[Row, ...]:
    """10^5 values of the distribution function; quadrature is timed at 200 points and scaled."""
    law = MarchenkoPastur(0.5, 1.3)
    points = np.linspace(*law.edges, 100_000)
    few = points[250::500]

    def by_quadrature() -> list[float]:
        return [quad(lambda x: float(law.pdf(x)), law.edges[0], p, epsabs=1e-10, limit=200)[0] for p in few]

    assert np.max(np.abs(law.cdf(few) - by_quadrature())) < 1e-8
    mine = seconds(lambda: law.cdf(points))
    other = seconds(by_quadrature, 1) * len(points) / len(few)
    draws = seconds(lambda: law.rvs(100_000, random_state=np.random.default_rng(0)))
    uniform = seconds(lambda: np.random.default_rng(0).beta(1.5, 1.5, 100_000))
    return (
        Row("Marchenko-Pastur cdf, 10^5 points, 1e-14", "scipy.integrate.quad, 1e-10", mine, other, 100),
        Row("10^5 draws by inversion", "as many beta variates", draws, uniform),
    )


def general_rows() -> tuple[Row, ...]:
    """The density of a three-level population at 1000 points, against a numpy.roots per point."""
    levels, weights, ratio = np.array([1.0, 3.0, 10.0]), np.array([0.3, 0.3, 0.4]), 0.1
    law = GeneralLaw(DiscretePopulation.of(levels, weights), ratio)
    x = np.linspace(law.edges[0][0], law.edges[-1][1], 1000)

    def by_roots() -> np.ndarray:
        found = np.empty(len(x))
        for index, point in enumerate(x):
            # (alpha - x) prod(alpha - t) + c alpha sum w t prod_others
            polynomial = np.polymul([1.0, -point], np.poly(levels))
            for k, (t, share) in enumerate(zip(levels, weights, strict=True)):
                rest = np.poly(np.delete(levels, k))
                polynomial = np.polyadd(polynomial, ratio * share * t * np.polymul([1.0, 0.0], rest))
            alpha = max(np.roots(polynomial), key=lambda r: r.imag)
            found[index] = max(0.0, (-1 / alpha).imag) / (np.pi * ratio)
        return found

    assert np.max(np.abs(law.pdf(x) - by_roots())[1:-1]) < 1e-6
    return (
        Row(
            "general density, 1000 points, any population",
            "numpy.roots per point",
            seconds(lambda: law.pdf(x)),
            seconds(by_roots, 1),
        ),
    )


def tracy_widom_rows() -> tuple[Row, ...]:
    """One value of F_1 to 1e-13, against one eigenvalue decomposition of its size, which it cannot do without."""
    points = iter(np.linspace(-3, 1, 100_000))
    mine = seconds(lambda: tracy_widom.cdf(next(points)), 5)
    symmetric = np.random.default_rng(0).standard_normal((64, 64))
    bare = seconds(lambda: np.linalg.eigvalsh(symmetric + symmetric.T), 5)
    return (Row("F_1 at one point, 1e-13", "numpy.linalg.eigvalsh, 64 x 64", mine, bare),)


def weights_rows() -> tuple[Row, ...]:
    """The whole report on a square matrix with one spike, against the singular values alone."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((SIDE, SIDE)) / np.sqrt(SIDE)
    matrix += 3 * np.outer(rng.standard_normal(SIDE), rng.standard_normal(SIDE)) / SIDE
    report = analyse(matrix, rng=np.random.default_rng(0))
    assert len(report.outliers) == 1
    mine = seconds(lambda: analyse(matrix, rng=np.random.default_rng(0)), 1)
    full = seconds(lambda: np.linalg.svd(matrix, compute_uv=False), 1)
    note = "report: spectrum, count, strength, fit by 199 simulated matrices"
    return (Row(f"weights, {SIDE} x {SIDE}", "numpy.linalg.svd, values only", mine, full, None, note),)


BENCHMARKS = (
    Benchmark("rmt.cdf", cdf_rows),
    Benchmark("rmt.general", general_rows),
    Benchmark("rmt.tracy_widom", tracy_widom_rows),
    Benchmark("rmt.weights", weights_rows),
)
