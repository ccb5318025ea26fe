"""Commands over symbols, continued: outliers, convert, floor, features; exact numbers stay exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bulkedge
from bulkedge.cli import main
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.risk import floor as theory_floor

a, b, d, m, n, eta, lam, s = sp.symbols("a b d m n eta lambda_ s", positive=True)
PHASES = (Phase.explicit, Phase.generate)  # shrinking SymPy's expressions takes minutes
EXPONENT = st.fractions(Fraction(1, 40), Fraction(19, 40), max_denominator=40)


@settings(max_examples=15, deadline=None, phases=PHASES)
@given(EXPONENT, EXPONENT, st.sampled_from([1, 3, 6, "inf"]), st.sampled_from(["gaussian", "rademacher", "constant"]))
def test_outliers(x: Fraction, y: Fraction, degree: Any, readout: str) -> None:
    formula = bulkedge.outliers(a, b, degree=degree, readout=readout)
    numeric = bulkedge.outliers(x, y, degree=degree, readout=readout)
    at = formula.subs({a: x, b: y})
    assert (at.Lambda, at.total, at.counted) == (numeric.Lambda, numeric.total, numeric.counted)
    values = {a: sp.Rational(x.numerator, x.denominator), b: sp.Rational(y.numerator, y.denominator)}

    def holds(text: str) -> bool:
        return bool(sp.And(sp.sympify(text, locals={"a": a, "b": b})).subs(values))

    assert holds(formula.payload()["exact"]["boundary"]) == numeric.boundary
    regions = [r["Lambda"] for r in formula.regions if holds(r["condition"])]
    assert regions == ([numeric.Lambda] if numeric.Lambda < len(formula.regions) else [])
    exponents = {r["k"]: sp.sympify(r["exponent"], locals={"a": a, "b": b}).subs(values) for r in formula.exponents}
    for line in numeric.exponents[: len(exponents)]:
        assert exponents[line["k"]] == sp.Rational(line["exponent"])


def test_the_program_counts_as_decimals_do() -> None:
    """.15/(1/2 - .35) is 1, though its floats' quotient lies below: the spike on the boundary is counted."""
    program = bulkedge.outliers(a, b, degree="inf").lambdify()
    grid = [Fraction(i, 100) for i in range(1, 50)]
    x, y = np.meshgrid([float(g) for g in grid], [float(g) for g in grid], indexing="ij")
    exact = [[int(v // (Fraction(1, 2) - u)) for v in grid] for u in grid]
    assert np.array_equal(program(a=x, b=y)["Lambda"], exact)


@settings(max_examples=10, deadline=None, phases=PHASES)
@given(
    st.sampled_from([("F", "O"), ("O", "P5"), ("M", "F"), ("P5", "M"), ("T", "F")]),
    st.tuples(*[st.integers(1, 60)] * 3),
    st.fractions(Fraction(1, 9), 9, max_denominator=20),
)
def test_convert(papers: tuple[str, str], sizes: tuple[int, int, int], step: Fraction) -> None:
    known = "T" not in papers
    symbolic = bulkedge.convert(*papers, step=eta, width=m, n=n, d=d, **({"ridge": eta * lam} if known else {}))
    values = dict(zip((m, n, d), sizes, strict=True)) | {eta: step} | ({lam: 2} if known else {})
    given_ridge = {"ridge": 2 * step} if known else {}
    numeric = bulkedge.convert(*papers, step=step, width=sizes[0], n=sizes[1], d=sizes[2], **given_ridge)
    kept = {x: v for x, v in values.items() if x in symbolic.free_symbols}
    got = symbolic.subs(kept)
    for name in ("step", "ridge"):
        if numeric._stated[name] is not None:
            assert sp.simplify(got[name].expr - numeric._stated[name].expr) == 0
    for name, x in numeric._stated["ratios"].items():
        assert got["ratios"][name].expr == x.expr


def test_letters_are_the_readers() -> None:
    """A width called d is no dimension: the formulas' letters and the reader's are apart."""
    assert bulkedge.convert("F", "O", step=eta, width=d).step.expr == eta / sp.sqrt(d)
    assert bulkedge.convert("F", "O", step=eta, width=d)._stated["ratios"]["psi2"] is None


@pytest.mark.parametrize(
    ("link", "power", "batch", "activation"),
    [
        ("He(2, z) + He(3, z)", 1, "reused", None),
        ("z + He(2, z)/2", 2, "fresh", None),
        ("z + He(3, z)/3", 1, "reused", "z + He(2, z)/4"),
        ("sin(z)", 1, "fresh", None),
    ],
)
def test_align(link: str, power: int, batch: str, activation: str | None) -> None:
    symbolic = bulkedge.align(link, power=power, alpha=a, batch=batch, noise=s, activation=activation)
    for ratio, noise in ((Fraction(7, 3), Fraction(1, 2)), (Fraction(1, 5), Fraction(3))):
        numeric = bulkedge.align(link, power=power, alpha=ratio, batch=batch, noise=noise, activation=activation)
        at = symbolic.subs({x: v for x, v in ((a, ratio), (s, noise)) if x in symbolic.free_symbols})
        for name in ("signal", "norm2", "cosine"):
            assert float(at[name]) == pytest.approx(float(numeric._stated[name]), rel=1e-12, abs=1e-14)
    with pytest.raises(InputError, match="no closed form"):
        bulkedge.align("tanh(z)", power=1, alpha=a, batch=batch)


def test_floor_is_exact_where_it_can_be() -> None:
    found = bulkedge.floor("erf", "erf")
    assert (found.tau.expr, found.kappa.expr) == (0, sp.sqrt(3))
    assert sp.simplify(found.linear_floor.expr - (2 * sp.asin(sp.Rational(2, 3)) / sp.pi - 4 / (3 * sp.pi))) == 0
    assert found.payload()["errors"]["tau"] == "0"
    assert r"\sqrt{3}" in found.latex()
    # By another route: the criterion from the arcsine kernel, written out.
    values = {theory_floor.slope: sp.Rational(7, 5)}
    erf = nonlinearity("erf")
    closed = theory_floor.exact_criterion(erf, erf)
    assert sp.N((closed - theory_floor.erf_criterion()).subs(values), 30) == pytest.approx(0, abs=1e-25)
    assert theory_floor.exact_zero(erf, erf, 1.7320508) is not None
    assert theory_floor.exact_zero(erf, erf, 1.7) is None
    with_noise = bulkedge.floor("relu", "He(2, z) + z", noise=s)
    assert with_noise.floor_with_noise.expr == 2 + s**2
    assert with_noise.tau.expr is None
    with pytest.raises(InputError, match="no closed form"):
        bulkedge.floor("relu", "tanh", noise=s)


@pytest.mark.parametrize(
    "pair", [("relu", "He(2, z)/2 + z"), ("erf", "He(2, z) + 1"), ("gelu", "sin(z)"), ("exp", "z")]
)
def test_features_are_exact_and_within_the_floats(pair: tuple[str, str]) -> None:
    found = bulkedge.features(*pair, exponent="3/10", batch="3/2", noise="1/2")
    raw = found.found
    assert abs(float(found.norm) - raw.norm) <= raw.error * raw.norm
    assert found.norm.expr is not None
    assert found.variance.expr is not None
    for line, floats in zip(found.directions, raw.directions, strict=True):
        for reading in ("rank_one", "full"):
            for x, y in zip(line[reading], getattr(floats, reading), strict=True):
                assert x.expr is not None
                assert abs(float(x) - y) <= raw.error * max(1e-3, abs(y))
    assert found.to_dict()["directions"][0]["exact"]["coefficient"] == str(found.directions[0]["coefficient"].expr)


def test_features_without_closed_forms_stay_numbers() -> None:
    found = bulkedge.features("softplus", "tanh", exponent="3/10")
    assert found.norm.expr is None
    assert found.directions[0]["coefficient"].expr == sp.Rational(1, 2)
    assert found.directions[1]["coefficient"].expr is None


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["outliers", "a", "b", "--degree", "3", "--real", "a,b"], "not shown to be non-negative"),
        (["outliers", "a + 1/2", "b", "--degree", "3", "--positive", "a,b"], "outside"),
        (["outliers", "a", "b", "--degree", "3", "--activation", "relu", "--positive", "a,b"], "activation"),
        (["outliers", "a", "q", "--degree", "3", "--positive", "a"], "not declared"),
        (["convert", "--from", "F", "--to", "O", "--step", "eta", "--width", "m", "--positive", "m"], "not declared"),
        (["floor", "relu", "abs", "--noise", "s", "--real", "s"], "not shown"),
    ],
)
def test_bad_input(arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert word in captured.err
