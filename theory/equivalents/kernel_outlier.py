"""The outlier of the conjugate kernel after a step of size Theta(1), and its overlap with the labels (E8).

Features mu1 X W1 + mu2 Z (the Gaussian equivalent of sigma(X W1)), X n x d, W1 = W0 + eta mu1 u a^T, N/d = psi,
c = N/n. The rows have covariance mu1^2 W1^T W1 + mu2^2: a bulk with one spike ell, seen through n samples.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import c, ell, mu1, mu1_star, mu2, psi, w
from bulkedge.theory.spectra import marchenko_pastur
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps.gradient import alignment, label_second_moment

pull, strain = sp.symbols("H_1 H_2", positive=True)  # E t/(ell - t) and E t^2/(ell - t)^2 over the population's bulk
spike2 = sp.Symbol("s_1", positive=True)  # the outlying singular value of W1
position = sp.Function("lambda_1")
cosine2 = sp.Function("cos2")
labels = sp.Symbol("y")


def population_spike() -> sp.Expr:
    """ell = mu1^2 s_1^2 + mu2^2, s_1 of O2."""
    return mu1**2 * spike2**2 + mu2**2


def kernel_outlier() -> sp.Eq:
    """E8: the eigenvalue of F F^T/n outside its bulk, ell (1 + c H_1).

    Valid for: a spike above O2's threshold and c H_2 < 1, else there is no outlier. H_1 = E t/(ell - t), t over
    mu1^2 W0^T W0 + mu2^2. First finite-size term: the step gives pre-activations the variance 1 + theta^2 a_j^2, so the
    sizes must be large against theta^2.
    """
    return sp.Eq(position(ell, c), ell * (1 + c * pull))


def label_overlap() -> sp.Eq:
    """cos^2 between the outlier's eigenvector (in sample space) and fresh labels y.

    (mu1*^2/E y^2) (mu1*^2/|u|^2) omega_d (mu1^2 s_1^2/ell) (1 - c H_2), omega_d O2's overlap on the d side.
    Valid for: as `kernel_outlier`, labels of mean zero.
    """
    shares = mu1_star**2 / label_second_moment() * alignment() * RECTANGULAR.overlap("d")
    return sp.Eq(cosine2(labels), shares * mu1**2 * spike2**2 / ell * (1 - c * strain))


def bulk_means() -> tuple[sp.Expr, sp.Expr]:
    """H_1 and H_2 in closed form: Marchenko-Pastur of ratio psi and scale mu1^2, shifted by mu2^2."""
    m = marchenko_pastur.stieltjes(psi, mu1**2)
    at = {w: ell - mu2**2}
    value, slope = m.subs(at), m.diff(w).subs(at)
    return -1 - ell * value, 1 + 2 * ell * value + ell**2 * slope


STATEMENTS = (
    Statement(
        id="E8",
        title="The outlier of the conjugate kernel after a step",
        formula=kernel_outlier,
        assumptions=(
            "features F = `mu1 X W1 + mu2 Z` for `sigma(X W1), W1 = W0 + eta mu1 u a^T, eta` of order one, `N/n -> c`",
            "`ell = mu1^2 s_1^2 + mu2^2, s_1` the outlier of O2; `H_1 = E t/(ell - t)` over `mu1^2 W0^T W0 + mu2^2`",
            "labels: `(mu1*^2/E y^2)(mu1*^2/|u|^2) omega_d (mu1^2 s_1^2/ell)(1 - c H_2), H_2 = E t^2/(ell - t)^2`",
            "an outlier where `c H_2 <` 1; sizes large against `theta^2`",
        ),
        sources=("derived here, with the engine of equivalents", "Silverstein & Choi 1995; Bai & Yao 2012"),
        status="derived",
    ),
)
