"""Every formula that is printed is read back by a small grammar and evaluated against the original."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import mpmath as mp
import pytest
import sympy as sp
from latex_corpus import formulas, parts
from latex_grammar import Unreadable, read
from sympy.core.function import AppliedUndef

from derivations.latex import latex
from theory import symbols as s

DIGITS = 20
# Heads without a value of their own: unnamed functions and sequences, operators, and what has no grammar rule.
ABSTRACT = (AppliedUndef, sp.Indexed, sp.Derivative, sp.Subs, sp.KroneckerDelta, sp.DiracDelta, sp.Limit, sp.MatrixBase)


def _value(symbol: Any, generator: random.Random) -> Any:
    if symbol.is_integer:
        return sp.Integer(generator.randint(1, 6) * 2 + int(bool(symbol.is_odd)))
    size = sp.Rational(generator.randint(20, 90), 97)
    return size if symbol.is_nonnegative or symbol.is_positive else size * generator.choice((1, -1))


def _original(expression: Any, point: dict[Any, Any]) -> Any:
    # Integrals to fewer digits: SymPy is slow with them.
    value = sp.N(expression.subs(point).doit(integrals=False), 12 if expression.has(sp.Integral) else DIGITS)
    return mp.mpmathify(value) if value.is_finite else mp.nan


def _reread(expression: Any, seed: str) -> tuple[Any, Any]:
    """The printed and the original value at the first point at which both have one."""
    generator = random.Random(seed)
    for _ in range(20):
        point = {x: _value(x, generator) for x in sorted(expression.free_symbols, key=str)}
        names = {latex(x): mp.mpf(v.p) / v.q for x, v in point.items() if x != s.sigma2}
        if s.sigma2 in point:
            # The symbol is sigma^2; the reader sees powers of sigma.
            names[r"\sigma"] = mp.sqrt(mp.mpf(point[s.sigma2].p) / point[s.sigma2].q)
        printed = read(latex(expression), tuple(names))
        original = _original(expression, point)
        with contextlib.suppress(ValueError, ZeroDivisionError):  # a pole of a Gamma function: another point
            if not mp.isnan(original):
                return mp.mpmathify(printed(names)), original
    raise AssertionError(f"no value at any point: {expression}")


# Each formula once, under the first name that it has.
FIRST = {part: f"{where}/{i}" for where, e in reversed(formulas()) for i, part in enumerate(parts(e))}
CASES = {name: part for part, name in FIRST.items() if isinstance(part, sp.Expr)}


def _concrete(part: Any) -> bool:
    slow = any(len(integral.limits) > 1 for integral in part.atoms(sp.Integral))
    return not part.has(*ABSTRACT) and not part.atoms(sp.Dummy) and not slow


CONCRETE = {name: part for name, part in CASES.items() if _concrete(part)}


@pytest.mark.parametrize("name", CONCRETE)
def test_printed_equals_meant(name: str) -> None:
    with mp.workdps(DIGITS):
        printed, original = _reread(CONCRETE[name], name)
        assert abs(printed - original) <= mp.mpf(10) ** -10 * max(1, abs(original)), latex(CONCRETE[name])


def test_most_formulas_are_concrete() -> None:
    assert len(CONCRETE) > 0.6 * len(CASES)


@pytest.mark.parametrize(
    ("tex", "value"),
    [
        (r"2 \cdot 3 + \frac{1}{2}", 6.5),
        (r"\left(-1\right)^{2} - 2^{1/2} \sqrt{2}", -1),
        (r"\left(\left(3\right)!!\right)^{2}", 9),
        (r"\sum_{k=0}^{3} k^{2}", 14),
        (r"\begin{cases} 1 & \text{for } 2 < 1 \\ 5 \bmod 3 & \text{otherwise} \end{cases}", 2),
        (r"\arccos^{2}{\left(0\right)}", (mp.pi / 2) ** 2),
        (r"\mathrm{He}_{3}\left(2\right)", 2),
        (r"\int\limits_{-1}^{1} x^{2}\, dx", 2 / 3),
        (r"\mathbf{1}\left\{1 > 0\right\} \left(-1\right)_{+}", 0),
    ],
)
def test_the_grammar(tex: str, value: float) -> None:
    assert abs(read(tex)({}) - value) < 1e-12


def test_a_misprint_is_noticed() -> None:
    printed = latex(s.psi1 / (s.psi2 + 1)).replace("+ 1", "+ 2")
    value = read(printed, (r"\psi_{1}", r"\psi_{2}"))({r"\psi_{1}": mp.mpf(1), r"\psi_{2}": mp.mpf(1)})
    assert value != mp.mpf(1) / 2
    with pytest.raises(Unreadable):
        read(r"\mathfrak{x}")
