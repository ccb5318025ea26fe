"""Simulated ridge risks after one gradient step, exactly as paper O trains: the measure beside the curves."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from bulkedge.numerics.steps.network import Teacher, draw_batch, features, ridge_readout, train
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.numerics.trials.runner import Runner
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.steps.setting import Limit


@stream("O3.gain")
def risk_trial(
    rng: np.random.Generator,
    size: int,
    *,
    activation: str,
    link: str,
    samples: str,
    width: str,
    ridge: str,
    step: str,
    batch: str,
    noise: str = "0",
    readout: str = "gaussian",
    weights: str = "gaussian",
    test: int = 4000,
) -> dict[str, float]:
    """One network at d = `size`: test error on noiseless labels and training error, and the same before the step.

    The fit before the step (`test0`) uses the same samples, so that `gain` = test0 - test fluctuates little.

    Convention: ratios, ridge, step and noise in paper O's units, as text, so that the trial's name says it all.
    """
    # A Limit reads text where its fields hold what was read.
    values: dict[str, Any] = {"activation": activation, "links": link, "steps": (step,)}
    setting = Limit(
        **values,
        width=width,
        batch=batch,
        train=samples,
        ridge=ridge,
        noise=noise,
        readout=readout,
        weights=weights,
    ).at(size)
    trained = train(setting, rng)
    assert setting.train is not None
    X, y = draw_batch(trained.teacher, setting.train, rng).arrays()
    clean = Teacher(trained.teacher.directions, trained.teacher.links)
    Z, g = draw_batch(clean, test, rng).arrays()
    test_errors, train_errors = [], []
    for W in trained.weights:
        Phi = features(W, X, trained.sigma)
        a = ridge_readout(Phi, y, float(setting.ridge or 0))
        train_errors.append(float(np.mean((y - Phi @ a) ** 2)))
        test_errors.append(float(np.mean((g - features(W, Z, trained.sigma) @ a) ** 2)))
    before, after = test_errors[0], test_errors[-1]
    return {"test": after, "train": train_errors[-1], "test0": before, "gain": before - after}


def simulated_risk(runner: Runner, d: int, trials: int, **values: str) -> dict[str, Estimate]:
    """Mean and standard error over networks of the test error (noise excluded) and the training error."""
    keywords: dict[str, Any] = dict(values)
    results = runner.run(functools.partial(risk_trial, **keywords), (d,), trials)[d]
    return {key: Estimate.from_samples([r[key] for r in results]) for key in ("test", "train")}
