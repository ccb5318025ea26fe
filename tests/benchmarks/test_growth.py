"""Fitted exponents on synthetic times, and the verdicts; nothing is timed."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import linregress

from benchmarks.growth import LIGHT, MARGIN, PATHS, Growth, exponent, ladder, processor_seconds
from bulkedge import numerics


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5, -1.0])
def test_a_pure_power_is_found_exactly(power):
    sizes = (3, 10, 31, 100)
    slope, error = exponent(sizes, [2e-7 * n**power for n in sizes])
    assert slope == pytest.approx(power, abs=1e-12)
    assert error < 1e-12


def test_slope_and_error_are_those_of_linregress():
    sizes = ladder(20, 300, 7)
    times = np.random.default_rng(0).lognormal(0, 0.3, 7) * np.array(sizes) ** 1.7
    expected = linregress(np.log(sizes), np.log(times))
    assert exponent(sizes, times) == pytest.approx((expected.slope, expected.stderr), rel=1e-12)


def test_the_error_covers_the_scatter():
    """Over many ladders with a scatter of 10 %, the slopes spread as the quoted errors say."""
    rng, sizes = np.random.default_rng(1), np.array(ladder(100, 1000, 6))
    found = np.array([exponent(sizes, sizes**2.0 * rng.lognormal(0, 0.1, 6)) for _ in range(2000)])
    assert found[:, 0].mean() == pytest.approx(2, abs=4 * found[:, 0].std() / math.sqrt(2000))
    # The mean square error is unbiased; 2000 ladders of 4 degrees of freedom give it to 1.6 %.
    assert found[:, 0].var() == pytest.approx((found[:, 1] ** 2).mean(), rel=0.15)


@pytest.mark.parametrize(
    ("sizes", "times"),
    [((1, 2), (1.0, 2.0)), ((1, 2, 3), (1.0, 2.0)), ((1, 2, 3), (1.0, 0.0, 2.0)), ((2, 2, 2), (1.0, 1.0, 1.0))],
)
def test_ladders_that_fix_no_exponent_are_refused(sizes, times):
    with pytest.raises(ValueError, match="three positive sizes"):
        exponent(sizes, times)


def test_a_growth_too_steep_is_missed():
    sizes = ladder(100, 1000)
    assert sizes == (100, 178, 316, 562, 1000)

    def growth(power):
        return Growth("path", "n", sizes, tuple(1e-9 * n**power for n in sizes), 2)

    assert growth(2).met
    assert growth(1.2).met
    assert growth(2 + MARGIN - 0.01).met
    assert not growth(2 + MARGIN + 0.01).met
    assert growth(1.2).flat
    assert "flat" in growth(1.2).line
    assert not growth(2 - MARGIN + 0.01).flat
    assert "MISSED" in growth(3).line
    assert "3.00" in growth(3).line
    assert "met" in growth(2).line
    assert "n = 100 .. 1000" in growth(2).line


def test_every_ladder_has_four_sizes_over_a_decade():
    for path in PATHS.values():
        assert len(set(path.sizes)) >= 4, path.what
        assert path.sizes[-1] >= 9 * path.sizes[0], path.what


def test_every_module_of_numerics_is_timed_or_named_as_light():
    """Each path is run at a small size, and the modules that it enters are recorded."""
    folder = Path(numerics.__file__).resolve().parent
    modules = {p.stem for p in folder.rglob("*.py") if "checks" not in p.parts} - {"__init__"}
    entered: set[str] = set()

    def record(frame, event, argument):
        file = frame.f_code.co_filename
        if file.startswith(str(folder)) and frame.f_code.co_name != "<module>":
            entered.add(Path(file).stem)

    for path in PATHS.values():
        if path.before is not None:
            path.before()
        work = path.prepare(min(path.sizes[0], 30))
        sys.setprofile(record)
        try:
            work()
        finally:
            sys.setprofile(None)
    assert set(LIGHT) <= modules
    assert modules - entered - set(LIGHT) == set()


def test_every_size_is_run_equally_often_and_the_first_run_is_not_timed(monkeypatch):
    """On a clock of its own: a first run that is dearer, or cheaper, than the rest does not enter."""
    for durations, best in (((100.0, 3.0, 2.0), 2.0), ((1.0, 30.0, 40.0), 30.0)):
        clock, left, calls = [0.0], list(durations), []

        def work(clock=clock, left=left, calls=calls):
            calls.append("work")
            clock[0] += left.pop(0)

        monkeypatch.setattr("benchmarks.growth.time.process_time", lambda clock=clock: clock[0])
        assert processor_seconds(work, lambda calls=calls: calls.append("before")) == best
        assert calls == ["before", "work"] * 3
