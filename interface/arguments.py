"""Arguments, declared once: an annotation on the public function says how each is read, bounded, named and explained.

    def mp(ratio: Annotated[Numeric, Real("p/n: eigenvalues over samples", "c", low=0, exclusive=True)], ...):
        given = read(mp, locals())

The command line and its --help (`bulkedge.parser`), the readers, their error messages, `inputs` and the API reference
are made from that. Nothing heavy is imported until something is read.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

if TYPE_CHECKING:
    from fractions import Fraction

    import sympy as sp

    from bulkedge.numerics.trials.runner import Progress as Progress
    from bulkedge.theory.functions.nonlinearity import Nonlinearity
    from bulkedge.theory.functions.parse import Numeric as Numeric

    Function: TypeAlias = str | sp.Expr | Nonlinearity
    Constant: TypeAlias = Numeric | sp.Expr
else:  # the declarations are looked up when the program runs; these types are for type checkers only
    Constant = Function = Numeric = Progress = Any


@dataclass(frozen=True)
class Argument:
    """One argument: `help`, `metavar`, further spellings, whether it is placed without a name, may come many times.

    `group` is its heading in --help; `letters`: it may hold declared symbols; `typed` the default of the command line
    where that differs from Python's; a `curve` is an argument that may be a:b:n; of those with the same `either` the
    command line wants exactly one. As it stands its value is taken as it is; subclasses read it.
    """

    help: str
    metavar: str = ""
    names: tuple[str, ...] = ()
    place: bool = False
    many: bool = False
    group: str = ""
    typed: str | None = None
    curve: bool = False
    either: str = ""
    letters: bool = False

    def read(self, value: Any, argument: str) -> Any:
        """The value as the body wants it.

        Errors: InputError, naming `argument`.
        """
        return value

    def echo(self, value: Any) -> Any:
        """The read value as JSON's `inputs` have it."""
        return value

    def conditions(self, value: sp.Expr, argument: str) -> tuple[Any, ...]:
        """What an expression with symbols must satisfy beyond what the assumptions of its symbols show.

        Errors: InputError, naming `argument`, where it does not, or where a sign is not shown.
        """
        return ()

    @property
    def bounds(self) -> str:
        """What values are allowed, in a few words."""
        return ""


@dataclass(frozen=True)
class Real(Argument):
    """An exact number, with bounds; `sized`: 0, or of a size that floats can hold the powers of."""

    low: int | Fraction | None = None
    high: int | Fraction | None = None
    exclusive: bool = False
    sized: bool = False

    def read(self, value: Any, argument: str) -> sp.Rational:
        """An exact rational."""
        from bulkedge.theory.functions.parse import number

        how = {"minimum": self.low, "maximum": self.high, "exclusive": self.exclusive, "sized": self.sized}
        return number(value, argument, **how)  # type: ignore[arg-type]

    def echo(self, value: Any) -> str:
        """As the fraction that was read."""
        return str(value)

    def conditions(self, value: sp.Expr, argument: str) -> tuple[Any, ...]:
        """The bounds."""
        from bulkedge.theory.functions.parse import within

        return within(value, argument, self.low, self.high, self.exclusive)

    @property
    def bounds(self) -> str:
        """As an inequality."""
        less = "<" if self.exclusive else "<="
        sign = ">" if self.exclusive else ">="
        if self.high is None:
            return "" if self.low is None else f"{sign} {self.low}"
        return f"{less} {self.high}" if self.low is None else f"{self.low} {less} {self.metavar} {less} {self.high}"


@dataclass(frozen=True)
class Exact(Real):
    """An exact number >= 0 that need not be rational, such as 3*sqrt(2)/2."""

    def read(self, value: Any, argument: str) -> sp.Expr:
        """An exact constant."""
        from bulkedge.theory.functions.parse import constant

        return constant(value, argument)


@dataclass(frozen=True)
class Count(Argument):
    """An integer, also spelt 10.0 or 1e1; `high` is the cap on the work."""

    low: int | None = None
    high: int | None = None

    def read(self, value: Any, argument: str) -> int:
        """An integer."""
        from bulkedge.theory.functions.parse import integer

        return integer(value, argument, self.low, self.high)

    def conditions(self, value: sp.Expr, argument: str) -> tuple[Any, ...]:
        """That a size is positive, and its bounds."""
        from bulkedge.theory.functions.parse import within

        within(value, argument, 0, None, bool(self.low))
        return within(value, argument, None if self.low == 1 else self.low, None, False)

    @property
    def bounds(self) -> str:
        """As a range."""
        if self.high is None:
            return "" if not self.low else f"at least {self.low}"
        high = f"1e{len(str(self.high)) - 1}" if self.high >= 10**7 else str(self.high)  # such caps are powers of ten
        return f"{self.low}..{high}" if self.low is not None else f"at most {high}"


@dataclass(frozen=True)
class _SignificantDigits(Count):
    def read(self, value: Any, argument: str) -> int:
        """A number of digits."""
        from bulkedge.theory.functions.parse import integer
        from bulkedge.theory.numbers.digits import check_digits

        return check_digits(integer(value, argument))  # whose message says 1..1000


@dataclass(frozen=True)
class Word(Argument):
    """One of a few words."""

    words: tuple[str, ...] = ()

    def read(self, value: Any, argument: str) -> str:
        """A word; a near one is suggested."""
        from bulkedge.theory.functions.parse import choice

        return choice(value, argument, self.words)

    @property
    def bounds(self) -> str:
        """The words."""
        return ", ".join(self.words[:-1]) + f" or {self.words[-1]}"


@dataclass(frozen=True)
class Formula(Argument):
    """A function of z: a name of the catalogue, or an expression. The name stands in `inputs`."""

    def read(self, value: Any, argument: str) -> Nonlinearity | tuple[Nonlinearity, ...]:
        """A nonlinearity, or one or more where there may be many."""
        from bulkedge.theory.functions.nonlinearity import nonlinearity
        from bulkedge.theory.numbers.errors import InputError

        if not self.many:
            return nonlinearity(value, argument)
        several = value if isinstance(value, list | tuple) else (value,)
        if not several:
            raise InputError(argument, "no function is given", "give one or more")
        return tuple(nonlinearity(one, argument) for one in several)

    def with_letters(
        self, value: Any, argument: str, symbols: Mapping[str, sp.Symbol]
    ) -> tuple[Nonlinearity, tuple[Any, ...]] | None:
        """A function with parameters and the conditions under which it is in L2; None for one without.

        Errors: InputError, naming `argument`.
        """
        if isinstance(value, str):
            if not any(re.search(rf"\b{name}\b", value) for name in symbols):
                return None
            from bulkedge.theory.functions.parse import expression

            expr, name = expression(value, argument, symbols), value.strip()
        elif hasattr(value, "free_symbols") and len(value.free_symbols) > 1:
            from bulkedge.theory.functions.parse import check_parameters

            expr, name = check_parameters(value, argument), str(value)
        else:
            return None
        from bulkedge.theory.functions.parametric import parametric
        from bulkedge.theory.numbers.symbols import z

        return parametric(expr, name, argument) if expr.free_symbols - {z} else None

    def echo(self, value: Any) -> Any:
        """Its name."""
        return [one.name for one in value] if self.many else value.name


@dataclass(frozen=True)
class Flag(Argument):
    """True or False; on the command line --NAME, or --no-NAME where the default is True."""

    def read(self, value: Any, argument: str) -> bool:
        """A truth value."""
        from bulkedge.theory.functions.parse import flag

        return flag(value, argument)


@dataclass(frozen=True)
class File(Argument):
    """The name of a file or a folder."""

    def read(self, value: Any, argument: str) -> str:
        """A path as a string."""
        from bulkedge.theory.functions.parse import path

        return path(value, argument)


@dataclass(frozen=True)
class Pairs(Argument):
    """Names with values: a mapping, or NAME=VALUE as often as there are names."""

    def read(self, value: Any, argument: str) -> dict[str, Any]:
        """A dictionary; the values are read by the body."""
        from bulkedge.theory.functions.parse import shorten
        from bulkedge.theory.numbers.errors import InputError

        if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
            return dict(value)
        if not isinstance(value, list | tuple):
            raise InputError(argument, f"{shorten(value)} is no mapping", 'give names and values, {"psi1": 2}')
        pairs: dict[str, Any] = {}
        for item in value:
            name, equals, text = item.partition("=") if isinstance(item, str) else ("", "", "")
            if not equals or not name or name in pairs:
                raise InputError(argument, f"{shorten(item)} is not a new NAME=VALUE", "write, for example, psi1=2")
            pairs[name] = text
        return pairs

    def echo(self, value: Any) -> dict[str, str]:
        """The values as they were typed."""
        return {name: str(item) for name, item in value.items()}


@dataclass(frozen=True)
class Symbols(Argument):
    """Names of symbols that expressions in arguments with `letters` may hold; absent from `inputs` where not given."""

    def echo(self, value: Any) -> str:
        """The names."""
        return value if isinstance(value, str) else ",".join(map(str, value))


# What several commands take. The words are those of theory/, which a test compares: importing them takes SymPy.
BATCHES = ("reused", "fresh")
READOUTS = ("gaussian", "rademacher", "uniform", "constant")
Digits = Annotated[Numeric, _SignificantDigits("significant digits", "D", low=1, high=1000)]
Positive = Annotated[object, Symbols("symbols > 0 that numbers may be made of", "NAMES", group="symbols")]
RealNames = Annotated[object, Symbols("real symbols that numbers may be made of", "NAMES", group="symbols")]
Seed = Annotated[Numeric, Count("seed of all random numbers", "S", low=0)]
Noise = Annotated[Numeric, Real("standard deviation of the labels' noise", "S", low=0)]
NoiseOrSymbol = Annotated[Numeric, Real("standard deviation of the labels' noise", "S", low=0, letters=True)]
SizedNoise = Annotated[Numeric, Real("standard deviation of the labels' noise", "S", low=0, sized=True)]
SizedNoiseOrSymbol = Annotated[
    Numeric, Real("standard deviation of the labels' noise", "S", low=0, sized=True, letters=True)
]
FunctionOfZ = Annotated[
    Function, Formula("a name (bulkedge functions) or an expression in z", "FUNCTION", place=True, letters=True)
]
Activation = Annotated[Function, Formula("the network's activation, a function of z", "ACTIVATION", place=True)]
ParametricActivation = Annotated[
    Function, Formula("the network's activation, a function of z", "ACTIVATION", place=True, letters=True)
]
ParametricLink = Annotated[
    Function, Formula("the link g of the target y = g(w*.x) + noise", "LINK", place=True, letters=True)
]
Link = Annotated[Function, Formula("the link g of the target y = g(w*.x) + noise", "LINK", place=True)]


@functools.cache
def declarations(function: Callable[..., Any]) -> dict[str, Argument]:
    """The declared arguments of a public function by name, in the order of its signature."""
    notes = {name: note for name, note in function.__annotations__.items() if name != "return"}
    hints = typing.get_type_hints(
        SimpleNamespace(__annotations__=notes), globalns=function.__globals__, include_extras=True
    )
    found = {}
    for name, hint in hints.items():
        for data in getattr(hint, "__metadata__", ()):
            if isinstance(data, Argument):
                found[name] = data
    return found


def _spoken(name: str, argument: Argument) -> str:
    """How an error message names the argument: FUNCTION where it has a place, else its option's name."""
    return argument.metavar if argument.place else name.rstrip("_")


def read(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """All arguments of a call (`locals()` on the function's first line), read as they are declared.

    A value that is None by default stays None. `inputs` holds what JSON echoes.
    Errors: InputError, naming the argument.
    """
    parameters = inspect.signature(function).parameters
    arguments = declarations(function)
    values: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    conditions: dict[str, tuple[Any, ...]] = {}
    symbols = _symbols(arguments, given)
    for name, argument in arguments.items():
        value = given[name]
        optional = value is None and parameters[name].default is None
        said = _spoken(name, argument)
        held = _letters(argument, value, said, symbols)
        if isinstance(held, tuple):  # a function with parameters, and what it needs
            values[name], conditions[name] = held
            inputs[name.rstrip("_")] = values[name].name
            continue
        if held is not None:
            values[name], inputs[name.rstrip("_")] = held, str(held)
            conditions[name] = argument.conditions(held, said)
            continue
        values[name] = None if optional else argument.read(value, said)
        if not (optional and isinstance(argument, Symbols)):
            inputs[name.rstrip("_")] = None if optional else argument.echo(values[name])
    _check_used(arguments, given, symbols, values)
    needed = tuple(condition for one in conditions.values() for condition in one)
    return SimpleNamespace(**values, inputs=inputs, symbolic=bool(conditions), conditions=needed)


def _symbols(arguments: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, sp.Symbol]:
    """The symbols that the call declares, by name."""
    names = {name: given[name] for name, argument in arguments.items() if isinstance(argument, Symbols)}
    if all(value is None for value in names.values()):
        return {}
    from bulkedge.theory.functions.parse import declared

    return declared(names.get("positive"), names.get("real"))


def _check_used(
    arguments: Mapping[str, Argument],
    given: Mapping[str, Any],
    symbols: Mapping[str, sp.Symbol],
    values: Mapping[str, Any],
) -> None:
    """Refuse a declared symbol that appears nowhere (it is misspelt here or there), and two of one name."""
    held = [x for value in values.values() for x in (value if isinstance(value, tuple) else (value,))]
    exprs = [getattr(x, "expr", x) for x in held]
    found = {s for x in exprs if hasattr(x, "free_symbols") for s in x.free_symbols}
    used = {s.name for s in found}
    if len(used) < len(found):
        from bulkedge.theory.numbers.errors import InputError

        twice = next(s.name for s in found if sum(s.name == other.name for other in found) > 1)
        raise InputError(twice, "two symbols of that name have different assumptions", "use one and the same symbol")
    for name in sorted(set(symbols) - used):
        from bulkedge.theory.numbers.errors import InputError

        where = next(n for n, a in arguments.items() if isinstance(a, Symbols) and name in str(given[n]))
        raise InputError(where, f"{name} is declared and appears nowhere", "leave it out, or check its spelling")


def _letters(argument: Argument, value: Any, said: str, symbols: Mapping[str, sp.Symbol]) -> Any:
    """The value where it holds symbols: an expression, or a function with its conditions."""
    if isinstance(argument, Formula):
        return argument.with_letters(value, said, symbols) if argument.letters else None
    if not argument.letters or not (isinstance(value, str) or hasattr(value, "free_symbols")):
        return None
    from bulkedge.theory.functions.parse import parameter

    return parameter(value, said, symbols)
