"""O5: the gain of one step in non-negative terms, the floor, growth in the step and in the batch, wide networks."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bulkedge.derivations.engine.derivation import Apply, Derivation, Given, Root, Step, Substitute, Tends, Using
from bulkedge.theory.numbers.symbols import eta, g_res, kappa, lam, mu1, mu1_star, mu2, mu2_star, psi1, psi2, s_eps
from bulkedge.theory.risk import gain, ridge

X = mu2**2 + kappa
T = psi2 * g_res + 1 - psi2
_Y = eta**2 * mu1**2 * (1 - g_res)
_U, _F = gain.norm2, gain.factor
_step2 = sp.Symbol("h", positive=True)
_DF, _SHARE, _TURN, _OWN = sp.symbols("D_2 f r_N p_N", nonnegative=True)
_GROWTH, _LOSS = sp.symbols("delta_h delta_U", real=True)


def _enhancement() -> sp.Expr:
    """E with |u|^2 as a symbol of its own, which does not depend on kappa."""
    return _Y / (1 + _U * _Y)


def _less_its_slope(expr: sp.Expr) -> sp.Expr:
    """e - kappa e', with g' of the quadratic."""
    return expr - kappa * ridge.derivative(expr)


def _define() -> Iterator[Step]:
    """The names of the parts."""
    slope = kappa * ridge.resolvent_derivative()
    yield Step(T, Given(define=gain.missed), "what the features miss of a linear function at step 0")
    yield Step(_Y, Given(define=gain.step), "the step")
    yield Step(mu2**2 / X + slope / g_res, Given(define=gain.own), "not negative: `0 < g <` 1 and `g' >` 0")
    yield Step(slope / (1 - g_res), Given(define=gain.turn), "likewise")


def _gain() -> Iterator[Step]:
    yield from _define()
    missed = T * (1 - mu1_star**2 * _enhancement())
    yield Step(
        mu1_star**2 * (_less_its_slope(T) - _less_its_slope(missed)) / _F,
        Given(name=gain.improvement),
        "`kappa` and F do not depend on the step, `A = t` (1 - `mu1_star^2` E) does (O3): the difference of two risks",
    )
    yield Step(
        mu1_star**4 * _less_its_slope(T * _enhancement()) / _F,
        "=",
        ("`e - kappa e'` is linear in `e`: only `t` E is left"),
    )
    yield Step(
        gain.gain_in_parts(),
        Using(ridge.resolvent_equation(), kappa),
        "`t - kappa t' = t (p + r)` and `-kappa E' (1 + U y_eta)^2 = r y_eta`, since the quadratic of `g` gives "
        "`g'/g + t'/t + g'/(1 - g) = 1/x`",
    )


def _missed() -> Iterator[Step]:
    yield from _define()
    yield Step(
        _less_its_slope(T * (1 - mu1_star**2 * _enhancement())),
        Given(name=gain.linear_miss),
        "the linear part that is missed, `A - kappa A'`",
    )
    yield Step(
        gain.missed_in_parts(),
        Using(ridge.resolvent_equation(), kappa),
        "in the same parts; `U - mu1_star^2 = E y^2/alpha` is not negative, so no term is",
    )


def _floor() -> Iterator[Step]:
    top = mu2_star**2 + s_eps**2 + mu1_star**2 * gain.linear_miss
    yield Step(top / _F - s_eps**2, Given(), "the test risk of O3, F = 1 - `df2/n`, M = `A - kappa A'`")
    yield Step(
        ((mu2_star**2 + s_eps**2) * (1 - _F) + mu1_star**2 * gain.linear_miss) / _F,
        Apply(lambda e: e - mu2_star**2),
        "less `mu2_star^2`, the risk of the best linear model",
    )
    yield Step(
        gain.excess_in_parts(),
        Substitute({gain.linear_miss: gain.missed_in_parts()}, name=gain.excess),
        "M is not negative, and neither is 1 - F = `df2/n`: `R >= mu2_star^2`",
    )


def _used() -> Iterator[Step]:
    degrees = ridge.degrees_of_freedom()
    yield Step(
        degrees + kappa * ridge.derivative(degrees), Given(name=_DF), ("`df2/n = D + kappa D', D` = `df1/n` of O3")
    )
    yield Step(
        gain.used_share(),
        Using(ridge.resolvent_equation(), kappa),
        "the squared mean of `omega/(omega + kappa)` over the features' spectrum, and its variance",
    )


def _factor() -> Iterator[Step]:
    degrees = ridge.degrees_of_freedom()
    yield Step(
        lam / kappa - kappa * ridge.derivative(degrees),
        Given(name=_SHARE),
        "F = 1 - `D - kappa D'` with 1 - `D = lam/kappa`",
    )
    yield Step(gain.sampling_factor(), "=", "`D'` written out: F `>` 0")


def _grows() -> Iterator[Step]:
    yield from _define()
    y = _step2 * mu1**2 * (1 - g_res)
    yield Step(gain.gain_in_parts().subs(gain.step, y), Given(), "the gain as a function of `h = eta^2`")
    yield Step(
        gain.step_growth().subs(gain.step, y),
        Apply(lambda e: sp.diff(e, _step2)),
        "its derivative: one sign at every `n/d`, so a larger step gains more",
    )
    yield Step(gain.step_growth(), Substitute({_step2: eta**2}, name=_GROWTH), "at `h = eta^2`")


def _batch() -> Iterator[Step]:
    yield Step(gain.gain_in_parts(), Given(), "the gain as a function of `U = mu1_star^2 + E y^2/alpha, alpha = n1/d`")
    yield Step(
        gain.batch_growth(),
        Apply(lambda e: sp.diff(e, _U), name=_LOSS),
        "its derivative is not positive, and `U` decreases in `n1`",
    )


def _largest() -> Iterator[Step]:
    yield Step(gain.gain_in_parts(), Given(), "the gain")
    yield Step(gain.largest_gain(), Tends(gain.step, name=gain.largest), "`y_eta` is proportional to `eta^2`")


def _wide() -> Iterator[Step]:
    # kappa stands for tau: the effective ridge is tau/epsilon, N/d = 1/epsilon.
    q, small = sp.symbols("q epsilon", positive=True)
    wide = {kappa: kappa / small, psi2: 1 / small, g_res: 1 - small * q}
    slope = (kappa * ridge.resolvent_derivative()).subs(wide, simultaneous=True)
    yield Step(
        ridge.resolvent_equation().lhs.subs(wide, simultaneous=True),
        Given(),
        "the quadratic of `g` at `N/d = 1/epsilon, kappa = tau/epsilon, g = 1 - epsilon q`",
    )
    yield Step(mu1**2 * (1 - q) - kappa * q, Tends(small, 0), "a wide network")
    yield Step(mu1**2 / (mu1**2 + kappa), Root(q), "so `t = 1 - q = tau/(mu1^2 + tau)`")
    yield Step(slope / (small * q), Given(), "`r = kappa g'/(1 - g)`")
    yield Step(kappa / (mu1**2 + kappa), Tends(small, 0, name=_TURN), "in the limit")
    yield Step(mu2**2 / X.subs(wide) + slope / (1 - small * q), Given(), "p")
    yield Step(sp.Integer(0), Tends(small, 0, name=_OWN), "in the limit")
    yield Step(
        gain.gain_in_parts().subs(gain.step, small * eta**2 * mu1**2 * q) / small, Given(), ("the gain times `N/d`")
    )
    gone = mu1_star**4 * gain.missed * eta**2 * mu1**2 * q * (gain.own + 2 * gain.turn) / _F
    yield Step(gone, Tends(small, 0), "`y_eta` is of order `d/N`: the step's parts are linear in it")
    level = mu1**2 + kappa
    values = {
        gain.missed: kappa / level,
        gain.turn: kappa / level,
        gain.own: 0,
        q: mu1**2 / level,
        _F: 1 - mu1**4 / (level**2 * psi1),
    }
    yield Step(
        gain.wide_gain(), Substitute(values, name=gain.fading), "the limits; F of the kernel limit (theory.risk.ridge)"
    )


_SOURCE = "O5; paper O, Theorem 5 and Fact 4"
_NOTATION = (
    "`x = mu2^2 + kappa`; `g, t, E, A, D` and the effective ridge `kappa` as in O3; `y_eta = eta^2 mu1^2 (1 - g)`, "
    "`p = mu2^2/x + kappa g'/g`, `r = kappa g'/(1 - g)`, `U = |u|^2 >= mu1_star^2`, `F = 1 - df2/n`."
)
_DOMAIN = (g_res < 1, psi2 < 1)

DERIVATIONS = (
    Derivation("O5.gain", "The gain of one step", gain.gain_statement, _gain, _SOURCE, _DOMAIN, _NOTATION),
    Derivation(
        "O5.missed",
        "What is missed of the linear part",
        gain.missed_statement,
        _missed,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "O5.floor",
        "No better than the best linear model",
        gain.excess_statement,
        _floor,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "O5.used",
        "`df2/n` as a sum of squares",
        lambda: sp.Eq(_DF, gain.used_share()),
        _used,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "O5.factor",
        "The sampling factor",
        lambda: sp.Eq(_SHARE, gain.sampling_factor()),
        _factor,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "O5.step",
        "The gain increases in the step",
        lambda: sp.Eq(_GROWTH, gain.step_growth()),
        _grows,
        "O5; derived here",
        _DOMAIN,
        _NOTATION + " `delta_h` is the derivative of the gain in `h = eta^2`.",
    ),
    Derivation(
        "O5.batch",
        "The gain increases in the batch",
        lambda: sp.Eq(_LOSS, gain.batch_growth()),
        _batch,
        "O5; derived here",
        _DOMAIN,
        _NOTATION + " `delta_U` is the derivative of the gain in `U`.",
    ),
    Derivation(
        "O5.largest",
        "The gain of a large step",
        gain.largest_statement,
        _largest,
        _SOURCE,
        _DOMAIN,
        _NOTATION,
    ),
    Derivation(
        "O5.wide",
        "The gain of a wide network fades as `d/N`",
        gain.wide_statement,
        _wide,
        "O5; paper O, Theorem 5 (`N/d ->` infinity)",
        (),
        _NOTATION + " Here `kappa` stands for `tau = kappa d/N`, `delta_N` for the limit of the gain times `N/d`.",
    ),
)
