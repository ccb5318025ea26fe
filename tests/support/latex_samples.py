"""Concrete values for what a formula leaves unnamed: functions, sequences and expectations, on both sides of a test.

An unnamed function of name F stands for F(x, ...) = p exp(r_1 x_1 + r_2 x_2 + ...), with p and r_i drawn from F's LaTeX
name, so that derivatives of every order have a value and no two functions agree; a sequence s for s_k = p r^k; an
expectation for a mean over three fixed points of the letters that are random, which is linear and not multiplicative.
The reader of LaTeX knows the names as printed, SymPy's side the expressions: neither uses the other.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath as mp
import sympy as sp
from sympy.core.function import AppliedUndef

from bulkedge.derivations.engine.latex import latex

EXPECTATION = "E"
# What is random inside an expectation, as printed, with its value at each of the three points.
RANDOM: dict[str, tuple[Fraction, ...]] = {
    "z": (Fraction(-2, 3), Fraction(1, 5), Fraction(3, 4)),
    "z_{1}": (Fraction(-1, 2), Fraction(2, 7), Fraction(4, 5)),
    "z_{2}": (Fraction(3, 5), Fraction(-1, 3), Fraction(1, 4)),
    "G": (Fraction(1, 6), Fraction(-3, 5), Fraction(5, 8)),
    r"\xi": (Fraction(-2, 5), Fraction(1, 2), Fraction(1, 7)),
    r"\zeta": (Fraction(-3, 7), Fraction(1, 2), Fraction(2, 9)),
    "t": (Fraction(1, 4), Fraction(2, 3), Fraction(-1, 5)),
    "a": (Fraction(1, 3), Fraction(-2, 3), Fraction(1, 8)),
}
WEIGHTS = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))


def _draw(name: str, count: int) -> list[Fraction]:
    generator = random.Random(name)
    return [Fraction(generator.randint(20, 60), 100) for _ in range(count)]


def coefficients(name: str, arguments: int) -> list[Fraction]:
    """p, r_1, r_2, ... of a function, or p and r of a sequence, from its name as printed."""
    return _draw(name, arguments + 1)


def head(function: Any) -> str:
    """The printed name of an unnamed function."""
    return latex(sp.Symbol(function.__name__))


def names(expression: Any) -> tuple[set[str], set[str]]:
    """The printed names of the unnamed functions and of the sequences in an expression."""
    functions = {head(f.func) for f in expression.atoms(AppliedUndef) if f.func.__name__ != EXPECTATION}
    return functions, {latex(sp.Symbol(str(i.base))) for i in expression.atoms(sp.Indexed)}


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _of_an_argument(e: Any) -> bool:
    """Whether this is a derivative of an unnamed function in one of its arguments."""
    return isinstance(e, sp.Derivative) and isinstance(e.expr, AppliedUndef) and len(e.variable_count) == 1


def concrete(expression: Any) -> Any:
    """The expression with functions and sequences concrete; expectations stay."""

    def function(f: Any) -> Any:
        p, *rates = map(_rational, coefficients(head(f.func), len(f.args)))
        return p * sp.exp(sp.Add(*(r * x for r, x in zip(rates, f.args, strict=True))))

    def sequence(i: Any) -> Any:
        p, r = map(_rational, coefficients(latex(sp.Symbol(str(i.base))), 1))
        return p * r ** i.indices[0]

    def derivative(e: Any) -> Any:
        # Of any order, symbolic too, in an argument.
        f, ((x, order),) = e.expr, e.variable_count
        rates = coefficients(head(f.func), len(f.args))[1:]
        return _rational(rates[f.args.index(x)]) ** order * function(f)

    expression = expression.replace(lambda e: isinstance(e, sp.Indexed), sequence)
    expression = expression.replace(_of_an_argument, derivative)
    named = {f.func for f in expression.atoms(AppliedUndef) if f.func.__name__ != EXPECTATION}
    for f in named:
        expression = expression.replace(f, lambda *x, f=f: function(f(*x)))
    return expression


def averaged(expression: Any) -> Any:
    """The expression with each expectation written out as the mean over the three points."""

    def mean(inner: Any) -> Any:
        letters = {x: RANDOM[latex(x)] for x in inner.free_symbols if latex(x) in RANDOM}
        points = ({x: _rational(v[i]) for x, v in letters.items()} for i in range(len(WEIGHTS)))
        return sp.Add(*(_rational(w) * inner.subs(at) for w, at in zip(WEIGHTS, points, strict=True)))

    return expression.replace(sp.Function(EXPECTATION), mean)


def value(name: str, arguments: list[Any], orders: Mapping[int, Any]) -> Any:
    """An unnamed function's value for the reader; `orders` are orders of derivatives by argument."""
    p, *rates = (mp.mpf(c.numerator) / c.denominator for c in coefficients(name, len(arguments)))
    result = p * mp.exp(mp.fsum(r * x for r, x in zip(rates, arguments, strict=True)))
    for place, order in orders.items():
        result *= rates[place] ** order
    return result


def member(name: str, index: Any) -> Any:
    """A sequence's member for the reader."""
    p, r = (mp.mpf(c.numerator) / c.denominator for c in coefficients(name, 1))
    return p * r**index
