"""Sample covariances of a general population (R2): the Silverstein equation in the population's own variable.

(1/n) S^(1/2) Z^T Z S^(1/2), Z an n x p matrix of iid entries of variance 1, ratio c = p/n, H the limit spectrum of S.
With alpha = -1/(companion Stieltjes transform) the equation reads psi(alpha) = z, where

psi(alpha) = alpha + c alpha E[t/(alpha - t)],  psi'(alpha) = 1 - c E[t^2/(alpha - t)^2],  t ~ H.

Outside the bulk alpha is real with psi' > 0, and then it is the population spike whose outlier is at z; the edges of
the bulk are psi's critical values; in the upper half-plane there is exactly one alpha with Im alpha > 0.
Source: R2; Silverstein & Choi 1995, Bai & Yao 2012.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import alpha, c, mu1, mu2, sigma2, w
from bulkedge.theory.numbers.symbols import stieltjes as m


@dataclass(frozen=True)
class Population:
    """A discrete population spectrum: eigenvalues t >= 0 with weights that sum to 1, exact.

    Errors: InputError for numbers that are not exact rationals, negative eigenvalues, weights that are not positive or
    do not sum to 1, or a population that is all zero.
    """

    values: tuple[sp.Rational, ...]
    weights: tuple[sp.Rational, ...]

    def __post_init__(self) -> None:
        values, weights = (tuple(sp.sympify(v, strict=True) for v in side) for side in (self.values, self.weights))
        if len(values) != len(weights) or not values:
            raise InputError("population", f"has {len(values)} values and {len(weights)} weights", "give pairs")
        if not all(v.is_Rational for v in (*values, *weights)):
            raise InputError("population", "holds numbers that are not rational", "give integers or fractions")
        if min(values) < 0 or max(values) == 0:
            raise InputError("population", "has negative eigenvalues, or none but 0", "give eigenvalues >= 0")
        if min(weights) <= 0 or sum(weights) != 1:
            raise InputError("population", "has weights that are not positive or do not sum to 1", "give shares")
        merged: dict[sp.Rational, sp.Rational] = {}
        for value, weight in sorted(zip(values, weights, strict=True)):
            merged[value] = merged.get(value, sp.Integer(0)) + weight
        object.__setattr__(self, "values", tuple(merged))
        object.__setattr__(self, "weights", tuple(merged.values()))

    def mean(self, of: Sequence[sp.Expr]) -> sp.Expr:
        """The weighted sum of one term per eigenvalue."""
        return sp.Add(*(weight * term for weight, term in zip(self.weights, of, strict=True)))


def psi(population: Population, ratio: sp.Expr = c) -> sp.Expr:
    """psi(alpha) = alpha + c alpha E[t/(alpha - t)], in `symbols.alpha`: from a population spike to its outlier."""
    return alpha + ratio * alpha * population.mean([t / (alpha - t) for t in population.values])


def slope(population: Population, ratio: sp.Expr = c) -> sp.Expr:
    """psi'(alpha) = 1 - c E[t^2/(alpha - t)^2]: positive iff the spike alpha leaves an outlier."""
    return 1 - ratio * population.mean([t**2 / (alpha - t) ** 2 for t in population.values])


def overlap(population: Population, ratio: sp.Expr = c) -> sp.Expr:
    """The squared overlap alpha psi'(alpha)/psi(alpha) of the sample's eigenvector with the population's."""
    return alpha * slope(population, ratio) / psi(population, ratio)


def variance(population: Population, ratio: sp.Expr = c) -> sp.Expr:
    """n times the variance of the outlier, 2 alpha^2 psi'(alpha), for real Gaussian data."""
    return 2 * alpha**2 * slope(population, ratio)


def silverstein_equation(population_stieltjes: sp.Expr, ratio: sp.Expr = c) -> sp.Eq:
    """The equation for a population given by its Stieltjes transform m_H (an expression in `symbols.w`).

    alpha + c alpha (-alpha m_H(alpha) - 1) = z: E[t/(alpha - t)] = -1 - alpha m_H(alpha).
    """
    at = population_stieltjes.subs(w, alpha)
    return sp.Eq(alpha + ratio * alpha * (-alpha * at - 1), w)


def _critical_points(population: Population, ratio: sp.Rational) -> tuple[sp.Expr, ...]:
    """The real zeros of psi' of odd multiplicity, increasing: exact algebraic numbers.

    Their number is found by exact root isolation, so whether a gap is open is never decided by rounding; a double
    zero is a gap that has just closed and is left out.
    """
    numerator = sp.Poly(sp.fraction(sp.together(slope(population, ratio)))[0], alpha)
    counted: dict[sp.Expr, int] = {}
    for root in sp.real_roots(numerator):
        counted[root] = counted.get(root, 0) + 1
    return tuple(root for root, times in counted.items() if times % 2)


def edges(population: Population, ratio: sp.Rational) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
    """The edges of every component of the bulk, from left to right, exact (roots of polynomials where need be).

    Valid for: rational populations and ratio > 0. A point mass at 0 is no component: see `atom`.
    """
    if not (sp.sympify(ratio, strict=True).is_Rational and ratio > 0):
        raise InputError("ratio", f"{ratio} is not a positive rational number", "give an exact fraction")
    law = psi(population, ratio)
    values = [law.subs(alpha, point) for point in _critical_points(population, ratio)]
    return tuple(zip(values[::2], values[1::2], strict=True))


def masses(population: Population, ratio: sp.Rational) -> tuple[sp.Rational, ...]:
    """The mass of every component: by exact separation a gap splits the sample as it splits the population."""
    points = _critical_points(population, ratio)
    above = [
        sp.Add(*(share for t, share in zip(population.values, population.weights, strict=True) if t > gap))
        for gap in points[1:-1:2]
    ]
    cuts = [1 - atom(population, ratio), *above, sp.Integer(0)]
    return tuple(a - b for a, b in itertools.pairwise(cuts))


def enclose_edges(population: Population, ratio: sp.Rational, digits: int) -> tuple[tuple[Enclosure, Enclosure], ...]:
    """The edges of every component with rigorous errors, also where they are roots of polynomials of high degree.

    psi at a rational point within h of a critical point is within h^2 max|psi''|/2 of the edge, where
    psi'' = 2 c E[t^2/(alpha - t)^3]: the root's isolating interval is narrowed until that is small enough.
    """
    law = [(Fraction(int(t.p), int(t.q)), Fraction(int(s.p), int(s.q))) for t, s in _pairs(population) if t > 0]
    c_value = Fraction(int(ratio.p), int(ratio.q))
    found = [_enclose(root, law, c_value, digits) for root in _critical_points(population, ratio)]
    return tuple(zip(found[::2], found[1::2], strict=True))


def _enclose(root: sp.Expr, law: list[tuple[Fraction, Fraction]], ratio: Fraction, digits: int) -> Enclosure:
    width = Fraction(1, 10 ** (digits // 2 + 4))
    for _ in range(60):
        point = root.eval_rational(_rational(width)) if isinstance(root, sp.CRootOf) else _rounded(root, width)
        at = Fraction(int(point.p), int(point.q))
        gaps = [abs(at - t) - width for t, _ in law]
        if min(gaps) > 0:
            value = at * (1 + ratio * sum(share * t / (at - t) for t, share in law))
            bend = 2 * ratio * sum(share * t**2 / gap**3 for (t, share), gap in zip(law, gaps, strict=True))
            result = Enclosure(value, width**2 * bend / 2, "bound")
            if result.reaches(digits) or (value == 0 and at == 0):
                return result if at else Enclosure(Fraction(0), Fraction(0), "exact")
        width /= 1000
    raise PrecisionError(f"{digits} digits of an edge could not be reached")


def _rounded(root: sp.Expr, width: Fraction) -> sp.Rational:
    """A rational within `width` of a root given in radicals."""
    digits = len(str(width.denominator)) + len(str(abs(int(sp.Abs(root).evalf(5))) + 1)) + 3
    return sp.Rational(str(root.evalf(digits)))


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _pairs(population: Population) -> list[tuple[sp.Rational, sp.Rational]]:
    return list(zip(population.values, population.weights, strict=True))


def atom(population: Population, ratio: sp.Expr = c) -> sp.Expr:
    """The mass of the sample spectrum at zero, max(H{0}, 1 - 1/c)."""
    zero = dict(zip(population.values, population.weights, strict=True)).get(sp.Integer(0), sp.Integer(0))
    return sp.Max(zero, 1 - 1 / ratio)


def conjugate_kernel_stieltjes(ratio: sp.Expr = c) -> sp.Expr:
    """m_H of the conjugate kernel's population mu1^2 W0^T W0 + mu2^2, W0^T W0 Marchenko-Pastur of ratio N/d."""
    from bulkedge.theory.spectra import marchenko_pastur

    law = marchenko_pastur.stieltjes(ratio, sp.Integer(1))
    return law.subs(w, (w - mu2**2) / mu1**2) / mu1**2


def additive_spike(population_stieltjes: sp.Expr, strength: sp.Expr = sigma2) -> sp.Eq:
    """Where a rank-one term strength v v^T, v generic, puts a population eigenvalue alpha: 1/strength = -m_H(alpha)."""
    return sp.Eq(1 / strength, -population_stieltjes.subs(w, alpha))


def general_equation() -> sp.Eq:
    """R2's statement for any population: z = psi(alpha), by its transform m_H; -1/alpha is the companion transform."""
    transform = sp.Function("m_H")(alpha)
    return sp.Eq(w, alpha + c * alpha * (-alpha * transform - 1))


def companion_equation() -> sp.Eq:
    """The same in the companion transform m, for a population of one eigenvalue t: z = -1/m + c t/(1 + t m)."""
    t = sp.Symbol("t", positive=True)
    return sp.Eq(w, -1 / m + c * t / (1 + t * m))


STATEMENTS = (
    Statement(
        id="R2",
        title="General population spectrum: edges of every component, density, spikes; the conjugate kernel's bulk",
        formula=general_equation,
        assumptions=(
            "`(1/n) S^(1/2) Z^T Z S^(1/2), p/n -> c`, spectrum of `S -> H` with Stieltjes transform `m_H`",
            "`alpha = -1`/(companion transform); edges are critical values; spikes of positive slope leave outliers",
            "conjugate kernel: population `mu1^2 W0^T W0 + mu2^2` for isotropic inputs, ratio `N/n`; its own outlier "
            "is the spike of strength `c_2^2 N/d` (`c_2` orthonormal) added to that population",
        ),
        sources=("Silverstein & Choi 1995", "Bai & Yao 2012", "Fan & Wang 2020; the kernel's outlier: derived here"),
        status="derived",
    ),
)
