"""M1 and M2: the second left direction of the feature matrix, and what it takes off the training loss."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Derivation, Given, Step, Substitute
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.numbers.symbols import eta, lam, mu1, v, z
from bulkedge.theory.steps import spiked_features as sf

_c = sf.coefficient
_star = sf.link_coefficient
_s = sp.Symbol("s", real=True)  # t/b
_density = normal_density(z)


def _direction() -> Iterator[Step]:
    yield Step(
        _c[2] * sp.Integral((mu1 * sf.t + sp.sqrt(v) * z) ** 2 * _density, (z, -sp.oo, sp.oo)),
        Given(name=sf.direction_statement().lhs),
        "the coefficient of `(eta a_j)^2`: `E[sigma''(h)]/2 = c_2` times `E_xi (mu1 t + xi)^2, xi = sqrt(v) z` what "
        "the rest of the step adds to this pre-activation",
    )
    yield Step(
        sf.direction_statement().rhs,
        "=",
        "the Gaussian integral: a constant beside the square, which the rank-one reading lacks",
    )


def _drop() -> Iterator[Step]:
    b, M1 = sf.b, sf.M1
    r = 1 + v / (mu1**2 * b**2)
    yield Step(mu1**2 * (b * _s) ** 2 + v, reason="the second left direction, at `t = b s`")
    yield Step(mu1**2 * b**2 * ((_s**2 - 1) + r), "=", "in Hermite polynomials of `s`")
    square = sp.Integral((mu1**2 * b**2 * ((z**2 - 1) + r)) ** 2 * _density, (z, -sp.oo, sp.oo))
    norm = (mu1**2 * b**2) ** 2 * (2 + r**2)
    yield Step(square, Given(), "its norm: weighed by `R_0` every component but the linear one counts `M_1` times")
    yield Step(norm, "=", "2 from `He_2, r^2` from the constant")
    rho = _star[1] / b
    projection = 2 * mu1**2 * b**2 * _star[2] * rho**2 * M1
    projected, weight = sp.symbols("q_2 w_2", positive=True)
    yield Step(
        lam * projected**2 / (weight * M1),
        Given(),
        "`Delta_2 - Delta_1 = lam (p_2.R_0 y)^2/(p_2.R_0 p_2), q_2 = p_2.R_0 y` and `w_2 M_1 = p_2.R_0 p_2`: the "
        "label's `He_2` component along `s` is `c*_2 rho^2, rho = c*_1/b`, and `p_1` is orthogonal by parity",
    )
    values = Substitute({projected: projection, weight: norm}, name=sf.drop_statement().lhs)
    yield Step(sf.drop_statement().rhs, values, "with both")


def _step() -> Iterator[Step]:
    kept = sp.Symbol("tau", positive=True)
    form, phi = sp.symbols("h varphi", positive=True)
    projected, weight, strength = sp.symbols("q_1 w_1 V", positive=True)
    yield Step(
        1 + form / (1 - form),
        reason=(
            "to use a spike `p v^T` by `phi = v.theta` costs `theta` the part `q = v phi/|v|^2`: its penalty, and "
            "`F_0 q`, a random vector in the fit, `h = q^T F_0^T R_0 F_0 q/|q|^2`, or `h/(1 - h)` with `R_0` without "
            "that direction, in units of `lam n phi^2/|v|^2`"
        ),
    )
    yield Step(
        1 / kept, Substitute({form: 1 - kept}), ("`h` = df/`N` is a trace: `tau = 1` - df/`N` is what is left unused")
    )
    yield Step(
        lam * (2 * phi * projected - phi**2 * (weight + 1 / (kept * strength))),
        Given(),
        "what it takes off the loss, `q_1 = p.R_0 y, w_1 = p.R_0 p, V = |v|^2`",
    )
    best = projected / (weight + 1 / (kept * strength))
    yield Step(lam * projected * best, Substitute({phi: best}), "at the best `phi`")
    values = {
        projected: mu1 * _star[1] ** 2 * sf.M2,
        weight: mu1**2 * sf.b**2 * sf.M2,
        strength: eta**2 * mu1**2,
        kept: sf.unused_share(),
    }
    yield Step(
        sf.first_drop(),
        Substitute(values, name=sf.step_statement().lhs),
        "`p = mu1 t = mu1 b s`, of which the label has `c*_1^2/b`; `v = eta mu1` a with `|a| = 1`",
    )


_SOURCE = "M1, M2; paper M, Theorems 3.3, 4.4 and 4.5 (reading full derived here)"
_NOTATION = (
    "`t = x.u, b = |u|, v = E y^2 Var(sigma')/alpha, R_0 = (F_0 F_0^T + lam n)^-1, M_1 = tr R_0`; `c_k` and `c*_k` "
    "are the probabilist coefficients of the activation and the link."
)

DERIVATIONS = (
    Derivation("M1.second", "The second left direction", sf.direction_statement, _direction, _SOURCE, (), _NOTATION),
    Derivation("M2.step", "The drop by the first spike at a step", sf.step_statement, _step, _SOURCE, (), _NOTATION),
    Derivation("M2.second", "The drop by the second spike", sf.drop_statement, _drop, _SOURCE, (), _NOTATION),
)
