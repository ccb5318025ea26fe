"""The search on ordinary data runs, finds nothing in cases that are known, and finds what is planted."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import ordinary_data
from benchmarks.ordinary_data import Case, case


def _cases(kind: str, count: int) -> list[int]:
    return [i for i in range(400) if Case(i, 0).kind == kind][:count]


@pytest.mark.parametrize("kind", ["marchenko_pastur", "spiked_model", "evaluations"])
def test_known_cases_are_right(kind: str) -> None:
    for index in _cases(kind, 2):
        outcome = case(index)
        assert not outcome.faults
        assert sum(outcome.compared.values()) + sum(outcome.refused.values()) > 0


def _conjugate(monkeypatch: pytest.MonkeyPatch, wrong: float) -> ordinary_data.Outcome:
    monkeypatch.setattr(ordinary_data, "random_function", lambda rng: "elu(2*z)")
    right = ordinary_data.kernel_matrix
    monkeypatch.setattr(ordinary_data, "kernel_matrix", lambda *a, **k: right(*a, **k) * (1 + wrong))
    monkeypatch.setattr(ordinary_data, "TABLES", {"two rows": lambda rng: rng.standard_normal((2, 3))})
    monkeypatch.setattr(ordinary_data, "UNITS", (1.0,))
    index = next(i for i in _cases("conjugate", 50) if Case(i, 0).data().dtype == np.float64)
    return case(index)


def test_a_matrix_that_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _conjugate(monkeypatch, 0.0)
    assert not outcome.faults
    assert outcome.compared["conjugate"] >= 2


def test_a_planted_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _conjugate(monkeypatch, 1e-10)
    assert outcome.faults
    assert "elu(2*z)" in outcome.faults[0]


def test_another_exception_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(ordinary_data, "MarchenkoPastur", broken)
    (index,) = _cases("marchenko_pastur", 1)
    assert "planted" in case(index).faults[0]


def test_the_command_counts_and_caps() -> None:
    """In a process of its own: it forks."""
    (index,) = _cases("marchenko_pastur", 1)
    code = (
        "import sys; from benchmarks import ordinary_data as o; "
        f"status = o.main(['1', '0', '{index}']); print(o.capped({index}, 0, 1e-4).refused); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "'mp cdf'" in done.stdout
    assert "marchenko_pastur: over 0.0001 s" in done.stdout
