"""`bulkedge floor`: what kernels leave of a link, and whether one large step can do better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Activation, Link, Numeric, Positive, Real, RealNames, read
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import COLUMNS, row
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    import sympy as sp

    from bulkedge.numerics.risk.floor import FiniteSize, Floor

HAS_PROGRAM = True
_FAR = 10.0  # samples a dimension of the step's batch that are no longer usual
_MEANING = {
    "beats": "10 tau* is below the floor: one large step beats every kernel, by the theorem",
    "vacuous": "tau* is below the floor but 10 tau* is not: the theorem's bound does not tell",
    "above": "tau* is not below the floor: this criterion separates nothing",
    "undecided": "the enclosure of tau* does not decide",
}


@dataclass(frozen=True)
class FloorResult(Result):
    """The floor of linear models and kernels, and the large-step criterion with its certificate."""

    command: ClassVar[str] = "floor"
    level: float
    level_error: float
    noise: sp.Expr
    exact: sp.Expr | None
    zero: sp.Expr | None
    found: Floor
    verdict: str
    near: FiniteSize

    def quantities(self) -> dict[str, Any]:
        """`linear_floor`, `floor_with_noise`, `tau`, `tau_lower`, `kappa` (None if not attained), `verdict`, ..."""
        x = self.found
        width = x.tau - x.lower + x.tau_error  # of the interval that tau* lies in
        if self.exact is None:
            level, noisy = (Number.of(self.level + y, self.level_error) for y in (0.0, float(self.noise) ** 2))
        else:
            level, noisy = Number.of(self.exact), Number.of(self.exact + self.noise**2)
        # tau is flat at its minimum: kappa is known as far as tau can be told from it.
        kappa = Number.of(x.kappa, x.kappa_error) if x.attained else None
        return {
            "linear_floor": level,
            "floor_with_noise": noisy,
            "tau": Number.of(x.tau, width) if self.zero is None else Number.of(0),
            "tau_lower": Number.of(x.lower, width) if self.zero is None else Number.of(0),  # its distance from tau*
            "kappa": kappa if self.zero is None else Number.of(self.zero),
            "attained": x.attained,
            "certified": x.certified,
            "certified_everywhere": x.certified and x.everywhere,
            "bracket": Number.of(Fraction(x.bracket)) if math.isfinite(x.bracket) else None,  # chosen, so exact
            "verdict": self.verdict,
            "finite_size": {
                "dim": self.near.dim,
                "correction": short(self.near.correction, 2),
                "batch": short(self.near.batch, 3) if math.isfinite(self.near.batch) else None,
            },
        }

    def payload(self) -> dict[str, Any]:
        """The quantities; what is null has the error 0."""
        found = super().payload()
        return found | {"errors": {"kappa": "0", "bracket": "0", **found["errors"]}}

    def tables(self) -> tuple[Table, ...]:
        """One row per number."""
        nowhere = f"not attained (kappa -> {'-' if self.found.kappa < 0 else ''}oo)"
        listed = (
            row("floor of linear models and kernels, mu2*^2", self.linear_floor),
            row("the same, noise included", self.floor_with_noise),
            row("tau*", self.tau),
            row("certified lower bound of tau*", self.tau_lower)
            if self.certified
            else ("certified lower bound of tau*", "none", "", ""),
            row("kappa*", self.kappa) if self.found.attained else ("kappa*", nowhere, "", ""),
            ("verdict", _MEANING[self.verdict], "", ""),
        )
        return (Table(COLUMNS, listed),)

    def latex(self) -> str:
        """tau*, kappa* and the floor."""
        tau, floor = _shown(self.tau), _shown(self.linear_floor)
        kappa = _shown(self.kappa) if self.found.attained else r"\infty"
        return rf"\tau^{{\star}} = {tau}, \quad \kappa^{{\star}} = {kappa}, \quad \mu_{{2\star}}^{{2}} = {floor}"


def _shown(x: Number) -> str:
    return x.rounded_latex(6) if x.expr is None else x.latex


def _scales(near: FiniteSize) -> tuple[bool, str]:
    """Whether the step's direction needs batches that nobody has, and both first finite-size scales in words."""
    kernels = (
        f"the floor of kernels is that of n, d -> infinity: at n = d = {near.dim} they see about "
        f"{short(100 * near.correction, 2)} per cent of what is beyond linear"
    )
    if not math.isfinite(near.batch):
        return True, (
            "WARNING, not the limit of a network's step: the link has no linear part, and one step does not find the "
            f"direction that tau* takes for granted; {kernels}"
        )
    far = near.batch > _FAR
    text = (
        f"tau* takes the step's direction for beta's: its batch needs n1/d far above E y^2/mu1*^2 = "
        f"{short(near.batch, 3)}, where they are at 45 degrees; {kernels}"
    )
    return far, (f"WARNING, a limit far from usual sizes: {text}" if far else text)


def floor(
    activation: Activation,
    link: Link,
    *,
    noise: Annotated[
        Numeric, Real("standard deviation of the labels' noise", "S", low=0, sized=True, letters=True)
    ] = 0,
    positive: Positive = None,
    real: RealNames = None,
) -> FloorResult:
    """The floor mu2*^2 of linear models and rotation-invariant kernels, tau* and kappa*, and a verdict for the pair.

    Formula: theory.risk.floor.criterion; tau* = inf_kappa E[(g(z1) - E_{z2} sigma(kappa z1 + z2))^2].
    Valid for: kernels at n ~ d; one step of size Theta(sqrt N) with a bounded activation (paper O's Theorem 7).
    Accuracy: `tau_lower` <= tau* <= `tau` (an enclosure at kappa; branch and bound over the bracket, and over all kappa
    where `certified_everywhere`); an infimum that is not attained is said to be. `finite_size`: how far usual sizes
    are.
    Errors: InputError.
    Source: O4.

    Example:

    >>> bulkedge.floor("erf", "erf").verdict
    'beats'
    """
    given = read(floor, locals())
    from bulkedge.numerics.functions.functions import constants
    from bulkedge.numerics.risk.floor import TOLERANCE, finite_size, of_pair
    from bulkedge.theory.numbers.errors import InputError
    from bulkedge.theory.risk.floor import exact_floor, exact_zero, verdict

    f, g, s = given.activation, given.link, given.noise
    c = constants(g)
    found = of_pair(f, g)
    level = c.mu2**2
    zero = exact_zero(f, g, found.kappa) if found.attained and found.tau < 1e-12 else None
    if given.symbolic and exact_floor(g) is None:
        raise InputError("noise", "the floor of this link has no closed form", "give the noise as a number")
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
    noise_variance = 0.0 if given.symbolic else float(s) ** 2  # of the finite sizes alone
    near = finite_size(float(c.mu1), float(c.second_moment) + noise_variance)
    far, text = _scales(near)
    notes.insert(0 if far else len(notes), text)
    return FloorResult(
        given.inputs,
        "one step of size Theta(sqrt N); z1, z2 ~ N(0, 1) independent",
        ("O4",),
        tuple(notes),
        level,
        2 * c.mu2 * c.error + 2.0**-50 * level,
        s,
        exact_floor(g),
        zero,
        found,
        verdict(found.lower, found.tau, level, 2 * TOLERANCE * c.second_moment),
        near,
    )
