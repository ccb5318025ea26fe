"""`bulkedge version`."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Any, ClassVar

from bulkedge.results.result import Result, Table


@dataclass(frozen=True)
class VersionResult(Result):
    """The versions that a number was made with."""

    command: ClassVar[str] = "version"
    version: str
    versions: tuple[tuple[str, str], ...]

    def payload(self) -> dict[str, Any]:
        """`version` and the versions of what it stands on."""
        return {"version": self.version, "versions": dict(self.versions)}

    def tables(self) -> tuple[Table, ...]:
        """One row per package."""
        return (Table(("package", "version"), (("bulkedge", self.version), *self.versions)),)

    def latex(self) -> str:
        """The version as text."""
        return rf"\text{{bulkedge {self.version}}}"


def version() -> VersionResult:
    """The versions of bulkedge and of what it stands on.

    Example:

    >>> bulkedge.version().version == bulkedge.__version__
    True
    """
    from importlib.metadata import version as installed

    from bulkedge.release import __version__

    packages = ("sympy", "mpmath", "python-flint", "numpy", "scipy")
    versions = (("python", platform.python_version()), *((name, installed(name)) for name in packages))
    return VersionResult({}, "", (), (), __version__, versions)
