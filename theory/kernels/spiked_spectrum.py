"""G6: the exact spectrum of the kernel with weights N(0, Gamma/d), Gamma = A I + B w* w*^T, at any finite d.

For sigma positively homogeneous of degree p, sigma(w.x) = |w|^p |x|^p sigma(w^.x^), so that on
phi_l = |x|^p Y_l(x/|x|)/sqrt(M_p), M_p = E|x|^{2p}, the operator is eta_l eta_l' M_p E_w[|w|^{2p} Y_l Y_l'(w^)]: the
Funk-Hecke numbers on both sides of a multiplication operator. The directions w^ have an angular central Gaussian law,
which depends on t = w^.w* alone, so that the rotations about w* split the matrix into sectors j.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.kernels.sphere import relu_power
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import Erratum, Statement
from bulkedge.theory.numbers.symbols import A, B, d

t = sp.Symbol("t", real=True)
u = sp.Symbol("u", real=True)
ONE = sp.Integer(1)


def funk_hecke(degree: int, power: sp.Expr = ONE, dimension: sp.Expr = d) -> sp.Expr:
    """eta_l = E[t_+^p P_l(t)], t the first coordinate of a uniform point of the sphere of R^d: K2, at one degree.

    0 for l - p even and positive, where the formula has a Gamma function at a pole. Real p > -1/2 as well.
    """
    p, l = sp.sympify(power, strict=True), sp.Integer(degree)
    if ((l - p) / 2).is_integer and l > p:
        return sp.Integer(0)
    return relu_power(p, dimension, l).replace(sp.factorial, lambda x: sp.gamma(x + 1))


def radial_moment(power: sp.Expr, dimension: sp.Expr = d) -> sp.Expr:
    """M_p = E|x|^{2p}, x ~ N(0, I_d): 2^p Gamma(d/2 + p)/Gamma(d/2)."""
    p = sp.sympify(power, strict=True)
    return sp.expand_func(2**p * sp.gamma(dimension / 2 + p) / sp.gamma(dimension / 2))


def multiplicity(dimension: sp.Expr, degree: int) -> sp.Expr:
    """N(d, l), the number of spherical harmonics of degree l on the sphere of R^d (for d = 2: 1, 2, 2, ...)."""
    if degree == 0:
        return sp.Integer(1)
    # (2l+d-2)/l! times the product (d-1) d ... (d+l-3): no pole at d = 2, where (d+l-2)!/(d-2)! would need a limit.
    rising = sp.prod([dimension - 1 + i for i in range(degree - 1)])
    return (2 * degree + dimension - 2) * rising / sp.factorial(degree)


def legendre(degree: int, dimension: sp.Expr, variable: sp.Expr = t) -> sp.Expr:
    """P_l, the Legendre polynomial of a dimension, P_l(1) = 1: Gegenbauer's divided by its value at one.

    Valid for: dimension >= 2 (at 2 the Chebyshev polynomials, which Gegenbauer's normalisation loses).
    """
    previous, current = sp.Integer(1), variable
    if degree == 0:
        return previous
    # The first step of the recurrence has the factor (D-2)/(D-2), cancelled here by hand.
    for m in range(1, degree):
        following = ((2 * m + dimension - 2) * variable * current - m * previous) / (m + dimension - 2)
        previous, current = current, sp.cancel(following)
    return current


def associated(degree: int, j: int, dimension: sp.Expr = d, variable: sp.Expr = t) -> sp.Expr:
    """f_{l,j}(t) = (1-t^2)^{j/2} sqrt(N(d+2j, l-j)/E(1-t^2)^j) P_{l-j}(t), P in dimension d + 2j: orthonormal."""
    if degree < j:
        raise InputError("degree", f"there is no degree {degree} in sector {j}", "give a degree >= j")
    inner = dimension + 2 * j
    mean = sp.rf((dimension - 1) / 2, j) / sp.rf(dimension / 2, j)
    norm = sp.sqrt(multiplicity(inner, degree - j) / mean)
    return (1 - variable**2) ** sp.Rational(j, 2) * norm * legendre(degree - j, inner, variable)


def directions() -> sp.Expr:
    """The density of t = w.w*/|w| for w ~ N(0, Gamma/d): proportional to (1-t^2)^((d-3)/2) (1-ct^2)^(-d/2).

    c = B/(A+B). Together with it E[|w|^{2p} | t] = (M_p/d^p) (A/(1-ct^2))^p.
    """
    c = B / (A + B)
    constant = sp.sqrt(A / (A + B)) * sp.gamma(d / 2) / (sp.sqrt(sp.pi) * sp.gamma((d - 1) / 2))
    return constant * (1 - t**2) ** ((d - 3) / 2) * (1 - c * t**2) ** (-d / 2)


def matrix_element(l: int = 0, l_prime: int = 2, j: int = 0, power: sp.Expr = ONE, dimension: sp.Expr = d) -> sp.Expr:
    """T^(j)_{l l'} = M_p eta_l eta_l' E_w[|w|^{2p} f_{l,j}(t) f_{l',j}(t)] for sigma = z_+^p.

    Written with u, the first coordinate of a uniform point of the sphere: w = |w| ... has w1^2/|w|^2 = t^2 =
    (A+B) u^2/(A+B u^2) and E[|w|^{2p} | u] = (M_p/d^p) (A+B u^2)^p. Both parities of l - l' are covered: an odd
    product integrates to zero.
    Source: G6.
    """
    p = sp.sympify(power, strict=True)
    if (l + l_prime) % 2:
        return sp.Integer(0)
    warped = sp.sqrt(A + B) * u / sp.sqrt(A + B * u**2)
    product = associated(l, j, dimension, warped) * associated(l_prime, j, dimension, warped)
    density = sp.gamma(dimension / 2) / (sp.sqrt(sp.pi) * sp.gamma((dimension - 1) / 2))
    density *= (1 - u**2) ** ((dimension - 3) / 2)
    moment = radial_moment(p, dimension)
    front = moment**2 / dimension**p * funk_hecke(l, p, dimension) * funk_hecke(l_prime, p, dimension)
    return front * sp.Integral((A + B * u**2) ** p * product * density, (u, -1, 1))


def exact_spectrum() -> sp.Eq:
    """G6 as printed: the matrix element with the functions f_{l,j} left by name."""
    l, l2, j = sp.symbols("l l_prime j", integer=True, nonnegative=True)
    eta, f = sp.Function("eta"), sp.Function("f")
    c = B / (A + B)
    law = directions()
    value = d * eta(l) * eta(l2) * sp.Integral(A / (1 - c * t**2) * f(l, j, t) * f(l2, j, t) * law, (t, -1, 1))
    return sp.Eq(sp.Function("T")(j, l, l2), value)


def aligned() -> sp.Expr:
    """The eigenvalue of <x, w*> for ReLU, at every order in B: (A+B)/(4d)."""
    return (A + B) / (4 * d)


def orthogonal() -> sp.Expr:
    """The eigenvalue of <x, v>, v orthogonal to w*, for ReLU: A/(4d)."""
    return A / (4 * d)


def aligned_statement() -> sp.Eq:
    """G6: the eigenvalue of <x, w*> (the whole of sector 0, odd, at degree 1)."""
    return sp.Eq(sp.Function("T")(0, 1, 1), aligned())


def orthogonal_statement() -> sp.Eq:
    """G6: the eigenvalue of <x, v>, v orthogonal to w* (sector 1, degree 1)."""
    return sp.Eq(sp.Function("T")(1, 1, 1), orthogonal())


def unspiked(degree: int) -> sp.Expr:
    """lambda_l = d eta_l^2, the spectrum of k0 for ReLU: lambda_0 -> 1/(2 pi), lambda_2 = lambda_0/(d+1)^2."""
    return d * funk_hecke(degree) ** 2


STATEMENTS = (
    Statement(
        id="G6",
        title="Exact spectrum of the spiked kernel at any dimension and spike",
        formula=exact_spectrum,
        assumptions=(
            "`x ~ N(0, I_d), d >= 2, A > 0, B > -A`",
            "`sigma` positively homogeneous (here ReLU); others by a truncated operator",
            "linear functions (F, Theorem 5.3), at every order in `B`: `(A+B)/(4d)` along `w*, A/(4d)` orthogonal "
            "to it, where `k0` has `1/(4d)`",
        ),
        sources=("F, Section 5 (made exact)",),
        status="derived",
        beside=(aligned_statement, orthogonal_statement),
        errata=(
            Erratum(
                "`c lambda_j`(T0) `<= lambda_j`(T1) with an absolute constant `c` (Theorem 4.1)",
                "the constant is `1/sqrt(det Gamma) = A^(-(d-1)/2)(A+B)^(-1/2)`, which depends on `d` and vanishes "
                "with growing `B`; already at `d = 2` the ratio of the eigenvalues tends to a limit that vanishes as "
                "`(B/A)^(-1/2)` ln`^4(B/A)`",
                "`lambda_j`(T1) `>= A (1 + B/A)^(-1/2) lambda_j`(T0) for ReLU",
                ("G6.weyl",),
            ),
        ),
    ),
)
