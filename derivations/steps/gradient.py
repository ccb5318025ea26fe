"""O1: the rank-one gradient -- the spike's direction and strength, and the energy of what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute, Tends
from bulkedge.theory.numbers.symbols import alpha, curvature, d, eta, mu0_star, mu1, mu1_star, n1, slope2
from bulkedge.theory.steps.gradient import (
    a_j,
    alignment,
    direction_norm2,
    label_second_moment,
    rank_one_gradient,
    remainder_energy,
    spike_strength,
)

# E y^2 and E[z^2 y^2], z the component of x along beta.
_power = sp.Symbol("e_y", positive=True)
_along = sp.Symbol("e_zy", positive=True)


_NORM2, _REST2 = sp.Abs(sp.Symbol("u")) ** 2, sp.Abs(sp.Symbol("E_j")) ** 2
_THETA, _COS2 = sp.Symbol("theta", positive=True), sp.cos(sp.Symbol("phi", real=True)) ** 2
_w, _S, _R, _X, _y = (sp.Symbol(name, commutative=False) for name in ("w_0", "S_j", "R_j", "X^T", "y"))
_u = sp.Symbol("u", commutative=False)


def _all_neurons(e: sp.Expr) -> sp.Expr:
    """The columns of all neurons side by side, u for X^T y/n1 and E for what is left."""
    W0, aT, rest = (sp.Symbol(name, commutative=False) for name in ("W_0", "a^T", "E"))
    kept, left = sp.expand(e).coeff(mu1, 1), sp.expand(e).coeff(mu1, 0)
    assert left == _w + eta * a_j / n1 * _X * _R * _y
    return W0 + mu1 * (kept / a_j).subs(_X * _y, n1 * _u) * aT + rest


def _split() -> Iterator[Step]:
    step = eta * a_j / n1
    yield Step(
        _w + step * _X * _S * _y, reason=("one step of neuron `j`; `S_j` is the diagonal matrix of `sigma'(X w_j)`")
    )
    yield Step(_w + step * _X * (mu1 + _R) * _y, Substitute({_S: mu1 + _R}), "its mean `mu1` and the rest `R_j`")
    yield Step(_w + mu1 * step * _X * _y + step * _X * _R * _y, "=", "multiplied out")
    yield Step(
        rank_one_gradient().rhs,
        Apply(_all_neurons, name=rank_one_gradient().lhs),
        "for all neurons: `u = X^T y/n1`, and E has the columns `(eta a_j/n1) X^T R_j y`",
    )


def _direction() -> Iterator[Step]:
    yield Step(label_second_moment(), Given(define=_power), "`E y^2`, by Parseval of the link and the noise")
    total = (n1 - 1) / n1 * mu1_star**2 + ((d - 1) * _power + _along) / n1
    yield Step(
        total,
        Given(),
        "`E |u|^2` of `u = X^T y/n1`: pairs of different samples give `|E x y|^2 = mu1_star^2` by Stein, a sample "
        "with itself `E |x|^2 y^2 = (d - 1) E y^2 + E z^2 y^2`",
    )
    at = total.subs(n1, alpha * d)
    yield Step(at, Substitute({n1: alpha * d}), "at `n1 = alpha d`")
    yield Step(
        direction_norm2().subs(label_second_moment(), _power),
        Tends(d, name=_NORM2),
        "in the limit (where `|u|^2` concentrates)",
    )


def _strength() -> Iterator[Step]:
    norm = sp.sqrt(direction_norm2())
    yield Step(
        eta * mu1 * norm,
        reason=(
            "`sigma' = mu1 + (sigma' - mu1)`: the constant part of the step is `eta mu1 u a^T`; with `|a| = 1` its "
            "one non-zero singular value is, up to its sign,"
        ),
    )
    yield Step(eta * sp.Abs(mu1) * norm, Apply(sp.Abs, name=_THETA), "singular values are not negative")


def _beta() -> Iterator[Step]:
    yield Step(mu1_star, reason="`beta.u` tends to `E z y = E g'`, the first Hermite coefficient of the link")
    yield Step(
        mu1_star**2 / direction_norm2(),
        Apply(lambda e: e**2 / direction_norm2(), name=_COS2),
        "its square over `|u|^2`: the squared cosine",
    )


def _remainder() -> Iterator[Step]:
    yield Step(label_second_moment(), Given(define=_power), "`E y^2`")
    single = d * _power * (slope2 - 2 * mu1 * mu1 + mu1**2) / n1
    pairs = (n1 - 1) / n1 * (mu0_star * curvature) ** 2
    energy = eta**2 * a_j**2 * (single + pairs)
    yield Step(
        energy,
        Given(),
        "`E |E_j|^2` of `E_j = eta a_j X^T (y (sigma'(X w_j) - mu1))/n1`: a sample with itself has `|x|^2 = d` and "
        "`y` independent of `sigma'(w_j.x)` up to order `d^(-1/2)`, of mean square `E sigma'^2 - 2 mu1 E sigma' + "
        "mu1^2`; two samples give `|E x y (sigma' - mu1)|^2`, by Stein along `w_j`, with `E y = mu0_star` and `E "
        "sigma''` = curvature",
    )
    yield Step(energy.subs(n1, alpha * d), Substitute({n1: alpha * d}), "at `n1 = alpha d`")
    limit = eta**2 * a_j**2 * (_power * (slope2 - mu1**2) / alpha + (mu0_star * curvature) ** 2)
    yield Step(limit, Tends(d, name=_REST2), "in the limit")


def _named(name: sp.Expr, value: Callable[[], sp.Expr]) -> sp.Eq:
    return sp.Eq(name, value())


_SOURCE = "O1; paper O, Proposition 2"
_NOTATION = (
    "`X` is `n1 x d` Gaussian, `y = g(X beta)` + noise, `u = X^T y/n1`, a the readout, `alpha = n1/d`; `theta` is "
    "the spike's singular value, `phi` the angle of `u` and `beta, E_j` a column of the remainder E."
)

DERIVATIONS = (
    Derivation("O1.step", "A rank-one spike and a remainder", rank_one_gradient, _split, _SOURCE, (), _NOTATION),
    *(
        Derivation(f"O1.{part}", title, partial(_named, name, value), steps, _SOURCE, (), _NOTATION)
        for part, title, name, value, steps in (
            ("direction", "The spike's direction", _NORM2, direction_norm2, _direction),
            ("strength", "The spike's strength", _THETA, spike_strength, _strength),
            ("alignment", "The spike's alignment with `beta`", _COS2, alignment, _beta),
            ("remainder", "The remainder's energy", _REST2, remainder_energy, _remainder),
        )
    ),
)
