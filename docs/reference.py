"""Write the API reference from signatures and docstrings: `python docs/reference.py FILE.md`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path

import bulkedge
from bulkedge.arguments import Argument, declarations
from bulkedge.commands import COMMANDS
from bulkedge.commands import module as command_module
from bulkedge.parser import explained, option

PROPERTY = (property, functools.cached_property)


def is_error(thing: object) -> bool:
    """Whether it is an error class (which has no signature of its own)."""
    return inspect.isclass(thing) and issubclass(thing, Exception)


def signature(thing: Callable[..., object]) -> str:
    """A signature whose annotations stand without quotes; those of declared arguments are a table of their own."""
    made = inspect.signature(thing)
    declared = declarations(thing) if inspect.isfunction(thing) else {}
    parameters = [
        p.replace(annotation=inspect.Parameter.empty) if p.name in declared else p for p in made.parameters.values()
    ]
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(made.replace(parameters=parameters)))


def arguments(thing: Callable[..., object]) -> str:
    """The declared arguments as a table: what they mean, what they may be, how the command line spells them."""
    parameters = inspect.signature(thing).parameters
    rows = [
        f"| `{name}` | {explained(argument, parameters[name].default)} | `{spelling(name, argument)}` |"
        for name, argument in declarations(thing).items()
    ]
    cells = "\n".join(rows)
    return f"| argument | meaning | on the command line |\n|---|---|---|\n{cells}\n" if rows else ""


def spelling(name: str, argument: Argument) -> str:
    """How the command line has an argument."""
    return argument.metavar if argument.place else option(name)


def members(thing: type) -> list[str]:
    """A class's fields, properties and methods, as Markdown."""
    parts = []
    if dataclasses.is_dataclass(thing):
        fields = [f"`{f.name}`" for f in dataclasses.fields(thing) if not f.name.startswith("_")]
        parts.append(f"Fields: {', '.join(fields)}.\n")
    for key, member in inspect.getmembers(thing, lambda m: inspect.isroutine(m) or isinstance(m, PROPERTY)):
        if key.startswith("_") or not member.__doc__ or is_builtin(member):
            continue
        sign = "" if isinstance(member, PROPERTY) else signature(member)
        parts.append(f"### {thing.__name__}.{key}{sign}\n\n{inspect.getdoc(member)}\n")
    return parts


def is_builtin(member: object) -> bool:
    """Whether it comes from Python itself (what an exception inherits)."""
    return not hasattr(member, "__module__") and not isinstance(member, PROPERTY)


def results(name: str) -> list[type]:
    """The results that the command of this name returns."""
    from bulkedge.commands import COMMANDS
    from bulkedge.results.result import Result

    if name not in COMMANDS:
        return []
    module = command_module(name)
    found = [t for t in vars(module).values() if inspect.isclass(t) and issubclass(t, Result) and t is not Result]
    return [t for t in found if t.__module__ == module.__name__]


def reference() -> str:
    """All public names, in the order of `bulkedge.__all__`, with what the commands return, as Markdown."""
    parts = [f"# bulkedge {bulkedge.__version__}\n\n{inspect.getdoc(bulkedge)}\n"]
    for name in bulkedge.__all__:
        thing = getattr(bulkedge, name)
        if not callable(thing):
            continue
        shown = name if is_error(thing) else name + signature(thing)
        parts.append(f"## {name}\n\n```python\n{shown}\n```\n\n{inspect.getdoc(thing)}\n")
        if name in COMMANDS:
            parts.append(arguments(thing))
        if inspect.isclass(thing):
            parts += members(thing)
        for result in results(name):
            parts.append(f"### {result.__name__}, what `{name}` returns\n\n{inspect.getdoc(result)}\n")
            fields = [f"`{f.name}`" for f in dataclasses.fields(result)]
            parts.append(f"Fields: {', '.join(fields)}. JSON: {inspect.getdoc(result.payload)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
