"""T2 and T6: the spikes of the second gradient from the entrywise expansion, and what a kink adds.

For T2 a cubic activation with free coefficients is expanded literally, as a polynomial in t = eta1 a_j, and averaged
over xi and G; no Taylor formula enters. For T6 the two sides of a jump are treated one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.second_step import Label, PolynomialActivation, as_expression, full_reading, spike_function

t, P = sp.symbols("t P", real=True)
c1, c2, c3 = sp.symbols("c1 c2 c3", real=True)
SIGMA = c1 * s.z + c2 * (s.z**2 - 1) + c3 * (s.z**3 - 3 * s.z)
SLOPE = sp.expand(sp.diff(SIGMA, s.z))


def mean_over(variable: sp.Symbol, variance: sp.Expr = sp.S.One) -> Callable[[sp.Expr], sp.Expr]:
    """E over a centred Gaussian variable of a polynomial in it: even powers 2m become (2m - 1)!! variance^m."""

    def mean(expression: sp.Expr) -> sp.Expr:
        terms = sp.Poly(sp.expand(expression), variable).terms()
        moments = ((c, n // 2) for (n,), c in terms if n % 2 == 0)
        return sp.expand(sp.Add(*(c * sp.factorial2(2 * m - 1) * variance**m for c, m in moments)))

    return mean


def _cubic_spike(k: int) -> sp.Expr:
    """F_k of the reading `full`, reused batch, for the cubic activation; e and v are E y E sigma'', E y^2 Var/alpha."""
    label = Label.symbolic()
    return sp.expand(as_expression(spike_function(k, "reused", "full", PolynomialActivation(SIGMA), label)))


_mean = mean_over(s.z)


def _reading() -> Iterator[Step]:
    """The reading `full` at any k, by Taylor's series."""
    E, sigma = sp.Function("E"), sp.Function("sigma")
    slope = sp.Derivative(sigma(s.G), (s.G, s.k + 1))
    series = sp.Sum(slope * (t * P) ** s.k / sp.factorial(s.k), (s.k, 0, sp.oo))
    moved = sigma(s.z).diff(s.z).subs(s.z, s.G + t * P)
    yield Step(
        series,
        Given(define=moved, kind="expansion"),
        "Taylor's series: the first step moves the pre-activation of neuron `j` from `G` to `G + t P, t = eta1 a_j`",
    )
    yield Step(moved, Given(), "the second gradient of neuron `j` has the factor")
    yield Step(slope * P**s.k / sp.factorial(s.k), Apply(_coefficient), "the coefficient of `t^k` in the series")
    parts = s.mu1 * s.q + s.e * s.G + s.iota * s.y / s.alpha * sigma(s.G).diff(s.G) + s.xi
    yield Step(
        slope * parts**s.k / sp.factorial(s.k),
        Substitute({P: parts}),
        "`P`: the gradient's mean direction, the mean of the link, the sample's own term (reused batch) and the rest "
        "`xi`",
    )
    yield Step(
        full_reading().rhs,
        Apply(lambda e: s.y / sp.factorial(s.k) * E(sp.factorial(s.k) * e), name=full_reading().lhs),
        "mean over `G` and `xi`, times the label of the sample",
    )


def _coefficient(series: sp.Sum) -> sp.Expr:
    return sp.powsimp(sp.expand_power_base(series.function / t**s.k, force=True))


def _cubic(k: int) -> Iterator[Step]:
    slope_at = SLOPE.subs(s.z, s.G)
    variance = sp.expand(_mean(SLOPE**2) - _mean(SLOPE) ** 2)
    e = s.mu0_star * _mean(sp.diff(SLOPE, s.z))
    parts = _mean(SLOPE) * s.q + e * s.G + s.y / s.alpha * slope_at + s.xi
    yield Step(SLOPE, reason="`sigma = c1 He_1 + c2 He_2 + c3 He_3` has the derivative")
    yield Step(
        sp.expand(SLOPE.subs(s.z, s.G + t * P)),
        Substitute({s.z: s.G + t * P}),
        "the first step moves the pre-activation of neuron `j` from `G` to `G + t P, t = eta1 a_j`",
    )
    pushed = sp.expand(SLOPE.subs(s.z, s.G + t * P)).coeff(t, k)
    yield Step(pushed, Apply(lambda x: sp.expand(x).coeff(t, k)), f"the coefficient of `t^{k}`")
    yield Step(
        pushed.subs(P, parts),
        Substitute({P: parts}),
        "`P`: the gradient's mean direction, the mean of the link, the sample's own term and the rest `xi`",
    )
    averaged = mean_over(s.xi, s.m2 * variance / s.alpha)(pushed.subs(P, parts))
    yield Step(
        averaged,
        Apply(mean_over(s.xi, s.m2 * variance / s.alpha)),
        "mean over `xi`, of variance `E y^2 Var(sigma')/alpha`: a sum over the other samples",
    )
    yield Step(sp.expand(mean_over(s.G)(averaged)), Apply(mean_over(s.G)), "Hermite mean over `G`")
    yield Step(
        _cubic_spike(k), Apply(lambda x: sp.expand(s.y * x), name=_spike_name(k)), "times the label of the sample"
    )


def _spike_name(k: int) -> sp.Expr:
    return sp.Function(f"F_{k}")(s.y, s.q)


_NOTATION = "`t = eta1 a_j, G ~ N(0, 1), q = x.u` without the sample's own term"


DERIVATIONS = (
    Derivation("T2.full", "The spikes of the second gradient", full_reading, _reading, "T2", (), _NOTATION),
    Derivation(
        "T2.cubic.1",
        "Spike 1 of the second gradient",
        lambda: sp.Eq(_spike_name(1), _cubic_spike(1)),
        lambda: _cubic(1),
        "T2",
        (),
        _NOTATION,
    ),
    Derivation(
        "T2.cubic.2",
        "Spike 2 of the second gradient",
        lambda: sp.Eq(_spike_name(2), _cubic_spike(2)),
        lambda: _cubic(2),
        "T2",
        (),
        _NOTATION,
    ),
)
