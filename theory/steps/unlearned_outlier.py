"""One step needs information exponent 1: an outlier without learning (O6).

With mu1* = E z g = 0 the step's direction u = (1/n1) X^T y has the norm |u|^2 = E y^2/alpha of a sum of independent
terms and nothing of beta in its mean. The outlier of W1 stands where O2 puts it, as if something had been learned; its
vector's squared overlap with beta is of order 1/d, and the factor is not that of a random direction, because beta.x
takes part in every term of u: E (beta.u)^2 = E z^2 y^2/n1.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import alpha, eta, mu1, mu1_star, psi, theta
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps.gradient import direction_norm2, label_second_moment

second_along = sp.Symbol("m_zy", positive=True)  # E z^2 y^2
overlap_of_spike = sp.Symbol("omega", nonnegative=True)  # O2's, of the outlier's left vector with u/|u|
scaled_overlap = sp.Function("d_cos2")
_singular_value = sp.Function("s_1")


def label_energy() -> sp.Expr:
    """E y^2 = mu0*^2 + mu2*^2 + s_eps^2 of a link without a linear coefficient."""
    return label_second_moment().subs(mu1_star, 0)


def strength() -> sp.Expr:
    """theta = eta |mu1| sqrt(E y^2/alpha): all of it is the batch's noise."""
    return eta * sp.Abs(mu1) * sp.sqrt(direction_norm2().subs(mu1_star, 0))


def unlearned_overlap() -> sp.Expr:
    """omega E z^2 y^2/E y^2 + 1 - omega: the limit of d times the squared overlap with beta.

    omega = 1 - (psi + theta^2)/(theta^2 (theta^2 + 1)) is O2's overlap with u/|u|. A random direction has 1.
    """
    return overlap_of_spike * second_along / label_energy() + 1 - overlap_of_spike


def unlearned_statement() -> sp.Eq:
    """O6: d cos^2(beta, top left vector of W1) -> omega E z^2 y^2/E y^2 + 1 - omega."""
    return sp.Eq(scaled_overlap(overlap_of_spike), unlearned_overlap())


def position_statement() -> sp.Eq:
    """The outlier all the same: O2's position at theta = eta |mu1| sqrt(E y^2/alpha)."""
    return sp.Eq(_singular_value(psi, alpha), RECTANGULAR.outlier.subs(theta, strength()))


STATEMENTS = (
    Statement(
        id="O6",
        title="One step needs information exponent 1: an outlier without learning",
        formula=unlearned_statement,
        assumptions=(
            "`E z g = 0` (information exponent 2 or more); `W0` is `d x N` with iid `N(0, 1/d)` entries, `n1/d -> "
            "alpha`",
            "`eta` of order one, `theta = eta |mu1| sqrt(E y^2/alpha) > psi^(1/4)`, the threshold; `omega` is O2's "
            "overlap",
            "the overlap itself is of order `1/d`: it vanishes as `d` grows, and at every `d` it is that of chance "
            "along `u (m_zy = E z^2 y^2)`, not that of a random direction (`1/d`)",
        ),
        sources=("O, Assumption 1 and the theorem on the spike; T, Abstract (one step)", "finite `d`: derived here"),
        status="derived",
        figure="O.exponent",
        beside=(position_statement,),
    ),
)
