"""A step with momentum and weight decay: outlier and alignment in two parameters (E11).

W1 = (1 - w) W0 + eta g, w the decay, g = sum_k (1 - gamma) gamma^k G_k the velocity of momentum gamma, filled with
gradients of fresh batches at W0. Each G_k is mu1 u_k a^T up to a small remainder (O1), so that g = mu1 u a^T with a
u that averages the batches, and (1 - w) W0 + theta u a^T/|u| is O2's matrix of strength theta/(1 - w), times 1 - w.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import alpha, eta, mu1, mu1_star, theta
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps import gradient

momentum = sp.Symbol("gamma", positive=True)  # in (0, 1)
decay = sp.Symbol("w", positive=True)  # in (0, 1)
cosine2 = sp.Function("cos2")
singular = sp.Function("s_1")


def direction_norm2() -> sp.Expr:
    """|u|^2 = mu1*^2 + E y^2 (1 - gamma)/((1 + gamma) alpha): the batches count (1 + gamma)/(1 - gamma) times."""
    return gradient.direction_norm2().subs(alpha, alpha * (1 + momentum) / (1 - momentum))


def strength() -> sp.Expr:
    """theta/(1 - w), theta = eta |mu1| |u|."""
    return eta * sp.Abs(mu1) * sp.sqrt(direction_norm2()) / (1 - decay)


def outlier() -> sp.Expr:
    """The largest singular value of W1: 1 - w times O2's at the strength theta/(1 - w)."""
    return (1 - decay) * RECTANGULAR.outlier.subs(theta, strength())


def alignment() -> sp.Eq:
    """E11: cos^2 between beta and the top left singular vector of W1.

    (mu1*^2/|u|^2) (1 - (psi + t^2)/(t^2 (t^2 + 1))), t = eta |mu1| |u|/(1 - w).
    Valid for: t^4 > psi (else there is no outlier), velocity filled at W0, eta of order one, |a| = 1.
    """
    overlap = RECTANGULAR.overlap("d").subs(theta, strength())
    return sp.Eq(cosine2(momentum, decay), mu1_star**2 / direction_norm2() * overlap)


STATEMENTS = (
    Statement(
        id="E11",
        title="Alignment of a step with momentum and weight decay",
        formula=alignment,
        assumptions=(
            "`W1 = (1 - w) W0 + eta g, g = sum_k (1 - gamma) gamma^k G_k, G_k` gradients of fresh batches of `n1` at "
            "`W0`",
            "`W0 d x N` with iid `N(0, 1/d)` entries, `N/d = psi, n1/d = alpha, |a| = 1, eta` of order one",
            "`t = eta |mu1| |u|/(1 - w), |u|^2 = mu1*^2 + E y^2 (1 - gamma)/((1 + gamma) alpha), t^4 > psi`",
            "the outlier: `(1 - w) ((1 + t^2)(psi + t^2))^(1/2)/t`",
        ),
        sources=("derived here, from O1 and O2",),
        status="derived",
    ),
)
