"""`bulkedge floor`: what kernels leave of a link, and whether one large step can do better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from bulkedge.arguments import Activation, Link, SizedNoise, read
from bulkedge.results.result import Result, Table

MEANING = {
    "beats": "10 tau* is below the floor: one large step beats every kernel, by the theorem",
    "vacuous": "tau* is below the floor but 10 tau* is not: the theorem's bound does not tell",
    "above": "tau* is not below the floor: this criterion separates nothing",
    "undecided": "the enclosure of tau* does not decide",
}


@dataclass(frozen=True)
class FloorResult(Result):
    """The floor of linear models and kernels, and the large-step criterion with its certificate."""

    command: ClassVar[str] = "floor"
    linear_floor: float
    floor_error: float
    with_noise: float
    tau: float
    lower: float
    kappa: float
    attained: bool
    certified: bool
    everywhere: bool
    bracket: float
    quadrature: float
    verdict: str

    def payload(self) -> dict[str, Any]:
        """`linear_floor`, `floor_with_noise`, `tau`, `tau_lower`, `kappa` (null if not attained), `verdict`, ..."""
        return {
            "linear_floor": _text(self.linear_floor),
            "floor_with_noise": _text(self.with_noise),
            "tau": _text(self.tau),
            "tau_lower": _text(self.lower),
            "kappa": _text(self.kappa) if math.isfinite(self.kappa) else None,
            "attained": self.attained,
            "certified": self.certified,
            "certified_everywhere": self.certified and self.everywhere,
            "bracket": _text(self.bracket) if math.isfinite(self.bracket) else None,
            "verdict": self.verdict,
            "errors": self.errors(),
        }

    def errors(self) -> dict[str, str]:
        """Bounds of the errors, by field."""
        return {
            "linear_floor": _bound(self.floor_error),
            "floor_with_noise": _bound(self.floor_error),
            "tau": _bound(self.tau - self.lower + self.quadrature),
            "tau_lower": _bound(self.tau - self.lower + self.quadrature),  # its distance from tau*
            "bracket": "0",  # chosen
            # tau is flat at its minimum: kappa is known to the square root of tau's resolution.
            "kappa": _bound(math.sqrt(self.quadrature)) if self.attained else "0",
        }

    def tables(self) -> tuple[Table, ...]:
        """One row per number."""
        kappa = _text(self.kappa) if self.attained else f"not attained (kappa -> {'-' if self.kappa < 0 else ''}oo)"
        errors = self.errors()
        rows = (
            ("floor of linear models and kernels, mu2*^2", _text(self.linear_floor), errors["linear_floor"]),
            ("the same, noise included", _text(self.with_noise), errors["floor_with_noise"]),
            ("tau*", _text(self.tau), errors["tau"]),
            ("certified lower bound of tau*", _text(self.lower) if self.certified else "none", errors["tau_lower"]),
            ("kappa*", kappa, errors["kappa"] if self.attained else ""),
            ("verdict", MEANING[self.verdict], ""),
        )
        return (Table(("quantity", "value", "error"), rows),)

    def latex(self) -> str:
        """tau*, kappa* and the floor."""
        from bulkedge.derivations.engine.latex import decimal

        tau, kappa, floor = (decimal(f"{v:.6g}") for v in (self.tau, self.kappa, self.linear_floor))
        kappa = kappa if self.attained else r"\infty"
        return rf"\tau^{{\star}} = {tau}, \quad \kappa^{{\star}} = {kappa}, \quad \mu_{{2\star}}^{{2}} = {floor}"


def _text(value: float) -> str:
    from bulkedge.theory.numbers.enclosure import decimal_string

    return decimal_string(Fraction(value), 15)


def _bound(value: float) -> str:
    from bulkedge.theory.numbers.enclosure import error_string

    return error_string(Fraction(value))


def floor(activation: Activation, link: Link, *, noise: SizedNoise = 0) -> FloorResult:
    """The floor mu2*^2 of linear models and rotation-invariant kernels, tau* and kappa*, and a verdict for the pair.

    Formula: theory.risk.floor.criterion; tau* = inf_kappa E[(g(z1) - E_{z2} sigma(kappa z1 + z2))^2].
    Valid for: kernels at n ~ d; one step of size Theta(sqrt N) with a bounded activation (paper O's Theorem 7).
    Accuracy: `tau_lower` <= tau* <= `tau` (branch and bound over the bracket, and over all kappa where
    `certified_everywhere`); an infimum that is not attained is said to be.
    Errors: InputError.
    Source: O4.

    Example:

    >>> bulkedge.floor("erf", "erf").verdict
    'beats'
    """
    given = read(floor, locals())
    from bulkedge.numerics.functions.functions import constants, vectorised
    from bulkedge.numerics.risk.floor import TOLERANCE
    from bulkedge.numerics.risk.floor import floor as compute
    from bulkedge.theory.risk.floor import verdict

    f, g, s = given.activation, given.link, given.noise
    c = constants(g)
    kinks, link_kinks = ([float(b) for b in h.kinks] for h in (f, g))
    found = compute(vectorised(f), vectorised(g), kinks, link_kinks, degree=f.degree)
    level = c.mu2**2
    notes = ["floor: any model linear in x, and any rotation-invariant kernel at n ~ d (a lower bound)"]
    if found.certified:
        region = "all kappa" if found.everywhere else f"|kappa| <= {found.bracket:g} only"
        notes.append(f"the minimum is certified over {region}")
    else:
        notes.append("no Lipschitz constant: tau is the smallest value found, not certified")
    if not found.attained:
        notes.append("the infimum is not attained: tau decreases to it as |kappa| grows")
    if abs(c.mu0) > 1e-13:
        notes.append("the link has a mean: where nothing fits it, the floor is mu2*^2 + mu0*^2")
    return FloorResult(
        given.inputs,
        "one step of size Theta(sqrt N); z1, z2 ~ N(0, 1) independent",
        ("O4",),
        tuple(notes),
        level,
        2 * c.mu2 * c.error + 2.0**-50 * level,
        level + float(s) ** 2,
        found.tau,
        found.lower,
        found.kappa,
        found.attained,
        found.certified,
        found.everywhere,
        found.bracket,
        found.quadrature,
        verdict(found.lower, found.tau, level, 2 * TOLERANCE * c.second_moment),
    )
