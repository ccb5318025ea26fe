"""Checks of G6: the exact spectrum on data and by other quadratures."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.special import ellipk

from bulkedge.numerics.kernels.spiked_spectrum import Sector, sector
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.kernels import spiked_expansion
from bulkedge.theory.kernels.spiked_spectrum import aligned, orthogonal, unspiked
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import A, B, d

Array = NDArray[np.float64]

D, _BULK, SPIKE = 20, 1.0, 20.0


@functools.cache
def at_spike(dimension: int, spike: float, j: int = 0, parity: int = 0, bulk: float = 1.0) -> Sector:
    """The sector of k1 at this dimension and spike, computed once."""
    return sector(dimension, bulk, spike, j, parity, tolerance=1e-9)


def _kernel(X: Array, Y: Array, bulk: float = _BULK) -> Array:
    """k1 between rows, w* the first axis, from its closed form."""
    scale = np.full(X.shape[1], bulk)
    scale[0] += SPIKE
    q = X * scale @ Y.T / D
    left, right = (np.sqrt(np.sum(Z**2 * scale, axis=1) / D) for Z in (X, Y))
    norm = np.outer(left, right)
    angle = np.arccos(np.clip(q / norm, -1, 1))
    values: Array = norm * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / (2 * np.pi)
    return values


@stream("G6.eigenfunction")
def _data_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """<Psi, T Psi> and <T Psi, T Psi>/value for three eigenfunctions, unbiased, from three independent samples."""
    X, Y, Z = (rng.standard_normal((size, D)) for _ in range(3))
    spike, axis = np.eye(D)[0], np.eye(D)[1]
    result = {}
    K, M = _kernel(X, Y), _kernel(Y, Z)
    # What the two largest modes add to the other ones' samples has mean zero, by orthogonality: take it off.
    top = at_spike(D, SPIKE).eigenfunction(0)
    rest = K - (_BULK + SPIKE) / (4 * D) * np.outer(X[:, 0], Y[:, 0])
    rest -= float(at_spike(D, SPIKE).eigenvalues[0]) * np.outer(top(X, spike), top(Y, spike))
    for name, part, i in (
        ("top", at_spike(D, SPIKE), 0),
        ("second", at_spike(D, SPIKE), 1),
        ("tilted", at_spike(D, SPIKE, 1, 1), 0),
    ):
        psi = part.eigenfunction(i)
        x, y, z = (psi(S, spike, axis) for S in (X, Y, Z))
        # Control variates: the sample's squared norms, of mean one; any coefficient leaves the mean as it is.
        value = float(part.eigenvalues[i])
        xx, yy, zz = (float(v @ v) / size for v in (x, y, z))
        matrix = K if name == "top" else rest
        result[name] = float(x @ matrix @ y) / size**2 - value * (xx * yy - 1)
        result[name + "_square"] = float((x @ K) @ (M @ z)) / size**3 / value - value * (xx * yy * zz - 1)
    return result


_LINEAR_BULK = 1.5  # not 1: the orthogonal functions must show whether they feel A


@stream("G6.linear.aligned")
def _linear_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """<f, T f> for f = w*.x, and its mean over the axes across w*, from two independent samples."""
    X, Y = (rng.standard_normal((size, D)) for _ in range(2))
    top, spike = at_spike(D, SPIKE, bulk=_LINEAR_BULK), np.eye(D)[0]
    psi = top.eigenfunction(0)
    # The largest mode is even: what it adds has mean zero, take it off; so has what the two linear parts add.
    K = _kernel(X, Y, _LINEAR_BULK) - float(top.eigenvalues[0]) * np.outer(psi(X, spike), psi(Y, spike))
    along = (_LINEAR_BULK + SPIKE) / (4 * D)
    xx, yy = (float(S[:, 0] @ S[:, 0]) / size for S in (X, Y))
    rest = K - along * np.outer(X[:, 0], Y[:, 0])
    return {
        "aligned": float(X[:, 0] @ K @ Y[:, 0]) / size**2 - along * (xx * yy - 1),
        "orthogonal": float(np.sum((X[:, 1:].T @ rest) * Y[:, 1:].T)) / size**2 / (D - 1),
    }


def _linear(eigenvalue: sp.Expr) -> float:
    return float(eigenvalue.subs({A: sp.Rational(3, 2), B: int(SPIKE), d: D}))


def circle() -> Enclosure:
    """The largest eigenvalue at d = 2, A = 1, B = 5, by Nystrom's rule on the circle, extrapolated."""

    def top(n: int) -> float:
        phi = 2 * np.pi * np.arange(n) / n
        X = np.stack([np.cos(phi), np.sin(phi)], axis=1) * np.sqrt([6.0, 1.0])
        lengths = np.linalg.norm(X, axis=1)
        cosine = np.clip(X @ X.T / np.outer(lengths, lengths), -1, 1)
        angle = np.arccos(cosine)
        K = np.outer(lengths, lengths) * (np.sin(angle) + (np.pi - angle) * cosine) / (4 * np.pi)
        return float(np.linalg.eigvalsh(2 * K / n)[-1])

    coarse, fine = top(150), top(300)
    limit = fine + (fine - coarse) / 15
    return Enclosure(Fraction(limit), Fraction(abs(limit - fine) + 1e-12), "extrapolated")


def weyl() -> Enclosure:
    """lambda_j(T1)/lambda_j(T0) at d = 2, B/A = 30, j = 12..33, extrapolated linearly in 1/j."""
    parts = [sector(2, 1.0, 30.0, j, j, tolerance=1e-7) for j in (0, 1)]
    spiked = np.sort(np.concatenate([p.eigenvalues for p in parts] + [np.array([31 / 8, 1 / 8])]))[::-1]
    # Without a spike: 2 eta_l^2, twice for l >= 1.
    plain = [float(unspiked(l).subs(d, 2)) for l in (0, 1, 1, *np.repeat(np.arange(2, 40, 2), 2))]
    index = np.arange(12, 34)
    ratio = spiked[index] / np.array(plain)[index]
    limit = float(np.polyfit(1 / index, ratio, 1)[1])
    # The distance from the last pairs to the limit bounds what the line leaves.
    return Enclosure(Fraction(limit), Fraction(abs(limit - float(ratio[-8:].mean()))), "extrapolated")


def _weyl() -> float:
    return float((1 + 30.0) ** -0.5 * (2 / math.pi * ellipk(30.0 / 31.0)) ** 4)


_DATA = functools.partial(MonteCarlo, _data_trial)

CHECKS = (
    Check(
        "G6.linear.aligned",
        "`d = 20, A = 3/2, B = 20`: `<f`, T `f>` of `f = w*.x` on data is `(A+B)/(4d)`",
        "G6; paper F, Theorem 5.3",
        lambda: _linear(aligned()),
        MonteCarlo(_linear_trial, "aligned", 140, 60, 600),
        0.002,
        Control("not boosted: `A/(4d)`", lambda: _linear(orthogonal())),
    ),
    Check(
        "G6.linear.orthogonal",
        "`d = 20, A = 3/2, B = 20`: `<f`, T `f>` of `f = v.x, v` across `w*`, on data is `A/(4d)`",
        "G6; paper F, Theorem 5.3",
        lambda: _linear(orthogonal()),
        MonteCarlo(_linear_trial, "orthogonal", 140, 60, 600),
        0.001,
        Control("unaffected: the `1/(4d)` of `k0`", lambda: 1 / (4 * D)),
    ),
    Check(
        "G6.top",
        "`d = 20, A = 1, B = 20`: `<Psi`, T `Psi>` of the computed eigenfunction on data",
        "G6; paper F, Theorem 5.4",
        lambda: float(at_spike(D, SPIKE).eigenvalues[0]),
        _DATA("top", 140, 160, 1600),
        0.022,
        Control(
            "the printed `lambda~` = A `lambda_0 + B/(2 pi d)`",
            lambda: float(spiked_expansion.paper_top().subs({A: 1, sp.Symbol("B", real=True): 20, d: 20}).evalf(15)),
        ),
    ),
    Check(
        "G6.eigenfunction",
        "`<`T `Psi`, T `Psi> = lambda^2`: `Psi` is an eigenfunction, not only a good trial function",
        "G6",
        lambda: float(at_spike(D, SPIKE).eigenvalues[0]),
        _DATA("top_square", 140, 160, 1600),
        0.05,
        Control("the aligned linear eigenvalue `(A+B)/(4d)`", lambda: (_BULK + SPIKE) / (4 * D)),
    ),
    Check(
        "G6.second",
        "`d = 20, A = 1, B = 20`: the second even eigenvalue on data",
        "G6; paper F, Appendix",
        lambda: float(at_spike(D, SPIKE).eigenvalues[1]),
        _DATA("second", 140, 160, 1600),
        0.006,
        Control(
            "the appendix's A `lambda_2`", lambda: float(spiked_expansion.paper_second().subs({A: 1, d: D}).evalf(15))
        ),
    ),
    Check(
        "G6.sector",
        "`d = 20, A = 1, B = 20`: the first eigenvalue of sector 1 (odd in `w*`), multiplicity 19, on data",
        "G6",
        lambda: float(at_spike(D, SPIKE, 1, 1).eigenvalues[0]),
        _DATA("tilted", 140, 160, 1600),
        0.0013,
        Control("the same without a spike", lambda: float(at_spike(D, 0.0, 1, 1).eigenvalues[0])),
    ),
    Check(
        "G6.circle",
        "`d = 2`: the largest eigenvalue by a rule on the circle that knows no harmonics",
        "G6",
        lambda: float(at_spike(2, 5.0).eigenvalues[0]),
        SecondRoute(circle),
        1e-4,
        Control("without the spike's second order", lambda: float(at_spike(2, 0.0).eigenvalues[0] * (1 + 5.0 / 2))),
    ),
    Check(
        "G6.weyl",
        "`d = 2, B = 30 A`: `lambda_j`(T1)/`lambda_j`(T0) tends to `A (1+B/A)^(-1/2) ((2/pi) K)^4`, which vanishes "
        "with `A/B`",
        "G6; paper F, Theorem 4.1",
        _weyl,
        SecondRoute(weyl),
        0.3,
        Control("the printed `1/sqrt(det Gamma)`", lambda: 31.0**-0.5),
    ),
)
