"""G12: what is left of S beside its linear and its quadratic part."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute, Tends
from bulkedge.theory.kernels import spiked_response as sr
from bulkedge.theory.kernels.spiked_kernel import angle, s, s_prime
from bulkedge.theory.numbers.symbols import d

_c, _rest = sp.symbols("c q", real=True)


def _mean(expr: sp.Expr) -> sp.Expr:
    """E over s, s' of a polynomial."""
    terms = sp.Poly(sp.expand(expr), s, s_prime).terms()
    return sp.Add(*(c * sp.factorial2(i - 1) * sp.factorial2(j - 1) for (i, j), c in terms if i % 2 == j % 2 == 0))


def _response() -> Iterator[Step]:
    yield Step(sr.remainder(), reason="`S - S_1* - S_2*`")
    yield Step(
        sr.remainder().subs(angle, sp.acos(_c)),
        Substitute({angle: sp.acos(_c)}),
        ("`c = cos theta`, of order `d^(-1/2)`"),
    )
    yield Step(
        s * s_prime * _c / sp.pi,
        Apply(lambda e: sp.diff(e, _c).subs(_c, 0) * _c),
        "its first order in `c`; the value at `c = 0` is 0 and the next order O(`1/d`)",
    )
    yield Step(
        s**2 * s_prime**2 * (s * s_prime + _rest) ** 2 / (sp.pi**2 * d**2),
        Apply(lambda e: e.subs(_c, (s * s_prime + _rest) / d) ** 2),
        "squared, with `c = (s s' + q)/d`: `q`, the rest of `x.x'`, is independent, of mean 0 and variance `d - 1`",
    )
    yield Step(
        sr.squared_norm(),
        Apply(lambda e: sp.factor(_mean(sp.expand(e)).subs(_rest**2, d - 1).subs(_rest, 0))),
        "the mean",
    )
    yield Step(sp.Integer(0), Given(), "the value at `c = 0, theta = pi/2`")
    yield Step(sr.remainder().subs(angle, sp.pi / 2), "=", "")
    yield Step(d * sr.squared_norm(), Given(), "`d` times the squared norm")
    claim = sr.response_statement()
    yield Step(claim.rhs, Tends(d, name=claim.lhs), "`d ->` infinity")


DERIVATIONS = (
    Derivation(
        "G12.response",
        "The first order in `B` splits",
        sr.response_statement,
        _response,
        "G12; paper F, Lemma 5.2",
        (),
        "`s = w*.x, s' = w*.x', |x|` and `|x'|` their lengths, `theta` the angle between `x` and `x'`.",
    ),
)
