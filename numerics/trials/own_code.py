"""Functions that a user wrote: their mistakes are one line that names the file and the line, from whatever process."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError

_LONGEST = 160  # characters of an error's own message


def place(function: Callable[..., Any]) -> str | None:
    """`line 7 of my_theorem.py` where a user's function begins; None for the toolkit's own functions."""
    code = _code(function)
    return None if code is None else f"line {code.co_firstlineno} of {_file(function, code)}"


def called(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """function(*arguments); where it is a user's and raises, an InputError that says what, where and why.

    Errors: the toolkit's own errors pass, and so does everything that the toolkit's own functions raise.
    """
    try:
        return function(*arguments)
    except (InputError, PrecisionError, ConvergenceError):
        raise
    except Exception as error:
        blame = blamed(what, function, error)
        if blame is None:
            raise
        raise blame from None


def blamed(what: str, function: Callable[..., Any], error: Exception) -> InputError | None:
    """What a user's function did wrong, and in which line; None for the toolkit's own functions."""
    code = _code(function)
    if code is None:
        return None
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == code.co_filename]
    where = f"line {lines[-1] if lines else code.co_firstlineno} of {_file(function, code)}"
    why = f"{type(error).__name__}: {error}".replace("\n", " ")[:_LONGEST]
    return InputError("FILE", f"{what} fails in {where} with {why}", "make it run on its own first")


def numbers(what: str, function: Callable[..., Any], result: Any) -> dict[str, float]:
    """A trial's named numbers as floats.

    Errors: InputError, naming the place, where a user's trial returns something else or a number that is not finite.
    """
    where = place(function)
    if where is None:
        return {key: float(value) for key, value in result.items()}
    remedy = 'return a dict of names to finite numbers, {"mean": 0.5}'
    if not isinstance(result, Mapping):
        raise InputError("FILE", f"{what} ({where}) returns {_shown(result)}", remedy)
    found = {}
    for key, value in result.items():
        try:
            number = float(value)
        except Exception:
            number = float("nan")
        if not abs(number) < float("inf"):
            raise InputError("FILE", f"{what} ({where}) returns {_shown(value)} for {key!r}", remedy)
        found[key] = number
    return found


def prediction(what: str, function: Callable[..., Any]) -> tuple[float, float]:
    """A prediction's value and error.

    Errors: InputError, naming the place, where a user's function raises or returns no finite number.
    """
    found = called(what, function)
    try:
        value, error = float(found), found.bound if isinstance(found, Enclosure) else 0.0
    except Exception:
        value = error = float("nan")
    if not abs(value) < float("inf") or not abs(error) < float("inf"):
        where = place(function)
        if where is None:
            raise ArithmeticError(f"{what} is not finite: {found}")
        raise InputError("FILE", f"{what} ({where}) is {_shown(found)}", "return a finite number or an Enclosure")
    return value, error


def _bound(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function below bound arguments."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _code(function: Callable[..., Any]) -> Any:
    function = _bound(function)
    code = getattr(function, "__code__", None)
    ours = (getattr(function, "__module__", None) or "").partition(".")[0] == "bulkedge"
    return None if ours else code


def _file(function: Callable[..., Any], code: Any) -> str:
    function = _bound(function)
    # In a worker the code came without its file; the function's module remembers it.
    name = getattr(function, "__globals__", {}).get("__file__") or code.co_filename
    return str(name).replace("\\", "/").rpartition("/")[2]


def _shown(value: Any) -> str:
    text = repr(value)
    return f"a {type(value).__name__}, {text if len(text) <= 40 else text[:37] + '...'}"
