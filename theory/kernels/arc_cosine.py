"""The arc-cosine kernels: the dual kernels of ReLU^p for every integer order p >= 0, by recurrence.

With theta the angle between two vectors (cos theta = rho), Cho and Saul's J_p(theta) gives

    E[(z1)_+^p (z2)_+^p] = J_p(theta)/(2 pi),    Cho-Saul's kernel k_p = J_p/pi is twice the expectation.
"""

from __future__ import annotations

import functools

import sympy as sp

from bulkedge.theory.numbers.symbols import k, q11, q12, q22, rho

theta = sp.Symbol("theta", positive=True)  # the angle, here only: theory.numbers.symbols.theta is a spike's strength
phi = sp.Symbol("phi", real=True)
J = sp.IndexedBase("J")
n = sp.Symbol("n", integer=True, nonnegative=True)  # the order; theory.numbers.symbols.n is a number of samples


@functools.cache
def angular(p: int) -> sp.Expr:
    """J_p(theta) in sin, cos and pi - theta.

    Formula: J_0 = pi - theta, J_1 = sin theta + (pi - theta) cos theta, and for p >= 2
    J_p = (2p-1) cos(theta) J_{p-1} + (p-1)^2 sin^2(theta) J_{p-2}.
    Source: K1; Cho and Saul 2009 define J_p by p-fold differentiation, from which the recurrence follows.
    """
    if p == 0:
        return sp.pi - theta
    if p == 1:
        return sp.sin(theta) + (sp.pi - theta) * sp.cos(theta)
    step = (2 * p - 1) * sp.cos(theta) * angular(p - 1) + (p - 1) ** 2 * sp.sin(theta) ** 2 * angular(p - 2)
    return sp.expand(step)


def angular_by_derivatives(p: int) -> sp.Expr:
    """J_p as Cho and Saul define it: (-1)^p sin^(2p+1) ((1/sin) d/dtheta)^p ((pi - theta)/sin).

    A second route to `angular`. Source: Cho and Saul 2009, eq. (4).
    """
    inner = (sp.pi - theta) / sp.sin(theta)
    for _ in range(p):
        inner = sp.diff(inner, theta) / sp.sin(theta)
    return (-1) ** p * sp.sin(theta) ** (2 * p + 1) * inner


@functools.cache
def arc_cosine(p: int) -> sp.Expr:
    """E[(z1)_+^p (z2)_+^p] in rho.

    Valid for: |rho| <= 1, finite at the ends. Convention: the expectation itself, half of Cho and Saul's kernel.
    Source: K1.
    """
    substituted = angular(p).subs({sp.sin(theta): sp.sqrt(1 - rho**2), sp.cos(theta): rho, theta: sp.acos(rho)})
    return sp.collect(sp.expand(substituted / (2 * sp.pi)), [sp.acos(rho), sp.sqrt(1 - rho**2)])


def arc_cosine_of_covariances(p: int) -> sp.Expr:
    """E[(u)_+^p (v)_+^p] = (q11 q22)^(p/2) J_p(theta)/(2 pi), cos theta = q12/sqrt(q11 q22)."""
    return (q11 * q22) ** sp.Rational(p, 2) * arc_cosine(p).subs(rho, q12 / sp.sqrt(q11 * q22))


def square_coefficient(p: int) -> sp.Expr:
    """c_k^2, the coefficient of rho^k in the kernel of order p, for every k >= 0.

    Formula: p = 1: c_{2m}^2 = ((2m-3)!!)^2/(2 pi (2m)!), c_1^2 = 1/4, zero for other odd k. In general
    E[z_+^p He_k] = p!/Gamma(p-k+1) E[z_+^(p-k)] for k <= p, and (-1)^m p! (2m-1)!!/sqrt(2 pi) for k = p + 1 + 2m.
    Source: K1, H1.
    """
    half = sp.Rational(1, 2)
    low = (sp.factorial(p) / sp.factorial(p - k)) * 2 ** ((p - k) * half - 1) * sp.gamma((p - k + 1) * half)
    m = (k - p - 1) / 2
    high = sp.factorial(p) * 2**m * sp.gamma(m + half) / (sp.sqrt(2) * sp.pi)
    return sp.Piecewise(
        (low**2 / sp.pi / sp.factorial(k), k <= p),
        (high**2 / sp.factorial(k), sp.Eq(sp.Mod(k - p, 2), 1)),
        (sp.Integer(0), True),
    )


def square_coefficient_asymptotics(p: int) -> sp.Expr:
    """c_k^2 ~ (p!)^2 k^(-p-3/2)/(sqrt 2 pi^(3/2)) as k -> oo along k = p + 1 mod 2.

    The series therefore has radius one. Source: K1.
    """
    return sp.factorial(p) ** 2 * k ** (-sp.Rational(3, 2) - p) / (sp.sqrt(2) * sp.pi ** sp.Rational(3, 2))


def relu_statement() -> sp.Eq:
    """K1: the kernel of ReLU."""
    return sp.Eq(sp.Function("kappa")(rho), arc_cosine(1))


def angular_integral(order: sp.Expr) -> sp.Expr:
    """J_n(theta) = n! int_0^(pi - theta) (cos theta + cos phi)^n d phi, for every order n.

    Source: K1; polar coordinates in the plane of the two inputs, phi twice the angle to their bisector.
    """
    return sp.factorial(order) * sp.Integral((sp.cos(theta) + sp.cos(phi)) ** order, (phi, 0, sp.pi - theta))


def recurrence() -> sp.Eq:
    """K1: J_{n+2} = (2n + 3) cos(theta) J_{n+1} + (n + 1)^2 sin^2(theta) J_n for every n >= 0."""
    return sp.Eq(J[n + 2], (2 * n + 3) * sp.cos(theta) * J[n + 1] + (n + 1) ** 2 * sp.sin(theta) ** 2 * J[n])
