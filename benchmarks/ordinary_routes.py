"""Independent routes for benchmarks/ordinary_data.py: textbook formulas at many digits, and plain quadrature.

Nothing here calls the formulas of the packages that it judges; functions are evaluated as floats where an average is
taken, and as numbers of mpmath elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.functions.functions import vectorised
from bulkedge.theory.functions.nonlinearity import Nonlinearity

Array = NDArray[np.float64]
Real = Any  # mpmath.mpf


def panels(
    f: Nonlinearity, s: float = 1.0, width: float = 0.25, reach: float = 14.0, mean: float = 0.0
) -> tuple[Array, Array]:
    """Nodes and weights for E h(z), cut at the kinks of z -> f(mean + s z)."""
    x, w = _legendre([(float(b) - mean) / s for b in f.kinks], width, reach)
    return x, w * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def plane(
    f: Nonlinearity, g: Nonlinearity, deviations: tuple[float, float], rho: float, means: tuple[float, float] = (0, 0)
) -> tuple[float, float]:
    """E[f(u) g(v)] of a Gaussian pair, |rho| < 1, and the geometric mean of the second moments.

    Over v first, one place of u at a time: the outer integrand is smooth but for the kinks of f.
    """
    (s, t), (a, b) = deviations, means
    x, w = panels(f, s, 0.5, 12, a)
    y, v = panels(g, t, 0.25, 12, b)
    c = np.sqrt(1 - rho * rho)
    first, second = vectorised(f)(a + s * x), vectorised(g)(b + t * y)
    smooth = np.exp(-((y - rho * x[:, None]) ** 2) / (2 * c * c) + y * y / 2) / c
    size = math.sqrt(float(w @ first**2) * float(v @ second**2))
    return float(w @ (first * (smooth @ (v * second)))), size


def _legendre(kinks: list[float], width: float, reach: float, nodes: int = 24) -> tuple[Array, Array]:
    node, weight = np.polynomial.legendre.leggauss(nodes)
    cuts = np.linspace(-reach, reach, math.ceil(2 * reach / width) + 1)
    cuts = np.unique(np.concatenate([cuts, [k for k in kinks if abs(k) < reach]]))
    half = np.diff(cuts)[:, None] / 2
    return (cuts[:-1, None] + half + half * node).ravel(), (half * weight).ravel()


def _bisect(f: Callable[[Real], Real], low: Real, high: Real) -> Real:
    """The root of an increasing function between two numbers, to the working precision."""
    for _ in range(mpmath.mp.prec + 8):
        middle = (low + high) / 2
        low, high = (low, middle) if f(middle) > 0 else (middle, high)
    return (low + high) / 2


@dataclass(frozen=True)
class RiskConstants:
    """What O3 knows of a pair: E sigma', the rest's size, and the link's mean, slope and rest."""

    mu1: Real
    mu2: Real
    mu0_star: Real
    mu1_star: Real
    mu2_star: Real
    fits_mean: bool = True


@dataclass(frozen=True)
class Risks:
    """O3's numbers; `test` excludes the noise, `spread` is E y^2 that a prediction can lose."""

    test: float
    train: float
    kappa: float
    spread: float


def ridge_risk(
    c: RiskConstants, psi1: float, psi2: float, lam: float, eta: float, alpha: float, noise: float, digits: int = 50
) -> Risks:
    """O3 as it is written, at many digits: kappa by bisection, both derivatives by differences."""
    with mpmath.workdps(digits):
        p1, p2, ridge, step, ratio, s = (mpmath.mpf(v) for v in (psi1, psi2, lam, eta, alpha, noise))
        # Features without a linear part as the limit of few: what that changes is of order mu1^2.
        m1, m2 = max(abs(mpmath.mpf(c.mu1)), mpmath.mpf(10) ** -16), mpmath.mpf(c.mu2)
        b0, b1, b2 = (mpmath.mpf(v) for v in (c.mu0_star, c.mu1_star, c.mu2_star))
        label = b0**2 + b1**2 + b2**2 + s**2
        unorm2, e = b1**2 + label / ratio, step * m1
        spread = label - b0**2 if c.fits_mean else label

        def parts(k: Real) -> tuple[Real, Real]:
            zz = (m2**2 + k) / m1**2
            b = zz + 1 - p2
            root = mpmath.sqrt(b * b + 4 * p2 * zz)
            m = 2 / (b + root) if b > 0 else (root - b) / (2 * p2 * zz)
            t = p2 * m + (1 - p2) / zz
            T = t - b1**2 * t**2 * zz * m * e**2 / (1 + e**2 * unorm2 * t * zz * m)
            return b1**2 * (1 - zz * T), p2 / p1 * (1 - k * m / m1**2)

        def residual(u: Real) -> Real:
            k = mpmath.exp(u)
            return 1 - ridge / k - parts(k)[1]

        low = mpmath.log(ridge)
        high = low + 1
        while residual(high) < 0:
            high += 1 + (high - low)
        u = _bisect(residual, low, high)
        k = mpmath.exp(u)
        Q, df1 = parts(k)
        dQ, ddf = (mpmath.diff(lambda u, i=i: parts(mpmath.exp(u))[i], u) for i in (0, 1))
        test = (spread - Q + dQ) / (1 - df1 - ddf)
        return Risks(float(test - s**2), float((ridge / k) ** 2 * test), float(k), float(spread))


def mei_montanari(c: RiskConstants, psi1: float, psi2: float, lam: float, noise: float) -> float:
    """The risk at step 0 by Mei and Montanari's Theorem 2, at 60 digits (their psi1 = N/d, psi2 = n/d)."""
    with mpmath.workdps(60):
        p1, p2 = mpmath.mpf(psi2), mpmath.mpf(psi1)
        z2 = (mpmath.mpf(c.mu1) / mpmath.mpf(c.mu2)) ** 2
        xi2 = p1 * p2 * mpmath.mpf(lam) / p1 / mpmath.mpf(c.mu2) ** 2

        def total(p: Real) -> Real:
            return p + z2 * p / (1 + z2 * p)

        def equation(p: Real) -> Real:
            return (p1 - total(p)) * (p2 - total(p)) - p * xi2

        least = min(p1, p2)
        b = 1 + z2 - least * z2
        root = (mpmath.sqrt(b * b + 4 * z2 * least) - b) / (2 * z2)
        x = -_bisect(lambda p: -equation(p), mpmath.mpf(0), root)
        z4, z6 = z2**2, z2**3
        e0 = -(x**5) * z6 + 3 * x**4 * z4 + (p1 * p2 - p1 - p2 + 1) * x**3 * z6 - 2 * x**3 * z4 - 3 * x**3 * z2
        e0 += (p1 + p2 - 3 * p1 * p2 + 1) * x**2 * z4 + 2 * x**2 * z2 + x**2 + 3 * p1 * p2 * x * z2 - p1 * p2
        e1 = p2 * x**3 * z4 - p2 * x**2 * z2 + p1 * p2 * x * z2 - p1 * p2
        e2 = x**5 * z6 - 3 * x**4 * z4 + (p1 - 1) * x**3 * z6 + 2 * x**3 * z4 + 3 * x**3 * z2
        e2 += -(p1 + 1) * x**2 * z4 - 2 * x**2 * z2 - x**2
        rest = mpmath.mpf(c.mu2_star) ** 2
        return float(mpmath.mpf(c.mu1_star) ** 2 * e1 / e0 + (mpmath.mpf(noise) ** 2 + rest) * e2 / e0 + rest)


def criterion(f: Nonlinearity, g: Nonlinearity, kappa: float) -> float:
    """E[(g(z1) - E_{z2} f(kappa z1 + z2))^2] by two quadratures."""
    x, w = panels(g, 1.0, 0.5, 9.0)
    y, v = _legendre([float(b) for b in f.kinks], 0.5, abs(kappa) * 9 + 9)
    values = v * vectorised(f)(y)
    inner = np.empty_like(x)
    for part in np.array_split(np.arange(len(x)), 8):
        inner[part] = np.exp(-((y - kappa * x[part, None]) ** 2) / 2) @ values / math.sqrt(2 * math.pi)
    return float(w @ (vectorised(g)(x) - inner) ** 2)


def alignment(
    g: Nonlinearity, alpha: float, noise: float, k: int, reused: bool, sigma: Nonlinearity | None
) -> tuple[float, float]:
    """T3's beta.b_k and |b_k|^2 from averages of F_k(y, q) over (z, zeta, noise); k <= 2 with an activation."""
    z, wz = panels(g, 1.0, 0.5, 20.0)
    node, weight = np.polynomial.hermite_e.hermegauss(16)
    weight = weight / weight.sum()
    zeta = node[:, None]
    eps = noise * (node if noise else np.zeros(1))
    we = weight if noise else np.ones(1)
    y0 = vectorised(g)(z)
    second, mean = float(wz @ y0**2) + noise**2, float(wz @ y0)
    slope = float(wz @ (y0 * z))
    s = math.sqrt(second / alpha)
    y = y0[:, None, None] + eps
    q = slope * z[:, None, None] + s * zeta
    y, q = np.broadcast_arrays(y, q)
    own = y / alpha if reused else 0 * y
    if sigma is None:
        F = y * (q + own) ** k
        dF = k * y * (q + own) ** (k - 1) if k else 0 * y
    else:
        x, wx = panels(sigma)
        slopes, top = vectorised(sigma.derivative())(x), vectorised(sigma.derivative(k + 1))(x) * wx
        m1 = float(wx @ slopes)
        bend = float(wx @ vectorised(sigma.derivative(2))(x))
        v = second * (float(wx @ slopes**2) - m1**2) / alpha
        e = mean * bend
        # A = a + b with a = mu1 q known, b = e G + own sigma'(G) random: powers up to 2 expanded.
        first = e * float(top @ x) + own * float(top @ slopes)
        squares = e * e * float(top @ x**2) + 2 * e * own * float(top @ (x * slopes)) + own**2 * float(top @ slopes**2)
        a, T = m1 * q, float(top.sum())
        if k == 0:
            F, dF = y * T, 0 * y
        elif k == 1:
            F, dF = y * (a * T + first), y * m1 * T
        else:
            F, dF = y / 2 * (a * a * T + 2 * a * first + squares + v * T), y * m1 * (a * T + first)
    w = wz[:, None, None] * weight[:, None] * we

    def mean_of(values: Array) -> float:
        return float(np.sum(w * values))

    signal, moved = mean_of(z[:, None, None] * F), mean_of(dF)
    norm2 = signal**2 + s * s * moved**2 + mean_of(F * F) / alpha
    if reused:
        norm2 += 2 * moved * mean_of(F * y) / alpha
    return signal, norm2


def funk_hecke(f: Nonlinearity, d: int, degree: int, radius: float) -> list[float]:
    """E[f(R t) P_l(t)] for l = 0..degree, t the first coordinate of a point of the unit sphere, by quadrature."""
    angles = [math.asin(float(b) / radius) for b in f.kinks if abs(float(b)) < radius]
    reach = math.pi / 2
    width = min(0.1, 1 / math.sqrt(d))
    a, w = _legendre(angles, width, reach)
    w = w * np.cos(a) ** (d - 2)
    w /= w.sum()
    t = np.sin(a)
    y = w * vectorised(f)(radius * t)
    before, now, found = np.zeros_like(t), np.ones_like(t), []
    for n in range(degree + 1):
        found.append(float(y @ now))
        if n == 0:
            before, now = now, t
        else:
            before, now = now, ((2 * n + d - 2) * t * now - n * before) / (n + d - 2)
    return found


def multiplicity(d: int, degree: int) -> int:
    """The number of independent harmonics of a degree in d dimensions."""
    return math.comb(degree + d - 1, degree) - (math.comb(degree + d - 3, degree - 2) if degree > 1 else 0)


def relu_top(d: int, A: float, B: float, degree: int = 60) -> float:
    """The largest eigenvalue of ReLU's spiked kernel at B >= 0 (G6): the even functions of x.w*/|x|, or <x, w*>."""
    c, ratio = B / (A + B), math.sqrt(A / (A + B))
    v = np.arcsinh(ratio * np.sinh(np.linspace(-40, 40, 8001)))
    t, inside = np.tanh(v), 1 / np.cosh(v) ** 2
    jacobian = inside * ratio * np.cosh(np.linspace(-40, 40, 8001)) / np.cosh(v)
    spread = inside + (1 - c) * (1 - inside)  # 1 - c t^2 without cancellation
    with np.errstate(under="ignore"):
        density = jacobian * inside ** ((d - 3) / 2) * spread ** (-d / 2)
    w = density / density.sum() * A / spread
    import sympy as sp

    from bulkedge.theory.functions.nonlinearity import nonlinearity

    eta = funk_hecke(nonlinearity("relu"), d, degree, 1.0)
    rows, before, now = [], np.zeros_like(t), np.ones_like(t)
    for n in range(degree + 1):
        if n % 2 == 0:
            rows.append(math.sqrt(d * float(sp.Integer(multiplicity(d, n)))) * eta[n] * now)
        before, now = (now, t) if n == 0 else (now, ((2 * n + d - 2) * t * now - n * before) / (n + d - 2))
    f = np.array(rows)
    return max(float(np.linalg.eigvalsh((f * w) @ f.T)[-1]), (A + B) / (4 * d))


def marchenko_pastur_resolvent(c: Real, ridge: Real) -> Real:
    """(1/d) tr (X^T X + ridge)^-1, X n x d with entries of variance 1/n, c = d/n."""
    b = 1 - c + ridge
    return 2 / (b + mpmath.sqrt(b * b + 4 * c * ridge))


def product_resolvent(samples: float, width: float, ridge: float) -> float:
    """(1/p) tr ((X W)^T X W + ridge)^-1, X n x d of variance 1/n, W d x p of variance 1/d; n/d, p/d given."""
    with mpmath.workdps(40):
        c, inner, r = mpmath.mpf(width) / mpmath.mpf(samples), mpmath.mpf(width), mpmath.mpf(ridge)

        def gap(m: Real) -> Real:
            s = 1 - c + c * r * m
            return marchenko_pastur_resolvent(inner, r / s) / s - m

        low = max(mpmath.mpf(0), (c - 1) / (c * r)) * (1 + mpmath.mpf(10) ** -25) + mpmath.mpf(10) ** -30
        return float(_bisect(lambda m: -gap(m), low, 1 / r))


def outlier(name: str, ratio: float, scale: float, theta: float) -> float:
    """The position of an outlier by its textbook formula, at 60 digits."""
    with mpmath.workdps(60):
        c, s, x = mpmath.mpf(ratio), mpmath.mpf(scale), mpmath.mpf(theta)
        if name == "rectangular":  # Benaych-Georges and Nadakuditi: sqrt((1 + x^2)(c + x^2))/x
            return float(s * mpmath.sqrt((1 + (x / s) ** 2) * (c + (x / s) ** 2)) / (x / s))
        if name == "covariance":  # Baik and Silverstein: l + c l/(l - 1)
            x /= s
            return float(s * (x + c * x / (x - 1)))
        if name == "wishart":  # additive: the inverse of Marchenko-Pastur's transform
            x /= s
            return float(s * (x + x / (x - c)))
        return float(x + s * s / x)


def overlaps(name: str, ratio: float, scale: float, theta: float) -> dict[str, float]:
    """Squared overlaps of the spiked ensembles, textbook formulas at 60 digits."""
    with mpmath.workdps(60):
        c, x = mpmath.mpf(ratio), mpmath.mpf(theta) / mpmath.mpf(scale)
        if name == "rectangular":
            t = x * x
            return {"d": float(1 - (c + t) / (t * (t + 1))), "N": float(1 - c * (1 + t) / (t * (t + c)))}
        if name == "covariance":
            scores = 1 - c / (x - 1) ** 2
            return {"vector": float(scores / (1 + c / (x - 1))), "scores": float(scores)}
        if name == "wishart":  # the derivative of theta + theta/(theta - c), as for every additive spike
            return {"vector": float(1 - c / (x - c) ** 2)}
        return {"vector": float(1 - 1 / x**2)}


def spikes_of_two_steps(first: Fraction, second: Fraction, degree: int | None) -> int:
    """T1: min(L - 1, floor(alpha2/(1/2 - alpha1)))."""
    count = math.floor(second / (Fraction(1, 2) - first))
    return count if degree is None else min(degree - 1, count)


# Every paper's step and ridge as a multiple of paper O's, from their definitions: eta_O = factor eta, ridge likewise.
STEPS: dict[str, Callable[[int], float]] = {
    "O": lambda N: 1.0,
    "F": lambda N: 1 / math.sqrt(N),
    "T": lambda N: 1.0,
    "M": lambda N: 1.0,
    "P5": lambda N: math.sqrt(N),
    "P7": lambda N: 1 / math.sqrt(N),
}
RIDGES: dict[str, Callable[[int, int, int], float]] = {
    "O": lambda N, n, d: 1.0,
    "F": lambda N, n, d: N / n,
    "P5": lambda N, n, d: N / n,
    "M": lambda N, n, d: 1.0,
    "P9": lambda N, n, d: N / d,
}
