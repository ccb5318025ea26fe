"""T3: the limits of the second step's directions by leaving samples out of u."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.derivations.steps.second_step import mean_over
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.alignment import limits
from bulkedge.theory.steps.directions import closed_form

g = sp.Symbol("g", real=True)  # x_i.x_m of two samples: centred, variance d
F_i, F_k, _dF_i, _dF_k, y_i, _y_m = sp.symbols("F_i F_k D_i D_k y_i y_m", real=True)
g1, _g2, g3 = sp.symbols("g1:4", real=True)
zeta = sp.Symbol("zeta", real=True)
_NORM2, _MEMORY = sp.Abs(sp.Symbol("u")) ** 2, sp.Symbol("M_im")
_SIGNAL = sp.Function("Gram")(sp.Symbol("beta"), sp.Symbol("b_1"))


def _products() -> Iterator[Step]:
    """b_i.b_k over pairs of different samples, equal samples, and the samples that sit in u."""
    E, q = sp.Function("E"), s.q
    F, H = (sp.Function(name)(s.y, q) for name in ("F_i", "F_k"))
    spread = sp.Symbol("s", nonnegative=True)
    for function in (F, H):
        yield Step(
            spread * E(function.diff(q)),
            Given(define=E(zeta * function), kind="Stein"),
            "`q = mu1* z + s zeta, zeta` independent of `z` and `y`: integration by parts in `zeta`",
        )
    memory = E(F.diff(q)) * E(s.y * H) + E(H.diff(q)) * E(s.y * F)
    across = E(zeta * F) * E(zeta * H)
    rest = s.d / s.n * (E(F * H) + s.iota * memory)
    yield Step(
        E(s.z * F) * E(s.z * H) + across + rest,
        Given(),
        "`b_i.b_k` is the mean over pairs of samples of `(x.x') F_i F_k'`: of two different ones the means of `x` F "
        "along `beta` and along the rest of `u`; of a sample with itself `|x|^2/n = d/n`; and with a reused batch "
        "(`iota = 1`) the memory term of T3.memory, averaged over both samples",
    )
    inserted = E(s.z * F) * E(s.z * H) + spread**2 * E(F.diff(q)) * E(H.diff(q)) + rest
    yield Step(inserted, "=", "with Stein's formula for both")
    yield Step(limits().rhs, Substitute({s.d: s.n / s.alpha}, name=limits().lhs), "`n/d = alpha`")


def _memory_pair() -> sp.Expr:
    """The memory term of one pair of samples: (D_i y_m F_k + D_k y_i F_i)/alpha, D the derivative in q."""
    return (_dF_i * _y_m * F_k + _dF_k * y_i * F_i) / s.alpha


def _memory() -> Iterator[Step]:
    product = g * (F_i + _dF_i * g * _y_m / s.n) * (F_k + _dF_k * g * y_i / s.n)
    yield Step(
        product,
        reason=(
            "The product `b_i.b_k` is a sum over pairs of `(x_i.x_m) F_i(y_i, q_i) F_k`(`y_m, q_m`); with a reused "
            "batch sample `m` sits in `q_i = x_i.u` with the weight `(x_i.x_m) y_m/n`, and `i` in `q_m`: leave both "
            "out, to first order"
        ),
    )
    averaged = s.d * (_dF_i * _y_m * F_k + _dF_k * y_i * F_i) / s.n
    yield Step(averaged, Apply(mean_over(g, s.d)), "`g = x_i.x_m` is centred, of variance `d`; odd powers vanish")
    yield Step(
        _memory_pair(),
        Substitute({s.d: s.n / s.alpha}, name=_MEMORY),
        "`n/d = alpha`: of order one, so it stays in the limit",
    )


def _cubic_signal() -> sp.Expr:
    """beta.b_1 of a reused batch for g = g1 He_1 + g2 He_2 + g3 He_3, F_1 = y p."""
    return sp.expand(closed_form(3, 1, "reused")[1])


def _signal() -> Iterator[Step]:
    y = g1 * s.z + _g2 * (s.z**2 - 1) + g3 * (s.z**3 - 3 * s.z) + s.xi
    spread, noise2 = sp.symbols("s", nonnegative=True), s.s_eps**2
    p = g1 * s.z + spread * zeta + s.y / s.alpha
    yield Step(
        s.z * s.y * p,
        reason=(
            "The overlap `beta.b_1 = (1/n)` sum `z_i y_i p_i, p = x.u` with `x.u = mu1* z + s zeta + y/alpha`: "
            "leaving the sample out of `u` makes `zeta` independent of it, and its own term is `|x|^2 y/n = y/alpha`"
        ),
    )
    yield Step(s.z * y * p.subs(s.y, y), Substitute({s.y: y}), "`y = g(z) + xi, xi` the noise; `mu1* = g1`")
    without = mean_over(zeta)(s.z * y * p.subs(s.y, y))
    yield Step(without, Apply(mean_over(zeta)), "mean over `zeta`")
    quiet = mean_over(s.xi, noise2)(without)
    yield Step(quiet, Apply(mean_over(s.xi, noise2)), "mean over the noise")
    yield Step(_cubic_signal(), Apply(mean_over(s.z), name=_SIGNAL), "mean over `z`")


def _orthogonal() -> Iterator[Step]:
    """|u|^2 from leaving one sample out."""
    along, across = sp.symbols("along across", nonnegative=True)
    yield Step(s.mu1_star**2, Given(define=along), "`u = (1/n) X^T y`: `(beta.u)^2` tends to `(E z y)^2 = mu1*^2`")
    yield Step(
        (s.d - 1) * s.m2 / s.n,
        Given(define=across),
        "each of the `d - 1` coordinates across `beta` is a mean of `n` independent terms of variance `E y^2`",
    )
    yield Step(along + across, Given(), "the squared length of `u`")
    yield Step(s.mu1_star**2 + (s.d - 1) * s.m2 / (s.alpha * s.d), Substitute({s.n: s.alpha * s.d}), "`n = alpha d`")
    yield Step(
        length2(),
        Apply(lambda e: sp.limit(e.subs({along: s.mu1_star**2}), s.d, sp.oo), name=_NORM2),
        "`d` tends to infinity",
    )


def length2() -> sp.Expr:
    """|u|^2 -> mu1*^2 + E y^2/alpha."""
    return s.mu1_star**2 + s.m2 / s.alpha


DERIVATIONS = (
    Derivation("T3.products", "The products of the second step's directions", limits, _products, "T3"),
    Derivation(
        "T3.length", "The length of the gradient's direction `u`", lambda: sp.Eq(_NORM2, length2()), _orthogonal, "T3"
    ),
    Derivation(
        "T3.signal",
        "Alignment of `b_1` with `beta`, reused batch, cubic link",
        lambda: sp.Eq(_SIGNAL, _cubic_signal()),
        _signal,
        "T3",
    ),
    Derivation(
        "T3.memory",
        "The memory term of a reused batch, by leave-one-out",
        lambda: sp.Eq(_MEMORY, _memory_pair()),
        _memory,
        "T3",
    ),
)
