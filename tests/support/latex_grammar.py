"""A reader of what the house printer emits: LaTeX -> a number, by recursive descent. For tests only.

It knows nothing of SymPy: symbols are given as LaTeX names with values, so a misprint of the printer shows up as a
different number (or as text that cannot be read). Unnamed functions, sequences and expectations have the values of
latex_samples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import latex_samples
import mpmath as mp

Value = Any
Node = Callable[[Mapping[str, Value]], Value]


class Unreadable(ValueError):  # noqa: N818 -- it says what the text is
    """The text is not in the grammar."""


FUNCTIONS: dict[str, Callable[..., Value]] = {
    r"\sin": mp.sin,
    r"\cos": mp.cos,
    r"\tan": mp.tan,
    r"\sinh": mp.sinh,
    r"\cosh": mp.cosh,
    r"\tanh": mp.tanh,
    r"\arcsin": mp.asin,
    r"\arccos": mp.acos,
    r"\arctan": mp.atan,
    r"\log": mp.log,
    r"\max": max,
    r"\min": min,
    r"\Gamma": lambda a, *x: mp.gammainc(a, *x) if x else _gamma(a),
    r"\gamma": lambda a, x: mp.gammainc(a, 0, x),
    r"\Phi": mp.ncdf,
    r"\Phi_{2}": lambda h, k, r: mp.quad(
        lambda x: mp.npdf(x) * mp.ncdf((k - r * x) / mp.sqrt(1 - r * r)), [-mp.inf, h]
    ),
    r"\operatorname{B}": mp.beta,
    r"\operatorname{arsinh}": mp.asinh,
    r"\operatorname{erf}": mp.erf,
    r"\operatorname{erfc}": mp.erfc,
    r"\operatorname{sign}": mp.sign,
    r"\operatorname{atan}_{2}": mp.atan2,
    r"\operatorname{atan_{2}}": mp.atan2,
    r"\operatorname{re}": mp.re,
    r"\operatorname{im}": mp.im,
}
CONSTANTS = {r"\cdots": mp.mpf(0), r"\pi": mp.pi, r"\infty": mp.inf, "e": mp.e, r"\mathrm{i}": mp.mpc(0, 1)}


BETWEEN = ("=", r"\leq", r"\geq", "<", ">", r"\neq", r"\to", r",\qquad", r",\quad", ", \\qquad", ", \\quad", ",")


MANY = 60  # terms of a series


def read(
    tex: str, names: tuple[str, ...] = (), functions: tuple[str, ...] = (), sequences: tuple[str, ...] = ()
) -> Node:
    """The formula as a function of its symbols' values; for a relation or a list, of all its parts (a tuple)."""
    reader = _Reader(tex, names, functions, sequences)
    parts = [reader.sum()]
    while not reader.done():
        reader.any(*BETWEEN)
        parts.append(reader.sum())
    return parts[0] if len(parts) == 1 else lambda env: tuple(part(env) for part in parts)


def _gamma(x: Value) -> Value:
    return mp.inf if x <= 0 and x == int(x) else mp.gamma(x)  # a pole, whose reciprocal is zero


def _hermite(k: Value, x: Value) -> Value:
    before, now = mp.mpf(0), mp.mpf(1)
    for j in range(int(k)):
        before, now = now, x * now - j * before
    return now


class _Reader:
    def __init__(
        self, tex: str, names: tuple[str, ...], functions: tuple[str, ...] = (), sequences: tuple[str, ...] = ()
    ) -> None:
        self.text = tex
        self.at = 0
        self.stop = len(tex)
        self.names = sorted(names, key=len, reverse=True)
        self.functions = sorted(functions, key=len, reverse=True)
        self.sequences = sorted(sequences, key=len, reverse=True)

    # -- text

    def space(self) -> None:
        match = re.compile(r"(\s|\\,|\\:|\\ )*").match(self.text, self.at)
        assert match
        self.at = match.end()

    def done(self) -> bool:
        self.space()
        return self.at == len(self.text)

    def peek(self, token: str) -> bool:
        self.space()
        if not self.text.startswith(token, self.at):
            return False
        # \leq is not \le followed by q
        after = self.text[self.at + len(token) : self.at + len(token) + 1]
        return not (token.startswith("\\") and token[-1].isalpha() and after.isalpha())

    def take(self, token: str) -> bool:
        if self.peek(token):
            self.at += len(token)
            return True
        return False

    def need(self, token: str) -> None:
        if not self.take(token):
            raise Unreadable(f"expected {token!r} at {self.text[self.at : self.at + 60]!r}")

    def any(self, *tokens: str) -> str:
        for token in tokens:
            if self.take(token):
                return token
        raise Unreadable(f"unexpected {self.text[self.at : self.at + 60]!r}")

    # -- sums and products

    def sum(self) -> Node:
        sign = -1 if self.take("-") else 1
        self.take("+") if sign == 1 else None
        total = self._signed(self.product(), sign)
        while self.peek("+") or self.peek("-"):
            sign = 1 if self.any("+", "-") == "+" else -1
            total = self._plus(total, self._signed(self.product(), sign))
        return total

    @staticmethod
    def _signed(a: Node, sign: int) -> Node:
        return a if sign == 1 else lambda env: -a(env)

    @staticmethod
    def _plus(a: Node, b: Node) -> Node:
        return lambda env: a(env) + b(env)

    def product(self) -> Node:
        result = self.power()
        while True:
            if self.take(r"\bmod"):
                left, right = result, self.power()
                result = lambda env, a=left, b=right: mp.fmod(a(env), b(env))  # noqa: E731
            elif self.take(r"\cdot") or self._starts():
                left, right = result, self.power()
                result = lambda env, a=left, b=right: a(env) * b(env)  # noqa: E731
            else:
                return result

    def _starts(self) -> bool:
        self.space()
        rest = self.text[self.at :]
        stop = (
            "+",
            "-",
            "=",
            "<",
            ">",
            ",",
            ";",
            "}",
            "]",
            "&",
            r"\right",
            r"\Bigr",
            ")",
            r"\to",
            r"\quad",
            r"\qquad",
            r"\pm",
            r"\leq",
            r"\geq",
            r"\neq",
            r"\text",
            r"\\",
            "/",
        )
        return self.at < self.stop and bool(rest) and not rest.startswith((*stop, r"\end"))

    def power(self) -> Node:
        base = self.atom()
        while True:
            if self.take("^"):
                exponent = self.braced()
                base = lambda env, a=base, n=exponent: _power(a(env), n(env))  # noqa: E731
            elif self.take("!!"):
                base = lambda env, a=base: mp.fac2(a(env))  # noqa: E731
            elif self.take("!"):
                base = lambda env, a=base: mp.factorial(a(env))  # noqa: E731
            elif self.take("_{+}"):
                base = lambda env, a=base: max(a(env), 0)  # noqa: E731
            else:
                return base

    def braced(self) -> Node:
        self.need("{")
        inner = self.sum()
        if self.take("/"):
            top, bottom = inner, self.sum()
            inner = lambda env: mp.mpf(top(env)) / bottom(env)  # noqa: E731
        self.need("}")
        return inner

    # -- atoms

    def atom(self) -> Node:
        self.space()
        number = re.compile(r"\d+(\.\d+)?").match(self.text, self.at)
        if number:
            self.at = number.end()
            return lambda env, v=number[0]: mp.mpf(v)
        for head in (self._unnamed, self._symbol, self._bracket, self._root, self._big, self._function, self._constant):
            node = head()
            if node is not None:
                return node
        if self.take("{"):
            inner = self.sum()
            self.need("}")
            return inner
        raise Unreadable(f"unexpected {self.text[self.at : self.at + 60]!r} in {self.text!r}")

    def _unnamed(self) -> Node | None:
        """An unnamed function, perhaps with primes or a power; its partial derivative; a sequence; an expectation."""
        self.space()
        if self.take(r"\mathbb{E}\left["):
            inner = self.sum()
            self.need(r"\right]")
            return lambda env: _mean(inner, env)
        derivative = re.compile(r"\\frac\{(?:d|\\partial)\}\{(?:d|\\partial) ([^{}]+(?:_\{\w+\})?)\}").match(
            self.text, self.at
        )
        if derivative:
            self.at = derivative.end()
            return self._function_of(derivative[1])
        for name in self.sequences:
            base, star, above = name.partition("^")
            if self.peek(base + "_{"):
                start = self.at
                self.need(base + "_{")
                index = self.sum()
                self.need("}")
                if self.take(star + above):
                    return lambda env, n=name, i=index: latex_samples.member(n, i(env))
                self.at = start
        return self._function_of(None)

    def _function_of(self, variable: str | None) -> Node | None:
        for name in self.functions:
            self.space()
            start, bracketed = self.at, rf"\left({name}\right)"
            if not self.take(name) and not (self.peek(bracketed + "^") and self.take(bracketed)):
                continue
            order: Node = lambda env: 0  # noqa: E731
            power: Node | None = None
            primes = re.compile(r"\^\{((?:\\prime)+)\}").match(self.text, self.at)
            if primes:
                self.at = primes.end()
                count = primes[1].count("prime")
                order = lambda env, n=count: n  # noqa: E731
            elif self.peek(r"^{\left("):
                order = self.braced_after_hat()
            elif self.peek("^{"):
                power = self.braced_after_hat()
            if not self.take(r"\left("):
                self.at = start
                continue
            places, arguments = [], []
            while True:
                self.space()
                before = self.at
                arguments.append(self.sum())
                places.append(self.text[before : self.at].strip())
                if not self.take(","):
                    break
            self.need(r"\right)")

            return _applied_to(name, arguments, order if variable is None else places.index(variable), power)
        return None

    def braced_after_hat(self) -> Node:
        """The exponent after a hat."""
        self.need("^")
        return self.braced()

    def _symbol(self) -> Node | None:
        for name in self.names:
            if self.take(name):
                return lambda env, n=name: env[n]
        return None

    def _constant(self) -> Node | None:
        for name, value in CONSTANTS.items():
            if self.take(name):
                return lambda env, v=value: +v
        return None

    def _bracket(self) -> Node | None:
        for opening, closing, function in (
            (r"\left(", r"\right)", lambda v: v),
            (r"\left[", r"\right]", lambda v: v),
            (r"\Bigl(", r"\Bigr)", lambda v: v),
            ("(", ")", lambda v: v),
            (r"\left|", r"\right|", abs),
            (r"\left\lfloor", r"\right\rfloor", mp.floor),
            (r"\left\lceil", r"\right\rceil", mp.ceil),
        ):
            if self.take(opening):
                inner = self.sum()
                self.need(closing)
                return lambda env, f=function, a=inner: f(a(env))
        return None

    def _root(self) -> Node | None:
        if self.take(r"\frac"):
            top, bottom = self.braced(), self.braced()
            return lambda env: mp.mpmathify(top(env)) / bottom(env)
        if self.take(r"\sqrt"):
            inner = self.braced()
            return lambda env: mp.sqrt(inner(env))
        if self.take(r"{\binom") or self.take(r"\binom"):
            n, k = self.braced(), self.braced()
            self.take("}")
            return lambda env: mp.binomial(n(env), k(env))
        return None

    def _big(self) -> Node | None:
        if self.take(r"\begin{cases}"):
            return self._cases()
        if self.take(r"\sum"):
            variables = self._limits()
            body = self.product()
            return lambda env: _summed(body, variables, dict(env))
        if self.take(r"\lim_{"):
            (variable,) = [name for name in ("k", "m") if self.take(name)]
            self.names = sorted({*self.names, variable}, key=len, reverse=True)
            self.need(r"\to")
            self.need(r"\infty")
            self.need("}")
            body = self.product()
            return lambda env: body({**env, variable: mp.mpf(10) ** 5})
        if self.take(r"\int\limits"):
            self.need("_")
            low = self.braced()
            self.need("^")
            high = self.braced()
            # The variable is named at the end: \, dNAME; of several integrals the outermost comes last.
            inner = re.compile(r"(?:\\int\\limits_\{[^{}]*\}\^\{[^{}]*\}\s*)*").match(self.text, self.at)
            assert inner
            ends = re.compile(r"\\, d((?:\\[a-z]+|[a-zA-Z])(?:_\{\d+\})?)").finditer(self.text, self.at)
            end = list(ends)[inner[0].count("int")]
            name, before = end[1], self.stop
            self.names = sorted({*self.names, name}, key=len, reverse=True)
            self.stop = end.start()
            body = self.sum()
            self.stop = before
            self.space()
            self.need("d")
            self.need(name)
            return lambda env: quadrature(lambda x: body({**env, name: x}), low(env), high(env))
        return None

    def _limits(self) -> list[tuple[str, Node, Node]]:
        self.need("_{")
        name = re.compile(r"(\\[a-z]+|[a-zA-Z])").match(self.text, self.at)
        if name is None:
            raise Unreadable("a sum without its variable")
        self.at = name.end()
        self.names = sorted({*self.names, name[1]}, key=len, reverse=True)
        self.need("=")
        low = self.sum()
        self.need("}")
        self.need("^")
        return [(name[1], low, self.braced())]

    def _cases(self) -> Node:
        rows: list[tuple[Node, Node]] = []
        while True:
            value = self.sum()
            self.need("&")
            rows.append((value, self._condition()))
            if not self.take(r"\\"):
                break
        self.need(r"\end{cases}")

        def choose(env: Mapping[str, Value]) -> Value:
            return next(value(env) for value, holds in rows if holds(env))

        return choose

    def _condition(self) -> Node:
        if self.take(r"\text{otherwise}"):
            return lambda env: True
        self.need(r"\text{for }")
        parts, joint = [self._relation()], ""
        while self.peek(r"\text{ and }") or self.peek(r"\text{ or }"):
            joint = self.any(r"\text{ and }", r"\text{ or }")
            parts.append(self._relation())
        combine = any if joint == r"\text{ or }" else all
        return lambda env: combine(part(env) for part in parts)

    def _relation(self) -> Node:
        left = self.sum()
        sign = self.any("=", r"\leq", r"\geq", "<", ">", r"\neq")
        right = self.sum()
        test = {
            "=": lambda a, b: a == b,
            "<": lambda a, b: a < b,
            ">": lambda a, b: a > b,
            r"\leq": lambda a, b: a <= b,
            r"\geq": lambda a, b: a >= b,
            r"\neq": lambda a, b: a != b,
        }[sign]
        return lambda env: test(left(env), right(env))

    def _function(self) -> Node | None:
        if self.take(r"\mathbf{1}\left\{"):
            holds = self._relation()
            self.need(r"\right\}")
            return lambda env: mp.mpf(holds(env))
        if self.take(r"\mathrm{He}_"):
            k = self.braced()
            return self._applied(lambda x, env: _hermite(k(env), x[0]))
        if self.take(r"\delta_{"):
            left = self.atom()
            self.take(",")
            right = self.atom()
            self.need("}")
            return lambda env: mp.mpf(left(env) == right(env))
        if self.take("h_"):
            k = self.braced()
            return self._applied(lambda x, env: _hermite(k(env), x[0]) / mp.sqrt(mp.factorial(k(env))))
        if self.take(r"C_"):
            n = self.braced()
            self.need("^{")
            a = self.atom()
            self.need("}")
            return self._applied(lambda x, env: mp.gegenbauer(n(env), a(env), x[0]))
        for name in sorted(FUNCTIONS, key=len, reverse=True):
            if self.take(name):
                return self._applied(lambda x, env, f=FUNCTIONS[name]: f(*x))
        return None

    def _applied(self, function: Callable[..., Value]) -> Node:
        exponent = self.braced() if self.take("^") else None
        braces = self.take("{")
        self.any(r"\left(", "(")
        arguments = [self.sum()]
        while self.take(",") or self.take(";"):
            arguments.append(self.sum())
        self.any(r"\right)", ")")
        if braces:
            self.need("}")

        def value(env: Mapping[str, Value]) -> Value:
            result = function([a(env) for a in arguments], env)
            return result if exponent is None else result ** exponent(env)

        return value


def _applied_to(name: str, arguments: list[Node], derivative: Node | int, power: Node | None) -> Node:
    """An unnamed function; `derivative` is the order of one in its only argument, or the place of a partial one."""

    def function(env: Mapping[str, Value]) -> Value:
        orders = {derivative: 1} if isinstance(derivative, int) else {0: derivative(env)}
        result = latex_samples.value(name, [a(env) for a in arguments], orders)
        return result if power is None else result ** power(env)

    return function


def _mean(inner: Node, env: Mapping[str, Value]) -> Value:
    total = mp.mpf(0)
    for i, weight in enumerate(latex_samples.WEIGHTS):
        at = {x: mp.mpf(values[i].numerator) / values[i].denominator for x, values in latex_samples.RANDOM.items()}
        total += mp.mpf(weight.numerator) / weight.denominator * inner({**env, **at})
    return total


def quadrature(f: Callable[[Value], Value], low: Value, high: Value) -> Value:
    """An integral; over the whole line by the trapezoidal rule, which is exact to all digits for Gaussian tails."""
    if low == -mp.inf and high == mp.inf:
        step = mp.mpf(1) / 4
        return step * mp.fsum(f(step * i) for i in range(-44, 45))
    return mp.quad(f, [low, *([0] if low < 0 < high else []), high])


def _power(base: Value, exponent: Value) -> Value:
    if exponent == int(mp.re(exponent)) and mp.im(exponent) == 0:
        exponent = int(mp.re(exponent))
    return base**exponent


def _summed(body: Node, variables: list[tuple[str, Node, Node]], env: dict[str, Value]) -> Value:
    ((name, low, high),) = variables
    first, last = low(env), high(env)
    if mp.isinf(last):
        # A quickly falling series is added up (with gaps, which an extrapolation would not survive).
        terms = [body({**env, name: mp.mpf(int(first) + j)}) for j in range(MANY)]
        if max(map(abs, terms[-2:])) <= mp.mpf(10) ** -mp.mp.dps * max(map(abs, terms)):
            return mp.fsum(terms)
        return mp.nsum(lambda j: body({**env, name: j}), [first, mp.inf])
    return mp.fsum(body({**env, name: mp.mpf(j)}) for j in range(int(first), int(last) + 1))
