"""Moments of a centred Gaussian pair cut by half-planes: the one recursion behind every closed-form dual kernel.

Every function that has a closed-form kernel here is a sum of terms z^i 1{s > a} (times an exponential), where s is z
itself (kinks) or z plus independent noise (Phi, erf: Phi(c z) = P(c z + w > 0)). A kernel is then a sum of

    M(i, j) = E[U^i V^j 1{s > a} 1{t > b}]

with U, V, s, t jointly Gaussian, and Gaussian integration by parts lowers i + j until a bivariate probability is left.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp


def normal_density(x: sp.Expr) -> sp.Expr:
    """phi(x) = exp(-x^2/2)/sqrt(2 pi)."""
    return sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)


def normal_cdf(x: sp.Expr) -> sp.Expr:
    """Phi(x) = (1 + erf(x/sqrt 2))/2."""
    if x == sp.oo:
        return sp.Integer(1)
    if x == -sp.oo:
        return sp.Integer(0)
    return (1 + sp.erf(x / sp.sqrt(2))) / 2


class Phi2(sp.Function):  # type: ignore[misc]
    """The bivariate normal cdf Phi2(h, k, r) = P(X <= h, Y <= k), X and Y standard normal with correlation r.

    Formula: Phi2 = Phi(h) Phi(k) + (1/2 pi) int_0^arcsin(r) exp(-(h^2 + k^2 - 2 h k sin a)/(2 cos^2 a)) da;
    Phi2(h, h, r) = Phi(h) - 2 T(h, sqrt((1 - r)/(1 + r))) with Owen's T. Phi2(0, 0, r) is elementary.
    Valid for: real h, k (infinite allowed), |r| <= 1.
    """

    nargs = 3

    @classmethod
    def eval(cls, h: sp.Expr, k: sp.Expr, r: sp.Expr) -> sp.Expr | None:
        """The elementary special values."""
        if h == -sp.oo or k == -sp.oo:
            return sp.Integer(0)
        if h == sp.oo:
            return normal_cdf(k)
        if k == sp.oo:
            return normal_cdf(h)
        if r == 0:
            return normal_cdf(h) * normal_cdf(k)
        if h == 0 and k == 0:
            return sp.Rational(1, 4) + sp.asin(r) / (2 * sp.pi)
        if r == 1:
            return normal_cdf(sp.Min(h, k))
        if r == -1:
            return sp.Max(0, normal_cdf(h) + normal_cdf(k) - 1)
        if sp.default_sort_key(h) > sp.default_sort_key(k):
            return cls(k, h, r)
        return None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """phi(h) Phi((k - r h)/sqrt(1 - r^2)) in h (and symmetrically in k); the bivariate density in r."""
        h, k, r = self.args
        root = sp.sqrt(1 - r**2)
        if argindex == 1:
            return normal_density(h) * normal_cdf((k - r * h) / root)
        if argindex == 2:
            return normal_density(k) * normal_cdf((h - r * k) / root)
        return sp.exp(-(h**2 + k**2 - 2 * r * h * k) / (2 * (1 - r**2))) / (2 * sp.pi * root)

    def _eval_evalf(self, prec: int) -> sp.Expr | None:
        import mpmath

        h, k, r = (x._eval_evalf(prec + 20) for x in self.args)
        if not all((x is not None and x.is_Float) or x.is_Rational for x in (h, k, r)):
            return None
        with mpmath.workprec(prec + 20):
            h, k, r = (x._to_mpmath(prec + 20) for x in (h, k, r))
            value = mpmath.ncdf(h) * mpmath.ncdf(k) + phi2_integral(h, k, r, mpmath) / (2 * mpmath.pi)
            return sp.Float._new(value._mpf_, prec)

    def _eval_is_extended_real(self) -> bool:
        return True

    @staticmethod
    def enclose(h: Any, k: Any, r: Any) -> Any:
        """The value in balls (arb) at the working precision, |r| < 1; half angles keep 1 -+ r free of cancellation."""
        from flint import arb, ctx

        from bulkedge.theory.numbers import ball

        # Products, not powers: arb ** 2 is nan on a ball around zero.
        plus, minus = -(h + k) * (h + k) / 8, -(h - k) * (h - k) / 8

        def integrand(a: Any, _: bool) -> Any:
            return (minus / a.sin() ** 2 + plus / a.cos() ** 2).exp()

        lower, upper = r.acos() / 2, arb.pi() / 4
        # What the radii of h and k leave undecided cannot be won by subdivision.
        near, far = (lower, upper) if r > 0 else (upper, lower)
        floor = minus.rad() / near.sin() ** 2 + plus.rad() / far.cos() ** 2
        if not floor < 2.0**-20:
            return arb("nan")  # h and k (or h and -k) cannot be told apart at this precision: more is needed
        half_width = ball.integrate(integrand, lower, upper, arb(2) ** (-ctx.prec) + floor.upper(), limit=20_000)
        cdf = [(1 + (x / arb(2).sqrt()).erf()) / 2 for x in (h, k)]
        return cdf[0] * cdf[1] + half_width / arb.pi()


def phi2_integral(h: Any, k: Any, r: Any, mp: Any) -> Any:
    """The integral over the angle in Phi2's formula, by mpmath (a plain number, no bound)."""
    plus, minus = (h + k) ** 2 / 4, (h - k) ** 2 / 4

    def integrand(a: Any) -> Any:
        s = mp.sin(a)
        return mp.exp(-minus / (1 - s) - plus / (1 + s)) if abs(s) != 1 else mp.mpf(0)

    top = mp.asin(r)
    return mp.quad(integrand, [0, top / 2, top * 7 / 8, top * 31 / 32, top])


@dataclass(frozen=True)
class Cut:
    """The half-line factor 1{s > threshold}: covariances of s with U and V, its variance and its threshold."""

    u: sp.Expr
    v: sp.Expr
    variance: sp.Expr
    threshold: sp.Expr

    @property
    def density(self) -> sp.Expr:
        """The density of s at the threshold."""
        root = sp.sqrt(self.variance)
        return normal_density(self.threshold / root) / root


@dataclass(frozen=True)
class Pair:
    """Two jointly Gaussian variables U, V with means and covariance, and up to two cuts with covariance `cross`."""

    mean_u: sp.Expr
    mean_v: sp.Expr
    uu: sp.Expr
    uv: sp.Expr
    vv: sp.Expr
    first: Cut | None = None
    second: Cut | None = None
    cross: sp.Expr = sp.S.Zero

    def swapped(self) -> Pair:
        """The same pair with the two cuts exchanged."""
        return replace(self, first=self.second, second=self.first)

    def given_first(self) -> Pair:
        """The conditional law given that the first cut's variable is at its threshold."""
        s = self.first
        assert s is not None
        share = s.threshold / s.variance
        conditioned = Pair(
            self.mean_u + s.u * share,
            self.mean_v + s.v * share,
            _tidy(self.uu - s.u**2 / s.variance),
            _tidy(self.uv - s.u * s.v / s.variance),
            _tidy(self.vv - s.v**2 / s.variance),
        )
        t = self.second
        if t is None:
            return conditioned
        rest = Cut(
            _tidy(t.u - self.cross * s.u / s.variance),
            _tidy(t.v - self.cross * s.v / s.variance),
            _tidy(t.variance - self.cross**2 / s.variance),
            t.threshold - self.cross * share,
        )
        return replace(conditioned, first=rest)


def _tidy(x: sp.Expr) -> sp.Expr:
    """Over one denominator, so that square roots come out as sqrt(q11 q22 - q12^2)/sqrt(q11)."""
    return sp.factor(sp.together(x))


def probability(pair: Pair) -> sp.Expr:
    """P(s > a, t > b), with a missing cut always satisfied."""
    s, t = pair.first, pair.second
    if s is None and t is None:
        return sp.Integer(1)
    if s is None or t is None:
        cut = s or t
        assert cut is not None
        if cut.variance == 0:  # a variable fixed by the conditioning: only its side matters
            return sp.Heaviside(-cut.threshold, sp.Rational(1, 2))
        return normal_cdf(-cut.threshold / sp.sqrt(cut.variance))
    a, b = sp.sqrt(s.variance), sp.sqrt(t.variance)
    return Phi2(-s.threshold / a, -t.threshold / b, pair.cross / (a * b))


@functools.lru_cache(maxsize=16384)
def moment(i: int, j: int, pair: Pair) -> sp.Expr:
    """M(i, j) = E[U^i V^j 1{s > a} 1{t > b}].

    Formula: E[U G] = E[U] E[G] + Cov(U,U) E[G_U] + Cov(U,V) E[G_V] + Cov(U,s) phi_s(a) E[G | s = a] + (the same for t).
    Source: H4 (Gaussian integration by parts).
    """
    if i == 0 and j > 0:
        flipped = Pair(
            pair.mean_v, pair.mean_u, pair.vv, pair.uv, pair.uu, _flip(pair.first), _flip(pair.second), pair.cross
        )
        return moment(j, 0, flipped)
    if i == 0:
        return probability(pair)
    total = pair.mean_u * moment(i - 1, j, pair) if pair.mean_u != 0 else sp.Integer(0)
    if i > 1 and pair.uu != 0:
        total += (i - 1) * pair.uu * moment(i - 2, j, pair)
    if j > 0 and pair.uv != 0:
        total += j * pair.uv * moment(i - 1, j - 1, pair)
    for ordered in (pair, pair.swapped()):
        cut = ordered.first
        if cut is not None and cut.u != 0:
            total += cut.u * cut.density * moment(i - 1, j, ordered.given_first())
    # Left unexpanded the expression would double in size at every level. Not so with cuts away from zero, whose
    # exponentials expanding would take apart, or with noise, whose denominators it would multiply out.
    cuts = [c for c in (pair.first, pair.second) if c is not None]
    plain = pair.mean_u == pair.mean_v == 0 and all(c.threshold == 0 and not c.variance.is_Add for c in cuts)
    return sp.expand(total) if plain or not cuts else total


def _flip(cut: Cut | None) -> Cut | None:
    return None if cut is None else replace(cut, u=cut.v, v=cut.u)
