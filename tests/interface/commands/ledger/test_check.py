"""`bulkedge check` on a user's own file: workers, store, interruption, exit status, unusable input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bulkedge
from bulkedge.cli import main
from bulkedge.numerics.trials.store import Store

ROOT = Path(__file__).parents[4]

# The mean of squares of normal numbers is 1; a module beside the file holds a part of it.
MINE = """
from dataclasses import dataclass
import os, time
from bulkedge import Check, Control, Ladder, MonteCarlo
from my_helper import SCALE

@dataclass(frozen=True)
class Scale:
    value: float = SCALE

def trial(rng, size):
    log, most = os.environ.get("LOG"), int(os.environ.get("MOST", "1000"))
    while log and os.path.exists(log) and os.path.getsize(log) >= 2 * most:
        time.sleep(0.01)  # to be interrupted in the midst of the run, however busy the machine is
    if log:
        os.write(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), b"x\\n")
    return {"mean": float((Scale().value * rng.standard_normal(size) ** 2).mean())}

CHECKS = (
    Check("mine.mean", "E z^2 = 1", "known", lambda: 1.0, MonteCarlo(trial, "mean", 200, 40, 40), 0.2,
          Control("variance 2", lambda: 2.0)),
    Check("mine.wrong", "E z^2 = 3", "invented", lambda: 3.0, MonteCarlo(trial, "mean", 200, 40, 40), 0.2,
          Control("variance 2", lambda: 2.0)),
)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A user's file of one right and one wrong check, and a module that it imports."""
    (tmp_path / "my_helper.py").write_text("SCALE = 1.0\n")
    file = tmp_path / "my_theorem.py"
    file.write_text(MINE)
    return file


def test_users_file_gives_the_same_numbers_on_workers(mine: Path) -> None:
    one = bulkedge.check([str(mine)])
    two = bulkedge.check([str(mine)], jobs=2)
    assert one.payload() == two.payload()
    verdicts = {c["id"]: (c["verdict"], c["control"]) for c in one.payload()["checks"]}
    assert verdicts == {"mine.mean": ("CONFIRMED", "REFUTED"), "mine.wrong": ("REFUTED", "REFUTED")}
    assert one.exit_status == 1


@pytest.mark.dask
@pytest.mark.filterwarnings("ignore")  # distributed's own noise
def test_users_file_runs_on_a_cluster(
    mine: Path,
    dask_address: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bulkedge.numerics.trials.cluster._SPEAK", 600.0)  # seconds: however busy the machine is
    expected = bulkedge.check([str(mine)]).payload()
    store = str(tmp_path / "store")
    for _ in range(2):  # computed there, then read here
        assert main(["check", str(mine), "--cluster", dask_address, "--store", store, "--json"]) == 1
        found = json.loads(capsys.readouterr().out)
        assert found["checks"] == expected["checks"]
        assert found["inputs"]["cluster"] == dask_address
    with Store(store) as kept:
        assert len(kept) == 40


def test_store_answers_the_second_run(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("LOG", str(log))
    first = bulkedge.check([str(mine)], store=str(tmp_path / "store"))
    assert bulkedge.check([str(mine)], store=str(tmp_path / "store")).payload() == first.payload()
    assert len(log.read_text().splitlines()) == 40  # both checks share the trials, the second run repeats none


@pytest.mark.kills
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupt_exits_130_and_keeps_finished_trials(mine: Path, tmp_path: Path, jobs: str) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    command = [sys.executable, "-m", "bulkedge", "check", str(mine), "--store", str(store), "--jobs", jobs, "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MOST": "12", "LOG": str(log)}
    # A shell's background job ignores SIGINT and would hand that down: the child is to get it as from a terminal.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    signal.signal(signal.SIGINT, inherited)
    while process.poll() is None and (len(log.read_text()) if log.exists() else 0) < 2 * 12:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: to the workers too
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert out == ""
    assert "interrupted" in err
    assert "Traceback" not in err
    before = len(log.read_text().splitlines())
    environment["MOST"] = "1000"
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert [c["verdict"] for c in json.loads(again.stdout)["checks"]] == ["CONFIRMED", "REFUTED"]
    total = len(log.read_text().splitlines())
    assert before < 40 <= total
    # Only what was in flight is repeated: two trials a worker are handed out, two may wait to be collected.
    assert total <= 40 + 4 * int(jobs)


def test_unusable_input_is_one_line_and_exit_2(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def (:\n")
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    for arguments in (
        ["nothing.py"],
        [str(broken)],
        [str(empty)],
        [str(mine), "--store", str(tmp_path / "missing" / "store")],
        [str(mine), "--store", str(mine)],
        [str(mine), "--jobs", "0"],
        [str(mine), "--seed", "-1"],
        [str(mine), "--cluster", "somewhere"],
        [str(mine), "--cluster", "tcp://127.0.0.1:1"],
    ):
        assert main(["check", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("bulkedge: ")
        assert err.count("\n") == 1


DERIVED = """
import sympy as sp
from bulkedge import Derivation, Step
from bulkedge.theory.numbers.symbols import rho, z

def right():
    yield Step((rho + 1) ** 2)
    yield Step(rho**2 + 2 * rho + 1, "=", "expand")

def wrong():
    yield Step((rho + 1) ** 2)
    yield Step(rho**2 + 1, "=", "forget the mixed term")

def broken():
    yield Step(rho / no_such_name)

DERIVATIONS = (
    Derivation("X1.right", "Right", lambda: rho**2 + 2 * rho + 1, right, "my note"),
    Derivation("X1.wrong", "Wrong", lambda: rho**2 + 1, wrong, "my note"),
    Derivation("X2.broken", "Broken", lambda: rho, broken, "my note"),
)
"""


def test_a_file_of_derivations_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # test runners set their own, and tables keep to it
    file = tmp_path / "mine.py"
    file.write_text(DERIVED + "DERIVATIONS = DERIVATIONS[:1]\n")
    assert main(["check", str(file), "--json"]) == 0
    (line,) = json.loads(capsys.readouterr().out)["checks"]
    assert {line[k] for k in ("id", "verdict", "control")} == {"X1.right", "CONFIRMED", "REFUTED"}
    assert (line["predicted"], line["measured"], line["stderr"], line["evidence"]) == ("3", "3", "0", "exact")
    assert main(["check", str(file)]) == 0
    assert "Right: steps and claims that hold" in capsys.readouterr().out
    assert main(["check", str(file), "--latex"]) == 0
    assert r"\text{X1.right} & 3 & 3 & \text{CONFIRMED}" in capsys.readouterr().out


def test_a_wrong_derivation_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(DERIVED + "DERIVATIONS = DERIVATIONS[:2]\n")
    assert main(["check", str(file), "--json"]) == 1
    out = json.loads(capsys.readouterr().out)
    assert [(c["id"], c["verdict"]) for c in out["checks"]] == [("X1.right", "CONFIRMED"), ("X1.wrong", "REFUTED")]
    assert (out["checks"][1]["predicted"], out["checks"][1]["measured"]) == ("3", "1")
    assert out["notes"][0].startswith("X1.wrong, step 2 (forget the mixed term)")
    assert (out["passed"], out["failed"]) == (1, 1)


def test_a_derivation_that_does_not_run_is_unusable_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(DERIVED)
    assert main(["check", str(file)]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert "X2.broken fails in line 15 of mine.py with NameError" in error
    assert error.count("\n") == 1
    file.write_text("EMPTY = 1\n")
    assert main(["check", str(file)]) == 2
    assert "exports no CHECKS and no DERIVATIONS" in capsys.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("seed", "names"),
    [
        (5, ["M", "O2.outlier.narrow.below", "R4.alarm"]),  # M2.first was BLIND at seeds 5 and 6
        (6, ["H", "K", "M2.first", "R1", "R3.covariance"]),
    ],
)
def test_verdicts_do_not_hang_on_the_seed(seed: int, names: list[str]) -> None:
    """A sample of the Monte Carlo checks away from seed 0, at which .ci/run takes the whole ledger."""
    results = bulkedge.check(names, seed=seed).results
    assert [(r.check.id, r.verdict.value, r.control.value) for r in results if not r.passed] == []


def test_control_variates_of_the_spike_have_mean_zero() -> None:
    from bulkedge.numerics.checks.spectra import spike
    from bulkedge.numerics.steps.network import train

    rng = np.random.default_rng(3)
    setting = spike.limit(*spike.NARROW_ABOVE).at(40)
    samples = np.array([spike._excess(train(setting, rng)) for _ in range(400)])
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0)) < 4 * error)
    assert np.all(error < 0.04)
