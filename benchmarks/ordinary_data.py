"""Random functions on ordinary data: every float of the public functions against a certified or independent route.

Run `python -m benchmarks.ordinary_data [CASES [SEED [FIRST]]] [--store FILE]` (defaults: 10000 cases of seed 0, from
the first; about an hour of processor time); it is no part of `python -m benchmarks`. With a store (JSON lines) finished
cases are kept: the same command goes on where it was stopped, and tries those with a fault again. A case draws one of

- a random function (catalogue names, sums, products, pieces) on rows as people bring them: scikit-learn's raw tables,
  heavy tails, duplicates, opposite and nearly parallel rows, rows of zeros, one column, float32, tiny and large units;
  entries of the conjugate, derivative, tangent and spiked kernel matrices and of the kernel's gradient, chosen at the
  extremes and at random, against certified enclosures at the exact covariances of the floats; semidefiniteness and
  |k12|^2 <= k11 k22;
- a random function's floats and constants against balls, its Hermite coefficients and kernel against plain quadrature;
- risks, floors, alignments, covariances, features, spheres, spectra, outliers, units, equivalents and weights at random
  functions and parameters (ordinary_models.py), against textbook formulas at many digits (ordinary_routes.py);
- a Marchenko-Pastur law or spiked model at random parameters, against mpmath's integrals of the density and the same
  formulas at 60 digits.

BLOCK cases in a row share their function, their table and so their certified values. A refusal (InputError,
PrecisionError, ConvergenceError) is counted, not a fault; a warning, another exception, a nan or a value outside its
error is one, and is printed: `python -m benchmarks.ordinary_data 1 SEED INDEX` repeats it. A block runs in a process of
its own; a case that needs more processor time than its cap is given up and counted.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import random
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from benchmarks import ordinary_routes as routes
from benchmarks.ordinary_models import Models
from bulkedge import hermite, kernel
from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.numerics.kernels.kernel_matrix import kernel_gradient, kernel_matrix
from bulkedge.numerics.kernels.spiked_kernel import spiked_kernel_matrix
from bulkedge.numerics.spectra import spike
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.ball import enclose_expr
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

CASES, SEED, CAP, BLOCK = 10_000, 0, 1.0, 16
CAPS = {"risk": 3.0, "floor": 4.0}  # seconds of processor time; the others' is CAP
ROWS, COLUMNS = 5, 12  # of a case's table: extremes and structure matter here, not size
TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}  # kernel_matrix's own promise
REFUSALS = (InputError, PrecisionError, ConvergenceError)

ATOMS = (
    "relu({a})", "elu({a})", "selu({a})", "celu({a})", "gelu({a})", "silu({a})", "mish({a})", "softplus({a})",
    "tanh({a})", "sigmoid({a})", "erf({a})", "Phi({a})", "atan({a})", "log_cosh({a})", "sin({a})", "cos({a})",
    "exp(-({a})**2)", "exp(-Abs({a}))", "({a})", "({a})**2", "He(3, z)/4", "He(8, z)/200", "Abs({a})", "sign({a})",
    "step({a})", "leaky_relu({a}, 1/5)", "Max({a}, -{a}/2)", "hard_tanh({a})", "relu6({a})", "relu({a})**2",
    "exp(-({a})**2)*relu({a})", "Piecewise((exp({a}), {a} < 0), (1, True))",
)  # fmt: skip
SLOPES = ("", "", "", "", "2*", "-", "1/2*", "-3/2*", "0.33333333*")
SHIFTS = ("", "", "", " - 1", " + 1/4", " - 5/4", " + 0.54975", " - 1/3")


def _atom(rng: random.Random) -> str:
    return rng.choice(ATOMS).format(a=f"{rng.choice(SLOPES)}z{rng.choice(SHIFTS)}")


def random_function(rng: random.Random) -> str:
    """One of the functions people use, a sum or product of two, or one in two pieces."""
    kind = rng.randrange(10)
    if kind < 5:
        return _atom(rng)
    if kind < 8:
        return f"{_atom(rng)} {rng.choice('+-')} {_atom(rng)}"
    if kind < 9:
        return f"({_atom(rng)})*({_atom(rng)})"
    return f"Piecewise(({_atom(rng)}, z < {rng.choice(('0', '1', '-1/2', '0.3'))}), ({_atom(rng)}, True))"


PUBLIC = ("iris", "wine", "breast_cancer", "digits", "diabetes")


@functools.cache
def _table(name: str) -> np.ndarray:
    from sklearn import datasets

    return np.asarray(getattr(datasets, f"load_{name}")().data, dtype=float)


def _raw(name: str) -> Callable[[np.random.Generator], np.ndarray]:
    def load(rng: np.random.Generator) -> np.ndarray:
        table = _table(name)
        rows = table[rng.choice(len(table), ROWS, replace=False)]
        return np.asarray(rows[:, rng.permutation(rows.shape[1])[:COLUMNS]], dtype=float)

    return load


def _related(rng: np.random.Generator) -> np.ndarray:
    """Duplicates, opposite, nearly parallel and zero rows, and multiples of a row."""
    x = rng.standard_normal((8, 3))
    x[1], x[2], x[3], x[4], x[5] = x[0], -x[0], 0, x[0] * (1 + 1e-9), 3 * x[0]
    x[6] = x[0] + 1e-8 * rng.standard_normal(3)
    x[7] = -x[0] + 1e-5 * rng.standard_normal(3)
    return x


TABLES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    **{name: _raw(name) for name in PUBLIC},
    "gaussian": lambda rng: rng.standard_normal((ROWS, 4)) / 2,
    "cauchy": lambda rng: rng.standard_cauchy((ROWS, 3)),
    "t2": lambda rng: rng.standard_t(2, (ROWS, 5)),
    "related": _related,
    "one column": lambda rng: rng.standard_normal((ROWS, 1)) * 2,
    "counts": lambda rng: rng.poisson(2.0, (ROWS, 6)).astype(float),
}
UNITS = (1.0, 1.0, 1.0, 1e-3, 10.0, 1e-8)


@dataclass
class Outcome:
    """What cases found, counted by kind, and faults, one line each.

    `agreed`: values compared with another route (those outside their error are faults as well); `finite`: values
    that were only seen to be numbers; `laws`: inequalities; `refused`: cases refused; `over`: cases over their cap.
    """

    agreed: Counter[str] = field(default_factory=Counter)
    finite: Counter[str] = field(default_factory=Counter)
    laws: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    over: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Take another outcome in."""
        for name in COUNTERS:
            getattr(self, name).update(getattr(other, name))
        self.faults += other.faults

    def json(self) -> dict[str, Any]:
        """As it is stored."""
        return {name: value for name in (*COUNTERS, "faults") if (value := getattr(self, name))}

    @classmethod
    def read(cls, found: dict[str, Any]) -> Outcome:
        """What was stored."""
        return cls(*(Counter(found.get(name, {})) for name in COUNTERS), found.get("faults", []))

    def summary(self) -> str:
        """One line of totals."""
        return ", ".join(f"{sum(getattr(self, name).values())} {name}" for name in COUNTERS) + (
            f", {len(self.faults)} faults"
        )


COUNTERS = ("agreed", "finite", "laws", "refused", "over")


def _rational(x: float) -> sp.Rational:
    return sp.Rational(*Fraction(float(x)).as_integer_ratio())


def _inner(row: np.ndarray, other: np.ndarray) -> sp.Rational:
    """The inner product of two rows of floats, exactly."""
    total = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, other, strict=True)), Fraction(0))
    return sp.Rational(total.numerator, total.denominator)


Covariance = tuple[sp.Rational, sp.Rational, sp.Rational]


_TRUTHS: dict[tuple[str, str, Covariance], Enclosure] = {}


def _truth(f: Nonlinearity, g: Nonlinearity, q: Covariance) -> Enclosure:
    """E[f(u) g(v)], the best that the certified route gives at 13 digits; kept for the block's other cases."""
    key = f"{f.expr} {f.deltas}", f"{g.expr} {g.deltas}", q
    if key not in _TRUTHS:
        try:
            _TRUTHS[key] = value(f, *q, 13, g)
        except PrecisionError as error:
            if error.best is None or error.best.error > abs(error.best.value) / 10**10:
                raise
            _TRUTHS[key] = error.best
    return _TRUTHS[key]


_function = functools.cache(nonlinearity)


def _line(f: Nonlinearity, s: float, power: int = 0) -> float:
    """sqrt E (z^power f(s z))^2 by the trapezoid, finer towards zero and kinks; good enough for a tolerance."""
    away = np.geomspace(1e-9, 24, 500)
    at = [0.0, *(float(b) / s for b in f.kinks if abs(float(b)) < 12 * s)] if s else [0.0]
    x = np.unique(np.concatenate([np.linspace(-12, 12, 1001), *(c + side * away for c in at for side in (-1, 1))]))
    x = x[np.abs(x) <= 12] + 1e-11
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        y = (x**power * vectorised(f)(s * x)) ** 2 * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    return float(np.sqrt(np.trapezoid(y, x)))


def _terms(expr: sp.Expr, point: float) -> float:
    """The size of the terms that a formula adds, at a point."""
    if expr.is_Add:
        return sum(_terms(e, point) for e in expr.args)
    if expr.is_Mul:
        return math.prod(_terms(e, point) for e in expr.args)
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return _terms(expr.base, point) ** int(expr.exp)
    return abs(float(expr.subs(z, point)))


def _jumps(f: Nonlinearity) -> float:
    return float(sum(abs(float(d.weight)) for d in f.deltas))


def moved(f: Nonlinearity, g: Nonlinearity, q: Covariance, size: float) -> float:
    """How far relative errors `size` of the covariances can move E[f(u) g(v)], bounded by Cauchy's inequality.

    Steep functions on long rows: there the inner products, not the kernel, limit the digits.
    """
    s, t = float(sp.sqrt(q[0])), float(sp.sqrt(q[2]))
    if s == 0 or t == 0:
        return 0.0
    c = float(sp.sqrt(sp.Max(0, 1 - q[1] ** 2 / (q[0] * q[2])).evalf(15)))
    df, dg = f.derivative(), g.derivative()
    first, second = s * _line(df, s) + _jumps(df), t * _line(dg, t) + _jumps(dg)
    turned = min(size / c if c else np.inf, np.sqrt(2 * size)) if df.deltas and dg.deltas else size
    scaled = (s * _line(df, s, 1) + _jumps(df)) * _line(g, t) + (t * _line(dg, t, 1) + _jumps(dg)) * _line(f, s)
    return 4 * (turned * first * second + size * scaled)


def places(x: np.ndarray, rng: random.Random) -> Iterator[tuple[int, int]]:
    """The longest row with itself, the pair nearest to parallel or to opposite, and a pair at random."""
    x = x.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        norms = np.linalg.norm(x, axis=1)
        cosines = x @ x.T / np.outer(norms, norms)
    cosines[~np.isfinite(cosines)] = 0
    np.fill_diagonal(cosines, 0)
    longest = int(np.argmax(norms))
    yield longest, longest
    i, j = np.unravel_index(np.argmax(rng.choice((1, -1)) * cosines), cosines.shape)
    yield int(i), int(j)
    if rng.random() < 0.3:
        yield rng.randrange(len(x)), rng.randrange(len(x))


class Case(Models):
    """One case while it runs; what it has seen is in `outcome`."""

    def __init__(self, index: int, seed: int) -> None:
        self.index, self.seed = index, seed
        self.rng = random.Random(f"{seed}/{index}")
        self.block = random.Random(f"{seed}/block {index // BLOCK}")
        self.numbers = np.random.default_rng([seed, index])
        self.kind = self.rng.choices(tuple(KINDS), tuple(KINDS.values()))[0]
        function = random_function(self.block)
        self.function = function if self.kind not in WITHOUT else ""
        self.on = ""
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Run it to its end."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                if not self.function:
                    getattr(self, self.kind)()
                else:
                    f = _function(self.function)
                    getattr(self, self.kind)(f, *([self.data()] if self.kind in ON_DATA else []))
        except REFUSALS as error:
            self.outcome.refused[f"{self.kind}: {type(error).__name__}"] += 1
        except Exception as error:  # whatever else comes out is what this looks for
            self.fault(f"{type(error).__name__}: {str(error)[:160]}")
        return self.outcome

    def data(self) -> np.ndarray:
        """The rows of the case."""
        table = self.block.choice(tuple(TABLES))
        x = TABLES[table](np.random.default_rng([self.seed, self.index // BLOCK])) * self.block.choice(UNITS)
        narrow = self.block.random() < 0.2
        self.on = f" on {table}{' (float32)' if narrow else ''}"
        return x.astype(np.float32) if narrow else x

    def fault(self, what: str) -> None:
        """Keep a fault."""
        self.outcome.faults.append(f"case {self.index}, {self.kind}: {self.function}{self.on}: {what}")

    def see(self, what: str, found: float, truth: Any, tolerance: float, where: str = "") -> None:
        """Compare a float with an enclosure, or with a number that is taken as exact."""
        self.outcome.agreed[what] += 1
        right, error = (float(truth.value), float(truth.error)) if isinstance(truth, Enclosure) else (truth, 0.0)
        off = abs(found - right)
        if not off <= tolerance + error:
            self.fault(f"{what} {where}: {found!r}, right {right!r}, off {off:.2e} of {tolerance + error:.2e}")

    def finite(self, what: str, matrix: np.ndarray) -> None:
        """No nan, no infinity."""
        self.outcome.finite[what] += matrix.size
        if not np.all(np.isfinite(matrix)):
            self.fault(f"{what} is not finite")

    def finite_only(self, what: str, value: float) -> None:
        """A number without a second route."""
        self.finite(what, np.array([value]))

    def second_function(self) -> str:
        """A link beside the case's function."""
        return random_function(self.rng)

    # The functions themselves.

    def evaluations(self, f: Nonlinearity) -> None:
        """The compiled function, and its constants."""
        points = np.array([self.rng.uniform(-4, 4) * self.rng.choice((1, 1, 10)) for _ in range(3)])
        with np.errstate(all="ignore"):
            found = vectorised(f)(points)
        for point, number in zip(points, found, strict=True):
            if any(abs(point - float(b)) < 1e-9 for b in f.kinks):
                continue
            truth = enclose_expr(f.expr.subs(z, _rational(point)), 17)
            # Roundings of intermediate values of the size of the terms: vectorised's own promise.
            piece = next(p.expr for i, p in enumerate(f.pieces) if i == len(f.kinks) or point <= float(f.kinks[i]))
            self.see("value", float(number), truth, 1e-12 * (1 + _terms(piece, point)), f"at {point}")
        known = constants(f)
        for k, constant in ((0, known.mu0), (1, known.mu1)):
            truth = coefficient(f, k).enclosure
            self.see("constant", float(constant), truth, 1e-12 * (1 + abs(float(truth.value))), f"mu{k}")

    def coefficients(self, f: Nonlinearity) -> None:
        """`hermite` against plain quadrature."""
        degree = self.rng.choice((2, 5, 9))
        found = hermite(self.function, degree=degree)
        x, w = routes.panels(f)
        y, before, now = w * vectorised(f)(x), np.zeros_like(x), np.ones_like(x)
        size = _line(f, 1.0)
        for k, c in enumerate(found.coefficients):
            right = float(y @ now)
            self.see("hermite", float(c.value.value), right, float(c.value.error) + 1e-12 * size, f"c_{k}")
            before, now = now, (x * now - np.sqrt(k) * before) / np.sqrt(k + 1)

    def scalar(self, f: Nonlinearity) -> None:
        """`kernel` at a correlation and variances, against plain quadrature in the plane."""
        rho = sp.Rational(self.rng.randrange(-19, 20), 20)
        q11, q22 = (sp.Rational(self.rng.choice((1, 1, 4, 9)), self.rng.choice((1, 4, 25))) for _ in range(2))
        q12 = rho * sp.sqrt(q11 * q22)
        other: dict[str, Any] = {}
        g, means = f, (0.0, 0.0)
        if self.rng.random() < 0.5:
            text = self.second_function()
            other = {
                "with_": text,
                "mean1": self.rng.choice((0, "1/2", "-3/10")),
                "mean2": self.rng.choice((0, "1", "-1/3")),
            }
            g, means = _function(text), (float(sp.Rational(other["mean1"])), float(sp.Rational(other["mean2"])))
        found = kernel(self.function, q11=q11, q12=q12, q22=q22, order=0, **other)
        s, t, r = float(sp.sqrt(q11)), float(sp.sqrt(q22)), float(rho)
        right, size = routes.plane(f, g, (s, t), r, means)
        if found.value is None:
            raise PrecisionError("no value", None)
        self.see(
            "kernel", float(found.value.value), right, float(found.value.error) + 1e-10 * size, f"{r} {s} {t} {other}"
        )

    # Matrices on data.

    def entry(self, what: str, found: float, f: Nonlinearity, g: Nonlinearity, q: Covariance, x: np.ndarray) -> None:
        """One entry of a matrix against its enclosure."""
        s, t = float(sp.sqrt(q[0])), float(sp.sqrt(q[2]))
        size = (_line(f, s) + _jumps(f)) * (_line(g, t) + _jumps(g))
        if f.deltas and g.deltas:
            size += 1e3 * abs(found)  # the density at a point, steep in the angle
        rounding = (x.shape[1] + 4) * float(np.finfo(x.dtype).eps)
        allowed = TOLERANCE[x.dtype] * size + moved(f, g, q, rounding)
        self.see(what, found, _truth(f, g, q), allowed, f"at {tuple(float(v) for v in q)}")

    def covariance(self, x: np.ndarray, i: int, j: int) -> Covariance:
        """The exact covariance of two rows."""
        return _inner(x[i], x[i]), _inner(x[i], x[j]), _inner(x[j], x[j])

    def laws(self, matrix: np.ndarray, promise: float) -> None:
        """Positive semidefinite, and Cauchy and Schwarz, up to the promise."""
        diagonal = np.maximum(np.diagonal(matrix).astype(float), 0)
        outer = np.sqrt(diagonal)[:, None] * np.sqrt(diagonal)
        self.outcome.laws["Cauchy-Schwarz"] += matrix.size
        if not np.all(np.abs(matrix) <= outer * (1 + 4 * promise) + 1e-300):
            self.fault("|k12|^2 > k11 k22")
        if (diagonal > 0).any():
            self.outcome.laws["least eigenvalue"] += 1
            least = float(np.linalg.eigvalsh(matrix.astype(float) / np.where(outer > 0, outer, 1))[0])
            if not least >= -4 * promise * len(matrix):
                self.fault(f"least eigenvalue {least:.2e} of the normalised matrix")

    def conjugate(self, f: Nonlinearity, x: np.ndarray) -> None:
        """The conjugate kernel's matrix."""
        matrix = kernel_matrix(x, None, f)
        self.finite("conjugate", matrix)
        self.laws(matrix, TOLERANCE[x.dtype])
        for i, j in places(x, self.rng):
            self.entry("conjugate", float(matrix[i, j]), f, f, self.covariance(x, i, j), x)

    def derivative(self, f: Nonlinearity, x: np.ndarray) -> None:
        """The derivative kernel's matrix."""
        matrix = kernel_matrix(x, None, f, kind="derivative")
        self.finite("derivative", matrix)
        slope = f.derivative()
        if not slope.deltas:
            self.laws(matrix, TOLERANCE[x.dtype])
        for i, j in places(x, self.rng):
            self.entry("derivative", float(matrix[i, j]), slope, slope, self.covariance(x, i, j), x)

    def tangent(self, f: Nonlinearity, x: np.ndarray) -> None:
        """The tangent kernel's matrix against its two parts (each has a case of its own) and their enclosures."""
        matrix = kernel_matrix(x, None, f, kind="tangent")
        self.finite("tangent", matrix)
        slope = f.derivative()
        for i, j in list(places(x, self.rng))[:2]:
            q = self.covariance(x, i, j)
            first, second = _truth(f, f, q), _truth(slope, slope, q)
            s, t = float(sp.sqrt(q[0])), float(sp.sqrt(q[2]))
            rounding = (x.shape[1] + 4) * float(np.finfo(x.dtype).eps)
            sizes = _line(f, s) * _line(f, t), s * t * _line(slope, s) * _line(slope, t)
            allowed = (TOLERANCE[x.dtype] + rounding) * sum(sizes) + moved(f, f, q, rounding)
            allowed += s * t * moved(slope, slope, q, rounding)
            truth = first + second * Enclosure(Fraction(int(q[1].p), int(q[1].q)), Fraction(0), "exact")
            self.see("tangent", float(matrix[i, j]), truth, allowed, f"at {tuple(float(v) for v in q)}")

    def gradient(self, f: Nonlinearity, x: np.ndarray) -> None:
        """The Jacobian: E[f'(u) f'(v)] y + E[f''(u) f(v)] x."""
        jacobian = kernel_gradient(x, None, f)
        self.finite("gradient", jacobian)
        slope, bend = f.derivative(), f.derivative(2)
        for i, j in list(places(x, self.rng))[1:]:
            q = self.covariance(x, i, j)
            if q[0] == 0 or q[2] == 0:
                continue
            s, t = float(sp.sqrt(q[0])), float(sp.sqrt(q[2]))
            mixed, own = _truth(slope, slope, q), _truth(bend, f, q)
            rounding = (x.shape[1] + 4) * float(np.finfo(x.dtype).eps)
            size = TOLERANCE[x.dtype]
            first = size * _line(slope, s) * _line(slope, t) + moved(slope, slope, q, rounding)
            second = size * (_line(bend, s) + _jumps(bend) / s) * _line(f, t)
            if not bend.deltas:
                second += moved(bend, f, q, rounding)
            else:
                second *= 1e3 if x.dtype == np.float64 else 1e2
            k = self.rng.randrange(x.shape[1])
            a, b = float(x[i, k]), float(x[j, k])
            right = float(mixed.value) * b + float(own.value) * a
            allowed = (first + float(mixed.error) + 1e-15 * abs(float(mixed.value))) * abs(b)
            allowed += (second + float(own.error) + 1e-15 * abs(float(own.value))) * abs(a)
            allowed += 4 * float(np.finfo(x.dtype).eps) * abs(right)
            self.see("gradient", float(jacobian[i, j, k]), right, allowed, f"at {tuple(float(v) for v in q)}")

    def spiked(self, f: Nonlinearity, x: np.ndarray) -> None:
        """The spiked kernel: covariances (A x.y + B (w.x)(w.y))/d."""
        d = x.shape[1]
        w = self.numbers.standard_normal(d)
        w /= np.linalg.norm(w)
        A, B = self.rng.choice((1.0, 0.25, 2.0)), self.rng.choice((0.0, 0.5, 3.0, 100.0, -0.125))
        matrix = spiked_kernel_matrix(x, None, w, A, B, f)
        self.finite("spiked", matrix)

        def q(i: int, j: int) -> sp.Rational:
            along = _inner(x[i], w) * _inner(x[j], w)
            return (_rational(A) * _inner(x[i], x[j]) + _rational(B) * along) / d

        x64 = x.astype(float)  # the warp is in double precision, or it may be no better than its rows
        for i, j in list(places(x, self.rng))[:2]:
            covariance = q(i, i), q(i, j), q(j, j)
            if covariance[1] ** 2 <= covariance[0] * covariance[2]:
                rows = x if matrix.dtype == np.float32 else x64
                self.entry("spiked", float(matrix[i, j]), f, f, covariance, rows)

    # Laws with parameters.

    def marchenko_pastur(self) -> None:
        """cdf, sf, pdf, ppf, moments and the Stieltjes transform against mpmath."""
        ratio = self.rng.choice((0.5, 1.0, 2.0, 1 - 1e-9, 1 + 1e-6, 1e-6, 1e4, self.rng.uniform(0.01, 4)))
        scale = self.rng.choice((1.0, 1.0, 0.25, 1e-6, 1e5))
        self.on = f"ratio {ratio!r} scale {scale!r}"
        law = MarchenkoPastur(ratio, scale)
        lower, upper = law.edges
        with mpmath.workdps(40):
            c, s2 = mpmath.mpf(ratio), mpmath.mpf(scale)
            root = mpmath.sqrt(c)
            a, b = s2 * (1 - root) ** 2, s2 * (1 + root) ** 2
            self.see("mp edges", lower, float(a), 4e-15 * float(a), "lower")
            self.see("mp edges", upper, float(b), 4e-15 * float(b), "upper")

            def angle(x: float) -> Any:
                return mpmath.acos(1 - 2 * (mpmath.mpf(x) - a) / (b - a))

            def density(t: Any) -> Any:
                # x = s2 (1 + c - 2 root cos t), rho dx = (2/pi) sin^2 t dt/(1 + c - 2 root cos t), in the half angle
                up, down = mpmath.sin(t / 2) ** 2, mpmath.cos(t / 2) ** 2
                return 2 / mpmath.pi * 4 * down / (((1 - root) ** 2 / up if c != 1 else 0) + 4 * root) if up else 0

            def mass(low: Any, high: Any) -> float:
                cuts = [v for v in (mpmath.mpf(10) ** -k for k in (6, 3, 2, 1)) if low < v < high]
                return float(mpmath.quad(density, [low, *cuts, high]))

            for share in (self.rng.random(), self.rng.choice((1e-6, 1e-3, 0.5, 1 - 1e-3))):
                x = lower + (upper - lower) * share
                if not a < x < b:
                    continue
                t = angle(x)
                below, above = mass(mpmath.mpf(0), t), mass(t, mpmath.pi)
                # Rounding of x itself moves the mass.
                slip = float(law.pdf(x)) * 4e-16 * (x + upper * 1e-1 * (abs(1 - ratio) < 1e-3))
                self.see("mp cdf", float(law.cdf(x)), law.atom + below, 1e-14 + slip, f"at {x!r}")
                self.see("mp sf", float(law.sf(x)), above, 1e-14 + 1e-12 * above + slip, f"at {x!r}")
                exact = mpmath.sqrt((b - x) * (x - a)) / (2 * mpmath.pi * c * s2 * x)
                self.see(
                    "mp pdf", float(law.pdf(x)), float(exact), 1e-12 * float(exact) / min(share, 1 - share), f"{x}"
                )
                level = law.atom + below
                if below > 1e-12 and level < 1 - 1e-9:
                    back = float(law.ppf(level))
                    self.see("mp ppf", back, x, 1e-13 * upper + 1e-14 / max(float(law.pdf(x)), 1e-300), f"of {level!r}")
            order = self.rng.randrange(1, 9)
            moment = mpmath.fsum(
                mpmath.binomial(order, j) * mpmath.binomial(order - 1, j) / (j + 1) * c**j for j in range(order)
            )
            right = float(s2**order * moment)
            self.see("mp moment", law.moment(order), right, 1e-13 * right, str(order))
            w = complex(self.rng.uniform(-1, 2) * upper, upper * self.rng.choice((1.0, 0.1, 1e-3)))
            at = mpmath.mpc(w)
            sum_ = mpmath.quad(
                lambda t: density(t) / (s2 * (1 + c - 2 * root * mpmath.cos(t)) - at),
                [0, *([angle(w.real)] if lower < w.real < upper else []), mpmath.pi],
            )
            sum_ = complex(sum_ + (0 if ratio <= 1 else (1 - 1 / c) / -at))
            if abs(w.imag) > 0.05 * upper or not lower < w.real < upper:
                self.see("mp stieltjes", abs(complex(law.stieltjes(w)) - sum_), 0.0, 1e-11 * abs(sum_), f"{w}")

    def spiked_model(self) -> None:
        """Outliers, overlaps and their inverse against the same formulas at 60 digits."""
        name = self.rng.choice(("rectangular", "covariance", "wishart", "wigner"))
        ratio = self.rng.choice((0.5, 1.0, 3.0, 1e-4, 1e3, self.rng.uniform(0.05, 3)))
        scale = self.rng.choice((1.0, 1.0, 0.01, 1e4))
        model = spike.wigner(scale) if name == "wigner" else getattr(spike, name)(ratio, scale)
        above = self.rng.choice((1 + 1e-9, 1 + 1e-4, 1.5, 3.0, 1e3, 1e8))
        theta = float(model.threshold) * above
        self.on = f"{name} ratio {ratio!r} scale {scale!r} strength {theta!r}"
        if not bool(model.above(theta)):
            return
        found = float(model.outlier(theta))
        right = routes.outlier(name, ratio, scale, theta)
        self.see("outlier", found, right, 4e-14 * right)
        back = float(model.strength(found))
        # Next to the threshold the map is flat: a rounding e of the outlier is sqrt(e) in the strength.
        self.see("strength", back, theta, theta * min(1e-6, 1e-13 * (1 + 1 / (above - 1))) + 1e-13 * theta)
        exact = routes.overlaps(name, ratio, scale, theta)
        for which, _ in model.law.overlaps:
            self.see("overlap", float(model.overlap(which, theta)), exact[which], 1e-13, which)


ON_DATA = ("conjugate", "derivative", "tangent", "gradient", "spiked")
WITHOUT = ("marchenko_pastur", "spiked_model", "ridge", "outliers", "convert", "spectrum", "spike", "mp", "equivalent")
WITHOUT += ("weights",)  # kinds that have no function
KINDS = {
    "evaluations": 9,
    "coefficients": 9,
    "scalar": 4,
    "conjugate": 7,
    "derivative": 4,
    "tangent": 2,
    "gradient": 3,
    "spiked": 3,
    "marchenko_pastur": 10,
    "spiked_model": 8,
    "ridge": 20,
    "risk": 3,
    "floor": 1,
    "align": 4,
    "gamma": 6,
    "features": 5,
    "sphere": 7,
    "spectrum": 3,
    "spike": 6,
    "mp": 3,
    "outliers": 3,
    "convert": 4,
    "equivalent": 5,
    "weights": 1,
}


def case(index: int, seed: int = SEED) -> Outcome:
    """Run one case: the same function, table and entries for the same seed and index."""
    return Case(index, seed).run()


def block(indices: Sequence[int], seed: int, cap: float | None = None) -> Iterator[tuple[int, Outcome]]:
    """Cases in one process, a new one after each that exceeds its cap (POSIX)."""
    waiting = list(indices)
    while waiting:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(read)
                with os.fdopen(write, "w") as stream:
                    for index in waiting:
                        # The signal's default ends the process even inside a library's loop, where an exception
                        # would be swallowed.
                        signal.setitimer(signal.ITIMER_PROF, cap or CAPS.get(Case(index, seed).kind, CAP))
                        json.dump(case(index, seed).json(), stream)
                        stream.write("\n")
                        stream.flush()
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as stream:
            for line in stream:
                if line.endswith("\n"):
                    yield waiting.pop(0), Outcome.read(json.loads(line))
        _, status = os.waitpid(child, 0)
        if waiting:
            index = waiting.pop(0)
            stopped = Case(index, seed)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
                yield index, Outcome(over=Counter({stopped.kind: 1}))
            else:
                yield index, Outcome(faults=[f"case {index}, {stopped.kind}: {stopped.function}: status {status}"])


def stored(path: Path, seed: int) -> dict[int, Outcome]:
    """The finished cases of a store; the last word on a case counts. An unfinished last line is dropped."""
    found: dict[int, Outcome] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry["seed"] == seed:
                found[entry["case"]] = Outcome.read(entry)
    return found


def run(indices: Iterable[int], seed: int, cap: float | None = None, store: Path | None = None) -> Outcome:
    """Run the cases one after another, faults printed as they are found; what is stored without a fault is taken."""
    known = stored(store, seed) if store else {}
    if store and store.exists() and not store.read_text().endswith("\n"):
        with store.open("a") as stream:
            stream.write("\n")  # a run was stopped within a line
    total, done = Outcome(), 0
    for name in PUBLIC:
        _table(name)  # before the processes part
    for _, group in groupby(indices, lambda index: index // BLOCK):
        members = list(group)
        taken = [index for index in members if index in known and not known[index].faults]
        finished = [(index, known[index]) for index in taken]
        for index, outcome in (*finished, *block([i for i in members if i not in taken], seed, cap)):
            total.add(outcome)
            done += 1
            if index not in taken:
                for fault in outcome.faults:
                    print(fault, flush=True)
                if store:
                    with store.open("a") as stream:
                        stream.write(json.dumps({"seed": seed, "case": index, **outcome.json()}) + "\n")
                if done % 200 == 0:
                    print(f"{done} cases: {total.summary()}", flush=True)
    return total


def main(arguments: Sequence[str]) -> int:
    """Print what was compared and refused; exit status 1 where there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinary_data", allow_abbrev=False)
    for name, default in (("cases", CASES), ("seed", SEED), ("first", 0)):
        parser.add_argument(name, type=int, nargs="?", default=default)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args(arguments)
    total = run(range(given.first, given.first + given.cases), given.seed, store=given.store)
    for name in COUNTERS:
        print(f"{name}: {dict(sorted(getattr(total, name).items()))}")
    print(f"{given.cases} cases of seed {given.seed}: {total.summary()}")
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
