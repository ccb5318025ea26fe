"""The package's metadata: the oldest constraints are the lower bounds, every package is listed and typed."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import optional_tools

import bulkedge

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def versions(name: str) -> dict[str, str]:
    """Package -> version of a constraints file, for the oldest Python."""
    found: dict[str, str] = {}
    for line in (ROOT / ".ci" / "constraints" / f"{name}.txt").read_text().splitlines():
        match = re.fullmatch(r"([\w-]+)==([\w.]+)(; python_version (<|>=) \"[\d.]+\")?", line)
        if match and match.group(4) != ">=":
            found[match.group(1)] = match.group(2)
    return found


def number(text: str) -> tuple[int, ...]:
    parts = [int(p) for p in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def test_constraints_are_the_bounds() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *extras["test"], *extras["cluster"]]
    oldest, newest = versions("oldest"), versions("newest")
    for requirement in wanted:
        name, bound = requirement.split(">=")
        assert number(oldest[name]) == number(bound), requirement
        assert number(newest[name]) >= number(bound), requirement


def test_every_package_is_listed_and_typed() -> None:
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    there = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for layer in ("theory", "numerics", "derivations", "bulkedge")
        for path in (ROOT / layer).rglob("__init__.py")
    }
    assert listed == there
    for layer in ("theory", "numerics", "derivations", "bulkedge"):
        assert (ROOT / layer / "py.typed").is_file()
        assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"][layer]


def test_type_checkers_see_every_public_name() -> None:
    """The names that bulkedge loads when they are used are imported for type checkers from the same modules."""
    tree = ast.parse((ROOT / "bulkedge" / "__init__.py").read_text())
    (block,) = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    seen = {
        a.name: n.module for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names if a.name == a.asname
    }
    assert seen == bulkedge._PUBLIC


def test_ci_runs_the_commands_of_the_readme() -> None:
    """.ci/run takes the lines of the README's block as they stand; each marker of a tool has its question."""
    readme, ci = ((ROOT / name).read_text() for name in ("README.md", ".ci/run"))
    (block,) = re.findall(r"^```sh\n(.*?)^```$", readme, flags=re.DOTALL | re.MULTILINE)
    assert block.splitlines() == ["pip install . && bulkedge check", "pip install '.[test]' && pytest"]
    (reader,) = re.findall(r"< <\((sed .*)\)$", ci, flags=re.MULTILINE)
    done = subprocess.run(["bash", "-c", reader], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == block
    markers = {m.split(":")[0] for m in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
    assert markers == {*optional_tools.TOOLS, "exhaustive"}
