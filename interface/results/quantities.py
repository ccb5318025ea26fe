"""Quantities: a result's numbers and words by their JSON names, stated once; payload and tables are read from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from bulkedge.results.number import Number, exactly, short

TRANSPARENT = ("readings",)  # levels of the JSON that attributes, `exact` and `errors` leave out


@dataclass(frozen=True)
class Table:
    """A titled table: the columns' names and the rows, all strings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


class Frozen(dict[str, Any]):
    """A dictionary that cannot be changed in place; unlike a mapping proxy it can be copied, pickled and printed."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a result is frozen; make a dict of it to change it")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


def frozen(value: Any) -> Any:
    """The value with every dictionary frozen and every list a tuple."""
    if type(value) is dict:
        return Frozen({key: frozen(item) for key, item in value.items()})
    if type(value) in (list, tuple):
        return tuple(frozen(item) for item in value)
    return value


def plain(value: Any) -> Any:
    """The value as JSON has it: dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


class Quantities(Frozen):
    """Quantities by their JSON names, and as attributes: Numbers, words and counts, lists, and further Quantities.

    Where their errors and exact expressions stand in the JSON: in objects `errors` and `exact` that are nested as the
    quantities are, at the root. The subclasses say otherwise.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({name: _attributed(value) for name, value in values.items()})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            if name in self:
                return self[name]
            for level in TRANSPARENT:
                if level in self and name in self[level]:
                    return self[level][name]
        raise AttributeError(f"no quantity {name!r} here; there are {', '.join(self)}")

    def __dir__(self) -> Iterator[str]:
        yield from self


class Flat(Quantities):
    """Quantities whose errors stand under their own names beside those of the level above."""


class Worst(Quantities):
    """Quantities that share one error, the largest of theirs, as the entries of a list do."""


class Point(Quantities):
    """Quantities that carry an object `errors` of their own: a point of a curve."""


class Row(Quantities):
    """A row whose `main` number has its `error` beside it (and `exact` beside a `value`); any other x has x_error."""

    main: ClassVar[str] = "value"
    beside: ClassVar[str] = "error"  # the name of the main number's error

    def __getattr__(self, name: str) -> Any:
        if name in ("error", "exact", self.beside) and self.main in self:
            return getattr(self[self.main], "exact" if name == "exact" else "error")
        stem, _, ending = name.rpartition("_")
        if ending in ("error", "sd") and isinstance(self.get(stem), Number):
            return self[stem].error
        return super().__getattr__(name)


class Atom(Row):
    """A place and its weight: `error` is the weight's, `value_error` the place's."""

    main = "weight"


class Simulation(Row):
    """A simulated value with its `stderr` beside it."""

    beside = "stderr"


class Measurement(Simulation):
    """A row of a ledger: what was `measured`, with its `stderr` beside it."""

    main = "measured"


class Each(tuple[Any, ...]):
    """A list whose bounds stand one by one (None where there is no number), not one for all."""

    __slots__ = ()


class Shared(Quantities):
    """A row of numbers with one `error` beside them, the largest of theirs."""

    @property
    def largest(self) -> Number:
        """The number with the largest error."""
        return _largest([*numbers(self)])

    def __getattr__(self, name: str) -> Any:
        return self.largest.error if name == "error" else super().__getattr__(name)


class Multiplicity(int):
    """A count without a bound, which the JSON holds as a decimal string."""


class Bare(float):
    """A float whose error is not known here, nine digits of it in the JSON: a p-value, a distance, a measure."""

    digits: ClassVar[int] = 9

    @property
    def decimal(self) -> str:
        """The JSON's text."""
        return short(self, self.digits)


class Float(Bare):
    """A float with all its digits, as many as read back to it: what a check compares."""

    @property
    def decimal(self) -> str:
        """The JSON's text."""
        return exactly(self)


def _largest(inside: list[Number]) -> Number:
    return max(inside, key=lambda x: x.limit)


def _attributed(value: Any) -> Any:
    if type(value) in (dict, Frozen):
        return Quantities(value)
    if isinstance(value, list | tuple):
        return (Each if isinstance(value, Each) else tuple)(_attributed(item) for item in value)
    return value


# -- JSON ------------------------------------------------------------------------------------------------------------


def payload(quantities: Quantities) -> dict[str, Any]:
    """The JSON fields: each number's decimal, and `errors` and `exact` beside them."""
    errors: dict[str, Any] = {}
    exact: dict[str, Any] = {}
    found = _fields(quantities, errors, exact)
    return found | ({"exact": exact, "errors": errors} if errors else {})


def _fields(group: Quantities, errors: dict[str, Any], exact: dict[str, Any]) -> dict[str, Any]:
    """The fields of one level; its errors and exact expressions are put where its kind says."""
    found: dict[str, Any] = {}
    for name, value in group.items():
        if isinstance(value, Number):
            if isinstance(group, Row):
                found |= _with_error(name, value, group)
            else:
                found[name], errors[name], exact[name] = value.decimal(), value.bound(), value.expression()
        elif isinstance(value, Quantities):
            found[name] = _level(name, value, errors, exact)
        elif isinstance(value, tuple):
            found[name] = _list(name, value, errors, exact)
        else:
            found[name] = _word(value)
    return found


def _word(value: Any) -> Any:
    """What is no Number, as JSON has it."""
    if isinstance(value, Multiplicity):
        from bulkedge.theory.numbers.enclosure import int_to_text

        return int_to_text(value)
    return value.decimal if isinstance(value, Bare) else plain(value)


def _with_error(name: str, number: Number, group: Row) -> dict[str, Any]:
    if name != group.main:
        return {name: number.decimal(), f"{name}_{'sd' if number.measured else 'error'}": number.bound()}
    exact = {"exact": number.expression()} if (name, group.beside) == ("value", "error") else {}
    return {**exact, name: number.decimal(), group.beside: number.bound()}


def _level(name: str, group: Quantities, errors: dict[str, Any], exact: dict[str, Any]) -> dict[str, Any]:
    if isinstance(group, Flat | Row) or name in TRANSPARENT:
        return _fields(group, errors, exact)
    inner: dict[str, Any] = {}
    expressions: dict[str, Any] = {}
    found = _fields(group, inner, expressions)
    if isinstance(group, Point):
        found["errors"] = inner
    elif isinstance(group, Shared):
        found["error"] = group.largest.bound()
    elif isinstance(group, Worst):
        _share(name, [*numbers(group)], errors, exact)
    elif inner:
        errors[name], exact[name] = inner, expressions
    return found


def _list(name: str, items: tuple[Any, ...], errors: dict[str, Any], exact: dict[str, Any]) -> list[Any]:
    """A list. Bounds are shared, the largest for all; standard errors stand one by one."""
    found = []
    for item in items:
        if isinstance(item, Number):
            found.append(item.decimal())
        elif isinstance(item, Quantities):
            found.append(_entry(item))
        else:
            found.append(_word(item))
    inside = [x for item in items if not isinstance(item, Row | Point | Shared) for x in numbers(item)]
    if isinstance(items, Each):
        errors[name] = [item.bound() if isinstance(item, Number) else None for item in items]
        exact[name] = [item.expression() if isinstance(item, Number) else None for item in items]
    elif inside:
        _share(name, inside, errors, exact)
    return found


def _entry(item: Quantities) -> dict[str, Any]:
    """An entry of a list, with its own `exact` where one of its numbers is."""
    exact: dict[str, Any] = {}
    found = _level("", item, {}, {}) if isinstance(item, Flat | Row | Point | Shared | Worst) else None
    if found is None:
        found = _fields(item, {}, exact)
    return found | ({"exact": exact} if any(exact.values()) else {})


def _share(name: str, inside: list[Number], errors: dict[str, Any], exact: dict[str, Any]) -> None:
    if all(x.measured for x in inside):
        errors[name] = [x.bound() for x in inside]
    else:
        errors[name] = _largest(inside).bound()
    expressions = [x.expression() for x in inside]
    exact[name] = None if None in expressions else expressions


def numbers(value: Any) -> Iterator[Number]:
    """All Numbers in a value."""
    if isinstance(value, Number):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers(item)


# -- rows of a table -------------------------------------------------------------------------------------------------

_WIDE = 120  # characters of an exact expression that a table takes; the JSON has it all
COLUMNS = ("quantity", "value", "error", "exact")


def rows(quantities: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    """One row for every number, word and count: name, value, error, exact expression."""
    for name, value in quantities.items():
        label = f"{prefix}{name}".replace("_", " ")
        if isinstance(value, Number):
            yield row(label, value)
        elif isinstance(value, Quantities):
            yield from rows(value, "" if isinstance(value, Flat) or name in TRANSPARENT else f"{label} ")
        elif isinstance(value, tuple):
            yield from rows(Flat({str(index): item for index, item in enumerate(value)}), f"{label} ")
        elif value is not None:
            yield label, str(value), "", ""


def coefficient_table(coefficients: Iterable[Any], title: str) -> Table:
    """The rows k, exact, value, error of coefficients."""
    listed = ((x.k, x["value"]) for x in coefficients)
    cells = tuple((str(k), c.expression() or "", c.decimal() or "", c.bound() or "") for k, c in listed)
    return Table(("k", "exact", "value", "error"), cells, title)


def row(label: str, number: Number) -> tuple[str, str, str, str]:
    """A number's row."""
    exact = number.expression() or ""
    shown = exact if len(exact) <= _WIDE or number.symbolic else "(long)"
    return label, number.decimal() or "", number.bound() or "", shown
