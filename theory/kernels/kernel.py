"""Dual kernels: E[f(u) g(v)] for a centred Gaussian pair, in closed form, as a series and near correlation one.

A kernel is a function of the three covariances q11 = Var u, q12 = Cov(u, v), q22 = Var v; at unit variances it is a
function of the correlation rho alone. Activation with activation gives the conjugate kernel, activation with link the
cross-kernel. The closed form is a claim about the functions: its Taylor coefficients at rho = 0 must be c_k(f) c_k(g).
"""

from __future__ import annotations

import functools
import warnings
from fractions import Fraction
from math import factorial, prod

import sympy as sp

from bulkedge.theory.functions.growth import SQUARE_INTEGRABLE
from bulkedge.theory.functions.nonlinearity import Delta, Nonlinearity, Piece, product
from bulkedge.theory.functions.parametric import admissible, at, symbols_of
from bulkedge.theory.functions.polynomial import multiplied_out
from bulkedge.theory.functions.signs import sign_of
from bulkedge.theory.gaussian.bivariate import normal_density
from bulkedge.theory.gaussian.gaussian import best_enclosure, expectation, moment
from bulkedge.theory.gaussian.hermite import general_term
from bulkedge.theory.gaussian.terms import dual_of_delta, dual_of_deltas, dual_of_terms, swapped, terms, tidied
from bulkedge.theory.kernels.power_kernel import power_dual
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import k, q11, q12, q22, rho, z, z1, z2

# 1 - rho, the distance from perfect correlation.
e = sp.Symbol("e", positive=True)

_GUARD_RHO, _GUARD_DEGREE, GUARD_DIGITS = Fraction(2, 5), 8, 8  # of `agrees`

LONG = 12  # the total degree of two polynomials beyond which their kernel is not multiplied out
UNIT = {q11: sp.Integer(1), q22: sp.Integer(1), q12: rho}


def dual(f: Nonlinearity, g: Nonlinearity | None = None) -> sp.Expr | None:
    """E[f(u) g(v)] in theory.numbers.symbols q11, q12, q22, or None where no closed form is known. g defaults to f.

    Formula: kappa_fg(q11, q12, q22) = E[f(u) g(v)], (u, v) ~ N(0, [[q11, q12], [q12, q22]]).
    Valid for: q11, q22 > 0, q12^2 < q11 q22; f and g with kinks anywhere, deltas included (then a distributional
    kernel: dual(f', f') = d/dq12 dual(f, f)). Piecewise polynomials, exponentials of quadratics, sines, error
    functions and their products have a closed form; tanh, the logistic function and their like have none.
    Source: K1, K3.
    """
    g = f if g is None else g
    raw = _raw(f, g)
    # Two long polynomials stay factored degree by degree; multiplied out they would have thousands of terms.
    return raw if raw is None or raw.has(sp.hyper) or _long_polynomials(f, g) else tidied(raw)


def _long_polynomials(f: Nonlinearity, g: Nonlinearity) -> bool:
    return f.degree is not None and g.degree is not None and f.degree + g.degree > LONG


def _dual_of_polynomials(f: Nonlinearity, g: Nonlinearity) -> sp.Expr:
    """sum_k q12^k a_k(q11) b_k(q22)/k!, a_k = E[f(sqrt(q) z) He_k(z)]/q^(k/2) = sum_j p_(k+2j) (k+2j)!/(2^j j!) q^j."""

    def series(h: Nonlinearity, q: sp.Symbol) -> list[sp.Expr]:
        p = sp.Poly(h.pieces[0].expr, z).all_coeffs()[::-1]
        return [
            sp.Add(*(p[m] * factorial(m) / (2 ** ((m - k) // 2) * factorial((m - k) // 2)) * q ** ((m - k) // 2)
                     for m in range(k, len(p), 2)))
            for k in range(len(p))
        ]  # fmt: skip

    pairs = zip(series(f, q11), series(g, q22), strict=False)
    return sp.Add(*(a * b * q12**n / factorial(n) for n, (a, b) in enumerate(pairs)))


def dual_of_correlation(f: Nonlinearity, g: Nonlinearity | None = None) -> sp.Expr | None:
    """E[f(z1) g(z2)] in theory.numbers.symbols.rho at unit variances, or None where no closed form is known.

    Source: K1.
    """
    raw = _raw(f, f if g is None else g)
    return raw if raw is None else raw.subs(UNIT) if raw.has(sp.hyper) else tidied(raw.subs(UNIT))


@functools.lru_cache(maxsize=512)
def _raw(f: Nonlinearity, g: Nonlinearity) -> sp.Expr | None:
    if _long_polynomials(f, g):
        return _dual_of_polynomials(f, g)
    tf, tg = terms(f), terms(g)
    if tf is None or tg is None:
        closed = power_dual(f, g)
        return closed if closed is None or _confirmed(closed, f, g) else None
    total = dual_of_terms(tf, tg)
    total += sp.Add(*(dual_of_delta(d, tg) for d in f.deltas))
    total += sp.Add(*(swapped(dual_of_delta(d, tf)) for d in g.deltas))
    total += sp.Add(*(dual_of_deltas(a, b) for a in f.deltas for b in g.deltas))
    closed = _real(total) if total.has(sp.I) else total
    if closed is None or f.deltas or g.deltas:
        return closed
    return closed if _confirmed(closed, f, g) else None


def _confirmed(closed: sp.Expr, f: Nonlinearity, g: Nonlinearity) -> bool:
    symbols = symbols_of(f, g)
    if not symbols:
        true = agrees(closed, f, g)
    else:  # at two sets of admissible values: the functions are then certified anew, as plain ones
        sets = [admissible(symbols, index) for index in range(2)]
        true = all(agrees(closed.subs(values), at(f, values), at(g, values)) for values in sets)
    if true:
        return True
    warnings.warn(f"the closed kernel of {f.name} contradicts its series and is not used: report it", stacklevel=3)
    return False


def agrees(closed: sp.Expr, f: Nonlinearity, g: Nonlinearity) -> bool:
    """Whether a closed form is within the series' tail of sum c_k(f) c_k(g) rho^k at unit variances, rho = 2/5.

    The claim is tested once for each pair of functions, by enclosures that know nothing of it: a lost term shows.
    Valid for: f and g without deltas.  Source: K1.
    """
    total = Enclosure(Fraction(0), Fraction(0), "exact")
    for n in range(_GUARD_DEGREE + 1):
        x, y = (_rough_moment(h, n) for h in (f, g))
        total = total + x * y * Enclosure(_GUARD_RHO**n / factorial(n), Fraction(0), "exact")
    # E f^2 E g^2, the errors covered by the factors.
    squares = 4 * prod(best_enclosure(product(h, h), GUARD_DIGITS).value for h in (f, g))
    with ball.precision(120):
        value = ball.constant(closed.subs(UNIT).subs(rho, sp.Rational(_GUARD_RHO)))
        if not value.is_finite():
            return True  # 0/0 at this point: nothing can be said
        found = ball.to_enclosure(value)
    gap = abs(found.value - total.value) - found.error - total.error
    return gap <= 0 or gap**2 <= _GUARD_RHO ** (2 * _GUARD_DEGREE + 2) * squares


def _rough_moment(f: Nonlinearity, n: int) -> Enclosure:
    """E[f He_n] to an absolute error: relative digits of a moment far out in the Gaussian's tail cost seconds."""
    exact = moment(f, n)
    if exact is not None:
        with ball.precision(400):
            value = ball.constant(exact)
            if value.is_finite():
                return ball.to_enclosure(value)
    return best_enclosure(f, GUARD_DIGITS, n)


def _real(expr: sp.Expr) -> sp.Expr | None:
    """A kernel of sines, written by imaginary tilts, in real functions; None where it has none that are named.

    The kernel is real, so what carries a factor i once every function of it is real cancels. A kink at zero beside a
    sine gives erf(i x) = i erfi(x); one elsewhere gives erf of a complex number, which no named real function is.
    """

    def tilt(x: sp.Expr) -> sp.Expr:
        re, im = sp.expand(x).as_real_imag()
        return sp.exp(re) * (sp.cos(im) + sp.I * sp.sin(im)) if im != 0 else sp.exp(re)

    def error_function(x: sp.Expr) -> sp.Expr:
        re, im = sp.expand(x).as_real_imag()
        return sp.I * sp.erfi(im) if re == 0 else sp.erf(x)

    opened = expr.replace(sp.exp, lambda x: tilt(x) if x.has(sp.I) else sp.exp(x))
    opened = opened.replace(sp.erf, lambda x: error_function(x) if x.has(sp.I) else sp.erf(x))
    # Not coeff(I, 0) alone: an i inside a function makes a real addend of an imaginary one, and the other way round.
    addends = sp.Add.make_args(sp.expand(opened))
    if any(factor.has(sp.I) for x in addends for factor in sp.Mul.make_args(x) if factor is not sp.I):
        return None
    return sp.Add(*(x for x in addends if not x.has(sp.I)))


def coefficient(f: Nonlinearity, g: Nonlinearity | None = None) -> sp.Expr | None:
    """The coefficient of rho^k as an expression in theory.numbers.symbols.k, right for every k >= 0, or None.

    Formula: c_k(f) c_k(g), orthonormal. Source: H4, K1.
    """
    cf = general_term(f)
    cg = cf if g is None else general_term(g)
    if cf is None or cg is None:
        return None
    if isinstance(cf, sp.Piecewise) and cf == cg:
        return sp.Piecewise(*((_squared(value), condition) for value, condition in cf.args))
    return _squared(cf) if cf == cg else cf * cg


def _squared(x: sp.Expr) -> sp.Expr:
    """The square; the square of a unit (-1)^n is dropped."""
    coef, rest = x.as_coeff_Mul()
    units = [u for u in sp.Mul.make_args(rest) if u.is_Pow and u.base == -1]
    return coef**2 * sp.Mul(*(u**2 for u in sp.Mul.make_args(rest) if u not in units))


def scaled(f: Nonlinearity, s: sp.Expr, bounded: bool = False) -> Nonlinearity:
    """The function z -> f(s z), s a non-zero real constant.

    Errors: InputError where f(s z) is no longer square integrable; not with `bounded`, where z stays in a bounded set.
    """
    if s == 1:
        return f
    flip = sign_of(s) < 0
    pieces = []
    for piece in reversed(f.pieces) if flip else f.pieces:
        lower, upper = (piece.upper / s, piece.lower / s) if flip else (piece.lower / s, piece.upper / s)
        expr = sp.expand(piece.expr.subs(z, s * z), power_exp=False, power_base=False, log=False)
        # (s z)^p as s^p z^p, of which the closed forms know.
        expr = expr.replace(lambda e: e.is_Pow and e.base.is_Mul and not e.exp.is_Integer, sp.expand_power_base)
        moved = Piece(lower, upper, expr)
        if not bounded and (lower.is_infinite or upper.is_infinite):
            _check_growth(moved, f.name, s)
        pieces.append(moved)
    deltas = tuple(Delta(d.at / s, d.order, d.weight / (sp.Abs(s) * s**d.order)) for d in f.deltas)
    return Nonlinearity(f"{f.name} at scale {s}", tuple(pieces), deltas)


def _check_growth(piece: Piece, name: str, s: sp.Expr) -> None:
    """The square must stay integrable: a kernel is finite at a variance only if f is in L2 of that Gaussian."""
    try:
        finite = piece.growth.c2 < SQUARE_INTEGRABLE
    except InputError:
        finite = False
    if not finite:
        raise InputError("FUNCTION", f"{name} at scale {s} is not square integrable", "give smaller variances")


def shifted(f: Nonlinearity, a: sp.Expr) -> Nonlinearity:
    """The function z -> f(a + z), a a real constant: f of a variable of mean a as a function of the centred one.

    It is in L2 of the Gaussian with f: the exponent of z^2 in the growth stays.
    Errors: InputError where that cannot be shown.
    """
    if a == 0:
        return f
    name = f"{f.name} at mean {a}"
    pieces = []
    for piece in f.pieces:
        expr = piece.expr.subs(z, z + a)
        if expr.is_polynomial(z):
            expr = multiplied_out(expr)
        else:
            expr = sp.expand(expr, power_exp=False, power_base=False, log=False)
        pieces.append(Piece(piece.lower - a, piece.upper - a, expr))
        try:
            finite = pieces[-1].growth.c2 < SQUARE_INTEGRABLE
        except InputError:
            finite = False
        if not finite:
            raise InputError("mean", f"{name} cannot be shown to be square integrable", "give a mean nearer to zero")
    return Nonlinearity(name, tuple(pieces), tuple(Delta(d.at - a, d.order, d.weight) for d in f.deltas))


def at_correlation_one(f: Nonlinearity, g: Nonlinearity, sign: int = 1) -> sp.Expr | None:
    """E[f(z) g(sign z)], exact, or None where no closed form is known."""
    return expectation(product(f, scaled(g, sp.Integer(sign))))


def expansion_at_one(f: Nonlinearity, order: int = 3, g: Nonlinearity | None = None) -> sp.Expr | None:
    """The kernel at rho = 1 - e up to e^order, half-integer powers included, or None where no closed form is known.

    Formula: kappa_fg(1 - e) = E[f g] - int_0^e kappa_f'g'(1 - x) dx; a common kink of f' and g' enters through
    E[delta_t(u) delta_t(v)] = exp(-t^2/(2 - e))/(2 pi sqrt(e (2 - e))), the source of the half-integer powers.
    A kink with slope jump J at t contributes sqrt(2) J^2 exp(-t^2/2) e^(3/2)/(3 pi).
    Valid for: unit variances, f and g without deltas; e -> 0+. Source: K1.
    """
    y = sp.Dummy("y", positive=True)
    expansion = _near_one(f, f if g is None else g, 2 * order, y)
    return None if expansion is None else expansion.subs(y, sp.sqrt(e))


def _near_one(f: Nonlinearity, g: Nonlinearity, top: int, y: sp.Symbol) -> sp.Expr | None:
    """The expansion in y = sqrt e up to y^top."""
    if top < 0 or f.is_zero or g.is_zero:
        return sp.Integer(0)
    constant = expectation(product(f, g))
    if constant is None:
        return None
    if top < 1:
        return constant
    try:
        df, dg = f.derivative(), g.derivative()
    except InputError:  # no function: the kernel's expansion has other powers than halves (|z|^p has e^(p + 1/2))
        return None
    rf, rg = (Nonlinearity(h.name, h.pieces) for h in (df, dg))
    slope = _near_one(rf, rg, top - 2, y)
    if slope is None:
        return None
    slope += sp.Add(*(_delta_near_one(d, rg, top - 2, y) for d in df.deltas))
    slope += sp.Add(*(_delta_near_one(d, rf, top - 2, y) for d in dg.deltas))
    for a in df.deltas:
        for b in dg.deltas:
            if sign_of(a.at - b.at) == 0:  # two kinks apart: exponentially small in 1/e
                smooth = sp.exp(-(a.at**2) / (2 - y**2)) / (2 * sp.pi * sp.sqrt(2 - y**2))
                slope += a.weight * b.weight * _series(smooth, y, top - 1) / y
    # d e = 2 y d y
    return constant - sp.integrate(sp.expand(2 * y * slope), y)


def _delta_near_one(a: Delta, g: Nonlinearity, top: int, y: sp.Symbol) -> sp.Expr:
    """weight phi(t) E[g(v) | u = t], v = t + h, h ~ N(-e t, e (2 - e)), by one-sided Taylor expansions of g at t."""
    if top < 0:
        return sp.Integer(0)
    t = a.at
    mean, sd = -(y**2) * t, y * sp.sqrt(2 - y**2)
    right, left = _sides(g, t)
    density = normal_density(t)
    at = y * t / sp.sqrt(2 - y**2)
    whole: list[sp.Expr] = [sp.Integer(1), mean]
    above: list[sp.Expr] = [
        (1 - sp.erf(at / sp.sqrt(2))) / 2,
        mean * (1 - sp.erf(at / sp.sqrt(2))) / 2 + sd * normal_density(at),
    ]
    for n in range(2, top + 1):
        whole.append(mean * whole[-1] + (n - 1) * sd**2 * whole[-2])
        above.append(mean * above[-1] + (n - 1) * sd**2 * above[-2])
    total = sp.Integer(0)
    for n in range(top + 1):
        r, s = (sp.diff(side, z, n).subs(z, t) / sp.factorial(n) for side in (right, left))
        total += s * whole[n] + ((r - s) * above[n] if sp.expand(r - s) != 0 else 0)
    return a.weight * density * _series(total, y, top)


def _sides(g: Nonlinearity, t: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The smooth expressions of g on the right and on the left of t."""
    for left, right in zip(g.pieces, g.pieces[1:], strict=False):
        if left.upper == t:
            return right.expr, left.expr
    inside = next(p for p in g.pieces if p.upper is sp.S.Infinity or sign_of(p.upper - t) > 0)
    return inside.expr, inside.expr


def _series(expr: sp.Expr, y: sp.Symbol, top: int) -> sp.Expr:
    """The Taylor polynomial at y = 0 of an analytic expression, up to y^top."""
    return sp.expand(sp.series(sp.expand(expr), y, 0, top + 1).removeO()) if expr.has(y) else expr


# ---- the statements, as SymPy ------------------------------------------------------------------------------------

_sigma = sp.Function("sigma")
_kappa = sp.Function("kappa")
_E = sp.Function("E")
_c = sp.IndexedBase("c")


def series_statement() -> sp.Eq:
    """K1: the dual activation and its series, sum of c_k^2 rho^k."""
    return sp.Eq(_E(_sigma(z1) * _sigma(z2)), sp.Sum(_c[k] ** 2 * rho**k, (k, 0, sp.oo)))


STATEMENTS = (
    Statement(
        id="K1",
        title="Dual kernels: closed forms, series, tail, and the expansion at correlation one",
        formula=series_statement,
        assumptions=(
            "`z1, z2 ~ N`(0, 1) with correlation `rho` in [-1, 1]; `sigma` in L2 of the Gaussian",
            "tail after degree `K` at most `|rho|^(K+1) (E sigma^2 - sum_{k<=K} c_k^2)`",
            "unequal variances: `rho = q12/sqrt(q11 q22)` and the coefficients of `sigma(sqrt(q) z)`",
        ),
        sources=(
            "P11: Cho and Saul 2009 (arc-cosine kernels; their `k_p` is twice the expectation)",
            "Daniely et al. 2016",
        ),
        figure="K.kernels",
    ),
)
