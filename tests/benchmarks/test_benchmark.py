"""The benchmarks' own machinery: ratios, verdicts, exit status; the contestants are compared where they are timed."""

from __future__ import annotations

import time

from benchmarks.__main__ import collect, main
from benchmarks.benchmark import Row, seconds


def test_rows_judge_themselves():
    assert Row("a", "b", 1.0, 30.0, required=20).met
    assert not Row("a", "b", 1.0, 10.0, required=20).met
    assert Row("a", "b", 1.0, 0.1).met
    assert Row("a", "b", 2.0, 1.0).ratio == 0.5


def test_seconds_is_the_best_of_the_runs():
    assert 0.01 <= seconds(lambda: time.sleep(0.01), repeats=2) < 5


def test_names_are_unique_and_unknown_ones_are_named(capsys):
    names = [b.name for b in collect()]
    assert len(set(names)) == len(names) >= 4
    assert main(["nothing-of-that-name"]) == 2
    assert names[0] in capsys.readouterr().err


def test_one_benchmark_end_to_end(capsys):
    assert main(["hermite.general"]) == 0
    assert "10^6" in capsys.readouterr().out
