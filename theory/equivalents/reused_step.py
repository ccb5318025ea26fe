"""A step whose batch is the training set of the ridge readout, against a fresh batch (E14).

The training features after a step eta on the same n = alpha d samples (X, y), u = X^T y/n, |a| = 1:

    F = mu1 X W0 + mu2 Z + w a^T,   w = e X u + c y,   e = eta mu1^2,   c = eta Var(sigma')/alpha.

c y a^T is each sample's own term: the step moves the pre-activation of neuron j at sample i by
eta a_j y_i |x_i|^2/n sigma'(h_ij) through sample i itself, which the activation multiplies by sigma'(h_ij) again: the
mean E sigma'^2 stands where the rank-one step has mu1^2. It is of the order of the bulk, and nothing of it is left on
other samples. Given X the readout sees the resolvent (p S + r)^-1, S = X X^T/n (Marchenko-Pastur), so all is an average
over s. A fresh batch has w = e X u with a u that knows nothing of (X, y), and no own term.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import alpha, eta, lam, mu1, mu1_star, mu2, psi2, w
from bulkedge.theory.spectra import marchenko_pastur
from bulkedge.theory.steps.gradient import direction_energy

share = sp.Symbol("q", positive=True)  # lam times the normalised trace of (F0^T F0/n + lam)^-1
spread = sp.Symbol("v_slope", nonnegative=True)  # Var sigma'(z)
rest = sp.Symbol("rest", nonnegative=True)  # E y^2 - mu1*^2
eigenvalue = sp.Symbol("s", nonnegative=True)  # of X X^T/n
A, B, C = sp.symbols("A B C", positive=True)
p, r = sp.symbols("p r", positive=True)
mean = sp.symbols("h", positive=True)  # of 1/(p s + r)


def loss() -> sp.Expr:
    """lam (A - q B^2/(1 + q C)): the readout's minimum of (1/n)|y - F a|^2 + lam |a|^2."""
    return lam * (A - share * B**2 / (1 + share * C))


def loss_statement() -> sp.Eq:
    """E14: `loss`, with A, B, C the means of y y, y w, w w over (p S + r)^-1."""
    return sp.Eq(sp.Symbol("L"), loss())


def resolvent() -> tuple[sp.Expr, sp.Expr]:
    """p and r: lam + (psi2/alpha) q (mu1^2 alpha s + mu2^2) = p s + r."""
    return psi2 * share * mu1**2, lam + psi2 * share * mu2**2 / alpha


def share_equation() -> sp.Eq:
    """1 - q = (alpha/psi2) (1 - lam h), h the mean of 1/(p s + r), which holds q itself."""
    return sp.Eq(1 - share, alpha / psi2 * (1 - lam * mean))


def own_coefficient() -> sp.Expr:
    """c = eta Var(sigma')/alpha."""
    return eta * spread / alpha


def _label_density() -> sp.Expr:
    """y^T phi(S) y/n is the mean of phi(s) times this: mu1*^2 alpha s + rest."""
    return mu1_star**2 * alpha * eigenvalue + rest


def weights(reused: bool, own: bool = True) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """What A, B and C are the means of, times 1/(p s + r): polynomials in s.

    `own` False leaves the samples' own terms out (for comparison).
    """
    e = eta * mu1**2
    if reused:
        factor = e * eigenvalue + (own_coefficient() if own else 0)
        return _label_density(), factor * _label_density(), factor**2 * _label_density()
    energy = direction_energy(mu1_star, mu1_star**2 + rest, alpha)
    return _label_density(), e * mu1_star**2 * alpha * eigenvalue, e**2 * energy * alpha * eigenvalue


def means(polynomial: sp.Expr) -> sp.Expr:
    """The mean of polynomial(s)/(p s + r) in h, by division: s^k/(p s + r) leaves moments of s and h."""
    quotient, remainder = sp.div(sp.Poly(polynomial, eigenvalue), sp.Poly(p * eigenvalue + r, eigenvalue))
    total = remainder.as_expr() * mean
    for (power,), coefficient in quotient.terms():
        # n-dimensional moments of X X^T/n: those of X^T X/n over d times d/n.
        moment = sp.S.One if power == 0 else marchenko_pastur.moment(power, 1 / alpha, sp.S.One) / alpha
        total += coefficient * moment
    return total


def resolvent_mean() -> sp.Expr:
    """h: the mean of 1/(p s + r) over the n eigenvalues of X X^T/n."""
    transform = marchenko_pastur.companion(marchenko_pastur.stieltjes(1 / alpha, sp.S.One), 1 / alpha)
    return transform.subs(w, -r / p) / p


STATEMENTS = (
    Statement(
        id="E14",
        title="A step on the training set itself: the ridge readout's loss, reused against fresh",
        formula=loss_statement,
        assumptions=(
            "`n, d, N ->` infinity in proportion, `x ~ N(0, I_d), W0` with entries `N(0, 1/d), |a| = 1`",
            "features `sigma(X W1)` of the very batch of the step, `n = alpha d, N = psi2 d, eta` and `lam` of order "
            "one",
            "`w = e X u + c y, e = eta mu1^2, c = eta Var(sigma')/alpha` (the samples' own terms); fresh batch: `c = "
            "0`",
            "`A, B, C`: means over `S = X X^T/n` of `mu1*^2 alpha s` + rest times 1, `e s + c, (e s + c)^2`, over `p "
            "s + r`",
            "`p = psi2 q mu1^2, r = lam + psi2 q mu2^2/alpha, 1 - q = (alpha/psi2)`(1 - `lam` mean 1/(`p s + r`))",
            "`E sigma = E y = 0`, odd `sigma`; (`1/n`)`|y` - F `a|^2 + lam |a|^2`; the training error is `L - lam` "
            "dL/dlam",
        ),
        sources=("derived here, with the engine of equivalents",),
        status="derived",
    ),
)
