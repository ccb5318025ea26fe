"""K2: the eigenvalues of ReLU^p on the sphere, by Rodrigues' formula, and their recurrence in the degree."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step
from bulkedge.theory.kernels.sphere import legendre_values, relu_power, relu_power_recurrence, relu_statement
from bulkedge.theory.numbers.symbols import d, l, p

_t, _a, _b = sp.symbols("t a b", positive=True)
_HALF = sp.Rational(1, 2)
_NORM = sp.gamma(d / 2) / (sp.sqrt(sp.pi) * sp.gamma((d - 1) / 2))
_eta = sp.IndexedBase("eta")


def _rodrigues(degree: sp.Expr) -> sp.Expr:
    """The constant in front of (d/dt)^l (1 - t^2)^(l + (d-3)/2) in P_l(t) (1 - t^2)^((d-3)/2)."""
    return (-_HALF) ** degree * sp.gamma((d - 1) / 2) / sp.gamma(degree + (d - 1) / 2)


def _differentiated(degree: int) -> Apply:
    return Apply(lambda e: e.diff(_t, degree))


def _eigenvalues() -> Iterator[Step]:
    for degree in (1, 2):
        weight = (1 - _t**2) ** ((d - 3) / 2)
        power = _rodrigues(sp.Integer(degree)) * (1 - _t**2) ** (degree + (d - 3) / 2)
        yield Step(power, Given(), f"Rodrigues' formula, here at `l = {degree}`: this power,")
        legendre = legendre_values(_t, d, degree)[degree]
        yield Step(
            legendre * weight,
            _differentiated(degree),
            f"differentiated {degree} times, is `P_{degree}` times the density",
        )
    yield Step(sp.Integral(_t**_a * (1 - _t**2) ** _b, (_t, 0, 1)), Given(), "an integral of Euler")
    beta = sp.gamma((_a + 1) / 2) * sp.gamma(_b + 1) / (2 * sp.gamma((_a + 1) / 2 + _b + 1))
    yield Step(beta, "=", "in gamma functions")
    # l integrations by parts: (-1)^l against the formula's sign, and the falling factorial of p.
    front = _NORM * (-1) ** l * _rodrigues(l) * sp.gamma(p + 1) / sp.gamma(p - l + 1)
    values = {_a: p - l, _b: l + (d - 3) / 2}
    yield Step(
        front * beta.subs(values),
        Apply(lambda e: front * e.subs(values), name=_eta[l]),
        "Rodrigues' formula and `l` integrations by parts against `t^p` on (0, 1), which for `p > l` have no "
        "boundary terms: `eta_l` is this multiple of it, at a = `p - l, b = l + (d - 3)`/2",
    )
    yield Step(
        relu_power(),
        "=",
        "the duplication formula for `Gamma(p - l + 1)`; both sides are analytic in `p`, so this holds for `p <= l` "
        "too, where `1/Gamma` vanishes at the poles",
    )


def _recurrence() -> Iterator[Step]:
    ratio = relu_power(l=l + 2) / relu_power()
    yield Step(ratio, reason="the quotient of two eigenvalues of the same parity")
    yield Step(-(l - p) / (l + d + p), "=", "`Gamma(x + 1) = x Gamma(x)`, twice")
    yield Step(relu_power_recurrence(), Apply(lambda e: sp.Eq(_eta[l + 2], e * _eta[l])), "hence the recurrence")


DERIVATIONS = (
    Derivation(
        "K2.eta",
        "The eigenvalues of ReLU`^p`",
        relu_statement,
        _eigenvalues,
        "K2; F, lemma 5.1; Bach 2017",
        (_t < 1, d > 3, p > l),
        "`t` is the first coordinate of a uniform point of the unit sphere of `R^d, P_l`(1) = 1.",
    ),
    Derivation(
        "K2.recurrence",
        "The recurrence in the degree",
        relu_power_recurrence,
        _recurrence,
        "K2",
        (d > 2, p > l + 2),
    ),
)
