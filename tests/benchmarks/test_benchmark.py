"""The benchmarks' own machinery: ratios, verdicts, exit status; the contestants are compared where they are timed."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.__main__ import collect, main
from benchmarks.benchmark import Row, children, seconds


def test_rows_judge_themselves():
    assert Row("a", "b", 1.0, 30.0, required=20).met
    assert not Row("a", "b", 1.0, 10.0, required=20).met
    assert Row("a", "b", 1.0, 0.1).met
    assert Row("a", "b", 2.0, 1.0).ratio == 0.5


def test_seconds_is_the_best_of_the_runs():
    ticks = iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
    assert seconds(lambda: None, repeats=3, clock=lambda: next(ticks)) == 2


def test_seconds_are_processor_seconds():
    assert seconds(lambda: time.sleep(0.2), repeats=1) < 0.1
    before = children()
    subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)
    assert children() > before


def test_names_are_unique_and_unknown_ones_are_named(capsys):
    names = [b.name for b in collect()]
    assert len(set(names)) == len(names) >= 4
    assert main(["nothing-of-that-name"]) == 2
    assert names[0] in capsys.readouterr().err


def test_one_benchmark_end_to_end(capsys):
    assert main(["hermite.general"]) == 0
    assert "10^6" in capsys.readouterr().out
