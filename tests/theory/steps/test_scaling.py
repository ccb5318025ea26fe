"""The dictionary of scalings: round trips, chains, and the values written in the papers."""

from __future__ import annotations

import itertools

import pytest
import sympy as sp

from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import N, d, n, n1
from bulkedge.theory.steps.scaling import PAPERS, exponent_shift, ridge_factor, sizes_of, step_factor

STEPPING = [key for key, p in PAPERS.items() if p.rate is not None]
RIDGED = [key for key, p in PAPERS.items() if p.ridge is not None]


@pytest.mark.parametrize(
    ("key", "expected"),
    [("O", 1), ("F", 1 / sp.sqrt(N)), ("T", 1), ("M", 1), ("P5", sp.sqrt(N)), ("P7", 1 / sp.sqrt(N))],
)
def test_steps_as_the_papers_state_them(key: str, expected: sp.Expr) -> None:
    assert step_factor(key, "O") == expected


@pytest.mark.parametrize(("key", "expected"), [("O", 1), ("F", N / n), ("P5", N / n), ("M", 1), ("P9", N / d)])
def test_ridges_as_the_papers_state_them(key: str, expected: sp.Expr) -> None:
    assert ridge_factor(key, "O") == expected


@pytest.mark.parametrize(("factor", "keys"), [(step_factor, STEPPING), (ridge_factor, RIDGED)])
def test_round_trips_and_chains_are_exact(factor: object, keys: list[str]) -> None:
    for a, b, c in itertools.product(keys, repeat=3):
        assert sp.simplify(factor(a, b) * factor(b, a)) == 1
        assert sp.simplify(factor(a, b) * factor(b, c) - factor(a, c)) == 0


@pytest.mark.parametrize(("key", "shift"), [("F", sp.Rational(1, 2)), ("T", 0), ("M", 0), ("P5", -sp.Rational(1, 2))])
def test_exponents(key: str, shift: sp.Expr) -> None:
    assert exponent_shift("O", key) == shift
    assert exponent_shift(key, "O") == -shift


def test_ratios_of_mei_and_montanari_are_exchanged() -> None:
    sizes = sizes_of({"psi1": sp.Integer(3), "psi2": sp.Integer(2)}, "P9")
    assert sizes == {N: 3 * d, n: 2 * d}
    assert sizes_of({"psi1": sp.Integer(2), "psi2": sp.Integer(3)}, "O") == sizes
    assert sizes_of({"phi": sp.Rational(1, 2)}, "M") == {n: 2 * d}


def test_what_a_paper_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="P9 takes no gradient step"):
        step_factor("P9", "O")
    with pytest.raises(InputError, match="ridge objective of paper T"):
        ridge_factor("T", "O")
    with pytest.raises(InputError, match="unknown paper"):
        step_factor("Q", "O")
    with pytest.raises(InputError, match="no ratio 'gamma'"):
        sizes_of({"gamma": n1}, "F")
