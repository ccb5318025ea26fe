"""How the tests are run (tests/conftest.py): what lacks its tool is left out and listed, any other skip fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

INI = """
[pytest]
pythonpath = .
addopts = -p no:cacheprovider --strict-markers
markers =
    tex: a
    dask: b
    exhaustive: c
    kills: d
"""
TOOLS = """
import os
def missing():
    assert "PYTEST_XDIST_WORKER" not in os.environ, "decided again"
    return ("tex",)
"""
SUITE = """
import os
import pytest
from bulkedge.book import tex

def test_plain():
    assert os.environ["OMP_NUM_THREADS"]
    assert tex.engine() is None
@pytest.mark.tex
def test_missing():
    raise AssertionError
@pytest.mark.dask
def test_there():
    pass
@pytest.mark.tex
@pytest.mark.exhaustive
def test_long_and_missing():
    raise AssertionError
@pytest.mark.exhaustive
@pytest.mark.kills
def test_long():
    pass
"""
SKIPS = """
import pytest
def test_skips():
    pytest.skip("no reason")
@pytest.mark.skipif(True, reason="none")
def test_skips_by_mark():
    pass
def test_imports():
    pytest.importorskip("no_such_module")
@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    raise AssertionError
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, text in (("pytest.ini", INI), ("optional_tools.py", TOOLS), ("test_suite.py", SUITE)):
        (tmp_path / name).write_text(text)
    shutil.copy(TESTS / "conftest.py", tmp_path)
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "BULKEDGE_"))}
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    environment["PYTHONPATH"] = str(TESTS.parent)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", ["0", "1"])
def test_what_lacks_its_tool_is_left_out_and_listed(suite: Path, workers: str) -> None:
    status, out = run(suite, "-n", workers)
    assert status == 0, out
    assert "1 passed" in out
    for line in (
        "tex: test_suite.py::test_missing",
        "tex: test_suite.py::test_long_and_missing",
        "exhaustive: test_suite.py::test_long",
        "dask: test_suite.py::test_there",
        "2 left out, marked tex (the tool is missing)",
        "1 left out, marked exhaustive (run with -m exhaustive)",
        "1 left out, marked dask (run with -m dask)",
    ):
        assert f"{line}\n" in out


@pytest.mark.parametrize("expression", ["exhaustive or tex", "kills", "dask"])
def test_the_long_ones_run_when_they_are_named(suite: Path, expression: str) -> None:
    status, out = run(suite, "-n", "0", "-m", expression)
    assert status == 0, out
    assert "1 passed" in out


def test_a_skip_is_a_failure(suite: Path) -> None:
    (suite / "test_skips.py").write_text(SKIPS)
    (suite / "test_module.py").write_text("import pytest\npytest.skip('whole', allow_module_level=True)\n")
    status, out = run(suite, "-n", "0", "--continue-on-collection-errors")
    assert status == 1, out
    assert "2 failed, 1 passed" in out
    assert "1 xfailed, 2 errors" in out  # a mark skips before the call
    assert "a skip is a failure here; use a marker" in out
