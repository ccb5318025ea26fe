"""The learning curve of ridge regression with a kernel of known spectrum, or with finitely many of its features (G10).

lambda_i the eigenvalues of the kernel's integral operator, c_i the target's coefficients on its eigenfunctions, n
samples, m features drawn from the kernel's law (m = infinity: the kernel itself), ridge lambda on the sum of squares.
With D_1 = sum lambda_i/(lambda_i + gamma) and D_2 = sum (lambda_i/(lambda_i + gamma))^2,

    kappa = gamma (1 - D_1/m),    lambda = kappa (n - D_1),

two effective ridges: kappa that of n samples given the features, gamma that of both. What the kernel's closure does not
hold, U, and the noise count as noise. Eigenvalues far below gamma enter D_1 through their sum alone, which adds it to
the ridge.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import kappa, lam, n, s_eps

gamma, width = sp.symbols("gamma m", positive=True)
degrees1, degrees2, missed, unlearnable = sp.symbols("D_1 D_2 b U", nonnegative=True)
eigenvalue, coefficient = sp.symbols("lambda_i c_i", positive=True)
curve, _kernel_curve = sp.symbols("R_test R_kernel", real=True)


def share() -> sp.Expr:
    """lambda_i/(lambda_i + gamma): what is learned of eigenfunction i; its sum is D_1, that of its square D_2."""
    return eigenvalue / (eigenvalue + gamma)


def width_equation() -> sp.Eq:
    """kappa = gamma (1 - D_1/m)."""
    return sp.Eq(kappa, gamma * (1 - degrees1 / width))


def _sample_equation() -> sp.Eq:
    """lambda = kappa (n - D_1)."""
    return sp.Eq(lam, kappa * (n - degrees1))


def missed_term() -> sp.Expr:
    """c_i^2 (gamma/(lambda_i + gamma) - kappa lambda_i/(lambda_i + gamma)^2 m/(m - D_2)); its sum is b."""
    level = eigenvalue + gamma
    return coefficient**2 * (gamma / level - kappa * eigenvalue / level**2 * width / (width - degrees2))


def kernel_missed_term() -> sp.Expr:
    """c_i^2 gamma^2/(lambda_i + gamma)^2: the same for the kernel, kappa = gamma."""
    return coefficient**2 * (gamma / (eigenvalue + gamma)) ** 2


def degrees() -> sp.Expr:
    """df_2 = (D_2 (m - 2 D_1) + D_1^2)/(m - D_2); D_2 for the kernel."""
    return (degrees2 * (width - 2 * degrees1) + degrees1**2) / (width - degrees2)


def test_risk() -> sp.Expr:
    """(b + U + s_eps^2)/(1 - df_2/n) - s_eps^2: the test risk, noise excluded."""
    return (missed + unlearnable + s_eps**2) / (1 - degrees() / n) - s_eps**2


def kernel_risk() -> sp.Expr:
    """(b + U + s_eps^2)/(1 - D_2/n) - s_eps^2."""
    return (missed + unlearnable + s_eps**2) / (1 - degrees2 / n) - s_eps**2


def curve_statement() -> sp.Eq:
    """G10: the test risk of ridge on m features of the kernel."""
    return sp.Eq(curve, test_risk())


def kernel_statement() -> sp.Eq:
    """G10 for the kernel, m -> infinity."""
    return sp.Eq(_kernel_curve, kernel_risk())


STATEMENTS = (
    Statement(
        id="G10",
        title="The learning curve of the spiked kernel and of its random features",
        formula=curve_statement,
        assumptions=(
            "`lambda = kappa (n - D_1), kappa = gamma (1 - D_1/m)`; `D_1` = sum `lambda_i/(lambda_i + gamma), D_2` "
            "that of squares",
            "`b` = sum `c_i^2 (gamma/(lambda_i + gamma) - kappa lambda_i/(lambda_i + gamma)^2 m/(m - D_2))`; "
            "spectrum: G6",
            "`U`: the target's distance from the kernel's closure, G8's floor for Figure 1b",
            "exact for Gaussian features as `n` grows; functions of `t = w*.x` are none: first finite-size term "
            "`(1/n) sum s_i^2 (E rho^2 Psi_i^2 - E rho^2)/(1 - D_2/n), s_i` the shares, `rho` the residual (10 per "
            "cent at `n = 30`, 1 at `n = 200`)",
            "a network after one step: G2's kernel, its spike along `u`; its linear part is split by `cos^2(u, w*)`, "
            "so that its risk stays above that of the batch-averaged `k1` at every width",
        ),
        sources=("F, Figure `1b` (no prediction there)", "derived here from O3's equivalent given the features"),
        status="conjectured",
        figure="F.generalisation",
        beside=(kernel_statement,),
    ),
)
