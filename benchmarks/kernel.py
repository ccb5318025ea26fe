"""Kernel matrices and eigenvalues against the matrix product they rest on, scikit-learn and special functions."""

from __future__ import annotations

import math
import time

import mpmath
import numpy as np
import sympy as sp
from sklearn.metrics.pairwise import pairwise_kernels

from benchmarks.benchmark import Benchmark, Row, seconds
from bulkedge.numerics.kernels.kernel_matrix import kernel_matrix
from bulkedge.numerics.kernels.sphere import relu_power_values
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.kernels.sphere import eigenvalues

SIZE, DIMENSION, SMALL = 4000, 1000, 400


def relu_rows() -> tuple[Row, ...]:
    """ReLU kernel, n = 4000, d = 1000, against its matrix product with numpy's sqrt and arccos on the result."""
    x = np.random.default_rng(0).standard_normal((SIZE, DIMENSION))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)

    def limit() -> None:
        gram = unit @ unit.T
        np.clip(gram, -1, 1, out=gram)
        np.sqrt(1 - gram * gram)
        np.arccos(gram)

    # Interleaved, best of five: the machine's clock drifts by more than the margin.
    mine, theirs = [], []
    kernel_matrix(x[:10])
    for _ in range(5):
        mine.append(seconds(lambda: kernel_matrix(x), 1))
        theirs.append(seconds(limit, 1))
    return (Row(f"ReLU kernel, n = {SIZE}, d = {DIMENSION}", "x @ x.T, sqrt, arccos", min(mine), min(theirs), 1 / 1.2),)


def _arc_cosine(a: np.ndarray, b: np.ndarray) -> float:
    size = math.sqrt((a @ a) * (b @ b))
    r = max(-1.0, min(1.0, (a @ b) / size))
    return size * (math.sqrt(1 - r * r) + r * (math.pi - math.acos(r))) / (2 * math.pi)


def sklearn_rows() -> tuple[Row, ...]:
    """scikit-learn has no arc-cosine kernel: its route for one is pairwise_kernels with a function of two rows."""
    x = np.random.default_rng(0).standard_normal((SMALL, DIMENSION))
    np.testing.assert_allclose(kernel_matrix(x[:20]), pairwise_kernels(x[:20], metric=_arc_cosine), rtol=1e-12)
    mine = seconds(lambda: kernel_matrix(x))
    other = seconds(lambda: pairwise_kernels(x, metric=_arc_cosine), 1)
    return (Row(f"ReLU kernel, n = {SMALL}, d = {DIMENSION}", "sklearn pairwise_kernels", mine, other, 10),)


def sphere_rows() -> tuple[Row, ...]:
    """eta_l for l = 0..200 at d = 1000: floats and balls against ten milliseconds, and mpmath's gamma functions."""

    def by_gammas() -> list[mpmath.mpf]:
        with mpmath.workdps(20):
            top = mpmath.gamma(500) / 4
            return [
                top * mpmath.rgamma(mpmath.mpf(3 - l) / 2) * mpmath.rgamma(mpmath.mpf(1001 + l) / 2) for l in range(201)
            ]

    relu = nonlinearity("relu")
    floats = relu_power_values(1, 1000, 200)
    balls = [float(x.eta) for x in eigenvalues(relu, 1000, 200)]
    np.testing.assert_allclose(floats, [float(v) for v in by_gammas()], rtol=1e-10)
    np.testing.assert_allclose(balls, floats, rtol=1e-10)
    mine = seconds(lambda: relu_power_values(1, 1000, 200), 20)
    certified = seconds(lambda: eigenvalues(relu, 1000, 200), 20)
    what = "eta_l, l = 0..200, d = 1000"
    return (
        Row(f"{what}, floats", "ten milliseconds", mine, 0.01, 1),
        Row(f"{what}, floats", "mpmath.gamma", mine, seconds(by_gammas), 1),
        Row(f"{what}, enclosed, with multiplicities", "mpmath.gamma, no bound", certified, seconds(by_gammas)),
    )


def tanh_rows() -> tuple[Row, ...]:
    """A certified value of the tanh kernel, against mpmath's two-dimensional quadrature (no bound)."""

    def by_mpmath() -> mpmath.mpf:
        c = mpmath.sqrt(mpmath.mpf(3) / 4)

        def integrand(a: mpmath.mpf, b: mpmath.mpf) -> mpmath.mpf:
            return mpmath.tanh(a) * mpmath.tanh(a / 2 + c * b) * mpmath.exp(-(a * a + b * b) / 2)

        return mpmath.quad(integrand, [-9, -3, 0, 3, 9], [-9, -3, 0, 3, 9]) / (2 * mpmath.pi)

    f, one, half = nonlinearity("tanh"), sp.Integer(1), sp.Rational(1, 2)
    mine = seconds(lambda: value(f, one, half, one))
    start = time.process_time()
    other = by_mpmath()
    taken = time.process_time() - start
    assert abs(float(value(f, one, half, one)) - float(other)) < 1e-10
    return (Row("kernel of tanh at rho = 1/2, certified", "mpmath.quad in two dimensions", mine, taken, 1),)


BENCHMARKS = (
    Benchmark("kernel.relu", relu_rows),
    Benchmark("kernel.sklearn", sklearn_rows),
    Benchmark("kernel.sphere", sphere_rows),
    Benchmark("kernel.tanh", tanh_rows),
)
