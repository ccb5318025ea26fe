"""The store: resuming, stale code, kills at random moments, a full disk, a read-only file system, foreign files."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bulkedge.numerics.trials.runner import Runner
from bulkedge.numerics.trials.store import Store
from bulkedge.theory.numbers.errors import InputError

ROOT = Path(__file__).parents[3]

# A run of 40 trials at two sizes that logs every execution; started, killed and started again as a process of its own.
SCRIPT = """
import os, sys, time
from bulkedge.numerics.trials.runner import Runner
from bulkedge.numerics.trials.store import Store

def trial(rng, size):
    log, most = os.environ["LOG"], int(os.environ.get("MOST", "1000"))
    while os.path.exists(log) and os.path.getsize(log) and len(open(log).readlines()) >= most:
        time.sleep(0.01)  # what the test does next it does in the midst of the run, however busy the machine is
    value = float(rng.standard_normal(size).sum())
    time.sleep(0.01)
    os.write(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), f"{size} {value!r}\\n".encode())
    return {"value": value, "third": value / 3}

if __name__ == "__main__":
    path, jobs = sys.argv[1:]
    with Store(path) as store:
        runner = Runner(seed=3, jobs=int(jobs), store=store)
        for size, results in runner.run(trial, (5, 50), 40).items():
            for result in results:
                print(size, repr(result["value"]), repr(result["third"]))
"""
TRIALS = 80


def start(folder: Path, store: Path, jobs: int = 1, most: int = 1000, **options: object) -> subprocess.Popen[str]:
    """The script as a process that stops after its log has `most` lines, and waits to be killed."""
    (folder / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(folder / "script.py"), str(store), str(jobs)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "LOG": str(folder / "log"), "MOST": str(most)}
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def finished(log: Path) -> int:
    """How many trials have written to the log."""
    return len(log.read_text().splitlines()) if log.exists() else 0


def stored(store: Path) -> int:
    """How many trials are kept, as another process sees it."""
    if not store.exists():
        return 0
    with Store(store) as kept:
        return len(kept)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What an undisturbed run prints."""
    folder = tmp_path_factory.mktemp("undisturbed")
    out, err = start(folder, folder / "store").communicate(timeout=600)
    assert len(out.splitlines()) == TRIALS, err
    return out


@pytest.mark.kills
def test_twenty_kills_lose_only_the_trials_in_flight(tmp_path: Path, expected: str) -> None:
    store, rng = tmp_path / "store", random.Random(1)
    log = tmp_path / "log"
    for _ in range(20):
        lines = log.stat().st_size if log.exists() else 0
        process = start(tmp_path, store)
        while process.poll() is None and (log.stat().st_size if log.exists() else 0) == lines:
            time.sleep(0.002)  # until a trial of this start is finished
        time.sleep(rng.uniform(0, 0.035))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    out, _ = start(tmp_path, store).communicate(timeout=600)
    assert out == expected
    runs = Counter(log.read_text().splitlines())
    assert len(runs) == TRIALS
    # One worker: each kill loses at most the one trial that was being run or kept.
    assert sum(runs.values()) <= TRIALS + 20


@pytest.mark.kills
def test_a_kill_with_two_workers_keeps_what_was_finished(tmp_path: Path, expected: str) -> None:
    store, log = tmp_path / "store", tmp_path / "log"
    process = start(tmp_path, store, jobs=2, most=30)
    while process.poll() is None and not (finished(log) >= 30 and stored(store) >= finished(log) - 4):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert 26 <= stored(store) <= finished(log) < TRIALS
    out, _ = start(tmp_path, store, jobs=2).communicate(timeout=600)
    assert out == expected
    # Each of the two workers may have had one trial in hand and one on its way back.
    assert len(log.read_text().splitlines()) <= TRIALS + 4


@pytest.mark.kills
def test_interrupt_keeps_finished_trials(tmp_path: Path, expected: str) -> None:
    store, log = tmp_path / "store", tmp_path / "log"
    process = start(tmp_path, store, most=10)
    while process.poll() is None and finished(log) < 10:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate()
    with Store(store) as kept:
        assert len(kept) >= 9
    assert start(tmp_path, store).communicate(timeout=600)[0] == expected


def test_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path, expected: str) -> None:
    store = tmp_path / "store"

    def limit() -> None:  # no file of the child may grow beyond 120 kB: some trials fit, not all
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))

    process = start(tmp_path, store, preexec_fn=limit)
    out, err = process.communicate(timeout=600)
    assert process.returncode != 0
    assert out == ""
    message = err.splitlines()[-1]
    assert "InputError: store:" in message
    assert "full" in message
    with Store(store) as kept:
        assert 0 < len(kept) < TRIALS
    assert start(tmp_path, store).communicate(timeout=600)[0] == expected


@pytest.mark.root
def test_read_only_file_system_is_a_clear_error(tmp_path: Path) -> None:
    mount = tmp_path / "mount"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(mount)], check=True)
    try:
        with Store(mount / "store") as store:
            store.put("kept", {"x": 1.0})
        subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
        for name in ("store", "new"):
            with pytest.raises(InputError, match="store") as caught:
                Store(mount / name)
            assert caught.value.argument == "store"
        subprocess.run(["mount", "-o", "remount,rw", str(mount)], check=True)
        with Store(mount / "store") as store:
            assert store.get("kept") == {"x": 1.0}
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_floats_come_back_bit_by_bit(tmp_path: Path) -> None:
    values = {"a": 0.1 + 0.2, "b": 5e-324, "c": -1.7976931348623157e308, "d": -0.0, "e": 1 / 3}
    with Store(tmp_path / "store") as store:
        store.put("key", values)
    with Store(tmp_path / "store") as store:
        kept = store.get("key")
        assert kept is not None
        assert {k: v.hex() for k, v in kept.items()} == {k: v.hex() for k, v in values.items()}
        assert store.get("other") is None
        with pytest.raises(ValueError, match="JSON"):
            store.put("nan", {"x": float("nan")})


def test_changed_code_is_not_answered_from_the_store(tmp_path: Path) -> None:
    """A change of the trial's own file, or of a module beside it that it imports, is noticed."""
    (tmp_path / "helper.py").write_text("FACTOR = 1.0\n")
    source = "import helper\ndef trial(rng, size):\n    return {'x': helper.FACTOR * 1.0}\n"
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import mine\nfrom bulkedge import Runner, Store\n"
        "with Store(sys.argv[1] + '/store') as s:\n"
        "    print(Runner(store=s).run(mine.trial, (1,), 1)[1][0]['x'], len(s))\n"
    )

    def run() -> str:
        command = [sys.executable, "-c", program, str(tmp_path)]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "mine.py").write_text(source)
    assert run() == "1.0 1"
    assert run() == "1.0 1"
    (tmp_path / "mine.py").write_text(source.replace("* 1.0", "* 2.0"))
    assert run() == "2.0 2"
    (tmp_path / "helper.py").write_text("FACTOR = 5.0\n")
    assert run() == "10.0 3"
    (tmp_path / "helper.py").write_text("FACTOR = 1.0\n")
    assert run() == "2.0 3"


def test_files_that_are_no_store_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a database, and long enough to have a header" * 40)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    for path in (text, other, tmp_path, tmp_path / "missing" / "store"):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(InputError) as caught:
            Store(path)
        assert caught.value.argument == "store"
        assert "\n" not in str(caught.value)
        assert (path.read_bytes() if path.is_file() else None) == before


def test_two_processes_may_share_a_store(tmp_path: Path) -> None:
    def trial(rng: np.random.Generator, size: int) -> dict[str, float]:
        return {"x": float(rng.standard_normal())}

    with Store(tmp_path / "store") as one, Store(tmp_path / "store") as two:
        first = Runner(store=one).run(trial, (1, 2), 5)
        assert Runner(store=two).run(trial, (1, 2), 5) == first
        assert len(two) == 10
