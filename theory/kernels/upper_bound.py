"""The upper half of paper F's Theorem 4.1 with explicit constants, for ReLU (G13).

By G6 T_1 is the Funk-Hecke operator on both sides of a multiplication by

    rho(t) = A (1 + B/A)^(-1/2) (1 - c t^2)^(-(d+2)/2),   c = B/(A + B),  t = w.w*/|w|,

the density of w's direction times E|w|^2 | t, relative to a uniform direction; T_0 has rho = 1. Cut rho at |t| =
tau: where it is at most rho(tau) the part of T_1 is at most rho(tau) T_0, and the rest has the trace eps, so that by
Weyl's inequality lambda_j(T_1) <= rho(tau) lambda_j(T_0) + eps for every j and every tau in (0, 1].
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.kernels.spiked_spectrum import directions, t
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import A, B, d

tau = sp.Symbol("tau", positive=True)
constant, rest = sp.symbols("C_tau eps_tau", positive=True)


def uniform() -> sp.Expr:
    """The density of a uniform direction's first coordinate: Gamma(d/2) (1-t^2)^((d-3)/2)/(sqrt pi Gamma((d-1)/2))."""
    return sp.gamma(d / 2) / (sp.sqrt(sp.pi) * sp.gamma((d - 1) / 2)) * (1 - t**2) ** ((d - 3) / 2)


def energy() -> sp.Expr:
    """E[|w|^2 | t] = A/(1 - c t^2)."""
    return A / (1 - B / (A + B) * t**2)


def density() -> sp.Expr:
    """rho(t), the multiplier of T_1 relative to that of T_0; for B >= 0 it increases in t^2."""
    return A / sp.sqrt(1 + B / A) * (1 - B / (A + B) * t**2) ** (-(d + 2) / 2)


def upper_constant() -> sp.Expr:
    """C_tau = rho(tau); at tau = 1, where eps vanishes, A (1 + B/A)^((d+1)/2)."""
    return density().subs(t, tau)


def upper_rest() -> sp.Expr:
    """eps_tau = E[|w|^2; |t| > tau]/2, the trace of what is cut off (E relu(w.x)^2 = |w|^2/2)."""
    return sp.Integral(energy() * directions(), (t, tau, 1))


def constant_statement() -> sp.Eq:
    """G13: the constant of lambda_j(T_1) <= C_tau lambda_j(T_0) + eps_tau."""
    return sp.Eq(constant, upper_constant())


def rest_statement() -> sp.Eq:
    """G13: the rest eps_tau, beside the constant."""
    return sp.Eq(rest, upper_rest())


STATEMENTS = (
    Statement(
        id="G13",
        title="The upper half of Theorem 4.1: `lambda_j(T_1) <= C_tau lambda_j(T_0) + eps_tau`, explicitly",
        formula=constant_statement,
        assumptions=(
            "ReLU, `x ~ N(0, I_d), A > 0, B >=` 0; every `tau` in (0, 1], every `j`",
            "`eps_tau = E[|w|^2; |w.w*| > tau |w|]/2 -> 0` as `tau -> 1`, where `C_tau` is `A (1 + "
            "B/A)^((d+1)/2)`: the paper's `C_R`",
            "G5, G6 have the lower half: `A (1 + B/A)^(-1/2) lambda_j(T_0) <= lambda_j(T_1)`",
        ),
        sources=("F, Theorem 4.1 (upper half, constants not given)",),
        status="derived",
        beside=(rest_statement,),
    ),
)
