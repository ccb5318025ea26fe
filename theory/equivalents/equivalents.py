"""What was derived with equivalents: the Dyson equation of Marchenko-Pastur (E2), the preconditioned first step (E6),
the first step on anisotropic inputs (E7).

alpha = n/d, the label y = g(beta.x) + noise with E y^2 = `second_moment` and linear part mu1*; l is the regularisation
of the preconditioner (S + l)^-1, S = X^T X/n, and m, m' the Marchenko-Pastur means of 1/(s + l) and 1/(s + l)^2.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.equivalents import elimination
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import alpha, c, lam, mu1_star, w
from bulkedge.theory.spectra import marchenko_pastur

regularisation = sp.Symbol("l", positive=True)
second_moment = sp.Symbol("E_y2", positive=True)
first, second = sp.symbols("m m_2", positive=True)  # the means of 1/(s + l) and 1/(s + l)^2
level, mean_level = sp.symbols("sigma_beta tau", positive=True)  # Sigma's eigenvalue on beta, its normalised trace
trace_d, trace_n = sp.symbols("g g_n", positive=True)
cosine2 = sp.Function("cos2")


def marchenko_pastur_equivalent() -> Equivalent:
    """The question tr (X^T X + lam)^-1, X n x d of variance 1/n, c = d/n."""
    return read(
        "tr(inv(X.T*X + lam))",
        declare("X: n x d, 1/n", size={"n": sp.S.One, "d": c}, positive=[sp.Symbol("lam", positive=True), c]),
    )


def dyson_pair() -> tuple[sp.Eq, sp.Eq]:
    """(lam + g_n) g = 1 and (1 + c g) g_n = 1: the Dyson equation of the two-block pencil [[1, X], [X^T, -lam]]."""
    by_symbol = {sp.Symbol("lam", positive=True): lam}
    found = []
    for equation, names in elimination.dyson_equations(marchenko_pastur_equivalent().system):
        at = {names["d"]: trace_d, names["n"]: trace_n}
        found.append(sp.Eq(sp.factor(equation.xreplace({**at, **by_symbol}) + 1), 1))
    one, two = sorted(found, key=lambda e: e.has(lam), reverse=True)
    return one, two


def marchenko_pastur_polynomial() -> sp.Eq:
    """E2: c lam g^2 + (lam + 1 - c) g - 1 = 0, g = tr (X^T X + lam)^-1."""
    return sp.Eq(c * lam * trace_d**2 + (lam + 1 - c) * trace_d - 1, 0)


def overlap() -> sp.Expr:
    """beta.u of the preconditioned step: mu1* (1 - l m)."""
    return mu1_star * (1 - regularisation * first)


def norm2() -> sp.Expr:
    """|u|^2 of the preconditioned step: mu1*^2 (1 - 2 l m + l^2 m') + (E y^2 - mu1*^2) (m - l m')/alpha."""
    linear = 1 - 2 * regularisation * first + regularisation**2 * second
    return mu1_star**2 * linear + (second_moment - mu1_star**2) * (first - regularisation * second) / alpha


def preconditioned_alignment() -> sp.Eq:
    """E6: cos^2 between beta and u = (X^T X/n + l)^-1 X^T y/n.

    Valid for: x ~ N(0, I_d), n/d -> alpha, |beta| = 1, centred labels. l -> infinity is the plain step, mu1*^2/|u|^2.
    """
    return sp.Eq(cosine2(regularisation), overlap() ** 2 / norm2())


def resolvent_means() -> tuple[sp.Expr, sp.Expr]:
    """m and m' in closed form: Marchenko-Pastur of ratio 1/alpha at -l, and its derivative."""
    m = marchenko_pastur.stieltjes(1 / alpha, sp.S.One)
    return m.subs(w, -regularisation), m.diff(w).subs(w, -regularisation)


def anisotropic_alignment() -> sp.Eq:
    """E7: cos^2 between beta and u = X^T y/n for x ~ N(0, Sigma), beta in an eigenspace of Sigma.

    cos^2 = mu1*^2 s/(mu1*^2 s + E y^2 tau/alpha), s Sigma's eigenvalue there and tau its normalised trace.
    Valid for: y = g(beta.x/sqrt(s)), |beta| = 1, centred labels.
    """
    return sp.Eq(cosine2(level), mu1_star**2 * level / (mu1_star**2 * level + second_moment * mean_level / alpha))


STATEMENTS = (
    Statement(
        id="E2",
        title="The Dyson equation of a pencil, on the example of Marchenko-Pastur",
        formula=marchenko_pastur_polynomial,
        assumptions=(
            "`(L_0 - S(G)) G` = I for the linearisation `u L^-1 v` of a rational expression in Gaussian matrices",
            "`S_iq`: over pairs of an entry `X` at (`i, j`) and `X^T` at (`p, q`), the variance times size`(j) G_jp`",
            "the branch: the one solution at which `Y -> G E[X Y X*] G*` has spectral radius below one",
            "here `g = tr (X^T X + lam)^-1, X n x d` with iid `N(0, 1/n)` entries, `c = d/n`",
        ),
        sources=("Haagerup & Thorbjornsen 2005; Helton, Rashidi Far & Speicher 2007", "derived here (branch test)"),
        status="derived",
    ),
    Statement(
        id="E6",
        title="Alignment of a preconditioned first step",
        formula=preconditioned_alignment,
        assumptions=(
            "`u = (X^T X/n + l)^-1 X^T y/n, x ~ N(0, I_d), n/d -> alpha, y = g(beta.x)` + noise centred, `|beta| = 1`",
            "`m, m_2`: Marchenko-Pastur means (ratio `1/alpha`) of 1/(`s + l`) and 1/`(s + l)^2`; plain step: `l ->` "
            "infinity",
        ),
        sources=("derived here, with the engine of equivalents",),
        status="derived",
    ),
    Statement(
        id="E7",
        title="Alignment of the first step on anisotropic inputs",
        formula=anisotropic_alignment,
        assumptions=(
            "`u = X^T y/n, x ~ N(0, Sigma), y = g(beta.x/(beta.Sigma beta)^(1/2))` + noise centred, `|beta| = 1`",
            "`beta` in an eigenspace of `Sigma` with value `sigma_beta`; `tau` the normalised trace of `Sigma`; `n/d "
            "-> alpha`",
        ),
        sources=("derived here, with the engine of equivalents",),
        status="derived",
    ),
)
