"""G10: from ridge regression on given features (O3) to the kernel's spectrum, by two effective ridges."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute, Tends
from bulkedge.theory.kernels import learning_curve as lc
from bulkedge.theory.numbers.symbols import kappa, n, s_eps

_g, _m, _l = lc.gamma, lc.width, lc.eigenvalue
_D1, _D2 = lc.degrees1, lc.degrees2
_D = sp.Function("D")(_g)
_df2, _bias, _slope, _x = sp.symbols("df_2 b_i gamma_prime x", positive=True)


def _shares() -> Iterator[Step]:
    yield Step(lc.share(), reason="one eigenvalue's term of `D_1`")
    yield Step(
        -(lc.share() - lc.share() ** 2),
        Apply(lambda e: _g * sp.diff(e, _g)),
        "so `gamma D_1' = -(D_1 - D_2)`",
    )
    yield Step(
        _g * (1 - _D / _m),
        Given(),
        "`kappa`: the features F = `S^(1/2) G m^(-1/2), S = diag lambda_i, G` with iid entries: `kappa` (F F`^T + "
        "kappa`)`^-1` is equivalent to `gamma (S + gamma)^-1`",
    )
    yield Step(1 - _D / _m - _g * _D.diff(_g) / _m, Apply(lambda e: sp.diff(e, _g)), "`d kappa/d gamma`")
    yield Step(
        1 - _D2 / _m,
        Apply(lambda e: e.subs(_D.diff(_g), -(_D1 - _D2) / _g).subs(_D, _D1)),
        "by the line above",
    )
    yield Step(_m / (_m - _D2), Apply(lambda e: 1 / e, name=_slope), "`d gamma/d kappa`")


def _missed() -> Iterator[Step]:
    yield Step(
        lc.coefficient**2 * _g / (_l + _g),
        reason="`c_i^2` less what the features explain of it at the ridge `kappa, A(kappa)`",
    )
    yield Step(
        lc.missed_term(),
        Apply(lambda e: e - kappa * sp.diff(e, _g) * _m / (_m - _D2), name=_bias),
        "`A - kappa A'` (O3), `d gamma/d kappa = m/(m - D_2)`",
    )


def _degrees() -> Iterator[Step]:
    yield Step(
        _D1 - kappa * (_D1 - _D2) / _g * _m / (_m - _D2),
        reason="`df_2 = D_1 + kappa dD_1/dkappa`, with `gamma D_1' = -(D_1 - D_2)` and `d gamma/d kappa = m/(m - D_2)`",
    )
    yield Step(lc.degrees(), Substitute({kappa: lc.width_equation().rhs}), "`kappa = gamma (1 - D_1/m)`")
    yield Step(
        (lc.missed + lc.unlearnable + s_eps**2) / (1 - _df2 / n) - s_eps**2,
        Given(),
        "ridge regression given the features (O3): what is missed and the noise, over 1 - `df_2/n`; what no feature "
        "holds is noise",
    )
    claim = lc.curve_statement()
    yield Step(claim.rhs, Substitute({_df2: lc.degrees()}, name=claim.lhs), "with `df_2`")


def _kernel() -> Iterator[Step]:
    yield Step(lc.missed_term().subs(kappa, lc.width_equation().rhs), Given(), "a term of `b`")
    yield Step(lc.kernel_missed_term(), Tends(_m, name=_bias), "`m ->` infinity")
    yield Step(lc.test_risk(), Given(), "the risk on `m` features")
    claim = lc.kernel_statement()
    yield Step(claim.rhs, Tends(_m, name=claim.lhs), "`m ->` infinity")


_NOTATION = (
    "`lambda_i` eigenvalues, `c_i` the target's coefficients, `D_1` = sum `lambda_i/(lambda_i + gamma), D_2` the sum "
    "of its square, `m` features, `n` samples."
)

DERIVATIONS = (
    Derivation(
        "G10.width",
        "The effective ridge of finitely many features",
        lambda: sp.Eq(_slope, _m / (_m - _D2)),
        _shares,
        "G10",
        (),
        _NOTATION,
    ),
    Derivation(
        "G10.missed",
        "What is missed of one eigenfunction",
        lambda: sp.Eq(_bias, lc.missed_term()),
        _missed,
        "G10",
        (),
        _NOTATION,
    ),
    Derivation("G10.curve", "The learning curve", lc.curve_statement, _degrees, "G10", (), _NOTATION),
    Derivation("G10.kernel", "The learning curve of the kernel", lc.kernel_statement, _kernel, "G10", (), _NOTATION),
)
