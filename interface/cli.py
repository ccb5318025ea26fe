"""The command line: parse, call the public function of the command's name, print. Nothing else.

Exit status: 0 fine; 1 a check is not CONFIRMED or a control is not REFUTED; 2 unusable input (one line, stdout
empty); 3 the digits asked for could not be reached (the value is printed with its honest error); 70 an internal error
(one line; BULKEDGE_DEBUG=1 shows where); 130 interrupted.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bulkedge.arguments import declarations
from bulkedge.commands import COMMANDS
from bulkedge.commands import function as command_function
from bulkedge.commands import module as command_module
from bulkedge.parser import UsageError, parse, shorten

if TYPE_CHECKING:
    from bulkedge.results.result import Result


_LONGEST_LINE = 800  # characters of a message


class _OutputError(Exception):
    """Standard output cannot be written."""


def _usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [
        "usage: bulkedge COMMAND ...",
        "",
        "Theory of feature learning in the first gradient steps: derive, evaluate, check, print.",
        "",
        "commands:",
        *(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()),
        "",
        "bulkedge COMMAND --help tells a command's options; every command takes --json and --latex.",
    ]
    return "\n".join(lines) + "\n"


def _print_result(result: Result, mode: str) -> None:
    if mode == "json":
        text = result.to_json() + "\n"
    elif mode == "python":
        text = result.python() + "\n"
    elif mode == "latex":
        text = result.latex() + "\n"
    elif mode == "csv":
        text = _csv(result)
    else:
        text = _readable(result)
    _write(_printable(text, mode))


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk
        raise _OutputError(error.strerror) from None


def _printable(text: str, mode: str) -> str:
    """The text in what the terminal's encoding has: a rule becomes dashes, other letters their escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        if mode == "json":  # outside of strings JSON has ASCII only, so JSON's own escapes say the same
            import json

            return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)
        return text.replace("─", "-").encode(encoding, "backslashreplace").decode(encoding)
    return text


def _csv(result: Result) -> str:
    import csv
    import io

    tables = result.tables()
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(tables[0].columns)
    writer.writerows(tables[0].rows)
    return buffer.getvalue()


def _readable(result: Result) -> str:
    import shutil

    from bulkedge.results.readable import text

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((120 if terminal else 160, 24)).columns  # COLUMNS, also for a pipe
    return text(result, width, terminal)


def call(name: str, arguments: argparse.Namespace) -> Result:
    """The result of a command's function at what was parsed; its progress goes to stderr."""
    function: Callable[..., Result] = command_function(name)
    given = {key: value for key, value in vars(arguments).items() if key not in {"mode", "plot"}}
    if "progress" not in inspect.signature(function).parameters:
        return function(**given)
    from bulkedge.results.progress import RichProgress

    with RichProgress() as progress:
        return function(**given, progress=progress)


def _check_curve(name: str, arguments: argparse.Namespace) -> None:
    """Refuse --plot, before anything is computed, where the argument that makes a curve is a single number."""
    for key, argument in declarations(command_function(name)).items():
        if argument.curve and ":" not in getattr(arguments, key, ""):
            from bulkedge.theory.numbers.errors import InputError

            raise InputError("plot", f"one {key} size has no curve", f"give a curve, --{key} a:b:n")


def _run(argv: Sequence[str]) -> int:
    if sys.stdout is None:  # the caller closed it (`>&-`): before anything is computed
        raise _OutputError("it is closed")
    if not argv or argv[0] in {"-h", "--help", "help"}:
        _write(_usage())
        return 0
    name, tokens = argv[0], argv[1:]
    if name == "--version":
        name = "version"
    if name not in COMMANDS:
        if name.startswith("-"):
            raise UsageError(f"{shorten(name)!r} comes before the command; see bulkedge --help")
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(COMMANDS)}"
        raise UsageError(f"unknown command {shorten(name)!r}; {hint}")
    module = command_module(name)
    arguments = parse(name, module, tokens, lambda text: _write(_printable(text, "table")))
    plot = getattr(arguments, "plot", None)
    if plot is not None:
        from bulkedge.results.plotting import check_plot_path

        check_plot_path(plot)
        _check_curve(name, arguments)
    result = call(name, arguments)
    if plot is not None:
        from bulkedge.results.plotting import save_figure

        save_figure(result, plot)
    _print_result(result, arguments.mode)
    return result.exit_status


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    This is the outermost guard: whatever is raised becomes one line and an exit status, never a traceback.
    """
    _occupy()
    try:
        return _answer(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        _tell("interrupted; finished trials are kept where --store was given")
        return 130
    except Exception as error:  # our fault, not the user's
        return _internal(error)


def _internal(error: Exception) -> int:
    """One line about an error that nobody foresaw, with where it happened and what to do about it."""
    import traceback

    if os.environ.get("BULKEDGE_DEBUG"):
        _tell("".join(traceback.format_exception(error)), whole=True)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    try:
        what = shorten(f"{type(error).__name__}: {error}")
    except Exception:  # an exception that cannot even be printed
        what = type(error).__name__
    _tell(
        f"internal error ({what}{where}); this is a fault of bulkedge: please report this line and the command to its "
        "authors (BULKEDGE_DEBUG=1 shows more)"
    )
    return 70


def _occupy() -> None:
    """Let no file that is opened later take the place of a standard stream that the caller closed."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest descriptor that is free, this one


def _silence() -> None:
    """Keep the interpreter from complaining, when it ends, about what standard output did not take."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # no standard output, or none with a descriptor
        return


def _answer(argv: Sequence[str]) -> int:
    """Run the command line; what a user can set right, or is no error, is answered here."""
    try:
        return _run(argv)
    except UsageError as error:
        return _complain(str(error))
    except BrokenPipeError:
        _silence()  # the reader went away (| head): not an error of ours
        return 0
    except _OutputError as error:
        _silence()
        return _complain(f"the output cannot be written ({error}); write it elsewhere")
    except Exception as error:
        from bulkedge.derivations.engine.derivation import DerivationError
        from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError

        if isinstance(error, InputError):
            return _complain(str(error))
        if isinstance(error, DerivationError):
            _complain(str(error))
            return 1
        if isinstance(error, PrecisionError | ConvergenceError):
            _tell(str(error))
            return 3
        raise


def _complain(message: str) -> int:
    _tell(message)
    return 2


def _tell(message: str, whole: bool = False) -> None:
    """One line on standard error, if there is one that takes it; `whole`: as it stands."""
    if sys.stderr is None:  # the caller closed it: `2>&-`
        return
    words = " ".join(message.split())
    if len(words) > _LONGEST_LINE:  # what the caller typed may be of any length
        words = f"{words[: _LONGEST_LINE - 200]} ... {words[-190:]}"
    line = message if whole else f"bulkedge: {words}\n"
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    try:
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
    except (OSError, ValueError):  # a full disk, a closed stream: there is nowhere left to complain
        return


if __name__ == "__main__":
    sys.exit(main())
