"""T1, T5: counting outliers in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps import phases

F = Fraction
BATCHES = ("reused", "fresh")
exponents = st.fractions(min_value=0, max_value=F(1, 2), max_denominator=200).filter(lambda x: x < F(1, 2))


@given(exponents, exponents, st.one_of(st.none(), st.integers(1, 40)))
def test_lambda_is_the_last_spike_that_survives(alpha1: F, alpha2: F, degree: int | None) -> None:
    point = phases.phase(alpha1, alpha2, degree)
    # Second route: walk up the exponents of the strengths one by one instead of dividing.
    k = 0
    while (degree is None or k + 1 <= degree - 1) and alpha2 - (k + 1) * (F(1, 2) - alpha1) >= 0:
        k += 1
    assert point.Lambda == k
    assert point.total == 1 + k
    exponents = [point.exponent(i) for i in range(point.total)]
    assert all(x >= 0 for x in exponents)
    assert point.boundary == (0 in exponents)
    if point.one_step:
        assert point.Lambda == 0


@given(exponents, exponents, st.integers(1, 40))
def test_the_sympy_statement_says_the_same(alpha1: F, alpha2: F, degree: int) -> None:
    stated = phases.new_outliers().rhs.subs(
        {s.alpha1: sp.Rational(str(alpha1)), s.alpha2: sp.Rational(str(alpha2)), s.L: degree}
    )
    assert stated == phases.phase(alpha1, alpha2, degree).Lambda


def test_boundaries_are_not_decided_by_rounding() -> None:
    # In floats .1/(.5 - .4) = 1.0000000000000002 and .3/(.5 - .4) = 3.0000000000000004, .2/(.5-.3) = .99...: luck.
    for alpha1, alpha2, Lambda in ((F(2, 5), F(1, 10), 1), (F(2, 5), F(3, 10), 3), (F(3, 10), F(2, 5), 2)):
        point = phases.phase(alpha1, alpha2, None)
        assert (point.Lambda, point.boundary) == (Lambda, True)
        below = phases.phase(alpha1, alpha2 - F(1, 10**30), None)
        assert (below.Lambda, below.boundary) == (Lambda - 1, False)


def test_a_boundary_beyond_the_degree_is_none() -> None:
    assert not phases.phase(F(9, 20), F(2, 5), 3).boundary
    assert phases.phase(F(9, 20), F(2, 5), 3).Lambda == 2
    assert phases.phase(F(0), F(0), 3).boundary  # the gradient's own spike is of order one


def test_proliferation() -> None:
    counts = [phases.phase(F(1, 2) - F(1, 10**n), F(1, 4), None).Lambda for n in range(1, 6)]
    assert counts == [2, 25, 250, 2500, 25000]
    extreme = phases.phase(F(1, 2) - F(1, 10**300), F(1, 4), None)
    assert extreme.Lambda == 10**300 // 4
    assert len(phases.count(extreme).directions) == phases.LISTED


@pytest.mark.parametrize(
    ("a1", "a2", "L"), [(F(1, 2), F(0), 3), (F(0), F(-1, 9), 3), (F(0), F(3, 4), 3), (F(0), F(0), 0)]
)
def test_bad_input(a1: F, a2: F, L: int) -> None:
    with pytest.raises(InputError):
        phases.phase(a1, a2, L)


def test_what_changes_the_count() -> None:
    point = phases.phase(F(9, 20), F(1, 5), None)
    assert point.Lambda == 4
    assert phases.count(point).total == 5
    assert phases.count(point, readout="rademacher").total == 2
    assert phases.count(point, readout="constant").total == 1
    even_missing = phases.count(point, batch="fresh", missing=range(1, 100, 2))
    assert even_missing.directions == ("a", "a^3", "a^5")
    assert even_missing.total == 3
    kinked = phases.phase(F(7, 20), F(1, 5), None)
    assert phases.count(kinked, further=(1, 2)).directions == ("a", "a^2", "a|a|")
    assert phases.count(kinked, batch="fresh", further=(1,)).total == 2
    with pytest.raises(InputError):
        phases.count(point, readout="cauchy")
    with pytest.raises(InputError):
        phases.count(point, batch="both")


def test_one_step_cosines() -> None:
    values = {s.mu1_star: sp.Rational(3, 5), s.m2: sp.Rational(7, 5), s.alpha: sp.Rational(3, 2)}
    reused, fresh = (phases.one_step_cosine2(b).subs(values) for b in ("reused", "fresh"))
    assert sp.simplify(reused) == sp.Rational(9, 25) / (sp.Rational(9, 25) + sp.Rational(14, 15))
    assert sp.simplify(fresh.subs(s.eta2, 0) - reused) == 0
    # Independent noise averages out: with equal steps the fresh batch has half the noise energy.
    assert sp.simplify(fresh.subs(s.eta2, s.eta1)) == sp.Rational(9, 25) / (sp.Rational(9, 25) + sp.Rational(7, 15))


def test_the_length_sees_the_step_sizes_that_the_cosine_cannot() -> None:
    one, two = (1, 1), (2, 0)
    lengths = {
        b: [phases.learned_length2(b).subs(dict(zip((s.eta1, s.eta2), e, strict=True))) for e in (one, two)]
        for b in BATCHES
    }
    assert sp.simplify(lengths["reused"][0] - lengths["reused"][1]) == 0
    assert sp.simplify(lengths["fresh"][0] - lengths["fresh"][1] + 2 * s.mu1**2 * s.m2 / s.alpha) == 0
    assert phases.one_step_cosine2("reused").subs({s.eta1: 1, s.eta2: 0}).equals(phases.one_step_cosine2("reused"))


@pytest.mark.parametrize("batch", BATCHES)
def test_the_length_by_its_vectors(batch: str) -> None:
    """Second route: eta1 u1 + eta2 u2 of a linear activation, drawn as mu1* beta + noise on orthonormal axes."""
    values = {s.mu1_star: 0.6, s.m2: 1.7, s.alpha: 1.5, s.eta1: 0.7, s.eta2: 2.0, s.mu1: -1.3}
    noise = (1.7 / 1.5) ** 0.5
    axes = ((0.6, noise, 0.0), (0.6, noise, 0.0) if batch == "reused" else (0.6, 0.0, noise))
    learned = [-1.3 * (0.7 * a + 2.0 * b) for a, b in zip(*axes, strict=True)]
    length2 = sum(x * x for x in learned)
    assert float(phases.learned_length2(batch).subs(values)) == pytest.approx(length2, rel=1e-12)
    assert float(phases.one_step_cosine2(batch).subs(values)) == pytest.approx(learned[0] ** 2 / length2, rel=1e-12)


def test_the_lines_are_where_lambda_jumps() -> None:
    for k, line in enumerate(phases.boundary_lines(5), start=1):
        on = line.rhs.subs(s.alpha1, sp.Rational(2, 5))
        if on < sp.Rational(1, 2):
            assert phases.phase(F(2, 5), F(str(on)), None).Lambda == k


@given(exponents, exponents)
def test_the_weakest_spike_that_grows(alpha1: F, alpha2: F) -> None:
    """It is counted, its exponent is positive, the next one's is not; two widths compose."""
    point = phases.phase(alpha1, alpha2, None)
    near = phases.first_size(point)
    if near.spike is None:
        assert point.exponent(0) == 0
        return
    assert 0 <= near.spike <= point.Lambda
    assert point.exponent(near.spike) > 0 >= point.exponent(near.spike + 1)
    assert phases.first_size(point, 10**6).factor == pytest.approx(near.factor**2, rel=1e-12)
    assert near.factor ** (near.tenfold / 3) == pytest.approx(10, rel=1e-9)
    assert phases.first_size(phases.phase(phases.HALF - F(1, 10**400), alpha2, 2)).correction > 0.99
