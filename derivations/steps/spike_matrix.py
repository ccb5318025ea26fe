"""T4: the second strength of the spike matrix."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Derivation, Root, Step
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.spike_matrix import second_strength


def _strengths() -> Iterator[Step]:
    m4, R00, R01, R11, x = sp.symbols("m4 R00 R01 R11 x", positive=True)
    product = sp.Matrix([[1, 0], [0, m4 / s.N]]) * sp.Matrix([[R00, R01], [R01, R11]])
    yield Step(
        sp.expand((product - x * sp.eye(2)).det()),
        reason=(
            "`S = l_0 r_0^T + l_1 r_1^T`: its squared singular values `x` are the eigenvalues of the product of the "
            "Gram matrices, diag(1, `m4/N`) of a and `a^2` (symmetric readout) and `R` of `r_0` and `r_1`"
        ),
    )
    yield Step(
        second_strength().rhs,
        Root(x, name=second_strength().lhs),
        "the smaller root; O2's map takes `theta_2` to the second outlier",
    )


DERIVATIONS = (
    Derivation("T4.strengths", "The second strength of the spike matrix", second_strength, _strengths, "T4"),
)
