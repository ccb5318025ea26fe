"""A function applied entrywise to a product of Gaussian matrices: mu0 1 1^T + mu1 A + mu2 Z, its equivalent.

A = X W (deterministic matrices may stand between X and W; W may be W0 + u a^T) with entries of size one: f(A) is
replaced by mu0 1 1^T + mu1 A + mu2 Z, Z Gaussian and independent of all else. mu0 = E f(z), mu1 = E[z f(z)] and
mu2^2 = E f^2 - mu0^2 - mu1^2 stay symbols of the equations where they are not rational, and are enclosed to the digits
that a value needs.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from flint import arb

from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.functions.nonlinearity import Nonlinearity, product
from bulkedge.theory.gaussian import hermite
from bulkedge.theory.gaussian.gaussian_moments import expectation
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError, PrecisionError


@dataclass(frozen=True)
class Core:
    """What stands inside the function: a scalar times a product, the variance of its entries, its canonical names."""

    names: tuple[tuple[str, bool], ...]
    flipped: bool  # the canonical order is that of the transpose
    scalar: sp.Expr
    deviation: sp.Rational


def core(model: mx.Model, node: mx.Node) -> Core:
    """The product inside a function, once its entries are seen to be of size one.

    Errors: InputError, with what would do.
    """
    scalar, inner = _unscaled(node)  # terms of rank one of order one, as after a step, do not change an entry's law
    factors: list[mx.Node] = []
    for factor in inner.factors if isinstance(inner, mx.Product) else (inner,):
        own, bare = _unscaled(factor)
        scalar, factors = scalar * own, [*factors, *(bare.factors if isinstance(bare, mx.Product) else (bare,))]
    ends = (factors[0], factors[-1]) if len(factors) > 1 else (factors[0],)
    leaves = [f for f in factors if isinstance(f, mx.Leaf)]
    gaussians = [model.gaussian(f.name) for f in leaves]
    wanted = (
        "apply functions to X*W with independent Gaussian matrices X and W (deterministic ones may stand between, and "
        "W may be W0 + u*a.T)"
    )
    if len(leaves) < len(factors) or len({f.name for f in ends if isinstance(f, mx.Leaf)}) < len(ends):
        raise InputError("expression", "a function of something that is no product of two Gaussian matrices", wanted)
    if any((g is not None and not g.symmetric) != (f in ends) for g, f in zip(gaussians, leaves, strict=True)):
        raise InputError("expression", "a function of something that is no product of two Gaussian matrices", wanted)
    if inner.rows == inner.cols == mx.ONE or (len(ends) == 2 and ends[0].cols == mx.ONE):
        raise InputError("expression", "a function of a number, or of an outer product of vectors", wanted)
    variance, power = scalar**2, 0
    for g in gaussians:
        if g is not None:
            value, p = model.split(g.variance, "gaussian")
            variance, power = variance * value, power + p
    if len(ends) == 2:
        middle = ends[0].cols
        size, p = model.split(sp.Symbol(middle, positive=True))
        variance, power = variance * size * _mean_square(model, middle, [f.name for f in leaves[1:-1]]), power + p
    variance = sp.cancel(variance)
    if power or not isinstance(variance, sp.Rational) or not isinstance(sp.sqrt(variance), sp.Rational):
        size = f"size^{power}" if power else str(variance)
        raise InputError(
            "expression",
            f"a function of entries of variance {size}",
            "make it one (the square of a rational number will do): X n x d of variance 1 and W d x N of variance 1/d, "
            "or set the symbols in it",
        )
    names = tuple((f.name, f.transposed) for f in leaves)
    deterministic = {name for law in model.laws for name in law.names}
    turned = tuple((name, name not in deterministic and not flip) for name, flip in reversed(names))
    return Core(min(names, turned), turned < names, scalar, sp.sqrt(variance))


def _unscaled(node: mx.Node) -> tuple[sp.Expr, mx.Node]:
    """A multiple of a matrix, and what is of finite rank beside it, as the factor and the matrix."""
    if isinstance(node, mx.Sum):
        full = [term for term in node.terms if not _finite_rank(term[1])]
        if len(full) == 1:
            return full[0]
    return sp.S.One, node


def _finite_rank(node: mx.Node) -> bool:
    """Whether a product passes through dimension one."""
    return isinstance(node, mx.Product) and any(f.cols == mx.ONE for f in node.factors[:-1])


def _mean_square(model: mx.Model, dimension: str, names: list[str]) -> sp.Expr:
    """The mean of the squared product of deterministic matrices over their law."""
    law = model.law(dimension)
    if law is None or not names:
        return sp.S.One
    total = sp.S.Zero
    for values, weight in law.atoms:
        term = weight
        for name in names:
            term = term * values[law.names.index(name)] ** 2
        total += term
    return model.split(total, "deterministic")[0]


@dataclass
class Features:
    """The functions of one expression: a residue for every pre-activation, shared where it is used again."""

    model: mx.Model
    known: dict[Any, tuple[Any, mx.Feature]]
    digits: int | None = None  # constants as rationals of so many digits: a spectrum's polynomial needs numbers

    def apply(self, f: Nonlinearity, g: Nonlinearity, node: mx.Node, at: Core, centred: bool) -> mx.Feature:
        """f(A) for a node A, less its mean if `centred`; `g` is f of a standardised argument, g(z) = f(deviation z).

        Errors: InputError for a function that is linear, or a second function of the same product.
        """
        kind = (f.expr, at.scalar)
        if at.names in self.known:
            other, feature = self.known[at.names]
            if other != kind:
                raise InputError(
                    "expression",
                    "two functions of the same product: what is left of them is correlated",
                    "use one function of X*W, or Gaussian matrices of your own for the residues",
                )
        else:
            feature = self._new(f, g, node, at)
            self.known[at.names] = (kind, feature)
        flipped = at.flipped != feature.turned
        mean = sp.S.Zero if centred else feature.mean
        return replace(
            feature, rows=node.rows, cols=node.cols, inner=node, transposed=flipped, mean=mean, centred=centred
        )

    def _new(self, f: Nonlinearity, g: Nonlinearity, node: mx.Node, at: Core) -> mx.Feature:
        if g.degree is not None and g.degree <= 1:
            raise InputError("expression", f"{f.name} is linear", "write the linear expression")
        number = len(self.known) + 1
        name = f.name.removesuffix("(z)")
        label = name if name.isidentifier() and at.deviation == 1 else str(number)
        taken = {g.name for g in self.model.gaussians} | {s.name for s in self.model.symbols}
        mu0, mu1, mu2 = (mx.HermiteConstant(f"mu{k}_{label}", g, k) for k in range(3))
        residue = f"Z_{label}" if f"Z_{label}" not in {k[1].residue for k in self.known.values()} else f"Z_{number}"
        for name in (mu0.name, mu1.name, mu2.name, residue):
            if name in taken:
                raise InputError("expression", f"{name} is needed for the function {f.name}", "choose another name")
        linear, level = self._number(mu1), self._number(mu2)
        mean = self._number(mu0) if has_mean(g) else sp.S.Zero
        return mx.Feature(
            node.rows,
            node.cols,
            node.degree,
            f,
            node,
            residue,
            False,
            at.flipped,
            at.deviation,
            mu1 if linear is None else linear,
            mu2 if level is None else level,
            mu0 if mean is None else mean,
            False,
            _has_even_part(g),
        )

    def _number(self, constant: mx.HermiteConstant) -> sp.Rational | None:
        exact = rational(constant)
        if exact is not None or self.digits is None:
            return exact
        bits = ball.bits(self.digits)
        with ball.precision(bits + 32):
            value = enclosed(constant, bits)
            return sp.Rational((value**2 if constant.degree == 2 else value).mid().str(self.digits, radius=False))


@functools.lru_cache(maxsize=256)
def rational(constant: mx.HermiteConstant) -> sp.Rational | None:
    """The constant as a rational number (mu2^2 for mu2), if it is known to be one."""
    f = constant.function
    first = hermite.coefficient(f, 1).exact
    if constant.degree == 1:
        return first if isinstance(first, sp.Rational) else None
    if constant.degree == 0:
        mean = hermite.coefficient(f, 0).exact
        return mean if isinstance(mean, sp.Rational) else None
    mean, square = expectation(f), expectation(product(f, f))
    if mean is None or square is None or first is None:
        return None
    rest = sp.simplify(square - mean**2 - first**2)
    return rest if isinstance(rest, sp.Rational) else None


@functools.lru_cache(maxsize=256)
def enclosed(constant: mx.HermiteConstant, bits: int) -> Any:
    """mu0, mu1 or mu2 of a function as a ball."""
    digits = int(bits * 0.302) + 4
    with ball.precision(bits + 32):
        if constant.degree < 2:
            found = hermite.coefficient(constant.function, constant.degree, "orthonormal", digits).enclosure
            return ball.rational(found.value) + arb(0, 1) * ball.rational(found.error)
        tail = hermite.parseval_tail(constant.function, 1, digits + 6)
        return (ball.rational(tail.value) + arb(0, 1) * ball.rational(tail.error)).sqrt()


def _has_even_part(f: Nonlinearity) -> bool:
    """Whether E f''(z) may differ from zero: False only where it is shown to vanish."""
    try:
        return hermite.coefficient(f, 2).exact != 0
    except PrecisionError:
        return True


def has_mean(f: Nonlinearity) -> bool:
    """Whether E f(z) may differ from zero: False only where it is shown to vanish."""
    try:
        return hermite.coefficient(f, 0).exact != 0
    except PrecisionError:
        return True
