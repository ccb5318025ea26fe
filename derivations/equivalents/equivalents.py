"""E2, E6, E7: the engine's steps on Marchenko-Pastur's pencil, and the first step's alignment in two new settings."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute
from bulkedge.theory.equivalents import equivalents as es
from bulkedge.theory.numbers.symbols import alpha, c, lam, mu1_star

_x, _s, _r = sp.symbols("x s r", positive=True)


def _pencil() -> Iterator[Step]:
    pencil = es.marchenko_pastur_equivalent().system.pencil
    field = pencil.field
    at = dict(zip(field.symbols, (lam, c), strict=True))

    def cell(i: int, j: int) -> sp.Expr:
        entry = pencil.entries.get((i, j), {})
        return sp.Add(*(k.as_expr().xreplace(at) * (1 if key is None else _x) for key, k in entry.items()))

    matrix = sp.Matrix(2, 2, cell)
    (output,) = pencil.outputs
    ((j, u),), ((i, v),) = output.u.items(), output.v.items()
    yield Step(
        u.as_expr() * v.as_expr() * matrix.inv()[j, i],
        reason="the reduced pencil of tr `(X^T X + lam)^-1`, its inverse at a number `x` in place of `X`",
    )
    yield Step(1 / (_x**2 + lam), "=", "is the expression: the realisation is right")
    one, two = es.dyson_pair()
    yield Step(two, Given(), "the Dyson equation of the pencil in the samples' block, as the engine derives it")
    yield Step(1 / (1 + c * es.trace_d), Root(es.trace_n), "linear in `g_n`")
    yield Step(one, Given(), "the Dyson equation in the inputs' block")
    inserted = one.subs(es.trace_n, 1 / (1 + c * es.trace_d))
    yield Step(inserted, Substitute({es.trace_n: 1 / (1 + c * es.trace_d)}), "with that `g_n`: one unknown is left")
    polynomial = es.marchenko_pastur_polynomial()
    yield Step(
        polynomial,
        Apply(lambda e: sp.Eq(sp.expand(sp.numer(sp.together(e.lhs - e.rhs))), 0)),
        "times the denominator: the polynomial of the value",
    )


def _preconditioned() -> Iterator[Step]:
    l = es.regularisation

    def averaged(e: sp.Expr) -> sp.Expr:
        """A polynomial in r = 1/(s + l): r and r^2 become their means."""
        poly = sp.Poly(sp.expand(sp.cancel(e.subs(_s, 1 / _r - l))), _r)
        return sp.Add(*(k * (sp.S.One, es.first, es.second)[power] for (power,), k in poly.terms()))

    yield Step(
        mu1_star * _s / (_s + l),
        reason="`beta.u = mu1* tr (S + l)^-1 S, S = X^T X/n`: the label's nonlinear part is uncorrelated with `X beta`",
    )
    yield Step(mu1_star - mu1_star * l / (_s + l), "=", "by partial fractions")
    yield Step(es.overlap(), Apply(averaged), "averaged over the Marchenko-Pastur law")
    linear, rest = mu1_star**2, es.second_moment - mu1_star**2
    yield Step(
        linear * _s**2 / (_s + l) ** 2 + rest * _s / (alpha * (_s + l) ** 2),
        Given(),
        "`|u|^2`: the linear part of the label gives tr `(S + l)^-2 S^2`, the rest, white noise, `(d/n) tr (S + "
        "l)^-2 S`",
    )
    yield Step(
        linear
        - 2 * linear * l / (_s + l)
        + linear * l**2 / (_s + l) ** 2
        + rest / (alpha * (_s + l))
        - rest * l / (alpha * (_s + l) ** 2),
        "=",
        "by partial fractions",
    )
    yield Step(es.norm2(), Apply(averaged), "averaged over the Marchenko-Pastur law")
    claim = es.preconditioned_alignment()
    yield Step(
        claim.rhs, Apply(lambda e: es.overlap() ** 2 / e, name=claim.lhs), "the squared cosine, `beta` of norm one"
    )


def _anisotropic() -> Iterator[Step]:
    linear = mu1_star * sp.sqrt(es.level)
    yield Step(
        linear,
        reason=(
            "`E u = E[y x] = mu1* Sigma beta/(beta.Sigma beta)^(1/2), Sigma beta = sigma_beta beta`: this is `beta.u`"
        ),
    )
    yield Step(linear**2, Apply(lambda e: e**2), "its square")
    norm2 = linear**2 + es.second_moment * es.mean_level / alpha
    yield Step(
        norm2,
        Apply(lambda e: e + es.second_moment * es.mean_level / alpha),
        "`|u|^2` has in addition the fluctuation `E y^2 |x|^2/n`, and `|x|^2 -> tr Sigma = tau d`",
    )
    claim = es.anisotropic_alignment()
    yield Step(claim.rhs, Apply(lambda e: linear**2 / e, name=claim.lhs), "the squared cosine")


_NOTATION = (
    "`X` is `n x d` with rows `N(0, I_d), alpha = n/d, S = X^T X/n, m` and `m_2` are the means of 1/(`s + l`) and "
    "1/`(s + l)^2` over its law; `E_y2` is the second moment of a centred label."
)

DERIVATIONS = (
    Derivation(
        "E2.pencil",
        "Pencil, Dyson equation and elimination: the engine's steps for Marchenko-Pastur",
        es.marchenko_pastur_polynomial,
        _pencil,
        "E1, E2, E5",
        (),
        "`X` is `n x d` with entries of variance `1/n, c = d/n`; `g` and `g_n` are the normalised traces of the "
        "blocks.",
    ),
    Derivation(
        "E6.alignment",
        "Alignment of a preconditioned first step",
        es.preconditioned_alignment,
        _preconditioned,
        "E6",
        (),
        _NOTATION,
    ),
    Derivation(
        "E7.alignment",
        "Alignment of the first step on anisotropic inputs",
        es.anisotropic_alignment,
        _anisotropic,
        "E7",
        (),
        "`x ~ N(0, Sigma), Sigma beta = sigma_beta beta, tau` the normalised trace of `Sigma, alpha = n/d`.",
    ),
)
