"""Which names look public, and which are: used elsewhere, shown to a reader, or part of a signature."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = tuple(
    sorted(p for top in ("theory", "numerics", "derivations", "interface") for p in (ROOT / top).rglob("*.py"))
)
READERS = (*SOURCES, *sorted(p for top in ("tests", "benchmarks", "examples") for p in (ROOT / top).rglob("*.py")))
READERS = tuple(p for p in READERS if p.name != "test_public_names.py")  # it names what is left
# What the registry, the door or Python itself looks up by name.
KNOWN = {"CHECKS", "DERIVATIONS", "STATEMENTS", "PICTURES", "HAS_CURVE", "HAS_PROGRAM"}


@functools.cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def defined(module: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The names of functions, classes and constants of a module, with their statements."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for inner in ast.walk(target):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        yield inner.id, node


def named(root: ast.AST) -> set[str]:
    """All names in a tree: variables, attributes, what is imported, words of short strings (patches, tables)."""
    found: set[str] = set()
    for node in ast.walk(root):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.update(node.name.split("."))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 400:
            found.update(re.findall(r"\w+", node.value))
    return found


@functools.cache
def _used(path: Path) -> frozenset[str]:
    return frozenset(named(tree(path)))


def shown(module: ast.Module) -> set[str]:
    """Names that a reader meets although no file imports them: formulas of statements, types in public signatures."""
    found: set[str] = set()
    for name, node in defined(module):
        if name == "STATEMENTS":
            found |= named(node)
        elif isinstance(node, ast.FunctionDef) and not name.startswith("_"):
            hints = [a.annotation for a in (*node.args.args, *node.args.kwonlyargs)] + [node.returns]
            found |= {n for hint in hints if hint is not None for n in named(hint)}
        elif isinstance(node, ast.ClassDef) and not name.startswith("_"):
            for part in ast.walk(node):
                if isinstance(part, ast.AnnAssign):
                    found |= named(part.annotation)
                elif isinstance(part, ast.FunctionDef) and part.returns is not None:
                    found |= named(part.returns)
    return found


def lonely(path: Path) -> list[str]:
    """Names without an underscore that only their own module uses."""
    elsewhere: set[str] = set().union(*(_used(p) for p in READERS if p != path))
    texts = (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CONVENTIONS.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
    elsewhere |= {word for p in texts for word in re.findall(r"\w+", p.read_text(encoding="utf-8"))}
    module = tree(path)
    known = KNOWN | elsewhere | shown(module)
    return [name for name, _ in defined(module) if not name.startswith("_") and name not in known]
