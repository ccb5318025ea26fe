"""Store: finished trials in one SQLite file, so that a run that is killed loses at most the trials in flight.

Each trial is committed as soon as it is finished (write-ahead log): a kill at any moment leaves every committed trial
in place. Results are kept as JSON, whose floats read back bit by bit.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from bulkedge.theory.functions import parse
from bulkedge.theory.numbers.errors import InputError

_APPLICATION = 0x62756C6B  # "bulk": SQLite's application_id, tells our files from others
_VERSION = 1


class Store:
    """Finished trials by key, in the file `path` (made if it is not there); a context manager.

    Errors: InputError (argument "store") if the file cannot be opened, read or written, is no store, or the disk is
    full; what was kept before stays.
    """

    def __init__(self, path: str | Path) -> None:
        path = parse.path(path, "store")
        self._path = Path(path)
        if not self._path.parent.is_dir():
            raise InputError("store", f"the folder {str(self._path.parent)!r} does not exist", "make it first")
        if self._path.is_dir():
            raise InputError("store", f"{str(path)!r} is a folder", "name a file")
        with self._errors():
            # autocommit: every put is a transaction of its own
            self._db = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        try:
            with self._errors():
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables and (application, version) != (_APPLICATION, _VERSION):
            raise InputError("store", f"{str(self._path)!r} is not a store of trials", "choose another file")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")  # survives a kill; a power cut may lose the last commits
        self._db.execute("BEGIN IMMEDIATE")  # also finds out now whether the file can be written
        self._db.execute("CREATE TABLE IF NOT EXISTS trial (key TEXT PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID")
        self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {_VERSION}")
        self._db.execute("COMMIT")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error, AttributeError):
                self._db.rollback()
            problem, remedy = f"{str(self._path)!r} cannot be used ({error})", "choose another file"
            if "full" in str(error) or "disk I/O" in str(error):
                problem = f"{str(self._path)!r} cannot be written, the disk is full or failing ({error})"
                remedy = "make room and start again: the trials kept so far are not lost"
            elif "readonly" in str(error):
                problem = f"{str(self._path)!r} cannot be written ({error})"
            raise InputError("store", problem, remedy) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was put stays."""
        with contextlib.suppress(sqlite3.Error):  # the checkpoint of a full disk: the log keeps everything
            self._db.close()

    def __len__(self) -> int:
        with self._errors():
            (count,) = self._db.execute("SELECT count(*) FROM trial").fetchone()
        return int(count)

    def get(self, key: str) -> dict[str, float] | None:
        """The result kept under `key`, or None."""
        with self._errors():
            row = self._db.execute("SELECT result FROM trial WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, key: str, result: Mapping[str, float]) -> None:
        """Keep a finished trial; when this returns, a kill does not lose it."""
        text = json.dumps(dict(result), allow_nan=False)
        with self._errors():
            self._db.execute("INSERT OR REPLACE INTO trial VALUES (?, ?)", (key, text))
