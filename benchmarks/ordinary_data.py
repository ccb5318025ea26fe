"""Random functions on ordinary data: every float of the numeric layer against the certified route.

Run `python -m benchmarks.ordinary_data [CASES [SEED [FIRST]]]` (defaults: 10000 cases of seed 0, from the first; hours
of processor time); it is no part of `python -m benchmarks`. A case is a random function (catalogue names, sums,
products, pieces) on rows of a table as people bring them: scikit-learn's raw tables, heavy tails, duplicates, opposite
and nearly parallel rows, rows of zeros, one column, float32, tiny and large units. Each case compares

- entries of the conjugate, derivative and tangent kernel matrices, chosen at the extremes (longest row, correlations
  nearest +-1) and at random, with certified enclosures at the exact covariances of the floats;
- that the conjugate matrix is positive semidefinite and |k12|^2 <= k11 k22;
- the compiled function and its constants with ball arithmetic.

A refusal (InputError, PrecisionError, ConvergenceError) is counted, not a fault; a warning, another exception, a nan
or a value outside its error is one, and is printed: `python -m benchmarks.ordinary_data 1 SEED INDEX` repeats it.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from joblib import Parallel, delayed

from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.numerics.kernels.kernel_matrix import kernel_matrix
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.ball import enclose_expr
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

CASES, SEED = 10_000, 0
ROWS, COLUMNS = 14, 12  # of a case's table: extremes and structure matter here, not size
TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}  # kernel_matrix's own promise
ENTRIES = 3
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


def _raw(name: str) -> Callable[[np.random.Generator], np.ndarray]:
    def load(rng: np.random.Generator) -> np.ndarray:
        from sklearn import datasets

        table = getattr(datasets, f"load_{name}")().data
        rows = table[rng.choice(len(table), ROWS, replace=False)]
        return np.asarray(rows[:, rng.permutation(rows.shape[1])[:COLUMNS]], dtype=float)

    return load


def _related(rng: np.random.Generator) -> np.ndarray:
    """Duplicates, opposite, nearly parallel and zero rows, and multiples of a row."""
    x = rng.standard_normal((ROWS, 3))
    x[1], x[2], x[3], x[4], x[5] = x[0], -x[0], 0, x[0] * (1 + 1e-9), 3 * x[0]
    x[6] = x[0] + 1e-8 * rng.standard_normal(3)
    x[7] = -x[0] + 1e-5 * rng.standard_normal(3)
    return x


TABLES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    **{name: _raw(name) for name in ("iris", "wine", "breast_cancer", "digits", "diabetes")},
    "gaussian": lambda rng: rng.standard_normal((ROWS, 4)) / 2,
    "cauchy": lambda rng: rng.standard_cauchy((ROWS, 3)),
    "t2": lambda rng: rng.standard_t(2, (ROWS, 5)),
    "related": _related,
    "one column": lambda rng: rng.standard_normal((ROWS, 1)) * 2,
    "counts": lambda rng: rng.poisson(2.0, (ROWS, 6)).astype(float),
}
UNITS = (1.0, 1.0, 1.0, 1e-3, 10.0, 1e-8)


@dataclass(frozen=True)
class Fault:
    """A value outside its stated error, or what should not have come out."""

    index: int
    function: str
    table: str
    what: str

    def __str__(self) -> str:
        """One line."""
        return f"case {self.index}: {self.function} on {self.table}: {self.what}"


@dataclass(frozen=True)
class Outcome:
    """What one case compared: counts by kind, refusals by kind, and faults."""

    compared: Counter[str]
    refused: Counter[str]
    faults: tuple[Fault, ...]


def _exact(row: np.ndarray, other: np.ndarray) -> sp.Rational:
    """The inner product of two rows of floats, exactly."""
    total = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, other, strict=True)), Fraction(0))
    return sp.Rational(total.numerator, total.denominator)


def _truth(f: Nonlinearity, g: Nonlinearity, x: np.ndarray, i: int, j: int) -> Enclosure:
    try:
        return value(f, _exact(x[i], x[i]), _exact(x[i], x[j]), _exact(x[j], x[j]), 14, g)
    except PrecisionError as error:
        if error.best is None or error.best.error > abs(error.best.value) / 10**10:
            raise
        return error.best


def _places(x: np.ndarray, rng: random.Random) -> Iterator[tuple[int, int]]:
    """The longest row with itself, the pair nearest to parallel and to opposite, and pairs at random."""
    with np.errstate(divide="ignore", invalid="ignore"):
        norms = np.linalg.norm(x.astype(float), axis=1)
        cosines = x.astype(float) @ x.astype(float).T / np.outer(norms, norms)
    cosines[~np.isfinite(cosines)] = 0
    np.fill_diagonal(cosines, 0)
    longest = int(np.argmax(norms))
    yield longest, longest
    yield tuple(map(int, np.unravel_index(np.argmax(cosines), cosines.shape)))  # type: ignore[misc]
    yield tuple(map(int, np.unravel_index(np.argmin(cosines), cosines.shape)))  # type: ignore[misc]
    for _ in range(ENTRIES):
        yield rng.randrange(len(x)), rng.randrange(len(x))


def _inner_error(x: np.ndarray, i: int, j: int) -> float:
    """What rounding of the inner products themselves may do to a covariance, relatively."""
    return (x.shape[1] + 4) * float(np.finfo(x.dtype).eps)


class _Case:
    """One case while it runs."""

    def __init__(self, index: int, seed: int) -> None:
        self.index = index
        self.rng = random.Random(f"{seed}/{index}")
        self.numbers = np.random.default_rng([seed, index])
        self.function = random_function(self.rng)
        self.table = self.rng.choice(tuple(TABLES))
        self.compared: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.faults: list[Fault] = []

    def run(self) -> Outcome:
        try:
            f = nonlinearity(self.function)
        except REFUSALS as error:
            self.refused[f"function: {type(error).__name__}"] += 1
            return self.outcome()
        x = TABLES[self.table](self.numbers) * self.rng.choice(UNITS)
        if self.rng.random() < 0.2:
            x, self.table = x.astype(np.float32), f"{self.table} (float32)"
        for name, work in (("function", self.evaluations), ("conjugate", self.conjugate), ("slope", self.slopes)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    work(f, x)
            except REFUSALS as error:
                self.refused[f"{name}: {type(error).__name__}"] += 1
            except Exception as error:  # whatever else comes out is what this looks for
                self.fault(f"{name}: {type(error).__name__}: {str(error)[:160]}")
        return self.outcome()

    def outcome(self) -> Outcome:
        return Outcome(self.compared, self.refused, tuple(self.faults))

    def fault(self, what: str) -> None:
        self.faults.append(Fault(self.index, self.function, self.table, what))

    def see(self, kind: str, found: float, truth: Enclosure, tolerance: float, where: str) -> None:
        self.compared[kind] += 1
        if not abs(found - float(truth.value)) <= tolerance + float(truth.error):
            off = found - float(truth.value)
            self.fault(f"{kind} {where}: {found!r}, certified {float(truth.value)!r}, off {off:.2e} of {tolerance:.2e}")

    def evaluations(self, f: Nonlinearity, x: np.ndarray) -> None:
        points = np.array([self.rng.uniform(-4, 4) for _ in range(3)])
        found = vectorised(f)(points)
        for point, number in zip(points, found, strict=True):
            exact = sp.Rational(*Fraction(float(point)).as_integer_ratio())
            truth = enclose_expr(f.expr.subs(z, exact), 17)
            # a few roundings of intermediate values of the size of the terms
            self.see("value", float(number), truth, 1e-13 * (1 + abs(float(truth.value))) * 10, f"at {point}")
        k = self.rng.randrange(5)
        certified = coefficient(f, k).enclosure
        found_constants = constants(f)
        truth = {0: found_constants.mu0, 1: found_constants.mu1}.get(k)
        if truth is not None:
            self.see("constant", float(truth), certified, 1e-12 * (1 + abs(float(certified.value))), f"mu{k}")

    def conjugate(self, f: Nonlinearity, x: np.ndarray) -> None:
        matrix = kernel_matrix(x, None, f)
        diagonal = np.diagonal(matrix).astype(float)
        promise = TOLERANCE[x.dtype]
        if not np.all(np.isfinite(matrix)):
            self.fault("conjugate: not finite")
            return
        outer = np.sqrt(np.maximum(np.outer(diagonal, diagonal), 0))
        self.compared["Cauchy-Schwarz"] += matrix.size
        if not np.all(np.abs(matrix) <= outer * (1 + 4 * promise) + np.finfo(float).tiny):
            self.fault("conjugate: |k12|^2 > k11 k22")
        if diagonal.max() > 0:
            scaled = matrix / np.where(outer > 0, outer, 1)
            self.compared["least eigenvalue"] += 1
            least = float(np.linalg.eigvalsh(scaled.astype(float))[0])
            if not least >= -4 * promise * len(x):
                self.fault(f"conjugate: least eigenvalue {least:.2e} of the normalised matrix")
        for i, j in _places(x, self.rng):
            truth = _truth(f, f, x, i, j)
            # A relative change e of the covariances moves k12 by at most about e |q dk/dq|, which the slopes' kernel
            # bounds; where that is large (steep functions) the inner products, not the kernel, limit the digits.
            moved = self._moved(f, x, i, j)
            self.see("conjugate", float(matrix[i, j]), truth, promise * outer[i, j] + moved, f"at ({i}, {j})")

    def _moved(self, f: Nonlinearity, x: np.ndarray, i: int, j: int) -> float:
        size = _inner_error(x, i, j)
        nudged = [x.astype(float) * (1 + sign * size) for sign in (-1, 1)]
        low, high = (float(_truth(f, f, moved, i, j).value) for moved in nudged)
        return 2 * abs(high - low)

    def slopes(self, f: Nonlinearity, x: np.ndarray) -> None:
        slope = f.derivative()
        matrix = kernel_matrix(x, None, f, kind="derivative")
        tangent = kernel_matrix(x, None, f, kind="tangent")
        promise = TOLERANCE[x.dtype]
        for i, j in list(_places(x, self.rng))[:4]:
            first, second = _truth(slope, slope, x, i, j), _truth(f, f, x, i, j)
            scale = np.sqrt(max(float(matrix[i, i]) * float(matrix[j, j]), 0.0))
            moved = self._moved(slope, x, i, j)
            self.see("derivative", float(matrix[i, j]), first, promise * scale + moved, f"at ({i}, {j})")
            inner = float(_exact(x[i], x[j]))
            both = Enclosure(
                second.value + Fraction(inner) * first.value, second.error + abs(Fraction(inner)) * first.error
            )
            lengths = float(np.linalg.norm(x[i].astype(float)) * np.linalg.norm(x[j].astype(float)))
            own = np.sqrt(max(float(tangent[i, i]) * float(tangent[j, j]), 0.0))
            slack = 4 * promise * (own + lengths * scale) + abs(inner) * moved + self._moved(f, x, i, j)
            self.see("tangent", float(tangent[i, j]), both, slack, f"at ({i}, {j})")


def case(index: int, seed: int = SEED) -> Outcome:
    """Run one case: the same function, table and entries for the same seed and index."""
    return _Case(index, seed).run()


def run(indices: Sequence[int], seed: int, jobs: int = -1) -> Outcome:
    """Run the cases on all cores, faults printed as they are found."""
    compared: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    faults: list[Fault] = []
    outcomes: Any = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(case)(i, seed) for i in indices)
    for done, outcome in enumerate(outcomes, 1):
        compared += outcome.compared
        refused += outcome.refused
        faults += outcome.faults
        for fault in outcome.faults:
            print(fault, flush=True)
        if done % 100 == 0:
            print(f"{done} of {len(indices)} cases, {sum(compared.values())} values, {len(faults)} faults", flush=True)
    return Outcome(compared, refused, tuple(faults))


def main(arguments: Sequence[str]) -> int:
    """Print what was compared and refused; exit status 1 where there was a fault."""
    cases, seed, *first = [*map(int, arguments), *(CASES, SEED)[len(arguments) :]]
    start = first[0] if first else 0
    outcome = run(range(start, start + cases), seed)
    print(f"{cases} cases of seed {seed}; compared: {dict(outcome.compared)}; refused: {dict(outcome.refused)}")
    print(f"{len(outcome.faults)} faults")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
