"""numerics/risk/fixed_point.py: against closed solutions, and that nobody else keeps a loop of his own."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from bulkedge.numerics.risk.fixed_point import fixed_point
from bulkedge.theory.numbers.errors import ConvergenceError

ROOT = Path(__file__).parents[3]


def test_powers_of_a_contraction() -> None:
    """x = c y^(1/2), y = x^(1/3): log-linear, x^(5/6) = c."""
    c = np.array([7.0, 1e-3])
    found = fixed_point(
        lambda v: (np.concatenate([c * np.sqrt(v[2:]), np.cbrt(v[:2])]), "seen"),
        np.ones(4),
        what="x",
        tolerance=1e-13,
        iterations=60,
        memory=5,
    )
    assert found.value[:2] == pytest.approx(c ** (6 / 5), rel=1e-12)
    assert (found.extra, found.iterations < 30, found.residual <= 1e-13) == ("seen", True, True)


def test_a_map_without_a_fixed_point_is_said() -> None:
    with pytest.raises(ConvergenceError, match="V did not converge in 20 steps"):
        fixed_point(lambda v: (2 * v, None), np.ones(2), what="V", tolerance=1e-9, iterations=20, memory=3)


def test_the_loop_exists_once() -> None:
    """Nobody else calls the extrapolation, or solves the least squares of differences of iterates."""
    owners = set()
    for folder in ("theory", "numerics", "derivations", "interface"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef):
                    called = {ast.unparse(x.func).split(".")[-1] for x in ast.walk(node) if isinstance(x, ast.Call)}
                    if "anderson" in called or {"lstsq", "pairwise"} <= called:
                        owners.add(path.relative_to(ROOT).as_posix())
    assert owners == {"numerics/risk/fixed_point.py"}
