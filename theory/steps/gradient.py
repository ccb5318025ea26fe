"""O1: the first gradient step is a rank-one spike plus a remainder, and how large the remainder is.

Write sigma'(w.x) = mu1 + (sigma'(w.x) - mu1), mu1 = E sigma'(z). The constant gives the spike eta mu1 u a^T with
u = (1/n1) X^T y; what is left, E = (eta/n1) X^T [(y a^T) o (sigma'(X W) - mu1)] and the own output's part, has
vanishing operator norm at eta = Theta(1), but column j keeps the energy eta^2 a_j^2 v.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import N, alpha, curvature, eta, mu0_star, mu1, mu1_star, mu2_star, s_eps, slope2

# The j-th readout weight, and E sigma'(z)^2.
a_j = sp.Symbol("a_j", real=True)


def label_second_moment() -> sp.Expr:
    """E y^2 = mu0*^2 + mu1*^2 + mu2*^2 + s_eps^2, noise included.

    Source: O2; Parseval (H3) for the link.
    """
    return mu0_star**2 + mu1_star**2 + mu2_star**2 + s_eps**2


def direction_energy(mean1: Any, second: Any, ratio: Any) -> Any:
    """m^2 + E y^2/alpha, m = E z y: |u|^2 in the limit, u = (1/n1) X^T y. For symbols, floats and arrays alike.

    The one place of the formula; every reading and every scaling calls it with its own names. Source: O2, G2.
    """
    return mean1**2 + second / ratio


def rest_variance(second: Any, slope_variance: Any, ratio: Any) -> Any:
    """E y^2 Var(sigma'(z))/alpha: the remainder's variance. For symbols, floats and arrays alike.

    The one place of the formula. Source: O1, G1.
    """
    return second * slope_variance / ratio


def direction_norm2() -> sp.Expr:
    """|u|^2 -> mu1*^2 + E y^2/alpha, u = (1/n1) X^T y, alpha = n1/d.

    From E|u|^2 = ((n1 - 1)/n1)|E x y|^2 + (1/n1) E|x|^2 y^2.
    Source: O2, G2.
    """
    return direction_energy(mu1_star, label_second_moment(), alpha)


def spike_strength() -> sp.Expr:
    """theta = eta |mu1| |u|, the singular value of the rank-one part eta mu1 u a^T (|a| -> 1).

    Source: O2 (theta_1).
    """
    return eta * sp.Abs(mu1) * sp.sqrt(direction_norm2())


def alignment() -> sp.Expr:
    """cos^2(u, beta) -> mu1*^2/|u|^2: beta's share of the spike's direction.

    Source: O2, G2 (theta_2^2/theta_1^2).
    """
    return mu1_star**2 / direction_norm2()


def noise_variance() -> sp.Expr:
    """v = E y^2 Var(sigma'(z))/alpha: the remainder's column energies are eta^2 a_j^2 v.

    Valid for: limit at fixed alpha. E (1/n1^2) sum_i |x_i|^2 y_i^2 (sigma'(w_j.x_i) - mu1)^2 with |x|^2 ~ d; the
    cross terms of two samples are O(1/d), and so is the own output's part.
    Source: O1; also G1 `full`, M1, T2.
    """
    return rest_variance(label_second_moment(), slope2 - mu1**2, alpha)


def remainder_energy() -> sp.Expr:
    """|E_j|^2 -> eta^2 a_j^2 (v + (mu0* E sigma'')^2) for neuron j.

    A link with a mean adds eta a_j mu0* E[sigma''] w_j, the part of E x y (sigma'(w_j.x) - mu1) along w_j.
    Source: O1 (row energy, there for mu0* = 0; W is N x d there, d x N here); the second term is derived, as in G1.
    """
    return eta**2 * a_j**2 * (noise_variance() + (mu0_star * curvature) ** 2)


def remainder_rate(exponent: sp.Expr) -> sp.Expr:
    """|E|_op = Theta(N^(exponent - 1/2)) at eta ~ N^exponent, logarithms left out.

    The remainder is a sample-weighted sum of rank-one terms with entries of size eta a_j/sqrt(n1): negligible iff
    eta = o(sqrt N).
    Source: O1; paper O, Proposition 2.
    """
    return exponent - sp.Rational(1, 2)


def rank_one_gradient() -> sp.Basic:
    """O1: W_1 = W_0 + eta mu1 u a^T + E with |E|_op = O(eta N^(-1/2) log N).

    Source: O1; paper O, Proposition 2.
    """
    W0, W1, u, a, E = (sp.Symbol(name, commutative=False) for name in ("W_0", "W_1", "u", "a^T", "E"))
    return sp.Eq(W1, W0 + eta * mu1 * u * a + E, evaluate=False)


def remainder_bound() -> sp.Expr:
    """The order of |E|_op: eta log(N)/sqrt(N)."""
    return eta * sp.log(N) / sp.sqrt(N)


STATEMENTS = (
    Statement(
        "O1",
        "One gradient step is a rank-one spike plus a remainder whose column energies never vanish",
        rank_one_gradient,
        (
            "`n1/d -> alpha, N/d -> psi`; `a_j` with `E a_j^2 = 1/N, w_j ~ N(0, I/d)`; `x ~ N(0, I), y = g(beta.x)` "
            "+ noise",
            "`u = (1/n1) X^T y, mu1 = E sigma'(z)`",
            "`|E|_op` = `O(eta N^(-1/2) log N)`: negligible only for `eta = o(sqrt N)`",
            "`|E_j|^2 -> eta^2 a_j^2 (v + (mu0* E sigma'')^2), v = E y^2 Var(sigma'(z))/alpha`: never negligible",
        ),
        ("paper O, Proposition 2", "column energy: derived, as in G1"),
        "derived",
        figure="O.spectrum",
    ),
)
