"""Every argument of every command with values at and beyond the ends of what makes sense, one at a time.

    python -m tests.support.argument_fuzz [SECONDS [COMMAND ...]]

prints the calls that end in an internal error, in an answer that is none, or take more than SECONDS of processor time.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bulkedge.cli import main
from bulkedge.commands import COMMANDS, module
from bulkedge.parser import parser as parser_of

# A cheap call of each command, whose arguments are then replaced one by one; options it does not have are added.
CALLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "hermite": (("relu", "--degree", "2"),),
    "kernel": (
        ("relu", "--rho", "1/2", "--order", "2"),
        ("erf", "--q11", "1", "--q12", "0", "--q22", "1", "--order", "0"),
    ),
    "sphere": (("relu", "--dim", "3", "--degree", "2"),),
    "outliers": (("1/3", "1/4", "--degree", "2"),),
    "align": (("He(2, z)", "--power", "2", "--alpha", "2", "--batch", "reused"),),
    "mp": (("--ratio", "1/2"),),
    "spike": (("--ratio", "1/2", "--strength", "2"), ("--ratio", "2", "--observed", "4", "--size", "100")),
    "equivalent": (
        (
            *("tr(inv(X.T*X + lam))", "--gaussian", "X: n x d, 1/n", "--size", "n=2,d=1", "--positive", "lam"),
            *("--set", "lam=1", "--simulate", "4", "--trials", "2"),
        ),
    ),
    "convert": (("--from", "F", "--to", "O", "--step", "1", "--width", "2"),),
    "risk": (("relu", "z", "--samples", "2", "--width", "1", "--ridge", "1/10", "--step", "1"),),
    "gamma": (("relu", "z", "--n", "20", "--m", "10", "--d", "10", "--step", "1"),),
    "spectrum": (("--dim", "20", "--bulk", "1", "--spike", "1"),),
    "features": (("relu", "z", "--exponent", "1/10"),),
    "floor": (("relu", "z"),),
    "weights": (("FILE",),),
    "check": (("H4", "--jobs", "1"),),
    "functions": ((),),
    "conventions": ((),),
    "list": ((),),
    "show": (("H1",),),
    "figure": ((),),
    "paper": (("R1.edges", "--no-ledger", "--out", "DIR"),),
    "report": (("DIR", "H4"),),
    "version": ((),),
}
VALUES = (
    "0", "-1", "1", "3", "1e9", "1e-400", "1e400", "-1e400", "1e-20", "1e-60", "1e300", "1" + "0" * 30,
    "499999999999/1000000000000", "nan", "inf", "", " ", "é", "\udcff", "\x00", "9" * 5000, "relu", "sqrt(2)", "1/0",
    "0.1:1e300:3", "0:1:1000000000",
)  # fmt: skip
MODES = ("--json", "--latex", "--csv", "")
FILES = frozenset({"out", "store", "plot", "cluster"})  # paths and addresses: tests of their own


def calls() -> Iterator[tuple[str, ...]]:
    """The calls, with an output mode each in turn."""
    modes = itertools.cycle(MODES)
    for name in COMMANDS:
        parser = parser_of(name, module(name))
        options = [a.option_strings[0] for a in parser._actions if a.option_strings and a.nargs is None]
        options = [o for o in options if o.removeprefix("--").replace("-", "_") not in FILES]
        for call in CALLS[name]:
            for value in VALUES:
                for at, token in enumerate(call):
                    if not token.startswith("--") and token not in {"FILE", "DIR"}:
                        yield name, *call[:at], value, *call[at + 1 :], *filter(None, [next(modes)])
                for option in options:
                    if option not in call:
                        yield name, *call, option, value, *filter(None, [next(modes)])


class _TooLongError(BaseException):
    """Not caught by anything."""


def run(tokens: tuple[str, ...], scratch: Path, seconds: float = 0) -> tuple[int, str, str]:
    """Exit status (-1: took too long), standard output and standard error of a call."""

    def stop(*_: object) -> None:
        raise _TooLongError

    given = tuple({"FILE": str(scratch / "W.npy"), "DIR": str(scratch / "out")}.get(t, t) for t in tokens)
    out, err = io.StringIO(), io.StringIO()
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(given)
    except _TooLongError:
        status = -1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return status, out.getvalue(), err.getvalue()


def complaint(status: int, out: str, err: str) -> str:
    """What is wrong with an answer, or nothing."""
    if status not in {0, 2, 3}:
        return f"status {status}"
    if status == 2 and (out or err.count("\n") != 1 or len(err) > 1000):
        return "exit status 2 is one line on stderr alone"
    if status == 0 and not out:
        return "no output"
    if "Traceback" in err:
        return "a traceback"
    return ""


def prepare(scratch: Path) -> None:
    """The file that FILE stands for."""
    np.save(scratch / "W.npy", np.random.default_rng(1).standard_normal((30, 20)))


def survey(seconds: float, commands: list[str]) -> int:
    """Run them all and print what is wrong; returns how many."""
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for tokens in calls():
            if commands and tokens[0] not in commands:
                continue
            count += 1
            begun = time.process_time()
            status, out, err = run(tokens, Path(folder), seconds)
            problem = complaint(status, out, err)
            if problem:
                wrong += 1
                shown = " ".join(t if len(t) < 40 else t[:37] + "..." for t in tokens)
                print(f"{problem} ({time.process_time() - begun:.1f} s): {shown!a} {err[:300]!a}", flush=True)
    print(f"{count} calls, {wrong} with a complaint")
    return wrong


if __name__ == "__main__":
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    sys.exit(min(1, survey(limit, sys.argv[2:])))
