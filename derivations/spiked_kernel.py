"""G4, G5: the spiked ReLU kernel, its first orders in B, the radius, and the series that diverges."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.derivation import Apply, Derivation, Root, Step, Substitute, Tends
from theory.spiked_kernel import (
    angle,
    covariances,
    derivative,
    determinant,
    first_order,
    gamma1,
    gamma2,
    radius,
    relu_kernel,
    s,
    s_prime,
    second_order,
    spiked_kernel,
    term,
)
from theory.symbols import B, d, k, q11, q12, q22

AT_ZERO = {symbol: value.subs(B, 0) for symbol, value in covariances().items()}
# Angles and lengths at which the numerical verification of the two orders takes its points.
DOMAIN = (angle < sp.pi, angle > 0)


def _kernel() -> Iterator[Step]:
    yield Step(relu_kernel(), reason="the arc-cosine kernel at covariances q of the two pre-activations (K1)")
    yield Step(spiked_kernel(), Substitute(covariances()), "w ~ N(0, Gamma/d): q = x^T Gamma x'/d")


def _along(kernel: sp.Expr) -> sp.Expr:
    """Price: the derivative in B."""
    return (s**2 * sp.diff(kernel, q11) + s * s_prime * sp.diff(kernel, q12) + s_prime**2 * sp.diff(kernel, q22)) / d


def _first() -> Iterator[Step]:
    kernel = relu_kernel()
    yield Step(kernel, reason="the kernel in the covariances")
    yield Step(derivative(kernel, 1), Apply(_along), "its derivative in B, along (s^2, s s', s'^2)/d (Price)")
    yield Step(derivative(kernel, 1).subs(AT_ZERO, simultaneous=True), Substitute(AT_ZERO), "at B = 0")
    yield Step(first_order() / (2 * d), "=", "the paper's S/2d")


def _second() -> Iterator[Step]:
    yield Step(term(2), reason="half the second derivative in B (Price twice), at B = 0, times B^2")
    yield Step(second_order(), "=", "in the angle")


def _radius() -> Iterator[Step]:
    exact = covariances()
    yield Step(
        d**2 * (exact[q11] * exact[q22] - exact[q12] ** 2), reason="the determinant of the two features, times d^2"
    )
    yield Step(determinant(), "=", "the B^2 terms cancel")
    yield Step(-radius(), Root(B), "k1 has a branch point of power 3/2 where it vanishes")


def _ratio() -> sp.Expr:
    return (sp.Rational(1, 2) - k) / (k + 1) * gamma2 / gamma1


def _series() -> Iterator[Step]:
    yield Step(_ratio(), reason="term j + 1 over term j of the series of sqrt(1 + gamma2/gamma1)")
    yield Step(-gamma2 / gamma1, Tends(k, sp.oo), "so that it diverges for gamma2 > gamma1")


_NOTATION = "r = |x|, r' = |x'|, theta their angle, s = w*.x, s' = w*.x'"

DERIVATIONS = (
    Derivation("G4.kernel", "The spiked ReLU kernel", spiked_kernel, _kernel, "G4; paper F, Section 4", (), _NOTATION),
    Derivation(
        "G5.first",
        "The kernel's first order in B",
        lambda: first_order() / (2 * d),
        _first,
        "G5; paper F, Theorem 4.2",
        DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "G5.second",
        "The kernel's second order in B",
        second_order,
        _second,
        "G5; paper F, Lemma 4.5",
        DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "G5.radius",
        "Radius of the expansion",
        lambda: -radius(),
        _radius,
        "G5; paper F, Theorem 4.2",
        DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "G5.divergence",
        "The series for |u.w| diverges beyond gamma2 = gamma1",
        lambda: -gamma2 / gamma1,
        _series,
        "G5; paper F, Theorem 4.2",
    ),
)
