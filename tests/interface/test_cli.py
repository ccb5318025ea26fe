"""The public contract of the command line: JSON alone on stdout, exit statuses, one helpful line for bad input."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from effort import TWO_SECONDS, at_most

import bulkedge
from bulkedge.cli import main
from bulkedge.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


def run(capsys: pytest.CaptureFixture[str], *tokens: str) -> tuple[int, str, str]:
    status = main(tokens)
    out, err = capsys.readouterr()
    return status, out, err


def run_json(capsys: pytest.CaptureFixture[str], *tokens: str) -> dict:
    status, out, _ = run(capsys, *tokens, "--json")
    assert status == 0
    assert out.count("\n") == 1

    def refuse(text: str) -> float:
        raise AssertionError(f"{text}: reals are strings, nothing is nan or infinite")

    return json.loads(out, parse_float=refuse, parse_constant=refuse)


def test_hermite_fields(capsys):
    found = run_json(capsys, "hermite", "relu", "--degree", "4")
    assert {"command", "inputs", "setting", "source", "notes"} <= set(found)
    assert (found["command"], found["convention"], found["information_exponent"]) == ("hermite", "orthonormal", 1)
    assert [c["k"] for c in found["coefficients"]] == [0, 1, 2, 3, 4]
    assert found["coefficients"][1] == {"k": 1, "exact": "1/2", "value": "0.5", "error": "0"}
    assert "k" in found["general_term"]


def test_hermite_without_a_closed_form(capsys):
    found = run_json(capsys, "hermite", "tanh", "--degree", "3", "--digits", "40")
    assert found["general_term"] is None
    for c in found["coefficients"]:
        assert (c["exact"] is None) == (c["error"] != "0")
    value = found["coefficients"][1]["value"]
    assert value.startswith("0.605705509602")
    assert len(value) == 42


@pytest.mark.parametrize("convention", ["orthonormal", "probabilist", "moment"])
def test_conventions(capsys, convention):
    found = run_json(capsys, "hermite", "z**3", "--degree", "3", "--convention", convention)
    last = {"orthonormal": "sqrt(6)", "probabilist": "1", "moment": "6"}[convention]
    assert found["coefficients"][3]["exact"] == last


@pytest.mark.parametrize("function", ["-z", "-relu", "-1/2*z**2", "- z"])
def test_a_value_may_begin_with_a_minus(capsys, function):
    found = run_json(capsys, "hermite", function, "--degree", "2")
    assert any(c["value"].startswith("-") for c in found["coefficients"])


def test_spellings_of_one_function_agree(capsys):
    spellings = ["relu", "Max(z, 0)", "(z + Abs(z))/2", "z*Heaviside(z)", "Piecewise((z, z > 0), (0, True))"]
    found = [run_json(capsys, "hermite", s, "--degree", "6") for s in spellings]
    for other in found[1:]:
        assert other["coefficients"] == found[0]["coefficients"]
        assert other["general_term"] == found[0]["general_term"]


def test_output_modes(capsys):
    status, out, _ = run(capsys, "hermite", "relu", "--degree", "2")
    assert status == 0
    assert "0.398942280401433" in out
    status, out, _ = run(capsys, "hermite", "relu", "--degree", "2", "--csv")
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0][:3] == ["k", "exact", "value"]
    assert len(rows) == 4
    status, out, _ = run(capsys, "hermite", "relu", "--degree", "2", "--latex")
    assert "theta" not in out
    assert "\\" in out


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["hermite", "rleu", "--degree", "2"], ["rleu", "did you mean relu"]),
        (["hermite", "tanh(x)", "--degree", "2"], ["called z"]),
        (["hermite", "z^2", "--degree", "2"], ["**"]),
        (["hermite", "exp(z**2/3)", "--degree", "2"], ["square integrable", "exp(z**2/4)"]),
        (["hermite", "1/z", "--degree", "2"], ["zero"]),
        (["hermite", "log(z)", "--degree", "2"], ["positive"]),
        (["hermite", "tan(z)", "--degree", "2"], ["poles"]),
        (["hermite", "sqrt(-1)*z", "--degree", "2"], ["real"]),
        (["hermite", "9**9**9**9", "--degree", "2"], ["large"]),
        (["hermite", "(z+1)**100000", "--degree", "2"], ["large"]),
        (["hermite", "z" * 100_000, "--degree", "2"], ["2000"]),
        (["hermite", "__import__('os').system('ls')", "--degree", "2"], ["dot"]),
        (["hermite", "relu", "--degree", "-1"], ["degree"]),
        (["hermite", "relu", "--degree", "1/2"], ["degree", "integer"]),
        (["hermite", "relu", "--degree", "1e99999999"], ["degree", "exponent"]),
        (["hermite", "relu", "--degree", "99999"], ["degree"]),
        (["hermite", "relu", "--degree", "2", "--digits", "0"], ["digits", "1..1000"]),
        (["hermite", "relu", "--degree", "2", "--digits", "1001"], ["digits", "1..1000"]),
        (["hermite", "relu", "--degree", "2", "--convention", "orthonormale"], ["did you mean orthonormal"]),
        (["hermite", "relu", "--degre", "2"], ["--degree"]),
        (["hermite", "relu", "--degree", "2", "--digit", "3"], ["--digit", "did you mean --digits"]),
        (["hermite", "relu", "--degree", "2", "--json", "--latex"], ["--json", "--latex"]),
        (["hermite", "relu", "extra", "--degree", "2"], ["extra"]),
        (["hermite", "--degree", "2"], ["FUNCTION"]),
        (["hermitte", "relu"], ["did you mean hermite"]),
        (["show", "H99"], ["H99"]),
        (["check", "H99"], ["H99"]),
        (["check", "--seed", "abc"], ["seed"]),
        (["check", "--jobs", "0"], ["jobs"]),
    ],
    ids=lambda v: " ".join(v)[:40] if isinstance(v, list) else "",
)
def test_unusable_input(capsys, tokens, words):
    with at_most(TWO_SECONDS):  # imports included
        status, out, err = run(capsys, *tokens)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelt_option_is_named(capsys, command):
    status, out, err = run(capsys, command, "--jsonn")
    assert (status, out) == (2, "")
    assert "--json" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_a_python_twin(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert f"bulkedge {command}" in capsys.readouterr().out
    twin = getattr(bulkedge, command)
    assert callable(twin)
    assert twin.__doc__


def test_help_lists_every_command(capsys):
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for command, text in COMMANDS.items():
        assert f"{command} " in out
        assert text in out


def test_list_show_and_version(capsys):
    listed = run_json(capsys, "list")
    ids = [s["id"] for s in listed["statements"]]
    assert {"H1", "H2", "H3", "H4"} <= set(ids)
    assert len(ids) == len(set(ids))
    shown = run_json(capsys, "show", "H1")
    assert shown["id"] == "H1"
    assert shown["checks"]
    assert run_json(capsys, "version")["version"] == bulkedge.__version__


@pytest.mark.parametrize("id", ["H1", "H2", "H3", "H4"])
def test_show_in_every_mode(capsys, id):
    for mode in ([], ["--latex"], ["--json"]):
        status, out, err = run(capsys, "show", id, *mode)
        assert status == 0
        assert out
        assert err == ""


def test_check_of_one_statement(capsys):
    found = run_json(capsys, "check", "H1", "--seed", "5", "--jobs", "1")
    assert found["checks"]
    for c in found["checks"]:
        assert {"id", "claim", "predicted", "measured", "stderr", "verdict", "control"} <= set(c)
        assert (c["verdict"], c["control"]) == ("CONFIRMED", "REFUTED")


def test_a_value_too_large_for_any_decimal_string_is_refused(capsys):
    status, out, err = run(capsys, "hermite", "exp(2000*z)", "--degree", "1")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "too large for decimal digits" in err


def test_the_program_itself():
    """Through a real process: stdout is one JSON object, also when the reader is a pipe."""
    done = subprocess.run(
        [sys.executable, "-m", "bulkedge", "hermite", "-z", "--degree", "1", "--json"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["coefficients"][1]["exact"] == "-1"
    assert done.stderr == ""
    done = subprocess.run(
        [sys.executable, "-m", "bulkedge", "hermite", "z+", "--degree", "1"],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_python_functions_are_the_commands():
    result = bulkedge.hermite("relu", 3, convention="moment")
    assert json.loads(result.to_json())["convention"] == "moment"
    assert result._repr_latex_().startswith("$")
    with pytest.raises(bulkedge.InputError, match="degree"):
        bulkedge.hermite("relu", -1)
    with pytest.raises((AttributeError, TypeError)):
        result.convention = "orthonormal"
