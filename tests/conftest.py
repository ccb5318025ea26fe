"""Settings of the property tests: no time limits by accident, and the same examples each time.

With EXPLORE=1 in the environment they draw other examples at each run.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", parent=settings.get_profile("explore"), derandomize=True)
settings.load_profile("explore" if os.environ.get("EXPLORE") else "same")


@pytest.fixture(scope="session")
def dask_address() -> Iterator[str]:
    """The scheduler's address of a Dask cluster of two worker processes, for tests marked dask."""
    from distributed import LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # distributed's own start-up noise (ports, deprecations), not ours
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            yield cluster.scheduler_address
