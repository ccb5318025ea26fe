"""E11: momentum averages batches, weight decay rescales the spike."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step
from bulkedge.theory.equivalents import decayed_step as ds
from bulkedge.theory.numbers.symbols import alpha, mu1_star, theta
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps.gradient import label_second_moment

_r = sp.Symbol("r", positive=True)


def _alignment() -> Iterator[Step]:
    gamma = ds.momentum
    yield Step(
        (1 - gamma) / (1 - _r),
        reason="`sum_k (1 - gamma) r^k`; at `r = gamma` it is 1, the batches' weights add up to one: `E u = mu1* beta`",
    )
    yield Step(
        (1 - gamma) ** 2 / (1 - gamma**2),
        Apply(lambda e: ((1 - gamma) * e).subs(_r, gamma**2)),
        "at `r = gamma^2`, times 1 - `gamma`: the sum of their squares, which the fluctuation of `u` carries",
    )
    yield Step((1 - gamma) / (1 + gamma), "=", "shortened")
    fluctuation = label_second_moment() / alpha
    yield Step(
        ds.direction_norm2(),
        Apply(lambda e: mu1_star**2 + fluctuation * e),
        "`|u|^2`: one batch alone has `mu1*^2 + E y^2/alpha`",
    )
    yield Step(mu1_star**2 / ds.direction_norm2(), Apply(lambda e: mu1_star**2 / e), "`beta'`s share of `u`")
    yield Step(
        RECTANGULAR.overlap("d"),
        Given(),
        "`W1/(1 - w) = W0 + theta u a^T/|u|` is O2's matrix: the overlap of its top left singular vector with `u/|u|`",
    )
    claim = ds.alignment()
    yield Step(
        claim.rhs,
        Apply(lambda e: mu1_star**2 / ds.direction_norm2() * e.subs(theta, ds.strength()), name=claim.lhs),
        "at its strength `theta/(1 - w)`, times `beta'`s share",
    )


DERIVATIONS = (
    Derivation(
        "E11.alignment",
        "A step with momentum and weight decay",
        ds.alignment,
        _alignment,
        "E11",
        (),
        "`gamma` is the momentum, `w` the step's weight decay; batches of `n1 = alpha d` fresh samples, `|beta| = "
        "|a| = 1`.",
    ),
)
