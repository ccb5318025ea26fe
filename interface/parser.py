"""The command line of one command, made from its function's signature: options, --help, messages.

argparse does the parsing; what it does otherwise than the contract says is here: a value may begin with "-", options
are not abbreviated, a misspelt one is named with its likely meaning.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from bulkedge.arguments import Argument, Flag, Word, declarations
from bulkedge.commands import COMMANDS, EXAMPLES


class UsageError(Exception):
    """The command line itself is unusable."""


class Parser(argparse.ArgumentParser):
    """argparse that raises instead of exiting, and prints through the program's own door."""

    write: Callable[[str], object] = print

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message)

    def print_help(self, file: object = None) -> None:
        """Print --help."""
        self.write(self.format_help())

    def options(self) -> list[str]:
        """All options."""
        return [option for action in self._actions for option in action.option_strings]


class _OneOrMore(argparse.Action):
    """A single value is passed as itself, as in Python, several as a list."""

    def __call__(self, _: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        setattr(namespace, self.dest, values[0] if len(values) == 1 else values)


def parser(name: str, module: Any, write: Callable[[str], object] = print) -> Parser:
    """The parser of a command."""
    made = Parser(
        prog=f"bulkedge {name}",
        description=COMMANDS[name],
        epilog=f"example:\n  {EXAMPLES[name]}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    made.write = write
    _add_all(made, getattr(module, name))
    output = made.add_argument_group("output")
    modes = output.add_mutually_exclusive_group()
    modes.add_argument("--json", dest="mode", action="store_const", const="json", help="one JSON object on stdout")
    modes.add_argument("--latex", dest="mode", action="store_const", const="latex", help="a LaTeX expression")
    modes.add_argument("--csv", dest="mode", action="store_const", const="csv", help="the table as CSV")
    if getattr(module, "HAS_PROGRAM", False):
        modes.add_argument("--python", dest="mode", action="store_const", const="python", help="a NumPy program")
    made.set_defaults(mode="table")
    if getattr(module, "HAS_CURVE", False):
        output.add_argument("--plot", metavar="FILE", help="draw the curve to FILE (.pdf, .svg or .png)")
    output.add_argument("-h", "--help", action="help", help="show this help")
    return made


def _add_all(made: Parser, function: Callable[..., Any]) -> None:
    """One option, flag or place for every declared argument, under the heading of its group."""
    parameters = inspect.signature(function).parameters
    groups: dict[str, Any] = {}
    for name, argument in declarations(function).items():
        heading = "arguments" if argument.place else argument.group or "options"
        if heading not in groups:
            groups[heading] = made.add_argument_group(heading)
        into = groups[heading]
        if argument.either:
            if argument.either not in groups:
                groups[argument.either] = into.add_mutually_exclusive_group(required=True)
            into = groups[argument.either]
        _add(into, name, argument, parameters[name].default)


def _add(group: Any, name: str, argument: Argument, default: Any) -> None:
    required = default is inspect.Parameter.empty
    how: dict[str, Any] = {"help": explained(argument, default).replace("%", "%%"), "default": argparse.SUPPRESS}
    if argument.typed is not None:
        how["default"] = argument.typed
    if isinstance(argument, Flag):
        on = option(f"no_{name}" if default else name)
        group.add_argument(on, dest=name, action="store_const", const=not default, **how)
        return
    if isinstance(argument, Word) and not argument.metavar:
        how["metavar"] = "{" + ",".join(argument.words) + "}"
    elif argument.metavar:
        how["metavar"] = argument.metavar
    if argument.place:
        if argument.many or not required:
            how["nargs"] = "?" if not argument.many else "+" if required else "*"
        if argument.many and required:
            how["action"] = _OneOrMore
        group.add_argument(name, **how)
        return
    if argument.many:
        how["action"] = "append"
    group.add_argument(option(name), *argument.names, dest=name, required=required, **how)


def option(name: str) -> str:
    """How the command line spells an argument."""
    return "--" + name.rstrip("_").replace("_", "-")


def explained(argument: Argument, default: Any) -> str:
    """The help, with what values are allowed and the default."""
    said = [] if isinstance(argument, Word) and not argument.metavar else [argument.bounds]
    shown = argument.typed if argument.typed is not None else default
    if shown not in (None, (), inspect.Parameter.empty) and not isinstance(shown, bool):
        said.append(f"default {shown}")
    said = [s for s in said if s]
    return argument.help + (f" ({'; '.join(said)})" if said else "")


def parse(name: str, module: Any, tokens: Sequence[str], write: Callable[[str], object] = print) -> argparse.Namespace:
    """Parse a command's tokens; UsageError says what is wrong and what would do.

    Options that are not given are absent: the function's own defaults hold.
    """
    made = parser(name, module, write)
    _check_options(made, tokens)  # first: a misspelt option is named, not reported as a missing one
    arguments, rest = made.parse_known_args(_protect(tokens))
    if rest:
        raise UsageError(f"unexpected argument {shorten(rest[0].strip())!r}; see bulkedge {name} --help")
    for key, value in vars(arguments).items():
        if isinstance(value, str):
            setattr(arguments, key, value.removeprefix(" "))
        elif isinstance(value, list):
            setattr(arguments, key, [v.removeprefix(" ") if isinstance(v, str) else v for v in value])
    return arguments


def _protect(tokens: Sequence[str]) -> list[str]:
    """Let a value begin with "-": argparse takes a token for a value if it begins with a space."""
    return [" " + t if t.startswith("-") and not t.startswith("--") and t not in {"-h", "-"} else t for t in tokens]


def _check_options(made: Parser, tokens: Sequence[str]) -> None:
    for token in tokens:
        option = token.split("=", 1)[0]
        if token == "--":
            raise UsageError('"--" stands alone; leave it out: a value may begin with "-" here')
        if not token.startswith("--") or option in made.options():
            continue
        near = difflib.get_close_matches(option, made.options(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"the options are {', '.join(sorted(made.options()))}"
        raise UsageError(f"unknown option {shorten(option)}; {hint}")


def shorten(text: str) -> str:
    """What was typed, short enough for a message."""
    return text if len(text) <= 60 else text[:57] + "..."
