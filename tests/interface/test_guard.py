"""Nothing reaches the command line's outermost guard: whatever the arguments, streams, disk or user's file are.

An error that nobody foresaw is one line and exit status 70. Thousands of extreme arguments end in an answer, or in one
line that names the argument; `python -m tests.support.argument_fuzz` tries all of them and reports.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import argument_fuzz as fuzz
import numpy as np
import pytest
from effort import TWO_SECONDS, at_most

from bulkedge.cli import main
from bulkedge.commands import COMMANDS
from bulkedge.numerics.trials import domain
from bulkedge.theory.functions import parse

ROOT = Path(__file__).parents[2]
EVERY = list(fuzz.calls())


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guard")
    fuzz.prepare(folder)
    return folder


def wrong(calls: list[tuple[str, ...]], scratch: Path) -> list[str]:
    found = ((tokens, fuzz.complaint(*fuzz.run(tokens, scratch, 100.0))) for tokens in calls)
    return [f"{problem}: {' '.join(tokens)[:120]}" for tokens, problem in found if problem]


# A stride that is prime to the numbers of values and of output modes meets all of them; CI takes the rest.
@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"report"}))  # each call of report draws a page
def test_some_extreme_arguments(name: str, scratch: Path) -> None:
    assert wrong([c for c in EVERY[::17] if c[0] == name], scratch) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", COMMANDS)
def test_every_extreme_argument(name: str, scratch: Path) -> None:
    assert wrong([c for i, c in enumerate(EVERY) if c[0] == name and (i % 17 or name == "report")], scratch) == []


@pytest.mark.parametrize(
    "call",
    [
        "align He(2,z) --power 2 --alpha 1e300 --batch reused",
        "align He(2,z) --power 2 --alpha 1e-300 --batch fresh",
        "spike --ratio 2 --observed 4 --size 100 --level 1e-20",
        "spike --ratio 2 --observed 4 --size 100 --level 0.99999999999999999999",
        "sphere relu --dim 1e16 --degree 4",
        "sphere relu --dim 1e9 --degree 700",
        "gamma relu z --n 20 --m 10 --d 10 --step 1e400 --latex",
    ],
)
def test_extremes_with_an_answer(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(call.split()) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        ("spike --ratio 2 --observed 4 --size 1e400", "size"),
        ("spike --ratio 2 --observed 4 --size 10 --level 1", "level"),
        ("check --jobs 1e9", "jobs"),
        ("figure --out DIR --jobs 1e9", "jobs"),
        ("risk relu z --samples 2 --width 1 --ridge 1e300 --step 1", "ridge"),
        ("risk relu z --samples 2 --width 1 --ridge 1 --step 0:1e300:3", "step"),
        ("features relu z --exponent 1/10 --noise 1e300", "noise"),
        ("features relu z --exponent 1/10 --batch 1e-400", "batch"),
        ("spectrum --dim 20 --bulk 1e300 --spike 1", "bulk"),
        ("spectrum --dim 20 --bulk 1 --spike 1 --activation 1e300*relu(z)", "activation"),
        ("risk 1e300 z --samples 2 --width 1 --ridge 1 --step 1", "FUNCTION"),
        ("risk relu 1e-300*z --samples 2 --width 1 --ridge 1 --step 1", "FUNCTION"),
    ],
)
def test_every_argument_has_a_range(
    call: str, argument: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with at_most(TWO_SECONDS):
        assert main([t.replace("DIR", str(tmp_path)) for t in call.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"bulkedge: {argument}: ")
    assert err.count("\n") == 1


def test_the_range_is_that_of_the_numeric_layer() -> None:
    assert (float(parse.SMALLEST), float(parse.LARGEST)) == (domain.SMALLEST, domain.LARGEST)


class Unprintable(Exception):  # noqa: N818 -- not one of ours
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [ValueError("two\nlines"), MemoryError(), RecursionError("deep"), Unprintable()])
def test_the_unforeseen_is_one_line_and_status_70(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("bulkedge.commands.ledger.version.version", fail)
    assert main(["version"]) == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert re.match(rf"bulkedge: internal error \({type(error).__name__}.* at test_guard.py:\d+\)", err)
    assert "report this line" in err
    monkeypatch.setenv("BULKEDGE_DEBUG", "1")
    assert main(["version"]) == 70
    assert "Traceback" in capsys.readouterr().err


# -- streams -----------------------------------------------------------------------------------------------------


def shell(line: str, **environment: str) -> tuple[int, bytes, str]:
    done = subprocess.run(
        ["bash", "-c", line.replace("bulkedge", f"{sys.executable} -m bulkedge", 1)],
        capture_output=True, cwd=ROOT, env=os.environ | environment, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.decode(errors="backslashreplace")


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("bulkedge mp --ratio 1/2 >&-", 2, "it is closed"),
        ("bulkedge --help >&-", 2, "it is closed"),
        ("bulkedge mp --ratio x >&- 2>&-", 2, ""),
        ("bulkedge mp --ratio 1/2 >/dev/full", 2, "No space left"),
        ("bulkedge mp --ratio x 2>/dev/full", 2, ""),
        ("bulkedge check H4 --jobs 1 --csv <&- 2>&-", 0, ""),
    ],
)
def test_closed_and_full_streams(line: str, status: int, said: str) -> None:
    found, _, err = shell(line)
    assert (found, said in err, err.count("\n")) == (status, True, int(bool(said)))
    assert "Traceback" not in err


def test_a_terminal_that_is_not_utf_8(tmp_path: Path) -> None:
    """Letters become escapes; JSON says the same as everywhere."""
    ascii = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    file = tmp_path / "W\u00e9\u20ac\U0001d400.npy"
    np.save(file, np.random.default_rng(1).standard_normal((30, 20)))
    everywhere = shell(f"bulkedge weights {file} --json", PYTHONUTF8="1")[1].decode()
    assert not everywhere.isascii()  # else this tests nothing
    status, out, err = shell(f"bulkedge weights {file} --json", **ascii)
    assert (status, err) == (0, "")
    assert json.loads(out.decode("ascii")) == json.loads(everywhere)
    for line in ("bulkedge list", "bulkedge mp --help"):
        status, out, err = shell(line, **ascii)
        assert (status, err) == (0, "")
        assert out.isascii()
    status, out, err = shell(r"bulkedge hermite $'z\xff\xc3\xa9' --degree 1", **ascii)
    assert (status, out, err.count("\n")) == (2, b"", 1)
    assert err.isascii()


# -- the disk ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "risk relu z --samples 2 --width 1 --ridge 1 --step 0:2:9 --plot DIR/plot.svg",
        "mp --ratio 1/2 --plot DIR/plot.pdf",
        "mp --ratio 1/2 --plot DIR/plot.png",
        "figure K.decay --out DIR/new",
        "paper R1.edges --no-ledger --out DIR/new",
    ],
)
def test_a_full_disk_leaves_no_half_written_file(line: str, tmp_path: Path) -> None:
    """No file of the process may grow beyond a kilobyte."""
    code = (
        "import resource, sys, matplotlib.font_manager; from bulkedge.cli import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY)); sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *line.replace("DIR", str(tmp_path)).split()],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "cannot be written" in done.stderr
    assert ".bulkedge-" not in done.stderr  # the name that was given, not that of the scratch folder
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


# -- a user's file -----------------------------------------------------------------------------------------------

WITHOUT_LATEX = """
import sympy as sp
from bulkedge import Derivation, Step

a = sp.Symbol("a?b", positive=True)
DERIVATIONS = (Derivation("X1.odd", "Odd names", lambda: sp.Eq((a + 1) ** 2, a**2 + 2 * a + 1, evaluate=False),
                          lambda: (Step((a + 1) ** 2), Step(a**2 + 2 * a + 1, "=", "expand")), "mine"),)
"""


@pytest.mark.parametrize("command", ["paper", "report"])
def test_a_symbol_without_a_latex_form_is_named(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out"
    file.write_text(WITHOUT_LATEX)
    tokens = [str(file), "--no-ledger", "--out", str(out)] if command == "paper" else [str(out), str(file)]
    assert main([command, *tokens]) == 2
    printed, err = capsys.readouterr()
    assert printed == ""
    assert "the symbol name 'a?b' has no LaTeX form" in err
    assert err.count("\n") == 1
    assert not out.exists()
    assert main(["check", str(file)]) == 0  # what needs no LaTeX works
