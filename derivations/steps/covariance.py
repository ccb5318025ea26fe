"""G1, G2: the O(1/d) terms of the spike's strength, from the Mehler expansion of v(w) = E[y sigma'(w.x) x]."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute, Tends
from bulkedge.theory.numbers.symbols import alpha, beta, d, eta, zeta
from bulkedge.theory.steps.covariance import (
    act,
    along_spike,
    along_weight,
    bend,
    bulk_statement,
    conditional_bulk,
    conditional_cosine,
    conditional_statement,
    conditional_strength,
    label2,
    link,
    mean_over_weights,
    overlap,
    own,
    printed_pair_terms,
    scaling,
    slope2,
    statement,
)

_PAIRS, _PHI = sp.Symbol("C_pairs"), sp.Symbol("phi", real=True)
_STRENGTH, _BULK = sp.Symbol("s_u"), sp.Symbol("A_u")
_ETA0 = sp.Symbol("eta_0", positive=True)
_BULK_RATE, _SPIKE_RATE = sp.symbols("r_A r_B", real=True)
P, Q = along_spike(), along_weight()
_LEADING = link[1] ** 2 * act[1] ** 2
_ACROSS = link[0] ** 2 * act[2] ** 2


def _pairs() -> Iterator[Step]:
    inside = P**2 + 2 * overlap * P * Q + overlap**2 * Q**2
    averaged = mean_over_weights(inside)
    yield Step(
        inside,
        reason=("`(v.w*)^2` with `v = P w* + Q w` (Stein), `P` and `Q` by Mehler in `rho = w.w*` and `|w|^2 - 1`"),
    )
    yield Step(averaged, Apply(mean_over_weights), "average over `w ~ N(0, I/d)`: `rho^2 -> 1/d, epsilon^2 -> 2/d`")
    yield Step(
        sp.expand(d * (averaged - _LEADING)) - _ACROSS,
        Apply(lambda e: d * (e - _LEADING) - _ACROSS, name=_PAIRS),
        "`d` times what is beyond the leading term, less the same in a direction across `w*`",
    )
    yield Step(printed_pair_terms(), "=", "collected")


def _to_first_order(expression: sp.Expr) -> sp.Expr:
    """The terms up to the order 1/d relative to the leading one."""
    front = eta**2 / (beta**2 * d)
    poly = sp.Poly(sp.expand(expression / front).subs(d, 1 / overlap), overlap)
    return front * sum(c / d**k for (k,), c in poly.terms() if k <= 1)


def _spike() -> Iterator[Step]:
    front = eta**2 / (beta**2 * d)
    pairs = (1 - 1 / (alpha * d)) * (_LEADING + printed_pair_terms() / d)
    same = slope2 * bend / (alpha * d)
    yield Step(front * (pairs + same), reason="pairs of different samples, and `E[y^2 sigma'^2 x x^T]` of equal ones")
    yield Step(statement().rhs, Apply(_to_first_order, name=statement().lhs), "to relative order `1/d`")


def _everywhere() -> Iterator[Step]:
    """The isotropic part: d times the second moment of w across w*."""
    share = 2 * eta / _width**2 * own
    energy = d * eta**2 / _width**2 * (slope2 * label2 / _samples + _ACROSS / d)
    yield Step(
        1 - share + energy,
        reason=(
            "`d` E`(v.w)^2` after the step, `v` orthogonal to `w*`: what `w` has; minus twice its product with the "
            "neuron's own share of `f, (eta/m^2) d E[(v.w)(v.V)] = (eta/m^2) E[z sigma sigma']` (`h_sigma` by "
            "parts); the energy of `U`: a sample with itself `E y^2 sigma'^2/n`, pairs of samples E`(Q v.w)^2 -> "
            "(g_0 sigma_2)^2/d`"
        ),
    )
    sizes = Substitute({_width: beta * d, _samples: alpha * d}, name=bulk_statement().lhs)
    yield Step(bulk_statement().rhs, sizes, "at `m = beta d` and `n = alpha d`")


_samples, _width, _norm2 = sp.symbols("n m u_norm", positive=True)


def _conditional() -> Iterator[Step]:
    total = (_samples - 1) / _samples * link[1] ** 2 + (d - 1) * label2 / _samples
    yield Step(
        total,
        reason="`E |u|^2, u = X^T y/n`: pairs of samples give `|E x y|^2 = g_1^2`, a sample with itself `|x|^2 y^2`",
    )
    yield Step(total.subs(_samples, alpha * d), Substitute({_samples: alpha * d}), "at `n = alpha d`")
    norm2 = link[1] ** 2 + label2 / alpha
    yield Step(norm2, Tends(d), "in the limit")
    factor = eta**2 * act[1] ** 2 / _width**2 * d
    yield Step(
        factor * norm2,
        Apply(lambda e: factor * e),
        "given `u` a neuron moves by `(eta/m^(1/2)) a_j c1 u, a_j ~ N`(0, `1/m`): variance along `u`, in units of "
        "`1/d`",
    )
    yield Step(conditional_strength(), Substitute({_width: beta * d}, name=_STRENGTH), "at `m = beta d`")
    yield Step(norm2, Given(), "`|u|^2` again")
    squared_cosine = Apply(lambda e: link[1] ** 2 / e, name=sp.cos(_PHI) ** 2)
    yield Step(conditional_cosine(), squared_cosine, "`(u.w*)^2 = g_1^2` in the limit, over `|u|^2`")


def _bulk() -> Iterator[Step]:
    energy = eta**2 / _width**2 * (slope2 - act[1] ** 2) * label2 * d / _samples
    yield Step(
        1 + energy, reason="`|w|^2 = 1` and the energy of what is left of the step (O1), spread over all directions"
    )
    sizes = Substitute({_width: beta * d, _samples: alpha * d}, name=_BULK)
    yield Step(conditional_bulk(), sizes, "at `m = beta d` and `n = alpha d`")


def _given_the_batch() -> tuple[sp.Eq, ...]:
    return sp.Eq(_STRENGTH, conditional_strength()), sp.Eq(sp.cos(_PHI) ** 2, conditional_cosine())


_I, _w, _wT, _u, _uT = (sp.Symbol(name, commutative=False) for name in ("I", "w_0", "w_0^T", "u", "u^T"))
_b = sp.Symbol("b", real=True)  # a_j times m^(1/2)


def _over_neurons(e: sp.Expr) -> sp.Expr:
    """The mean over w_0 ~ N(0, I/d) and b ~ N(0, 1)."""
    e = sp.expand(e)
    return e.coeff(_b, 0).subs(_w * _wT, _I / d) + e.coeff(_b, 2)


def _covariance() -> Iterator[Step]:
    step = eta / _width * act[1] * _b
    yield Step(
        (_w + step * _u) * (_wT + step * _uT),
        reason="a neuron moves by `(eta/m^(1/2)) a_j c1 u, a_j = b/m^(1/2), c1 = sigma_1`: its `w w^T`",
    )
    mean = _I / d + eta**2 * act[1] ** 2 / _width**2 * _u * _uT
    yield Step(mean, Apply(_over_neurons), "mean over `w_0 ~ N(0, I/d)` and `b ~ N(0, 1)`, independent")
    yield Step(sp.expand(d * mean), Apply(lambda e: sp.expand(d * e)), "`Gamma` is `d` times the covariance")
    at = Substitute({_width: beta * d}, name=conditional_statement().lhs)
    yield Step(conditional_statement().rhs, at, "at `m = beta d`")


def _exponent(expr: sp.Expr) -> sp.Expr:
    """The power of d in a product: d times the derivative of the logarithm."""
    return sp.simplify(d * sp.diff(sp.expand_log(sp.log(expr), force=True), d))


def _rates() -> Iterator[Step]:
    front = sp.Symbol("K", positive=True)
    step = {eta: _ETA0 * d**zeta}
    for quantity, leading, name in (
        ("bulk", front * eta**2 / d**2, _BULK_RATE),
        ("spike", front * eta**2 / d, _SPIKE_RATE),
    ):
        yield Step(
            leading,
            Given(),
            ("the leading part, of `A - 1` first and of `B` then; `K` does not depend on `d` and `eta`"),
        )
        yield Step(front * _ETA0**2 * d ** scaling(quantity), Substitute(step), "`eta = eta_0 d^zeta`")
        yield Step(scaling(quantity), Apply(_exponent, name=name), "its exponent in `d`")


_SOURCE = "G1; paper F, eq. (3.3)"
_NOTATION = (
    "`sigma_k = E sigma He_k, g_k = E g He_k, v_sigma = E sigma'^2, b_g = E g^2 (z^2 - 1), h_sigma = E (sigma "
    "sigma')', y_2 = E y^2`"
)

DERIVATIONS = (
    Derivation(
        "G1.pairs",
        "The `O(1/d)` terms of the spike",
        lambda: sp.Eq(_PAIRS, printed_pair_terms()),
        _pairs,
        _SOURCE,
        notation=_NOTATION,
    ),
    Derivation("G1.everywhere", "The isotropic part", bulk_statement, _everywhere, _SOURCE, notation=_NOTATION),
    Derivation("G1.spike", "The strength of the spike", statement, _spike, _SOURCE, notation=_NOTATION),
    Derivation(
        "G1.rates",
        "How `A - 1` and `B` scale with `d`",
        lambda: (sp.Eq(_BULK_RATE, scaling("bulk")), sp.Eq(_SPIKE_RATE, scaling("spike"))),
        _rates,
        _SOURCE,
        notation=_NOTATION + "; `r_A` and `r_B` are the exponents of `d` in `A - 1` and in `B`",
    ),
    Derivation(
        "G2.covariance", "The covariance given the batch", conditional_statement, _covariance, "G2", notation=_NOTATION
    ),
    Derivation(
        "G2.spike",
        "Strength and angle of the spike given the batch",
        _given_the_batch,
        _conditional,
        "G2",
        notation=_NOTATION + "; `s_u` is the strength along `u, phi` the angle of `u` and `w*`",
    ),
    Derivation(
        "G2.bulk",
        "Beside the spike",
        lambda: sp.Eq(_BULK, conditional_bulk()),
        _bulk,
        "G2",
        notation=_NOTATION + "; `A_u` is the isotropic part",
    ),
)
