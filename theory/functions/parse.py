"""Reading what a user types: exact numbers, and expressions in z over a whitelist of Python's syntax tree.

Nothing is ever evaluated as code. Length, nesting, powers and the size of the expanded expression are capped before
SymPy computes anything, so that unusable input costs no time.
"""

from __future__ import annotations

import ast
import difflib
import keyword
import os
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import TypeAlias

import sympy as sp
from flint import arb

from bulkedge.theory.functions import catalogue
from bulkedge.theory.functions.size import MAX_BITS, MAX_DEGREE, SizeError, bits, check_power, measure
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z

MAX_LENGTH = 2000  # characters of an expression
MAX_NUMBER = 400  # characters of a number
MAX_EXPONENT = 1200  # of ten
MAX_DEPTH = 60  # levels of nesting (chains of + - * / count once)
_MAX_INNER = 250  # terms of an argument that is no polynomial: SymPy compares them with one another
_MAX_TANH = 6  # levels of tanh (also within sigmoid, silu, mish): SymPy takes three times as long for each
_MAX_TANH_OPERATIONS = 12  # of an argument with that many levels
MAX_KINKED = 32  # occurrences of Abs, sign, Heaviside, Piecewise, and arguments of Max, Min beyond the first
_GUARD_BITS = 64  # of the balls that guards look at
_MAX_EXP_ARGUMENT = 10**6  # constants under exp, sinh, cosh

Numeric: TypeAlias = str | int | float | Fraction | sp.Rational

_DECIMAL = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"([+-]?)\s*({_DECIMAL})(?:\s*/\s*({_DECIMAL}))?")
_FORMS = 'give an integer, a decimal, a fraction "a/b" or "1e-3"'

# What is evaluated in floats: powers up to the sixth stay within double precision.
SMALLEST, LARGEST = sp.Rational(1, 10**50), sp.Integer(10**50)


def number(
    text: Numeric,
    argument: str,
    *,
    minimum: int | Fraction | sp.Rational | None = None,
    maximum: int | Fraction | sp.Rational | None = None,
    exclusive: bool = False,
    sized: bool = False,
) -> sp.Rational:
    """The exact rational that `text` spells: an integer, a decimal, a fraction, with or without an exponent.

    Valid for: numbers, and strings of at most 400 characters and exponents of at most 1200; a Python float means the
    decimal that it prints as. `exclusive` makes the bounds strict; `sized` asks for 0 or a size within 1e-50..1e50, as
    what is evaluated in floats needs it (numerics.trials.domain).
    Errors: InputError, naming `argument`.
    """
    value = _exact(text, argument)
    low, high = minimum is not None, maximum is not None
    if low and (value < minimum or (exclusive and value == minimum)):
        raise InputError(argument, f"{shorten(text)} is too small", _range_remedy(minimum, maximum, exclusive))
    if high and (value > maximum or (exclusive and value == maximum)):
        raise InputError(argument, f"{shorten(text)} is too large", _range_remedy(minimum, maximum, exclusive))
    if sized and value != 0 and not SMALLEST <= abs(value) <= LARGEST:
        side = "small" if abs(value) < 1 else "large"
        raise InputError(argument, f"{shorten(text)} is too {side}", "stay within 1e-50..1e50")
    return value


def positive(text: Numeric, argument: str, *, sized: bool = False) -> sp.Rational:
    """An exact number > 0."""
    return number(text, argument, minimum=0, exclusive=True, sized=sized)


def nonnegative(text: Numeric, argument: str, *, sized: bool = False) -> sp.Rational:
    """An exact number >= 0."""
    return number(text, argument, minimum=0, sized=sized)


def constant(text: Numeric | sp.Expr, argument: str, *, exclusive: bool = False) -> sp.Expr:
    """A number >= 0 (`exclusive`: > 0) that need not be rational: also an expression without z, such as 3*sqrt(2)/2.

    Errors: InputError, naming `argument`.
    """
    if isinstance(text, str) and ("sqrt" in text or "*" in text):
        value = expression(text, argument)
    elif isinstance(text, sp.Expr) and not text.is_Rational:
        value = text
    else:
        return number(text, argument, minimum=0, exclusive=exclusive)
    remedy = "give a number, or an expression such as 3*sqrt(2)/2"
    if value.free_symbols or not value.is_real or value.has(sp.Float):
        raise InputError(argument, f"{shorten(text)} is no exact number", remedy)
    if not (value.is_positive or (value.is_zero and not exclusive)):
        raise InputError(argument, f"{shorten(text)} is too small", _range_remedy(0, None, exclusive))
    return value


def integer(text: Numeric, argument: str, minimum: int | None = None, maximum: int | None = None) -> int:
    """An exact integer, also spelt "3.0" or "1e3"."""
    value = number(text, argument)
    if value.q != 1:
        raise InputError(argument, f"{shorten(text)} is not an integer", "give an integer")
    number(text, argument, minimum=minimum, maximum=maximum)
    return int(value)


def choice(value: object, argument: str, allowed: Collection[str]) -> str:
    """One of the allowed words.

    Errors: InputError, with the nearest word.
    """
    if isinstance(value, str) and value in allowed:
        return str(value)
    near = difflib.get_close_matches(value, allowed, n=1) if isinstance(value, str) else []
    hint = f"did you mean {near[0]}?" if near else f"give one of {', '.join(allowed)}"
    raise InputError(argument, f"{shorten(value)} is not known", hint)


def flag(value: object, argument: str) -> bool:
    """True or False, also NumPy's."""
    if not isinstance(value, bool) and type(value).__name__ not in {"bool", "bool_"}:
        raise InputError(argument, f"{shorten(value)} is no truth value", "give True or False")
    return bool(value)


def path(value: object, argument: str) -> str:
    """A file's or folder's name."""
    name = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(argument, f"{shorten(value)} is no path", "give a file's name as a string or a Path")
    return name


def shorten(text: object) -> str:
    """What the user gave, on one line and short enough for a message."""
    shown = " ".join((repr(text) if isinstance(text, str) else str(text)).split())
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _exact(text: Numeric, argument: str) -> sp.Rational:
    if isinstance(text, bool):
        raise InputError(argument, f"{text} is not a number", _FORMS)
    if isinstance(text, sp.Rational):
        value = text
    elif isinstance(text, Integral):
        value = sp.Integer(int(text))
    elif isinstance(text, Fraction):
        value = sp.Rational(text.numerator, text.denominator)
    elif isinstance(text, Real | Decimal | sp.Float):
        return _exact(str(text), argument)
    elif isinstance(text, str):
        value = _read(text, argument)
    else:
        raise InputError(argument, f"a {type(text).__name__} is not a number", _FORMS)
    if not value.is_finite or bits(value) > MAX_BITS:
        raise InputError(argument, "the number is infinite or too long", f"use at most {MAX_NUMBER} digits")
    return value


def _read(text: str, argument: str) -> sp.Rational:
    if len(text) > MAX_NUMBER:
        raise InputError(argument, f"a number of {len(text)} characters is too long", f"use at most {MAX_NUMBER}")
    match = _NUMBER.fullmatch(text.strip(" "))
    if match is None:
        raise InputError(argument, f"{shorten(text)} is not a number", _FORMS)
    sign, top, bottom = match.groups()
    value = _decimal(top, argument)
    if bottom is not None:
        divisor = _decimal(bottom, argument)
        if divisor == 0:
            raise InputError(argument, f"{shorten(text)} divides by zero", _FORMS)
        value = value / divisor
    return -value if sign == "-" else value


def _decimal(text: str, argument: str) -> sp.Rational:
    """An unsigned decimal, exactly: digits * 10^exponent, with the exponent capped before the power is computed."""
    mantissa, _, exponent = text.lower().partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > MAX_EXPONENT):
        raise InputError(argument, f"the exponent of {shorten(text)} is too large", f"exponents go to {MAX_EXPONENT}")
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent or 0) - len(fraction)
    digits = int(whole + fraction)
    return sp.Rational(digits * 10 ** max(power, 0), 10 ** max(-power, 0))


def _range_remedy(minimum: object, maximum: object, exclusive: bool) -> str:
    less = "<" if exclusive else "<="
    left = f"{_round(minimum)} {less} " if minimum is not None else ""
    right = f" {less} {_round(maximum)}" if maximum is not None else ""
    return f"give a value with {left}value{right}"


def _round(bound: object) -> str:
    """A bound as it is written: a large power of ten by its exponent."""
    text = str(bound)
    return f"1e{len(text) - 1}" if len(text) > 7 and text.strip("0") == "1" else text


# Expressions ---------------------------------------------------------------------------------------------------------


def expression(text: str, argument: str = "FUNCTION", symbols: Mapping[str, sp.Symbol] | None = None) -> sp.Expr:
    """The SymPy expression in z that `text` spells; decimals are read exactly from the source text.

    Valid for: numbers, z, + - * / **, the functions of FUNCTIONS, He(k, z), Max, Min, Piecewise((expr, condition), ...,
    (expr, True)), pi, E, and the catalogue's names, alone ("relu") or with an argument and parameters
    ("leaky_relu(z, 1/5)"); `symbols` by their names. Polynomial degrees go to 1000 and the expanded expression to about
    as many terms.
    Errors: InputError, with a remedy; nothing is executed.
    """
    if not isinstance(text, str):
        raise InputError(argument, f"a {type(text).__name__} is not an expression", "give a string in z")
    if len(text) > MAX_LENGTH:
        raise InputError(argument, f"{len(text)} characters are too many", f"use at most {MAX_LENGTH}")
    text = text.strip(" \t\n")
    _check_characters(text, argument)
    tree = _syntax(text, argument)
    try:
        result = _Reader(text, argument, symbols).expression(tree)
        measure(result)
    except SizeError as error:
        raise InputError(argument, str(error), "use a smaller expression") from None
    except (TypeError, ValueError, ArithmeticError, NotImplementedError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(argument, f"{shorten(text)} has no meaning as a function of z", "check it") from None
    return result


_SPELLINGS = {
    "^": "write powers with **",
    "²": "write z**2",
    "³": "write z**3",
    "π": "write pi",
    "−": "write - (a plain minus sign)",
    "·": "write products with *",
    "×": "write products with *",
    "√": "write sqrt(...)",
}


def _check_characters(text: str, argument: str) -> None:
    if not text:
        raise InputError(argument, "the expression is empty", 'give a function of z, such as "tanh(2*z)"')
    for character in text:
        if character in _SPELLINGS:
            raise InputError(argument, f"{character!r} is not understood", _SPELLINGS[character])
        if not (" " <= character <= "~" or character in "\t\n") or character in "#\\`$?;":
            raise InputError(argument, f"the character {character!r} is not allowed", "use plain ASCII mathematics")
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_DEPTH:
            raise InputError(argument, "the parentheses are nested too deeply", f"nest at most {MAX_DEPTH} levels")


def _syntax(text: str, argument: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the syntax tree is only read, its warnings concern code that would run
            tree = ast.parse(f"({text})" if "\n" in text else text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        problem = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        hint = "write products with *, as in 2*z" if re.search(r"[0-9)]\s*[(a-zA-Z]", text) else "check the spelling"
        raise InputError(argument, f"{shorten(text)} is not an expression ({problem})", hint) from None
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise InputError(argument, "the expression is nested too deeply", f"nest at most {MAX_DEPTH} levels")
        chain = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
        for name, child in ast.iter_fields(node):
            free = chain and name == "left" and isinstance(child, ast.BinOp)
            for item in child if isinstance(child, list) else [child]:
                if isinstance(item, ast.AST):
                    stack.append((item, depth if free else depth + 1))  # type: ignore[arg-type]
    return tree


FUNCTIONS: dict[str, Callable[[sp.Expr], sp.Expr]] = {
    "exp": sp.exp,
    "log": sp.log,
    "sin": sp.sin,
    "cos": sp.cos,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "atan": sp.atan,
    "asinh": sp.asinh,
    "sqrt": sp.sqrt,
    "erf": sp.erf,
    "erfc": sp.erfc,
    "Phi": catalogue.normal_cdf,
    "Abs": catalogue.absolute,
    "sign": sp.sign,
    "Heaviside": catalogue.step,
}
_CONSTANTS = {"pi": sp.pi, "E": sp.E}
_COMPARISONS: dict[type[ast.cmpop], type[sp.core.relational.Relational]] = {
    ast.Lt: sp.Lt,
    ast.LtE: sp.Le,
    ast.Gt: sp.Gt,
    ast.GtE: sp.Ge,
}
_KINKED = {"Abs", "sign", "Heaviside", "Max", "Min", "Piecewise"}
_VARIABLE = "the variable is called z"
_REMEDIES = {
    **dict.fromkeys(["x", "X", "Z", "y", "t", "u", "s", "w"], _VARIABLE),
    **dict.fromkeys(["I", "j", "i"], "functions are real-valued"),
    "e": "write E, or exp(z)",
    "ln": "write log(z)",
    "max": "write Max(z, 0)",
    "min": "write Min(z, 1)",
    "tan": "it has poles, so it is not square integrable",
    "arctan2": "write atan(z)",
    "inf": "numbers are finite",
    "oo": "numbers are finite",
    "nan": "numbers are finite",
    "where": "write Piecewise((expr, z > 0), (expr, True))",
    "log10": "write log(z)/log(10)",
    "log2": "write log(z)/log(2)",
    "sech": "write 1/cosh(z)",
    "expit": "write sigmoid(z)",
    "cdf": "write Phi(z)",
    "sgn": "write sign(z)",
    "H": "write He(k, z), the probabilists' Hermite polynomial",
}
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Attribute: ("names with a dot are not understood", "write tanh(z), not np.tanh(z)"),
    ast.Subscript: ("indexing is not understood", "write a plain expression in z"),
    ast.Lambda: ("a lambda is not understood", "write a plain expression in z"),
    ast.IfExp: ("if ... else is not understood", "write Piecewise((expr, z > 0), (expr, True))"),
    ast.Compare: ("a comparison is not a number", "use it as a condition of Piecewise, or write Heaviside(z)"),
    ast.BoolOp: ("a condition is not a number", "use it inside Piecewise"),
    ast.Tuple: ("a tuple is not a number", "write decimals with a point, and pairs only inside Piecewise"),
}


class _Reader:
    """Turns a syntax tree into SymPy, node by node; whatever is not listed here is refused."""

    def __init__(self, text: str, argument: str, symbols: Mapping[str, sp.Symbol] | None = None) -> None:
        self.text = text if "\n" not in text else f"({text})"
        self.symbols = symbols or {}
        self.argument = argument
        self.kinked = 0

    def refusal(self, problem: str, remedy: str) -> InputError:
        return InputError(self.argument, problem, remedy)

    def source(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or ""

    def expression(self, node: ast.expr) -> sp.Expr:
        if isinstance(node, ast.BinOp):
            result = self.chain(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self.expression(node.operand)
            result = -inner if isinstance(node.op, ast.USub) else inner
        elif isinstance(node, ast.Constant):
            result = self.constant(node)
        elif isinstance(node, ast.Name):
            result = self.name(node.id)
        elif isinstance(node, ast.Call):
            result = self.call(node)
        else:
            problem, remedy = _REFUSED.get(
                type(node), (f"{shorten(self.source(node))} is not understood", "write a plain expression in z")
            )
            raise self.refusal(problem, remedy)
        if result.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise self.refusal(f"{shorten(self.source(node))} divides by zero or is infinite", "check it")
        if result.has(sp.I):
            raise self.refusal(f"{shorten(self.source(node))} is not real", "functions are real-valued")
        if result.is_Rational and bits(result) > MAX_BITS:
            raise self.refusal("a number in the expression is too large", "use smaller numbers")
        return result

    def constant(self, node: ast.Constant) -> sp.Expr:
        text = self.source(node)
        if isinstance(node.value, complex):
            raise self.refusal(f"{text} is imaginary", "functions are real-valued")
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise self.refusal(f"{shorten(text)} is not a number", "write a plain expression in z")
        return _read(text, self.argument)

    def name(self, name: str) -> sp.Expr:
        if name in self.symbols:
            return self.symbols[name]
        name = _spelling(name)
        if name == "z":
            return z
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        entry = catalogue.entry(name)
        if entry is not None:
            self.count_kink(name)
            return entry(z)
        if name in FUNCTIONS or name in {"He", "Max", "Min", "Piecewise"}:
            raise self.refusal(
                f"{name} needs an argument", f"write {name}(z)" if name in FUNCTIONS else f"write {name}(...)"
            )
        raise self.unknown(name)

    def unknown(self, name: str) -> InputError:
        declare = f"declare it, --positive {name} or --real {name} (in Python positive={name!r})"
        if name in _REMEDIES:
            remedy = _REMEDIES[name] + ("" if _REMEDIES[name] != _VARIABLE else f"; for a parameter {declare}")
            return self.refusal(f"{name} is not known here", remedy)
        names = [*catalogue.CATALOGUE, *catalogue.ALIASES, *FUNCTIONS, "He", "Max", "Min", "Piecewise", *_CONSTANTS]
        known = {known.lower(): known for known in reversed(names)}  # Abs and abs, step and Step: one name each
        if self.symbols or len(name) == 1:
            return self.refusal(f"{name} is not declared", declare)
        near = difflib.get_close_matches(name.lower(), known, n=3)
        listed = " or ".join(known[n] for n in near)
        hint = f"did you mean {listed}?" if near else f"known names: {', '.join(catalogue.CATALOGUE)}"
        return self.refusal(f"unknown name {shorten(name)}", hint)

    def chain(self, node: ast.BinOp) -> sp.Expr:
        """A chain of + - * / from the left, without recursion along it; powers go their own way."""
        spine: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            spine.append(left)
            left = left.left
        if not spine:
            return self.power(node)
        result = self.expression(left)
        for step in reversed(spine):
            right = self.expression(step.right)
            if isinstance(step.op, ast.Add):
                result = result + right
            elif isinstance(step.op, ast.Sub):
                result = result - right
            elif isinstance(step.op, ast.Mult):
                result = result * right
            else:
                if right == 0 or (not right.free_symbols and right.is_zero):
                    raise self.refusal(f"{shorten(self.source(step))} divides by zero", "check it")
                result = result / right
            if result.is_Rational and bits(result) > MAX_BITS:
                raise self.refusal("a number in the expression is too large", "use smaller numbers")
        return result

    def power(self, node: ast.BinOp) -> sp.Expr:
        if not isinstance(node.op, ast.Pow):
            if isinstance(node.op, ast.BitAnd | ast.BitOr):
                raise self.refusal("& and | join conditions", "put each comparison in parentheses, inside Piecewise")
            raise self.refusal(f"an operator of {shorten(self.source(node))} is not understood", "use + - * / and **")
        base, exponent = self.expression(node.left), self.expression(node.right)
        if not exponent.has(z) and self.letters(base, exponent):
            return self.power_of_letters(base, exponent)
        if exponent.has(z) and not _positive_constant(base):
            raise self.refusal("an exponent with z needs a positive constant below it", "write exp(exponent*log(base))")
        if not exponent.has(z) and not exponent.is_Rational and base.has(z):
            raise self.refusal("a power of z has a rational exponent", "write exp(exponent*log(base))")
        check_power(base, exponent)
        self.check_argument("a power", base)
        self.check_argument("a power", exponent)
        if exponent.is_Rational and exponent < 0 and not base.has(z) and base.is_zero:
            raise self.refusal(f"{shorten(self.source(node))} divides by zero", "check it")
        if not base.has(z) and not exponent.is_Integer and not (base.is_zero or _constant_ball(base) > 0):
            raise self.refusal("a root of a negative constant is not real", "functions are real-valued")
        if not (base.has(z) or exponent.has(z) or (base.is_Rational and exponent.is_Rational) or base.is_zero):
            size = _constant_ball(exponent) * abs(_constant_ball(base)).log()
            if not abs(size) < _MAX_EXP_ARGUMENT:
                raise self.refusal("a power of constants is too large", f"stay below exp({_MAX_EXP_ARGUMENT})")
        return base**exponent

    def letters(self, *values: sp.Expr) -> bool:
        """Whether there are symbols beside z."""
        return any(value.free_symbols - {z} for value in values)

    def power_of_letters(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        """A power in which symbols occur: of a base that is known to have one."""
        if exponent.is_Integer:
            check_power(base, exponent)
        elif base.has(z):
            raise self.refusal("a power of z has a rational exponent", "write exp(exponent*log(base))")
        elif not base.is_nonnegative:
            remedy = "declare its symbols positive, or square it"
            raise self.refusal(f"{shorten(base)} under a root or a power is not known to be positive", remedy)
        return base**exponent

    def call(self, node: ast.Call) -> sp.Expr:
        if not isinstance(node.func, ast.Name):
            if isinstance(node.func, ast.Attribute):
                raise self.refusal(*_REFUSED[ast.Attribute])
            raise self.refusal(
                f"{shorten(self.source(node))} is not a call of a known function", "write products with *"
            )
        name, args = _spelling(node.func.id), node.args
        if node.keywords:
            raise self.refusal("arguments with names are not understood", f"give them by position, {name}(z, 1/5)")
        if any(isinstance(a, ast.Starred) for a in args):
            raise self.refusal("starred arguments are not understood", f"write {name}(z)")
        self.count_kink(name, len(args) - 1 if name in {"Max", "Min"} else 1)
        if name == "Piecewise":
            return self.piecewise(args)
        if name == "He":
            return self.hermite(args)
        if name in {"Max", "Min"}:
            if len(args) < 2:
                raise self.refusal(f"{name} needs at least two arguments", f"write {name}(z, 0)")
            largest = catalogue.maximum if name == "Max" else catalogue.minimum
            return largest(*(self.comparable(name, self.expression(a)) for a in args))
        entry = catalogue.entry(name)
        if name in FUNCTIONS and (entry is None or not entry.parameters):
            if len(args) != 1:
                raise self.refusal(f"{name} takes one argument, not {len(args)}", f"write {name}(z)")
            return self.apply(name, self.expression(args[0]))
        if entry is None:
            if name in _CONSTANTS or name == "z":
                raise self.refusal(f"{name} is not a function", f"write {name}*(...) for a product")
            raise self.unknown(name)
        return self.catalogued(entry, args)

    def apply(self, name: str, value: sp.Expr) -> sp.Expr:
        if name in {"log", "sqrt"} and not value.has(z) and self.letters(value):
            if not (value.is_positive or (name == "sqrt" and value.is_nonnegative)):
                remedy = "declare its symbols positive"
                raise self.refusal(f"{shorten(value)} under {name} is not known to be positive", remedy)
        elif not value.has(z) and not self.letters(value):
            found = _constant_ball(value)
            if name in {"exp", "sinh", "cosh", "erf", "erfc", "Phi"} and not abs(found) < _MAX_EXP_ARGUMENT:
                raise self.refusal(f"{name} of a constant this large", f"stay below {name}({_MAX_EXP_ARGUMENT})")
            if name == "log" and not found > 0:
                raise self.refusal("the logarithm of a constant that is not positive", "functions are real-valued")
            if name == "sqrt" and not (value.is_zero or found > 0):
                raise self.refusal("the square root of a negative constant is not real", "functions are real-valued")
        if name == "Abs":
            return catalogue.absolute(self.comparable(name, value))
        self.check_argument(name, value)
        return FUNCTIONS[name](value)

    def comparable(self, name: str, value: sp.Expr) -> sp.Expr:
        """The value, if it may be subtracted from others."""
        if value.is_Add and len(value.args) > _MAX_INNER and not value.is_polynomial(z):
            raise self.refusal(f"an argument of {name} is too long a sum", f"use at most {_MAX_INNER} terms")
        return value

    def check_argument(self, name: str, value: sp.Expr) -> None:
        if not value.is_polynomial(z) and (_longest_sum(value) > _MAX_INNER or measure(value).terms > _MAX_INNER):
            raise self.refusal(f"the argument of {name} is too long a sum", f"use at most {_MAX_INNER} terms")
        # SymPy asks of every tanh whether its argument is real, and of that again: the longer the innermost argument,
        # the fewer levels it answers about in time.
        most = _MAX_TANH if value.count_ops() <= _MAX_TANH_OPERATIONS else 2
        if _levels(value, sp.tanh, {}) >= most:
            raise self.refusal("too many tanh inside one another", f"nest at most {most} levels")

    def catalogued(self, entry: catalogue.Entry, args: list[ast.expr]) -> sp.Expr:
        most = 1 + len(entry.parameters)
        if not 1 <= len(args) <= most:
            takes = "one argument" if most == 1 else f"1 to {most} arguments"
            raise self.refusal(f"{entry.name} takes {takes}, not {len(args)}", f"write {entry.usage}")
        values = [self.expression(a) for a in args]
        if entry.name != "abs":
            self.check_argument(entry.name, values[0])
        for parameter, value in zip(entry.parameters, values[1:], strict=False):
            if self.letters(value) and not value.has(z):
                if parameter.positive and not value.is_positive:
                    problem = f"the {parameter.name} of {entry.name}, {shorten(value)}, is not known to be positive"
                    raise self.refusal(
                        problem, f"declare its symbols, --positive {','.join(map(str, value.free_symbols))}"
                    )
                continue
            if not value.is_Rational:
                raise self.refusal(f"the {parameter.name} of {entry.name} is not a number", f"write {entry.usage}")
            if parameter.positive and value <= 0:
                raise self.refusal(f"the {parameter.name} of {entry.name} is not positive", f"write {entry.usage}")
        return entry(*values)

    def hermite(self, args: list[ast.expr]) -> sp.Expr:
        if len(args) != 2:
            raise self.refusal(f"He takes a degree and an argument, not {len(args)} arguments", "write He(2, z)")
        degree = args[0]
        if not (isinstance(degree, ast.Constant) and type(degree.value) is int):
            raise self.refusal("the degree of He is not a nonnegative integer", "write He(2, z)")
        if degree.value > MAX_DEGREE:
            raise self.refusal(f"He of degree {shorten(degree.value)} is too large", f"degrees go to {MAX_DEGREE}")
        value = self.expression(args[1])
        check_power(value, sp.Integer(degree.value))
        return hermite_polynomial(degree.value, value)

    def piecewise(self, args: list[ast.expr]) -> sp.Expr:
        remedy = "write Piecewise((expr, z > 0), (expr, True))"
        pairs = []
        for arg in args:
            if not isinstance(arg, ast.Tuple) or len(arg.elts) != 2:
                raise self.refusal("Piecewise takes pairs (expression, condition)", remedy)
            pairs.append((self.expression(arg.elts[0]), self.condition(arg.elts[1])))
        if not pairs or pairs[-1][1] is not sp.true:
            raise self.refusal("the last condition of Piecewise is not True", remedy)
        kept = [(e, c) for e, c in pairs if c is not sp.false]
        last = next(i for i, (_, c) in enumerate(kept) if c is sp.true)
        # Unevaluated: SymPy's own simplification of conditions solves inequalities, which can take forever.
        return kept[0][0] if last == 0 else sp.Piecewise(*kept[: last + 1], evaluate=False)

    def condition(self, node: ast.expr) -> sp.Basic:
        if isinstance(node, ast.Constant) and node.value is True:
            return sp.true
        if isinstance(node, ast.BoolOp):
            parts = [self.condition(v) for v in node.values]
            return sp.And(*parts) if isinstance(node.op, ast.And) else sp.Or(*parts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            left, right = self.condition(node.left), self.condition(node.right)
            return sp.And(left, right) if isinstance(node.op, ast.BitAnd) else sp.Or(left, right)
        if isinstance(node, ast.Compare):
            values = [self.expression(v) for v in (node.left, *node.comparators)]
            parts = []
            for op, left, right in zip(node.ops, values, values[1:], strict=False):
                if type(op) not in _COMPARISONS:
                    raise self.refusal("a condition compares with <, <=, > or >=", "write z > 0")
                self.check_argument("a condition", left - right)
                parts.append(catalogue.relation(_COMPARISONS[type(op)], left, right))
            return sp.And(*parts)
        raise self.refusal(f"{shorten(self.source(node))} is not a condition", "write z > 0, or True for the last")

    def count_kink(self, name: str, weight: int = 1) -> None:
        entry = catalogue.entry(name)
        self.kinked += weight if name in _KINKED or (entry is not None and entry.kinked) else 0
        if self.kinked > MAX_KINKED:
            raise self.refusal("too many kinked functions", f"use at most {MAX_KINKED}")


# Expressions over declared symbols ------------------------------------------------------------------------------------

_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_PARAMETER_FUNCTIONS = {"sqrt": sp.sqrt, "exp": sp.exp, "log": sp.log}
_NO_NUMBERS = {"nan", "inf", "infinity", "oo", "zoo"}


def declared(positive: object, real: object) -> dict[str, sp.Symbol]:
    """The symbols that "a,b" (or a list of names) declares as positive and as real, by name.

    Errors: InputError for a name that is none, is reserved or is declared twice.
    """
    found: dict[str, sp.Symbol] = {}
    for argument, given, assumption in (("positive", positive, "positive"), ("real", real, "real")):
        names = given.split(",") if isinstance(given, str) else () if given is None else given
        if not isinstance(names, list | tuple) or not all(isinstance(name, str | sp.Symbol) for name in names):
            raise InputError(argument, f"{shorten(given)} names no symbols", 'give names, "alpha,beta"')
        for name in (str(name).strip() for name in names):
            _check_symbol(name, argument)
            if name in found:
                raise InputError(argument, f"{name} is declared twice", "declare it once, as positive or as real")
            found[name] = sp.Symbol(name, **{assumption: True})
    return found


_MEANINGS = {
    "z": "the Gaussian variable",
    "k": "the index of a coefficient",
    "rho": "the correlation",
    "pi": "the number",
    "E": "Euler's number",
    "I": "the imaginary unit",
}


def _check_symbol(name: str, argument: str) -> None:
    """Refuse a name that a symbol cannot have, with the reason."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", name) or keyword.iskeyword(name):
        raise InputError(argument, f"{shorten(name)} is no name", "use letters, digits and _, beginning with a letter")
    known = [*FUNCTIONS, *_NO_NUMBERS, "He", "Max", "Min", "Piecewise"]
    meaning = _MEANINGS.get(name) or ("a function" if name in known or catalogue.entry(name) is not None else None)
    if meaning is not None:
        raise InputError(argument, f"{name} means {meaning} here", "choose another name")


def parameter(value: object, argument: str, symbols: Mapping[str, sp.Symbol]) -> sp.Expr | None:
    """What a numeric argument holds if it holds symbols, else None: text over `symbols`, or a SymPy expression.

    Errors: InputError for an undeclared name (how to declare it), and for what is not shown to be real.
    """
    if isinstance(value, sp.Expr):
        if not value.free_symbols:
            return None
        expr = value.xreplace({f: sp.Rational(str(f)) for f in value.atoms(sp.Float)})
        for symbol in sorted(expr.free_symbols, key=str):
            _check_symbol(symbol.name, argument)
            if not symbol.is_extended_real:
                remedy = f'declare it, Symbol("{symbol.name}", positive=True) or real=True'
                raise InputError(argument, f"the symbol {symbol} is not known to be real", remedy)
    elif isinstance(value, str) and (names := _IDENTIFIER.findall(value)) and not _NUMBER.fullmatch(value.strip(" ")):
        unknown = [n for n in names if n not in symbols and n not in _PARAMETER_FUNCTIONS and n not in _CONSTANTS]
        if unknown:
            if unknown[0].lower() in _NO_NUMBERS:
                return None
            remedy = f"{_FORMS}, or declare it, --positive {shorten(unknown[0])[1:-1]}"
            raise InputError(argument, f"{shorten(value)} is not a number ({unknown[0][:40]} is not declared)", remedy)
        expr = _parameter_text(value, argument, symbols)
        if not expr.free_symbols:
            return expr if not expr.is_Rational else None
    else:
        return None
    if not (expr.is_extended_real and expr.is_finite is not False) or expr.has(sp.nan, sp.zoo, sp.oo):
        raise InputError(argument, f"{shorten(value)} is not shown to be real", "declare its symbols as positive")
    return expr


def check_parameters(expr: sp.Expr, argument: str) -> sp.Expr:
    """A SymPy expression in z and parameters, its floats read as decimals.

    Errors: InputError where z is not in it, and for parameters that have a reserved name or are not known to be real.
    """
    expr = expr.xreplace({f: sp.Rational(str(f)) for f in expr.atoms(sp.Float)})
    own = {s for s in expr.free_symbols if s.name == "z"}
    if len(own) != 1:
        raise InputError(argument, f"{shorten(expr)} is no function of z", "name its variable z")
    expr = expr.xreplace(dict.fromkeys(own, z))
    for symbol in sorted(expr.free_symbols - {z}, key=str):
        _check_symbol(symbol.name, argument)
        if not symbol.is_extended_real:
            remedy = f'declare it, Symbol("{symbol.name}", positive=True) or real=True'
            raise InputError(argument, f"the symbol {symbol} is not known to be real", remedy)
    return expr


def _parameter_text(text: str, argument: str, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    if len(text) > MAX_LENGTH:
        raise InputError(argument, f"{len(text)} characters are too many", f"use at most {MAX_LENGTH}")
    text = text.strip(" \t\n")
    _check_characters(text, argument)
    tree = _syntax(text, argument)
    try:
        return _ParameterReader(text, argument, symbols).expression(tree)
    except SizeError as error:
        raise InputError(argument, str(error), "use a smaller expression") from None
    except (TypeError, ValueError, ArithmeticError, NotImplementedError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(argument, f"{shorten(text)} has no meaning", "check it") from None


def within(
    value: sp.Expr, argument: str, low: object, high: object, exclusive: bool
) -> tuple[sp.core.relational.Relational, ...]:
    """The conditions under which an expression with symbols keeps its bounds, beyond what the assumptions show.

    A sign must be shown: it decides formulas. Errors: InputError where a bound is broken, or a sign is not shown.
    """
    conditions = []
    for bound, gap, less in ((low, None if low is None else value - low, sp.Lt if exclusive else sp.Le),):
        if gap is None:
            continue
        shown, broken = gap.is_positive if exclusive else gap.is_nonnegative, gap.is_nonpositive if exclusive else None
        if broken or gap.is_negative:
            raise InputError(argument, f"{shorten(value)} is too small", _range_remedy(low, high, exclusive))
        if not shown and bound == 0:
            names = ", ".join(sorted(s.name for s in value.free_symbols))
            word = "positive" if exclusive else "non-negative"
            raise InputError(
                argument, f"{shorten(value)} is not shown to be {word}", f"declare it so: --positive {names}"
            )
        if not shown:
            conditions.append(less(bound, value))
    if high is not None:
        gap = high - value
        if gap.is_negative or (exclusive and gap.is_nonpositive):
            raise InputError(argument, f"{shorten(value)} is too large", _range_remedy(low, high, exclusive))
        if not (gap.is_positive if exclusive else gap.is_nonnegative):
            conditions.append((sp.Lt if exclusive else sp.Le)(value, high))
    return tuple(conditions)


class _ParameterReader(_Reader):
    """The same reader over declared symbols: + - * / **, sqrt, exp, log, pi and E."""

    def name(self, name: str) -> sp.Expr:
        if name in self.symbols:
            return self.symbols[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        raise self.refusal(f"{name} needs an argument", f"write {name}(...)")

    def call(self, node: ast.Call) -> sp.Expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _PARAMETER_FUNCTIONS or len(node.args) != 1 or node.keywords:
            raise self.refusal(
                f"{shorten(self.source(node))} is not understood", "use + - * / **, sqrt(...), exp(...), log(...)"
            )
        return _PARAMETER_FUNCTIONS[name](self.expression(node.args[0]))


def _spelling(name: str) -> str:
    """An elementary function in capitals, as FUNCTIONS has it; the catalogue looks after its own names."""
    return name.lower() if name not in FUNCTIONS and name.lower() in FUNCTIONS else name


def hermite_polynomial(degree: int, argument: sp.Expr) -> sp.Expr:
    """He_k(argument) = k! sum_m (-1)^m argument^(k-2m) / (2^m m! (k-2m)!), from its coefficients."""
    coefficient, terms = 1, []
    for m in range(degree // 2 + 1):
        power = degree - 2 * m
        terms.append(coefficient * argument**power)
        coefficient = -coefficient * power * (power - 1) // (2 * (m + 1))
    return sp.Add(*terms)


def _longest_sum(expr: sp.Expr) -> int:
    """The most addends that a sum within the expression has."""
    return max((len(a.args) for a in expr.atoms(sp.Add)), default=1)


def _levels(expr: sp.Basic, head: type[sp.Basic], known: dict[sp.Basic, int]) -> int:
    """How deep a function is nested in itself."""
    if expr not in known:
        deepest = max((_levels(a, head, known) for a in expr.args), default=0)
        known[expr] = deepest + isinstance(expr, head)
    return known[expr]


def _positive_constant(value: sp.Expr) -> bool:
    return not value.has(z) and bool(_constant_ball(value) > 0)


def _constant_ball(value: sp.Expr) -> arb:
    """A ball around a constant of the grammar, of any radius: for the guards above, which refuse a wide one."""
    try:
        with ball.precision(_GUARD_BITS):
            return ball.constant(value)
    except InputError:  # complex, or unknown to ball arithmetic
        return arb("nan")
