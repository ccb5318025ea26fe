"""T3: limits of directions, against quadrature of their definitions, their laws, and known zeros."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.steps.alignment import Geometry, cosine
from bulkedge.theory.steps.second_step import PolynomialActivation, powers_of_p, spike_function
from bulkedge.theory.steps.target import AdditiveTarget, PolynomialTarget, label

He = [sp.Integer(1), s.z, s.z**2 - 1, s.z**3 - 3 * s.z]
rationals = st.fractions(min_value=-2, max_value=2, max_denominator=12)


def grid(n: int) -> tuple[np.ndarray, np.ndarray]:
    x, w = np.polynomial.hermite_e.hermegauss(n)
    return x, w / w.sum()


def by_quadrature(g: sp.Expr, alpha: float, noise: float, batch: str, i: int, k: int) -> tuple[float, float]:
    """E[z F_k] and b_i.b_k for F = y p^k, by three nested Gauss-Hermite rules: no moment algebra."""
    x, w = grid(24)
    z, zeta, eps = np.meshgrid(x, x, x, indexing="ij")
    weight = w[:, None, None] * w[None, :, None] * w[None, None, :]
    y = sp.lambdify(s.z, g, "numpy")(z) + noise * eps

    def mean(values: np.ndarray) -> float:
        return float(np.sum(weight * values))

    c, s2 = mean(z * y), mean(y**2) / alpha
    q = c * z + np.sqrt(s2) * zeta
    p = q + (y / alpha if batch == "reused" else 0)
    Fi, Fk = y * p**i, y * p**k
    dFi, dFk = i * y * p ** max(i - 1, 0), k * y * p ** max(k - 1, 0)
    gram = mean(z * Fi) * mean(z * Fk) + s2 * mean(dFi) * mean(dFk) + mean(Fi * Fk) / alpha
    if batch == "reused":
        gram += (mean(dFi) * mean(y * Fk) + mean(dFk) * mean(y * Fi)) / alpha
    return mean(z * Fk), gram


@pytest.mark.parametrize("batch", ["reused", "fresh"])
@pytest.mark.parametrize(("i", "k"), [(1, 1), (1, 2), (2, 2), (0, 3)])
def test_against_quadrature(batch: str, i: int, k: int) -> None:
    g = He[1] / 3 - He[2] / 2 + He[3] / 4 + sp.Rational(1, 5)
    target = PolynomialTarget(g, noise=sp.Rational(3, 10))
    geometry = Geometry(target, sp.Rational(10, 13), batch)
    F, H = (powers_of_p(n, batch, label(target, sp.Rational(10, 13))) for n in (i, k))
    signal, gram = by_quadrature(g, 1.3, 0.3, batch, i, k)
    assert float(geometry.signal(H)) == pytest.approx(signal, rel=1e-9)
    assert float(geometry.gram(F, H)) == pytest.approx(gram, rel=1e-9)


@given(st.lists(rationals, min_size=4, max_size=4), st.fractions(min_value=Fraction(1, 3), max_value=3), rationals)
@settings(max_examples=25, deadline=None)
def test_reused_batch_laws(coefficients: list[Fraction], alpha: Fraction, noise: Fraction) -> None:
    g = sp.Add(*(sp.Rational(str(c)) * h for c, h in zip(coefficients, He, strict=True)))
    target, ratio = PolynomialTarget(g, noise=sp.Rational(str(noise))), 1 / sp.Rational(str(alpha))
    geometry = Geometry(target, ratio, "reused")
    F = [powers_of_p(k, "reused", label(target, ratio)) for k in range(3)]
    # b_0 is u itself, so its products must be those with u; Cauchy-Schwarz on both pairs.
    assert geometry.gram(F[0], F[0]) == geometry.u_norm2
    for k in (1, 2):
        assert geometry.gram(F[0], F[k]) == geometry.u_dot(F[k])
        assert geometry.signal(F[k]) ** 2 <= geometry.gram(F[k], F[k])
        assert geometry.gram(F[0], F[k]) ** 2 <= geometry.gram(F[0], F[0]) * geometry.gram(F[k], F[k])
    assert geometry.gram(F[1], F[2]) == geometry.gram(F[2], F[1])


def test_information_exponent_three() -> None:
    target = PolynomialTarget(sp.Symbol("g3", real=True) * He[3], noise=s.s_eps)
    for k in range(5):
        fresh = Geometry(target, 1 / s.alpha, "fresh")
        assert fresh.signal(powers_of_p(k, "fresh", label(target, 1 / s.alpha))) == 0
        reused = Geometry(target, 1 / s.alpha, "reused")
        signal = reused.signal(powers_of_p(k, "reused", label(target, 1 / s.alpha)))
        assert (sp.expand(signal) != 0) == (k in {2, 4})
    activation = PolynomialActivation(He[1] + He[2] / 4 + He[3] / 9)
    one = spike_function(1, "reused", "full", activation, label(target, 1 / s.alpha))
    assert sp.expand(Geometry(target, 1 / s.alpha, "reused").signal(one)) == 0


def test_mixed_parity_is_reached_from_one_and_even_never() -> None:
    mixed = PolynomialTarget(He[2] / 2 + He[3] / 6)
    even = PolynomialTarget(He[2] / 2 + s.z**4)
    for k in range(1, 5):
        assert Geometry(mixed, 1 / s.alpha, "reused").signal(powers_of_p(k, "reused", label(mixed, 1 / s.alpha))) != 0
        assert Geometry(even, 1 / s.alpha, "reused").signal(powers_of_p(k, "reused", label(even, 1 / s.alpha))) == 0


def test_multi_index_staircase_and_two_kinds_of_target() -> None:
    """y = z1 + He_2(z1) z2 ... a fresh batch climbs from z1 to z2; an additive target agrees with its polynomial."""
    z1, z2 = sp.symbols("z1 z2", real=True)
    staircase = PolynomialTarget(z1 + z1 * z2, 2)
    geometry = Geometry(staircase, 1 / s.alpha, "fresh")
    signals = [
        [geometry.signal(powers_of_p(k, "fresh", label(staircase, 1 / s.alpha)), j) for j in (0, 1)] for k in (0, 1)
    ]
    assert signals[0] == [1, 0]
    assert signals[1] == [0, 1]  # E[z2 y q] = E[z2 (z1 z2) z1] = 1
    links = (
        lambda a, b: PolynomialTarget(s.z + He[2] / 2).moment((a,), b),
        lambda a, b: PolynomialTarget(He[3] / 3).moment((a,), b),
    )
    additive = AdditiveTarget(links, sp.Rational(1, 25))
    joint = PolynomialTarget(z1 + (z1**2 - 1) / 2 + (z2**3 - 3 * z2) / 3, 2, sp.Rational(1, 5))
    for k in (1, 2):
        F = powers_of_p(k, "reused", label(additive, sp.Rational(1, 2)))
        left, right = (Geometry(target, sp.Rational(1, 2), "reused") for target in (additive, joint))
        assert [left.signal(F, j) for j in (0, 1)] == [right.signal(F, j) for j in (0, 1)]
        assert left.gram(F, F) == right.gram(F, F)


def test_cosine_encloses() -> None:
    exact = Enclosure(Fraction(3), Fraction(0)), Enclosure(Fraction(10), Fraction(0))
    found = cosine(*exact, 30)
    assert abs(found.value**2 - Fraction(9, 10)) < Fraction(1, 10**30)
    loose = cosine(Enclosure(Fraction(-1, 100), Fraction(1, 50)), Enclosure(Fraction(2), Fraction(1, 4)), 15)
    for x in (-0.03, 0.0, 0.01):
        for n in (1.75, 2.25):
            assert loose.contains(x / np.sqrt(n))
    with pytest.raises(ArithmeticError):
        cosine(exact[0], Enclosure(Fraction(0), Fraction(1)), 15)
