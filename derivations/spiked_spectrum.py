"""G6: the elements of the spiked operator that are exact at every order in B (ReLU)."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Step
from theory.spiked_spectrum import aligned, associated, funk_hecke, t, u, unspiked
from theory.symbols import A, B, d


def _inside(l: int, l_prime: int) -> sp.Expr:
    """(A + B u^2) f_l(t) f_l'(t) at t = sqrt(A+B) u/sqrt(A+B u^2), before simplification."""
    warped = sp.sqrt(A + B) * u / sp.sqrt(A + B * u**2)
    return (A + B * u**2) * associated(l, 0).subs(t, warped) * associated(l_prime, 0).subs(t, warped)


def _mean(expression: sp.Expr) -> sp.Expr:
    """Average over the sphere: u^2 -> 1/d."""
    poly = sp.Poly(sp.expand(expression), u)
    moments = {0: sp.Integer(1), 2: 1 / d}
    return sum(c * moments[power] for (power,), c in poly.terms())


def _linear() -> Iterator[Step]:
    front = d * funk_hecke(1) ** 2
    yield Step(front * _inside(1, 1), reason="d eta_1^2 |w|^2 f_1(t)^2 in the coordinate u of an isotropic direction")
    yield Step(front * d * (A + B) * u**2, "=", "|w|^2 cancels the denominator of t^2")
    yield Step(aligned(), Apply(_mean), "E u^2 = 1/d and eta_1 = 1/(2d): exact in B, no other degree enters")


def _constant() -> Iterator[Step]:
    yield Step(unspiked(0) * _inside(0, 0), reason="d eta_0^2 |w|^2")
    yield Step(unspiked(0) * (A + B / d), Apply(_mean), "E u^2 = 1/d")


def _coupling() -> sp.Expr:
    return sp.sqrt((d - 1) * (d + 2) / 2) * B / d


def _couple() -> Iterator[Step]:
    polynomial = sp.sqrt((d - 1) * (d + 2) / 2) * (d * (A + B) * u**2 - A - B * u**2) / (d - 1)
    yield Step(_inside(0, 2), reason="|w|^2 f_0 f_2(t), f_2 the normalised second harmonic")
    yield Step(polynomial, "=", "a polynomial in u")
    yield Step(_coupling(), Apply(_mean), "exactly linear in B")


DERIVATIONS = (
    Derivation("G6.aligned", "The eigenvalue of <x, w*>", aligned, _linear, "G6; paper F, Theorem 5.3"),
    Derivation("G6.constant", "<Y0|T|Y0>", lambda: unspiked(0) * (A + B / d), _constant, "G6"),
    Derivation("G6.coupling", "<Y0|T|Y2> over d eta_0 eta_2", _coupling, _couple, "G6; paper F, Theorem 5.4"),
)
