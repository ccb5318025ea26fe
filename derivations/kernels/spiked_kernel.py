"""G4, G5: the spiked ReLU kernel, its first orders in B, the radius, and the series that diverges."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute, Tends
from bulkedge.theory.kernels.spiked_kernel import (
    angle,
    covariances,
    derivative,
    determinant,
    expansion_statement,
    first_order,
    gamma1,
    gamma2,
    radius,
    relu_kernel,
    s,
    s_prime,
    second_order,
    spiked_kernel,
    statement,
)
from bulkedge.theory.numbers.symbols import A, B, d, k, q11, q12, q22, rho

_DOMAIN = (angle < sp.pi,)
# The covariances at B = 0, in the cosine rho of the angle, and back to the angle at the end.
_AT_ZERO = {symbol: value.subs(B, 0).subs(sp.cos(angle), rho) for symbol, value in covariances().items()}
_SINE = sp.sqrt(1 - rho**2)
_TO_ANGLE = {sp.acos(rho): angle, _SINE: sp.sin(angle), rho: sp.cos(angle)}
_INSIDE = (rho > -1, rho < 1, *_DOMAIN)
_K0, _REST, _T2, _B0 = sp.Symbol("k_0"), sp.Symbol("R"), sp.Symbol("T_2"), sp.Symbol("B_0")
_SLOPE = sp.Subs(sp.Derivative(sp.Function("k_1")(B), B), B, 0)
_t = sp.IndexedBase("t")


def _in_cosine(expression: sp.Expr) -> sp.Expr:
    """An expression in the angle, in its cosine rho."""
    return sp.expand_trig(expression).subs({sp.sin(angle): _SINE, sp.cos(angle): rho}).subs(angle, sp.acos(rho))


def _kernel() -> Iterator[Step]:
    yield Step(relu_kernel(), reason="the arc-cosine kernel at covariances `q` of the two pre-activations (K1)")
    yield Step(
        spiked_kernel(), Substitute(covariances(), name=statement().lhs), "`w ~ N(0, Gamma/d)`: `q = x^T Gamma x'/d`"
    )


def _along(kernel: sp.Expr) -> sp.Expr:
    """Price: the derivative in B."""
    return (s**2 * sp.diff(kernel, q11) + s * s_prime * sp.diff(kernel, q12) + s_prime**2 * sp.diff(kernel, q22)) / d


def _first() -> Iterator[Step]:
    kernel = relu_kernel()
    yield Step(kernel, reason="the kernel in the covariances")
    yield Step(derivative(kernel, 1), Apply(_along), "its derivative in `B`, along `(s^2, s s', s'^2)/d` (Price)")
    at_zero = derivative(kernel, 1).subs(_AT_ZERO, simultaneous=True)
    yield Step(at_zero, Substitute(_AT_ZERO), "at `B = 0`, where `rho = cos theta` is the correlation")
    yield Step(_in_cosine(first_order() / (2 * d)), "=", "simplified")
    yield Step(first_order() / (2 * d), Substitute(_TO_ANGLE, name=_SLOPE), "in the angle: the paper's `S/2d`")


def _second() -> Iterator[Step]:
    kernel = relu_kernel()
    yield Step(derivative(kernel, 1), reason="the kernel's first derivative in `B`, by the covariances")
    half = Apply(lambda e: B**2 / 2 * _along(e).subs(_AT_ZERO, simultaneous=True))
    yield Step(_in_cosine(second_order()), half, "its second (Price again) at `B = 0, rho = cos theta`, times `B^2/2`")
    yield Step(second_order(), Substitute(_TO_ANGLE, name=_T2), "in the angle")


def _expansion() -> Iterator[Step]:
    kernel = relu_kernel()
    yield Step(kernel, Given(), "the kernel in the covariances")
    taylor = Apply(lambda e: _to_second_order(e) + _REST)
    plain = kernel.subs(_AT_ZERO, simultaneous=True).subs(A, 1)
    simple = A * plain + _in_cosine(B / (2 * d) * first_order() + second_order()) + _REST
    yield Step(
        simple, taylor, ("Taylor's formula in `B` at `B = 0` (derivatives by Price), `R` the rest; `rho = cos theta`")
    )
    yield Step(
        plain.subs(_TO_ANGLE, simultaneous=True), Given(define=_K0), "the kernel of `A = 1` and `B = 0`, in the angle"
    )
    yield Step(expansion_statement().rhs, Substitute(_TO_ANGLE, name=expansion_statement().lhs), "in the angle")


def _to_second_order(kernel: sp.Expr) -> sp.Expr:
    first = _along(kernel)
    terms = (kernel, B * first, B**2 / 2 * _along(first))
    return sp.Add(*(e.subs(_AT_ZERO, simultaneous=True) for e in terms))


def _radius() -> Iterator[Step]:
    exact = covariances()
    yield Step(
        d**2 * (exact[q11] * exact[q22] - exact[q12] ** 2), reason="the determinant of the two features, times `d^2`"
    )
    yield Step(determinant(), "=", "the `B^2` terms cancel")
    yield Step(-radius(), Root(B, name=_B0), "`k1` has a branch point of power 3/2 where it vanishes")


def _ratio() -> sp.Expr:
    return (sp.Rational(1, 2) - k) / (k + 1) * gamma2 / gamma1


def _series() -> Iterator[Step]:
    yield Step(
        _ratio(), Given(name=_t[k + 1] / _t[k]), "term `j + 1` over term `j` of the series of `sqrt(1 + gamma2/gamma1)`"
    )
    yield Step(
        -gamma2 / gamma1,
        Tends(k, sp.oo, name=sp.Limit(_t[k + 1] / _t[k], k, sp.oo)),
        "so that it diverges for `gamma2 > gamma1`",
    )


_NOTATION = (
    "`k_1` is a function of `B` at given inputs; `r = |x|, r' = |x'|, theta` their angle, `s = w*.x, s' = w*.x'`"
)

DERIVATIONS = (
    Derivation("G4.kernel", "The spiked ReLU kernel", statement, _kernel, "G4; paper F, Section 4", (), _NOTATION),
    Derivation(
        "G5.expansion",
        "The kernel to second order in `B`",
        expansion_statement,
        _expansion,
        "G5; paper F, Theorem 4.2 and Lemma 4.5",
        _INSIDE,
        _NOTATION,
    ),
    Derivation(
        "G5.first",
        "The kernel's first order in `B`",
        lambda: sp.Eq(_SLOPE, first_order() / (2 * d)),
        _first,
        "G5; paper F, Theorem 4.2",
        _INSIDE,
        _NOTATION,
    ),
    Derivation(
        "G5.second",
        "The kernel's second order in `B`",
        lambda: sp.Eq(_T2, second_order()),
        _second,
        "G5; paper F, Lemma 4.5",
        _INSIDE,
        _NOTATION,
    ),
    Derivation(
        "G5.radius",
        "Radius of the expansion",
        lambda: sp.Eq(_B0, -radius()),
        _radius,
        "G5; paper F, Theorem 4.2",
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "G5.divergence",
        "The series for `|u.w|` diverges beyond `gamma2 = gamma1`",
        lambda: sp.Eq(sp.Limit(_t[k + 1] / _t[k], k, sp.oo), -gamma2 / gamma1, evaluate=False),
        _series,
        "G5; paper F, Theorem 4.2",
    ),
)
