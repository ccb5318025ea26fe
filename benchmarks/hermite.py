"""The Hermite layer: certified coefficients against mpmath and bare ball arithmetic, exact ones against SymPy."""

from __future__ import annotations

import functools
import math
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import mpmath
import sympy as sp
from flint import acb, arb, ctx
from sympy.core.cache import clear_cache

from benchmarks.benchmark import Benchmark, Row, children, seconds
from bulkedge.theory.functions import nonlinearity, parametric, pieces
from bulkedge.theory.functions.parse import expression
from bulkedge.theory.gaussian import gaussian, gaussian_moments, gaussian_terms, general_term, hermite
from bulkedge.theory.numbers.ball import enclose_expr
from bulkedge.theory.numbers.symbols import k as k_symbol
from bulkedge.theory.numbers.symbols import z

DIGITS = 50
ODD = range(1, 21, 2)  # the even coefficients of tanh are exact zeros and cost nothing


def forget() -> None:
    """Empty every cache of the Hermite layer, and SymPy's own, which would keep the first run's algebra."""
    clear_cache()
    for module in (gaussian, gaussian_moments, gaussian_terms, general_term, hermite, nonlinearity, pieces):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def ours() -> list[Fraction]:
    """Certified coefficients, tails included."""
    f = nonlinearity.nonlinearity("tanh")
    return [hermite.coefficient(f, k, digits=DIGITS).enclosure.value for k in ODD]


def by_mpmath() -> list[mpmath.mpf]:
    """mpmath.quad at the same digits (no error bound), two half lines, the Hermite polynomial by its recurrence."""
    with mpmath.workdps(DIGITS + 5):
        scale = 1 / mpmath.sqrt(2 * mpmath.pi)

        def integrand(x: mpmath.mpf, k: int) -> mpmath.mpf:
            before, now = mpmath.mpf(1), x
            for j in range(1, k):
                before, now = now, x * now - j * before
            return mpmath.tanh(x) * now * mpmath.exp(-x * x / 2) * scale

        return [
            2 * mpmath.quad(functools.partial(integrand, k=k), [0, mpmath.inf]) / mpmath.sqrt(math.factorial(k))
            for k in ODD
        ]


def by_bare_balls() -> list[arb]:
    """acb.integral on [0, 20] by hand: what cannot be beaten by a program that rests on it (no tails, no retries)."""
    with ctx.workprec(int(DIGITS * 3.33) + 32):
        root = (2 * arb.pi()).sqrt()

        def integrand(x: acb, k: int) -> acb:
            before, now = acb(1), x
            for j in range(1, k):
                before, now = now, x * now - j * before
            return x.tanh() * now * (-x * x / 2).exp()

        tolerance = arb(10) ** -(DIGITS + 2)
        return [
            2 * acb.integral(lambda x, _, k=k: integrand(x, k), acb(0), acb(20), abs_tol=tolerance).real
            / root / arb(math.factorial(k)).sqrt()
            for k in ODD
        ]  # fmt: skip


def tanh_rows() -> tuple[Row, ...]:
    """Fifty digits of the ten odd coefficients k <= 20 of tanh."""
    for a, b, c in zip(ours(), by_mpmath(), by_bare_balls(), strict=True):  # the contestants agree
        with mpmath.workdps(DIGITS + 5):
            assert abs(mpmath.mpf(a.numerator) / a.denominator - b) < mpmath.mpf(10) ** -(DIGITS - 2)
        assert abs(float(a) - float(c)) < 1e-12
    mine = seconds(ours, before=forget)
    return (
        Row("certified tanh, 50 digits, k <= 20", "mpmath.quad, same digits", mine, seconds(by_mpmath, 1), 20),
        Row("certified tanh, 50 digits, k <= 20", "bare acb.integral", mine, seconds(by_bare_balls), 1 / 2.5),
    )


def relu_rows() -> tuple[Row, ...]:
    """Exact ReLU coefficients k = 0..40; SymPy is timed at a few k and scaled."""
    f = nonlinearity.nonlinearity("relu")
    mine = seconds(lambda: hermite.coefficients(f, 40), before=forget)
    sampled = (0, 8, 16, 24)
    total = 0.0
    for k in sampled:
        polynomial = sp.expand(sp.hermite_prob(k, z))
        density = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
        start = time.process_time()
        value = sp.integrate(z * polynomial * density, (z, 0, sp.oo))
        total += time.process_time() - start
        assert sp.simplify(value - hermite.coefficient(f, k, "moment").exact) == 0
    # The mean over k = 0..24 stands for all 41: the cost grows with k, so this is in SymPy's favour.
    scaled = total / len(sampled) * 41
    note = f"sympy.integrate timed at k = {', '.join(map(str, sampled))}, their mean taken for all 41"
    return (Row("exact ReLU coefficients, k = 0..40", "sympy.integrate", mine, scaled, 100, note),)


def letter_rows() -> tuple[Row, ...]:
    """Leaky ReLU k = 0..40, its slope a letter, against its slope a number: at most five times as long."""
    slope = sp.Symbol("s", positive=True)

    def lettered() -> tuple[sp.Expr | None, ...]:
        parametric.parametric.cache_clear()
        expr = expression("leaky_relu(z, s)", "FUNCTION", {"s": slope})
        return gaussian_moments.moments(parametric.parametric(expr, "leaky_relu(z, s)")[0], 40)

    def numeric() -> tuple[sp.Expr | None, ...]:
        return gaussian_moments.moments(nonlinearity.nonlinearity("leaky_relu(z, 1/7)"), 40)

    for a, b in zip(lettered(), numeric(), strict=True):
        assert a is not None
        assert sp.expand(a.subs(slope, sp.Rational(1, 7)) - b) == 0
    mine, other = seconds(lettered, before=forget), seconds(numeric, before=forget)
    return (Row("leaky ReLU, slope s, moments k = 0..40", "the same, slope 1/7", mine, other, 1 / 5),)


def general_rows() -> tuple[Row, ...]:
    """The general term of ReLU at k = 10^6 to fifty digits, against the formula typed into mpmath's log-gamma."""
    term = hermite.general_term(nonlinearity.nonlinearity("relu"))
    assert term is not None
    n = 10**6

    def by_log_gamma() -> mpmath.mpf:
        # |c_k| = (k-3)!!/sqrt(2 pi k!), (k-3)!! = 2^{k/2-1} Gamma(k/2 - 1/2)/sqrt(pi); the logarithm is near 10^7
        with mpmath.workdps(DIGITS + 20):
            half = mpmath.mpf(n) / 2
            log = (half - 1) * mpmath.log(2) + mpmath.loggamma(half - mpmath.mpf(1) / 2) - mpmath.log(mpmath.pi) / 2
            return -mpmath.exp(log - (mpmath.log(2 * mpmath.pi) + mpmath.loggamma(n + 1)) / 2)

    found = enclose_expr(term, DIGITS, {k_symbol: sp.Integer(n)})
    with mpmath.workdps(DIGITS + 20):
        gap = mpmath.mpf(found.value.numerator) / found.value.denominator / by_log_gamma() - 1
        assert abs(gap) < mpmath.mpf(10) ** -(DIGITS - 2)
    mine = seconds(lambda: enclose_expr(term, DIGITS, {k_symbol: sp.Integer(n)}))
    return (Row("general term at k = 10^6, 50 digits", "mpmath.loggamma", mine, seconds(by_log_gamma)),)


def help_rows() -> tuple[Row, ...]:
    """`bulkedge --help` in a fresh process, against half a second."""
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "bulkedge", "--help"]
    mine = seconds(lambda: subprocess.run(command, check=True, cwd=root, stdout=subprocess.DEVNULL), 5, None, children)
    return (Row("bulkedge --help", "half a second", mine, 0.5, 1),)


BENCHMARKS = (
    Benchmark("hermite.tanh", tanh_rows),
    Benchmark("hermite.relu", relu_rows),
    Benchmark("hermite.letters", letter_rows),
    Benchmark("hermite.general", general_rows),
    Benchmark("cli.help", help_rows),
)
