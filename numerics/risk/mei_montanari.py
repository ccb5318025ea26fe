"""The random-features ridge risk by Mei and Montanari's formula: a second route to O3 at eta = 0.

Nothing here calls numerics/risk/ridge.py: their polynomials E0, E1, E2 in chi = nu1 nu2 instead of an effective ridge.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq

from bulkedge.numerics.trials.domain import nonnegative, positive
from bulkedge.theory.numbers.errors import ConvergenceError


def chi(psi_features: float, psi_samples: float, zeta2: float, lam_bar: float) -> float:
    """chi = nu1 nu2 at xi = i sqrt(psi1 psi2 lam_bar), in their notation (psi1 = N/d, psi2 = n/d).

    On the imaginary axis nu_j = i n_j with n_j > 0, and with p = n1 n2 = -chi both equations give
    n_j |xi| = psi_j - c(p), c = p + zeta^2 p/(1 + zeta^2 p): one monotone equation, p |xi|^2 = (psi1 - c)(psi2 - c).
    """
    xi2 = psi_features * psi_samples * lam_bar

    def c(p: float) -> float:
        return p + zeta2 * p / (1 + zeta2 * p)

    def equation(p: float) -> float:
        return (psi_features - c(p)) * (psi_samples - c(p)) - p * xi2

    # c(p) = psi has the positive root of zeta2 p^2 + (1 + zeta2 - psi zeta2) p - psi = 0.
    psi = min(psi_features, psi_samples)
    b = 1 + zeta2 - psi * zeta2
    spread = math.sqrt(b * b + 4 * zeta2 * psi)
    root = 2 * psi / (b + spread) if b > 0 else (spread - b) / (2 * zeta2)
    if xi2 == 0 or equation(root) >= 0:  # a ridge below rounding
        return -root
    return -float(brentq(equation, 0.0, root, xtol=1e-300, rtol=8.9e-16, maxiter=500))


def mei_montanari_risk(
    psi_features: float,
    psi_samples: float,
    lam: float,
    mu1: float,
    mu2: float,
    linear: float,
    nonlinear: float,
    noise: float,
) -> float:
    """R = F1^2 B + (tau^2 + F*^2) V + F*^2, noise excluded.

    Convention: theirs -- psi1 = N/d, psi2 = n/d, ridge N lam/d on the sum of squares of un-normalised coefficients,
    so lam = lam_O/(N/d). `linear` = F1, `nonlinear` = F*, `noise` = tau (standard deviations).
    Errors: InputError for arguments out of range; ConvergenceError at the interpolation peak without a ridge (where the
    risk is infinite), and where the polynomials cancel to nothing in double precision.
    Source: Mei and Montanari (arXiv:1908.05355), Theorem 2.
    """
    for name, value in (("psi_features", psi_features), ("psi_samples", psi_samples), ("mu2", mu2)):
        positive(value, name)
    for name, value in (("lam", lam), ("mu1", abs(mu1)), ("noise", noise)):
        nonnegative(value, name)
    z2 = (mu1 / mu2) ** 2
    z4, z6 = z2**2, z2**3
    p1, p2 = psi_features, psi_samples
    x = chi(p1, p2, z2, lam / mu2**2)
    e0 = (
        -(x**5) * z6
        + 3 * x**4 * z4
        + (p1 * p2 - p1 - p2 + 1) * x**3 * z6
        - 2 * x**3 * z4
        - 3 * x**3 * z2
        + (p1 + p2 - 3 * p1 * p2 + 1) * x**2 * z4
        + 2 * x**2 * z2
        + x**2
        + 3 * p1 * p2 * x * z2
        - p1 * p2
    )
    e1 = p2 * x**3 * z4 - p2 * x**2 * z2 + p1 * p2 * x * z2 - p1 * p2
    e2 = (
        x**5 * z6
        - 3 * x**4 * z4
        + (p1 - 1) * x**3 * z6
        + 2 * x**3 * z4
        + 3 * x**3 * z2
        - (p1 + 1) * x**2 * z4
        - 2 * x**2 * z2
        - x**2
    )
    risk = math.inf if e0 == 0 else linear**2 * e1 / e0 + (noise**2 + nonlinear**2) * e2 / e0 + nonlinear**2
    # Sixth powers of zeta and of the ratios cancel in E0, E1, E2: what is lost is seen as a risk below the floor.
    if not nonlinear**2 * (1 - 1e-6) <= risk < math.inf:
        raise ConvergenceError(f"the polynomials cancel at psi = {p1:g}, {p2:g}, zeta^2 = {z2:g}, ridge {lam:g}")
    return risk
