"""Fingerprint: which code a trial's numbers come from, so that a store never returns what older code computed.

It covers the source of the module that holds the trial and of every module of the toolkit (or beside a user's file)
that it imports, directly or not, and the versions of NumPy and SciPy.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

_TOOLKIT = "bulkedge"


def fingerprint(trial: Callable[..., Any]) -> str:
    """A hash of the code behind a trial (a function, or a functools.partial of one)."""
    while isinstance(trial, functools.partial):
        trial = trial.func
    file = getattr(trial, "__globals__", {}).get("__file__")
    if file is None:
        raise ValueError(f"the trial {trial!r} was not defined in a file, so its results cannot be kept")
    return _of_file(str(Path(file).resolve()))


def toolkit_fingerprint() -> str:
    """A hash of all that trials of the toolkit are computed with on this machine: theory/ and numerics/."""
    folders = [
        Path(importlib.import_module(name).__file__ or "").parent for name in ("bulkedge.theory", "bulkedge.numerics")
    ]
    return _digest(path for folder in folders for path in folder.rglob("*.py"))


@functools.cache
def _of_file(file: str) -> str:
    return _digest(_closure(Path(file)))


def _digest(files: Iterable[Path]) -> str:
    """A hash of files and of the versions of NumPy and SciPy."""
    digest = hashlib.sha256()
    for package in ("numpy", "scipy"):
        digest.update(f"{package}=={importlib.metadata.version(package)};".encode())
    # the order of the contents, not of the folders they happen to be in
    for content in sorted(hashlib.sha256(p.name.encode() + b"\0" + p.read_bytes()).digest() for p in files):
        digest.update(content)
    return digest.hexdigest()[:16]


def _closure(start: Path) -> set[Path]:
    """The file and the files of all modules it imports, among the toolkit's and those beside the file."""
    found, todo = {start}, [start]
    while todo:
        for path in _imports(todo.pop(), start.parent):
            if path not in found:
                found.add(path)
                todo.append(path)
    return found


def _imports(file: Path, beside: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from package import module` imports a module too
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            path = _locate(name, beside)
            if path is not None:
                yield path


def _locate(name: str, beside: Path) -> Path | None:
    if name.partition(".")[0] == _TOOLKIT:
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:  # an attribute of a module, not a module
            return None
        return Path(spec.origin).resolve() if spec and spec.origin else None
    local = beside / (name.replace(".", "/") + ".py")
    return local.resolve() if local.is_file() else None
