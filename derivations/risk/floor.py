"""O4: the criterion of one large step for erf on erf, and its zero at kappa = sqrt 3."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.theory.numbers.symbols import q11, q12, q22, z1
from bulkedge.theory.risk.floor import criterion_statement, erf_criterion, slope


def _arcsine() -> sp.Expr:
    return 2 / sp.pi * sp.asin(2 * q12 / sp.sqrt((1 + 2 * q11) * (1 + 2 * q22)))


_E, _S, _g = sp.Function("E"), sp.Function("S"), sp.Function("g")
_TAU = criterion_statement().lhs


def _linear(square: sp.Expr) -> sp.Expr:
    """The mean of a sum, term by term, numbers taken out."""
    terms = (term.as_coeff_Mul() for term in sp.Add.make_args(sp.expand(square)))
    return sp.Add(*(number * _E(rest) for number, rest in terms))


def _criterion() -> Iterator[Step]:
    yield Step(
        _E((_g(z1) - _S(slope * z1)) ** 2),
        reason=(
            "a step of size `kappa sqrt N` gives features of `kappa z1 + z2, z1 = beta.x` and `z2` a fresh Gaussian; "
            "with many neurons the read-out can form their mean `S(kappa z1), S(y) = E sigma(y + z2)`: its error"
        ),
    )
    yield Step(
        criterion_statement().rhs, Apply(lambda e: e.replace(_E, _linear), name=_TAU), "the square, term by term"
    )


def _erf() -> Iterator[Step]:
    covariances = {
        "E g(z1)^2": {q11: 1, q12: 1, q22: 1},
        "E g(z1) S(kappa z1)": {q11: 1, q12: slope, q22: 1 + slope**2},
        "E S(kappa z1)^2": {q11: 1 + slope**2, q12: slope**2, q22: 1 + slope**2},
    }
    terms = []
    for what, values in covariances.items():
        yield Step(_arcsine(), Given(), "`E erf(u) erf(v)` for Gaussians with covariance `q` (arcsine kernel)")
        terms.append(_arcsine().subs(values, simultaneous=True))
        yield Step(terms[-1], Substitute(values), f"`{what}`: the variances and the covariance put in")
    yield Step(terms[0] - 2 * terms[1] + terms[2], Given(name=_TAU), "`tau(kappa)`, the square expanded")
    yield Step(erf_criterion(), "=", "collected")
    yield Step(
        0, Substitute({slope: sp.sqrt(3)}), "at `kappa = sqrt 3` it vanishes: the step can represent the link exactly"
    )
    yield Step(erf_criterion(), Given(), "its slope there")
    yield Step(
        0, Apply(lambda e: sp.diff(e, slope).subs(slope, sp.sqrt(3))), "vanishes too, as at a minimum of a square"
    )


DERIVATIONS = (
    Derivation(
        "O4.criterion", "The criterion of one large step", criterion_statement, _criterion, "O4; paper O, Theorem 7"
    ),
    Derivation(
        "O4.erf",
        "The large-step criterion of erf on erf",
        lambda: sp.Eq(_TAU, erf_criterion()),
        _erf,
        "O4; paper O, Theorem 7 and Corollary 8",
        (),
        "`S(y) = E erf(y + z2)`; `tau(kappa) = E (erf(z1) - S(kappa z1))^2`.",
    ),
)
