"""Checks of G1-G3: the covariance of the features after one step. Paper F's printed formula is the natural control."""

from __future__ import annotations

import functools

import sympy as sp

from bulkedge.numerics.steps.covariance import Step, conditional_trial, kurtosis_trial, moment, predicted, trial
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo, Rate
from bulkedge.theory.gaussian.hermite import second_moment
from bulkedge.theory.numbers.symbols import zeta
from bulkedge.theory.steps import covariance as symbols

RELU = Step()  # ReLU, tanh link, alpha = 2, beta = 1, eta = d^(3/4)
_CUBIC = Step("z + He(2, z)/4 + He(3, z)/5", "tanh")
SHIFTED = Step("z + He(2, z)/2", "tanh(z) + 1/2")
SOURCE = "G1; paper F, eq. (3.3)"


# eta0 = 20: the neuron's own share of f, of relative order d^(-zeta)/eta0, is then no part of the exponents.
_LARGE = Step(eta0=20.0)


def _exponent(quantity: str) -> float:
    """The exponent of d at eta = eta0 d^(3/4)."""
    return float(symbols.scaling(quantity).subs(zeta, sp.Rational(3, 4)))


def _reading(step: Step, d: int, reading: str, which: int) -> float:
    return predicted(step, d, reading)[which]


def _output_share(step: Step, d: int) -> float:
    """A bound of what `full` leaves out of A: the network's own output in the residual, of relative order 1/d.

    (eta^2/(beta d)^3) (E sigma'^2 E sigma^2/alpha + c1^4 + (E sigma E sigma'')^2), from E f^2 = E sigma^2/m; doubled
    for the other terms of that order.
    """
    second = _second_moment(step)
    c1, mu0, mu2 = (moment(step, symbols.act[k]) for k in (1, 0, 2))
    slope2 = moment(step, symbols.slope2)
    return 2 * step.eta(d) ** 2 / (step.beta * d) ** 3 * (slope2 * second / step.alpha + c1**4 + (mu0 * mu2) ** 2)


def _second_moment(step: Step) -> float:
    return float(second_moment(step.functions()[0]))


def _no_own_share() -> float:
    """A - 1 of `full` without the neuron's own share of f."""
    d = 100
    return predicted(RELU, d)[0] + 2 * RELU.eta(d) / (RELU.beta * d) ** 2 * moment(RELU, symbols.own)


def _no_mean() -> float:
    """A - 1 of `full` without the term of a link with a mean."""
    d = 100
    g0, mu2 = moment(SHIFTED, symbols.link[0]), moment(SHIFTED, symbols.act[2])
    return predicted(SHIFTED, d)[0] - (SHIFTED.eta(d) / d * g0 * mu2 / SHIFTED.beta) ** 2


def _cosine2() -> float:
    label2, mean1 = moment(RELU, symbols.label2), moment(RELU, symbols.link[1])
    return mean1**2 / (mean1**2 + label2 / RELU.alpha)


def _strength(d: int, label: float) -> float:
    c1, mean1 = moment(RELU, symbols.act[1]), moment(RELU, symbols.link[1])
    return RELU.eta(d) ** 2 / d * c1**2 / RELU.beta**2 * (mean1**2 + label / RELU.alpha)


def _remainder(d: int, variance: float) -> float:
    """(eta^2/d^2) variance E y^2/(alpha beta^2)."""
    return (RELU.eta(d) / d) ** 2 * variance * moment(RELU, symbols.label2) / (RELU.alpha * RELU.beta**2)


def _variance() -> float:
    return moment(RELU, symbols.slope2) - moment(RELU, symbols.act[1]) ** 2


def _kurtosis(law: str) -> float:
    return float(symbols.kurtosis(sp.Integer(2), law))


_RELU_TRIAL = functools.partial(trial, step=RELU)
_GIVEN = functools.partial(conditional_trial, step=RELU)

CHECKS = (
    Check(
        "G1.spike",
        "the spike's strength `B` has the activation's `E sigma'` where the paper prints the link's `mu1*`",
        SOURCE,
        functools.partial(_reading, RELU, 100, "full", 1),
        MonteCarlo(_RELU_TRIAL, "spike", 100, 160, 400),
        0.05,
        Control("the printed `mu1*^4` of eq. (3.3)", functools.partial(_reading, RELU, 100, "printed", 1)),
    ),
    Check(
        "G1.bulk",
        "`A - 1` has `E sigma'^2`: the part of the update that is not rank one has the energy of the part that is",
        SOURCE,
        functools.partial(_reading, RELU, 100, "full", 0),
        MonteCarlo(_RELU_TRIAL, "bulk", 100, 160, 400, functools.partial(_output_share, RELU)),
        8.8e-4,
        Control("the rank-one update's `c1^2`", functools.partial(_reading, RELU, 100, "rank_one", 0)),
    ),
    Check(
        "G1.own_share",
        "the neuron's own share of `f` lowers A by 2 `(eta/m^2) E` (`sigma sigma'`)'",
        SOURCE,
        functools.partial(_reading, RELU, 100, "full", 0),
        MonteCarlo(_RELU_TRIAL, "bulk", 100, 160, 400, functools.partial(_output_share, RELU)),
        1.5e-3,
        Control("`f` left out of the residual", _no_own_share),
    ),
    Check(
        "G1.corrections",
        "`B` of a cubic activation at `d = 50`, with its terms of relative order `1/d`",
        SOURCE,
        functools.partial(_reading, _CUBIC, 50, "full", 1),
        MonteCarlo(functools.partial(trial, step=_CUBIC), "spike", 50, 900, 3000),
        0.0745,
        Control("the rank-one update, without them", functools.partial(_reading, _CUBIC, 50, "rank_one", 1)),
    ),
    Check(
        "G1.mean",
        "a link with a mean adds `(eta^2/(beta d)^2) (E g)^2 (E sigma'')^2` to `A`",
        SOURCE,
        functools.partial(_reading, SHIFTED, 100, "full", 0),
        MonteCarlo(
            functools.partial(trial, step=SHIFTED), "bulk", 100, 90, 400, functools.partial(_output_share, SHIFTED)
        ),
        0.012,
        Control("without that term", _no_mean),
    ),
    Check(
        "G1.ladder",
        "B over `full` tends to one along d",
        SOURCE,
        lambda: 1.0,
        Ladder(_RELU_TRIAL, "spike_ratio", (40, 160), 1.0, 120, (100, 200, 400), 60),
        0.1,
        Control("printed over full", lambda: predicted(RELU, 400, "printed")[1] / predicted(RELU, 400)[1]),
    ),
    Check(
        "G1.bulk_ladder",
        "A - 1 over `full` tends to one along d",
        SOURCE,
        lambda: 1.0,
        Ladder(_RELU_TRIAL, "bulk_ratio", (40, 160), 1.0, 120, (100, 200, 400), 60),
        0.21,
        Control("rank-one over full", lambda: predicted(RELU, 400, "rank_one")[0] / predicted(RELU, 400)[0]),
    ),
    Check(
        "G1.rate.spike",
        "`B` grows as `d^(2 zeta - 1)`: its exponent over `d = 40`, 80, 160 at `zeta = 3/4`",
        SOURCE,
        functools.partial(_exponent, "spike"),
        Rate(functools.partial(trial, step=_LARGE), "spike", (40, 80, 160), 90, (100, 200, 400), 100),
        0.15,
        Control("the exponent of `A - 1`", functools.partial(_exponent, "bulk")),
    ),
    Check(
        "G1.rate.bulk",
        "`A - 1` falls as `d^(2 zeta - 2)`: its exponent over `d = 40`, 80, 160 at `zeta = 3/4`",
        SOURCE,
        functools.partial(_exponent, "bulk"),
        Rate(functools.partial(trial, step=_LARGE), "bulk", (40, 80, 160), 90, (100, 200, 400), 100),
        0.15,
        Control("the exponent `zeta - 2` of the neuron's own share of `f`", lambda: _LARGE.zeta - 2),
    ),
    Check(
        "G2.cosine",
        "all neurons of a batch share the direction `u`, at `cos^2 = mu1*^2/(mu1*^2 + E y^2/alpha)` from `w*`",
        "G2; paper F, Section 3",
        _cosine2,
        # E|u|^2 = mu1*^2 (1 - 1/n) + (E z^2 y^2 - E y^2)/n + E y^2/alpha: relative corrections below 4/d.
        MonteCarlo(_GIVEN, "network", 200, 60, 120, lambda d: 4 / d),
        0.08,
        Control("the spike along `w*`, as in the averaged kernel", lambda: 1.0),
    ),
    Check(
        "G2.strength",
        "given the batch the spike's strength is (`eta^2/d`)(`c1^2/beta^2`)(`mu1*^2 + E y^2/alpha`)",
        "G2",
        lambda: _strength(200, moment(RELU, symbols.label2)),
        MonteCarlo(_GIVEN, "strength", 200, 60, 120, lambda d: 4 / d * _strength(d, moment(RELU, symbols.label2))),
        0.33,
        Control("the averaged spike, without the label's energy", lambda: _strength(200, 0.0)),
    ),
    Check(
        "G2.remainder",
        "beside that spike the bulk has Var(`sigma'`), not `c1^2` or `E sigma'^2`",
        "G2",
        lambda: _remainder(200, _variance()),
        MonteCarlo(_GIVEN, "remainder", 200, 60, 120, functools.partial(_output_share, RELU)),
        8e-4,
        Control("`E sigma'^2` in its place", lambda: _remainder(200, moment(RELU, symbols.slope2))),
    ),
    Check(
        "G3.gaussian",
        "Gaussian `a_j`: given the batch the feature along `u` is Gaussian (kurtosis 3)",
        "G3",
        functools.partial(_kurtosis, "gaussian"),
        MonteCarlo(functools.partial(kurtosis_trial, readout="gaussian", strength=2.0), "kurtosis", 4_000, 160, 1600),
        0.15,
        Control("the two-component mixture of `a_j = +-1/sqrt m`", functools.partial(_kurtosis, "rademacher")),
    ),
    Check(
        "G3.rademacher",
        "`a_j = +-1/sqrt m`: a mixture of the same covariance, whose kurtosis is `(3 + 6s + s^2)/(1 + s)^2`",
        "G3",
        functools.partial(_kurtosis, "rademacher"),
        MonteCarlo(functools.partial(kurtosis_trial, readout="rademacher", strength=2.0), "kurtosis", 4_000, 160, 1600),
        0.15,
        Control("Gaussian features", functools.partial(_kurtosis, "gaussian")),
    ),
)
