"""Spikes (O2, R3): where a low-rank signal puts an outlier, how far its vectors turn, and how to read it back.

Four ensembles, each a `SpikeMap` in units of the noise:

RECTANGULAR  W0 + theta u v^T, W0 d x N with iid N(0, 1/d) entries, psi = N/d (one gradient step, O2);
COVARIANCE   (1/n) X^T X, rows of X n vectors of R^p with covariance I + (ell - 1) v v^T, c = p/n;
WIGNER       H + theta v v^T, H symmetric n x n with off-diagonal variance 1/n;
WISHART      W + theta v v^T, W = (1/n) X^T X, X n x p with iid N(0, 1) entries, v a fixed unit vector, c = p/n.

A strength within the threshold leaves no outlier: the extreme value is the bulk's edge and the overlaps are 0.
Several spikes with orthogonal vectors act one by one.
Source: O2 (paper O), R3; Benaych-Georges & Nadakuditi 2011, 2012; Paul 2007; Capitaine, Donati-Martin & Feral 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import c, ell, psi, theta, x, zeta


@dataclass(frozen=True)
class SpikeMap:
    """The limit map of one ensemble, as expressions in its `strength`.

    `above` says (a strict inequality, so that a threshold is never decided by rounding) whether there is an outlier;
    `below` whether the strength pulls to the lower side of the bulk, where strengths smaller than `lower_threshold`
    leave it (None where no strength does); `threshold` is that of the upper side; `above` is even about `centre`.
    `outside` says of a position `symbols.x` whether it is beyond the bulk, where a spike can put it.
    `outlier` is its position, `edge` the edge that it leaves, `overlaps` the squared overlaps by the vector's name,
    `inverse` the strength as a function of the position `symbols.x`, and `variance` the variance of the position
    times the size that `size` names, for real Gaussian noise (half of it for complex).
    """

    name: str
    strength: sp.Symbol
    threshold: sp.Expr
    above: sp.Basic
    centre: sp.Expr
    outlier: sp.Expr
    edge: sp.Expr
    overlaps: tuple[tuple[str, sp.Expr], ...]
    inverse: sp.Expr
    outside: sp.Basic
    variance: sp.Expr
    size: str
    lower_threshold: sp.Expr | None = None
    below: sp.Basic = sp.false

    def own_threshold(self) -> sp.Expr:
        """The threshold that a strength has to pass: that of its own side of the bulk."""
        if self.lower_threshold is None:
            return self.threshold
        return sp.Piecewise((self.lower_threshold, self.below), (self.threshold, True))

    def position(self) -> sp.Expr:
        """The extreme value: the outlier above the threshold, else the edge."""
        return sp.Piecewise((self.outlier, self.above), (self.edge, True))

    def overlap(self, name: str) -> sp.Expr:
        """The squared overlap of a sample vector with the spike's, 0 within the threshold."""
        return sp.Piecewise((dict(self.overlaps)[name], self.above), (0, True))


_theta2 = theta**2
_excess = x**2 - 1 - psi

RECTANGULAR = SpikeMap(
    name="rectangular",
    strength=theta,
    threshold=psi ** sp.Rational(1, 4),
    above=theta**4 > psi,
    centre=sp.Integer(0),
    outlier=sp.sqrt((1 + _theta2) * (psi + _theta2)) / theta,
    edge=1 + sp.sqrt(psi),
    overlaps=(
        ("d", 1 - (psi + _theta2) / (_theta2 * (_theta2 + 1))),
        ("N", 1 - psi * (1 + _theta2) / (_theta2 * (_theta2 + psi))),
    ),
    inverse=sp.sqrt((_excess + sp.sqrt(_excess**2 - 4 * psi)) / 2),
    outside=sp.And(x > 1, (x - 1) ** 2 > psi),
    # Derived from the fluctuations of the three bilinear forms of the resolvent (derivations/spectra/spike.py).
    variance=(theta**4 - psi) * (1 + psi + 2 * _theta2) / (2 * _theta2 * (1 + _theta2) * (psi + _theta2)),
    size="d",
)

_shift = x + 1 - c

COVARIANCE = SpikeMap(
    name="covariance",
    strength=ell,
    threshold=1 + sp.sqrt(c),
    above=(ell - 1) ** 2 > c,
    centre=sp.Integer(1),
    outlier=ell * (1 + c / (ell - 1)),
    edge=sp.Piecewise(((1 + sp.sqrt(c)) ** 2, ell >= 1), ((1 - sp.sqrt(c)) ** 2, True)),
    overlaps=(
        ("vector", (1 - c / (ell - 1) ** 2) / (1 + c / (ell - 1))),
        # With the scores X v/|X v|; with the signal's own scores (ell > 1) it is (ell - 1)/ell times that.
        ("scores", 1 - c / (ell - 1) ** 2),
    ),
    # The larger root above the bulk, the smaller one below it.
    inverse=(_shift + sp.sign(x - 1 - c) * sp.sqrt(_shift**2 - 4 * x)) / 2,
    # (1 -+ sqrt c)^2 = 1 + c -+ 2 sqrt c, without a root; below the bulk only for c < 1.
    outside=sp.And(x > 0, (x - 1 - c) ** 2 > 4 * c, sp.Or(x > 1 + c, c < 1)),
    variance=2 * ell**2 * (1 - c / (ell - 1) ** 2),
    size="n",
    lower_threshold=sp.Max(0, 1 - sp.sqrt(c)),  # at c >= 1 no population eigenvalue leaves the bulk downwards
    below=ell < 1,
)

WIGNER = SpikeMap(
    name="wigner",
    strength=zeta,  # of either sign
    threshold=sp.Integer(1),
    above=zeta**2 > 1,
    centre=sp.Integer(0),
    outlier=zeta + 1 / zeta,
    edge=sp.Piecewise((-2, zeta < 0), (2, True)),
    overlaps=(("vector", 1 - 1 / zeta**2),),
    inverse=(x + sp.sign(x) * sp.sqrt(x**2 - 4)) / 2,
    outside=x**2 > 4,
    variance=2 * (1 - 1 / zeta**2),
    size="n",
    lower_threshold=sp.Integer(-1),
    below=zeta < 0,
)

# At c > 1 the zeros of W feel a spike too: a positive strength below c - sqrt c lifts one of them into the gap between
# 0 and the bulk, and every negative strength pulls one below 0.
_downwards = sp.Or(zeta < 0, sp.And(zeta > 0, zeta < c, (zeta - c) ** 2 > c))

WISHART = SpikeMap(
    name="wishart",
    strength=zeta,  # of either sign
    threshold=c + sp.sqrt(c),
    above=sp.And(sp.Ne(zeta, 0), (zeta - c) ** 2 > c),
    centre=c,
    # G(lambda) = 1/zeta, G the trace of the resolvent: the bulk's R-transform 1/(1 - c/zeta) beside the strength.
    outlier=zeta + zeta / (zeta - c),
    edge=sp.Piecewise(((1 - sp.sqrt(c)) ** 2, _downwards), ((1 + sp.sqrt(c)) ** 2, True)),
    overlaps=(("vector", 1 - c / (zeta - c) ** 2),),  # d outlier/d zeta
    inverse=(x + c - 1 + sp.sign(x - 1 - c) * sp.sqrt((x + c - 1) ** 2 - 4 * c * x)) / 2,
    outside=sp.And((x - 1 - c) ** 2 > 4 * c, sp.Or(x > 1 + c, c < 1, sp.Ne(x, 0))),  # zeros at c >= 1 are the noise's
    # v.R v fluctuates by 2 (-G' - G^2)/p, as v is uniform beside the Haar eigenvectors; the trace by less.
    variance=2 * zeta**2 * (1 - c / (zeta - c) ** 2) / (zeta - c) ** 2,
    size="n",
    lower_threshold=c - sp.sqrt(c),
    below=_downwards,
)

MAPS = (RECTANGULAR, COVARIANCE, WIGNER, WISHART)


def rectangular_outlier() -> sp.Eq:
    """O2's statement: the leading singular value, at any strength."""
    return sp.Eq(sp.Function("s_1")(theta, psi), RECTANGULAR.position())


STATEMENTS = (
    Statement(
        id="O2",
        title="The outlier of one gradient step, its threshold and both overlaps",
        formula=rectangular_outlier,
        assumptions=(
            "`W0` is `d x N` with iid `N(0, 1/d)` entries, `N/d -> psi`; `theta = eta |mu1| |u|, u = X^T y/n1`",
            "squared overlaps: with `u/|u|` on the `d` side; with `beta` multiply by `mu1*^2/|u|^2`",
            "the remainder of the step is small in operator norm: `eta = o(sqrt N)` (O1)",
        ),
        sources=("paper O, Theorem on the spike", "Benaych-Georges & Nadakuditi 2012"),
    ),
)
