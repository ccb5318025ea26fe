"""The very expression that was typed, drawn at a finite size: Gaussian matrices, inverses and all."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.equivalents import entrywise
from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.equivalents.equivalent import Equivalent
from bulkedge.theory.functions import parse
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

Matrix = NDArray[np.float64]
MAX_SIZE = 20_000  # of the largest dimension
_MAX_TRIALS = 100_000
_MAX_ENTRIES = 2.5e7  # of the largest matrix
_RATE = 2 / 3  # of the finite-size term, below 1: corrections of order 1/size, and what a short ladder does not show


@dataclass(frozen=True)
class Simulated:
    """The mean over independent draws at the common size; its bias is the finite-size term seen from half the size."""

    estimate: Estimate
    size: int
    sizes: tuple[tuple[str, int], ...]


def simulated(
    theory: Equivalent, values: Mapping[sp.Symbol, sp.Rational], size: object, trials: object, seed: object
) -> Simulated:
    """The expression's mean over `trials` draws at the common size: the smallest dimension has `size` rows.

    Accuracy: the estimate's bias bounds what is left to the limit. With a term C size^(-r) it is the difference to the
    mean of as many draws at half the size (plus one standard error of it), over 2^r - 1; r = 2/3 as in the checks.
    Errors: InputError for a symbol without a value, or a size that is too large.
    """
    common, count = (
        parse.integer(size, "simulate", minimum=2, maximum=MAX_SIZE),
        parse.integer(trials, "trials", minimum=2, maximum=_MAX_TRIALS),
    )
    rng = np.random.default_rng(parse.integer(seed, "seed", minimum=0))
    missing = [s.name for s in theory.symbols if s not in values]
    if missing:
        raise InputError("simulate", f"{missing[0]} has no value", f"set {missing[0]}")
    sizes = dimensions(theory.question.model, values, common)
    half = dimensions(theory.question.model, values, common // 2)
    found, smaller = (
        Estimate.from_samples([draw(theory.question, values, at, rng) for _ in range(count)]) for at in (sizes, half)
    )
    step = abs(found.value - smaller.value) + math.hypot(found.stderr, smaller.stderr)
    estimate = Estimate(found.value, found.stderr, found.n, step / (2**_RATE - 1))
    return Simulated(estimate, common, tuple(sizes.items()))


@stream("E2.ridge")
def _expression_trial(
    question: mx.Question,
    values: tuple[tuple[sp.Symbol, sp.Rational], ...],
    rng: np.random.Generator,
    size: int,
) -> dict[str, float]:
    """A trial of the ledger: one draw of the expression at a common size."""
    at = dict(values)
    return {"value": draw(question, at, dimensions(question.model, at, size), rng)}


def expression_check(
    id: str,
    theory: Equivalent,
    values: Mapping[sp.Symbol, sp.Rational],
    size: int,
    trials: int,
    resolution: float,
    broken: str,
    claim: str = "",
    source: str = "derived here",
) -> Check:
    """The value against draws of the very expression over sizes, 2 sizes and 4 sizes.

    The control breaks one term: the variance of the Gaussian matrix `broken` is doubled in the theory alone.
    Errors: InputError for a symbol without a value, or if `broken` is no Gaussian matrix of the expression.
    """
    model = theory.question.model
    if model.gaussian(broken) is None:
        names = ", ".join(g.name for g in model.gaussians)
        raise InputError("broken", f"{broken!r} is no Gaussian matrix", f"the Gaussian matrices are {names}")
    missing = [s.name for s in theory.symbols if s not in values]
    if missing:
        raise InputError("check", f"{missing[0]} has no value", f"set {missing[0]}")
    gaussians = tuple(replace(g, variance=2 * g.variance) if g.name == broken else g for g in model.gaussians)
    wrong = Equivalent(replace(theory.question, model=replace(model, gaussians=gaussians)))
    trial = functools.partial(_expression_trial, theory.question, tuple(values.items()))
    sizes = (size, 2 * size, 4 * size)
    return Check(
        id,
        claim or f"the equivalent of {theory.question.text[:80]}",
        source,
        functools.partial(_predicted, theory, tuple(values.items())),
        Ladder(trial, "value", sizes, _RATE, trials, tuple(2 * s for s in sizes), trials),
        resolution,
        Control(f"the variance of {broken} doubled", functools.partial(_predicted, wrong, tuple(values.items()))),
    )


def _predicted(theory: Equivalent, values: tuple[tuple[sp.Symbol, sp.Rational], ...]) -> Enclosure:
    return theory.enclose(dict(values), 15)


def dimensions(model: mx.Model, values: Mapping[sp.Symbol, sp.Rational], common: int) -> dict[str, int]:
    """The dimensions at a common size: the smallest one is `common`, the others in proportion (rounded)."""
    ratios = {name: float(sp.sympify(ratio, strict=True).xreplace(dict(values))) for name, ratio in model.sizes}
    least = min(ratios.values())
    sizes = {name: round(common * ratio / least) for name, ratio in ratios.items()}
    largest = max(sizes.values())
    if largest > MAX_SIZE or largest * sorted(sizes.values())[-min(2, len(sizes))] > _MAX_ENTRIES:
        raise InputError("simulate", f"matrices of size {largest} are too large", "simulate a smaller size")
    return sizes


def draw(
    question: mx.Question,
    values: Mapping[sp.Symbol, sp.Rational],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    scale: Mapping[str, float] | None = None,
) -> float:
    """One draw of the expression; `scale` multiplies the standard deviation of matrices by name (for controls)."""
    numbers = _Draw(question.model, values, sizes, rng, scale or {})
    parts: dict[sp.Symbol, float] = {}
    for symbol, functional in question.functionals:
        matrix = numbers.value(functional.matrix)
        parts[symbol] = float(np.trace(matrix)) / len(matrix)
    return float(_number(question.value, {**{s: float(v) for s, v in values.items()}, **parts}))


def _number(expr: sp.Expr, at: Mapping[sp.Symbol, float]) -> float:
    if isinstance(expr, sp.Symbol):
        return at[expr]
    if isinstance(expr, sp.Rational):
        return float(expr)
    if isinstance(expr, sp.Add):
        return math.fsum(_number(a, at) for a in expr.args)
    if isinstance(expr, sp.Mul):
        return math.prod(_number(a, at) for a in expr.args)
    base, exponent = expr.as_base_exp()
    return float(_number(base, at) ** int(exponent))


class _Draw:
    """One draw of all matrices; equal subexpressions are computed once."""

    def __init__(
        self,
        model: mx.Model,
        values: Mapping[sp.Symbol, sp.Rational],
        sizes: Mapping[str, int],
        rng: np.random.Generator,
        scale: Mapping[str, float],
    ) -> None:
        self.model, self.sizes = model, {**sizes, mx.ONE: 1}
        self.at = {s: float(v) for s, v in values.items()}
        # Coefficients are those at the ratios: the powers of the common size go into the matrices, whose variance is
        # (variance at the ratios)/(common size), as in the theory.
        first = next(iter(model.sizes))
        self.unit = sizes[first[0]] / float(sp.sympify(first[1], strict=True).xreplace(dict(values)))
        self.known: dict[mx.Node, Matrix] = {}
        self.leaves: dict[str, Matrix] = {}
        residues = {f.residue for f in model.features} | {mx.ones_name(dim) for dim in model.ones}
        for dim in model.ones:
            self.leaves[mx.ones_name(dim)] = np.full((self.sizes[dim], 1), self.unit**-0.5)
        for g in model.gaussians:
            if g.name in residues:
                continue
            shape = (self.sizes[g.rows], self.sizes[g.cols])
            deviation = math.sqrt(self.coefficient(model.split(g.variance)[0]) / self.unit) * scale.get(g.name, 1.0)
            x = rng.standard_normal(shape)
            self.leaves[g.name] = deviation * ((x + x.T) / math.sqrt(2) if g.symmetric else x)
        for law in model.laws:
            n = self.sizes[law.dimension]
            weights = np.array([self.coefficient(model.split(w)[0]) for _, w in law.atoms])
            places = np.minimum(np.searchsorted(np.cumsum(weights), (np.arange(n) + 0.5) / n), len(weights) - 1)
            for k, name in enumerate(law.names):
                levels = np.array([self.coefficient(model.split(vs[k])[0]) for vs, _ in law.atoms])
                self.leaves[name] = np.diag(levels[places])

    def mean(self, node: mx.Feature) -> float:
        """The function's mean, which `centred` takes out (zero where it was not asked for)."""
        if not node.centred:
            return 0.0
        f = node.function
        standard = f if node.deviation == 1 else nonlinearity(f.expr.subs(z, node.deviation * z))
        return constants(standard).mu0 if entrywise.has_mean(standard) else 0.0

    def coefficient(self, c: sp.Expr) -> float:
        return _number(c, self.at)

    def value(self, node: mx.Node) -> Matrix:
        """A node's matrix."""
        if node not in self.known:
            self.known[node] = self.compute(node)
        return self.known[node]

    def compute(self, node: mx.Node) -> Matrix:
        if isinstance(node, mx.Leaf):
            matrix = self.leaves[node.name]
            return matrix.T if node.transposed else matrix
        if isinstance(node, mx.Ones):
            return np.full((self.sizes[node.rows], self.sizes[node.cols]), self.unit**-0.5)
        if isinstance(node, mx.Identity):
            return np.eye(self.sizes[node.rows])
        if isinstance(node, mx.Sum):
            total = np.zeros((self.sizes[node.rows], self.sizes[node.cols]))
            for c, inner in node.terms:
                if isinstance(inner, mx.Identity):
                    total[np.diag_indices_from(total)] += self.coefficient(c)
                else:
                    total = total + self.coefficient(c) * self.value(inner)
            return total
        if isinstance(node, mx.Product):
            return self.product(node.factors)
        if isinstance(node, mx.Feature):
            # The function itself, of the actual entries: the residue is never drawn.
            scale = self.unit ** float(node.degree)
            entries = scale * self.value(node.inner)
            return np.asarray((vectorised(node.function)(entries) - self.mean(node)) / scale)
        assert isinstance(node, mx.Inverse)
        return np.asarray(np.linalg.inv(self.value(node.inner)))

    def product(self, factors: tuple[mx.Node, ...]) -> Matrix:
        """From the thinner side, so that a vector makes the chain cheap; inverses are solved for where they can be."""
        if self.sizes[factors[0].rows] < self.sizes[factors[-1].cols]:
            result = self.value(factors[0])
            for factor in factors[1:]:
                if isinstance(factor, mx.Inverse):
                    result = np.asarray(np.linalg.solve(self.value(factor.inner).T, result.T).T)
                else:
                    result = result @ self.value(factor)
            return result
        result = self.value(factors[-1])
        for factor in reversed(factors[:-1]):
            if isinstance(factor, mx.Inverse):
                result = np.asarray(np.linalg.solve(self.value(factor.inner), result))
            else:
                result = self.value(factor) @ result
        return result
