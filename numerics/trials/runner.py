"""The trial runner: independent trials, the same numbers for the same seed whatever the number of workers.

A trial is a module-level function (or a functools.partial of one) of a `numpy.random.Generator` and a size. Each
trial draws from its own stream, derived from (seed, the trial's name, size, index), so neither the order of trials
nor the other checks of a run change its numbers. Each runs under threadpool_limits(1): a BLAS sum over two threads
is not bitwise the sum over one.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from threadpoolctl import ThreadpoolController

from bulkedge.numerics.trials import own_code
from bulkedge.numerics.trials.fingerprint import fingerprint
from bulkedge.numerics.trials.stream import stream_of

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
    """A name that identifies a trial function and the arguments bound to it, stable between processes.

    Errors: ValueError for a bound argument that has no stable name (its repr shows a memory address).
    """
    return _callable_name(trial)


def _callable_name(function: Callable[..., Any]) -> str:
    if isinstance(function, functools.partial):
        positional = map(_argument_name, function.args)
        named = (f"{k}={_argument_name(v)}" for k, v in sorted(function.keywords.items()))
        return f"{_callable_name(function.func)}({','.join([*positional, *named])})"
    return stream_of(function)


def _argument_name(value: Any) -> str:
    if isinstance(value, functools.partial) or hasattr(value, "__qualname__"):
        return _callable_name(value)
    if isinstance(value, np.ndarray):  # its repr leaves entries out
        return f"array({value.dtype},{value.shape},{hashlib.sha256(value.tobytes()).hexdigest()})"
    name = repr(value)
    if " at 0x" in name:
        raise ValueError(f"a trial's argument has no stable name: {name[:80]}; bind numbers, strings or dataclasses")
    return name


def _trial_generator(name: str, seed: int, size: int, index: int) -> np.random.Generator:
    """The random stream of one trial."""
    digest = hashlib.sha256(f"{name}|{size}|{index}".encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


@functools.cache
def _threadpools() -> ThreadpoolController:
    """The process's BLAS and OpenMP pools, found once: the search costs more than a small trial."""
    import scipy.linalg  # noqa: F401 -- SciPy brings a BLAS of its own, which must be loaded to be found

    return ThreadpoolController()


def _run_one(trial: Trial, name: str, seed: int, size: int, index: int) -> dict[str, float]:
    with _threadpools().limit(limits=1):
        result = own_code.called("the trial", trial, _trial_generator(name, seed, size, index), size)
    return own_code.numbers("the trial", trial, result)


def _tagged(tag: Hashable, function: Callable[..., Any], arguments: tuple[Any, ...], home: int) -> tuple[Hashable, Any]:
    if os.getpid() != home and threading.current_thread() is threading.main_thread():
        # Ctrl-C reaches the workers of a terminal too; the process that started them is the one that answers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return tag, function(*arguments)


@dataclass(frozen=True)
class Request:
    """`trials` trials of a function at each of the sizes."""

    trial: Trial
    sizes: tuple[int, ...]
    trials: int


@dataclass(frozen=True)
class Runner:
    """How trials are run: the seed, the number of workers, an optional store and an optional progress display.

    `jobs` > 1 uses joblib's worker processes; inside numerics.trials.cluster.cluster, or joblib.parallel_config with a
    backend of one's own, the same trials go there (to workers of one thread: python-flint's precision is global to a
    process). Trials that have been run are remembered, so checks that share a trial share its results.
    """

    seed: int = 0
    jobs: int = 1
    store: Store | None = None
    progress: Progress | None = None
    _finished: dict[str, dict[str, float]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def run(self, trial: Trial, sizes: Iterable[int], trials: int) -> dict[int, list[dict[str, float]]]:
        """All results by size, in the order of the trials' indices."""
        request = Request(trial, tuple(sizes), trials)
        self.gather((request,))
        stem = self._stem(trial)
        return {s: [self._finished[f"{stem}|size={s}|trial={i}"] for i in range(trials)] for s in request.sizes}

    def gather(self, requests: Iterable[Request], calls: Iterable[Callable[[], Any]] = ()) -> list[Any]:
        """Run all trials that are not yet known, and `calls`, through one pool; returns the calls' values in order."""
        todo: dict[str | int, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
        largest_first = sorted(
            ((size, r) for r in requests for size in r.sizes), key=lambda pair: pair[0], reverse=True
        )
        for size, request in largest_first:
            name, stem = trial_name(request.trial), self._stem(request.trial)
            for index in range(request.trials):
                key = f"{stem}|size={size}|trial={index}"
                if key in self._finished or key in todo:
                    continue
                kept = self.store.get(key) if self.store is not None else None
                if kept is None:
                    todo[key] = (_run_one, (request.trial, name, self.seed, size, index))
                else:
                    self._finished[key] = kept
        values: dict[Hashable, Any] = {}
        todo.update((index, (call, ())) for index, call in enumerate(calls))
        if self.progress is not None:
            self.progress.start("trials", len(todo))
        for tag, result in self._results(todo):
            if isinstance(tag, str):
                self._finished[tag] = result
                if self.store is not None:
                    self.store.put(tag, result)
            else:
                values[tag] = result
            if self.progress is not None:
                self.progress.advance()
        return [values[index] for index in range(len(values))]

    def _stem(self, trial: Trial) -> str:
        """What a result's key begins with: trial, seed and, in a store, the code that computed it."""
        code = f"|code={fingerprint(trial)}" if self.store is not None else ""
        return f"{trial_name(trial)}|seed={self.seed}{code}"

    def _results(self, todo: Mapping[Any, tuple[Callable[..., Any], tuple[Any, ...]]]) -> Iterable[tuple[Any, Any]]:
        configured = _configured_backend()
        if len(todo) < 2 or (self.jobs == 1 and not configured):
            for tag, (function, arguments) in todo.items():
                yield _tagged(tag, function, arguments, os.getpid())
            return
        joblib = importlib.import_module("joblib")
        # Unordered: a result is kept as soon as it is there, not after a slower one before it. With a store each trial
        # comes back alone: of a batch that is killed, the finished trials would be lost too.
        parallel = joblib.Parallel(
            n_jobs=None if configured else self.jobs,
            return_as="generator_unordered",
            batch_size="auto" if self.store is None else 1,
        )
        home = os.getpid()
        yield from parallel(joblib.delayed(_tagged)(tag, *work, home) for tag, work in todo.items())


_HOW: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar("how", default=None)


@contextlib.contextmanager
def running(**how: Any) -> Iterator[None]:
    """Inside this block `current_runner` takes these workers, store and progress (fields of Runner)."""
    token = _HOW.set(how)
    try:
        yield
    finally:
        _HOW.reset(token)


def current_runner(seed: int) -> Runner:
    """The Runner for code that is not handed one, such as a figure: its own seed, the caller's workers and store."""
    return Runner(seed=seed, **(_HOW.get() or {}))


def _configured_backend() -> bool:
    """Whether we run inside a joblib.parallel_config that names a backend or a number of workers."""
    if "joblib" not in sys.modules:  # nobody can have configured it
        return False
    joblib = importlib.import_module("joblib.parallel")
    backend, workers = joblib.get_active_backend()
    return type(backend) is not joblib.BACKENDS[joblib.DEFAULT_BACKEND] or workers not in {None, 1}
