"""Ledger of G11: the remainder's norm over a ladder of dimensions, and one element from the kernels in closed form."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import sympy as sp

from bulkedge.numerics.kernels.spiked_kernel import second_harmonic
from bulkedge.numerics.kernels.spiked_remainder import remainder_matrix, remainder_norm
from bulkedge.numerics.kernels.spiked_spectrum import sector_matrix
from bulkedge.numerics.trials.check import Check, Control, Ladder, MonteCarlo
from bulkedge.numerics.trials.stream import stream
from bulkedge.theory.kernels import spiked_kernel
from bulkedge.theory.kernels import spiked_remainder as theory
from bulkedge.theory.kernels.spiked_expansion import b
from bulkedge.theory.numbers import symbols

SOURCE = "G11; paper F, Lemma 4.5"
A, EXPONENT = 1.2, 0.2


@stream("G11.norm")
def _norm_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """||T_R|| (d/B)^2 at d = size, B = 2 d^.2: no randomness, exact matrices."""
    B = 2 * np.exp(EXPONENT * np.log(size))
    return {"scaled": remainder_norm(size, A, float(B)) * (size / float(B)) ** 2}


def _limit() -> float:
    return float((theory.remainder_norm() * (symbols.d / symbols.B) ** 2).subs(symbols.A, A))


def _pair() -> float:
    """The norm of the pair T_04, T_40 alone."""
    return float(theory.corner().subs({b: 1, symbols.A: A}))


D, SPIKE, _PAIRS = 12, 9.0, 3000


@functools.cache
def _kernels() -> Any:
    """k1, A k0 and S in the lengths, the angle and the components along w*."""
    k = spiked_kernel
    at = {symbols.A: sp.Rational(6, 5), symbols.B: sp.Rational(SPIKE), symbols.d: D}
    plain = k.spiked_kernel().subs(symbols.B, 0)
    expressions = [e.subs(at) for e in (k.spiked_kernel(), plain, k.first_order())]
    return sp.lambdify((k.r, k.r_prime, k.angle, k.s, k.s_prime), expressions, "numpy")


@stream("G11.element")
def _element_trial(rng: np.random.Generator, size: int) -> dict[str, float]:
    """<Y2, R Y2> on `size` pairs of inputs at d = 12, the kernels in closed form (G4, G5)."""
    X, Y = rng.standard_normal((2, size, D))
    spike = np.eye(D)[0]
    lengths = [np.linalg.norm(x, axis=1) for x in (X, Y)]
    angle = np.arccos(np.clip(np.sum(X * Y, axis=1) / (lengths[0] * lengths[1]), -1, 1))
    whole, plain, first = _kernels()(*lengths, angle, X[:, 0], Y[:, 0])
    rest = whole - plain - SPIKE / (2 * D) * first
    return {"element": float(np.mean(rest * second_harmonic(X, spike) * second_harmonic(Y, spike)))}


def _element() -> float:
    return float(remainder_matrix(D, A, SPIKE)[1, 1])


def _without_first_order() -> float:
    """(T_1 - A T_0)_22: S left in."""
    one, zero = (sector_matrix(D, A, B, 0, 0, 24)[1][1, 1] for B in (SPIKE, 0.0))
    return float(one - zero)


CHECKS = (
    Check(
        "G11.norm",
        "`||T_R|| (d/B)^2 -> 3/(4 pi A)` along `d` at `B = 2 d^.2, A = 1.2`",
        SOURCE,
        _limit,
        # Corrections O(B/d) + O(1/d), of which the ladder sees a mixture: a rate below theirs.
        Ladder(_norm_trial, "scaled", (100, 400), 0.6, 2, (400, 1600), 2),
        0.05,
        Control("the norm of the pair `T_04, T_40` alone", _pair),
    ),
    Check(
        "G11.element",
        "`<`Y2, `R` Y2`>` at `d = 12, B = 9`, the kernels in closed form on pairs of inputs",
        SOURCE,
        _element,
        MonteCarlo(_element_trial, "element", _PAIRS, 240, 4000),
        0.002,
        Control("the first order left in", _without_first_order),
    ),
)
