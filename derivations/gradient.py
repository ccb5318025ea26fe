"""O1: the rank-one gradient -- the spike's direction and strength, and the energy of what is left."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Given, Step, Substitute, Tends
from theory.gradient import a_j, alignment, direction_norm2, label_second_moment, remainder_energy, spike_strength
from theory.symbols import alpha, curvature, d, eta, mu0_star, mu1, mu1_star, n1, slope2

# E y^2 and E[z^2 y^2], z the component of x along beta.
_power = sp.Symbol("e_y", positive=True)
_along = sp.Symbol("e_zy", positive=True)


def _direction() -> Iterator[Step]:
    yield Step(label_second_moment(), Given(define=_power), "E y^2, by Parseval of the link and the noise")
    total = (n1 - 1) / n1 * mu1_star**2 + ((d - 1) * _power + _along) / n1
    yield Step(
        total,
        Given(),
        "E |u|^2 of u = X^T y/n1: pairs of different samples give |E x y|^2 = mu1_star^2 by Stein, a sample with "
        "itself E |x|^2 y^2 = (d - 1) E y^2 + E z^2 y^2",
    )
    at = total.subs(n1, alpha * d)
    yield Step(at, Substitute({n1: alpha * d}), "at n1 = alpha d")
    yield Step(
        direction_norm2().subs(label_second_moment(), _power), Tends(d), "in the limit (where |u|^2 concentrates)"
    )


def _strength() -> Iterator[Step]:
    norm = sp.sqrt(direction_norm2())
    yield Step(
        eta * mu1 * norm,
        reason="sigma' = mu1 + (sigma' - mu1): the constant part of the step is eta mu1 u a^T; with |a| = 1 its one "
        "non-zero singular value is, up to its sign,",
    )
    yield Step(eta * sp.Abs(mu1) * norm, Apply(sp.Abs), "singular values are not negative")


def _beta() -> Iterator[Step]:
    yield Step(mu1_star, reason="beta.u tends to E z y = E g', the first Hermite coefficient of the link")
    yield Step(
        mu1_star**2 / direction_norm2(),
        Apply(lambda e: e**2 / direction_norm2()),
        "its square over |u|^2: the squared cosine",
    )


def _remainder() -> Iterator[Step]:
    yield Step(label_second_moment(), Given(define=_power), "E y^2")
    single = d * _power * (slope2 - 2 * mu1 * mu1 + mu1**2) / n1
    pairs = (n1 - 1) / n1 * (mu0_star * curvature) ** 2
    energy = eta**2 * a_j**2 * (single + pairs)
    yield Step(
        energy,
        Given(),
        "E |E_j|^2 of E_j = eta a_j X^T (y (sigma'(X w_j) - mu1))/n1: a sample with itself has |x|^2 = d and y "
        "independent of sigma'(w_j.x) up to order d^(-1/2), of mean square E sigma'^2 - 2 mu1 E sigma' + mu1^2; "
        "two samples give |E x y (sigma' - mu1)|^2, by Stein along w_j, with E y = mu0_star and E sigma'' = curvature",
    )
    yield Step(energy.subs(n1, alpha * d), Substitute({n1: alpha * d}), "at n1 = alpha d")
    limit = eta**2 * a_j**2 * (_power * (slope2 - mu1**2) / alpha + (mu0_star * curvature) ** 2)
    yield Step(limit, Tends(d), "in the limit")


_SOURCE = "O1; paper O, Proposition 2"
_NOTATION = "X is n1 x d Gaussian, y = g(X beta) + noise, u = X^T y/n1, a the readout, alpha = n1/d."

DERIVATIONS = (
    Derivation("O1.direction", "The spike's direction", direction_norm2, _direction, _SOURCE, (), _NOTATION),
    Derivation("O1.strength", "The spike's strength", spike_strength, _strength, _SOURCE, (), _NOTATION),
    Derivation("O1.alignment", "The spike's alignment with beta", alignment, _beta, _SOURCE, (), _NOTATION),
    Derivation("O1.remainder", "The remainder's energy", remainder_energy, _remainder, _SOURCE, (), _NOTATION),
)
