"""The Marchenko-Pastur law (R1): the spectrum of (1/n) Z^T Z, Z an n x p matrix of iid entries of variance sigma2.

Convention: ratio c = p/n in (0, oo), so the law lives on p eigenvalues; m(w) = E 1/(lambda - w), so that Im m > 0
in the upper half-plane. All functions take numbers (exact) or symbols and return SymPy expressions.
Source: R1; Marchenko & Pastur 1967, Bai & Silverstein 2010, section 3.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import c, sigma2, w, x
from bulkedge.theory.numbers.symbols import stieltjes as m_symbol


def edges(ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> tuple[sp.Expr, sp.Expr]:
    """The edges of the continuous part, sigma2 (1 -+ sqrt c)^2."""
    root = sp.sqrt(ratio)
    return scale * (1 - root) ** 2, scale * (1 + root) ** 2


def atom(ratio: sp.Expr = c) -> sp.Expr:
    """The mass at zero, max(0, 1 - 1/c): a p x p matrix of rank n < p has p - n zero eigenvalues."""
    return sp.Max(0, 1 - 1 / ratio)


def density(ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """The density of the continuous part in `symbols.x`; its mass is min(1, 1/c), the rest is the atom at zero."""
    lower, upper = edges(ratio, scale)
    inside = sp.sqrt((upper - x) * (x - lower)) / (2 * sp.pi * ratio * scale * x)
    return sp.Piecewise((inside, (x > lower) & (x < upper)), (0, True))


def stieltjes_equation(ratio: sp.Expr = c, scale: sp.Expr = sigma2, m: sp.Expr = m_symbol) -> sp.Eq:
    """The quadratic c sigma2 w m^2 + (w - sigma2 (1 - c)) m + 1 = 0 of the Stieltjes transform m at `symbols.w`."""
    return sp.Eq(ratio * scale * w * m**2 + (w - scale * (1 - ratio)) * m + 1, 0)


def stieltjes(ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """The root of the quadratic that is the Stieltjes transform, on the whole plane cut along the bulk.

    m(w) = (sigma2 (1 - c) - w + sqrt(w - a) sqrt(w - b))/(2 c sigma2 w), with principal square roots.
    Convention: the two roots are taken separately; sqrt((w - a)(w - b)) jumps on Re w = (a + b)/2, left of which it
    gives the other root. The atom is included: m ~ -(1 - 1/c)/w at 0 for c > 1.
    """
    lower, upper = edges(ratio, scale)
    return (scale * (1 - ratio) - w + sp.sqrt(w - lower) * sp.sqrt(w - upper)) / (2 * ratio * scale * w)


def companion(m: sp.Expr, ratio: sp.Expr = c) -> sp.Expr:
    """The Stieltjes transform of the n x n companion (1/n) Z Z^T at `symbols.w` from that of (1/n) Z^T Z."""
    return ratio * m - (1 - ratio) / w


def moment(order: int, ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """E lambda^k = sigma2^k sum_{j<k} N(k, j + 1) c^j, with Narayana's N(k, j + 1) = C(k, j) C(k - 1, j)/(j + 1).

    Errors: InputError for an order that is not an integer >= 0.
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:
        raise InputError("order", f"{order!r} is not the order of a moment", "give an integer >= 0")
    if order == 0:
        return sp.Integer(1)
    return scale**order * sp.Add(*(_narayana(order, j + 1) * ratio**j for j in range(order)))


def _narayana(order: int, blocks: int) -> sp.Integer:
    """The number of non-crossing partitions of `order` points into `blocks` blocks."""
    return sp.Integer(sp.binomial(order, blocks) * sp.binomial(order, blocks - 1) / order)


def free_cumulant(order: int, ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """The free cumulant c^(k-1) sigma2^k, k >= 1: the law is the free Poisson law of rate 1/c and jump c sigma2."""
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise InputError("order", f"{order!r} is not the order of a cumulant", "give an integer >= 1")
    return ratio ** (order - 1) * scale**order


def r_transform(ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """R(w) = sigma2/(1 - c sigma2 w) = sum_k kappa_{k+1} w^k; with G = -m, G(R(w) + 1/w) = w for small w."""
    return scale / (1 - ratio * scale * w)


def s_transform(ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """S(w) = 1/(sigma2 (1 + c w)), so that w S(w) inverts w R(w)."""
    return 1 / (scale * (1 + ratio * w))


def singular_value_density(ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """The density 2 x rho(x^2) of the singular values of Z/sqrt n at `symbols.x` >= 0 (the quarter circle at c = 1)."""
    lower, upper = edges(ratio, scale)
    inside = sp.sqrt((upper - x**2) * (x**2 - lower)) / (sp.pi * ratio * scale * x)
    return sp.Piecewise((inside, (x > sp.sqrt(lower)) & (x < sp.sqrt(upper))), (0, True))


def cdf(ratio: sp.Expr = c, scale: sp.Expr = sigma2) -> sp.Expr:
    """The distribution function in `symbols.x`, atom included, in closed form.

    With x = sigma2 (1 + c - 2 sqrt c cos t) inside the bulk,
    F = (c - 1)^+/c + [(1 + c) t + 2 sqrt c sin t - 2 |1 - c| arctan((1 + sqrt c)/|1 - sqrt c| tan(t/2))]/(2 pi c).
    """
    lower, upper = edges(ratio, scale)
    root = sp.sqrt(ratio)
    half = sp.atan2(sp.sqrt(x - lower), sp.sqrt(upper - x))
    wound = sp.atan2((1 + root) * sp.sin(half), sp.Abs(1 - root) * sp.cos(half))
    inside = ((1 + ratio) * 2 * half + 2 * root * sp.sin(2 * half) - 2 * sp.Abs(1 - ratio) * wound) / (
        2 * sp.pi * ratio
    )
    return sp.Piecewise((0, x < 0), (atom(ratio), x <= lower), (atom(ratio) + inside, x < upper), (1, True))


STATEMENTS = (
    Statement(
        id="R1",
        title="Marchenko-Pastur law: edges, density, atom, moments and transforms at any ratio and scale",
        formula=stieltjes_equation,
        assumptions=(
            "`(1/n) Z^T Z, Z` an `n x p` matrix of iid entries of variance `sigma2, p/n -> c` in (0, `oo`)",
            "`m(w)` = E 1/(`lambda - w`), the atom 1 - `1/c` at zero included for `c >` 1",
        ),
        sources=("Marchenko & Pastur 1967", "Bai & Silverstein 2010, section 3"),
    ),
)
