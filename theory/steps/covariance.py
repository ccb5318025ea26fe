"""G1-G3: the covariance of the features after one gradient step, Gamma = A I + B w* w*^T, in three readings.

Paper F's network and units: f = m^{-1/2} sum_j a_j sigma(w_j.x), a_j ~ N(0, 1/m), w_j ~ N(0, I/d), n samples, and
w_j <- w_j + (eta/sqrt m) a_j (1/n) sum_i (y_i - f_i) sigma'(w_j.x_i) x_i; E w w^T = Gamma/d after it. With
b = sqrt(m) a_j and f without neuron j's own share, the update is (eta/m) b (U - (b/m) V),

    U = (1/n) sum_i (y_i - f_i) sigma'(w.x_i) x_i,   V = (1/n) sum_i sigma sigma'(w.x_i) x_i,

so that Gamma = I - (d eta/m^2) E[w V^T + V w^T] + (d eta^2/m^2) E[U U^T] (+ terms smaller by 1/m). E U U^T has a part
from pairs of equal samples, (1/n) E[y^2 sigma'^2 x x^T], and one from different ones, (1 - 1/n) E[v v^T],
v(w) = E[y sigma'(w.x) x | w] = P w* + Q w.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from flint import arb

from bulkedge.theory.functions.nonlinearity import Nonlinearity, product
from bulkedge.theory.gaussian.gaussian import enclose, moment
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.statement import SPIKED_WEIGHTS, Erratum, Statement
from bulkedge.theory.numbers.symbols import alpha, beta, d, eta, zeta
from bulkedge.theory.steps.gradient import direction_energy, rest_variance

# Moments sigma_k = E[sigma He_k] and g_k = E[g He_k] (convention `moment`; c1 = sigma_1, mu_k* = g_k).
act = sp.symbols("sigma_0:6", real=True)
link = sp.symbols("g_0:4", real=True)
# E sigma'^2, E (sigma sigma')', E y^2 (noise included), 2s = E[g^2 (z^2 - 1)].
slope2 = sp.Symbol("v_sigma", real=True)
own = sp.Symbol("h_sigma", real=True)
label2 = sp.Symbol("y_2", real=True)
bend = sp.Symbol("b_g", real=True)
link2 = sp.Symbol("g_g", real=True)  # E g^2: E y^2 without the noise
MEANINGS = {
    **{s: f"E[sigma He_{k}]" for k, s in enumerate(act)},
    **{s: f"E[g He_{k}]" for k, s in enumerate(link)},
    slope2: "E sigma'^2",
    own: "E (sigma sigma')'",
    link2: "E g^2",
    bend: "E[g^2 (z^2 - 1)]",
}
# w.w* and |w|^2 - 1 of the initial weight.
overlap, excess = sp.symbols("rho epsilon", real=True)


@dataclass(frozen=True)
class Reading:
    """A reading of Gamma: A and B as SymPy expressions in eta, alpha, beta, d and the moments."""

    name: str
    A: sp.Expr
    B: sp.Expr


def printed() -> Reading:
    """Paper F, eq. (3.3), letter by letter: the link's mu1* where the gradient has the activation's E sigma'."""
    A = 1 + eta**2 / d**2 * link[1] ** 2 / (alpha * beta**2) * label2
    B = eta**2 / d * link[1] ** 4 / (alpha * beta**2) * (alpha - 1 / d + bend / (link[1] ** 2 * d))
    return Reading("printed", A, sp.expand(B))


def rank_one() -> Reading:
    """The exact second moment of w + (c1 eta/(n sqrt m)) a X^T y, c1 = E sigma'(z) = mu1."""
    A = 1 + eta**2 / d**2 * act[1] ** 2 / (alpha * beta**2) * label2
    B = eta**2 / d * act[1] ** 2 / (alpha * beta**2) * (link[1] ** 2 * (alpha - 1 / d) + bend / d)
    return Reading("rank_one", A, sp.expand(B))


def full() -> Reading:
    """The second moment of the true update: A to relative order 1/d of A - 1, B with all its terms of order 1/d.

    Source: G1; derived in derivations/steps/covariance.py, terms of v from `pair_terms`.
    """
    spike, bulk = pair_terms()
    A = 1 - 2 * eta / (beta * d) ** 2 * own + eta**2 / d**2 * (slope2 * label2 / (alpha * beta**2) + bulk / beta**2)
    first = link[1] ** 2 * act[1] ** 2
    B = eta**2 / (beta**2 * d) * (first * (1 - 1 / (alpha * d)) + (spike + slope2 * bend / alpha) / d)
    return Reading("full", A, B)


def readings() -> tuple[Reading, Reading, Reading]:
    """printed, rank_one, full."""
    return printed(), rank_one(), full()


def length_expansion(k: int) -> sp.Expr:
    """E sigma^(k)(|w| z) to second order in epsilon = |w|^2 - 1: d/d(r^2) of it is half of the one of k + 2."""
    return sum(act[k + 2 * i] * (excess / 2) ** i / sp.factorial(i) for i in range(3) if k + 2 * i < len(act))


def along_spike() -> sp.Expr:
    """P = E[g'(z) sigma'(w.x)] to second order: sum_k rho^k/k! mu*_{k+1} E sigma^(k+1)(|w| z) (Mehler)."""
    return sum(overlap**k / sp.factorial(k) * link[k + 1] * length_expansion(k + 1) for k in range(3))


def along_weight() -> sp.Expr:
    """Q = E[g(z) sigma''(w.x)] to first order: sum_k rho^k/k! mu*_k E sigma^(k+2)(|w| z)."""
    return sum(overlap**k / sp.factorial(k) * link[k] * length_expansion(k + 2) for k in range(2))


def _small_moment(power_overlap: int, power_excess: int) -> sp.Expr:
    """E rho^a epsilon^b to order 1/d, w ~ N(0, I/d): rho^2 -> 1/d, epsilon^2 -> 2/d, all else is smaller."""
    return {(0, 0): sp.Integer(1), (2, 0): 1 / d, (0, 2): 2 / d}.get((power_overlap, power_excess), sp.Integer(0))


def mean_over_weights(expression: sp.Expr) -> sp.Expr:
    """E over w of a polynomial in rho and epsilon, to order 1/d."""
    poly = sp.Poly(sp.expand(expression), overlap, excess)
    return sp.expand(sum(c * _small_moment(i, k) for (i, k), c in poly.terms()))


def pair_terms() -> tuple[sp.Expr, sp.Expr]:
    """d times the 1/d part of E[v v^T]: along w* beyond (mu1* mu1)^2, and in every direction.

    Every direction: E Q^2/d -> mu0*^2 mu2^2/d. Along w*: E[P^2 + 2 rho P Q + rho^2 Q^2] less that.
    """
    P, Q = along_spike(), along_weight()
    bulk = link[0] ** 2 * act[2] ** 2
    total = mean_over_weights(P**2 + 2 * overlap * P * Q + overlap**2 * Q**2)
    spike = sp.expand(d * (total - link[1] ** 2 * act[1] ** 2)) - bulk
    return sp.expand(spike), bulk


def printed_pair_terms() -> sp.Expr:
    """G1: the same terms collected: ((mu2*+mu0*) mu2)^2 - mu0*^2 mu2^2 + mu1* mu1 mu3 (mu3* + 2 mu1*) + ..."""
    g, s = link, act
    return (
        ((g[2] + g[0]) * s[2]) ** 2
        - g[0] ** 2 * s[2] ** 2
        + g[1] * s[1] * s[3] * (g[3] + 2 * g[1])
        + g[1] ** 2 * (s[3] ** 2 + s[1] * s[5]) / 2
    )


def statement() -> sp.Eq:
    """G1, reading `full`: the strength of the spike."""
    g, s = link, act
    bracket = g[1] ** 2 * s[1] ** 2 * (1 - 1 / (alpha * d)) + (printed_pair_terms() + bend * slope2 / alpha) / d
    return sp.Eq(sp.Symbol("B"), eta**2 / (beta**2 * d) * bracket)


def bulk_statement() -> sp.Eq:
    """G1, reading `full`: the isotropic part A, beside B."""
    return sp.Eq(sp.Symbol("A"), full().A)


def scaling(quantity: str, correction: bool = False) -> sp.Expr:
    """The exponent of d at eta = eta0 d^zeta: `bulk` (A - 1), `spike` (B), `relative` (B/d).

    `correction`: the leading order of the spike vanishes, with the link's first coefficient; B is smaller by 1/d.
    """
    lower = int(correction)
    exponents = {"bulk": 2 * zeta - 2, "spike": 2 * zeta - 1 - lower, "relative": 2 * zeta - 2 - lower}
    if quantity not in exponents:
        raise InputError("quantity", f"{quantity!r} does not scale here", f"choose one of {', '.join(exponents)}")
    return exponents[quantity]


def conditional_strength() -> sp.Expr:
    """G2: given the batch the spike lies along u = X^T y/n with strength (eta^2/d)(c1^2/beta^2)|u|^2, in the limit."""
    return eta**2 / d * act[1] ** 2 / beta**2 * direction_energy(link[1], label2, alpha)


def conditional_cosine() -> sp.Expr:
    """G2: cos^2(u, w*) -> mu1*^2/(mu1*^2 + E y^2/alpha)."""
    return link[1] ** 2 / direction_energy(link[1], label2, alpha)


def conditional_bulk() -> sp.Expr:
    """G2: the bulk beside that spike, on average over batches: 1 + (eta^2/d^2) Var(sigma') E y^2/(alpha beta^2)."""
    return 1 + eta**2 / d**2 * rest_variance(label2, slope2 - act[1] ** 2, alpha) / beta**2


def conditional_statement() -> sp.Eq:
    """G2: Gamma given the batch, rank-one part."""
    identity, u, transposed = (sp.Symbol(name, commutative=False) for name in ("I", "u", "u^T"))
    spike = eta**2 / d * act[1] ** 2 / beta**2 * u * transposed
    return sp.Eq(sp.Symbol("Gamma_u"), identity + spike, evaluate=False)


def kurtosis(strength: sp.Expr, law: str = "gaussian") -> sp.Expr:
    """G3: kurtosis of sqrt(d) w.u/|u| after the rank-one step, given the batch: 1 + `strength` the variance.

    gaussian a_j: 3. rademacher a_j: (3 + 6 s + s^2)/(1 + s)^2, a two-component mixture with the same covariance.
    """
    laws = {"gaussian": sp.Integer(3), "rademacher": sp.Integer(1)}
    if law not in laws:
        raise InputError("readout", f"{law!r} is not known", f"choose one of {', '.join(laws)}")
    return sp.cancel((3 + 6 * strength + laws[law] * strength**2) / (1 + strength) ** 2)


def kurtosis_statement() -> sp.Eq:
    """G3: kurtosis of the two-component mixture."""
    s = sp.Symbol("s", positive=True)
    return sp.Eq(sp.Symbol("kappa_4"), kurtosis(s, "rademacher"))


Moments = dict[sp.Symbol, Enclosure]


def moments(activation: Nonlinearity, target: Nonlinearity, noise: sp.Rational, digits: int = 20) -> Moments:
    """Enclosures of every moment in the readings.

    Errors: InputError for an activation with a jump (E sigma'^2 is infinite).
    """
    _check_continuous(activation)
    found = {symbol: moment_enclosure(symbol, activation, target, digits) for symbol in MEANINGS}
    square, extra = found.pop(link2), Fraction(int(noise.p), int(noise.q)) ** 2
    return found | {label2: Enclosure(square.value + extra, square.error, square.source)}


def _check_continuous(activation: Nonlinearity) -> None:
    if activation.derivative().deltas:
        raise InputError("activation", "it has a jump, so that E sigma'^2 is infinite", "take a continuous one")


def moment_enclosure(symbol: sp.Symbol, activation: Nonlinearity, target: Nonlinearity, digits: int) -> Enclosure:
    """The enclosure of one moment."""
    f, k = _integrand(symbol, activation, target)
    found = _enclose(f, digits, k)
    if symbol == own:  # E (sigma sigma')' = E z sigma sigma' = E[sigma^2 He_2]/2 by two integrations by parts.
        return Enclosure(found.value / 2, found.error / 2, found.source)
    return found


def _integrand(symbol: sp.Symbol, activation: Nonlinearity, target: Nonlinearity) -> tuple[Nonlinearity, int]:
    """The function and the degree k whose E[f He_k] is the moment: half of it for `own`."""
    if symbol in act:
        return activation, act.index(symbol)
    if symbol in link:
        return target, link.index(symbol)
    if symbol == slope2:
        slope = activation.derivative()
        return product(slope, slope), 0
    f = activation if symbol == own else target
    return product(f, f), 0 if symbol == link2 else 2


def belongs(symbol: sp.Symbol, of_activation: bool) -> bool:
    """Whether a moment is one of the activation's (else of the link's)."""
    return (symbol in act or symbol in (slope2, own)) == of_activation


def exact_moments(activation: Nonlinearity, target: Nonlinearity, noise: sp.Expr) -> dict[sp.Symbol, sp.Expr | None]:
    """Every moment in the readings as an exact expression, or None where no closed form is known.

    E y^2 is E g^2 + noise^2; E g^2 stays as its symbol `link2` where it has no closed form.

    Errors: InputError for an activation with a jump (E sigma'^2 is infinite).
    """
    _check_continuous(activation)
    found = {symbol: moment(*_integrand(symbol, activation, target)) for symbol in MEANINGS}
    halved, square = found[own], found[link2]
    return found | {
        own: None if halved is None else halved / 2,
        label2: (link2 if square is None else square) + noise**2,
    }


def inserted(
    expression: sp.Expr, values: Mapping[sp.Symbol, sp.Expr | None], parameters: Mapping[sp.Symbol, sp.Expr]
) -> sp.Expr:
    """A reading with exact moments and parameters; a moment without a closed form stays as its symbol.

    Collected over a common denominator where the moments are rational numbers and roots.
    """
    known = {symbol: value for symbol, value in values.items() if value is not None}
    whole = sp.expand(sp.expand(expression).xreplace({**known, **parameters}))
    return sp.factor_terms(whole) if whole.has(sp.exp, sp.erf, sp.sin, sp.cos, sp.Piecewise) else sp.factor(whole)


def _enclose(f: Nonlinearity, digits: int, k: int) -> Enclosure:
    try:
        return enclose(f, digits, k)
    except PrecisionError as error:
        # A moment that vanishes, but not provably: a ball about zero is all that is needed.
        if error.best is None or error.best.bound > 10.0 ** (2 - digits):
            raise
        return error.best


def evaluate(
    expression: sp.Expr, values: Moments, parameters: dict[sp.Symbol, sp.Rational], digits: int = 20
) -> Enclosure:
    """A polynomial in the moments with everything else a rational, in ball arithmetic."""
    symbols = sorted(values, key=str)
    poly = sp.Poly(sp.expand(sp.expand(expression).subs(parameters)), *symbols)
    with ball.precision(ball.bits(digits + 10)):
        balls = [arb(ball.rational(values[s].value), ball.rational(values[s].error)) for s in symbols]
        total = arb(0)
        for powers, coefficient in poly.terms():
            term = ball.rational(coefficient)
            for x, power in zip(balls, powers, strict=True):
                term *= x**power
            total += term
        return ball.to_enclosure(total)


def ratio(numerator: Enclosure, denominator: Enclosure) -> Enclosure:
    """numerator/denominator in ball arithmetic; 0 where both vanish exactly (a link without labels has no direction).

    Errors: PrecisionError if the denominator cannot be told from zero and the numerator is not zero.
    """
    if numerator.error == 0 and numerator.value == 0:
        return Enclosure(Fraction(0), Fraction(0), "exact")
    with ball.precision(ball.bits(1010)):
        top, bottom = (arb(ball.rational(x.value), ball.rational(x.error)) for x in (numerator, denominator))
        return ball.to_enclosure(top / bottom)


STATEMENTS = (
    Statement(
        id="G1",
        title="Covariance of the features after one step: the spike `B` and the isotropic part `A` (reading full)",
        formula=statement,
        assumptions=(
            *SPIKED_WEIGHTS,
            "`sigma_k = E sigma He_k, g_k = E g He_k, v_sigma = E sigma'^2, b_g = E g^2 (z^2 - 1)`",
            "`sigma` continuous; `E a_j = 0`",
            "`B` to relative order `1/d, A - 1` to leading order; `h_sigma = E (sigma sigma')', y_2 = E y^2`",
        ),
        sources=("F, eq. (3.3)",),
        status="derived",
        figure="F.rates",
        beside=(bulk_statement,),
        errata=(
            Erratum(
                "A and `B` contain the link's `mu1* = E g'` as the coefficient of the rank-one gradient (`mu1*^2` in "
                "`A, mu1*^4` in `B`)",
                "the coefficient is the activation's `c1 = E sigma'`; for ReLU and tanh the printed `B` is 47 % too "
                "large",
                "`mu1*^2 -> c1^2` in `A, mu1*^4 -> c1^2 mu1*^2` in `B`",
                ("G1.spike", "G1.ladder"),
            ),
            Erratum(
                "`A - 1 = (eta^2/d^2) lambda_{alpha beta} E y^2`, from the rank-one part alone; the rest has "
                "operator norm `O(d^-1/2)`",
                "the rest has a small norm at `zeta = 1/2` only (`O(d^(zeta - 1))` in general), and its energy is of "
                "the order kept: `E sigma'^2` takes the place of `c1^2`, twice as much for ReLU",
                "`A - 1 = (eta^2/(alpha beta^2 d^2)) E sigma'^2 E y^2 - 2 (eta/m^2)` E`(sigma sigma')' + "
                "(eta^2/(beta d)^2)(E g)^2 (E sigma'')^2`",
                ("G1.bulk", "G1.own_share", "G1.mean"),
            ),
        ),
    ),
    Statement(
        id="G2",
        title="Covariance of the features given the batch: the spike lies along `u = X^T y/n`",
        formula=conditional_statement,
        assumptions=(
            *SPIKED_WEIGHTS,
            ("limit `d ->` infinity of strength and angle"),
            "the rest on average over batches",
        ),
        sources=("F, Section 3",),
        status="derived",
        errata=(
            Erratum(
                "the trained network's kernel is `k1*` = the average over data sets, with the spike along `w*`",
                "all neurons share one batch, so that the network's own kernel is the one given the batch: its spike "
                "lies along `u`, at `cos^2` = .65 from `w*` for ReLU, tanh and `alpha = 2`; averaging turns the "
                "noise of `u` into part of the isotropic `A`",
                "`Gamma_u = I + (eta^2/d)(c1^2/beta^2) u u^T, |u|^2 -> mu1*^2 + E y^2/alpha, cos^2(u, w*) -> "
                "mu1*^2/|u|^2`, beside a bulk with Var(`sigma'`)",
                ("G2.cosine", "G2.strength", "G2.remainder"),
            ),
        ),
    ),
    Statement(
        id="G3",
        title="Given the batch the features are Gaussian only if the readout is",
        formula=kurtosis_statement,
        assumptions=(
            "rank-one update",
            "`a_j = +-1/sqrt m`: two components, with `s` the spike's strength given the batch",
        ),
        sources=("F, Section 3",),
        status="derived",
    ),
)
