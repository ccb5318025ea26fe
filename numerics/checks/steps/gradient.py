"""Checks of O1: the remainder of the rank-one approximation, its operator norm over sizes and its column energies."""

from __future__ import annotations

import functools

import numpy as np
import sympy as sp

from bulkedge.numerics.spectra.lanczos import leading_triples
from bulkedge.numerics.steps import gradient
from bulkedge.numerics.steps.network import train
from bulkedge.numerics.trials.check import Check, Control, Ladder
from bulkedge.numerics.trials.runner import Trial
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.symbols import mu1, slope2
from bulkedge.theory.steps.gradient import remainder_rate
from bulkedge.theory.steps.setting import Growth, Limit

SOURCE = "paper O, Proposition 2; row energy derived"


@functools.cache
def _limit(activation: str, link: str, coefficient: int, exponent: str, readout: str) -> Limit:
    return Limit(
        width=sp.Rational(3, 2),
        batch=sp.Integer(2),
        activation=nonlinearity(activation),
        links=(nonlinearity(link),),
        noise=sp.Rational(1, 4),
        steps=(Growth(sp.Integer(coefficient), sp.Rational(exponent)),),
        readout=readout,
    )


@stream("O1.energy")
def trial(
    rng: np.random.Generator,
    size: int,
    activation: str,
    link: str,
    coefficient: int,
    exponent: str,
    readout: str,
) -> dict[str, float]:
    """One step at d = size: |E|_op, and the column energies over eta^2 a_j^2, averaged with weights a_j^2 and a_j^4."""
    setting = _limit(activation, link, coefficient, exponent, readout).at(size)
    trained = train(setting, rng)
    E, a2 = gradient.remainder(trained), trained.a**2
    energies = np.sum(E**2, axis=0) / float(setting.steps[0]) ** 2
    return {
        "norm": float(leading_triples(E, 1).values[0]),
        "energy": float(energies.sum() / a2.sum()),
        "energy_weighted": float(energies @ a2 / (a2 @ a2)),
    }


def _trial(
    activation: str, link: str, coefficient: int, exponent: str = "0", readout: str = "rademacher"
) -> functools.partial[dict[str, float]]:
    return functools.partial(
        trial, activation=activation, link=link, coefficient=coefficient, exponent=exponent, readout=readout
    )


def _variance(activation: str, link: str) -> float:
    return gradient.noise_variance(_limit(activation, link, 1, "0", "gaussian"))


def _energy(activation: str, link: str) -> float:
    return gradient.remainder_energy(_limit(activation, link, 1, "0", "gaussian"))


def _with_the_mean_slope(activation: str, link: str) -> float:
    """The mistake of leaving the rank-one part's share in: E sigma'^2 for Var sigma'."""
    limit = _limit(activation, link, 1, "0", "gaussian")
    values = gradient.step_values(limit)
    mean, second = values[mu1], values[slope2]
    return gradient.noise_variance(limit) * second / (second - mean**2)


_CENTRED = ("relu", "tanh(2*z)")
_WITH_MEAN = ("z + He(2, z)/2", "tanh(2*z) + 1")
# Bounded readouts: a Gaussian one has max |a_j| ~ sqrt(log N/N), and the rate a logarithm.
_small = _trial(*_CENTRED, 2)
_large = _trial(*_CENTRED, 2, "1/2")
_gaussian = _trial(*_CENTRED, 2, readout="gaussian")
_mean = _trial(*_WITH_MEAN, 2, readout="gaussian")


@stream("O1.norm.large")
def _exponent_trial(rng: np.random.Generator, size: int, network: Trial) -> dict[str, float]:
    """The exponent of |E|_op in the size, from one network at d = size and one at twice the size."""
    small, large = (network(rng, d)["norm"] for d in (size, 2 * size))
    return {"exponent": float(np.log2(large / small))}


def _rate(network: Trial) -> Ladder:
    # A norm is an edge: 1 - c d^(-2/3) is a factor of it, so that the exponent has a finite-size term of that order.
    trial = functools.partial(_exponent_trial, network=network)
    full = (100, 200, 400)
    return Ladder(trial, "exponent", (30, 160), rate=2 / 3, trials=48, full_sizes=full, full_trials=40)


def _ladder(trial: Trial, component: str) -> Ladder:
    full = (100, 200, 400, 800)
    return Ladder(trial, component, (60, 120, 240), rate=1, trials=40, full_sizes=full, full_trials=32)


CHECKS = (
    Check(
        "O1.norm.small",
        "`|E|_op = Theta(N^(-1/2))` at `eta = 2`",
        SOURCE,
        lambda: float(remainder_rate(sp.S.Zero)),
        _rate(_small),
        0.15,
        Control("the exponent of `eta ~ sqrt(N)`", lambda: float(remainder_rate(sp.S.Half))),
    ),
    Check(
        "O1.norm.large",
        "`|E|_op = Theta`(1) at `eta = 2 sqrt(N)`: not negligible",
        SOURCE,
        lambda: float(remainder_rate(sp.S.Half)),
        _rate(_large),
        0.15,
        Control("the exponent of `eta = Theta`(1)", lambda: float(remainder_rate(sp.S.Zero))),
    ),
    Check(
        "O1.energy",
        "`sum_j |E_j|^2 / (eta^2 sum_j a_j^2) -> v`",
        SOURCE,
        functools.partial(_variance, *_CENTRED),
        _ladder(_gaussian, "energy"),
        0.02,
        Control(
            ("`E sigma'^2` for `Var sigma'` (the rank-one part counted in)"), lambda: _with_the_mean_slope(*_CENTRED)
        ),
    ),
    Check(
        "O1.energy.columns",
        "`|E_j|^2` is proportional to `a_j^2`: `sum_j |E_j|^2 a_j^2 / (eta^2 sum_j a_j^4) -> v`",
        SOURCE,
        functools.partial(_variance, *_CENTRED),
        _ladder(_gaussian, "energy_weighted"),
        0.02,
        Control("the same energy in every column: `v/3`", lambda: _variance(*_CENTRED) / 3),
    ),
    Check(
        "O1.energy.mean",
        "a link with a mean adds `(mu0* E sigma'')^2` to `v`",
        SOURCE,
        functools.partial(_energy, *_WITH_MEAN),
        _ladder(_mean, "energy"),
        0.25,
        Control("`v` alone", lambda: _variance(*_WITH_MEAN)),
    ),
)
