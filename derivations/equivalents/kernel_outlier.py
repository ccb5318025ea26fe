"""E8: from the population's spike to the sample's outlier, and from its eigenvector to the labels."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Step, Substitute
from bulkedge.theory.equivalents import kernel_outlier as ko
from bulkedge.theory.numbers.symbols import c, ell, mu1, mu1_star
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps.gradient import alignment, label_second_moment

_t, _m = sp.symbols("t m", positive=True)


def _position() -> Iterator[Step]:
    yield Step(
        1 / _m + c * _t / (1 - _t * _m),
        reason=(
            "Silverstein's map of `-m` for a population eigenvalue `t` (its mean over `t` is meant): where the "
            "sample's spectrum leaves the line open it is increasing, and a population spike `ell` sends its outlier "
            "there, `m = 1/ell`"
        ),
    )
    yield Step(ell + c * ell * _t / (ell - _t), Substitute({_m: 1 / ell}), "at the spike")
    mean = ko.kernel_outlier()
    yield Step(
        mean.rhs,
        Apply(lambda e: sp.expand(e).subs(_t / (ell - _t), ko.pull), name=mean.lhs),
        "the mean over the bulk: `H_1 = E t/(ell - t)`",
    )


def _labels() -> Iterator[Step]:
    yield Step(
        (1 - c * ko.strain) / (1 + c * ko.pull),
        reason="squared overlap of the sample's eigenvector `r` (features' side) with the population's spike `v`",
    )
    yield Step(
        1 - c * ko.strain,
        Apply(lambda e: e * (1 + c * ko.pull)),
        "on the samples' side `p`: F = `G S^(1/2)`, so `v.G^T p = (n lambda/ell)^(1/2) r.v`, and `lambda/ell = 1 + c "
        "H_1`",
    )
    share = mu1**2 * ko.spike2**2 / ell
    yield Step(
        share * (1 - c * ko.strain),
        Apply(lambda e: share * e),
        "`X b, b` the left singular vector of `W1`, lies along `G v` with the share `mu1^2 s_1^2/ell`: `mu1 W1^T b = "
        "mu1 s_1 v`",
    )
    on_beta = alignment() * RECTANGULAR.overlap("d")
    yield Step(
        on_beta * share * (1 - c * ko.strain),
        Apply(lambda e: on_beta * e),
        ("of `X beta`, the share on `b`: O2's overlap"),
    )
    claim = ko.label_overlap()
    linear = mu1_star**2 / label_second_moment()
    yield Step(claim.rhs, Apply(lambda e: linear * e, name=claim.lhs), "the labels' share on `X beta`: `mu1*^2/E y^2`")


DERIVATIONS = (
    Derivation(
        "E8.outlier",
        "The outlier of the conjugate kernel after a step",
        ko.kernel_outlier,
        _position,
        "E8",
        (),
        "F = `G S^(1/2), G n x N` with entries of variance one, `S = mu1^2 W1^T W1 + mu2^2, c = N/n, t` in its bulk.",
    ),
    Derivation(
        "E8.labels",
        "Overlap of the outlier's eigenvector with the labels",
        ko.label_overlap,
        _labels,
        "E8",
        (),
        "As E8.outlier; `p` and `r` are the outlier's unit vectors on the side of samples and of features.",
    ),
)
