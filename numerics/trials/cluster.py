"""A Dask cluster in the place of worker processes: the same trials, the same numbers, on other machines.

The trials reach the cluster through joblib's Dask backend, which `numerics.trials.runner` takes whenever it is
configured.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import socket
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from bulkedge.numerics.trials.fingerprint import toolkit_fingerprint
from bulkedge.theory.numbers.errors import InputError

_REACH = 1.0  # seconds for a scheduler's machine to answer at all
_SPEAK = 5.0  # seconds for the scheduler to answer as one


@contextlib.contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Inside this block every Runner's trials go to the workers of the Dask scheduler at `address`; None: no cluster.

    Valid for: workers of one thread each (python-flint's precision is global to a process) with this machine's version
    of the toolkit, NumPy and SciPy, so that the numbers are this machine's. A user's own file travels with its trials.
    joblib does not send anything to a cluster of one worker: the trials then run here.
    Errors: InputError (argument "cluster") where dask.distributed is not installed, for an address at which no
    scheduler answers, for a cluster without workers or with unusable ones, and for one that is lost during the block.
    """
    if address is None:
        yield
        return
    host_and_port(address)
    if importlib.util.find_spec("distributed") is None:
        raise InputError("cluster", "dask.distributed is not installed", "pip install 'bulkedge[cluster]'")
    _reach(address)
    import distributed
    import joblib

    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # it would print tracebacks of what is one line here
    lost = (distributed.scheduler.KilledWorker, distributed.CancelledError, distributed.comm.CommClosedError)
    try:
        with _client(distributed, address) as client, joblib.parallel_config(backend="dask", client=client):
            _check_workers(client)
            yield
    except lost as error:
        problem = f"the cluster was lost ({type(error).__name__})"
        raise InputError("cluster", problem, "start again: --store FILE keeps finished trials") from error
    finally:
        logger.setLevel(level)


def _client(distributed: ModuleType, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_SPEAK)
    except Exception as error:  # another server may answer anything: even MemoryError is seen
        text = " ".join(str(error).split())[:120]
        raise InputError("cluster", f"no Dask scheduler answers at {address} ({text})", "check the address") from None


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of a scheduler's address. Errors: InputError for what is none."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.scheme not in {"tcp", "tls"} or not host or not port:
        problem = f"{address[:60]!r} is not the address of a scheduler"
        raise InputError("cluster", problem, "give tcp://HOST:PORT, as the scheduler prints it")
    return host, port


def _reach(address: str) -> None:
    """Ask for a connection first: a Dask client tries for long, and importing it takes a second."""
    try:
        socket.create_connection(host_and_port(address), _REACH).close()
    except OSError as error:
        problem = f"nothing answers at {address[:60]} ({error.strerror or error})"
        raise InputError("cluster", problem, "start `dask scheduler` there, or check host and port") from None


def _check_workers(client: Any) -> None:
    threads = client.nthreads()
    start = f"start `dask worker {client.scheduler.address} --nthreads 1`"
    if not threads:
        raise InputError("cluster", "it has no workers", start)
    if max(threads.values()) > 1:
        raise InputError("cluster", "it has workers of several threads", start)
    try:
        found = set(client.run(toolkit_fingerprint).values())
    except ImportError as error:
        raise InputError("cluster", f"its workers have no bulkedge ({error})", "install this version there") from None
    if found != {toolkit_fingerprint()}:
        raise InputError(
            "cluster", "its workers have another version of bulkedge, NumPy or SciPy", "install this one's"
        )
