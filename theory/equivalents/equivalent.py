"""The deterministic equivalent of a matrix expression: read it, derive its equations, enclose its value.

Source: E1 (realisation), E2 and E3 (Dyson equation), E4 (branch).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from bulkedge.theory.equivalents import elimination, entrywise, matrix_text
from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.equivalents.dyson import DysonSystem, dyson_system
from bulkedge.theory.equivalents.dyson_root import Root, find_root
from bulkedge.theory.equivalents.dyson_table import DysonTable, dyson_table
from bulkedge.theory.functions import parse
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.spectra.spectral_density import MOST_NODES, NODES

_MAX_BITS = 20_000


@dataclass(frozen=True)
class Equivalent:
    """A question with its Dyson equation; what is derived from it is computed when it is first asked for."""

    question: mx.Question

    def __reduce__(self) -> tuple[Any, ...]:
        return (Equivalent, (self.question,))  # what was derived is derived again: SymPy's rings do not pickle

    @cached_property
    def system(self) -> DysonSystem:
        """The Dyson equation."""
        return dyson_system(self.question)

    @cached_property
    def reduced(self) -> elimination.Reduced:
        """The reduced equations and the value's polynomial (none with a density, which has no finite system)."""
        if self.question.model.continuous:
            return elimination.Reduced((), (), None, 0, 0)
        return elimination.reduce(self.system)

    @cached_property
    def table(self) -> DysonTable:
        """The Dyson equation as plain tables."""
        return dyson_table(self.system)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The declared symbols (the constants of functions are not declared: they have values)."""
        held = {c.name for c in self.question.model.constants}
        return tuple(s for s in self.question.model.symbols if s.name not in held)

    def constants(self, bits: int) -> dict[sp.Symbol, Any]:
        """mu1 and mu2 of the functions in the expression, as balls."""
        return {c.symbol: entrywise.enclosed(c, bits) for c in self.question.model.constants}

    def root(self, values: Mapping[sp.Symbol, Any], bits: int = 128) -> Root:
        """The enclosed solution at values of all symbols.

        Errors: ConvergenceError where the branch is not certain.
        """
        return find_root(self.system, {**values, **self.constants(bits)}, bits)

    def refined(self, nodes: int) -> Equivalent:
        """The same with rules of so many nodes for laws with a density."""
        model = self.question.model
        laws = tuple(law.refined(nodes) for law in model.laws)
        return Equivalent(replace(self.question, model=replace(model, laws=laws)))

    def enclose(self, values: Mapping[sp.Symbol, Any], digits: int) -> Enclosure:
        """The value to so many digits, with a rigorous bound of its error.

        With a density among the laws the bound is the difference of two Gauss rules besides.
        Errors: ConvergenceError where the branch is not certain; PrecisionError where the digits are not reached.
        """
        if self.question.model.continuous:
            return self._over_nodes(lambda e: e._enclose(values, digits), digits)
        return self._enclose(values, digits)

    def _over_nodes(self, compute: Callable[[Equivalent], Enclosure], digits: int) -> Enclosure:
        """What is computed with ever finer rules until two of them agree to the digits asked for."""
        nodes, last, best = NODES // 2, None, None
        while nodes <= MOST_NODES:
            found = compute(self.refined(nodes))
            if last is not None:
                error = found.error + abs(found.value - last.value)
                best = Enclosure(found.value, error, "two rules")
                if best.reaches(digits):
                    return best
            nodes, last = 2 * nodes, found
        raise PrecisionError(
            "the digits asked for were not reached: the law's density is too rough, or z lies in a bulk", best
        )

    def _enclose(self, values: Mapping[sp.Symbol, Any], digits: int) -> Enclosure:
        bits = ball.bits(digits) + 32
        best: Enclosure | None = None
        while bits <= _MAX_BITS:
            value = elimination.value_ball(self.system, self.root(values, bits))
            if value.is_finite():
                with ball.precision(bits):
                    best = ball.to_enclosure(value.real)
                if best.reaches(digits) or abs(best.value) + best.error < Fraction(1, 10 ** (digits + 30)):
                    return best
            bits *= 2
        raise PrecisionError("the digits asked for were not reached", best)

    def slope(self, values: Mapping[sp.Symbol, Any], symbol: sp.Symbol, digits: int) -> Enclosure:
        """d(value)/d(symbol) by implicit differentiation, to so many digits.

        Errors: ConvergenceError where the branch is not certain; PrecisionError where the digits are not reached.
        """
        if self.question.model.continuous:
            return self._over_nodes(lambda e: e._slope(values, symbol, digits), digits)
        return self._slope(values, symbol, digits)

    def _slope(self, values: Mapping[sp.Symbol, Any], symbol: sp.Symbol, digits: int) -> Enclosure:
        bits = ball.bits(digits) + 32
        best: Enclosure | None = None
        parts = [s for s, _ in self.question.functionals]
        while bits <= _MAX_BITS:
            root = self.root(values, bits)
            total = elimination.scalar_ball(self.question.value.diff(symbol), self.system, root)
            with ball.precision(bits):
                for part, change in zip(parts, root.derivative(symbol), strict=True):
                    total += elimination.scalar_ball(self.question.value.diff(part), self.system, root) * change
                if total.is_finite():
                    best = ball.to_enclosure(total.real)
                    if best.reaches(digits) or abs(best.value) + best.error < Fraction(1, 10 ** (digits + 30)):
                        return best
            bits *= 2
        raise PrecisionError("the digits asked for were not reached", best)


def declare(
    gaussian: object,
    *,
    size: object = None,
    deterministic: object = None,
    positive: object = None,
    real: object = None,
    extra: Iterable[sp.Symbol] = (),
) -> mx.Model:
    """The declarations of a model: texts as on the command line, or SymPy objects.

    `gaussian`: texts "X: n x d, 1/n", or a mapping from MatrixSymbols (or "X: n x d") to variances. A dimension
    without a size is a declared symbol, or 1 where it is the only one.
    Errors: InputError, naming the argument.
    """
    known = matrix_text.symbols(positive, real)
    known += tuple(s for s in extra if s.name not in {k.name for k in known})
    for kind, text in (("size", size), ("gaussian", gaussian)):
        known += tuple(s for s in _free(text) if s.name not in {k.name for k in known} and kind == "size")
    gaussians = tuple(_gaussians(gaussian, known))
    if not gaussians:
        raise InputError("gaussian", "no Gaussian matrix is declared", 'declare one: "X: n x d, 1/n"')
    if len(gaussians) > matrix_text.MAX_MATRICES:
        raise InputError("gaussian", "too many matrices", f"use at most {matrix_text.MAX_MATRICES}")
    laws = tuple(matrix_text.spectral_law(text, known) for text in _texts(deterministic, "deterministic"))
    sizes = matrix_text.sizes(size, known)
    model = mx.Model(gaussians, laws, (), known)
    dims = model.dimensions()
    for dim in dims:
        if dim in sizes:
            continue
        symbol = next((s for s in known if s.name == dim), None)
        if symbol is not None:
            if not symbol.is_positive:
                raise InputError("size", f"the dimension {dim} is not declared positive", f"declare it: positive {dim}")
            sizes[dim] = sp.Symbol(dim, positive=True)
        elif len(dims) == 1:
            sizes[dim] = sp.S.One
        else:
            raise InputError("size", f"{dim} has no size", f"give relative sizes of all dimensions: {_example(dims)}")
    unused = [name for name in sizes if name not in dims]
    if unused:
        raise InputError("size", f"{unused[0]} is no dimension of a matrix", f"the dimensions are {', '.join(dims)}")
    model = replace(model, sizes=tuple(sizes.items()))
    allowed = {*dims, *(s.name for s in known)}
    for g in gaussians:
        _known(g.variance, allowed, "gaussian")
    for law in laws:
        for values, weight in law.atoms:
            for value in (*values, weight):
                _known(value, allowed, "deterministic")
    model = replace(
        model,
        gaussians=tuple(replace(g, variance=_by_name(g.variance, known, sizes)) for g in gaussians),
        laws=tuple(
            replace(
                law,
                atoms=tuple(
                    (tuple(_by_name(v, known, sizes) for v in values), _by_name(w, known, sizes))
                    for values, w in law.atoms
                ),
            )
            for law in laws
        ),
    )
    return mx.check_model(model)


def _example(dims: tuple[str, ...]) -> str:
    return ",".join(f"{dim}=1" for dim in dims)


def _free(value: object) -> list[sp.Symbol]:
    """SymPy symbols in the values of a mapping: their own assumptions declare them."""
    if not isinstance(value, Mapping):
        return []
    found = {s for v in value.values() if isinstance(v, sp.Expr) for s in v.free_symbols}
    return sorted((s for s in found if isinstance(s, sp.Symbol)), key=lambda s: str(s.name))


def _known(expr: sp.Expr, allowed: set[str], argument: str) -> None:
    for symbol in expr.free_symbols:
        if symbol.name not in allowed:
            raise InputError(argument, f"{symbol.name} is not declared", f"give {symbol.name} a size or declare it")


def _by_name(expr: sp.Expr, known: Iterable[sp.Symbol], sizes: Mapping[str, sp.Expr]) -> sp.Expr:
    """Dimensions as positive symbols, declared symbols as they were declared."""
    by_name = {s.name: s for s in known if s.name not in sizes}
    return expr.xreplace({s: by_name.get(s.name, sp.Symbol(s.name, positive=True)) for s in expr.free_symbols})


def _texts(value: object, argument: str) -> list[object]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        return list(value)
    raise InputError(argument, f"{parse.shorten(value)} is no declaration", 'write "S: d, atoms 1:1/2 4:1/2"')


def _gaussians(value: object, known: tuple[sp.Symbol, ...]) -> Iterable[mx.Gaussian]:
    if not isinstance(value, Mapping):
        for text in _texts(value, "gaussian"):
            yield matrix_text.gaussian(text, known)
        return
    for key, variance in value.items():
        if isinstance(key, sp.MatrixSymbol):
            rows, cols = (str(side) for side in key.shape)
            scale = variance
            if isinstance(variance, str):
                yield matrix_text.gaussian(f"{key.name}: {rows} x {cols}, {variance}", known)
                continue
            if isinstance(scale, sp.Expr) and not isinstance(scale, sp.Rational | sp.Float):
                if not scale.is_rational_function(*scale.free_symbols):
                    raise InputError("gaussian", f"the variance {scale} is no rational function", "use + - * /")
            else:
                scale = parse.number(variance, "gaussian")
            yield mx.Gaussian(matrix_text.name(str(key.name), "gaussian"), rows, cols, scale)
        elif isinstance(key, str):
            yield matrix_text.gaussian(f"{key}, {variance}", known)
        else:
            raise InputError("gaussian", f"{parse.shorten(key)} is no matrix", "use MatrixSymbols or texts")


def read(
    expression: object, model: mx.Model, fixed: Mapping[str, sp.Rational] | None = None, digits: int | None = None
) -> Equivalent:
    """The equivalent of an expression: text, or a SymPy matrix expression; symbols in `fixed` become numbers.

    With `digits` the constants of functions become rationals of so many digits, where they are none.
    Errors: InputError for what is outside the class.
    """
    held = _fixed(model, fixed or {})
    if isinstance(expression, str):
        return Equivalent(matrix_text.read(expression, held, fixed, digits))
    if isinstance(expression, sp.Basic):
        return Equivalent(matrix_text.from_sympy(expression, held, fixed, digits))
    raise InputError(
        "expression", f"a {type(expression).__name__} is no expression", 'write "tr(inv(X.T*X + lam))", or use SymPy'
    )


def _fixed(model: mx.Model, fixed: Mapping[str, sp.Rational]) -> mx.Model:
    """The model with numbers for some of its symbols."""
    if not fixed:
        return model
    at = {s: fixed[s.name] for s in model.symbols if s.name in fixed}
    # A dimension that is its own symbol keeps its name in variances; its ratio becomes the number.
    names = {name for name, _ in model.sizes}
    inner = {s: v for s, v in at.items() if s.name not in names}
    return mx.check_model(
        replace(
            model,
            symbols=tuple(s for s in model.symbols if s not in at),
            sizes=tuple((name, sp.sympify(ratio, strict=True).xreplace(at)) for name, ratio in model.sizes),
            gaussians=tuple(replace(g, variance=g.variance.xreplace(inner)) for g in model.gaussians),
            laws=tuple(
                replace(
                    law, atoms=tuple((tuple(v.xreplace(inner) for v in vs), w.xreplace(inner)) for vs, w in law.atoms)
                )
                for law in model.laws
            ),
        )
    )


def values_of(text: object, symbols: tuple[sp.Symbol, ...]) -> dict[sp.Symbol, sp.Rational]:
    """`"lam=3/10,c=2"`, a list of such texts, or a mapping, as exact numbers.

    Errors: InputError for an unknown name, or a number that the symbol's assumption excludes.
    """
    pairs: list[tuple[object, object]] = []
    if isinstance(text, Mapping):
        pairs = [(k.name if isinstance(k, sp.Symbol) else k, v) for k, v in text.items()]
    else:
        for item in _texts(text, "set"):
            if not isinstance(item, str):
                raise InputError("set", f"{parse.shorten(item)} is not understood", 'write "lam=3/10"')
            for part in (p.strip() for p in item.split(",")):
                left, equals, right = part.partition("=")
                if not equals:
                    raise InputError("set", f"{parse.shorten(part)} is not understood", 'write "lam=3/10"')
                pairs.append((left.strip(), right.strip()))
    by_name = {s.name: s for s in symbols}
    found: dict[sp.Symbol, sp.Rational] = {}
    for key, value in pairs:
        if not isinstance(key, str) or key not in by_name:
            declared = ", ".join(by_name) or "none"
            raise InputError("set", f"{parse.shorten(key)} is not a declared symbol", f"the symbols are {declared}")
        symbol = by_name[key]
        number = parse.positive(value, "set") if symbol.is_positive else parse.number(value, "set")
        if symbol in found:
            raise InputError("set", f"{key} is set twice", "set it once")
        found[symbol] = number
    return found
