"""A user's own Python file of CHECKS (and DERIVATIONS), as `bulkedge check my_theorem.py` reads it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from bulkedge.theory.numbers.errors import InputError


def load(path: str, argument: str = "FILE") -> ModuleType:
    """Run a user's file and return its module.

    The module is not left in sys.modules, so that its functions travel to worker processes by value: a worker could
    not import the file by name. Modules beside the file can be imported by it, and by the workers.
    Errors: InputError for a file that is not there, or that fails (with its own error in one line).
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(argument, f"there is no file {path!r}", "name a Python file that exports CHECKS")
    name, before = file.stem, set(sys.modules)
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise InputError(argument, f"{path!r} is not a Python file", "name a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    shadowed = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses of the file look their module up while it runs
    sys.path.insert(0, str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except InputError as error:
        where = _where(error, file)
        raise InputError(argument, f"{where}{error.argument}: {error.problem}", error.remedy) from error
    except Exception as error:
        text = f"{type(error).__name__}: {error}".replace("\n", " ")
        problem = f"{_where(error, file)}fails with {text[:200]}"
        raise InputError(argument, problem, "make it run on its own first") from error
    finally:
        sys.path.pop(0)
        del sys.modules[name]
        if shadowed is not None:
            sys.modules[name] = shadowed
    _travel_by_value([m for key, m in sys.modules.items() if key not in before], file.resolve().parent)
    return module


def exports(path: str, kinds: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """What a file exports of these kinds (CHECKS, DERIVATIONS, STATEMENTS), by kind.

    Errors: InputError for a file that exports none of them, and for an export that is no tuple of its objects.
    """
    from bulkedge.derivations.engine.derivation import Derivation
    from bulkedge.numerics.trials.check import Check
    from bulkedge.theory.numbers.statement import Statement

    types: dict[str, Any] = {"CHECKS": Check, "DERIVATIONS": Derivation, "STATEMENTS": Statement}
    module = load(path)
    found: dict[str, tuple[Any, ...]] = {}
    for kind in kinds:
        wanted, value = types[kind], getattr(module, kind, ())
        remedy = f"write {kind} = (first, second, ...), a tuple of {wanted.__name__}"
        if not isinstance(value, list | tuple):
            raise InputError("FILE", f"{kind} in {path!r} is of type {type(value).__name__}", remedy)
        for item in value:
            if not isinstance(item, wanted):
                raise InputError("FILE", f"{kind} in {path!r} holds one of type {type(item).__name__}", remedy)
            if not isinstance(item.id, str) or not item.id.strip():
                raise InputError("FILE", f"{kind} in {path!r} holds a {wanted.__name__} without an ID", "name it")
        found[kind] = tuple(value)
    if not any(found.values()):
        remedy = "give it CHECKS, a tuple of Check, or DERIVATIONS, a tuple of Derivation"
        raise InputError("FILE", f"{path!r} exports no CHECKS and no DERIVATIONS", remedy)
    return found


def _where(error: BaseException, file: Path) -> str:
    """`line 7 of 'my_theorem.py' `: the last line of the file that was being run."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file.resolve())]
    if isinstance(error, SyntaxError) and error.filename == str(file.resolve()):
        lines = [error.lineno]
    return f"line {lines[-1]} of {file.name!r} " if lines else f"{file.name!r} "


def _travel_by_value(modules: list[ModuleType], folder: Path) -> None:
    """Let the modules that were imported from the file's own folder be sent to worker processes with their code."""
    local = [m for m in modules if Path(getattr(m, "__file__", None) or "/").parent == folder]
    if local:
        for pickler in ("joblib.externals.cloudpickle", "cloudpickle"):  # joblib's own workers; a Dask cluster's
            if importlib.util.find_spec(pickler) is not None:
                for module in local:
                    importlib.import_module(pickler).register_pickle_by_value(module)
