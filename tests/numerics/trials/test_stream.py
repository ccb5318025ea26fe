"""numerics/trials/stream.py: every trial of the ledger draws from a stream with a permanent name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from bulkedge.numerics.trials.runner import Runner, trial_name
from bulkedge.numerics.trials.stream import stream, stream_of
from bulkedge.registry import checks


def functions(trial: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """A trial's function and the functions bound to it."""
    while isinstance(trial, functools.partial):
        for bound in (*trial.args, *trial.keywords.values()):
            if isinstance(bound, functools.partial) or hasattr(bound, "__qualname__"):
                yield from functions(bound)
        trial = trial.func
    yield trial


def test_every_trial_of_the_ledger_has_a_named_stream() -> None:
    """The name is a check's ID (and, where two functions share it, what tells them apart) and a version."""
    ids = {check.id for check in checks()}
    owners: dict[str, Callable[..., Any]] = {}
    for check in checks():
        for full in (False, True):
            for request in check.measure.requests(full):
                for function in functions(request.trial):
                    name, _, version = stream_of(function).rpartition("/")
                    assert version.isdigit(), f"{check.id}: {function.__qualname__} has no stream"
                    assert any(name == id or name.startswith(id + ".") for id in ids), name
                    assert owners.setdefault(name, function) is function, f"two functions draw from {name}"
    assert len(owners) > 50


def draw(rng: Any, size: int) -> dict[str, float]:
    """One number."""
    return {"x": float(rng.standard_normal())}


def test_a_stream_survives_a_move_and_a_version_changes_it() -> None:
    """The same name gives the same numbers whatever the function is called; another version gives others."""

    def moved(rng: Any, size: int) -> dict[str, float]:
        return draw(rng, size)

    def same(rng: Any, size: int) -> dict[str, float]:
        return draw(rng, size)

    here, there = stream("X1.a")(moved), stream("X1.a")(same)
    newer = stream("X1.a", version=2)(functools.wraps(draw)(lambda rng, size: draw(rng, size)))
    assert trial_name(here) == trial_name(there) == "X1.a/1"
    results = [Runner(seed=1).run(trial, (3,), 2) for trial in (here, there, newer)]
    assert results[0] == results[1] != results[2]


def test_without_a_name_module_and_function_serve() -> None:
    assert trial_name(draw).endswith("test_stream:draw")
