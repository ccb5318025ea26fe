"""A Dask cluster by its address: the same numbers, and one line for every way in which it cannot be used."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from bulkedge.numerics.trials.cluster import cluster
from bulkedge.numerics.trials.runner import Runner
from bulkedge.numerics.trials.store import Store
from bulkedge.theory.numbers.errors import InputError

ROOT = Path(__file__).parents[3]
# distributed's own noise (ports, deprecations, versions) is not ours to judge
pytestmark = [pytest.mark.dask, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a scheduler that is there as long as it takes on a busy machine."""
    monkeypatch.setattr("bulkedge.numerics.trials.cluster._REACH", 600.0)
    monkeypatch.setattr("bulkedge.numerics.trials.cluster._SPEAK", 600.0)


def trial(rng: np.random.Generator, size: int, log: str = "", nap: float = 0) -> dict[str, float]:
    """A number, and a line in a log that tells who computed it."""
    time.sleep(nap)
    if log:
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
    return {"sum": float(rng.standard_normal((size, 40)).sum())}


def test_the_workers_of_the_address_give_the_same_numbers(tmp_path: Path, dask_address: str, patient: None) -> None:
    log = tmp_path / "log"
    expected = Runner(seed=7).run(trial, (30, 300), 6)
    with cluster(dask_address):
        assert Runner(seed=7).run(trial, (30, 300), 6) == expected
        Runner(seed=7).run(functools.partial(trial, log=str(log)), (30, 300), 6)
    pids = log.read_text().split()
    assert len(pids) == 12
    assert len(set(pids)) <= 2  # how they share the trials is theirs
    assert str(os.getpid()) not in pids
    with cluster(None):
        assert Runner(seed=7).run(trial, (30, 300), 6) == expected


@pytest.mark.parametrize("address", ["", "somewhere", "tcp://host", "http://host:80", "tcp://host:99999", "tcp://:1"])
def test_what_is_no_address_is_refused_at_once(address: str) -> None:
    with pytest.raises(InputError, match="is not the address") as caught, cluster(address):
        pass
    assert caught.value.argument == "cluster"


def test_an_address_without_a_scheduler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        with pytest.raises(InputError, match=f"nothing answers at 127.0.0.1:{port}"), cluster(f"127.0.0.1:{port}"):
            pass
        server.listen()
        threading.Thread(target=_answer, args=(server,), daemon=True).start()
        with pytest.raises(InputError, match="no Dask scheduler answers"), cluster(f"tcp://127.0.0.1:{port}"):
            pass


def _answer(server: socket.socket) -> None:
    """What a web server says to those who do not speak its language."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:  # closed
            return
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        connection.close()


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'bulkedge\[cluster\]'"), cluster("tcp://127.0.0.1:1"):
        pass


@pytest.fixture
def inside(patient: None) -> Iterator[object]:
    """A maker of clusters inside this process."""
    from distributed import LocalCluster

    made = []

    def make(workers: int, threads: int = 1) -> LocalCluster:
        made.append(
            LocalCluster(
                n_workers=workers, threads_per_worker=threads, processes=False, protocol="tcp", dashboard_address=None
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(("workers", "threads", "problem"), [(0, 1, "no workers"), (1, 2, "several threads")])
def test_unusable_workers_are_named(inside, workers: int, threads: int, problem: str) -> None:
    address = inside(workers, threads).scheduler_address
    with pytest.raises(InputError, match=f"{problem}; start .dask worker {address} --nthreads 1"), cluster(address):
        pass


def test_workers_of_another_version_are_refused(inside, monkeypatch: pytest.MonkeyPatch) -> None:
    address = inside(1).scheduler_address
    monkeypatch.setattr("bulkedge.numerics.trials.cluster.toolkit_fingerprint", lambda: os.urandom(8).hex())
    with pytest.raises(InputError, match="another version"), cluster(address):
        pass

    def absent() -> str:
        raise ModuleNotFoundError("No module named 'numerics'")

    monkeypatch.setattr("bulkedge.numerics.trials.cluster.toolkit_fingerprint", absent)
    with pytest.raises(InputError, match="have no bulkedge"), cluster(address):
        pass


class Killing:
    """A Progress that kills the scheduler after five trials."""

    def __init__(self, scheduler: subprocess.Popen[bytes]) -> None:
        self.left, self.scheduler = 5, scheduler

    def start(self, what: str, total: int) -> None:
        pass

    def advance(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.scheduler.kill()


def test_a_cluster_lost_on_the_way_is_one_line_and_loses_no_finished_trial(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], patient: None
) -> None:
    """On a scheduler and workers started as an administrator starts them, elsewhere."""
    slow, file = functools.partial(trial, nap=0.1), tmp_path / "scheduler.json"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    arguments = ["--scheduler-file", str(file), "--port", "0", "--no-dashboard"]
    started = []
    try:
        worker = ["worker", *arguments[:2], "--nthreads", "1", "--no-nanny"]
        for index, (name, *more) in enumerate((["scheduler", *arguments], worker, worker)):
            with open(tmp_path / f"{index}.log", "wb") as log:
                command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *more]
                started.append(subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log))
        _until(lambda: all("Registered to" in (tmp_path / f"{index}.log").read_text() for index in (1, 2)))
        address = json.loads(file.read_text())["address"]
        capfd.readouterr()
        with Store(tmp_path / "store") as store:
            runner = Runner(seed=1, store=store, progress=Killing(started[0]))
            with pytest.raises(InputError, match="the cluster was lost"), cluster(address):
                runner.run(slow, (3,), 200)
            assert 5 <= len(store) < 200
            found = Runner(seed=1, store=store).run(slow, (3,), 6)
        assert "Traceback" not in capfd.readouterr().err
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert found == Runner(seed=1).run(slow, (3,), 6)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
