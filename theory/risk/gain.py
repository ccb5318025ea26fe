"""What one step of size Theta(1) gains over random features, in closed form and with a sign that can be read (O5).

O3's effective ridge kappa and its sampling factor F = 1 - df2/n do not depend on the step; only the missed linear
part A = t (1 - mu1*^2 E) does. With x = mu2^2 + kappa, g and t as in O3 and

    y = eta^2 mu1^2 (1 - g),    p = mu2^2/x + kappa g'/g,    r = kappa g'/(1 - g),    U = |u|^2,

every quantity below is a sum and quotient of non-negative terms, because t - kappa t' = t (p + r) (the quadratic of g:
g'/g + t'/t + g'/(1 - g) = 1/x) and -kappa E' (1 + U y)^2 = r y.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from bulkedge.theory.numbers.statement import PROPORTIONAL, Statement
from bulkedge.theory.numbers.symbols import eta, g_res, kappa, lam, mu1, mu1_star, mu2, mu2_star, psi1, psi2, s_eps
from bulkedge.theory.risk import ridge
from bulkedge.theory.steps.gradient import direction_norm2

_x = mu2**2 + kappa

# Names of the parts, all non-negative: y (the step), t (what the features miss), p and r (above), U = |u|^2, F.
missed, own, turn, norm2, factor = sp.symbols("t p r U F", positive=True)
step = sp.Symbol("y_eta", nonnegative=True)
improvement = sp.Symbol("delta", real=True)
linear_miss, excess, largest, fading = sp.symbols("M R_plus delta_max delta_N", nonnegative=True)


def gain_in_parts() -> sp.Expr:
    """delta = R_0 - R_eta = mu1*^4 t y (p (1 + U y) + r (2 + U y))/((1 + U y)^2 F).

    Non-negative; zero iff mu1* mu1 eta = 0 (mu2 > 0, 0 < psi2 < inf).
    Source: O5; paper O, Theorem 5 (its delta, formula C.28).
    """
    reach = 1 + norm2 * step
    return mu1_star**4 * missed * step * (own * reach + turn * (1 + reach)) / (reach**2 * factor)


def gain_statement() -> sp.Eq:
    """O5: the gain of one step over random features."""
    return sp.Eq(improvement, gain_in_parts())


def missed_in_parts() -> sp.Expr:
    """A - kappa A' = t (p (1 + (U-m) y)(1 + U y) + r (1 + 2 (U-m) y + U (U-m) y^2))/(1 + U y)^2, m = mu1*^2 <= U.

    The part of the link's linear function that is missed: not negative, so R >= mu2*^2.
    Source: O5; paper O, Fact 4.
    """
    rest = (norm2 - mu1_star**2) * step
    reach = 1 + norm2 * step
    return missed * (own * (1 + rest) * reach + turn * (1 + 2 * rest + norm2 * step * rest)) / reach**2


def excess_in_parts() -> sp.Expr:
    """R - mu2*^2 = ((mu2*^2 + s^2) (1 - F) + mu1*^2 (A - kappa A'))/F: what is left above the best linear model."""
    return ((mu2_star**2 + s_eps**2) * (1 - factor) + mu1_star**2 * missed_in_parts()) / factor


def missed_statement() -> sp.Eq:
    """M = A - kappa A' in non-negative terms."""
    return sp.Eq(linear_miss, missed_in_parts())


def excess_statement() -> sp.Eq:
    """R_plus = R - mu2*^2 in non-negative terms."""
    return sp.Eq(excess, excess_in_parts())


def sampling_factor() -> sp.Expr:
    """F = lam/kappa + (psi2/psi1) (kappa/x) (g mu2^2/x + kappa g'): 1 - df2/n, a sum of non-negative terms."""
    slope = g_res * mu2**2 / _x + kappa * ridge.resolvent_derivative()
    return lam / kappa + psi2 / psi1 * kappa / _x * slope


def used_share() -> sp.Expr:
    """1 - F = df2/n = (psi2/psi1) [((mu2^2 + kappa (1-g))/x)^2 + (kappa/x)^2 psi2 g^2 (1-g)^2/(t + psi2 g (1-g))]."""
    t = psi2 * g_res + 1 - psi2
    mean = (mu2**2 + kappa * (1 - g_res)) / _x
    spread = (kappa / _x) ** 2 * psi2 * g_res**2 * (1 - g_res) ** 2 / (t + psi2 * g_res * (1 - g_res))
    return psi2 / psi1 * (mean**2 + spread)


def step_growth() -> sp.Expr:
    """d delta/d(eta^2) = mu1*^4 mu1^2 (1-g) t (p (1 + U y) + 2 r)/((1 + U y)^3 F) >= 0: a larger step gains more."""
    reach = 1 + norm2 * step
    return mu1_star**4 * mu1**2 * (1 - g_res) * missed * (own * reach + 2 * turn) / (reach**3 * factor)


def batch_growth() -> sp.Expr:
    """d delta/dU = -mu1*^4 t y^2 (p (1 + U y) + r (3 + U y))/((1 + U y)^3 F) <= 0: a larger batch n1 gains more.

    U = mu1*^2 + E y^2 d/n1 decreases in n1.
    """
    reach = 1 + norm2 * step
    return -(mu1_star**4) * missed * step**2 * (own * reach + turn * (2 + reach)) / (reach**3 * factor)


def largest_gain() -> sp.Expr:
    """mu1*^4 t (p + r)/(U F): the limit of a large step, which the gain approaches from below."""
    return mu1_star**4 * missed * (own + turn) / (norm2 * factor)


def wide_gain() -> sp.Expr:
    """lim (N/d) delta = 2 mu1*^4 eta^2 mu1^4 tau^2/((mu1^2 + tau)^3 (1 - mu1^4/((mu1^2 + tau)^2 psi1))), N/d -> inf.

    tau = kappa d/N is that of the kernel limit (lam d/N fixed); the symbol kappa stands for it. The gain of a wide
    network fades as d/N.
    """
    level = mu1**2 + kappa
    return 2 * mu1_star**4 * eta**2 * mu1**4 * kappa**2 / (level**3 * (1 - mu1**4 / (level**2 * psi1)))


def largest_statement() -> sp.Eq:
    """delta_max, the gain of a large step."""
    return sp.Eq(largest, largest_gain())


def wide_statement() -> sp.Eq:
    """delta_N, the limit of the gain times N/d; kappa stands for tau."""
    return sp.Eq(fading, wide_gain())


def parts() -> dict[Any, sp.Expr]:
    """What the parts stand for, in kappa, g and the parameters."""
    slope = kappa * ridge.resolvent_derivative()
    return {
        missed: psi2 * g_res + 1 - psi2,
        own: mu2**2 / _x + slope / g_res,
        turn: slope / (1 - g_res),
        norm2: direction_norm2(),
        step: eta**2 * mu1**2 * (1 - g_res),
        factor: sampling_factor(),
    }


def spelt_out(expression: sp.Expr) -> sp.Expr:
    """An expression in the parts as one in kappa, g and the parameters."""
    return expression.xreplace(parts())


STATEMENTS = (
    Statement(
        id="O5",
        title="One step improves on random features and never beats the best linear model",
        formula=gain_statement,
        assumptions=(
            PROPORTIONAL,
            "O3's setting: `eta = Theta`(1), centred link, proved for odd activations; same ridge and samples at "
            "step 0",
            "`y_eta = eta^2 mu1^2 (1 - g), t = psi2 g + 1 - psi2, p = mu2^2/x + kappa g'/g, r = kappa g'/(1 - g), U "
            "= |u|^2`, F = 1 - `df2/n, x = mu2^2 + kappa`: all non-negative (theory.risk.gain.parts)",
            "`delta >=` 0, and 0 iff `mu1* mu1 eta = 0`; `R >= mu2*^2` at every step",
            "increasing in `eta` at every `n/d` (the paper: as `n/d ->` infinity), with the limit `mu1*^4 t (p + "
            "r)`/(`U` F); increasing in `n1`; of order `d/N` for wide networks",
        ),
        sources=("O, Theorem 5 and Fact 4", "derived here: C.28 in non-negative terms, growth in `eta` and `n1, d/N`"),
        status="derived",
        figure="O.gain",
        beside=(missed_statement, excess_statement, largest_statement, wide_statement),
    ),
)
