"""Two steps at scale: W2 against the matrix products it cannot avoid, Lanczos against a dense SVD, the memory bound."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.benchmark import Benchmark, Row
from numerics.lanczos import leading_triples
from numerics.network import (
    CHUNK,
    Floats,
    Teacher,
    draw_batch,
    draw_directions,
    draw_readout,
    draw_weights,
    mean_gradient,
)
from numerics.second_step import peak_bytes, second_weights

SIZE, SAMPLES, TRIPLES = 4000, 8000, 10
LARGEST, LARGEST_SAMPLES = 20000, 40000
STEPS = (3 * SIZE**0.35, 6 * SIZE**0.25)


def slope(z: Floats) -> Floats:
    """The derivative of z + .075 (z^2 - 1)."""
    return 1 + 0.15 * z


def link(z: Floats) -> Floats:
    """A bounded link."""
    return np.asarray(np.sin(1.2 * z) + 0.8 * np.cos(1.5 * z) - 0.8 * np.exp(-1.125))


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
    rng = np.random.default_rng(0)
    teacher = Teacher(draw_directions(SIZE, 1, rng), (link,), 0.1)
    W, a = draw_weights("gaussian", SIZE, SIZE, rng), draw_readout("uniform", SIZE, rng)
    batch = draw_batch(teacher, SAMPLES, rng)
    before = [_products(W) for _ in range(3)]
    start = time.process_time()
    second_weights(W, a, (batch, batch), slope, STEPS)
    mine = time.process_time() - start
    # Timed on both sides: the clock drifts.
    limit = float(np.median(before + [_products(W) for _ in range(3)]))
    bound = peak_bytes(LARGEST, LARGEST, CHUNK) / 2**30
    held = peak_bytes(SIZE, SIZE, CHUNK) / (8 * SIZE**2)
    note = f"at most {held:.2f} N d floats; d = N = {LARGEST}, n = {LARGEST_SAMPLES} needs {bound:.1f} GiB"
    return (Row(f"W2, d = N = {SIZE}, n = {SAMPLES}", "its four matrix products", mine, limit, 1 / 1.5, note),)


def lanczos_rows() -> tuple[Row, ...]:
    """The ten leading triples of a W2 of the same size, against its dense SVD."""
    rng = np.random.default_rng(0)
    teacher = Teacher(draw_directions(SIZE, 1, rng), (link,), 0.1)
    W, a = draw_weights("gaussian", SIZE, SIZE, rng), draw_readout("uniform", SIZE, rng)
    # A quarter of the samples: the spectrum is that of a W2, and the time goes to the decompositions.
    batch = draw_batch(teacher, SAMPLES // 4, rng)
    second_weights(W, a, (batch, batch), slope, STEPS)
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
