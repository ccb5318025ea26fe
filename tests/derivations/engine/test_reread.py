"""Every formula that is printed is read back by a small grammar and evaluated against the original.

Unnamed functions, sequences and expectations are given concrete values on both sides (latex_samples).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import latex_samples
import mpmath as mp
import pytest
import sympy as sp
from latex_corpus import conditions, formulas, parts
from latex_grammar import Unreadable, quadrature, read

from bulkedge.derivations.engine.latex import latex, latex_lines
from bulkedge.derivations.engine.verify import Domain
from bulkedge.theory.numbers import symbols as s

DIGITS = 20


def _value(symbol: Any, generator: random.Random) -> Any:
    if symbol.is_integer:
        return sp.Integer(generator.randint(1, 6) * 2 + int(bool(symbol.is_odd)))
    size = sp.Rational(generator.randint(20, 90), 97)
    return size if symbol.is_nonnegative or symbol.is_positive else size * generator.choice((1, -1))


def _integral(integral: sp.Integral) -> sp.Float:
    """An integral by quadrature: SymPy is slow with them."""

    def over(limits: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        if not limits:
            return integrand(*values)
        low, high = (sp.lambdify((), end, "mpmath")() for end in limits[-1][1:])
        return quadrature(lambda v: over(limits[:-1], (v, *values)), low, high)

    integrand = sp.lambdify([x for x, *_ in integral.limits], integral.function, "mpmath")
    return sp.Float(str(over(integral.limits, ())), DIGITS)


def _original(expression: Any, point: dict[Any, Any]) -> Any:
    # What is random inside an expectation is averaged there, and has its value at the point elsewhere.
    fixed = {x: v for x, v in point.items() if latex(x) not in latex_samples.RANDOM}
    inside = latex_samples.concrete(expression).subs(fixed).doit(integrals=False)
    at = latex_samples.averaged(inside).subs(point).doit(integrals=False)
    at = at.replace(lambda e: isinstance(e, sp.Integral), _integral)
    value = sp.N(at, DIGITS)
    return mp.mpmathify(value) if value.is_finite else mp.nan


def _points(expression: Any, seed: str) -> Iterator[dict[Any, Any]]:
    """Twenty points; of a derivation's formula, where its conditions hold."""
    symbols = expression.free_symbols
    stated = [c for c in conditions().get(seed.split(":")[0], ()) if c.free_symbols & symbols]
    if expression.has(sp.Integral) and stated:
        yield from Domain(tuple(stated), seed).points(symbols, 20)
        return
    generator = random.Random(seed)
    for _ in range(20):
        yield {x: _value(x, generator) for x in sorted(symbols, key=str)}


def _reread(expression: Any, seed: str, tex: str) -> tuple[Any, Any]:
    """The printed and the original value at the first point at which both have one."""
    functions, sequences = latex_samples.names(expression)
    for point in _points(expression, seed):
        names = {latex(x): mp.mpf(v.p) / v.q for x, v in point.items() if x != s.sigma2}
        if s.sigma2 in point:
            # The symbol is sigma^2; the reader sees powers of sigma.
            names[r"\sigma"] = mp.sqrt(mp.mpf(point[s.sigma2].p) / point[s.sigma2].q)
        printed = read(tex, tuple(names), tuple(functions), tuple(sequences))
        original = _original(expression, point)
        with contextlib.suppress(ValueError, ZeroDivisionError):  # a pole of a Gamma function: another point
            if not mp.isnan(original):
                return mp.mpmathify(printed(names)), original
    raise AssertionError(f"no value at any point: {expression}")


# Each formula once, under the first name that it has.
FIRST = {part: f"{where}/{i}" for where, e in reversed(formulas()) for i, part in enumerate(parts(e))}
CASES = {name: part for part, name in FIRST.items() if part not in (True, False)}


@pytest.mark.parametrize("name", CASES)
def test_printed_equals_meant(name: str) -> None:
    """Every formula, without exception."""
    part = CASES[name]
    with mp.workdps(DIGITS):
        # As it stands in a line, and as it is broken over several in the book.
        for tex in dict.fromkeys((latex(part), " ".join(latex_lines(part)))):
            printed, original = _reread(part, name, tex)
            assert abs(printed - original) <= mp.mpf(10) ** -10 * max(1, abs(original)), tex


def test_there_are_many() -> None:
    assert len(CASES) > 390


@pytest.mark.parametrize(
    ("tex", "value"),
    [
        (r"2 \cdot 3 + \frac{1}{2}", 6.5),
        (r"\left(-1\right)^{2} - 2^{1/2} \sqrt{2}", -1),
        (r"\left(\left(3\right)!!\right)^{2}", 9),
        (r"\sum_{k=0}^{3} k^{2}", 14),
        (r"\sum_{k=0}^{3} \sum_{l=0}^{3} \delta_{k l} k l", 14),
        (r"\sum_{k=0}^{\infty} \frac{1}{2^{k}}", 2),
        (r"\begin{cases} 1 & \text{for } 2 < 1 \\ 5 \bmod 3 & \text{otherwise} \end{cases}", 2),
        (r"\arccos^{2}{\left(0\right)}", (mp.pi / 2) ** 2),
        (r"\mathrm{He}_{3}\left(2\right)", 2),
        (r"\int\limits_{-1}^{1} x^{2}\, dx", 2 / 3),
        (r"\int\limits_{-\infty}^{\infty}\int\limits_{-\infty}^{\infty} e^{- x^{2} - y^{2}}\, dx\, dy", mp.pi),
        (r"\mathbf{1}\left\{1 > 0\right\} \left(-1\right)_{+}", 0),
        (r"2 \Bigl( 1 + 2 \Bigr)", 6),
    ],
)
def test_the_grammar(tex: str, value: float) -> None:
    assert abs(read(tex)({}) - value) < 1e-12


def test_unnamed_things_have_the_same_value_on_both_sides() -> None:
    f, F, c = sp.Function("f"), sp.Function("F_k"), sp.IndexedBase("c_star")
    E = sp.Function("E")
    expression = sp.Derivative(f(s.z), (s.z, s.k + 1)) * F(s.y, s.q).diff(s.q) ** 2 + c[3] ** 2 * f(s.z) ** 3
    expression += E(f(s.z1) * s.z2) ** 2 - 3 * E(f(s.z1)) * E(s.z2)
    tex = latex(expression)
    assert r"f^{\left(k + 1\right)}" in tex
    assert r"\frac{\partial}{\partial q} F_{k}" in tex
    printed, original = _reread(expression, "test", tex)
    assert abs(printed - original) < 1e-14
    # A mean is not multiplicative, a prime counts, an index counts.
    for wrong in (
        tex.replace(r"\left(k + 1\right)}", r"\left(k + 2\right)}"),
        tex.replace("c_{3}", "c_{2}"),
        tex.replace(r"\partial q", r"\partial y"),
        tex.replace("z_{2}", "z_{1}"),
    ):
        assert wrong != tex
        printed, original = _reread(expression, "test", wrong)
        assert abs(printed - original) > 1e-12


def test_a_misprint_is_noticed() -> None:
    printed = latex(s.psi1 / (s.psi2 + 1)).replace("+ 1", "+ 2")
    value = read(printed, (r"\psi_{1}", r"\psi_{2}"))({r"\psi_{1}": mp.mpf(1), r"\psi_{2}": mp.mpf(1)})
    assert value != mp.mpf(1) / 2
    with pytest.raises(Unreadable):
        read(r"\mathfrak{x}")
