"""The trial runner: independent trials, the same numbers for the same seed whatever the number of workers.

A trial is a module-level function (or a functools.partial of one) of a `numpy.random.Generator` and a size. Each
trial draws from its own stream, derived from (seed, the trial's name, size, index), so neither the order of trials
nor the other checks of a run change its numbers. Each runs under threadpool_limits(1): a BLAS sum over two threads
is not bitwise the sum over one.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

Trial = Callable[[np.random.Generator, int], Mapping[str, float]]


class Progress(Protocol):
    """What the runner tells about its progress: a total once, then one call per finished trial."""

    def start(self, what: str, total: int) -> None:
        """`total` trials of `what` are about to run."""

    def advance(self) -> None:
        """One more trial is finished."""


class Store(Protocol):
    """Where finished trials are kept, so that an interrupted run is resumed without losing them."""

    def get(self, key: str) -> dict[str, float] | None:
        """The result kept under `key`, or None."""

    def put(self, key: str, result: Mapping[str, float]) -> None:
        """Keep a finished trial."""


def trial_name(trial: Trial) -> str:
    """A name that identifies a trial function and the arguments bound to it, stable between processes."""
    if isinstance(trial, functools.partial):
        bound = ",".join([*map(repr, trial.args), *(f"{k}={v!r}" for k, v in sorted(trial.keywords.items()))])
        return f"{trial_name(trial.func)}({bound})"
    return f"{trial.__module__}:{trial.__qualname__}"


def trial_generator(name: str, seed: int, size: int, index: int) -> np.random.Generator:
    """The random stream of one trial."""
    digest = hashlib.sha256(f"{name}|{size}|{index}".encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def _run_one(trial: Trial, name: str, seed: int, size: int, index: int) -> dict[str, float]:
    with threadpool_limits(1):
        result = trial(trial_generator(name, seed, size, index), size)
    return {key: float(value) for key, value in result.items()}


@dataclass(frozen=True)
class Runner:
    """How trials are run: the seed, the number of workers, an optional store and an optional progress display.

    `jobs` > 1 uses joblib, so that `with joblib.parallel_config(backend="dask")` sends the same trials to a cluster.
    """

    seed: int = 0
    jobs: int = 1
    store: Store | None = None
    progress: Progress | None = None

    def run(self, trial: Trial, sizes: Iterable[int], trials: int) -> dict[int, list[dict[str, float]]]:
        """All results by size, in the order of the trials' indices."""
        name = trial_name(trial)
        results: dict[tuple[int, int], dict[str, float]] = {}
        todo: list[tuple[int, int]] = []
        sizes = tuple(sizes)
        for size in sizes:
            for index in range(trials):
                kept = self.store.get(self._key(name, size, index)) if self.store else None
                if kept is None:
                    todo.append((size, index))
                else:
                    results[size, index] = kept
        if self.progress:
            self.progress.start(name, len(todo))
        for (size, index), result in self._results(trial, name, todo):
            results[size, index] = result
            if self.store:
                self.store.put(self._key(name, size, index), result)
            if self.progress:
                self.progress.advance()
        return {size: [results[size, index] for index in range(trials)] for size in sizes}

    def _key(self, name: str, size: int, index: int) -> str:
        return f"{name}|seed={self.seed}|size={size}|trial={index}"

    def _results(self, trial: Trial, name: str, todo: list[tuple[int, int]]) -> Iterable[Any]:
        if self.jobs == 1 or len(todo) < 2:
            for size, index in todo:
                yield (size, index), _run_one(trial, name, self.seed, size, index)
            return
        joblib = importlib.import_module("joblib")
        parallel = joblib.Parallel(n_jobs=self.jobs, return_as="generator")
        calls = (joblib.delayed(_run_one)(trial, name, self.seed, size, index) for size, index in todo)
        yield from zip(todo, parallel(calls), strict=True)
