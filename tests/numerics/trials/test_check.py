"""The check engine: verdicts, margins, controls, seeds and workers."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from bulkedge.numerics.trials.check import (
    Check,
    Control,
    Ladder,
    MonteCarlo,
    Rate,
    SecondRoute,
    Verdict,
    run_check,
    verdict,
)
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.numerics.trials.runner import Runner, trial_name
from bulkedge.theory.numbers.enclosure import Enclosure


def normal_trial(rng, size, shift=0.0):
    """The mean of `size` normals, plus a finite-size term `shift`/size."""
    return {"mean": float(np.mean(rng.standard_normal(size))) + shift / size}


def power_trial(rng, size, exponent):
    return {"value": size**exponent * (1 + 0.01 * rng.standard_normal())}


def make(predict, measure, wrong, resolution=0.05):
    return Check("X1", "a claim", "a source", lambda: predict, measure, resolution, Control("wrong", lambda: wrong))


@pytest.mark.parametrize(
    ("value", "stderr", "bias", "expected"),
    [
        (1.0, 0.01, 0.0, Verdict.CONFIRMED),
        (1.03, 0.01, 0.0, Verdict.CONFIRMED),
        (1.05, 0.01, 0.0, Verdict.REFUTED),
        (1.05, 0.01, 0.02, Verdict.CONFIRMED),
        (1.0, 0.03, 0.0, Verdict.BLIND),
        (9.0, 0.03, 0.0, Verdict.BLIND),
    ],
)
def test_verdicts(value, stderr, bias, expected):
    assert verdict(1.0, Estimate(value, stderr, 10, bias), 0.1) is expected


def test_a_true_claim_is_confirmed_and_its_control_refuted():
    measure = MonteCarlo(normal_trial, "mean", size=100, trials=200, full_trials=400)
    result = run_check(make(0.0, measure, 0.2), Runner(seed=1))
    assert (result.verdict, result.control, result.passed) == (Verdict.CONFIRMED, Verdict.REFUTED, True)


def test_a_false_claim_is_refuted():
    measure = MonteCarlo(normal_trial, "mean", size=100, trials=200, full_trials=400)
    assert run_check(make(0.1, measure, 0.3), Runner(seed=1)).verdict is Verdict.REFUTED


def test_too_few_trials_are_blind_and_blind_fails():
    measure = MonteCarlo(normal_trial, "mean", size=4, trials=5, full_trials=400)
    result = run_check(make(0.0, measure, 0.2), Runner(seed=1))
    assert result.verdict is Verdict.BLIND
    assert not result.passed


def test_a_control_too_near_the_claim_is_an_error():
    measure = MonteCarlo(normal_trial, "mean", size=100, trials=20, full_trials=40)
    with pytest.raises(ValueError, match="two resolutions"):
        run_check(make(0.0, measure, 0.09), Runner())


def test_the_ladder_fits_the_finite_size_term():
    trial = functools.partial(normal_trial, shift=5.0)
    measure = Ladder(trial, "mean", sizes=(50, 100, 200, 400), rate=1, trials=400, full_sizes=(50, 100), full_trials=2)
    result = run_check(make(0.0, measure, 0.4, resolution=0.1), Runner(seed=2))
    assert result.passed
    assert result.measured.bias == pytest.approx(5 / 400, rel=0.5)


def test_the_rate_is_measured():
    trial = functools.partial(power_trial, exponent=-0.5)
    measure = Rate(trial, "value", sizes=(64, 128, 256, 512), trials=20, full_sizes=(64, 128, 256), full_trials=2)
    assert run_check(make(-0.5, measure, 0.0), Runner()).passed


def test_a_second_route_is_judged_by_its_error():
    measure = SecondRoute(lambda: Enclosure(Fraction(1, 3), Fraction(1, 10**6)))
    assert run_check(make(1 / 3, measure, 0.5), Runner()).passed
    assert run_check(make(0.334, measure, 0.5), Runner()).verdict is Verdict.REFUTED


def test_the_numbers_depend_on_the_seed_only():
    measure = MonteCarlo(normal_trial, "mean", size=64, trials=8, full_trials=8)
    values = {run_check(make(0.0, measure, 9.0, 2.0), Runner(seed=3, jobs=jobs)).measured for jobs in (1, 2)}
    assert len(values) == 1
    other = run_check(make(0.0, measure, 9.0, 2.0), Runner(seed=4)).measured
    assert other.value != next(iter(values)).value


def test_a_measurement_that_is_not_finite_is_an_error():
    with pytest.raises(ArithmeticError):
        Estimate(float("nan"), 0.1, 3)


def test_trial_names_tell_bound_arguments_apart():
    names = {trial_name(functools.partial(power_trial, exponent=e)) for e in (1, 2)} | {trial_name(power_trial)}
    assert len(names) == 3
