"""Check: a statement made falsifiable, with a negative control.

A check predicts a number, measures it by an independent route and compares. It is

    CONFIRMED  iff |measured - predicted| <= margin and margin < resolution,
    BLIND      iff margin >= resolution (it could not have seen an error that matters; BLIND fails),
    REFUTED    otherwise,

where margin = 4 stderr + bias and `resolution` is the smallest error that matters. The negative control puts the
same measurement against a deliberately wrong prediction, at least two resolutions away, and must be REFUTED.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

import numpy as np

from bulkedge.numerics.trials import own_code
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.numerics.trials.runner import Request, Runner, Trial
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.marked import read_marks

Prediction = Callable[[], float | Enclosure]


class Verdict(Enum):
    """What a comparison says."""

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    BLIND = "BLIND"


def verdict(predicted: float, measured: Estimate, resolution: float) -> Verdict:
    """Compare a prediction with a measurement at a resolution (see the module's text)."""
    if measured.margin >= resolution:
        return Verdict.BLIND
    return Verdict.CONFIRMED if abs(measured.value - predicted) <= measured.margin else Verdict.REFUTED


@dataclass(frozen=True)
class Point:
    """A mean measured at one size, with its standard error."""

    size: int
    mean: float
    stderr: float


@dataclass(frozen=True)
class SecondRoute:
    """A deterministic second route: `compute` returns a value with an error bound and never calls the first route."""

    compute: Callable[[], Enclosure]

    def __post_init__(self) -> None:
        if not callable(self.compute):
            raise _unusable("compute", self.compute, "give a function without arguments that returns an Enclosure")

    def requests(self, full: bool) -> tuple[Request, ...]:
        """No trials."""
        return ()

    def points(self, runner: Runner, full: bool) -> tuple[Point, ...]:
        """No sizes."""
        return ()

    def estimate(self, runner: Runner, full: bool) -> Estimate:
        """The value with its error bound as bias."""
        result = own_code.called("the second route", self.compute)
        if not isinstance(result, Enclosure):
            raise _unusable("compute", result, "return an Enclosure, a value with an error bound")
        # The comparison is in float64; what the conversion loses belongs to the error.
        rounding = 2.0**-52 * abs(float(result))
        return Estimate(float(result), 0.0, 1, result.bound + rounding)


@dataclass(frozen=True)
class MonteCarlo:
    """The mean of `component` over independent trials at one size, with a derived bound of the finite-size bias."""

    trial: Trial
    component: str
    size: int
    trials: int
    full_trials: int
    bias: Callable[[int], float] | None = None

    def __post_init__(self) -> None:
        _check_measure(self)

    def requests(self, full: bool) -> tuple[Request, ...]:
        """The trials that `estimate` will ask for."""
        return (Request(self.trial, (self.size,), self.full_trials if full else self.trials),)

    def points(self, runner: Runner, full: bool) -> tuple[Point, ...]:
        """The one size."""
        return _points(runner, self.requests(full)[0], self.component)

    def estimate(self, runner: Runner, full: bool) -> Estimate:
        """Mean and standard error; bias from the derived bound (0 where the statement is exact at this size)."""
        (request,) = self.requests(full)
        results = runner.run(request.trial, request.sizes, request.trials)[self.size]
        # The bias is derived and stands beside the standard error: more trials shrink one and not the other.
        mean = Estimate.from_samples(_component(results, self.component))
        return Estimate(mean.value, mean.stderr, mean.n, self.bias(self.size) if self.bias else 0.0)


def _ladder(runner: Runner, request: Request, component: str) -> list[Estimate]:
    results = runner.run(request.trial, request.sizes, request.trials)
    return [Estimate.from_samples(_component(results[size], component)) for size in request.sizes]


def _component(results: Sequence[dict[str, float]], name: str) -> list[float]:
    known = ", ".join(repr(key) for key in results[0])
    if any(name not in r for r in results):
        raise InputError("component", f"{name!r} is not among what the trial returns", f"choose from {known}")
    return [r[name] for r in results]


def _unusable(argument: str, value: Any, remedy: str) -> InputError:
    text = repr(value)
    return InputError(argument, f"{text if len(text) <= 60 else type(value).__name__} is unusable", remedy)


def _check_measure(measure: Any) -> None:
    """Refuse what no trial could be run with, where it is written."""
    if not callable(measure.trial):
        raise _unusable("trial", measure.trial, "give a function of a numpy Generator and a size")
    if not isinstance(measure.component, str):
        raise _unusable("component", measure.component, "name one of the numbers that the trial returns")
    for field in fields(measure):
        value = getattr(measure, field.name)
        if field.name in ("size", "sizes", "full_sizes"):
            values = (value,) if field.name == "size" else value
            if not (isinstance(values, tuple) and values and all(_is_count(x, 1) for x in values)):
                raise _unusable(field.name, value, "give positive integers (sizes: a tuple of them)")
            if field.name != "size" and len(values) < 3 - isinstance(measure, Ladder):
                raise _unusable(field.name, value, "give a longer ladder")
        elif field.name in ("trials", "full_trials") and not _is_count(value, 2):
            raise _unusable(field.name, value, "give an integer of at least 2: a standard error needs two trials")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _points(runner: Runner, request: Request, component: str) -> tuple[Point, ...]:
    means = _ladder(runner, request, component)
    return tuple(Point(size, m.value, m.stderr) for size, m in zip(request.sizes, means, strict=True))


class _OverSizes:
    """What Ladder and Rate share: trials over a ladder of sizes, shorter in a quick run."""

    trial: Trial
    component: str
    sizes: tuple[int, ...]
    trials: int
    full_sizes: tuple[int, ...]
    full_trials: int

    def __post_init__(self) -> None:
        _check_measure(self)

    def requests(self, full: bool) -> tuple[Request, ...]:
        """The trials that `estimate` will ask for."""
        sizes, trials = (self.full_sizes, self.full_trials) if full else (self.sizes, self.trials)
        return (Request(self.trial, sizes, trials),)

    def points(self, runner: Runner, full: bool) -> tuple[Point, ...]:
        """The ladder."""
        return _points(runner, self.requests(full)[0], self.component)


@dataclass(frozen=True)
class Ladder(_OverSizes):
    """A limit measured over a ladder of sizes: mean(size) = limit + C size^(-rate).

    The measurement is the mean at the largest size; its bias is |C| size^(-rate) with C fitted over the ladder
    (weighted least squares with the limit left free, so that the prediction does not enter), plus one standard
    error of that fitted term.
    """

    trial: Trial
    component: str
    sizes: tuple[int, ...]
    rate: float
    trials: int
    full_sizes: tuple[int, ...]
    full_trials: int

    def estimate(self, runner: Runner, full: bool) -> Estimate:
        """The mean at the largest size, its standard error, and the fitted finite-size term as bias."""
        (request,) = self.requests(full)
        means = _ladder(runner, request, self.component)
        # In size^(-rate) the model is a line, whose intercept is the limit: left free, it cannot pull the term towards
        # the prediction.
        x = np.array([float(s) ** -self.rate for s in request.sizes])
        _, slope, slope_error = _weighted_line(x, means)
        # One standard error of the fitted term is added, for a ladder too short to fit it must not look better for
        # that.
        return Estimate(means[-1].value, means[-1].stderr, means[-1].n, (abs(slope) + slope_error) * float(x[-1]))


@dataclass(frozen=True)
class Rate(_OverSizes):
    """The exponent of a positive quantity in the size: slope of log mean against log size over a ladder.

    The bias is the change of the slope when the smallest size is left out (curvature of the ladder).
    """

    trial: Trial
    component: str
    sizes: tuple[int, ...]
    trials: int
    full_sizes: tuple[int, ...]
    full_trials: int

    def estimate(self, runner: Runner, full: bool) -> Estimate:
        """The fitted exponent, its standard error, and the ladder's curvature as bias."""
        (request,) = self.requests(full)
        means = _ladder(runner, request, self.component)
        # To first order the error of a logarithm is the relative one.
        logs = [Estimate(math.log(m.value), m.stderr / m.value, m.n) for m in means]
        x = np.log(np.array(request.sizes, dtype=float))
        _, slope, slope_error = _weighted_line(x, logs)
        # Without the smallest size: what the slope still changes is the next order, a bias that no trial removes.
        _, upper, _ = _weighted_line(x[1:], logs[1:])
        return Estimate(slope, slope_error, means[-1].n, abs(slope - upper))


def _weighted_line(x: np.ndarray, y: list[Estimate]) -> tuple[float, float, float]:
    """Intercept, slope and the slope's standard error of a weighted least-squares line (at least two points)."""
    values = np.array([e.value for e in y])
    errors = np.array([e.stderr for e in y])
    # A deterministic ladder has no standard errors: all points then weigh the same.
    w = 1 / errors**2 if np.all(errors > 0) else np.ones_like(values)
    xm, ym = np.average(x, weights=w), np.average(values, weights=w)
    sxx = float(np.sum(w * (x - xm) ** 2))
    slope = float(np.sum(w * (x - xm) * (values - ym))) / sxx
    return float(ym - slope * xm), slope, 1 / math.sqrt(sxx) if np.all(errors > 0) else 0.0


Measure = SecondRoute | MonteCarlo | Ladder | Rate


@dataclass(frozen=True)
class Control:
    """A deliberately wrong prediction and what is wrong with it."""

    mistake: str
    predict: Prediction

    def __post_init__(self) -> None:
        if not callable(self.predict):
            raise _unusable("predict", self.predict, "give a function without arguments, lambda: 1")
        read_marks(self, "mistake")


@dataclass(frozen=True)
class Check:
    """A falsifiable statement: predicted, measured, and refutable.

    `id` is a statement's ID, or ID.part. `claim` is one line. `source` names paper and equation. `resolution` is the
    smallest error that matters, in the units of the predicted number.
    """

    id: str
    claim: str
    source: str
    predict: Prediction
    measure: Measure
    resolution: float
    control: Control

    def __post_init__(self) -> None:
        if not callable(self.predict):
            raise _unusable("predict", self.predict, "give a function without arguments, lambda: 0")
        if not isinstance(self.measure, SecondRoute | MonteCarlo | Ladder | Rate):
            raise _unusable("measure", self.measure, "give a MonteCarlo, Ladder, Rate or SecondRoute")
        if not isinstance(self.control, Control):
            raise _unusable("control", self.control, "give a Control, a wrong prediction and what is wrong with it")
        if isinstance(self.resolution, str | bool) or not 0 < self.resolution < math.inf:
            raise _unusable("resolution", self.resolution, "give the smallest error that matters, a positive number")
        read_marks(self, "claim", "source")

    def __reduce__(self) -> tuple[Any, ...]:
        # Predictions may be lambdas, which pickle refuses; cloudpickle takes them along, so that results can be kept.
        return _thaw, (_cloudpickle().dumps(tuple(getattr(self, field.name) for field in fields(self))),)


def _thaw(frozen: bytes) -> Check:
    return Check(*_cloudpickle().loads(frozen))


def _cloudpickle() -> Any:
    """The pickler of joblib's workers: a package of its own, or (joblib before 1.6) joblib's copy."""
    own = importlib.util.find_spec("cloudpickle") is not None
    return importlib.import_module("cloudpickle" if own else "joblib.externals.cloudpickle")


@dataclass(frozen=True)
class CheckResult:
    """The outcome of a check: what was predicted and measured, and both verdicts; `points` are the means by size."""

    check: Check
    predicted: float
    measured: Estimate
    verdict: Verdict
    control: Verdict
    control_predicted: float
    points: tuple[Point, ...] = ()

    @property
    def passed(self) -> bool:
        """Confirmed, with a control that was refuted."""
        return self.verdict is Verdict.CONFIRMED and self.control is Verdict.REFUTED


@dataclass(frozen=True)
class _Deterministic:
    """What a check computes without randomness: both predictions and, for a SecondRoute, its measurement."""

    predicted: float
    error: float
    wrong: float
    second: Estimate | None


def _deterministic(check: Check) -> _Deterministic:
    second = check.measure.estimate(Runner(), False) if isinstance(check.measure, SecondRoute) else None
    value, error = own_code.prediction(f"the prediction of {check.id}", check.predict)
    wrong, _ = own_code.prediction(f"the control's prediction of {check.id}", check.control.predict)
    return _Deterministic(value, error, wrong, second)


def run_check(check: Check, runner: Runner, full: bool = False) -> CheckResult:
    """Measure once, compare with the prediction and with the control's wrong prediction.

    Errors: InputError if the control's prediction is within two resolutions of the claim's (it would prove nothing).
    """
    return run_checks((check,), runner, full)[0]


def run_checks(checks: Sequence[Check], runner: Runner, full: bool = False) -> tuple[CheckResult, ...]:
    """Run several checks: all their trials and deterministic computations through the runner's one pool of workers.

    Errors: InputError if a control's prediction is within two resolutions of the claim's (it would prove nothing).
    """
    requests = [request for check in checks for request in check.measure.requests(full)]
    parts = runner.gather(requests, [functools.partial(_deterministic, check) for check in checks])
    return tuple(_judge(check, part, runner, full) for check, part in zip(checks, parts, strict=True))


def _judge(check: Check, part: _Deterministic, runner: Runner, full: bool) -> CheckResult:
    if not abs(part.predicted - part.wrong) >= 2 * check.resolution:
        raise InputError(
            f"check {check.id}",
            f"the control's prediction {part.wrong:.6g} is within two resolutions ({check.resolution:g}) of "
            f"{part.predicted:.6g}, so it could not be told apart",
            "choose a control further away or a finer resolution",
        )
    measured = part.second or check.measure.estimate(runner, full)
    # What the prediction itself does not know belongs to the margin.
    measured = replace(measured, bias=measured.bias + part.error)
    return CheckResult(
        check,
        part.predicted,
        measured,
        verdict(part.predicted, measured, check.resolution),
        verdict(part.wrong, measured, check.resolution),
        part.wrong,
        check.measure.points(runner, full),
    )
