"""G4, G5: the kernel of spiked features, k1(x, x') = E sigma(w.x) sigma(w.x'), w ~ N(0, Gamma/d), and its expansion.

k1 is a dual kernel at the covariances q = (A x.x' + B s s')/d with s = w*.x, s' = w*.x', that is k0 at Gamma^(1/2) x.
A derivative in B is therefore a derivative along (s^2, s s', s'^2) in the covariances (Price), whatever sigma is:
differentiating a closed form in the covariances keeps the distributional terms of a kinked sigma.
"""

from __future__ import annotations

import functools

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.kernels.kernel import dual
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import Erratum, Statement
from bulkedge.theory.numbers.symbols import A, B, d, q11, q12, q22

# |x|, |x'|, the angle between x and x', and the components along w*.
r, r_prime = sp.symbols("r r_prime", positive=True)
angle = sp.Symbol("theta", positive=True)
s, s_prime = sp.symbols("s s_prime", real=True)
gamma1, gamma2 = sp.symbols("gamma1 gamma2", positive=True)

MAX_ORDER = 6  # the expressions grow fast; at numbers, numerics.kernels.spiked_kernel goes on


def covariances() -> dict[sp.Symbol, sp.Expr]:
    """G4: the covariances of (w.x, w.x') under w ~ N(0, Gamma/d): x^T Gamma x'/d."""
    return {
        q11: (A * r**2 + B * s**2) / d,
        q12: (A * r * r_prime * sp.cos(angle) + B * s * s_prime) / d,
        q22: (A * r_prime**2 + B * s_prime**2) / d,
    }


def relu_kernel() -> sp.Expr:
    """E relu relu at given covariances: (sqrt(q11 q22 - q12^2) + q12 (pi - arccos(q12/sqrt(q11 q22))))/(2 pi) (K1)."""
    cosine = q12 / sp.sqrt(q11 * q22)
    return (sp.sqrt(q11 * q22 - q12**2) + q12 * (sp.pi - sp.acos(cosine))) / (2 * sp.pi)


def spiked_kernel(kernel: sp.Expr | None = None) -> sp.Expr:
    """k1 in r, r', the angle, s, s', A, B, d, for a kernel in q11, q12, q22 (ReLU's by default)."""
    return (relu_kernel() if kernel is None else kernel).subs(covariances(), simultaneous=True)


def kernel_of(activation: Nonlinearity) -> sp.Expr:
    """The closed form of E sigma sigma in the covariances (K1).

    Errors: InputError where none is known.
    """
    closed = dual(activation)
    if closed is None:
        raise InputError("activation", f"{activation.name} has no closed kernel", "evaluate its kernel numerically")
    return closed


def statement() -> sp.Eq:
    """G4 for ReLU: the closed form with the warped cosine."""
    k1 = sp.Function("k_1")
    return sp.Eq(k1(sp.Symbol("x"), sp.Symbol("x_prime")), spiked_kernel())


@functools.cache
def derivative(kernel: sp.Expr, order: int) -> sp.Expr:
    """d^order k1/dB^order in the covariances: ((s^2 d_11 + s s' d_12 + s'^2 d_22)/d)^order of the kernel (Price).

    d_11 k = E[sigma'' sigma]/2, d_12 k = E[sigma' sigma'], d_22 k = E[sigma sigma'']/2, distributions included.
    Errors: InputError for an order outside 0..6.
    """
    if not 0 <= order <= MAX_ORDER:
        raise InputError("order", f"{order} is not an order of the expansion", f"give 0..{MAX_ORDER}")
    if order == 0:
        return kernel
    k = derivative(kernel, order - 1)
    along = s**2 * sp.diff(k, q11) + s * s_prime * sp.diff(k, q12) + s_prime**2 * sp.diff(k, q22)
    return along / d


def term(order: int, kernel: sp.Expr | None = None) -> sp.Expr:
    """The term of order B^order in the expansion of k1 about B = 0, evaluated at the covariances of B = 0."""
    k = relu_kernel() if kernel is None else kernel
    at_zero = {symbol: value.subs(B, 0) for symbol, value in covariances().items()}
    return B**order / sp.factorial(order) * derivative(k, order).subs(at_zero, simultaneous=True)


def first_order() -> sp.Expr:
    """S for ReLU, paper F: k1 = k0^(A) + (B/2d) S + ...

    ((pi - theta)/pi) s s' + (sin theta/(2 pi)) (s^2 |x'|/|x| + s'^2 |x|/|x'|).
    """
    side = s**2 * r_prime / r + s_prime**2 * r / r_prime
    return (sp.pi - angle) / sp.pi * s * s_prime + sp.sin(angle) / (2 * sp.pi) * side


def second_order() -> sp.Expr:
    """The term of order B^2 for ReLU, in the angle: what the paper bounds by O(B^2/d^2)."""
    bracket = sp.cos(2 * angle) * (s**4 * r_prime / r**3 + s_prime**4 * r / r_prime**3)
    bracket += 6 * s**2 * s_prime**2 / (r * r_prime)
    bracket -= 4 * sp.cos(angle) * (s**3 * s_prime / r**2 + s * s_prime**3 / r_prime**2)
    return B**2 / (16 * sp.pi * A * d * sp.sin(angle)) * bracket


def expansion_statement() -> sp.Eq:
    """G5 for ReLU: the first two orders in B."""
    k1, k0 = sp.Symbol("k_1"), sp.Symbol("k_0")
    return sp.Eq(k1, A * k0 + B / (2 * d) * first_order() + second_order() + sp.Symbol("R"))


def determinant() -> sp.Expr:
    """q11 q22 - q12^2 times d^2: linear in B, because the B^2 terms cancel."""
    cross = r**2 * s_prime**2 + r_prime**2 * s**2 - 2 * r * r_prime * sp.cos(angle) * s * s_prime
    return A**2 * r**2 * r_prime**2 * sp.sin(angle) ** 2 + A * B * cross


def radius() -> sp.Expr:
    """The radius of convergence in B for ReLU at fixed x, x': the determinant's root, where k1 has a D^(3/2) branch.

    A |x|^2 |x'|^2 sin^2 theta/(|x|^2 s'^2 + |x'|^2 s^2 - 2 |x| |x'| cos theta s s'); at right angles and |x| = |x'| =
    sqrt d it is A d/(s^2 + s'^2). The roots of q11 and q22 lie farther out: the determinant is not positive there.
    """
    cross = r**2 * s_prime**2 + r_prime**2 * s**2 - 2 * r * r_prime * sp.cos(angle) * s * s_prime
    return A * r**2 * r_prime**2 * sp.sin(angle) ** 2 / cross


def counterexample() -> sp.Expr:
    """E|u.w| for w ~ N(0, gamma1 I + gamma2 u u^T), |u| = 1: sqrt(2 (gamma1 + gamma2)/pi)."""
    return sp.sqrt(2 * (gamma1 + gamma2) / sp.pi)


def counterexample_term(order: int) -> sp.Expr:
    """Term j of paper F's Theorem 4.2 for G = |u.w|: (1/j!)(gamma2/2)^j E D_u^{2j} G.

    D_u^2 |t| = 2 delta, so the expectation is 2 (d/dt)^{2j-2} of the N(0, gamma1) density at 0. It equals
    sqrt(2 gamma1/pi) binomial(1/2, j) (gamma2/gamma1)^j: the series of sqrt(1 + gamma2/gamma1), of radius one.
    """
    if order == 0:
        return sp.sqrt(2 * gamma1 / sp.pi)
    t = sp.Symbol("t", real=True)
    density = sp.exp(-(t**2) / (2 * gamma1)) / sp.sqrt(2 * sp.pi * gamma1)
    bend = 2 * sp.diff(density, t, 2 * order - 2).subs(t, 0)
    return sp.simplify((gamma2 / 2) ** order / sp.factorial(order) * bend)


def counterexample_sum(order: int) -> sp.Expr:
    """The partial sum of that series through order j: diverges for gamma2 > gamma1."""
    x = gamma2 / gamma1
    return sp.sqrt(2 * gamma1 / sp.pi) * sp.Add(*(sp.binomial(sp.Rational(1, 2), j) * x**j for j in range(order + 1)))


def lower_bound() -> sp.Expr:
    """lambda_j(T1)/lambda_j(T0) >= A (1 + B/A)^(-1/2) for ReLU: what replaces Theorem 4.1's absolute constant.

    T1 is d A rho A with rho(v) = A (1 + B/A)^(-1/2) (1 - c t^2)^(-(d+2)/2) and T0 the same with rho = 1 (G6).
    """
    return A / sp.sqrt(1 + B / A)


def weyl_ratio_circle() -> sp.Expr:
    """lim_j lambda_j(T1)/lambda_j(T0) for ReLU at d = 2: (mean of rho^(1/4))^4, since eta_l^2 ~ l^-4 (Weyl).

    = A (1 + B/A)^(-1/2) ((2/pi) K(B/(A+B)))^4, K of the parameter m = B/(A+B): it vanishes as B/A -> infinity.
    """
    return A / sp.sqrt(1 + B / A) * (2 / sp.pi * sp.elliptic_k(B / (A + B))) ** 4


STATEMENTS = (
    Statement(
        id="G4",
        title="The kernel of spiked features, and its distance from the average over batches",
        formula=statement,
        assumptions=("weights `N(0, Gamma/d)`", "here ReLU; for any closed kernel by the same substitution"),
        sources=("F, Theorem 3.1", "F, Section 4"),
        errata=(
            Erratum(
                "`|`T1* - T1`|_HS` = O(`eta^4` ln`^3 d/d^5`)",
                "a generic activation has `(eta/d)^4` (erf at `zeta = 3/4`: exponent -1, not -2); for a homogeneous "
                "one the batch noise is a scale mixture that cancels to this order",
                "`Theta((eta/d)^4)` in general, max(`eta^4/d^5, (eta/d)^6`) for a positively homogeneous `sigma`; as "
                "printed for ReLU at `zeta = 1/2` only",
                ("G4.generic", "G4.homogeneous", "G4.half"),
            ),
        ),
    ),
    Statement(
        id="G5",
        title="Expansion of the spiked kernel in `B` (ReLU: first and second order)",
        formula=expansion_statement,
        assumptions=(
            "`B` below the radius `A |x|^2 |x'|^2 sin^2 theta/(|x|^2 s'^2 + |x'|^2 s^2 - 2 |x||x'| cos theta s s')`",
            "any order by Price's theorem, distributions included",
        ),
        sources=("F, Theorem 4.2", "F, Lemma 4.5"),
        errata=(
            Erratum(
                "`E_{N(0, Sigma)} G` = sum over all `j` of `(1/j!)(gamma2/2)^j E D_u^{2j} G` for `G` of polynomial "
                "growth",
                "for `G = |u.w|` it is the binomial series of `sqrt(1 + gamma2/gamma1)`: at `gamma2/gamma1 = 3/2` "
                "the sum through `j = 20` is -3.70, the expectation 1.2616",
                "for polynomial `G`, or `gamma2 < gamma1`; else a finite expansion with its remainder; for ReLU the "
                "radius at fixed `x, x'` is exact",
                ("G5.divergence", "G5.radius"),
            ),
        ),
    ),
)
