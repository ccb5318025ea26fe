"""The package's metadata: the oldest constraints are the lower bounds, every package is listed and typed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
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
    folders = PROJECT["tool"]["setuptools"]["package-dir"]
    there = {
        ".".join([package, *path.parent.relative_to(ROOT / folder).parts])
        for package, folder in folders.items()
        for path in (ROOT / folder).rglob("__init__.py")
    }
    assert listed == there
    for package, folder in folders.items():
        assert (ROOT / folder / "py.typed").is_file()
        assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"][package]


def test_one_name_is_installed() -> None:
    """Everything is imported as bulkedge or from below it, and no folder at the root shadows what is installed."""
    assert {package.split(".")[0] for package in PROJECT["tool"]["setuptools"]["packages"]} == {"bulkedge"}
    assert not (ROOT / "bulkedge" / "__init__.py").exists()


def test_a_users_own_modules_do_not_get_in_the_way(tmp_path: Path) -> None:
    """A script beside a theory.py, a numerics.py and a derivations.py of its own imports and runs the toolkit."""
    for name in ("theory", "numerics", "derivations", "interface", "results"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('the wrong module')\n")
    script = tmp_path / "mine.py"
    script.write_text("import bulkedge\nprint(bulkedge.spike(ratio=2, strength=3).exact['outlier'])\n")
    for command in ([str(script)], ["-m", "bulkedge", "version"]):
        done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(("sqrt(110)/3", "bulkedge", "version", "\n"))


def test_type_checkers_see_every_public_name() -> None:
    """The names that bulkedge loads when they are used are imported for type checkers from the same modules."""
    seen: dict[str, str | None] = {}
    for file in ("__init__.py", "commands/__init__.py"):
        tree = ast.parse((ROOT / "interface" / file).read_text())
        (block,) = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
        found = [(n.module, a) for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names]
        seen |= {a.name: module for module, a in found if a.name == a.asname}
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
    assert markers == {*optional_tools.TOOLS, *conftest_names()}
    (named,) = re.findall(r"^by_name=\((.*)\)$", ci, flags=re.MULTILINE)
    assert set(named.split()) == set(conftest_names())


def conftest_names() -> tuple[str, ...]:
    """BY_NAME of tests/conftest.py."""
    tree = ast.parse((ROOT / "tests" / "conftest.py").read_text())
    (value,) = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "BY_NAME"]
    names: tuple[str, ...] = ast.literal_eval(value)
    return names
