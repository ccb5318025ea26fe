"""Peers: what is printed where one is missing, and that answers are compared before times are."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

from benchmarks.benchmark import Missing, Row
from benchmarks.peers import CONTESTS, Contest

TOY = Contest(
    "no_such_module", "no-such-package", "a line", "answer(lambda: np.arange(3) + 1j)", lambda: np.zeros(3), 0
)


def test_a_missing_peer_says_how_to_install_it(monkeypatch):
    monkeypatch.delenv("NO_SUCH_PACKAGE_PYTHON", raising=False)
    (line,) = TOY.run()
    assert isinstance(line, Missing)
    assert line.met
    assert "not installed" in line.line
    assert "pip install no-such-package" in line.line
    assert "NO_SUCH_PACKAGE_PYTHON=" in line.line


def test_a_peer_runs_in_the_interpreter_its_variable_names(monkeypatch):
    monkeypatch.setenv("NO_SUCH_PACKAGE_PYTHON", sys.executable)
    (line,) = dataclasses.replace(TOY, ours=lambda: np.arange(3) + 1j, tolerance=1e-15).run()
    assert isinstance(line, Row)
    assert line.other_seconds > 0
    assert "largest difference 0.0e+00" in line.line
    with pytest.raises(ArithmeticError, match="differ by"):
        TOY.run()


def test_every_peer_has_a_variable_of_its_own():
    assert {c.variable for c in CONTESTS.values()} == {
        "NEURAL_TANGENTS_PYTHON", "RMTOOL_PYTHON", "FREEALG_PYTHON", "SCIKIT_RMT_PYTHON", "WEIGHTWATCHER_PYTHON",
        "SCREENOT_PYTHON", "AUTO_FPT_PYTHON",
    }  # fmt: skip
