"""The ridge regression after one step that the risks' predictors are asked about: one object, of numbers or a Limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import Limit


@dataclass(frozen=True, eq=False)  # arrays do not compare to one truth value
class RidgeProblem:
    """Ratios, ridge and step: min (1/n)|y - Phi th|^2 + (lam/N)|th|^2 on features after one step of size eta.

    Shapes/units: paper O's -- psi1 = n/d, psi2 = N/d, alpha = n1/d of the step's own batch (None: psi1), `noise` a
    standard deviation. Floats, or arrays that broadcast against one another.
    """

    psi1: ArrayLike
    psi2: ArrayLike
    lam: ArrayLike
    eta: ArrayLike = 0.0
    alpha: ArrayLike | None = None
    noise: ArrayLike = 0.0

    @classmethod
    def of(cls, limit: Limit) -> RidgeProblem:
        """The problem of a Limit with at most one step, which must not grow with the width.

        Errors: InputError where there is no ridge fit, or what the limits of one step do not cover.
        """
        if limit.train is None or limit.ridge is None:
            raise InputError("ridge", "or train is missing: there is no fit", "give ridge and train")
        if len(limit.steps) > 1:
            raise InputError("steps", f"{len(limit.steps)} steps where the risk after one is known", "give one step")
        if any(step.exponent != 0 for step in limit.steps):
            raise InputError("steps", "a step that grows with the width has no such limit", "take a Setting of a width")
        if limit.loss != "square":
            raise InputError("loss", f"the risk is known for the square loss, not {limit.loss}", "take loss square")
        eta = float(limit.steps[0].coefficient) if limit.steps else 0.0
        alpha = None if limit.batch is None else float(limit.batch)
        return cls(float(limit.train), float(limit.width), float(limit.ridge), eta, alpha, float(limit.noise))

    @property
    def batch(self) -> ArrayLike:
        """The ratio n1/d of the step's batch."""
        return self.psi1 if self.alpha is None else self.alpha

    def named(self) -> dict[str, ArrayLike]:
        """The fields by the names that messages give them."""
        return {
            "samples": self.psi1,
            "width": self.psi2,
            "ridge": self.lam,
            "step": self.eta,
            "batch": self.batch,
            "noise": self.noise,
        }

    def numbers(self) -> tuple[float, float, float, float, float, float]:
        """(psi1, psi2, lam, eta, alpha, noise) for a predictor of single numbers.

        Errors: InputError for ratios and a ridge that are not positive and finite, a step that is not finite, or a
        noise that is no standard deviation.
        """
        found = {name: float(np.asarray(value)) for name, value in self.named().items()}
        for name in ("samples", "width", "ridge", "batch"):
            if not (found[name] > 0 and math.isfinite(found[name])):
                raise InputError(name, f"{found[name]} is not positive and finite", "give a number above 0")
        if not math.isfinite(found["step"]):
            raise InputError("step", "is not finite", "give a finite number")
        if not (found["noise"] >= 0 and math.isfinite(found["noise"])):
            raise InputError("noise", f"{found['noise']} is not a standard deviation", "give a finite number >= 0")
        psi1, psi2, lam, eta, alpha, noise = found.values()
        return psi1, psi2, lam, eta, alpha, noise
