"""R1: the edges, the density and the atom of the Marchenko-Pastur law from its Stieltjes equation."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Given, Root, Step, Tends
from theory.marchenko_pastur import atom, density, edges, stieltjes, stieltjes_equation
from theory.symbols import c, sigma2, w, x
from theory.symbols import stieltjes as m

LOWER, UPPER = edges()


def _discriminant() -> sp.Expr:
    return sp.discriminant(stieltjes_equation().lhs, m)


def _edges() -> Iterator[Step]:
    yield Step(stieltjes_equation(), reason="the Stieltjes transform m of the law at w satisfies")
    yield Step(_discriminant(), Apply(lambda e: sp.discriminant(e.lhs, m)), "its discriminant in m")
    yield Step((w - LOWER) * (w - UPPER), "=", "a quadratic in w, written by its roots")
    yield Step(LOWER, Root(w), "m leaves the real line where the discriminant vanishes: the lower edge")
    yield Step((w - LOWER) * (w - UPPER), Given(), "the same discriminant")
    yield Step(UPPER, Root(w), "the upper edge")


def _bulk() -> sp.Expr:
    """The density inside the bulk (theory's formula without its cases)."""
    return density().args[0][0]


def _density() -> Iterator[Step]:
    root = sp.sqrt((UPPER - x) * (x - LOWER))
    inside = (sigma2 * (1 - c) - x + sp.I * root) / (2 * c * sigma2 * x)
    yield Step(stieltjes_equation().subs(w, x), reason="the equation on the real line, between the edges")
    yield Step(inside, Root(m), "the discriminant is negative there; the root with positive imaginary part")
    yield Step(root / (2 * c * sigma2 * x), Apply(lambda e: sp.im(e)), "its imaginary part")
    yield Step(_bulk(), Apply(lambda e: e / sp.pi), "Stieltjes inversion: the density is the imaginary part over pi")


def _atom() -> Iterator[Step]:
    yield Step(-w * stieltjes(), reason="the mass at zero is the limit of -w m(w) at zero from below")
    limit = (sp.Abs(1 - c) - (1 - c)) / (2 * c)
    yield Step(limit, Tends(w, 0, "-"), "both square roots of negative numbers have argument pi/2")
    yield Step(atom(), "=", "zero for c <= 1, else 1 - 1/c")


_SOURCE = "R1; Marchenko and Pastur 1967; Bai and Silverstein 2010, section 3"
_INSIDE = (x > LOWER, x < UPPER)

DERIVATIONS = (
    Derivation("R1.edges", "The edges of the Marchenko-Pastur law", edges, _edges, _SOURCE),
    Derivation("R1.density", "The density of the Marchenko-Pastur law", _bulk, _density, _SOURCE, _INSIDE),
    Derivation("R1.atom", "The atom of the Marchenko-Pastur law", atom, _atom, _SOURCE),
)
