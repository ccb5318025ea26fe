"""Which public numeric functions of theory/ and numerics/ a property test exercises, by reading the tests' source.

A function counts as exercised where a test with `@given` names it, itself or through a helper of its own module.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = ("bulkedge.theory", "bulkedge.numerics")
_NO_NUMBER = ("bool", "str", "None")
_FORMULA = re.compile(r"sp\.(Expr|Eq|Basic|LessThan|MatrixExpr|Integer|Rational|Symbol|Poly)\b|\bPoly\b")


def public() -> Iterator[tuple[str, Any]]:
    """Every public function, class and method as "storey.module:name" or "storey.module:Class.method"."""
    for package in PACKAGES:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not info.ispkg and ".checks." not in info.name:
                yield from _of_module(importlib.import_module(info.name))


def short(module: str) -> str:
    """A module's name without the package and the wing: bulkedge.theory.spectra.spike -> theory.spike."""
    parts = module.removeprefix("bulkedge.").split(".")
    return ".".join([parts[0], *parts[2:]]) if len(parts) > 2 else ".".join(parts)


def _of_module(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__ or not callable(value):
            continue
        yield f"{short(module.__name__)}:{name}", value
        if inspect.isclass(value):
            fields = {f.name for f in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
            for method, found in vars(value).items():
                if not method.startswith("_") and method not in fields and _code(found) is not None:
                    yield f"{short(module.__name__)}:{name}.{method}", _code(found)


def _code(member: Any) -> Any:
    """The function behind a method, a property or a cached property; None for anything else."""
    for attribute in ("fget", "func", "__func__"):
        member = getattr(member, attribute, None) or member
    return member if inspect.isroutine(member) else None


def is_numeric(value: Any) -> bool:
    """Whether it gives numbers: it returns no SymPy, no text or truth value, draws nothing, is no class."""
    if inspect.isclass(value):
        return False
    try:
        signature = inspect.signature(value)
    except ValueError:
        return False
    drawing = any("Generator" in str(p.annotation) for p in signature.parameters.values())
    given = str(signature.return_annotation)
    return not drawing and given not in _NO_NUMBER and not _FORMULA.search(given)


def exercised(folder: Path) -> set[str]:
    """The public names that the property tests under the folder reach."""
    found: set[str] = set()
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "given" in source:
            found |= _exercised_in(ast.parse(source))
    return found


def _exercised_in(tree: ast.Module) -> set[str]:
    bound: dict[str, str] = {}  # a local name -> "storey.module" or "storey.module:name"
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGES):
            for alias in node.names:
                inner = node.module.count(".") < 3  # a module out of its wing, not a name out of a module
                name = short(f"{node.module}.{alias.name}") if inner else f"{short(node.module)}:{alias.name}"
                bound[alias.asname or alias.name] = name
    own: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                own |= {n.id: node for n in ast.walk(target) if isinstance(n, ast.Name)}
    todo = [
        n
        for n in own.values()
        if isinstance(n, ast.FunctionDef) and any("given" in ast.unparse(d) for d in n.decorator_list)
    ]
    seen: set[int] = set()
    found: set[str] = set()
    attributes: set[str] = set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                if part.id in own:
                    todo.append(own[part.id])
                if part.id in bound:
                    found.add(bound[part.id])
            elif isinstance(part, ast.Attribute):
                attributes.add(part.attr)
                if isinstance(part.value, ast.Name) and part.value.id in bound:
                    found.add(f"{bound[part.value.id]}:{part.attr}")
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                attributes.add(part.value)  # getattr(law, "mean")
    modules = {name.split(":")[0] for name in found}
    methods = {name for name, _ in public() if "." in name.split(":")[1]}
    functions = {name for name in found if ":" in name}
    return functions | {m for m in methods if m.split(":")[0] in modules and m.rsplit(".", 1)[1] in attributes}
