"""Results with symbols: what they print equals the command with numbers, also at and across thresholds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import bulkedge
from bulkedge.cli import main
from bulkedge.results.number import Number
from bulkedge.theory.numbers.errors import InputError

psi, theta, alpha, beta, d, eta, s, c = sp.symbols("psi theta alpha beta d eta s c", positive=True)
t = sp.Symbol("t", real=True)
POSITIVE = st.fractions(Fraction(1, 20), 20, max_denominator=40)
REAL = st.fractions(-5, 5, max_denominator=20)


def flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Numbers by their dotted names."""
    found: dict[str, Any] = {}
    if isinstance(values, Mapping):
        for key, value in values.items():
            found |= flat(value, prefix if key == "readings" else f"{prefix}{key}.")
    elif isinstance(values, tuple | list):
        for i, value in enumerate(values):
            found |= flat(value, f"{prefix}{i}.")
    elif isinstance(values, Number):
        found[prefix[:-1]] = values
    return found


def same(symbolic: Any, numeric: Any, values: Mapping[sp.Symbol, Fraction]) -> None:
    """The two results have the same numbers at these values: exactly where both are exact, else to 12 digits."""
    rational = {symbol: sp.Rational(v.numerator, v.denominator) for symbol, v in values.items()}
    left, right = flat(symbolic.subs(rational)), flat(numeric._stated)
    assert left.keys() == right.keys()
    for name, x in left.items():
        y = right[name]
        assert abs(float(x) - float(y)) <= 1e-12 * max(1.0, abs(float(y))), name
        assert (x.expr is None) == (y.expr is None), name


SPIKE = bulkedge.spike(ratio=psi, strength=theta)


@settings(max_examples=20, deadline=None)
@given(POSITIVE, POSITIVE)
def test_spike(ratio: Fraction, strength: Fraction) -> None:
    same(SPIKE, bulkedge.spike(ratio, strength), {psi: ratio, theta: strength})


@pytest.mark.parametrize("strength", ["3/2", "8/5", "149/100", "151/100"])
def test_at_the_threshold(strength: str) -> None:
    at = Fraction(81, 16)  # its fourth root is 3/2
    same(SPIKE, bulkedge.spike(at, strength), {psi: at, theta: Fraction(strength)})


ENSEMBLES = {
    name: bulkedge.spike(ratio=None if name == "wigner" else c, strength=x, ensemble=name)
    for name, x in (("covariance", s), ("wigner", t), ("wishart", t))
}


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(sorted(ENSEMBLES)), POSITIVE, REAL)
def test_other_ensembles(name: str, ratio: Fraction, strength: Fraction) -> None:
    if name == "covariance":
        strength = abs(strength) + Fraction(1, 20)
    found = ENSEMBLES[name]
    values = {symbol: ratio if symbol == c else strength for symbol in found.free_symbols}
    same(found, bulkedge.spike(None if name == "wigner" else ratio, strength, ensemble=name), values)


@settings(max_examples=10, deadline=None)
@given(POSITIVE, st.fractions(Fraction(21, 20), 3, max_denominator=40))
def test_the_inverse(ratio: Fraction, beyond: Fraction) -> None:
    root = Fraction(int(ratio * 10) + 1, 10)  # a rational ratio root^2, so that the edge 1 + root is rational
    observed = (1 + root) * beyond
    symbolic = bulkedge.spike(ratio=psi, observed=s)
    same(symbolic, bulkedge.spike(root**2, observed=observed), {psi: root**2, s: observed})
    assert any("beyond the bulk" in note for note in symbolic.notes)


MP = bulkedge.mp(alpha * beta, scale=s)


@settings(max_examples=10, deadline=None)
@given(POSITIVE, POSITIVE, POSITIVE)
def test_mp(a: Fraction, b: Fraction, scale: Fraction) -> None:
    same(MP, bulkedge.mp(a * b, scale=scale), {alpha: a, beta: b, s: scale})


GAMMA = {
    pair: bulkedge.gamma(*pair, n=alpha * d, m=beta * d, d=d, step=eta, noise=s)
    for pair in (("relu", "He(2, z)/2 + z"), ("erf", "sin(z)"), ("gelu", "He(2, z)"), ("softplus", "tanh"))
}


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(list(GAMMA)), st.integers(2, 40), st.integers(1, 60), st.integers(1, 60), POSITIVE, POSITIVE)
def test_gamma(pair: tuple[str, str], size: int, n: int, m: int, step: Fraction, noise: Fraction) -> None:
    values = {alpha: Fraction(n, size), beta: Fraction(m, size), d: Fraction(size), eta: step, s: noise}
    same(GAMMA[pair], bulkedge.gamma(*pair, n, m, size, step, noise=noise), values)


def test_the_formula_of_the_issue() -> None:
    """S5: the second route is the formula assembled by hand."""
    full = GAMMA["relu", "He(2, z)/2 + z"].full
    A = (4 * alpha * beta**2 * d**2 - 4 * alpha * eta + 2 * eta**2 * s**2 + 3 * eta**2) / (4 * alpha * beta**2 * d**2)
    B = eta**2 * (sp.pi * alpha * d + 2 * alpha + 7 * sp.pi) / (4 * sp.pi * alpha * beta**2 * d**2)
    assert sp.simplify(full.A.expr - A) == 0
    assert sp.simplify(full.B.expr - B) == 0
    assert sp.simplify(full.B.expr - 2 * B) != 0


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [
        "--n",
        "alpha*d",
        "--m",
        "beta*d",
        "--d",
        "d",
        "--step",
        "eta",
        "--positive",
        "alpha,beta,d",
        "--real",
        "eta",
    ]
    assert main(["gamma", "relu", "He(2,z)/2+z", *sizes, "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["symbolic"] is True
    assert out["symbols"] == {"alpha": "positive", "beta": "positive", "d": "positive", "eta": "real"}
    assert out["readings"]["full"] == {"A": None, "B": None}
    names = {name: sp.Symbol(name) for name in out["symbols"]}
    value = sp.sympify(out["exact"]["full"]["B"], locals=names).subs({names[k]: 2 for k in names})
    assert sp.simplify(value - (4 * (4 * sp.pi + 4 + 7 * sp.pi)) / (4 * sp.pi * 2 * 4 * 4)) == 0
    assert main(["mp", "--ratio", "c", "--positive", "c", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["edges"] == [None, None]
    assert sp.sympify(out["exact"]["edges"][1], locals={"c": c}) == (1 + sp.sqrt(c)) ** 2


def test_exact_stays_exact_with_numbers() -> None:
    found = bulkedge.gamma("relu", "He(2,z)/2+z", 800, 400, 400, 89)
    assert found.full.B.expr == sp.factor(sp.Rational(7921, 1280000) * (4 + 807 * sp.pi) / sp.pi)
    assert found.payload()["errors"]["full"] == {"A": "0", "B": "0"}
    assert bulkedge.gamma("relu", "tanh", 800, 400, 400, 89).full.B.expr is None


PROGRAMS = {
    "mp": (MP, {"alpha": [0.3, 2.0], "beta": 0.7, "s": 1.3}),
    "spike": (SPIKE, {"psi": [0.4, 5.0625, 5.0625], "theta": [2.0, 1.5, 1.6]}),
    "wishart": (ENSEMBLES["wishart"], {"c": [0.5, 3.0, 3.0], "t": [2.0, -1.0, 0.5]}),
    "gamma": (GAMMA["softplus", "tanh"], {"alpha": 2.0, "beta": [1.0, 0.5], "d": 40.0, "eta": 3.0, "s": 0.25}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_computes_the_quantities(name: str) -> None:
    result, values = PROGRAMS[name]
    text = result.python()
    assert [line for line in text.splitlines() if line.strip().startswith(("import", "from"))] == ["    import numpy"]
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    function = space[result.command]
    assert result.source[0] in function.__doc__
    for got in (function(**values), result.lambdify()(**values)):
        names = sorted(values)
        points = np.broadcast_arrays(*(np.asarray(values[n], float) for n in names))
        for index in range(points[0].size):
            at = {n: Fraction(str(float(p.flat[index]))) for n, p in zip(names, points, strict=True)}
            exact = flat(result.subs(at))
            for key, x in exact.items():
                value: Any = got
                for part in key.split("."):
                    value = value[..., int(part)] if part.isdigit() else value[part]
                assert np.broadcast_to(value, points[0].shape).flat[index] == pytest.approx(
                    float(x), rel=1e-10, abs=1e-12
                )


def test_a_program_returns_no_nan() -> None:
    with pytest.raises(ValueError, match="c is not positive"):
        bulkedge.mp(c).lambdify()(0.0)
    with pytest.raises(ValueError, match="not finite"):
        GAMMA["softplus", "tanh"].lambdify()(1.0, 1e-200, 10.0, 1.0, 1.0)


def test_expansions_and_limits_at_the_threshold() -> None:
    at = psi ** sp.Rational(1, 4)
    assert SPIKE.outlier.limits(theta, at) == (1 + sp.sqrt(psi),) * 2
    assert SPIKE.overlap_d.limits(theta, at) == (0, 0)
    assert SPIKE.outlier.series(theta, at, 3, "-") == 1 + sp.sqrt(psi)
    above = SPIKE.outlier.series("theta", at, 3)
    assert above.getO() is not None
    # The rest is of the order that is named: at half the distance it is an eighth.
    rests = []
    for step in (sp.Rational(1, 50), sp.Rational(1, 100)):
        point = {psi: 16, theta: 2 + step}
        rests.append(float(above.removeO().subs(point)) - float(SPIKE.outlier.subs(point)))
    assert rests[0] / rests[1] == pytest.approx(8, rel=0.05)
    assert SPIKE.overlap_d.series(theta, sp.oo, 4).removeO() == 1 - theta**-2
    assert SPIKE.series("theta", at, 2).edge == 1 + sp.sqrt(psi)
    with pytest.raises(InputError, match="decides the case"):
        SPIKE.outlier.series(theta, s, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mp", "--ratio", "q"], ("not a number", "--positive q")),
        (["mp", "--ratio", "q", "--real", "q"], ("not shown to be positive", "--positive q")),
        (["mp", "--ratio", "-q", "--positive", "q"], ("too small",)),
        (["mp", "--ratio", "rho", "--positive", "rho"], ("rho means the correlation",)),
        (["mp", "--ratio", "q", "--positive", "q", "--real", "q"], ("declared twice",)),
        (["mp", "--ratio", "relu", "--positive", "relu"], ("relu means a function",)),
        (["mp", "--ratio", "q.real", "--positive", "q"], ("not",)),
        (["mp", "--ratio", "q**q**q**q**9999999", "--positive", "q"], ("",)),
        (["mp", "--ratio", "__import__('os')", "--positive", "q"], ("not declared",)),
        (["spike", "--ratio", "psi", "--strength", "2", "--size", "10", "--positive", "psi"], ("size", "numbers")),
        (
            ["gamma", "relu", "tanh", "--n", "n", "--m", "m", "--d", "d", "--step", "g_1", "--positive", "n,m,d,g_1"],
            ("g_1",),
        ),
        (["mp", "--ratio", "q", "--positive", "q", "--plot", "x.svg"], ("plot", "symbols")),
    ],
)
def test_bad_input(arguments: list[str], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status = main(arguments)
    captured = capsys.readouterr()
    if arguments[2].startswith("q**"):
        assert status in (0, 2)
        return
    assert status == 2
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    for word in words:
        assert word in captured.err


def test_python_symbols_need_assumptions() -> None:
    with pytest.raises(InputError, match="positive=True"):
        bulkedge.mp(sp.Symbol("c"))
    with pytest.raises(InputError, match="different assumptions"):
        bulkedge.mp(c, scale=1 + sp.Symbol("c", real=True) ** 2)
    with pytest.raises(InputError, match="not positive"):
        bulkedge.mp(c).subs(c, -1)
    with pytest.raises(InputError, match="no such symbol"):
        bulkedge.mp(c).subs(psi, 1)
    assert bulkedge.mp(c).subs("c", 0.25).edges[1].expr == sp.Rational(9, 4)
