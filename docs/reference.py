"""Write the API reference from signatures and docstrings: `python docs/reference.py FILE.md`."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import bulkedge


def is_error(thing: object) -> bool:
    """Whether it is an error class (which has no signature of its own)."""
    return inspect.isclass(thing) and issubclass(thing, Exception)


def reference() -> str:
    """All public names, in the order of `bulkedge.__all__`, as Markdown."""
    parts = [f"# bulkedge {bulkedge.__version__}\n\n{inspect.getdoc(bulkedge)}\n"]
    for name in bulkedge.__all__:
        thing = getattr(bulkedge, name)
        if not callable(thing):
            continue
        shown = name if is_error(thing) else f"{name}{inspect.signature(thing)}"
        parts.append(f"## {name}\n\n```python\n{shown}\n```\n\n{inspect.getdoc(thing)}\n")
        if inspect.isclass(thing):
            for key, member in inspect.getmembers(thing, inspect.isfunction):
                if not key.startswith("_") and member.__doc__:
                    parts.append(f"### {name}.{key}{inspect.signature(member)}\n\n{inspect.getdoc(member)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
