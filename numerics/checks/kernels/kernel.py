"""Checks of the dual kernels (K1) by Monte Carlo over weights and by second routes, each with its negative control."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import sympy as sp

from bulkedge.numerics.functions.functions import gauss_nodes, vectorised
from bulkedge.numerics.trials.check import Check, Control, MonteCarlo, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.kernels.arc_cosine import square_coefficient, square_coefficient_asymptotics
from bulkedge.theory.kernels.kernel import dual_of_correlation, expansion_at_one
from bulkedge.theory.kernels.kernel import e as distance
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.symbols import k, rho

WEIGHTS = 10_000  # weights a trial; many trials, since four standard errors of few are passed too often
X, Y = (1.0, -0.5, 0.3), (0.9, -1.2, 0.6)  # two inputs, of unequal norms
ONE, HALF = sp.Integer(1), sp.Rational(1, 2)


def _products() -> tuple[sp.Rational, sp.Rational, sp.Rational]:
    """q11, q12, q22 of the two inputs, exactly those of their decimals."""
    x, y = (tuple(sp.Rational(str(v)) for v in point) for point in (X, Y))
    q11, q12, q22 = (sum(a * b for a, b in zip(p, q, strict=True)) for p, q in ((x, x), (x, y), (y, y)))
    return q11, q12, q22


@stream("K1.cross")
def _weights_trial(rng: np.random.Generator, size: int, first: str, second: str) -> dict[str, float]:
    """The mean of f(w.x) g(w.y) over `size` weights w ~ N(0, I)."""
    w = rng.standard_normal((size, 3))
    f, g = (vectorised(nonlinearity(name)) for name in (first, second))
    return {"kernel": float(np.mean(f(w @ np.array(X)) * g(w @ np.array(Y))))}


def _over_weights(first: str, second: str | None = None) -> MonteCarlo:
    trial = functools.partial(_weights_trial, first=first, second=second or first)
    return MonteCarlo(trial, "kernel", size=WEIGHTS, trials=160, full_trials=1600)


def _kernel(first: str, second: str | None = None) -> Enclosure:
    f, g = nonlinearity(first), nonlinearity(second or first)
    return value(f, *_products(), 15, g)


def _forgetting_norms(name: str) -> float:
    """The kernel of the correlation, as if both inputs had norm one."""
    q11, q12, q22 = _products()
    closed = dual_of_correlation(nonlinearity(name))
    assert closed is not None
    return float(closed.subs(rho, q12 / sp.sqrt(q11 * q22)).evalf())


def _homogeneous_by_norms(name: str) -> float:
    """|x||y| times the kernel of the correlation, as if the function were homogeneous of degree one."""
    q11, _, q22 = _products()
    return float(sp.sqrt(q11 * q22)) * _forgetting_norms(name)


def _plane_quadrature(name: str, correlation: float) -> Enclosure:
    """E[f(z1) f(z2)] by a product rule on rotated variables split at the kinks of z1 only; no kinks in f's own sum."""
    f = vectorised(nonlinearity(name))
    values = []
    for nodes in (12, 16):
        x, w = gauss_nodes(nodes=nodes)
        c = math.sqrt(1 - correlation**2)
        values.append(float(np.einsum("i,j,ij->", w, w, f(x)[:, None] * f(correlation * x[:, None] + c * x))))
    return Enclosure(Fraction(values[1]), Fraction(abs(values[1] - values[0]) + 1e-13), "two orders of quadrature")


def _physicist(name: str, r: float, degree: int = 24) -> float:
    """Mehler's sum with H_k(z) in the place of He_k(z)."""
    x, w = gauss_nodes()
    y = vectorised(nonlinearity(name))(x)
    total = 0.0
    for n in range(degree + 1):
        c = float(w @ (y * np.polynomial.hermite.hermval(x, [0.0] * n + [1.0])))
        total += c * c * r**n / math.factorial(n)
    return total


def _at(name: str, r: sp.Rational) -> float:
    return float(value(nonlinearity(name), ONE, r, ONE))


def _taylor_coefficient(name: str, degree: int) -> Enclosure:
    """The coefficient of rho^degree of the closed form, by a sum over a complex circle (aliasing 4^-48)."""
    closed = dual_of_correlation(nonlinearity(name))
    kernel = sp.lambdify(rho, closed, "mpmath")
    import mpmath

    with mpmath.workdps(30):
        points = [mpmath.expjpi(mpmath.mpf(2 * i) / 48) / 4 for i in range(48)]
        total = sum(kernel(x) * x**-degree for x in points) / 48
        return Enclosure(Fraction(str(total.real)), Fraction(1, 10**18), "Cauchy's sum")


def _square(name: str, degree: int) -> float:
    return float(coefficient(nonlinearity(name), degree).enclosure) ** 2


def _kink_constant(name: str) -> Enclosure:
    """The coefficient of e^(3/2) near rho = 1 from values: Richardson over e, e/4 of (kappa - regular part)/e^(3/2)."""
    f = nonlinearity(name)
    expansion = expansion_at_one(f, 1)
    assert expansion is not None
    found = []
    for exponent in (4, 5, 6):
        e = sp.Rational(1, 4**exponent)
        exact = value(f, ONE, 1 - e, ONE, 30)
        rest = sp.Rational(exact.value.numerator, exact.value.denominator) - expansion.subs(distance, e)
        found.append(float((rest / e ** sp.Rational(3, 2)).evalf(30, maxn=200)))
    # Corrections go in steps of e^(1/2).
    first = [2 * b - a for a, b in itertools.pairwise(found)]
    best = (4 * first[1] - first[0]) / 3
    return Enclosure(Fraction(best), Fraction(abs(best - first[1]) + 1e-9), "Richardson")


def _scaled_coefficient(degree: int) -> Enclosure:
    """c_k^2 k^(5/2) of ReLU extrapolated to k = infinity over k, 2k (next term 1/k)."""
    a, b, c = (
        float((square_coefficient(1).subs(k, m) * sp.Integer(m) ** sp.Rational(5, 2)).evalf())
        for m in (degree, 2 * degree, 4 * degree)
    )
    first, second = 2 * b - a, 2 * c - b
    return Enclosure(Fraction(second), Fraction(abs(second - first)), "Richardson")


def _asymptotic(power: int) -> float:
    return float((square_coefficient_asymptotics(1) * k ** sp.Rational(5, 2)).subs(k, power))


CHECKS = (
    Check(
        id="K1.relu",
        claim="`E`[relu(`w.x`) relu(`w.y`)] = `|x||y| (sin t + (pi - t) cos t)/(2 pi)`",
        source="K1; Cho and Saul 2009",
        predict=lambda: _kernel("relu"),
        measure=_over_weights("relu"),
        resolution=0.01,
        control=Control("Cho and Saul's `k_1`, twice the expectation", lambda: 2 * float(_kernel("relu"))),
    ),
    Check(
        id="K1.gelu",
        claim="the kernel of GELU at unequal norms",
        source="K1",
        predict=lambda: _kernel("gelu"),
        measure=_over_weights("gelu"),
        resolution=0.01,
        control=Control("`|x||y|` times the kernel at unit norms", lambda: _homogeneous_by_norms("gelu")),
    ),
    Check(
        id="K1.shifted",
        claim="the kernel of relu(`z - 1/3`) through the bivariate normal cdf",
        source="K1",
        predict=lambda: _kernel("relu(z - 1/3)"),
        measure=_over_weights("relu(z - 1/3)"),
        resolution=0.01,
        control=Control("the norms forgotten", lambda: _forgetting_norms("relu(z - 1/3)")),
    ),
    Check(
        id="K1.cross",
        claim="the cross-kernel of ReLU and `z^3` at unequal norms",
        source="K1, H4",
        predict=lambda: _kernel("relu", "z**3"),
        measure=_over_weights("relu", "z**3"),
        resolution=0.3,
        control=Control("the two functions exchanged", lambda: _kernel("z**3", "relu")),
    ),
    Check(
        id="K1.tanh",
        claim="the kernel of tanh at `rho = -7/10`, enclosed",
        source="K1",
        predict=lambda: value(nonlinearity("tanh"), ONE, sp.Rational(-7, 10), ONE),
        measure=SecondRoute(lambda: _plane_quadrature("tanh", -0.7)),
        resolution=1e-9,
        control=Control("`H_k` in the place of `He_k`", lambda: _physicist("tanh", -0.7)),
    ),
    Check(
        id="K1.softplus",
        claim="the kernel of softplus at `rho = 99/100`, enclosed",
        source="K1",
        predict=lambda: value(nonlinearity("softplus"), ONE, sp.Rational(99, 100), ONE),
        measure=SecondRoute(lambda: _plane_quadrature("softplus", 0.99)),
        resolution=1e-9,
        control=Control("the value at `rho = 1`", lambda: _at("softplus", ONE)),
    ),
    Check(
        id="K1.series",
        claim="the closed form of GELU has `c_6^2` as its coefficient of `rho^6`",
        source="K1, H4",
        predict=lambda: _square("gelu", 6),
        measure=SecondRoute(lambda: _taylor_coefficient("gelu", 6)),
        resolution=1e-9,
        control=Control("probabilist coefficients squared", lambda: _square("gelu", 6) / math.factorial(6)),
    ),
    Check(
        id="K1.kink",
        claim="a slope jump `J` at `b` adds `sqrt(2) J^2 exp(-b^2/2) e^(3/2)/(3 pi)` at `rho = 1 - e`",
        source="K1",
        predict=lambda: math.sqrt(2) * math.exp(-1 / 18) / (3 * math.pi),
        measure=SecondRoute(lambda: _kink_constant("relu(z - 1/3)")),
        resolution=1e-4,
        control=Control("the kink's position forgotten", lambda: math.sqrt(2) / (3 * math.pi)),
    ),
    Check(
        id="K1.asymptotics",
        claim="`c_k^2 k^(5/2)` of ReLU tends to 1/(`sqrt 2 pi^(3/2)`)",
        source="K1",
        predict=lambda: _asymptotic(1),
        measure=SecondRoute(lambda: _scaled_coefficient(400)),
        resolution=1e-3,
        control=Control("all `k` instead of the even ones", lambda: _asymptotic(1) / 2),
    ),
)
