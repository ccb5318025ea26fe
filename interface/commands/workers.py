"""Who runs the trials of a command, and where finished ones are kept: the options --jobs, --cluster and --store."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from bulkedge.arguments import Argument, Count, File, Numeric

if TYPE_CHECKING:
    from bulkedge.numerics.trials.runner import Progress

_MAX_JOBS = 1024  # processes of one machine


_JOBS = Count(
    "worker processes; the numbers do not depend on it", "J", low=1, high=_MAX_JOBS, group="workers and store"
)
EveryCore = Annotated[Numeric, dataclasses.replace(_JOBS, typed=str(min(os.cpu_count() or 1, _MAX_JOBS)))]
Cluster = Annotated[
    str | None,
    Argument(
        "run the trials on the workers of this Dask scheduler instead, tcp://HOST:PORT; the same numbers",
        "ADDRESS",
        group="workers and store",
    ),
]
KeptIn = Annotated[
    str | None,
    File("keep finished trials here; started again, the run goes on", "FILE", group="workers and store"),
]


def check_address(cluster: str | None) -> None:
    """Refuse what is no address at once, also where no trial is going to run (InputError)."""
    from bulkedge.numerics.trials.cluster import host_and_port
    from bulkedge.theory.functions.parse import shorten
    from bulkedge.theory.numbers.errors import InputError

    if cluster is not None:
        if not isinstance(cluster, str):
            raise InputError("cluster", f"{shorten(cluster)} is no address", "give tcp://HOST:PORT")
        host_and_port(cluster)


@contextlib.contextmanager
def workers(
    jobs: Numeric, cluster: str | None = None, store: str | None = None, progress: Progress | None = None
) -> Iterator[None]:
    """Inside this block numerics.trials.runner.current_runner has these workers, store and progress.

    Errors: InputError for a number of jobs, a cluster or a store that is not usable.
    """
    from bulkedge.numerics.trials import cluster as dask
    from bulkedge.numerics.trials.runner import running
    from bulkedge.numerics.trials.store import Store
    from bulkedge.theory.functions.parse import integer, path

    jobs = integer(jobs, "jobs", minimum=1, maximum=_MAX_JOBS)
    check_address(cluster)
    if store is not None:
        store = path(store, "store")
    with (
        contextlib.nullcontext() if store is None else Store(store) as kept,
        dask.cluster(cluster),
        running(jobs=jobs, store=kept, progress=progress),
    ):
        yield
