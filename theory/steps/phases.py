"""Phases of two gradient steps: how many outliers the weights have after step sizes N^alpha1 and N^alpha2 (T1, T5).

Spike k of W2 has the left vector a^(k+1) and the strength N^(alpha2 - k (1/2 - alpha1)), a constant apart; it stays
visible as long as that exponent is not negative. All arithmetic is exact: on a boundary line nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bulkedge.theory.functions.parse import choice, shorten
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import TWO_STEPS, Statement
from bulkedge.theory.steps.gradient import direction_energy

HALF = Fraction(1, 2)
READOUTS = {"gaussian": None, "uniform": None, "rademacher": 2, "constant": 1}  # law -> distinct non-zero values
BATCHES = ("reused", "fresh")
LISTED = 50  # towards alpha1 = 1/2 the outliers proliferate beyond any list


def new_outliers() -> sp.Eq:
    """Lambda = min(L - 1, floor(alpha2/(1/2 - alpha1))): the outliers beside the first step's own.

    Valid for: 0 <= alpha1, alpha2 < 1/2, a polynomial activation of degree L (L = oo without a cap), E[sigma^(k+1)]
    non-zero for k <= Lambda, readouts with more than Lambda distinct non-zero values.
    Source: T1; paper T counts k = 1..Lambda, the gradient's own direction (k = 0) is a further outlier.
    """
    return sp.Eq(sp.Symbol("Lambda"), sp.Min(s.L - 1, sp.floor(s.alpha2 / (sp.Rational(1, 2) - s.alpha1))))


def lambda_formula(alpha1: sp.Expr, alpha2: sp.Expr, degree: int | None) -> sp.Expr:
    """Lambda at exponents that may hold symbols.  Source: T1."""
    values = {s.alpha1: alpha1, s.alpha2: alpha2}
    whole: sp.Expr = new_outliers().rhs
    if degree is None:
        (whole,) = (part for part in whole.args if not part.has(s.L))
    return whole.xreplace(values | ({} if degree is None else {s.L: sp.Integer(degree)}))


def region(order: int, alpha1: sp.Expr, alpha2: sp.Expr, degree: int | None) -> sp.Basic:
    """The condition of Lambda = order: k (1/2 - alpha1) <= alpha2 < (k + 1) (1/2 - alpha1), no upper end at L - 1.

    Source: T5.
    """
    unit = sp.Rational(1, 2) - alpha1
    lower, upper = sp.Le(order * unit, alpha2), sp.Lt(alpha2, (order + 1) * unit)
    return lower if degree is not None and order == degree - 1 else sp.And(lower, upper)


def strength_exponent() -> sp.Expr:
    """The exponent of N in the strength of spike k >= 1: alpha2 - k (1/2 - alpha1).  Source: T2."""
    return s.alpha2 - s.k * (sp.Rational(1, 2) - s.alpha1)


def spike_exponent(k: int, first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """The exponent of spike k at the steps' exponents; for k = 0 the larger of the two."""
    if k == 0:
        return sp.Max(first, second)
    return strength_exponent().xreplace({s.alpha1: first, s.alpha2: second, s.k: sp.Integer(k)})


def learned_length2(batch: str) -> sp.Expr:
    """Squared length of the learned vector (W2 - W0)^T a on and below the line alpha1 + alpha2 = 1/2.

    reused: mu1^2 (eta1+eta2)^2 (mu1*^2 + E y^2/alpha), that of one step of size eta1 + eta2;
    fresh:  mu1^2 [mu1*^2 (eta1+eta2)^2 + (eta1^2+eta2^2) E y^2/alpha], since the vector is
    mu1 (eta1 u1 + eta2 u2) with independent noise in u1 and u2.
    Valid for: alpha1 + alpha2 < 1/2, both batches of the same ratio alpha = n/d, |a| = 1. `m2` is E y^2, noise
    included.
    Source: T1, T5.
    """
    check_batch(batch)
    total = s.eta1 + s.eta2
    noise = total**2 if batch == "reused" else s.eta1**2 + s.eta2**2
    return s.mu1**2 * direction_energy(s.mu1_star * total, noise * s.m2, s.alpha)


def reused_length2() -> sp.Expr:
    """`learned_length2` of a reused batch.  Source: T5."""
    return learned_length2("reused")


def one_step_cosine2(batch: str) -> sp.Expr:
    """Squared cosine between the learned right vector and beta on and below the line alpha1 + alpha2 = 1/2.

    The energy along beta, mu1^2 mu1*^2 (eta1+eta2)^2, over `learned_length2`.
    reused: mu1*^2/(mu1*^2 + E y^2/alpha), that of one step of any size: the step sizes cancel;
    fresh:  mu1*^2 (eta1+eta2)^2 / (mu1*^2 (eta1+eta2)^2 + (eta1^2+eta2^2) E y^2/alpha).
    Valid for: alpha1 + alpha2 < 1/2, both batches of the same ratio alpha = n/d. `m2` is E y^2, noise included.
    Source: T1, T5.
    """
    return s.mu1_star**2 * (s.eta1 + s.eta2) ** 2 / (learned_length2(batch) / s.mu1**2)


def fresh_cosine2() -> sp.Expr:
    """`one_step_cosine2` of fresh batches.  Source: T5."""
    return one_step_cosine2("fresh")


def fresh_statement() -> sp.Eq:
    """T5: cos^2 phi of the right vector of two fresh steps, phi its angle with beta."""
    return sp.Eq(sp.cos(sp.Symbol("phi", real=True)) ** 2, fresh_cosine2())


def check_batch(batch: str) -> str:
    """Return `batch` if it is "reused" or "fresh", else raise InputError."""
    return choice(batch, "batch", BATCHES)


@dataclass(frozen=True)
class Phase:
    """One point of the phase diagram.

    `Lambda` new outliers, `total` = 1 + Lambda; `boundary` says that a counted spike is of order one (exponent 0), so
    that the count is that of the theorem but the outlier is there only above the threshold of O2; `one_step` says that
    alpha1 + alpha2 < 1/2, where two steps do what one does. `degree` is None where there is no cap.
    """

    alpha1: Fraction
    alpha2: Fraction
    degree: int | None
    Lambda: int

    @property
    def total(self) -> int:
        """1 + Lambda: the new outliers and the first step's own."""
        return 1 + self.Lambda

    @property
    def uncapped(self) -> int:
        """The highest k whose exponent is not negative, whatever the degree."""
        return int(self.alpha2 // (HALF - self.alpha1))

    def exponent(self, k: int) -> Fraction:
        """The exponent of N in the strength of spike k; for k = 0 the larger of the two steps'."""
        return max(self.alpha1, self.alpha2) if k == 0 else self.alpha2 - k * (HALF - self.alpha1)

    @property
    def boundary(self) -> bool:
        """Whether a counted spike is of order one; the exponents fall with k, so the last one decides."""
        return self.exponent(self.Lambda) == 0

    @property
    def one_step(self) -> bool:
        """Whether the point lies below the line alpha1 + alpha2 = 1/2."""
        return self.alpha1 + self.alpha2 < HALF


def phase(alpha1: Fraction, alpha2: Fraction, degree: int | None) -> Phase:
    """The phase at step sizes N^alpha1, N^alpha2 for an activation of this degree (None: not a polynomial).

    Lambda = min(L - 1, floor(alpha2/(1/2 - alpha1))).
    Valid for: 0 <= alpha1, alpha2 < 1/2.  Accuracy: exact.
    Errors: InputError for an exponent outside [0, 1/2) and a degree below 1.  Source: T1.
    """
    for name, exponent in (("alpha1", alpha1), ("alpha2", alpha2)):
        if not 0 <= exponent < HALF:
            raise InputError(name, f"{shorten(exponent)} is outside [0, 1/2)", "give an exponent such as 3/8 or 0.35")
    if degree is not None and degree < 1:
        raise InputError("degree", f"{degree} is not the degree of an activation", "give an integer >= 1, or inf")
    uncapped = alpha2 // (HALF - alpha1)
    return Phase(alpha1, alpha2, degree, uncapped if degree is None else min(degree - 1, uncapped))


@dataclass(frozen=True)
class FirstSize:
    """What a finite width makes of a count: at width `width` the weakest counted spike that grows, and the corrections.

    Spike k has grown by `factor` = N^exponent over its constant of order one, tenfold at N = 10^(1/exponent), of which
    `tenfold` is the logarithm; what the statements leave out is of relative order `correction` = N^(alpha1 - 1/2).
    `spike` is None where no counted spike grows.
    """

    width: int
    spike: int | None
    factor: float
    tenfold: float
    correction: float


def first_size(point: Phase, width: int = 1000) -> FirstSize:
    """The first finite-size scale of a count.

    Accuracy: of doubles; constants of order one are left out.  Source: T1.
    """
    spike = point.Lambda - 1 if point.boundary else point.Lambda
    correction = float(width) ** float(point.alpha1 - HALF)
    if spike < 0 or point.exponent(spike) == 0:
        return FirstSize(width, None, 1.0, 0.0, correction)
    exponent = point.exponent(spike)
    if exponent < Fraction(1, 10**300):  # no double holds its inverse
        return FirstSize(width, spike, 1.0, 1e300, correction)
    return FirstSize(width, spike, float(width) ** float(exponent), float(1 / exponent), correction)


@dataclass(frozen=True)
class Count:
    """The outliers that are generically there, and what changed the textbook count.

    `directions` names the left vectors (the first LISTED of them); `reasons` says why others are missing or added;
    `total` is their number after the cap by the readout's distinct values.
    """

    directions: tuple[str, ...]
    total: int
    reasons: tuple[str, ...]


def left_vector(k: int, folded: bool = False) -> str:
    """The name of spike k's left vector, a^(k+1), or of a kink's further one, a^k|a|."""
    if folded:
        return "a|a|" if k == 1 else f"a^{k}|a|"
    return "a" if k == 0 else f"a^{k + 1}"


def count(
    point: Phase,
    batch: str = "reused",
    readout: str = "gaussian",
    missing: Collection[int] = (),
    further: Collection[int] = (),
) -> Count:
    """Count the outliers of a phase when the generic assumptions are dropped one by one.

    - `missing`: orders k whose function F_k vanishes. With a fresh batch and E y = 0 these are the k with
      E[sigma^(k+1)] = 0; with a reused one the mixed moments E[sigma^(k+1) sigma'^j] of T2 `full` decide
      (theory.steps.second_step.spike_function).
    - a readout with r distinct non-zero values: the powers of a span at most r dimensions.
    - `further`: the k >= 1 whose further left vector a^k|a|, of the order of spike k, a kink and a reused batch bring
      (theory.steps.kink, T6). The order alone limits them: an activation with a kink is not a polynomial.

    Errors: InputError for an unknown batch or readout law.  Source: T1, T6.
    """
    check_batch(batch)
    choice(readout, "readout", READOUTS)
    gone = sorted(k for k in missing if k <= point.Lambda)
    reasons = [f"spike {k} is missing: its function F_{k} vanishes" for k in gone]
    listed = [k for k in range(min(point.total, LISTED)) if k not in gone]
    named = {k: [left_vector(k)] for k in listed}
    total = point.total - len(gone)
    # The strength decides, not the cap: an activation with a kink is not a polynomial.
    for k in sorted(further if batch == "reused" else ()):
        if k >= 1 and point.exponent(k) >= 0:
            name = left_vector(k, folded=True)
            named.setdefault(k, []).append(name)
            total += 1
            reasons.append(f"a kink and a reused batch: the left vector {name} joins at the order of spike {k} (T6)")
    directions = [name for k in sorted(named) for name in named[k]]
    values = READOUTS[readout]
    if values is not None and total > values:
        reasons.append(f"a {readout} readout has {values} distinct non-zero value(s): its powers span no more")
        total = values
    return Count(tuple(directions), total, tuple(reasons))


def boundary_lines(orders: int) -> tuple[sp.Eq, ...]:
    """The lines alpha2 = k (1/2 - alpha1), k = 1..orders, on which Lambda jumps from k - 1 to k.

    The first is alpha1 + alpha2 = 1/2. All pass through (1/2, 0): towards alpha1 = 1/2 the outliers proliferate.
    Source: T5.
    """
    return tuple(sp.Eq(s.alpha2, k * (sp.Rational(1, 2) - s.alpha1)) for k in range(1, orders + 1))


STATEMENTS = (
    Statement(
        id="T1",
        title="Number of outliers after two steps",
        formula=new_outliers,
        assumptions=(
            TWO_STEPS,
            "`0 <= alpha1, alpha2 <` 1/2",
            "activation of degree `L` (no cap if it is not a polynomial), `E sigma'` and `E sigma^(k+1)` not zero",
            "the readout takes more than `Lambda` distinct non-zero values",
        ),
        sources=("T, abstract and theorem on the number of outliers",),
        status="derived",
        figure="T.phases",
    ),
    Statement(
        id="T5",
        title="Phase transitions, and the squared cosine below the line `alpha1 + alpha2 = 1/2` (fresh batches)",
        formula=fresh_statement,
        assumptions=(
            TWO_STEPS,
            "`alpha1 + alpha2 <` 1/2",
            "`m2 = E y^2`, both batches of ratio `alpha = n/d`; `phi` is the angle with `beta`",
        ),
        sources=("T, equivalence with one step", "derived here: the fresh batch"),
        status="derived",
        figure="T.phases",
    ),
)
