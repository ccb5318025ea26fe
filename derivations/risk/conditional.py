"""L1: the features given the spike's coordinate, the derivative of the free energy, and the equation of the risk."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Step, Substitute
from bulkedge.theory.numbers.symbols import kappa, lam, n
from bulkedge.theory.risk.conditional import N_, S, k1, k2, scalar_fixed_point, total_risk

_population = sp.Symbol("omega", positive=True)
_delta = sp.Symbol("delta", positive=True)


def _no_spike() -> Iterator[Step]:
    yield Step(
        sp.Eq(1 - lam / kappa, N_ / n * _population / (kappa + _population)),
        reason=(
            "the effective ridge of `n` samples for the population `omega` times the identity: 1 - `lambda/kappa` = "
            "`df1/n`"
        ),
    )
    inner = lam * (1 + _delta)
    yield Step(
        sp.Eq(1 - lam / inner, N_ / n * _population / (inner + _population)),
        Substitute({kappa: inner}),
        "with `kappa = lambda (1 + delta), delta` what the sample adds to the ridge",
    )
    yield Step(
        scalar_fixed_point(_population),
        Apply(lambda e: sp.Eq(e.lhs * (1 + _delta), e.rhs * (1 + _delta))),
        "times 1 + `delta`: L1's equation at one node",
    )


# Features given kappa: m + D_1 R^T g + D_3 q/2 + zeta, as letters that do not commute.
_m, _mT, _D1, _D2, _D3 = (sp.Symbol(name, commutative=False) for name in ("m", "m^T", "D_1", "D_2", "D_3"))
_R, _RT, _g, _gT, _z, _zT = (sp.Symbol(name, commutative=False) for name in ("R", "R^T", "g", "g^T", "zeta", "zeta^T"))
_q, _qT, _G2 = (sp.Symbol(name, commutative=False) for name in ("q", "q^T", "G_2"))
_PAIRS = {(_g, _gT): sp.Integer(1), (_q, _qT): 2 * _G2, (_z, _zT): _D2}


def _over_rest(product: sp.Expr) -> sp.Expr:
    """The mean over g (covariance the identity), q (2 G_2) and zeta (D_2), which are centred and uncorrelated."""
    total = sp.Integer(0)
    for term in sp.Add.make_args(sp.expand(product)):
        letters = term.args_cnc()[1]
        counts = [sum(x in pair for x in letters) for pair in _PAIRS]
        if not any(counts):
            total += term
        elif sorted(counts) == [0, 0, 2]:
            total += term.subs({left * right: mean for (left, right), mean in _PAIRS.items()})
    return sp.expand(total)


def _second_moment() -> sp.Eq:
    return sp.Eq(S(k1), _m * _mT + _D1 * _RT * _R * _D1 + _D3 * _G2 * _D3 / 2 + _D2)


def _features() -> Iterator[Step]:
    yield Step(
        (_m + _D1 * _RT * _g + _D3 * _q / 2 + _z) * (_mT + _gT * _R * _D1 + _qT * _D3 / 2 + _zT),
        reason=(
            "the step adds its spike to the weights: given `kappa = u.x/|u|` the pre-activation of neuron `j` is its "
            "share of the spike times `kappa` plus `r_j.g, g` the rest of `x`. In Hermite polynomials of `r_j.g` the "
            "feature is its mean `m_j`, the slope `E[sigma' | kappa]` times `r_j.g`, half of `E`[`sigma''` `|` "
            "`kappa`] times `q_j = (r_j.g)^2 - |r_j|^2`, and a rest `zeta_j`, uncorrelated with all; `D_1` and `D_3` "
            "are the diagonal matrices of `E sigma'` and `E sigma''`, and the features' product is"
        ),
    )
    yield Step(
        _second_moment().rhs,
        Apply(_over_rest, name=S(k1)),
        "mean over `g` and `zeta` given `kappa`: `E q_i q_j = 2 (r_i.r_j)^2, G_2` the matrix of these squares; `D_2 "
        "= Var(sigma | kappa) - D_1^2 |r_j|^2 - D_3^2 |r_j|^4`/2 on the diagonal (off it, Gaussian equivalence). "
        "`G_2` is `1/d` times the product of `|r_i|^2` and `|r_j|^2`, of rank one, but for noise of small operator "
        "norm: the length of `x`, which all features share, and which a large multiple of their mean carries along",
    )


# Two nodes of kappa, of weights p_1 and p_2, stand for its law: sums over them become integrals.
_t = sp.Symbol("t", real=True)
_p, _e = (sp.symbols(f"{name}_1 {name}_2", positive=True) for name in ("p", "e"))
_risk, _d, _T, _V = (sp.symbols(f"{name}_1 {name}_2", positive=True) for name in ("R", "delta", "T", "V"))
_v = tuple(sp.Function(f"v_{i}")(_t) for i in (1, 2))
_dv = tuple(v.diff(_t) for v in _v)
_c, _cT, _S = (sp.symbols(f"{a}_1{b} {a}_2{b}", commutative=False) for a, b in (("c", ""), ("c", "^T"), ("S", "")))
_Q = sp.Function("Q", commutative=False)(_t)
_F, _tr = sp.Function("F")(_t), sp.Function("tr")
_K11, _K12, _K22 = sp.symbols("K_11 K_12 K_22", positive=True)
_K = ((_K11, _K12), (_K12, _K22))
_NODES = (0, 1)


def _resolvent_moves(expression: sp.Expr) -> sp.Expr:
    """Q' = -Q M' Q of Q = M^-1, M = lam + sum p_k v_k S_k."""
    slope = sp.Add(*(_p[k] * _dv[k] * _S[k] for k in _NODES))
    return expression.subs(_Q.diff(_t), -_Q * slope * _Q)


_b, _bT = (sp.Symbol(name, commutative=False) for name in ("b", "b^T"))


def _brackets() -> list[sp.Expr]:
    """R_k = E[(y - features.theta)^2 | kappa_k] at theta = Q b."""
    return [_e[k] - _cT[k] * _Q * _b - _bT * _Q * _c[k] + _bT * _Q * _S[k] * _Q * _b for k in _NODES]


def _variation_claim() -> sp.Eq:
    return sp.Eq(_F.diff(_t), sp.Add(*(_p[k] * _risk[k] * _dv[k] for k in _NODES)))


def _variation() -> Iterator[Step]:
    for name, side in ((_b, _c), (_bT, _cT)):
        sums = sp.Add(*(_p[k] * _v[k] * side[k] for k in _NODES))
        yield Step(sums, Given(define=name), "the mean of `c v` over the nodes")
    yield Step(
        sp.Add(*(_p[k] * _e[k] * _v[k] for k in _NODES)) - _bT * _Q * _b,
        Given(name=_F),
        "the free energy, whose derivative at `t = 0` is the test risk; `e_k = E[y^2 | kappa_k]`",
    )
    yield Step(
        sp.Add(*(_p[k] * _dv[k] * bracket for k, bracket in zip(_NODES, _brackets(), strict=True))),
        Apply(lambda e: _resolvent_moves(e.diff(_t)), name=_F.diff(_t)),
        "its derivative, with `Q' = -Q M' Q` for `Q` = M`^-1`",
    )
    for k, bracket in zip(_NODES, _brackets(), strict=True):
        yield Step(
            bracket,
            Given(define=_risk[k]),
            f"the risk of `theta = Q b` at `kappa_{k + 1}`: `E[(y - features.theta)^2]`",
        )
    yield Step(_variation_claim().rhs, "=", "so `t` and `delta` move the free energy by the risk at the nodes")


def _trace_moves(delta: sp.Expr) -> sp.Expr:
    """The derivative of tr(S_k Q)/n; K_kl = tr(S_k Q S_l Q)/n."""
    (trace,) = delta.atoms(_tr)
    total = sp.Integer(0)
    for term in sp.Add.make_args(sp.expand(_resolvent_moves(trace.args[0].diff(_t)))):
        factors, letters = term.args_cnc()
        k, l = (_S.index(x) for x in letters if x in _S)
        assert letters == [_S[k], _Q, _S[l], _Q]
        total += sp.Mul(*factors) * _K[k][l]
    return total


def _continuum(equation: sp.Eq) -> sp.Eq:
    """The sum over the nodes as the integral over the density of kappa: the summand of node 2 at a running kappa."""
    T, R, K = (sp.Function(name) for name in ("T", "R", "K"))
    delta, phi = sp.Function("delta", nonnegative=True), sp.Function("phi", positive=True)
    summand = equation.rhs.coeff(_p[1]) * _p[1]
    assert summand.subs({_p[1]: _p[0], _K12: _K11, _T[1]: _T[0], _d[1]: _d[0]}) == equation.rhs.coeff(_p[0]) * _p[0]
    running = {_p[1]: phi(k2), _K12: K(k1, k2), _T[1]: T(k2), _d[1]: delta(k2)}
    return sp.Eq(T(k1), R(k1) + sp.Integral(summand.subs(running), (k2, -sp.oo, sp.oo)))


def _total() -> Iterator[Step]:
    weight = [1 / (1 + d) ** 2 for d in _d]
    sums = [sp.Add(*(_K[k][l] * _p[l] * _V[l] for l in _NODES)) for k in _NODES]
    yield Step(_tr(_S[0] * _Q) / n, reason="`delta` at the first node, which moves with `Q`")
    moved = -sp.Add(*(_K[0][l] * _p[l] * _dv[l] for l in _NODES))
    yield Step(moved, Apply(_trace_moves), "its derivative in `t`, with `K_kl = tr(S_k Q S_l Q)/n`")
    named = dict(zip(_dv, _V, strict=True))
    yield Step(
        sp.Eq(_V[0], 1 + weight[0] * sums[0]),
        Apply(lambda e: sp.Eq(_V[0], 1 - weight[0] * e.subs(named))),
        "the derivative `V_1` of `v_1 = 1/(1 + delta_1) + t`; the same holds of `V_2`",
    )
    yield Step(sp.Add(*(_p[k] * _risk[k] * _V[k] for k in _NODES)), Given(), "the test risk, by L1.variation")
    rest = {_risk[k]: _T[k] - sp.Add(*(_K[k][l] * _p[l] * weight[l] * _T[l] for l in _NODES)) for k in _NODES}
    inserted = sp.Add(*(_p[k] * rest[_risk[k]] * _V[k] for k in _NODES))
    yield Step(inserted, Substitute(rest), "with `T_k = R_k` + sum over `l` of `K_kl p_l T_l/(1 + delta_l)^2`")
    brackets = [_V[k] - weight[k] * sums[k] for k in _NODES]
    collected = sp.Add(*(_p[k] * _T[k] * bracket for k, bracket in zip(_NODES, brackets, strict=True)))
    yield Step(collected, "=", "collected by `T_k`: `K` is symmetric")
    yield Step(
        sp.Add(*(_p[k] * _T[k] for k in _NODES)),
        Apply(lambda e: e.subs(dict.fromkeys(brackets, 1))),
        "each bracket is 1, by the equation of `V_k`: the test risk is the mean of T",
    )
    solved = _risk[0] + sp.Add(*(_K[0][l] * _p[l] * weight[l] * _T[l] for l in _NODES))
    yield Step(sp.Eq(_T[0], solved), Given(), "and T solves, at the first node,")
    yield Step(total_risk(), Apply(_continuum), "for any law of `kappa`: the integral over its density `phi`")


_NOTATION = (
    "Two nodes `kappa_k` of weights `p_k` stand for the law of the spike's coordinate `kappa = u.x/|u|`; `S_k` is "
    "the second moment of the features there (L1.features), `c_k = E[y features | kappa_k]`, `v_k = 1/(1 + "
    "delta_k) + t, delta_k = tr(S_k Q)/n, Q` = (`lambda` + sum of `p_k v_k S_k`)`^(-1)`."
)

DERIVATIONS = (
    Derivation("L1.features", "The features given the spike's coordinate", _second_moment, _features, "L1"),
    Derivation("L1.variation", "What moves the free energy", _variation_claim, _variation, "L1", notation=_NOTATION),
    Derivation("L1.total", "The test risk at any step size", total_risk, _total, "L1", notation=_NOTATION),
    Derivation("L1.no_spike", "Without a spike", lambda: scalar_fixed_point(_population), _no_spike, "L1; O3"),
)
