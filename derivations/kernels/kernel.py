"""K1: the series of a dual activation, the arc-cosine kernels of every order, and how fast their series decay."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute, Tends
from bulkedge.theory.kernels.arc_cosine import (
    J,
    angular,
    angular_integral,
    arc_cosine,
    n,
    phi,
    recurrence,
    square_coefficient,
    square_coefficient_asymptotics,
    theta,
)
from bulkedge.theory.kernels.kernel import series_statement
from bulkedge.theory.numbers.symbols import k, l, m, rho, z1, z2

_r, _a = sp.symbols("r a", positive=True)
_c = sp.IndexedBase("c")  # the orthonormal coefficients of ReLU; their squares are the kernel's, by Mehler
_X = sp.cos(theta) + sp.cos(phi)
_NOTATION = (
    "`theta` is the angle of two inputs, `cos theta = rho`; the kernel is `E[(z1)_+^n (z2)_+^n] = J_n/(2 pi)`, half "
    "of Cho and Saul's."
)


def _integrated(e: sp.Expr) -> sp.Expr:
    """The integral over phi from 0 to pi - theta of a combination of powers of X, in J."""
    return e.subs({_X ** (n + i): J[n + i] / sp.factorial(n + i) for i in range(3)})


def _order() -> Iterator[Step]:
    radial = sp.Integral(_r ** (2 * n + 1) * sp.exp(-(_r**2) / 2), (_r, 0, sp.oo))
    yield Step(
        radial,
        reason=(
            "polar coordinates (`r`, a) in the plane of the two inputs: the kernel is 1/(`2 pi`) times this radial "
            "integral times the integral of `cos^n`(a) `cos^n`(a - `theta`) over the sector where both are positive"
        ),
    )
    yield Step(2**n * sp.factorial(n), "=", "an integral of Euler")
    yield Step(sp.cos(_a) * sp.cos(_a - theta), Given(), "the angular factor")
    double = (sp.cos(theta) + sp.cos(2 * _a - theta)) / 2
    yield Step(
        double, "=", ("product to sum; with `phi = 2`a - `theta` the sector is `|phi| < pi - theta, d` a = `d phi/2`")
    )
    yield Step(_X / 2, Substitute({_a: (phi + theta) / 2}), "so `J_n = n`! times the integral of (2 times this)`^n`")
    boundary = sp.sin(phi) * _X ** (n + 1)
    yield Step(boundary, Given(), "to lower the order, differentiate this in `phi`")
    lowered = (n + 2) * _X ** (n + 2) - (2 * n + 3) * sp.cos(theta) * _X ** (n + 1)
    lowered -= (n + 1) * sp.sin(theta) ** 2 * _X**n
    yield Step(lowered, Apply(lambda e: e.diff(phi)), "by `sin^2 phi = 1 - (X - cos theta)^2, X = cos theta + cos phi`")
    yield Step(boundary, Given(), "the same at the ends")
    ends = Apply(lambda e: e.subs(phi, sp.pi - theta) - e.subs(phi, 0))
    yield Step(
        sp.Integer(0), ends, "vanishes at `phi = 0` and at `phi = pi - theta`, so the integral of its derivative does"
    )
    yield Step(lowered, Given(), "the derivative, to be integrated from 0 to `pi - theta`")
    yield Step(_integrated(lowered), Apply(_integrated), "`n`! times the integral of `X^n` is `J_n`: this vanishes")
    yield Step(recurrence().rhs, Root(J[n + 2]), "solved for `J_{n+2}`")
    for order in (0, 1):
        yield Step(angular_integral(sp.Integer(order)), Given(define=J[order]), f"it starts at order {order}")
        yield Step(J[order], Given(), "which is")
        yield Step(angular(order), "=", "an elementary integral")


def _order_claim() -> tuple[sp.Basic, ...]:
    return recurrence(), *(sp.Eq(J[order], angular(order)) for order in (0, 1))


def _series_claim() -> tuple[sp.Basic, ...]:
    term = square_coefficient(1)
    low = (sp.Eq(_c[value] ** 2, sp.simplify(term.subs(k, value))) for value in (0, 1))
    return *low, sp.Eq(_c[2 * m + 2] ** 2, _even_term())


def _even_term() -> sp.Expr:
    """c_k^2 at k = 2m + 2, the middle branch of the general term."""
    branch = next(value for value, condition in square_coefficient(1).args if condition.has(sp.Mod))
    return branch.subs(k, 2 * m + 2)


def _series() -> Iterator[Step]:
    kernel = arc_cosine(1)
    yield Step(kernel, reason="the kernel of ReLU")
    yield Step(1 / (2 * sp.pi), Substitute({rho: 0}, name=_c[0] ** 2), "the coefficient `k = 0`")
    yield Step(kernel, Given(), "the kernel again")
    slope = (sp.pi - sp.acos(rho)) / (2 * sp.pi)
    yield Step(slope, Apply(lambda e: e.diff(rho)), "its derivative, the kernel of the step")
    yield Step(sp.Rational(1, 4), Substitute({rho: 0}, name=_c[1] ** 2), "the coefficient `k = 1`")
    yield Step(slope, Given(), "the derivative again")
    second = 1 / (2 * sp.pi * sp.sqrt(1 - rho**2))
    yield Step(second, Apply(lambda e: e.diff(rho)), "the kernel of the `delta, E[delta(z1) delta(z2)]`")
    central = sp.binomial(2 * m, m) / 4**m / (2 * sp.pi)
    yield Step(
        sp.Sum(central * rho ** (2 * m), (m, 0, sp.oo)), "=", "the binomial series: radius one, even powers only"
    )
    yield Step(central, Apply(lambda e: e.function / rho ** (2 * m)), "its coefficient of `rho^(2m)`")
    twice = central / ((2 * m + 1) * (2 * m + 2))
    yield Step(
        twice,
        Apply(lambda e: e / ((2 * m + 1) * (2 * m + 2)), name=_c[2 * m + 2] ** 2),
        "integrated twice: the coefficient at `k = 2m + 2`",
    )
    odd = sp.factorial2(2 * m - 1) ** 2 / (2 * sp.pi * sp.factorial(2 * m + 2))
    yield Step(odd, "=", "`(2m)!/(4^m m!^2) = ((2m - 1)!!)^2/(2m)!`")
    yield Step(_even_term(), "=", "the double factorial by the gamma function")


_sigma, _E = sp.Function("sigma"), sp.Function("E")
_SCALED = _c[2 * m + 2] ** 2 * (2 * m + 2) ** sp.Rational(5, 2)


def _asymptotics() -> sp.Eq:
    constant = sp.simplify(square_coefficient_asymptotics(1) * k ** sp.Rational(5, 2))
    return sp.Eq(sp.Limit(_SCALED, m, sp.oo), constant, evaluate=False)


def _size() -> Iterator[Step]:
    binomial = sp.gamma(m + sp.Rational(1, 2)) / (sp.sqrt(sp.pi) * sp.gamma(m + 1))
    square = binomial / (2 * sp.pi * (2 * m + 1) * (2 * m + 2))
    yield Step(
        square * (2 * m + 2) ** sp.Rational(5, 2),
        Given(name=_SCALED),
        ("`c_k^2` of ReLU at `k = 2m + 2`, times `k^(5/2)`"),
    )
    yield Step(_asymptotics().rhs, Tends(m, name=sp.Limit(_SCALED, m, sp.oo)), "by Stirling")


def _dual() -> Iterator[Step]:
    pair = _E(_sigma(z1) * _sigma(z2))
    double = sp.Sum(_c[k] * _c[l] * rho**k * sp.KroneckerDelta(k, l), (l, 0, sp.oo), (k, 0, sp.oo))
    yield Step(double, Given(define=pair, kind="expansion"), "both in the basis `h_k`, whose moments Mehler gives (H4)")
    yield Step(pair, Given(), "hence the dual activation")
    yield Step(series_statement().rhs, "=", "only `k = l` is left")


DERIVATIONS = (
    Derivation("K1.size", "How the coefficients of ReLU decay", _asymptotics, _size, "K1; Cho and Saul 2009"),
    Derivation("K1.dual", "The series of a dual activation", series_statement, _dual, "K1; H4"),
    Derivation(
        "K1.order_n",
        "The arc-cosine kernel of order `n`",
        _order_claim,
        _order,
        "K1; Cho and Saul 2009",
        (theta < sp.pi,),
        _NOTATION,
    ),
    Derivation(
        "K1.series",
        "The series of the ReLU kernel",
        _series_claim,
        _series,
        "K1",
        (rho > -1, rho < 1),
        "`c_k` is the orthonormal coefficient of ReLU; by Mehler its square is the kernel's coefficient of `rho^k`.",
    ),
)
