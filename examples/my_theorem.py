"""A theorem of one's own: the mean of the larger of two Gaussians of correlation rho is sqrt((1 - rho)/pi)."""

import numpy as np
import sympy as sp

from bulkedge import Check, Control, Derivation, MonteCarlo, Step
from bulkedge.theory.numbers.symbols import rho, z


def theorem():
    return sp.sqrt((1 - rho) / sp.pi)


def steps():
    half = sp.Integral(z * sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi), (z, 0, sp.oo))
    yield Step(half * sp.sqrt(2 - 2 * rho), reason="E max(z1, z2) = E (z1 - z2)_+, and z1 - z2 has variance 2 - 2 rho")
    yield Step(theorem(), "=", "the mean of the positive part of z")


def trial(rng, size, correlation=1 / 3):
    z1, noise = rng.standard_normal((2, size))
    return {"larger": np.maximum(z1, correlation * z1 + np.sqrt(1 - correlation**2) * noise).mean()}


measure = MonteCarlo(trial, "larger", size=4000, trials=20, full_trials=200)
wrong = Control("the variance of z1 + z2", lambda: theorem().subs(rho, -1 / sp.Integer(3)))
claim = "E max(z1, z2) at correlation 1/3"
CHECKS = (Check("X1", claim, "my note", lambda: theorem().subs(rho, sp.Rational(1, 3)), measure, 0.02, wrong),)
DERIVATIONS = (Derivation("X1.larger", "The larger of two", theorem, steps, "my note", (rho > -1, rho < 1)),)
