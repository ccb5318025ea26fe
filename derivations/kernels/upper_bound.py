"""G13: the multiplier of the spiked operator, its bound on a band, and the trace of the rest."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.theory.kernels import upper_bound as ub
from bulkedge.theory.kernels.spiked_spectrum import directions, t
from bulkedge.theory.numbers.symbols import A, B, d

_v = sp.Symbol("v", positive=True)  # t^2
_POLE = sp.Symbol("C_1", positive=True)


def _constant() -> Iterator[Step]:
    yield Step(ub.density().subs(t, sp.sqrt(_v)), Given(), "`rho`, below, as a function of `v = t^2`")
    yield Step(
        (d + 2) / 2 * B / (A + B) / (1 - B / (A + B) * _v) * ub.density().subs(t, sp.sqrt(_v)),
        Apply(lambda e: sp.diff(e, _v)),
        "its derivative is not negative for `B >=` 0, as `v <=` 1: on a band `|t| <= tau` the edge has the largest "
        "value",
    )
    yield Step(
        directions() * ub.energy() / ub.uniform(),
        Given(),
        "the law of `w'`s direction times `E`[`|w|^2` `| t`], relative to the uniform law that `T_0` has",
    )
    yield Step(ub.density(), "=", "`rho(t)`: the factors (1 - `t^2`) and the `Gamma` functions cancel")
    yield Step(
        ub.upper_constant(),
        Substitute({t: ub.tau}, name=ub.constant),
        "at the edge: `T_1` is at most `C_tau T_0` and what lies beyond the band, and by Weyl's inequality so are "
        "the eigenvalues",
    )


def _whole() -> Iterator[Step]:
    yield Step(ub.upper_constant(), reason="`C_tau`")
    yield Step(A * (1 + B / A) ** ((d + 1) / 2), Substitute({ub.tau: 1}, name=_POLE), "at `tau = 1`, without a rest")


def _rest() -> Iterator[Step]:
    r = sp.Symbol("r", positive=True)
    z = sp.Symbol("z", real=True)
    density = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi)
    yield Step(sp.Integral(r**2 * z**2 * density, (z, 0, sp.oo)), reason="`E` relu`(w.x)^2` at `|w| = r`")
    yield Step(r**2 / 2, "=", "the trace of a neuron's part of the operator")
    yield Step(
        ub.energy() / 2,
        Apply(lambda e: e.subs(r, sp.sqrt(ub.energy()))),
        ("`E`[`|w|^2` `| t`] in the place of `|w|^2`"),
    )
    yield Step(
        ub.upper_rest(),
        Apply(lambda e: sp.Integral(2 * e * directions(), (t, ub.tau, 1)), name=ub.rest),
        "averaged over `w` where `|t| > tau`, the law of `t` even; a positive operator's norm is at most its trace",
    )


_DOMAIN = (B > 0, d > 3, ub.tau < 1, t > 0, t < 1, _v < 1)
_NOTATION = "`t = w.w*/|w|, w ~ N(0, Gamma/d), Gamma = A I + B w* w*^T`."

DERIVATIONS = (
    Derivation(
        "G13.constant",
        "The multiplier and its largest value on a band",
        ub.constant_statement,
        _constant,
        "G13; paper F, Theorem 4.1",
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "G13.whole",
        "The constant without a rest",
        lambda: sp.Eq(_POLE, A * (1 + B / A) ** ((d + 1) / 2)),
        _whole,
        "G13; paper F, Theorem 4.1",
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "G13.rest", "The trace of the rest", ub.rest_statement, _rest, "G13; paper F, Theorem 4.1", _DOMAIN, _NOTATION
    ),
)
