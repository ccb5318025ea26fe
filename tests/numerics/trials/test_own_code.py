# ruff: noqa: E501 -- what is written and what is said stand in one line
"""Mistakes in a user's file of checks: one line that names the file and the line, from whatever process."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkedge.cli import main

HEAD = """import numpy as np
import sympy as sp
from bulkedge import Check, Control, Derivation, Ladder, MonteCarlo, Rate, SecondRoute, Step
def good(rng, size):
    return {"x": float(rng.standard_normal(size).mean())}
def check(predict=lambda: 0, trial=good, measure=0, resolution=1, control=Control("one", lambda: 9), name="x"):
    return Check("X1", "c", "s", predict, MonteCarlo(trial, name, 9, 5, 9) if measure == 0 else measure, resolution, control)
"""
CASES = {  # the lines from 8 on, and what is said
    "CHECKS = (check(predict=0),)": "line 7 of 'mine.py' predict: 0 is unusable; give a function",
    "CHECKS = (check(predict=lambda: 'abc'),)": "the prediction of X1 (line 8 of mine.py) is a str, 'abc'; return a finite",
    "CHECKS = (check(predict=lambda: sp.Symbol('a')),)": "the prediction of X1 (line 8 of mine.py) is a Symbol, a",
    "CHECKS = (check(predict=lambda: np.nan),)": "the prediction of X1 (line 8 of mine.py) is a float, nan",
    "def p():\n    return 1 / 0\nCHECKS = (check(predict=p),)": "fails in line 9 of mine.py with ZeroDivisionError: division",
    "CHECKS = (check(trial=lambda rng, size: 3.0),)": "the trial (line 8 of mine.py) returns a float, 3.0; return a dict",
    "CHECKS = (check(trial=lambda rng, size: {'x': np.inf}),)": "returns a float, inf for 'x'; return a dict",
    "CHECKS = (check(trial=lambda rng, size: {'x': 'much'}),)": "returns a str, 'much' for 'x'",
    "CHECKS = (check(trial=lambda rng: {}),)": "the trial fails in line 8 of mine.py with TypeError: ",
    "def t(rng, size):\n    x = size\n    return x.nope\nCHECKS = (check(trial=t),)": "the trial fails in line 10 of mine.py with",
    "CHECKS = (check(trial=1),)": "line 7 of 'mine.py' trial: 1 is unusable; give a function of a numpy Generator",
    "CHECKS = (check(name='y'),)": "component: 'y' is not among what the trial returns; choose from 'x'",
    "CHECKS = (check(name=3),)": "line 7 of 'mine.py' component: 3 is unusable",
    "CHECKS = (check(measure=None),)": "line 7 of 'mine.py' measure: None is unusable; give a MonteCarlo",
    "CHECKS = (check(measure=SecondRoute(lambda: 3)),)": "compute: 3 is unusable; return an Enclosure",
    "CHECKS = (check(measure=SecondRoute(3)),)": "line 8 of 'mine.py' compute: 3 is unusable",
    "CHECKS = (check(measure=MonteCarlo(good, 'x', 9, 1, 9)),)": "trials: 1 is unusable; give an integer of at least 2",
    "CHECKS = (check(measure=MonteCarlo(good, 'x', 'a', 2, 9)),)": "size: 'a' is unusable; give positive integers",
    "CHECKS = (check(measure=Rate(good, 'x', (8, 9), 2, (8, 9), 2)),)": "sizes: (8, 9) is unusable; give a longer ladder",
    "CHECKS = (check(control=None),)": "control: None is unusable; give a Control",
    "CHECKS = (check(control=Control('w', 1)),)": "line 8 of 'mine.py' predict: 1 is unusable",
    "CHECKS = (check(resolution='a'),)": "resolution: 'a' is unusable; give the smallest error",
    "x = = 3": "line 8 of 'mine.py' fails with SyntaxError: invalid syntax",
    "import no_such_module": "line 8 of 'mine.py' fails with ModuleNotFoundError: No module named 'no_such_module'",
    "def s():\n    yield 1 / 0\nDERIVATIONS = (Derivation('X1.l', 't', lambda: sp.Integer(1), s, 'n', ()),)": (
        "the derivation X1.l fails in line 9 of mine.py with ZeroDivisionError"
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_a_mistake_is_one_line_with_its_place(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(HEAD + text + "\n")
    assert main(["check", str(file), "--jobs", "1"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    assert CASES[text] in error


def test_a_worker_knows_the_file_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(HEAD + "def t(rng, size):\n    return {'x': size / 0}\nCHECKS = (check(trial=t),)\n")
    assert main(["check", str(file), "--jobs", "2"]) == 2
    assert "the trial fails in line 9 of mine.py with ZeroDivisionError" in capsys.readouterr().err


def test_the_untouched_file_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(HEAD + "CHECKS = (check(),)\n")
    assert main(["check", str(file), "--jobs", "1"]) in (0, 1)
