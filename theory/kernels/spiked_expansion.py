"""G7: the paper's approximations as expansions of the exact spectrum (ReLU), with the orders that follow.

Two expansions. In B at fixed d: every matrix element is a power series in B whose coefficients are moments of a
uniform direction, so that Rayleigh-Schroedinger perturbation theory gives the eigenvalues with coefficients rational in
d times lambda_0. In b = B/d as d -> infinity: t^2 = b z^2/(A + b z^2), and the matrix becomes
c_l c_l' E[(A + b z^2) t^{l+l'}] with the Hermite coefficients c_l of ReLU.
"""

from __future__ import annotations

import functools

import sympy as sp

from bulkedge.theory.kernels.spiked_spectrum import funk_hecke, legendre, multiplicity, t, unspiked
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.statement import Erratum, Statement
from bulkedge.theory.numbers.symbols import A, B, d

b = sp.Symbol("b", positive=True)
Matrix = list[list[list[sp.Expr]]]  # [row][column][power of the small parameter]

MAX_ORDER = 6
_HALF = sp.Rational(1, 2)


def paper_top() -> sp.Expr:
    """lambda~ = A lambda_0 + B/(2 pi d), paper F's Theorem 5.4."""
    return A * unspiked(0) + B / (2 * sp.pi * d)


def paper_tau() -> sp.Expr:
    """tau = (1/d) sqrt((2d-2)/(d+2)) B/(4 pi (lambda~ - A lambda_2)); Psi~ is proportional to Y0 + tau Y2."""
    return paper_tau_front() / (paper_top() - A * unspiked(2))


def paper_tau_front() -> sp.Expr:
    """The numerator of tau: (1/d) sqrt((2d-2)/(d+2)) B/(4 pi), the limit of <Y0|T|Y2>."""
    return sp.sqrt((2 * d - 2) / (d + 2)) * B / (4 * sp.pi * d)


def mixing() -> sp.Expr:
    """tau = <Psi, Y2>/<Psi, Y0>: sqrt((d-1)(d+2)/2) (d+1) B/((A d + B)(d+1)^2 - A d).

    The row of degree 2 of T Psi = lambda Psi without the degrees beyond, T_22 at B = 0, lambda = T_00 (lambda_0, common
    to all, cancels). `paper_tau` is its limit d -> infinity, with lambda_0 -> 1/(2 pi) in some places.
    Valid for: positively homogeneous activations of degree 1 with an even part (ReLU, leaky ReLU, |z|), d >= 2.
    Accuracy: exact to the first order in B at every d; to the second as d -> infinity (the next order: `limit_mixing`).
    Source: G7.
    """
    return sp.sqrt((d - 1) * (d + 2) / 2) * (d + 1) * B / ((A * d + B) * (d + 1) ** 2 - A * d)


def mixing_statement() -> sp.Eq:
    """G7: the closed form of tau."""
    return sp.Eq(sp.Symbol("tau"), mixing())


def limit_mixing(order: int = 3) -> sp.Expr:
    """tau as d -> infinity, to (B/d)^order: (b/(sqrt 2 A)) (1 - b/A + 2 (b/A)^2 - ...), b = B/d; order 1..6.

    Source: G7.
    """
    if not 1 <= order <= MAX_ORDER:
        raise InputError("order", f"{order} is not an order of the expansion", f"give 1..{MAX_ORDER}")
    size = order + 1
    M = [[limit_element(2 * i, 2 * k, order) for k in range(size)] for i in range(size)]
    _, vectors = _perturb(M, 0, order)
    # Back from the similar matrix c_l^{-1} T c_l' to normalised harmonics.
    front = sp.sqrt(_relu_coefficient_squared(2) / _relu_coefficient_squared(0))
    return front * sp.Add(*(v[1] * (b / A) ** i for i, v in enumerate(vectors)))


def limit_mixing_statement() -> sp.Eq:
    """G7: tau as d -> infinity at b = B/d, to the third order."""
    return sp.Eq(sp.Symbol("tau_infty"), limit_mixing(3).subs(b, B / d))


def paper_second() -> sp.Expr:
    """The second root as the paper's appendix has it, A lambda_2, its O(B^2/d^3) left out."""
    return A * unspiked(2)


def paper_statement() -> sp.Eq:
    """G7: the largest eigenvalue to third order in B/d, where the paper stops at the first."""
    lam0, top = sp.Symbol("lambda_0"), sp.Symbol("lambda_max")
    x = B / d
    return sp.Eq(top, lam0 * (A + x) + x**2 / (4 * sp.pi * A) - x**3 / (4 * sp.pi * A**2), evaluate=False)


def top_series(order: int = 2, dimension: sp.Expr = d) -> sp.Expr:
    """lambda_max to B^order at fixed d: lambda_0 A times a polynomial in B/A, coefficients rational in d.

    Valid for: order <= 6; with a number for `dimension` it is quick, with the symbol it takes seconds from order 4.
    """
    return _scale(dimension) * _series(0, order, dimension)[0]


def second_series(order: int = 2, dimension: sp.Expr = d) -> sp.Expr:
    """The second even eigenvalue to B^order at fixed d; for B/A small compared with one."""
    return _scale(dimension) * _series(1, order, dimension)[0]


def tau_series(order: int = 1, dimension: sp.Expr = d) -> sp.Expr:
    """tau = <Psi, Y2>/<Psi, Y0> to B^order at fixed d: the exact ratio, of which the paper's tau is the first order."""
    return _series(0, order, dimension)[1]


def _scale(d: sp.Expr) -> sp.Expr:
    """lambda_0 A. Apart from the series: its Gamma functions at a large number d are fractions of a million digits."""
    return d * funk_hecke(0, dimension=d) ** 2 * A


@functools.cache
def _series(level: int, order: int, d: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Eigenvalue number `level` (of degree 2 level) over lambda_0 A, and its components' ratio 2 to 0, to an order."""
    if not 0 <= order <= MAX_ORDER:
        raise InputError("order", f"{order} is not an order of the expansion", f"give 0..{MAX_ORDER}")
    # Order n is reached by paths of n steps: to l and back costs l, and the vector to order n reaches l = 2(level+n).
    size = level + order + 1
    values, vector = _perturb(_matrix(size, order, d), level, order)
    eigenvalue = sum(sp.factor(value) * (B / A) ** i for i, value in enumerate(values))
    if level or size < 2:
        return eigenvalue, sp.Integer(0)
    # Back from the similar matrix N_l^{-1/2} T N_l'^{1/2} to normalised harmonics.
    ratio = sp.sqrt(multiplicity(d, 2)) * sum(sp.factor(v[1]) * (B / A) ** i for i, v in enumerate(vector))
    return eigenvalue, ratio


@functools.cache
def _matrix(size: int, order: int, d: sp.Expr) -> Matrix:
    """N_l^{-1/2} T N_l'^{1/2}/(lambda_0 A), l, l' = 0, 2, .., as lists of coefficients in B/A."""
    return [[_element(2 * i, 2 * k, order, d) for k in range(size)] for i in range(size)]


@functools.cache
def _element(l: int, l_prime: int, order: int, d: sp.Expr) -> list[sp.Expr]:
    """Coefficients in x = B/A of (eta_l eta_l'/eta_0^2) N_l' E[(1 + x u^2) P_l P_l'(t)], t^2 = (1+x)u^2/(1+x u^2)."""
    front = _eta_ratio(l, d) * _eta_ratio(l_prime, d) * multiplicity(d, l_prime)
    product = sp.Poly(sp.expand(legendre(l, d) * legendre(l_prime, d)), t)
    coefficients = [sp.Integer(0)] * (order + 1)
    for (power,), q in product.terms():
        k = power // 2
        # (1+x)^k u^{2k} (1 + x u^2)^{1-k}
        for i in range(min(k, order) + 1):
            for n in range(order - i + 1):
                moment = sp.rf(_HALF, k + n) / sp.rf(d / 2, k + n)
                coefficients[i + n] += q * sp.binomial(k, i) * sp.binomial(1 - k, n) * moment
    return [sp.factor(front * value) for value in coefficients]


def _eta_ratio(l: int, d: sp.Expr) -> sp.Expr:
    """eta_l/eta_0, by the recurrence of ReLU."""
    return sp.prod([(1 - sp.Integer(i)) / (i + d + 1) for i in range(0, l, 2)])


def _perturb(M: Matrix, level: int, order: int) -> tuple[list[sp.Expr], list[list[sp.Expr]]]:
    """Rayleigh-Schroedinger: eigenvalue and vector (component `level` = 1) to an order in the small parameter."""
    size = len(M)
    values = [M[level][level][0]]
    vectors = [[sp.Integer(i == level) for i in range(size)]]
    for n in range(1, order + 1):
        force = [
            sp.Add(*(M[r][s][i] * vectors[n - i][s] for i in range(1, n + 1) for s in range(size))) for r in range(size)
        ]
        values.append(sp.factor(force[level]))
        rest = [
            force[r] - sp.Add(*(values[i] * vectors[n - i][r] for i in range(1, n))) if r != level else sp.Integer(0)
            for r in range(size)
        ]
        vectors.append(
            [
                sp.factor(rest[r] / (M[level][level][0] - M[r][r][0])) if r != level else sp.Integer(0)
                for r in range(size)
            ]
        )
    return values, vectors


def limit_element(l: int, l_prime: int, order: int) -> list[sp.Expr]:
    """Coefficients in b/A of c_l'^2 E[(1 + (b/A) z^2) t^{l+l'}], t^2 = b z^2/(A + b z^2), l and l' even.

    The limit d -> infinity at b = B/d of the matrix elements, divided by A and made similar by c_l.
    """
    k = (l + l_prime) // 2
    square = _relu_coefficient_squared(l_prime)
    # (b z^2/A)^k (1 + b z^2/A)^{1-k}
    return [
        square * sp.binomial(1 - k, n - k) * sp.factorial2(2 * n - 1) if n >= k else sp.Integer(0)
        for n in range(order + 1)
    ]


def _relu_coefficient_squared(l: int) -> sp.Expr:
    """c_{2m}^2 = ((2m-3)!!)^2/(2 pi (2m)!), the squared Hermite coefficients of ReLU (H1)."""
    return sp.factorial2(l - 3) ** 2 / (2 * sp.pi * sp.factorial(l))


def limit_top(order: int = 3) -> sp.Expr:
    """lambda_max as d -> infinity, to (B/d)^order: (A + b)/(2 pi) + b^2/(4 pi A) - b^3/(4 pi A^2) + ..., b = B/d."""
    size = order + 1
    M = [[limit_element(2 * i, 2 * k, order) for k in range(size)] for i in range(size)]
    values, _ = _perturb(M, 0, order)
    return A * sp.Add(*(value * (b / A) ** i for i, value in enumerate(values)))


def limit_second(order: int = 1) -> sp.Expr:
    """The second even eigenvalue as d -> infinity: (b^2/(2 pi A)) (1 - 7 b/A + ...), to a relative (b/A)^order.

    All levels but the first meet at zero, so the root is taken from the characteristic polynomial: with
    x = b/A and value = x^2 (y_0 + y_1 x + ...)/(2 pi), every further order fixes one y linearly.
    """
    if not 0 <= order <= MAX_ORDER:
        raise InputError("order", f"{order} is not an order of the expansion", f"give 0..{MAX_ORDER}")
    x, y = sp.symbols("x y")
    # Level l = 4 couples through M_24 ~ x^3 and M_04 ~ x^2 and has weight x^4: two orders for each further level.
    size, last = order // 2 + 2, 2 * order + 6
    entries = [[_polynomial(2 * i, 2 * k, last, x) for k in range(size)] for i in range(size)]
    characteristic = sp.Matrix(size, size, lambda i, k: entries[i][k] - (x**2 * y if i == k else 0)).det("berkowitz")
    # Leading order: M_22 - M_02 M_20/M_00.
    root = sp.cancel((entries[1][1] - entries[0][1] * entries[1][0] / entries[0][0]) / x**2).subs(x, 0)
    for n in range(1, order + 1):
        unknown = sp.Symbol("y_n")
        expanded = sp.Poly(sp.expand(characteristic.subs(y, root + unknown * x**n)), x)
        lowest = min(power for (power,), coefficient in expanded.terms() if coefficient.has(unknown))
        root += sp.solve(expanded.coeff_monomial(x**lowest), unknown)[0] * x**n
    return sp.expand(A * (x**2 * root).subs(x, b / A) / (2 * sp.pi))


def _polynomial(l: int, l_prime: int, order: int, x: sp.Symbol) -> sp.Expr:
    """2 pi times a matrix element of the limit as a polynomial in x = b/A, rational coefficients."""
    return sp.Add(*(2 * sp.pi * value * x**n for n, value in enumerate(limit_element(l, l_prime, order))))


STATEMENTS = (
    Statement(
        id="G7",
        title="The paper's approximations as the first orders of the exact answer",
        formula=paper_statement,
        assumptions=(
            "ReLU",
            "`d ->` infinity with `B/d` small (`tau`: any `d`, to the first order in `B`; `tau_infty`: its limit)",
            "`tau = <Psi`, Y2`>/<Psi`, Y0`>`, the mixing of degrees 0 and 2 in the top eigenfunction",
        ),
        sources=("F, Theorem 5.4", "F, Appendix"),
        status="derived",
        figure="F.approximation",
        beside=(mixing_statement, limit_mixing_statement),
        errata=(
            Erratum(
                "the second root is A `lambda_2` + `O(B^2/d^3)`",
                "the paper's own two-by-two matrix makes it negative at order `(B/d)^2`, which a positive operator "
                "does not allow; with the second-order terms it is positive and of order `(B/d)^2`",
                "`lambda_2 ((A+B)^2/A)`(1 - `7 B`/(Ad) + (109/2)(`B`/(Ad))`^2` - ...)",
                ("G7.second_root", "G7.seven", "G6.second"),
            ),
        ),
    ),
)
