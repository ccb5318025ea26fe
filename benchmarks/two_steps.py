"""Two steps at scale: W2 against the matrix products it cannot avoid, Lanczos against a dense SVD, the memory bound."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.benchmark import Benchmark, Row
from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.steps.network import CHUNK, Floats, mean_gradient
from bulkedge.numerics.steps.second_step import peak_bytes
from bulkedge.numerics.steps.two_steps import WEAK, Experiment

SIZE, SAMPLES, TRIPLES = 4000, 8000, 10
LARGEST, LARGEST_SAMPLES = 20000, 40000


def experiment(samples: int) -> Experiment:
    """T4's setting at n = `samples`."""
    return Experiment(WEAK, samples / SIZE, (3.0, 6.0), (0.35, 0.25))


def _products(W: Floats, chunk: int = CHUNK) -> float:
    """Seconds of the four products of two steps from chunks at hand: nothing is drawn, no function is applied."""
    X = np.random.default_rng(1).standard_normal((chunk, len(W)))
    batch = [(X, np.ones(chunk))]
    start = time.process_time()
    P = X @ W
    forward = time.process_time() - start
    total = np.zeros_like(W)
    from scipy.linalg import blas

    start = time.process_time()
    blas.dgemm(1.0, P.T, X.T, beta=1.0, c=total.T, trans_b=1, overwrite_c=1)
    backward = time.process_time() - start
    assert np.allclose(total, mean_gradient(W, batch, lambda p: p) * chunk)  # the same product that is timed in ours
    return 2 * (forward + backward) * SAMPLES / chunk


def weights_rows() -> tuple[Row, ...]:
    """W2 at d = N = 4000, n = 8000, data regenerated from the seed, against its matrix products alone."""
    setting = experiment(SAMPLES)
    network = setting.start(np.random.default_rng(0), SIZE)
    before = [_products(network.W) for _ in range(3)]
    start = time.process_time()
    W = setting.train(network)
    mine = time.process_time() - start
    # Timed on both sides: the clock drifts.
    limit = float(np.median(before + [_products(W) for _ in range(3)]))
    bound = peak_bytes(LARGEST, LARGEST, CHUNK) / 2**30
    held = peak_bytes(SIZE, SIZE, CHUNK) / (8 * SIZE**2)
    note = f"at most {held:.2f} N d floats; d = N = {LARGEST}, n = {LARGEST_SAMPLES} needs {bound:.1f} GiB"
    return (Row(f"W2, d = N = {SIZE}, n = {SAMPLES}", "its four matrix products", mine, limit, 1 / 1.5, note),)


def lanczos_rows() -> tuple[Row, ...]:
    """The ten leading triples of a W2 of the same size, against its dense SVD."""
    # A quarter of the samples: the spectrum is that of a W2, and the time goes to the decompositions.
    setting = experiment(SAMPLES // 4)
    W = setting.train(setting.start(np.random.default_rng(0), SIZE))
    start = time.process_time()
    found = leading_triples(W, TRIPLES)
    mine = time.process_time() - start
    start = time.process_time()
    dense = np.linalg.svd(W)[1]
    other = time.process_time() - start
    worst = float(np.max(np.abs(found.values - dense[:TRIPLES])))
    assert worst <= float(np.max(found.residuals)) + 1e-10
    note = f"largest difference {worst:.1e}, residuals {float(np.max(found.residuals)):.1e}"
    return (Row(f"{TRIPLES} triples of W2, d = N = {SIZE}", "dense SVD", mine, other, 5, note),)


BENCHMARKS = (Benchmark("two-steps", weights_rows), Benchmark("lanczos", lanczos_rows))
