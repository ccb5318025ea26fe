"""R1: the edges, the density and the atom of the Marchenko-Pastur law from its Stieltjes equation."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute, Tends
from bulkedge.theory.numbers.symbols import c, sigma2, w, x
from bulkedge.theory.numbers.symbols import stieltjes as m
from bulkedge.theory.spectra.marchenko_pastur import atom, companion, density, edges, stieltjes, stieltjes_equation

LOWER, UPPER = edges()
_LOWER, _UPPER, _MASS = sp.Symbol("lambda_minus"), sp.Symbol("lambda_plus"), sp.Symbol("p_0")
_DENSITY = sp.Function("f")(x)
_BELOW = sp.Symbol("t", positive=True)
_COMPANION = sp.Symbol("m_tilde")


def _equation() -> Iterator[Step]:
    yield Step(
        sp.Eq(m, -1 / (w * (1 + sigma2 * _COMPANION))),
        reason=(
            "leave one column `z_i` out: by Schur's complement `(S - w)^-1` has the diagonal element -1/(`w + w q`) "
            "with `q = z_i^T (Z_i Z_i^T/n - w)^-1 z_i/n, Z_i` the other columns, which tends to `sigma2` times the "
            "transform of the `n x n` matrix `Z Z^T/n`"
        ),
    )
    values = {_COMPANION: companion(m)}
    there = sp.Eq(m, -1 / (w * (1 + sigma2 * companion(m))))
    yield Step(there, Substitute(values), "`Z Z^T/n` has the same eigenvalues, and `n - p` zeros more")
    cleared = Apply(lambda e: sp.Eq(sp.expand((e.lhs - e.rhs) * w * (1 + sigma2 * companion(m))), 0))
    yield Step(stieltjes_equation(), cleared, "times the denominator")


def _discriminant() -> sp.Expr:
    return sp.discriminant(stieltjes_equation().lhs, m)


def _edges() -> Iterator[Step]:
    yield Step(stieltjes_equation(), reason="the Stieltjes transform `m` of the law at `w` satisfies")
    yield Step(_discriminant(), Apply(lambda e: sp.discriminant(e.lhs, m)), "its discriminant in `m`")
    yield Step((w - LOWER) * (w - UPPER), "=", "a quadratic in `w`, written by its roots")
    yield Step(LOWER, Root(w, name=_LOWER), "`m` leaves the real line where the discriminant vanishes: the lower edge")
    yield Step((w - LOWER) * (w - UPPER), Given(), "the same discriminant")
    yield Step(UPPER, Root(w, name=_UPPER), "the upper edge")


def _bulk() -> sp.Expr:
    """The density inside the bulk (theory's formula without its cases)."""
    return density().args[0][0]


def _density() -> Iterator[Step]:
    root = sp.sqrt((UPPER - x) * (x - LOWER))
    inside = (sigma2 * (1 - c) - x + sp.I * root) / (2 * c * sigma2 * x)
    yield Step(stieltjes_equation().subs(w, x), reason="the equation on the real line, between the edges")
    yield Step(inside, Root(m), "the discriminant is negative there; the root with positive imaginary part")
    yield Step(
        root / (2 * c * sigma2 * x), Apply(lambda e: (e - e.subs(sp.I, -sp.I)) / (2 * sp.I)), "its imaginary part"
    )
    yield Step(
        _bulk(),
        Apply(lambda e: e / sp.pi, name=_DENSITY),
        "Stieltjes inversion: the density is the imaginary part over `pi`",
    )


def _atom() -> Iterator[Step]:
    yield Step(-w * stieltjes(), reason="the mass at zero is the limit of `-w m(w)` at zero from below")
    below = (sp.sqrt(_BELOW + LOWER) * sp.sqrt(_BELOW + UPPER) - sigma2 * (1 - c) - _BELOW) / (2 * c * sigma2)
    there = Apply(lambda e: e.subs(w, -_BELOW).replace(sp.sqrt(-_BELOW - UPPER), sp.I * sp.sqrt(_BELOW + UPPER)))
    yield Step(below, there, "at `w = -t`: both square roots of negative numbers have argument `pi/2`")
    limit = (sp.Abs(1 - c) - (1 - c)) / (2 * c)
    yield Step(limit, Tends(_BELOW, 0, name=_MASS), "`t` tends to zero")
    yield Step(atom(), "=", "zero for `c <=` 1, else 1 - `1/c`")


_SOURCE = "R1; Marchenko and Pastur 1967; Bai and Silverstein 2010, section 3"
_INSIDE = (x > LOWER, x < UPPER)


def _edge_claims() -> tuple[sp.Eq, ...]:
    return sp.Eq(_LOWER, LOWER), sp.Eq(_UPPER, UPPER)


DERIVATIONS = (
    Derivation("R1.equation", "The equation of the Stieltjes transform", stieltjes_equation, _equation, _SOURCE),
    Derivation("R1.edges", "The edges of the Marchenko-Pastur law", _edge_claims, _edges, _SOURCE),
    Derivation(
        "R1.density",
        "The density of the Marchenko-Pastur law",
        lambda: sp.Eq(_DENSITY, _bulk()),
        _density,
        _SOURCE,
        _INSIDE,
    ),
    Derivation("R1.atom", "The atom of the Marchenko-Pastur law", lambda: sp.Eq(_MASS, atom()), _atom, _SOURCE),
)
