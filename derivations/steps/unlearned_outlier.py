"""O6: an outlier that has learned nothing, and what chance leaves of the target in it at finite d."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute, Tends
from bulkedge.theory.numbers.symbols import alpha, d, mu1_star, n1, theta
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps import unlearned_outlier as uo
from bulkedge.theory.steps.gradient import direction_norm2, label_second_moment, spike_strength

_cos2 = sp.Symbol("r", positive=True)


def _overlap() -> Iterator[Step]:
    mean = mu1_star**2 + (uo.second_along - mu1_star**2) / n1
    whole = mean + (d - 1) * label_second_moment() / n1
    yield Step(
        mean / whole,
        reason=(
            "`E (beta.u)^2` over `E |u|^2, u = (1/n1) X^T y`: of `n1` independent terms the mean along `beta` is "
            "`mu1_star`; the `d - 1` directions orthogonal to `beta` are independent of `y`"
        ),
    )
    yield Step(
        uo.second_along / (uo.second_along + (d - 1) * uo.label_energy()),
        Apply(lambda e: sp.cancel(e.subs(mu1_star, 0))),
        "no linear coefficient: `n1` drops out",
    )
    yield Step(
        uo.second_along / uo.label_energy(),
        Apply(lambda e: sp.limit(d * e, d, sp.oo), name=_cos2),
        "`d` times it, `d -> oo`: `u` leans towards `beta` by chance only",
    )
    along = uo.overlap_of_spike * _cos2 / d
    beside = (1 - uo.overlap_of_spike) * (1 - _cos2 / d) / (d - 1)
    yield Step(
        d * (along + beside),
        Given(),
        "the top left vector is `sqrt(omega) u/|u| + sqrt(1 - omega) w, w` uniform on the sphere orthogonal to `u`, "
        "as `W0'`s law is rotation-invariant given `u`: its squared overlap with `beta` in the mean, times `d`",
    )
    yield Step(uo.overlap_of_spike * _cos2 + 1 - uo.overlap_of_spike, Tends(d), "`d -> oo`")
    claim = uo.unlearned_statement()
    yield Step(claim.rhs, Substitute({_cos2: uo.second_along / uo.label_energy()}, name=claim.lhs), "with `r`")


def _position() -> Iterator[Step]:
    yield Step(direction_norm2(), reason="`|u|^2` of one step")
    yield Step(uo.label_energy() / alpha, Substitute({mu1_star: 0}), "no linear coefficient: noise of the batch alone")
    yield Step(spike_strength(), Given(), "the spike's strength `eta |mu1| |u|`")
    yield Step(uo.strength(), Substitute({mu1_star: 0}), "at that `|u|`")
    yield Step(RECTANGULAR.outlier, Given(), "O2's outlier above the threshold")
    claim = uo.position_statement()
    yield Step(claim.rhs, Substitute({theta: uo.strength()}, name=claim.lhs), "at that strength")


DERIVATIONS = (
    Derivation(
        "O6.overlap",
        "What chance leaves of the target in an outlier",
        uo.unlearned_statement,
        _overlap,
        "O6",
        (),
        "`E (beta.u)^2, E |u|^2` are exact at every size; `m_zy = E z^2 y^2, omega` is O2's overlap with `u/|u|`.",
    ),
    Derivation("O6.position", "An outlier without learning", uo.position_statement, _position, "O6; O2"),
)
