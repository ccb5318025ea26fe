"""Who runs the trials of a command, and where finished ones are kept: the options --jobs, --cluster and --store."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bulkedge.numerics.trials.runner import Progress

MAX_JOBS = 1024  # processes of one machine


def configure(parser: argparse.ArgumentParser, jobs: int = 1) -> None:
    """The three options; `jobs` is the default number of processes."""
    what = "worker processes; the numbers do not depend on it"
    parser.add_argument("--jobs", default=str(jobs), help=f"{what} (default {jobs})")
    where = "run the trials on the workers of this Dask scheduler instead, tcp://HOST:PORT; the same numbers"
    parser.add_argument("--cluster", metavar="ADDRESS", help=where)
    parser.add_argument("--store", metavar="FILE", help="keep finished trials here; started again, the run goes on")


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
    jobs: int, cluster: str | None = None, store: str | None = None, progress: Progress | None = None
) -> Iterator[None]:
    """Inside this block numerics.trials.runner.current_runner has these workers, store and progress.

    Errors: InputError for a number of jobs, a cluster or a store that is not usable.
    """
    from bulkedge.numerics.trials import cluster as dask
    from bulkedge.numerics.trials.runner import running
    from bulkedge.numerics.trials.store import Store
    from bulkedge.theory.functions.parse import integer, path

    jobs = integer(jobs, "jobs", minimum=1, maximum=MAX_JOBS)
    check_address(cluster)
    if store is not None:
        store = path(store, "store")
    with (
        contextlib.nullcontext() if store is None else Store(store) as kept,
        dask.cluster(cluster),
        running(jobs=jobs, store=kept, progress=progress),
    ):
        yield
