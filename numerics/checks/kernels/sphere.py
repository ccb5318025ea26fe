"""Checks of the eigenvalues on the sphere (K2) by Monte Carlo over points and weights, with negative controls."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.sphere import (
    eigenvalues,
    gaussian_weight_factor,
    legendre_values,
    multiplicity,
    second_moment,
)
from bulkedge.theory.numbers.enclosure import Enclosure

POINTS = 10_000  # a trial; many trials, since four standard errors of few are passed too often


def _uniform(rng: np.random.Generator, size: int, dimension: int) -> np.ndarray:
    x = rng.standard_normal((size, dimension))
    points: np.ndarray = x / np.linalg.norm(x, axis=1, keepdims=True)
    return points


@stream("K2.relu")
def _points_trial(rng: np.random.Generator, size: int, name: str, dimension: int, degree: int) -> dict[str, float]:
    """E[f(x_1) P_l(x_1)] over uniform points, in units of 1/sqrt(N(d, l)) so that it is of the coefficients' size."""
    t = _uniform(rng, size, dimension)[:, 0]
    legendre = legendre_values(t, dimension, degree)[degree]
    mean = float(np.mean(vectorised(nonlinearity(name))(t) * legendre))
    return {"eta": mean * math.sqrt(multiplicity(dimension, degree))}


@stream("K2.kernel")
def _pairs_trial(rng: np.random.Generator, size: int, name: str, dimension: int, degree: int) -> dict[str, float]:
    """E[Y(x) k(x, x') Y(x')] over points and weights, Y = sqrt(N) P_l(x_1) a unit eigenfunction.

    The addition theorem makes E[Y(x) f(w.x)] = eta_l Y(w), so the mean is eta_l^2 exactly at every size.
    """
    x, y, w = (_uniform(rng, size, dimension) for _ in range(3))
    f = vectorised(nonlinearity(name))
    unit = math.sqrt(multiplicity(dimension, degree))
    first, second = (unit * legendre_values(p[:, 0], dimension, degree)[degree] for p in (x, y))
    kernel = f(np.sum(w * x, axis=1)) * f(np.sum(w * y, axis=1))
    return {"eigenvalue": float(np.mean(first * kernel * second))}


def _eta(name: str, dimension: int, degree: int) -> float:
    found = eigenvalues(nonlinearity(name), dimension, degree)[degree]
    return float(found.eta) * math.sqrt(found.multiplicity)


def _eigenvalue(name: str, dimension: int, degree: int) -> Enclosure:
    return eigenvalues(nonlinearity(name), dimension, degree)[degree].value


def _points(name: str, dimension: int, degree: int) -> MonteCarlo:
    trial = functools.partial(_points_trial, name=name, dimension=dimension, degree=degree)
    return MonteCarlo(trial, "eta", size=POINTS, trials=160, full_trials=1600)


def _gegenbauer(name: str, dimension: int, degree: int) -> float:
    """C_l in the place of P_l = C_l/C_l(1)."""
    alpha = dimension / 2 - 1
    at_one = math.exp(math.lgamma(2 * alpha + degree) - math.lgamma(2 * alpha) - math.lgamma(degree + 1))
    return _eta(name, dimension, degree) * at_one


def _total(name: str, dimension: int, degree: int, wrong: bool = False) -> Enclosure:
    """sum of N(d, l) eta_l^2 up to a degree, the rest bounded by the last term's share of a sum over l^-2."""
    found = eigenvalues(nonlinearity(name), dimension, degree)
    total = sum(x.value.value * (2 * x.degree + 1 if wrong else x.multiplicity) for x in found)
    last = max(float(x.value) * x.multiplicity for x in found[-2:])
    # The terms fall at least like l^-2 (here l^-2 for ReLU at d = 4 times a constant): the tail is below degree * last.
    return Enclosure(Fraction(total), Fraction(degree * last), "tail by comparison")


CHECKS = (
    Check(
        id="K2.relu",
        claim="`eta_2` of ReLU at `d = 5`, times `sqrt N`(5, 2)",
        source="K2; F, lemma 5.1",
        predict=lambda: _eta("relu", 5, 2),
        measure=_points("relu", 5, 2),
        resolution=0.005,
        control=Control("`C_l` in the place of `P_l`", lambda: _gegenbauer("relu", 5, 2)),
    ),
    Check(
        id="K2.step",
        claim="`eta_3` of the step at `d = 4` (negative), times `sqrt N`(4, 3)",
        source="K2",
        predict=lambda: _eta("step", 4, 3),
        measure=_points("step", 4, 3),
        resolution=0.01,
        control=Control("the sign lost", lambda: -_eta("step", 4, 3)),
    ),
    Check(
        id="K2.tanh",
        claim="`eta_1` of tanh(`3 z`) at `d = 3` by enclosure, times `sqrt 3`",
        source="K2",
        predict=lambda: _eta("tanh(3*z)", 3, 1),
        measure=_points("tanh(3*z)", 3, 1),
        resolution=0.01,
        control=Control("the circle's coefficient", lambda: _eta("tanh(3*z)", 2, 1)),
    ),
    Check(
        id="K2.kernel",
        claim="`E[Y(x) k(x, x') Y(x')] = eta_0^2` for relu`(z)^2` at `d = 3`, weight uniform on the sphere",
        source="K2",
        predict=lambda: _eigenvalue("relu(z)**2", 3, 0),
        measure=MonteCarlo(
            functools.partial(_pairs_trial, name="relu(z)**2", dimension=3, degree=0),
            "eigenvalue",
            size=POINTS,
            trials=160,
            full_trials=1600,
        ),
        resolution=0.004,
        control=Control(
            "weights `N(0, I/d)` in the place of the sphere",
            lambda: float(_eigenvalue("relu(z)**2", 3, 0)) * float(gaussian_weight_factor(2, sp.Integer(3))),
        ),
    ),
    Check(
        id="K2.parseval",
        claim="sum of `N(d, l) eta_l^2` is `E f^2 = 1/(2d)`, ReLU at `d = 4`",
        source="K2",
        predict=lambda: second_moment(nonlinearity("relu"), 4),
        measure=SecondRoute(lambda: _total("relu", 4, 400)),
        resolution=0.002,
        control=Control("multiplicities of `d = 3`", lambda: _total("relu", 4, 400, wrong=True)),
    ),
)
