"""Ball arithmetic: SymPy expressions evaluated, and integrated, with rigorous error bounds (python-flint).

The only module that sets flint's working precision, which is global to a process: threads wait for one another
(workers are processes), and it is restored on the way out.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import acb, arb, ctx, fmpq, fmpz_poly

from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError

Function = Callable[[Any, bool], Any]  # (acb, analytic) -> acb, as acb.integral wants it

GUARD_BITS = 32
MAX_BITS = 400_000
MAX_EXPONENT = 2_000_000  # of two, in values that are printed
_SIMPLIFY_BITS = 2**14  # SymPy takes seconds to see that a small number (a tail of the Gaussian) is not zero


def bits(digits: int) -> int:
    """Working bits for so many decimal digits, guard bits included."""
    return int(digits * 3.3219280948873626) + GUARD_BITS


_LOCK = threading.RLock()


@contextmanager
def precision(prec: int) -> Iterator[None]:
    """Flint's working precision in bits; it belongs to the whole process, so that one thread at a time works in it."""
    with _LOCK, ctx.workprec(prec):
        yield


def fraction(x: Any) -> Fraction:
    """The exact value of a dyadic midpoint or radius."""
    man, exp = x.man_exp()
    man, exp = int(man), int(exp)
    return Fraction(man) * (Fraction(2) ** exp) if man else Fraction(0)


def to_enclosure(x: Any, source: str = "ball") -> Enclosure:
    """An arb as an Enclosure.

    Errors: PrecisionError if it is not finite, or too small for its digits; InputError if it is too large for them.
    """
    if not x.is_finite():
        raise PrecisionError("the value could not be enclosed by a finite ball")
    if abs(x) < arb(2) ** -MAX_EXPONENT and not x.is_zero():
        tiny = Enclosure(Fraction(0), Fraction(1, 2**MAX_EXPONENT), source)
        raise PrecisionError(f"the value is below 2^-{MAX_EXPONENT}; its digits are not computed", tiny)
    if abs(x) >= arb(2) ** MAX_EXPONENT:
        raise InputError("value", f"beyond 2^{MAX_EXPONENT}, too large for decimal digits", "scale the input down")
    if not settled(x):
        raise PrecisionError(f"the value could not be enclosed by a ball below 2^{MAX_EXPONENT}")
    return Enclosure(fraction(x.mid()), fraction(x.rad()), source)


def settled(x: Any) -> bool:
    """Whether a ball is finite and on one side of the largest number that is printed.

    One on both sides says nothing of the value's size: huge terms cancel, and more bits are needed.
    """
    largest = arb(2) ** MAX_EXPONENT
    return bool(x.is_finite() and (abs(x) < largest or abs(x) >= largest))


def rational(x: sp.Rational | Fraction | int) -> Any:
    """An exact rational as a ball."""
    if isinstance(x, sp.Rational):
        return arb(fmpq(int(x.p), int(x.q)))
    f = Fraction(x)
    return arb(fmpq(f.numerator, f.denominator))


def _complex(x: Any, _: bool) -> Any:
    return x


def _atan(x: Any, analytic: bool) -> Any:
    # acb.atan takes no `analytic` flag; by logarithms the branch cuts are reported.
    ix = acb(0, 1) * x
    return ((1 - ix).log(analytic=analytic) - (1 + ix).log(analytic=analytic)) * acb(0, 1) / 2


def _asinh(x: Any, analytic: bool) -> Any:
    # acb.asinh takes no `analytic` flag; its cuts are where 1 + x^2 is negative, which the root reports.
    return x.asinh() if not analytic or (1 + x * x).sqrt(analytic=True).is_finite() else acb("nan")


def _real(name: str, of: Callable[[Any], Any]) -> Function:
    def apply(x: Any, analytic: bool) -> Any:
        if not x.imag.is_zero():
            raise InputError("expression", f"{name} of a complex ball", "resolve it before evaluating")
        return acb(of(x.real))

    return apply


def _sign(x: Any) -> Any:
    return x.sgn()


def _heaviside(x: Any) -> Any:
    return (x.sgn() + 1) / 2


def _double_factorial(x: Any) -> Any:
    # (2m-1)!! and (2m)!! differ by a factor; the argument is always a known integer here.
    n = x.unique_fmpz()
    if n is None:
        raise InputError("expression", "a double factorial of something that is no integer", "give an integer")
    n = int(n)
    if n % 2:  # negative odd arguments included: (-1)!! = 1, (-3)!! = -1
        return arb(2) ** ((arb(n) + 1) / 2) * rational(Fraction(n, 2) + 1).gamma() / arb.pi().sqrt()
    if n < 0:
        raise InputError("expression", f"{n}!! is not defined", "give a number >= -1")
    return arb(2) ** (n // 2) * rational(Fraction(n, 2) + 1).gamma()


_UNARY: dict[Any, Function] = {
    sp.exp: lambda x, _: x.exp(),
    sp.log: lambda x, analytic: x.log(analytic=analytic),
    sp.sin: lambda x, _: x.sin(),
    sp.cos: lambda x, _: x.cos(),
    sp.tan: lambda x, _: x.tan(),
    sp.cot: lambda x, _: x.cot(),
    sp.sec: lambda x, _: x.sec(),
    sp.csc: lambda x, _: x.csc(),
    sp.sinh: lambda x, _: x.sinh(),
    sp.cosh: lambda x, _: x.cosh(),
    sp.tanh: lambda x, _: x.tanh(),
    sp.coth: lambda x, _: x.coth(),
    sp.sech: lambda x, _: x.sech(),
    sp.csch: lambda x, _: x.csch(),
    sp.atan: _atan,
    sp.asin: _real("asin", lambda x: x.asin()),
    sp.acos: _real("acos", lambda x: x.acos()),
    sp.asinh: _asinh,
    sp.acosh: _real("acosh", lambda x: x.acosh()),
    sp.atanh: _real("atanh", lambda x: x.atanh()),
    sp.erf: lambda x, _: x.erf(),
    sp.erfc: lambda x, _: x.erfc(),
    sp.erfi: lambda x, _: x.erfi(),
    sp.erfinv: _real("erfinv", lambda x: x.erfinv()),
    sp.gamma: lambda x, _: x.gamma(),
    sp.loggamma: lambda x, _: x.lgamma(),
    sp.factorial: lambda x, _: (x + 1).gamma(),
    sp.factorial2: _real("factorial2", _double_factorial),
    sp.digamma: lambda x, _: x.digamma(),
    sp.Abs: _real("Abs", abs),
    sp.sign: _real("sign", _sign),
    sp.floor: _real("floor", lambda x: x.floor()),
    sp.ceiling: _real("ceiling", lambda x: x.ceil()),
    sp.re: lambda x, _: acb(x.real),
    sp.im: lambda x, _: acb(x.imag),
}

_CONSTANTS: dict[Any, Callable[[], Any]] = {
    sp.pi: lambda: acb(arb.pi()),
    sp.E: lambda: acb(arb(1).exp()),
    sp.I: lambda: acb(0, 1),
    sp.EulerGamma: lambda: acb(arb.const_euler()),
    sp.GoldenRatio: lambda: acb((1 + arb(5).sqrt()) / 2),
    sp.Catalan: lambda: acb(arb.const_catalan()),
}

Env = Mapping[sp.Symbol, Any]  # exact values; a ball for a constant that is known by an enclosure


def real_roots(coefficients: tuple[int, ...]) -> list[Any]:
    """Disjoint balls around the real roots of an integer polynomial (descending coefficients), in increasing order.

    Valid for: every integer polynomial; a multiple root is listed once.
    Accuracy: certified isolation: one root in each ball, all of them together, at the working precision.
    """
    return list(_real_roots(coefficients, ctx.prec))


@functools.lru_cache(maxsize=512)
def _real_roots(coefficients: tuple[int, ...], _: int) -> tuple[Any, ...]:
    found = [root.real for root, _ in fmpz_poly(list(reversed(coefficients))).complex_roots() if root.imag.is_zero()]
    return tuple(sorted(found, key=lambda x: fraction(x.mid())))


def _real_root(root: sp.CRootOf) -> Any:
    """SymPy numbers the real roots first, in increasing order."""
    found = real_roots(tuple(int(c) for c in root.poly.all_coeffs()))
    if root.index >= len(found):
        raise InputError("expression", f"{root} is not real", "give a real expression")
    return found[root.index]


def _lift(f: Function, x: Any) -> Any:
    if isinstance(x, acb):
        return f(x, False)
    return lambda z, analytic: f(x(z, analytic), analytic)


def _condition(condition: Any, env: Env) -> bool:
    """Decide a condition on constants; undecided is an error, never a guess."""
    value = condition.subs(dict(env)) if env else condition
    if value in (sp.true, True):
        return True
    if value in (sp.false, False):
        return False
    if isinstance(value, sp.And):
        return all(_condition(a, {}) for a in value.args)
    if isinstance(value, sp.Or):
        return any(_condition(a, {}) for a in value.args)
    if isinstance(value, sp.Not):
        return not _condition(value.args[0], {})
    if isinstance(value, sp.core.relational.Relational):
        gap = build(value.lhs - value.rhs, None, {})
        if isinstance(gap, acb):
            g = gap.real
            if isinstance(value, sp.Gt | sp.Ge) and (g > 0 or g < 0):
                return bool(g > 0)
            if isinstance(value, sp.Lt | sp.Le) and (g > 0 or g < 0):
                return bool(g < 0)
            if isinstance(value, sp.Eq | sp.Ne) and not g.contains(0):
                return isinstance(value, sp.Ne)
    raise InputError("expression", f"the condition {value} cannot be decided", "resolve it before evaluating")


def build(expr: sp.Expr, variable: sp.Symbol | None, env: Env) -> Any:
    """Compile an expression at the current working precision: an acb if it is constant, else a Function of z.

    `env` gives exact values of further symbols (the index of a sum, k of a general term); they enter conditions and
    powers exactly. What occurs twice is evaluated once a place. Errors: InputError for a head that ball arithmetic does
    not know.
    """
    return _node(expr, variable, env, {})


def _node(expr: sp.Expr, variable: sp.Symbol | None, env: Env, seen: dict[sp.Expr, Any]) -> Any:
    """`build` with the nodes built so far."""
    if expr in seen:
        return seen[expr]
    found = _built(expr, variable, env, seen)
    if not isinstance(found, acb) and found is not _complex:
        found = seen[expr] = _once(found)
    return found


def _once(f: Function) -> Function:
    """f, not evaluated again at the place where it was last: the next addend that holds it asks at the same one."""
    last: list[Any] = [(None, False, 0, None)]

    def evaluate(z: Any, analytic: bool) -> Any:
        at, how, prec, value = last[0]  # one tuple, so that threads see a whole one
        if at is z and how == analytic and prec == ctx.prec:
            return value
        value = f(z, analytic)
        last[0] = (z, analytic, ctx.prec, value)
        return value

    return evaluate


def _built(expr: sp.Expr, variable: sp.Symbol | None, env: Env, seen: dict[sp.Expr, Any]) -> Any:
    if expr.is_Rational:
        return acb(rational(expr))
    if isinstance(expr, sp.Symbol):
        if expr == variable:
            return _complex
        if expr in env:
            value = env[expr]
            return acb(value if isinstance(value, arb) else rational(value))
        raise InputError("expression", f"the symbol {expr} has no value", "give it one")
    if expr in _CONSTANTS:
        return _CONSTANTS[expr]()
    if isinstance(expr, sp.CRootOf):
        return acb(_real_root(expr))
    head = expr.func
    if head in (sp.Add, sp.Mul):
        return _fold(head, [_node(a, variable, env, seen) for a in expr.args])
    if head is sp.Pow:
        return _power(expr, variable, env, seen)
    if head is sp.exp:
        return _lift(_UNARY[sp.exp], _node(expr.args[0], variable, env, seen))
    if head in _UNARY:
        return _lift(_UNARY[head], _node(expr.args[0], variable, env, seen))
    return _special(expr, variable, env)


def apply(head: Any, values: list[Any]) -> Any:
    """A smooth SymPy function of real balls, as a real ball; a complex value is not a number."""
    if head is sp.Add or head is sp.Mul:
        nodes: list[Any] = [acb(v) for v in values]
        return _fold(head, nodes).real
    if head is sp.Pow:
        value = acb(0) if values[0].is_zero() and values[1] > 0 else acb(values[0]).pow(acb(values[1]))
    elif head in _UNARY:
        value = _UNARY[head](acb(values[0]), False)
    else:
        raise InputError(
            "expression", f"ball arithmetic does not know {head.__name__}", "rewrite it in known functions"
        )
    return value.real if value.imag.contains(0) else arb("nan")


def _fold(head: Any, nodes: list[Any]) -> Any:
    constants = [n for n in nodes if isinstance(n, acb)]
    functions = [n for n in nodes if not isinstance(n, acb)]
    add = head is sp.Add
    constant = acb(0 if add else 1)
    for n in constants:
        constant = constant + n if add else constant * n
    if not functions:
        return constant
    neutral = not constants

    def evaluate(z: Any, analytic: bool) -> Any:
        total = functions[0](z, analytic)
        for f in functions[1:]:
            total = total + f(z, analytic) if add else total * f(z, analytic)
        if neutral:
            return total
        return total + constant if add else total * constant

    return evaluate


def _power(expr: sp.Pow, variable: sp.Symbol | None, env: Env, seen: dict[sp.Expr, Any]) -> Any:
    base, exponent = expr.args
    if env and exponent.free_symbols:
        exponent = exponent.subs(dict(env))
    if base is sp.E:
        return _lift(_UNARY[sp.exp], _node(exponent, variable, env, seen))
    b = _node(base, variable, env, seen)
    if exponent.is_Integer:
        n = int(exponent)
        return _lift(lambda x, _: x**n, b)
    if not isinstance(b, acb) and exponent.is_Rational and exponent > 0:
        return _lift(lambda x, analytic: _raised(x, exponent, analytic), b)
    if exponent == sp.Rational(1, 2):
        return _lift(lambda x, analytic: x.sqrt(analytic=analytic), b)
    if exponent.is_Rational and exponent.q == 2:
        n = int(exponent.p)
        return _lift(lambda x, analytic: x.sqrt(analytic=analytic) ** n, b)
    e = _node(exponent, variable, env, seen)
    if isinstance(e, acb):
        return _lift(lambda x, analytic: x.pow(e, analytic=analytic), b)

    def evaluate(z: Any, analytic: bool) -> Any:
        x = b if isinstance(b, acb) else b(z, analytic)
        return x.pow(e(z, analytic), analytic=analytic)

    return evaluate


def _raised(x: Any, exponent: sp.Rational, analytic: bool) -> Any:
    """x^e for rational e > 0, on a ball that holds zero too: there |x^e| = |x|^e, which shrinks as the ball does."""
    if x.contains(0) and not analytic:
        if x.is_zero():
            return acb(0)
        size = arb(0, (abs(x).upper().log() * rational(exponent)).exp().upper())
        return acb(size, size)
    if exponent.q == 2:
        return x.sqrt(analytic=analytic) ** int(exponent.p)
    return x.pow(acb(rational(exponent)), analytic=analytic)


def _integer(expr: sp.Expr, env: Env) -> int:
    value = expr.subs(dict(env)) if env else expr
    if not value.is_Integer:
        raise InputError("expression", f"{value} is no integer", "give an integer")
    return int(value)


def _special(expr: sp.Expr, variable: sp.Symbol | None, env: Env) -> Any:
    head = expr.func
    args = expr.args
    if head is sp.hermite_prob:
        n = _integer(args[0], env)
        x = build(args[1], variable, env)
        return _lift(lambda t, _: (t / arb(2).sqrt()).hermite_h(n) / arb(2).sqrt() ** n, x)
    if head is sp.Piecewise:
        for value, condition in args:
            if _condition(condition, env):
                return build(value, variable, env)
        raise InputError("expression", "no branch of a Piecewise holds", "complete it")
    if head is sp.Sum:
        ((index, lower, upper),) = args[1:]
        first, last = _integer(lower, env), _integer(upper, env)
        terms = [build(args[0], variable, {**env, index: sp.Integer(i)}) for i in range(first, last + 1)]
        return _fold(sp.Add, terms) if terms else acb(0)
    if head is sp.Mod:
        a, b = (arg.subs(dict(env)) if env else arg for arg in args)
        return build(sp.Mod(a, b), None, {}) if not (a.is_Rational and b.is_Rational) else acb(rational(a % b))
    if head is sp.Heaviside:
        return _lift(_real("Heaviside", _heaviside), build(args[0], variable, env))
    if head in (sp.Max, sp.Min):
        nodes = [build(a, variable, env) for a in args]
        if all(isinstance(n, acb) and n.imag.is_zero() for n in nodes):
            value = nodes[0].real
            for n in nodes[1:]:
                value = value.max(n.real) if head is sp.Max else value.min(n.real)
            return acb(value)
    if head in (sp.uppergamma, sp.lowergamma):
        s, x = build(args[0], None, env), build(args[1], None, env)
        upper = x.gamma_upper(s)
        return upper if head is sp.uppergamma else s.gamma() - upper
    if head is sp.binomial:
        n, r = build(args[0], None, env), build(args[1], None, env)
        return (n + 1).gamma() * (r + 1).rgamma() * (n - r + 1).rgamma()
    if head is sp.hyper and len(args[0]) == 2 and len(args[1]) == 1:
        a, b, c, x = (build(arg, None, env) for arg in (*args[0], *args[1], args[2]))
        return x.hypgeom_2f1(a, b, c)
    if head is sp.rf:
        x, n = build(args[0], None, env), build(args[1], None, env)
        return (x + n).gamma() * x.rgamma()
    if head is sp.beta:
        x, y = build(args[0], None, env), build(args[1], None, env)
        return x.gamma() * y.gamma() * (x + y).rgamma()
    if head is sp.re or head is sp.im:
        return _lift(_UNARY[head], build(args[0], variable, env))
    if hasattr(head, "enclose"):  # a function class of our own brings its ball evaluation
        return acb(head.enclose(*(build(a, None, env).real for a in args)))
    raise InputError("expression", f"ball arithmetic does not know {head.__name__}", "rewrite it in known functions")


def constant(expr: sp.Expr, env: Env | None = None) -> Any:
    """A real constant expression as an arb at the current working precision."""
    value = build(sp.sympify(expr, strict=True), None, env or {})
    if not isinstance(value, acb):
        raise InputError("expression", "it is not constant", "give every symbol a value")
    if not value.imag.contains(0):
        raise InputError("expression", f"{expr} is not real", "give a real expression")
    return value.real


def sign(expr: sp.Expr) -> int:
    """The sign (-1, 0 or 1) of a real constant expression, decided rigorously.

    Errors: PrecisionError if it is zero to 2000 digits but not provably.
    """
    if expr.is_Rational:
        return int(sp.sign(expr))
    for digits in (20, 80, 320, 1300):
        with precision(bits(digits)):
            value = constant(expr)
            if value > 0:
                return 1
            if value < 0:
                return -1
        if digits == 80 and sp.simplify(expr) == 0:
            return 0
    raise PrecisionError(f"the sign of {expr} could not be decided")


def enclose_expr(expr: sp.Expr, digits: int, env: Env | None = None, most: int = MAX_BITS) -> Enclosure:
    """A constant expression to a relative error below 10^-digits (a value of exactly zero is recognised).

    `most`: bits to work with at most.
    Errors: InputError for an unknown head; PrecisionError (with the best enclosure) where the digits are not reached.
    """
    if expr.is_Rational and not env:
        return Enclosure(Fraction(int(expr.p), int(expr.q)), Fraction(0), "exact")
    prec, best, tried = bits(digits + 5), None, False
    while prec <= most:
        with precision(prec):
            value = constant(expr, env)
            if settled(value):
                best = to_enclosure(value)
                if best.value == 0 and best.error == 0:
                    return best
                if not value.contains(0) and value.rel_accuracy_bits() >= bits(digits) - GUARD_BITS + 4:
                    return best
        if prec > max(20 * bits(digits), _SIMPLIFY_BITS) and not tried and best is not None and best.contains(0):
            tried = True
            if sp.simplify(expr) == 0:
                return Enclosure(Fraction(0), Fraction(0), "exact")
        prec *= 2
    raise PrecisionError(f"{digits} digits of {expr} could not be reached", best)


def integrate(f: Function, lower: Any, upper: Any, abs_tol: Any, limit: int = 200_000) -> Any:
    """The real part of the integral of an analytic function over a finite interval, as an arb with a rigorous radius.

    An exception in the callback would not stop the integral (and Ctrl-C would be lost): it is remembered, the callback
    returns nan from then on, and it is raised afterwards.
    """
    raised: list[BaseException] = []

    def guarded(z: Any, analytic: bool) -> Any:
        if raised:
            return acb("nan")
        try:
            return f(z, analytic)
        except BaseException as error:
            raised.append(error)
            return acb("nan")

    # acb.integral's relative tolerance is switched off by making it as small as the working precision.
    value = acb.integral(guarded, acb(lower), acb(upper), abs_tol=abs_tol, eval_limit=limit)
    if raised:
        raise raised[0]
    return value.real
