"""The search on ordinary data runs, finds nothing in cases that are known, finds what is planted, and goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import ordinary_data, ordinary_models
from benchmarks.ordinary_data import BLOCK, KINDS, Case, case

QUICK = ("marchenko_pastur", "spiked_model", "evaluations", "ridge", "gamma", "sphere", "outliers", "convert", "spike")
QUICK += ("mp", "equivalent", "weights")


def _cases(kind: str, count: int) -> list[int]:
    return [i for i in range(1000) if Case(i, 0).kind == kind][:count]


@pytest.mark.parametrize("kind", QUICK)
def test_known_cases_are_right(kind: str) -> None:
    for index in _cases(kind, 2):
        outcome = case(index)
        assert not outcome.faults
        assert sum(outcome.agreed.values()) + sum(outcome.refused.values()) > 0


def test_every_kind_is_there() -> None:
    assert {Case(i, 0).kind for i in range(1500)} == set(KINDS)


def test_a_block_shares_its_function() -> None:
    functions = {Case(i, 0).function for i in range(BLOCK)} - {""}
    assert len(functions) == 1


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
    assert outcome.agreed["conjugate"] >= 2


def test_a_planted_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = _conjugate(monkeypatch, 1e-10)
    assert outcome.faults
    assert "elu(2*z)" in outcome.faults[0]


def test_a_planted_error_of_a_risk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ordinary_models.ridge_risk_with_error

    def wrong(*arguments: Any) -> Any:
        value, errors = right(*arguments)
        named = {name: getattr(value, name) for name in ("train", "kappa", "floor", "bias", "variance")}
        return SimpleNamespace(test=value.test * (1 + 1e-9), **named), errors

    monkeypatch.setattr(ordinary_models, "ridge_risk_with_error", wrong)
    (index,) = _cases("ridge", 1)
    assert any("ridge_risk test" in fault for fault in case(index).faults)


def test_another_exception_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(ordinary_data, "MarchenkoPastur", broken)
    (index,) = _cases("marchenko_pastur", 1)
    assert "planted" in case(index).faults[0]


def test_the_command_counts_caps_and_goes_on(tmp_path: Path) -> None:
    """In a process of its own: it forks. A case whose stored outcome has a fault is run again, the others are not."""
    first, second = _cases("mp", 2)
    (cheap,) = _cases("marchenko_pastur", 1)
    store = tmp_path / "cases.jsonl"
    lines = [{"seed": 0, "case": first, "agreed": {"kept": 7}}, {"seed": 0, "case": second, "faults": ["repaired"]}]
    store.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"seed": 0, "ca')
    code = (
        "import sys; from pathlib import Path; from benchmarks import ordinary_data as o; "
        f"total = o.run([{first}, {second}], 0, store=Path({str(store)!r})); print(total.agreed, total.faults); "
        f"status = o.main(['1', '0', '{cheap}']); print(dict(o.block([{cheap}], 0, 1e-4))); sys.exit(status)"
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
    assert "'kept': 7" in done.stdout
    assert "'mp': 3" in done.stdout
    assert "repaired" not in done.stdout
    assert "'mp cdf'" in done.stdout
    assert "over=Counter({'marchenko_pastur': 1})" in done.stdout
    kept = ordinary_data.stored(store, 0)
    assert set(kept) == {first, second}
    assert not kept[second].faults
