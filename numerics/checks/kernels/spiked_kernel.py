"""Checks of G4 and G5: the spiked kernel, its distance from the averaged one, and its expansion in B."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import sympy as sp

from bulkedge.numerics.kernels.batch_average import distance
from bulkedge.numerics.steps.covariance import Step
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.kernels import spiked_kernel as symbols
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import A, B, d

_POINT = {symbols.r: 3, symbols.r_prime: 2, symbols.angle: sp.Rational(6, 5), symbols.s: 1, symbols.s_prime: -1, d: 4}
SPIKED = {**_POINT, A: sp.Rational(6, 5), B: 4}
FIRST = 200  # of four sizes, each four times the one before


@stream("G4.warped")
def kernel_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Mean of relu(w.x) relu(w.x') over `size` weights w ~ N(0, Gamma/d) in d = 4, in plain coordinates."""
    x, other = _points()
    W = rng.standard_normal((size, 4)) * np.sqrt(np.array([1.2 + 4.0, 1.2, 1.2, 1.2]) / 4)
    # w and -w: the linear part of the product cancels in the mean.
    values = [np.maximum(sign * W @ x, 0) * np.maximum(sign * W @ other, 0) for sign in (1, -1)]
    return {"kernel": float(np.mean(values))}


def _points() -> tuple[np.ndarray, np.ndarray]:
    """Two points of lengths 3 and 2 at angle 6/5 with first coordinates 1 and -1."""
    cross = 6 * math.cos(1.2) + 1.0
    x = np.array([1.0, math.sqrt(8.0), 0.0, 0.0])
    second = cross / x[1]
    return x, np.array([-1.0, second, math.sqrt(3.0 - second**2), 0.0])


@stream("G5.divergence")
def _absolute_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Mean of |u.w|, w ~ N(0, I + (3/2) u u^T) in d = 3."""
    u = np.array([0.6, 0.8, 0.0])
    W = rng.standard_normal((size, 3)) + np.outer(rng.standard_normal(size), u) * math.sqrt(1.5)
    return {"mean": float(np.mean(np.abs(W @ u)))}


def exponent(activation: str, zeta: float, first: int = FIRST) -> Enclosure:
    """The exponent of d in the distance of T1* and T1, from slopes over quadrupled d, extrapolated once.

    The corrections are powers of d, so that consecutive slopes approach their limit geometrically (Aitken).
    """
    step = Step(activation=activation, zeta=zeta)
    logs = [math.log(distance(step, size)) for size in (first, 4 * first, 16 * first, 64 * first)]
    slopes = [(b - a) / math.log(4) for a, b in itertools.pairwise(logs)]
    change, last = slopes[1] - slopes[0], slopes[2] - slopes[1]
    limit = slopes[2] + last**2 / (change - last)
    return Enclosure(Fraction(limit), Fraction(abs(limit - slopes[2])), "extrapolated")


def _second_derivative() -> Enclosure:
    """Half of d^2 k1/dB^2 at B = 0 and the point, by differences at 40 digits of the closed form."""
    k1 = sp.lambdify(B, symbols.spiked_kernel().subs({**_POINT, A: sp.Rational(6, 5)}), "mpmath")
    with mpmath.workdps(40):
        coarse, fine = ((k1(h) - 2 * k1(0) + k1(-h)) / (2 * h**2) for h in (mpmath.mpf(10) ** -5, mpmath.mpf(10) ** -6))
        return Enclosure(Fraction(float(fine)), Fraction(float(abs(fine - coarse))), "differences")


def _second(angle_sign: int = 1) -> float:
    value = symbols.second_order() / B**2
    if angle_sign < 0:
        value = value.subs(sp.cos(2 * symbols.angle), -sp.cos(2 * symbols.angle))
    return float(value.subs({**_POINT, A: sp.Rational(6, 5)}).evalf(20))


def _kernel(spiked: bool) -> float:
    at = SPIKED if spiked else {**SPIKED, B: 0}
    return float(symbols.spiked_kernel().subs(at).evalf(20))


def _counterexample(order: int | None) -> float:
    at = {symbols.gamma1: 1, symbols.gamma2: sp.Rational(3, 2)}
    value = symbols.counterexample() if order is None else symbols.counterexample_sum(order)
    return float(value.subs(at).evalf(20))


def _radius_measured() -> Enclosure:
    """The radius of convergence from the ratios of Taylor coefficients 14 and 28 at 50 digits, extrapolated."""
    k1 = sp.lambdify(B, symbols.spiked_kernel().subs({**_POINT, A: sp.Rational(6, 5)}), "mpmath")
    with mpmath.workdps(50):
        c = mpmath.taylor(k1, 0, 29)
        at = {n: abs(c[n] / c[n + 1]) for n in (14, 28)}
    limit = float(2 * at[28] - at[14])
    return Enclosure(Fraction(limit), Fraction(abs(limit - float(at[28])) / 4), "extrapolated")


def _radius() -> float:
    return float(symbols.radius().subs({**_POINT, A: sp.Rational(6, 5)}).evalf(20))


CHECKS = (
    Check(
        "G4.warped",
        "`k1` is the arc-cosine kernel at the warped covariances `(A x.x' + B s s')/d`",
        "G4; paper F, Section 4",
        functools.partial(_kernel, True),
        MonteCarlo(kernel_trial, "kernel", 5_000, 160, 1600),
        0.02,
        Control("`k0` at the unwarped points", functools.partial(_kernel, False)),
    ),
    Check(
        "G4.generic",
        "erf, `zeta = 3/4`: the kernel averaged over batches is at Hilbert-Schmidt distance `(eta/d)^4 = d^-1`",
        "G4; paper F, Theorem 3.1",
        lambda: -1.0,
        SecondRoute(functools.partial(exponent, "erf", 0.75)),
        0.2,
        Control("the printed `eta^4` ln`^3 d/d^5, d^-2` up to logarithms", lambda: -2.0),
    ),
    Check(
        "G4.homogeneous",
        "ReLU, `zeta = 3/4`: the distance is max`(eta^4/d^5, (eta/d)^6) = d^(-3/2)`",
        "G4; paper F, Theorem 3.1",
        lambda: -1.5,
        SecondRoute(functools.partial(exponent, "relu", 0.75)),
        0.1,
        Control("the printed `eta^4` ln`^3 d/d^5, d^-2` up to logarithms", lambda: -2.0),
    ),
    Check(
        "G4.half",
        "ReLU, `zeta = 1/2`: the printed power `eta^4/d^5 = d^-3` holds there",
        "G4; paper F, Theorem 3.1",
        lambda: -3.0,
        # Smaller sizes: the distance falls as d^-3, to the rounding of the two operators at d = 10^4.
        SecondRoute(functools.partial(exponent, "relu", 0.5, 25)),
        0.1,
        Control("the rate `(eta/d)^4 = d^-2` of a generic activation", lambda: -2.0),
    ),
    Check(
        "G5.second",
        "the term of order `B^2` for ReLU",
        "G5; paper F, Lemma 4.5",
        _second,
        SecondRoute(_second_derivative),
        7e-4,
        Control("`cos 2 theta` with the other sign", functools.partial(_second, -1)),
    ),
    Check(
        "G5.divergence",
        "E`|u.w|` at `gamma2 = 3 gamma1/2` is `sqrt(2 (gamma1 + gamma2)/pi)`, where the printed series diverges",
        "G5; paper F, Theorem 4.2",
        functools.partial(_counterexample, None),
        MonteCarlo(_absolute_trial, "mean", 5_000, 160, 1600),
        0.02,
        Control("the printed series through `j = 20`", functools.partial(_counterexample, 20)),
    ),
    Check(
        "G5.radius",
        "the radius of convergence in `B` at fixed `x, x'` is where the two features become collinear",
        "G5; paper F, Theorem 4.2",
        _radius,
        SecondRoute(_radius_measured),
        0.4,
        Control("twice as far", lambda: 2 * _radius()),
    ),
)
