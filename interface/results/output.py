"""An output folder that is filled whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bulkedge.theory.functions import parse
from bulkedge.theory.numbers.errors import InputError


@contextmanager
def output_folder(path: str, argument: str = "out") -> Iterator[Path]:
    """A scratch folder whose files are moved into `path` (made if missing) when the block ends without an error.

    Errors: InputError if the folder cannot be made or written, at once, before anything is computed; or if the disk
    is full. Files that were in the folder before stay as they were unless replaced by name.
    """
    path = parse.path(path, argument)
    target = Path(path)
    scratch = None
    made: list[Path] = []
    try:
        if target.exists() and not target.is_dir():
            raise InputError(argument, f"{path!r} is a file", "name a folder")
        made = [p for p in (target, *target.parents) if not p.exists()]
        target.mkdir(parents=True, exist_ok=True)
        # Beside the final files, so that moving is renaming within one file system.
        scratch = Path(tempfile.mkdtemp(prefix=".bulkedge-", dir=target))
        yield scratch
        for file in sorted(p for p in scratch.rglob("*") if p.is_file()):
            final = target / file.relative_to(scratch)
            final.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, final)
        made = []
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(argument, f"{path!r} cannot be written ({reason})", "choose another folder") from None
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
