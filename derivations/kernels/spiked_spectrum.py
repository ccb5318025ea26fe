"""G6: the elements of the spiked operator that are exact at every order in B (ReLU)."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Step, Substitute
from bulkedge.theory.kernels.spiked_spectrum import (
    aligned,
    aligned_statement,
    associated,
    exact_spectrum,
    funk_hecke,
    orthogonal,
    orthogonal_statement,
    t,
    u,
    unspiked,
)
from bulkedge.theory.numbers.symbols import A, B, d


def _inside(l: int, l_prime: int) -> sp.Expr:
    """(A + B u^2) f_l(t) f_l'(t) at t = sqrt(A+B) u/sqrt(A+B u^2), before simplification."""
    warped = sp.sqrt(A + B) * u / sp.sqrt(A + B * u**2)
    return (A + B * u**2) * associated(l, 0).subs(t, warped) * associated(l_prime, 0).subs(t, warped)


def _mean(expression: sp.Expr) -> sp.Expr:
    """Average over the sphere: u^2 -> 1/d."""
    poly = sp.Poly(sp.expand(expression), u)
    moments = {0: sp.Integer(1), 2: 1 / d}
    return sum(c * moments[power] for (power,), c in poly.terms())


_T, _ELEMENT = sp.Function("T"), exact_spectrum().lhs
_r, _q = sp.symbols("r q", positive=True)


def _law() -> Iterator[Step]:
    """Polar coordinates of w ~ N(0, Gamma/d): the radius is integrated out at fixed t."""
    yield Step(
        sp.Integral(_r ** (d + 1) * sp.exp(-d * _q * _r**2 / 2), (_r, 0, sp.oo)),
        reason=(
            "`w = r w', t = w'.w*`: `|w|^2 = r^2` against the Gaussian density exp`(-d q r^2/2), q = t^2/(A+B) + (1 "
            "- t^2)/A`, and the measure `r^(d-1)` dr"
        ),
    )
    radial = (2 / (d * _q)) ** (d / 2 + 1) * sp.gamma(d / 2 + 1) / 2
    yield Step(radial, "=", "an integral of Euler")
    sphere = 2 * sp.pi ** ((d - 1) / 2) / sp.gamma((d - 1) / 2) * (1 - t**2) ** ((d - 3) / 2)
    density = d ** (d / 2) / ((2 * sp.pi) ** (d / 2) * A ** ((d - 1) / 2) * sp.sqrt(A + B))
    yield Step(
        sphere * density * radial,
        Apply(lambda e: sphere * density * e),
        "times the measure of the directions at `t` and the density's constant `(d/(2 pi))^(d/2) det(Gamma)^(-1/2)`",
    )
    q = t**2 / (A + B) + (1 - t**2) / A
    yield Step(sphere * density * radial.subs(_q, q), Substitute({_q: q}), "with `q` in `t`")
    law = _integrand()
    yield Step(law, "=", "the law of `t` times the mean of `|w|^2` at `t, c = B/(A+B)`")
    _, l, l_prime = _ELEMENT.args
    front = exact_spectrum().rhs
    yield Step(
        front,
        Apply(lambda e: _averaged(e, l, l_prime), name=_ELEMENT),
        "the element is `d eta_l eta_l' E_w |w|^2 f f'` (Funk-Hecke on both sides of `|w|^2, sigma` homogeneous)",
    )


def _integrand() -> sp.Expr:
    """What stands with f f' in the statement's integral."""
    (integral,) = exact_spectrum().rhs.atoms(sp.Integral)
    return sp.Mul(*(factor for factor in sp.Mul.make_args(integral.function) if not factor.has(sp.Function("f"))))


def _averaged(law: sp.Expr, l: sp.Expr, l_prime: sp.Expr) -> sp.Expr:
    f, eta, j = sp.Function("f"), sp.Function("eta"), _ELEMENT.args[0]
    return d * eta(l) * eta(l_prime) * sp.Integral(f(l, j, t) * f(l_prime, j, t) * law, (t, -1, 1))


def _linear() -> Iterator[Step]:
    front = d * funk_hecke(1) ** 2
    yield Step(
        front * _inside(1, 1), reason=("`d eta_1^2 |w|^2 f_1(t)^2` in the coordinate `u` of an isotropic direction")
    )
    yield Step(front * d * (A + B) * u**2, "=", "`|w|^2` cancels the denominator of `t^2`")
    yield Step(
        aligned(),
        Apply(_mean, name=_T(0, 1, 1)),
        ("`E u^2 = 1/d` and `eta_1 = 1/(2d)`: exact in `B`, no other degree enters"),
    )


def _orthogonal() -> Iterator[Step]:
    warped = sp.sqrt(A + B) * u / sp.sqrt(A + B * u**2)
    inside = (A + B * u**2) * sp.cancel(associated(1, 1) ** 2).subs(t, warped)
    yield Step(
        d * funk_hecke(1) ** 2 * inside,
        reason=(
            "`d eta_1^2 |w|^2 f_{1,1}(t)^2` in the coordinate `u` of an isotropic direction, `f_{1,1} = "
            "(d/(d-1))^(1/2) (1 - t^2)^(1/2)`"
        ),
    )
    yield Step(A * (1 - u**2) / (4 * (d - 1)), "=", "`|w|^2 (1 - t^2) = A (1 - u^2)`: what lies across `w*` has no `B`")
    yield Step(
        orthogonal(),
        Apply(_mean, name=_T(1, 1, 1)),
        "`E u^2 = 1/d`: A where `k0` has 1, so that the step does affect them",
    )


def _constant() -> Iterator[Step]:
    yield Step(unspiked(0) * _inside(0, 0), reason="`d eta_0^2 |w|^2`")
    yield Step(unspiked(0) * (A + B / d), Apply(_mean, name=_T(0, 0, 0)), "`E u^2 = 1/d`")


def _coupling() -> sp.Expr:
    return sp.sqrt((d - 1) * (d + 2) / 2) * B / d


_COUPLED = _T(0, 0, 2) / (d * sp.Function("eta")(0) * sp.Function("eta")(2))


def _couple() -> Iterator[Step]:
    polynomial = sp.sqrt((d - 1) * (d + 2) / 2) * (d * (A + B) * u**2 - A - B * u**2) / (d - 1)
    yield Step(_inside(0, 2), reason="`|w|^2 f_0 f_2(t), f_2` the normalised second harmonic")
    yield Step(polynomial, "=", "a polynomial in `u`")
    yield Step(_coupling(), Apply(_mean, name=_COUPLED), "exactly linear in `B`")


_NOTATION = (
    "T(`j, l, l'`) is the element of degrees `l` and `l'` in the sector `j` of the rotations about `w*, f(l, j, t)` "
    "the normalised harmonics in it, `eta(l)` the eigenvalues of K2."
)

DERIVATIONS = (
    Derivation(
        "G6.element",
        "The elements of the spiked operator",
        exact_spectrum,
        _law,
        "G6",
        (t < 1, t > -1, B > -A),
        _NOTATION,
    ),
    Derivation(
        "G6.aligned",
        "The eigenvalue of the function `w*.x`",
        aligned_statement,
        _linear,
        "G6; paper F, Theorem 5.3",
        (),
        _NOTATION,
    ),
    Derivation(
        "G6.orthogonal",
        "The eigenvalue of the functions `v.x, v` orthogonal to `w*`",
        orthogonal_statement,
        _orthogonal,
        "G6; paper F, Theorem 5.3",
        (),
        _NOTATION,
    ),
    Derivation(
        "G6.constant",
        "The element of the constants",
        lambda: sp.Eq(_T(0, 0, 0), unspiked(0) * (A + B / d)),
        _constant,
        "G6",
        (),
        _NOTATION,
    ),
    Derivation(
        "G6.coupling",
        "The coupling of degrees 0 and 2",
        lambda: sp.Eq(_COUPLED, _coupling()),
        _couple,
        "G6; paper F, Theorem 5.4",
        (),
        _NOTATION,
    ),
)
