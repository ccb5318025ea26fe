"""Spectra behind resolvents: against laws known in closed form, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkedge.theory.equivalents import equivalent_spectrum
from bulkedge.theory.equivalents.equivalent import declare, read, values_of
from bulkedge.theory.equivalents.equivalent_spectrum import EquivalentSpectrum, real_roots
from bulkedge.theory.numbers.errors import ConvergenceError, InputError


def spectrum(expression: str, gaussian: object, **declared: object) -> EquivalentSpectrum:
    e = read(expression, declare(gaussian, real="z", **declared))  # type: ignore[arg-type]
    return equivalent_spectrum.spectrum(e, e.symbols[0], 15)


@settings(max_examples=8)
@given(st.fractions(min_value=Fraction(1, 5), max_value=5, max_denominator=9))
def test_semicircle(variance: Fraction) -> None:
    """Edges -+2 s, density sqrt(4 s^2 - x^2)/(2 pi s^2); no atoms, no outliers."""
    declared = declare(f"H: n x n symmetric, ({variance})/n", real="z")
    e = read("tr(inv(z - H))", declared)
    found = equivalent_spectrum.spectrum(e, e.symbols[0], 15)
    s = math.sqrt(variance)
    assert [float(x) for x in found.edges] == pytest.approx([-2 * s, 2 * s], rel=1e-14)
    assert (found.atoms, found.outliers) == ((), ())
    x = Fraction(1, 3)
    ((value, error),) = equivalent_spectrum.density(e, e.symbols[0], [x])
    assert abs(value - math.sqrt(4 * variance - x**2) / (2 * math.pi * variance)) <= error + 1e-15


def test_two_components_and_a_negative_resolvent() -> None:
    """S + H, S of levels 0 and 5: edges are critical values of g -> E 1/(g-ish); here against the discriminant."""
    found = spectrum("tr(inv(z - S - H))", "H: d x d symmetric, 1/d", deterministic="S: d, atoms 0:1/2 5:1/2")
    w = sp.Symbol("w")
    # x(w) = w + E 1/(w - t): the edges are its critical values (Biane).
    slope = sp.numer(sp.together(1 - sp.Rational(1, 2) * (w**-2 + (w - 5) ** -2)))
    critical = [r for r in sp.Poly(slope, w).nroots(n=30) if abs(sp.im(r)) < 1e-20]
    ends = sorted(float(r + (1 / r + 1 / (r - 5)) / 2) for r in critical)
    assert [float(x) for x in found.edges] == pytest.approx(ends, rel=1e-13)
    flipped = spectrum("tr(inv(S + H - z))", "H: d x d symmetric, 1/d", deterministic="S: d, atoms 0:1/2 5:1/2")
    assert [x.value for x in flipped.edges] == [x.value for x in found.edges]


def test_atoms_on_both_sides_of_a_gap() -> None:
    """S + X^T X with n = d/4 samples: at both levels of S half of what X^T X leaves alone."""
    found = spectrum("tr(inv(z - S - X.T*X))", "X: n x d, 1/d", size="d=4,n=1", deterministic="S: d, atoms 0:1/2 7:1/2")
    assert [(float(p), float(w)) for p, w in found.atoms] == [(0.0, 0.25), (7.0, 0.25)]
    assert len(found.edges) == 4


def test_a_spike_in_a_gap_and_two_spikes() -> None:
    """Spiked Wigner: theta + 1/theta for both, residues 1 - 1/theta^2; one below threshold is none."""
    declared = ["H: n x n symmetric, 1/n", "u: n x 1, 1/n", "v: n x 1, 1/n"]
    found = spectrum("u.T*inv(z - H - 3*u*u.T + 2*v*v.T)*u", declared)
    assert [float(o.position) for o in found.outliers] == pytest.approx([-2.5, 10 / 3], rel=1e-14)
    assert [float(o.residue) for o in found.outliers if o.residue] == pytest.approx([0, 1 - 1 / 9], abs=1e-14)
    assert spectrum("u.T*inv(z - H - u*u.T*9/10)*u", declared[:2]).outliers == ()


@pytest.mark.parametrize(
    ("expression", "error", "said"),
    [
        ("tr(inv(z**2 - H))", InputError, "no resolvent"),
        ("tr(z*H*H)", InputError, "no resolvent"),
        ("tr(inv(z - H - lam))", InputError, "lam has no value"),
    ],
)
def test_what_is_no_spectrum(expression: str, error: type[Exception], said: str) -> None:
    e = read(expression, declare("H: n x n symmetric, 1/n", real="z", positive="lam" if "lam" in expression else None))
    with pytest.raises(error, match=said):
        equivalent_spectrum.spectrum(e, next(s for s in e.symbols if s.name == "z"), 15)


def test_densities_at_edges_are_refused() -> None:
    e = read("tr(inv(z - H))", declare("H: n x n symmetric, 1/n", real="z"))
    with pytest.raises(ConvergenceError, match="edge"):
        equivalent_spectrum.density(e, e.symbols[0], [Fraction(2)])


def test_real_roots_are_distinct_and_ordered() -> None:
    from flint import fmpz_poly

    found = real_roots([fmpz_poly([-2, 0, 1]), fmpz_poly([2, -3, 1]), fmpz_poly([4, -4, 1])], 80)
    assert [float(x.mid()) for x in found] == pytest.approx([-(2**0.5), 1, 2**0.5, 2], rel=1e-15)


@settings(max_examples=6)
@given(st.fractions(min_value=Fraction(1, 9), max_value=4, max_denominator=9), st.sampled_from(["lam", "c", "s"]))
def test_implicit_derivatives(lam: Fraction, name: str) -> None:
    """Against central differences at 40 digits; a size, a level and the regularisation move."""
    model = declare("X: n x d, 1/n", size="n=2,d=c", deterministic="S: d, atoms s:1/3 4:2/3", positive="lam,c,s")
    e = read("let Q = inv(S*X.T*X + lam); tr(Q)/(1 + tr(S*Q*c))", model)
    at = {"lam": lam, "c": Fraction(1, 2), "s": Fraction(2)}
    h = Fraction(1, 10**12)

    def moved(by: Fraction) -> Fraction:
        return e.enclose(values_of({**at, name: at[name] + by}, e.symbols), 40).value

    symbol = next(s for s in e.symbols if s.name == name)
    found = e.slope(values_of(at, e.symbols), symbol, 20)
    assert abs(found.value - (moved(h) - moved(-h)) / (2 * h)) < Fraction(1, 10**18)


def test_a_form_without_a_spike_has_no_outlier() -> None:
    """Its determinant is a number, which needs no equation (it was refused)."""
    e = read("v.T*inv(z - X.T*X/n)*v", declare(["X: n x d, 1", "v: d x 1, 1/d"], size="n=2,d=1", real="z"))
    found = equivalent_spectrum.spectrum(e, e.symbols[0], 15)
    assert found.outliers == ()
    assert [float(x) for x in found.edges] == pytest.approx([(1 - 0.5**0.5) ** 2, (1 + 0.5**0.5) ** 2])
