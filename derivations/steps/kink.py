"""T6: what a kink adds to the second gradient."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.kink import Kink, folded_mean, further
from bulkedge.theory.steps.kink import statement as kink_statement

_FURTHER, _SQUARE = kink_statement().lhs, sp.Symbol("f_square")


def _jump_claim() -> sp.Expr:
    """T6's function of a|a| for one jump from l to r at b."""
    at, left, right = sp.symbols("b l r", real=True)
    return further((Kink(at, (left,), (right,)),), 1, s.mu1, s.e)


def _over_xi(expression: sp.Expr) -> sp.Expr:
    """E over xi ~ N(0, v) of a sum of absolute values |m + xi|."""
    return expression.replace(sp.Abs, lambda u: folded_mean(u - s.xi))


def _kink(closed: bool) -> Iterator[Step]:
    at, left, right = sp.symbols("b l r", real=True)
    below, above = sp.symbols("P_l P_r", real=True)
    up = sp.Max(below, 0) - sp.Max(-above, 0)
    down = sp.Max(-below, 0) - sp.Max(above, 0)
    yield Step(
        up,
        reason="`t >` 0: mass `J phi(b) t (P_l)_+` crosses the kink from below, `J phi(b) t (P_r)_-` from above",
    )
    yield Step(
        (up + down) / 2,
        Apply(lambda e: (e + e.subs({below: -below, above: -above}, simultaneous=True)) / 2),
        "`t <` 0 mirrors `P`; the part even in `t` is what multiplies `|t|`, hence `a|a|`",
    )
    yield Step((sp.Abs(below) - sp.Abs(above)) / 2, "=", "positive parts of `P` and `-P` add up to `|P|`")
    shift = s.mu1 * s.q + s.e * at + s.xi
    values = {below: shift + left * s.y / s.alpha, above: shift + right * s.y / s.alpha}
    moved = (sp.Abs(values[below]) - sp.Abs(values[above])) / 2
    yield Step(moved, Substitute(values), "the own term enters through the one-sided derivatives `l` and `r`")
    front = s.y * (right - left) * normal_density(at)
    if not closed:
        yield Step(
            kink_statement().rhs,
            Apply(lambda e: front * e.replace(sp.Abs, lambda u: sp.Function("E")(sp.Abs(u))), name=_FURTHER),
            "mean over `xi`; times the label, the height of the jump and the density of `G` there",
        )
        return
    yield Step(_over_xi(moved), Apply(_over_xi), "mean over `xi ~ N(0, v)`")
    yield Step(
        _jump_claim(),
        Apply(lambda e: front * e, name=_FURTHER),
        "times the label, the height of the jump and the density of `G` there",
    )


def _own_square() -> Iterator[Step]:
    at, left, right = sp.symbols("b l r", real=True)
    below, above = sp.symbols("P_l P_r", real=True)
    up = sp.Max(below, 0) - sp.Max(-above, 0)
    down = sp.Max(-below, 0) - sp.Max(above, 0)
    yield Step((up - down) / 2, Given(), "the part odd in `t` is what multiplies `t`, hence `a^2`")
    yield Step((below + above) / 2, "=", "positive parts of `P` minus those of `-P` give `P`")
    shift = s.mu1 * s.q + s.e * at
    values = {below: shift + left * s.y / s.alpha, above: shift + right * s.y / s.alpha}
    yield Step(
        _square_claim(),
        Substitute(values, name=_SQUARE),
        "linear in `xi`, whose mean is zero: the own term counts with (`l + r`)/2",
    )


def _square_claim() -> sp.Expr:
    """What a jump contributes to the left vector a^2, per J phi(b) and label."""
    at, left, right = sp.symbols("b l r", real=True)
    return s.mu1 * s.q + s.e * at + (left + right) * s.y / (2 * s.alpha)


_KINK = (
    "`sigma'` jumps by `J = r - l` at `b`; `P_l` and `P_r` are the movement `P` on its two sides, `phi` the Gaussian "
    "density."
)


DERIVATIONS = (
    Derivation(
        "T6.further", "The further left vector `a|a|` of a kink", kink_statement, lambda: _kink(False), "T6", (), _KINK
    ),
    Derivation(
        "T6.closed",
        "The same in closed form",
        lambda: sp.Eq(_FURTHER, _jump_claim()),
        lambda: _kink(True),
        "T6",
        (s.v > 0,),
        _KINK,
    ),
    Derivation(
        "T6.square",
        "What a kink adds to the left vector `a^2`",
        lambda: sp.Eq(_SQUARE, _square_claim()),
        _own_square,
        "T6",
        (),
        "`f_square` is the function per `J phi(b)` and label; `P_l` and `P_r` are the movement left and right of the "
        "kink.",
    ),
)
