"""A pair (activation, link) as the floats that the predictors of one step take, with the error of each constant."""

from __future__ import annotations

from dataclasses import dataclass

from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.numerics.risk.conditional_limit import Pair
from bulkedge.numerics.risk.ridge import Constants, RidgeRisk, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import Limit


@dataclass(frozen=True)
class Case:
    """Which of O3's cases a pair belongs to, and whether paper O proves it.

    `centred`: the closed form as it stands; `fitted`: the features have a mean, which fits the link's; `unfitted`:
    nothing fits the link's mean (odd activation, or no even part of degree 2); `norms`: the fluctuation of |w_j|^2 fits
    a part of it, a rank-one term that the closed form leaves out (numerics.risk.conditional_limit has it).
    """

    name: str
    proved: bool
    reason: str


def case(activation: Nonlinearity, link: Nonlinearity) -> Case:
    """The case of a pair; means are compared exactly with zero up to their error bound (1e-13 relative)."""
    f, g = constants(activation), constants(link)
    small = 1e-13 * max(1.0, f.second_moment)
    link_mean = abs(g.mu0) > 1e-13 * max(1.0, g.second_moment)
    if not link_mean:
        proved = activation.parity == -1 and _bounded_derivatives(activation)
        reason = "proved for odd activations with bounded derivatives" if proved else _why(activation)
        return Case("centred", proved, reason)
    if abs(f.mu0) > small:
        return Case("fitted", False, "the link has a mean, which the features' mean fits: derived, not in the paper")
    if abs(f.curvature) <= small:
        return Case("unfitted", False, "the link has a mean, which nothing fits: it adds mu0*^2 to the risk")
    return Case("norms", False, "a mean of the link is fitted in part by the fluctuation of |w_j|^2: derived here")


def _why(activation: Nonlinearity) -> str:
    if activation.parity != -1:
        return "the activation is not odd: the Gaussian equivalence is conjectured, and confirmed by simulation"
    return "the activation's first three derivatives are not shown to be bounded: conjectured"


def _bounded_derivatives(f: Nonlinearity) -> bool:
    """Whether the first three derivatives are shown to be bounded (paper O's assumption)."""
    if f.kinks:
        return False
    return all(_bounded(piece) for order in (1, 2, 3) for piece in f.derivative(order).pieces)


def _bounded(piece: object) -> bool:
    from bulkedge.theory.functions.nonlinearity import Piece
    from bulkedge.theory.numbers.symbols import z

    assert isinstance(piece, Piece)
    growth = piece.growth
    if growth.c2 < 0 or (growth.c2 == 0 and growth.c1 <= 0):
        return True
    if not piece.expr.is_rational_function(z):
        return False
    top, bottom = piece.expr.together().as_numer_denom()
    return bool(bottom.has(z)) and int(top.as_poly(z).degree()) <= int(bottom.as_poly(z).degree())


def ridge_constants(activation: Nonlinearity, link: Nonlinearity) -> tuple[Constants, float, float]:
    """O3's constants of a pair, and the errors of the activation's and of the link's.

    Errors: InputError for a constant activation.
    """
    f, g = constants(activation), constants(link)
    if f.mu1 == 0 and f.mu2 == 0:
        raise InputError("ACTIVATION", f"{activation.name} is constant", "give a function that varies")
    fits = case(activation, link).name != "unfitted"
    return Constants(f.mu1, f.mu2, g.mu0, g.mu1, g.mu2, fits), f.error, g.error


def pair(activation: Nonlinearity, link: Nonlinearity) -> Pair:
    """The floats of numerics.risk.conditional_limit.

    Errors: InputError for an activation that jumps, whose gradient step is not defined.
    """
    f, g = constants(activation), constants(link)
    if f.derivative_second is None:
        raise InputError(
            "ACTIVATION",
            f"the derivative of {activation.name} is no square integrable function (it jumps, or has a root at a kink)",
            "take a continuous activation with bounded slopes",
        )
    return Pair(
        vectorised(activation),
        tuple(float(b) for b in activation.kinks),
        f.mu0,
        f.mu1,
        f.derivative_second - f.mu1**2,
        f.curvature,
        vectorised(link),
        tuple(float(b) for b in link.kinks),
        g.mu0,
        g.mu1,
        g.second_moment,
    )


def limit_risk(limit: Limit) -> RidgeRisk:
    """The limiting ridge risk of a Limit: what `numerics.steps.network` trains at `limit.at(d)` comes to as d grows.

    Valid for: one step, or none, that does not grow with the width; a readout of variance one.
    Errors: InputError for what the limits of one step do not cover, and where the link's mean is fitted through the
    weights' norms (numerics.risk.conditional_limit.small_step_risk has that).
    Source: O3.
    """
    if case(limit.activation, limit.link).name == "norms":
        raise InputError("links", "its mean is fitted through the weights' norms here", "take small_step_risk")
    return ridge_risk(ridge_constants(limit.activation, limit.link)[0], RidgeProblem.of(limit))
