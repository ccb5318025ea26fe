"""CONTRIBUTING's walk-through works: its files, written into a copy of the tree, are a statement with all it needs."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^( *)```python file=(\S+)\n(.*?)^ *```$", re.M | re.S)
FILES = {match[2]: textwrap.dedent(match[3]) for match in BLOCK.finditer(TEXT)}
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out as installed, with the walk-through's files in it."""
    folder = tmp_path_factory.mktemp("tree")
    for package, source in sorted(SETUP["package-dir"].items()):
        shutil.copytree(
            ROOT / source, folder / package.replace(".", "/"), ignore=shutil.ignore_patterns("__pycache__"),
            dirs_exist_ok=True,
        )  # fmt: skip
    for name, text in FILES.items():
        target = folder / name if name.startswith("tests/") else folder / "bulkedge" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


def run(tree: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_walk_through_has_a_file_for_every_storey() -> None:
    assert {name.split("/")[0] for name in FILES} == {"theory", "numerics", "derivations", "tests"}
    for text in FILES.values():
        assert ast.get_docstring(ast.parse(text))


def test_the_statement_is_shown_with_its_files(tree: Path) -> None:
    shown = json.loads(run(tree, "-m", "bulkedge", "show", "X9", "--json"))
    assert shown["formula_name"] == "bulkedge.theory.spectra.widget:widget"
    assert set(shown["files"]) == {name for name in FILES if not name.startswith("tests/")}
    assert [c["id"] for c in shown["checks"]] == ["X9.mean"]


def test_its_check_is_confirmed_and_its_control_refuted(tree: Path) -> None:
    (row,) = json.loads(run(tree, "-m", "bulkedge", "check", "X9", "--jobs", "1", "--json"))["checks"]
    assert (row["verdict"], row["control"]) == ("CONFIRMED", "REFUTED")


def test_its_derivation_verifies_and_its_test_passes(tree: Path) -> None:
    code = (
        "from bulkedge import registry; print(*(d.verify().how for d in registry.derivations() if d.id == 'X9.mean'))"
    )
    assert run(tree, "-c", code).strip() == "exact"
    assert "4 passed" in run(
        tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/theory/spectra/test_widget.py"
    )
