"""How the tests run: on every core, without the tools that are missing, the same examples each time.

What needs an optional tool is deselected by its marker where the tool is missing, and listed at the end; so is what
takes long or a whole apparatus (BY_NAME), unless `-m` names its marker, as .ci/run does. Nothing else may be left
out: a skip is a failure.
With EXPLORE=1 in the environment the property tests draw other examples at each run.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import optional_tools
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", parent=settings.get_profile("explore"), derandomize=True)
settings.load_profile("explore" if os.environ.get("EXPLORE") else "same")

# One thread a process, as the workers share the cores already; NumPy is not imported yet.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_DECIDED = "BULKEDGE_TESTS_WITHOUT"  # the markers whose tools are missing: decided once, inherited by the workers
BY_NAME = (
    "exhaustive",
    "kills",
    "mutants",
    "notebook",
    "website",
    "tex",
    "browser",
    "node",
    "dask",
)  # run with -m only
_MOST_WORKERS = 8  # each takes up to half a gigabyte
_left_out: dict[str, str] = {}  # test -> the marker for which it is left out


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        os.environ[_DECIDED] = " ".join(optional_tools.missing())


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Every core for the suite or a folder of it; none beside this process for files and tests named one by one."""
    if config.option.collectonly or all(".py" in argument for argument in config.args):
        return 0
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, _MOST_WORKERS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing, named = os.environ[_DECIDED].split(), set(re.findall(r"\w+", config.option.markexpr))
    without = [*missing, *(m for m in BY_NAME if m not in missing and m not in named)]
    kept, left = [], []
    for item in items:
        marker = next((m for m in without if item.get_closest_marker(m)), None)
        # With one of its markers named a test runs, whatever else it takes; a missing tool stands.
        if marker is None or (marker not in missing and any(item.get_closest_marker(m) for m in named)):
            kept.append(item)
        else:
            left.append(item)
            _left_out[item.nodeid] = marker
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"a skip is a failure here; use a marker: {report.longrepr[-1]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    report = yield
    if report.skipped:
        report.outcome, report.longrepr = "failed", f"a skip is a failure here; use a marker: {report.longrepr[-1]}"
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = _left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List what was left out and for which marker."""
    if not _left_out:
        return
    terminalreporter.section("left out")
    for test, marker in sorted(_left_out.items(), key=lambda pair: (pair[1], pair[0])):
        terminalreporter.write_line(f"{marker}: {test}")
    for marker, count in Counter(_left_out.values()).items():
        why = "the tool is missing" if marker in os.environ[_DECIDED].split() else f"run with -m {marker}"
        terminalreporter.write_line(f"{count} left out, marked {marker} ({why})")


@pytest.fixture(autouse=True)
def _no_tex(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only tests marked tex see a TeX engine: the others do the same on every machine."""
    if request.node.get_closest_marker("tex") is None:
        monkeypatch.setattr("bulkedge.book.tex.engine", lambda: None)


@pytest.fixture(scope="session")
def dask_address() -> Iterator[str]:
    """The scheduler's address of a Dask cluster of two worker processes, for tests marked dask."""
    from distributed import LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # distributed's own start-up noise (ports, deprecations), not ours
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            yield cluster.scheduler_address
