"""Spikes of the feature matrix after a step eta ~ n^a, and the loss they take away (M1, M2).

F = sigma(X W1), un-normalised. Neuron j sees h + eta a_j (mu1 t + e h + xi), h ~ N(0, 1), t = x.u, xi ~ N(0, v) what is
left of the step at this sample and neuron, e = E y E sigma''. Averaged over h and xi, the coefficient of (eta a_j)^k is
a polynomial of degree k in t: the k-th left direction. The reading `rank_one` (the papers') drops xi and e.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, product
from bulkedge.theory.gaussian.gaussian import moment
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import PROPORTIONAL, Erratum, Statement
from bulkedge.theory.numbers.symbols import e, eta, lam, mu1, psi1, psi2, v
from bulkedge.theory.steps.gradient import direction_energy, rest_variance

t = sp.Symbol("t", real=True)
b = sp.Symbol("b", positive=True)  # |u|, the standard deviation of t
M1, M2 = sp.symbols("M1 M2", positive=True)
coefficient = sp.IndexedBase("c", real=True)  # of the activation, `probabilist`: sigma = sum c_k He_k
link_coefficient = sp.IndexedBase("c_star", real=True)  # of the link, likewise

READINGS = ("rank_one", "full")
_MAX_PRESENT = 10**6


@dataclass(frozen=True)
class Spikes:
    """How many spikes F has beside F0's own, generically, and whether the exponent lies on a boundary.

    `order` l: (l - 1)/(2 l) < a < l/(2 l + 2). On a boundary a = l/(2 l + 2) the spike l + 1 is of order one and not
    counted. `vanishing` holds the k with c_k = 0.
    """

    order: int
    boundary: bool
    vanishing: tuple[int, ...] = ()

    @property
    def present(self) -> tuple[int, ...]:
        """The k <= l with c_k != 0, listed when they are asked for: an exponent near 1/2 has millions.

        Errors: InputError where they are too many for a list.
        """
        if self.order > _MAX_PRESENT:
            raise InputError("exponent", f"{self.order} spikes are no list", "lower it, or ask for the order")
        return () if 1 in self.vanishing else tuple(i for i in range(1, self.order + 1) if i not in self.vanishing)


def number_of_spikes(exponent: Fraction, vanishing: tuple[int, ...] = ()) -> Spikes:
    """The number of spikes for eta ~ n^exponent, in exact arithmetic: l < 1/(1 - 2 a) <= l + 1.

    `vanishing`: the k whose c_k(sigma) is zero (an odd activation loses every even k; mu1 = 0 loses all).
    Errors: InputError for an exponent outside [0, 1/2).
    Source: M1; M, Theorem 3.3.
    """
    if not 0 <= exponent < Fraction(1, 2):
        raise InputError("exponent", f"{exponent} is outside [0, 1/2)", "give a fraction such as 3/10")
    bound = 1 / (1 - 2 * exponent)
    order = -((-bound.numerator) // bound.denominator) - 1
    return Spikes(order, bound.denominator == 1, vanishing)


def spike_exponent(index: int, exponent: Fraction) -> Fraction:
    """The exponent of n in the k-th spike's norm, eta^k |a^k| sqrt(n): k a + 1 - k/2; the bulk's is 1/2."""
    return index * exponent + 1 - Fraction(index, 2)


def left_direction(index: int, reading: str) -> sp.Expr:
    """The k-th left direction p_k(t), coefficient of (eta a_j)^k: E[sigma^(k)(h) (mu1 t + e h + xi)^k]/k!.

    `rank_one`: c_k (mu1 t)^k. `full`, centred link (e = 0): c_k E_xi (mu1 t + xi)^k. With e the moments
    E[sigma^(k)(h) He_i(h)] = (k + i)! c_{k+i} enter.
    Source: M1; M, Theorem 3.3 (rank_one); `full` derived here.
    """
    _check_reading(reading)
    if reading == "rank_one":
        return coefficient[index] * (mu1 * t) ** index
    h = sp.Symbol("h", real=True)
    xi = sp.Symbol("xi", real=True)
    poly = sp.Poly(sp.expand((mu1 * t + e * h + xi) ** index), h, xi)
    total = sp.Integer(0)
    for (i, j), value in poly.terms():
        if j % 2 == 0:
            total += value * _moment(index, i) * sp.factorial2(j - 1) * v ** (j // 2)
    return sp.expand(total / sp.factorial(index))


@dataclass(frozen=True)
class Exact:
    """The exact numbers of `left_direction` for a pair: |u|^2, v, e, mu1, c_k; None without a closed form."""

    norm2: sp.Expr | None
    variance: sp.Expr | None
    mean_shift: sp.Expr | None
    mu1: sp.Expr | None
    coefficients: tuple[sp.Expr | None, ...]

    def direction(self, index: int, reading: str) -> tuple[sp.Expr, ...] | None:
        """The coefficients of p_k(t) from the constant up, or None where one of its numbers is not exact."""
        values = {v: self.variance, e: self.mean_shift, mu1: self.mu1}
        values |= {coefficient[i]: c for i, c in enumerate(self.coefficients)}
        expr = left_direction(index, reading)
        if self.mean_shift == 0:  # then the coefficients beyond c_k drop out
            expr = sp.expand(expr.xreplace({e: sp.Integer(0)}))
        held = {s: x for s, x in values.items() if expr.has(s)}
        if any(x is None for x in held.values()):
            return None
        found = sp.Poly(sp.expand(expr.subs(held)), t)
        return tuple(sp.factor_terms(found.coeff_monomial(t**i)) for i in range(index + 1))


def exact(activation: Nonlinearity, link: Nonlinearity, ratio: sp.Expr, noise: sp.Expr, orders: int) -> Exact:
    """The exact numbers of the first `orders` directions of a pair, batch ratio n1/d.  Source: M1, O1, O2."""
    mean, first = (moment(link, k) for k in (0, 1))
    square, slope = moment(product(link, link), 0), activation.derivative()
    energy = None if slope.deltas else moment(product(slope, slope), 0)
    c = [moment(activation, k) for k in range(2 * max(orders, 1) + 1)]
    second = None if square is None else square + noise**2
    norm2 = variance = shift = None
    if second is not None:
        norm2 = None if first is None else direction_energy(first, second, ratio)
        if energy is not None and c[1] is not None:
            variance = rest_variance(second, energy - c[1] ** 2, ratio)
    if mean == 0:
        shift = sp.Integer(0)
    elif mean is not None and c[2] is not None:
        shift = mean * c[2]
    coefficients = tuple(None if x is None else x / sp.factorial(k) for k, x in enumerate(c))
    return Exact(norm2, variance, shift, c[1], coefficients)


def _moment(index: int, power: int) -> sp.Expr:
    """E[sigma^(k)(h) h^i] through h^i = sum_m i!/(m! (i - 2m)! 2^m) He_{i - 2m}."""
    return sp.Add(
        *(
            sp.factorial(power)
            / (sp.factorial(m) * sp.factorial(power - 2 * m) * 2**m)
            * sp.factorial(index + power - 2 * m)
            * coefficient[index + power - 2 * m]
            for m in range(power // 2 + 1)
        )
    )


def direction_statement() -> sp.Eq:
    """M1 for k = 2, centred link: the second left direction of the reading `full`."""
    return sp.Eq(sp.Function("p_2")(t), sp.factor(left_direction(2, "full").subs(e, 0)))


def _plain(index: int, reading: str) -> sp.Expr:
    """p_k without its activation coefficient: (mu1 t)^k or E_xi (mu1 t + xi)^k (centred link)."""
    if reading == "rank_one":
        return (mu1 * t) ** index
    return sp.Add(
        *(
            sp.binomial(index, 2 * m) * (mu1 * t) ** (index - 2 * m) * sp.factorial2(2 * m - 1) * v**m
            for m in range(index // 2 + 1)
        )
    )


def _hermite_components(polynomial: sp.Expr) -> dict[int, sp.Expr]:
    """f_i of a polynomial in t = b s, s ~ N(0, 1): polynomial = sum_i f_i He_i(s)."""
    poly = sp.Poly(sp.expand(polynomial), t)
    found: dict[int, sp.Expr] = {}
    for (p,), value in poly.terms():
        for m in range(p // 2 + 1):
            i = p - 2 * m
            weight = sp.factorial(p) / (sp.factorial(m) * sp.factorial(i) * 2**m)
            found[i] = found.get(i, 0) + value * b**p * weight
    return {i: sp.simplify(f) for i, f in found.items()}


def loss_drop(order: int, reading: str = "full", constants_in_span: bool = False) -> sp.Expr:
    """Delta_l = lam g^T G^-1 g: the limiting drop of the training loss by the first l spikes.

    G and g are the quadratic forms of R0 = (F0 F0^T + lam n)^-1 on the left directions p_1..p_l and the label: weight
    M2 on He_1, i! M1 on He_i otherwise; the label's components along s are c*_i rho^i, rho = c*_1/b.
    Valid for: centred link; spikes of infinite strength; odd-activation-like F0 (unit-norm rows, mu0 = 0) unless
    `constants_in_span` (mu0 != 0 or an intercept), which takes the constants out first.
    Convention: un-normalised features, L = min (1/n)|y - F a|^2 + lam |a|^2; lam is paper O's ridge.
    Source: M2; M, Theorems 4.4 and 4.5 (`rank_one`, l = 1, 2).
    """
    _check_reading(reading)
    rho = link_coefficient[1] / b
    rows = [_hermite_components(_plain(i, reading)) for i in range(1, order + 1)]
    if constants_in_span:
        rows = [{i: f for i, f in row.items() if i > 0} for row in rows]

    def weight(i: int) -> sp.Expr:
        return M2 if i == 1 else sp.factorial(i) * M1

    def form(i: int, j: int) -> sp.Expr:
        return sp.Add(*(rows[i].get(a, 0) * rows[j].get(a, 0) * weight(a) for a in range(order + 1)))

    G = sp.Matrix(order, order, form)
    label = {i: link_coefficient[i] * rho**i for i in range(1, order + 1)}
    g = sp.Matrix(order, 1, lambda i, _: sum(f * label[a] * weight(a) for a, f in rows[i].items() if a > 0))
    return sp.factor(sp.simplify(lam * (g.T * G.LUsolve(g))[0]))


def drop_statement() -> sp.Eq:
    """Delta_2 - Delta_1 of the reading `full`: lam c*_1^4 c*_2^2 M1/b^4 times 4/(2 + r^2), r = 1 + v/(mu1^2 b^2)."""
    r = 1 + v / (mu1**2 * b**2)
    factor = lam * link_coefficient[1] ** 4 * link_coefficient[2] ** 2 * M1 / b**4
    return sp.Eq(sp.Symbol("Delta_2") - sp.Symbol("Delta_1"), factor * 4 / (2 + r**2))


def unused_share() -> sp.Expr:
    """tau = 1 - df/N = (lam n/N) tr (F0^T F0 + lam n)^-1: what a direction of the readout keeps of its penalty."""
    return 1 - psi1 / psi2 * (1 - lam * M1)


def first_drop() -> sp.Expr:
    """The drop by the first spike at a finite step: Delta_1/(1 + eta_0^2/eta^2), eta_0^2 = 1/(tau mu1^4 b^2 M2).

    A spike p v^T of finite strength can be used by phi = v.theta only: theta must have the part q = v phi/|v|^2, which
    costs lam n |q|^2, and F0 q, a random vector beside what the other directions fit. With h = q^T F0^T R0 F0 q/|q|^2
    = 1 - tau, and R0 without that direction giving h/(1 - h), both together are lam n phi^2/(tau |v|^2). So G becomes
    G + (V^T V)^-1/tau, V the right vectors eta^k c_k a^(.k): (V^T V)_kl = eta^(k+l) c_k c_l N E a^(k+l), eta^2 mu1^2
    for the first.
    Valid for: loss_drop's setting; the strength is finite at eta = Theta(1), and the limit needs eta far above eta_0.
    Source: M2; derived here.
    """
    limit = lam * link_coefficient[1] ** 4 * M2 / b**2
    return limit / (1 + 1 / (unused_share() * mu1**4 * b**2 * M2 * eta**2))


def step_statement() -> sp.Eq:
    """M2 at a finite step: the drop of the training loss by the first spike."""
    return sp.Eq(sp.Function("Delta_1")(eta), first_drop())


def resolvent_traces(kappa: sp.Expr, missed: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """M1 = tr R0 = 1/kappa and M2 = (1/d) tr X^T R0 X = A/kappa, with theory.risk.ridge's kappa and A at eta = 0.

    lam kappa^-1 (E y^2 - b^T (Omega + kappa)^-1 b) is the deterministic equivalent of lam y^T R0 y; y = X beta.
    """
    return 1 / kappa, missed / kappa


def paper_equations(c1: sp.Expr, c_rest2: sp.Expr, phi: sp.Expr, psi: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The two equations of M1 and M2 in paper M's ratios phi = d/n, psi = d/N; both vanish.

    Source: M (derived from its lemma on m_1, m_2).
    """
    shift = phi / psi - 1 + lam * M1
    return (
        lam * M1 + shift * (c_rest2 * M1 + c1**2 * M2) - 1,
        phi * (M1 - M2) - c1**2 * M1 * M2 * shift,
    )


def _check_reading(reading: str) -> None:
    if reading not in READINGS:
        raise InputError("reading", f"{reading!r} is not known", f"choose one of {', '.join(READINGS)}")


STATEMENTS = (
    Statement(
        id="M1",
        title="Spikes of the feature matrix for `eta ~ n^a`, in the readings rank_one and full",
        formula=direction_statement,
        assumptions=(
            PROPORTIONAL,
            "`(l - 1)/(2 l) <` a `< l/(2 l + 2)`: `l` spikes, `mu1 !=` 0 and `c_k(sigma) !=` 0 for `k <= l`",
            "`t = x.u, v = E y^2 Var(sigma')/alpha`; `c_k` probabilist; polynomial or smooth activation",
            "output factor `N^(-1/2)` (without it the gradient's direction is not `u`)",
        ),
        sources=("M, Theorem 3.3", "derived here: the reading full"),
        status="derived",
        figure="M.spikes",
        errata=(
            Erratum(
                printed="the `k`-th left direction is `(X u)^k` (reading rank_one)",
                found=(
                    "what is left of the step adds `xi ~ N(0, v)` to every pre-activation, of the order of `X u` itself"
                ),
                corrected="`E_xi (mu1 X u + xi)^k` (reading full)",
                evidence=("M1.full.constant", "M1.full.square"),
            ),
        ),
    ),
    Statement(
        id="M2",
        title="The drop of the training loss by the second spike, in the reading full",
        formula=drop_statement,
        assumptions=(
            PROPORTIONAL,
            "rows of `W0` of unit norm, `E sigma(z)` = 0, centred link; spikes of unbounded strength: `eta` far "
            "above `eta_0`, as `Delta_1` is 1/(1 + `eta_0^2/eta^2`) of its limit at a step `eta`",
            "`Delta_1 = lam c*_1^4 M_2/b^2`; constants in the span (an intercept): 4/(2 + `r^2`) becomes 2",
            "Gaussian equivalence of `F0` (conjectured by the paper)",
        ),
        sources=("M, Theorems 4.4 and 4.5 (factor 4/3)", "derived here: the reading full, any `l`"),
        status="conjectured",
        errata=(
            Erratum(
                printed="`Delta_2 = Delta_1 + (4/3) lam c*_1^4 c*_2^2 M_1/b^4`",
                found="the second left direction is `mu1^2 t^2 + v`, whose projection has another norm",
                corrected="the factor is 4/`(2 + r^2), r = 1 + v`/(`mu1^2 b^2`)",
                evidence=("M2.projection",),
            ),
        ),
    ),
)
