"""The guard at construction, tried with planted faults: a moved kink, a lost root, a dropped piece, a wrong branch."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.theory.functions import guard, nonlinearity, parse, pieces
from bulkedge.theory.functions.catalogue import CATALOGUE
from bulkedge.theory.functions.pieces import Piece, split
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z


def parts(text):
    expr = parse.expression(text)
    return expr, split(expr, -sp.oo, sp.oo, "FUNCTION")


def moved(found, i, by):
    """The pieces with break point i moved."""
    at = found[i].upper + by
    return [
        *found[:i],
        Piece(found[i].lower, at, found[i].expr),
        Piece(at, found[i + 1].upper, found[i + 1].expr),
        *found[i + 2 :],
    ]


@pytest.mark.parametrize("text", [*CATALOGUE, "Abs(z**3-3*sqrt(2)*z+1)", "exp(-z**2)*Min(Max(z, -1/3), 1)*sign(1/z)"])
def test_what_is_right_passes(text):
    expr, found = parts(text)
    guard.check(expr, found, found, "FUNCTION")


@pytest.mark.parametrize(
    "text", ["step(z-0.33333333)", "hard_tanh", "selu", "Abs(z**3-3*sqrt(2)*z+1)", "relu(tanh(z)-1/3)"]
)
@pytest.mark.parametrize("by", ["1e-2", "-1e-9", "1e-11"])
def test_a_moved_kink_is_found(text, by):
    expr, found = parts(text)
    wrong = moved(found, len(found) - 2, sp.Rational(by))
    with pytest.raises(InputError, match="cannot be confirmed"):
        guard.check(expr, wrong, wrong, "FUNCTION")


@pytest.mark.parametrize(
    "text",
    [
        "Abs(z**3-3*sqrt(2)*z+1)",
        "relu(z-1/3)-relu(z-(1/3+1e-9))",
        "sign(1/z)",
        "Piecewise((z, (z-1)*(z-1-1e-7) < 0), (0, True))",
    ],
)
def test_a_lost_root_is_found(text):
    """Two neighbours made one, with the expression of either: also where what is lost is 1e-7 wide."""
    expr, found = parts(text)
    for i in range(len(found) - 1):
        for kept in (found[i], found[i + 1]):
            wrong = [*found[:i], Piece(found[i].lower, found[i + 1].upper, kept.expr), *found[i + 2 :]]
            with pytest.raises(InputError, match="cannot be confirmed"):
                guard.check(expr, wrong, wrong, "FUNCTION")


def test_all_roots_lost_is_found():
    expr = parse.expression("Abs(z**3-3*sqrt(2)*z+1)")
    wrong = [Piece(-sp.oo, sp.oo, -(z**3) + 3 * sp.sqrt(2) * z - 1)]
    with pytest.raises(InputError, match="cannot be confirmed"):
        guard.check(expr, wrong, wrong, "FUNCTION")


def test_a_narrow_piece_between_the_sampled_points_is_found():
    """What is lost lies between the points where values are compared: only the branches on intervals tell."""
    expr = parse.expression("Piecewise((5, (z-1)*(z-1-1e-7) < 0), (z, True))")
    wrong = [Piece(-sp.oo, sp.oo, z)]
    with ball.precision(200):
        function = guard._compiled(expr, {})
        assert all(guard._agree(function, wrong, x) for x in guard._points(*guard._ends([], guard.Fraction(1024))[0]))
    with pytest.raises(InputError, match="cannot be confirmed"):
        guard.check(expr, wrong, wrong, "FUNCTION")


@pytest.mark.parametrize("text", ["relu", "hard_tanh", "elu", "Abs(z**3-3*sqrt(2)*z+1)"])
def test_a_wrong_branch_is_found(text):
    expr, found = parts(text)
    for i, piece in enumerate(found):
        wrong = [*found[:i], Piece(piece.lower, piece.upper, piece.expr + sp.Rational(1, 10**12)), *found[i + 1 :]]
        with pytest.raises(InputError, match="cannot be confirmed"):
            guard.check(expr, found, wrong, "FUNCTION")


def test_construction_asks_the_guard(monkeypatch):
    """A root finder that loses the largest zero: the function is refused, not made."""
    right = pieces.real_zeros
    monkeypatch.setattr(pieces, "real_zeros", lambda *args: right(*args)[:-1])
    for text in ("Abs(z**2-3)", "Max(z, 1/7)", "hard_tanh(z+1/11)"):
        with pytest.raises(InputError, match="cannot be confirmed"):
            nonlinearity.from_expr(parse.expression(text), text + " with a fault")


def test_a_smooth_function_is_compared_too(monkeypatch):
    monkeypatch.setattr(pieces, "tidy", lambda expr: expr + sp.Rational(1, 10**15))
    with pytest.raises(InputError, match="cannot be confirmed"):
        nonlinearity.from_expr(sp.tanh(z) + 1, "a fault")
