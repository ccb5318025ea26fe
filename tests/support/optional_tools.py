"""Which optional tools of the tests this machine has; `python tests/support/optional_tools.py` prints what is missing.

A test that needs a tool carries the tool's marker. It is asked once, before the first test, whether a tool is there;
the answer stands for the whole run and for all its processes, whatever is installed or removed meanwhile.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path


def katex() -> Path:
    """KaTeX's folder: BULKEDGE_KATEX, else where `npm install katex` in the cache folder would put it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bulkedge-tests"
    return Path(os.environ.get("BULKEDGE_KATEX", cache / "node_modules" / "katex"))


def browser() -> str | None:
    """The path of a Chromium."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _may_mount() -> bool:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False)
        return mounted.returncode == 0 and subprocess.run(["umount", folder], check=False).returncode == 0


def _has_tex() -> bool:
    """The programs, and the packages that the book loads: a TeX without them compiles nothing of ours."""
    if not all(shutil.which(name) for name in ("latexmk", "pdflatex", "pdftotext", "pdfinfo", "kpsewhich")):
        return False
    files = [f"{name}.sty" for name in ("lmodern", "mathtools", "amssymb", "longtable", "hyperref", "geometry")]
    return subprocess.run(["kpsewhich", *files], capture_output=True, check=False).returncode == 0


TOOLS: Mapping[str, Callable[[], bool]] = {
    "tex": _has_tex,
    "browser": lambda: browser() is not None,
    "node": lambda: shutil.which("node") is not None and (katex() / "package.json").is_file(),
    "torch": lambda: importlib.util.find_spec("torch") is not None,
    "formats": lambda: all(importlib.util.find_spec(name) for name in ("h5py", "onnx", "safetensors")),
    "dask": lambda: importlib.util.find_spec("distributed") is not None,
    "notebook": lambda: all(importlib.util.find_spec(name) for name in ("nbclient", "nbformat", "ipykernel")),
    "root": _may_mount,
}


def missing() -> tuple[str, ...]:
    """The markers of the tools that are not here."""
    return tuple(marker for marker, there in TOOLS.items() if not there())


if __name__ == "__main__":
    print(" ".join(missing()))
