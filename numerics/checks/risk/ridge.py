"""Ledger of O3: the closed form against Mei and Montanari's formula and against networks trained by one step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from bulkedge.numerics.risk.mei_montanari import mei_montanari_risk
from bulkedge.numerics.risk.pair import ridge_constants
from bulkedge.numerics.risk.ridge import Constants, RidgeRisk, kernel_risk, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.risk.simulated_risk import risk_trial
from bulkedge.numerics.trials.check import Check, Control, Ladder, SecondRoute
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.enclosure import Enclosure

SOURCE = "paper O, Theorems 3 and 5 (C.28 re-derived); O3"


@dataclass(frozen=True)
class Case:
    """One simulated setting, in paper O's units; numbers as exact text."""

    activation: str
    link: str
    samples: str
    width: str
    ridge: str
    step: str
    batch: str
    noise: str

    def trial(self) -> Any:
        """The simulation."""
        return functools.partial(risk_trial, **vars(self), test=2500)

    def constants(self) -> Constants:
        """O3's constants of the pair."""
        return ridge_constants(nonlinearity(self.activation), nonlinearity(self.link))[0]

    def predict(self, change: Callable[[Constants], Constants] = lambda c: c, **other: Any) -> RidgeRisk:
        """O3's prediction; `change` and `other` make a mistake for a control."""
        names = {"samples": "psi1", "width": "psi2", "ridge": "lam", "step": "eta", "batch": "alpha", "noise": "noise"}
        values = {new: float(Fraction(getattr(self, old))) for old, new in names.items()}
        return ridge_risk(change(self.constants()), RidgeProblem(**{**values, **other}))

    def gain(self, **other: Any) -> float:
        """The gain over step 0."""
        return float(self.predict(eta=0.0).test) - float(self.predict(**other).test)


# A small batch and a step of several units: E y^2/alpha then dominates |u|^2, and leaving it out shows.
TANH = Case("tanh", "tanh", "2", "3/2", "1/10", "4", "1/2", "1/5")
_QUADRATIC = Case("z + He(2, z)/2", "tanh", "3/2", "1", "1/5", "3/2", "3/2", "1/5")
_FITTED = Case("relu", "softplus", "3", "1", "1/10", "2", "3", "1/5")
_UNFITTED = Case("tanh", "softplus", "3", "1", "1/10", "3", "3", "1/5")


def _ladder(case: Case, component: str, rate: float = 1.0) -> Ladder:
    # The mean deviates by O(1/d); a small size beside a large one pins the slope.
    return Ladder(case.trial(), component, (30, 110), rate, 84, (100, 200, 400), 60)


def _without_batch_noise() -> float:
    """The gain with |u|^2 = mu1*^2: the fluctuation E y^2/alpha of the step's direction left out."""
    return TANH.gain(alpha=np.inf)


def _train() -> float:
    """The training error of the quadratic activation."""
    return float(_QUADRATIC.predict().train)


def _train_once() -> float:
    """The training error with lam/kappa, not squared."""
    r = _QUADRATIC.predict()
    return float(r.train) / float(Fraction(_QUADRATIC.ridge)) * float(r.kappa)


def _mei_montanari() -> Enclosure:
    c = TANH.constants()
    mu1, mu2, mu1_star, mu2_star = (float(np.asarray(x)) for x in (c.mu1, c.mu2, c.mu1_star, c.mu2_star))
    value = mei_montanari_risk(1.5, 2.0, 0.1 / 1.5, mu1, mu2, mu1_star, mu2_star, 0.2)
    return Enclosure(Fraction(value), Fraction(value) / 10**12, "tested")


def _test(case: Case, **other: Any) -> float:
    return float(case.predict(**other).test)


@stream("O3.kernel")
def kernel_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """Kernel ridge regression with the dual kernel of the centred erf activation at n = 2 d, ridge delta n/d."""
    n, d = 2 * size, size
    beta = rng.standard_normal(d)
    beta /= np.linalg.norm(beta)
    X, Z = rng.standard_normal((n, d)), rng.standard_normal((1500, d))
    y = np.tanh(X @ beta) + 0.2 * rng.standard_normal(n)
    alpha = np.linalg.solve(_arcsine(X, X) + _KERNEL_RIDGE * n / d * np.eye(n), y)
    return {"test": float(np.mean((np.tanh(Z @ beta) - _arcsine(Z, X) @ alpha) ** 2))}


_KERNEL_RIDGE = 0.1


def _arcsine(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """E erf(w.x) erf(w.y) for w ~ N(0, I/d)."""
    d = X.shape[1]
    scale = np.sqrt(np.outer(1 + 2 * np.sum(X**2, axis=1) / d, 1 + 2 * np.sum(Y**2, axis=1) / d))
    return np.asarray(2 / np.pi * np.arcsin(2 * X @ Y.T / d / scale))


def _kernel() -> float:
    """The limit N/d -> infinity at a proportional ridge."""
    c = ridge_constants(nonlinearity("erf"), nonlinearity("tanh"))[0]
    return float(kernel_risk(c, 2.0, _KERNEL_RIDGE, 0.2))


def _kernel_floor() -> float:
    return float(ridge_constants(nonlinearity("erf"), nonlinearity("tanh"))[0].floor())


def _other_mean(case: Case) -> float:
    """The test risk with the mean of the link treated the other way."""
    return float(case.predict(lambda c: replace(c, fits_mean=not c.fits_mean)).test)


CHECKS = (
    Check(
        id="O3.mei_montanari",
        claim="at step 0 the closed form is Mei and Montanari's random-features risk",
        source="arXiv:1908.05355, Theorem 2; O3",
        predict=functools.partial(_test, TANH, eta=0.0),
        measure=SecondRoute(_mei_montanari),
        resolution=1e-10,
        control=Control("their ridge taken for paper O's", functools.partial(_test, TANH, eta=0.0, lam=0.1 / 1.5)),
    ),
    Check(
        id="O3.gain",
        claim="gain of one step over random features, tanh on tanh, batch `n1 = d/2`",
        source=SOURCE,
        predict=TANH.gain,
        measure=_ladder(TANH, "gain"),
        resolution=0.0175,
        control=Control("`|u|^2` without `E y^2/alpha`", _without_batch_noise),
    ),
    Check(
        id="O3.test",
        claim="test risk after one step, tanh on tanh",
        source=SOURCE,
        predict=functools.partial(_test, TANH),
        measure=_ladder(TANH, "test"),
        resolution=0.0175,
        control=Control("`|u|^2` without `E y^2/alpha`", functools.partial(_test, TANH, alpha=np.inf)),
    ),
    Check(
        id="O3.not_odd",
        claim="training error after one step, activation `z + He_2/2` (not odd: conjectured)",
        source=SOURCE,
        predict=_train,
        measure=_ladder(_QUADRATIC, "train"),
        resolution=0.02,
        control=Control("`lam/kappa` in place of its square", _train_once),
    ),
    Check(
        id="O3.mean.fitted",
        claim="a link with a mean, an activation with one: the variance of `y` counts (ReLU on softplus)",
        source="derived here; O3",
        predict=functools.partial(_test, _FITTED),
        # The finite-size term is the larger part of the margin here: a rate below 1 keeps the noise of its fit out.
        measure=_ladder(_FITTED, "test", 0.75),
        resolution=0.05,
        control=Control("`E y^2` in place of `Var y`", functools.partial(_other_mean, _FITTED)),
    ),
    Check(
        id="O3.mean.unfitted",
        claim="a link with a mean, an odd activation: the mean adds `mu0*^2` and more (tanh on softplus)",
        source="derived here; O3",
        predict=functools.partial(_test, _UNFITTED),
        measure=_ladder(_UNFITTED, "test"),
        resolution=0.1,
        control=Control("`Var y` in place of `E y^2`", functools.partial(_other_mean, _UNFITTED)),
    ),
    Check(
        id="O3.kernel",
        claim="`N/d ->` infinity: the risk of the rotation-invariant kernel, erf on tanh at `n = 2 d`",
        source=SOURCE + "; paper O, Proposition 1",
        predict=_kernel,
        measure=Ladder(kernel_trial, "test", (40, 130), 1.0, 60, (100, 200, 400), 40),
        resolution=0.03,
        control=Control("the floor `mu2*^2`, as if it were reached", _kernel_floor),
    ),
)
