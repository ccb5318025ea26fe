"""Checks of the Hermite layer (H1-H4) by quadrature and Monte Carlo, each with its negative control."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.functions import gauss_nodes, vectorised
from bulkedge.numerics.functions.hermite import hermite_table
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.gaussian import enclose, expectation
from bulkedge.theory.gaussian.hermite import coefficient, general_term, mehler_sum, parseval_tail
from bulkedge.theory.numbers.ball import enclose_expr
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import k as k_symbol

SAMPLES = 20_000  # per trial; many trials, since four standard errors of few are passed too often (Student)
_CORRELATION = Fraction(-3, 5)


def _quadrature(name: str, k: int) -> Enclosure:
    """The k-th orthonormal coefficient by composite Gauss-Legendre; the error is the change between two orders."""
    f = nonlinearity(name)
    kinks = [float(b) for b in f.kinks]
    values = []
    for nodes in (16, 24):
        x, w = gauss_nodes(kinks, nodes=nodes)
        values.append(float(np.dot(w, vectorised(f)(x) * hermite_table(x, k)[k])))
    error = abs(values[1] - values[0]) + 1e-14
    return Enclosure(Fraction(values[1]), Fraction(error), "two orders of quadrature")


def _general(name: str, k: int) -> Enclosure:
    term = general_term(nonlinearity(name))
    assert term is not None
    return enclose_expr(term, 20, {k_symbol: sp.Integer(k)})


def _physicist(name: str, k: int) -> float:
    """What H_k(z) = 2^{k/2} He_k(sqrt 2 z) in the place of He_k(z) would give."""
    f = nonlinearity(name)
    x, w = gauss_nodes([float(b) for b in f.kinks])
    h = np.polynomial.hermite.hermval(x, [0.0] * k + [1.0])
    return float(np.dot(w, vectorised(f)(x) * h)) / math.sqrt(math.factorial(k))


@stream("H1.gelu")
def _coefficient_trial(rng: np.random.Generator, size: int, name: str, k: int) -> dict[str, float]:
    """Monte Carlo of E[f h_k] over `size` draws."""
    x = rng.standard_normal(size)
    return {"coefficient": float(np.mean(vectorised(nonlinearity(name))(x) * hermite_table(x, k)[k]))}


@stream("H3")
def _residual_trial(rng: np.random.Generator, size: int, name: str, degree: int) -> dict[str, float]:
    """Monte Carlo of E (f - sum_{k <= degree} c_k h_k)^2."""
    f = nonlinearity(name)
    x = rng.standard_normal(size)
    c = np.array([float(coefficient(f, k).enclosure) for k in range(degree + 1)])
    residual = vectorised(f)(x) - c @ hermite_table(x, degree)
    return {"tail": float(np.mean(residual**2))}


@stream("H4")
def _mehler_trial(rng: np.random.Generator, size: int, first: str, second: str, rho: float) -> dict[str, float]:
    """Monte Carlo of E[f(z1) g(z2)] at correlation rho."""
    x = rng.standard_normal(size)
    y = rho * x + math.sqrt(1 - rho**2) * rng.standard_normal(size)
    return {"product": float(np.mean(vectorised(nonlinearity(first))(x) * vectorised(nonlinearity(second))(y)))}


def _monte_carlo(trial: functools.partial[dict[str, float]], component: str) -> MonteCarlo:
    return MonteCarlo(trial, component, size=SAMPLES, trials=160, full_trials=1600)


def _tail_without_factorials() -> float:
    """E f^2 minus the sum of squared `probabilist` coefficients: the k! is missing."""
    f = nonlinearity("relu")
    second = float(enclose(nonlinearity("relu(z)**2"), 20))
    return second - sum(float(coefficient(f, k, "probabilist").enclosure) ** 2 for k in range(3))


def _mehler(rho: Fraction) -> float:
    return float(mehler_sum(nonlinearity("relu"), nonlinearity("tanh(z) + z**2/4"), rho, 30))


def _curvature() -> float:
    value = expectation(nonlinearity("relu(z - 1/3)").derivative(2))
    assert value is not None
    return float(value) / math.sqrt(2)


CHECKS = (
    Check(
        id="H1.relu",
        claim="the general term of ReLU at `k = 8` is `E`[relu `h_8`]",
        source="H1",
        predict=lambda: _general("relu", 8),
        measure=SecondRoute(lambda: _quadrature("relu", 8)),
        resolution=1e-9,
        control=Control("`H_k` in the place of `He_k`", lambda: _physicist("relu", 8)),
    ),
    Check(
        id="H1.elu",
        claim="the general term of ELU (a finite sum) at `k = 7`",
        source="H1",
        predict=lambda: _general("elu", 7),
        measure=SecondRoute(lambda: _quadrature("elu", 7)),
        resolution=1e-9,
        control=Control("`k` shifted by one", lambda: _general("elu", 8)),
    ),
    Check(
        id="H1.gelu",
        claim="`c_2` of GELU is 3/(`4 sqrt(2 pi)`)",
        source="H1",
        predict=lambda: _general("gelu", 2),
        measure=_monte_carlo(functools.partial(_coefficient_trial, name="gelu", k=2), "coefficient"),
        resolution=0.01,
        control=Control("a missing `1/sqrt(k!)`", lambda: float(_general("gelu", 2)) * math.sqrt(2)),
    ),
    Check(
        id="H1.kink",
        claim="`E[sigma'']` of relu(`z - 1/3`) is `phi`(1/3), carried by the `delta` at the kink",
        source="H1",
        predict=_curvature,
        measure=_monte_carlo(functools.partial(_coefficient_trial, name="relu(z - 1/3)", k=2), "coefficient"),
        resolution=0.01,
        control=Control("the kink lost", lambda: 0.0),
    ),
    Check(
        id="H2.tanh",
        claim="`c_11` of tanh, enclosed by ball arithmetic",
        source="H2",
        predict=lambda: coefficient(nonlinearity("tanh"), 11, digits=20).enclosure,
        measure=SecondRoute(lambda: _quadrature("tanh", 11)),
        resolution=1e-10,
        control=Control("`H_k` in the place of `He_k`", lambda: _physicist("tanh", 11)),
    ),
    Check(
        id="H2.mish",
        claim="`c_3` of mish, enclosed by ball arithmetic",
        source="H2",
        predict=lambda: coefficient(nonlinearity("mish"), 3, digits=20).enclosure,
        measure=SecondRoute(lambda: _quadrature("mish", 3)),
        resolution=1e-10,
        control=Control(
            "a missing `1/sqrt(k!)`",
            lambda: coefficient(nonlinearity("mish"), 3, "moment", 20).enclosure,
        ),
    ),
    Check(
        id="H3",
        claim="what the ReLU expansion leaves out beyond `k = 2` is `E f^2` - sum `c_k^2`",
        source="H3",
        predict=lambda: parseval_tail(nonlinearity("relu"), 2),
        measure=_monte_carlo(functools.partial(_residual_trial, name="relu", degree=2), "tail"),
        resolution=0.001,
        control=Control("a missing `k`!", _tail_without_factorials),
    ),
    Check(
        id="H4",
        claim="Mehler: `E[f(z1) g(z2)]` = sum `c_k(f) c_k(g) rho^k` at `rho = -3/5`, ReLU against tanh`(z) + z^2/4`",
        source="H4",
        predict=lambda: _mehler(_CORRELATION),
        measure=_monte_carlo(
            functools.partial(_mehler_trial, first="relu", second="tanh(z) + z**2/4", rho=float(_CORRELATION)),
            "product",
        ),
        resolution=0.01,
        control=Control("`rho` with the wrong sign", lambda: _mehler(-_CORRELATION)),
    ),
)
