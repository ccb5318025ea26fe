"""The trial runner: the same numbers whatever the workers, every trial once, names that identify."""

from __future__ import annotations

import functools
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bulkedge.numerics.trials.check import Check, Control, MonteCarlo, Rate, SecondRoute, Verdict, run_checks
from bulkedge.numerics.trials.runner import Request, Runner, trial_name
from bulkedge.theory.numbers.enclosure import Enclosure


def trial(rng: np.random.Generator, size: int, shift: float = 0.0, log: str = "") -> dict[str, float]:
    """A product that a threaded BLAS would round differently, and a line in a log that counts the executions."""
    if log:
        with open(log, "a") as file:
            file.write(f"{size} {os.getpid()}\n")
    A = rng.standard_normal((size, 40))
    return {"sum": float((A.T @ A).sum() + shift), "power": float(size) ** -0.5 * (1 + 0.01 * rng.standard_normal())}


def test_numbers_do_not_depend_on_the_workers() -> None:
    expected = Runner(seed=5).run(trial, (30, 300), 6)
    assert Runner(seed=5, jobs=2).run(trial, (300, 30), 6) == expected
    assert Runner(seed=6).run(trial, (30, 300), 6) != expected
    assert Runner(seed=5).run(trial, (30,), 3)[30] == expected[30][:3]  # more trials only add to the end


def test_checks_that_share_a_trial_run_it_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shared = functools.partial(trial, log=str(log))
    mean = MonteCarlo(shared, "power", 100, 20, 20)
    rate = Rate(shared, "power", (25, 50, 100), 20, (25, 50, 100), 20)
    control = Control("off by one", lambda: 1.1)
    checks = [
        Check("X.mean", "the mean", "none", lambda: 0.1, mean, 0.05, control),
        Check("X.rate", "the rate", "none", lambda: -0.5, rate, 0.1, control),
        Check("X.exact", "a number", "none", lambda: 0.5, SecondRoute(_half), 0.1, control),
    ]
    results = run_checks(checks, Runner(jobs=2))
    assert [r.verdict for r in results] == [Verdict.CONFIRMED] * 3
    assert [r.control for r in results] == [Verdict.REFUTED] * 3
    assert len(log.read_text().splitlines()) == 60


def _half() -> Enclosure:
    return Enclosure(Fraction(1, 2), Fraction(0))


def test_a_pool_gives_the_calls_in_order() -> None:
    calls = [functools.partial(pow, 2, k) for k in range(8)]
    assert Runner(jobs=2).gather([Request(trial, (20,), 2)], calls) == [2**k for k in range(8)]


def test_names_tell_trials_apart() -> None:
    big = np.arange(5000.0)
    names = [
        trial_name(trial),
        trial_name(functools.partial(trial, shift=1.0)),
        trial_name(functools.partial(trial, shift=2.0)),
        trial_name(functools.partial(trial, shift=big)),
        trial_name(functools.partial(trial, shift=np.where(big == 2500, 0, big))),  # differs where repr shows "..."
        trial_name(functools.partial(trial, shift=trial)),
    ]
    assert len(set(names)) == len(names)
    with pytest.raises(ValueError, match="no stable name"):
        trial_name(functools.partial(trial, shift=object()))


@pytest.mark.dask
@pytest.mark.filterwarnings("ignore")  # distributed's own noise
def test_numbers_do_not_depend_on_the_backend(tmp_path: Path, dask_address: str) -> None:
    import joblib
    from distributed import Client

    log = tmp_path / "log"
    expected = Runner(seed=7).run(trial, (30, 300), 6)
    logged = functools.partial(trial, log=str(log))
    with Client(dask_address), joblib.parallel_config(backend="dask"):
        here = Runner(seed=7).run(trial, (30, 300), 6)
        Runner(seed=7).run(logged, (30, 300), 6)
    assert here == expected
    pids = {line.split()[1] for line in log.read_text().splitlines()}
    assert len(pids) <= 2  # how they share the trials is theirs
    assert str(os.getpid()) not in pids
